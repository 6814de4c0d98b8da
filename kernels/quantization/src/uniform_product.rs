//! UniformQuantizedDot and UniformQuantizedDotHybrid.

use bytemuck::{cast_slice, cast_slice_mut};
use kernlink::dtype::{QInt8, QInt32};
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_kernels_common::gemm::Matrix;
use kernlink_kernels_common::truncate::Truncate as _;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{UniformQuantizedDot, UniformQuantizedDotHybrid};

use crate::product::{Right, multiply};
use crate::uniform::{Factor, Scales, Way, bounds};

/// Rows, inner dimension and columns.
fn sizes(lhs: &Shape, rhs: &Shape) -> Result<[usize; 3]> {
    ensure!(lhs.rank() == 2, InvalidArgument, "lhs rank must be 2, but given lhs shape {lhs}");
    ensure!(rhs.rank() == 2, InvalidArgument, "rhs rank must be 2, but given rhs shape {rhs}");
    ensure!(
        lhs[1] == rhs[0],
        InvalidArgument,
        "lhs.dim_size(1) and rhs.dim_size(0) must be equal, but given lhs shape {lhs} and rhs shape {rhs}"
    );
    Ok([lhs[0], lhs[1], rhs[1]])
}

/// Fails unless an attr is -1 or 1.
fn ensure_columns(axis: i64, name: &str) -> Result<()> {
    ensure!(axis == 1 || axis == -1, InvalidArgument, "{name} must be 1 (per-channel) or -1 (per-tensor), not {axis}");
    Ok(())
}

/// The scales of a matrix, from input `index` on: those of its columns, or one. TensorFlow looks at their rank, not at the attr.
fn of_columns(ctx: &RawContext<'_>, index: usize, shape: &Shape) -> Result<Scales> {
    let axis = if ctx.input_at(index)?.rank() == 0 { -1 } else { 1 };
    Scales::new(ctx, index, shape, axis)
}

/// What sums of products become: for each column a way from the scales of both factors to those of the output.
pub(crate) fn ways_of_products(
    lhs: f32,
    rhs: &Scales,
    output: &Scales,
    count: usize,
    bounds: [i32; 2],
) -> Result<Vec<Way>> {
    ensure!(
        rhs.axis.is_some() || output.axis.is_none(),
        InvalidArgument,
        "If rhs is per-tensor quantized, output must be also per-tensor quantized."
    );
    let count = if rhs.axis.is_some() { count } else { 1 };
    scratch::collected_ok((0..count).map(|column| {
        let factor = f64::from(lhs) * f64::from(rhs.scale(column)) / f64::from(output.scale(column));
        Ok(Way { from: 0, factor: Factor::new(factor)?, to: output.zero(column), bounds })
    }))
}

#[register_kernel(device = Cpu, Tin = [QInt8], Tout = [QInt32])]
fn dot(attrs: &Attrs<UniformQuantizedDot>, ctx: &mut KernelContext<'_, UniformQuantizedDot>) -> Result<()> {
    ensure!(
        attrs.lhs_quantization_axis == -1,
        InvalidArgument,
        "lhs_quantization_axis Attr must be -1 (per-tensor), not {}",
        attrs.lhs_quantization_axis
    );
    ensure_columns(attrs.rhs_quantization_axis, "rhs_quantization_axis")?;
    ensure_columns(attrs.output_quantization_axis, "output_quantization_axis")?;
    let bounds = bounds(attrs.output_quantization_min_val, attrs.output_quantization_max_val)?;
    let (lhs, rhs) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    let [m, k, n] = sizes(lhs.shape(), rhs.shape())?;
    let shape = Shape::from([m, n]);
    let of_lhs = Scales::new(ctx, 2, lhs.shape(), -1)?;
    let of_rhs = of_columns(ctx, 4, rhs.shape())?;
    let of_output = of_columns(ctx, 6, &shape)?;
    for (scales, name) in [(&of_lhs, "lhs"), (&of_rhs, "rhs"), (&of_output, "output")] {
        scales.ensure_positive(name)?;
    }
    let ways = ways_of_products(of_lhs.scale(0), &of_rhs, &of_output, n, bounds)?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    let right = Matrix::rows(cast_slice::<QInt8, i8>(rhs.as_slice()?), n);
    let zeros = scratch::collected((0..n).map(|column| of_rhs.zero(column)))?;
    let right = Right::new(ctx, m, [k, n], right, zeros)?;
    let left = Matrix::rows(cast_slice::<QInt8, i8>(lhs.as_slice()?), k);
    let target = cast_slice_mut::<QInt32, i32>(output.as_mut_slice()?);
    multiply(ctx, m, left, |_| of_lhs.zero(0), &right, target)?;
    ctx.parallel_chunks(target, n.max(1), 1, |_, target| {
        for row in target.chunks_mut(n.max(1)) {
            for (column, target) in row.iter_mut().enumerate() {
                *target = ways[if ways.len() == 1 { 0 } else { column }].number(*target);
            }
        }
    });
    ctx.set_output_at(0, output)
}

