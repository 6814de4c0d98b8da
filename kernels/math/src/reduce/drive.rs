//! The loops of a reduction: the same for every dtype but for the innermost ones.
//!
//! How a reduction is cut into parts depends on its sizes alone, never on the number of threads, so that rounding is
//! the same on every machine.

use std::ops::Range;

use kernlink::dtype::{DataType, Pod};
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink_kernels_common::widest;

use super::plan::Plan;
use super::reducer::Reducer;

/// Runs up to this long are folded in one go; longer ones by halves, which keeps rounding errors small.
const RUN: usize = 4096;
/// Partial results merged one after the other before they go into a total, for the same reason.
const CASCADE: usize = 128;
/// Rows that are folded in one pass over their results.
const PASS: usize = 4;
/// Elements that are worth a part of their own.
const PART: usize = 16 * 1024;
/// The most parts.
const MAX_PARTS: usize = 64;

/// Reduces `input` to `output`, whose shapes are those of the plan. Neither is empty.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn reduce<R: Reducer<T>, T: Pod>(
    ctx: &RawContext<'_>,
    plan: Plan,
    input: &[T],
    output: &mut [T],
) -> Result<()> {
    if plan.inner_folded {
        fold_runs::<R, T>(ctx, &plan, input, output);
        Ok(())
    } else {
        fold_rows::<R, T>(ctx, plan, input, output)
    }
}

/// Nanoseconds, or so, to fold `count` elements.
fn cost(count: usize) -> usize {
    1 + count / 4
}

/// Range `index` of `parts` that together cover `0..total`.
fn part(total: usize, parts: usize, index: usize) -> Range<usize> {
    let bound = |index: usize| (total as u128 * index as u128 / parts as u128) as usize;
    bound(index)..bound(index + 1)
}

/// Merges one after the other, and each [`CASCADE`] of them into a total.
struct Cascade<A> {
    total: A,
    part: A,
    merged: usize,
}

impl<A: Copy> Cascade<A> {
    fn new<R: Reducer<T, Acc = A>, T: Pod>() -> Self {
        Cascade { total: R::IDENTITY, part: R::IDENTITY, merged: 0 }
    }

    fn push<R: Reducer<T, Acc = A>, T: Pod>(&mut self, result: A) {
        self.part = R::merge(self.part, result);
        self.merged += 1;
        if self.merged == CASCADE {
            *self = Cascade { total: R::merge(self.total, self.part), part: R::IDENTITY, merged: 0 };
        }
    }

    fn finish<R: Reducer<T, Acc = A>, T: Pod>(self) -> A {
        R::merge(self.total, self.part)
    }
}

/// Folds neighbours.
fn fold_run<R: Reducer<T>, T: Pod>(run: &[T]) -> R::Acc {
    if run.len() > RUN {
        let half = (run.len() / 2).next_multiple_of(RUN);
        return R::merge(fold_run::<R, T>(&run[..half]), fold_run::<R, T>(&run[half..]));
    }
    fold_short_run::<R, T>(run)
}

widest! {
    /// Folds neighbours in one go.
    fn fold_short_run<R: Reducer<T>, T: Pod>(run: &[T]) -> R::Acc {
        match size_of::<R::Acc>() {
            0..=4 => fold_lanes::<R, T, 64>(run),
            5..=8 => fold_lanes::<R, T, 32>(run),
            _ => fold_lanes::<R, T, 16>(run),
        }
    }
}

/// Merges elements into the results of others before them, one each.
#[inline(always)]
fn merge_chunk<R: Reducer<T>, T: Pod, const N: usize>(results: &mut [R::Acc; N], chunk: &[T; N]) {
    // Only these gain by it.
    if const { matches!(T::DTYPE, DataType::Half | DataType::Bfloat16) } {
        let lifted = R::lift_chunk(chunk);
        for i in 0..N {
            results[i] = R::merge(results[i], lifted[i]);
        }
    } else {
        for i in 0..N {
            results[i] = R::merge(results[i], R::lift(chunk[i]));
        }
    }
}

/// Folds neighbours in several lanes, which vector registers can hold.
#[inline(always)]
fn fold_lanes<R: Reducer<T>, T: Pod, const LANES: usize>(run: &[T]) -> R::Acc {
    let (chunks, rest) = run.as_chunks::<LANES>();
    let mut result = R::IDENTITY;
    if !chunks.is_empty() {
        let mut lanes = [R::IDENTITY; LANES];
        for chunk in chunks {
            merge_chunk::<R, T, LANES>(&mut lanes, chunk);
        }
        let mut width = LANES / 2;
        while width > 0 {
            for lane in 0..width {
                lanes[lane] = R::merge(lanes[lane], lanes[lane + width]);
            }
            width /= 2;
        }
        result = lanes[0];
    }
    rest.iter().fold(result, |result, &element| R::merge(result, R::lift(element)))
}

