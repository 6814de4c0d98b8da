//! SparseCross, SparseCrossV2, SparseCrossHashed.

use std::iter::Peekable;

use kernlink::dtype::{DataType, TString};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, InputList, KernelContext, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink_geometry::integers::{ensure_scalar, scalar};
use kernlink_kernels_common::farmhash::fingerprint64;
use kernlink_kernels_common::siphash::siphash;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::crossing::{Crosses, Features, Runs, features, rows};
use super::elements::{ensure_matrix, ensure_vector};

/// The columns of a cross, the sparse ones first.
struct Columns<'a> {
    indices: InputList<'a>,
    values: InputList<'a>,
    shapes: InputList<'a>,
    dense: InputList<'a>,
}

impl<'a> Columns<'a> {
    /// Checks that the columns fit one another and are of strings if they must; returns the number of rows.
    fn rows(&self, only_strings: bool) -> Result<i64> {
        for (n, indices) in self.indices.iter().enumerate() {
            ensure_matrix(indices, "Input indices")?;
            ensure!(
                indices.shape()[1] == 2,
                InvalidArgument,
                "Expected D2 of index to be 2 got {} at position {n}",
                indices.shape()[1]
            );
        }
        let columns = self.indices.len();
        ensure!(
            self.values.len() == columns,
            InvalidArgument,
            "Expected {columns} input values, got {}",
            self.values.len()
        );
        let refused = |tensor: &Tensor| only_strings && tensor.dtype() == DataType::Int64;
        for (n, (values, indices)) in self.values.iter().zip(self.indices.iter()).enumerate() {
            ensure!(
                !refused(values),
                InvalidArgument,
                "Input values should be of internal type string but received int64"
            );
            ensure_vector(values, "Input values")?;
            ensure!(
                indices.shape()[0] == values.num_elements(),
                InvalidArgument,
                "Expected size of values to be {} got {} at position {n}",
                indices.shape()[0],
                values.num_elements()
            );
        }
        for (n, shape) in self.shapes.iter().enumerate() {
            ensure_vector(shape, "Input shapes")?;
            ensure!(
                shape.num_elements() == 2,
                InvalidArgument,
                "shape should imply a 2D tensor, but got {} at position {n}",
                shape.shape()
            );
        }
        for dense in self.dense.iter() {
            ensure!(
                !refused(dense),
                InvalidArgument,
                "Dense inputs should be of internal type string but received int64"
            );
            ensure_matrix(dense, "Dense inputs")?;
        }
        let sparse = self.shapes.iter().map(|shape| Ok(shape.as_slice::<i64>()?[0]));
        let mut counts = sparse.chain(self.dense.iter().map(|dense| Ok(dense.shape()[0] as i64)));
        let expected = counts.next().unwrap_or(Ok(0))?;
        for (n, count) in counts.enumerate() {
            let count = count?;
            ensure!(
                count == expected,
                InvalidArgument,
                "Expected batch size {expected} got {count} at position {}",
                n + 1
            );
        }
        Ok(expected)
    }

    fn tensors(&self) -> impl Iterator<Item = &'a Tensor> {
        self.values.iter().chain(self.dense.iter())
    }

    /// The crosses of these rows: those in which the first sparse column has features, or all if there is none.
    fn crosses(&self, count: i64) -> Result<Crosses> {
        let runs = self.indices.iter().map(|indices| Ok(Runs::new(indices, count)?.peekable()));
        let mut runs: Vec<Peekable<Runs<'_>>> = runs.collect::<Result<_>>()?;
        let widths: Vec<usize> = self.dense.iter().map(|dense| dense.shape()[1]).collect();
        let dense = |row: usize| widths.iter().map(move |width| row * width..(row + 1) * width);
        let mut crosses = Crosses::default();
        let Some((first, others)) = runs.split_first_mut() else {
            // A column without elements may have any number of rows, none of which has a cross.
            let is_empty = widths.is_empty() || widths.contains(&0);
            for row in 0..if is_empty { 0 } else { rows(count)? } {
                crosses.push(row, dense(row))?;
            }
            return Ok(crosses);
        };
        for (row, run) in first {
            let others = others.iter_mut().map(|other| {
                while other.next_if(|(next, _)| *next < row).is_some() {}
                other.next_if(|(next, _)| *next == row).map_or(0..0, |(_, run)| run)
            });
            crosses.push(row, std::iter::once(run).chain(others).chain(dense(row)))?;
        }
        Ok(crosses)
    }
}

