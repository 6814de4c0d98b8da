//! BiasAddGrad.

use kernlink::Result;
use kernlink::dtype::{Element, Number};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::channels::{Layout, bias_gradient};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::BiasAddGrad;
use kernlink_ops::shapes::TensorFormat;

use super::vector::widest;

#[register_kernel(
    device = Cpu,
    T = [realnumbertype, Complex32, Complex64],
    state = |ctx| TensorFormat::of_images(&ctx.attrs().data_format),
)]
fn bias_add_grad<T: Computed>(&format: &TensorFormat, ctx: &mut KernelContext<'_, BiasAddGrad>) -> Result<()> {
    let gradient = ctx.input(BiasAddGrad::OUT_BACKPROP)?;
    let layout = bias_gradient(gradient.shape(), format == TensorFormat::Nhwc)?;
    let mut output = ctx.allocate_output(BiasAddGrad::OUTPUT, [layout.channels])?;
    let elements = output.as_mut_slice::<T>()?;
    if gradient.num_elements() == 0 {
        elements.fill(T::ZERO);
    } else {
        channel_sums(ctx, gradient.as_slice::<T>()?, &layout, elements)?;
    }
    ctx.set_output(BiasAddGrad::OUTPUT, output)
}

/// The sum of each channel's elements.
fn channel_sums<T: Computed>(ctx: &RawContext<'_>, x: &[T], layout: &Layout, output: &mut [T]) -> Result<()> {
    /// Parts whose sums are added at the end, so that the result does not depend on the number of threads.
    const PARTS: usize = 32;
    let Layout { outer, channels, inner } = *layout;
    let parts = PARTS.min(outer);
    let mut scratch = Tensor::zeros(T::Wide::DTYPE, [parts, channels])?;
    let partial = scratch.as_mut_slice::<T::Wide>()?;
    ctx.try_parallel_chunks(partial, channels, (x.len() / (parts * channels)).div_ceil(4), |first, piece| {
        for (index, sums) in piece.chunks_exact_mut(channels).enumerate() {
            let part = first / channels + index;
            let (start, end) = (part * outer / parts, (part + 1) * outer / parts);
            let slab = &x[start * channels * inner..end * channels * inner];
            if inner == 1 { add_rows(slab, sums)? } else { add_planes(slab, inner, sums) }
        }
        Ok(())
    })?;
    let mut totals = scratch::filled(T::Wide::ZERO, channels)?;
    for sums in partial.chunks_exact(channels) {
        totals.iter_mut().zip(sums).for_each(|(total, &sum)| *total = total.wrapping_add(sum));
    }
    output.iter_mut().zip(totals).for_each(|(output, total)| *output = T::narrow(total));
    Ok(())
}

widest! {
    /// Adds rows of channels to `sums`, some at a time, so that sums do not outgrow what is added.
    fn add_rows<T: Computed>(slab: &[T], sums: &mut [T::Wide]) -> Result<()> {
        const ROWS: usize = 64;
        let channels = sums.len();
        let mut some = scratch::filled(T::Wide::ZERO, channels)?;
        for rows in slab.chunks(ROWS * channels) {
            some.fill(T::Wide::ZERO);
            for row in rows.chunks_exact(channels) {
                some.iter_mut().zip(row).for_each(|(sum, x)| *sum = sum.wrapping_add(x.widen()));
            }
            sums.iter_mut().zip(&some).for_each(|(sum, &some)| *sum = sum.wrapping_add(some));
        }
        Ok(())
    }
}

widest! {
    /// Adds runs of `inner` elements of a channel each to `sums`.
    fn add_planes<T: Computed>(slab: &[T], inner: usize, sums: &mut [T::Wide]) {
        const LANES: usize = 16;
        let channels = sums.len();
        for outer in slab.chunks_exact(channels * inner) {
            for (run, sum) in outer.chunks_exact(inner).zip(sums.iter_mut()) {
                let mut lanes = [T::Wide::ZERO; LANES];
                for chunk in run.chunks(LANES) {
                    lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane = lane.wrapping_add(x.widen()));
                }
                *sum = lanes.iter().fold(*sum, |sum, &lane| sum.wrapping_add(lane));
            }
        }
    }
}