/// Folds parts of runs. Called by pointer: compiled once, not wherever it is called; so is [`FoldRows`].
type Fold<'f, A> = dyn Fn(usize, Range<usize>, Range<usize>) -> A + Sync + 'f;

/// Folds parts of blocks of rows into results.
type FoldRows<'f, A> = dyn Fn(usize, Range<usize>, Range<usize>, &mut [A]) + Sync + 'f;

/// Reductions whose innermost run is folded: each element of the output comes from whole runs.
fn fold_runs<R: Reducer<T>, T: Pod>(ctx: &RawContext<'_>, plan: &Plan, input: &[T], output: &mut [T]) {
    let runs = plan.folded.count();
    let fold: &Fold<'_, R::Acc> = &|base, runs, within| {
        let mut offsets = plan.folded.offsets(runs.start);
        let mut cascade = Cascade::new::<R, T>();
        for _ in runs {
            let start = base + offsets.step();
            cascade.push::<R, T>(fold_run::<R, T>(&input[start + within.start..start + within.end]));
        }
        cascade.finish::<R, T>()
    };
    let parts = if output.len() < 16 { (plan.count / PART).min(MAX_PARTS) } else { 1 };
    if parts <= 1 && runs == 1 {
        // One run each: nothing lies between them.
        ctx.parallel_chunks(output, 1, cost(plan.inner), |first, piece| {
            let runs = input[first * plan.inner..].chunks_exact(plan.inner);
            if plan.inner < 32 {
                for (target, run) in piece.iter_mut().zip(runs) {
                    let lifted = run.iter().map(|&element| R::lift(element));
                    *target = R::finish(lifted.fold(R::IDENTITY, R::merge), plan.count);
                }
            } else {
                for (target, run) in piece.iter_mut().zip(runs) {
                    *target = R::finish(fold_run::<R, T>(run), plan.count);
                }
            }
        });
        return;
    }
    if parts <= 1 {
        ctx.parallel_chunks(output, 1, cost(plan.count), |first, piece| {
            let mut rows = plan.kept.offsets(first);
            for target in piece {
                *target = R::finish(fold(rows.step(), 0..runs, 0..plan.inner), plan.count);
            }
        });
        return;
    }
    let mut results = vec![R::IDENTITY; output.len() * parts];
    ctx.parallel_chunks(&mut results, 1, cost(plan.count / parts), |first, piece| {
        for (number, result) in (first..).zip(piece) {
            let (row, index) = (plan.kept.offsets(number / parts).step(), number % parts);
            *result = if runs >= parts {
                fold(row, part(runs, parts, index), 0..plan.inner)
            } else {
                fold(row, 0..runs, part(plan.inner, parts, index))
            };
        }
    });
    for (target, results) in output.iter_mut().zip(results.chunks(parts)) {
        *target = R::finish(results.iter().copied().fold(R::IDENTITY, R::merge), plan.count);
    }
}

