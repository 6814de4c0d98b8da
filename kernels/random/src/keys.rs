//! Keys and counters from seeds.

use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink_macros::register_kernel;
use kernlink_ops::{StatelessRandomGetAlg, StatelessRandomGetKeyCounter, StatelessRandomGetKeyCounterAlg};

use super::source::{PHILOX, seeded};

/// Sets outputs 0 and 1 to what follows from the seed, input 0.
fn key_counter(ctx: &mut RawContext<'_>) -> Result<()> {
    let generator = seeded(ctx.input_at(0)?)?;
    ctx.set_output_at(0, Tensor::vector(&[generator.key()])?)?;
    ctx.set_output_at(1, Tensor::vector(&generator.counter())?)
}

#[register_kernel(device = Cpu, host_memory = ["seed", "key", "counter"], cheap)]
fn get_key_counter(ctx: &mut KernelContext<'_, StatelessRandomGetKeyCounter>) -> Result<()> {
    key_counter(ctx)
}

#[register_kernel(device = Cpu, host_memory = ["seed", "key", "counter", "alg"], cheap)]
fn get_key_counter_alg(ctx: &mut KernelContext<'_, StatelessRandomGetKeyCounterAlg>) -> Result<()> {
    key_counter(ctx)?;
    ctx.set_output(StatelessRandomGetKeyCounterAlg::ALG, Tensor::scalar(PHILOX))
}

#[register_kernel(device = Cpu, host_memory = ["alg"], cheap)]
fn get_alg(ctx: &mut KernelContext<'_, StatelessRandomGetAlg>) -> Result<()> {
    ctx.set_output(StatelessRandomGetAlg::ALG, Tensor::scalar(PHILOX))
}
