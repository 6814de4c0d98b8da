//! Colocation: nodes that ask, by the attr `_class`, to be on the device of others.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use super::{Graph, Node, NodeId};
use crate::attr::AttrValue;
use crate::dtype::TString;

pub(crate) const CLASS: &str = "_class";

/// What stands before the name of a node in the attr `_class`.
const PREFIX: &str = "loc:@";

/// The names of the nodes with which a node asks to be.
pub(crate) fn colocated(node: &Node) -> impl Iterator<Item = Cow<'_, str>> {
    classes(node).iter().filter_map(named)
}

fn classes(node: &Node) -> &[TString] {
    match node.attrs.get(CLASS) {
        Some(AttrValue::ListString(classes)) => classes,
        _ => &[],
    }
}

fn named(class: &TString) -> Option<Cow<'_, str>> {
    class.as_bytes().strip_prefix(PREFIX.as_bytes()).map(String::from_utf8_lossy)
}

impl Graph {
    /// Has nodes that ask to be with nodes that are removed ask to be with each other instead, on the device that was
    /// asked for: they stay one group, and name no node that is gone. `inherited` are the removed nodes whose names others
    /// have taken.
    pub(super) fn recolocate(&mut self, removed: &BTreeSet<NodeId>, inherited: &HashSet<NodeId>) {
        let gone: HashMap<&str, &Node> = removed
            .difference(&inherited.iter().copied().collect())
            .map(|&id| (self.node(id).name.as_str(), self.node(id)))
            .collect();
        if gone.is_empty() {
            return;
        }
        // A removed node may have asked to be with another one.
        let first = |node| {
            colocated(node).find_map(|name| match name {
                Cow::Borrowed(name) => Some(name),
                Cow::Owned(_) => None,
            })
        };
        let next = gone.iter().filter_map(|(&name, &node)| Some((name, first(node)?))).collect();
        let (groups, _) = ends_of_chains(&next);
        let mut leaders: HashMap<&str, &str> = HashMap::new();
        let mut changes: Vec<(NodeId, Vec<TString>, String)> = Vec::new();
        for id in self.ids().filter(|id| !removed.contains(id)) {
            let node = self.node(id);
            if !colocated(node).any(|name| gone.contains_key(&*name)) {
                continue;
            }
            let (mut after, mut device): (Vec<TString>, _) = (Vec::new(), node.device.clone());
            for class in classes(node) {
                let Some((&name, old)) = named(class).and_then(|name| gone.get_key_value(&*name)) else {
                    after.push(class.clone());
                    continue;
                };
                if device.is_empty() {
                    device.clone_from(&old.device);
                }
                let group = groups.get(name).copied().unwrap_or(name);
                let leader = match gone.contains_key(group) {
                    true => *leaders.entry(group).or_insert(&node.name),
                    false => group,
                };
                let class = TString::from(format!("{PREFIX}{leader}"));
                if leader != node.name && !after.contains(&class) {
                    after.push(class);
                }
            }
            changes.push((id, after, device));
        }
        for (id, classes, device) in changes {
            let node = &mut self.nodes[id.index()];
            node.device = device;
            match classes.is_empty() {
                true => _ = node.attrs.remove(CLASS),
                false => _ = node.attrs.insert(CLASS, AttrValue::ListString(classes)),
            }
        }
    }
}

/// Where the chains end that go from each key to its value, and on from there while that is a key; and a key in a circle,
/// if there is one: there the chain ends too.
pub(super) fn ends_of_chains<K: Copy + Eq + Hash>(next: &HashMap<K, K>) -> (HashMap<K, K>, Option<K>) {
    let mut ends: HashMap<K, K> = HashMap::with_capacity(next.len());
    let (mut seen, mut circle) = (HashSet::new(), None);
    for &start in next.keys() {
        let (mut path, mut key) = (Vec::new(), start);
        let end = loop {
            if let Some(&end) = ends.get(&key) {
                break end;
            }
            let Some(&following) = next.get(&key) else { break key };
            if !seen.insert(key) {
                circle = Some(key);
                break key;
            }
            path.push(key);
            key = following;
        };
        ends.extend(path.into_iter().map(|key| (key, end)));
    }
    (ends, circle)
}
