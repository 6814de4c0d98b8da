//! Products of matrices.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, Value};
use kernlink_macros::register_gradient;

use super::{conjugate, shape_of, unbroadcast};
use crate::*;

/// Both gradients of a product, where they are wanted.
fn multiplied(
    g: &mut GradientScope<'_>,
    [a, b, flow]: [Value; 3],
    [transpose_a, transpose_b]: [bool; 2],
) -> Result<(Option<Value>, Option<Value>)> {
    let mut product = |argument: usize, x: Value, y: Value, turn_x: bool, turn_y: bool| {
        if !g.is_wanted(argument) {
            return Ok(None);
        }
        // The operand, and not what flows back, is conjugated.
        let (x, y) = (if x == flow { x } else { conjugate(g, x)? }, if y == flow { y } else { conjugate(g, y)? });
        mat_mul(g, x, y).transpose_a(turn_x).transpose_b(turn_y).build().map(Some)
    };
    let of_a = match transpose_a {
        false => product(0, flow, b, false, !transpose_b)?,
        true => product(0, b, flow, transpose_b, true)?,
    };
    let of_b = match transpose_b {
        false => product(1, a, flow, !transpose_a, false)?,
        true => product(1, flow, a, true, transpose_a)?,
    };
    Ok((of_a, of_b))
}

#[register_gradient(op = MatMul)]
fn mat_mul_gradient(
    g: &mut GradientScope<'_>,
    transpose_a: bool,
    transpose_b: bool,
    a: Value,
    b: Value,
    d_product: Value,
) -> Result<(Option<Value>, Option<Value>)> {
    multiplied(g, [a, b, d_product], [transpose_a, transpose_b])
}

/// Its product is of floats, whatever the operands are.
#[cfg(feature = "sparse")]
#[register_gradient(op = SparseMatMul)]
fn sparse_mat_mul_gradient(
    g: &mut GradientScope<'_>,
    Ta: DataType,
    Tb: DataType,
    transpose_a: bool,
    transpose_b: bool,
    a: Value,
    b: Value,
    d_product: Value,
) -> Result<(Option<Value>, Option<Value>)> {
    let (a, b) = (as_dtype(g, a, DataType::Float)?, as_dtype(g, b, DataType::Float)?);
    let (of_a, of_b) = multiplied(g, [a, b, d_product], [transpose_a, transpose_b])?;
    let of_a = of_a.map(|flow| as_dtype(g, flow, Ta)).transpose()?;
    Ok((of_a, of_b.map(|flow| as_dtype(g, flow, Tb)).transpose()?))
}

/// In a dtype.
fn as_dtype(g: &mut GradientScope<'_>, value: Value, dtype: DataType) -> Result<Value> {
    if g.dtype(value)? == dtype { Ok(value) } else { cast(g, value, dtype).build() }
}

/// Both gradients of a stack of products, in the shapes of the products.
fn stacked(g: &mut GradientScope<'_>, [x, y, flow]: [Value; 3], [adj_x, adj_y]: [bool; 2]) -> Result<(Value, Value)> {
    let mut product =
        |x: Value, y: Value, adj_x: bool, adj_y: bool| batch_mat_mul_v2(g, x, y).adj_x(adj_x).adj_y(adj_y).build();
    let of_x = match adj_x {
        false => product(flow, y, false, !adj_y)?,
        true => product(y, flow, adj_y, true)?,
    };
    let of_y = match adj_y {
        false => product(x, flow, !adj_x, false)?,
        true => product(flow, x, true, adj_x)?,
    };
    Ok((of_x, of_y))
}

#[register_gradient(op = BatchMatMul)]
fn batch_mat_mul_gradient(
    g: &mut GradientScope<'_>,
    adj_x: bool,
    adj_y: bool,
    x: Value,
    y: Value,
    d_output: Value,
) -> Result<(Value, Value)> {
    stacked(g, [x, y, d_output], [adj_x, adj_y])
}

#[register_gradient(op = BatchMatMulV2)]
fn batch_mat_mul_v2_gradient(
    g: &mut GradientScope<'_>,
    adj_x: bool,
    adj_y: bool,
    x: Value,
    y: Value,
    d_output: Value,
) -> Result<(Value, Value)> {
    let (x_shape, y_shape) = (shape_of(g, x), shape_of(g, y));
    let (of_x, of_y) = stacked(g, [x, y, d_output], [adj_x, adj_y])?;
    Ok((unbroadcast(g, of_x, &x_shape)?, unbroadcast(g, of_y, &y_shape)?))
}

#[register_gradient(op = BatchMatMulV3)]
fn batch_mat_mul_v3_gradient(
    g: &mut GradientScope<'_>,
    Ta: DataType,
    Tb: DataType,
    Tout: DataType,
    adj_x: bool,
    adj_y: bool,
    x: Value,
    y: Value,
    d_output: Value,
) -> Result<(Value, Value)> {
    let (x_shape, y_shape) = (shape_of(g, x), shape_of(g, y));
    let (x, y) = (as_dtype(g, x, Tout)?, as_dtype(g, y, Tout)?);
    let (of_x, of_y) = stacked(g, [x, y, d_output], [adj_x, adj_y])?;
    let (of_x, of_y) = (as_dtype(g, of_x, Ta)?, as_dtype(g, of_y, Tb)?);
    Ok((unbroadcast(g, of_x, &x_shape)?, unbroadcast(g, of_y, &y_shape)?))
}
