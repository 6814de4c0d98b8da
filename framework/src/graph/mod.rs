//! Graphs: nodes that run ops, and the edges between them.

mod attrs;
mod body;
mod budget;
mod build;
mod call;
mod callee;
mod certain;
mod class;
mod colocation;
mod context;
mod copy;
mod dependencies;
mod dot;
mod evaluate;
mod export;
mod frames;
mod function;
mod function_builder;
mod ids;
mod implied;
mod import;
mod import_into;
mod infer;
mod inlined;
mod library;
mod literal;
mod loops;
mod missing;
mod names;
mod nearest;
mod needs;
mod node_def;
mod order;
mod partial_shape;
mod patch;
mod prune;
mod raise_loops;
mod reach;
mod remembered;
mod renumber;
mod same_function;
mod scope;
mod supersede;
mod surround;
mod to_function;
mod trace;
mod unwind;
mod values;

pub use attrs::{complete_attrs, default_value};
pub use body::FunctionBody;
pub use build::NodeBuilder;
pub use callee::Function;
pub use class::NodeClass;
pub(crate) use class::created;
pub(crate) use colocation::{CLASS, colocated};
pub use context::{CaptureNode, ControlFlowContext};
pub(crate) use copy::copy_node;
pub use dot::to_dot;
pub(crate) use frames::{FrameFault, Frames, NodeFrames, Passage};
pub use function_builder::FunctionBuilder;
pub use ids::{NodeId, Output};
pub(crate) use implied::{Given, faults_error, infer_attrs};
pub use import_into::{ImportOptions, Imported};
pub(crate) use inlined::Inlined;
pub(crate) use literal::{settle, settled};
pub use missing::MissingOps;
pub use names::{TensorName, is_valid_node_name};
pub use needs::{Created, CreatedFrom, DeriveGradient, DerivedGradient, Needs};
pub use node_def::{
    NameRanges, add_defaults, in_out_types, name_ranges, node_attrs, remove_new_default_attrs, strip_defaults,
    validate_node_def,
};
pub use patch::GraphPatch;
pub use renumber::Renumbering;
pub(crate) use same_function::are_same as are_same_functions;
pub(crate) use scope::ComputedOutput;
pub use scope::{Applied, IntoOperand, NodeInput, NodeRequest, OpScope, Operand, Outputs};
pub use surround::Savepoint;
pub use to_function::FunctionParts;
pub use trace::{TensorSpec, Trace};
pub use values::Values;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use context::{Context, Dependencies};
use evaluate::Constants;
use ids::Epochs;
use library::Library;
pub use library::called_functions;
pub(crate) use library::{functions_in, name_of};

use crate::attr::AttrMap;
use crate::collect::OpEntry;
use crate::error::{Error, Result, shortened};
use crate::op::Signature;
use crate::proto::VersionDef;
use crate::registry::{Registry, did_you_mean};
use crate::shape::PartialShape;
use crate::shape_inference::{LinkedShape, LinkedShapeAndType};

/// A node: an op with attrs and inputs.
#[derive(Clone)]
pub struct Node {
    /// The node's name, unique in its graph.
    pub name: String,
    /// Its op.
    pub op: &'static OpEntry,
    /// The kind of node that the op makes.
    pub class: NodeClass,
    /// Its attrs, defaults included.
    pub attrs: AttrMap,
    /// Its inputs and outputs.
    pub signature: Arc<Signature>,
    /// Where its inputs come from.
    pub inputs: Vec<Output>,
    /// The nodes that must run before it.
    pub control_inputs: Vec<NodeId>,
    /// The device that it asks for; empty for any.
    pub device: String,
    /// What is known of its outputs' shapes.
    pub output_shapes: Vec<PartialShape>,
    fault: Option<Box<Error>>,
    /// The outputs of which nobody knows the dtype, because the op is missing.
    unknown_outputs: Vec<usize>,
}

/// A graph whose nodes are checked: every attr is valid, every edge connects equal dtypes, and there is no cycle but
/// loops, which go from a `NextIteration` back to a `Merge`. Ops that the registry lacks refuse only the runs that need
/// them ([`NodeClass::Missing`]).
#[derive(Clone)]
pub struct Graph {
    registry: Arc<Registry>,
    nodes: Vec<Node>,
    /// Made when a node is first looked for.
    by_name: OnceLock<HashMap<String, NodeId>>,
    /// The last number that made a name of an op's name.
    suffixes: HashMap<String, u32>,
    versions: VersionDef,
    /// The functions that came with the graph, and those that were built.
    functions: Option<Arc<Library>>,
    /// What is known of the shapes of outputs that are not fully known, unknown dimensions with their identity.
    links: HashMap<Output, LinkedShape>,
    /// What is known of the shapes and dtypes behind resources and variants.
    held: HashMap<Output, Vec<LinkedShapeAndType>>,
    /// The next unknown dimension or shape.
    next_symbol: u64,
    constants: Constants,
    /// Nodes that became others in their places, as they were.
    superseded: Vec<(NodeId, Node)>,
    /// What surrounds the nodes that are being added, the outermost first.
    contexts: Vec<Context>,
    /// What the nodes that are being added wait for.
    dependencies: Vec<Dependencies>,
    epochs: Epochs,
}

/// The GraphDef version that Kernlink reads and writes: that of TensorFlow 2.21.
pub const GRAPH_DEF_VERSION: i32 = crate::shape_inference::GRAPH_DEF_VERSION;

