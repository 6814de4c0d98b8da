//! IsotonicRegression.

use kernlink::dtype::{Number, bf16, f16};
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink_kernels_common::number::Float;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// What the dtype of the input is computed in.
trait Regressed: Number {
    type Computed: Number + Float;

    fn exactly(self) -> Self::Computed;
}

macro_rules! regressed {
    ($($t:ty => $output:ty: $exactly:expr),*) => {$(
        impl Regressed for $t {
            type Computed = $output;
            #[inline(always)]
            fn exactly(self) -> $output { $exactly(self) }
        }
    )*};
}
regressed!(
    f16 => f16: |x| x, bf16 => bf16: |x| x, f32 => f32: |x| x, f64 => f64: |x| x,
    i8 => f32: f32::from, i16 => f32: f32::from, i32 => f64: f64::from, i64 => f64: |x| x as f64
);

/// Elements that have one value: those up to `end`, from where those before end.
struct Segment<T> {
    end: usize,
    sum: T,
    mean: T,
}

/// Solves for one sequence by merging neighbours that rise. (J. B. Kruskal, Nonmetric multidimensional scaling, 1964.)
fn segments<T: Regressed>(input: &[T], pools: &mut Vec<Segment<T::Computed>>) -> Result<()> {
    pools.clear();
    for (n, &x) in input.iter().enumerate() {
        let value = x.exactly();
        scratch::push(pools, Segment { end: n + 1, sum: value, mean: value })?;
        while let [.., before, last] = pools.as_slice()
            && last.mean > before.mean
        {
            let (end, sum) = (last.end, last.sum);
            pools.pop();
            let start = pools.len().checked_sub(2).map_or(0, |n| pools[n].end);
            if let Some(before) = pools.last_mut() {
                before.end = end;
                before.sum += sum;
                before.mean = before.sum / T::Computed::from_i64((end - start) as i64);
            }
        }
    }
    Ok(())
}

#[register_kernel(device = Cpu, T = [f16], output_dtype = [half])]
#[register_kernel(device = Cpu, T = [bf16], output_dtype = [bfloat16])]
#[register_kernel(device = Cpu, T = [f32, i8, i16], output_dtype = [float])]
#[register_kernel(device = Cpu, T = [f64, i32, i64], output_dtype = [double])]
fn isotonic_regression<T: Regressed>(ctx: &mut KernelContext<'_, ops::IsotonicRegression>) -> Result<()> {
    type Op = ops::IsotonicRegression;
    let input = ctx.input(Op::INPUT)?;
    let shape = input.shape().clone();
    let width = shape.last().copied().unwrap_or(1);
    let mut output = ctx.allocate_output(Op::OUTPUT, shape.clone())?;
    let mut numbers = ctx.allocate_output(Op::SEGMENTS, shape)?;
    if output.num_elements() > 0 {
        let input = input.as_slice::<T>()?;
        let rows = output.as_mut_slice::<T::Computed>()?.chunks_exact_mut(width);
        let rows = rows.zip(numbers.as_mut_slice::<i32>()?.chunks_exact_mut(width));
        let mut rows: Vec<_> = scratch::collected(rows)?;
        ctx.try_parallel_chunks(&mut rows, 1, width.saturating_mul(10), |first, rows| {
            let mut pools = Vec::new();
            for (n, (solution, numbers)) in (first..).zip(rows) {
                segments(&input[n * width..][..width], &mut pools)?;
                let mut start = 0;
                for (number, pool) in pools.iter().enumerate() {
                    solution[start..pool.end].fill(pool.mean);
                    numbers[start..pool.end].fill(number as i32);
                    start = pool.end;
                }
            }
            Ok(())
        })?;
    }
    ctx.set_output(Op::OUTPUT, output)?;
    ctx.set_output(Op::SEGMENTS, numbers)
}
