//! Elements stacked to larger ones, and taken apart.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::{copy_elements, slice};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Element, INFINITE, Spec, UNKNOWN, input_dataset, scalar, set_dataset, vector};
use crate::parallel_map::{ParallelMap, parallelism};
use crate::saved::Saved;
use crate::transform::{Input, Transform, Transformed, set_transformed};

/// Stacks elements along a new first dimension.
///
/// # Errors
/// INVALID_ARGUMENT if their components have different numbers or shapes.
pub(crate) fn stacked(elements: &[Element]) -> Result<Element> {
    let Some(first) = elements.first() else { return Ok(Vec::new()) };
    let mut batch = Vec::with_capacity(first.len());
    for (index, component) in first.iter().enumerate() {
        let mut shape = component.shape().clone();
        shape.insert(0, elements.len());
        shape.check()?;
        let mut stack = Tensor::zeros(component.dtype(), shape)?;
        let size = component.num_elements();
        for (place, element) in elements.iter().enumerate() {
            let Some(part) = element.get(index) else {
                bail!(
                    InvalidArgument,
                    "Cannot batch elements with different numbers of components: the first has {}, element {place} {}",
                    first.len(),
                    element.len()
                );
            };
            ensure!(
                part.shape() == component.shape(),
                InvalidArgument,
                "Cannot batch tensors with different shapes in component {index}. First element had shape {} and element \
                 {place} had shape {}.",
                component.shape(),
                part.shape()
            );
            ensure!(
                part.dtype() == component.dtype(),
                InvalidArgument,
                "Cannot batch tensors with different types in component {index}. First element had type {} and element \
                 {place} had type {}.",
                component.dtype(),
                part.dtype()
            );
            copy_elements(&mut stack, place * size, part)?;
        }
        batch.push(stack);
    }
    Ok(batch)
}

/// The next elements of the input, `count` at most.
pub(crate) async fn gathered(input: &mut Input, count: i64, cx: &Cx) -> Result<Vec<Element>> {
    let mut elements = Vec::new();
    while (elements.len() as u64) < count as u64 {
        cx.go_on().await?;
        match input.next(cx).await? {
            Some(element) => scratch::push(&mut elements, element)?,
            None => break,
        }
    }
    Ok(elements)
}

/// What is wrong with a batch comes with the end if the batch is the last, which it is known of if it is short.
pub(crate) fn of_batch(error: Error, input: &Input) -> Error {
    if input.is_over() { error.at_end() } else { error }
}

/// How elements are stacked.
pub(crate) struct Batch {
    size: i64,
    drops_remainder: bool,
    /// Whether the op makes several batches at a time.
    is_parallel: bool,
}

impl Batch {
    /// What inputs say.
    pub(crate) fn of(ctx: &RawContext<'_>) -> Result<Batch> {
        let size = scalar(ctx, "batch_size")?;
        ensure!(size > 0, InvalidArgument, "Batch size must be greater than zero.");
        let drops_remainder = ctx.op().input_index("drop_remainder").is_some() && scalar(ctx, "drop_remainder")?;
        let is_parallel = ctx.op().input_index("num_parallel_calls").is_some();
        Ok(Batch { size, drops_remainder, is_parallel })
    }

    /// The elements of the next batch; `None` if there are none, or too few.
    pub(crate) async fn gather(&self, input: &mut Input, cx: &Cx) -> Result<Option<Vec<Element>>> {
        Ok(self.kept(gathered(input, self.size, cx).await?))
    }

    /// Elements, unless they are too few for a batch.
    fn kept(&self, elements: Vec<Element>) -> Option<Vec<Element>> {
        let is_short = (elements.len() as u64) < self.size as u64;
        let is_left_out = elements.is_empty() || (is_short && self.drops_remainder);
        (!is_left_out).then_some(elements)
    }

    pub(crate) fn batches(&self, input: i64) -> i64 {
        match input {
            INFINITE | UNKNOWN => input,
            known => known / self.size + i64::from(known % self.size != 0 && !self.drops_remainder),
        }
    }
}

impl Transform for Batch {
    type State = ();

    fn passes_end(&self) -> bool {
        !self.is_parallel
    }

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        match self.gather(input, cx).await? {
            Some(elements) => stacked(&elements).map_err(|error| of_batch(error, input)).map(Some),
            None => Ok(None),
        }
    }

    fn cardinality(&self, input: i64) -> i64 {
        self.batches(input)
    }

    fn places(&self, index: i64, inputs: i64) -> Option<Range<i64>> {
        if self.is_parallel {
            // TensorFlow's has no random access.
            return None;
        }
        let start = index.checked_mul(self.size)?;
        Some(start..start.saturating_add(self.size).min(inputs))
    }

    fn made_of(&self, elements: &[Element]) -> Result<Element> {
        stacked(elements)
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::BatchDataset, ops::BatchDatasetV2])]
fn batch(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let batch = Batch::of(ctx)?;
    set_transformed(ctx, spec, batch)
}

