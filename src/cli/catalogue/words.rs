//! Inputs, outputs and attrs described in words. Names and values stand in backticks.

use crate::collect::OpEntry;
use crate::dtype::DataType;
use crate::gradient::{find_gradient, registered_gradients};
use crate::graph::{NodeClass, default_value};
use crate::op::{AllowedValues, ArgDef, ArgType, AttrBase, AttrDef, OpDef};
use crate::sort::CompactSort as _;

pub(super) use crate::tools::words::count;

/// An argument's type as a spec writes it: `N * T`.
pub(super) fn arg_type(arg: &ArgDef) -> String {
    let spec = arg.to_string();
    spec.split_once(": ").map_or("", |(_, ty)| ty).to_owned()
}

/// `MatMul(a: T, b: T) -> (product: T)`
pub(super) fn signature(op: &OpDef) -> String {
    let list = |args: &[ArgDef]| args.iter().map(ArgDef::to_string).collect::<Vec<_>>().join(", ");
    format!("{}({}) -> ({})", op.name, list(&op.inputs), list(&op.outputs))
}

/// What is particular about an op.
pub(super) fn flags(entry: &OpEntry) -> Vec<&'static str> {
    let op = entry.def;
    [
        (op.is_stateful, "stateful"),
        (op.is_commutative, "commutative"),
        (op.is_aggregate, "aggregate"),
        (op.allows_uninitialized_input, "allows uninitialized input"),
        (op.is_distributed_communication, "distributed communication"),
        (entry.system, "system"),
        (entry.shape_fn.is_none(), "no shape function"),
    ]
    .into_iter()
    .filter_map(|(set, name)| set.then_some(name))
    .chain(gradient(op))
    .collect()
}

/// What is known of an op's gradient, if gradients are linked at all.
fn gradient(op: &OpDef) -> Option<&'static str> {
    if registered_gradients().is_empty() {
        return None;
    }
    Some(match find_gradient(&op.name) {
        Some(gradient) if gradient.differentiation.is_some() => "differentiable",
        Some(_) => "not differentiable",
        None if NodeClass::of(&op.name).is_call() => "differentiable",
        None => "no gradient",
    })
}

/// The Cargo feature of its crate that brings an op.
pub(super) fn feature(entry: &OpEntry) -> Option<&'static str> {
    entry.provider.feature_of.and_then(|feature_of| feature_of(&entry.def.name))
}

/// `a tensor of one of the dtypes ...`, for an input.
pub(super) fn input(op: &OpDef, index: usize) -> String {
    let arg = &op.inputs[index];
    let earlier = &op.inputs[..index];
    tensors(op, arg, earlier) + &dtype(op, arg, earlier)
}

/// The same for an output.
pub(super) fn output(op: &OpDef, index: usize) -> String {
    let arg = &op.outputs[index];
    tensors(op, arg, &op.inputs) + &dtype(op, arg, &op.inputs)
}

/// One tensor or a list, and how long.
fn tensors(op: &OpDef, arg: &ArgDef, earlier: &[ArgDef]) -> String {
    let mutable = if arg.is_ref { "mutable " } else { "" };
    let at_least = |attr: &str| match op.attr(attr).and_then(|attr| attr.minimum) {
        Some(minimum) if minimum > 0 => format!("at least {minimum} "),
        _ => String::new(),
    };
    if let Some(number) = &arg.number_attr {
        if let Some(other) = earlier.iter().find(|other| other.number_attr.as_ref() == Some(number)) {
            return format!("as many {mutable}tensors as `{}`", other.name);
        }
        return match op.is_inferred(number) {
            true => format!("a list of {}{mutable}tensors", at_least(number)),
            false => format!("a list of `{number}` {mutable}tensors"),
        };
    }
    match &arg.ty {
        ArgType::ListAttr(types) if op.is_inferred(types) => format!("a list of {}{mutable}tensors", at_least(types)),
        ArgType::ListAttr(_) => format!("a list of {mutable}tensors"),
        _ => format!("a {mutable}tensor"),
    }
}

