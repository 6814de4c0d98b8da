//! AddN, AccumulateNV2.

use kernlink::dtype::{DataType, Number};
use kernlink::kernel::{ElementWise, KernelContext, Meet, RawConstruction, RawContext};
use kernlink::shape::PartialShape;
use kernlink::tensor::{Tensor, Variant};
use kernlink::{Result, ensure};
use kernlink_geometry::element_wise::{GROUP, ensure_term, first_group};
use kernlink_kernels_common::tensors::add_variants;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops::{AccumulateNV2, Add, AddN};

use super::binary::{Binary, BinaryFn};

/// Elements that are summed over all inputs before the next ones, so that the sums stay in the cache.
const PIECE: usize = 2048;

/// Whether elements are computed as another dtype.
const fn is_half<T: Number>() -> bool {
    matches!(T::DTYPE, DataType::Half | DataType::Bfloat16)
}

/// Sums of the elements of both.
fn add<T: Number>(a: &[T], b: &[T], sums: &mut [T])
where
    Add: BinaryFn<T, Out = T>,
{
    if is_half::<T>() { Add::slice(a, b, sums) } else { add_as_they_are(a, b, sums) }
}

/// Adds `other` to the sums.
fn add_to<T: Number>(sums: &mut [T], other: &[T])
where
    Add: BinaryFn<T, Out = T>,
{
    if !is_half::<T>() {
        return add_to_as_they_are(sums, other);
    }
    // The loop of two inputs writes to neither.
    let mut before = [T::ZERO; 256];
    for (sums, other) in sums.chunks_mut(before.len()).zip(other.chunks(before.len())) {
        let before = &mut before[..sums.len()];
        before.copy_from_slice(sums);
        Add::slice(before, &other[..sums.len()], sums);
    }
}

widest! {
    /// [`add`] of a dtype that is computed as it is.
    fn add_as_they_are<T: Number>(a: &[T], b: &[T], sums: &mut [T]) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum = a.wrapping_add(b);
        }
    }
}

widest! {
    /// [`add_to`] of a dtype that is computed as it is.
    fn add_to_as_they_are<T: Number>(sums: &mut [T], other: &[T]) {
        for (sum, &other) in sums.iter_mut().zip(other) {
            *sum = sum.wrapping_add(other);
        }
    }
}

/// The shape that AccumulateNV2 says its inputs have.
fn stated_shape(ctx: &RawConstruction<'_>) -> Result<PartialShape> {
    match ctx.attrs.get("shape") {
        Some(_) => ctx.attrs.required("shape"),
        None => Ok(PartialShape::unknown()),
    }
}

/// The sum of all inputs. TensorFlow makes other nodes of AccumulateNV2 before it runs.
#[register_kernel(
    device = Cpu,
    op = [AddN, AccumulateNV2],
    T = [realnumbertype, Complex32, Complex64],
    state = |ctx| stated_shape(ctx),
    element_wise = Some(ElementWise {
        parameter: None,
        meet: Meet::Equal,
        // Of more the order of the sums is not that of their terms.
        function: |inputs, output| match inputs {
            [_, _] => const { &Binary::<Add, T>::SPEC }.for_dtypes(false, inputs, output),
            _ => None,
        },
    })
)]
fn sum<T: Number>(stated: &PartialShape, ctx: &mut RawContext<'_>) -> Result<()>
where
    Add: BinaryFn<T, Out = T>,
{
    let first = ctx.input_at(0)?;
    ensure!(
        stated.accepts(first.shape()),
        InvalidArgument,
        "attr `shape` says {stated}, and the inputs have the shape {}",
        first.shape()
    );
    let mut first = ctx.take_input_at(0)?;
    for i in 1..ctx.num_inputs() {
        ensure_term(first.shape(), i, ctx.input_at(i)?.shape())?;
    }
    if ctx.num_inputs() == 1 {
        return ctx.set_output_at(0, first);
    }
    // What is summed up in place, or else the output and the first summand.
    let (mut output, first) =
        if first.is_unique() { (first, None) } else { (ctx.allocate_output_at(0, first.shape())?, Some(first)) };
    let first = first.as_ref().map(|first| first.as_slice::<T>()).transpose()?;
    let others = (1..ctx.num_inputs()).map(|i| ctx.input_at(i)?.as_slice::<T>()).collect::<Result<Vec<_>>>()?;
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, PIECE, others.len(), |start, sums| {
        for (index, sums) in sums.chunks_mut(PIECE).enumerate() {
            let start = start + index * PIECE;
            let (mut near, far) = others.split_at(first_group(1 + others.len()) - 1);
            if let (Some(first), Some((second, rest))) = (first, near.split_first()) {
                add(&first[start..][..sums.len()], &second[start..][..sums.len()], sums);
                near = rest;
            }
            for other in near {
                add_to(sums, &other[start..]);
            }
            for group in far.chunks(GROUP) {
                let mut partial = group[0][start..][..sums.len()].to_vec();
                for other in &group[1..] {
                    add_to(&mut partial, &other[start..]);
                }
                add_to(sums, &partial);
            }
        }
    });
    ctx.set_output_at(0, output)
}

/// AddN of variants, whose types say what their sum is.
#[register_kernel(device = Cpu, T = [variant])]
fn add_n(ctx: &mut KernelContext<'_, AddN>) -> Result<()> {
    let mut sum = ctx.take_input_at(0)?;
    for i in 1..ctx.num_inputs() {
        let other = ctx.input_at(i)?;
        ensure!(
            sum.rank() == 0 && other.rank() == 0,
            InvalidArgument,
            "AddN of non-scalar Tensor with dtype=DT_VARIANT is not supported; inputs have shapes {} and {}",
            sum.shape(),
            other.shape()
        );
        sum = Tensor::scalar(add_variants(&sum.as_slice::<Variant>()?[0], &other.as_slice::<Variant>()?[0])?);
    }
    ctx.set_output_at(0, sum)
}
