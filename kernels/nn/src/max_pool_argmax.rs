//! MaxPoolV2, MaxPoolWithArgmax and MaxPoolGradWithArgmax.

use std::marker::PhantomData;

use kernlink::dtype::{DataType, Number};
use kernlink::kernel::{CPU, KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail};
use kernlink_geometry::convolution::ensure_channels_last;
use kernlink_geometry::pooling::{NOWHERE, Pooling};
use kernlink_macros::register_kernel;
use kernlink_ops::{MaxPoolGradWithArgmax, MaxPoolV2, MaxPoolWithArgmax};

use super::max_pool_grad::places_of_line;
use super::pool::{Maximum, max_pool};

struct MaxPoolV2Kernel<T> {
    padding: String,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [i8, i16, i32, i64, u8, u16, f16, bf16, f32, f64])]
impl<T: Maximum> OpKernel<MaxPoolV2> for MaxPoolV2Kernel<T> {
    fn new(ctx: &KernelConstruction<'_, MaxPoolV2>) -> Result<Self> {
        let attrs = ctx.attrs();
        ensure_channels_last(&attrs.data_format, CPU)?;
        Ok(Self { padding: attrs.padding.clone(), element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, MaxPoolV2>) -> Result<()> {
        let pooling = Pooling::from_inputs(ctx, 1, &self.padding, CPU)?;
        max_pool::<T>(ctx, &pooling)
    }
}

struct WithArgmaxKernel<T> {
    pooling: Pooling,
    /// Whether indices count from the first image.
    across: bool,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [realnumbertype], Targmax = [int32, int64])]
impl<T: Maximum> OpKernel<MaxPoolWithArgmax> for WithArgmaxKernel<T> {
    fn new(ctx: &KernelConstruction<'_, MaxPoolWithArgmax>) -> Result<Self> {
        let pooling = Pooling::new(ctx.attrs, CPU)?;
        Ok(Self { pooling, across: ctx.attrs().include_batch_in_index, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, MaxPoolWithArgmax>) -> Result<()> {
        type Op = MaxPoolWithArgmax;
        let input = ctx.input(Op::INPUT)?;
        let index_type = ctx.output_dtype_at(1)?;
        let geometry = self.pooling.with_argmax(input.shape(), index_type, self.across)?;
        let shape = geometry.output();
        let mut output = ctx.allocate_output(Op::OUTPUT, shape.clone())?;
        let mut places = Tensor::alloc(DataType::Uint32, shape.clone())?;
        let mut indices = ctx.allocate_output(Op::ARGMAX, shape)?;
        if output.num_elements() > 0 {
            let (depth, length) = (geometry.depth, geometry.columns.output * geometry.depth);
            let image = geometry.rows.input * geometry.columns.input * depth;
            let rows = geometry.rows.output;
            let elements = input.as_slice::<T>()?;
            let taps = geometry.rows.window.saturating_mul(geometry.columns.window);
            ctx.parallel_chunks(places.as_mut_slice::<u32>()?, length, taps.div_ceil(4), |first, piece| {
                for (index, places) in piece.chunks_exact_mut(length).enumerate() {
                    let line = first / length + index;
                    places_of_line(&geometry, &elements[line / rows * image..][..image], line % rows, places);
                }
            });
            let places = places.as_slice::<u32>()?;
            // The flat index, from the first image and from its own; `None` where a window sees nothing.
            let at = |i: usize| {
                let start = i / (rows * length) * image;
                (places[i] != NOWHERE).then(|| (start, places[i] as usize * depth + i % depth))
            };
            for (i, target) in output.as_mut_slice::<T>()?.iter_mut().enumerate() {
                *target = at(i).map_or(T::LOWEST, |(start, place)| elements[start + place]);
            }
            let index = |i: usize| match at(i) {
                Some((start, place)) => (if self.across { start + place } else { place }) as i64,
                None => -1,
            };
            match index_type {
                DataType::Int32 => {
                    indices.as_mut_slice::<i32>()?.iter_mut().enumerate().for_each(|(i, slot)| *slot = index(i) as i32);
                }
                _ => indices.as_mut_slice::<i64>()?.iter_mut().enumerate().for_each(|(i, slot)| *slot = index(i)),
            }
        }
        ctx.set_output(Op::OUTPUT, output)?;
        ctx.set_output(Op::ARGMAX, indices)
    }
}

struct GradWithArgmaxKernel<T> {
    pooling: Pooling,
    /// Whether indices count from the first image.
    across: bool,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [realnumbertype], Targmax = [int64])]
impl<T: Number> OpKernel<MaxPoolGradWithArgmax> for GradWithArgmaxKernel<T> {
    fn new(ctx: &KernelConstruction<'_, MaxPoolGradWithArgmax>) -> Result<Self> {
        let pooling = Pooling::new(ctx.attrs, CPU)?;
        Ok(Self { pooling, across: ctx.attrs().include_batch_in_index, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, MaxPoolGradWithArgmax>) -> Result<()> {
        type Op = MaxPoolGradWithArgmax;
        let (input, grad, argmax) = (ctx.input(Op::INPUT)?, ctx.input(Op::GRAD)?, ctx.input(Op::ARGMAX)?);
        let geometry = self.pooling.argmax_back(input.shape(), grad.shape(), argmax.shape())?;
        let mut output = ctx.allocate_output(Op::OUTPUT, input.shape().clone())?;
        let target = output.as_mut_slice::<T>()?;
        target.fill(T::ZERO);
        if !target.is_empty() {
            let (grad, argmax) = (grad.as_slice::<T>()?, argmax.as_slice::<i64>()?);
            let (image, windows) = (target.len() / geometry.batch, grad.len() / geometry.batch);
            for (i, (&grad, &index)) in grad.iter().zip(argmax).enumerate() {
                let own = i / windows * image;
                let place = usize::try_from(index).ok().and_then(|index| {
                    let place = if self.across { Some(index) } else { own.checked_add(index) }?;
                    (own..own + image).contains(&place).then_some(place)
                });
                let Some(place) = place else {
                    bail!(InvalidArgument, "argmax {index} lies outside of the image, which has {image} elements");
                };
                target[place] = target[place].add(grad);
            }
        }
        ctx.set_output(Op::OUTPUT, output)
    }
}
