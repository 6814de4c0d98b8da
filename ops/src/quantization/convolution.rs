//! What a convolution over any number of spatial dimensions does with shapes.

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::shape::Shape;
use kernlink::{Result, bail, ensure};
use prost::Message;

/// TensorFlow's message of this name: which dimension is which.
#[derive(Clone, PartialEq, Message)]
struct DimensionNumbers {
    #[prost(int64, tag = "1")]
    input_batch: i64,
    #[prost(int64, tag = "2")]
    input_feature: i64,
    #[prost(int64, repeated, tag = "3")]
    input_spatial: Vec<i64>,
    #[prost(int64, tag = "4")]
    kernel_input_feature: i64,
    #[prost(int64, tag = "5")]
    kernel_output_feature: i64,
    #[prost(int64, repeated, tag = "6")]
    kernel_spatial: Vec<i64>,
    #[prost(int64, tag = "7")]
    output_batch: i64,
    #[prost(int64, tag = "8")]
    output_feature: i64,
    #[prost(int64, repeated, tag = "9")]
    output_spatial: Vec<i64>,
}

/// Which dimension of a tensor is which: batch, features (of a filter: those of the output, then those of the input), and
/// space.
#[derive(Clone, Debug)]
pub struct Dimensions {
    /// The batch; of a filter the features of the input.
    pub batch: usize,
    /// The features; of a filter those of the output.
    pub feature: usize,
    /// The dimensions of space.
    pub spatial: Vec<usize>,
}

impl Dimensions {
    fn new(batch: i64, feature: i64, spatial: &[i64], rank: usize) -> Result<Dimensions> {
        ensure!(
            spatial.len() + 2 == rank,
            InvalidArgument,
            "dimension_numbers: there must be rank - 2 spatial dimensions, not {} of rank {rank}",
            spatial.len()
        );
        let mut is_named = vec![false; rank];
        let mut at = |given: i64| match usize::try_from(given).ok().filter(|&dim| dim < rank) {
            Some(dim) if !std::mem::replace(&mut is_named[dim], true) => Ok(dim),
            Some(_) => bail!(InvalidArgument, "dimension_numbers: dimension {given} is named twice"),
            None => bail!(InvalidArgument, "dimension_numbers: dimension {given} is not from 0 to {}", rank - 1),
        };
        let (batch, feature) = (at(batch)?, at(feature)?);
        Ok(Dimensions { batch, feature, spatial: spatial.iter().map(|&dim| at(dim)).collect::<Result<_>>()? })
    }
}

/// The attrs of a convolution.
#[derive(Clone, Debug)]
pub struct UniformConvolution {
    strides: Vec<i64>,
    lhs_dilation: Vec<i64>,
    rhs_dilation: Vec<i64>,
    padding: String,
    explicit_padding: Vec<i64>,
    batch_groups: i64,
    feature_groups: i64,
    /// `None`: batch, features and space in this order, of a filter features of the output first.
    numbers: Option<DimensionNumbers>,
}

/// One dimension of space.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Elements of the input.
    pub input: usize,
    /// Elements of the filter.
    pub filter: usize,
    /// Elements of the output, or less than zero if the filter is too large.
    pub output: i64,
    /// The step of the window.
    pub stride: usize,
    /// The step between elements of the input.
    pub input_step: usize,
    /// The step between elements of the filter.
    pub filter_step: usize,
    /// What is before the input.
    pub before: usize,
}

/// What a convolution does with tensors of certain shapes.
#[derive(Clone, Debug)]
pub struct UniformGeometry {
    /// The dimensions of the input.
    pub input: Dimensions,
    /// The dimensions of the filter.
    pub filter: Dimensions,
    /// The dimensions of the output.
    pub output: Dimensions,
    /// The dimensions of space.
    pub space: Vec<Space>,
    /// Batches of the output.
    pub batches: usize,
    /// Features of the output.
    pub features: usize,
    /// Features of the input that belong to one of the output.
    pub depth: usize,
    /// Into how many groups the batch is split.
    pub batch_groups: usize,
    /// Into how many groups the features are split.
    pub feature_groups: usize,
}

