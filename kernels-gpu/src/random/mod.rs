//! Random numbers: the bits are those of the kernels for the processor. What is made of them by logarithms and sines may
//! differ in the last places.

use kernlink::bail;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::op::Op as _;
use kernlink_geometry::random::philox::Philox;
use kernlink_geometry::random::source::{Keyed, Seeded, Source, Stateful};
use kernlink_geometry::random::{bounds, check_bounds, reserved, shape_of};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::windows::written;

/// How many numbers 128 bits make.
const GROUP: usize = 4;

/// What is made of random bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Distribution {
    /// From 0 up to but without 1.
    Uniform,
    Normal,
    /// Normal, between -2 and 2.
    Truncated,
    /// Integers of the whole range.
    Full,
    /// Integers between two bounds.
    Between,
}

impl Distribution {
    fn of_op(op: &str) -> Result<Distribution> {
        Ok(match op {
            "RandomUniform" | "StatelessRandomUniform" | "StatelessRandomUniformV2" => Distribution::Uniform,
            "RandomStandardNormal" | "StatelessRandomNormal" | "StatelessRandomNormalV2" => Distribution::Normal,
            "TruncatedNormal" | "StatelessTruncatedNormal" | "StatelessTruncatedNormalV2" => Distribution::Truncated,
            "StatelessRandomUniformFullInt" | "StatelessRandomUniformFullIntV2" => Distribution::Full,
            "RandomUniformInt" | "StatelessRandomUniformInt" | "StatelessRandomUniformIntV2" => Distribution::Between,
            other => bail!(Internal, "`{other}` draws no numbers"),
        })
    }

    /// The name that holds in the file's conditions.
    fn name(self) -> &'static str {
        match self {
            Distribution::Uniform => "uniform",
            Distribution::Normal => "normal",
            Distribution::Truncated => "truncated",
            Distribution::Full => "full",
            Distribution::Between => "between",
        }
    }
}

fn program((distribution, scalar): (Distribution, Scalar)) -> Program {
    let program = Program::trusted(format!("random numbers, {}", distribution.name())).alias("T", scalar);
    let program = program.write("result", scalar).words(PARAMS);
    let names = [scalar.names(), &[distribution.name()]].concat();
    program.compose(Entry::Elements, include_str!("random.wgsl"), &names)
}

const PARAMS: &str = "counter_0 counter_1 counter_2 counter_3 key_0 key_1 before length low range";

fn programs(op: &str, dtype: DataType) -> Result<Vec<Program>> {
    Ok(vec![program((Distribution::of_op(op)?, scalar_of(dtype)?))])
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Sets output 0 to numbers of a generator that follows from a source.
fn draw<S: Source>(ctx: &mut RawContext<'_>, op: &str, source: &S) -> Result<()> {
    let (gpu, distribution) = (GpuDevice::of(ctx)?, Distribution::of_op(op)?);
    source.check(ctx)?;
    let is_between = distribution == Distribution::Between;
    if S::CHECKS_ALL && is_between {
        check_bounds(ctx, S::PARAMETERS)?;
    }
    let output = gpu.allocate_output(ctx, 0, shape_of(ctx.input_at(S::SHAPE)?)?)?;
    let count = output.num_elements();
    if count > 0 || S::ALWAYS {
        let [low, high] = if is_between { bounds::<i32>(ctx, S::PARAMETERS)? } else { [0, 0] };
        let generator = source.generator(ctx, reserved(count))?;
        let key = (distribution, scalar_of(output.dtype())?);
        gpu.in_windows(count, &[written(&output)], |range, tensors| {
            let (group, before) = (range.start / GROUP, range.start % GROUP);
            let [a, b] = beginning(generator, distribution, group as u64).counter().map(halves);
            let seed = halves(generator.key());
            let range_of = high.wrapping_sub(low) as u32;
            let rest = [before as u32, range.len() as u32, low as u32, range_of];
            let params = [&a[..], &b, &seed, &rest].concat();
            let groups = Groups::Elements((before + range.len()).div_ceil(GROUP));
            gpu.run(program, key, tensors, &params, groups)
        })?;
    }
    ctx.set_output_at(0, output)
}

/// The generator at a group of numbers. What draws a varying number of bits gives each group as many as it may need.
fn beginning(mut generator: Philox, distribution: Distribution, group: u64) -> Philox {
    let steps = if distribution == Distribution::Truncated { reserved(1) } else { 1 };
    generator.skip(group.wrapping_mul(steps));
    generator
}

#[register_kernel(
    device = Gpu, op = [ops::RandomUniform, ops::RandomStandardNormal, ops::TruncatedNormal],
    dtype = [f32, f16 if "f16"], host_memory = ["shape"], programs = |dtype| programs(&O::DEF.name, dtype)
)]
#[register_kernel(
    device = Gpu, op = ops::RandomUniformInt, Tout = [i32], host_memory = ["shape", "minval", "maxval"],
    programs = |Tout| programs(&O::DEF.name, Tout)
)]
fn stateful(source: &Stateful, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    draw(ctx, &O::DEF.name, source)
}

#[register_kernel(
    device = Gpu, op = [ops::StatelessRandomUniform, ops::StatelessRandomNormal, ops::StatelessTruncatedNormal],
    dtype = [f32, f16 if "f16"], host_memory = ["shape", "seed"], programs = |dtype| programs(&O::DEF.name, dtype)
)]
#[register_kernel(
    device = Gpu, op = ops::StatelessRandomUniformFullInt, dtype = [i32, u32], host_memory = ["shape", "seed"],
    programs = |dtype| programs(&O::DEF.name, dtype)
)]
#[register_kernel(
    device = Gpu, op = ops::StatelessRandomUniformInt, dtype = [i32],
    host_memory = ["shape", "seed", "minval", "maxval"], programs = |dtype| programs(&O::DEF.name, dtype)
)]
fn stateless(source: &Seeded, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    draw(ctx, &O::DEF.name, source)
}

#[register_kernel(
    device = Gpu, op = [ops::StatelessRandomUniformV2, ops::StatelessRandomNormalV2, ops::StatelessTruncatedNormalV2],
    dtype = [f32, f16 if "f16"], host_memory = ["shape", "key", "counter", "alg"],
    programs = |dtype| programs(&O::DEF.name, dtype)
)]
#[register_kernel(
    device = Gpu, op = ops::StatelessRandomUniformFullIntV2, dtype = [i32, u32],
    host_memory = ["shape", "key", "counter", "alg"], programs = |dtype| programs(&O::DEF.name, dtype)
)]
#[register_kernel(
    device = Gpu, op = ops::StatelessRandomUniformIntV2, dtype = [i32],
    host_memory = ["shape", "key", "counter", "alg", "minval", "maxval"],
    programs = |dtype| programs(&O::DEF.name, dtype)
)]
fn keyed(source: &Keyed, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    draw(ctx, &O::DEF.name, source)
}
