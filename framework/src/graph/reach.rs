//! What the functions of a library come to by their calls, each answered once for all of them: libraries may be chains of
//! thousands.

use std::collections::HashSet;

use super::library::{LayerReach, Library, Reach, called_by};
use super::{Graph, NodeClass};
use crate::proto::{FunctionDef, NodeDef, attr_value};
use crate::registry::Registry;

impl Graph {
    /// What a function of the graph's library comes to by its calls; `None` if there is none of this name.
    pub(crate) fn function_reach(&self, name: &str) -> Option<Reach> {
        let functions = self.functions.as_deref()?;
        let (layer, place) = functions.place(name)?;
        let known = functions.known(layer, |functions, layer| look(&self.registry, functions, layer));
        known.reach.get(place).copied()
    }

    /// Whether a function, or one that it calls, has nodes with effects or a state of their own: more than that it reads
    /// variables which it is given.
    pub(crate) fn function_acts(&self, name: &str) -> bool {
        self.function_reach(name).is_some_and(|reach| reach.is_active)
    }

    /// Whether the body of a function may stand where it is called, as far as that is the function's to say: it has no effects,
    /// and calls within it are not nested more deeply than `depth`.
    pub(crate) fn may_inline(&self, name: &str, depth: usize) -> bool {
        let function = self.functions.as_ref().and_then(|functions| functions.find(name));
        let wants_to = function.is_some_and(|function| !function.attr.contains_key("_noinline"));
        let may = |reach: Reach| !reach.is_active && !reach.is_recursive && reach.height <= depth;
        wants_to && self.function_reach(name).is_some_and(may)
    }
}

/// Whether a node of a function is of an op with state. What is no op is a function, and a call has the state of what it calls.
fn keeps_state(registry: &Registry, node: &NodeDef) -> bool {
    let entry = registry.find_op(&node.op);
    entry.is_some_and(|entry| entry.def.is_stateful && !NodeClass::of(&entry.def.name).is_call())
}

/// What the functions of a layer come to, by what those below come to and by each other.
pub(super) fn look(registry: &Registry, functions: &Library, layer: usize) -> LayerReach {
    let below = |(layer, place): (usize, usize)| {
        functions.known(layer, |functions, layer| look(registry, functions, layer)).reach[place]
    };
    let layer_functions = functions.layers()[layer].functions();
    let mut elsewhere = HashSet::new();
    let mut reach = vec![Reach::default(); layer_functions.len()];
    // By the places in the layer: who calls a function, and how many it calls that may call it.
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); reach.len()];
    let mut callees = vec![0; reach.len()];
    for (place, function) in layer_functions.enumerate() {
        let known = &mut reach[place];
        *known = by_itself(registry, function);
        for name in called_by(&function.node_def).collect::<HashSet<&str>>() {
            match functions.place(name) {
                None => _ = elsewhere.insert(name.to_owned()),
                Some((other, called)) if other == layer => {
                    callers[called].push(place);
                    callees[place] += 1;
                }
                Some(called) => {
                    let called = below(called);
                    known.is_stateful |= called.is_stateful;
                    known.is_active |= called.is_active;
                    known.is_recursive |= called.is_recursive;
                    known.height = known.height.max(called.height + 1);
                }
            }
        }
    }
    spread(&mut reach, &callers, |reach| &mut reach.is_stateful);
    spread(&mut reach, &callers, |reach| &mut reach.is_active);
    // What calls nothing comes to an end, and so does what calls only that.
    let mut ends: Vec<usize> = (0..reach.len()).filter(|&place| callees[place] == 0).collect();
    ends.retain(|&place| !reach[place].is_recursive);
    let mut recursive = vec![true; reach.len()];
    while let Some(place) = ends.pop() {
        recursive[place] = false;
        let height = reach[place].height + 1;
        for &caller in &callers[place] {
            reach[caller].height = reach[caller].height.max(height);
            callees[caller] -= 1;
            if callees[caller] == 0 && !reach[caller].is_recursive {
                ends.push(caller);
            }
        }
    }
    reach.iter_mut().zip(recursive).for_each(|(reach, recursive)| reach.is_recursive = recursive);
    LayerReach { reach, elsewhere }
}

/// What a function is without what it calls: recursive if its callers say what that is.
fn by_itself(registry: &Registry, function: &FunctionDef) -> Reach {
    let keeps_state = |node: &&NodeDef| keeps_state(registry, node);
    Reach {
        is_stateful: function.node_def.iter().any(|node| keeps_state(&node)),
        is_active: function.node_def.iter().filter(keeps_state).any(|node| !only_reads(node)),
        is_recursive: function.node_def.iter().any(calls_what_it_is_given),
        height: 0,
    }
}

