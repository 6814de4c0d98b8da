//! Reductions of tensors that are larger than what the device binds at once.
//!
//! Where the outermost dimension is kept, windows of it are reductions of their own. Where it is folded, windows make
//! parts, which are reduced in the end. A single thing along it that is too large is gone through in turn.

use kernlink::error::Result;
use kernlink::tensor::Tensor;

use super::fold::{Fold, Stage, parts};
use super::plan::{Plan, Run};
use crate::device::{GpuDevice, counted};
use crate::transfer::device_bytes;
use crate::windows::{Piece, read, written};

/// How many elements of the input and of the output belong to one thing along the dimension around these.
fn sizes(dims: &[Run]) -> (usize, usize) {
    dims.iter().fold((1, 1), |(all, kept), run| (all * run.size, if run.is_folded { kept } else { kept * run.size }))
}

/// These dimensions with another size of the first.
fn resized(dims: &[Run], size: usize) -> Vec<Run> {
    let mut dims = dims.to_vec();
    dims[0].size = size;
    dims
}

impl Fold {
    /// Reduces a tensor of these dimensions to `output`; results are of `total` elements.
    #[cold]
    pub(crate) fn by_windows(
        &self,
        gpu: &GpuDevice,
        input: &Tensor,
        output: &Tensor,
        dims: &[Run],
        total: usize,
    ) -> Result<()> {
        let Some((first, rest)) = dims.split_first().filter(|_| !gpu.fit(&[input, output])) else {
            return self.reduce(gpu, input, output, &Plan::of_runs(dims)?, total);
        };
        if self.counts() {
            counted(total)?;
        }
        if first.is_folded {
            return self.fold_windows(gpu, input, output, dims, total);
        }
        if gpu.window(first.size, &[read(input), written(output)])?.is_some() {
            return gpu.in_windows(first.size, &[read(input), written(output)], |range, tensors| {
                self.reduce(gpu, tensors[0], tensors[1], &Plan::of_runs(&resized(dims, range.len()))?, total)
            });
        }
        let (unit, outputs) = sizes(rest);
        (0..first.size).try_for_each(|row| {
            let input = Piece { tensor: input, first: row * unit, count: unit, written: false };
            let output = Piece { tensor: output, first: row * outputs, count: outputs, written: true };
            gpu.with_pieces(&[input, output], |tensors| self.by_windows(gpu, tensors[0], tensors[1], rest, total))
        })
    }

    /// [`Fold::by_windows`] where the outermost dimension is folded.
    fn fold_windows(&self, gpu: &GpuDevice, input: &Tensor, output: &Tensor, dims: &[Run], total: usize) -> Result<()> {
        let (first, rest) = (dims[0], &dims[1..]);
        let (unit, outputs) = sizes(rest);
        let fits = |rows: usize| device_bytes(self.part, rows.saturating_mul(outputs)) <= gpu.gpu.limits.binding;
        if first.size == 0 {
            return self.fold_in_turn(gpu, input, output, dims, total);
        }
        let window = gpu.window(first.size, &[read(input)])?.filter(|window| fits(first.size.div_ceil(*window)));
        let Some(window) = window.filter(|_| gpu.fits(output)) else {
            return self.fold_in_turn(gpu, input, output, dims, total);
        };
        let plans: Vec<(usize, Plan)> = (0..first.size)
            .step_by(window)
            .map(|start| Ok((start, Plan::of_runs(&resized(dims, window.min(first.size - start)))?)))
            .collect::<Result<_>>()?;
        let wanted: usize = plans.iter().map(|(_, plan)| parts(plan)).sum();
        let parts_of = |plan: &Plan| if fits(wanted) { parts(plan) } else { 1 };
        let rows: usize = plans.iter().map(|(_, plan)| parts_of(plan)).sum();
        let partial = gpu.allocate(self.part, [rows, outputs])?;
        let mut row = 0;
        for (start, plan) in &plans {
            let (parts, count) = (parts_of(plan), plan.count * plan.outputs);
            let input = Piece { tensor: input, first: start * unit, count, written: false };
            let output = Piece { tensor: &partial, first: row * outputs, count: parts * outputs, written: true };
            gpu.with_pieces(&[input, output], |tensors| {
                self.stage(gpu, Stage::First, tensors[0], tensors[1], plan, parts, total)
            })?;
            row += parts;
        }
        self.stage(gpu, Stage::Last, &partial, output, &Plan::of_parts(rows, outputs), 1, total)
    }

    /// [`Fold::fold_windows`] where one thing along the outermost dimension, or the results of several, are too large: a
    /// part of the dimension that is kept within it after the other, each for all things.
    fn fold_in_turn(&self, gpu: &GpuDevice, input: &Tensor, output: &Tensor, dims: &[Run], total: usize) -> Result<()> {
        let (things, rest) = (dims[0].size, &dims[1..]);
        let (unit, _) = sizes(rest);
        // What is too large then is refused.
        let Some(kept) = rest.first() else { return self.reduce(gpu, input, output, &Plan::of_runs(dims)?, total) };
        let (inner, outputs) = sizes(&rest[1..]);
        let most = |bytes: usize| gpu.gpu.limits.binding / bytes.max(1);
        let bytes = [(input.dtype(), inner), (self.part, things * outputs), (output.dtype(), outputs)];
        let chunk = bytes.map(|(dtype, count)| most(device_bytes(dtype, count))).into_iter().min().unwrap_or(1);
        let chunk = if chunk >= 128 { chunk / 64 * 64 } else { chunk.max(1) };
        let (to_parts, of_parts) = (Fold::new(self.reducer.to_parts()), Fold::new(self.reducer.of_parts()));
        for start in (0..kept.size).step_by(chunk) {
            let size = chunk.min(kept.size - start);
            let results = size * outputs;
            let partial = gpu.allocate(self.part, [things, results])?;
            for thing in 0..things {
                let first = thing * unit + start * inner;
                let input = Piece { tensor: input, first, count: size * inner, written: false };
                let output = Piece { tensor: &partial, first: thing * results, count: results, written: true };
                gpu.with_pieces(&[input, output], |tensors| {
                    to_parts.by_windows(gpu, tensors[0], tensors[1], &resized(rest, size), total)
                })?;
            }
            let output = Piece { tensor: output, first: start * outputs, count: results, written: true };
            let dims = [Run { size: things, is_folded: true }, Run { size: results, is_folded: false }];
            gpu.with_pieces(&[Piece::all(&partial), output], |tensors| {
                of_parts.by_windows(gpu, tensors[0], tensors[1], &dims, total)
            })?;
        }
        Ok(())
    }
}