#[register_kernel(device = Cpu, cheap)]
fn parallel_batch(spec: &Spec, ctx: &mut KernelContext<'_, ops::ParallelBatchDataset>) -> Result<()> {
    let batch = Batch::of(ctx)?;
    parallelism(ctx)?;
    set_transformed(ctx, spec, batch)
}

/// Sets the output to what a map makes of the dataset that is input 0, stacked.
pub(crate) fn set_mapped(ctx: &mut RawContext<'_>, spec: &Spec, map: ParallelMap, batch: Batch) -> Result<()> {
    // Nobody asks for the spec of what is in between.
    let mapped = Transformed::new(spec, input_dataset(ctx, 0)?, map)?;
    let batched = Transformed::new(spec, Arc::new(mapped), MappedBatch(batch))?;
    set_dataset(ctx, batched)
}

/// What a map makes, stacked. An error is that of a batch, all of whose elements are taken: those that follow make the same
/// batches as without it.
struct MappedBatch(Batch);

impl Transform for MappedBatch {
    type State = ();

    fn passes_end(&self) -> bool {
        false
    }

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let (mut elements, mut failed, mut taken) = (Vec::new(), None, 0);
        while taken < self.0.size {
            cx.go_on().await?;
            match input.next(cx).await {
                Ok(Some(element)) => scratch::push(&mut elements, element)?,
                Ok(None) => break,
                Err(error) => {
                    // That this call has no more time is nobody else's error.
                    cx.go_on().await?;
                    let is_at_end = error.is_at_end();
                    failed.get_or_insert(error);
                    if is_at_end {
                        break;
                    }
                }
            }
            taken += 1;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        match self.0.kept(elements) {
            Some(elements) => stacked(&elements).map(Some),
            None => Ok(None),
        }
    }

    fn cardinality(&self, input: i64) -> i64 {
        self.0.batches(input)
    }
}

/// Elements whose components were rows of those of another.
struct Unbatch {
    /// How many rows each has, if that is known.
    rows: Option<i64>,
}

/// What is left of an element.
#[derive(Default)]
struct Rows {
    element: Element,
    at: usize,
    count: usize,
}

impl Transform for Unbatch {
    type State = Rows;

    fn begin(&self, _: &Cx) -> Result<Rows> {
        Ok(Rows::default())
    }

    async fn next<'a>(&'a self, rows: &'a mut Rows, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        while rows.at >= rows.count {
            cx.go_on().await?;
            let Some(element) = input.next(cx).await? else {
                *rows = Rows::default();
                return Ok(None);
            };
            let count = |component: &Tensor| component.shape().dims().first().copied();
            let Some(first) = element.first().and_then(count) else {
                bail!(InvalidArgument, "Cannot unbatch an element with scalar components.");
            };
            ensure!(
                element.iter().all(|component| count(component) == Some(first)),
                InvalidArgument,
                "Input element must have the same batch size in each component."
            );
            *rows = Rows { element, at: 0, count: first };
        }
        let row = rows.element.iter().map(|component| slice(component, rows.at)).collect::<Result<Element>>()?;
        rows.at += 1;
        Ok(Some(row))
    }

    fn cardinality(&self, input: i64) -> i64 {
        match (input, self.rows) {
            (INFINITE | UNKNOWN, _) => input,
            (known, Some(rows @ 1..)) => known.saturating_mul(rows),
            _ => UNKNOWN,
        }
    }

    fn place(&self, index: i64, _: i64) -> Option<i64> {
        // Without known rows nobody asks: the cardinality is unknown.
        index.checked_div(self.rows.unwrap_or(1).max(1))
    }

    async fn made<'a>(&'a self, element: Element, index: i64, _: &'a Cx) -> Result<Element> {
        let row = (index % self.rows.unwrap_or(1).max(1)) as usize;
        let has_row = |component: &Tensor| component.shape().dims().first().is_some_and(|rows| row < *rows);
        ensure!(
            element.iter().all(has_row),
            InvalidArgument,
            "An element has no row {row}, though its shape says that there are {}.",
            self.rows.unwrap_or(0)
        );
        element.iter().map(|component| slice(component, row)).collect()
    }

    async fn save<'a>(&'a self, rows: &'a mut Rows, saved: &'a mut Saved) -> Result<()> {
        saved.set_elements("element", vec![rows.element.clone()]);
        saved.set("at", rows.at as i64);
        saved.set("count", rows.count as i64);
        Ok(())
    }

    async fn restore<'a>(&'a self, rows: &'a mut Rows, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        *rows = Rows {
            element: saved.element("element")?,
            at: saved.get("at")? as usize,
            count: saved.get("count")? as usize,
        };
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::UnbatchDataset, ops::ExperimentalUnbatchDataset])]
fn unbatch(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    let rows = input.head().spec.shapes.iter().find_map(|shape| *shape.dims()?.first()?);
    set_transformed(ctx, spec, Unbatch { rows: rows.map(|rows| rows as i64) })
}

/// Batches cut and joined to others of given sizes, which are taken in turn.
struct Rebatch {
    sizes: Vec<i64>,
    drops_remainder: bool,
}

