//! `kernlink optimize`

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use crate::attr::AttrValue;
use crate::device::{CpuDevice, Device};
use crate::error::{Code, Error, Result, shortened};
use crate::formats::{self, Signature};
use crate::graph::{Graph, Node, NodeClass, NodeId, Output, to_dot};
use crate::optimize::rewrite::rewrites;
use crate::optimize::{Ends, Optimizer, PASSES, PassReport};
use crate::proto::{self, GraphDef, MetaGraphDef, SaverDef};
use crate::registry::{did_you_mean, listed};
use crate::sort::CompactSort as _;
use clap::Args;

use crate::cli::defaults::{nothing_to_compute, some};
use crate::cli::words::count;
use crate::cli::{lacking, model, output, unknown};

#[derive(Args, Default)]
#[command(after_help = passes())]
pub(crate) struct Optimize {
    /// The model: the folder of a SavedModel, a MetaGraph (.meta), or a graph as .pb or .pbtxt
    model: PathBuf,
    /// Where the optimised graph is written: as a binary GraphDef, or as text if the name ends in .pbtxt. One of this and --dot is
    /// needed
    #[arg(short = 'o', long = "out", value_name = "OUT.pb", required_unless_present = "dot")]
    out: Option<PathBuf>,
    /// Where it is written in Graphviz's DOT language
    #[arg(long, value_name = "OUT.dot")]
    dot: Option<PathBuf>,
    /// A pass or rewrite that does not run; may be given several times, or with commas between names
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    without: Vec<String>,
    /// Also make rewrites after which results may differ in the last bits
    #[arg(long)]
    inexact: bool,
    /// The signature to keep; by default `serving_default` or the only one, unless an --output or --target is named
    #[arg(long, value_name = "NAME")]
    signature: Option<String>,
    /// A tag of the SavedModel's graph
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// An output that runs feed (`node` or `node:1`), beside placeholders; may be given several times
    #[arg(long, value_name = "NAME")]
    input: Vec<String>,
    /// An output to keep (`node` or `node:1`); may be given several times
    #[arg(long, value_name = "NAME")]
    output: Vec<String>,
    /// A node to keep that runs for what it does; may be given several times
    #[arg(long, value_name = "NAME")]
    target: Vec<String>,
}

/// The passes, a line each.
fn passes() -> String {
    let width = PASSES.iter().map(|pass| pass.name().len()).max().unwrap_or(0);
    let mut text =
        String::from("Passes, in the order in which they run; those that KERNLINK_WITHOUT names do not either:\n");
    for pass in PASSES {
        let written = if pass.is_portable() { "" } else { " (in sessions only)" };
        let _ = writeln!(text, "  {:width$}  {}{written}", pass.name(), pass.summary());
    }
    text += "\nRewrites, which the pass `rewrite` makes:\n";
    let width = rewrites().iter().map(|rewrite| rewrite.name.len()).max().unwrap_or(0);
    let mut all = rewrites().to_vec();
    all.compact_sort_by_key(|rewrite| rewrite.name);
    for rewrite in all {
        let _ = write!(text, "  {:width$}  {}", rewrite.name, rewrite.summary);
        let only = [(!rewrite.is_portable, "in sessions only"), (rewrite.is_inexact, "only if asked for: inexact")];
        only.iter().filter(|(holds, _)| *holds).for_each(|(_, words)| text += &format!(" ({words})"));
        text.push('\n');
    }
    text
}

