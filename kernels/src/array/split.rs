//! One tensor into several: Split, SplitV, Unpack.

use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::integers::{ensure_scalar, single};
use super::strided::StridedCopy;

/// Sets the outputs to parts of `input`, cut along `axis` into pieces of these sizes. Parts along the first axis share
/// the input's buffer. `shape_of` makes an output's shape from that of its piece.
fn split(
    ctx: &mut RawContext<'_>,
    input: &Tensor,
    axis: usize,
    sizes: &[usize],
    shape_of: impl Fn(Shape) -> Shape,
) -> Result<()> {
    let shape = input.shape();
    let rows: usize = shape[..axis].iter().product();
    let below: usize = shape[axis + 1..].iter().product();
    let row = shape[axis] * below;
    let mut start = 0;
    for (index, &size) in sizes.iter().enumerate() {
        let mut piece = shape.clone();
        piece.dims_mut()[axis] = size;
        let piece = shape_of(piece);
        let output = if axis == 0 {
            input.slice_rows(start, start + size)?.reshaped(piece)?
        } else {
            let mut output = ctx.allocate_output_at(index, piece)?;
            StridedCopy::new(0, start * below).step(rows, size * below, row as isize).step(size * below, 1, 1).run(
                ctx,
                &mut output,
                input,
            )?;
            output
        };
        ctx.set_output_at(index, output)?;
        start += size;
    }
    Ok(())
}

/// The axis of `input` along which it is split.
fn split_axis(given: i64, input: &Tensor) -> Result<usize> {
    let rank = input.rank() as i64;
    ensure!(
        (-rank..rank).contains(&given),
        InvalidArgument,
        "-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {given}"
    );
    Ok(given.rem_euclid(rank) as usize)
}

struct SplitKernel;

#[register_kernel(device = Cpu, host_memory = ["split_dim"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int4, int64,
    int8, quint8, resource, string, uint16, uint32, uint4, uint64, uint8, variant,
])]
impl OpKernel<ops::Split> for SplitKernel {
    fn new(_: &KernelConstruction<'_, ops::Split>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Split>) -> Result<()> {
        let split_dim = ctx.input(ops::Split::SPLIT_DIM)?;
        ensure_scalar(split_dim, "split_dim")?;
        let given = single(split_dim, "split_dim")?;
        let input = ctx.input(ops::Split::VALUE)?.clone();
        let axis = split_axis(given, &input)?;
        let (size, ways) = (input.shape()[axis], ctx.num_outputs());
        ensure!(
            ways > 0 && size.is_multiple_of(ways),
            InvalidArgument,
            "Number of ways to split should evenly divide the split dimension, but got split_dim {axis} (size = \
             {size}) and num_split {ways}"
        );
        split(ctx, &input, axis, &vec![size / ways; ways], |shape| shape)
    }
}

/// The sizes of the parts, one of which may be given as −1.
fn split_sizes(sizes: &[i64], total: usize) -> Result<Vec<usize>> {
    let mut rest = total as i64;
    let mut unknown = None;
    for (index, &size) in sizes.iter().enumerate() {
        if size == -1 {
            ensure!(unknown.is_none(), InvalidArgument, "There can only be one -1 in the input.");
            unknown = Some(index);
            continue;
        }
        ensure!(size >= 0, InvalidArgument, "Split size at index {index} must be >= 0. Got: {size}");
        rest = rest.saturating_sub(size);
    }
    ensure!(
        if unknown.is_some() { rest >= 0 } else { rest == 0 },
        InvalidArgument,
        "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than \
         the size of the input along split_dim if not fully specified. Got sizes {sizes:?} for {total}"
    );
    Ok(sizes.iter().map(|&size| if size == -1 { rest as usize } else { size as usize }).collect())
}

struct SplitVKernel;

#[register_kernel(device = Cpu, host_memory = ["size_splits", "split_dim"], Tlen = [int32, int64, int8], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int4, int64,
    int8, quint8, resource, string, uint16, uint32, uint4, uint64, uint8, variant,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["value", "size_splits", "split_dim", "output"])]
impl OpKernel<ops::SplitV> for SplitVKernel {
    fn new(_: &KernelConstruction<'_, ops::SplitV>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::SplitV>) -> Result<()> {
        let given = single(ctx.input(ops::SplitV::SPLIT_DIM)?, "split_dim")?;
        let sizes = ctx.input(ops::SplitV::SIZE_SPLITS)?;
        ensure!(
            sizes.rank() == 1 && sizes.num_elements() == ctx.num_outputs(),
            InvalidArgument,
            "size_splits must be a vector with one element an output ({}), not of shape {}",
            ctx.num_outputs(),
            sizes.shape()
        );
        let sizes = sizes.to_i64_vec()?;
        let input = ctx.input(ops::SplitV::VALUE)?.clone();
        let axis = split_axis(given, &input)?;
        let total = input.shape()[axis];
        if let [only] = sizes[..]
            && only != total as i64
        {
            bail!(
                InvalidArgument,
                "If there is only one output, it must have the same size as the input. Input size: {total} output \
                 size: {only}"
            );
        }
        split(ctx, &input, axis, &split_sizes(&sizes, total)?, |shape| shape)
    }
}

struct UnpackKernel {
    axis: i64,
}

#[register_kernel(device = Cpu, T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    resource, string, uint16, uint32, uint64, uint8, variant,
])]
#[register_kernel(device = Default, T = [int32, int64], host_memory = ["value", "output"])]
impl OpKernel<ops::Unpack> for UnpackKernel {
    fn new(ctx: &KernelConstruction<'_, ops::Unpack>) -> Result<Self> {
        Ok(Self { axis: ctx.attrs().axis })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Unpack>) -> Result<()> {
        let input = ctx.input(ops::Unpack::VALUE)?.clone();
        let axis = super::integers::axis(self.axis, input.rank(), "axis")?;
        let count = ctx.num_outputs();
        ensure!(
            input.shape()[axis] == count,
            InvalidArgument,
            "Input shape axis {axis} must equal {count}, got shape {}",
            input.shape()
        );
        split(ctx, &input, axis, &vec![1; count], |mut shape| {
            shape.remove(axis);
            shape
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_size_may_be_left_to_find() {
        assert_eq!(split_sizes(&[2, -1, 1], 7).unwrap(), [2, 4, 1]);
        assert_eq!(split_sizes(&[-1, 7], 7).unwrap(), [0, 7]);
        assert!(split_sizes(&[-1, 8], 7).is_err());
        assert!(split_sizes(&[-1, -1], 7).is_err());
        assert!(split_sizes(&[3, 3], 7).is_err());
        assert!(split_sizes(&[-2, 9], 7).is_err());
        assert!(split_sizes(&[i64::MAX, i64::MAX], 7).is_err());
    }
}
