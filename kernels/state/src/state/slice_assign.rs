//! Assigning to a strided part of a variable.

use kernlink::kernel::RawContext;
use kernlink::shape_inference::strided_slice::Masks;
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_geometry::slice::{sizes, slice_of, written};
use kernlink_kernels_common::strided::Run as _;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::place::{forward, update};

#[register_kernel(
    device = Cpu,
    op = ops::StridedSliceAssign,
    host_memory = ["begin", "end", "strides"],
    T = [
        realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, qint32, qint8, quint8, resource,
        string, variant,
    ],
    state = |ctx| Masks::from_attrs(ctx.attrs),
)]
#[register_kernel(
    device = Cpu,
    op = ops::ResourceStridedSliceAssign,
    host_memory = ["ref", "begin", "end", "strides"],
    T = [
        realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, qint32, qint8, quint8, resource,
        string, variant,
    ],
)]
fn strided_slice_assign(&masks: &Masks, ctx: &mut RawContext<'_>) -> Result<()> {
    let dtype = ctx.input_at(4)?.dtype();
    update(ctx, dtype, |ctx, [variable]| assign(ctx, masks, variable))?;
    forward(ctx)
}

fn assign(ctx: &RawContext<'_>, masks: Masks, variable: &mut Tensor) -> Result<()> {
    let value = ctx.input_at(4)?;
    let (slice, shape) = slice_of(ctx, masks, variable.shape())?;
    let sizes = sizes(&slice)?;
    if sizes.num_elements() == 0 {
        return Ok(());
    }
    ensure!(sizes.rank() <= 8, Unimplemented, "Unhandled input dimensions {}", sizes.rank());

    // The value's dimensions stand for the last ones of the slice; those before are of size 1.
    let missing = shape.rank() as isize - value.rank() as isize;
    let fits = |(axis, &size): (usize, &usize)| {
        let target = usize::try_from(axis as isize + missing).ok().map(|axis| shape[axis]);
        size == 1 || target == Some(size)
    };
    ensure!(
        value.shape().iter().enumerate().all(fits),
        InvalidArgument,
        "Cannot broadcast input shape {} into final shape {shape}",
        value.shape()
    );
    variable.make_unique()?;
    written(&slice, variable.shape(), value.shape())?.run(ctx, variable, value)
}
