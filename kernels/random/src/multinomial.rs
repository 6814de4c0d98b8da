//! Classes by their logits.

use kernlink::dtype::{DataType, Element};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::scratch::MakeRoom;
use kernlink_kernels_common::random_floats::uniform64;
use kernlink_macros::register_kernel;
use kernlink_ops::{Multinomial, StatelessMultinomial};

use super::drawn::doubles;
use super::fill::reserved;
use super::philox::{Philox, Words};
use super::source::{Stateful, seeded};

/// Sets output 0 to classes for the logits of input 0. `generator` is asked for one that takes so many steps.
fn draw(ctx: &mut RawContext<'_>, generator: impl FnOnce(u64) -> Philox) -> Result<()> {
    let (logits, samples) = (ctx.input_at(0)?, ctx.input_at(1)?);
    ensure!(logits.rank() == 2, InvalidArgument, "logits should be a matrix, not of shape {}", logits.shape());
    ensure!(samples.rank() == 0, InvalidArgument, "num_samples should be a scalar, not of shape {}", samples.shape());
    let samples = samples.to_scalar::<i32>()?;
    ensure!(samples >= 0, InvalidArgument, "num_samples should be non-negative, not {samples}");
    let (rows, classes, samples) = (logits.shape()[0], logits.shape()[1], samples as usize);
    for (size, name) in [(rows, "rows"), (classes, "classes")] {
        ensure!(i32::try_from(size).is_ok(), InvalidArgument, "the number of {name}, {size}, exceeds that of an int");
    }
    ensure!(classes > 0, InvalidArgument, "there should be at least one class");
    let mut output = ctx.allocate_output_at(0, [rows, samples])?;
    if output.num_elements() > 0 {
        let generator = generator(reserved(rows * samples.next_multiple_of(4) * 2));
        let rows = Rows { logits: &doubles(logits)?, classes, samples, generator };
        match output.dtype() {
            DataType::Int32 => rows.draw(ctx, output.as_mut_slice::<i32>()?, |class| class as i32)?,
            _ => rows.draw(ctx, output.as_mut_slice::<i64>()?, |class| class as i64)?,
        }
    }
    ctx.set_output_at(0, output)
}

/// The logits of all rows, which take their numbers from one sequence, row by row.
struct Rows<'a> {
    logits: &'a [f64],
    classes: usize,
    samples: usize,
    generator: Philox,
}

impl Rows<'_> {
    fn draw<U: Element>(
        &self,
        ctx: &RawContext<'_>,
        output: &mut [U],
        convert: impl Fn(usize) -> U + Sync,
    ) -> Result<()> {
        let &Rows { logits, classes, samples, generator } = self;
        // Nanoseconds of a class, and of a sample.
        let cost = (10 * classes / samples).saturating_add(40);
        ctx.try_parallel_chunks(output, samples, cost, |first, output| {
            let mut words = Words::after(generator, 2 * first as u64);
            let mut sums = Vec::new();
            let rows = logits[first / samples * classes..].chunks_exact(classes);
            for (logits, output) in rows.zip(output.chunks_exact_mut(samples)) {
                let finite = || logits.iter().filter(|logit| logit.is_finite());
                let greatest = finite().fold(f64::MIN, |greatest, &logit| greatest.max(logit));
                let mut total = 0.0;
                sums.clear();
                sums.make_room(logits.len())?;
                sums.extend(logits.iter().map(|&logit| {
                    if logit.is_finite() {
                        total += (logit - greatest).exp();
                    }
                    total
                }));
                for class in output {
                    let place = uniform64(words.word(), words.word()) * total;
                    *class = convert(sums.partition_point(|&sum| sum <= place));
                }
            }
            Ok(())
        })
    }
}

#[register_kernel(
    device = Cpu,
    T = [half, bfloat16, float, double],
    output_dtype = [int32, int64],
    state = |ctx| Stateful::from_attrs(ctx.attrs),
)]
fn multinomial(source: &Stateful, ctx: &mut KernelContext<'_, Multinomial>) -> Result<()> {
    draw(ctx, |steps| source.reserve(steps))
}

#[register_kernel(device = Cpu, T = [half, bfloat16, float, double], output_dtype = [int32, int64])]
fn stateless_multinomial(ctx: &mut KernelContext<'_, StatelessMultinomial>) -> Result<()> {
    let generator = seeded(ctx.input(StatelessMultinomial::SEED)?)?;
    draw(ctx, |_| generator)
}

#[cfg(test)]
mod tests {
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;

    use super::*;

    #[test]
    fn rows_are_the_same_on_any_number_of_threads() {
        let (classes, samples) = (10, 201);
        let logits: Vec<f64> = (0..64 * classes).map(|i| (i * 7 % 13) as f64 / 4.0).collect();
        let rows = Rows { logits: &logits, classes, samples, generator: Philox::new(5, [3, 0]) };
        let signature = Signature::default();
        let mut drawn = Vec::new();
        for threads in [1, 4] {
            let pool = ThreadPool::new("test", threads - 1);
            let ctx = RawContext::new("draw", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
            let mut output = vec![-1i32; 64 * samples];
            rows.draw(&ctx, &mut output, |class| class as i32).unwrap();
            assert!(output.iter().all(|class| (0..classes as i32).contains(class)));
            drawn.push(output);
        }
        assert_eq!(drawn[0], drawn[1]);
    }
}
