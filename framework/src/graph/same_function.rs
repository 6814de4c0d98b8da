//! Whether two functions of one name are the same.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message as _;

use crate::dtype::{DataType, TString};
use crate::error::{Error, Result, shortened};
use crate::proto::{self, AttrValue, FunctionDef, FunctionDefLibrary, NodeDef, OpDef, TensorProto, attr_value};

/// The functions of a library, each once.
///
/// # Errors
/// INVALID_ARGUMENT if two functions of one name differ, or a function has two gradients.
pub(super) fn distinct(library: &FunctionDefLibrary) -> Result<Vec<&FunctionDef>> {
    let mut by_name: BTreeMap<&str, &FunctionDef> = BTreeMap::new();
    let mut functions = Vec::with_capacity(library.function.len());
    for function in &library.function {
        let name = function.signature.as_ref().map_or("", |signature| &signature.name);
        match by_name.insert(name, function) {
            None => functions.push(function),
            Some(other) if are_same(other, function) => {}
            Some(_) => {
                return Err(Error::invalid_argument(format!(
                    "the library has two functions `{}`, which differ: give one of them another name",
                    shortened(name)
                )));
            }
        }
    }
    let mut gradients: BTreeMap<&str, &str> = BTreeMap::new();
    for gradient in &library.gradient {
        let other = gradients.insert(&gradient.function_name, &gradient.gradient_func);
        if let Some(other) = other.filter(|other| *other != gradient.gradient_func) {
            return Err(Error::invalid_argument(format!(
                "the library has two gradients of function `{}`, `{}` and `{}`: a function has one at most",
                shortened(&gradient.function_name),
                shortened(other),
                shortened(&gradient.gradient_func)
            )));
        }
    }
    Ok(functions)
}

/// Whether functions are the same, as TensorFlow has it: the order of nodes, of attrs that are declared and of what nodes wait for
/// does not matter, nor do attrs of nodes whose names begin with `_`.
pub(crate) fn are_same(one: &FunctionDef, other: &FunctionDef) -> bool {
    signature(one) == signature(other)
        && attrs(&one.attr).eq(attrs(&other.attr))
        && one.node_def.len() == other.node_def.len()
        && nodes(one) == nodes(other)
        && one.ret == other.ret
        && one.control_ret == other.control_ret
}

/// Whether the same is declared: the attrs, what there is to wait for, all else.
fn signature(function: &FunctionDef) -> (BTreeSet<Vec<u8>>, BTreeSet<&str>, Vec<u8>) {
    let Some(signature) = &function.signature else { return Default::default() };
    let declared = signature.attr.iter().map(|attr| attr.encode_to_vec()).collect();
    let controls = signature.control_output.iter().map(String::as_str).collect();
    let rest = OpDef { attr: Vec::new(), control_output: Vec::new(), ..signature.clone() };
    (declared, controls, rest.encode_to_vec())
}

/// A node: its op and device, its inputs, what it waits for, its attrs.
type Node<'n> = (&'n str, &'n str, Vec<&'n str>, BTreeSet<&'n str>, Vec<(&'n str, Value<'n>)>);

/// The nodes by name.
fn nodes(function: &FunctionDef) -> BTreeMap<&str, Node<'_>> {
    function.node_def.iter().map(|def| (def.name.as_str(), node(def))).collect()
}

fn node(node: &NodeDef) -> Node<'_> {
    let (controls, inputs): (Vec<&str>, Vec<&str>) =
        node.input.iter().map(String::as_str).partition(|input| input.starts_with('^'));
    let attrs = attrs(&node.attr).filter(|(name, _)| !name.starts_with('_')).collect();
    (&node.op, &node.device, inputs, controls.into_iter().collect(), attrs)
}

fn attrs(attrs: &BTreeMap<String, AttrValue>) -> impl Iterator<Item = (&str, Value<'_>)> {
    attrs.iter().map(|(name, value)| (name.as_str(), Value(value)))
}

/// An attr's value, which equals another if it holds the same, however a tensor is written; NaN is the same as NaN.
struct Value<'n>(&'n AttrValue);

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Value<'_>) -> bool {
        if self.0 == other.0 {
            return true;
        }
        let (len, other_len) = (self.0.encoded_len(), other.0.encoded_len());
        match (&self.0.value, &other.0.value) {
            (Some(attr_value::Value::Tensor(one)), Some(attr_value::Value::Tensor(other))) => {
                elements(one).is_some_and(|one| elements(other) == Some(one))
            }
            // Where there are NaNs.
            _ => len == other_len && len <= MOST_COMPARED && self.0.encode_to_vec() == other.0.encode_to_vec(),
        }
    }
}

/// So many bytes a value has at most that is compared otherwise than as it is written.
const MOST_COMPARED: usize = 32 << 20;

