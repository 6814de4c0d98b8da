//! BiasAdd and BiasAddV1.

use kernlink::Result;
use kernlink::dtype::{Element, Number};
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink_geometry::channels::biased;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::TensorFormat;
use kernlink_ops::{BiasAdd, BiasAddV1};

use super::vector::widest;

/// Input 0 with input 1 added to each channel.
#[register_kernel(
    device = Cpu,
    op = BiasAdd,
    T = [realnumbertype, Complex32, Complex64],
    state = |ctx| TensorFormat::of_images(&ctx.attrs().data_format),
)]
#[register_kernel(
    device = Cpu,
    op = BiasAddV1,
    T = [realnumbertype, Complex32, Complex64],
    state = |_| Ok(TensorFormat::Nhwc),
)]
fn bias_add<T: Computed>(&format: &TensorFormat, ctx: &mut RawContext<'_>) -> Result<()> {
    let (value, bias) = (ctx.input_at(0)?, ctx.input_at(1)?.clone());
    let shape = value.shape().clone();
    let axis = biased(&shape, bias.shape(), format == TensorFormat::Nhwc)?;
    let mut output = ctx.forward_input_at(0, 0, &shape);
    let source = if output.is_none() { Some(ctx.input_at(0)?.as_slice::<T>()?) } else { None };
    let mut fresh = match output.take() {
        Some(tensor) => tensor,
        None => ctx.allocate_output_at(0, shape.clone())?,
    };
    if shape.num_elements() > 0 {
        let bias = bias.as_slice::<T>()?;
        let inner: usize = shape[axis + 1..].iter().product();
        // Whole rows of biases if channels are last, else whole channels.
        let unit = if inner == 1 { bias.len() } else { inner };
        let mut wide_bias = scratch::filled(<T::Wide as Number>::ZERO, bias.len())?;
        T::widen_all(bias, &mut wide_bias);
        ctx.try_parallel_chunks(fresh.as_mut_slice::<T>()?, unit, 1, |first, piece| {
            let source = source.map(|source| &source[first..first + piece.len()]);
            if T::DTYPE != T::Wide::DTYPE {
                // Sums of 16-bit floats are rounded many at a time.
                const BLOCK: usize = 4096;
                if let Some(source) = source {
                    piece.copy_from_slice(source);
                }
                let block = (BLOCK / unit).max(1) * unit;
                for (index, piece) in piece.chunks_mut(block).enumerate() {
                    T::on_wide(piece, |piece| {
                        if inner == 1 {
                            add_rows(piece, None, &wide_bias);
                        } else {
                            add_channels(piece, None, &wide_bias, inner, (first + index * block) / unit);
                        }
                    })?;
                }
                return Ok(());
            }
            if inner == 1 {
                add_rows(piece, source, bias);
            } else {
                add_channels(piece, source, bias, inner, first / unit);
            }
            Ok(())
        })?;
    }
    ctx.set_output_at(0, fresh)
}

widest! {
    /// Adds all biases to each row, of `source` or of the target itself.
    fn add_rows<T: Number>(target: &mut [T], source: Option<&[T]>, bias: &[T]) {
        match source {
            Some(source) => {
                for (row, source) in target.chunks_exact_mut(bias.len()).zip(source.chunks_exact(bias.len())) {
                    for ((element, &source), &bias) in row.iter_mut().zip(source).zip(bias) {
                        *element = source.wrapping_add(bias);
                    }
                }
            }
            None => {
                for row in target.chunks_exact_mut(bias.len()) {
                    for (element, &bias) in row.iter_mut().zip(bias) {
                        *element = element.wrapping_add(bias);
                    }
                }
            }
        }
    }
}

widest! {
    /// Adds to each run of `inner` elements its channel's bias; the first run is number `first`.
    fn add_channels<T: Number>(target: &mut [T], source: Option<&[T]>, bias: &[T], inner: usize, first: usize) {
        if let Some(source) = source {
            target.copy_from_slice(source);
        }
        for (index, run) in target.chunks_exact_mut(inner).enumerate() {
            let bias = bias[(first + index) % bias.len()];
            for element in run {
                *element = element.wrapping_add(bias);
            }
        }
    }
}
