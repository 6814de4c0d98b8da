//! Elements stacked to larger ones, and taken apart.

use std::sync::Arc;

use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::{copy_elements, slice};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, Element, INFINITE, Spec, UNKNOWN, input_dataset, scalar, set_dataset, vector};
use crate::map::ParallelMap;
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
        cx.check()?;
        match input.next(cx).await? {
            Some(element) => scratch::push(&mut elements, element)?,
            None => break,
        }
    }
    Ok(elements)
}

/// How elements are stacked.
pub(crate) struct Batch {
    size: i64,
    drops_remainder: bool,
}

impl Batch {
    /// What inputs say.
    pub(crate) fn of(ctx: &RawContext<'_>) -> Result<Batch> {
        let size = scalar(ctx, "batch_size")?;
        ensure!(size > 0, InvalidArgument, "Batch size must be greater than zero.");
        let drops_remainder = ctx.op().input_index("drop_remainder").is_some() && scalar(ctx, "drop_remainder")?;
        Ok(Batch { size, drops_remainder })
    }

    /// The elements of the next batch; `None` if there are none, or too few.
    pub(crate) async fn gather(&self, input: &mut Input, cx: &Cx) -> Result<Option<Vec<Element>>> {
        let elements = gathered(input, self.size, cx).await?;
        let is_short = (elements.len() as u64) < self.size as u64;
        let is_left_out = elements.is_empty() || (is_short && self.drops_remainder);
        Ok((!is_left_out).then_some(elements))
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

    fn begin(&self, _: &Cx) -> Result<()> {
        Ok(())
    }

    async fn next<'a>(&'a self, _: &'a mut (), input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        match self.gather(input, cx).await? {
            Some(elements) => stacked(&elements).map(Some),
            None => Ok(None),
        }
    }

    fn cardinality(&self, input: i64) -> i64 {
        self.batches(input)
    }

    fn get<'a>(
        &'a self,
        input: &'a Arc<dyn Dataset>,
        index: i64,
        cx: &'a Cx,
    ) -> Option<BoxFuture<'a, Result<Element>>> {
        let start = index.checked_mul(self.size)?;
        let end = start.saturating_add(self.size).min(input.cardinality());
        // Whether there are any is asked here.
        drop(input.get(start, cx)?);
        Some(Box::pin(async move {
            let mut elements = Vec::new();
            for place in start..end {
                cx.check()?;
                let Some(element) = input.get(place, cx) else { break };
                scratch::push(&mut elements, element.await?)?;
            }
            stacked(&elements)
        }))
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
    crate::map::parallelism(ctx)?;
    set_transformed(ctx, spec, batch)
}

/// Sets the output to what a map makes of the dataset that is input 0, stacked.
pub(crate) fn set_mapped(ctx: &mut RawContext<'_>, spec: &Spec, map: ParallelMap, batch: Batch) -> Result<()> {
    // Nobody asks for the spec of what is in between.
    let mapped = Transformed::new(spec, input_dataset(ctx, 0)?, map)?;
    let batched = Transformed::new(spec, Arc::new(mapped), batch)?;
    set_dataset(ctx, batched)
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
            cx.check()?;
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
            (0 | INFINITE | UNKNOWN, _) => input,
            (_, None) => UNKNOWN,
            (known, Some(rows)) => known.saturating_mul(rows),
        }
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
    /// Slices of batches, none of them empty.
    parts: Vec<Element>,
    turn: usize,
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
        let mut there = 0;
        for part in &rest.parts {
            there += num_rows(part)?;
        }
        while there < size && !input.is_over() {
            cx.check()?;
            if let Some(element) = input.next(cx).await? {
                let rows = num_rows(&element)?;
                if rows > 0 {
                    there += rows;
                    scratch::push(&mut rest.parts, element)?;
                }
            }
        }
        if there == 0 && (input.is_over() || size > 0) || (there < size && self.drops_remainder) {
            rest.parts.clear();
            return Ok(None);
        }
        rest.turn = (rest.turn + 1) % self.sizes.len();
        let (mut taken, mut left) = (Vec::new(), size.min(there));
        while left > 0 {
            let part = rest.parts.remove(0);
            let rows = num_rows(&part)?;
            let used = rows.min(left);
            taken.push(rows_of(&part, 0, used)?);
            if used < rows {
                rest.parts.insert(0, rows_of(&part, used, rows)?);
            }
            left -= used;
        }
        if taken.is_empty() {
            // An empty batch has the shapes of the rows that follow.
            if let Some(part) = rest.parts.first() {
                return rows_of(part, 0, 0).map(Some);
            }
            if let Some(element) = input.next(cx).await? {
                let empty = rows_of(&element, 0, 0)?;
                rest.parts.push(element);
                return Ok(Some(empty));
            }
            return Ok(None);
        }
        joined(&taken).map(Some)
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }

    async fn save<'a>(&'a self, rest: &'a mut Rest, saved: &'a mut Saved) -> Result<()> {
        saved.set_elements("parts", scratch::copied(&rest.parts)?);
        saved.set("turn", rest.turn as i64);
        Ok(())
    }

    async fn restore<'a>(&'a self, rest: &'a mut Rest, _: &'a mut Input, saved: &'a Saved, _: &'a Cx) -> Result<()> {
        rest.parts = scratch::copied(saved.elements("parts")?)?;
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
