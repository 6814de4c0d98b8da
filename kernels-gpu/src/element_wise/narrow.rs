//! Cast from and to integers of 8 and 16 bits, which lie in the device's memory as in the host's: a thread takes four of
//! them out of a word or two.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink_macros::register_kernel;
use kernlink_ops::Cast;

use super::cast::{FILE, conversion};
use super::driver::computed;
use crate::composition;
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::windows::{read, written};

/// What elements are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    /// Integers of so many bits, with a sign or without.
    Narrow {
        bits: u32,
        signed: bool,
    },
    Wide(Scalar),
}

const NARROW: [Kind; 4] = [
    Kind::Narrow { bits: 8, signed: true },
    Kind::Narrow { bits: 8, signed: false },
    Kind::Narrow { bits: 16, signed: true },
    Kind::Narrow { bits: 16, signed: false },
];

impl Kind {
    fn of(dtype: DataType) -> Result<Kind> {
        Ok(match dtype {
            DataType::Int8 => NARROW[0],
            DataType::Uint8 => NARROW[1],
            DataType::Int16 => NARROW[2],
            DataType::Uint16 => NARROW[3],
            other => Kind::Wide(scalar_of(other)?),
        })
    }

    /// What conversions see: `i32` holds all narrow ones.
    fn computed(self) -> Scalar {
        match self {
            Kind::Narrow { .. } => Scalar::I32,
            Kind::Wide(scalar) => computed(scalar),
        }
    }
}

/// By how much four elements in their words are shifted up to be the words' highest bits.
fn shifts(bits: u32) -> &'static str {
    if bits == 8 { "vec4<u32>(24u, 16u, 8u, 0u)" } else { "vec4<u32>(16u, 0u, 16u, 0u)" }
}

fn program((from, to): (Kind, Kind)) -> Program {
    let (x, y) = (from.computed(), to.computed());
    let mut program = Program::trusted(format!("Cast {from:?} to {to:?}")).alias("T", x).alias("R", y);
    let read = match from {
        Kind::Wide(scalar) => {
            program = program.read_vectors("x", scalar, 4);
            format!("vec4<{}>(x[i])", x.wgsl())
        }
        Kind::Narrow { bits, signed } => {
            program = program.read_vectors("x", Scalar::U32, bits / 8);
            let words = if bits == 8 { "vec4<u32>(x[i])" } else { "x[i].xxyy" };
            let (words, down) = (format!("({words} << {})", shifts(bits)), format!("vec4<u32>({}u)", 32 - bits));
            match signed {
                true => format!("bitcast<vec4<i32>>{words} >> {down}"),
                false => format!("vec4<i32>({words} >> {down})"),
            }
        }
    };
    let write = match to {
        Kind::Wide(scalar) => {
            program = program.write_vectors("y", scalar, 4);
            format!("y[i] = vec4<{}>(v)", scalar.wgsl())
        }
        Kind::Narrow { bits, .. } => {
            program = program.write_vectors("y", Scalar::U32, bits / 8);
            let (up, mask) = (32 - bits, (1u32 << bits) - 1);
            let words = if bits == 8 { "b.x | b.y | b.z | b.w" } else { "vec2<u32>(b.x | b.y, b.z | b.w)" };
            let b = format!("(bitcast<vec4<u32>>(v) & vec4<u32>({mask}u)) << (vec4<u32>({up}u) - {})", shifts(bits));
            format!("let b = {b};\n    y[i] = {words}")
        }
    };
    let name = if x == y { "unchanged" } else { conversion(x, y) };
    let text = format!(
        "{}fn element(i: u32) {{\n    let a = {read};\n    \
         let v = vec4<R>({name}(a.x), {name}(a.y), {name}(a.z), {name}(a.w));\n    {write};\n}}\n",
        composition::function(FILE, name, x.names()),
    );
    program.build(Entry::Elements, &text)
}

fn programs(from: DataType, to: DataType) -> Result<Vec<Program>> {
    let (from, to) = (Kind::of(from)?, Kind::of(to)?);
    Ok(if from == to { Vec::new() } else { vec![program((from, to))] })
}

#[register_kernel(
    device = Gpu, SrcT = [i8, u8, i16, u16],
    DstT = [i8, u8, i16, u16, f32, i32, u32, bool, f16 if "f16", i64 if "i64"],
    programs = |SrcT, DstT| programs(SrcT, DstT)
)]
#[register_kernel(
    device = Gpu, SrcT = [f32, i32, u32, bool, f16 if "f16", i64 if "i64"], DstT = [i8, u8, i16, u16],
    programs = |SrcT, DstT| programs(SrcT, DstT)
)]
fn cast(ctx: &mut KernelContext<'_, Cast>) -> Result<()> {
    let (gpu, input) = (GpuDevice::of(ctx)?, ctx.input(Cast::X)?);
    let (from, to) = (Kind::of(input.dtype())?, Kind::of(ctx.output_dtype(Cast::Y)?)?);
    if from == to {
        let same = ctx.take_input(Cast::X)?;
        return ctx.set_output(Cast::Y, same);
    }
    let shader = gpu.shader(program, (from, to));
    let output = gpu.output(ctx, Cast::Y, input.shape().clone())?;
    gpu.in_windows(output.num_elements(), &[read(input), written(&output)], |range, tensors| {
        // Buffers hold whole vectors: what the last one has beyond the elements is nobody's.
        gpu.dispatch(&shader, tensors, &[], Groups::Elements(range.len().div_ceil(4)))
    })?;
    ctx.set_output(Cast::Y, output)
}
