//! Checks of a gradient against its op, evaluated while its crate is compiled. Each panics, at the token that is wrong, with
//! what the op declares.

use super::place::{ParameterKind, Place, Side};
use crate::kernel::check::{Text, items, near_word, same, text};
use crate::op::{ArgDef, AttrDef, OpDef};

/// Says, for the type checker alone, that a crate registers one gradient of this op, or by this [`GradientName`] (`Self`): two
/// are two implementations, which do not compile. Where the macro sees that two look the same, the second is number 1, and
/// asks whether there is a number 0, for an error in words.
pub trait RegistersGradient<Provider, const NUMBER: usize> {}

/// Stands for a gradient's name in [`RegistersGradient`]; the parameter is a hash of it.
pub struct GradientName<const NAME: u64>;

/// The name of a declared op.
pub const fn name_of(op: &'static OpDef) -> &'static str {
    text(&op.name)
}

/// What a parameter called `name` of this kind stands for.
#[track_caller]
pub const fn parameter(op: &'static OpDef, name: &'static str, kind: ParameterKind) -> Place {
    if let ParameterKind::Attr { base, list } = kind {
        let attrs = items(&op.attrs);
        let mut at = 0;
        while at < attrs.len() {
            if same(text(&attrs[at].name), name) {
                if attrs[at].ty.base as u8 != base as u8 || attrs[at].ty.list != list {
                    let message = Text::new().push("attr `").push(name).push("` of op `").push(text(&op.name));
                    let message = message.push("` has type ").push(if attrs[at].ty.list { "list(" } else { "" });
                    message.push(attrs[at].ty.base.name()).push(if attrs[at].ty.list { ")" } else { "" }).refuse()
                }
                return Place { side: Side::Attr, argument: at, kind, name };
            }
            at += 1;
        }
        absent(op, name)
    }
    let flow = flow_of(name);
    let inputs = items(&op.inputs);
    let outputs = items(&op.outputs);
    let (side, args, argument) = match (find(inputs, name), find(outputs, name)) {
        (Some(at), _) => (Side::Input, inputs, at),
        (None, Some(at)) => (Side::Output, outputs, at),
        (None, None) => match flow {
            Some(flow) => match find(outputs, flow) {
                Some(at) => (Side::Flow, outputs, at),
                None => absent(op, name),
            },
            None => absent(op, name),
        },
    };
    let is_list = args[argument].is_list();
    let message = Text::new().push("`").push(name).push("` of op `").push(text(&op.name));
    match (kind, is_list) {
        (ParameterKind::Value | ParameterKind::Shape | ParameterKind::MaybeFlow | ParameterKind::AnyFlow, true) => {
            message.push("` is a list of tensors: take a `Vec`").refuse()
        }
        (ParameterKind::Values | ParameterKind::Shapes | ParameterKind::MaybeFlows, false) => {
            message.push("` is one tensor: take no `Vec`").refuse()
        }
        _ => {}
    }
    let is_flow = matches!(kind, ParameterKind::MaybeFlow | ParameterKind::MaybeFlows | ParameterKind::AnyFlow);
    if is_flow && !matches!(side, Side::Flow) {
        message
            .push("` is always there, and dense: take it as `Value`, or what flows back to an output as `d_NAME`")
            .refuse()
    }
    if matches!(side, Side::Flow) && matches!(kind, ParameterKind::Shape | ParameterKind::Shapes) {
        message.push("` has the shape of its output: take that").refuse()
    }
    Place { side, argument, kind, name }
}

/// The output to which `d_NAME` flows back.
const fn flow_of(name: &str) -> Option<&str> {
    let bytes = name.as_bytes();
    if bytes.len() > 2 && bytes[0] == b'd' && bytes[1] == b'_' { Some(name.split_at(2).1) } else { None }
}

const fn find(args: &'static [ArgDef], name: &str) -> Option<usize> {
    let mut at = 0;
    while at < args.len() {
        if same(text(&args[at].name), name) {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[track_caller]
const fn absent(op: &'static OpDef, name: &str) -> ! {
    let (inputs, outputs, attrs) = (items(&op.inputs), items(&op.outputs), items(&op.attrs));
    let message = Text::new().push("op `").push(text(&op.name)).push("` has nothing that is called `").push(name);
    let message = message.push("`: inputs are ");
    let (message, near) = names(message, inputs, "", name, None);
    let (message, near) = names(message.push("; outputs "), outputs, "", name, near);
    let (message, near) = names(message.push("; what flows back is "), outputs, "d_", name, near);
    let (message, near) = attr_names(message.push("; attrs are "), attrs, name, near);
    match near {
        Some(near) => message.push("; did you mean `").push(near).push("`?").refuse(),
        None => message.refuse(),
    }
}

const fn names(
    mut message: Text,
    args: &'static [ArgDef],
    prefix: &str,
    name: &str,
    mut near: Option<&'static str>,
) -> (Text, Option<&'static str>) {
    let mut at = 0;
    while at < args.len() {
        let candidate = text(&args[at].name);
        message = message.item(at, "`").push(prefix).push(candidate).push("`");
        if near.is_none() && near_word(name, candidate) {
            near = Some(candidate);
        }
        at += 1;
    }
    (if args.is_empty() { message.push("none") } else { message }, near)
}

const fn attr_names(
    mut message: Text,
    attrs: &'static [AttrDef],
    name: &str,
    mut near: Option<&'static str>,
) -> (Text, Option<&'static str>) {
    let mut at = 0;
    while at < attrs.len() {
        let candidate = text(&attrs[at].name);
        message = message.item(at, "`").push(candidate).push("`");
        if near.is_none() && near_word(name, candidate) {
            near = Some(candidate);
        }
        at += 1;
    }
    (if attrs.is_empty() { message.push("none") } else { message }, near)
}

/// Requires that a function returns a gradient for each input argument, a vector for a list.
#[track_caller]
pub const fn require_inputs(op: &'static OpDef, returned: &[bool]) {
    let inputs = items(&op.inputs);
    if returned.len() != inputs.len() {
        let message = Text::new().push("op `").push(text(&op.name)).push("` has ").number(inputs.len());
        let mut message = message.push(" inputs, not ").number(returned.len()).push(": ");
        let mut at = 0;
        while at < inputs.len() {
            message = message.item(at, "`").push(text(&inputs[at].name)).push("`");
            at += 1;
        }
        message.push("; return a gradient for each, in this order: `NoGradient` for one that has none").refuse()
    }
    let mut at = 0;
    while at < inputs.len() {
        if returned[at] != inputs[at].is_list() {
            let message =
                Text::new().push("input `").push(text(&inputs[at].name)).push("` of op `").push(text(&op.name));
            match inputs[at].is_list() {
                true => message.push("` is a list of tensors: return a `Vec` for it").refuse(),
                false => message.push("` is one tensor: return no `Vec` for it").refuse(),
            }
        }
        at += 1;
    }
}