/// The length of `size` elements that are `step` apart.
fn dilated(size: usize, step: usize) -> i64 {
    if size == 0 { 0 } else { (size as i64 - 1).saturating_mul(step as i64).saturating_add(1) }
}

impl UniformConvolution {
    /// Reads the attrs.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a padding that is not known or given twice, and for dimension numbers that are no message.
    pub fn new(attrs: &AttrMap) -> Result<UniformConvolution> {
        let padding: String = attrs.required("padding")?;
        let explicit_padding: Vec<i64> = attrs.required("explicit_padding")?;
        let is_explicit = padding == "EXPLICIT";
        ensure!(
            is_explicit || padding == "SAME" || padding == "VALID",
            InvalidArgument,
            "padding must be EXPLICIT, SAME or VALID, not {padding:?}"
        );
        ensure!(
            is_explicit || explicit_padding.is_empty(),
            InvalidArgument,
            "explicit_padding must be empty unless padding is EXPLICIT; it has {} numbers and padding is {padding}",
            explicit_padding.len()
        );
        let numbers = match attrs.get("dimension_numbers") {
            Some(AttrValue::String(text)) if !text.as_bytes().is_empty() => {
                match DimensionNumbers::decode(text.as_bytes()) {
                    Ok(numbers) => Some(numbers).filter(|numbers| !numbers.input_spatial.is_empty()),
                    Err(error) => bail!(InvalidArgument, "dimension_numbers is no such message: {error}"),
                }
            }
            _ => None,
        };
        Ok(UniformConvolution {
            strides: attrs.required("window_strides")?,
            lhs_dilation: attrs.required("lhs_dilation")?,
            rhs_dilation: attrs.required("rhs_dilation")?,
            padding,
            explicit_padding,
            batch_groups: attrs.required("batch_group_count")?,
            feature_groups: attrs.required("feature_group_count")?,
            numbers,
        })
    }

    fn dimensions(&self, rank: usize) -> Result<[Dimensions; 3]> {
        let order: Vec<i64> = (2..rank as i64).collect();
        Ok(match &self.numbers {
            None => [
                Dimensions::new(0, 1, &order, rank)?,
                Dimensions::new(1, 0, &order, rank)?,
                Dimensions::new(0, 1, &order, rank)?,
            ],
            Some(n) => [
                Dimensions::new(n.input_batch, n.input_feature, &n.input_spatial, rank)?,
                Dimensions::new(n.kernel_input_feature, n.kernel_output_feature, &n.kernel_spatial, rank)?,
                Dimensions::new(n.output_batch, n.output_feature, &n.output_spatial, rank)?,
            ],
        })
    }

