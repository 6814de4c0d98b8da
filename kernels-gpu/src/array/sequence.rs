//! ReverseSequence: the first elements of each sequence in the opposite order.

use kernlink::error::{Code, Result};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_geometry::reverse_sequence::ReverseSequence;

use super::mover::Mover;
use super::unit::{Unit, word};
use super::variant::Variant;
use crate::device::Groups;
use crate::indices::Indices;
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program};
use crate::windows::{read, read_if, written};

/// The program for units and lengths of a kind; lengths are read as indices are.
pub(super) fn program(unit: Unit, length: Indices) -> Program {
    let mut program = unit.declare(Program::trusted(format!("reversed sequences of {unit:?} by {length:?} lengths")));
    program = unit.write(length.read(unit.read(program, "x")), "y");
    for name in ["seq_step", "seq_size", "batch_step", "batch_size"] {
        program = program.param(name, "u32");
    }
    refusal::declare(program).declare(refusal::FUNCTION).build(Entry::Elements, include_str!("sequence.wgsl"))
}

/// What the kernel keeps of its node.
pub(super) type How = (ReverseSequence, Refusal);

pub(super) fn how(ctx: &RawConstruction<'_>) -> Result<How> {
    let message = "a length in seq_lengths is negative or above the size of the dimension seq_dim";
    Ok((ReverseSequence::new(ctx.attrs)?, Refusal::new(ctx, Code::InvalidArgument, message)))
}

pub(super) fn reverse_sequence((dims, refusal): &How, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let (input, lengths) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let (shape, (seq, batch)) = (input.shape(), dims.dims(input.shape(), lengths.shape())?);
    let output = on.output(ctx, 0, shape)?;
    if output.num_elements() > 0 {
        let strides = shape.strides();
        // Whole rows behind both dimensions move together.
        let row = strides[seq.max(batch)];
        let (unit, times) = Unit::of(output.dtype())?.widest(|times| row.is_multiple_of(times));
        let variant = Variant::Sequence(unit, Indices::of(lengths.dtype())?);
        let params = [strides[seq] / times, shape[seq], strides[batch] / times, shape[batch]].map(word);
        // Sequences along the outermost dimension are taken whole.
        let parts = [read(input), read_if(batch == 0, lengths), written(&output)];
        on.gpu.in_windows(if seq == 0 { 1 } else { shape[0] }, &parts, |_, tensors| {
            let groups = Groups::Elements(tensors[2].num_elements() / times);
            on.run_refusing(*refusal, variant, tensors, &params, groups)
        })?;
    }
    ctx.set_output_at(0, output)
}
