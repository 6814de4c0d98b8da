//! SequenceExamples to tensors: the features of their contexts and of their lists.

mod kernels;

use std::collections::HashMap;

use foldhash::fast::FixedState;
use kernlink::dtype::{DataType, TString};
use kernlink::ensure;
use kernlink::error::{Error, Result, shortened_bytes};
use kernlink::kernel::InputList;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink_kernels_common::example::wire::{Reader, Span, Value, delimited, sequence_span};
use kernlink_kernels_common::example::{splits_tensor, with_type};
use kernlink_ops::shapes::SequenceAttrs;

/// The attrs of the context, or of the feature lists.
struct Attrs {
    half: &'static str,
    dense_shapes: Vec<Shape>,
    dense_types: Vec<DataType>,
    sparse_types: Vec<DataType>,
    ragged_types: Vec<DataType>,
    split_types: Vec<DataType>,
}

impl Attrs {
    fn new(attrs: &SequenceAttrs<'_>) -> Result<Attrs> {
        Ok(Attrs {
            half: attrs.half,
            dense_shapes: attrs.check()?,
            dense_types: attrs.dense_types.to_vec(),
            sparse_types: attrs.sparse_types.to_vec(),
            ragged_types: attrs.ragged_value_types.to_vec(),
            split_types: attrs.ragged_split_types.to_vec(),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dense,
    Sparse,
    Ragged,
}

/// What all messages say of one feature.
struct Feature<'a> {
    key: &'a [u8],
    kind: Kind,
    dtype: DataType,
    /// The feature in each message that has it.
    found: Vec<Option<&'a [u8]>>,
    /// The values of all messages together; for dense features the most that one has.
    length: usize,
    /// The features in the lists of all messages together.
    rows: usize,
}

impl Feature<'_> {
    fn other_dtype(&self, half: &str, batch: &Batch<'_>, message: usize, row: Option<usize>) -> Error {
        let row = row.map_or_else(String::new, |row| format!(", Index: {row}"));
        let (name, key, dtype) = (batch.name(message), shortened_bytes(self.key), self.dtype);
        Error::invalid_argument(format!(
            "Name: {name}, {half} feature: {key}{row}.  Data types don't match. Expected type: {dtype}"
        ))
    }
}

/// The messages.
struct Batch<'a> {
    serialized: &'a [TString],
    names: &'a [TString],
    /// Whether they are a vector, rather than a scalar.
    is_batch: bool,
}

impl<'a> Batch<'a> {
    fn new(serialized: &'a Tensor, names: &'a Tensor) -> Result<Batch<'a>> {
        ensure!(
            serialized.rank() <= 1,
            InvalidArgument,
            "Expected serialized to be a scalar or vector, got shape: {}",
            serialized.shape()
        );
        let is_batch = serialized.rank() == 1;
        let batch = Batch { serialized: serialized.as_slice()?, names: names.as_slice()?, is_batch };
        ensure!(
            batch.names.is_empty() || batch.names.len() == batch.serialized.len(),
            InvalidArgument,
            "debug_name must be empty or have the correct number of elements: there are {} names for {} messages",
            batch.names.len(),
            batch.serialized.len()
        );
        Ok(batch)
    }

    fn name(&self, message: usize) -> std::borrow::Cow<'_, str> {
        self.names.get(message).map_or("<unknown>".into(), |name| name.to_string_lossy())
    }

    fn len(&self) -> usize {
        self.serialized.len()
    }

    /// The sizes of something that each message has, followed by others.
    fn shape(&self, rest: &[usize]) -> Result<Shape> {
        let mut shape = Shape::from(rest);
        if self.is_batch {
            shape.insert(0, self.len());
        }
        shape.check()?;
        Ok(shape)
    }
}

