//! A graph that computes the same with less to do, to be written to a file.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::attr::AttrValue;
use crate::device::{CpuDevice, Device};
use crate::error::{Error, Result, shortened};
use crate::formats::{self, Signature};
use crate::graph::{Graph, Node, NodeClass, NodeId, Output};
use crate::optimize::{Ends, Optimizer, PassReport};
use crate::proto::{GraphDef, MetaGraphDef};
use crate::registry::{did_you_mean, listed};
use crate::sort::CompactSort as _;
use crate::tools::defaults::{nothing_to_compute, some};

/// What of a model is optimised, and how.
///
/// Kept is what the outputs need. These are, of a model with signatures, those of one signature; or else those that are named; or else
/// all that nothing else in the graph uses.
#[derive(Clone, Debug, Default)]
pub struct Optimize {
    /// The tags of the graph that is meant.
    pub tags: Vec<String>,
    /// The signature to keep; by default `serving_default` or the only one, unless an output or target is named.
    pub signature: Option<String>,
    /// Outputs that runs feed (`node` or `node:1`), beside placeholders.
    pub inputs: Vec<String>,
    /// Outputs to keep.
    pub outputs: Vec<String>,
    /// Nodes to keep that run for what they do.
    pub targets: Vec<String>,
    /// The names of passes and rewrites that do not run, beside those that the environment names.
    pub without: Vec<String>,
    /// Whether rewrites run after which results may differ in the last bits.
    pub inexact: bool,
    /// Whether errors name the command's flags.
    pub(crate) by_flags: bool,
}

/// What optimising made of a graph.
#[non_exhaustive]
pub struct Optimized {
    /// The graph.
    pub graph: Graph,
    /// The same as a message.
    pub def: GraphDef,
    /// What is kept, in words.
    pub kept: String,
    /// How many nodes there were.
    pub nodes_before: usize,
    /// How many functions there were.
    pub functions_before: usize,
    /// What each pass did.
    pub reports: Vec<PassReport>,
    /// The variables whose values are not in the graph, if it has some.
    pub unsaved: Option<Unsaved>,
    /// The attrs of the graph that its ops do not have.
    pub passed_over: Vec<String>,
}

/// The variables of a graph, whose values are in a checkpoint.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unsaved {
    /// How many there are.
    pub variables: usize,
    /// The node of the model that restores them, and the tensor that takes the name of the checkpoint.
    pub restored_by: Option<(String, String)>,
    /// Whether the graph still has that node.
    pub has_restore: bool,
}

impl Optimize {
    /// How an error calls one of these.
    fn called(&self, name: &str) -> String {
        match name {
            _ if self.by_flags => format!("--{name}"),
            "signature" | "without" => name.to_owned(),
            several => format!("{several}s"),
        }
    }

    /// The passes.
    pub(crate) fn optimizer(&self) -> Result<Optimizer> {
        let without = self.without.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        let optimizer = Optimizer::from_env()?.and_without(without);
        let optimizer = optimizer.map_err(|error| error.context(self.called("without")))?;
        Ok(optimizer.with_inexact(self.inexact))
    }
}

/// Optimises the graph of a model that is meant, as far as the result is a graph that TensorFlow reads too.
///
/// # Errors
/// NOT_FOUND and INVALID_ARGUMENT if it is not clear which graph is meant, or there is no such signature, output, node or pass; and as
/// [`Graph::import`] and [`Optimizer::optimize`].
pub fn optimize(graphs: Vec<MetaGraphDef>, options: &Optimize) -> Result<Optimized> {
    let optimizer = options.optimizer()?;
    let meta = choose(graphs, options)?;
    let def = meta.graph_def.as_ref().ok_or_else(|| Error::not_found("the model holds no graph"))?;
    let registry = crate::registry()?;
    let mut graph = Graph::import(def, &registry)?;
    let passed_over = crate::tools::unknown_attrs(def, &registry);
    let restore = Restore::of(&meta, &graph);
    let (mut ends, kept) = ends(options, &meta, &graph)?;
    let nodes_before = graph.nodes().len();
    let reports = optimizer.optimize(&mut graph, &mut ends)?;
    let functions_before = graph.function_names().len();
    graph.remove_unused_functions();
    let def = graph.to_def()?;
    let unsaved = Unsaved::of(&graph, restore.as_ref());
    Ok(Optimized { graph, def, kept, nodes_before, functions_before, reports, unsaved, passed_over })
}