widest! {
    fn ends_of(values: &[f32], ends: &mut [f32; 2]) {
        for &value in values {
            *ends = [crate::number::min(ends[0], value), crate::number::max(ends[1], value)];
        }
    }
}

widest! {
    fn numbers_of(values: &[f32], target: &mut [i8], inverse: f32, zero: i32) {
        for (target, &value) in target.iter_mut().zip(values) {
            let number = (value * inverse + 0.5).floor().to_i32().wrapping_add(zero);
            *target = number.clamp(-128, 127) as i8;
        }
    }
}

/// Quantizes values in the range that they take, in which zero lies: the scale and the zero point, as TensorFlow Lite chooses them.
pub(crate) fn asymmetric(values: &[f32], target: &mut [i8]) -> (f32, i32) {
    let mut ends = [0.0; 2];
    ends_of(values, &mut ends);
    let [least, greatest] = ends.map(f64::from);
    let (lowest, highest) = (-128.0f64, 127.0f64);
    let scale = ((greatest - least) / (highest - lowest)) as f32;
    let inverse = if greatest - least != 0.0 { ((highest - lowest) / (greatest - least)) as f32 } else { 0.0 };
    if scale == 0.0 || !inverse.is_finite() {
        target.fill(0);
        return (1.0, 0);
    }
    let [from_least, from_greatest] = [least / f64::from(scale), greatest / f64::from(scale)];
    let is_by_least = lowest.abs() + from_least.abs() < highest.abs() + from_greatest.abs();
    let zero = if is_by_least { lowest - from_least } else { highest - from_greatest };
    let zero = if zero <= lowest {
        -128
    } else if zero >= highest {
        127
    } else {
        zero.round() as i32
    };
    numbers_of(values, target, inverse, zero);
    (scale, zero)
}

#[register_kernel(device = Cpu, Tlhs = [f32], Trhs = [QInt8], Tout = [f32])]
fn dot_hybrid(
    attrs: &Attrs<UniformQuantizedDotHybrid>,
    ctx: &mut KernelContext<'_, UniformQuantizedDotHybrid>,
) -> Result<()> {
    ensure_columns(attrs.rhs_quantization_axis, "rhs_quantization_axis")?;
    let (lhs, rhs) = (ctx.input_at(0)?.clone(), ctx.input_at(1)?.clone());
    let [m, k, n] = sizes(lhs.shape(), rhs.shape())?;
    let of_rhs = of_columns(ctx, 2, rhs.shape())?;
    of_rhs.ensure_positive("rhs")?;
    let mut numbers: Vec<i8> = scratch::zeros(lhs.num_elements())?;
    let mut rows: Vec<(f32, i32)> = scratch::filled((1.0, 0), m)?;
    if k > 0 {
        let values = lhs.as_slice::<f32>()?;
        for ((row, values), target) in rows.iter_mut().zip(values.chunks(k)).zip(numbers.chunks_mut(k)) {
            *row = asymmetric(values, target);
        }
    }
    let zeros = scratch::collected((0..n).map(|column| of_rhs.zero(column)))?;
    let right = Right::new(ctx, m, [k, n], Matrix::rows(cast_slice::<QInt8, i8>(rhs.as_slice()?), n), zeros)?;
    let mut sums: Vec<i32> = scratch::zeros(m.saturating_mul(n))?;
    multiply(ctx, m, Matrix::rows(&numbers, k), |row| rows[row].1, &right, &mut sums)?;
    let mut output: Tensor = ctx.allocate_output_at(0, [m, n])?;
    ctx.parallel_chunks(output.as_mut_slice::<f32>()?, n.max(1), 1, |first, target| {
        for (row, target) in target.chunks_mut(n.max(1)).enumerate() {
            let row = first / n + row;
            for (column, (target, &sum)) in target.iter_mut().zip(&sums[row * n..]).enumerate() {
                *target = sum as f32 * rows[row].0 * of_rhs.scale(column);
            }
        }
    });
    ctx.set_output_at(0, output)
}