    /// What it does with an input and a filter.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for attrs and shapes that do not fit.
    pub fn geometry(&self, input: &Shape, filter: &Shape) -> Result<UniformGeometry> {
        let rank = input.rank();
        ensure!(
            rank == filter.rank(),
            InvalidArgument,
            "lhs and rhs must have same dims, not shapes {input} and {filter}"
        );
        ensure!(rank > 2, InvalidArgument, "lhs and rhs must have at least 3 dimensions, not shape {input}");
        let count = rank - 2;
        let steps = |given: &[i64], name: &str| -> Result<Vec<usize>> {
            ensure!(
                given.is_empty() || given.len() == count,
                InvalidArgument,
                "{name} must have rank - 2 numbers, not {} of rank {rank}",
                given.len()
            );
            let step =
                |step: i64| match usize::try_from(step).ok().filter(|&step| step > 0 && step <= i32::MAX as usize) {
                    Some(step) => Ok(step),
                    None => bail!(InvalidArgument, "{name} must be at least 1, not {given:?}"),
                };
            if given.is_empty() { Ok(vec![1; count]) } else { given.iter().map(|&given| step(given)).collect() }
        };
        let strides = steps(&self.strides, "window_strides")?;
        let input_steps = steps(&self.lhs_dilation, "lhs_dilation")?;
        let filter_steps = steps(&self.rhs_dilation, "rhs_dilation")?;
        let [of_input, of_filter, of_output] = self.dimensions(rank)?;
        let groups = |given: i64, name: &str| match usize::try_from(given).ok().filter(|&given| given > 0) {
            Some(groups) => Ok(groups),
            None => bail!(InvalidArgument, "{name} must be at least 1, not {given}"),
        };
        let feature_groups = groups(self.feature_groups, "feature_group_count")?;
        let (depth, features) = (filter[of_filter.batch], filter[of_filter.feature]);
        let input_features = input[of_input.feature];
        ensure!(
            input_features.is_multiple_of(feature_groups) && input_features / feature_groups == depth && depth > 0,
            InvalidArgument,
            "lhs has {input_features} features in {feature_groups} groups, but the filter takes {depth} of each group"
        );
        ensure!(
            features.is_multiple_of(feature_groups),
            InvalidArgument,
            "the {features} features of the output are no multiple of feature_group_count, {feature_groups}"
        );
        let batch_groups = groups(self.batch_groups, "batch_group_count")?;
        let batches = input[of_input.batch];
        ensure!(
            batches.is_multiple_of(batch_groups) && features.is_multiple_of(batch_groups),
            InvalidArgument,
            "batch_group_count, {batch_groups}, must divide the batch, {batches}, and the features of the output, {features}"
        );
        let is_explicit = self.padding == "EXPLICIT";
        ensure!(
            !is_explicit
                || self.explicit_padding.len() == 2 * count
                    && self.explicit_padding.iter().all(|&pad| (0..=i64::from(i32::MAX)).contains(&pad)),
            InvalidArgument,
            "explicit_padding must have {} numbers of at least 0, not {:?}",
            2 * count,
            self.explicit_padding
        );
        let space = |index: usize| {
            let (from, by) = (input[of_input.spatial[index]], filter[of_filter.spatial[index]]);
            let stride = strides[index] as i64;
            let lengths = [dilated(from, input_steps[index]), dilated(by, filter_steps[index])];
            let [before, after] = match self.padding.as_str() {
                "EXPLICIT" => [self.explicit_padding[2 * index], self.explicit_padding[2 * index + 1]],
                "SAME" => {
                    let windows = lengths[0].saturating_add(stride - 1) / stride;
                    let total = ((windows - 1) * stride - lengths[0]).saturating_add(lengths[1]).max(0);
                    [total / 2, total - total / 2]
                }
                _ => [0, 0],
            };
            let places = lengths[0].saturating_add(before).saturating_add(after).saturating_sub(lengths[1] - 1);
            Space {
                input: from,
                filter: by,
                output: places.saturating_add(stride - 1) / stride,
                stride: strides[index],
                input_step: input_steps[index],
                filter_step: filter_steps[index],
                before: before as usize,
            }
        };
        Ok(UniformGeometry {
            space: (0..count).map(space).collect(),
            input: of_input,
            filter: of_filter,
            output: of_output,
            batches: batches / batch_groups,
            features,
            depth,
            batch_groups,
            feature_groups,
        })
    }
}

impl UniformGeometry {
    /// The shape of the output.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the filter is larger than the input.
    pub fn output_shape(&self) -> Result<Shape> {
        let mut dims = vec![0; self.space.len() + 2];
        dims[self.output.batch] = self.batches;
        dims[self.output.feature] = self.features;
        for (&dim, space) in self.output.spatial.iter().zip(&self.space) {
            let Ok(size) = usize::try_from(space.output) else {
                bail!(
                    InvalidArgument,
                    "a filter of {} elements is larger than its input of {}",
                    space.filter,
                    space.input
                );
            };
            dims[dim] = size;
        }
        let shape = Shape::from(dims);
        shape.check()?;
        Ok(shape)
    }
}
