//! AvgPoolGrad.

use kernlink::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink_geometry::pooling::{Geometry, Pooling};
use kernlink_macros::register_kernel;
use kernlink_ops::AvgPoolGrad;

use super::images::{channels_last, output_images};
use super::pool::Average;
use super::vector::widest;

#[register_kernel(
    device = Cpu,
    host_memory = ["orig_input_shape"],
    T = [f16, bf16, f32, f64],
    state = |ctx| Pooling::new(ctx.attrs),
)]
fn avg_pool_grad<T: Average>(pooling: &Pooling, ctx: &mut KernelContext<'_, AvgPoolGrad>) -> Result<()> {
    let grad = channels_last(ctx, pooling.format, ctx.input(AvgPoolGrad::GRAD)?)?;
    let (shape, geometry) = pooling.averaged_back(ctx.input(AvgPoolGrad::ORIG_INPUT_SHAPE)?, grad.shape())?;
    let output = output_images(ctx, pooling.format, shape, |output| {
        if output.num_elements() == 0 {
            return Ok(());
        }
        let grad = grad.as_slice::<T>()?;
        let image = output.num_elements() / geometry.batch;
        let windows = grad.len() / geometry.batch;
        let taps = geometry.rows.window.saturating_mul(geometry.columns.window);
        let cost = (windows.saturating_mul(taps) / image).div_ceil(8) + 1;
        ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, image, cost, |first, piece| {
            for (index, target) in piece.chunks_exact_mut(image).enumerate() {
                spread(&geometry, &grad[(first / image + index) * windows..][..windows], target)?;
            }
            Ok(())
        })?;
        Ok(())
    })?;
    ctx.set_output(AvgPoolGrad::OUTPUT, output)
}

widest! {
    /// Shares what flows back into an image's averages among the elements that are not padding.
    fn spread<T: Average>(geometry: &Geometry, grad: &[T], target: &mut [T]) -> Result<()> {
        let depth = geometry.depth;
        target.fill(T::ZERO);
        let mut shares = scratch::filled(T::ZERO, depth)?;
        for (place, grad) in grad.chunks_exact(depth).enumerate() {
            let (row, column) = (place / geometry.columns.output, place % geometry.columns.output);
            let (row_taps, column_taps) = (geometry.rows.taps(row), geometry.columns.taps(column));
            let count = T::from_count(row_taps.len() * column_taps.len());
            shares.iter_mut().zip(grad).for_each(|(share, &grad)| *share = T::over(grad.widened(), count));
            for row_tap in row_taps {
                let Some(y) = geometry.rows.at(row, row_tap) else { continue };
                for column_tap in column_taps.clone() {
                    let Some(x) = geometry.columns.at(column, column_tap) else { continue };
                    let target = &mut target[(y * geometry.columns.input + x) * depth..][..depth];
                    target.iter_mut().zip(&shares).for_each(|(target, &share)| *target = target.wrapping_add(share));
                }
            }
        }
        Ok(())
    }
}
