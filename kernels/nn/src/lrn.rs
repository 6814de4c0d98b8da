//! LRN and LRNGrad.

use std::ops::Range;

use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_kernels_common::fast;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{LRN, LRNGrad};

use super::vector::widest;

/// Channels whose neighbours are summed at a time.
const LANES: usize = 32;

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

    /// How many of its neighbours to each side a channel of so many sees at most.
    fn reach(&self, depth: usize) -> usize {
        // Further away than the row is long are none.
        (self.radius.max(0) as usize).min(depth - 1)
    }

    /// Room for [`Response::norms`].
    fn squares(&self, depth: usize) -> Result<Vec<f32>> {
        scratch::zeros(depth.next_multiple_of(LANES) + 2 * self.reach(depth))
    }

    /// For each channel `bias` and the weighted sum of its neighbours' squares. `squares` are of length
    /// [`Response::reach`] on either side of the channels.
    fn norms(&self, row: &[f32], squares: &mut [f32], norms: &mut [f32]) {
        if self.radius < 0 {
            norms.fill(self.bias);
        } else {
            sum_squares(row, self.reach(row.len()), squares, norms, self.alpha, self.bias);
        }
    }

    /// Replaces norms by what the elements are multiplied with.
    fn powers(&self, norms: &mut [f32]) {
        if self.beta == 1.0 {
            norms.iter_mut().for_each(|norm| *norm = 1.0 / *norm);
        } else if self.beta == 0.5 {
            inverse_roots(norms);
        } else {
            to_power(norms, -self.beta);
        }
    }

    /// Nanoseconds that an element takes, or so.
    fn cost(&self) -> usize {
        2 + self.radius.max(0) as usize / 8
    }
}

widest! {
    /// [`Response::norms`] of channels that see `reach` neighbours to each side.
    fn sum_squares(row: &[f32], reach: usize, squares: &mut [f32], norms: &mut [f32], alpha: f32, bias: f32) {
        // On either side remain zeros.
        for (square, x) in squares[reach..].iter_mut().zip(row) {
            *square = x * x;
        }
        for (index, norms) in norms.chunks_mut(LANES).enumerate() {
            let near = &squares[index * LANES..];
            let mut sums = [0.0f32; LANES];
            for start in 0..=2 * reach {
                if let Some(near) = near[start..].first_chunk::<LANES>() {
                    for lane in 0..LANES {
                        sums[lane] += near[lane];
                    }
                }
            }
            for (norm, sum) in norms.iter_mut().zip(sums) {
                *norm = bias + alpha * sum;
            }
        }
    }
}

widest! {
    fn inverse_roots(elements: &mut [f32]) {
        for element in elements {
            *element = 1.0 / element.sqrt();
        }
    }
}

widest! {
    /// As TensorFlow has it: by the logarithm.
    fn to_power(elements: &mut [f32], exponent: f32) {
        for element in elements {
            *element = fast::exp(fast::ln(*element) * exponent);
        }
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
        let mut squares = response.squares(depth)?;
        for (target, source) in piece.chunks_exact_mut(depth).zip(elements[first..].chunks_exact(depth)) {
            T::widen_all(source, &mut wide);
            response.norms(&wide, &mut squares, &mut norms);
            response.powers(&mut norms);
            for (x, factor) in wide.iter_mut().zip(&norms) {
                *x *= factor;
            }
            T::narrow_all(&wide, target);
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
        let mut squares = response.squares(depth)?;
        let (mut sums, mut powers) = (scratch::zeros::<f32>(depth)?, scratch::zeros::<f32>(depth)?);
        for (row, target) in piece.chunks_exact_mut(depth).enumerate() {
            let start = first + row * depth;
            let row = start..start + depth;
            T::widen_all(&input[row.clone()], &mut wide);
            response.norms(&wide, &mut squares, &mut norms);
            powers.copy_from_slice(&norms);
            response.powers(&mut powers);
            sums.fill(0.0);
            for (channel, (dy, y)) in gradient[row.clone()].iter().zip(&given[row]).enumerate() {
                let (dy, y, norm) = (dy.widen(), y.widen(), norms[channel]);
                let near = response.neighbours(channel, depth);
                let factor = slope * y / norm * dy;
                for (sum, &x) in sums[near.clone()].iter_mut().zip(&wide[near]) {
                    *sum += x * factor;
                }
                // An element is its own neighbour, unless the radius is negative.
                if response.radius >= 0 {
                    sums[channel] += powers[channel] * dy;
                }
            }
            T::narrow_all(&sums, target);
        }
        Ok(())
    })?;
    ctx.set_output(LRNGrad::OUTPUT, output)
}
