//! Conv2DBackpropInput and Conv2DBackpropFilter.

use kernlink::kernel::KernelContext;
use kernlink::{Code, Result};
use kernlink_geometry::convolution::Convolution;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{Conv2DBackpropFilter, Conv2DBackpropInput};

use super::convolve::Convolve;
use super::convolve_grad::of_input;
use super::images::{channels_last, output_images};
use super::narrow::gradient;

#[register_kernel(
    device = Cpu,
    op = Conv2DBackpropInput,
    T = [f16, bf16, f32, f64, i32],
    state = |ctx| Convolution::new(ctx.attrs, Code::Unimplemented),
)]
fn for_input<T: Computed<Wide: Convolve>>(convolution: &Convolution, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (filter, dy, sizes) = (ctx.input(O::FILTER)?, ctx.input(O::OUT_BACKPROP)?, ctx.input(O::INPUT_SIZES)?);
    let dy = channels_last(ctx, convolution.format, dy)?;
    let (shape, geometry) = convolution.backward_to_input(sizes, filter.shape(), dy.shape())?;
    let output = output_images(ctx, convolution.format, shape, |output| {
        gradient::<T>(ctx, [filter, &dy], output, |filter, dy, output| {
            of_input::<T::Wide>(ctx, &geometry.into(), filter, dy, output)
        })
    })?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    op = Conv2DBackpropFilter,
    T = [f16, bf16, f32, f64],
    state = |ctx| Convolution::new(ctx.attrs, Code::InvalidArgument),
)]
fn for_filter<T: Computed<Wide: Convolve>>(convolution: &Convolution, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, dy, sizes) = (ctx.input(O::INPUT)?, ctx.input(O::OUT_BACKPROP)?, ctx.input(O::FILTER_SIZES)?);
    let (input, dy) = (channels_last(ctx, convolution.format, input)?, channels_last(ctx, convolution.format, dy)?);
    let (shape, geometry) = convolution.backward_to_filter(input.shape(), sizes, dy.shape())?;
    let mut output = ctx.allocate_output(O::OUTPUT, shape)?;
    gradient::<T>(ctx, [&input, &dy], &mut output, |input, dy, output| {
        T::Wide::filter_gradient(ctx, &geometry.into(), (input.as_slice()?, dy.as_slice()?), output.as_mut_slice()?)
    })?;
    ctx.set_output(O::OUTPUT, output)
}
