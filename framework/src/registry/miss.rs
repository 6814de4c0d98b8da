//! Why no kernel fits a node: the kernels that there are, each with what keeps it from being chosen.
//!
//! One registration stands for many kernels, one for each choice of its dtypes: they are told together, by the line that
//! registers them.

use std::fmt;

use super::lookup::DEFAULT;
use super::tables::{OpKernels, allows};
use super::{NodeQuery, Registry, nearest_names};
use crate::attr::{AttrMap, AttrValue};
use crate::kernel::{ConstraintValues, KernelDef};
use crate::select;
use crate::sort::CompactSort as _;

/// So many lines are shown.
const SHOWN: usize = 24;

pub(super) fn explain_miss(registry: &Registry, query: NodeQuery<'_>) -> String {
    let NodeQuery { node, op, attrs, device, .. } = query;
    let label = String::from_utf8_lossy(query.label());
    let mut text = format!("no kernel for node `{node}` (op {op}) on {device}");
    if !label.is_empty() {
        text += &format!(" with label \"{label}\"");
    }
    let tables = registry.snapshot();
    let Some(kernels) = tables.kernels_of(op) else {
        text += ": the op has no kernel in this program";
        match registry.feature_of(op) {
            Some(feature) => text += &format!("; {feature} may bring one"),
            // The op is known, so that its name is not misspelt.
            None if tables.ops.get(op).is_some_and(|entry| entry.selected) => {}
            None => {
                let near = nearest_names(op, tables.kernels.keys().copied());
                if !near.is_empty() {
                    text += &format!("; ops with similar names that have one: {}", near.join(", "));
                }
            }
        }
        return text;
    };
    let left_out = kernels.all().into_iter().find(|kernel| {
        let device_fits = kernel.device == device || kernel.device == DEFAULT;
        let constraints = || kernel.constraints.iter();
        let attrs_fit = || constraints().all(|it| attrs.get(it.attr).is_some_and(|value| allows(it.values, value)));
        !kernel.selected && device_fits && kernel.label == label && attrs_fit()
    });
    if let Some(explanation) = left_out.and_then(select::explain_kernel) {
        return text + ": " + &explanation;
    }
    let mut lines = Vec::new();
    for candidate in candidates(kernels, attrs) {
        let faults = candidate.faults(&query, &label);
        if faults.is_empty() && candidate.kernels.len() > 1 {
            // Each lacks what another one has.
            for &kernel in &candidate.kernels {
                let alone = Candidate { kernels: vec![kernel], is_removed: candidate.is_removed };
                lines.push((alone.faults(&query, &label), alone.to_string()));
            }
        } else {
            lines.push((faults, candidate.to_string()));
        }
    }
    // Near misses come first.
    lines.compact_sort_by_key(|(faults, _)| faults.len());
    text += ". Registered:";
    for (faults, candidate) in lines.iter().take(SHOWN) {
        text += &format!("\n  {candidate}: {}", faults.join(", "));
    }
    if lines.len() > SHOWN {
        text += &format!("\n  and {} more", lines.len() - SHOWN);
    }
    text
}

/// The kernels that one line of the sources registers, which differ in the values of their constraints alone.
struct Candidate {
    kernels: Vec<&'static KernelDef>,
    /// Whether they were removed while the program runs, as far as this node is concerned.
    is_removed: bool,
}

/// The kernels of an op that a node could have, by the lines that register them.
fn candidates(kernels: &OpKernels, attrs: &AttrMap) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for kernel in kernels.all().into_iter().filter(|kernel| kernel.selected) {
        let is_removed = kernels.is_removed(kernel, attrs);
        let is_same = |candidate: &&mut Candidate| {
            candidate.is_removed == is_removed && candidate.kernels.first().is_some_and(|first| are_one(first, kernel))
        };
        match candidates.iter_mut().find(is_same) {
            Some(candidate) => candidate.kernels.push(kernel),
            None => candidates.push(Candidate { kernels: vec![kernel], is_removed }),
        }
    }
    candidates
}

/// Whether two kernels are of one registration.
fn are_one(a: &KernelDef, b: &KernelDef) -> bool {
    let attrs = |kernel: &KernelDef| kernel.constraints.iter().map(|constraint| constraint.attr).collect::<Vec<_>>();
    (a.location, a.device, a.label, a.priority, a.requires) == (b.location, b.device, b.label, b.priority, b.requires)
        && attrs(a) == attrs(b)
}

impl Candidate {
    /// What any of the kernels says of the values of an attr, each once.
    fn constraints(&self) -> Vec<Constraint> {
        let mut constraints: Vec<Constraint> = Vec::new();
        for constraint in self.kernels.iter().flat_map(|kernel| kernel.constraints) {
            match constraints.iter_mut().find(|known| known.attr == constraint.attr) {
                Some(known) if known.values.contains(&constraint.values) => {}
                Some(known) => known.values.push(constraint.values),
                None => constraints.push(Constraint { attr: constraint.attr, values: vec![constraint.values] }),
            }
        }
        constraints
    }

