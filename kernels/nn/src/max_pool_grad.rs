//! MaxPoolGrad and its kin, and pooling that says where the greatest element stood.

use std::borrow::Cow;

use kernlink::Result;
use kernlink::dtype::{Number, RealNumber};
use kernlink::kernel::{CPU, KernelState, RawConstruction, RawContext};
use kernlink::op::Op as _;
use kernlink::tensor::scratch;
use kernlink_geometry::images::shape_last;
use kernlink_geometry::pooling::{Geometry, NOWHERE, Pooling, ensure_channels_last};
use kernlink_macros::register_kernel;
use kernlink_ops::{MaxPoolGrad, MaxPoolGradGrad, MaxPoolGradGradV2, MaxPoolGradV2};

use super::images::{channels_last, output_images};
use super::vector::widest;

widest! {
    /// For each element of an output row, in which pixel of the image the greatest element of its window stands: the
    /// first of them. A NaN counts only in the first place.
    pub(super) fn places_of_line<T: RealNumber>(geometry: &Geometry, image: &[T], row: usize, places: &mut [u32]) -> Result<()> {
        let depth = geometry.depth;
        let mut best = scratch::filled(T::MIN, depth)?;
        for (column, places) in places.chunks_exact_mut(depth).enumerate() {
            let mut first = true;
            for row_tap in geometry.rows.taps(row) {
                let Some(y) = geometry.rows.at(row, row_tap) else { continue };
                for column_tap in geometry.columns.taps(column) {
                    let Some(x) = geometry.columns.at(column, column_tap) else { continue };
                    let pixel = y * geometry.columns.input + x;
                    let source = &image[pixel * depth..][..depth];
                    let pixel = pixel as u32;
                    if first {
                        best.copy_from_slice(source);
                        places.fill(pixel);
                        first = false;
                        continue;
                    }
                    for ((best, place), &element) in best.iter_mut().zip(places.iter_mut()).zip(source) {
                        let greater = *best < element;
                        *best = if greater { element } else { *best };
                        *place = if greater { pixel } else { *place };
                    }
                }
            }
            if first {
                places.fill(NOWHERE);
            }
        }
        Ok(())
    }
}

