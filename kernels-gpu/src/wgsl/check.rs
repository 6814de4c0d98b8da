//! Whether a shader is valid and suits what the op and the registration say.

use naga::valid::{Capabilities, GlobalUse, ModuleInfo, ValidationFlags, Validator};
use naga::{
    AddressSpace, GlobalVariable, Handle, Module, ScalarKind, ShaderStage, Span, StorageAccess, Type, TypeInner,
};

use kernlink::kernel::shader::{Dispatch, Source};

use super::memory::{self, Memory};
use super::source::{Assembly, Bound, Member};
use crate::shader::{Program, Scalar};

/// What devices may lack, by the names that registrations give it.
const CAPABILITIES: &[(&str, Capabilities)] = &[
    ("f16", Capabilities::SHADER_FLOAT16),
    ("i64", Capabilities::SHADER_INT64),
    ("subgroups", Capabilities::SUBGROUP),
    ("f32-atomics", Capabilities::SHADER_FLOAT32_ATOMIC),
    ("cooperative-matrix", Capabilities::COOPERATIVE_MATRIX),
];

/// What is wrong, with the file and, where it is known, the line.
type Checked<T> = std::result::Result<T, String>;

/// Checks a program. It learns what it takes, and that of a raw shader the size of its workgroups.
pub(super) fn check(source: Assembly, program: &mut Program, bound: &[Bound], members: &[Member]) -> Checked<()> {
    let source: &Source = &source;
    let path = source.path();
    let module = naga::front::wgsl::parse_str(&program.text).map_err(|error| {
        let said = error.emit_to_string_with_path(&program.text, &path);
        let primary = error.labels().next().map_or(Span::UNDEFINED, |(span, _)| span);
        invalid(source, &program.text, primary, &said)
    })?;
    let reflected = Reflected { source, path: &path, text: &program.text, module: &module };
    let info = reflected.validate(bound)?;
    let main = module.entry_points.iter().position(|entry| entry.name == "main" && entry.stage == ShaderStage::Compute);
    let Some(main) = main else { return Err(format!("{path}: {}", expected_function(source))) };
    let handles = reflected.bindings(bound)?;
    reflected.params(members)?;
    for (bound, handle) in bound.iter().zip(handles) {
        let usage = info.get_entry_point(main)[handle];
        if bound.is_output && !usage.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC) {
            return Err(format!("{path}: the shader never writes output `{}`", bound.arg.name));
        }
    }
    program.memory = memory::of(&module, &info).map_err(|what| format!("{path}: {what}"))?;
    if source.is_raw {
        program.workgroup =
            module.entry_points[main].workgroup_size.iter().fold(1, |all, &size| all.saturating_mul(size));
    }
    Ok(())
}

/// Checks a program that is put together elsewhere: it must be valid for devices that have what is named, or what kernels look
/// for themselves. Gives what it takes.
pub(crate) fn check_program(program: &Program, requires: &[&str]) -> Checked<Memory> {
    let said = |error: String| format!("shader {:?} is not valid\n{error}", program.label);
    let module =
        naga::front::wgsl::parse_str(&program.text).map_err(|error| said(error.emit_to_string(&program.text)))?;
    let is_missing = |name: &str| matches!(name, "f16" | "i64") && !requires.contains(&name);
    let missing = CAPABILITIES.iter().filter(|(name, _)| is_missing(name));
    let missing = missing.fold(Capabilities::empty(), |all, &(_, one)| all | one);
    let info = Validator::new(ValidationFlags::all(), Capabilities::all() - missing).validate(&module);
    let info = info.map_err(|error| said(error.emit_to_string(&program.text)))?;
    memory::of(&module, &info).map_err(said)
}

/// What is said of a text that is no valid shader, because of a piece of it.
fn invalid(source: &Source, text: &str, piece: Span, said: &str) -> String {
    let path = source.path();
    let generated = text.find(source.text).map_or(0, |start| start + source.text.len());
    match piece.to_range() {
        None => format!("{path}: the shader is not valid\n{said}"),
        Some(range) if range.start >= generated => {
            format!("{path}: the shader does not fit what is generated after it: {}\n{said}", expected_function(source))
        }
        Some(_) => {
            let at = piece.location(text);
            format!("{path}:{}:{}: the shader is not valid\n{said}", at.line_number, at.line_position)
        }
    }
}

