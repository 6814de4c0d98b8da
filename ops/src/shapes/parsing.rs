//! What ops that parse Examples check of their attrs, and the shapes of what they give.

use kernlink::dtype::DataType;
use kernlink::shape::{PartialShape, Shape};
use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, bail, ensure};

/// INVALID_ARGUMENT unless attrs that speak of the same features are as many as these.
fn ensure_as_many(features: &str, count: i64, lists: &[(&str, usize)]) -> Result<()> {
    for &(list, length) in lists {
        ensure!(
            count == length as i64,
            InvalidArgument,
            "{features} ({count}) must match the size of {list} ({length})"
        );
    }
    Ok(())
}

/// A dense feature in one Example.
#[derive(Clone, Debug)]
pub struct DenseRow {
    /// Whether the first size is unknown: the feature may be of any length.
    pub is_variable: bool,
    /// The sizes that are known: all, or those after the first.
    pub shape: Shape,
}

impl DenseRow {
    /// The feature whose shape an attr says.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the rank, or a size other than the first, is unknown.
    pub fn new(index: usize, shape: &PartialShape) -> Result<DenseRow> {
        let (is_variable, rest) = match shape.dims() {
            Some([None, rest @ ..]) => (true, rest),
            Some(dims) => (false, dims),
            None => (false, &[None][..]),
        };
        let Some(rest) = rest.iter().copied().collect::<Option<Vec<usize>>>() else {
            bail!(InvalidArgument, "dense_shapes[{index}] has unknown rank or unknown inner dimensions: {shape}");
        };
        Ok(DenseRow { is_variable, shape: Shape::from(&rest[..]) })
    }
}

/// The attrs of the ops that parse Examples, under one name for all of them.
pub struct ExampleAttrs<'a> {
    /// How many sparse features there are.
    pub sparse: i64,
    /// How many dense features there are.
    pub dense: i64,
    /// The dtypes of sparse features.
    pub sparse_types: &'a [DataType],
    /// The dtypes of dense features.
    pub dense_types: &'a [DataType],
    /// The shapes of dense features.
    pub dense_shapes: &'a [PartialShape],
    /// The dtypes of ragged features.
    pub ragged_value_types: &'a [DataType],
    /// The dtypes of ragged features' row splits.
    pub ragged_split_types: &'a [DataType],
}

impl ExampleAttrs<'_> {
    /// The dense features, if the attrs fit one another. TensorFlow's `ParseExampleAttrs::FinishInit`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if attrs differ in their lengths, or a dense shape lacks more than its first size.
    pub fn check(&self) -> Result<Vec<DenseRow>> {
        ensure_as_many("the number of sparse features", self.sparse, &[("sparse_types", self.sparse_types.len())])?;
        ensure_as_many(
            "the number of dense features",
            self.dense,
            &[("Tdense", self.dense_types.len()), ("dense_shapes", self.dense_shapes.len())],
        )?;
        ensure_as_many(
            "the size of ragged_value_types",
            self.ragged_value_types.len() as i64,
            &[("ragged_split_types", self.ragged_split_types.len())],
        )?;
        self.dense_shapes.iter().enumerate().map(|(index, shape)| DenseRow::new(index, shape)).collect()
    }
}

/// The attrs of one half of the ops that parse SequenceExamples: of the context, or of the feature lists.
pub struct SequenceAttrs<'a> {
    /// What the half is called: `context` or `feature_list`.
    pub half: &'static str,
    /// How many sparse features there are.
    pub sparse: i64,
    /// How many dense features there are.
    pub dense: i64,
    /// How many keys there are for sparse and for dense features, if they are attrs.
    pub keys: Option<[usize; 2]>,
    /// The dtypes of sparse features.
    pub sparse_types: &'a [DataType],
    /// The dtypes of dense features.
    pub dense_types: &'a [DataType],
    /// The shapes of dense features.
    pub dense_shapes: &'a [PartialShape],
    /// The dtypes of ragged features.
    pub ragged_value_types: &'a [DataType],
    /// The dtypes of ragged features' row splits.
    pub ragged_split_types: &'a [DataType],
}

