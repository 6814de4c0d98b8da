//! One result for each element of broadcast operands: [`ElementWise`] makes a kernel of a function in WGSL.
//!
//! How operands lie to each other decides the shader, sizes do not: operands of one shape and single elements are
//! walked four elements at a time, as are those whose innermost dimension holds whole vectors; the rest one by one.

use std::any::Any;
use std::sync::OnceLock;

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::kernel::shader::Operands;
use kernlink::tensor::Tensor;
use kernlink_geometry::element_wise::ensure_alike;
use smallvec::SmallVec;

use crate::composition;
use crate::device::{GpuDevice, Groups};
use crate::places::{self, Places};
use crate::refusal::Refusal;
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::transfer::device_bytes;
use crate::wgsl::Memory;
use crate::windows::{Part, Piece, read_if, written};

/// The names of the operands.
const NAMES: [&str; 3] = ["x", "y", "z"];

/// The most dimensions that three operands broadcast along; two have [`BINARY_LIMIT`].
pub(super) const LIMIT: usize = 8;
/// The most dimensions that two operands broadcast along: TensorFlow has no kernel for more.
pub(super) const BINARY_LIMIT: usize = 5;

/// A function of one to three elements, which a file in WGSL has. Its arguments and its result are what the operands hold,
/// but of halves they are `f32`, and of bools `u32`; in the file `T` is the type of the last argument, `R` that of the
/// result. It may set the variable `refused` to true where the elements are not allowed.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: &'static str,
    /// The shader's name in errors.
    label: &'static str,
    /// What it is declared by, with all that it calls.
    declarations: String,
    /// What the operands' elements are.
    inputs: SmallVec<[Scalar; 3]>,
    /// What its result is.
    output: Scalar,
    /// The types that the file finds declared.
    aliases: SmallVec<[(&'static str, Scalar); 2]>,
    /// What is asked of the operands' shapes.
    operands: Operands,
    /// Parameters with their types, for [`ElementWise::run`] to pass.
    params: SmallVec<[(&'static str, &'static str); 1]>,
    /// Whether accesses out of bounds and divisors of zero are caught, at a price.
    is_checked: bool,
    /// What a shader of it alone takes, if that was checked.
    memory: Memory,
}

impl Function {
    /// The function of this name in a file, of operands that broadcast.
    pub(crate) fn new(file: &'static str, name: &'static str, inputs: &[Scalar], output: Scalar) -> Function {
        let last = inputs.last().copied().unwrap_or(output);
        Function {
            name,
            label: name,
            declarations: composition::function(file, name, last.names()),
            inputs: SmallVec::from_slice(inputs),
            output,
            aliases: SmallVec::from_slice(&[("T", last), ("R", output)]),
            operands: Operands::Broadcast,
            params: SmallVec::new(),
            is_checked: false,
            memory: Memory::default(),
        }
    }

    /// The same with another demand on shapes.
    pub(crate) fn operands(self, operands: Operands) -> Function {
        Function { operands, ..self }
    }

    /// The same with another name in errors.
    pub(crate) fn label(self, label: &'static str) -> Function {
        Function { label, ..self }
    }

    /// The same with parameters.
    pub(crate) fn params(self, params: impl IntoIterator<Item = (&'static str, &'static str)>) -> Function {
        Function { params: params.into_iter().collect(), ..self }
    }

    /// The same with other names of types.
    pub(crate) fn aliases(self, aliases: impl IntoIterator<Item = (&'static str, Scalar)>) -> Function {
        Function { aliases: aliases.into_iter().collect(), ..self }
    }

    /// The same with or without checks of what it accesses and divides by.
    pub(crate) fn checked(self, is_checked: bool) -> Function {
        Function { is_checked, ..self }
    }

    /// The same with what its shader takes.
    pub(crate) fn taking(self, memory: Memory) -> Function {
        Function { memory, ..self }
    }

    /// What its shader takes, as far as somebody has looked.
    pub(super) fn memory(&self) -> Memory {
        self.memory
    }

    /// Whether the file has it.
    pub(crate) fn is_declared(&self) -> bool {
        !self.declarations.is_empty()
    }

    /// What the operands' elements are.
    pub(crate) fn inputs(&self) -> &[Scalar] {
        &self.inputs
    }

    /// What its result is.
    pub(crate) fn output(&self) -> Scalar {
        self.output
    }

    /// What it is declared by, with all that it calls.
    pub(super) fn declarations(&self) -> &str {
        &self.declarations
    }

    /// The types that its declarations find declared.
    pub(super) fn types(&self) -> &[(&'static str, Scalar)] {
        &self.aliases
    }

    /// Its parameters with their types.
    pub(super) fn parameters(&self) -> &[(&'static str, &'static str)] {
        &self.params
    }

    /// Whether accesses out of bounds and divisors of zero are to be caught.
    pub(super) fn is_checked(&self) -> bool {
        self.is_checked
    }

    /// As a kernel says it of itself; nothing if it refuses some elements, or takes memory of workgroups.
    pub(crate) fn joins(self) -> Option<Box<dyn Any + Send + Sync>> {
        if self.refuses() || self.memory.workgroup > 0 { None } else { Some(Box::new(self)) }
    }

    /// Whether it refuses some elements.
    pub(crate) fn refuses(&self) -> bool {
        self.declarations.contains("refused = true")
    }
}

/// What functions compute with: `f16` is only for storage, so that results are those of `f32`, rounded once.
pub(crate) fn computed(scalar: Scalar) -> Scalar {
    if scalar == Scalar::F16 { Scalar::F32 } else { scalar }
}

/// How operands lie to each other. The bits of a mask say which operands move along the innermost dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pattern {
    /// All that move have the output's elements in its order.
    Flat { moving: u32 },
    /// The innermost dimension holds whole vectors.
    Vectors { moving: u32, rank: usize },
    /// Any.
    Single { rank: usize },
}

impl Pattern {
    /// All patterns of so many operands.
    fn all(operands: usize) -> Vec<Pattern> {
        let masks = 1..1u32 << operands;
        let limit = match operands {
            1 => 0,
            2 => BINARY_LIMIT,
            _ => LIMIT,
        };
        let mut patterns: Vec<Pattern> = masks.clone().map(|moving| Pattern::Flat { moving }).collect();
        for rank in places::shader_ranks(limit) {
            patterns.extend(masks.clone().map(|moving| Pattern::Vectors { moving, rank }));
            patterns.push(Pattern::Single { rank });
        }
        patterns
    }

    /// Its place in [`Pattern::all`].
    fn position(self, operands: usize) -> usize {
        let masks = (1 << operands) - 1;
        let of_rank = |rank| masks + places::shader_ranks(rank - 1).count() * (masks + 1);
        match self {
            Pattern::Flat { moving } => moving as usize - 1,
            Pattern::Vectors { moving, rank } => of_rank(rank) + moving as usize - 1,
            Pattern::Single { rank } => of_rank(rank) + masks,
        }
    }
}

/// The text of a function for a pattern.
fn program(function: &Function, pattern: Pattern) -> Program {
    let names = &NAMES[..function.inputs.len()];
    let (moving, rank) = match pattern {
        Pattern::Flat { moving } => (moving, 0),
        Pattern::Vectors { moving, rank } => (moving, rank),
        Pattern::Single { rank } => (0, rank),
    };
    let is_single = matches!(pattern, Pattern::Single { .. });
    let mut builder = Program::builder(function.label);
    if !function.is_checked {
        builder = Program::trusted(function.label);
    }
    for &(name, scalar) in &function.aliases {
        builder = builder.alias(name, computed(scalar));
    }
    let mut loads = String::new();
    for (k, (name, &scalar)) in names.iter().zip(&function.inputs).enumerate() {
        let (stored, wide) = (scalar, computed(scalar).wgsl());
        let is_vector = moving & 1 << k != 0;
        builder = if is_vector { builder.read_vectors(name, stored, 4) } else { builder.read(name, stored) };
        let place = match pattern {
            Pattern::Flat { .. } if is_vector => "i".to_owned(),
            Pattern::Flat { .. } => "0".to_owned(),
            _ => format!("place.{name}"),
        };
        let converted = |element: String| if stored == Scalar::F16 { format!("f32({element})") } else { element };
        loads += &match (is_vector, is_single) {
            (true, _) if stored == Scalar::F16 => format!("    let a_{name} = vec4<f32>({name}[{place}]);\n"),
            (true, _) => format!("    let a_{name} = {name}[{place}];\n"),
            (_, true) => format!("    let a_{name} = {};\n", converted(format!("{name}[{place}]"))),
            _ => format!("    let a_{name} = vec4<{wide}>({});\n", converted(format!("{name}[{place}]"))),
        };
    }
    builder = if is_single {
        builder.write("out", function.output)
    } else {
        builder.write_vectors("out", function.output, 4)
    };
    let mut body = String::new();
    if rank > 0 {
        builder = places::declare(builder, rank, names);
        body += &places::function(rank, names);
        loads = format!("    let place = at(i);\n{loads}");
    }
    for (name, ty) in &function.params {
        builder = builder.param(name, ty);
    }
    if function.refuses() {
        builder = crate::refusal::declare(builder).param("valid", "u32");
        body += "var<private> refused: bool = false;\n";
        body += crate::refusal::FUNCTION;
    }
    let result = computed(function.output).wgsl();
    body += &function.declarations;
    let call = |part: &str| {
        let arguments: Vec<_> = names.iter().map(|name| format!("a_{name}{part}")).collect();
        format!("{}({})", function.name, arguments.join(", "))
    };
    let stored = function.output.wgsl();
    let narrow = function.output == Scalar::F16;
    body += &format!("fn element(i: u32) {{\n{loads}");
    if is_single {
        let value = call("");
        let value = if narrow { format!("f16({value})") } else { value };
        let check = if function.refuses() { "    if (refused) {\n        refuse();\n    }\n" } else { "" };
        body += &format!("    out[i] = {value};\n{check}}}\n");
    } else if function.refuses() {
        // What lies in the last vector beyond the elements is nobody's, and refuses nothing.
        for (part, name) in [".x", ".y", ".z", ".w"].into_iter().enumerate() {
            body += &format!("    let r_{part} = {};\n", call(name));
            body += &format!(
                "    if (refused && 4u * i + {part}u < params.valid) {{\n        refuse();\n    }}\n    \
                 refused = false;\n"
            );
        }
        let value = format!("vec4<{result}>(r_0, r_1, r_2, r_3)");
        let value = if narrow { format!("vec4<f16>({value})") } else { value };
        body += &format!("    out[i] = {value};\n}}\n");
    } else {
        let parts = [".x", ".y", ".z", ".w"].map(call).join(", ");
        let value = format!("vec4<{result}>({parts})");
        let value = if narrow { format!("vec4<{stored}>({value})") } else { value };
        body += &format!("    out[i] = {value};\n}}\n");
    }
    Program { memory: function.memory, ..builder.build(Entry::Elements, &body) }
}

/// The program of operands of one shape.
pub(crate) fn flat_program(function: &Function) -> Program {
    program(function, Pattern::Flat { moving: (1 << function.inputs.len()) - 1 })
}

/// All programs of a function.
pub(crate) fn programs(function: &Function) -> Vec<Program> {
    let broadcasts = function.operands == Operands::Broadcast;
    let patterns = Pattern::all(function.inputs.len()).into_iter();
    let all = (1 << function.inputs.len()) - 1;
    let wanted = patterns.filter(|&pattern| broadcasts || pattern == Pattern::Flat { moving: all });
    wanted.map(|pattern| program(function, pattern)).collect()
}

/// The kernel of a [`Function`].
pub(crate) struct ElementWise {
    function: Function,
    refusal: Option<Refusal>,
    shaders: Vec<OnceLock<Shader>>,
}

impl ElementWise {
    /// A function, and the error for elements that it refuses.
    pub(crate) fn new(function: Function, refusal: Option<Refusal>) -> ElementWise {
        let shaders = Pattern::all(function.inputs.len()).iter().map(|_| OnceLock::new()).collect();
        ElementWise { function, refusal, shaders }
    }

    /// Sets the output to the function of the inputs, with parameters.
    #[track_caller]
    pub(crate) fn compute(&self, ctx: &mut RawContext<'_>, params: &[u32]) -> Result<()> {
        let output = {
            let ctx = &*ctx;
            let operands: SmallVec<[&Tensor; 3]> =
                (0..self.function.inputs.len()).map(|k| ctx.input_at(k)).collect::<Result<_>>()?;
            self.run(GpuDevice::of(ctx)?, ctx.output_dtype_at(0)?, &operands, params)?
        };
        ctx.set_output_at(0, output)
    }

    /// The function of these operands, broadcast.
    #[track_caller]
    pub(crate) fn run(&self, gpu: &GpuDevice, dtype: DataType, operands: &[&Tensor], params: &[u32]) -> Result<Tensor> {
        match operands {
            [x] => self.run_on(gpu, dtype, [*x], params),
            [x, y] => self.run_on(gpu, dtype, [*x, *y], params),
            [x, y, z] => self.run_on(gpu, dtype, [*x, *y, *z], params),
            _ => Err(Error::internal("an element-wise function takes one to three operands")),
        }
    }

    #[track_caller]
    fn run_on<const N: usize>(
        &self,
        gpu: &GpuDevice,
        dtype: DataType,
        operands: [&Tensor; N],
        params: &[u32],
    ) -> Result<Tensor> {
        let shapes = operands.map(Tensor::shape);
        let all = (1 << N) - 1;
        // The way that most go: one shape.
        if shapes[1..].iter().all(|shape| *shape == shapes[0]) {
            let output = gpu.allocate(dtype, shapes[0].clone())?;
            self.flat(gpu, operands, &output, all, params)?;
            return Ok(output);
        }
        let limit = if N == 2 { BINARY_LIMIT } else { LIMIT };
        if self.function.operands != Operands::Broadcast {
            let (x, y) = (shapes[0], shapes[1]);
            ensure_alike(x, y, self.function.operands == Operands::Alike)?;
            let output = gpu.allocate(dtype, x.clone())?;
            self.flat(gpu, operands, &output, all, params)?;
            return Ok(output);
        }
        let (shape, index) = Places::broadcast(shapes, limit)?;
        let output = gpu.allocate(dtype, shape)?;
        if output.num_elements() > 0 {
            self.indexed(gpu, operands, &output, &index, params)?;
        }
        Ok(output)
    }

    /// Records the function of operands of which those in the mask `moving` have as many elements as the output, in
    /// its order, and the others one.
    fn flat<const N: usize>(
        &self,
        gpu: &GpuDevice,
        operands: [&Tensor; N],
        output: &Tensor,
        moving: u32,
        params: &[u32],
    ) -> Result<()> {
        let mut parts: SmallVec<[Part<'_>; 4]> = SmallVec::new();
        parts.extend(operands.iter().enumerate().map(|(k, operand)| read_if(moving & 1 << k != 0, operand)));
        parts.push(written(output));
        gpu.in_windows(output.num_elements(), &parts, |range, tensors| {
            self.dispatch(gpu, tensors, Pattern::Flat { moving }, range.len(), &[], params)
        })
    }

    /// Records the function of operands that broadcast to an output with elements.
    fn indexed<const N: usize>(
        &self,
        gpu: &GpuDevice,
        operands: [&Tensor; N],
        output: &Tensor,
        index: &Places<N>,
        params: &[u32],
    ) -> Result<()> {
        let (_, steps) = index.inner();
        let moving = steps.iter().enumerate().fold(0, |mask, (k, &step)| mask | u32::from(step != 0) << k);
        if index.rank() == 1 {
            // A single element of output has operands that need not move.
            return self.flat(gpu, operands, output, if moving == 0 { (1 << N) - 1 } else { moving }, params);
        }
        let mut tensors: SmallVec<[&Tensor; 4]> = SmallVec::from_slice(&operands);
        tensors.push(output);
        if !gpu.fit(&tensors) {
            return self.by_halves(gpu, operands, output, index, [0; N], 0, params);
        }
        let (rank, count) = (index.shader_rank()?, output.num_elements());
        match index.in_vectors(4) {
            Some(vectors) => {
                self.dispatch(gpu, &tensors, Pattern::Vectors { moving, rank }, count, &vectors.params(rank), params)
            }
            None => self.dispatch(gpu, &tensors, Pattern::Single { rank }, count, &index.params(rank), params),
        }
    }

    /// [`ElementWise::indexed`], from these elements on, cut in halves along the outermost dimension until what each
    /// needs of the operands can be bound.
    #[cold]
    #[expect(clippy::too_many_arguments, reason = "what a part consists of")]
    fn by_halves<const N: usize>(
        &self,
        gpu: &GpuDevice,
        operands: [&Tensor; N],
        output: &Tensor,
        index: &Places<N>,
        firsts: [usize; N],
        first: usize,
        params: &[u32],
    ) -> Result<()> {
        let extents = index.extents();
        let is_too_large = |tensor: &Tensor, count| device_bytes(tensor.dtype(), count) > gpu.gpu.limits.binding;
        let mut all = operands.iter().zip(extents).map(|(operand, extent)| is_too_large(operand, extent));
        if (is_too_large(output, index.count()) || all.any(|is_too_large| is_too_large))
            && let Some((low, high, steps)) = index.halves()
        {
            self.by_halves(gpu, operands, output, &low, firsts, first, params)?;
            let firsts = std::array::from_fn(|k| firsts[k] + steps[k]);
            return self.by_halves(gpu, operands, output, &high, firsts, first + low.count(), params);
        }
        let piece = |k: usize| Piece { tensor: operands[k], first: firsts[k], count: extents[k], written: false };
        let mut pieces: SmallVec<[Piece<'_>; 4]> = (0..N).map(piece).collect();
        pieces.push(Piece { tensor: output, first, count: index.count(), written: true });
        gpu.with_pieces(&pieces, |tensors| {
            self.indexed(gpu, std::array::from_fn(|k| tensors[k]), tensors[N], index, params)
        })
    }

    /// Records a run for so many elements of the output, the last of the tensors.
    fn dispatch(
        &self,
        gpu: &GpuDevice,
        tensors: &[&Tensor],
        pattern: Pattern,
        count: usize,
        places: &[u32],
        params: &[u32],
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let slot = self.shaders.get(pattern.position(tensors.len() - 1));
        let slot = slot.ok_or_else(|| Error::internal(format!("{pattern:?} has no shader")))?;
        let shader = slot.get_or_init(|| Shader::new(program(&self.function, pattern)));
        let mut words: SmallVec<[u32; 32]> = SmallVec::from_slice(places);
        words.extend_from_slice(params);
        let groups = match pattern {
            Pattern::Single { .. } => Groups::Elements(count),
            _ => Groups::Elements(count.div_ceil(4)),
        };
        let Some(refusal) = self.refusal else { return gpu.dispatch(shader, tensors, &words, groups) };
        let mut tensors: SmallVec<[&Tensor; 8]> = SmallVec::from_slice(tensors);
        tensors.push(gpu.refusals()?);
        words.push(refusal.number());
        words.push(count as u32);
        gpu.dispatch(shader, &tensors, &words, groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_know_their_places() {
        for operands in 1..=3 {
            for (position, pattern) in Pattern::all(operands).into_iter().enumerate() {
                assert_eq!(pattern.position(operands), position, "{pattern:?}");
            }
        }
    }
}
