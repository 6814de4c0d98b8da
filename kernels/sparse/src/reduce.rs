//! SparseReduceSum, SparseReduceMax, their sparse forms, and SparseSoftmax.

use kernlink::dtype::{Number, RealNumber};
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_kernels_common::number::{Computed, Float};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::coo::Coo;

/// How the values of a group become one. A group is never empty.
trait Reduce<T>: Send + Sync + 'static {
    fn reduce(values: impl Iterator<Item = T>) -> T;
}

/// The results of groups of a tensor's elements.
type ReduceGroups = fn(&Tensor, &[&[usize]]) -> Result<Tensor>;

fn reduce_groups<R: Reduce<T>, T: Number>(values: &Tensor, groups: &[&[usize]]) -> Result<Tensor> {
    let values = values.as_slice::<T>()?;
    let mut results = Tensor::alloc(T::DTYPE, [groups.len()])?;
    for (result, group) in results.as_mut_slice::<T>()?.iter_mut().zip(groups) {
        *result = R::reduce(group.iter().map(|&n| values[n]));
    }
    Ok(results)
}

struct Sum;
struct Max;

impl<T: Computed> Reduce<T> for Sum {
    fn reduce(values: impl Iterator<Item = T>) -> T {
        T::narrow(values.fold(T::Wide::ZERO, |sum, value| sum.wrapping_add(value.widen())))
    }
}

impl<T: RealNumber> Reduce<T> for Max {
    fn reduce(values: impl Iterator<Item = T>) -> T {
        values.reduce(|greatest, value| if greatest < value { value } else { greatest }).unwrap_or(T::ZERO)
    }
}

/// What is reduced.
struct Plan {
    /// The axes that stay.
    kept: Vec<usize>,
    /// The elements, sorted so that those of a group are neighbours.
    order: Vec<usize>,
    /// For each axis of the output the axis of the input; `None` for a reduced one.
    axes: Vec<Option<usize>>,
    output: Shape,
}

impl Plan {
    fn new(coo: &Coo<'_>, axes: &Tensor, keep_dims: bool) -> Result<Plan> {
        ensure!(
            axes.rank() <= 1,
            InvalidArgument,
            "Expected reduction_axes to be a scalar or a vector; got shape: {}",
            axes.shape()
        );
        let (rank, mut reduced) = (coo.rank(), vec![false; coo.rank()]);
        for axis in axes.to_i64_vec()? {
            let given = axis;
            let axis = if axis < 0 { axis + rank as i64 } else { axis };
            let Some(slot) = usize::try_from(axis).ok().and_then(|axis| reduced.get_mut(axis)) else {
                bail!(InvalidArgument, "Invalid reduction dimension {given}, for input with {rank} dimensions.");
            };
            *slot = true;
        }
        let (gone, kept): (Vec<usize>, Vec<usize>) = (0..rank).partition(|&axis| reduced[axis]);
        let shape = coo.shape()?;
        let axes: Vec<Option<usize>> = if keep_dims {
            (0..rank).map(|axis| (!reduced[axis]).then_some(axis)).collect()
        } else {
            kept.iter().copied().map(Some).collect()
        };
        let output = axes.iter().map(|axis| axis.map_or(1, |axis| shape[axis])).collect();
        let order = coo.sorted_by(&[kept.as_slice(), &gone].concat())?;
        Ok(Plan { kept, order, axes, output })
    }
}