/// The features of the context, or the feature lists, that are wanted.
struct Half<'a> {
    attrs: &'a Attrs,
    features: Vec<Feature<'a>>,
    by_key: HashMap<&'a [u8], usize, FixedState>,
    /// The features in the order of the attrs; one may stand several times.
    dense: Vec<usize>,
    sparse: Vec<usize>,
    ragged: Vec<usize>,
}

impl<'a> Half<'a> {
    fn new(attrs: &'a Attrs, [sparse, dense, ragged]: [Vec<&'a [u8]>; 3], messages: usize) -> Result<Half<'a>> {
        let mut half = Half {
            attrs,
            features: Vec::new(),
            by_key: HashMap::with_hasher(FixedState::default()),
            dense: Vec::new(),
            sparse: Vec::new(),
            ragged: Vec::new(),
        };
        for (what, keys, dtypes) in [
            ("sparse", &sparse, &attrs.sparse_types),
            ("dense", &dense, &attrs.dense_types),
            ("ragged", &ragged, &attrs.ragged_types),
        ] {
            ensure!(
                keys.len() == dtypes.len(),
                InvalidArgument,
                "Expected as many {} {what} keys as dtypes, got {} and {}",
                attrs.half,
                keys.len(),
                dtypes.len()
            );
        }
        half.sparse = half.add(sparse, &attrs.sparse_types, Kind::Sparse, messages)?;
        half.ragged = half.add(ragged, &attrs.ragged_types, Kind::Ragged, messages)?;
        half.dense = half.add(dense, &attrs.dense_types, Kind::Dense, messages)?;
        Ok(half)
    }

    fn add(&mut self, keys: Vec<&'a [u8]>, dtypes: &[DataType], kind: Kind, messages: usize) -> Result<Vec<usize>> {
        let mut indices = Vec::new();
        for (key, &dtype) in keys.into_iter().zip(dtypes) {
            self.by_key.make_room(1)?;
            let next = self.features.len();
            let index = *self.by_key.entry(key).or_insert(next);
            if index == next {
                let found = scratch::filled(None, messages)?;
                scratch::push(&mut self.features, Feature { key, kind, dtype, found, length: 0, rows: 0 })?;
            }
            let feature = &mut self.features[index];
            ensure!(
                feature.kind == kind,
                InvalidArgument,
                "the {} feature {} cannot be of two kinds: give each key once, as dense, sparse or ragged",
                self.attrs.half,
                shortened_bytes(key)
            );
            // The last one that is of a name says its dtype.
            feature.dtype = dtype;
            scratch::push(&mut indices, index)?;
        }
        Ok(indices)
    }

    /// Counts the values of the context's features.
    fn count_context(&mut self, batch: &Batch<'_>) -> Result<()> {
        for feature in &mut self.features {
            for message in 0..batch.len() {
                let Some(bytes) = feature.found[message].filter(|bytes| !bytes.is_empty()) else { continue };
                let mut reader = Reader::new(bytes);
                let count = with_type!(feature.dtype, T => sequence_span::<T>(&mut reader).map(|span| span.count));
                let Some(count) = count else { return Err(feature.other_dtype("Context", batch, message, None)) };
                match feature.kind {
                    Kind::Dense => feature.length = feature.length.max(count),
                    _ => feature.length += count,
                }
            }
        }
        Ok(())
    }

    /// Counts the features of the feature lists, and their values.
    fn count_lists(&mut self, batch: &Batch<'_>) -> Result<()> {
        for feature in &mut self.features {
            for message in 0..batch.len() {
                let Some(bytes) = feature.found[message].filter(|bytes| !bytes.is_empty()) else { continue };
                let (mut rows, mut values) = (0, 0);
                let visited = with_type!(feature.dtype, T => each_row::<T>(bytes, |span| {
                    rows += 1;
                    values += span.count;
                    Some(())
                }));
                if visited.is_none() {
                    return Err(feature.other_dtype("List", batch, message, Some(rows)));
                }
                match feature.kind {
                    Kind::Dense => feature.length = feature.length.max(values),
                    _ => feature.length += values,
                }
                feature.rows += rows;
            }
        }
        Ok(())
    }
}

