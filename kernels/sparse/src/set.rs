//! SetSize, and the set operations on dense and sparse tensors.

use std::cmp::Ordering;

use kernlink::dtype::Element;
use kernlink::error::{Error, Result};
use kernlink::kernel::{Attrs, KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_geometry::integers::index_text;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::Coo;

/// The different values among some, sorted.
fn set<T: Ord>(values: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut set: Vec<T> = scratch::collected(values)?;
    set.sort_unstable();
    set.dedup();
    Ok(set)
}

/// The sets of a sparse tensor, each with its index: runs of elements whose indices but for the last are equal.
struct SparseSets<'a> {
    coo: Coo<'a>,
    runs: Vec<std::ops::Range<usize>>,
}

impl<'a> SparseSets<'a> {
    /// From inputs `first` and the two after it.
    fn new(ctx: &'a RawContext<'_>, first: usize, validate: bool) -> Result<SparseSets<'a>> {
        let coo = Coo::new(ctx.input_at(first)?, ctx.input_at(first + 1)?, ctx.input_at(first + 2)?)?;
        coo.shape()?;
        ensure!(coo.rank() >= 2, InvalidArgument, "Invalid rank {}.", coo.rank());
        if validate {
            coo.ensure_valid()?;
        }
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        let group = |n: usize| &coo.index(n)[..coo.rank() - 1];
        for n in 0..coo.len() {
            let high = coo.index(n).iter().zip(coo.sizes).any(|(index, size)| index >= size);
            ensure!(
                !high,
                Internal,
                "indices[{n}] = {} expected < {}",
                index_text(coo.index(n)),
                index_text(coo.sizes)
            );
            match runs.last_mut() {
                Some(run) if group(run.start) == group(n) => run.end = n + 1,
                _ => scratch::push(&mut runs, n..n + 1)?,
            }
        }
        Ok(SparseSets { coo, runs })
    }

    /// The shape without the last dimension.
    fn group_shape(&self) -> &'a [i64] {
        &self.coo.sizes[..self.coo.rank() - 1]
    }

    /// The index of set `n`; `None` if there are not so many.
    fn group(&self, n: usize) -> Option<&'a [i64]> {
        Some(&self.coo.index(self.runs.get(n)?.start)[..self.coo.rank() - 1])
    }

    fn set<'b, T: Ord>(&self, n: usize, values: &'b [T]) -> Result<Vec<&'b T>> {
        set(values[self.runs[n].clone()].iter())
    }
}

#[register_kernel(device = Cpu, T = [i8, i16, i32, i64, u8, u16, TString])]
fn set_size<T: Element + Ord>(attrs: &Attrs<ops::SetSize>, ctx: &mut KernelContext<'_, ops::SetSize>) -> Result<()> {
    let sets = SparseSets::new(ctx, 0, attrs.validate_indices)?;
    let values = ctx.input(ops::SetSize::SET_VALUES)?.as_slice::<T>()?;
    let shape = Shape::from_dims(sets.group_shape())?;
    let strides = shape.strides();
    let mut output = Tensor::zeros(i32::DTYPE, shape)?;
    let sizes = output.as_mut_slice::<i32>()?;
    for (n, group) in (0..).map_while(|n| Some((n, sets.group(n)?))) {
        let place = group
            .iter()
            .zip(&strides)
            .fold(0i64, |place, (&index, &stride)| place.wrapping_add(index.wrapping_mul(stride as i64)));
        let slot = usize::try_from(place).ok().and_then(|place| sizes.get_mut(place));
        *slot.ok_or_else(|| Error::invalid_argument("Index out of range"))? = sets.set(n, values)?.len() as i32;
    }
    ctx.set_output(ops::SetSize::SIZE, output)
}

#[derive(Clone, Copy)]
enum Operation {
    FirstOnly,
    SecondOnly,
    Intersection,
    Union,
}

