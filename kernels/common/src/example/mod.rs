//! Examples: messages of features by name, parsed to dense, sparse and ragged tensors.

mod batch;
mod lists;
mod single;
pub mod wire;

use std::collections::HashMap;

use foldhash::fast::FixedState;
use kernlink::dtype::{DataType, TString};
use kernlink::error::{Error, Result, shortened_bytes};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::MakeRoom;
use kernlink::{bail, ensure};
use kernlink_ops::shapes::{DenseRow, ExampleAttrs};

pub use self::batch::parse as parse_many;
pub use self::lists::{List, with_type};
pub use self::single::parse as parse_one;
use self::wire::{Reader, delimited, feature_dtype};

/// A dense feature.
struct Dense<'a> {
    key: &'a [u8],
    dtype: DataType,
    row: &'a DenseRow,
    /// What stands for the feature where it misses; for one of any length what fills it up.
    default: &'a Tensor,
}

/// A sparse or ragged feature.
struct Listed<'a> {
    key: &'a [u8],
    dtype: DataType,
}

/// The features that are wanted. A feature's slot is its index among the dense, sparse and ragged ones, in this order.
pub struct Config<'a> {
    dense: Vec<Dense<'a>>,
    sparse: Vec<Listed<'a>>,
    ragged: Vec<Listed<'a>>,
    split_dtypes: &'a [DataType],
    slots: HashMap<&'a [u8], usize, FixedState>,
}

/// A feature that an Example has: its dtype, if it says one, and what stands behind the key of its list.
type Found<'a> = (Option<DataType>, Reader<'a>);

/// Notes for each slot the feature of an Example that counts: the last one of its name. One that says no dtype is as if it
/// were not there if `drops_empty` says so of its slot.
fn find<'a>(
    config: &Config<'_>,
    example: &'a TString,
    drops_empty: impl Fn(usize) -> bool,
    found: &mut [Option<Found<'a>>],
) -> Result<()> {
    let malformed =
        || Error::invalid_argument(format!("Could not parse example input, value: '{}'", shortened_bytes(example)));
    found.fill(None);
    let mut reader = Reader::new(example);
    while !reader.at_end() {
        if !reader.expect(delimited(1)) {
            reader.skip_field().ok_or_else(malformed)?;
            continue;
        }
        let length = reader.length().ok_or_else(malformed)?;
        let outer = reader.push_limit(length);
        while !reader.at_end() {
            let entry = if reader.expect(delimited(1)) { reader.entry(false) } else { None };
            let (name, value) = entry.ok_or_else(malformed)?;
            if let Some(&slot) = config.slots.get(name) {
                let mut feature = Reader::new(value);
                let dtype = feature_dtype(&mut feature)?;
                if dtype.is_some() || !drops_empty(slot) {
                    found[slot] = Some((dtype, feature));
                }
            }
        }
        reader.pop_limit(outer);
    }
    Ok(())
}

impl<'a> Config<'a> {
    /// Those that the attrs describe: sparse, dense and ragged keys, and the defaults of the dense ones.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they do not fit one another.
    pub fn new(
        attrs: &'a Attrs,
        [sparse, dense, ragged]: [Vec<&'a [u8]>; 3],
        defaults: &[&'a Tensor],
    ) -> Result<Config<'a>> {
        for (what, keys, dtypes) in [
            ("dense", &dense, &attrs.dense_types),
            ("sparse", &sparse, &attrs.sparse_types),
            ("ragged", &ragged, &attrs.ragged_types),
        ] {
            ensure!(
                keys.len() == dtypes.len(),
                InvalidArgument,
                "Expected as many {what} keys as dtypes, got {} and {}",
                keys.len(),
                dtypes.len()
            );
        }
        ensure!(
            defaults.len() == dense.len(),
            InvalidArgument,
            "Expected len(dense_defaults) == len(dense_keys) but got: {} vs. {}",
            defaults.len(),
            dense.len()
        );
        let mut slots = HashMap::with_hasher(FixedState::default());
        slots.make_room(dense.len() + sparse.len() + ragged.len())?;
        let keys = dense.iter().chain(&sparse).chain(&ragged);
        let is_new = |(slot, &key): (usize, &&'a [u8])| slots.insert(key, slot).is_none();
        if !keys.enumerate().all(is_new) {
            // TensorFlow finds no feature at all where a key is given twice.
            slots.clear();
        }
        let listed = |keys: Vec<&'a [u8]>, dtypes: &[DataType]| {
            keys.into_iter().zip(dtypes).map(|(key, &dtype)| Listed { key, dtype }).collect()
        };
        let dense = dense.into_iter().zip(defaults).enumerate().map(|(index, (key, default))| {
            let feature = Dense { key, dtype: attrs.dense_types[index], row: &attrs.dense_rows[index], default };
            feature.check(index, &attrs.dense_shapes[index])?;
            Ok(feature)
        });
        Ok(Config {
            dense: dense.collect::<Result<_>>()?,
            sparse: listed(sparse, &attrs.sparse_types),
            ragged: listed(ragged, &attrs.ragged_types),
            split_dtypes: &attrs.split_types,
            slots,
        })
    }

    /// The number of slots.
    fn len(&self) -> usize {
        self.dense.len() + self.sparse.len() + self.ragged.len()
    }
}

impl Dense<'_> {
    /// Whether the default fits the attrs.
    fn check(&self, index: usize, shape: &PartialShape) -> Result<()> {
        let default = self.default;
        if self.row.is_variable {
            ensure!(
                default.num_elements() == 1,
                InvalidArgument,
                "dense_shape[{index}] is a variable length shape: {shape}, therefore def_value[{index}] must contain a single \
                 element (the padding element). But its shape is: {}",
                default.shape()
            );
        } else if default.num_elements() > 0 {
            ensure!(
                shape.accepts(default.shape()),
                InvalidArgument,
                "def_value[{index}].shape() == {} is not compatible with dense_shapes_[{index}] == {shape}",
                default.shape()
            );
        }
        ensure!(
            default.dtype() == self.dtype,
            InvalidArgument,
            "dense_defaults[{index}].dtype() == {} != dense_types_[{index}] == {}",
            default.dtype(),
            self.dtype
        );
        Ok(())
    }