/// Visits the features of a list: the values of each, of which there may be none. `None` if they are of another dtype or
/// malformed, or the visitor says so.
fn each_row<'a, T: Value>(list: &'a [u8], mut visit: impl FnMut(Span<'a>) -> Option<()>) -> Option<()> {
    let mut reader = Reader::new(list);
    while !reader.at_end() {
        if !reader.expect(delimited(1)) {
            return None;
        }
        let span = match reader.length()? {
            0 => Span::default(),
            1 => return None,
            // A list without values.
            2 if reader.expect(delimited(T::FIELD)) && reader.length()? == 0 => Span::default(),
            2 => return None,
            length => {
                let outer = reader.push_limit(length);
                let span = sequence_span::<T>(&mut reader)?;
                reader.pop_limit(outer);
                span
            }
        };
        visit(span)?;
    }
    Some(())
}

/// Finds the features that are wanted in all messages; the last one of a name counts.
fn extract<'a>(batch: &Batch<'a>, context: &mut Half<'a>, lists: &mut Half<'a>) -> Result<()> {
    for (message, serialized) in batch.serialized.iter().enumerate() {
        let malformed = || {
            let name = batch.name(message);
            Error::invalid_argument(format!("Invalid protocol message input, example id: {name}"))
        };
        let mut reader = Reader::new(serialized);
        while !reader.at_end() {
            let half = if reader.expect(delimited(1)) {
                &mut *context
            } else if reader.expect(delimited(2)) {
                &mut *lists
            } else {
                reader.skip_field().ok_or_else(malformed)?;
                continue;
            };
            let length = reader.length().ok_or_else(malformed)?;
            let outer = reader.push_limit(length);
            while !reader.at_end() {
                let entry = if reader.expect(delimited(1)) { reader.entry(true) } else { None };
                let (key, value) = entry.ok_or_else(malformed)?;
                if let Some(&index) = half.by_key.get(key) {
                    half.features[index].found[message] = Some(value);
                }
            }
            reader.pop_limit(outer);
        }
    }
    Ok(())
}

/// Values that are written one after the other, each message's from its own bytes.
struct Places<'t, T> {
    rest: &'t mut [T],
}

impl<T: Value> Places<'_, T> {
    /// Reads values; `None` if they are malformed, or there are fewer places.
    fn read(&mut self, span: Span<'_>, source: &TString) -> Option<()> {
        let rest = std::mem::take(&mut self.rest);
        let (places, rest) = rest.split_at_mut_checked(span.count)?;
        self.rest = rest;
        T::read(span, source, places)
    }
}

/// What one half gives.
#[derive(Default)]
struct Parsed {
    dense: Vec<Tensor>,
    lengths: Vec<Tensor>,
    sparse: [Vec<Tensor>; 3],
    ragged_values: Vec<Tensor>,
    outer_splits: Vec<Tensor>,
    inner_splits: Vec<Tensor>,
}

impl Parsed {
    fn push_sparse(&mut self, tensors: [Tensor; 3]) {
        self.sparse.iter_mut().zip(tensors).for_each(|(list, tensor)| list.push(tensor));
    }
}

/// The number of values of a feature differs from what was counted, which a feature that stands twice with two dtypes can bring
/// about.
fn unexpected(key: &[u8]) -> Error {
    let key = shortened_bytes(key);
    Error::invalid_argument(format!("Unexpected number of elements in feature {key}"))
}

