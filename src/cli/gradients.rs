//! `kernlink gradients`

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::cli::{output, warn_of_attrs};
use crate::dtype::DataType;
use crate::error::{Code, Error, Result, shortened};
use crate::gradient::{Gradients as OfGraph, OutputGradient, free_prefix};
use crate::graph::{Graph, Output};
use crate::tools::read_model;
use crate::tools::words::count;
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

/// What to do about an op that has no gradient.
const ADVICE: &str = "name an output on the way with --stop, so that it counts as a constant and nothing flows through it, or \
                      let --x be one between it and the --y; a gradient of one's own is in the command of a crate that registers \
                      it, which `kernlink new` begins";

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
    let def = read_model(&args.model)?.into_iter().next().and_then(|meta| meta.graph_def);
    let def = def.ok_or_else(|| Error::not_found(format!("{} holds no graph", args.model.display())))?;
    let registry = crate::registry()?;
    let mut graph = Graph::import(&def, &registry)?;
    warn_of_attrs(&def, &registry);
    // Outputs are found by their names after this. Loops of which no function can be made matter if they are on the way.
    let unlike = graph.raise_loops().err();

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

    let prefix = free_prefix(&graph);
    let before = graph.nodes().len();
    let asked = OfGraph::of(ys.iter().copied()).with_respect_to(xs.iter().copied());
    let asked = asked.grad_ys(flows.into_iter().map(Some)).stop_gradients(stops);
    let found = asked.advise(ADVICE).add_to(&mut graph).map_err(|error| match unlike {
        Some(unlike) if error.code() == Code::FailedPrecondition => unlike,
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
    // Longer names stand as they are, and move what follows them.
    let lengths = |column: usize| rows.iter().map(move |row: &[String; 4]| row[column].chars().count());
    let width = |column: usize| lengths(column).filter(|&length| length <= 120).max().unwrap_or(0);
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
