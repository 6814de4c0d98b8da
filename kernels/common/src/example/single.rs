//! One Example.

use kernlink::dtype::{DataType, TString};
use kernlink::error::{Error, Result};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;

use super::wire::{Reader, Value, list_span};
use super::{Config, Dense, Found, Parsed, feature_error, find, other_dtype, splits_tensor, with_type};

/// The values of a feature as a tensor, of `shape(number of values)`; an error if it gives none.
fn values<T: Value>(
    feature: &mut Reader<'_>,
    source: &TString,
    shape: impl FnOnce(usize) -> Option<Shape>,
    malformed: impl Fn() -> Error,
) -> Result<Tensor> {
    let span = list_span::<T>(feature).ok_or_else(&malformed)?;
    let shape = shape(span.count).ok_or_else(&malformed)?;
    shape.check()?;
    let mut tensor = Tensor::alloc(T::DTYPE, shape)?;
    T::read(span, source, tensor.as_mut_slice()?).ok_or_else(malformed)?;
    Ok(tensor)
}

/// The values of a feature of the dtype that is wanted.
fn parse_feature(
    key: &[u8],
    dtype: DataType,
    (found, mut feature): Found<'_>,
    source: &TString,
    shape: impl FnOnce(usize) -> Option<Shape>,
) -> Result<Tensor> {
    if let Some(found) = found
        && found != dtype
    {
        return Err(feature_error(None, key, &other_dtype(found, dtype)));
    }
    let malformed = || feature_error(None, key, "Can't parse serialized Example.");
    with_type!(dtype, T => values::<T>(&mut feature, source, shape, malformed))
}

fn dense(feature: &Dense<'_>, found: Option<Found<'_>>, example: &TString) -> Result<Tensor> {
    let row = &feature.row.shape;
    let with_length = |length: usize| {
        let mut shape = row.clone();
        shape.insert(0, length);
        shape
    };
    match (found, feature.row.is_variable) {
        (Some(found), false) => {
            let shape = |count| (count == row.num_elements()).then(|| row.clone());
            parse_feature(feature.key, feature.dtype, found, example, shape)
        }
        (Some(found), true) => {
            let rows = |count: usize| {
                let stride = row.num_elements();
                (stride > 0 && count.is_multiple_of(stride)).then(|| with_length(count / stride))
            };
            parse_feature(feature.key, feature.dtype, found, example, rows)
        }
        (None, true) => Tensor::alloc(feature.dtype, with_length(0)),
        (None, false) if feature.default.num_elements() == 0 => Err(feature.is_required("")),
        (None, false) => Ok(feature.default.clone()),
    }
}

/// Parses an Example.
///
/// # Errors
/// INVALID_ARGUMENT if it is malformed, or lacks a feature.
pub fn parse(config: &Config<'_>, example: &TString) -> Result<Parsed> {
    let mut found: Vec<Option<Found<'_>>> = kernlink::tensor::scratch::filled(None, config.len())?;
    find(config, example, |_| true, &mut found)?;
    let mut found = found.into_iter();
    let mut parsed = Parsed::default();
    for feature in &config.dense {
        parsed.dense.push(dense(feature, found.next().flatten(), example)?);
    }
    let mut listed = |key: &[u8], dtype| match found.next().flatten() {
        Some(feature) => parse_feature(key, dtype, feature, example, |count| Some(Shape::from([count]))),
        None => Tensor::alloc(dtype, [0]),
    };
    for feature in &config.sparse {
        let values = listed(feature.key, feature.dtype)?;
        let count = values.num_elements();
        let mut indices = Tensor::alloc(DataType::Int64, [count, 1])?;
        indices.as_mut_slice::<i64>()?.iter_mut().enumerate().for_each(|(index, place)| *place = index as i64);
        parsed.push_sparse([indices, values, Tensor::vector(&[count as i64])?]);
    }
    for (feature, &splits) in config.ragged.iter().zip(config.split_dtypes) {
        parsed.ragged_values.push(listed(feature.key, feature.dtype)?);
        // Only several Examples have row splits.
        parsed.ragged_splits.push(splits_tensor(splits, &[])?);
    }
    Ok(parsed)
}
