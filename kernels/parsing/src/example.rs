//! ParseExample, ParseExampleV2, ParseSingleExample.

use kernlink::dtype::TString;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{InputList, KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_kernels_common::example::{Attrs, Config, parse_many, parse_one};
use kernlink_macros::register_kernel;
use kernlink_ops::shapes::ExampleAttrs;
use kernlink_ops::{ParseExample, ParseExampleV2, ParseSingleExample};

use super::tensor::scalar_string;

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
        let defaults: Vec<&Tensor> = ctx.input_list(Op::DENSE_DEFAULTS).iter().collect();
        let config = Config::new(&self.0, keys, &defaults)?;
        let parsed = parse_many(Some(ctx), &config, serialized.as_slice()?, names.as_slice()?)?;
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
        let defaults: Vec<&Tensor> = ctx.input_list(Op::DENSE_DEFAULTS).iter().collect();
        let config = Config::new(&self.0, [sparse?, dense?, ragged?], &defaults)?;
        let parsed = match serialized.as_slice::<TString>()? {
            [example] if serialized.rank() == 0 => parse_one(&config, example)?,
            examples => parse_many(Some(ctx), &config, examples, names.as_slice()?)?,
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
        let defaults: Vec<&Tensor> = ctx.input_list(Op::DENSE_DEFAULTS).iter().collect();
        let config = Config::new(&self.attrs, keys, &defaults)?;
        let parsed = parse_one(&config, example)?;
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
