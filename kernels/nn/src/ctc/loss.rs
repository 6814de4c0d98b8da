//! CTCLoss.

use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_kernels_common::gemm::Shared;
use kernlink_macros::register_kernel;
use kernlink_ops::CTCLoss;

use super::Logit;
use super::forward_backward::{Path, Steps, loss};

type Op = CTCLoss;

/// The labels of each sequence, one after the other, and where each begins.
struct Labels<'a> {
    values: &'a [i32],
    starts: Vec<usize>,
}

impl<'a> Labels<'a> {
    /// Of the sparse matrix of labels.
    fn new(indices: &Tensor, values: &'a Tensor, batch: usize) -> Result<Labels<'a>> {
        ensure!(
            indices.rank() == 2,
            InvalidArgument,
            "labels_indices is not a matrix, but of shape {}",
            indices.shape()
        );
        ensure!(values.rank() == 1, InvalidArgument, "labels_values is not a vector, but of shape {}", values.shape());
        let (rows, columns) = (indices.shape()[0], indices.shape()[1]);
        let values = values.as_slice::<i32>()?;
        ensure!(
            rows == values.len(),
            InvalidArgument,
            "labels_indices and labels_values must have the same number of rows, not {rows} and {}",
            values.len()
        );
        ensure!(columns == 2, InvalidArgument, "labels_indices must have 2 columns, not {columns}");
        let mut starts = scratch::filled(0, batch + 1)?;
        let mut before = None;
        for (row, &[sequence, place]) in indices.as_slice::<i64>()?.as_chunks::<2>().0.iter().enumerate() {
            let known = usize::try_from(sequence).ok().filter(|&sequence| sequence < batch && place >= 0);
            let Some(known) = known else {
                kernlink::bail!(
                    InvalidArgument,
                    "labels_indices[{row}] = [{sequence}, {place}] is out of bounds: there are {batch} sequences"
                );
            };
            let problem = if before == Some([sequence, place]) { "repeated" } else { "out of order" };
            ensure!(
                before.is_none_or(|before| before < [sequence, place]),
                InvalidArgument,
                "labels_indices[{row}] = [{sequence}, {place}] is {problem}"
            );
            before = Some([sequence, place]);
            starts[known + 1] += 1;
        }
        (0..batch).for_each(|sequence| starts[sequence + 1] += starts[sequence]);
        Ok(Labels { values, starts })
    }

    /// Those of a sequence.
    fn of(&self, sequence: usize) -> &'a [i32] {
        &self.values[self.starts[sequence]..self.starts[sequence + 1]]
    }
}

/// The labels of a sequence that are classes before the blank.
fn path_of(labels: &[i32], sequence: usize, blank: usize, collapses: bool) -> Result<Vec<i32>> {
    let mut path = scratch::room(labels.len())?;
    let mut is_over = false;
    for (index, &label) in labels.iter().enumerate() {
        if collapses && index > 0 && labels[index - 1] == label {
            continue;
        }
        if i64::from(label) >= blank as i64 {
            is_over = true;
            continue;
        }
        ensure!(
            !is_over,
            InvalidArgument,
            "sequence {sequence} has label {label} after one that is the blank ({blank}) or more, which ends it"
        );
        path.push(label);
    }
    if let Some(label) = path.iter().find(|&&label| label < 0) {
        kernlink::bail!(InvalidArgument, "sequence {sequence} has label {label}, but labels are nonnegative");
    }
    Ok(path)
}

/// The steps of a sequence in rows of all sequences.
struct Rows<'a, T> {
    rows: &'a Shared<T>,
    /// Elements from step to step, and of a step.
    stride: usize,
    classes: usize,
    first: usize,
    count: usize,
}

impl<T: Logit> Steps<T> for Rows<'_, T> {
    fn len(&self) -> usize {
        self.count
    }

    fn step(&mut self, step: usize) -> &mut [T] {
        assert!(step < self.count);
        let start = self.rows.at(step * self.stride + self.first);
        // SAFETY: who made this promised that the rows of these steps are there and that nobody else uses them.
        unsafe { std::slice::from_raw_parts_mut(start, self.classes) }
    }
}