/// What a tensor holds, in the form in which we write it; `None` of one that is large or no tensor.
fn elements(proto: &TensorProto) -> Option<Vec<u8>> {
    let dims = proto.tensor_shape.iter().flat_map(|shape| &shape.dim);
    let elements = dims.map(|dim| usize::try_from(dim.size).ok()).try_fold(1usize, |all, dim| all.checked_mul(dim?))?;
    let size = match DataType::from_number(proto.dtype)?.size() {
        0 => size_of::<TString>(),
        size => size,
    };
    if elements.checked_mul(size)? > MOST_COMPARED || proto.encoded_len() > MOST_COMPARED {
        return None;
    }
    let tensor = proto::tensor_from_proto(proto).ok()?;
    Some(proto::tensor_to_proto(&tensor).ok()?.encode_to_vec())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::error::Code;
    use crate::graph::Graph;
    use crate::proto::{GradientDef, GraphDef, TensorProto, op_def};
    use crate::registry::Registry;

    fn value(value: attr_value::Value) -> AttrValue {
        AttrValue { value: Some(value) }
    }

    fn nan() -> AttrValue {
        let tensor = TensorProto { dtype: 1, float_val: vec![f32::NAN], ..TensorProto::default() };
        value(attr_value::Value::Tensor(tensor))
    }

    /// `f`, with two nodes of which one waits for two others.
    fn function() -> FunctionDef {
        let attr =
            |name: &str| op_def::AttrDef { name: name.into(), r#type: "type".into(), ..op_def::AttrDef::default() };
        let signature = OpDef { name: "f".into(), attr: vec![attr("T"), attr("U")], ..OpDef::default() };
        let node = |name: &str, input: &[&str]| NodeDef {
            name: name.into(),
            op: "Const".into(),
            input: input.iter().map(|&input| input.into()).collect(),
            attr: BTreeMap::from([("value".into(), nan())]),
            ..NodeDef::default()
        };
        let node_def = vec![node("a", &[]), node("b", &[]), node("c", &["a", "b", "^a", "^b"])];
        FunctionDef { signature: Some(signature), node_def, ..FunctionDef::default() }
    }

    fn import(function: Vec<FunctionDef>, gradient: Vec<GradientDef>) -> Result<Graph> {
        let library = Some(FunctionDefLibrary { function, gradient });
        Graph::import(&GraphDef { library, ..GraphDef::default() }, &Arc::new(Registry::new([], []).unwrap()))
    }

    fn with(change: impl FnOnce(&mut FunctionDef)) -> Result<Graph> {
        let mut other = function();
        change(&mut other);
        import(vec![function(), other], Vec::new())
    }

    #[test]
    fn functions_that_are_the_same_are_one() {
        let changes: [fn(&mut FunctionDef); 7] = [
            |_| {},
            |f| f.node_def.reverse(),
            |f| f.node_def[2].input[2..].reverse(),
            |f| _ = f.node_def[0].attr.insert("_x".into(), value(attr_value::Value::B(true))),
            |f| f.signature.as_mut().unwrap().attr.reverse(),
            |f| _ = f.resource_arg_unique_id.insert(0, 4),
            |f| {
                let Some(attr_value::Value::Tensor(tensor)) = &mut f.node_def[0].attr.get_mut("value").unwrap().value
                else {
                    panic!("it is a tensor")
                };
                tensor.float_val.clear();
                tensor.tensor_content = f32::NAN.to_le_bytes().to_vec().into();
            },
        ];
        for change in changes {
            let graph = with(change).unwrap();
            // NaN is not equal to itself.
            let library = graph.to_def().unwrap().library.unwrap();
            assert_eq!(
                library.function.iter().map(|f| f.encode_to_vec()).collect::<Vec<_>>(),
                [function().encode_to_vec()]
            );
        }
    }

    #[test]
    fn functions_of_one_name_that_differ_are_refused() {
        let changes: [fn(&mut FunctionDef); 9] = [
            |f| _ = f.node_def[0].attr.insert("value".into(), value(attr_value::Value::I(1))),
            |f| _ = f.node_def[0].attr.insert("x".into(), value(attr_value::Value::B(true))),
            |f| _ = f.attr.insert("_x".into(), value(attr_value::Value::B(true))),
            |f| f.node_def[0].device = "/cpu:0".into(),
            |f| f.node_def[2].input[..2].reverse(),
            |f| _ = f.node_def.pop(),
            |f| _ = f.ret.insert("y".into(), "a:output:0".into()),
            |f| _ = f.control_ret.insert("y".into(), "a".into()),
            |f| f.signature.as_mut().unwrap().description = "another".into(),
        ];
        for change in changes {
            let error = with(change).err().expect("it is refused");
            assert_eq!(error.code(), Code::InvalidArgument);
            assert!(error.message().contains("two functions `f`, which differ"), "{error}");
        }
    }

    #[test]
    fn a_function_has_one_gradient() {
        let gradient = |name: &str| GradientDef { function_name: "f".into(), gradient_func: name.into() };
        assert!(import(vec![function()], vec![gradient("g"), gradient("g")]).is_ok());
        let error = import(vec![function()], vec![gradient("g"), gradient("h")]).err().expect("it is refused");
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains("two gradients of function `f`, `g` and `h`"), "{error}");
    }
}
