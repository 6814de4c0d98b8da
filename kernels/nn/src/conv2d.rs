//! Conv2D.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::{DataType, Pod, bf16, f16};
use kernlink::kernel::{CPU, KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::convolution::{Convolution, Geometry};
use kernlink_macros::register_kernel;
use kernlink_ops::Conv2D;

use super::convolve;
use super::narrow::{Narrow, narrowed, widened};

struct Conv2DKernel<T> {
    convolution: Convolution,
    /// The filter in the form that the convolution wants, if it is constant.
    prepared: Option<Tensor>,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64, i32])]
impl<T: Convolve> OpKernel<Conv2D> for Conv2DKernel<T> {
    fn new(ctx: &KernelConstruction<'_, Conv2D>) -> Result<Self> {
        let constant = ctx.constant(Conv2D::FILTER).filter(|filter| filter.rank() == 4);
        let prepared = constant.map(T::prepare).transpose()?.flatten();
        Ok(Self { convolution: Convolution::new(ctx.attrs)?, prepared, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, Conv2D>) -> Result<()> {
        let (input, filter) = (ctx.input(Conv2D::INPUT)?, ctx.input(Conv2D::FILTER)?);
        let geometry = self.convolution.forward(input.shape(), filter.shape())?;
        let mut output = ctx.allocate_output(Conv2D::OUTPUT, self.convolution.output(&geometry))?;
        if output.num_elements() == 0 {
            return ctx.set_output(Conv2D::OUTPUT, output);
        }
        if input.num_elements() == 0 {
            // All there is to see is padding.
            output.as_mut_slice::<T>()?.fill(T::default());
            return ctx.set_output(Conv2D::OUTPUT, output);
        }
        self.convolution.ensure_computable(&geometry, filter.shape(), CPU)?;
        let operands = Operands { geometry: &geometry, input, filter, prepared: self.prepared.as_ref() };
        T::convolve(ctx, &operands, &mut output)?;
        ctx.set_output(Conv2D::OUTPUT, output)
    }
}

/// What is convolved. Nothing is empty, and the numbers of channels suit each other.
struct Operands<'a> {
    geometry: &'a Geometry,
    input: &'a Tensor,
    filter: &'a Tensor,
    /// What [`Convolve::prepare`] made of the filter.
    prepared: Option<&'a Tensor>,
}

impl Operands<'_> {
    /// The panels of the filter, if they were made beforehand and suit the geometry.
    fn panels(&self) -> Option<Tensor> {
        self.prepared.filter(|_| convolve::is_side_by_side(self.geometry)).cloned()
    }
}

/// How a dtype is convolved.
trait Convolve: Pod {
    /// A constant filter in the form that [`Convolve::convolve`] wants, if that is another.
    fn prepare(_filter: &Tensor) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// The convolution.
    fn convolve(ctx: &RawContext<'_>, operands: &Operands<'_>, output: &mut Tensor) -> Result<()>;
}

impl Convolve for f32 {
    fn prepare(filter: &Tensor) -> Result<Option<Tensor>> {
        convolve::pack(filter).map(Some)
    }

    fn convolve(ctx: &RawContext<'_>, operands: &Operands<'_>, output: &mut Tensor) -> Result<()> {
        let &Operands { geometry, input, filter, .. } = operands;
        let panels = operands.panels().map_or_else(|| convolve::pack_for(geometry, filter), Ok)?;
        convolve::by_tiles(ctx, geometry, input, &panels, output.as_mut_slice::<f32>()?)
    }
}

macro_rules! convolved_as_f32 {
    ($($t:ty),*) => {$(
        impl Convolve for $t {
            fn prepare(filter: &Tensor) -> Result<Option<Tensor>> {
                let mut wide = Tensor::alloc(DataType::Float, filter.shape().clone())?;
                let elements = wide.as_mut_slice::<f32>()?.iter_mut().zip(filter.as_slice::<$t>()?);
                elements.for_each(|(wide, element)| *wide = element.widen());
                convolve::pack(&wide).map(Some)
            }

            fn convolve(ctx: &RawContext<'_>, operands: &Operands<'_>, output: &mut Tensor) -> Result<()> {
                let &Operands { geometry, input, filter, .. } = operands;
                let panels = match operands.panels() {
                    Some(panels) => panels,
                    None => convolve::pack_for(geometry, &widened::<$t>(ctx, filter)?)?,
                };
                let input = widened::<$t>(ctx, input)?;
                let mut wide = Tensor::alloc(DataType::Float, output.shape().clone())?;
                convolve::by_tiles(ctx, geometry, &input, &panels, wide.as_mut_slice::<f32>()?)?;
                narrowed::<$t>(ctx, &wide, output)
            }
        }
    )*};
}
convolved_as_f32!(f16, bf16);

macro_rules! convolved_by_patches {
    ($($t:ty),*) => {$(
        impl Convolve for $t {
            fn convolve(ctx: &RawContext<'_>, operands: &Operands<'_>, output: &mut Tensor) -> Result<()> {
                let (input, filter) = (operands.input.as_slice::<$t>()?, operands.filter.as_slice::<$t>()?);
                convolve::by_patches(ctx, operands.geometry, input, filter, output.as_mut_slice::<$t>()?)
            }
        }
    )*};
}
convolved_by_patches!(f64, i32);