pub(crate) fn optimize(args: &Optimize) -> Result<()> {
    let optimizer = Optimizer::from_env()?;
    let without = args.without.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    let optimizer = optimizer.and_without(without).map_err(|error| error.context("--without"))?;
    let optimizer = optimizer.with_inexact(args.inexact);
    let files = [("--out", &args.out), ("--dot", &args.dot)];
    let files: Vec<_> = files.iter().filter_map(|(flag, file)| Some((*flag, file.as_deref()?))).collect();
    files.iter().try_for_each(|(flag, file)| output::check(flag, file))?;
    output::check_distinct(&files, &args.model)?;
    let meta = choose(args)?;
    let def = meta.graph_def.as_ref();
    let def = def.ok_or_else(|| Error::not_found(format!("{} holds no graph", args.model.display())))?;
    let registry = crate::registry()?;
    let mut graph = Graph::import(def, &registry)?;
    unknown::warn_of_attrs(def, &registry);
    let restore = Restore::of(&meta, &graph);
    let (mut ends, kept) = ends(args, &meta, &graph)?;
    let mut text = format!("{}: {}, keeping {kept}\n", args.model.display(), count(graph.nodes().len(), "node"));
    text += &done(optimizer.optimize(&mut graph, &mut ends)?);
    let functions = graph.function_names().len();
    graph.remove_unused_functions();
    if functions > 0 {
        let _ = writeln!(text, "functions: {functions} before, {} after", graph.function_names().len());
    }
    let def = graph.to_def()?;
    for line in lacking::lines(&Graph::missing_ops(&def, &registry), |op, nodes| registry.missing_op(op, nodes)) {
        output::tell(&format!("warning: kept as it is: {line}"));
    }
    // What was written before another file failed is told, too.
    write(args, restore.as_ref(), &graph, &def, &mut text).inspect_err(|_| output::tell(text.trim_end()))?;
    output::print(&text)
}

/// What passes did, a line each, and how often each rewrite was applied.
fn done(reports: Vec<PassReport>) -> String {
    let mut text = String::new();
    for report in reports {
        let _ = writeln!(
            text,
            "{}: {}, {} before, {} after",
            report.name,
            count(report.changes, "change"),
            count(report.nodes_before, "node"),
            report.nodes_after
        );
        for (name, times) in report.parts {
            let _ = writeln!(text, "  {name}: {}", count(times, "time"));
        }
        for (name, error) in report.failed {
            output::tell(&format!("warning: rewrite {name} failed: {error}"));
        }
    }
    text
}

/// Optimises a graph as a session on one CPU does that fetches the outputs of the model's signature, or what nothing else uses:
/// what each pass did.
pub(crate) fn in_session(meta: &MetaGraphDef, graph: &mut Graph) -> Result<String> {
    let (mut ends, kept) = ends(&Optimize::default(), meta, graph)?;
    ends.is_written = false;
    ends.run_on(&[Arc::new(CpuDevice::on_caller()) as Arc<dyn Device>]);
    let reports = Optimizer::from_env()?.in_session(graph, &mut ends)?;
    Ok(format!("in a session that computes {kept}\n{}", done(reports)))
}

/// Writes what is asked for, `def` of `graph`, and says where it is.
fn write(args: &Optimize, restore: Option<&Restore>, graph: &Graph, def: &GraphDef, text: &mut String) -> Result<()> {
    if let Some(out) = &args.out {
        let file = proto::graph_file(out, def).map_err(|error| match error.code() {
            Code::ResourceExhausted => {
                error.context("what constants fold to is written, too (--without fold-constants)")
            }
            _ => error,
        });
        output::write(out, &file.map_err(|error| error.context(out.display()))?)?;
        let _ = writeln!(text, "the graph, {}, is in {}", count(graph.nodes().len(), "node"), out.display());
        *text += &without_values(args, restore, graph);
    }
    if let Some(dot) = &args.dot {
        output::write(dot, to_dot(def).as_bytes())?;
        let _ = writeln!(text, "its drawing is in {}", dot.display());
    }
    Ok(())
}

/// What restores the variables of a model.
struct Restore<'m> {
    saver: &'m SaverDef,
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

/// What a graph with variables needs before it can run; nothing for one without.
fn without_values(args: &Optimize, restore: Option<&Restore>, graph: &Graph) -> String {
    let variables = variables(graph, graph.ids());
    if variables.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "the values of {} are not in the graph: it runs only in a session in which a program has given them, and not by \
         `kernlink run`, which runs the passes on the model itself: {}\n",
        count(variables.len(), "variable"),
        args.model.display()
    );
    // Keras has a saver that restores other variables than those that its functions take.
    if let Some(Restore { saver, .. }) = restore.filter(|restore| variables.is_subset(&restore.variables)) {
        let (node, file) = (shortened(&saver.restore_op_name), shortened(&saver.filename_tensor_name));
        let _ = match graph.find(&saver.restore_op_name) {
            Some(_) => writeln!(text, "{node} restores them from the checkpoint whose name is fed to {file}"),
            None => writeln!(text, "--target {node} keeps what restores them"),
        };
    }
    text
}

