//! RaggedTensorToVariant, RaggedTensorFromVariant, RaggedTensorToVariantGradient.

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, Variant, scratch};
use kernlink::{bail, ensure};
use kernlink_geometry::integers::shape_from;
use kernlink_kernels_common::ragged::{RAGGED, Ragged};
use kernlink_kernels_common::tensors::{copy_elements, value_in};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::elements::i64s;
use super::ragged::{ensure_exact_splits, splits_tensor};

#[register_kernel(
    device = Cpu,
    Tsplits = [int32, int64],
    Tvalues = [realnumbertype, bool, complex128, complex64, qint16, qint32, qint8, quint16, quint8, string],
)]
fn to_variant(
    attrs: &Attrs<ops::RaggedTensorToVariant>,
    ctx: &mut KernelContext<'_, ops::RaggedTensorToVariant>,
) -> Result<()> {
    type Op = ops::RaggedTensorToVariant;
    let splits = ctx.input_list(Op::RT_NESTED_SPLITS);
    let values = ctx.input(Op::RT_DENSE_VALUES)?;
    let Some(&elements) = values.shape().first() else {
        bail!(InvalidArgument, "rt_dense_values must have rank at least 1");
    };
    let levels: Vec<_> = splits.iter().map(i64s).collect::<Result<_>>()?;
    for (n, splits) in splits.iter().enumerate() {
        ensure_exact_splits(splits, levels.get(n + 1).map_or(elements, |inner| inner.len().saturating_sub(1)))?;
    }
    if attrs.batched_input && levels.is_empty() {
        let row = Shape::from(&values.shape()[1..]);
        let mut output = ctx.allocate_output(Op::ENCODED_RAGGED, [elements])?;
        for (n, slot) in output.as_mut_slice::<Variant>()?.iter_mut().enumerate() {
            let values = values.slice_rows(n, n + 1)?.reshaped(row.clone())?;
            *slot = Variant::new(Ragged { splits: Vec::new(), values });
        }
        return ctx.set_output(Op::ENCODED_RAGGED, output);
    }
    let Some((outer, inner)) = levels.split_first().filter(|_| attrs.batched_input) else {
        let ragged = Ragged { splits: splits.iter().cloned().collect(), values: values.clone() };
        return ctx.set_output(Op::ENCODED_RAGGED, Tensor::scalar(Variant::new(ragged)));
    };
    let dtype = splits[0].dtype();
    let mut output = ctx.allocate_output(Op::ENCODED_RAGGED, [outer.len() - 1])?;
    for (slot, ends) in output.as_mut_slice::<Variant>()?.iter_mut().zip(outer.windows(2)) {
        let (mut start, mut end) = (ends[0] as usize, ends[1] as usize);
        let mut splits = Vec::with_capacity(inner.len());
        for level in inner {
            let own = &level[start..=end];
            splits.push(splits_tensor(dtype, own.len(), own.iter().map(|split| split - own[0]))?);
            (start, end) = (own[0] as usize, own[own.len() - 1] as usize);
        }
        *slot = Variant::new(Ragged { splits, values: values.slice_rows(start, end)? });
    }
    ctx.set_output(Op::ENCODED_RAGGED, output)
}

#[register_kernel(
    device = Cpu,
    Tsplits = [int32, int64],
    Tvalues = [realnumbertype, bool, complex128, complex64, qint16, qint32, qint8, quint16, quint8, string],
)]
fn from_variant(
    attrs: &Attrs<ops::RaggedTensorFromVariant>,
    ctx: &mut KernelContext<'_, ops::RaggedTensorFromVariant>,
) -> Result<()> {
    type Op = ops::RaggedTensorFromVariant;
    let encoded = ctx.input(Op::ENCODED_RAGGED)?.clone();
    let rank = encoded.rank() as i64;
    // Variants that hold dense tensors are stacked to a dense tensor.
    let dense = attrs.output_ragged_rank == 0;
    let expected = match attrs.input_ragged_rank {
        -1 if dense => 0,
        -1 => attrs.output_ragged_rank - rank,
        given => given,
    };
    ensure!(
        expected >= 0,
        InvalidArgument,
        "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, found \
         output_ragged_rank: {}, encoded_variant.dims(): {rank}, inferred input_ragged_rank: {expected}",
        attrs.output_ragged_rank
    );
    ensure!(
        dense && expected == 0 || attrs.output_ragged_rank == rank.saturating_add(expected),
        InvalidArgument,
        "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); output_ragged_rank: {}, \
         input_ragged_rank: {expected}, encoded_variant.dims(): {rank}.",
        attrs.output_ragged_rank
    );
    let variants = encoded.as_slice::<Variant>()?;
    let parts = variants.iter().enumerate().map(|(n, variant)| {
        let other = || format!("Input Variant element at index {n} doesn't hold a RaggedTensorVariant");
        let ragged: &Ragged = value_in(variant, RAGGED, other)?;
        ensure_expected(n, ragged, expected as usize, attrs.Tvalues, attrs.Tsplits)?;
        ensure!(
            dense || ragged.values.rank() >= 1,
            InvalidArgument,
            "Ragged values must have rank >= 1; encoded scalar element at index {n} has a scalar"
        );
        Ok(ragged)
    });
    let parts: Vec<&Ragged> = scratch::collected_ok(parts)?;
    let (splits, values) = match (encoded.rank(), parts.as_slice()) {
        (0, [part]) => (part.splits.clone(), part.values.clone()),
        _ if dense => (Vec::new(), stacked_dense(&parts, attrs.Tvalues)?),
        _ => {
            let splits = stacked_splits(&parts, encoded.shape(), expected as usize, attrs.Tsplits)?;
            (splits, stacked_values(&parts, attrs.Tvalues)?)
        }
    };
    ctx.set_output_list(Op::OUTPUT_NESTED_SPLITS, splits)?;
    ctx.set_output(Op::OUTPUT_DENSE_VALUES, values)
}

