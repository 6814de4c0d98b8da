//! The loops of a reduction: what lies between the innermost ones is compiled once for each type of partial results, those
//! for each dtype and reducer.
//!
//! How a reduction is cut into parts depends on its sizes alone, never on the number of threads, so that rounding is
//! the same on every machine.

use std::marker::PhantomData;
use std::ops::Range;
use std::slice::{from_mut, from_ref};

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
/// As many rows of results, of which there are seldom thousands in a part.
const ROWS: usize = 32;
/// Rows that are folded in one pass over their results.
const PASS: usize = 4;
/// Elements that are worth a part of their own.
const PART: usize = 16 * 1024;
/// Results at a time, or so.
const PIECE: usize = 1024;
/// The most parts.
const MAX_PARTS: usize = 64;

/// What depends on the dtype and the reducer: the innermost loops, from an input to an output. `A` is a partial result.
pub(super) trait Steps<A>: Sync {
    /// Folds runs of the plan's folded loops, of each some elements, the first of which is `base` elements behind.
    fn fold(&self, plan: &Plan, base: usize, runs: Range<usize>, within: Range<usize>) -> A;

    /// Merges other results into as many.
    fn merge(&self, results: &mut [A], others: &[A]);

    /// Merges neighbours from element `first` on into results, one each.
    fn add_row(&self, results: &mut [A], first: usize);

    /// As [`Steps::add_row`] for [`PASS`] rows, `stride` elements apart, one after the other.
    fn add_rows(&self, results: &mut [A], first: usize, stride: usize);

    /// Merges each of some rows into the results of the segment that is named at its place, if they have it: `first` is the
    /// first that they have. A row has `row` elements.
    fn scatter(&self, results: &mut [A], segments: &[i64], first: i64, row: usize);

    /// Merges rows of as many elements as there are results, one after the other: those at these places in the order, or
    /// else of the input.
    fn gather(&self, results: &mut [A], places: Range<usize>, order: Option<&[usize]>);

    /// Makes elements of the output of results of `count` elements each.
    ///
    /// # Safety
    /// Nothing else accesses these elements meanwhile.
    unsafe fn finish(&self, results: &[A], count: usize, first: usize);

    /// Makes each of these elements of the output of a run of its own.
    ///
    /// # Safety
    /// As for [`Steps::finish`].
    unsafe fn finish_runs(&self, plan: &Plan, outputs: Range<usize>);
}

/// A reduction of a tensor to another.
pub(super) struct Reducing<'t, R, T> {
    input: &'t [T],
    output: *mut T,
    length: usize,
    reducer: PhantomData<fn(&'t mut T) -> R>,
}

// SAFETY: the output is written only by functions whose callers promise that nothing else does.
unsafe impl<R, T: Send + Sync> Sync for Reducing<'_, R, T> {}

impl<'t, R: Reducer<T>, T: Pod> Reducing<'t, R, T> {
    pub(super) fn new(input: &'t [T], output: &'t mut [T]) -> Self {
        Reducing { input, output: output.as_mut_ptr(), length: output.len(), reducer: PhantomData }
    }

    /// Elements of the output.
    ///
    /// # Safety
    /// Nothing else accesses these meanwhile.
    #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
    unsafe fn outputs(&self, first: usize, count: usize) -> &mut [T] {
        assert!(first <= self.length && count <= self.length - first, "the output has these elements");
        // SAFETY: the output has them, and by the caller's promise nothing else accesses them.
        unsafe { std::slice::from_raw_parts_mut(self.output.add(first), count) }
    }
}

