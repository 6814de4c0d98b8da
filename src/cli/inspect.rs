//! `kernlink inspect`

use std::path::{Path, PathBuf};

use crate::error::{Advice, Error, Result};
use crate::graph::{self, Graph};
use crate::proto::MetaGraphDef;
use clap::Args;

use crate::cli::advice::in_flags;
use crate::cli::job::ENVIRONMENT;
use crate::cli::optimize::done;
use crate::cli::output;
use crate::tools::inspect::write_ops;
use crate::tools::{count_ops, devices, in_session, read_model};

#[derive(Args)]
#[command(after_help = ENVIRONMENT)]
pub(crate) struct Inspect {
    /// The model: the folder of a SavedModel, a MetaGraph (.meta), or a graph as .pb or .pbtxt
    model: PathBuf,
    /// Prints the graph in Graphviz's DOT language instead
    #[arg(long)]
    dot: bool,
    /// Says what the graph is made of after the passes of a session that runs the default signature, or computes what
    /// nothing else uses, and what each pass and rewrite did
    #[arg(long, conflicts_with_all = ["dot", "device"])]
    optimized: bool,
    /// Says what this device (gpu, or gpu:K for the adapter number K) has no kernels for, so that the CPU would run it
    #[arg(long, value_name = "D")]
    device: Option<String>,
}

/// Whether everything in the model can run here, as far as can be seen without a run.
pub(crate) fn inspect(args: &Inspect) -> Result<bool> {
    let graphs = read_model(&args.model)?;
    if args.dot {
        let dots = graphs.iter().filter_map(|graph| graph.graph_def.as_ref()).map(graph::to_dot);
        return output::print_bytes(dots.collect::<String>().as_bytes()).map(|()| true);
    }
    if args.optimized {
        let mut text = String::new();
        graphs.iter().try_for_each(|meta| after_passes(&mut text, meta, &args.model))?;
        return output::print(&text).map(|()| true);
    }
    let device = match &args.device {
        Some(name) => devices(name, 1)?.into_iter().next(),
        None => None,
    };
    let (mut text, mut is_whole) = (String::new(), true);
    for graph in &graphs {
        let mut found = crate::tools::inspect(graph, &args.model, device.as_deref())?;
        found.advice.iter_mut().for_each(|advice| *advice = Advice::Said(in_flags(advice)));
        text += &found.to_string();
        is_whole &= found.is_whole();
    }
    output::print_verdict(&text)?;
    Ok(is_whole)
}

/// Says what passes leave of a graph, and what they did.
fn after_passes(text: &mut String, meta: &MetaGraphDef, model: &Path) -> Result<()> {
    let def = meta.graph_def.as_ref();
    let def = def.ok_or_else(|| Error::not_found(format!("{} holds no graph", model.display())))?;
    let mut graph = Graph::import(def, &crate::registry()?)?;
    let (kept, reports) = in_session(meta, &mut graph)?;
    *text += &format!("in a session that computes {kept}\n{}", done(&reports));
    graph.remove_unused_functions();
    let def = graph.to_def()?;
    let functions = def.library.as_ref().map_or(0, |library| library.function.len());
    // A string takes all that is written to it.
    let _ = write_ops(text, &count_ops(&def), functions);
    Ok(())
}
