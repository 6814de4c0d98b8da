//! Many Examples at once: minibatches are parsed on several threads, and put together.

use std::ops::Range;

use kernlink::dtype::{DataType, Element, TString};
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;

use super::wire::{Reader, Value, list_span};
use super::{Config, Dense, Found, List, Parsed, feature_error, find, other_dtype, splits_tensor, with_type};

/// How many bytes of Examples a minibatch should have: enough that putting minibatches together costs little.
const MINIBATCH_BYTES: usize = 30_000;

/// The most minibatches.
const MINIBATCHES: usize = 64;

/// The rows of a dense feature that belong to one minibatch.
enum Rows<'o> {
    Int64(&'o mut [i64]),
    Float(&'o mut [f32]),
    Bytes(&'o mut [TString]),
}

impl<'o> Rows<'o> {
    fn new(tensor: &'o mut Tensor) -> Result<Rows<'o>> {
        Ok(match tensor.dtype() {
            DataType::Int64 => Rows::Int64(tensor.as_mut_slice()?),
            DataType::Float => Rows::Float(tensor.as_mut_slice()?),
            _ => Rows::Bytes(tensor.as_mut_slice()?),
        })
    }

    /// Takes the first elements away.
    fn split(&mut self, count: usize) -> Rows<'o> {
        fn split<'o, T>(rows: &mut &'o mut [T], count: usize) -> &'o mut [T] {
            let (first, rest) = std::mem::take(rows).split_at_mut(count);
            *rows = rest;
            first
        }
        match self {
            Rows::Int64(rows) => Rows::Int64(split(rows, count)),
            Rows::Float(rows) => Rows::Float(split(rows, count)),
            Rows::Bytes(rows) => Rows::Bytes(split(rows, count)),
        }
    }

    /// Reads a row from a feature.
    fn read(&mut self, row: Range<usize>, feature: &mut Reader<'_>, source: &TString) -> Result<(), String> {
        fn read<T: Value>(
            places: &mut [T],
            feature: &mut Reader<'_>,
            source: &TString,
            name: &str,
        ) -> Result<(), String> {
            let malformed = || "Can't parse serialized Example.".to_owned();
            let span = list_span::<T>(feature).ok_or_else(malformed)?;
            if span.count != places.len() {
                let (found, expected) = (span.count, places.len());
                return Err(format!(
                    "Number of {name} values != expected. Values size: {found} but output shape has {expected}"
                ));
            }
            T::read(span, source, places).ok_or_else(malformed)
        }
        match self {
            Rows::Int64(rows) => read(&mut rows[row], feature, source, "int64"),
            Rows::Float(rows) => read(&mut rows[row], feature, source, "float"),
            Rows::Bytes(rows) => read(&mut rows[row], feature, source, "bytes"),
        }
    }

    /// Sets a row to a tensor's elements.
    fn set(&mut self, row: Range<usize>, value: &Tensor) -> Result<()> {
        fn set<T: Element>(places: &mut [T], value: &Tensor) -> Result<()> {
            places.iter_mut().zip(value.as_slice::<T>()?).for_each(|(place, value)| place.clone_from(value));
            Ok(())
        }
        match self {
            Rows::Int64(rows) => set(&mut rows[row], value),
            Rows::Float(rows) => set(&mut rows[row], value),
            Rows::Bytes(rows) => set(&mut rows[row], value),
        }
    }
}

/// The lists of one feature, one behind the other.
struct Buffer {
    values: List,
    /// Where the list of each Example ends.
    ends: Vec<usize>,
}

impl Buffer {
    fn new(dtype: DataType, examples: usize) -> Result<Buffer> {
        Ok(Buffer { values: List::new(dtype)?, ends: scratch::room(examples)? })
    }

    /// The lengths of the lists.
    fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.ends.iter().scan(0, |start, &end| Some(end - std::mem::replace(start, end)))
    }

    /// Adds the list of an Example, which may have none.
    fn push(
        &mut self,
        found: Option<Found<'_>>,
        dtype: DataType,
        source: &TString,
        divisor: usize,
    ) -> Result<(), Failed> {
        if let Some((Some(found_dtype), mut feature)) = found {
            if found_dtype != dtype {
                return Err(Failed::Feature(other_dtype(found_dtype, dtype)));
            }
            let appended = self.values.append(&mut feature, source).map_err(Failed::Other)?;
            appended.ok_or_else(|| Failed::Feature("Can't parse serialized Example.".to_owned()))?;
            let length = self.values.len();
            if !length.is_multiple_of(divisor) {
                return Err(Failed::Feature(format!(
                    "Number of values is not a multiple of stride length. Saw {length} values but the stride is {divisor}"
                )));
            }
        }
        self.ends.push(self.values.len());
        Ok(())
    }
}

/// Why a list was not taken.
enum Failed {
    /// What is wrong with the feature.
    Feature(String),
    Other(Error),
}

