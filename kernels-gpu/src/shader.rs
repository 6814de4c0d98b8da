//! Shaders: WGSL with a generated head, which declares the buffers and the parameters.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use smallvec::SmallVec;

use crate::composition;
use crate::device::Gpu;
use crate::pipeline::Pipeline;
use crate::wgsl::Memory;

pub use kernlink::kernel::shader::WORKGROUP;

/// What the elements of a buffer are in a shader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    /// 32-bit floating point.
    F32,
    /// 32-bit integers with a sign.
    I32,
    /// 32-bit integers without one.
    U32,
    /// Booleans: a `u32` each, 0 or 1.
    Bool,
    /// 16-bit floating point; needs the capability `f16`.
    F16,
    /// 64-bit integers with a sign; needs the capability `i64`.
    I64,
}

impl Scalar {
    /// The scalar of a dtype, if shaders can compute with it.
    pub fn of(dtype: DataType) -> Option<Scalar> {
        Some(match dtype {
            DataType::Float => Scalar::F32,
            DataType::Int32 => Scalar::I32,
            DataType::Uint32 => Scalar::U32,
            DataType::Bool => Scalar::Bool,
            DataType::Half => Scalar::F16,
            DataType::Int64 => Scalar::I64,
            _ => return None,
        })
    }

    /// What a device must be able to do to compute with it.
    pub(crate) fn capability(self) -> Option<&'static str> {
        match self {
            Scalar::F16 => Some("f16"),
            Scalar::I64 => Some("i64"),
            Scalar::F32 | Scalar::I32 | Scalar::U32 | Scalar::Bool => None,
        }
    }

    /// The type's name in WGSL.
    pub fn wgsl(self) -> &'static str {
        match self {
            Scalar::F32 => "f32",
            Scalar::I32 => "i32",
            Scalar::U32 | Scalar::Bool => "u32",
            Scalar::F16 => "f16",
            Scalar::I64 => "i64",
        }
    }
}

/// The scalar of a dtype.
///
/// # Errors
/// INTERNAL for a dtype that shaders cannot compute with: no kernel is registered for it.
pub(crate) fn scalar_of(dtype: DataType) -> Result<Scalar> {
    Scalar::of(dtype).ok_or_else(|| Error::internal(format!("no shader computes with {dtype}")))
}

impl Scalar {
    /// The names that hold in the conditions of a file that is composed for elements of this kind: `float` or `int`,
    /// `signed` for integers with a sign, and the scalar's own.
    pub(crate) fn names(self) -> &'static [&'static str] {
        match self {
            Scalar::F32 => &["float", "f32"],
            Scalar::F16 => &["float", "f16"],
            Scalar::I32 => &["int", "signed", "i32"],
            Scalar::I64 => &["int", "signed", "i64"],
            Scalar::U32 => &["int", "u32"],
            Scalar::Bool => &["bool"],
        }
    }
}

/// What a shader does with a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Reads it.
    Read,
    /// Writes it, and may read it.
    Write,
}

/// How the threads of a shader are shared out; see [`ProgramBuilder`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// The body has `fn element(i: u32)`, which is called for each `i` below the parameter `count`.
    Elements,
    /// The body has `fn row(r: u32, lane: u32)`, which every thread of a workgroup calls for the workgroup's row; rows
    /// are counted by the parameter `count`. Barriers may stand in it.
    Rows,
    /// The body has `fn main`, with its attributes.
    Raw,
}

/// The text of a shader with what must be known to run it.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) label: String,
    pub(crate) text: String,
    pub(crate) accesses: SmallVec<[Access; 8]>,
    /// The number of 32-bit words of its parameters.
    pub(crate) words: u32,
    pub(crate) workgroup: u32,
    /// What it takes, as far as somebody has looked.
    pub(crate) memory: Memory,
    /// Whether accesses out of bounds are caught, at a price.
    pub(crate) is_checked: bool,
    /// The word of its parameters with which it leaves an error, if it may leave one; see [`crate::refusal`].
    pub(crate) refusal: Option<u32>,
}

/// What threads of [`Entry::Rows`] know of their subgroup: how many threads it has room for, how many subgroups there are,
/// and which of them, and of its threads, they are.
const SUBGROUP: &str = "struct Subgroup {
    size: u32,
    count: u32,
    number: u32,
    member: u32,
}
var<private> subgroup: Subgroup;
";