/// Fails unless element `n` is of the rank and the dtypes that are asked for.
fn ensure_expected(n: usize, ragged: &Ragged, rank: usize, values: DataType, splits: DataType) -> Result<()> {
    ensure!(
        ragged.splits.len() == rank,
        InvalidArgument,
        "Encoded input RaggedTensorVariant has ragged_rank={}.  Expected ragged_rank={rank}.",
        ragged.splits.len()
    );
    ensure!(
        ragged.values.dtype() == values,
        InvalidArgument,
        "Expected values Tensor dtype: {values}, found: {}",
        ragged.values.dtype()
    );
    for own in &ragged.splits {
        ensure!(
            own.dtype() == splits,
            InvalidArgument,
            "Expected row_splits Tensor dtype: {splits}, found: {}",
            own.dtype()
        );
        ensure!(
            own.rank() == 1,
            InvalidArgument,
            "Ragged splits must have rank 1; encoded scalar element at index {n} has splits of shape {}",
            own.shape()
        );
        ensure!(own.num_elements() > 0, InvalidArgument, "Ragged splits of element {n} are empty");
    }
    Ok(())
}

/// The splits of the parts one after the other, below those of the dimensions that they stand in.
fn stacked_splits(parts: &[&Ragged], dims: &Shape, ragged_rank: usize, dtype: DataType) -> Result<Vec<Tensor>> {
    let mut stacked = Vec::with_capacity(dims.rank() + ragged_rank);
    for sizes in dims.windows(2) {
        let step = sizes[1] as i64;
        let ends = (0..=sizes[0] as i64).map(|row| row.saturating_mul(step));
        stacked.push(splits_tensor(dtype, sizes[0] + 1, ends)?);
    }
    let rows = |part: &&Ragged| match part.splits.first() {
        Some(splits) => splits.num_elements() - 1,
        None => part.values.shape()[0],
    };
    let ends = parts.iter().scan(0i64, |end, part| {
        // Rows that hold nothing may be any number: that their sum is one is seen where their values are joined.
        *end = end.saturating_add_unsigned(rows(part) as u64);
        Some(*end)
    });
    stacked.push(splits_tensor(dtype, parts.len() + 1, std::iter::once(0).chain(ends))?);
    for level in 0..ragged_rank {
        let mut ends: Vec<i64> = scratch::collected([0])?;
        for part in parts {
            let last = ends[ends.len() - 1];
            for split in &i64s(&part.splits[level])?[1..] {
                scratch::push(&mut ends, split.wrapping_add(last))?;
            }
        }
        stacked.push(splits_tensor(dtype, ends.len(), ends.iter().copied())?);
    }
    Ok(stacked)
}

/// The values of parts that have no splits, with a first dimension for the parts.
fn stacked_dense(parts: &[&Ragged], dtype: DataType) -> Result<Tensor> {
    let Some(first) = parts.first() else {
        return Tensor::zeros(dtype, [0]);
    };
    let own = first.values.shape();
    for (n, part) in parts.iter().enumerate() {
        let found = part.values.shape();
        ensure!(
            found == own,
            InvalidArgument,
            "All flat_values must have compatible shapes.  Shape at index 0: {own}.  Shape at index {n}: {found}."
        );
    }
    let mut shape = own.to_vec();
    shape.insert(0, parts.len());
    let shape = Shape::from(shape);
    shape.check()?;
    let mut values = Tensor::zeros(dtype, shape)?;
    for (n, part) in parts.iter().enumerate() {
        copy_elements(&mut values, n * own.num_elements(), &part.values)?;
    }
    Ok(values)
}

