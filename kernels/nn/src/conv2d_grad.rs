//! Conv2DBackpropInput and Conv2DBackpropFilter.

use std::marker::PhantomData;

use kernlink::dtype::{DataType, Pod, bf16, f16};
use kernlink::kernel::{CPU, KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};
use kernlink_geometry::convolution::{Convolution, Geometry};
use kernlink_macros::register_kernel;
use kernlink_ops::{Conv2DBackpropFilter, Conv2DBackpropInput};

use super::convolve_grad::{of_filter, of_input};
use super::narrow::{narrowed, widened};

struct BackpropInputKernel<T> {
    convolution: Convolution,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64, i32])]
impl<T: ForInput> OpKernel<Conv2DBackpropInput> for BackpropInputKernel<T> {
    fn new(ctx: &KernelConstruction<'_, Conv2DBackpropInput>) -> Result<Self> {
        let convolution = Convolution::of_gradient(ctx.attrs, CPU, Code::Unimplemented)?;
        Ok(Self { convolution, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Conv2DBackpropInput>) -> Result<()> {
        type Op = Conv2DBackpropInput;
        let (filter, gradient) = (ctx.input(Op::FILTER)?, ctx.input(Op::OUT_BACKPROP)?);
        let sizes = ctx.input(Op::INPUT_SIZES)?;
        let (shape, geometry) = self.convolution.backward_to_input(sizes, filter.shape(), gradient.shape(), CPU)?;
        let mut output = ctx.allocate_output(Op::OUTPUT, shape)?;
        if output.num_elements() > 0 {
            if filter.num_elements() == 0 || gradient.num_elements() == 0 {
                output.as_mut_slice::<T>()?.fill(T::default());
            } else {
                T::of_input(ctx, &geometry, filter, gradient, &mut output)?;
            }
        }
        ctx.set_output(Op::OUTPUT, output)
    }
}

struct BackpropFilterKernel<T> {
    convolution: Convolution,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64])]
impl<T: ForFilter> OpKernel<Conv2DBackpropFilter> for BackpropFilterKernel<T> {
    fn new(ctx: &KernelConstruction<'_, Conv2DBackpropFilter>) -> Result<Self> {
        let convolution = Convolution::of_gradient(ctx.attrs, CPU, Code::InvalidArgument)?;
        Ok(Self { convolution, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Conv2DBackpropFilter>) -> Result<()> {
        type Op = Conv2DBackpropFilter;
        let (input, gradient) = (ctx.input(Op::INPUT)?, ctx.input(Op::OUT_BACKPROP)?);
        let sizes = ctx.input(Op::FILTER_SIZES)?;
        let (shape, geometry) = self.convolution.backward_to_filter(input.shape(), sizes, gradient.shape(), CPU)?;
        let mut output = ctx.allocate_output(Op::OUTPUT, shape)?;
        if output.num_elements() > 0 {
            if input.num_elements() == 0 || gradient.num_elements() == 0 {
                output.as_mut_slice::<T>()?.fill(T::default());
            } else {
                T::of_filter(ctx, &geometry, input, gradient, &mut output)?;
            }
        }
        ctx.set_output(Op::OUTPUT, output)
    }
}

/// How a dtype's gradient of the input is computed. Nothing is empty.
trait ForInput: Pod {
    fn of_input(ctx: &RawContext<'_>, g: &Geometry, filter: &Tensor, gradient: &Tensor, out: &mut Tensor)
    -> Result<()>;
}

/// How a dtype's gradient of the filter is computed. Nothing is empty.
trait ForFilter: Pod {
    fn of_filter(ctx: &RawContext<'_>, g: &Geometry, input: &Tensor, gradient: &Tensor, out: &mut Tensor)
    -> Result<()>;
}

macro_rules! for_input {
    ($($t:ty),+) => {$(
        impl ForInput for $t {
            fn of_input(
                ctx: &RawContext<'_>,
                g: &Geometry,
                filter: &Tensor,
                gradient: &Tensor,
                out: &mut Tensor,
            ) -> Result<()> {
                of_input::<$t>(ctx, g, filter, gradient, out)
            }
        }
    )+};
}
for_input!(f32, f64, i32);

macro_rules! for_filter {
    ($($t:ty),+) => {$(
        impl ForFilter for $t {
            fn of_filter(
                ctx: &RawContext<'_>,
                g: &Geometry,
                input: &Tensor,
                gradient: &Tensor,
                out: &mut Tensor,
            ) -> Result<()> {
                let (input, gradient) = (input.as_slice::<$t>()?, gradient.as_slice::<$t>()?);
                of_filter::<$t>(ctx, g, input, gradient, out.as_mut_slice::<$t>()?)
            }
        }
    )+};
}
for_filter!(f32, f64);

macro_rules! as_f32 {
    ($($t:ty),+) => {$(
        impl ForInput for $t {
            fn of_input(
                ctx: &RawContext<'_>,
                g: &Geometry,
                filter: &Tensor,
                gradient: &Tensor,
                out: &mut Tensor,
            ) -> Result<()> {
                let (filter, gradient) = (widened::<$t>(ctx, filter)?, widened::<$t>(ctx, gradient)?);
                let mut wide = Tensor::alloc(DataType::Float, out.shape().clone())?;
                of_input::<f32>(ctx, g, &filter, &gradient, &mut wide)?;
                narrowed::<$t>(ctx, &wide, out)
            }
        }
        impl ForFilter for $t {
            fn of_filter(
                ctx: &RawContext<'_>,
                g: &Geometry,
                input: &Tensor,
                gradient: &Tensor,
                out: &mut Tensor,
            ) -> Result<()> {
                let (input, gradient) = (widened::<$t>(ctx, input)?, widened::<$t>(ctx, gradient)?);
                let mut wide = Tensor::alloc(DataType::Float, out.shape().clone())?;
                let (input, gradient) = (input.as_slice::<f32>()?, gradient.as_slice::<f32>()?);
                of_filter::<f32>(ctx, g, input, gradient, wide.as_mut_slice::<f32>()?)?;
                narrowed::<$t>(ctx, &wide, out)
            }
        }
    )+};
}
as_f32!(f16, bf16);
