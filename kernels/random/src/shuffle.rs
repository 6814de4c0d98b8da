//! Rows in a random order.

use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::scratch;
use kernlink_kernels_common::element::bytes_mut;
use kernlink_kernels_common::rows::take_rows;
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
    let mut output = ctx.allocate_output_at(0, input.shape())?;
    let row = input.num_elements() / rows;
    let bytes = row * input.dtype().size();
    if input.dtype().is_pod() && matches!(bytes, 1 | 2 | 4 | 8) {
        // SAFETY: only bytes of elements of the same dtype are written.
        let elements = unsafe { bytes_mut(&mut output)? };
        elements.copy_from_slice(input.bytes()?);
        match bytes {
            1 => swap_all(elements.as_chunks_mut::<1>().0, &mut words),
            2 => swap_all(elements.as_chunks_mut::<2>().0, &mut words),
            4 => swap_all(elements.as_chunks_mut::<4>().0, &mut words),
            _ => swap_all(elements.as_chunks_mut::<8>().0, &mut words),
        }
    } else {
        let mut order: Vec<usize> = scratch::collected(0..rows)?;
        swap_all(&mut order, &mut words);
        take_rows(ctx, &mut output, &input, row, &|row| Some(order[row]))?;
    }
    ctx.set_output_at(0, output)
}

/// Exchanges each element but the last with one that does not come before it.
fn swap_all<T>(elements: &mut [T], words: &mut Words) {
    let count = elements.len();
    for first in 0..count - 1 {
        // What remains is counted with 32 bits, as TensorFlow does.
        let left = (count - first) as u32;
        elements.swap(first, first + words.word().checked_rem(left).unwrap_or(0) as usize);
    }
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
