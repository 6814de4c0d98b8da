//! `kernlink select`

use std::path::PathBuf;

use crate::cli::output;
use crate::error::Result;
use crate::tools::select::indented;
use clap::Args;

#[derive(Args)]
pub(crate) struct Select {
    /// The models that the program is to run: folders of SavedModels, MetaGraphs (.meta), graphs as .pb or .pbtxt
    #[arg(required = true)]
    model: Vec<PathBuf>,
    /// A signature that the program is to run; may be given several times
    ///
    /// Of models with signatures only what these need is selected, and what runs when a model is loaded: neither other
    /// signatures nor saving of variables. Graphs without signatures are selected as they are.
    #[arg(long, value_name = "NAME")]
    signature: Vec<String>,
    /// Goes by the attrs of the nodes for ops that this command lacks, such as a program's own, and does without what gradients
    /// (SymbolicGradient) are made of that it cannot derive
    #[arg(long)]
    allow_unknown: bool,
}

pub(crate) fn select(args: &Select) -> Result<()> {
    let selected = crate::tools::select(&args.model, &args.signature, args.allow_unknown, true)?;
    if !selected.unknown.is_empty() {
        output::tell(&format!("warning: selected by the attrs of their nodes:{}", indented(&selected.unknown)));
    }
    if !selected.underived.is_empty() {
        let underived = indented(&selected.underived);
        output::tell(&format!("warning: gradients that cannot be derived, and are left out:{underived}"));
    }
    for missing in &selected.missing_kernels {
        output::tell(&format!("warning: {missing}"));
    }
    output::print_bytes(selected.text.as_bytes())
}
