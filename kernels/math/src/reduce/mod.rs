//! Reductions along axes: Sum, Mean, Prod, Max, Min, All, Any and L2Loss; ArgMax and ArgMin; Cumsum and Cumprod;
//! segments; counts.

mod arg;
mod count;
mod drive;
mod norm;
mod plan;
mod reducer;
mod scan;
mod segment;

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::op::Op;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_macros::register_kernel;
use kernlink_ops::{All, Any, L2Loss, Max, Mean, Min, Prod, Sum};

use plan::Plan;
pub(crate) use reducer::Summand;
use reducer::{HalfSquares, MaxOf, MeanOf, MinOf, ProdOf, Reducer, SumOf};

/// An op with inputs `input` and `reduction_indices`, attr `keep_dims` and one output.
struct Reduction<R, T> {
    keep_dims: bool,
    reducer: PhantomData<fn(T) -> R>,
}

impl<O: Op, R: Reducer<T>, T: Pod> OpKernel<O> for Reduction<R, T> {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let ctx: &RawConstruction<'_> = ctx;
        Ok(Self { keep_dims: ctx.attrs.required("keep_dims")?, reducer: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        compute::<R, T>(ctx, self.keep_dims)
    }
}

fn compute<R: Reducer<T>, T: Pod>(ctx: &mut RawContext<'_>, keep_dims: bool) -> Result<()> {
    compute_by(ctx, keep_dims, |ctx, plan, input, output| {
        fill::<R, T>(ctx, plan, input.as_slice()?, output.as_mut_slice()?)
    })
}

/// Reduces a tensor to another by a plan.
type Fill = fn(&RawContext<'_>, Plan, &Tensor, &mut Tensor) -> Result<()>;

/// What reductions of all kinds and dtypes have in common.
#[inline(never)]
fn compute_by(ctx: &mut RawContext<'_>, keep_dims: bool, fill: Fill) -> Result<()> {
    let input = ctx.input_at(0)?;
    let plan = Plan::new(input.shape(), &ctx.input_at(1)?.to_i64_vec()?, keep_dims)?;
    if plan.is_copy() {
        let output = input.clone().reshaped(plan.output)?;
        return ctx.set_output_at(0, output);
    }
    let mut output = ctx.allocate_output_at(0, plan.output.clone())?;
    fill(ctx, plan, input, &mut output)?;
    ctx.set_output_at(0, output)
}

fn fill<R: Reducer<T>, T: Pod>(ctx: &RawContext<'_>, plan: Plan, input: &[T], output: &mut [T]) -> Result<()> {
    if input.is_empty() {
        output.fill(R::finish(R::IDENTITY, 0));
        return Ok(());
    }
    drive::reduce::<R, T>(ctx, plan, input, output)
}

/// The sums of the rows of a matrix of `columns` columns: one for each element of `sums`.
pub(crate) fn sum_rows<T: Summand>(ctx: &RawContext<'_>, matrix: &[T], columns: usize, sums: &mut [T]) -> Result<()> {
    if !sums.is_empty() {
        let plan = Plan::new(&Shape::from([sums.len(), columns]), &[1], false)?;
        if plan.is_copy() { sums.copy_from_slice(matrix) } else { fill::<SumOf, T>(ctx, plan, matrix, sums)? }
    }
    Ok(())
}

#[register_kernel(device = Cpu, op = Sum, T = [realnumbertype, Complex32, Complex64], Tidx = [int32, int64])]
type SumKernel<T> = Reduction<SumOf, T>;

#[register_kernel(device = Cpu, op = Mean, T = [realnumbertype, Complex32, Complex64], Tidx = [int32, int64])]
type MeanKernel<T> = Reduction<MeanOf, T>;

#[register_kernel(device = Cpu, op = Prod, T = [realnumbertype, Complex32, Complex64], Tidx = [int32, int64])]
type ProdKernel<T> = Reduction<ProdOf, T>;

#[register_kernel(device = Cpu, op = Max, T = [realnumbertype], Tidx = [int32, int64])]
type MaxKernel<T> = Reduction<MaxOf, T>;

#[register_kernel(device = Cpu, op = Min, T = [realnumbertype], Tidx = [int32, int64])]
type MinKernel<T> = Reduction<MinOf, T>;

// Of bools, all hold if the least does, and any does if the greatest does.
#[register_kernel(device = Cpu, op = All, Tidx = [int32, int64], host_memory = ["reduction_indices"])]
type AllKernel = Reduction<MinOf, bool>;

#[register_kernel(device = Cpu, op = Any, Tidx = [int32, int64], host_memory = ["reduction_indices"])]
type AnyKernel = Reduction<MaxOf, bool>;

#[register_kernel(device = Cpu, T = [f32, f64, f16, bf16])]
fn l2_loss<T: Pod>(ctx: &mut KernelContext<'_, L2Loss>) -> Result<()>
where
    HalfSquares: Reducer<T>,
{
    let input = ctx.input(L2Loss::T)?;
    let plan = Plan::new(&Shape::from([input.num_elements()]), &[0], false)?;
    let mut output = ctx.allocate_output(L2Loss::OUTPUT, Shape::scalar())?;
    fill::<HalfSquares, T>(ctx, plan, input.as_slice()?, output.as_mut_slice()?)?;
    ctx.set_output(L2Loss::OUTPUT, output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::dtype::f16;
    use kernlink::op::{OpDef, Signature};

    fn reduce<R: Reducer<T>, T: Pod>(dims: &[usize], axes: &[i64], input: &[T]) -> Vec<T> {
        reduce_on::<R, T>(2, dims, axes, input)
    }

    fn reduce_on<R: Reducer<T>, T: Pod>(helpers: usize, dims: &[usize], axes: &[i64], input: &[T]) -> Vec<T> {
        let pool = kernlink::threads::ThreadPool::new("test", helpers);
        let signature = Signature::default();
        let ctx = RawContext::new("node", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        let plan = Plan::new(&Shape::from(dims), axes, false).unwrap();
        let mut output = vec![T::default(); plan.output.num_elements()];
        fill::<R, T>(&ctx, plan, input, &mut output).unwrap();
        output
    }

    #[test]
    fn sums_are_the_same_on_any_number_of_threads() {
        for (dims, axes) in [([1000, 100, 3], [1]), ([70, 40, 130], [1]), ([3, 50, 5000], [1]), ([400, 6, 7], [0])] {
            let input: Vec<f32> = (0..dims.iter().product()).map(|i: usize| (i * 7919 % 1013) as f32 * 0.37).collect();
            let [one, two, many] = [0, 1, 7].map(|helpers| reduce_on::<SumOf, f32>(helpers, &dims, &axes, &input));
            assert!(one == two && one == many, "{dims:?} {axes:?}");
        }
    }

    fn by_definition(dims: &[usize], axes: &[i64], input: &[i64]) -> Vec<i64> {
        let shape = Shape::from(dims);
        let strides = Plan::new(&shape, axes, true).unwrap().output;
        let mut sums = vec![0; strides.num_elements()];
        for (number, &element) in input.iter().enumerate() {
            let mut place = 0;
            for (axis, stride) in shape.strides().iter().enumerate() {
                place = place * strides[axis] + if strides[axis] == 1 { 0 } else { number / stride % dims[axis] };
            }
            sums[place] += element;
        }
        sums
    }

    #[test]
    fn all_ways_through_the_loops_agree_with_the_definition() {
        let cases: [(&[usize], &[&[i64]]); 8] = [
            (&[7], &[&[0]]),
            (&[5, 6], &[&[0], &[1], &[0, 1]]),
            (&[2, 3, 1, 5, 2], &[&[0, 3], &[1, 4], &[0, 1], &[3], &[1, 2, 3]]),
            (&[300, 5000], &[&[0], &[1], &[0, 1]]),
            (&[3000, 3, 40], &[&[0], &[1], &[2], &[0, 2], &[0, 1]]),
            (&[200_000], &[&[0]]),
            (&[100_000, 3], &[&[0], &[1]]),
            (&[2, 2, 100_000], &[&[1], &[0, 2], &[2]]),
        ];
        for (dims, all_axes) in cases {
            let input: Vec<i64> = (0..dims.iter().product::<usize>() as i64).map(|i| i * i % 1001).collect();
            for axes in all_axes {
                assert!(
                    reduce::<SumOf, i64>(dims, axes, &input) == by_definition(dims, axes, &input),
                    "{dims:?} {axes:?}"
                );
            }
        }
    }

    #[test]
    fn long_sums_of_floats_stay_accurate() {
        let input = vec![0.1f32; 3_000_000];
        for (dims, axes) in [([3_000_000, 1], [0]), ([1_000_000, 3], [0]), ([10, 300_000], [1])] {
            let count = 3_000_000 / if dims[0] == 10 { 10 } else { dims[1] };
            for sum in reduce::<SumOf, f32>(&dims, &axes, &input) {
                let exact = f64::from(0.1f32) * count as f64;
                assert!((f64::from(sum) / exact - 1.0).abs() < 1e-6, "{sum} for {exact}");
            }
        }
    }

    #[test]
    fn nan_and_nothing() {
        let mut input = vec![1.0f32; 100];
        input[40] = f32::NAN;
        assert!(reduce::<MaxOf, f32>(&[100], &[0], &input)[0].is_nan());
        assert!(reduce::<MinOf, f32>(&[50, 2], &[0], &input)[0].is_nan());
        assert_eq!(reduce::<MaxOf, f32>(&[0, 2], &[0], &[]), [f32::NEG_INFINITY; 2]);
        assert_eq!(reduce::<MinOf, u8>(&[2, 0], &[1], &[]), [255; 2]);
        assert_eq!(reduce::<MeanOf, i32>(&[0], &[0], &[]), [0]);
        assert!(reduce::<MeanOf, f16>(&[0], &[0], &[])[0].is_nan());
        assert_eq!(reduce::<MeanOf, i8>(&[3], &[0], &[100, 100, 99]), [99]);
    }
}
