//! One value for all elements, and sequences: Fill, ZerosLike, OnesLike, Range.

use kernlink::bail;
use kernlink::dtype::{DataType, f16};
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::op::Op as _;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::fill::{filled, one};
use kernlink_geometry::sequence;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::strided::copies;
use super::unit::{Unit, pattern};
use crate::device::{GpuDevice, Groups, counted};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::transfer::device_bytes;
use crate::windows::{whole, written};

/// Vectors of 16 bytes that hold a tensor: memory goes on to a whole one.
fn vectors(tensor: &Tensor) -> Groups {
    Groups::Elements(device_bytes(tensor.dtype(), tensor.num_elements()).div_ceil(Unit::Quad.bytes()))
}

/// The program that fills with eight bytes.
pub(super) fn program((): ()) -> Program {
    let program = Program::trusted("fill").write_vectors("y", Scalar::U32, 4).words("low high");
    program.compose(Entry::Elements, include_str!("fill.wgsl"), &[])
}

/// The program that fills with the one element of a tensor.
pub(super) fn spread_program((): ()) -> Program {
    let program = Program::trusted("fill with an element").read("x", Scalar::U32).write_vectors("y", Scalar::U32, 4);
    program.words("bytes").compose(Entry::Elements, include_str!("fill.wgsl"), &["spread"])
}

/// The shaders that fill, and those that copy elements of a dtype.
pub(crate) fn with_copies(dtype: DataType) -> Result<Vec<Program>> {
    Ok([vec![program(())], copies(dtype)?].concat())
}

/// Sets all elements to a value of which these are the bytes; see [`pattern`].
pub(super) fn fill(gpu: &GpuDevice, target: &Tensor, bytes: [u32; 2]) -> Result<()> {
    gpu.in_windows(target.num_elements(), &[written(target)], |_, tensors| {
        gpu.run(program, (), tensors, &bytes, vectors(tensors[0]))
    })
}

/// A tensor of zeros.
pub(crate) fn zeros(gpu: &GpuDevice, dtype: DataType, shape: Shape) -> Result<Tensor> {
    let zeros = gpu.allocate(dtype, shape)?;
    fill(gpu, &zeros, [0; 2])?;
    Ok(zeros)
}

/// Sets all elements to the one of `value`, which is on the device.
pub(super) fn fill_with(gpu: &GpuDevice, target: &Tensor, value: &Tensor) -> Result<()> {
    let bytes = Unit::of(value.dtype())?.bytes() as u32;
    gpu.in_windows(target.num_elements(), &[whole(value), written(target)], |_, tensors| {
        gpu.run(spread_program, (), tensors, &[bytes], vectors(tensors[1]))
    })
}

#[register_kernel(
    device = Gpu, op = ops::Fill, T = [f32, u32, bool, i64, f16 if "f16"], index_type = [i32, i64],
    host_memory = ["dims"], programs = || Ok(vec![spread_program(())])
)]
fn fill_shape(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (gpu, value) = (GpuDevice::of(ctx)?, ctx.input(O::VALUE)?);
    let output = gpu.output(ctx, O::OUTPUT, filled(ctx.input(O::DIMS)?, value)?)?;
    fill_with(gpu, &output, value)?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = [ops::ZerosLike, ops::OnesLike], T = [f32, u32, bool, i64, f16 if "f16"],
    programs = || Ok(vec![program(())])
)]
fn fill_alike(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let output = gpu.output(ctx, O::Y, ctx.input(O::X)?.shape())?;
    let bytes = if O::DEF.name == "OnesLike" { pattern(&one(output.dtype())?)? } else { [0; 2] };
    fill(gpu, &output, bytes)?;
    ctx.set_output(O::Y, output)
}

fn range_program(scalar: Scalar) -> Program {
    let program = Program::trusted(format!("range of {scalar:?}")).write("y", scalar).words("first");
    let program = match scalar {
        Scalar::I64 => program.words("start start_high delta delta_high"),
        _ => program.alias("T", scalar).param("start", "f32").param("delta", "f32"),
    };
    program.compose(Entry::Elements, include_str!("range.wgsl"), scalar.names())
}

/// How many numbers a sequence has, and what to begin with and add as parameters.
fn progression([start, limit, delta]: [&Tensor; 3]) -> Result<(usize, Vec<u32>)> {
    let words = |numbers: [f32; 2]| numbers.map(f32::to_bits).to_vec();
    Ok(match start.dtype() {
        DataType::Float => {
            let (start, delta, count) = sequence::range::<f32>(start, limit, delta)?;
            (count, words([start, delta]))
        }
        DataType::Half => {
            let (start, delta, count) = sequence::range::<f16>(start, limit, delta)?;
            (count, words([start, delta].map(f32::from)))
        }
        DataType::Int64 => {
            let (start, delta, count) = sequence::range::<i64>(start, limit, delta)?;
            (count, [start, delta].iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect())
        }
        other => bail!(Internal, "no shader counts in {other}"),
    })
}

#[register_kernel(
    device = Gpu, op = ops::Range, Tidx = [f32, f16 if "f16", i64 if "i64"], host_memory = ["start", "limit", "delta"],
    programs = |Tidx| Ok(vec![range_program(scalar_of(Tidx)?)])
)]
fn range(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (count, params) = progression([ctx.input(O::START)?, ctx.input(O::LIMIT)?, ctx.input(O::DELTA)?])?;
    let output = gpu.output(ctx, O::OUTPUT, [count])?;
    let scalar = scalar_of(output.dtype())?;
    gpu.in_windows(count, &[written(&output)], |range, tensors| {
        counted(range.end)?;
        let params = [&[range.start as u32], &params[..]].concat();
        gpu.run(range_program, scalar, tensors, &params, Groups::Elements(range.len()))
    })?;
    ctx.set_output(O::OUTPUT, output)
}