fn context_dense<T: Value>(
    feature: &Feature<'_>,
    shape: &Shape,
    default: &Tensor,
    batch: &Batch<'_>,
) -> Result<Tensor> {
    let (elements, key) = (shape.num_elements(), shortened_bytes(feature.key));
    ensure!(
        feature.length == elements,
        InvalidArgument,
        "Inconsistent max number of elements for feature {key}: expected {elements}, but found {}",
        feature.length
    );
    let mut tensor = Tensor::alloc(T::DTYPE, batch.shape(shape.dims())?)?;
    let mut places = Places { rest: tensor.as_mut_slice::<T>()? };
    for (message, found) in feature.found.iter().enumerate() {
        let read = match found {
            None => {
                let default = default.as_slice::<T>()?;
                ensure!(
                    !default.is_empty(),
                    InvalidArgument,
                    "Feature: {key} (data type: {}) is required but could not be found.",
                    T::DTYPE
                );
                let rest = std::mem::take(&mut places.rest);
                rest.split_at_mut_checked(default.len()).map(|(row, rest)| {
                    row.clone_from_slice(default);
                    places.rest = rest;
                    default.len()
                })
            }
            Some([]) => Some(0),
            Some(bytes) => sequence_span::<T>(&mut Reader::new(bytes))
                .filter(|span| span.count == elements)
                .and_then(|span| places.read(span, &batch.serialized[message]).map(|()| span.count)),
        };
        ensure!(
            read == Some(elements),
            InvalidArgument,
            "Unexpected number of elements in example {}, feature {key}",
            batch.name(message)
        );
    }
    Ok(tensor)
}

/// The values of a feature of the context in all messages, and how many each has.
fn context_values<T: Value>(feature: &Feature<'_>, batch: &Batch<'_>) -> Result<(Tensor, Vec<usize>)> {
    let mut values = Tensor::alloc(T::DTYPE, [feature.length])?;
    let mut places = Places { rest: values.as_mut_slice::<T>()? };
    let mut counts = scratch::room(batch.len())?;
    for (message, found) in feature.found.iter().enumerate() {
        let span = match found {
            None | Some([]) => Some(Span::default()),
            Some(bytes) => sequence_span::<T>(&mut Reader::new(bytes)),
        };
        let read = span.and_then(|span| places.read(span, &batch.serialized[message]).map(|()| span.count));
        counts.push(read.ok_or_else(|| unexpected(feature.key))?);
    }
    if places.rest.is_empty() { Ok((values, counts)) } else { Err(unexpected(feature.key)) }
}

/// The values of a feature list in all messages, and how many each feature of each message has.
fn list_values<T: Value>(feature: &Feature<'_>, batch: &Batch<'_>) -> Result<(Tensor, Vec<usize>, Vec<usize>)> {
    let mut values = Tensor::alloc(T::DTYPE, [feature.length])?;
    let mut places = Places { rest: values.as_mut_slice::<T>()? };
    let (mut counts, mut rows) = (scratch::room(feature.rows)?, scratch::room(batch.len())?);
    for (message, found) in feature.found.iter().enumerate() {
        let before = counts.len();
        each_row::<T>(found.unwrap_or_default(), |span| {
            // There is room for as many as were counted.
            if counts.len() == feature.rows {
                return None;
            }
            counts.push(span.count);
            places.read(span, &batch.serialized[message])
        })
        .ok_or_else(|| unexpected(feature.key))?;
        rows.push(counts.len() - before);
    }
    if places.rest.is_empty() { Ok((values, counts, rows)) } else { Err(unexpected(feature.key)) }
}

/// Sums of the counts so far, from 0 on.
fn ends(counts: &[usize]) -> Result<Vec<usize>> {
    let mut ends = scratch::room(counts.len() + 1)?;
    ends.push(0);
    let mut sum = 0;
    ends.extend(counts.iter().map(|count| {
        sum += count;
        sum
    }));
    Ok(ends)
}

