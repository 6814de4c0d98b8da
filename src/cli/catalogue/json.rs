//! Ops and kernels as JSON, for other programs.

use crate::collect::OpEntry;
use crate::error::{Error, Result};
use crate::graph::default_value;
use crate::kernel::{ConstraintValues, KernelDef};
use crate::op::{AllowedValues, ArgDef};
use serde_json::{Value, json};

use super::families::Family;
use super::words;
use super::wrapper::Wrapper;

pub(super) fn pretty(value: &Value) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::internal(error.to_string()))?;
    Ok(text + "\n")
}

pub(super) fn op(entry: &OpEntry) -> Result<Value> {
    let op = entry.def;
    let args = |args: &[ArgDef]| -> Vec<Value> {
        args.iter()
            .map(|arg| json!({"name": arg.name, "spec": arg.to_string(), "description": arg.description}))
            .collect()
    };
    let attrs = op.attrs.iter().map(|attr| {
        let allowed = match &attr.allowed {
            Some(AllowedValues::Types(types)) => json!(types.iter().map(|t| t.name()).collect::<Vec<_>>()),
            Some(AllowedValues::Strings(strings)) => json!(strings),
            None => Value::Null,
        };
        let default = attr.default.as_ref().map(|default| default_value(default).map(|value| value.to_string()));
        Ok(json!({
            "name": attr.name, "type": attr.ty.to_string(), "default": default.transpose()?,
            "minimum": attr.minimum, "allowed": allowed, "description": attr.description,
            "inferred": op.is_inferred(&attr.name),
        }))
    });
    Ok(json!({
        "name": op.name, "summary": op.summary, "description": op.description,
        "inputs": args(&op.inputs), "outputs": args(&op.outputs), "attrs": attrs.collect::<Result<Vec<_>>>()?,
        "flags": words::flags(entry),
        "deprecated": op.deprecation.as_ref().map(|d| json!({"version": d.version, "explanation": d.explanation})),
        "function": Wrapper::of(entry).map(|wrapper| wrapper.function),
        "family": Family::of(entry).path(), "feature": words::feature(entry),
        "crate": entry.provider.name, "location": entry.location.to_string(),
    }))
}

pub(super) fn kernel(kernel: &KernelDef) -> Value {
    let constraints: Vec<Value> = kernel
        .constraints
        .iter()
        .map(|constraint| {
            let values = match constraint.values {
                ConstraintValues::Types(types) => json!(types.iter().map(|t| t.name()).collect::<Vec<_>>()),
                ConstraintValues::Strings(strings) => json!(strings),
                ConstraintValues::Ints(ints) => json!(ints),
                ConstraintValues::Bools(bools) => json!(bools),
            };
            json!({"attr": constraint.attr, "values": values})
        })
        .collect();
    json!({
        "op": kernel.op, "device": kernel.device.0, "constraints": constraints, "label": kernel.label,
        "priority": kernel.priority, "host_memory": kernel.host_memory, "requires": kernel.requires,
        "system": kernel.system, "type": kernel.type_name, "crate": kernel.provider.name, "location": kernel.location.to_string(),
    })
}
