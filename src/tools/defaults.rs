//! The default fetches of a run: outputs that no other node uses, of nodes without side effects.

use crate::attr::{AttrValue, FunctionRef};
use crate::dtype::DataType;
use crate::error::{Error, Result, shortened};
use crate::graph::{Graph, Node, NodeClass, NodeId, Output};
use crate::sort::CompactSort as _;
use crate::tools::callees::Callees;
use crate::tools::lacking::Lacking;
use crate::tools::words::Called;

/// How many names are given as examples.
const EXAMPLES: usize = 10;

/// The fetches and targets of a run without named outputs.
pub(crate) struct Defaults {
    pub(crate) fetches: Vec<String>,
    /// Nodes without outputs, which run as targets.
    pub(crate) targets: Vec<String>,
    /// Unused outputs that are left out: their nodes have side effects, or may have no value.
    pub(crate) left_out: Vec<String>,
    /// Those that are left out because ops are missing.
    pub(crate) lacking: Vec<String>,
}

/// What nothing else uses, without what needs ops that are missing, unless there is nothing else.
///
/// # Errors
/// INVALID_ARGUMENT, with names that can be given, if nothing is left.
pub(crate) fn defaults(graph: &Graph, lacking: &Lacking, called: Called) -> Result<Defaults> {
    let usable = usable(graph);
    let (mut fetches, mut targets, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    // An unused placeholder is no answer, and fetching it would only ask for a feed.
    let sinks = graph.sinks().into_iter().filter(|&id| !graph.is_placeholder(id));
    let (without, sinks): (Vec<NodeId>, Vec<NodeId>) = sinks.partition(|&id| lacking.needs(id));
    for id in sinks {
        let node = graph.node(id);
        match node.signature.outputs.len() {
            _ if !usable[id.index()] => left_out.push(node.name.clone()),
            0 => targets.push(node.name.clone()),
            count => fetches.extend((0..count).map(|index| graph.output_name(Output { node: id, index }))),
        }
    }
    let names: Vec<String> = without.iter().map(|&id| graph.node(id).name.clone()).collect();
    if !fetches.is_empty() || !targets.is_empty() {
        return Ok(Defaults { fetches, targets, left_out, lacking: names });
    }
    if names.is_empty() {
        return Err(nothing(graph, &usable, &left_out, called));
    }
    // The run's error says what is missing.
    Ok(Defaults { fetches, targets: names, left_out, lacking: Vec::new() })
}

/// The first few names.
pub(crate) fn some(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(EXAMPLES).map(|name| shortened(name)).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Where names of outputs are to be found: a line with what nothing else uses.
pub(crate) fn ends(graph: &Graph, called: Called) -> String {
    let sinks = graph.sinks().into_iter().map(|id| graph.node(id));
    let names: Vec<String> =
        sinks.filter(|node| !node.signature.outputs.is_empty()).map(|node| node.name.clone()).collect();
    match names.is_empty() {
        true => String::new(),
        false => {
            let inspect = if called.is_function() { "kernlink.tools.inspect" } else { "kernlink inspect" };
            format!("\n`{inspect}` lists what can be computed; nothing else uses {}", some(&names))
        }
    }
}

/// The error of a graph in which nothing is to be found to compute; `an_output` is the option that names one.
pub(crate) fn nothing_to_compute(graph: &Graph, an_output: &str) -> Error {
    Error::invalid_argument(match graph.nodes().iter().find(|node| !node.signature.outputs.is_empty()) {
        _ if graph.nodes().is_empty() => "the graph has no nodes: there is nothing to compute".to_owned(),
        None => "the graph has no node with an output: there is nothing to compute".to_owned(),
        Some(node) => {
            format!("the graph computes nothing from its inputs: name {an_output}, such as {}", shortened(&node.name))
        }
    })
}

fn nothing(graph: &Graph, usable: &[bool], left_out: &[String], called: Called) -> Error {
    let (an_output, a_target) = match called.is_function() {
        true => ("one of outputs", "one of targets"),
        false => ("an --output", "a --target"),
    };
    if left_out.is_empty() {
        return nothing_to_compute(graph, an_output);
    }
    let mut ends: Vec<bool> = usable.to_vec();
    for id in graph.ids().filter(|id| usable[id.index()]) {
        graph.node(id).inputs.iter().for_each(|input| ends[input.node.index()] = false);
    }
    let given = |id: &NodeId| {
        let node = graph.node(*id);
        let is_given = graph.is_placeholder(*id) || node.inputs.is_empty();
        ends[id.index()] && !is_given && !node.signature.outputs.is_empty()
    };
    let mut names: Vec<String> = graph.ids().filter(given).map(|id| graph.node(id).name.clone()).collect();
    // Names that people chose are in fewer scopes.
    names.compact_sort_by_key(|name| name.matches('/').count());
    let what = if names.is_empty() { String::new() } else { format!(", such as {}", some(&names)) };
    Error::invalid_argument(format!(
        "name {an_output}{what}: what nothing else uses changes something or may have no value, and runs only by its \
         name, as {an_output} or {a_target}: {}",
        some(left_out)
    ))
}

/// The nodes that are safe to run: they always have a value, and neither they nor their inputs have side effects.
fn usable(graph: &Graph) -> Vec<bool> {
    let mut with_effects = Callees::default();
    let mut harmless = vec![true; graph.nodes().len()];
    // The depth of conditionals and loops around a node.
    let mut depths = vec![(0i32, 0i32); graph.nodes().len()];
    for id in graph.ids() {
        let node = graph.node(id);
        let before = || node.inputs.iter().map(|input| input.node).chain(node.control_inputs.iter().copied());
        // A loop's back edge comes later, and leads to the same Merge as its Enter.
        let known = || before().filter(|from| from.index() < id.index());
        harmless[id.index()] =
            !has_effects(graph, node, &mut with_effects) && known().all(|from| harmless[from.index()]);
        let branch = known().map(|from| depths[from.index()].0).max().unwrap_or(0);
        let frame = known().map(|from| depths[from.index()].1).max().unwrap_or(0);
        let is_loop = before().count() > known().count();
        depths[id.index()] = match node.class {
            NodeClass::Switch | NodeClass::SwitchN => (branch + 1, frame),
            NodeClass::Merge if !is_loop => ((branch - 1).max(0), frame),
            NodeClass::Enter => (branch, frame + 1),
            NodeClass::Exit => ((branch - 1).max(0), frame - 1),
            _ => (branch, frame),
        };
    }
    // Back edges can be resolved only now.
    while let Some(id) = graph
        .ids()
        .find(|&id| harmless[id.index()] && graph.node(id).inputs.iter().any(|input| !harmless[input.node.index()]))
    {
        harmless[id.index()] = false;
        for later in graph.ids().skip(id.index()) {
            let node = graph.node(later);
            let mut before = node.inputs.iter().map(|input| input.node).chain(node.control_inputs.iter().copied());
            harmless[later.index()] &= before.all(|from| harmless[from.index()]);
        }
    }
    harmless.iter().zip(depths).map(|(&harmless, depth)| harmless && depth == (0, 0)).collect()
}

/// Whether a node has side effects, or comes to call a function that has.
fn has_effects(graph: &Graph, node: &Node, known: &mut Callees) -> bool {
    changes(node) || called(node).any(|function| known.any(graph, function, effects_and_calls))
}

/// Whether a node of a function's body has side effects by itself, and the functions that its nodes call.
fn effects_and_calls(graph: &Graph, function: &FunctionRef) -> (bool, Vec<FunctionRef>) {
    match graph.function_body(function) {
        Ok(body) => {
            let nodes = body.graph.nodes();
            (nodes.iter().any(changes), nodes.iter().flat_map(called).cloned().collect())
        }
        // One that cannot be read may have side effects.
        Err(_) => (graph.has_function(&function.name), Vec::new()),
    }
}

/// The functions that a node calls.
fn called(node: &Node) -> impl Iterator<Item = &FunctionRef> {
    node.attrs.functions()
}

/// Whether a node has side effects, apart from those of the functions that it calls.
fn changes(node: &Node) -> bool {
    let def = &node.op.def;
    match &*def.name {
        "PrintV2" => {
            matches!(node.attrs.get("output_stream"), Some(AttrValue::String(to)) if to.starts_with(b"file:"))
        }
        name if is_harmless(name) => false,
        "ResourceCountUpTo" => true,
        name => {
            // Ops that only make a handle: of a variable, a table or a queue.
            let is_handle = |dtype: DataType| dtype == DataType::Resource;
            let makes = node.inputs.is_empty()
                && !node.signature.outputs.is_empty()
                && node.signature.outputs.iter().all(|output| output.is_ref || is_handle(output.dtype));
            let changes = def.is_stateful && !makes;
            let assigns = node.signature.inputs.iter().any(|input| input.is_ref);
            changes || assigns || (node.signature.outputs.is_empty() && name != "NoOp")
        }
    }
}

/// Ops that TensorFlow holds for stateful, or that take references, but which leave things as they are or touch only what
/// ends with the run.
fn is_harmless(op: &str) -> bool {
    const KINDS: [&str; 7] =
        ["Random", "TensorArray", "Stack", "LookupTableFind", "LookupTableSize", "LookupTableExport", "QueueDequeue"];
    KINDS.iter().any(|kind| op.starts_with(kind))
        || matches!(
            op,
            "PartitionedCall"
                | "StatefulPartitionedCall"
                | "If"
                | "StatelessIf"
                | "While"
                | "StatelessWhile"
                | "Case"
                | "StatelessCase"
                | "For"
                | "_Arg"
                | "_Retval"
                | "Assert"
                | "Print"
                | "Timestamp"
                | "TruncatedNormal"
                | "ParameterizedTruncatedNormal"
                | "Multinomial"
                | "ReadVariableOp"
                | "VarIsInitializedOp"
                | "IsVariableInitialized"
                | "VariableShape"
                | "ResourceGather"
                | "ResourceGatherNd"
                | "QueueSize"
                | "QueueSizeV2"
                | "QueueIsClosed"
                | "QueueIsClosedV2"
                | "IteratorGetNext"
                | "RefEnter"
                | "RefExit"
                | "RefIdentity"
                | "RefMerge"
                | "RefNextIteration"
                | "RefSelect"
                | "RefSwitch"
        )
}
