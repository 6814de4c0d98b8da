//! What the functions of a library come to by their calls, each answered once for all of them: libraries may be chains of
//! thousands.

use std::collections::{HashMap, HashSet};

use super::function::{Library, Reach, called_by};
use super::{Graph, NodeClass};
use crate::proto::{NodeDef, attr_value};

impl Graph {
    /// What the functions of the graph's library come to call; `None` if there is no library.
    pub(crate) fn function_reach(&self) -> Option<&Reach> {
        let functions = self.functions.as_deref()?;
        Some(functions.reach.get_or_init(|| self.reach_of(functions)))
    }

    fn reach_of(&self, functions: &Library) -> Reach {
        let mut callers: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut callees: HashMap<&str, usize> = HashMap::new();
        let (mut stateful, mut active, mut open) = (Vec::new(), Vec::new(), HashSet::new());
        for function in functions.iter() {
            let name = function.signature.as_ref().map_or("", |signature| &signature.name);
            let called: HashSet<&str> =
                called_by(&function.node_def).filter(|name| functions.find(name).is_some()).collect();
            callees.insert(name, called.len());
            called.into_iter().for_each(|called| callers.entry(called).or_default().push(name));
            if function.node_def.iter().any(|node| self.keeps_state(node)) {
                stateful.push(name);
            }
            if function.node_def.iter().any(|node| self.keeps_state(node) && !only_reads(node)) {
                active.push(name);
            }
            if function.node_def.iter().any(calls_what_it_is_given) {
                open.insert(name);
            }
        }
        let (stateful, active) = (and_callers(stateful, &callers), and_callers(active, &callers));
        // What calls nothing comes to an end, and so does what calls only that.
        let mut ends: Vec<&str> = callees.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect();
        ends.retain(|name| !open.contains(name));
        let mut recursive: HashSet<&str> = callees.keys().copied().collect();
        let mut heights: HashMap<&str, usize> = HashMap::new();
        while let Some(name) = ends.pop() {
            if !recursive.remove(name) {
                continue;
            }
            let above = heights.get(name).map_or(1, |height| height + 1);
            for &caller in callers.get(name).into_iter().flatten() {
                heights.entry(caller).and_modify(|height| *height = above.max(*height)).or_insert(above);
                let Some(count) = callees.get_mut(caller) else { continue };
                *count = count.saturating_sub(1);
                if *count == 0 && !open.contains(caller) {
                    ends.push(caller);
                }
            }
        }
        let heights = heights.into_iter().map(|(name, height)| (name.to_owned(), height)).collect();
        Reach { stateful, active, heights, recursive: recursive.into_iter().map(str::to_owned).collect() }
    }

    /// Whether a function, or one that it calls, has nodes with effects or a state of their own: more than that it reads
    /// variables which it is given.
    pub(crate) fn function_acts(&self, name: &str) -> bool {
        self.function_reach().is_some_and(|reach| reach.active.contains(name))
    }

    /// Whether the body of a function may stand where it is called, as far as that is the function's to say: it has no effects,
    /// and calls within it are not nested more deeply than `depth`.
    pub(crate) fn may_inline(&self, name: &str, depth: usize) -> bool {
        let function = self.functions.as_ref().and_then(|functions| functions.find(name));
        let wants_to = function.is_some_and(|function| !function.attr.contains_key("_noinline"));
        let reach = self.function_reach();
        let may = |reach: &Reach| {
            !reach.active.contains(name)
                && !reach.recursive.contains(name)
                && reach.heights.get(name).is_none_or(|height| *height <= depth)
        };
        wants_to && reach.is_some_and(may)
    }

    /// Whether a node of a function is of an op with state. What is no op is a function, and a call has the state of what
    /// it calls.
    pub(super) fn keeps_state(&self, node: &NodeDef) -> bool {
        let entry = self.registry.find_op(&node.op);
        entry.is_some_and(|entry| entry.def.is_stateful && !NodeClass::of(&entry.def.name).is_call())
    }
}

/// Whether an attr of a node is for the function's caller to say: it may be what the node calls.
fn calls_what_it_is_given(node: &NodeDef) -> bool {
    node.attr.values().any(|value| matches!(value.value, Some(attr_value::Value::Placeholder(_))))
}

/// Whether a node of an op with state only looks at a variable that it is given.
fn only_reads(node: &NodeDef) -> bool {
    matches!(NodeClass::of(&node.op), NodeClass::ReadVariable | NodeClass::VariableShape)
}

/// Functions with all that come to call them.
fn and_callers<'l>(mut open: Vec<&'l str>, callers: &HashMap<&'l str, Vec<&'l str>>) -> HashSet<String> {
    let mut found = HashSet::new();
    while let Some(name) = open.pop() {
        if found.insert(name.to_owned()) {
            open.extend(callers.get(name).into_iter().flatten());
        }
    }
    found
}
