//! `kernlink gradients`

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::attr::AttrValue;
use crate::cli::words::count;
use crate::cli::{model, output, unknown};
use crate::dtype::DataType;
use crate::error::{Code, Error, Result, shortened};
use crate::gradient::{Gradients as OfGraph, OutputGradient, find_gradient};
use crate::graph::{Graph, Node, NodeId, Output};
use crate::{ensure, ops, proto};
use clap::Args;

#[derive(Args)]
pub(crate) struct Gradients {
    /// The graph: .pb or .pbtxt
    model: PathBuf,
    /// What is differentiated: an output of floats (`node` or `node:1`). Of several, the sum is
    #[arg(long, value_name = "NAME", required = true)]
    y: Vec<String>,
    /// With respect to what: an output of floats (`node` or `node:1`); may be given several times
    #[arg(long, value_name = "NAME", required = true)]
    x: Vec<String>,
    /// What flows back to each --y, of its dtype and shape; ones unless it is given
    #[arg(long, value_name = "NAME")]
    grad_y: Vec<String>,
    /// An output that counts as a constant; may be given several times
    #[arg(long, value_name = "NAME")]
    stop: Vec<String>,
    /// Where the graph is written: as a binary GraphDef, or as text if the name ends in .pbtxt
    #[arg(short = 'o', long = "out", value_name = "OUT.pb")]
    out: PathBuf,
}

pub(crate) fn gradients(args: &Gradients) -> Result<()> {
    output::check("--out", &args.out)?;
    output::check_distinct(&[("--out", args.out.as_path())], &args.model)?;
    if args.model.is_dir() {
        return Err(Error::invalid_argument(format!(
            "{} is a folder, as SavedModels are, whose variables have values outside of their graphs: gradients are added to a \
             graph (.pb or .pbtxt), in which weights are constants",
            args.model.display()
        )));
    }
    let def = model::read(&args.model)?.into_iter().next().and_then(|meta| meta.graph_def);
    let def = def.ok_or_else(|| Error::not_found(format!("{} holds no graph", args.model.display())))?;
    let registry = crate::registry()?;
    let mut graph = Graph::import(&def, &registry)?;
    unknown::warn_of_attrs(&def, &registry);
    // Outputs are found by their names after this.
    graph.raise_loops()?;

    let named = |flag: &'static str, names: &[String], floats: bool| -> Result<Vec<Output>> {
        let found = names.iter().map(|name| {
            let output = graph.output(name)?;
            let dtype = dtype_of(&graph, output);
            let is_float = dtype.is_floating() || dtype.is_complex();
            let name = shortened(name);
            ensure!(
                is_float || !floats,
                InvalidArgument,
                "`{name}` is {dtype}, and gradients are of floats: name an output before it was made an integer, such as the \
                 logits of classes"
            );
            Ok(output)
        });
        found.collect::<Result<_>>().map_err(|error: Error| error.context(flag))
    };
    let (ys, xs) = (named("--y", &args.y, true)?, named("--x", &args.x, true)?);
    let (flows, stops) = (named("--grad-y", &args.grad_y, true)?, named("--stop", &args.stop, false)?);
    if let Some(complex) = ys.iter().find(|y| dtype_of(&graph, **y).is_complex() && flows.is_empty()) {
        let (name, dtype) = (graph.output_name(*complex), dtype_of(&graph, *complex));
        let name = shortened(&name);
        return Err(Error::invalid_argument(format!(
            "--y: `{name}` is {dtype}: its gradient depends on what flows back to it, which --grad-y names"
        )));
    }

    let prefix = prefix(&graph);
    let before = graph.nodes().len();
    let asked = OfGraph::of(ys.iter().copied()).with_respect_to(xs.iter().copied());
    let asked = asked.grad_ys(flows.into_iter().map(Some)).stop_gradients(stops.iter().copied());
    let found = asked.add_to(&mut graph).map_err(|error| match error.code() {
        Code::NotFound => match lacking(&graph, before, (&ys, &xs, &stops)) {
            Some(where_it_is) => error.append(where_it_is),
            None => error,
        },
        _ => error,
    })?;
    if found.iter().all(Option::is_none) {
        let names = |outputs: &[String]| outputs.iter().map(|name| shortened(name)).collect::<Vec<_>>().join(", ");
        return Err(Error::invalid_argument(format!(
            "{} depends on none of {} by floats: nothing is written",
            names(&args.y),
            names(&args.x)
        )));
    }
    let mut rows = Vec::new();
    for (k, (&x, gradient)) in xs.iter().zip(found).enumerate() {
        let of = graph.output_name(x);
        let Some(gradient) = gradient else {
            rows.push([k.to_string(), of, "—".to_owned(), "does not depend on it".to_owned()]);
            continue;
        };
        let of_rows = matches!(gradient, OutputGradient::Slices { .. });
        let remark = if of_rows { ", of rows that were gathered" } else { "" };
        let dense = gradient.dense(&mut graph)?;
        let name = format!("{prefix}/{k}");
        let named = ops::identity(&mut graph, dense).name(&name).build()?;
        let says = format!("{} {}{remark}", dtype_of(&graph, named), graph.shape(named));
        rows.push([k.to_string(), of, name, says]);
    }

    let file = proto::graph_file(&args.out, &graph.to_def()?).map_err(|error| error.context(args.out.display()))?;
    output::write(&args.out, &file)?;
    let after = graph.nodes().len();
    let (nodes, added) = (count(before, "node"), count(after - before, "node"));
    let mut text = format!("{}: {nodes}, {added} added\n", args.model.display());
    let of: Vec<String> = ys.iter().map(|&y| graph.output_name(y)).collect();
    let _ = writeln!(text, "gradients of {}", of.join(" + "));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (names, ends) = (width(1), width(2));
    for [k, x, name, says] in &rows {
        let _ = writeln!(text, "  {k:>2}  with respect to {x:names$}  {name:ends$}  {says}");
    }
    let _ = writeln!(text, "the graph, {}, is in {}", count(after, "node"), args.out.display());
    output::print(&text)
}