/// The values of the parts one after the other. Nothing says which shape those of no part would have.
fn stacked_values(parts: &[&Ragged], dtype: DataType) -> Result<Tensor> {
    let Some(first) = parts.first() else {
        return Tensor::zeros(dtype, [0]);
    };
    let mut shape = first.values.shape().to_vec();
    shape[0] = 0;
    for (n, part) in parts.iter().enumerate() {
        let own = part.values.shape();
        ensure!(
            own.rank() == shape.len(),
            InvalidArgument,
            "Rank of values must match for all components; values shape at index 0: {}, values shape at index {n}: {own}",
            first.values.shape()
        );
        ensure!(
            own[1..] == shape[1..],
            InvalidArgument,
            "Shapes of values must match but for the first dimension; values shape at index 0: {}, at index {n}: {own}",
            first.values.shape()
        );
        let rows = shape[0].checked_add(own[0]);
        shape[0] = rows.ok_or_else(|| Error::invalid_argument("too many rows of values"))?;
    }
    if let [only] = parts {
        return Ok(only.values.clone());
    }
    let mut values = Tensor::zeros(dtype, shape)?;
    let mut at = 0;
    for part in parts {
        copy_elements(&mut values, at, &part.values)?;
        at += part.values.num_elements();
    }
    Ok(values)
}

#[register_kernel(
    device = Cpu,
    Tsplits = [int32, int64],
    Tvalues = [realnumbertype, bool, complex128, complex64, qint16, qint32, qint8, quint16, quint8, string],
)]
fn to_variant_gradient(ctx: &mut KernelContext<'_, ops::RaggedTensorToVariantGradient>) -> Result<()> {
    type Op = ops::RaggedTensorToVariantGradient;
    let dtype = ctx.output_dtype(Op::DENSE_VALUES_GRAD)?;
    let shape = shape_from(ctx.input(Op::DENSE_VALUES_SHAPE)?, "dense_values_shape")?;
    let row_splits = i64s(ctx.input(Op::ROW_SPLITS)?)?;
    let last = row_splits.last().map_or(0, |&last| last as usize);
    ensure_exact_splits(ctx.input(Op::ROW_SPLITS)?, last)?;
    let variants = ctx.input(Op::ENCODED_RAGGED_GRAD)?.as_slice::<Variant>()?;
    let mut parts = scratch::room(variants.len())?;
    for (n, variant) in variants.iter().enumerate() {
        parts.push(match variant.get::<Ragged>() {
            Some(ragged) => ragged.values.clone(),
            None if variant.type_name() == "RaggedTensorVariant" => {
                bail!(InvalidArgument, "Input Variant element at index {n} is no well-formed RaggedTensorVariant");
            }
            // Nothing has flowed to this row.
            None => {
                let (Some(&start), Some(&end)) = (row_splits.get(n), row_splits.get(n + 1)) else {
                    bail!(InvalidArgument, "row_splits has {} elements for {} rows", row_splits.len(), variants.len());
                };
                let mut shape = shape.to_i64();
                let Some(rows) = shape.first_mut() else {
                    bail!(InvalidArgument, "dense_values_shape must have at least one element");
                };
                *rows = end.saturating_sub(start);
                Tensor::zeros(dtype, Shape::from_dims(&shape)?)?
            }
        });
        let found = parts[n].dtype();
        ensure!(found == dtype, InvalidArgument, "Expected values Tensor dtype: {dtype}, found: {found}");
    }
    if let [only] = parts.as_slice() {
        ensure!(
            *only.shape() == shape,
            InvalidArgument,
            "the only row has values of shape {}, and dense_values_shape is {shape}",
            only.shape()
        );
        return ctx.set_output(Op::DENSE_VALUES_GRAD, only.clone());
    }
    let total: usize = parts.iter().map(Tensor::num_elements).sum();
    shape.check()?;
    ensure!(
        total == shape.num_elements(),
        InvalidArgument,
        "the rows have {total} elements, dense_values_shape {shape} has {}",
        shape.num_elements()
    );
    let mut output = Tensor::zeros(dtype, shape)?;
    let mut at = 0;
    for part in &parts {
        copy_elements(&mut output, at, part)?;
        at += part.num_elements();
    }
    ctx.set_output(Op::DENSE_VALUES_GRAD, output)
}