impl SequenceAttrs<'_> {
    /// The shapes of the dense features, if the attrs fit one another. TensorFlow's `ParseSequenceExampleAttrs::FinishInit`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if attrs differ in their lengths, or a dense shape is not fully known.
    pub fn check(&self) -> Result<Vec<Shape>> {
        let name = |rest: &str| format!("{}_{rest}", self.half);
        let (sparse, dense) = (name("sparse"), name("dense"));
        if let Some([sparse_keys, dense_keys]) = self.keys {
            ensure_as_many(&sparse, self.sparse, &[(&name("sparse_keys"), sparse_keys)])?;
            ensure_as_many(&dense, self.dense, &[(&name("dense_keys"), dense_keys)])?;
        }
        ensure_as_many(&sparse, self.sparse, &[(&name("sparse_types"), self.sparse_types.len())])?;
        let lists =
            [(&*name("dense_types"), self.dense_types.len()), (&*name("dense_shapes"), self.dense_shapes.len())];
        ensure_as_many(&dense, self.dense, &lists)?;
        let splits = self.ragged_split_types.len();
        ensure_as_many(
            &name("ragged"),
            self.ragged_value_types.len() as i64,
            &[(&name("ragged_split_types"), splits)],
        )?;
        let known = |(index, shape): (usize, &PartialShape)| match shape.to_shape() {
            Some(shape) => Ok(shape),
            None => bail!(InvalidArgument, "{}[{index}] is {shape}: all sizes must be known", name("dense_shapes")),
        };
        self.dense_shapes.iter().enumerate().map(known).collect()
    }
}

/// Sets the shapes of outputs one after the other: features of Examples.
pub struct FeatureShapes<'c, 'a> {
    c: &'c InferenceContext<'a>,
    next: usize,
}

impl<'c, 'a> FeatureShapes<'c, 'a> {
    /// Begins with output 0.
    pub fn new(c: &'c InferenceContext<'a>) -> FeatureShapes<'c, 'a> {
        FeatureShapes { c, next: 0 }
    }

    /// Several outputs, each of the shape that is made for it.
    pub fn each(&mut self, count: usize, shape: impl Fn(&InferenceContext<'a>) -> ShapeHandle) {
        for _ in 0..count {
            self.c.set_output(self.next, shape(self.c));
            self.next += 1;
        }
    }

    /// Indices, values and shapes of sparse features, which have `more` dimensions than the Examples.
    pub fn sparse(&mut self, count: usize, examples: ShapeHandle, more: usize) {
        let rank = match self.c.rank(examples) {
            Some(rank) => self.c.make_dim((rank + more) as i64),
            None => self.c.unknown_dim(),
        };
        self.each(count, |c| c.matrix(c.unknown_dim(), rank));
        self.each(count, |c| c.vector(c.unknown_dim()));
        self.each(count, |c| c.vector(rank));
    }

    /// Dense features, whose shapes stand behind that of the Examples.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a shape has too many dimensions.
    pub fn dense(&mut self, shapes: &[PartialShape], examples: ShapeHandle) -> Result<()> {
        for shape in shapes {
            let shape = self.c.concatenate(examples, self.c.make_shape_from_partial(shape))?;
            self.each(1, |_| shape);
        }
        Ok(())
    }

    /// Values and row splits of ragged features: outer ones, and inner ones if there are lists of lists.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are too many Examples.
    pub fn ragged(&mut self, count: usize, examples: ShapeHandle, has_inner: bool) -> Result<()> {
        let number = if self.c.rank(examples) == Some(1) { self.c.dim(examples, 0) } else { self.c.unknown_dim() };
        let splits = self.c.add(number, 1)?;
        self.each(count, |c| c.vector(c.unknown_dim()));
        self.each(count, |c| c.vector(splits));
        self.each(if has_inner { count } else { 0 }, |c| c.vector(c.unknown_dim()));
        Ok(())
    }
}
