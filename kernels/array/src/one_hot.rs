//! OneHot.

use kernlink::dtype::Element;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::indices::{OneHot, one_hot};
use kernlink_kernels_common::element::{bytes_mut, match_objects};
use kernlink_kernels_common::strided::fill;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(
    device = Cpu,
    host_memory = ["depth"],
    TI = [int32, int64, int8, uint8],
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
fn one_hot_kernel(attrs: &Attrs<ops::OneHot>, ctx: &mut KernelContext<'_, ops::OneHot>) -> Result<()> {
    let indices = ctx.input(ops::OneHot::INDICES)?;
    let (on, off) = (ctx.input(ops::OneHot::ON_VALUE)?, ctx.input(ops::OneHot::OFF_VALUE)?);
    let vectors = one_hot(indices.shape(), attrs.axis, ctx.input(ops::OneHot::DEPTH)?, [on, off])?;
    let OneHot { shape, depth, suffix } = vectors;
    let mut output = ctx.allocate_output(ops::OneHot::OUTPUT, shape)?;
    if output.num_elements() > 0 {
        fill(ctx, &mut output, off)?;
        let hot = indices.to_i64_vec()?.into_iter().enumerate().filter_map(|(i, index)| {
            let index = usize::try_from(index).ok().filter(|&index| index < depth)?;
            Some((i / suffix * depth + index) * suffix + i % suffix)
        });
        put(&mut output, on, hot)?;
    }
    ctx.set_output(ops::OneHot::OUTPUT, output)
}

/// Sets the elements of `output` at `places` to the one of `value`, which has the same dtype.
fn put(output: &mut Tensor, value: &Tensor, places: impl Iterator<Item = usize>) -> Result<()> {
    fn put_objects<T: Element>(output: &mut [T], value: &T, places: impl Iterator<Item = usize>) {
        for place in places {
            output[place] = value.clone();
        }
    }
    let dtype = output.dtype();
    ensure!(dtype == value.dtype(), Internal, "{} cannot become {dtype}", value.dtype());
    match_objects!(dtype, T => put_objects(output.as_mut_slice::<T>()?, &value.to_scalar::<T>()?, places), _ => {
        let value = value.bytes()?;
        // SAFETY: only the bytes of an element of the same dtype are written.
        let output = unsafe { bytes_mut(output)? };
        for place in places {
            output[place * value.len()..][..value.len()].copy_from_slice(value);
        }
    });
    Ok(())
}