fn dtype(op: &OpDef, arg: &ArgDef, earlier: &[ArgDef]) -> String {
    let all = if arg.number_attr.is_some() { " all" } else { "" };
    let allowed = |attr: &str| match op.attr(attr).and_then(|attr| attr.allowed.as_ref()) {
        Some(AllowedValues::Types(types)) => Some(dtypes(types)),
        _ => None,
    };
    match &arg.ty {
        ArgType::Fixed(dtype) => format!(",{all} of dtype `{dtype}`"),
        ArgType::Attr(attr) => {
            let same = |other: &&ArgDef| matches!(&other.ty, ArgType::Attr(other) if other == attr);
            match (earlier.iter().find(same), op.is_inferred(attr), allowed(attr)) {
                (Some(other), ..) => format!(",{all} of the dtype of `{}`", other.name),
                (None, false, _) => format!(",{all} of the dtype that attr `{attr}` says"),
                (None, true, Some(types)) if all.is_empty() => format!(", one of {types}"),
                (None, true, Some(types)) => format!(", all of one of the dtypes {types}"),
                (None, true, None) if all.is_empty() => " of any dtype".to_owned(),
                (None, true, None) => ", all of one dtype".to_owned(),
            }
        }
        ArgType::ListAttr(attr) => {
            let same = |other: &&ArgDef| matches!(&other.ty, ArgType::ListAttr(other) if other == attr);
            match (earlier.iter().find(same), op.is_inferred(attr), allowed(attr)) {
                (Some(other), ..) => format!(", of the dtypes of `{}`", other.name),
                (None, false, _) => format!(", of the dtypes that attr `{attr}` lists"),
                (None, true, Some(types)) => format!(", each one of {types}"),
                (None, true, None) => " of any dtypes".to_owned(),
            }
        }
    }
}

fn dtypes(types: &[DataType]) -> String {
    in_order(types).iter().map(|dtype| format!("`{dtype}`")).collect::<Vec<_>>().join(", ")
}

/// Dtypes from floats to integers to objects, whatever order a spec has them in.
pub(super) fn in_order(types: &[DataType]) -> Vec<DataType> {
    use DataType::*;
    const ORDER: [DataType; 20] = [
        Half, Bfloat16, Float, Double, Complex64, Complex128, Int4, Int8, Int16, Int32, Int64, Uint4, Uint8, Uint16,
        Uint32, Uint64, Bool, String, Resource, Variant,
    ];
    let place = |dtype: &DataType| (ORDER.iter().position(|other| other == dtype).unwrap_or(ORDER.len()), *dtype);
    let mut types = types.to_vec();
    types.compact_sort_by_key(place);
    types.dedup();
    types
}

/// The values that an attr may have, each as it is to be shown; empty if there is no list of them.
pub(super) fn allowed(attr: &AttrDef) -> Vec<String> {
    match &attr.allowed {
        Some(AllowedValues::Types(types)) => in_order(types).iter().map(DataType::to_string).collect(),
        Some(AllowedValues::Strings(strings)) => strings.iter().map(|string| format!("{string:?}")).collect(),
        None => Vec::new(),
    }
}

/// `at least 1`, or `at least 1 of them`.
pub(super) fn minimum(attr: &AttrDef) -> Option<String> {
    match (attr.minimum?, attr.ty.list) {
        (minimum, false) => Some(format!("at least {minimum}")),
        (minimum, true) if minimum > 0 => Some(format!("at least {minimum} of them")),
        _ => None,
    }
}

/// The default of an attr as graphs in text write it.
pub(super) fn default(attr: &AttrDef) -> Option<String> {
    let default = attr.default.as_ref()?;
    Some(default_value(default).map_or_else(|_| "(cannot be read)".to_owned(), |value| value.to_string()))
}

/// A Rust type for what users give for an attr, as the wrappers have it.
pub(super) fn rust_type(attr: &AttrDef) -> String {
    let element = value_type(attr);
    match (attr.ty.list, attr.ty.base) {
        (false, AttrBase::String) => "&str".to_owned(),
        (false, AttrBase::Shape) => "impl Into<PartialShape>".to_owned(),
        (false, _) => element.to_owned(),
        (true, AttrBase::String) => "impl IntoIterator<Item = impl Into<String>>".to_owned(),
        (true, _) => format!("impl Into<Vec<{element}>>"),
    }
}

/// The Rust type of an attr's value or, of a list, of its elements.
pub(super) fn value_type(attr: &AttrDef) -> &'static str {
    match attr.ty.base {
        AttrBase::String => "String",
        AttrBase::Int => "i64",
        AttrBase::Float => "f32",
        AttrBase::Bool => "bool",
        AttrBase::Type => "DataType",
        AttrBase::Shape => "PartialShape",
        AttrBase::Tensor => "Tensor",
        AttrBase::Func => "FunctionRef",
    }
}
