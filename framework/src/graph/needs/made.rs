//! What graph passes may make of nodes, as far as it is made of several.

use std::collections::HashSet;

use kernlink_spec::{SelectedKernel, SelectedLine, SelectedValue};

use super::selected::{devices, selected};
use super::{CreatedFrom, Root, Walk};
use crate::attr::AttrValue;
use crate::dtype::DataType;
use crate::kernel::{AttrConstraint, ConstraintValues, KernelDef};
use crate::op::AllowedValues;

impl Walk<'_, '_, '_> {
    /// Notes what may be made of nodes that are all there, and of what is made of them in turn.
    pub(super) fn matches(&mut self) {
        for (index, devices) in std::mem::take(&mut self.several) {
            let several = devices.into_values().filter(|(count, _)| *count > 1);
            self.made(self.needs.created[index].to, several.flat_map(|(_, kinds)| kinds).collect());
        }
        let mut made: HashSet<usize> = HashSet::new();
        loop {
            let before = made.len();
            for (index, created) in self.needs.created.iter().enumerate() {
                let CreatedFrom::Match(pattern) = created.from else { continue };
                let is_there = |ops: &&[&str]| {
                    let of_it = |op: &&str| self.counts.get(*op).copied().unwrap_or(0);
                    let there = ops.iter().map(of_it).fold(0usize, usize::saturating_add);
                    there >= pattern.iter().filter(|others| *others == ops).count()
                };
                if made.contains(&index) || !pattern.iter().all(is_there) {
                    continue;
                }
                made.insert(index);
                let first = pattern.first().copied().unwrap_or_default();
                let roots = first.iter().filter_map(|op| self.roots.get(*op)).flatten().cloned().collect();
                self.made(created.to, roots);
            }
            if made.len() == before {
                return;
            }
        }
    }

    /// Notes what nodes of an op need, with the devices and dtypes of these, if the registry has the op. Nodes are made only of
    /// dtypes that the op allows and some kernel has.
    fn made(&mut self, op: &'static str, roots: Vec<Root>) {
        let Some(entry) = self.needs.registry.find_op(op) else { return };
        let is_dtype = |name: &str| entry.def.attr(name).is_some_and(|def| !def.ty.list);
        let roots = roots.into_iter().map(|(device, dtypes)| {
            (device, dtypes.into_iter().filter(|(name, _)| is_dtype(name)).collect::<Vec<_>>())
        });
        let kernels = self.needs.registry.kernels_of(op);
        let allows = |(name, dtype): &(String, DataType)| {
            let allowed = entry.def.attr(name).and_then(|def| def.allowed.as_ref());
            !matches!(allowed, Some(AllowedValues::Types(types)) if !types.contains(dtype))
        };
        let suits = |constraint: &AttrConstraint, (name, dtype): &(String, DataType)| match constraint.values {
            ConstraintValues::Types(types) => name != constraint.attr || types.contains(dtype),
            _ => true,
        };
        let can_be = |(_, dtypes): &Root| {
            let runs = |kernel: &&'static KernelDef| {
                kernel.constraints.iter().all(|constraint| dtypes.iter().all(|dtype| suits(constraint, dtype)))
            };
            dtypes.iter().all(allows) && (kernels.is_empty() || kernels.iter().any(runs))
        };
        let roots: Vec<Root> = roots.filter(can_be).collect();
        for (device, dtypes) in &roots {
            let known =
                dtypes.iter().filter_map(|(name, dtype)| Some((name.clone(), selected(&AttrValue::Type(*dtype))?)));
            let attrs: Vec<(String, SelectedValue)> = known.collect();
            for device in devices(device) {
                let kernel = SelectedKernel { device, label: String::new(), attrs: attrs.clone() };
                self.lines.push(SelectedLine { op: op.to_owned(), kernel: Some(kernel) });
            }
        }
        self.counts.insert(op.to_owned(), usize::MAX);
        self.roots.entry(op.to_owned()).or_default().extend(roots);
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow::Borrowed;
    use std::sync::Arc;

    use super::super::tests::{FLOATS, attr, dtype, graph, kernel, node, op, registry};
    use super::super::{Created, Needs};
    use super::*;
    use crate::graph::NodeClass;
    use crate::op::{AttrBase, AttrDef};
    use crate::registry::Registry;

    #[test]
    fn what_is_made_of_two_nodes_of_an_op_needs_two() {
        let registry = registry();
        let needed = |nodes: &[&str]| {
            let mut needs = Needs::new(&registry);
            needs.created = const { &[Created { from: CreatedFrom::Match(&[&["A"], &["A"]]), to: "_FusedA" }] };
            let nodes = nodes.iter().map(|name| node(name, "A", &[("T", dtype(DataType::Float))]));
            needs.add(&graph(nodes.collect(), vec![])).unwrap();
            needs.to_string().contains("_FusedA")
        };
        assert!(!needed(&["a"]) && needed(&["a", "b"]));
    }

    #[test]
    fn what_the_runtime_may_make_is_needed_too() {
        let registry = registry();
        let mut needs = Needs::new(&registry);
        let from = NodeClass::of("A");
        needs.created = const {
            &[
                Created { from: CreatedFrom::Class(NodeClass::Other), to: "_FusedA" },
                Created { from: CreatedFrom::Class(NodeClass::Other), to: "_NotLinked" },
            ]
        };
        assert_eq!(from, NodeClass::Other);
        needs.add(&graph(vec![node("a", "A", &[("T", dtype(DataType::Float))])], vec![])).unwrap();
        assert_eq!(needs.to_string(), "A CPU T=float Tidx=int32 mode=\"a\"\n_FusedA CPU T=float\n");
        assert!(needs.unknown_ops().is_empty() && needs.missing_kernels().count() == 0);
    }

    #[test]
    fn what_is_made_of_several_nodes_is_needed_where_there_are_several() {
        let registry = registry();
        let needed = |dtypes: &[DataType]| {
            let mut needs = Needs::new(&registry);
            needs.created = const { &[Created { from: CreatedFrom::Several(&["A", "B"]), to: "_FusedA" }] };
            let nodes = dtypes.iter().enumerate().map(|(i, &t)| node(&format!("a{i}"), "A", &[("T", dtype(t))]));
            needs.add(&graph(nodes.collect(), vec![])).unwrap();
            needs.to_string().contains("_FusedA CPU T=float\n")
        };
        assert!(!needed(&[DataType::Float]) && !needed(&[DataType::Double, DataType::Double]));
        assert!(needed(&[DataType::Float, DataType::Double]) && needed(&[DataType::Float, DataType::Float]));
    }

    #[test]
    fn what_is_made_has_dtypes_that_its_op_and_kernels_have() {
        let of = |allowed: Option<AllowedValues>, kernels: Vec<&'static KernelDef>| {
            let fused = AttrDef { allowed, ..attr("T", AttrBase::Type, false, None) };
            let a = vec![attr("T", AttrBase::Type, false, None)];
            let registry = Arc::new(Registry::new([op("A", a), op("_FusedA", vec![fused])], kernels).unwrap());
            let mut needs = Needs::new(&registry);
            needs.created = const { &[Created { from: CreatedFrom::Match(&[&["A"]]), to: "_FusedA" }] };
            let dtypes = [DataType::Float, DataType::Double, DataType::Int32];
            let nodes = dtypes.iter().map(|&t| node(&format!("a{t}"), "A", &[("T", dtype(t))]));
            needs.add(&graph(nodes.collect(), vec![])).unwrap();
            needs.to_string().lines().filter(|line| line.starts_with("_FusedA")).map(str::to_owned).collect::<Vec<_>>()
        };
        let floats = || Some(AllowedValues::Types(Borrowed(&[DataType::Float, DataType::Double])));
        let [double, float] = ["double", "float"].map(|dtype| format!("_FusedA CPU T={dtype}"));
        assert_eq!(of(floats(), vec![]), [double, float.clone()]);
        assert_eq!(of(floats(), vec![kernel("_FusedA", const { &[FLOATS] })]), [float]);
        assert_eq!(of(None, vec![]).len(), 3);
    }
}
