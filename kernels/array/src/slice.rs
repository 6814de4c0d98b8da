//! Parts of a tensor: Slice, StridedSlice, ReverseV2.

use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::shape_inference::strided_slice::Masks;
use kernlink_geometry::rearranged::reversed_along;
use kernlink_geometry::slice::{sliced, strided};
use kernlink_kernels_common::strided::rearrange;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(device = Cpu, host_memory = ["begin", "size"], T = [
    bfloat16, bool, complex128, complex64, double, float, float8_e4m3fn, float8_e5m2, half, int16, int32, int64, int8,
    qint32, qint8, quint8, string, uint16, uint32, uint64, uint8,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["input", "begin", "size", "output"])]
fn slice_kernel(ctx: &mut KernelContext<'_, ops::Slice>) -> Result<()> {
    let input = ctx.input(ops::Slice::INPUT)?.shape();
    let part = sliced(input, ctx.input(ops::Slice::BEGIN)?, ctx.input(ops::Slice::SIZE)?)?;
    rearrange(ctx, 0, part)
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
        Ok(Self { masks: Masks::from_attrs(ctx.attrs)? })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::StridedSlice>) -> Result<()> {
        let part = strided(ctx, self.masks)?;
        rearrange(ctx, 0, part)
    }
}

#[register_kernel(device = Cpu, host_memory = ["axis"], Tidx = [int32, int64], T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, string, uint16, uint32,
    uint64, uint8,
])]
#[register_kernel(device = Default, T = [int32], Tidx = [int32, int64], host_memory = ["tensor", "axis", "output"])]
fn reverse_v2(ctx: &mut KernelContext<'_, ops::ReverseV2>) -> Result<()> {
    let input = ctx.input(ops::ReverseV2::TENSOR)?.shape();
    let turned = reversed_along(input, ctx.input(ops::ReverseV2::AXIS)?)?;
    rearrange(ctx, 0, turned)
}
