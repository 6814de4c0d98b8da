//! ParseExample, ParseExampleV2, ParseSingleExample.

mod batch;
mod lists;
mod single;

use std::collections::HashMap;

use foldhash::fast::FixedState;
use kernlink::dtype::{DataType, TString};
use kernlink::error::{Error, Result, shortened_bytes};
use kernlink::kernel::{InputList, KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::{DenseRow, ExampleAttrs};
use kernlink_ops::{ParseExample, ParseExampleV2, ParseSingleExample};

pub(super) use self::lists::{List, with_type};
use super::tensor::scalar_string;
use super::wire::{Reader, delimited, feature_dtype};

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
struct Config<'a> {
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
    fn new(
        attrs: &'a Attrs,
        [sparse, dense, ragged]: [Vec<&'a [u8]>; 3],
        defaults: InputList<'a>,
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
        let dense = dense.into_iter().zip(defaults.iter()).enumerate().map(|(index, (key, default))| {
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

/// The attrs, under one name for all three ops.
struct Attrs {
    dense_rows: Vec<DenseRow>,
    dense_shapes: Vec<PartialShape>,
    dense_types: Vec<DataType>,
    sparse_types: Vec<DataType>,
    ragged_types: Vec<DataType>,
    split_types: Vec<DataType>,
}

impl Attrs {
    fn new(attrs: &ExampleAttrs<'_>) -> Result<Attrs> {
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

/// Names that are given for messages, one each or none.
fn ensure_names(names: &Tensor, serialized: &Tensor) -> Result<()> {
    ensure!(
        names.num_elements() == 0 || names.shape() == serialized.shape(),
        InvalidArgument,
        "Expected names have the same shape as serialized: name.shape={}, serialized.shape={}",
        names.shape(),
        serialized.shape()
    );
    Ok(())
}

/// What the ops give: lists of tensors.
#[derive(Default)]
struct Parsed {
    dense: Vec<Tensor>,
    /// Indices, values and shapes.
    sparse: [Vec<Tensor>; 3],
    ragged_values: Vec<Tensor>,
    ragged_splits: Vec<Tensor>,
}

impl Parsed {
    fn push_sparse(&mut self, tensors: [Tensor; 3]) {
        self.sparse.iter_mut().zip(tensors).for_each(|(list, tensor)| list.push(tensor));
    }
}

struct ParseExampleKernel(Attrs);

#[register_kernel(device = Cpu)]
impl OpKernel<ParseExample> for ParseExampleKernel {
    fn new(ctx: &KernelConstruction<'_, ParseExample>) -> Result<Self> {
        let attrs = ctx.attrs();
        let attrs = ExampleAttrs {
            sparse: attrs.Nsparse,
            dense: attrs.Ndense,
            sparse_types: &attrs.sparse_types,
            dense_types: &attrs.Tdense,
            dense_shapes: &attrs.dense_shapes,
            ragged_value_types: &[],
            ragged_split_types: &[],
        };
        Attrs::new(&attrs).map(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ParseExample>) -> Result<()> {
        type Op = ParseExample;
        let (serialized, names) = (ctx.input(Op::SERIALIZED)?, ctx.input(Op::NAMES)?);
        ensure!(
            serialized.rank() == 1,
            InvalidArgument,
            "Expected serialized to be a vector, got shape: {}",
            serialized.shape()
        );
        ensure_names(names, serialized)?;
        fn keys<'a>(list: InputList<'a>, name: &str) -> Result<Vec<&'a [u8]>> {
            list.iter().map(|key| scalar_string(key, name).map(TString::as_bytes)).collect()
        }
        let keys = [
            keys(ctx.input_list(Op::SPARSE_KEYS), "sparse_keys")?,
            keys(ctx.input_list(Op::DENSE_KEYS), "dense_keys")?,
            Vec::new(),
        ];
        let config = Config::new(&self.0, keys, ctx.input_list(Op::DENSE_DEFAULTS))?;
        let parsed = batch::parse(ctx, &config, serialized.as_slice()?, names.as_slice()?)?;
        let [indices, values, shapes] = parsed.sparse;
        ctx.set_output_list(Op::SPARSE_INDICES, indices)?;
        ctx.set_output_list(Op::SPARSE_VALUES, values)?;
        ctx.set_output_list(Op::SPARSE_SHAPES, shapes)?;
        ctx.set_output_list(Op::DENSE_VALUES, parsed.dense)
    }
}

struct ParseExampleV2Kernel(Attrs);

#[register_kernel(device = Cpu)]
impl OpKernel<ParseExampleV2> for ParseExampleV2Kernel {
    fn new(ctx: &KernelConstruction<'_, ParseExampleV2>) -> Result<Self> {
        let attrs = ctx.attrs();
        let attrs = ExampleAttrs {
            sparse: attrs.num_sparse,
            dense: attrs.Tdense.len() as i64,
            sparse_types: &attrs.sparse_types,
            dense_types: &attrs.Tdense,
            dense_shapes: &attrs.dense_shapes,
            ragged_value_types: &attrs.ragged_value_types,
            ragged_split_types: &attrs.ragged_split_types,
        };
        Attrs::new(&attrs).map(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ParseExampleV2>) -> Result<()> {
        type Op = ParseExampleV2;
        let (serialized, names) = (ctx.input(Op::SERIALIZED)?, ctx.input(Op::NAMES)?);
        ensure!(
            serialized.rank() <= 1,
            InvalidArgument,
            "Expected serialized to be a scalar or vector, got shape: {}",
            serialized.shape()
        );
        ensure_names(names, serialized)?;
        let keys = [Op::SPARSE_KEYS, Op::DENSE_KEYS, Op::RAGGED_KEYS]
            .map(|input| scratch::collected(ctx.input(input)?.as_slice::<TString>()?.iter().map(TString::as_bytes)));
        let [sparse, dense, ragged] = keys;
        let config = Config::new(&self.0, [sparse?, dense?, ragged?], ctx.input_list(Op::DENSE_DEFAULTS))?;
        let parsed = match serialized.as_slice::<TString>()? {
            [example] if serialized.rank() == 0 => single::parse(&config, example)?,
            examples => batch::parse(ctx, &config, examples, names.as_slice()?)?,
        };
        let [indices, values, shapes] = parsed.sparse;
        ctx.set_output_list(Op::SPARSE_INDICES, indices)?;
        ctx.set_output_list(Op::SPARSE_VALUES, values)?;
        ctx.set_output_list(Op::SPARSE_SHAPES, shapes)?;
        ctx.set_output_list(Op::DENSE_VALUES, parsed.dense)?;
        ctx.set_output_list(Op::RAGGED_VALUES, parsed.ragged_values)?;
        ctx.set_output_list(Op::RAGGED_ROW_SPLITS, parsed.ragged_splits)
    }
}

struct ParseSingleExampleKernel {
    attrs: Attrs,
    sparse_keys: Vec<Vec<u8>>,
    dense_keys: Vec<Vec<u8>>,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ParseSingleExample> for ParseSingleExampleKernel {
    fn new(ctx: &KernelConstruction<'_, ParseSingleExample>) -> Result<Self> {
        let attrs = ctx.attrs();
        let bytes = |keys: &[String]| keys.iter().map(|key| key.clone().into_bytes()).collect::<Vec<_>>();
        let (sparse_keys, dense_keys) = (bytes(&attrs.sparse_keys), bytes(&attrs.dense_keys));
        let checked = ExampleAttrs {
            sparse: sparse_keys.len() as i64,
            dense: dense_keys.len() as i64,
            sparse_types: &attrs.sparse_types,
            dense_types: &attrs.Tdense,
            dense_shapes: &attrs.dense_shapes,
            ragged_value_types: &[],
            ragged_split_types: &[],
        };
        Ok(Self { attrs: Attrs::new(&checked)?, sparse_keys, dense_keys })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ParseSingleExample>) -> Result<()> {
        type Op = ParseSingleExample;
        let serialized = ctx.input(Op::SERIALIZED)?;
        let example = scalar_string(serialized, "serialized")?;
        fn slices(keys: &[Vec<u8>]) -> Vec<&[u8]> {
            keys.iter().map(Vec::as_slice).collect()
        }
        let keys = [slices(&self.sparse_keys), slices(&self.dense_keys), Vec::new()];
        let config = Config::new(&self.attrs, keys, ctx.input_list(Op::DENSE_DEFAULTS))?;
        let parsed = single::parse(&config, example)?;
        let [indices, values, shapes] = parsed.sparse;
        // An attr of its own says how many there are.
        ensure!(
            indices.len() == ctx.output_range(Op::SPARSE_INDICES).len(),
            InvalidArgument,
            "num_sparse must be the number of sparse_keys, {}",
            indices.len()
        );
        ctx.set_output_list(Op::SPARSE_INDICES, indices)?;
        ctx.set_output_list(Op::SPARSE_VALUES, values)?;
        ctx.set_output_list(Op::SPARSE_SHAPES, shapes)?;
        ctx.set_output_list(Op::DENSE_VALUES, parsed.dense)
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
pub(super) fn splits_tensor(dtype: DataType, splits: &[usize]) -> Result<Tensor> {
    let mut tensor = Tensor::alloc(dtype, [splits.len()])?;
    match dtype {
        DataType::Int32 => tensor.as_mut_slice::<i32>()?.iter_mut().zip(splits).for_each(|(to, &at)| *to = at as i32),
        DataType::Int64 => tensor.as_mut_slice::<i64>()?.iter_mut().zip(splits).for_each(|(to, &at)| *to = at as i64),
        dtype => bail!(InvalidArgument, "Invalid ragged_split_type: {dtype}"),
    }
    Ok(tensor)
}
