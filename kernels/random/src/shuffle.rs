//! Rows in a random order.

use kernlink::dtype::{DataType, TString};
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::scratch;
use kernlink::tensor::{ResourceHandle, Tensor, Variant};
use kernlink_macros::register_kernel;
use kernlink_ops::{RandomShuffle, StatelessShuffle};

use super::philox::{Philox, Words};
use super::source::{Stateful, keyed};

/// Shuffles the rows of input 0. `generator` is asked for one that takes so many steps.
fn shuffle(ctx: &mut RawContext<'_>, generator: impl FnOnce(u64) -> Philox) -> Result<()> {
    let input = ctx.input_at(0)?.clone();
    let rows = input.shape().first().copied().unwrap_or(1);
    if input.num_elements() <= 1 || rows <= 1 {
        return ctx.set_output_at(0, input);
    }
    let mut words = Words::new(generator((rows as u64 - 1).div_ceil(4)));
    let mut order = scratch::collected(0..rows)?;
    for first in 0..rows - 1 {
        // What remains is counted with 32 bits, as TensorFlow does.
        let left = (rows - first) as u32;
        order.swap(first, first + words.word().checked_rem(left).unwrap_or(0) as usize);
    }
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let row = input.num_elements() / rows;
    fn objects<T: kernlink::dtype::Element>(
        output: &mut Tensor,
        input: &Tensor,
        order: &[usize],
        row: usize,
    ) -> Result<()> {
        let input = input.as_slice::<T>()?;
        for (target, &source) in output.as_mut_slice::<T>()?.chunks_exact_mut(row).zip(order) {
            target.clone_from_slice(&input[source * row..][..row]);
        }
        Ok(())
    }
    match input.dtype() {
        DataType::String => objects::<TString>(&mut output, &input, &order, row)?,
        DataType::Resource => objects::<ResourceHandle>(&mut output, &input, &order, row)?,
        DataType::Variant => objects::<Variant>(&mut output, &input, &order, row)?,
        DataType::Bool => objects::<bool>(&mut output, &input, &order, row)?,
        dtype => {
            let bytes = row * dtype.size();
            let (output, input) = (output.bytes_mut()?, input.bytes()?);
            match bytes {
                1 => narrow::<1>(ctx, output, input, &order),
                2 => narrow::<2>(ctx, output, input, &order),
                4 => narrow::<4>(ctx, output, input, &order),
                8 => narrow::<8>(ctx, output, input, &order),
                _ => ctx.parallel_chunks(output, bytes, 1, |first, piece| {
                    for (target, &source) in piece.chunks_exact_mut(bytes).zip(&order[first / bytes..]) {
                        target.copy_from_slice(&input[source * bytes..][..bytes]);
                    }
                }),
            }
        }
    }
    ctx.set_output_at(0, output)
}

fn narrow<const N: usize>(ctx: &RawContext<'_>, output: &mut [u8], input: &[u8], order: &[usize]) {
    let input = input.as_chunks::<N>().0;
    ctx.parallel_chunks(output.as_chunks_mut::<N>().0, 1, 4, |first, piece| {
        for (target, &source) in piece.iter_mut().zip(&order[first..]) {
            *target = input[source];
        }
    });
}

#[register_kernel(
    device = Cpu,
    T = [realnumbertype, variant, resource, string, bool, complex128, complex64],
    state = |ctx| Stateful::from_attrs(ctx.attrs),
)]
fn random_shuffle(source: &Stateful, ctx: &mut KernelContext<'_, RandomShuffle>) -> Result<()> {
    shuffle(ctx, |steps| source.reserve(steps))
}

#[register_kernel(device = Cpu, T = [realnumbertype, variant, resource, string, bool, complex128, complex64])]
fn stateless_shuffle(ctx: &mut KernelContext<'_, StatelessShuffle>) -> Result<()> {
    let generator = keyed(ctx)?;
    shuffle(ctx, |_| generator)
}