/// Optimises a graph as a session on one CPU does that fetches the outputs of the model's signature, or what nothing else uses:
/// what that is, in words, and what each pass did.
///
/// # Errors
/// As [`optimize`].
pub fn in_session(meta: &MetaGraphDef, graph: &mut Graph) -> Result<(String, Vec<PassReport>)> {
    let (mut ends, kept) = ends(&Optimize::default(), meta, graph)?;
    ends.is_written = false;
    ends.run_on(&[Arc::new(CpuDevice::on_caller()) as Arc<dyn Device>]);
    let reports = Optimizer::from_env()?.in_session(graph, &mut ends)?;
    Ok((kept, reports))
}

/// What restores the variables of a model.
struct Restore<'m> {
    saver: &'m crate::proto::SaverDef,
    variables: HashSet<Variable>,
}

/// The container and name of a variable.
type Variable = (String, String);

impl Restore<'_> {
    /// By the model's saver, if it has one.
    fn of<'m>(meta: &'m MetaGraphDef, graph: &Graph) -> Option<Restore<'m>> {
        let saver = meta.saver_def.as_ref()?;
        let node = graph.find(&saver.restore_op_name)?;
        Some(Restore { saver, variables: variables(graph, graph.needed(&[], &[], &[node])) })
    }
}

impl Unsaved {
    /// Those of a graph; nothing for one without.
    fn of(graph: &Graph, restore: Option<&Restore>) -> Option<Unsaved> {
        let variables = variables(graph, graph.ids());
        if variables.is_empty() {
            return None;
        }
        // Keras has a saver that restores other variables than those that its functions take.
        let saver = restore.filter(|restore| variables.is_subset(&restore.variables)).map(|restore| restore.saver);
        Some(Unsaved {
            variables: variables.len(),
            restored_by: saver.map(|saver| (saver.restore_op_name.clone(), saver.filename_tensor_name.clone())),
            has_restore: saver.is_some_and(|saver| graph.find(&saver.restore_op_name).is_some()),
        })
    }
}

