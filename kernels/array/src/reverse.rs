//! Reverse, ReverseSequence.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink_geometry::rearranged::reversed;
use kernlink_geometry::reverse_sequence::ReverseSequence;
use kernlink_kernels_common::rows::take_rows;
use kernlink_kernels_common::strided::rearrange;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(device = Cpu, host_memory = ["dims"], T = [realnumbertype, bool, complex128, complex64, string])]
#[register_kernel(device = Default, T = [int32], host_memory = ["tensor", "dims", "output"])]
fn reverse(ctx: &mut KernelContext<'_, ops::Reverse>) -> Result<()> {
    let turned = reversed(ctx.input(ops::Reverse::TENSOR)?.shape(), ctx.input(ops::Reverse::DIMS)?)?;
    rearrange(ctx, 0, turned)
}

#[register_kernel(
    device = Cpu,
    op = ops::ReverseSequence,
    Tlen = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, string],
    state = |ctx| ReverseSequence::new(ctx.attrs),
)]
fn reverse_sequence_kernel(reverse_sequence: &ReverseSequence, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (input, lengths) = (ctx.input(O::INPUT)?, ctx.input(O::SEQ_LENGTHS)?);
    let (shape, (seq, batch)) = (input.shape(), reverse_sequence.dims(input.shape(), lengths.shape())?);
    let lengths = lengths.to_i64_vec()?;
    for (index, &length) in lengths.iter().enumerate() {
        ensure!(length >= 0, InvalidArgument, "seq_lens({index}) < 0");
        ensure!(length as u64 <= shape[seq] as u64, InvalidArgument, "seq_lens({index}) > input.dims({seq})");
    }
    let strides = shape.strides();
    // Whole rows behind both dimensions move together.
    let row = strides[seq.max(batch)];
    let (seq_rows, batch_rows) = (strides[seq] / row.max(1), strides[batch] / row.max(1));
    let (seq_size, batch_size) = (shape[seq], shape[batch]);
    let mut output = ctx.allocate_output(O::OUTPUT, shape)?;
    take_rows(ctx, &mut output, input, row, &|number| {
        let place = number / seq_rows % seq_size;
        let length = lengths[number / batch_rows % batch_size] as usize;
        // `number` holds `place`, which becomes `length - 1 - place`.
        Some(if place < length { number - place * seq_rows + (length - 1 - place) * seq_rows } else { number })
    })?;
    ctx.set_output(O::OUTPUT, output)
}