/// Reductions whose innermost run is kept: rows of neighbours are folded into rows of the output.
fn fold_rows<R: Reducer<T>, T: Pod>(ctx: &RawContext<'_>, mut plan: Plan, input: &[T], output: &mut [T]) -> Result<()> {
    let adjacent = plan.take_adjacent();
    let (plan, inner) = (&plan, plan.inner);
    let blocks = plan.folded.count();
    // Results for elements of the output, from number `first` on.
    let fold: &FoldRows<'_, R::Acc> = &|first, blocks, rows, results| {
        let tile = (8192 / size_of::<R::Acc>()).max(1);
        let mut buffer = Vec::new();
        let mut done = 0;
        while done < results.len() {
            let (row, column) = ((first + done) / inner, (first + done) % inner);
            let width = (inner - column).min(tile).min(results.len() - done);
            let base = plan.kept.offsets(row).step() + column;
            let mut offsets = plan.folded.offsets(blocks.start);
            let starts = blocks.clone().map(|_| base + offsets.step() + rows.start * inner);
            fold_block::<R, T>(input, starts, inner, rows.len(), &mut results[done..done + width], &mut buffer);
            done += width;
        }
    };
    // Rows of the output that can be shared out by themselves need fewer parts.
    let rows = output.len() / inner;
    let parts =
        if output.len() < 16 * 1024 { (input.len() / (4 * PART)).min(MAX_PARTS / rows).min(plan.count) } else { 1 };
    if parts <= 1 {
        ctx.parallel_chunks(output, inner.min(1024), cost(plan.count), |first, piece| {
            let mut results = vec![R::IDENTITY; piece.len().min(1024)];
            for (index, piece) in piece.chunks_mut(1024).enumerate() {
                let results = &mut results[..piece.len()];
                fold(first + index * 1024, 0..blocks, 0..adjacent, results);
                for (target, &result) in piece.iter_mut().zip(results.iter()) {
                    *target = R::finish(result, plan.count);
                }
            }
        });
        return Ok(());
    }
    let width = output.len();
    let mut results = scratch::filled(R::IDENTITY, width * parts)?;
    ctx.parallel_chunks(&mut results, width, cost(plan.count / parts), |first, piece| {
        for (index, results) in (first / width..).zip(piece.chunks_mut(width)) {
            if blocks >= parts {
                fold(0, part(blocks, parts, index), 0..adjacent, results);
            } else {
                fold(0, 0..blocks, part(adjacent, parts, index), results);
            }
        }
    });
    for (index, target) in output.iter_mut().enumerate() {
        let column = results[index..].iter().step_by(width);
        *target = R::finish(column.copied().fold(R::IDENTITY, R::merge), plan.count);
    }
    Ok(())
}

/// Folds `rows` rows, `stride` apart, from each of `starts` on into one row of results.
fn fold_block<R: Reducer<T>, T: Pod>(
    input: &[T],
    starts: impl Iterator<Item = usize>,
    stride: usize,
    rows: usize,
    results: &mut [R::Acc],
    scratch: &mut Vec<R::Acc>,
) {
    let width = results.len();
    // Narrow rows are folded several at a time, which needs that nothing lies between them.
    let together = if width == stride { (256 / width).clamp(1, rows.max(1)) } else { 1 };
    scratch.clear();
    scratch.resize(2 * width * together, R::IDENTITY);
    let (part, total) = scratch.split_at_mut(width * together);
    let mut merged = 0;
    for start in starts {
        let mut row = 0;
        while row < rows {
            let from = start + row * stride;
            if together == 1 && rows - row >= PASS {
                add_rows::<R, T>(part, &input[from..][..(PASS - 1) * stride + width], stride);
                row += PASS;
                merged += PASS;
            } else {
                let taken = together.min(rows - row);
                add_row::<R, T>(&mut part[..width * taken], &input[from..from + width * taken]);
                row += taken;
                merged += 1;
            }
            if merged >= CASCADE {
                merge_row::<R, T>(total, part);
                part.fill(R::IDENTITY);
                merged = 0;
            }
        }
    }
    merge_row::<R, T>(total, part);
    results.fill(R::IDENTITY);
    for total in total.chunks(width) {
        merge_row::<R, T>(results, total);
    }
}

widest! {
    fn add_row<R: Reducer<T>, T: Pod>(results: &mut [R::Acc], row: &[T]) {
        let ((chunks, rest), (targets, others)) = (row.as_chunks::<16>(), results.as_chunks_mut::<16>());
        for (target, chunk) in targets.iter_mut().zip(chunks) {
            merge_chunk::<R, T, 16>(target, chunk);
        }
        for (result, &element) in others.iter_mut().zip(rest) {
            *result = R::merge(*result, R::lift(element));
        }
    }
}

widest! {
    /// As [`add_row`] for [`PASS`] rows, so many elements apart, one after the other.
    fn add_rows<R: Reducer<T>, T: Pod>(results: &mut [R::Acc], rows: &[T], stride: usize) {
        let width = results.len();
        let (targets, others) = results.as_chunks_mut::<16>();
        let whole = 16 * targets.len();
        for (index, target) in targets.iter_mut().enumerate() {
            let mut merged = *target;
            for row in 0..PASS {
                if let Some(chunk) = rows[row * stride + 16 * index..].first_chunk::<16>() {
                    merge_chunk::<R, T, 16>(&mut merged, chunk);
                }
            }
            *target = merged;
        }
        for row in 0..PASS {
            for (result, &element) in others.iter_mut().zip(&rows[row * stride..][whole..width]) {
                *result = R::merge(*result, R::lift(element));
            }
        }
    }
}

fn merge_row<R: Reducer<T>, T: Pod>(results: &mut [R::Acc], row: &[R::Acc]) {
    for (result, &other) in results.iter_mut().zip(row) {
        *result = R::merge(*result, other);
    }
}
