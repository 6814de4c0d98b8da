//! LRN and LRNGrad.

use std::ops::Range;

use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{LRN, LRNGrad};

/// What both ops read from their attrs.
struct Response {
    radius: i64,
    bias: f32,
    alpha: f32,
    beta: f32,
}

impl Response {
    fn new(radius: i64, bias: f32, alpha: f32, beta: f32) -> Result<Response> {
        ensure!(i32::try_from(radius).is_ok(), InvalidArgument, "depth_radius {radius} is out of range for an int32");
        Ok(Response { radius, bias, alpha, beta })
    }

    /// The channels that count for channel `channel`.
    fn neighbours(&self, channel: usize, depth: usize) -> Range<usize> {
        let start = (channel as i64 - self.radius).max(0);
        let end = (channel as i64 + self.radius + 1).min(depth as i64).max(start);
        (start as usize).min(depth)..(end as usize).min(depth)
    }

    /// For each channel `bias` and the weighted sum of its neighbours' squares.
    fn norms(&self, row: &[f32], norms: &mut [f32]) {
        for (channel, norm) in norms.iter_mut().enumerate() {
            let near = &row[self.neighbours(channel, row.len())];
            *norm = self.bias + self.alpha * near.iter().map(|x| x * x).sum::<f32>();
        }
    }

    /// What an element is multiplied with.
    fn power(&self, norm: f32) -> f32 {
        if self.beta == 1.0 {
            1.0 / norm
        } else if self.beta == 0.5 {
            1.0 / norm.sqrt()
        } else {
            norm.powf(-self.beta)
        }
    }

    /// Nanoseconds that an element takes, or so.
    fn cost(&self) -> usize {
        20 + self.radius.max(0) as usize
    }
}

#[register_kernel(
    device = Cpu,
    T = [f16, f32],
    state = |ctx| Response::new(ctx.attrs().depth_radius, ctx.attrs().bias, ctx.attrs().alpha, ctx.attrs().beta),
)]
fn lrn<T: Computed<Wide = f32>>(response: &Response, ctx: &mut KernelContext<'_, LRN>) -> Result<()> {
    let input = ctx.input(LRN::INPUT)?;
    let shape = input.shape();
    ensure!(shape.rank() == 4, InvalidArgument, "input must be 4-dimensional, not {shape}");
    // Channels may be of any number if there are no pixels.
    let depth = if shape.num_elements() == 0 { 1 } else { shape[3] };
    let mut output = ctx.allocate_output(LRN::OUTPUT, shape.clone())?;
    let elements = input.as_slice::<T>()?;
    ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, depth, response.cost(), |first, piece| {
        let (mut wide, mut norms) = (scratch::zeros::<f32>(depth)?, scratch::zeros::<f32>(depth)?);
        for (target, source) in piece.chunks_exact_mut(depth).zip(elements[first..].chunks_exact(depth)) {
            T::widen_all(source, &mut wide);
            response.norms(&wide, &mut norms);
            for ((target, &x), &norm) in target.iter_mut().zip(&wide).zip(&norms) {
                *target = T::narrow(x * response.power(norm));
            }
        }
        Ok(())
    })?;
    ctx.set_output(LRN::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    T = [f16, f32],
    state = |ctx| Response::new(ctx.attrs().depth_radius, ctx.attrs().bias, ctx.attrs().alpha, ctx.attrs().beta),
)]
fn lrn_grad<T: Computed<Wide = f32>>(response: &Response, ctx: &mut KernelContext<'_, LRNGrad>) -> Result<()> {
    let gradient = ctx.input(LRNGrad::INPUT_GRADS)?;
    let (input, given) = (ctx.input(LRNGrad::INPUT_IMAGE)?, ctx.input(LRNGrad::OUTPUT_IMAGE)?);
    let shape = gradient.shape();
    ensure!(shape.rank() == 4, InvalidArgument, "input_grads must be 4-dimensional, not {shape}");
    ensure!(
        input.shape() == shape && given.shape() == shape,
        InvalidArgument,
        "input_grads, input_image and output_image must have the same shape, not {shape}, {} and {}",
        input.shape(),
        given.shape()
    );
    // Channels may be of any number if there are no pixels.
    let depth = if shape.num_elements() == 0 { 1 } else { shape[3] };
    let mut output = ctx.allocate_output(LRNGrad::OUTPUT, shape.clone())?;
    let (gradient, input, given) = (gradient.as_slice::<T>()?, input.as_slice::<T>()?, given.as_slice::<T>()?);
    let slope = -2.0 * response.alpha * response.beta;
    ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, depth, 2 * response.cost(), |first, piece| {
        let (mut wide, mut norms) = (scratch::zeros::<f32>(depth)?, scratch::zeros::<f32>(depth)?);
        let mut sums = scratch::zeros::<f32>(depth)?;
        for (row, target) in piece.chunks_exact_mut(depth).enumerate() {
            let start = first + row * depth;
            let row = start..start + depth;
            T::widen_all(&input[row.clone()], &mut wide);
            response.norms(&wide, &mut norms);
            sums.fill(0.0);
            for (channel, (dy, y)) in gradient[row.clone()].iter().zip(&given[row]).enumerate() {
                let (dy, y, norm) = (dy.widen(), y.widen(), norms[channel]);
                let near = response.neighbours(channel, depth);
                for (sum, &x) in sums[near.clone()].iter_mut().zip(&wide[near]) {
                    *sum += slope * x * y / norm * dy;
                }
                // An element is its own neighbour, unless the radius is negative.
                if response.radius >= 0 {
                    sums[channel] += response.power(norm) * dy;
                }
            }
            T::narrow_all(&sums, target);
        }
        Ok(())
    })?;
    ctx.set_output(LRNGrad::OUTPUT, output)
}