fn dtype_of(graph: &Graph, output: Output) -> DataType {
    graph.node(output.node).signature.outputs[output.index].dtype
}

/// What the names of the nodes begin with that are added: as [`OfGraph`] chooses it.
fn prefix(graph: &Graph) -> String {
    let is_taken = |prefix: &str| {
        let is_below =
            |node: &Node| node.name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        graph.nodes().iter().any(is_below)
    };
    let numbered = (1..).map(|number| format!("gradients_{number}"));
    let mut prefixes = std::iter::once("gradients".to_owned()).chain(numbered);
    prefixes.find(|prefix| !is_taken(prefix)).unwrap_or_default()
}

/// All ops without a gradient between `xs` and `ys`, and the way on which the last of them stands.
fn lacking(graph: &Graph, count: usize, (ys, xs, stops): (&[Output], &[Output], &[Output])) -> Option<String> {
    let flows = |output: &Output| {
        let dtype = dtype_of(graph, *output);
        let flows =
            dtype.is_floating() || dtype.is_complex() || matches!(dtype, DataType::Variant | DataType::Resource);
        flows && !stops.contains(output)
    };
    // From the `ys` back, each node with that by which it was reached first.
    let mut towards: Vec<Option<Option<NodeId>>> = vec![None; count];
    let mut queue: VecDeque<NodeId> = VecDeque::new();
    for y in ys {
        towards[y.node.index()] = Some(None);
        queue.push_back(y.node);
    }
    while let Some(id) = queue.pop_front() {
        for input in graph.node(id).inputs.iter().filter(|input| flows(input)) {
            let place = towards.get_mut(input.node.index()).filter(|place| place.is_none());
            if let Some(place) = place {
                *place = Some(Some(id));
                queue.push_back(input.node);
            }
        }
    }
    let mut from_xs = vec![false; count];
    xs.iter().for_each(|x| from_xs[x.node.index()] = true);
    // Loops lead back: as often as something is new.
    loop {
        let before = from_xs.iter().filter(|reached| **reached).count();
        for id in graph.ids().take(count) {
            from_xs[id.index()] |= graph
                .node(id)
                .inputs
                .iter()
                .any(|input| flows(input) && from_xs.get(input.node.index()) == Some(&true));
        }
        if from_xs.iter().filter(|reached| **reached).count() == before {
            break;
        }
    }
    let has_gradient = |node: &Node| {
        let asked = match node.attrs.get("_gradient_op_type") {
            Some(AttrValue::String(name)) => name.to_string_lossy().into_owned(),
            _ => node.op.def.name.to_string(),
        };
        node.class.is_call() || find_gradient(&asked).is_some()
    };
    // What takes none of it, such as an x itself, has nothing to hand on.
    let takes = |id: &NodeId| {
        let mut inputs = graph.node(*id).inputs.iter();
        inputs.any(|input| flows(input) && from_xs.get(input.node.index()) == Some(&true))
    };
    let between = graph.ids().take(count).filter(|id| takes(id) && towards[id.index()].is_some());
    let without: Vec<NodeId> = between.filter(|&id| !has_gradient(graph.node(id))).collect();
    let mut ops: Vec<String> = without.iter().map(|&id| graph.node(id).op.def.name.to_string()).collect();
    ops.sort();
    ops.dedup();
    let mut way = Vec::new();
    let mut at = Some(*without.last()?);
    while let Some(id) = at {
        let node = graph.node(id);
        way.push(format!("{} ({})", shortened(&node.name), node.op.def.name));
        at = towards[id.index()].flatten();
    }
    way.reverse();
    Some(format!("; on the way back: {}; without a gradient are {}", way.join(" → "), ops.join(", ")))
}
