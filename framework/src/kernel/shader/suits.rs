//! Whether a shader suits its op, for one that no compiler has checked: what `#[register_kernel]` refuses.

use super::{Dispatch, ParamValue, Source};
use crate::error::{Error, Result};
use crate::kernel::check::shader::is_computable;
use crate::op::{ArgDef, ArgType};

/// Checks that the shader can be bound to the op's arguments, and that the registration names what the op has.
///
/// # Errors
/// INVALID_ARGUMENT with what does not suit.
pub(super) fn check(source: &Source) -> Result<()> {
    faults(source).map_or(Ok(()), |fault| {
        let (shader, location, op) = (source.name, source.location, &source.op.name);
        Err(Error::invalid_argument(format!("the shader of `{shader}` ({location}) does not suit op {op}: {fault}")))
    })
}

/// The first thing that does not suit.
fn faults(source: &Source) -> Option<String> {
    let op = source.op;
    if op.outputs.is_empty() {
        return Some("it has no output for the shader to write".to_owned());
    }
    let inputs = op.inputs.iter().map(|arg| (arg, "input"));
    let mut arguments = inputs.chain(op.outputs.iter().map(|arg| (arg, "output")));
    if let Some(fault) = arguments.find_map(|(arg, kind)| fault_of(source, arg, kind)) {
        return Some(fault);
    }
    let has = |name: &str| op.input_index(name).is_some() || op.output_index(name).is_some();
    let is_element_wise = matches!(source.dispatch, Dispatch::ElementWise(_));
    let dispatched = match source.dispatch {
        Dispatch::Elements { of: "", .. } | Dispatch::ElementWise(_) | Dispatch::Function => None,
        Dispatch::Elements { of, .. } | Dispatch::Rows { of } | Dispatch::Tiles { of, .. } => Some(of),
    };
    let shapes = source.params.iter().filter(|param| matches!(param.value, ParamValue::Shape { .. }));
    let mut named = dispatched.into_iter().chain(shapes.map(|param| param.name)).chain(source.vectors.iter().copied());
    if let Some(name) = named.find(|name| !has(name)) {
        return Some(format!("it has no argument `{name}`"));
    }
    if let Some(name) = source.vectors.iter().find(|name| source.host_memory.contains(name)) {
        return Some(format!("`{name}` is in host memory, where the shader does not see it"));
    }
    for param in source.params {
        match param.value {
            ParamValue::Attr(_) => {
                if let Err(fault) = source.attr_type(param) {
                    return Some(fault);
                }
            }
            ParamValue::Computed(_) | ParamValue::Shape { .. } if is_element_wise => {
                return Some(format!("a function of elements has attrs for parameters, and `{}` is none", param.name));
            }
            ParamValue::Computed(_) | ParamValue::Shape { .. } => {}
        }
    }
    (is_element_wise && source.is_raw).then(|| "a function of elements is no whole shader".to_owned())
}

fn fault_of(source: &Source, arg: &ArgDef, kind: &str) -> Option<String> {
    let is_on_host = source.host_memory.contains(&&*arg.name);
    if arg.is_list() || arg.is_ref {
        return Some(format!("{kind} `{}` is a list or a reference, which no shader takes", arg.name));
    }
    if is_on_host {
        return (kind == "output")
            .then(|| format!("output `{}` is in host memory, where no shader can write it", arg.name));
    }
    let dtype = match &arg.ty {
        ArgType::Fixed(dtype) => Some(*dtype),
        ArgType::Attr(attr) | ArgType::ListAttr(attr) => {
            let listed = source.variants.first().copied().unwrap_or_default();
            listed.iter().find(|(name, _)| *name == &**attr).map(|&(_, dtype)| dtype)
        }
    };
    match dtype {
        None => Some(format!("the dtype of {kind} `{}` is not among those that the kernel is for", arg.name)),
        Some(dtype) if !is_computable(dtype) => {
            Some(format!("{kind} `{}` is {dtype}, with which no shader computes", arg.name))
        }
        Some(_) => None,
    }
}
