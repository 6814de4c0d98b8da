//! Shaders with a thread for each element, or for four neighbours in the channels.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink_geometry::pooling::NOWHERE;

use crate::device::{GpuDevice, Groups};
use crate::epilogue::Epilogue;
use crate::matmul::text::sum_of;
use crate::shader::{Access, Entry, Program, ProgramBuilder, Scalar, scalar_of};
use crate::windows::Part;

/// What tells the shaders of a text from each other: the type of the elements, whether threads take four, and what becomes
/// of results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) scalar: Scalar,
    pub(super) vectors: bool,
    pub(super) epilogue: Epilogue,
}

impl Key {
    /// Of a shader that writes what it computes.
    pub(super) fn new(scalar: Scalar, vectors: bool) -> Key {
        Key { scalar, vectors, epilogue: Epilogue::default() }
    }

    pub(super) fn width(&self) -> u32 {
        if self.vectors { 4 } else { 1 }
    }

    /// The names that hold in files' conditions.
    pub(super) fn names(&self) -> &'static [&'static str] {
        self.epilogue.names(self.vectors)
    }

    /// `T` is the type of the elements, `A` that in which they are added, `V` and `S` are a thread's share of them.
    pub(super) fn builder(&self, label: &str) -> ProgramBuilder {
        let sum = sum_of(self.scalar);
        let shares = if self.vectors { ["vec4<T>", "vec4<A>", "vec4<u32>"] } else { ["T", "A", "u32"] };
        Program::trusted(label)
            .alias("T", self.scalar)
            .alias("A", sum)
            .declare(&format!("alias V = {};\nalias S = {};\nalias U = {};\n", shares[0], shares[1], shares[2]))
            .constant("WIDTH", self.width())
            .constant("NOWHERE", NOWHERE)
            .declare(&format!("fn lowest() -> T {{\n    {}\n}}\n", lowest(self.scalar)))
    }
}

/// What returns the least finite value, in WGSL.
fn lowest(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => "return -0x1.fffffep+127f;",
        Scalar::F16 => "return -65504.0h;",
        Scalar::I32 => "return -2147483647 - 1;",
        Scalar::U32 | Scalar::Bool => "return 0u;",
        // No literal is as low, and naga does not compute with constants of this type.
        Scalar::I64 => "var low = -9223372036854775807li;\n    low -= 1li;\n    return low;",
    }
}

/// The program of a file, with buffers of shares and what is done to them; those whose name ends in `_places` hold `U`.
pub(super) fn program(key: Key, label: &str, buffers: &[(&str, Access)], params: &str, file: &str) -> Program {
    let builder = buffers.iter().fold(key.builder(label), |builder, &(name, access)| {
        let scalar = if name.ends_with("places") { Scalar::U32 } else { key.scalar };
        match access {
            Access::Read => builder.read_vectors(name, scalar, key.width()),
            Access::Write => builder.write_vectors(name, scalar, key.width()),
        }
    });
    key.epilogue.declare(builder.words(params), key.scalar, key.width()).compose(Entry::Elements, file, key.names())
}

/// The programs for elements of a dtype, one by one and by fours.
pub(super) fn programs(program: impl Fn(Key) -> Program, dtype: DataType) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    Ok([false, true].map(|vectors| program(Key::new(scalar, vectors))).to_vec())
}

/// Likewise of those that have an epilogue.
pub(super) fn fused_programs(program: impl Fn(Key) -> Program, dtype: DataType) -> Result<Vec<Program>> {
    let with = |epilogue| programs(|key| program(Key { epilogue, ..key }), dtype);
    Ok(Epilogue::examples().into_iter().map(with).collect::<Result<Vec<_>>>()?.concat())
}

/// Runs a shader for each share of `elements` elements of `batch` images, which tensors that are not whole hold one after
/// the other.
pub(super) fn run(
    gpu: &GpuDevice,
    (program, key): (impl Fn(Key) -> Program + 'static, Key),
    batch: usize,
    parts: &[Part<'_>],
    params: &[u32],
    elements: usize,
) -> Result<()> {
    if elements == 0 {
        return Ok(());
    }
    let shader = gpu.shader(program, key);
    gpu.in_windows(batch, parts, |images, tensors| {
        let elements = images.len() * (elements / batch);
        gpu.dispatch(&shader, tensors, params, Groups::Elements(elements.div_ceil(key.width() as usize)))
    })
}