fn parse_context(half: &Half<'_>, defaults: InputList<'_>, batch: &Batch<'_>) -> Result<Parsed> {
    let mut parsed = Parsed::default();
    for (index, &feature) in half.dense.iter().enumerate() {
        let (feature, shape) = (&half.features[feature], &half.attrs.dense_shapes[index]);
        let tensor = with_type!(half.attrs.dense_types[index], T => {
            context_dense::<T>(feature, shape, &defaults[index], batch)?
        });
        parsed.dense.push(tensor);
    }
    for (&feature, &dtype) in half.sparse.iter().zip(&half.attrs.sparse_types) {
        let (values, counts) = with_type!(dtype, T => context_values::<T>(&half.features[feature], batch)?);
        let longest = counts.iter().max().copied().unwrap_or(0) as i64;
        let rank = if batch.is_batch { 2 } else { 1 };
        let mut indices = Tensor::alloc(DataType::Int64, [values.num_elements(), rank])?;
        let mut places = indices.as_mut_slice::<i64>()?.chunks_exact_mut(rank);
        for (message, &count) in counts.iter().enumerate() {
            for (column, place) in places.by_ref().take(count).enumerate() {
                place[0] = message as i64;
                place[rank - 1] = column as i64;
            }
        }
        let shape = [batch.len() as i64, longest];
        let shape = Tensor::vector(if batch.is_batch { &shape[..] } else { &shape[1..] })?;
        parsed.push_sparse([indices, values, shape]);
    }
    for ((&feature, &dtype), &splits) in half.ragged.iter().zip(&half.attrs.ragged_types).zip(&half.attrs.split_types) {
        let (values, counts) = with_type!(dtype, T => context_values::<T>(&half.features[feature], batch)?);
        parsed.ragged_values.push(values);
        // Only several messages have row splits.
        let ends = if batch.is_batch { ends(&counts)? } else { Vec::new() };
        parsed.outer_splits.push(splits_tensor(splits, &ends)?);
    }
    Ok(parsed)
}

fn list_dense<T: Value>(
    feature: &Feature<'_>,
    shape: &Shape,
    may_miss: bool,
    batch: &Batch<'_>,
) -> Result<[Tensor; 2]> {
    let (elements, key) = (shape.num_elements(), shortened_bytes(feature.key));
    ensure!(
        elements > 0 && feature.length.is_multiple_of(elements),
        InvalidArgument,
        "Feature list '{key}' has an unexpected number of values.  Total values size: {} is not consistent with output \
         shape: {shape}, preceded by the length",
        feature.length
    );
    let longest = feature.length / elements;
    let sizes: Vec<usize> = std::iter::once(longest).chain(shape.dims().iter().copied()).collect();
    // What is behind a shorter list stays zero.
    let mut tensor = Tensor::zeros(T::DTYPE, batch.shape(&sizes)?)?;
    let mut lengths = Tensor::zeros(DataType::Int64, batch.shape(&[])?)?;
    let places = tensor.as_mut_slice::<T>()?;
    let per_message = feature.length;
    for ((message, found), length) in feature.found.iter().enumerate().zip(lengths.as_mut_slice::<i64>()?) {
        ensure!(
            found.is_some() || may_miss,
            InvalidArgument,
            "Name: {}, Feature list '{key}' is required but could not be found.  Did you mean to include it in \
             feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
            batch.name(message)
        );
        let mut rows = 0;
        let mut places = Places { rest: &mut places[message * per_message..(message + 1) * per_message] };
        each_row::<T>(found.unwrap_or_default(), |span| {
            rows += 1;
            if span.count == elements { places.read(span, &batch.serialized[message]) } else { None }
        })
        .ok_or_else(|| {
            Error::invalid_argument(format!(
                "Name: {}, Key: {key}, Index: {}.  Number of values != expected: the output shape is {shape}",
                batch.name(message),
                rows - 1
            ))
        })?;
        *length = rows;
    }
    Ok([tensor, lengths])
}