/// What becomes of a dense feature.
enum DenseOut<'o> {
    Fixed(Rows<'o>),
    Variable(Buffer),
}

/// Examples that are parsed by one thread.
struct Minibatch<'o> {
    examples: Range<usize>,
    dense: Vec<DenseOut<'o>>,
    sparse: Vec<Buffer>,
    ragged: Vec<Buffer>,
}

impl Minibatch<'_> {
    fn parse(&mut self, config: &Config<'_>, serialized: &[TString], names: &[TString]) -> Result<()> {
        let mut found: Vec<Option<Found<'_>>> = scratch::filled(None, config.len())?;
        let first_listed = config.dense.len();
        for (row, index) in self.examples.clone().enumerate() {
            let example = &serialized[index];
            find(config, example, |slot| slot < first_listed, &mut found)?;
            let name = || names.get(index).map_or("<unknown>".into(), |name| name.to_string_lossy());
            let failed = |key: &[u8], failed| match failed {
                Failed::Feature(what) => feature_error(Some((&name(), index)), key, &what),
                Failed::Other(error) => error,
            };
            let (dense, listed) = found.split_at(first_listed);
            for ((feature, out), found) in config.dense.iter().zip(&mut self.dense).zip(dense) {
                let elements = feature.row.shape.num_elements();
                match out {
                    DenseOut::Variable(buffer) => buffer
                        .push(*found, feature.dtype, example, elements)
                        .map_err(|error| failed(feature.key, error))?,
                    DenseOut::Fixed(rows) => {
                        let row = row * elements..(row + 1) * elements;
                        fixed(feature, rows, row, *found, example, &name)
                            .map_err(|error| failed(feature.key, error))?;
                    }
                }
            }
            let buffers = self.sparse.iter_mut().chain(&mut self.ragged);
            for ((feature, buffer), found) in config.sparse.iter().chain(&config.ragged).zip(buffers).zip(listed) {
                let pushed = buffer.push(*found, feature.dtype, example, 1);
                pushed.map_err(|error| failed(feature.key, error))?;
            }
        }
        Ok(())
    }
}

/// Sets the row of a dense feature, whose length is fixed.
fn fixed<'n>(
    feature: &Dense<'_>,
    rows: &mut Rows<'_>,
    row: Range<usize>,
    found: Option<Found<'_>>,
    example: &TString,
    name: &dyn Fn() -> std::borrow::Cow<'n, str>,
) -> Result<(), Failed> {
    match found {
        Some((Some(dtype), mut list)) if dtype == feature.dtype => {
            rows.read(row, &mut list, example).map_err(Failed::Feature)
        }
        Some((Some(dtype), _)) => Err(Failed::Feature(other_dtype(dtype, feature.dtype))),
        _ if feature.default.num_elements() == 0 => {
            Err(Failed::Other(feature.is_required(&format!("Name: {}, ", name()))))
        }
        _ => rows.set(row, feature.default).map_err(Failed::Other),
    }
}

