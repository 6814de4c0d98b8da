//! ReverseSequence: the first elements of each sequence in the opposite order.

use kernlink::error::{Code, Result};
use kernlink::kernel::KernelContext;
use kernlink_geometry::reverse_sequence::ReverseSequence;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::unit::{Unit, word};
use crate::device::{GpuDevice, Groups};
use crate::indices::Indices;
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program};
use crate::windows::{read, read_if, written};

/// The program for units and lengths of a kind; lengths are read as indices are.
fn program((unit, length): (Unit, Indices)) -> Program {
    let program = unit.program(format!("reversed sequences of {unit:?} by {length:?} lengths"));
    let program = unit.write(length.read(unit.read(program, "x"), "indices"), "y");
    let program = refusal::declare(program.words("seq_step seq_size batch_step batch_size"));
    program.compose(Entry::Elements, include_str!("sequence.wgsl"), length.names())
}

const REFUSED: &str = "a length in seq_lengths is negative or above the size of the dimension seq_dim";

#[register_kernel(
    device = Gpu, op = ops::ReverseSequence, T = [f32, i32, u32, bool, i64, f16 if "f16"], Tlen = [i32, i64],
    programs = |T, Tlen| {
        let length = Indices::of(Tlen)?;
        Ok(Unit::all_of(T)?.map(|unit| program((unit, length))).collect())
    },
    state = |ctx| Ok((ReverseSequence::new(ctx.attrs)?, Refusal::new(ctx, Code::InvalidArgument, REFUSED)))
)]
fn reverse_sequence((dims, refusal): &(ReverseSequence, Refusal), ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (gpu, input, lengths) = (GpuDevice::of(ctx)?, ctx.input(O::INPUT)?, ctx.input(O::SEQ_LENGTHS)?);
    let (shape, (seq, batch)) = (input.shape(), dims.dims(input.shape(), lengths.shape())?);
    let output = gpu.output(ctx, O::OUTPUT, shape)?;
    if output.num_elements() > 0 {
        let strides = shape.strides();
        // Whole rows behind both dimensions move together.
        let row = strides[seq.max(batch)];
        let (unit, times) = Unit::of(output.dtype())?.widest(|times| row.is_multiple_of(times));
        let shader = gpu.shader(program, (unit, Indices::of(lengths.dtype())?));
        let params = [strides[seq] / times, shape[seq], strides[batch] / times, shape[batch]].map(word);
        // Sequences along the outermost dimension are taken whole.
        let parts = [read(input), read_if(batch == 0, lengths), written(&output)];
        gpu.in_windows(if seq == 0 { 1 } else { shape[0] }, &parts, |_, tensors| {
            let groups = Groups::Elements(tensors[2].num_elements() / times);
            gpu.dispatch_refusing(*refusal, &shader, tensors, &params, groups)
        })?;
    }
    ctx.set_output(O::OUTPUT, output)
}
