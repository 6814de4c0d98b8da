//! Checks of kernels whose shader is all that is written by hand: what its op must be like.

use super::{Text, find, items, no_attr, require_argument, same, text};
use crate::dtype::DataType;
use crate::op::{ArgDef, ArgType, AttrBase, OpDef};

/// The dtypes that shaders compute with.
const COMPUTABLE: &[DataType] =
    &[DataType::Float, DataType::Int32, DataType::Uint32, DataType::Bool, DataType::Half, DataType::Int64];

/// What devices may be able to do, by the names under which kernels require it.
pub const CAPABILITIES: &[&str] = &["f16", "i64", "subgroups", "f32-atomics", "timestamps", "cooperative-matrix"];

/// The names of [`COMPUTABLE`].
const NAMES: &str = "float, int32, uint32, bool, half and int64";

/// Requires that a shader can be bound to all arguments of the op but those in host memory, and can tell their dtypes:
/// `listed` are the attrs whose values the registration lists.
#[track_caller]
pub const fn require_arguments(op: &OpDef, host: &[&str], listed: &[&str]) {
    let (inputs, outputs) = (items(&op.inputs), items(&op.outputs));
    if outputs.is_empty() {
        Text::new().push("op `").push(text(&op.name)).push("` has no output for the shader to write").refuse()
    }
    let mut i = 0;
    while i < inputs.len() + outputs.len() {
        let is_input = i < inputs.len();
        let arg = if is_input { &inputs[i] } else { &outputs[i - inputs.len()] };
        i += 1;
        let is_host = contains(host, text(&arg.name));
        if is_input && is_host && !arg.is_list() {
            continue;
        }
        let subject = Text::new().push(if is_input { "input `" } else { "output `" }).push(text(&arg.name));
        let subject = subject.push("` of op `").push(text(&op.name)).push("` ");
        if arg.is_list() {
            subject.push("is a list of tensors: write the kernel by hand, with `kernlink::gpu::Program`").refuse()
        }
        if is_host {
            subject.push("is in host memory, where no shader can write it").refuse()
        }
        if arg.is_ref {
            subject.push("is a reference: write the kernel by hand, with `kernlink::gpu::Program`").refuse()
        }
        match &arg.ty {
            ArgType::Fixed(dtype) => {
                if !is_computable(*dtype) {
                    let message = subject.push("is ").push(dtype.name()).push(": shaders compute with ").push(NAMES);
                    let message = if is_input { message.push("; `host_memory` leaves it out") } else { message };
                    message.refuse()
                }
            }
            ArgType::Attr(attr) | ArgType::ListAttr(attr) => {
                if !contains(listed, text(attr)) {
                    let message = subject.push("has the dtype `").push(text(attr)).push("`: list for which ones the ");
                    message.push("kernel is, as in `").push(text(attr)).push(" = [f32, i32]`").refuse()
                }
            }
        }
    }
}

/// Requires that shaders compute with a dtype that is listed for an attr, if it is that of a tensor on the device.
#[track_caller]
pub const fn require_type(op: &OpDef, host: &[&str], attr: &str, dtype: DataType) {
    if is_on_device(op, host, attr) && !is_computable(dtype) {
        let message =
            Text::new().push("no shader computes with ").push(dtype.name()).push(": list some of ").push(NAMES);
        message.refuse()
    }
}

/// Whether an argument that is not in host memory has the dtype that this attr holds.
pub const fn is_on_device(op: &OpDef, host: &[&str], attr: &str) -> bool {
    any_on_device(items(&op.inputs), host, attr) || any_on_device(items(&op.outputs), host, attr)
}

const fn any_on_device(args: &'static [ArgDef], host: &[&str], attr: &str) -> bool {
    any!(arg in args => matches!(&arg.ty, ArgType::Attr(name) if same(text(name), attr))
        && !contains(host, text(&arg.name)))
}

/// Requires that the op has an attr whose value can be a parameter of a shader.
#[track_caller]
pub const fn require_param(op: &OpDef, name: &str) {
    let Some(attr) = find(op, name) else { no_attr(op, name) };
    if attr.ty.list || !matches!(attr.ty.base, AttrBase::Int | AttrBase::Float | AttrBase::Bool) {
        let message = Text::new().push("attr `").push(name).push("` of op `").push(text(&op.name));
        let message = message.push("` is no int, float or bool: say what the parameter is, as in `");
        message.push(name).push(": u32 = |launch| Ok(...)`").refuse()
    }
}

/// Requires that the op has an argument of this name, outside of host memory.
#[track_caller]
pub const fn require_bound(op: &OpDef, host: &[&str], name: &str) {
    require_argument(op, name);
    if contains(host, name) {
        let message = Text::new().push("`").push(name).push("` is in host memory: the shader does not see it");
        message.refuse()
    }
}

/// Requires that a capability has this name: a kernel that requires what does not exist would be taken for no device.
///
/// # Panics
/// Unless one has.
#[track_caller]
pub const fn assert_capability(name: &str) {
    if contains(CAPABILITIES, name) {
        return;
    }
    let mut message = Text::new().push("`requires` names what no GPU can have: the capabilities are ");
    let mut i = 0;
    while i < CAPABILITIES.len() {
        message = message.push(if i == 0 { "`" } else { ", `" }).push(CAPABILITIES[i]).push("`");
        i += 1;
    }
    message.refuse()
}

pub(crate) const fn is_computable(dtype: DataType) -> bool {
    any!(computable in COMPUTABLE => computable.equals(dtype))
}

const fn contains(names: &[&str], name: &str) -> bool {
    any!(other in names => same(other, name))
}