impl Program {
    /// Begins a shader; `label` names it in errors. Accesses out of bounds and divisors of zero are caught, at a price.
    pub fn builder(label: impl Into<String>) -> ProgramBuilder {
        ProgramBuilder {
            label: label.into(),
            head: String::new(),
            bindings: String::new(),
            params: String::new(),
            accesses: SmallVec::new(),
            words: 0,
            workgroup: WORKGROUP,
            has_f16: false,
            is_checked: true,
            is_body_first: false,
            refusal: None,
            has_subgroups: false,
            enabled: "",
        }
    }

    /// Begins a shader of Kernlink's own, of which tests show that it keeps within its buffers and guards its divisors.
    pub(crate) fn trusted(label: impl Into<String>) -> ProgramBuilder {
        ProgramBuilder { is_checked: false, ..Program::builder(label) }
    }

    /// What names it in errors.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Makes a [`Program`]. Buffers are bound in the order in which they are declared, parameters passed likewise.
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    label: String,
    head: String,
    bindings: String,
    params: String,
    accesses: SmallVec<[Access; 8]>,
    words: u32,
    workgroup: u32,
    has_f16: bool,
    is_checked: bool,
    is_body_first: bool,
    refusal: Option<u32>,
    has_subgroups: bool,
    /// Directives.
    enabled: &'static str,
}

impl ProgramBuilder {
    fn binding(mut self, name: &str, scalar: Scalar, width: u32, access: Access) -> ProgramBuilder {
        let element = match width {
            1 => scalar.wgsl().to_owned(),
            width => format!("vec{width}<{}>", scalar.wgsl()),
        };
        let mode = match access {
            Access::Read => "read",
            Access::Write => "read_write",
        };
        let index = self.accesses.len();
        let _ = writeln!(self.bindings, "@group(0) @binding({index}) var<storage, {mode}> {name}: array<{element}>;");
        self.accesses.push(access);
        self.has_f16 |= scalar == Scalar::F16;
        self
    }

    /// Declares a buffer that is read, as an array of scalars.
    pub fn read(self, name: &str, scalar: Scalar) -> ProgramBuilder {
        self.binding(name, scalar, 1, Access::Read)
    }

    /// Declares a buffer that is read, as an array of vectors of `width` (2, 3 or 4) scalars.
    pub fn read_vectors(self, name: &str, scalar: Scalar, width: u32) -> ProgramBuilder {
        self.binding(name, scalar, width, Access::Read)
    }

    /// Declares a buffer that is written, as an array of scalars.
    pub fn write(self, name: &str, scalar: Scalar) -> ProgramBuilder {
        self.binding(name, scalar, 1, Access::Write)
    }

    /// Declares a buffer that is written, as an array of vectors of `width` (2, 3 or 4) scalars.
    pub fn write_vectors(self, name: &str, scalar: Scalar, width: u32) -> ProgramBuilder {
        self.binding(name, scalar, width, Access::Write)
    }

    /// Declares a buffer that is written, as an array of atomic integers.
    pub fn write_atomics(mut self, name: &str, scalar: Scalar) -> ProgramBuilder {
        let (index, ty) = (self.accesses.len(), scalar.wgsl());
        let declared = format!("@group(0) @binding({index}) var<storage, read_write> {name}: array<atomic<{ty}>>;");
        let _ = writeln!(self.bindings, "{declared}");
        self.accesses.push(Access::Write);
        self
    }

    /// Declares a parameter, `params.name`, of type `u32`, `i32` or `f32`.
    pub fn param(mut self, name: &str, ty: &str) -> ProgramBuilder {
        let _ = writeln!(self.params, "    {name}: {ty},");
        self.words += 1;
        self
    }

    /// Declares parameters of type `u32` by their names, with blanks between them.
    pub(crate) fn words(self, names: &str) -> ProgramBuilder {
        names.split_whitespace().fold(self, |builder, name| builder.param(name, "u32"))
    }

    /// Declares an alias of a type, such as `T` for `f32`.
    pub fn alias(mut self, name: &str, scalar: Scalar) -> ProgramBuilder {
        let _ = writeln!(self.head, "alias {name} = {};", scalar.wgsl());
        self.has_f16 |= scalar == Scalar::F16;
        self
    }

    /// Declares a constant of type `u32`.
    pub fn constant(mut self, name: &str, value: u32) -> ProgramBuilder {
        let _ = writeln!(self.head, "const {name}: u32 = {value}u;");
        self
    }

    /// Enables numbers of 16 bits, which the body computes with though no buffer and no alias has them.
    pub(crate) fn halves(self) -> ProgramBuilder {
        ProgramBuilder { has_f16: true, ..self }
    }

    /// Adds declarations before the body.
    pub fn declare(mut self, text: &str) -> ProgramBuilder {
        self.head += text;
        if !text.ends_with('\n') {
            self.head.push('\n');
        }
        self
    }

