//! The gradients of SparseSegmentSum, SparseSegmentMean and SparseSegmentSqrtN, dense and of the picked rows only.

use kernlink::dtype::{DataType, Number};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink_geometry::integers::scalar;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::elements::{ensure_vector, i64s, sort_stably_by_key, zeros};
use super::number::Scale;
use super::segment::Divisor;

/// One row of the gradient to add: which, and to which row.
#[derive(Clone, Copy)]
struct Part {
    from: usize,
    to: usize,
}

/// Ops with inputs `grad`, `indices`, `segment_ids` and the number of rows of the result.
#[register_kernel(
    device = Cpu,
    op = [ops::SparseSegmentSumGrad, ops::SparseSegmentSumGradV2],
    Tidx = [int32, int64],
    Tsegmentids = [int32, int64],
    T = [bf16, f64, f32, f16],
    state = |_| Ok(None),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::SparseSegmentMeanGrad, ops::SparseSegmentMeanGradV2],
    Tidx = [int32, int64],
    Tsegmentids = [int32, int64],
    T = [bf16, f64, f32, f16],
    state = |_| Ok(Some(|count| count)),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::SparseSegmentSqrtNGrad, ops::SparseSegmentSqrtNGradV2],
    Tidx = [int32, int64],
    Tsegmentids = [int32, int64],
    T = [bf16, f64, f32, f16],
    state = |_| Ok(Some(f64::sqrt)),
)]
fn sparse_segment_grad<T: Computed<Wide: Scale>>(&divisor: &Divisor, ctx: &mut RawContext<'_>) -> Result<()> {
    let (grad, indices, segments) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
    ensure_vector(indices, "indices")?;
    ensure_vector(segments, "segment_ids")?;
    let rows = scalar(ctx.input_at(3)?, "output_dim0")?;
    ensure!(
        indices.num_elements() == segments.num_elements(),
        InvalidArgument,
        "segment_ids and indices should have same size."
    );
    ensure!(rows >= 0, InvalidArgument, "the number of rows cannot be {rows}");
    ensure!(grad.rank() > 0, InvalidArgument, "grad must have at least one dimension");

    let only_picked = ctx.num_outputs() == 2;
    let mut parts =
        if rows == 0 { Vec::new() } else { parts(&i64s(indices)?, &i64s(segments)?, rows as usize, grad.shape()[0])? };
    let mut rows = rows as usize;
    let mut picked = Vec::new();
    // Parts of one row stay in their order.
    sort_stably_by_key(&mut parts, |part| part.to)?;
    if only_picked {
        for part in &mut parts {
            if picked.last() != Some(&part.to) {
                scratch::push(&mut picked, part.to)?;
            }
            part.to = picked.len() - 1;
        }
        rows = picked.len();
    }
    let mut shape = grad.shape().clone();
    shape.dims_mut()[0] = rows;
    let mut output = ctx.allocate_output_at(0, shape)?;
    let width: usize = grad.shape()[1..].iter().product();
    if output.num_elements() > 0 {
        let mut scaling = None;
        if let Some(divisor) = divisor {
            let mut factors = zeros::<f64>(grad.shape()[0])?;
            let counts = factors.as_mut_slice::<f64>()?;
            parts.iter().for_each(|part| counts[part.from] += 1.0);
            counts.iter_mut().for_each(|count| *count = 1.0 / divisor(count.max(1.0)));
            scaling = Some(factors);
        }
        let scaling = scaling.as_ref().map(|factors| factors.as_slice::<f64>()).transpose()?;
        add_rows(ctx, &parts, scaling, grad.as_slice::<T>()?, output.as_mut_slice::<T>()?, width)?;
    }
    ctx.set_output_at(0, output)?;
    if only_picked {
        let mut numbers = ctx.allocate_output_at(1, [rows])?;
        match numbers.dtype() {
            DataType::Int32 => copy(numbers.as_mut_slice::<i32>()?, &picked, |row| row as i32),
            _ => copy(numbers.as_mut_slice::<i64>()?, &picked, |row| row as i64),
        }
        ctx.set_output_at(1, numbers)?;
    }
    Ok(())
}

fn copy<I>(numbers: &mut [I], picked: &[usize], convert: impl Fn(usize) -> I) {
    numbers.iter_mut().zip(picked).for_each(|(slot, &row)| *slot = convert(row));
}

/// The parts for `rows` rows of the result and `segments` rows of the gradient.
fn parts(indices: &[i64], numbers: &[i64], rows: usize, segments: usize) -> Result<Vec<Part>> {
    let last = numbers.last().copied().unwrap_or(-1);
    ensure!(last < segments as i64, InvalidArgument, "Invalid number of segments");
    let part = |(&index, &number): (&i64, &i64)| {
        ensure!((0..rows as i64).contains(&index), InvalidArgument, "Index {index} out of range [0, {rows}).");
        ensure!(
            (0..segments as i64).contains(&number),
            InvalidArgument,
            "Segment id {number} out of range [0, {segments})."
        );
        Ok(Part { from: number as usize, to: index as usize })
    };
    scratch::collected_ok(indices.iter().zip(numbers).map(part))
}

/// Adds the parts, sorted by row, up in `output`, whose rows have `width` elements.
fn add_rows<T: Computed<Wide: Scale>>(
    ctx: &RawContext<'_>,
    parts: &[Part],
    scaling: Option<&[f64]>,
    grad: &[T],
    output: &mut [T],
    width: usize,
) -> Result<()> {
    let rows = output.len() / width;
    let cost = (parts.len() * 2).div_ceil(rows).max(1);
    ctx.try_parallel_chunks(output, width, cost, |first, piece| {
        let first = first / width;
        let mut next = parts.partition_point(|part| part.to < first);
        let mut sums = scratch::filled(T::Wide::ZERO, width)?;
        for (r, row) in piece.chunks_exact_mut(width).enumerate() {
            sums.fill(T::Wide::ZERO);
            while let Some(&Part { from, to }) = parts.get(next)
                && to == first + r
            {
                let scale = scaling.map_or(1.0, |scaling| scaling[from]);
                for (sum, x) in sums.iter_mut().zip(&grad[from * width..][..width]) {
                    *sum = sum.wrapping_add(x.widen().times(scale));
                }
                next += 1;
            }
            row.iter_mut().zip(&sums).for_each(|(slot, &sum)| *slot = T::narrow(sum));
        }
        Ok(())
    })
}