    /// Why none of them is chosen.
    fn faults(&self, query: &NodeQuery<'_>, label: &str) -> Vec<String> {
        let Some(first) = self.kernels.first() else { return Vec::new() };
        let mut faults = Vec::new();
        if first.device != query.device && first.device != DEFAULT {
            faults.push(format!("is for {}", first.device));
        } else {
            let lacking = first.requires.iter().filter(|required| !query.capabilities.contains(*required));
            faults.extend(lacking.map(|required| lacks(required, query.capabilities)));
        }
        if first.label != label {
            faults.push(format!("has label \"{}\"", first.label));
        }
        faults.extend(self.constraints().iter().filter_map(|constraint| constraint.fault(query.attrs)));
        if self.is_removed {
            faults.push("was removed while the program runs".to_owned());
        }
        faults
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kernels.first().map_or(Ok(()), |first| first.fmt_with(f, &self.constraints()))
    }
}

/// The values of one attr for which several kernels are.
struct Constraint {
    attr: &'static str,
    values: Vec<ConstraintValues>,
}

impl Constraint {
    /// Why it does not hold for these attrs.
    fn fault(&self, attrs: &AttrMap) -> Option<String> {
        match attrs.get(self.attr) {
            None => Some(format!("the node has no attr {}", self.attr)),
            Some(value) => {
                let is_allowed = self.values.iter().any(|values| allows(*values, value));
                // Dtypes as in the list that they are missing from.
                let value = || match value {
                    AttrValue::Type(dtype) => dtype.to_string(),
                    value => value.to_string(),
                };
                (!is_allowed).then(|| format!("{} is {}", self.attr, value()))
            }
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.values.iter().flat_map(ConstraintValues::texts).collect::<Vec<_>>();
        write!(f, "{} in [{}]", self.attr, values.join(", "))
    }
}

/// What a device lacks that a kernel requires, and what it has.
fn lacks(required: &str, capabilities: &[&str]) -> String {
    match capabilities {
        [] => format!("requires {required}, and the device has no capabilities"),
        capabilities => format!("requires {required}, and the device has {}", capabilities.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tables::Tables;
    use super::*;
    use crate::dtype::DataType;
    use crate::error::{Error, Result};
    use crate::kernel::{CPU, DynKernel, KernelDefBuilder, Location, RawConstruction};
    use crate::op::OpDef;

    fn nothing(_: &RawConstruction<'_>) -> Result<Box<dyn DynKernel>> {
        Err(Error::unimplemented("nothing"))
    }

    /// A kernel of `Op` as a line of `x.rs` registers it.
    fn kernel(line: u32, change: impl FnOnce(KernelDefBuilder) -> KernelDefBuilder) -> &'static KernelDef {
        let built = change(KernelDefBuilder::new("Op", CPU)).create(nothing);
        let location = Location { file: "x.rs", line };
        Box::leak(Box::new(KernelDef { location, created: Default::default(), ..*built }))
    }

    fn miss(kernels: &[&'static KernelDef], attrs: &[(&str, DataType)]) -> String {
        let registry = Registry::from_ops([OpDef { name: "Op".into(), ..OpDef::EMPTY }]).unwrap();
        let mut tables = Tables::clone(&registry.snapshot());
        kernels.iter().for_each(|kernel| tables.add(kernel));
        *registry.tables.write().unwrap() = Arc::new(tables);
        let attrs = attrs.iter().map(|(name, dtype)| ((*name).to_owned(), AttrValue::Type(*dtype))).collect();
        explain_miss(&registry, NodeQuery { node: "n", op: "Op", attrs: &attrs, device: CPU, capabilities: &[] })
    }

    #[test]
    fn kernels_of_one_line_are_told_together() {
        use DataType::{Double, Float, Half, Int32};
        let kernels = [Float, Double, Int32].map(|dtype| kernel(3, |kernel| kernel.types("T", &[dtype])));
        let other = kernel(9, |kernel| kernel.types("T", &[Half]).label("fast"));
        let text = miss(&[kernels[0], other, kernels[1], kernels[2]], &[("T", DataType::String)]);
        assert_eq!(
            text,
            "no kernel for node `n` (op Op) on CPU. Registered:\
             \n  Op on CPU, T in [double, float, int32], registered at x.rs:3: T is string\
             \n  Op on CPU, T in [half], label \"fast\", registered at x.rs:9: has label \"fast\", T is string"
        );
    }

    #[test]
    fn choices_of_several_attrs_are_told_together_unless_each_lacks_something() {
        use DataType::{Float, Int32, Int64};
        let of = |t, index| kernel(3, |kernel| kernel.types("T", &[t]).types("I", &[index]));
        let attrs = [("T", DataType::Bool), ("I", Int32)];
        let text = miss(&[of(Float, Int32), of(Float, Int64)], &attrs);
        assert!(
            text.ends_with("\n  Op on CPU, T in [float], I in [int32, int64], registered at x.rs:3: T is bool"),
            "{text}"
        );
        let text = miss(&[of(Float, Int64), of(Int64, Int32)], &[("T", Float), ("I", Int32)]);
        for line in [
            "T in [float], I in [int64], registered at x.rs:3: I is int32",
            "I in [int32], registered at x.rs:3: T is float",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
