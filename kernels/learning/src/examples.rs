//! The examples that a linear model learns from.

use std::ops::Range;

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};

use super::weights::Model;

/// The sparse features of a group that an example has.
pub(super) struct Sparse<'a> {
    /// Where their weights are.
    places: &'a [usize],
    /// Their values; `None` if each is 1.
    values: Option<&'a [f32]>,
}

impl Sparse<'_> {
    /// The place of each weight and the feature's value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let value = |n: usize| self.values.map_or(1.0, |values| f64::from(values[n]));
        self.places.iter().enumerate().map(move |(n, &place)| (place, value(n)))
    }
}

/// A sparse group of features.
struct SparseGroup<'a> {
    places: Vec<usize>,
    values: Option<&'a [f32]>,
    /// Where the features of each example are.
    ranges: Vec<Range<usize>>,
}

/// A dense group of features.
struct DenseGroup<'a> {
    rows: &'a [f32],
    width: usize,
}

/// One of the examples.
#[derive(Clone, Copy)]
pub(super) struct Example<'a> {
    number: usize,
    sparse: &'a [SparseGroup<'a>],
    dense: &'a [DenseGroup<'a>],
}

impl<'a> Example<'a> {
    /// Its sparse features, those of a group each.
    pub(super) fn sparse(self) -> impl Iterator<Item = Sparse<'a>> {
        self.sparse.iter().map(move |group| {
            let range = group.ranges[self.number].clone();
            Sparse { places: &group.places[range.clone()], values: group.values.map(|values| &values[range]) }
        })
    }

    /// Its dense features, those of a group each.
    pub(super) fn dense(self) -> impl Iterator<Item = &'a [f32]> {
        self.dense.iter().map(move |group| &group.rows[self.number * group.width..][..group.width])
    }
}

/// All examples of a pass.
pub(super) struct Examples<'a> {
    pub(super) weights: &'a [f32],
    pub(super) labels: &'a [f32],
    sparse: Vec<SparseGroup<'a>>,
    dense: Vec<DenseGroup<'a>>,
    /// The squared norm of each.
    pub(super) norms: Vec<f64>,
}

impl<'a> Examples<'a> {
    /// Of the inputs, which are checked against the weights.
    pub(super) fn new(ctx: &'a RawContext<'_>, model: &Model<'_>) -> Result<Examples<'a>> {
        let weights = ctx.input_named("example_weights")?.as_slice::<f32>()?;
        let labels = ctx.input_named("example_labels")?.as_slice::<f32>()?;
        let count = weights.len();
        ensure!(
            i32::try_from(count).is_ok_and(|count| count < i32::MAX),
            InvalidArgument,
            "Too many examples in a mini-batch: {count} > {}",
            i32::MAX
        );
        ensure!(labels.len() == count, InvalidArgument, "Expected {count} example labels but got {}", labels.len());
        let dense_inputs = ctx.input_range_of("dense_features")?;
        for (n, input) in dense_inputs.clone().enumerate() {
            let rank = ctx.input_at(input)?.rank();
            ensure!(rank == 2, InvalidArgument, "Dense features at index {n} must be rank 2 but is rank {rank}");
        }
        let owners = ctx.input_range_of("sparse_example_indices")?;
        let features = ctx.input_range_of("sparse_feature_indices")?;
        let mut values = ctx.input_range_of("sparse_feature_values")?;
        let mut sparse = Vec::new();
        for (n, (owners, features)) in owners.zip(features).enumerate() {
            let values = values.next().map(|input| ctx.input_at(input)?.as_slice::<f32>()).transpose()?;
            let (owners, features) = (ctx.input_at(owners)?.as_slice::<i64>()?, ctx.input_at(features)?);
            sparse.push(SparseGroup::new(model, n, owners, features.as_slice()?, values, count)?);
        }
        let mut dense = Vec::new();
        for (n, input) in dense_inputs.enumerate() {
            let features = ctx.input_at(input)?;
            let (rows, width) = (features.shape()[0], features.shape()[1]);
            ensure!(
                width > 0 && width <= model.dense[n].len(),
                InvalidArgument,
                "More dense features than we have parameters for: {width}"
            );
            ensure!(
                width == model.dense[n].len(),
                InvalidArgument,
                "Fewer dense features than we have parameters for: {width} of {}",
                model.dense[n].len()
            );
            ensure!(
                rows >= count,
                InvalidArgument,
                "dense features at index {n} have {rows} rows for {count} examples"
            );
            dense.push(DenseGroup { rows: features.as_slice()?, width });
        }
        let mut examples = Examples { weights, labels, sparse, dense, norms: Vec::new() };
        examples.norms = scratch::collected_ok((0..count).map(|n| examples.squared_norm(n)))?;
        Ok(examples)
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn example(&self, number: usize) -> Example<'_> {
        Example { number, sparse: &self.sparse, dense: &self.dense }
    }

    fn squared_norm(&self, n: usize) -> Result<f64> {
        let example = self.example(n);
        let (mut norm, mut places) = (0.0, Vec::new());
        for features in example.sparse() {
            places.clear();
            scratch::append(&mut places, features.places)?;
            places.sort_unstable();
            ensure!(
                places.windows(2).all(|pair| pair[0] != pair[1]),
                InvalidArgument,
                "Duplicate index in sparse vector."
            );
            norm += features.iter().map(|(_, value)| value * value).sum::<f64>();
        }
        for row in example.dense() {
            norm += f64::from(row.iter().map(|x| x * x).sum::<f32>());
        }
        Ok(norm)
    }
}

impl<'a> SparseGroup<'a> {
    fn new(
        model: &Model<'_>,
        group: usize,
        owners: &[i64],
        features: &[i64],
        values: Option<&'a [f32]>,
        count: usize,
    ) -> Result<SparseGroup<'a>> {
        ensure!(
            owners.len() == features.len(),
            InvalidArgument,
            "Found mismatched example_indices and feature_indices: {} and {} of them",
            owners.len(),
            features.len()
        );
        ensure!(
            values.is_none_or(|values| values.len() >= features.len()),
            InvalidArgument,
            "sparse_feature_values[{group}] has fewer elements than sparse_feature_indices[{group}]"
        );
        let mut ranges = scratch::room(count)?;
        let mut end = 0;
        for example in 0..count as i64 {
            let start = end;
            while owners.get(end) == Some(&example) {
                end += 1;
            }
            ranges.push(start..end);
        }
        // Features behind an example that is out of order belong to none.
        let place = |&feature: &i64| match model.sparse[group].place(feature) {
            Some(place) => Ok(place),
            None => bail!(InvalidArgument, "Found sparse feature indices out of valid range: {feature}"),
        };
        let places = scratch::collected_ok(features[..end].iter().map(place))?;
        Ok(SparseGroup { places, values, ranges })
    }
}