    /// The feature is not there, and must be.
    fn is_required(&self, name: &str) -> Error {
        let (key, dtype) = (shortened_bytes(self.key), self.dtype);
        Error::invalid_argument(format!(
            "{name}Feature: {key} (data type: {dtype}) is required but could not be found."
        ))
    }
}

/// The attrs, under one name for all ops.
pub struct Attrs {
    dense_rows: Vec<DenseRow>,
    dense_shapes: Vec<PartialShape>,
    dense_types: Vec<DataType>,
    sparse_types: Vec<DataType>,
    ragged_types: Vec<DataType>,
    split_types: Vec<DataType>,
}

impl Attrs {
    /// Copies of them.
    ///
    /// # Errors
    /// As [`ExampleAttrs::check`].
    pub fn new(attrs: &ExampleAttrs<'_>) -> Result<Attrs> {
        Ok(Attrs {
            dense_rows: attrs.check()?,
            dense_shapes: attrs.dense_shapes.to_vec(),
            dense_types: attrs.dense_types.to_vec(),
            sparse_types: attrs.sparse_types.to_vec(),
            ragged_types: attrs.ragged_value_types.to_vec(),
            split_types: attrs.ragged_split_types.to_vec(),
        })
    }
}

/// What the ops give: lists of tensors.
#[derive(Default)]
pub struct Parsed {
    /// A tensor each.
    pub dense: Vec<Tensor>,
    /// Indices, values and shapes.
    pub sparse: [Vec<Tensor>; 3],
    /// The values of ragged tensors.
    pub ragged_values: Vec<Tensor>,
    /// Their row splits, of several Examples.
    pub ragged_splits: Vec<Tensor>,
}

impl Parsed {
    fn push_sparse(&mut self, tensors: [Tensor; 3]) {
        self.sparse.iter_mut().zip(tensors).for_each(|(list, tensor)| list.push(tensor));
    }
}

/// The error of a feature whose dtype is another than the one that is wanted.
fn other_dtype(found: DataType, expected: DataType) -> String {
    format!("Data types don't match. Data type: {found} but expected type: {expected}")
}

/// What a feature fails with: the name of its message, its key, the message's index, what is wrong.
fn feature_error(name: Option<(&str, usize)>, key: &[u8], what: &str) -> Error {
    let key = shortened_bytes(key);
    Error::invalid_argument(match name {
        Some((name, index)) => format!("Name: {name}, Key: {key}, Index: {index}.  {what}"),
        None => format!("Key: {key}.  {what}"),
    })
}

/// The row splits of a ragged tensor, of the dtype that an attr says.
///
/// # Errors
/// INVALID_ARGUMENT for a dtype that splits do not have.
pub fn splits_tensor(dtype: DataType, splits: &[usize]) -> Result<Tensor> {
    let mut tensor = Tensor::alloc(dtype, [splits.len()])?;
    match dtype {
        DataType::Int32 => tensor.as_mut_slice::<i32>()?.iter_mut().zip(splits).for_each(|(to, &at)| *to = at as i32),
        DataType::Int64 => tensor.as_mut_slice::<i64>()?.iter_mut().zip(splits).for_each(|(to, &at)| *to = at as i64),
        dtype => bail!(InvalidArgument, "Invalid ragged_split_type: {dtype}"),
    }
    Ok(tensor)
}