#[register_kernel(device = Cpu, T = [f32, f64])]
fn ctc_loss<T: Logit>(attrs: &Attrs<Op>, ctx: &mut KernelContext<'_, Op>) -> Result<()> {
    let (inputs, lengths) = (ctx.input(Op::INPUTS)?, ctx.input(Op::SEQUENCE_LENGTH)?);
    ensure!(inputs.rank() == 3, InvalidArgument, "inputs must have 3 dimensions, not shape {}", inputs.shape());
    ensure!(lengths.rank() == 1, InvalidArgument, "sequence_length is not a vector, but of shape {}", lengths.shape());
    let shape = inputs.shape().clone();
    let (time, batch, classes) = (shape[0], shape[1], shape[2]);
    let lengths = lengths.as_slice::<i32>()?;
    ensure!(
        batch == lengths.len(),
        InvalidArgument,
        "sequence_length has {} elements, but inputs are of {batch} sequences",
        lengths.len()
    );
    ensure!(batch > 0, InvalidArgument, "there must be at least one sequence");
    ensure!(time > 0, InvalidArgument, "inputs must have at least one step");
    ensure!(
        (1..i32::MAX as usize).contains(&classes),
        InvalidArgument,
        "inputs must have at least one class, the blank, and fewer than an int32 counts, not {classes}"
    );
    let labels = Labels::new(ctx.input(Op::LABELS_INDICES)?, ctx.input(Op::LABELS_VALUES)?, batch)?;
    let mut paths = scratch::room(batch)?;
    for (sequence, &length) in lengths.iter().enumerate() {
        ensure!(
            usize::try_from(length).is_ok_and(|length| length <= time),
            InvalidArgument,
            "sequence_length[{sequence}] = {length} must be from 0 to {time}, the steps of inputs"
        );
        let own = labels.of(sequence);
        ensure!(!own.is_empty(), InvalidArgument, "sequence {sequence} has no labels");
        let path = path_of(own, sequence, classes - 1, attrs.preprocess_collapse_repeated)?;
        let is_longer = own.len() > length as usize;
        ensure!(
            !is_longer || attrs.ignore_longer_outputs_than_inputs,
            InvalidArgument,
            "sequence {sequence} has {} labels, but {length} steps: shorten it, or set ignore_longer_outputs_than_inputs, \
             which gives such sequences a loss of zero",
            own.len()
        );
        let steps = if is_longer { 0 } else { length as usize };
        paths.push((path, steps));
    }
    let mut losses = ctx.allocate_output(Op::LOSS, [batch])?;
    let mut gradient = ctx.allocate_output(Op::GRADIENT, shape)?;
    let logits = inputs.as_slice::<T>()?;
    {
        let rows = Shared(gradient.as_mut_slice::<T>()?.as_mut_ptr());
        let longest = paths.iter().map(|(path, steps)| steps * (10 * path.len() + classes)).max().unwrap_or(0);
        ctx.try_parallel_chunks(losses.as_mut_slice::<T>()?, 1, longest.max(1), |first, losses| {
            for (sequence, target) in (first..).zip(losses) {
                let (labels, steps) = &paths[sequence];
                // SAFETY of its rows: all sequences have `time` steps in the gradient, and each is worked on once.
                let mut own =
                    Rows { rows: &rows, stride: batch * classes, classes, first: sequence * classes, count: time };
                for step in 0..time {
                    let row = own.step(step);
                    if step < *steps {
                        row.copy_from_slice(&logits[(step * batch + sequence) * classes..][..classes]);
                        T::normalize(row, classes, false);
                    } else {
                        row.fill(<T as kernlink::dtype::Number>::ZERO);
                    }
                }
                own.count = *steps;
                *target = match steps {
                    0 => <T as kernlink::dtype::Number>::ZERO,
                    _ => loss(&Path::new(labels, classes - 1, attrs.ctc_merge_repeated)?, &mut own)?,
                };
            }
            Ok(())
        })?;
    }
    ctx.set_output(Op::LOSS, losses)?;
    ctx.set_output(Op::GRADIENT, gradient)
}
