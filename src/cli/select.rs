//! `kernlink select`

use std::fmt::Write;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::graph::Needs;
use clap::Args;

use crate::cli::{model, output};

#[derive(Args)]
pub(crate) struct Select {
    /// The models that the program is to run: folders of SavedModels, MetaGraphs (.meta), graphs as .pb or .pbtxt
    #[arg(required = true)]
    model: Vec<PathBuf>,
    /// Goes by the attrs of the nodes for ops that this command lacks, such as a program's own
    #[arg(long)]
    allow_unknown: bool,
}

pub(crate) fn select(args: &Select) -> Result<()> {
    let registry = crate::registry()?;
    let mut needs = Needs::new(&registry).with_created(crate::optimize::created());
    for model in &args.model {
        let context = |error: Error| error.context(model.display());
        for graph in model::read(model)?.iter().filter_map(|graph| graph.graph_def.as_ref()) {
            needs.add(graph).map_err(context)?;
        }
    }
    let unknown = needs.unknown_ops().iter();
    let unknown: Vec<String> = unknown.map(|(op, nodes)| format!("\n  {}", registry.missing_op(op, nodes))).collect();
    if !unknown.is_empty() && !args.allow_unknown {
        return Err(Error::not_found(format!(
            "the models need ops that are unknown here:{}\nif another crate of your program declares them, \
             --allow-unknown selects them by the attrs of their nodes",
            unknown.concat()
        )));
    }
    if !unknown.is_empty() {
        output::tell(&format!("warning: selected by the attrs of their nodes:{}", unknown.concat()));
    }
    for missing in needs.missing_kernels() {
        output::tell(&format!("warning: {missing}"));
    }
    let models: Vec<_> = args.model.iter().map(|model| model.file_name().unwrap_or_default().display()).collect();
    let models = models.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ").replace(['\n', '\r'], " ");
    let mut text = String::from(
        "# Kernlink selection: the ops and kernels that stay in a program built with KERNLINK_SELECT=<this file>.\n",
    );
    let _ = writeln!(text, "# Written by kernlink {} select for: {models}", env!("CARGO_PKG_VERSION"));
    text.push_str("# A line: OP DEVICE ATTR=VALUE ...; what it does not mention may be anything.\n");
    let _ = write!(text, "{needs}");
    output::print_bytes(text.as_bytes())
}
