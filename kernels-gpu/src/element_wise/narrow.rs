//! Cast from and to integers of 8 and 16 bits, which lie in the device's memory as in the host's: a thread takes four of
//! them out of a word or two.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_ops as ops;

use super::cast::body;
use super::driver::computed;
use super::helpers::for_text;
use crate::device::{GpuDevice, Groups};
use crate::family::{gpu_kernels, scalar_of};
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::windows::{read, written};

/// What elements are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

fn program(from: Kind, to: Kind) -> Program {
    let (x, y) = (from.computed(), to.computed());
    let mut program = Program::trusted(format!("Cast {from:?} to {to:?}")).alias("T", x);
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
    let body = if x == y { "return x;" } else { body(x, y) };
    let text = format!(
        "{}fn f(x: {}) -> {} {{\n    {body}\n}}\nfn element(i: u32) {{\n    let a = {read};\n    \
         let v = vec4<{}>(f(a.x), f(a.y), f(a.z), f(a.w));\n    {write};\n}}\n",
        for_text(body),
        x.wgsl(),
        y.wgsl(),
        y.wgsl()
    );
    program.build(Entry::Elements, &text)
}

struct NarrowCast {
    /// `None` if the dtypes are the same.
    shader: Option<Shader>,
}

impl NarrowCast {
    fn new(ctx: &RawConstruction<'_>) -> Result<NarrowCast> {
        let (from, to) = (Kind::of(ctx.input_dtype_at(0)?)?, Kind::of(ctx.output_dtype_at(0)?)?);
        Ok(NarrowCast { shader: (from != to).then(|| Shader::new(program(from, to))) })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let output = match &self.shader {
            None => ctx.take_input_at(0)?,
            Some(shader) => {
                let gpu = GpuDevice::of(ctx)?;
                let input = ctx.input_at(0)?;
                let output = gpu.allocate_output(ctx, 0, input.shape().clone())?;
                gpu.in_windows(output.num_elements(), &[read(input), written(&output)], |range, tensors| {
                    // Buffers hold whole vectors: what the last one has beyond the elements is nobody's.
                    gpu.dispatch(shader, tensors, &[], Groups::Elements(range.len().div_ceil(4)))
                })?;
                output
            }
        };
        ctx.set_output_at(0, output)
    }
}

gpu_kernels! {
    Cast host [] as NarrowCast: |ctx| NarrowCast::new(ctx);
    { SrcT = [i8, u8, i16, u16], DstT = [i8, u8, i16, u16, f32, i32, u32, bool] }
    { SrcT = [i8, u8, i16, u16], DstT = [f16]; "f16" }
    { SrcT = [i8, u8, i16, u16], DstT = [i64]; "i64" }
    { SrcT = [f32, i32, u32, bool], DstT = [i8, u8, i16, u16] }
    { SrcT = [f16], DstT = [i8, u8, i16, u16]; "f16" }
    { SrcT = [i64], DstT = [i8, u8, i16, u16]; "i64" }
}

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    use Scalar::{Bool, F16, F32, I32, I64, U32};
    let wide = [F32, I32, U32, Bool, F16, I64].map(Kind::Wide);
    let mut programs = Vec::new();
    for narrow in NARROW {
        programs.extend(wide.iter().flat_map(|&wide| [program(narrow, wide), program(wide, narrow)]));
        programs.extend(NARROW.into_iter().filter(|&other| other != narrow).map(|other| program(narrow, other)));
    }
    programs
}
