//! MaxPoolV2, MaxPoolWithArgmax and MaxPoolGradWithArgmax.

use kernlink::dtype::{DataType, Number, RealNumber};
use kernlink::kernel::{CPU, KernelConstruction, KernelContext, KernelState, RawConstruction};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail};
use kernlink_geometry::pooling::{NOWHERE, Pooling, ensure_channels_last};
use kernlink_macros::register_kernel;
use kernlink_ops::{MaxPoolGradWithArgmax, MaxPoolV2, MaxPoolWithArgmax};

use super::max_pool_grad::places_of_line;
use super::pool::{max_line, max_pool};

/// The padding of a node whose window is among its inputs.
fn padding(ctx: &KernelConstruction<'_, MaxPoolV2>) -> Result<String> {
    ensure_channels_last(&ctx.attrs().data_format, CPU)?;
    Ok(ctx.attrs().padding.clone())
}

#[register_kernel(device = Cpu, T = [i8, i16, i32, i64, u8, u16, f16, bf16, f32, f64], state = padding)]
fn max_pool_v2<T: RealNumber>(padding: &String, ctx: &mut KernelContext<'_, MaxPoolV2>) -> Result<()> {
    let pooling = Pooling::from_inputs(ctx, 1, padding)?;
    max_pool::<T>(ctx, &pooling, max_line::<T>)
}

/// What the other ops read from their attrs.
struct WithArgmax {
    pooling: Pooling,
    /// Whether indices count from the first image.
    across: bool,
}

impl KernelState for WithArgmax {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { pooling: Pooling::new(ctx.attrs)?, across: ctx.attrs.required("include_batch_in_index")? })
    }
}

#[register_kernel(device = Cpu, op = MaxPoolWithArgmax, T = [realnumbertype], Targmax = [int32, int64])]
fn max_pool_with_argmax<T: RealNumber>(node: &WithArgmax, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let input = ctx.input(O::INPUT)?;
    let index_type = ctx.output_dtype_at(1)?;
    let geometry = node.pooling.with_argmax(input.shape(), index_type, node.across)?;
    let shape = geometry.output();
    let mut output = ctx.allocate_output(O::OUTPUT, shape.clone())?;
    let mut places = Tensor::alloc(DataType::Uint32, shape.clone())?;
    let mut indices = ctx.allocate_output(O::ARGMAX, shape)?;
    if output.num_elements() > 0 {
        let (depth, length) = (geometry.depth, geometry.columns.output * geometry.depth);
        let image = geometry.rows.input * geometry.columns.input * depth;
        let rows = geometry.rows.output;
        let elements = input.as_slice::<T>()?;
        let taps = geometry.rows.window.saturating_mul(geometry.columns.window);
        ctx.try_parallel_chunks(places.as_mut_slice::<u32>()?, length, taps.div_ceil(4), |first, piece| {
            for (index, places) in piece.chunks_exact_mut(length).enumerate() {
                let line = first / length + index;
                places_of_line(&geometry, &elements[line / rows * image..][..image], line % rows, places)?;
            }
            Ok(())
        })?;
        let places = places.as_slice::<u32>()?;
        // The flat index, from the first image and from its own; `None` where a window sees nothing.
        let at = |i: usize| {
            let start = i / (rows * length) * image;
            (places[i] != NOWHERE).then(|| (start, places[i] as usize * depth + i % depth))
        };
        for (i, target) in output.as_mut_slice::<T>()?.iter_mut().enumerate() {
            *target = at(i).map_or(T::MIN, |(start, place)| elements[start + place]);
        }
        let index = |i: usize| match at(i) {
            Some((start, place)) => (if node.across { start + place } else { place }) as i64,
            None => -1,
        };
        match index_type {
            DataType::Int32 => {
                indices.as_mut_slice::<i32>()?.iter_mut().enumerate().for_each(|(i, slot)| *slot = index(i) as i32);
            }
            _ => indices.as_mut_slice::<i64>()?.iter_mut().enumerate().for_each(|(i, slot)| *slot = index(i)),
        }
    }
    ctx.set_output(O::OUTPUT, output)?;
    ctx.set_output(O::ARGMAX, indices)
}

#[register_kernel(device = Cpu, op = MaxPoolGradWithArgmax, T = [realnumbertype], Targmax = [int64])]
fn max_pool_grad_with_argmax<T: Number>(node: &WithArgmax, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, grad, argmax) = (ctx.input(O::INPUT)?, ctx.input(O::GRAD)?, ctx.input(O::ARGMAX)?);
    let geometry = node.pooling.argmax_back(input.shape(), grad.shape(), argmax.shape())?;
    let mut output = ctx.allocate_output(O::OUTPUT, input.shape().clone())?;
    let target = output.as_mut_slice::<T>()?;
    target.fill(T::ZERO);
    if !target.is_empty() {
        let (grad, argmax) = (grad.as_slice::<T>()?, argmax.as_slice::<i64>()?);
        let (image, windows) = (target.len() / geometry.batch, grad.len() / geometry.batch);
        for (i, (&grad, &index)) in grad.iter().zip(argmax).enumerate() {
            let own = i / windows * image;
            let place = usize::try_from(index).ok().and_then(|index| {
                let place = if node.across { Some(index) } else { own.checked_add(index) }?;
                (own..own + image).contains(&place).then_some(place)
            });
            let Some(place) = place else {
                let (number, across) = (i / windows, node.across);
                let first = if across { own } else { 0 };
                bail!(
                    InvalidArgument,
                    "argmax {index} lies outside of image {number}, whose elements are {first} to {} with \
                     include_batch_in_index = {across}",
                    first + image - 1
                );
            };
            target[place] = target[place].wrapping_add(grad);
        }
    }
    ctx.set_output(O::OUTPUT, output)
}