/// All that is the same for every dtype.
fn compute(ctx: &mut RawContext<'_>, keep_dims: bool, reduce: ReduceGroups) -> Result<()> {
    let values = ctx.input_at(1)?;
    let coo = Coo::new(ctx.input_at(0)?, values, ctx.input_at(2)?)?;
    let plan = Plan::new(&coo, ctx.input_at(3)?, keep_dims)?;
    let groups: Vec<&[usize]> = scratch::collected(coo.groups(&plan.order, &plan.kept))?;
    let reduced = reduce(values, &groups)?;
    if ctx.num_outputs() == 1 {
        let mut output = ctx.allocate_output_at(0, &plan.output)?;
        let (strides, size) = (plan.output.strides(), reduced.dtype().size());
        let elements = output.bytes_mut()?;
        // Zeros of every number.
        elements.fill(0);
        for (group, value) in groups.iter().zip(reduced.bytes()?.chunks_exact(size)) {
            let index = coo.index(group[0]);
            let place = plan.axes.iter().zip(&strides).fold(0i64, |place, (axis, &stride)| {
                place.wrapping_add(axis.map_or(0, |axis| index[axis]).wrapping_mul(stride as i64))
            });
            let slot = usize::try_from(place).ok().and_then(|place| {
                let first = place.checked_mul(size)?;
                elements.get_mut(first..first.checked_add(size)?)
            });
            slot.ok_or_else(|| outside(place, &plan.output))?.copy_from_slice(value);
        }
        return ctx.set_output_at(0, output);
    }
    let rank = plan.axes.len();
    let mut indices: Vec<i64> = scratch::room(groups.len().saturating_mul(rank))?;
    for group in &groups {
        let index = coo.index(group[0]);
        indices.extend(plan.axes.iter().map(|axis| axis.map_or(0, |axis| index[axis])));
    }
    ctx.set_output_at(0, Tensor::from_elements([groups.len(), rank], &indices)?)?;
    ctx.set_output_at(1, reduced)?;
    ctx.set_output_at(2, Tensor::vector(&plan.output.to_i64())?)
}

fn outside(place: i64, output: &Shape) -> Error {
    let message =
        format!("Obtained a write index of {place} which is outside of bounds of [0, {})", output.num_elements());
    Error::internal(message)
}

// Ops with inputs `input_indices`, `input_values`, `input_shape`, `reduction_axes` and attr `keep_dims`, and with one output
// or those of a sparse tensor.
#[register_kernel(
    device = Cpu,
    op = [ops::SparseReduceSum, ops::SparseReduceSumSparse],
    T = [realnumbertype, Complex64, Complex32],
    state = |ctx| ctx.attrs.required("keep_dims"),
)]
fn sum<T: Computed>(&keep_dims: &bool, ctx: &mut RawContext<'_>) -> Result<()> {
    compute(ctx, keep_dims, reduce_groups::<Sum, T>)
}

#[register_kernel(
    device = Cpu,
    op = [ops::SparseReduceMax, ops::SparseReduceMaxSparse],
    T = [realnumbertype],
    state = |ctx| ctx.attrs.required("keep_dims"),
)]
fn max<T: RealNumber>(&keep_dims: &bool, ctx: &mut RawContext<'_>) -> Result<()> {
    compute(ctx, keep_dims, reduce_groups::<Max, T>)
}

/// Replaces numbers by their softmax.
fn softmax<T: Float + std::iter::Sum>(values: &mut [T]) {
    let greatest = values.iter().copied().fold(T::neg_infinity(), T::max);
    values.iter_mut().for_each(|value| *value = (*value - greatest).exp());
    let factor = T::one() / values.iter().copied().sum();
    values.iter_mut().for_each(|value| *value = *value * factor);
}

#[register_kernel(device = Cpu, op = ops::SparseSoftmax, T = [f16, f32, f64])]
fn sparse_softmax<T: Computed<Wide: Float + std::iter::Sum>>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let values = ctx.input(O::SP_VALUES)?;
    let coo = Coo::new(ctx.input(O::SP_INDICES)?, values, ctx.input(O::SP_SHAPE)?)?;
    ensure!(coo.rank() >= 2, InvalidArgument, "Input should have rank >= 2, but received shape: {:?}", coo.sizes);
    coo.shape()?;
    let values = values.as_slice::<T>()?;
    let axes: Vec<usize> = (0..coo.rank()).collect();
    let order = coo.sorted_by(&axes)?;
    let mut output = ctx.allocate_output(O::OUTPUT, [coo.len()])?;
    let mut slots = output.as_mut_slice::<T>()?.iter_mut();
    for row in coo.groups(&order, &axes[..coo.rank() - 1]) {
        let mut sums: Vec<T::Wide> = scratch::collected(row.iter().map(|&n| values[n].widen()))?;
        softmax(&mut sums);
        sums.iter().zip(&mut slots).for_each(|(&sum, slot)| *slot = T::narrow(sum));
    }
    ctx.set_output(O::OUTPUT, output)
}
