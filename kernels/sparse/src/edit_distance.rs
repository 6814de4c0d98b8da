//! EditDistance.

use std::cmp::Ordering;
use std::ops::Range;

use kernlink::dtype::Element;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_geometry::integers::index_text;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::Coo;

/// The Levenshtein distance of two sequences, in time of the product of their lengths.
fn distance<T: PartialEq>(first: &[T], second: &[T]) -> Result<usize> {
    let (long, short) = if first.len() < second.len() { (second, first) } else { (first, second) };
    // `costs[j]` is the distance between the part of `long` so far and the first `j` of `short`.
    let mut costs: Vec<usize> = scratch::collected(0..=short.len())?;
    for x in long {
        let mut diagonal = costs[0];
        costs[0] += 1;
        let mut left = costs[0];
        for (y, cost) in short.iter().zip(&mut costs[1..]) {
            let replaced = diagonal + usize::from(x != y);
            diagonal = *cost;
            left = replaced.min(*cost + 1).min(left + 1);
            *cost = left;
        }
    }
    Ok(costs[short.len()])
}

/// The sequences of a sparse tensor: runs of elements whose indices but for the last are equal.
struct Sequences<'a> {
    coo: Coo<'a>,
    next: usize,
}

impl<'a> Sequences<'a> {
    /// From inputs `first` and the two after it.
    fn new(ctx: &'a RawContext<'_>, first: usize) -> Result<Sequences<'a>> {
        let coo = Coo::new(ctx.input_at(first)?, ctx.input_at(first + 1)?, ctx.input_at(first + 2)?)?;
        coo.shape()?;
        Ok(Sequences { coo, next: 0 })
    }

    fn group(&self, n: usize) -> Option<&'a [i64]> {
        (n < self.coo.len()).then(|| &self.coo.index(n)[..self.coo.rank() - 1])
    }

    /// The group of the next sequence.
    fn peek(&self) -> Option<&'a [i64]> {
        self.group(self.next)
    }

    /// The elements of the next sequence.
    fn take(&mut self) -> Range<usize> {
        let (start, group) = (self.next, self.peek());
        while self.next < self.coo.len() && self.group(self.next) == group {
            self.next += 1;
        }
        start..self.next
    }
}

#[register_kernel(device = Cpu, T = [bool, bf16, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, Complex32, Complex64, TString])]
fn edit_distance<T: Element + PartialEq>(
    attrs: &Attrs<ops::EditDistance>,
    ctx: &mut KernelContext<'_, ops::EditDistance>,
) -> Result<()> {
    type Op = ops::EditDistance;
    let hypothesis = ctx.input(Op::HYPOTHESIS_VALUES)?.as_slice::<T>();
    let truth = ctx.input(Op::TRUTH_VALUES)?.as_slice::<T>();
    let (hypothesis, truth) = (hypothesis?, truth?);
    let output = distances(ctx, attrs.normalize, &|a, b| distance(&hypothesis[a], &truth[b]))?;
    ctx.set_output(Op::OUTPUT, output)
}

/// The distances of all sequences, where `distance` is that of two of them.
fn distances(
    ctx: &RawContext<'_>,
    normalize: bool,
    distance: &dyn Fn(Range<usize>, Range<usize>) -> Result<usize>,
) -> Result<Tensor> {
    let (mut hypothesis, mut truth) = (Sequences::new(ctx, 0)?, Sequences::new(ctx, 3)?);
    let rank = truth.coo.rank();
    ensure!(
        rank >= 2,
        InvalidArgument,
        "Input SparseTensors must have rank at least 2, but truth_shape rank is: {rank}"
    );
    ensure!(
        hypothesis.coo.rank() == rank,
        InvalidArgument,
        "Expected truth and hypothesis to have matching ranks, but their ranks are: {rank} and {}",
        hypothesis.coo.rank()
    );
    let sizes = hypothesis.coo.sizes.iter().zip(truth.coo.sizes).map(|(&a, &b)| a.max(b));
    let shape = Shape::from_dims(&sizes.take(rank - 1).collect::<Vec<_>>())?;
    shape.check()?;
    ensure!(shape.num_elements() > 0, InvalidArgument, "Got output shape {shape} which has 0 elements");
    let strides = shape.strides();
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let slots = output.as_mut_slice::<f32>()?;
    slots.fill(0.0);
    loop {
        let (group, order) = match (hypothesis.peek(), truth.peek()) {
            (Some(a), Some(b)) => (a.min(b), a.cmp(b)),
            (Some(a), None) => (a, Ordering::Less),
            (None, Some(b)) => (b, Ordering::Greater),
            (None, None) => break,
        };
        let value = match order {
            Ordering::Equal => {
                let (said, meant) = (hypothesis.take(), truth.take());
                let length = meant.len() as f32;
                distance(said, meant)? as f32 / if normalize { length } else { 1.0 }
            }
            Ordering::Less if normalize => {
                hypothesis.take();
                f32::INFINITY
            }
            Ordering::Less => hypothesis.take().len() as f32,
            Ordering::Greater if normalize => {
                truth.take();
                1.0
            }
            Ordering::Greater => truth.take().len() as f32,
        };
        let place = group
            .iter()
            .zip(&strides)
            .fold(0i64, |place, (&index, &stride)| place.wrapping_add(index.wrapping_mul(stride as i64)));
        match usize::try_from(place).ok().and_then(|place| slots.get_mut(place)) {
            Some(slot) => *slot = value,
            None => bail!(
                Internal,
                "the sequence at {} lies outside of the output, whose shape is {shape}: indices must be below the shape",
                index_text(group)
            ),
        }
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_cheapest_edits() {
        let of = |a: &str, b: &str| distance(a.as_bytes(), b.as_bytes()).unwrap();
        assert_eq!(of("kitten", "sitting"), 3);
        assert_eq!(of("", "abc"), 3);
        assert_eq!(of("abc", ""), 3);
        assert_eq!(of("flaw", "lawn"), 2);
        assert_eq!(of("same", "same"), 0);
    }
}
