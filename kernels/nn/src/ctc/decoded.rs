//! What decoders take and give.

use kernlink::kernel::{KernelContext, RawContext};
use kernlink::op::Op;
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};

use super::Logit;

/// The logits of sequences, and how many steps each has.
pub(super) struct Sequences<'c, T> {
    logits: &'c [T],
    pub(super) batch: usize,
    pub(super) classes: usize,
    /// The most steps that a sequence may have.
    pub(super) time: usize,
    lengths: &'c [i32],
}

impl<'c, T: Logit> Sequences<'c, T> {
    /// Inputs 0 and 1.
    pub(super) fn new(ctx: &'c RawContext<'_>) -> Result<Self> {
        let (inputs, lengths) = (ctx.input_at(0)?, ctx.input_at(1)?);
        ensure!(inputs.rank() == 3, InvalidArgument, "inputs must have 3 dimensions, not shape {}", inputs.shape());
        ensure!(
            inputs.num_elements() > 0,
            InvalidArgument,
            "inputs must not be empty, but are of shape {}",
            inputs.shape()
        );
        ensure!(
            lengths.rank() == 1,
            InvalidArgument,
            "sequence_length is not a vector, but of shape {}",
            lengths.shape()
        );
        let (time, batch, classes) = (inputs.shape()[0], inputs.shape()[1], inputs.shape()[2]);
        let lengths = lengths.as_slice::<i32>()?;
        ensure!(
            lengths.len() == batch,
            FailedPrecondition,
            "sequence_length has {} elements, but inputs are of {batch} sequences",
            lengths.len()
        );
        for (sequence, &length) in lengths.iter().enumerate() {
            ensure!(
                length <= 0 || length as usize <= time,
                FailedPrecondition,
                "sequence_length[{sequence}] = {length} must be at most {time}, the steps of inputs"
            );
        }
        ensure!(
            classes < i32::MAX as usize,
            InvalidArgument,
            "inputs have {classes} classes, which an int32 does not count"
        );
        Ok(Self { logits: inputs.as_slice()?, batch, classes, time, lengths })
    }

    /// The logits of a sequence's steps, of which there are none if its length is below zero.
    pub(super) fn steps(&self, sequence: usize) -> impl Iterator<Item = &'c [T]> + use<'c, T> {
        let (logits, classes) = (self.logits, self.classes);
        let (first, stride) = (sequence * classes, self.batch * classes);
        (0..self.lengths[sequence].max(0) as usize).map(move |step| &logits[step * stride + first..][..classes])
    }
}

/// Sets the three outputs of path `path` of `paths` to the labels of all sequences, as a sparse matrix.
pub(super) fn set_decoded<'l, O: Op>(
    ctx: &mut KernelContext<'_, O>,
    (path, paths): (usize, usize),
    labels: impl Iterator<Item = &'l [i32]> + Clone,
) -> Result<()> {
    let total = labels.clone().map(<[i32]>::len).sum::<usize>();
    let mut indices = ctx.allocate_output_at(path, [total, 2])?;
    let mut values = ctx.allocate_output_at(paths + path, [total])?;
    let mut places = indices.as_mut_slice::<i64>()?.as_chunks_mut::<2>().0.iter_mut();
    let mut targets = values.as_mut_slice::<i64>()?.iter_mut();
    let (mut sequences, mut longest) = (0i64, 0);
    for own in labels {
        for (place, &label) in own.iter().enumerate() {
            if let Some((indices, value)) = places.next().zip(targets.next()) {
                *indices = [sequences, place as i64];
                *value = label.into();
            }
        }
        sequences += 1;
        longest = longest.max(own.len() as i64);
    }
    ctx.set_output_at(path, indices)?;
    ctx.set_output_at(paths + path, values)?;
    ctx.set_output_at(2 * paths + path, Tensor::vector(&[sequences, longest])?)
}