/// Has all that come to call a function of which something holds have it hold, too.
fn spread(reach: &mut [Reach], callers: &[Vec<usize>], holds: impl Fn(&mut Reach) -> &mut bool) {
    let mut open: Vec<usize> = (0..reach.len()).filter(|&place| *holds(&mut reach[place])).collect();
    while let Some(place) = open.pop() {
        for &caller in &callers[place] {
            if !std::mem::replace(holds(&mut reach[caller]), true) {
                open.push(caller);
            }
        }
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use super::*;
    use crate::proto::OpDef;

    /// A function with nodes that call others by name.
    fn function(name: &str, calls: &[&str]) -> FunctionDef {
        let node = |call: &&str| NodeDef { name: format!("call_{call}"), op: (*call).to_owned(), ..NodeDef::default() };
        FunctionDef {
            signature: Some(OpDef { name: name.to_owned(), ..OpDef::default() }),
            node_def: calls.iter().map(node).collect(),
            ..FunctionDef::default()
        }
    }

    /// An empty library with a registry, and how many functions were looked at.
    struct Looked {
        library: Library,
        registry: Registry,
        count: Cell<usize>,
    }

    impl Looked {
        fn new() -> Looked {
            Looked { library: Library::default(), registry: Registry::new([], []).unwrap(), count: Cell::new(0) }
        }

        fn look(&self) -> impl Fn(&Library, usize) -> LayerReach {
            |functions, layer| {
                let known = look(&self.registry, functions, layer);
                self.count.set(self.count.get() + known.reach.len());
                known
            }
        }

        fn insert(&mut self, name: &str, calls: &[&str]) {
            let mut library = self.library.clone();
            library.insert(name.to_owned(), function(name, calls), self.look());
            self.library = library;
        }

        fn reach(&self, name: &str) -> Reach {
            let (layer, place) = self.library.place(name).unwrap();
            self.library.known(layer, self.look()).reach[place]
        }
    }

    #[test]
    fn what_is_known_of_functions_stays_known_as_others_are_added() {
        const COUNT: usize = 2_000;
        let mut looked = Looked::new();
        let mut copies = Vec::new();
        for number in 0..COUNT {
            let before = format!("f{}", number.saturating_sub(1) / 100 * 100);
            looked.insert(&format!("f{number}"), &[&before, "Op"]);
            // Somebody holds it as it is, and asks.
            assert_eq!(looked.reach(&format!("f{number}")).height, if number == 0 { 0 } else { number.div_ceil(100) });
            copies.push(Arc::new(looked.library.clone()));
            assert!(looked.library.layers().len() <= 12, "{} layers", looked.library.layers().len());
        }
        // Each once.
        assert_eq!(looked.count.get(), COUNT);
        assert!(copies.iter().enumerate().all(|(number, copy)| copy.len() == number + 1));
        let names: HashSet<&str> = looked.library.names().collect();
        assert_eq!((names.len(), looked.library.iter().count()), (COUNT, COUNT));
    }

    #[test]
    fn a_version_belongs_to_one_state_of_a_library() {
        let mut looked = Looked::new();
        let mut versions = vec![looked.library.version()];
        looked.insert("f", &[]);
        versions.push(looked.library.version());
        let copy = looked.library.clone();
        assert_eq!(copy.version(), looked.library.version());
        looked.library.name_gradient("f", "g");
        versions.push(looked.library.version());
        looked.library = copy;
        assert_eq!(looked.library.version(), versions[1]);
        looked.insert("h", &["f"]);
        versions.push(looked.library.version());
        let without = looked.library.without("h").unwrap();
        versions.push(without.version());
        let all: HashSet<u64> = versions.iter().copied().collect();
        assert_eq!((all.len(), versions[0]), (versions.len(), 0));
    }

    #[test]
    fn functions_may_call_those_that_are_added_later() {
        let mut looked = Looked::new();
        looked.insert("first", &["second"]);
        looked.insert("apart", &[]);
        assert_eq!(looked.reach("first"), Reach::default());
        looked.insert("above", &["first"]);
        assert_eq!((looked.reach("above").height, looked.reach("above").is_recursive), (1, false));
        looked.insert("second", &["third"]);
        assert_eq!((looked.reach("above").height, looked.reach("first").height), (2, 1));
        let before = looked.library.clone();
        looked.insert("third", &["first"]);
        for name in ["first", "second", "third", "above"] {
            assert!(looked.reach(name).is_recursive, "{name}");
        }
        assert!(!looked.reach("apart").is_recursive);
        looked.insert("itself", &["itself"]);
        looked.insert("last", &["apart", "itself"]);
        assert!(looked.reach("itself").is_recursive && looked.reach("last").is_recursive);
        // A copy from before there was a third.
        looked.library = before;
        assert_eq!(
            looked.library.names().collect::<HashSet<_>>(),
            HashSet::from(["first", "apart", "above", "second"])
        );
        assert_eq!((looked.reach("above").height, looked.reach("above").is_recursive), (2, false));
        looked.library = Library::default();
        looked.insert("first", &[]);
        assert_eq!(looked.reach("first"), Reach::default());
    }
}
