//! Parts of a tensor: Slice, StridedSlice, ReverseV2.

use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::{MAX_RANK, Shape};
use kernlink::shape_inference::strided_slice::{Masks, resolve};
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::integers::vector;
use super::strided::StridedCopy;

struct SliceKernel;

#[register_kernel(device = Cpu, host_memory = ["begin", "size"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint32, qint8, quint8, string, uint16, uint32, uint64, uint8,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["input", "begin", "size", "output"])]
impl OpKernel<ops::Slice> for SliceKernel {
    fn new(_: &KernelConstruction<'_, ops::Slice>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::Slice>) -> Result<()> {
        let begin = vector(ctx.input(ops::Slice::BEGIN)?, "begin")?;
        let size = vector(ctx.input(ops::Slice::SIZE)?, "size")?;
        let input = ctx.input(ops::Slice::INPUT)?;
        let rank = input.rank();
        ensure!(
            begin.len() == rank && size.len() == rank,
            InvalidArgument,
            "Expected begin and size arguments to be 1-D tensors of size {rank}, but got sizes {} and {} instead.",
            begin.len(),
            size.len()
        );
        let mut shape = Shape::scalar();
        for (axis, &dim) in input.shape().iter().enumerate() {
            let (begin, dim) = (begin[axis], dim as i64);
            ensure!(
                (0..=dim).contains(&begin),
                InvalidArgument,
                "Expected begin[{axis}] in [0, {dim}], but got {begin}"
            );
            let rest = dim - begin;
            let size = if size[axis] == -1 { rest } else { size[axis] };
            ensure!(
                (0..=rest).contains(&size),
                InvalidArgument,
                "Expected size[{axis}] in [0, {rest}], but got {size}"
            );
            shape.push(size as usize);
        }
        let output = if shape == *input.shape() {
            ctx.take_input(ops::Slice::INPUT)?
        } else if shape[1..] == input.shape()[1..] {
            input.slice_rows(begin[0] as usize, begin[0] as usize + shape[0])?
        } else {
            let (to, from) = (shape.strides(), input.shape().strides());
            let mut output = ctx.allocate_output(ops::Slice::OUTPUT, shape)?;
            ensure!(
                rank <= 8 || output.num_elements() == 0,
                Unimplemented,
                "SliceOp : Unhandled input dimensions: {rank}"
            );
            let mut copy = StridedCopy::new(0, 0);
            let mut first = 0;
            for axis in 0..rank {
                copy = copy.step(output.shape()[axis], to[axis], from[axis] as isize);
                first += begin[axis] as usize * from[axis];
            }
            copy.beginning_at(0, first).run(ctx, &mut output, input)?;
            output
        };
        ctx.set_output(ops::Slice::OUTPUT, output)
    }
}

struct StridedSliceKernel {
    masks: Masks,
}

#[register_kernel(device = Cpu, host_memory = ["begin", "end", "strides"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint32, qint8, quint8, resource, string, uint16, uint32, uint64, uint8, variant,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["input", "begin", "end", "strides", "output"])]
impl OpKernel<ops::StridedSlice> for StridedSliceKernel {
    fn new(ctx: &KernelConstruction<'_, ops::StridedSlice>) -> Result<Self> {
        let attrs = ctx.attrs();
        let masks = Masks::new(
            attrs.begin_mask,
            attrs.end_mask,
            attrs.ellipsis_mask,
            attrs.new_axis_mask,
            attrs.shrink_axis_mask,
        )?;
        Ok(Self { masks })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::StridedSlice>) -> Result<()> {
        let begin = vector(ctx.input(ops::StridedSlice::BEGIN)?, "begin")?;
        let end = vector(ctx.input(ops::StridedSlice::END)?, "end")?;
        let strides = vector(ctx.input(ops::StridedSlice::STRIDES)?, "strides")?;
        let input = ctx.input(ops::StridedSlice::INPUT)?;
        let slice = resolve(&begin, &end, &strides, self.masks, input.shape())?;
        let unknown = || Error::internal("a slice of a known shape has no size");
        let shape = slice.final_shape().to_shape().ok_or_else(unknown)?;
        ensure!(shape.rank() <= MAX_RANK, InvalidArgument, "the slice has rank {}", shape.rank());
        let output = if slice.is_identity {
            ctx.take_input(ops::StridedSlice::INPUT)?.reshaped(shape)?
        } else if slice.slice_dim0 && !slice.dims.is_empty() {
            let start = slice.dims[0].begin as usize;
            input.slice_rows(start, start + slice.dims[0].size.ok_or_else(unknown)?)?.reshaped(shape)?
        } else {
            let sizes = slice.processing_shape().to_shape().ok_or_else(unknown)?;
            let (to, from) = (sizes.strides(), input.shape().strides());
            let mut output = ctx.allocate_output(ops::StridedSlice::OUTPUT, shape)?;
            if output.num_elements() > 0 {
                let mut copy = StridedCopy::new(0, 0);
                let mut first = 0;
                for (axis, dim) in slice.dims.iter().enumerate() {
                    let stride = (from[axis] as isize).saturating_mul(dim.stride as isize);
                    copy = copy.step(sizes[axis], to[axis], stride);
                    first += dim.begin as usize * from[axis];
                }
                copy.beginning_at(0, first).run(ctx, &mut output, input)?;
            }
            output
        };
        ctx.set_output(ops::StridedSlice::OUTPUT, output)
    }
}

struct ReverseV2Kernel;

#[register_kernel(device = Cpu, host_memory = ["axis"], Tidx = [int32, int64], T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, string, uint16, uint32,
    uint64, uint8,
])]
#[register_kernel(device = Default, T = [int32], Tidx = [int32, int64], host_memory = ["tensor", "axis", "output"])]
impl OpKernel<ops::ReverseV2> for ReverseV2Kernel {
    fn new(_: &KernelConstruction<'_, ops::ReverseV2>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ReverseV2>) -> Result<()> {
        let input = ctx.input(ops::ReverseV2::TENSOR)?;
        let output = if input.rank() == 0 || input.num_elements() == 0 {
            ctx.take_input(ops::ReverseV2::TENSOR)?
        } else {
            let mut reversed = vec![false; input.rank()];
            for given in vector(ctx.input(ops::ReverseV2::AXIS)?, "axis")? {
                let axis = super::integers::axis(given, input.rank(), "axis")?;
                if std::mem::replace(&mut reversed[axis], true) {
                    bail!(InvalidArgument, "axis {axis} specified more than once.");
                }
            }
            ensure!(
                input.rank() <= 8,
                Unimplemented,
                "reverse is not implemented for tensors of rank > 8, such as {}",
                input.rank()
            );
            let mut output = ctx.allocate_output(ops::ReverseV2::OUTPUT, input.shape())?;
            let mut copy = StridedCopy::new(0, 0);
            let mut first = 0;
            for ((&dim, &stride), reversed) in input.shape().iter().zip(&input.shape().strides()).zip(reversed) {
                copy = copy.step(dim, stride, if reversed { -(stride as isize) } else { stride as isize });
                first += if reversed { (dim - 1) * stride } else { 0 };
            }
            copy.beginning_at(0, first).run(ctx, &mut output, input)?;
            output
        };
        ctx.set_output(ops::ReverseV2::OUTPUT, output)
    }
}