impl Graph {
    /// An empty graph over the ops and kernels of a registry.
    pub fn new(registry: &Arc<Registry>) -> Graph {
        Graph {
            registry: registry.clone(),
            nodes: Vec::new(),
            by_name: OnceLock::new(),
            suffixes: HashMap::new(),
            versions: VersionDef { producer: GRAPH_DEF_VERSION, ..VersionDef::default() },
            functions: None,
            links: HashMap::new(),
            held: HashMap::new(),
            next_symbol: 0,
            constants: Constants::default(),
            superseded: Vec::new(),
            contexts: Vec::new(),
            dependencies: Vec::new(),
            epochs: Epochs::default(),
        }
    }

    /// An empty graph with the same functions, registry and versions.
    pub(crate) fn without_nodes(&self) -> Graph {
        self.empty_like(0)
    }

    /// An empty graph with the same functions, registry and versions, and symbols from `next_symbol` on.
    fn empty_like(&self, next_symbol: u64) -> Graph {
        let mut graph = Graph::new(&self.registry);
        graph.versions = self.versions.clone();
        graph.functions = self.functions.clone();
        graph.next_symbol = next_symbol;
        graph
    }

    /// The versions of the GraphDef that the graph came from.
    pub fn versions(&self) -> &VersionDef {
        &self.versions
    }

    /// The registry that the graph was made with.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The nodes. Inputs come before the nodes that use them; only a `Merge` may use a `NextIteration` behind it.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes with their ids.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.epochs.ids(0..self.nodes.len())
    }

    /// The ids of the nodes from this place on: those that were added since there were so many.
    pub fn ids_from(&self, place: usize) -> impl Iterator<Item = NodeId> + use<> {
        self.epochs.ids(place..self.nodes.len())
    }

    /// A node.
    ///
    /// # Panics
    /// If the id is none of this graph's: see [`Graph::has`], and [`Graph::get`] for ids that may be another's.
    #[track_caller]
    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        match self.get(id) {
            Some(node) => node,
            None => panic!("{}", self.absent_node(id)),
        }
    }

    /// A node; `None` if the id is none of this graph's ([`Graph::has`]).
    #[inline]
    pub fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index()).filter(|_| self.id_at(id.index()) == id)
    }

    /// The node with this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let index = || self.ids().map(|id| (self.node(id).name.clone(), id)).collect();
        self.by_name.get_or_init(index).get(name).copied()
    }

    /// The output that `node`, `node:0` or `node:1` names.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the name is malformed or there is no such output; NOT_FOUND, with the nearest names, if
    /// there is no such node, or its op is missing and nothing else takes the output.
    #[track_caller]
    pub fn output(&self, name: &str) -> Result<Output> {
        let parsed = TensorName::parse(name)?;
        let node = self.find_or_suggest(parsed.node)?;
        let outputs = self.node(node).signature.outputs.len();
        if parsed.index >= outputs {
            if self.node(node).class == NodeClass::Missing {
                self.check_present(&self.needed(&[], &[], &[node]))?;
            }
            let name = shortened(parsed.node);
            let message = match outputs {
                0 => format!("`{name}` (op {}) has no outputs", self.node(node).op.def.name),
                1 => format!("`{name}` has only output 0, not {}", parsed.index),
                _ => format!("`{name}` has outputs 0 to {}, not {}", outputs - 1, parsed.index),
            };
            return Err(Error::invalid_argument(message));
        }
        Ok(Output { node, index: parsed.index })
    }

    /// The node with this name.
    ///
    /// # Errors
    /// NOT_FOUND, with the nearest names; INVALID_ARGUMENT for an empty one.
    #[track_caller]
    pub fn find_or_suggest(&self, name: &str) -> Result<NodeId> {
        if name.is_empty() {
            return Err(Error::invalid_argument("the name of a node is empty: expected `node` or `node:1`"));
        }
        self.find(name).ok_or_else(|| {
            let hint = did_you_mean(name, self.nodes.iter().map(|node| node.name.as_str()));
            Error::not_found(format!("the graph has no node `{}`{hint}", shortened(name)))
        })
    }

    /// The outputs of a node that belong to argument `argument` of its op.
    pub fn outputs_of(&self, node: NodeId, argument: usize) -> Vec<Output> {
        let range = self.node(node).signature.output_ranges.get(argument).cloned().unwrap_or_default();
        range.map(|index| Output { node, index }).collect()
    }

    /// The name of an output: `node` or `node:1`.
    pub fn output_name(&self, output: Output) -> String {
        let name = &self.node(output.node).name;
        if output.index == 0 { name.clone() } else { format!("{name}:{}", output.index) }
    }

    /// What is known of an output's shape.
    pub fn shape(&self, output: Output) -> &PartialShape {
        &self.node(output.node).output_shapes[output.index]
    }

    /// The nodes that nothing uses: no node takes their outputs or waits for them.
    pub fn sinks(&self) -> Vec<NodeId> {
        let mut used = vec![false; self.nodes.len()];
        for node in &self.nodes {
            node.inputs.iter().for_each(|input| used[input.node.index()] = true);
            node.control_inputs.iter().for_each(|control| used[control.index()] = true);
        }
        self.ids().filter(|id| !used[id.index()]).collect()
    }

    /// Appends a checked node whose inputs are in the graph already.
    fn push(&mut self, node: Node) -> NodeId {
        self.epochs.begin(self.nodes.len());
        let id = self.id_at(self.nodes.len());
        if let Some(by_name) = self.by_name.get_mut() {
            by_name.insert(node.name.clone(), id);
        }
        self.nodes.push(node);
        id
    }
}