impl<R: Reducer<T>, T: Pod> Steps<R::Acc> for Reducing<'_, R, T> {
    fn fold(&self, plan: &Plan, base: usize, runs: Range<usize>, within: Range<usize>) -> R::Acc {
        let mut offsets = plan.folded.offsets(runs.start);
        let mut cascade = Cascade::new::<R, T>();
        for _ in runs {
            let start = base + offsets.step();
            cascade.push::<R, T>(fold_run::<R, T>(&self.input[start + within.start..start + within.end]));
        }
        cascade.finish::<R, T>()
    }

    fn merge(&self, results: &mut [R::Acc], others: &[R::Acc]) {
        for (result, &other) in results.iter_mut().zip(others) {
            *result = R::merge(*result, other);
        }
    }

    fn add_row(&self, results: &mut [R::Acc], first: usize) {
        let row = &self.input[first..first + results.len()];
        add_row::<R, T>(results, row);
    }

    fn add_rows(&self, results: &mut [R::Acc], first: usize, stride: usize) {
        #[cfg(target_arch = "x86_64")]
        if !has_avx2() {
            // The same, and what has no wide vectors gains little by one pass.
            return (0..PASS).for_each(|row| self.add_row(results, first + row * stride));
        }
        let rows = &self.input[first..][..(PASS - 1) * stride + results.len()];
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the features.
        unsafe {
            add_rows::<R, T>(results, rows, stride);
        }
        #[cfg(not(target_arch = "x86_64"))]
        add_rows::<R, T>(results, rows, stride);
    }

    fn scatter(&self, results: &mut [R::Acc], segments: &[i64], first: i64, row: usize) {
        // Those of other results are no places here, nor are negative ones.
        let place = |segment: i64| usize::try_from(segment.wrapping_sub(first)).unwrap_or(usize::MAX);
        if row == 1 {
            for (&segment, &element) in segments.iter().zip(self.input) {
                if let Some(result) = results.get_mut(place(segment)) {
                    *result = R::merge(*result, R::lift(element));
                }
            }
            return;
        }
        for (&segment, elements) in segments.iter().zip(self.input.chunks_exact(row)) {
            let Some(results) = results.get_mut(place(segment).saturating_mul(row)..) else { continue };
            for (result, &element) in results.iter_mut().zip(elements) {
                *result = R::merge(*result, R::lift(element));
            }
        }
    }

    fn gather(&self, results: &mut [R::Acc], places: Range<usize>, order: Option<&[usize]>) {
        let row = results.len();
        for place in places {
            let from = order.map_or(place, |order| order[place]);
            for (result, &element) in results.iter_mut().zip(&self.input[from * row..][..row]) {
                *result = R::merge(*result, R::lift(element));
            }
        }
    }

    unsafe fn finish(&self, results: &[R::Acc], count: usize, first: usize) {
        // SAFETY: by the caller's promise.
        let targets = unsafe { self.outputs(first, results.len()) };
        for (target, &result) in targets.iter_mut().zip(results) {
            *target = R::finish(result, count);
        }
    }

    unsafe fn finish_runs(&self, plan: &Plan, outputs: Range<usize>) {
        let (inner, count, runs) = (plan.inner, plan.count, plan.folded.count());
        // SAFETY: by the caller's promise.
        let targets = unsafe { self.outputs(outputs.start, outputs.len()) };
        if runs > 1 {
            let mut rows = plan.kept.offsets(outputs.start);
            for target in targets {
                *target = R::finish(self.fold(plan, rows.step(), 0..runs, 0..inner), count);
            }
            return;
        }
        // One run each: nothing lies between them.
        let elements = self.input[outputs.start * inner..].chunks_exact(inner);
        if inner < 32 {
            for (target, run) in targets.iter_mut().zip(elements) {
                let lifted = run.iter().map(|&element| R::lift(element));
                *target = R::finish(lifted.fold(R::IDENTITY, R::merge), count);
            }
        } else {
            for (target, run) in targets.iter_mut().zip(elements) {
                *target = R::finish(fold_run::<R, T>(run), count);
            }
        }
    }
}

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
    let (elements, length) = (input.len(), output.len());
    let steps: &dyn Steps<R::Acc> = &Reducing::<R, T>::new(input, output);
    if plan.inner_folded {
        fold_runs(ctx, &plan, steps, R::IDENTITY, length)
    } else {
        fold_rows(ctx, plan, steps, R::IDENTITY, (elements, length))
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

/// Reductions whose innermost run is folded: each element of the output comes from whole runs.
#[inline(never)]
fn fold_runs<A: Copy + Send + Sync>(
    ctx: &RawContext<'_>,
    plan: &Plan,
    steps: &dyn Steps<A>,
    identity: A,
    length: usize,
) -> Result<()> {
    let runs = plan.folded.count();
    let parts = if length < 16 { (plan.count / PART).min(MAX_PARTS) } else { 1 };
    if parts <= 1 {
        // SAFETY: the ranges do not overlap.
        ctx.parallel_ranges(length, 1, cost(plan.count), &|outputs| unsafe { steps.finish_runs(plan, outputs) });
        return Ok(());
    }
    let mut results = scratch::filled(identity, length * parts)?;
    ctx.parallel_chunks(&mut results, 1, cost(plan.count / parts), |first, piece| {
        for (number, result) in (first..).zip(piece) {
            let (row, index) = (plan.kept.offsets(number / parts).step(), number % parts);
            *result = if runs >= parts {
                steps.fold(plan, row, part(runs, parts, index), 0..plan.inner)
            } else {
                steps.fold(plan, row, 0..runs, part(plan.inner, parts, index))
            };
        }
    });
    for (target, results) in results.chunks(parts).enumerate() {
        let mut total = identity;
        for result in results {
            steps.merge(from_mut(&mut total), from_ref(result));
        }
        // SAFETY: no other thread writes to the output.
        unsafe { steps.finish(from_ref(&total), plan.count, target) };
    }
    Ok(())
}

/// Reductions whose innermost run is kept: rows of neighbours are folded into rows of the output. `sizes` are those of the
/// input and the output.
#[inline(never)]
fn fold_rows<A: Copy + Send + Sync>(
    ctx: &RawContext<'_>,
    mut plan: Plan,
    steps: &dyn Steps<A>,
    identity: A,
    sizes: (usize, usize),
) -> Result<()> {
    let (elements, length) = sizes;
    let adjacent = plan.take_adjacent();
    let (plan, inner) = (&plan, plan.inner);
    let blocks = plan.folded.count();
    // Results for elements of the output, from number `first` on. Called by pointer: compiled once, not wherever it is called.
    let fold: &FoldRows<'_, A> = &|first, blocks, rows, results| {
        let tile = (8192 / size_of::<A>()).max(1);
        let mut buffer = Vec::new();
        let mut done = 0;
        while done < results.len() {
            let (row, column) = ((first + done) / inner, (first + done) % inner);
            let width = (inner - column).min(tile).min(results.len() - done);
            let base = plan.kept.offsets(row).step() + column;
            let mut offsets = plan.folded.offsets(blocks.start);
            let starts = blocks.clone().map(|_| base + offsets.step() + rows.start * inner);
            let results = &mut results[done..done + width];
            fold_block(steps, identity, starts, inner, rows.len(), results, &mut buffer);
            done += width;
        }
    };
    // Rows of the output that can be shared out by themselves need fewer parts.
    let rows = length / inner;
    let parts = if length < 16 * 1024 { (elements / (4 * PART)).min(MAX_PARTS / rows).min(plan.count) } else { 1 };
    if parts <= 1 {
        // Whole rows, unless they are long: how a short one is folded depends on whether it is whole.
        let piece = if inner <= PIECE { PIECE / inner * inner } else { PIECE };
        ctx.parallel_ranges(length, inner.min(PIECE), cost(plan.count), &|outputs| {
            let mut results = vec![identity; outputs.len().min(piece)];
            for first in outputs.clone().step_by(piece) {
                let results = &mut results[..(outputs.end - first).min(piece)];
                fold(first, 0..blocks, 0..adjacent, results);
                // SAFETY: the ranges do not overlap.
                unsafe { steps.finish(results, plan.count, first) };
            }
        });
        return Ok(());
    }
    let mut results = scratch::filled(identity, length * parts)?;
    ctx.parallel_chunks(&mut results, length, cost(plan.count / parts), |first, piece| {
        for (index, results) in (first / length..).zip(piece.chunks_mut(length)) {
            if blocks >= parts {
                fold(0, part(blocks, parts, index), 0..adjacent, results);
            } else {
                fold(0, 0..blocks, part(adjacent, parts, index), results);
            }
        }
    });
    let mut totals = scratch::filled(identity, length)?;
    for results in results.chunks(length) {
        steps.merge(&mut totals, results);
    }
    // SAFETY: no other thread writes to the output.
    unsafe { steps.finish(&totals, plan.count, 0) };
    Ok(())
}

