//! Products, and what is added or multiplied step by step along a dimension.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::gradient::{GradientScope, NoGradient, ShapeOf, Value};
use kernlink::shape::resolve_axis;
use kernlink_macros::register_gradient;

use super::reductions::spread;
use super::{conjugate, product_of_all, scalar_like, shape_of, times};
use crate::*;

#[register_gradient(op = Cumsum)]
fn cumsum_gradient(
    g: &mut GradientScope<'_>,
    exclusive: bool,
    reverse: bool,
    axis: Value,
    d_out: Value,
) -> Result<(Value, NoGradient)> {
    Ok((cumsum(g, d_out, axis).exclusive(exclusive).reverse(!reverse).build()?, NoGradient))
}

/// The products so far, each times what flows back to it, are added from the other end and divided by the element. For the first
/// zero, by which nothing can be divided, the same is done with a one in its place; behind it every product is zero.
#[register_gradient(op = Cumprod)]
fn cumprod_gradient(
    g: &mut GradientScope<'_>,
    exclusive: bool,
    reverse: bool,
    x: Value,
    axis: Value,
    out: Value,
    d_out: Value,
) -> Result<(Value, NoGradient)> {
    let sums = |g: &mut GradientScope<'_>, products: Value| {
        let weighted = times(g, d_out, products)?;
        cumsum(g, weighted, axis).exclusive(exclusive).reverse(!reverse).build()
    };
    let (zero, one) = (scalar_like(g, x, 0.0)?, scalar_like(g, x, 1.0)?);
    let is_zero = equal(g, x, zero).build()?;
    let counted = cast(g, is_zero, DataType::Int32).build()?;
    let before = cumsum(g, counted, axis).exclusive(true).reverse(reverse).build()?;
    let none_before = equal(g, before, 0).build()?;
    let is_first = logical_and(g, is_zero, none_before).build()?;
    let without = select_v2(g, is_first, one, x).build()?;
    let products = cumprod(g, without, axis).exclusive(exclusive).reverse(reverse).build()?;
    let (of_zero, of_others) = (sums(g, products)?, sums(g, out)?);
    let x = conjugate(g, x)?;
    let of_others = div_no_nan(g, of_others, x).build()?;
    Ok((select_v2(g, is_first, of_zero, of_others).build()?, NoGradient))
}

/// By logarithms, so that nothing overflows, once for what flows back that is positive and once for what is negative.
#[register_gradient(op = CumulativeLogsumexp)]
fn cumulative_logsumexp_gradient(
    g: &mut GradientScope<'_>,
    exclusive: bool,
    reverse: bool,
    x: Value,
    axis: Value,
    out: Value,
    d_out: Value,
) -> Result<(Value, NoGradient)> {
    let lowest = match g.dtype(x)? {
        DataType::Half => -65504.0,
        DataType::Double => f64::MIN,
        DataType::Bfloat16 => -3.389_531_389_251_535_5e38,
        _ => f32::MIN.into(),
    };
    let (lowest, zero, negative) = (scalar_like(g, x, lowest)?, scalar_like(g, x, 0.0)?, neg(g, d_out).build()?);
    let mut side = |flow: Value| {
        let (is_there, logarithm) = (greater(g, flow, zero).build()?, log(g, flow).build()?);
        let logarithm = select_v2(g, is_there, logarithm, lowest).build()?;
        let scaled = sub(g, logarithm, out).build()?;
        let summed = cumulative_logsumexp(g, scaled, axis).exclusive(exclusive).reverse(!reverse).build()?;
        let exponent = add_v2(g, summed, x).build()?;
        exp(g, exponent).build()
    };
    let (of_positive, of_negative) = (side(d_out)?, side(negative)?);
    Ok((sub(g, of_positive, of_negative).build()?, NoGradient))
}

/// An order of the dimensions in which those that are reduced come first, and how many elements these have and the others.
fn reduced_first(g: &mut GradientScope<'_>, input: &ShapeOf, axes: Value) -> Result<(Value, [Value; 2])> {
    let axes = reshape(g, axes, &[-1i32][..]).build()?;
    let dims = g.dims(input)?;
    if let (Some(rank), Some(known)) = (input.known().rank(), g.known_value(axes)) {
        let known = known.to_i64_vec()?;
        let reduced = known.into_iter().map(|axis| resolve_axis(axis, rank)).collect::<Result<Vec<_>>>()?;
        let others = (0..rank).filter(|axis| !reduced.contains(axis));
        let [reduced, others] = [reduced.clone(), others.collect()]
            .map(|axes| axes.into_iter().map(|axis| axis as i32).collect::<Vec<_>>());
        let order = g.constant([&reduced[..], &others[..]].concat())?;
        return sizes_of(g, dims, [&reduced[..], &others[..]]).map(|sizes| (order, sizes));
    }
    let rank = size(g, dims).build()?;
    let axes = cast(g, axes, DataType::Int32).build()?;
    let places = add_v2(g, axes, rank).build()?;
    let reduced = floor_mod(g, places, rank).build()?;
    let all = range(g, 0, rank, 1).build()?;
    let others = list_diff(g, all, reduced).build()?.out;
    let order = concat_v2(g, [reduced, others], 0).build()?;
    sizes_of(g, dims, [reduced, others]).map(|sizes| (order, sizes))
}

/// How many elements there are along each of two kinds of dimensions.
fn sizes_of(
    g: &mut GradientScope<'_>,
    dims: Value,
    kinds: [impl kernlink::graph::IntoOperand<Value>; 2],
) -> Result<[Value; 2]> {
    let [first, second] = kinds.map(|axes| {
        let along = gather_v2(g, dims, axes, 0).build()?;
        product_of_all(g, along)
    });
    Ok([first?, second?])
}

/// The product of all elements before, times that of all behind: right where an element is zero, too.
#[register_gradient(op = Prod)]
fn prod_gradient(
    g: &mut GradientScope<'_>,
    input: Value,
    reduction_indices: Value,
    d_output: Value,
) -> Result<(Value, NoGradient)> {
    let shape = shape_of(g, input);
    let flow = spread(g, d_output, &shape, reduction_indices)?;
    let (order, [reduced, others]) = reduced_first(g, &shape, reduction_indices)?;
    let turned = transpose(g, input, order).build()?;
    let turned_dims = shape_of(g, turned);
    let turned_dims = g.dims(&turned_dims)?;
    let both = pack(g, [reduced, others]).build()?;
    let rows = reshape(g, turned, both).build()?;
    let before = cumprod(g, rows, 0).exclusive(true).build()?;
    let behind = cumprod(g, rows, 0).exclusive(true).reverse(true).build()?;
    let slopes = mul(g, before, behind).build()?;
    let slopes = reshape(g, slopes, turned_dims).build()?;
    let back = invert_permutation(g, order).build()?;
    let slopes = transpose(g, slopes, back).build()?;
    Ok((times(g, flow, slopes)?, NoGradient))
}