impl Operation {
    fn from_name(name: &str) -> Result<Operation> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "a-b" => Operation::FirstOnly,
            "b-a" => Operation::SecondOnly,
            "intersection" => Operation::Intersection,
            "union" => Operation::Union,
            _ => bail!(InvalidArgument, "Invalid set_operation {name}."),
        })
    }

    /// The result for two sorted sets, sorted.
    fn apply<'a, T: Ord>(self, first: &[&'a T], second: &[&'a T]) -> Result<Vec<&'a T>> {
        let without = |set: &[&'a T], other: &[&'a T], found: bool| {
            scratch::collected(set.iter().copied().filter(|value| other.binary_search(value).is_ok() == found))
        };
        match self {
            Operation::FirstOnly => without(first, second, false),
            Operation::SecondOnly => without(second, first, false),
            Operation::Intersection => without(first, second, true),
            Operation::Union => set(first.iter().chain(second).copied()),
        }
    }
}

/// The sets that are not empty, as the sparse tensor that they become.
struct Results<'a, T> {
    operation: Operation,
    indices: Vec<i64>,
    values: Vec<&'a T>,
    greatest: usize,
}

impl<'a, T: Element + Ord> Results<'a, T> {
    fn new(operation: Operation) -> Results<'a, T> {
        Results { operation, indices: Vec::new(), values: Vec::new(), greatest: 0 }
    }

    fn push(&mut self, group: &[i64], first: &[&'a T], second: &[&'a T]) -> Result<()> {
        let set = self.operation.apply(first, second)?;
        for n in 0..set.len() {
            scratch::append(&mut self.indices, group)?;
            scratch::push(&mut self.indices, n as i64)?;
        }
        self.greatest = self.greatest.max(set.len());
        scratch::append(&mut self.values, &set)
    }

    /// Indices, values and shape.
    fn finish(self, group_shape: &[i64]) -> Result<[Tensor; 3]> {
        let sizes = [group_shape, &[self.greatest as i64]].concat();
        Shape::from_dims(&sizes)?;
        let values: Vec<T> = scratch::collected(self.values.into_iter().cloned())?;
        Ok([
            Tensor::from_elements([values.len(), sizes.len()], &self.indices)?,
            Tensor::vector(&values)?,
            Tensor::vector(&sizes)?,
        ])
    }
}

fn set_outputs(ctx: &mut RawContext<'_>, outputs: [Tensor; 3]) -> Result<()> {
    outputs.into_iter().enumerate().try_for_each(|(index, tensor)| ctx.set_output_at(index, tensor))
}

/// What the attrs say.
struct SetOperation {
    operation: Operation,
    validate: bool,
}

impl KernelState for SetOperation {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let operation: String = ctx.attrs.required("set_operation")?;
        let validate = ctx.attrs.required("validate_indices")?;
        Ok(Self { operation: Operation::from_name(&operation)?, validate })
    }
}

/// The shape of a dense tensor without the last dimension, and the last dimension.
fn dense_groups(tensor: &Tensor) -> Result<(Vec<i64>, usize)> {
    let sizes = tensor.shape().to_i64();
    match sizes.split_last() {
        Some((&last, group)) if !group.is_empty() => Ok((group.to_vec(), last as usize)),
        _ => bail!(InvalidArgument, "Shape {} has rank {} < 2", tensor.shape(), tensor.rank()),
    }
}

fn ensure_same_groups(first: &[i64], second: &[i64]) -> Result<()> {
    ensure!(first == second, InvalidArgument, "Mismatched shapes {} vs {}", index_text(first), index_text(second));
    Ok(())
}

/// Calls `each` with the number and the index of every group.
fn for_each_group(shape: &[i64], mut each: impl FnMut(usize, &[i64]) -> Result<()>) -> Result<()> {
    let count = shape.iter().fold(1usize, |count, &size| count.saturating_mul(size as usize));
    let mut index = vec![0; shape.len()];
    for number in 0..count {
        each(number, &index)?;
        for (place, &size) in index.iter_mut().zip(shape).rev() {
            *place += 1;
            if *place < size {
                break;
            }
            *place = 0;
        }
    }
    Ok(())
}

