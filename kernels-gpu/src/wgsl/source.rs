//! The programs that are made from the file of a shader and what its registration says of it.

use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use kernlink::dtype::DataType;
use kernlink::error::{Code, Error, Result};
use kernlink::kernel::shader::{Dispatch, ParamValue, Source};
use kernlink::op::{ArgDef, ArgType};

use super::{Memory, check};
use crate::composition;
use crate::deep::{MOST_TEXT, with_stack_for};
use crate::element_wise::{self, Function};
use crate::shader::{Access, Entry, Program, Scalar};

/// A combination of dtypes with what was made for it, or what is wrong with it.
type Variant = (Vec<(&'static str, DataType)>, Result<Program>);

/// The programs that were made from a [`Source`] so far: each is checked once.
#[derive(Default)]
struct Checked(Mutex<Vec<Variant>>);

impl Checked {
    /// What was made for a combination of dtypes, or else what `make` makes. A failure that may pass, as one of too little
    /// memory for the check, is not kept.
    fn get(&self, dtypes: &[(&'static str, DataType)], make: impl FnOnce() -> Result<Program>) -> Result<Program> {
        let mut checked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = checked.iter().find(|(known, _)| known == dtypes) {
            return found.clone();
        }
        let made = make();
        if made.as_ref().err().is_none_or(|error| error.code() == Code::InvalidArgument) {
            checked.push((dtypes.to_vec(), made.clone()));
        }
        made
    }
}

/// A [`Source`], of which programs are made.
#[derive(Clone, Copy)]
pub(super) struct Assembly(pub(super) &'static Source);

impl Deref for Assembly {
    type Target = Source;
    fn deref(&self) -> &Source {
        self.0
    }
}

/// An argument to which a shader is bound.
pub(super) struct Bound {
    pub(super) arg: &'static ArgDef,
    pub(super) is_output: bool,
    pub(super) dtype: DataType,
    pub(super) scalar: Scalar,
}

/// A member of the parameter block.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) ty: &'static str,
}

impl Assembly {
    /// The checked program for a combination of dtypes; see [`programs`](super::programs).
    ///
    /// # Errors
    /// INVALID_ARGUMENT with the file and the line of what is wrong.
    pub(super) fn program(&self, dtypes: &[(&'static str, DataType)]) -> Result<Program> {
        let known = self.0.made.get::<Checked>();
        let known =
            known.ok_or_else(|| Error::internal(format!("`{}` is run by devices of several kinds", self.name)))?;
        let invalid = |what: String| {
            let dtypes: Vec<_> = dtypes.iter().map(|(attr, dtype)| format!("{attr} = {dtype}")).collect();
            let dtypes = if dtypes.is_empty() { String::new() } else { format!(" with {}", dtypes.join(", ")) };
            Error::invalid_argument(format!("the shader of `{}` ({}){dtypes}: {what}", self.name, self.location))
        };
        known.get(dtypes, || {
            // The stack is as large as the text is long.
            if self.text.len() > MOST_TEXT {
                return Err(invalid(format!(
                    "{}: it has {} bytes, more than {MOST_TEXT}",
                    self.path(),
                    self.text.len()
                )));
            }
            let assemble = || self.assemble(dtypes).map_err(invalid);
            if self.is_own() { assemble() } else { with_stack_for(self.text, assemble) }
        })
    }

    /// All programs for a combination of dtypes, checked; see [`programs`](super::programs).
    ///
    /// # Errors
    /// As [`Assembly::program`].
    pub(super) fn programs(&self, dtypes: &[(&'static str, DataType)]) -> Result<Vec<Program>> {
        let Dispatch::ElementWise(_) = self.dispatch else { return Ok(vec![self.program(dtypes)?]) };
        let memory = self.program(dtypes)?.memory;
        let bound = self.bound(dtypes).map_err(Error::invalid_argument)?;
        let function = self.function(&bound, dtypes).map_err(Error::invalid_argument)?;
        Ok(element_wise::programs(&function.taking(memory)))
    }

    /// The function for a combination of dtypes, once it was checked; that of this crate's own kernels is in its tests.
    ///
    /// # Errors
    /// As [`Assembly::program`].
    pub(super) fn checked_function(&self, dtypes: &[(&'static str, DataType)]) -> Result<Function> {
        let memory = if self.is_own() { Memory::default() } else { self.program(dtypes)?.memory };
        let bound = self.bound(dtypes).map_err(Error::invalid_argument)?;
        let function = self.function(&bound, dtypes).map_err(Error::invalid_argument)?;
        Ok(function.taking(memory))
    }

    /// The function for inputs and an output of these dtypes; `None` if it has none.
    pub(super) fn function_of(&self, inputs: &[DataType], output: DataType) -> Option<Function> {
        let slots = self.op.inputs.iter().zip(inputs).chain(self.op.outputs.iter().zip([&output]));
        let slots: Vec<(&ArgDef, DataType)> = slots.map(|(arg, &dtype)| (arg, dtype)).collect();
        let of_attr = |attr: &'static str| {
            let slot = slots.iter().find(|(arg, _)| matches!(&arg.ty, ArgType::Attr(name) if name == attr));
            slot.map(|&(_, dtype)| (attr, dtype))
        };
        let listed = self.variants.first().copied().unwrap_or_default();
        let dtypes = listed.iter().map(|&(attr, _)| of_attr(attr)).collect::<Option<Vec<_>>>()?;
        let has_dtype = |(arg, dtype): &(&ArgDef, DataType)| match &arg.ty {
            ArgType::Fixed(fixed) => fixed == dtype,
            ArgType::Attr(name) => dtypes.iter().any(|(attr, own)| *attr == &**name && own == dtype),
            ArgType::ListAttr(_) => false,
        };
        let is_whole = inputs.len() == self.op.inputs.len() && slots.iter().all(has_dtype);
        let is_listed = self.variants.iter().any(|listed| *listed == &dtypes[..]);
        if is_whole && is_listed { self.checked_function(&dtypes).ok() } else { None }
    }

    /// Whether this crate registers it.
    fn is_own(&self) -> bool {
        std::ptr::eq(self.provider, &crate::KERNLINK_PROVIDER)
    }

    /// The function of which a kernel is made.
    fn function(&self, bound: &[Bound], dtypes: &[(&'static str, DataType)]) -> std::result::Result<Function, String> {
        let Dispatch::ElementWise(operands) = self.dispatch else { return Err("no function is dispatched".to_owned()) };
        let name: &'static str = &self.0.op.name;
        let inputs = bound.iter().filter(|bound| !bound.is_output).map(|bound| bound.scalar).collect::<Vec<_>>();
        let (1..=3, [.., output]) = (inputs.len(), bound) else {
            return Err(format!("op {name} has {} inputs: an element-wise function has one to three", inputs.len()));
        };
        if bound.len() != inputs.len() + 1 {
            return Err(format!("op {name} has several outputs: an element-wise function has one"));
        }
        let params = self.params.iter().map(|param| Ok((param.name, self.attr_type(param)?.wgsl())));
        let params = params.collect::<std::result::Result<Vec<_>, String>>()?;
        let function = Function::new(self.text, name, &inputs, output.scalar)
            .label(if self.is_own() { name } else { self.name })
            .operands(operands)
            .params(params)
            .aliases(self.aliases(bound, dtypes))
            .checked(!self.is_own());
        if !function.is_declared() {
            return Err(format!("{}: it must define `fn {name}`, which is called for each element", self.path()));
        }
        Ok(function)
    }

    /// The attrs of arguments that are bound, with what their dtypes are in a shader.
    fn aliases(&self, bound: &[Bound], dtypes: &[(&'static str, DataType)]) -> Vec<(&'static str, Scalar)> {
        let is_bound = |attr| bound.iter().any(|bound| matches!(&bound.arg.ty, ArgType::Attr(name) if name == attr));
        // Others are those of arguments in host memory.
        let dtypes = dtypes.iter().filter(|(attr, _)| is_bound(*attr));
        dtypes.filter_map(|&(attr, dtype)| Some((attr, Scalar::of(dtype)?))).collect()
    }

    fn assemble(&self, dtypes: &[(&'static str, DataType)]) -> std::result::Result<Program, String> {
        let bound = self.bound(dtypes)?;
        if let Some(name) = composition::unknown_import(self.text) {
            let known = composition::modules();
            return Err(format!("{}: there is no module `{name}` to import: the modules are {known}", self.path()));
        }
        if let Dispatch::ElementWise(_) = self.dispatch {
            let mut program = element_wise::flat_program(&self.function(&bound, dtypes)?);
            let requires =
                bound.iter().filter_map(|bound| bound.scalar.capability()).chain(self.requires.iter().copied());
            program.memory = check::check_program(&program, &requires.collect::<Vec<_>>())
                .map_err(|what| format!("{}: {what}", self.path()))?;
            return Ok(program);
        }
        let members = self.members()?;
        let mut program =
            if self.is_raw { self.raw(&bound, &members) } else { self.generate(&bound, &members, dtypes) };
        check::check(*self, &mut program, &bound, &members)?;
        Ok(program)
    }

    /// The arguments that are in the device's memory, inputs first.
    pub(super) fn bound(&self, dtypes: &[(&'static str, DataType)]) -> std::result::Result<Vec<Bound>, String> {
        let inputs = self.op.inputs.iter().map(|arg| (arg, false));
        let arguments = inputs.chain(self.op.outputs.iter().map(|arg| (arg, true)));
        let bound = arguments.filter(|(arg, _)| !self.host_memory.contains(&&*arg.name)).map(|(arg, is_output)| {
            let dtype = match &arg.ty {
                ArgType::Fixed(dtype) => Some(*dtype),
                ArgType::Attr(name) => dtypes.iter().find(|(attr, _)| attr == name).map(|&(_, dtype)| dtype),
                ArgType::ListAttr(_) => None,
            };
            let scalar = dtype.and_then(Scalar::of).filter(|_| !arg.is_list() && !arg.is_ref);
            let (Some(dtype), Some(scalar)) = (dtype, scalar) else {
                return Err(format!("no shader can be bound to `{}` of op {}", arg.name, self.op.name));
            };
            Ok(Bound { arg, is_output, dtype, scalar })
        });
        bound.collect()
    }

    /// The parameters, with those of the dispatch rule, but for `count`.
    fn members(&self) -> std::result::Result<Vec<Member>, String> {
        let scalar = |name: &str, ty: &'static str| Member { name: name.to_owned(), ty };
        let mut members = match self.dispatch {
            Dispatch::Elements { .. } | Dispatch::ElementWise(_) | Dispatch::Function => Vec::new(),
            Dispatch::Rows { .. } => vec![scalar("row_length", "u32")],
            Dispatch::Tiles { .. } => vec![scalar("rows", "u32"), scalar("columns", "u32")],
        };
        for param in self.params {
            match param.value {
                ParamValue::Computed(ty) => members.push(scalar(param.name, ty.wgsl())),
                ParamValue::Attr(_) => members.push(scalar(param.name, self.attr_type(param)?.wgsl())),
                // One by one: DX12 would lay out an array in another way than Vulkan.
                ParamValue::Shape { rank } => {
                    members.extend((0..rank).map(|axis| scalar(&format!("{}_shape_{axis}", param.name), "u32")));
                }
            }
        }
        Ok(members)
    }

    /// The file with all that it finds declared after it, so that its lines keep their numbers.
    fn generate(&self, bound: &[Bound], members: &[Member], dtypes: &[(&'static str, DataType)]) -> Program {
        let program = if self.is_own() { Program::trusted(self.name) } else { Program::builder(self.name) };
        let mut builder = program.workgroup(self.workgroup).body_first();
        let aliases = self.aliases(bound, dtypes);
        for &(attr, scalar) in &aliases {
            let vector = format!("alias {attr}4 = vec4<{}>;", scalar.wgsl());
            builder = builder.alias(attr, scalar).declare(&vector);
        }
        for Bound { arg, is_output, scalar, .. } in bound {
            builder = match (is_output, self.vectors.contains(&&*arg.name)) {
                (false, false) => builder.read(&arg.name, *scalar),
                (true, false) => builder.write(&arg.name, *scalar),
                (false, true) => builder.read_vectors(&arg.name, *scalar, 4),
                (true, true) => builder.write_vectors(&arg.name, *scalar, 4),
            };
        }
        for Member { name, ty } in members {
            builder = builder.param(name, ty);
        }
        let entry = match self.dispatch {
            Dispatch::Elements { .. } => Entry::Elements,
            Dispatch::Rows { .. } => Entry::Rows,
            Dispatch::Tiles { rows, columns, .. } => {
                builder = builder.constant("TILE_ROWS", rows).constant("TILE_COLUMNS", columns).declare(TILES);
                Entry::Rows
            }
            Dispatch::ElementWise(_) | Dispatch::Function => Entry::Raw,
        };
        let names: Vec<&str> = aliases.iter().flat_map(|(_, scalar)| scalar.names()).copied().collect();
        builder.build(entry, &composition::compose(self.text, &names))
    }

    /// The file as it is.
    fn raw(&self, bound: &[Bound], members: &[Member]) -> Program {
        let access = |bound: &Bound| if bound.is_output { Access::Write } else { Access::Read };
        Program {
            label: self.name.to_owned(),
            text: self.text.to_owned(),
            accesses: bound.iter().map(access).collect(),
            words: members.len() as u32 + u32::from(self.is_counted()),
            workgroup: self.workgroup,
            memory: Memory::default(),
            is_checked: true,
            refusal: None,
        }
    }
}

/// From the number of a tile to its place.
const TILES: &str = "fn row(r: u32, lane: u32) {
    let across = (params.columns + TILE_COLUMNS - 1u) / TILE_COLUMNS;
    let down = (params.rows + TILE_ROWS - 1u) / TILE_ROWS;
    tile(r / (down * across), r / across % down * TILE_ROWS, r % across * TILE_COLUMNS, lane);
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_may_pass_are_not_kept() {
        let checked = Checked::default();
        let program = || Program::builder("of a test").build(Entry::Raw, "");
        let (float, half) = ([("T", DataType::Float)], [("T", DataType::Half)]);
        for passing in [Error::resource_exhausted("no thread"), Error::internal("it panicked")] {
            let code = passing.code();
            assert_eq!(checked.get(&float, || Err(passing)).unwrap_err().code(), code);
        }
        checked.get(&float, || Ok(program())).unwrap();
        checked.get(&float, || Err(Error::internal("it is kept"))).unwrap();
        // What is wrong with a text stays so.
        checked.get(&half, || Err(Error::invalid_argument("no shader"))).unwrap_err();
        assert_eq!(checked.get(&half, || Ok(program())).unwrap_err().message(), "no shader");
    }
}
