//! The ops that there are, described for what makes functions of them.

use kernlink::op::{AllowedValues, ArgDef, ArgType, AttrDef};
use kernlink::proto::{attr_from_proto, op_to_proto};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::dtypes::name_of;
use crate::error::Raise;
use crate::values::to_python;

/// `; did you mean A, B?` of the names that are nearest to one; nothing if all are far.
#[pyfunction]
pub(crate) fn did_you_mean(name: &str, names: Vec<String>) -> String {
    kernlink::registry::did_you_mean(name, names.iter().map(String::as_str))
}

/// The names of the ops, sorted.
#[pyfunction]
pub(crate) fn op_names() -> PyResult<Vec<String>> {
    let registry = kernlink::registry().or_raise()?;
    Ok(registry.ops().map(|entry| entry.def.name.to_string()).collect())
}

/// The declaration of an op.
#[pyfunction]
pub(crate) fn op_def<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let registry = kernlink::registry().or_raise()?;
    let op = registry.op(name).or_raise()?.def;
    let proto = op_to_proto(op).or_raise()?;
    let described = PyDict::new(py);
    described.set_item("name", &*op.name)?;
    described.set_item("summary", &*op.summary)?;
    described.set_item("description", &*op.description)?;
    described.set_item("is_stateful", op.is_stateful)?;
    let deprecated = op.deprecation.as_ref().map(|since| (since.version, &*since.explanation));
    described.set_item("deprecated", deprecated)?;
    let args =
        |args: &[ArgDef]| PyList::new(py, args.iter().map(|arg| argument(py, arg)).collect::<PyResult<Vec<_>>>()?);
    described.set_item("inputs", args(&op.inputs)?)?;
    described.set_item("outputs", args(&op.outputs)?)?;
    let attrs = PyList::empty(py);
    for (attr, proto) in op.attrs.iter().zip(&proto.attr) {
        let item = attribute(py, attr)?;
        let default = proto.default_value.as_ref().map(attr_from_proto).transpose().or_raise()?;
        if let Some(default) = default {
            item.set_item("default", to_python(py, &default)?)?;
        }
        attrs.append(item)?;
    }
    described.set_item("attrs", attrs)?;
    Ok(described)
}

fn argument<'py>(py: Python<'py>, arg: &ArgDef) -> PyResult<Bound<'py, PyDict>> {
    let item = PyDict::new(py);
    item.set_item("name", &*arg.name)?;
    item.set_item("description", &*arg.description)?;
    item.set_item("is_ref", arg.is_ref)?;
    let (fixed, one, list) = match &arg.ty {
        ArgType::Fixed(dtype) => (Some(name_of(*dtype)), None, None),
        ArgType::Attr(attr) => (None, Some(&**attr), None),
        ArgType::ListAttr(attr) => (None, None, Some(&**attr)),
    };
    item.set_item("type", fixed)?;
    item.set_item("type_attr", one)?;
    item.set_item("type_list_attr", list)?;
    item.set_item("number_attr", arg.number_attr.as_deref())?;
    Ok(item)
}

fn attribute<'py>(py: Python<'py>, attr: &AttrDef) -> PyResult<Bound<'py, PyDict>> {
    let item = PyDict::new(py);
    item.set_item("name", &*attr.name)?;
    item.set_item("description", &*attr.description)?;
    item.set_item("type", attr.ty.to_string())?;
    item.set_item("minimum", attr.minimum)?;
    let allowed = match &attr.allowed {
        None => None,
        Some(AllowedValues::Types(types)) => Some(types.iter().map(|dtype| name_of(*dtype).to_owned()).collect()),
        Some(AllowedValues::Strings(texts)) => Some(texts.iter().map(|text| text.to_string()).collect::<Vec<_>>()),
    };
    item.set_item("allowed", allowed)?;
    Ok(item)
}