/// Folds parts of blocks of rows into results.
type FoldRows<'f, A> = dyn Fn(usize, Range<usize>, Range<usize>, &mut [A]) + Sync + 'f;

/// Folds `rows` rows, `stride` apart, from each of `starts` on into one row of results.
fn fold_block<A: Copy>(
    steps: &dyn Steps<A>,
    identity: A,
    starts: impl Iterator<Item = usize>,
    stride: usize,
    rows: usize,
    results: &mut [A],
    scratch: &mut Vec<A>,
) {
    let width = results.len();
    // Narrow rows are folded several at a time, which needs that nothing lies between them.
    let together = if width == stride { (256 / width).clamp(1, rows.max(1)) } else { 1 };
    scratch.clear();
    scratch.resize(2 * width * together, identity);
    let (part, total) = scratch.split_at_mut(width * together);
    let mut merged = 0;
    for start in starts {
        let mut row = 0;
        while row < rows {
            let from = start + row * stride;
            if together == 1 && rows - row >= PASS {
                steps.add_rows(part, from, stride);
                row += PASS;
                merged += PASS;
            } else {
                let taken = together.min(rows - row);
                steps.add_row(&mut part[..width * taken], from);
                row += taken;
                merged += 1;
            }
            if merged >= ROWS {
                steps.merge(total, part);
                part.fill(identity);
                merged = 0;
            }
        }
    }
    steps.merge(total, part);
    results.fill(identity);
    for total in total.chunks(width) {
        steps.merge(results, total);
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

/// As [`add_row`] for [`PASS`] rows, so many elements apart, one after the other.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma,f16c"))]
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

/// Whether the processor has AVX2, FMA and F16C.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c")
}
