//! ParseSingleSequenceExample.
//!
//! TensorFlow parses the whole message here, by the rules of protocol buffers: fields may stand in any order, and those that
//! stand twice are merged.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use kernlink::dtype::{DataType, TString};
use kernlink::ensure;
use kernlink::error::{Error, Result, shortened_bytes};
use kernlink::kernel::{InputList, KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink_kernels_common::example::wire::part_of;
use kernlink_macros::register_kernel;
use kernlink_ops::ParseSingleSequenceExample;
use kernlink_ops::shapes::SequenceAttrs;

use super::message::{DELIMITED, FIXED32, VARINT, malformed, short_key, skip, take, varint};
use super::tensor::scalar_string;

/// A feature: its list, if it has one.
#[derive(Default)]
enum Feature<'a> {
    #[default]
    Unset,
    Bytes(Vec<&'a [u8]>),
    Float(Vec<f32>),
    Int64(Vec<i64>),
}

/// Names are those of a message: their hashes have a seed, so that none can be made whose hashes are all the same.
type Map<'a, T> = HashMap<&'a [u8], T, RandomState>;

/// What a message says.
#[derive(Default)]
pub(super) struct Sequence<'a> {
    context: Map<'a, Feature<'a>>,
    lists: Map<'a, Vec<Feature<'a>>>,
}

/// Visits the fields of a message: number, kind, and the bytes from the value on, which the visitor passes over if it
/// returns true.
fn fields<'a>(bytes: &'a [u8], mut visit: impl FnMut(u32, u64, &mut &'a [u8]) -> Result<bool>) -> Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let (number, kind) = short_key(&mut rest)?;
        if !visit(number, kind, &mut rest)? {
            skip(&mut rest, number, kind, 0)?;
        }
    }
    Ok(())
}

/// A length and as many bytes.
fn delimited<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let length = varint(rest, "a length is cut")?;
    take(rest, length, "a field is cut")
}

/// Visits fields 1 that are messages or strings.
fn parts<'a>(bytes: &'a [u8], mut visit: impl FnMut(&'a [u8]) -> Result<()>) -> Result<()> {
    fields(bytes, |number, kind, rest| match (number, kind) {
        (1, DELIMITED) => visit(delimited(rest)?).map(|()| true),
        _ => Ok(false),
    })
}