/// Sets the outputs but for the values.
fn set_indices(ctx: &mut RawContext<'_>, crosses: &Crosses, count: i64) -> Result<()> {
    let mut indices = ctx.allocate_output_at(0, [crosses.total, 2])?;
    let slots = indices.as_mut_slice::<i64>()?.as_chunks_mut::<2>().0;
    slots.iter_mut().zip(crosses.indices()).for_each(|(slot, index)| *slot = index);
    ctx.set_output_at(0, indices)?;
    ctx.set_output_at(2, Tensor::vector(&[count, crosses.widest as i64])?)
}

macro_rules! columns {
    ($ctx:expr, $op:ty) => {
        Columns {
            indices: $ctx.input_list(<$op>::INDICES),
            values: $ctx.input_list(<$op>::VALUES),
            shapes: $ctx.input_list(<$op>::SHAPES),
            dense: $ctx.input_list(<$op>::DENSE_INPUTS),
        }
    };
}

#[register_kernel(device = Cpu, out_type = [int64, string], internal_type = [int64, string])]
fn sparse_cross(attrs: &Attrs<ops::SparseCross>, ctx: &mut KernelContext<'_, ops::SparseCross>) -> Result<()> {
    type Op = ops::SparseCross;
    let columns = columns!(ctx, Op);
    let count = columns.rows(attrs.internal_type == DataType::String)?;
    rows(count)?;
    let crosses = columns.crosses(count)?;
    let mut values = ctx.allocate_output(Op::OUTPUT_VALUES, [crosses.total])?;
    let columns = features(columns.tensors())?;
    if attrs.out_type == DataType::String {
        crosses.join(ctx, &mut values, &columns, b"_X_")?;
    } else {
        let columns = columns.iter().map(Features::fingerprints).collect::<Result<Vec<_>>>()?;
        crosses.hash(ctx, &mut values, &columns, Some(attrs.hash_key as u64), attrs.num_buckets)?;
    }
    set_indices(ctx, &crosses, count)?;
    ctx.set_output(Op::OUTPUT_VALUES, values)
}

#[register_kernel(device = Cpu)]
fn sparse_cross_v2(ctx: &mut KernelContext<'_, ops::SparseCrossV2>) -> Result<()> {
    type Op = ops::SparseCrossV2;
    let columns = columns!(ctx, Op);
    let count = columns.rows(false)?;
    rows(count)?;
    let separator = ctx.input(Op::SEP)?;
    ensure_scalar(separator, "Input separator")?;
    let crosses = columns.crosses(count)?;
    let mut values = ctx.allocate_output(Op::OUTPUT_VALUES, [crosses.total])?;
    crosses.join(ctx, &mut values, &features(columns.tensors())?, &separator.as_slice::<TString>()?[0])?;
    set_indices(ctx, &crosses, count)?;
    ctx.set_output(Op::OUTPUT_VALUES, values)
}

/// The bytes of a number that TensorFlow hashes: as many as a dtype's number has.
fn hashed_bytes(value: &i64) -> [u8; 4] {
    (*value as u32).to_le_bytes()
}

#[register_kernel(device = Cpu)]
fn sparse_cross_hashed(ctx: &mut KernelContext<'_, ops::SparseCrossHashed>) -> Result<()> {
    type Op = ops::SparseCrossHashed;
    let columns = columns!(ctx, Op);
    let count = columns.rows(false)?;
    rows(count)?;
    let buckets = scalar(ctx.input(Op::NUM_BUCKETS)?, "num_buckets")?;
    let strong = ctx.input(Op::STRONG_HASH)?;
    ensure_scalar(strong, "strong_hash")?;
    let strong = strong.to_scalar::<bool>()?;
    let salt = ctx.input(Op::SALT)?.as_slice::<i64>()?;
    let &[first, second] = salt else {
        kernlink::bail!(InvalidArgument, "Input \"salt\" must have length 2 but has length {}", salt.len());
    };
    let key = [first as u64, second as u64];
    let crosses = columns.crosses(count)?;
    let mut output = ctx.allocate_output(Op::OUTPUT_VALUES, [crosses.total])?;
    let sparse = columns.values.len();
    let hash = |(n, features): (usize, Features<'_>)| match features {
        Features::Integers(values) if strong => {
            scratch::collected(values.iter().map(|value| siphash(key, &hashed_bytes(value))))
        }
        Features::Integers(values) if n < sparse => {
            scratch::collected(values.iter().map(|value| fingerprint64(&hashed_bytes(value))))
        }
        Features::Strings(texts) if strong => scratch::collected(texts.iter().map(|text| siphash(key, text))),
        features => features.fingerprints(),
    };
    let columns = features(columns.tensors())?.into_iter().enumerate().map(hash).collect::<Result<Vec<_>>>()?;
    crosses.hash(ctx, &mut output, &columns, None, buckets)?;
    set_indices(ctx, &crosses, count)?;
    ctx.set_output(Op::OUTPUT_VALUES, output)
}