/// What the file has to define.
fn expected_function(source: &Source) -> String {
    let signature = match source.dispatch {
        _ if source.is_raw => "@compute @workgroup_size(64) fn main(...)",
        Dispatch::Elements { .. } => "fn element(i: u32)",
        Dispatch::Rows { .. } => "fn row(r: u32, lane: u32)",
        Dispatch::Tiles { .. } => "fn tile(batch: u32, row: u32, column: u32, lane: u32)",
        Dispatch::ElementWise(_) | Dispatch::Function => "@compute @workgroup_size(WORKGROUP) fn main(...)",
    };
    format!("it must define `{signature}`")
}

/// A shader that was parsed.
struct Reflected<'a> {
    source: &'a Source,
    path: &'a str,
    text: &'a str,
    module: &'a Module,
}

impl Reflected<'_> {
    /// Validates it for devices that have what the registration requires, and nothing beyond.
    fn validate(&self, bound: &[Bound]) -> Checked<ModuleInfo> {
        let validate = |capabilities: Capabilities| {
            let always = Capabilities::IMMEDIATES | Capabilities::SHADER_FLOAT16_IN_FLOAT32;
            Validator::new(ValidationFlags::all(), always | capabilities).validate(self.module).map_err(|error| {
                // The others are what it is part of.
                let spans = error.spans().map(|(span, _)| *span).filter(Span::is_defined);
                let piece = spans.min_by_key(|span| span.to_range().map_or(usize::MAX, |range| range.len()));
                (piece.unwrap_or_default(), error.emit_to_string_with_path(self.text, self.path))
            })
        };
        let is_required = |name: &str| {
            // Dtypes that the registration lists bring what they need.
            let listed = bound.iter().filter(|bound| matches!(bound.arg.ty, kernlink::op::ArgType::Attr(_)));
            let mut scalars = listed.map(|bound| bound.scalar);
            self.source.requires.contains(&name) || scalars.any(|scalar| scalar.capability() == Some(name))
        };
        let all = CAPABILITIES.iter().fold(Capabilities::empty(), |all, &(_, one)| all | one);
        let missing = CAPABILITIES.iter().filter(|(name, _)| !is_required(name)).map(|&(_, one)| one);
        let missing = missing.fold(Capabilities::empty(), |all, one| all | one);
        validate(all - missing).or_else(|(piece, said)| {
            validate(all).map_err(|(piece, said)| invalid(self.source, self.text, piece, &said))?;
            let needed = CAPABILITIES.iter().filter(|&&(_, one)| missing.contains(one) && validate(all - one).is_err());
            let needed = needed.map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>().join(", ");
            let line = piece.location(self.text).line_number;
            let message = format!("the shader needs what not every device can: add `requires = [{needed}]`\n{said}");
            Err(format!("{}:{line}: {message}", self.path))
        })
    }

    /// The place of a variable, `zero_out.wgsl:3`.
    fn line(&self, handle: Handle<GlobalVariable>) -> String {
        let span = self.module.global_variables.get_span(handle);
        format!("{}:{}", self.path, span.location(self.text).line_number)
    }

    /// The buffers, which must be the op's arguments.
    fn bindings(&self, bound: &[Bound]) -> Checked<Vec<Handle<GlobalVariable>>> {
        let mut found = vec![None; bound.len()];
        let mut variables = self.module.global_variables.iter().collect::<Vec<_>>();
        variables
            .sort_by_key(|&(handle, _)| self.module.global_variables.get_span(handle).to_range().map(|at| at.start));
        for (handle, variable) in variables {
            let Some(binding) = &variable.binding else { continue };
            let at = self.line(handle);
            let Some(slot) = found.get_mut(binding.binding as usize).filter(|_| binding.group == 0) else {
                let listed = bound.iter().enumerate();
                let listed: Vec<_> = listed.map(|(i, bound)| format!("{i} `{}`", bound.arg.name)).collect();
                let (group, number) = (binding.group, binding.binding);
                let op = &self.source.op.name;
                let listed = listed.join(", ");
                return Err(format!("{at}: op {op} has no binding {number} in group {group}; group 0 has {listed}"));
            };
            self.binding(variable, &bound[binding.binding as usize]).map_err(|what| format!("{at}: {what}"))?;
            *slot = Some(handle);
        }
        let found = found.into_iter().zip(bound).enumerate().map(|(number, (handle, bound))| {
            handle.ok_or_else(|| {
                let (kind, name) = (kind(bound), &bound.arg.name);
                format!("{}: {kind} `{name}` is not bound: `{}`", self.path, declaration(number, bound))
            })
        });
        found.collect()
    }

    fn binding(&self, variable: &GlobalVariable, bound: &Bound) -> Checked<()> {
        let (kind, name) = (kind(bound), &bound.arg.name);
        let AddressSpace::Storage { access } = variable.space else {
            return Err(format!("{kind} `{name}` is a buffer: `var<storage, ...>`"));
        };
        match (bound.is_output, access.contains(StorageAccess::STORE)) {
            (true, false) => {
                return Err(format!("output `{name}` is only read: it must be `var<storage, read_write>`"));
            }
            (false, true) => {
                return Err(format!("input `{name}` must be `var<storage, read>`: others may read it, too"));
            }
            _ => {}
        }
        match self.misfit(variable.ty, bound.scalar) {
            None => Ok(()),
            Some(has) => {
                let (dtype, wanted) = (bound.dtype, bound.scalar.wgsl());
                Err(format!("{kind} `{name}` is {dtype}, so its elements are {wanted}, not {has}"))
            }
        }
    }

    /// The first piece of a type that does not hold such scalars.
    fn misfit(&self, ty: Handle<Type>, scalar: Scalar) -> Option<String> {
        let wanted = match scalar {
            Scalar::F32 => (ScalarKind::Float, 4),
            Scalar::I32 => (ScalarKind::Sint, 4),
            Scalar::U32 | Scalar::Bool => (ScalarKind::Uint, 4),
            Scalar::F16 => (ScalarKind::Float, 2),
            Scalar::I64 => (ScalarKind::Sint, 8),
        };
        match &self.module.types[ty].inner {
            TypeInner::Array { base, .. } => self.misfit(*base, scalar),
            TypeInner::Struct { members, .. } => members.iter().find_map(|member| self.misfit(member.ty, scalar)),
            TypeInner::Scalar(has) | TypeInner::Vector { scalar: has, .. } | TypeInner::Matrix { scalar: has, .. } => {
                ((has.kind, has.width) != wanted).then(|| name(*has))
            }
            // What atomics cannot do with a type they do with its bits.
            TypeInner::Atomic(has) => (has.width != wanted.1).then(|| format!("atomic<{}>", name(*has))),
            _ => Some("something else".to_owned()),
        }
    }

    /// The parameters, which must be those of the registration.
    fn params(&self, members: &[Member]) -> Checked<()> {
        let counted = self.source.is_counted().then_some(("count", "u32"));
        let members = members.iter().map(|member| (&*member.name, member.ty));
        let wanted = counted.into_iter().chain(members).map(|(name, ty)| format!("{name}: {ty}"));
        let wanted = wanted.collect::<Vec<_>>();
        let mut variables = self.module.global_variables.iter();
        let variable = variables.find(|(_, variable)| variable.space == AddressSpace::Immediate);
        let Some((handle, variable)) = variable else {
            if wanted.is_empty() || !self.source.is_raw {
                return Ok(());
            }
            let wanted = wanted.join(", ");
            let message = "the parameters are not declared: `struct Params";
            return Err(format!("{}: {message} {{ {wanted} }} var<immediate> params: Params;`", self.path));
        };
        let has = match &self.module.types[variable.ty].inner {
            TypeInner::Struct { members, .. } => {
                let text = |ty: Handle<Type>| match &self.module.types[ty].inner {
                    TypeInner::Scalar(scalar) => name(*scalar),
                    _ => "another type".to_owned(),
                };
                let member = |member: &naga::StructMember| {
                    format!("{}: {}", member.name.as_deref().unwrap_or_default(), text(member.ty))
                };
                members.iter().map(member).collect()
            }
            _ => vec!["what is no struct".to_owned()],
        };
        if has != wanted {
            let (has, wanted) = (has.join(", "), wanted.join(", "));
            let at = self.line(handle);
            return Err(format!("{at}: the parameters are {{ {wanted} }}, and the shader has {{ {has} }}"));
        }
        Ok(())
    }
}

fn kind(bound: &Bound) -> &'static str {
    if bound.is_output { "output" } else { "input" }
}

fn declaration(number: usize, bound: &Bound) -> String {
    let (mode, name, scalar) = (if bound.is_output { "read_write" } else { "read" }, &bound.arg.name, bound.scalar);
    format!("@group(0) @binding({number}) var<storage, {mode}> {name}: array<{}>;", scalar.wgsl())
}

/// A scalar's name in WGSL.
fn name(scalar: naga::Scalar) -> String {
    let kind = match scalar.kind {
        ScalarKind::Sint | ScalarKind::AbstractInt => "i",
        ScalarKind::Uint => "u",
        ScalarKind::Float | ScalarKind::AbstractFloat => "f",
        ScalarKind::Bool => return "bool".to_owned(),
    };
    format!("{kind}{}", u32::from(scalar.width) * 8)
}
