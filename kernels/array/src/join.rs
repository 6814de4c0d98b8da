//! Several tensors into one: Concat, ConcatV2, Pack, ParallelConcat.

use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::{bail, ensure};
use kernlink_geometry::concat::{Joined, concatenated, packed};
use kernlink_kernels_common::strided::{Run as _, StridedCopy};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Sets output 0 to inputs that stand side by side in its rows.
fn join(ctx: &mut RawContext<'_>, joined: Joined) -> Result<()> {
    let Joined { shape, filled, rows } = joined;
    // A join with empty tensors is the one that is not empty.
    if let [only] = filled[..] {
        let output = ctx.take_input_at(only)?.reshaped(shape)?;
        return ctx.set_output_at(0, output);
    }
    let mut output = ctx.allocate_output_at(0, shape)?;
    let row = output.num_elements() / rows.max(1);
    let mut start = 0;
    for index in filled {
        let input = ctx.input_at(index)?;
        let run = input.num_elements() / rows;
        let copy = StridedCopy::new(start, 0).step(rows, row, run as isize).step(run, 1, 1);
        copy.run(ctx, &mut output, input)?;
        start += run;
    }
    ctx.set_output_at(0, output)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["concat_dim"],
    T = [numbertype, bool, float8_e4m3fn, float8_e5m2, string],
)]
#[register_kernel(device = Default, T = [int32], host_memory = ["concat_dim", "values", "output"])]
fn concat_kernel(ctx: &mut KernelContext<'_, ops::Concat>) -> Result<()> {
    let count = ctx.num_inputs();
    let joined = concatenated(ctx, 1..count, 0, "concat_dim")?;
    join(ctx, joined)
}

#[register_kernel(device = Cpu, host_memory = ["axis"], T = [numbertype, bool, float8_e4m3fn, float8_e5m2, string])]
#[register_kernel(device = Default, T = [int32], host_memory = ["values", "axis", "output"])]
fn concat_v2(ctx: &mut KernelContext<'_, ops::ConcatV2>) -> Result<()> {
    let axis = ctx.num_inputs() - 1;
    let joined = concatenated(ctx, 0..axis, axis, "axis")?;
    join(ctx, joined)
}

#[register_kernel(device = Cpu, T = [numbertype, bool, float8_e4m3fn, float8_e5m2, resource, string, variant])]
#[register_kernel(device = Default, T = [int32], host_memory = ["values", "output"])]
fn pack(attrs: &Attrs<ops::Pack>, ctx: &mut KernelContext<'_, ops::Pack>) -> Result<()> {
    let joined = packed(ctx, attrs.axis)?;
    join(ctx, joined)
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64, string])]
fn parallel_concat(attrs: &Attrs<ops::ParallelConcat>, ctx: &mut KernelContext<'_, ops::ParallelConcat>) -> Result<()> {
    let count = ctx.num_inputs();
    let Some(shape) = attrs.shape.to_shape() else {
        bail!(InvalidArgument, "shape attr must be fully defined, not {}", attrs.shape);
    };
    ensure!(
        shape.rank() > 0 && shape[0] == count,
        InvalidArgument,
        "shape is {shape}, which has no row for each of the {count} values"
    );
    for index in 0..count {
        let value = ctx.input_at(index)?.shape();
        ensure!(
            value.rank() == shape.rank() && value[0] == 1 && value[1..] == shape[1..],
            InvalidArgument,
            "value {index} has shape {value}, which is no row of {shape}"
        );
    }
    let filled = if shape.num_elements() > 0 { (0..count).collect() } else { Default::default() };
    join(ctx, Joined { shape, filled, rows: 1 })
}
