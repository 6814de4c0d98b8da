//! Reverse, ReverseSequence.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink_geometry::rearranged::reversed;
use kernlink_geometry::reverse_sequence::ReverseSequence;
use kernlink_kernels_common::rows::take_rows;
use kernlink_kernels_common::strided::rearrange;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(device = Cpu, host_memory = ["dims"], T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, string, uint16, uint32,
    uint64, uint8,
])]
#[register_kernel(device = Default, T = [int32], host_memory = ["tensor", "dims", "output"])]
fn reverse(ctx: &mut KernelContext<'_, ops::Reverse>) -> Result<()> {
    let turned = reversed(ctx.input(ops::Reverse::TENSOR)?.shape(), ctx.input(ops::Reverse::DIMS)?)?;
    rearrange(ctx, 0, turned)
}

struct ReverseSequenceKernel(ReverseSequence);

#[register_kernel(device = Cpu, Tlen = [int32, int64], T = [
    bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, string, uint16, uint32,
    uint64, uint8,
])]
impl OpKernel<ops::ReverseSequence> for ReverseSequenceKernel {
    fn new(ctx: &KernelConstruction<'_, ops::ReverseSequence>) -> Result<Self> {
        ReverseSequence::new(ctx.attrs).map(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ReverseSequence>) -> Result<()> {
        let (input, lengths) = (ctx.input(ops::ReverseSequence::INPUT)?, ctx.input(ops::ReverseSequence::SEQ_LENGTHS)?);
        let (shape, (seq, batch)) = (input.shape(), self.0.dims(input.shape(), lengths.shape())?);
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
        let mut output = ctx.allocate_output(ops::ReverseSequence::OUTPUT, shape)?;
        take_rows(ctx, &mut output, input, row, &|number| {
            let place = number / seq_rows % seq_size;
            let length = lengths[number / batch_rows % batch_size] as usize;
            // `number` holds `place`, which becomes `length - 1 - place`.
            Some(if place < length { number - place * seq_rows + (length - 1 - place) * seq_rows } else { number })
        })?;
        ctx.set_output(ops::ReverseSequence::OUTPUT, output)
    }
}
