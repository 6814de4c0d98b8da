//! SparseDenseCwiseAdd, SparseDenseCwiseMul and SparseDenseCwiseDiv.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::op::Op;
use kernlink::tensor::scratch;
use kernlink_kernels_common::number::Divide;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::Coo;

/// What is done with an element and the dense one in its place.
trait Combine: Send + Sync + 'static {
    /// Whether the dense one must not be zero.
    const DIVIDES: bool = false;
    fn combine<T: Divide>(sparse: T, dense: T) -> T;
}

impl Combine for ops::SparseDenseCwiseAdd {
    fn combine<T: Divide>(sparse: T, dense: T) -> T {
        sparse.wrapping_add(dense)
    }
}

impl Combine for ops::SparseDenseCwiseMul {
    fn combine<T: Divide>(sparse: T, dense: T) -> T {
        sparse.wrapping_mul(dense)
    }
}

impl Combine for ops::SparseDenseCwiseDiv {
    const DIVIDES: bool = true;
    fn combine<T: Divide>(sparse: T, dense: T) -> T {
        sparse.divide(dense)
    }
}

#[register_kernel(
    device = Cpu,
    op = [ops::SparseDenseCwiseAdd, ops::SparseDenseCwiseMul, ops::SparseDenseCwiseDiv],
    T = [realnumbertype],
)]
fn cwise<O: Op + Combine, T: Divide>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let places = places(ctx)?;
    let (values, dense) = (ctx.input_at(1)?.as_slice::<T>()?, ctx.input_at(3)?.as_slice::<T>()?);
    let mut output = ctx.allocate_output_at(0, [values.len()])?;
    for ((slot, &value), place) in output.as_mut_slice::<T>()?.iter_mut().zip(values).zip(places) {
        let other = dense[place];
        ensure!(
            !O::DIVIDES || other != T::ZERO,
            InvalidArgument,
            "SparseDenseCwiseDiv cannot divide by zero, but input dense tensor contains zero"
        );
        *slot = O::combine(value, other);
    }
    ctx.set_output_at(0, output)
}

/// For each element of the sparse tensor where the dense one has its partner.
fn places(ctx: &RawContext<'_>) -> Result<Vec<usize>> {
    let coo = Coo::new(ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?)?;
    let (shape, dense) = (coo.shape()?, ctx.input_at(3)?.shape());
    let rank = shape.rank();
    ensure!(rank > 0, InvalidArgument, "The shape argument requires at least one element.");
    let fits = |(&size, &own): (&usize, &usize)| own == size || (own == 1 && size > 0);
    ensure!(
        dense.rank() <= rank && shape.iter().rev().zip(dense.iter().rev()).all(fits),
        InvalidArgument,
        "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: {shape} vs. {dense}"
    );
    ensure!(
        rank <= 5,
        InvalidArgument,
        "Only tensors with ranks between 1 and 5 are currently supported.  Tensor rank: {rank}"
    );
    let mut strides = dense.strides();
    strides.iter_mut().zip(dense.iter()).for_each(|(stride, &size)| *stride *= usize::from(size != 1));
    let missing = rank - dense.rank();
    let place = |n: usize| {
        let index = coo.index(n);
        ensure!(
            index.iter().zip(coo.sizes).all(|(index, &size)| (0..size).contains(index)),
            InvalidArgument,
            "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape"
        );
        Ok(index[missing..].iter().zip(&strides).map(|(&index, &stride)| index as usize * stride).sum())
    };
    scratch::collected_ok((0..coo.len()).map(place))
}