/// Output 0, of the shape of input 0: each element of input 2 at the place of its window's greatest element.
fn gradient<T: RealNumber>(ctx: &mut RawContext<'_>, pooling: &Pooling) -> Result<()> {
    let images = |index: usize| channels_last(ctx, pooling.format, ctx.input_at(index)?);
    let (input, grad) = (images(0)?, images(2)?);
    let pooled = shape_last(pooling.format, ctx.input_at(1)?.shape().clone());
    let geometry = pooling.maxima_back(input.shape(), &pooled, grad.shape())?;
    let output = output_images(ctx, pooling.format, input.shape().clone(), |output| {
        if output.num_elements() == 0 {
            return Ok(());
        }
        let (elements, grad) = (input.as_slice::<T>()?, grad.as_slice::<T>()?);
        let length = geometry.columns.output * geometry.depth;
        let image = geometry.rows.input * geometry.columns.input * geometry.depth;
        let windows = geometry.rows.output * length;
        let taps = geometry.rows.window.saturating_mul(geometry.columns.window);
        // Nanoseconds for an element of the input, or so.
        let cost = (windows.saturating_mul(taps) / image).div_ceil(4) + 1;
        ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, image, cost, |first, piece| {
            let mut places = scratch::filled(NOWHERE, length)?;
            for (index, target) in piece.chunks_exact_mut(image).enumerate() {
                target.fill(T::ZERO);
                let batch = first / image + index;
                let source = &elements[batch * image..][..image];
                for row in 0..geometry.rows.output {
                    places_of_line(&geometry, source, row, &mut places)?;
                    let grad = &grad[batch * windows + row * length..][..length];
                    add_to_places(target, &places, grad, geometry.depth);
                }
            }
            Ok(())
        })?;
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

/// Adds each gradient to the element of its channel at its pixel.
fn add_to_places<T: Number>(target: &mut [T], places: &[u32], grad: &[T], depth: usize) {
    if grad.is_empty() {
        return;
    }
    for (places, grad) in places.chunks_exact(depth).zip(grad.chunks_exact(depth)) {
        for (channel, (&place, &grad)) in places.iter().zip(grad).enumerate() {
            if let Some(element) = target.get_mut((place as usize).saturating_mul(depth) + channel) {
                *element = element.wrapping_add(grad);
            }
        }
    }
}

/// Output 0, of the shape of input 1: the element of input 2 where the window's first element equal to input 1 stands.
fn gradient_of_gradient<T: RealNumber>(ctx: &mut RawContext<'_>, pooling: &Pooling) -> Result<()> {
    let (input, pooled, grad) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
    let geometry = pooling.maxima_back_back(input.shape(), pooled.shape(), grad.shape())?;
    let mut output = ctx.allocate_output_at(0, geometry.output())?;
    if output.num_elements() > 0 {
        let (elements, pooled, grad) = (input.as_slice::<T>()?, pooled.as_slice::<T>()?, grad.as_slice::<T>()?);
        let depth = geometry.depth;
        let pixels = geometry.rows.input * geometry.columns.input;
        let taps = geometry.rows.window.saturating_mul(geometry.columns.window);
        ctx.parallel_chunks(output.as_mut_slice::<T>()?, depth, taps, |first, piece| {
            for (index, target) in piece.chunks_exact_mut(depth).enumerate() {
                let place = first / depth + index;
                let (line, column) = (place / geometry.columns.output, place % geometry.columns.output);
                let (batch, row) = (line / geometry.rows.output, line % geometry.rows.output);
                for (channel, target) in target.iter_mut().enumerate() {
                    let wanted = pooled[place * depth + channel];
                    let taps = geometry.rows.taps(row).flat_map(|y| geometry.columns.taps(column).map(move |x| (y, x)));
                    let found = taps
                        .filter_map(|(y, x)| geometry.rows.at(row, y).zip(geometry.columns.at(column, x)))
                        .map(|(y, x)| (batch * pixels + y * geometry.columns.input + x) * depth + channel)
                        .find(|&at| elements[at] == wanted);
                    *target = found.map_or(T::ZERO, |at| grad[at]);
                }
            }
        });
    }
    ctx.set_output_at(0, output)
}

/// Where the window is stated: among the attrs, or among the inputs.
enum Window {
    Fixed(Pooling),
    FromInputs { padding: String },
}

impl Window {
    fn pooling(&self, ctx: &RawContext<'_>) -> Result<Cow<'_, Pooling>> {
        Ok(match self {
            Window::Fixed(pooling) => Cow::Borrowed(pooling),
            Window::FromInputs { padding } => Cow::Owned(Pooling::from_inputs(ctx, 3, padding)?),
        })
    }
}

impl KernelState for Window {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        // The second version has the window among its inputs.
        if ctx.op.name.ends_with("V2") {
            let data_format: String = ctx.attrs.required("data_format")?;
            ensure_channels_last(&data_format, CPU)?;
            return Ok(Self::FromInputs { padding: ctx.attrs.required("padding")? });
        }
        // TensorFlow knows the gradient of the gradient with channels last alone.
        let is_second = ctx.op.name == MaxPoolGradGrad::DEF.name;
        Ok(Self::Fixed(if is_second { Pooling::channels_last(ctx.attrs, CPU) } else { Pooling::new(ctx.attrs) }?))
    }
}

#[register_kernel(device = Cpu, op = MaxPoolGrad, T = [realnumbertype])]
#[register_kernel(device = Cpu, op = MaxPoolGradV2, T = [realnumbertype], host_memory = ["ksize", "strides"])]
fn max_pool_grad<T: RealNumber>(window: &Window, ctx: &mut RawContext<'_>) -> Result<()> {
    let pooling = window.pooling(ctx)?;
    gradient::<T>(ctx, &pooling)
}

#[register_kernel(device = Cpu, op = MaxPoolGradGrad, T = [realnumbertype])]
#[register_kernel(device = Cpu, op = MaxPoolGradGradV2, T = [realnumbertype], host_memory = ["ksize", "strides"])]
fn max_pool_grad_grad<T: RealNumber>(window: &Window, ctx: &mut RawContext<'_>) -> Result<()> {
    let pooling = window.pooling(ctx)?;
    gradient_of_gradient::<T>(ctx, &pooling)
}