/// Adds the entries of a map from names; what is behind a name is merged by `merge` from each of its occurrences.
fn entries<'a, T: Default>(
    bytes: &'a [u8],
    map: &mut Map<'a, T>,
    mut merge: impl FnMut(&mut T, &'a [u8]) -> Result<()>,
) -> Result<()> {
    parts(bytes, |entry| {
        let (mut name, mut value) = (&[][..], T::default());
        fields(entry, |number, kind, rest| {
            match (number, kind) {
                (1, DELIMITED) => name = delimited(rest)?,
                (2, DELIMITED) => merge(&mut value, delimited(rest)?)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if std::str::from_utf8(name).is_err() {
            return Err(malformed("a name is no UTF-8"));
        }
        map.make_room(1)?;
        map.insert(name, value);
        Ok(())
    })
}

impl<'a> Feature<'a> {
    /// Merges what a message says of the feature.
    fn merge(&mut self, bytes: &'a [u8]) -> Result<()> {
        fields(bytes, |number, kind, rest| {
            match (number, kind) {
                (1, DELIMITED) => {
                    if !matches!(self, Feature::Bytes(_)) {
                        *self = Feature::Bytes(Vec::new());
                    }
                    let Feature::Bytes(list) = self else { return Ok(false) };
                    parts(delimited(rest)?, |string| scratch::push(list, string))?;
                }
                (2, DELIMITED) => {
                    if !matches!(self, Feature::Float(_)) {
                        *self = Feature::Float(Vec::new());
                    }
                    let Feature::Float(list) = self else { return Ok(false) };
                    floats(delimited(rest)?, list)?;
                }
                (3, DELIMITED) => {
                    if !matches!(self, Feature::Int64(_)) {
                        *self = Feature::Int64(Vec::new());
                    }
                    let Feature::Int64(list) = self else { return Ok(false) };
                    integers(delimited(rest)?, list)?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })
    }

    /// The dtype of the list.
    fn dtype(&self) -> Option<DataType> {
        match self {
            Feature::Unset => None,
            Feature::Bytes(_) => Some(DataType::String),
            Feature::Float(_) => Some(DataType::Float),
            Feature::Int64(_) => Some(DataType::Int64),
        }
    }

    fn len(&self) -> usize {
        match self {
            Feature::Unset => 0,
            Feature::Bytes(list) => list.len(),
            Feature::Float(list) => list.len(),
            Feature::Int64(list) => list.len(),
        }
    }

    /// Copies the values to a tensor of their dtype, from the element `at` on.
    fn put(&self, tensor: &mut Tensor, at: usize, source: &TString) -> Result<()> {
        let end = at + self.len();
        ensure!(end <= tensor.num_elements(), Internal, "{end} values are too many for {}", tensor.shape());
        match self {
            Feature::Unset => {}
            Feature::Bytes(list) => {
                let places = &mut tensor.as_mut_slice::<TString>()?[at..end];
                places.iter_mut().zip(list).for_each(|(place, string)| *place = part_of(source, string));
            }
            Feature::Float(list) => tensor.as_mut_slice::<f32>()?[at..end].copy_from_slice(list),
            Feature::Int64(list) => tensor.as_mut_slice::<i64>()?[at..end].copy_from_slice(list),
        }
        Ok(())
    }
}

fn floats(bytes: &[u8], list: &mut Vec<f32>) -> Result<()> {
    fields(bytes, |number, kind, rest| {
        let bytes = match (number, kind) {
            (1, FIXED32) => take(rest, 4, "a float is cut")?,
            (1, DELIMITED) => delimited(rest)?,
            _ => return Ok(false),
        };
        let (floats, []) = bytes.as_chunks::<4>() else { return Err(malformed("a float is cut")) };
        list.make_room(floats.len())?;
        list.extend(floats.iter().map(|float| f32::from_le_bytes(*float)));
        Ok(true)
    })
}

fn integers(bytes: &[u8], list: &mut Vec<i64>) -> Result<()> {
    fields(bytes, |number, kind, rest| {
        match (number, kind) {
            (1, VARINT) => scratch::push(list, varint(rest, "an integer is cut")? as i64)?,
            (1, DELIMITED) => {
                let mut packed = delimited(rest)?;
                list.make_room(packed.iter().filter(|&&byte| byte < 0x80).count())?;
                while !packed.is_empty() {
                    scratch::push(list, varint(&mut packed, "an integer is cut")? as i64)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    })
}

impl<'a> Sequence<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Sequence<'a>> {
        let mut sequence = Sequence::default();
        fields(bytes, |number, kind, rest| {
            match (number, kind) {
                (1, DELIMITED) => entries(delimited(rest)?, &mut sequence.context, Feature::merge)?,
                (2, DELIMITED) => {
                    entries(delimited(rest)?, &mut sequence.lists, |list: &mut Vec<Feature<'a>>, bytes| {
                        parts(bytes, |bytes| {
                            let mut feature = Feature::default();
                            feature.merge(bytes)?;
                            scratch::push(list, feature)
                        })
                    })?
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(sequence)
    }
}

struct ParseSingleSequenceExampleKernel {
    context_shapes: Vec<Shape>,
    list_shapes: Vec<Shape>,
    context_dense: Vec<DataType>,
    context_sparse: Vec<DataType>,
    list_dense: Vec<DataType>,
    list_sparse: Vec<DataType>,
}

/// The keys of features, scalars.
fn keys<'a>(list: InputList<'a>, dtypes: &[DataType], name: &str) -> Result<Vec<&'a TString>> {
    ensure!(
        list.len() == dtypes.len(),
        InvalidArgument,
        "Expected as many {name} as dtypes, got {} and {}",
        list.len(),
        dtypes.len()
    );
    list.iter().map(|key| scalar_string(key, name)).collect()
}

/// What is said of messages in errors.
struct Message<'a> {
    name: &'a TString,
    source: &'a TString,
}

impl Message<'_> {
    fn error(&self, key: &[u8], what: &str) -> Error {
        let (name, key) = (shortened_bytes(self.name), shortened_bytes(key));
        Error::invalid_argument(format!("Name: {name}, feature '{key}': {what}"))
    }

    /// Copies a feature, which must have as many values of the dtype as the shape says, as row `row`.
    fn dense(&self, feature: &Feature<'_>, key: &[u8], shape: &Shape, row: usize, out: &mut Tensor) -> Result<()> {
        if feature.dtype() != Some(out.dtype()) {
            let found = feature.dtype().map_or("none".to_owned(), |dtype| dtype.to_string());
            return Err(self.error(
                key,
                &format!("Data types don't match. Expected type: {}, but it is {found}, index {row}", out.dtype()),
            ));
        }
        let elements = shape.num_elements();
        if feature.len() != elements {
            let found = feature.len();
            return Err(self.error(
                key,
                &format!("Number of values != expected. Values size: {found} but output shape: {shape}, index {row}"),
            ));
        }
        feature.put(out, row * elements, self.source)
    }

    /// The values of features of a dtype, or without one, one behind the other.
    fn sparse(&self, features: &[Feature<'_>], key: &[u8], dtype: DataType) -> Result<Tensor> {
        let mut values = Tensor::alloc(dtype, [features.iter().map(Feature::len).sum::<usize>()])?;
        let mut at = 0;
        for feature in features {
            if feature.dtype().is_some_and(|found| found != dtype) {
                return Err(self.error(key, &format!("Data types don't match. Expected type: {dtype}")));
            }
            feature.put(&mut values, at, self.source)?;
            at += feature.len();
        }
        Ok(values)
    }
}

#[register_kernel(device = Cpu)]
impl OpKernel<ParseSingleSequenceExample> for ParseSingleSequenceExampleKernel {
    fn new(ctx: &KernelConstruction<'_, ParseSingleSequenceExample>) -> Result<Self> {
        let attrs = ctx.attrs();
        let context = SequenceAttrs {
            half: "context",
            sparse: attrs.Ncontext_sparse,
            dense: attrs.Ncontext_dense,
            keys: None,
            sparse_types: &attrs.context_sparse_types,
            dense_types: &attrs.Tcontext_dense,
            dense_shapes: &attrs.context_dense_shapes,
            ragged_value_types: &[],
            ragged_split_types: &[],
        };
        let lists = SequenceAttrs {
            half: "feature_list",
            sparse: attrs.Nfeature_list_sparse,
            dense: attrs.Nfeature_list_dense,
            keys: None,
            sparse_types: &attrs.feature_list_sparse_types,
            dense_types: &attrs.feature_list_dense_types,
            dense_shapes: &attrs.feature_list_dense_shapes,
            ragged_value_types: &[],
            ragged_split_types: &[],
        };
        Ok(Self {
            context_shapes: context.check()?,
            list_shapes: lists.check()?,
            context_dense: attrs.Tcontext_dense.clone(),
            context_sparse: attrs.context_sparse_types.clone(),
            list_dense: attrs.feature_list_dense_types.clone(),
            list_sparse: attrs.feature_list_sparse_types.clone(),
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ParseSingleSequenceExample>) -> Result<()> {
        type Op = ParseSingleSequenceExample;
        let context_dense = keys(ctx.input_list(Op::CONTEXT_DENSE_KEYS), &self.context_dense, "context_dense_keys")?;
        let context_sparse =
            keys(ctx.input_list(Op::CONTEXT_SPARSE_KEYS), &self.context_sparse, "context_sparse_keys")?;
        let list_dense =
            keys(ctx.input_list(Op::FEATURE_LIST_DENSE_KEYS), &self.list_dense, "feature_list_dense_keys")?;
        let list_sparse =
            keys(ctx.input_list(Op::FEATURE_LIST_SPARSE_KEYS), &self.list_sparse, "feature_list_sparse_keys")?;
        let may_miss = ctx.input(Op::FEATURE_LIST_DENSE_MISSING_ASSUMED_EMPTY)?;
        ensure!(
            may_miss.rank() == 1,
            InvalidArgument,
            "Expected feature_list_dense_missing_assumed_empty to be a vector, got shape: {}",
            may_miss.shape()
        );
        let may_miss = may_miss.as_slice::<TString>()?;
        let (names, unknown) = (ctx.input(Op::DEBUG_NAME)?, TString::from_static(b"<unknown>"));
        let name = if names.num_elements() == 0 { &unknown } else { scalar_string(names, "debug_name")? };
        let source = scalar_string(ctx.input(Op::SERIALIZED)?, "serialized")?;
        let defaults = ctx.input_list(Op::CONTEXT_DENSE_DEFAULTS);
        ensure!(
            defaults.len() == context_dense.len(),
            InvalidArgument,
            "Expected len(context_dense_defaults) == len(context_dense_keys) but got: {} vs. {}",
            defaults.len(),
            context_dense.len()
        );
        for (index, default) in defaults.iter().enumerate().filter(|(_, default)| default.num_elements() > 0) {
            let (shape, dtype) = (&self.context_shapes[index], self.context_dense[index]);
            ensure!(
                default.shape() == shape && default.dtype() == dtype,
                InvalidArgument,
                "context_dense_defaults[{index}] is {} of shape {}, but the feature is {dtype} of shape {shape}",
                default.dtype(),
                default.shape()
            );
        }
        let sequence = Sequence::parse(source).map_err(|error| {
            let bytes = shortened_bytes(source);
            Error::invalid_argument(format!("Could not parse example input, value: '{bytes}': {}", error.message()))
        })?;
        let message = Message { name, source };

        let mut context_dense_values = Vec::new();
        for (index, key) in context_dense.iter().enumerate() {
            let (shape, default) = (&self.context_shapes[index], &defaults[index]);
            context_dense_values.push(match sequence.context.get(&key[..]) {
                Some(feature) => {
                    let mut out = Tensor::alloc(self.context_dense[index], shape)?;
                    message.dense(feature, key, shape, 0, &mut out)?;
                    out
                }
                None if default.num_elements() == 0 => {
                    return Err(message.error(key, "it is required in the context but could not be found"));
                }
                None => default.clone(),
            });
        }
        let mut context_sparse_values = [Vec::new(), Vec::new(), Vec::new()];
        for (key, &dtype) in context_sparse.iter().zip(&self.context_sparse) {
            let feature = sequence.context.get(&key[..]).map_or(&[][..], std::slice::from_ref);
            let values = message.sparse(feature, key, dtype)?;
            let count = values.num_elements();
            let mut indices = Tensor::alloc(DataType::Int64, [count, 1])?;
            indices.as_mut_slice::<i64>()?.iter_mut().enumerate().for_each(|(index, place)| *place = index as i64);
            let shape = Tensor::vector(&[count as i64])?;
            context_sparse_values.iter_mut().zip([indices, values, shape]).for_each(|(list, tensor)| list.push(tensor));
        }
        let mut list_dense_values = Vec::new();
        for (index, key) in list_dense.iter().enumerate() {
            let shape = &self.list_shapes[index];
            let list = match sequence.lists.get(&key[..]) {
                Some(list) => &list[..],
                None if may_miss.contains(key) => &[],
                None => {
                    return Err(message.error(
                        key,
                        "the feature list is required but could not be found. Did you mean to include it in \
                         feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
                    ));
                }
            };
            let mut rows = shape.clone();
            rows.insert(0, list.len());
            rows.check()?;
            let mut out = Tensor::alloc(self.list_dense[index], rows)?;
            for (row, feature) in list.iter().enumerate() {
                message.dense(feature, key, shape, row, &mut out)?;
            }
            list_dense_values.push(out);
        }
        let mut list_sparse_values = [Vec::new(), Vec::new(), Vec::new()];
        for (key, &dtype) in list_sparse.iter().zip(&self.list_sparse) {
            let list = sequence.lists.get(&key[..]).map_or(&[][..], Vec::as_slice);
            let values = message.sparse(list, key, dtype)?;
            let mut indices = Tensor::alloc(DataType::Int64, [values.num_elements(), 2])?;
            let mut places = indices.as_mut_slice::<i64>()?.as_chunks_mut::<2>().0.iter_mut();
            for (row, feature) in list.iter().enumerate() {
                for (column, place) in places.by_ref().take(feature.len()).enumerate() {
                    *place = [row as i64, column as i64];
                }
            }
            let longest = list.iter().map(Feature::len).max().unwrap_or(0);
            let shape = Tensor::vector(&[list.len() as i64, longest as i64])?;
            list_sparse_values.iter_mut().zip([indices, values, shape]).for_each(|(list, tensor)| list.push(tensor));
        }

        let [indices, values, shapes] = context_sparse_values;
        ctx.set_output_list(Op::CONTEXT_SPARSE_INDICES, indices)?;
        ctx.set_output_list(Op::CONTEXT_SPARSE_VALUES, values)?;
        ctx.set_output_list(Op::CONTEXT_SPARSE_SHAPES, shapes)?;
        ctx.set_output_list(Op::CONTEXT_DENSE_VALUES, context_dense_values)?;
        let [indices, values, shapes] = list_sparse_values;
        ctx.set_output_list(Op::FEATURE_LIST_SPARSE_INDICES, indices)?;
        ctx.set_output_list(Op::FEATURE_LIST_SPARSE_VALUES, values)?;
        ctx.set_output_list(Op::FEATURE_LIST_SPARSE_SHAPES, shapes)?;
        ctx.set_output_list(Op::FEATURE_LIST_DENSE_VALUES, list_dense_values)
    }
}
