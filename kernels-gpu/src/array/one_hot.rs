//! OneHot.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink_geometry::indices::{self as geometry, OneHot};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::unit::{Unit, word};
use crate::device::{GpuDevice, Groups};
use crate::indices::Indices;
use crate::shader::{Entry, Program};
use crate::windows::{read, whole, written};

fn program((unit, index): (Unit, Indices)) -> Program {
    let program = index.read(unit.program(format!("one-hot of {unit:?} by {index:?} indices")), "indices");
    let program = unit.write(unit.read(unit.read(program, "on"), "off"), "y").words("depth suffix");
    program.compose(Entry::Elements, include_str!("one_hot.wgsl"), index.names())
}

fn key(dtype: DataType, indices: DataType) -> Result<(Unit, Indices)> {
    Ok((Unit::of(dtype)?, Indices::of(indices)?))
}

#[register_kernel(
    device = Gpu, op = ops::OneHot, T = [f32, i32, u32, bool, i64, f16 if "f16"], TI = [i32, i64],
    host_memory = ["depth"], programs = |T, TI| Ok(vec![program(key(T, TI)?)]), state = |ctx| Ok(ctx.attrs().axis)
)]
fn one_hot(&axis: &i64, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (gpu, indices) = (GpuDevice::of(ctx)?, ctx.input(O::INDICES)?);
    let (hot, cold) = (ctx.input(O::ON_VALUE)?, ctx.input(O::OFF_VALUE)?);
    let OneHot { shape, depth, suffix } = geometry::one_hot(indices.shape(), axis, ctx.input(O::DEPTH)?, [hot, cold])?;
    let output = gpu.output(ctx, O::OUTPUT, shape)?;
    if output.num_elements() > 0 {
        let shader = gpu.shader(program, key(output.dtype(), indices.dtype())?);
        let parts = [read(indices), whole(hot), whole(cold), written(&output)];
        gpu.in_windows(indices.num_elements() / suffix, &parts, |rows, tensors| {
            let groups = Groups::Elements(rows.len() * depth * suffix);
            gpu.dispatch(&shader, tensors, &[depth, suffix].map(word), groups)
        })?;
    }
    ctx.set_output(O::OUTPUT, output)
}