#[register_kernel(device = Cpu, op = ops::DenseToDenseSetOperation, T = [i8, i16, i32, i64, u8, u16, TString])]
fn dense_to_dense<T: Element + Ord>(op: &SetOperation, ctx: &mut RawContext<'_>) -> Result<()> {
    let (a, b) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let ((groups, a_width), (b_groups, b_width)) = (dense_groups(a)?, dense_groups(b)?);
    ensure_same_groups(&groups, &b_groups)?;
    let (a, b) = (a.as_slice::<T>()?, b.as_slice::<T>()?);
    let mut results = Results::new(op.operation);
    if !(a.is_empty() && b.is_empty()) {
        for_each_group(&groups, |n, group| {
            let a = set(a[n * a_width..][..a_width].iter())?;
            let b = set(b[n * b_width..][..b_width].iter())?;
            results.push(group, &a, &b)
        })?;
    }
    set_outputs(ctx, results.finish(&groups)?)
}

#[register_kernel(device = Cpu, op = ops::DenseToSparseSetOperation, T = [i8, i16, i32, i64, u8, u16, TString])]
fn dense_to_sparse<T: Element + Ord>(op: &SetOperation, ctx: &mut RawContext<'_>) -> Result<()> {
    let a = ctx.input_at(0)?;
    let sets = SparseSets::new(ctx, 1, op.validate)?;
    let (groups, width) = dense_groups(a)?;
    ensure_same_groups(&groups, sets.group_shape())?;
    let (a, b) = (a.as_slice::<T>()?, ctx.input_at(2)?.as_slice::<T>()?);
    let mut results = Results::new(op.operation);
    let mut next = 0;
    if a.is_empty() {
        // However many groups there may be.
        while let Some(group) = sets.group(next) {
            results.push(group, &[], &sets.set(next, b)?)?;
            next += 1;
        }
    } else {
        for_each_group(&groups, |n, group| {
            let a = set(a[n * width..][..width].iter())?;
            let mut other = Vec::new();
            if sets.group(next) == Some(group) {
                other = sets.set(next, b)?;
                next += 1;
            }
            results.push(group, &a, &other)
        })?;
    }
    set_outputs(ctx, results.finish(&groups)?)
}

#[register_kernel(device = Cpu, op = ops::SparseToSparseSetOperation, T = [i8, i16, i32, i64, u8, u16, TString])]
fn sparse_to_sparse<T: Element + Ord>(op: &SetOperation, ctx: &mut RawContext<'_>) -> Result<()> {
    let (a, b) = (SparseSets::new(ctx, 0, op.validate)?, SparseSets::new(ctx, 3, op.validate)?);
    ensure_same_groups(a.group_shape(), b.group_shape())?;
    let (a_values, b_values) = (ctx.input_at(1)?.as_slice::<T>()?, ctx.input_at(4)?.as_slice::<T>()?);
    let mut results = Results::new(op.operation);
    let (mut m, mut n) = (0, 0);
    loop {
        let (group, order) = match (a.group(m), b.group(n)) {
            (Some(first), Some(second)) => (first.min(second), first.cmp(second)),
            (Some(first), None) => (first, Ordering::Less),
            (None, Some(second)) => (second, Ordering::Greater),
            (None, None) => break,
        };
        let (mut first, mut second) = (Vec::new(), Vec::new());
        if order.is_le() {
            first = a.set(m, a_values)?;
            m += 1;
        }
        if order.is_ge() {
            second = b.set(n, b_values)?;
            n += 1;
        }
        results.push(group, &first, &second)?;
    }
    set_outputs(ctx, results.finish(a.group_shape())?)
}