/// Rows that are not given out yet, and whose turn it is.
#[derive(Default)]
struct Rest {
    /// Batches, none of them empty.
    parts: VecDeque<Element>,
    /// How many rows of the first were given out.
    at: usize,
    /// How many rows there are that were not.
    rows: usize,
    turn: usize,
}

impl Rest {
    /// Takes the next rows out, as slices of batches.
    fn take(&mut self, mut rows: usize) -> Result<Vec<Element>> {
        let mut taken = Vec::new();
        self.rows -= rows;
        while rows > 0 {
            let Some(part) = self.parts.front() else { break };
            let there = num_rows(part)?;
            let end = there.min(self.at + rows);
            rows -= end - self.at;
            scratch::push(&mut taken, rows_of(part, self.at, end)?)?;
            self.at = end;
            if end == there {
                self.parts.pop_front();
                self.at = 0;
            }
        }
        Ok(taken)
    }
}

fn num_rows(element: &Element) -> Result<usize> {
    let rows = |component: &Tensor| component.shape().dims().first().copied();
    let Some(first) = element.first().and_then(rows) else {
        bail!(InvalidArgument, "Cannot rebatch an element with scalar components.");
    };
    ensure!(
        element.iter().all(|component| rows(component) == Some(first)),
        InvalidArgument,
        "Input element must have the same batch size in each component."
    );
    Ok(first)
}

fn rows_of(element: &Element, start: usize, end: usize) -> Result<Element> {
    element.iter().map(|component| component.slice_rows(start, end)).collect()
}

/// Joins elements along their first dimension.
fn joined(parts: &[Element]) -> Result<Element> {
    let [first, others @ ..] = parts else { return Ok(Vec::new()) };
    if others.is_empty() {
        return Ok(first.clone());
    }
    let mut result = Vec::with_capacity(first.len());
    for (index, component) in first.iter().enumerate() {
        let mut rows = 0;
        for part in parts {
            let fits = part.get(index).is_some_and(|part| {
                part.dtype() == component.dtype() && part.shape().dims()[1..] == component.shape().dims()[1..]
            });
            ensure!(fits, InvalidArgument, "Cannot batch tensors with different shapes in component {index}.");
            rows += part[index].shape()[0];
        }
        let mut shape: Shape = component.shape().clone();
        shape.dims_mut()[0] = rows;
        shape.check()?;
        let mut whole = Tensor::zeros(component.dtype(), shape)?;
        let mut at = 0;
        for part in parts {
            copy_elements(&mut whole, at, &part[index])?;
            at += part[index].num_elements();
        }
        result.push(whole);
    }
    Ok(result)
}

impl Transform for Rebatch {
    type State = Rest;

    fn begin(&self, _: &Cx) -> Result<Rest> {
        Ok(Rest::default())
    }

    async fn next<'a>(&'a self, rest: &'a mut Rest, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        let size = self.sizes[rest.turn % self.sizes.len()] as usize;
        while rest.rows < size && !input.is_over() {
            cx.go_on().await?;
            match input.next_then_end(cx).await {
                Ok(Some(element)) => {
                    let rows = num_rows(&element)?;
                    if rows > 0 {
                        rest.rows += rows;
                        rest.parts.push_back(element);
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    // As in TensorFlow an error that comes with the end leaves nothing.
                    if input.is_over() {
                        *rest = Rest { turn: rest.turn, ..Rest::default() };
                    }
                    return Err(error);
                }
            }
        }
        if rest.rows == 0 || (rest.rows < size && self.drops_remainder) {
            *rest = Rest { turn: rest.turn, ..Rest::default() };
            return Ok(None);
        }
        rest.turn = (rest.turn + 1) % self.sizes.len();
        let taken = rest.take(size.min(rest.rows))?;
        joined(&taken).map(Some)
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }

    async fn save<'a>(&'a self, rest: &'a mut Rest, saved: &'a mut Saved) -> Result<()> {
        saved.set_elements("parts", scratch::collected(rest.parts.iter().cloned())?);
        saved.set("at", rest.at as i64);
        saved.set("turn", rest.turn as i64);
        Ok(())
    }

    async fn restore<'a>(&'a self, rest: &'a mut Rest, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        rest.parts = saved.elements("parts")?.iter().cloned().collect();
        rest.at = saved.get("at")? as usize;
        rest.rows = rest.parts.iter().map(num_rows).sum::<Result<usize>>()?.saturating_sub(rest.at);
        rest.turn = saved.get("turn")? as usize;
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap)]
fn rebatch(spec: &Spec, ctx: &mut KernelContext<'_, ops::RebatchDatasetV2>) -> Result<()> {
    let sizes: Vec<i64> = vector(ctx, "batch_sizes")?;
    ensure!(!sizes.is_empty(), InvalidArgument, "rebatch_fn must specify at least one batch size.");
    if let Some(size) = sizes.iter().find(|size| **size <= 0) {
        return Err(Error::invalid_argument(format!("Batch size must be positive, but {size} is given.")));
    }
    let drops_remainder = scalar(ctx, "drop_remainder")?;
    set_transformed(ctx, spec, Rebatch { sizes, drops_remainder })
}