/// The variables that nodes are or are handles of.
fn variables(graph: &Graph, nodes: impl IntoIterator<Item = NodeId>) -> HashSet<Variable> {
    let nodes = nodes.into_iter().map(|id| graph.node(id));
    let nodes = nodes.filter(|node| matches!(node.class, NodeClass::Variable | NodeClass::VarHandle));
    let name = |node: &Node| {
        let text = |name: &str| match node.attrs.get(name) {
            Some(AttrValue::String(text)) => text.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        let name = Some(text("shared_name")).filter(|name| !name.is_empty());
        (text("container"), name.unwrap_or_else(|| node.name.clone()))
    };
    nodes.map(name).collect()
}

/// The graph of the model that is meant: of several that have the tags, the one that has no others.
fn choose(mut graphs: Vec<MetaGraphDef>, options: &Optimize) -> Result<MetaGraphDef> {
    let tags = |meta: &MetaGraphDef| meta.meta_info_def.as_ref().map_or_else(Vec::new, |info| info.tags.clone());
    let all: Vec<String> = graphs.iter().map(|meta| format!("[{}]", tags(meta).join(", "))).collect();
    let there = if all.is_empty() { "none".to_owned() } else { format!("graphs with the tags {}", all.join(", ")) };
    graphs.retain(|meta| options.tags.iter().all(|tag| tags(meta).contains(tag)));
    if graphs.len() > 1 && graphs.iter().any(|meta| tags(meta).iter().all(|tag| options.tags.contains(tag))) {
        graphs.retain(|meta| tags(meta).iter().all(|tag| options.tags.contains(tag)));
    }
    match graphs.len() {
        1 => Ok(graphs.remove(0)),
        0 => {
            let asked = if options.tags.is_empty() {
                String::new()
            } else {
                format!(" with the tags [{}]", options.tags.join(", "))
            };
            Err(Error::not_found(format!("the model has no graph{asked}; it has {there}")))
        }
        _ => Err(Error::invalid_argument(format!(
            "several graphs are meant: choose one by its {}; the model has {there}",
            options.called("tag")
        ))),
    }
}

/// What is kept, and what it is called.
fn ends(options: &Optimize, meta: &MetaGraphDef, graph: &Graph) -> Result<(Ends, String)> {
    let output = |flag: &'static str| {
        move |name: &String| graph.output(name).map_err(|error| error.context(options.called(flag)))
    };
    let mut feeds = options.inputs.iter().map(output("input")).collect::<Result<Vec<Output>>>()?;
    let mut fetches = options.outputs.iter().map(output("output")).collect::<Result<Vec<_>>>()?;
    if let Some(both) = fetches.iter().find(|fetch| feeds.contains(fetch)) {
        let name = graph.output_name(*both);
        return Err(Error::invalid_argument(format!(
            "`{}` is both an {} and an {}",
            shortened(&name),
            options.called("input"),
            options.called("output")
        )));
    }
    let target = |name: &String| graph.find_or_suggest(name).map_err(|error| error.context(options.called("target")));
    let mut targets = options.targets.iter().map(target).collect::<Result<Vec<NodeId>>>()?;
    let placeholders = |ids: &mut dyn Iterator<Item = NodeId>| -> Vec<Output> {
        ids.filter(|&id| graph.is_placeholder(id)).map(|node| Output { node, index: 0 }).collect()
    };
    let signatures = formats::signatures(meta)?;
    let is_named = !fetches.is_empty() || !targets.is_empty();
    let kept = match signature(options, &signatures, is_named)? {
        Some((name, signature)) => {
            let of = |tensor: &formats::SignatureTensor| graph.output(&tensor.tensor);
            feeds.extend(signature.inputs.values().map(of).collect::<Result<Vec<_>>>()?);
            fetches.extend(signature.outputs.values().map(of).collect::<Result<Vec<_>>>()?);
            format!("signature {}", shortened(name))
        }
        None if is_named => "what is named".to_owned(),
        None => {
            for id in graph.sinks().into_iter().filter(|&id| !graph.is_placeholder(id)) {
                match graph.node(id).signature.outputs.len() {
                    0 => targets.push(id),
                    count => fetches.extend((0..count).map(|index| Output { node: id, index })),
                }
            }
            feeds.extend(placeholders(&mut graph.ids()));
            "what nothing else uses".to_owned()
        }
    };
    if fetches.is_empty() && targets.is_empty() {
        return Err(nothing_to_compute(graph, if options.by_flags { "an --output" } else { "one of outputs" }));
    }
    let needed = graph.needed(&feeds, &fetches, &targets);
    feeds.extend(placeholders(&mut needed.into_iter()));
    for list in [&mut feeds, &mut fetches] {
        list.compact_sort();
        list.dedup();
    }
    fetches.retain(|fetch| feeds.binary_search(fetch).is_err());
    let mut names: Vec<String> = fetches.iter().map(|&fetch| graph.output_name(fetch)).collect();
    names.extend(targets.iter().map(|&target| graph.node(target).name.clone()));
    let mut ends = Ends::new(feeds, fetches, targets);
    ends.is_written = true;
    Ok((ends, format!("{kept}: {}", some(&names))))
}

/// The signature that is meant, if one is.
fn signature<'s>(
    options: &Optimize,
    signatures: &'s BTreeMap<String, Signature>,
    is_named: bool,
) -> Result<Option<(&'s str, &'s Signature)>> {
    let found = |name: &str| signatures.get_key_value(name).map(|(name, signature)| (name.as_str(), signature));
    match &options.signature {
        Some(name) => found(name).map(Some).ok_or_else(|| {
            let names = || signatures.keys().map(String::as_str);
            let (name, hint) = (shortened(name), did_you_mean(name, names()));
            let there = if signatures.is_empty() { "none".to_owned() } else { listed(names()) };
            Error::not_found(format!(
                "{}: the model has no signature `{name}`{hint}; it has {there}",
                options.called("signature")
            ))
        }),
        None if is_named || signatures.is_empty() => Ok(None),
        None if signatures.len() == 1 => {
            Ok(signatures.iter().next().map(|(name, signature)| (name.as_str(), signature)))
        }
        None => found("serving_default").map(Some).ok_or_else(|| {
            let names = listed(signatures.keys().map(String::as_str));
            Error::invalid_argument(format!(
                "the model has several signatures: choose one by {}: {names}",
                options.called("signature")
            ))
        }),
    }
}
