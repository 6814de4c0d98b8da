//! One value for all elements, and sequences: Fill, ZerosLike, OnesLike, Range.

use kernlink::bail;
use kernlink::dtype::{DataType, f16};
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::fill::{filled, one};
use kernlink_geometry::sequence;

use super::mover::Mover;
use super::unit::{Unit, pattern};
use super::variant::Variant;
use crate::device::{Groups, counted};
use crate::shader::{Entry, Program, Scalar};
use crate::transfer::device_bytes;
use crate::windows::{whole, written};

/// Vectors of 16 bytes that hold a tensor: memory goes on to a whole one.
fn vectors(tensor: &Tensor) -> Groups {
    Groups::Elements(device_bytes(tensor.dtype(), tensor.num_elements()).div_ceil(Unit::Quad.bytes()))
}

/// Sets all elements to a value of which these are the bytes; see [`pattern`].
pub(super) fn fill(on: &Mover<'_>, target: &Tensor, bytes: [u32; 2]) -> Result<()> {
    on.gpu.in_windows(target.num_elements(), &[written(target)], |_, tensors| {
        on.run(Variant::Fill, tensors, &bytes, vectors(tensors[0]))
    })
}

pub(super) fn program() -> Program {
    Program::trusted("fill").write_vectors("y", Scalar::U32, 4).param("low", "u32").param("high", "u32").build(
        Entry::Elements,
        "fn element(i: u32) {\n    y[i] = vec4<u32>(params.low, params.high, params.low, params.high);\n}\n",
    )
}

/// The program that fills with the one element of a tensor, of `bytes` bytes.
pub(super) fn spread_program() -> Program {
    Program::trusted("fill with an element")
        .read("x", Scalar::U32)
        .write_vectors("y", Scalar::U32, 4)
        .param("bytes", "u32")
        .build(
            Entry::Elements,
            "fn element(i: u32) {\n    var low = x[0];\n    if (params.bytes == 2u) {\n        \
             low = (low & 0xffffu) * 0x10001u;\n    }\n    \
             let high = select(low, x[1], params.bytes == 8u);\n    y[i] = vec4<u32>(low, high, low, high);\n}\n",
        )
}

/// Sets all elements to the one of `value`, which is on the device.
pub(super) fn fill_with(on: &Mover<'_>, target: &Tensor, value: &Tensor) -> Result<()> {
    let bytes = Unit::of(value.dtype())?.bytes() as u32;
    on.gpu.in_windows(target.num_elements(), &[whole(value), written(target)], |_, tensors| {
        on.run(Variant::Spread, tensors, &[bytes], vectors(tensors[1]))
    })
}

pub(super) fn fill_shape(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let value = ctx.input_at(1)?;
    let shape = filled(ctx.input_at(0)?, value)?;
    let output = on.output(ctx, 0, shape)?;
    fill_with(on, &output, value)?;
    ctx.set_output_at(0, output)
}

pub(super) fn zeros_like(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let output = on.output(ctx, 0, ctx.input_at(0)?.shape())?;
    fill(on, &output, [0; 2])?;
    ctx.set_output_at(0, output)
}

pub(super) fn ones_like(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let output = on.output(ctx, 0, ctx.input_at(0)?.shape())?;
    fill(on, &output, pattern(&one(output.dtype())?)?)?;
    ctx.set_output_at(0, output)
}

pub(super) const PROGRESSIONS: [Scalar; 3] = [Scalar::F32, Scalar::F16, Scalar::I64];

/// The program of `start + i * delta` for each `i` from `first` on. Halves are joined without a sign: naga extends that of a `u32` which becomes an
/// `i64`.
pub(super) fn range_program(scalar: Scalar) -> Program {
    let program = Program::trusted(format!("range of {scalar:?}")).write("y", scalar).param("first", "u32");
    if scalar == Scalar::I64 {
        return program
            .param("start", "u32")
            .param("start_high", "u32")
            .param("delta", "u32")
            .param("delta_high", "u32")
            .build(
                Entry::Elements,
                "fn whole(low: u32, high: u32) -> i64 {\n    return i64((u64(high) << 32u) | u64(low));\n}\n\
                 fn element(i: u32) {\n    y[i] = whole(params.start, params.start_high) + i64(params.first + i) * \
                 whole(params.delta, params.delta_high);\n}\n",
            );
    }
    program.alias("T", scalar).param("start", "f32").param("delta", "f32").build(
        Entry::Elements,
        "fn element(i: u32) {\n    y[i] = T(params.start) + T(f32(params.first + i)) * T(params.delta);\n}\n",
    )
}

/// How many numbers a sequence has, and what to begin with and add as parameters.
fn progression(ctx: &RawContext<'_>) -> Result<(usize, Vec<u32>)> {
    let [start, limit, delta] = [ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?];
    macro_rules! floats {
        ($t:ty) => {{
            let (start, delta, count) = sequence::range::<$t>(start, limit, delta)?;
            Ok((count, vec![f32::from(start).to_bits(), f32::from(delta).to_bits()]))
        }};
    }
    match start.dtype() {
        DataType::Float => floats!(f32),
        DataType::Half => floats!(f16),
        DataType::Int64 => {
            let (start, delta, count) = sequence::range::<i64>(start, limit, delta)?;
            Ok((count, [start, delta].iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect()))
        }
        other => bail!(Internal, "no shader counts in {other}"),
    }
}

pub(super) fn range(_: &(), on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let (count, params) = progression(ctx)?;
    let output = on.output(ctx, 0, [count])?;
    let variant = Variant::Range(crate::shader::scalar_of(output.dtype())?);
    on.gpu.in_windows(count, &[written(&output)], |range, tensors| {
        counted(range.end)?;
        let params = [&[range.start as u32], &params[..]].concat();
        on.run(variant, tensors, &params, Groups::Elements(range.len()))
    })?;
    ctx.set_output_at(0, output)
}