/// Parses Examples.
///
/// `ctx` lends threads; without one it is done on that which calls. `names` are for errors, one each or none.
///
/// # Errors
/// INVALID_ARGUMENT if one is malformed, or lacks a feature.
pub fn parse(
    ctx: Option<&RawContext<'_>>,
    config: &Config<'_>,
    serialized: &[TString],
    names: &[TString],
) -> Result<Parsed> {
    let count = serialized.len();
    let bytes: usize = serialized.iter().map(|example| example.len()).sum();
    let most = if ctx.is_some_and(|ctx| ctx.threads() > 1) { MINIBATCHES } else { 1 };
    let number = (bytes / MINIBATCH_BYTES).clamp(1, most).min(count);
    let mut fixed = config
        .dense
        .iter()
        .map(|feature| {
            if feature.row.is_variable {
                return Ok(None);
            }
            let mut shape = feature.row.shape.clone();
            shape.insert(0, count);
            shape.check()?;
            Tensor::alloc(feature.dtype, shape).map(Some)
        })
        .collect::<Result<Vec<_>>>()?;
    let mut rows = fixed
        .iter_mut()
        .map(|tensor| tensor.as_mut().map(Rows::new).transpose())
        .collect::<Result<Vec<Option<Rows<'_>>>>>()?;
    let mut minibatches = (0..number)
        .map(|index| {
            let examples = count * index / number..count * (index + 1) / number;
            let buffers = |features: &[super::Listed<'_>]| {
                features.iter().map(|feature| Buffer::new(feature.dtype, examples.len())).collect::<Result<Vec<_>>>()
            };
            let dense = config.dense.iter().zip(&mut rows).map(|(feature, rows)| match rows {
                Some(rows) => Ok(DenseOut::Fixed(rows.split(examples.len() * feature.row.shape.num_elements()))),
                None => Buffer::new(feature.dtype, examples.len()).map(DenseOut::Variable),
            });
            let dense = dense.collect::<Result<Vec<_>>>()?;
            Ok(Minibatch { dense, sparse: buffers(&config.sparse)?, ragged: buffers(&config.ragged)?, examples })
        })
        .collect::<Result<Vec<_>>>()?;
    let cost = (bytes + count * config.len() * 20) / number.max(1);
    let parse = |minibatches: &mut [Minibatch<'_>]| {
        minibatches.iter_mut().try_for_each(|minibatch| minibatch.parse(config, serialized, names))
    };
    match ctx {
        Some(ctx) => ctx.try_parallel_chunks(&mut minibatches, 1, cost, |_, minibatches| parse(minibatches))?,
        None => parse(&mut minibatches)?,
    }

    let mut parsed = Parsed::default();
    let mut variable: Vec<Vec<Buffer>> = config.dense.iter().map(|_| Vec::new()).collect();
    let [mut sparse, mut ragged] =
        [&config.sparse, &config.ragged].map(|features| features.iter().map(|_| Vec::new()).collect::<Vec<_>>());
    for minibatch in minibatches {
        for (buffers, out) in variable.iter_mut().zip(minibatch.dense) {
            if let DenseOut::Variable(buffer) = out {
                buffers.push(buffer);
            }
        }
        sparse.iter_mut().zip(minibatch.sparse).for_each(|(buffers, buffer)| buffers.push(buffer));
        ragged.iter_mut().zip(minibatch.ragged).for_each(|(buffers, buffer)| buffers.push(buffer));
    }
    for ((feature, tensor), buffers) in config.dense.iter().zip(fixed).zip(variable) {
        parsed.dense.push(match tensor {
            Some(tensor) => tensor,
            None => filled_up(feature, count, buffers)?,
        });
    }
    for (feature, buffers) in config.sparse.iter().zip(sparse) {
        parsed.push_sparse(merge_sparse(feature.dtype, count, buffers)?);
    }
    for ((feature, &splits), buffers) in config.ragged.iter().zip(config.split_dtypes).zip(ragged) {
        let mut ends = scratch::room(count + 1)?;
        ends.push(0);
        let mut start = 0;
        for buffer in &buffers {
            ends.extend(buffer.ends.iter().map(|end| start + end));
            start += buffer.values.len();
        }
        parsed.ragged_values.push(merge_values(feature.dtype, buffers)?);
        parsed.ragged_splits.push(splits_tensor(splits, &ends)?);
    }
    Ok(parsed)
}

/// The values of all buffers, one behind the other.
fn merge_values(dtype: DataType, buffers: Vec<Buffer>) -> Result<Tensor> {
    let mut values = Tensor::alloc(dtype, [buffers.iter().map(|buffer| buffer.values.len()).sum::<usize>()])?;
    let mut at = 0;
    for mut buffer in buffers {
        let length = buffer.values.len();
        buffer.values.put(0..length, &mut values, at)?;
        at += length;
    }
    Ok(values)
}

/// A sparse tensor: a row for each Example.
fn merge_sparse(dtype: DataType, count: usize, buffers: Vec<Buffer>) -> Result<[Tensor; 3]> {
    let total: usize = buffers.iter().map(|buffer| buffer.values.len()).sum();
    let mut indices = Tensor::alloc(DataType::Int64, [total, 2])?;
    let mut rest = indices.as_mut_slice::<i64>()?.as_chunks_mut::<2>().0;
    let mut longest = 0;
    for (example, length) in buffers.iter().flat_map(Buffer::lengths).enumerate() {
        let (row, behind) = rest.split_at_mut(length);
        row.iter_mut().enumerate().for_each(|(index, place)| *place = [example as i64, index as i64]);
        rest = behind;
        longest = longest.max(length);
    }
    let shape = Tensor::vector(&[count as i64, longest as i64])?;
    Ok([indices, merge_values(dtype, buffers)?, shape])
}

/// A dense feature of any length, filled up to the longest by its default.
fn filled_up(feature: &Dense<'_>, count: usize, buffers: Vec<Buffer>) -> Result<Tensor> {
    let stride = feature.row.shape.num_elements().max(1);
    let longest = buffers.iter().flat_map(Buffer::lengths).max().unwrap_or(0);
    let mut shape = Shape::from([count, longest / stride]);
    shape.extend(feature.row.shape.dims());
    shape.check()?;
    let mut values = Tensor::alloc(feature.dtype, shape)?;
    if values.num_elements() == 0 {
        return Ok(values);
    }
    with_type!(feature.dtype, T => {
        let filler = feature.default.as_slice::<T>()?;
        values.as_mut_slice::<T>()?.fill(T::clone(&filler[0]));
    });
    let mut row = 0;
    for mut buffer in buffers {
        let mut start = 0;
        for end in std::mem::take(&mut buffer.ends) {
            buffer.values.put(start..end, &mut values, row * longest)?;
            start = end;
            row += 1;
        }
    }
    Ok(values)
}