fn parse_lists(half: &Half<'_>, may_miss: &[bool], batch: &Batch<'_>) -> Result<Parsed> {
    let mut parsed = Parsed::default();
    for (index, &feature) in half.dense.iter().enumerate() {
        let (feature, shape) = (&half.features[feature], &half.attrs.dense_shapes[index]);
        let [tensor, lengths] = with_type!(half.attrs.dense_types[index], T => {
            list_dense::<T>(feature, shape, may_miss[index], batch)?
        });
        parsed.dense.push(tensor);
        parsed.lengths.push(lengths);
    }
    for (&feature, &dtype) in half.sparse.iter().zip(&half.attrs.sparse_types) {
        let (values, counts, rows) = with_type!(dtype, T => list_values::<T>(&half.features[feature], batch)?);
        let most = |counts: &[usize]| counts.iter().max().copied().unwrap_or(0) as i64;
        let rank = if batch.is_batch { 3 } else { 2 };
        let mut indices = Tensor::alloc(DataType::Int64, [values.num_elements(), rank])?;
        let mut places = indices.as_mut_slice::<i64>()?.chunks_exact_mut(rank);
        let mut rest = counts.iter();
        for (message, &rows) in rows.iter().enumerate() {
            for (row, &count) in rest.by_ref().take(rows).enumerate() {
                for (column, place) in places.by_ref().take(count).enumerate() {
                    let index = [message as i64, row as i64, column as i64];
                    place.copy_from_slice(&index[3 - rank..]);
                }
            }
        }
        let shape = [batch.len() as i64, most(&rows), most(&counts)];
        parsed.push_sparse([indices, values, Tensor::vector(&shape[3 - rank..])?]);
    }
    for ((&feature, &dtype), &splits) in half.ragged.iter().zip(&half.attrs.ragged_types).zip(&half.attrs.split_types) {
        let (values, counts, rows) = with_type!(dtype, T => list_values::<T>(&half.features[feature], batch)?);
        parsed.ragged_values.push(values);
        parsed.inner_splits.push(splits_tensor(splits, &ends(&counts)?)?);
        let ends = if batch.is_batch { ends(&rows)? } else { Vec::new() };
        parsed.outer_splits.push(splits_tensor(splits, &ends)?);
    }
    Ok(parsed)
}

/// Checks the defaults, and parses all.
fn parse<'a>(
    [context, lists]: [&'a Attrs; 2],
    keys: [[Vec<&'a [u8]>; 3]; 2],
    defaults: InputList<'a>,
    may_miss: &[bool],
    batch: &Batch<'a>,
) -> Result<[Parsed; 2]> {
    ensure!(
        defaults.len() == context.dense_types.len(),
        InvalidArgument,
        "Expected len(context_dense_defaults) == len(context_dense_keys) but got: {} vs. {}",
        defaults.len(),
        context.dense_types.len()
    );
    for (index, default) in defaults.iter().enumerate().filter(|(_, default)| default.num_elements() > 0) {
        let (shape, dtype) = (&context.dense_shapes[index], context.dense_types[index]);
        ensure!(
            default.shape() == shape && default.dtype() == dtype,
            InvalidArgument,
            "context_dense_defaults[{index}] is {} of shape {}, but the feature is {dtype} of shape {shape}",
            default.dtype(),
            default.shape()
        );
    }
    ensure!(
        may_miss.len() == lists.dense_types.len(),
        InvalidArgument,
        "Expected len(feature_list_dense_missing_assumed_empty) to match Nfeature_list_dense, {}",
        lists.dense_types.len()
    );
    let [context_keys, list_keys] = keys;
    let mut context = Half::new(context, context_keys, batch.len())?;
    let mut lists = Half::new(lists, list_keys, batch.len())?;
    for (&feature, default) in context.dense.iter().zip(defaults.iter()) {
        context.features[feature].length = default.num_elements();
    }
    extract(batch, &mut context, &mut lists)?;
    context.count_context(batch)?;
    lists.count_lists(batch)?;
    Ok([parse_context(&context, defaults, batch)?, parse_lists(&lists, may_miss, batch)?])
}
