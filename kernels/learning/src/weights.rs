//! The weights of a linear model, and what is to be added to them.

use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink_kernels_common::hash::Map;

use super::examples::Example;

/// The strengths of the regularisations.
#[derive(Clone, Copy)]
pub(super) struct Regularization {
    pub(super) l2: f64,
    /// By how much weights come nearer to 0.
    shrinkage: f64,
}

impl Regularization {
    pub(super) fn new(l1: f32, l2: f32) -> Regularization {
        Regularization { l2: f64::from(l2), shrinkage: f64::from(l1 / l2) }
    }

    fn shrink(self, weight: f64) -> f64 {
        let left = (weight.abs() - self.shrinkage).max(0.0);
        if left > 0.0 { left.copysign(weight) } else { 0.0 }
    }

    /// As [`shrink`](Self::shrink), in `f32`.
    pub(super) fn shrink32(self, weight: f32) -> f32 {
        let sign = if weight == 0.0 { weight } else { weight.signum() };
        sign * (weight.abs() - self.shrinkage as f32).max(0.0)
    }
}

/// The weights of a group of features, and what is to be added to them.
pub(super) struct Group<'a> {
    weights: &'a [f32],
    pub(super) deltas: Tensor,
    /// Where the weight of each sparse feature is.
    places: Map<i64, usize>,
}

impl<'a> Group<'a> {
    /// Of a sparse group, whose weights are of the features `names`, or of a dense one.
    fn new(ctx: &RawContext<'_>, output: usize, weights: &'a Tensor, names: Option<&Tensor>) -> Result<Group<'a>> {
        let mut deltas = ctx.allocate_output_at(output, weights.shape())?;
        deltas.as_mut_slice::<f32>()?.fill(0.0);
        let weights = weights.as_slice::<f32>()?;
        let mut places = Map::default();
        if let Some(names) = names {
            let names = names.as_slice::<i64>()?;
            ensure!(
                names.len() == weights.len(),
                InvalidArgument,
                "sparse_indices has {} elements for {} weights",
                names.len(),
                weights.len()
            );
            let refused = |_| Error::resource_exhausted(format!("{} features", names.len()));
            places.try_reserve(names.len()).map_err(refused)?;
            // Of a feature that is there twice the last weight counts.
            names.iter().zip(0..).for_each(|(&name, place)| _ = places.insert(name, place));
        }
        Ok(Group { weights, deltas, places })
    }

    /// Where the weight of a sparse feature is.
    pub(super) fn place(&self, feature: i64) -> Option<usize> {
        self.places.get(&feature).copied()
    }

    /// How many weights there are.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }
}

/// What the model says, before and after this pass so far.
#[derive(Default)]
pub(super) struct Predictions {
    pub(super) before: f64,
    pub(super) now: f64,
}

/// A linear model.
pub(super) struct Model<'a> {
    pub(super) sparse: Vec<Group<'a>>,
    pub(super) dense: Vec<Group<'a>>,
    regularization: Regularization,
    parts: f32,
}

impl<'a> Model<'a> {
    /// Of the inputs and for the outputs of these names.
    pub(super) fn new(ctx: &'a RawContext<'_>, regularization: Regularization, parts: i64) -> Result<Model<'a>> {
        let names = ctx.input_range_of("sparse_indices")?;
        let inputs = ctx.input_range_of("sparse_weights")?;
        let outputs = ctx.output_range_of("out_delta_sparse_weights")?;
        let sparse = inputs
            .zip(outputs)
            .zip(names)
            .map(|((input, output), names)| Group::new(ctx, output, ctx.input_at(input)?, Some(ctx.input_at(names)?)));
        let sparse = sparse.collect::<Result<_>>()?;
        let inputs = ctx.input_range_of("dense_weights")?;
        let outputs = ctx.output_range_of("out_delta_dense_weights")?;
        let dense = inputs.zip(outputs).map(|(input, output)| Group::new(ctx, output, ctx.input_at(input)?, None));
        Ok(Model { sparse, dense: dense.collect::<Result<_>>()?, regularization, parts: parts as f32 })
    }

    /// What the model says of an example.
    pub(super) fn predict(&self, example: Example<'_>) -> Result<Predictions> {
        let mut predictions = Predictions::default();
        let shrink = |weight: f64| self.regularization.shrink(weight);
        for (group, features) in self.sparse.iter().zip(example.sparse()) {
            let deltas = group.deltas.as_slice::<f32>()?;
            for (place, value) in features.iter() {
                let weight = group.weights[place];
                predictions.before += value * shrink(f64::from(weight));
                predictions.now += value * shrink(f64::from(weight + deltas[place] * self.parts));
            }
        }
        for (group, row) in self.dense.iter().zip(example.dense()) {
            let deltas = group.deltas.as_slice::<f32>()?;
            let (mut before, mut now) = (0.0f32, 0.0f32);
            for ((&x, &weight), &delta) in row.iter().zip(group.weights).zip(deltas) {
                before += x * self.regularization.shrink32(weight);
                now += x * self.regularization.shrink32(weight + delta * self.parts);
            }
            predictions.before += f64::from(before);
            predictions.now += f64::from(now);
        }
        Ok(predictions)
    }

    /// Adds an example times `factor`.
    pub(super) fn add(&mut self, example: Example<'_>, factor: f64) -> Result<()> {
        for (group, features) in self.sparse.iter_mut().zip(example.sparse()) {
            let deltas = group.deltas.as_mut_slice::<f32>()?;
            for (place, value) in features.iter() {
                deltas[place] = (f64::from(deltas[place]) + value * factor) as f32;
            }
        }
        for (group, row) in self.dense.iter_mut().zip(example.dense()) {
            let deltas = group.deltas.as_mut_slice::<f32>()?;
            deltas.iter_mut().zip(row).for_each(|(delta, &x)| *delta += x * factor as f32);
        }
        Ok(())
    }

    /// The outputs, the sparse ones first.
    pub(super) fn into_deltas(self) -> Result<Vec<Tensor>> {
        scratch::collected(self.sparse.into_iter().chain(self.dense).map(|group| group.deltas))
    }
}