    /// Sets the number of threads in a workgroup, at most 256.
    pub fn workgroup(mut self, threads: u32) -> ProgramBuilder {
        self.workgroup = threads;
        self
    }

    /// Has the body stand before what is generated, so that its lines keep their numbers in errors.
    pub(crate) fn body_first(mut self) -> ProgramBuilder {
        self.is_body_first = true;
        self
    }

    /// Says that the parameter declared last is that with which the shader leaves an error in the device's words of
    /// refusals.
    pub(crate) fn refusing(mut self) -> ProgramBuilder {
        self.refusal = self.words.checked_sub(1);
        self
    }

    /// Has the variable `subgroup` say of each thread where it is; needs the capability `subgroups`.
    pub(crate) fn subgroups(mut self) -> ProgramBuilder {
        self.has_subgroups = true;
        self
    }

    /// Has the shader multiply cooperative matrices; needs the capability `cooperative-matrix`.
    pub(crate) fn matrices(mut self) -> ProgramBuilder {
        self.enabled = "enable wgpu_cooperative_matrix;\n";
        self
    }

    /// [`ProgramBuilder::build`] with the body that is composed of a file, in whose conditions these names hold.
    pub(crate) fn compose(self, entry: Entry, file: &str, names: &[&str]) -> Program {
        self.build(entry, &composition::compose(file, names))
    }

    /// Finishes the shader. With [`Entry::Elements`] and [`Entry::Rows`] the first parameter is `count`, which the body
    /// need not declare.
    pub fn build(self, entry: Entry, body: &str) -> Program {
        let mut text = String::new();
        if self.has_f16 {
            text += if self.is_body_first { "enable f16; " } else { "enable f16;\n" };
        }
        text += self.enabled;
        if self.is_body_first {
            text += body;
            text.push('\n');
        }
        text += &self.head;
        let counted = entry != Entry::Raw;
        let words = self.words + u32::from(counted);
        if words > 0 {
            let count = if counted { "    count: u32,\n" } else { "" };
            let _ = write!(text, "struct Params {{\n{count}{}}}\nvar<immediate> params: Params;\n", self.params);
        }
        text += &self.bindings;
        let threads = self.workgroup;
        let _ = writeln!(text, "const WORKGROUP: u32 = {threads}u;");
        let position = match entry {
            Entry::Elements => Some(("group * WORKGROUP + lane", "element(position)")),
            Entry::Rows => Some(("group", "row(position, lane)")),
            Entry::Raw => None,
        };
        if let Some((position, call)) = position {
            let (mut builtins, mut known) = ("", "");
            if self.has_subgroups {
                text += SUBGROUP;
                builtins = "    @builtin(subgroup_size) size: u32,\n    @builtin(num_subgroups) count: u32,\n    \
                            @builtin(subgroup_id) number: u32,\n    @builtin(subgroup_invocation_id) member: u32,\n";
                known = "    subgroup = Subgroup(size, count, number, member);\n";
            }
            let _ = write!(
                text,
                "@compute @workgroup_size({threads})\nfn main(\n    @builtin(workgroup_id) at: vec3<u32>,\n    \
                 @builtin(num_workgroups) groups: vec3<u32>,\n    @builtin(local_invocation_index) lane: u32,\n\
                 {builtins}) {{\n{known}    let group = at.y * groups.x + at.x;\n    let position = {position};\n    \
                 if (position < params.count) {{\n        {call};\n    }}\n}}\n"
            );
        }
        if !self.is_body_first {
            text += body;
        }
        let ProgramBuilder { label, accesses, workgroup, is_checked, .. } = self;
        let refusal = self.refusal.map(|word| word + u32::from(counted));
        Program { label, text, accesses, words, workgroup, memory: Memory::default(), is_checked, refusal }
    }
}

/// A program of a kernel, compiled when it first runs.
pub struct Shader {
    program: Program,
    pipeline: OnceLock<Arc<Pipeline>>,
}

impl Shader {
    /// A shader for the device that the kernel is for.
    pub fn new(program: Program) -> Shader {
        Shader { program, pipeline: OnceLock::new() }
    }

    /// What it is made from.
    pub fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn pipeline(&self, gpu: &Gpu) -> Result<&Arc<Pipeline>> {
        if let Some(pipeline) = self.pipeline.get() {
            return Ok(pipeline);
        }
        let pipeline = gpu.pipelines.get(gpu, &self.program)?;
        Ok(self.pipeline.get_or_init(|| pipeline))
    }
}