/// The graph of the model that is meant: of several that have the tags, the one that has no others.
fn choose(args: &Optimize) -> Result<MetaGraphDef> {
    let mut graphs = model::read(&args.model)?;
    if !args.tag.is_empty() && !args.model.is_dir() {
        return Err(model::tags_of_no_saved_model(&args.model));
    }
    let tags = |meta: &MetaGraphDef| meta.meta_info_def.as_ref().map_or_else(Vec::new, |info| info.tags.clone());
    let all: Vec<String> = graphs.iter().map(|meta| format!("[{}]", tags(meta).join(", "))).collect();
    let there = if all.is_empty() { "none".to_owned() } else { format!("graphs with the tags {}", all.join(", ")) };
    graphs.retain(|meta| args.tag.iter().all(|tag| tags(meta).contains(tag)));
    if graphs.len() > 1 && graphs.iter().any(|meta| tags(meta).iter().all(|tag| args.tag.contains(tag))) {
        graphs.retain(|meta| tags(meta).iter().all(|tag| args.tag.contains(tag)));
    }
    match graphs.len() {
        1 => Ok(graphs.remove(0)),
        0 => {
            let asked =
                if args.tag.is_empty() { String::new() } else { format!(" with the tags [{}]", args.tag.join(", ")) };
            Err(Error::not_found(format!("the model has no graph{asked}; it has {there}")))
        }
        _ => Err(Error::invalid_argument(format!(
            "several graphs are meant: choose one by its --tag; the model has {there}"
        ))),
    }
}

/// What is kept, and what it is called.
fn ends(args: &Optimize, meta: &MetaGraphDef, graph: &Graph) -> Result<(Ends, String)> {
    let output = |flag: &'static str| move |name: &String| graph.output(name).map_err(|error| error.context(flag));
    let mut feeds = args.input.iter().map(output("--input")).collect::<Result<Vec<Output>>>()?;
    let mut fetches = args.output.iter().map(output("--output")).collect::<Result<Vec<_>>>()?;
    if let Some(both) = fetches.iter().find(|fetch| feeds.contains(fetch)) {
        let name = graph.output_name(*both);
        return Err(Error::invalid_argument(format!("`{}` is both an --input and an --output", shortened(&name))));
    }
    let target = |name: &String| graph.find_or_suggest(name).map_err(|error| error.context("--target"));
    let mut targets = args.target.iter().map(target).collect::<Result<Vec<NodeId>>>()?;
    let placeholders = |ids: &mut dyn Iterator<Item = NodeId>| -> Vec<Output> {
        ids.filter(|&id| graph.is_placeholder(id)).map(|node| Output { node, index: 0 }).collect()
    };
    let signatures = formats::signatures(meta)?;
    let is_named = !fetches.is_empty() || !targets.is_empty();
    let kept = match signature(args, &signatures, is_named)? {
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
        return Err(nothing_to_compute(graph));
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
    args: &Optimize,
    signatures: &'s BTreeMap<String, Signature>,
    is_named: bool,
) -> Result<Option<(&'s str, &'s Signature)>> {
    let found = |name: &str| signatures.get_key_value(name).map(|(name, signature)| (name.as_str(), signature));
    match &args.signature {
        Some(name) => found(name).map(Some).ok_or_else(|| {
            let names = || signatures.keys().map(String::as_str);
            let (name, hint) = (shortened(name), did_you_mean(name, names()));
            let there = if signatures.is_empty() { "none".to_owned() } else { listed(names()) };
            Error::not_found(format!("--signature: the model has no signature `{name}`{hint}; it has {there}"))
        }),
        None if is_named || signatures.is_empty() => Ok(None),
        None if signatures.len() == 1 => {
            Ok(signatures.iter().next().map(|(name, signature)| (name.as_str(), signature)))
        }
        None => found("serving_default").map(Some).ok_or_else(|| {
            let names = listed(signatures.keys().map(String::as_str));
            Error::invalid_argument(format!("the model has several signatures: choose one by --signature: {names}"))
        }),
    }
}
