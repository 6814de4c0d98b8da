//! The edges of a `GraphDef`, and an order in which its nodes can be added to a graph.

use std::collections::{HashMap, VecDeque};

use super::node_def::split_inputs;
use super::{NodeClass, TensorName};
use crate::error::{Error, Result, shortened};
use crate::proto::{GraphDef, NodeDef};
use crate::registry::did_you_mean;

/// Where a node's inputs come from, by position in the `GraphDef`; what comes from elsewhere has positions behind its nodes.
pub(super) struct Edges {
    pub(super) data: Vec<(usize, usize)>,
    pub(super) control: Vec<usize>,
}

impl Edges {
    pub(super) fn parse(node: &NodeDef, by_name: &HashMap<&str, usize>) -> Result<Edges> {
        let fault = |text: String| Error::invalid_argument(text).at_node(&node.name, &node.op, &node.device);
        let mut edges = Edges { data: Vec::new(), control: Vec::new() };
        let inputs = split_inputs(node)?;
        for input in inputs.control {
            let source = by_name.get(input);
            let source = source.ok_or_else(|| fault(format!("control input `^{}` names no node", shortened(input))))?;
            edges.control.push(*source);
        }
        for input in inputs.data {
            let name = TensorName::parse(input).map_err(|error| error.at_node(&node.name, &node.op, ""))?;
            let source = by_name.get(name.node);
            let source = source.ok_or_else(|| {
                let hint = did_you_mean(name.node, by_name.keys().copied());
                fault(format!("input `{}` names no node of the graph{hint}", shortened(input)))
            })?;
            edges.data.push((*source, name.index));
        }
        Ok(edges)
    }
}

fn is_back_edge(def: &GraphDef, source: usize, user: usize) -> bool {
    let class = |position: usize| NodeClass::of(&def.node[position].op);
    class(source) == NodeClass::NextIteration && class(user) == NodeClass::Merge
}

/// The nodes with every input before its users, otherwise in the order of the file. The edges from a `NextIteration`
/// back to a `Merge` do not count: they make loops.
pub(super) fn topological_order(def: &GraphDef, edges: &[Edges]) -> Result<Vec<usize>> {
    let sources: Vec<Vec<usize>> = edges
        .iter()
        .enumerate()
        .map(|(position, edges)| {
            let data = edges.data.iter().map(|&(source, _)| source).filter(|&source| source < def.node.len());
            let controls = edges.control.iter().copied().filter(|&source| source < def.node.len());
            data.filter(|&source| !is_back_edge(def, source, position)).chain(controls).collect()
        })
        .collect();
    let mut pending: Vec<usize> = sources.iter().map(Vec::len).collect();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (position, sources) in sources.iter().enumerate() {
        sources.iter().for_each(|&source| users[source].push(position));
    }
    let mut ready: VecDeque<usize> = (0..edges.len()).filter(|&position| pending[position] == 0).collect();
    let mut order = Vec::with_capacity(edges.len());
    while let Some(position) = ready.pop_front() {
        order.push(position);
        for &user in &users[position] {
            pending[user] -= 1;
            if pending[user] == 0 {
                ready.push_back(user);
            }
        }
    }
    if order.len() < edges.len() {
        return Err(Error::invalid_argument(format!("the graph has a cycle: {}", cycle(def, &sources, &pending))));
    }
    Ok(order)
}

/// One cycle among the nodes that are still pending, as names.
fn cycle(def: &GraphDef, sources: &[Vec<usize>], pending: &[usize]) -> String {
    let Some(start) = pending.iter().position(|&count| count > 0) else { return String::new() };
    let mut path = Vec::new();
    let mut seen: HashMap<usize, usize> = HashMap::new();
    let mut position = start;
    loop {
        if let Some(&first) = seen.get(&position) {
            path.drain(..first);
            path.reverse();
            break;
        }
        seen.insert(position, path.len());
        path.push(position);
        match sources[position].iter().find(|&&source| pending[source] > 0) {
            Some(&source) => position = source,
            None => break,
        }
    }
    const SHOWN: usize = 8;
    let mut names: Vec<&str> = path.iter().take(SHOWN).map(|&position| def.node[position].name.as_str()).collect();
    if path.len() > SHOWN {
        names.push("...");
    }
    names.extend(path.first().map(|&position| def.node[position].name.as_str()));
    names.join(" -> ")
}
