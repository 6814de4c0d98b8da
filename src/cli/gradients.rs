//! `kernlink gradients`

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::cli::{output, tell_passed_over};
use crate::error::{Error, Result};
use crate::proto;
use crate::tools::words::count;
use crate::tools::{Differentiate, Differentiated, differentiate, read_model};
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
    let def = read_model(&args.model)?.into_iter().next().and_then(|meta| meta.graph_def);
    let def = def.ok_or_else(|| Error::not_found(format!("{} holds no graph", args.model.display())))?;
    let options = Differentiate {
        ys: args.y.clone(),
        xs: args.x.clone(),
        grad_ys: args.grad_y.clone(),
        stops: args.stop.clone(),
        by_flags: true,
    };
    let Differentiated { graph, ys, nodes_before, gradients, passed_over } = differentiate(&def, &options)?;
    tell_passed_over(&passed_over);
    let row = |(k, (of, gradient)): (usize, (String, Option<_>))| match gradient {
        None => [k.to_string(), of, "—".to_owned(), "does not depend on it".to_owned()],
        Some(crate::tools::Gradient { name, dtype, shape, of_rows }) => {
            let remark = if of_rows { ", of rows that were gathered" } else { "" };
            [k.to_string(), of, name, format!("{dtype} {shape}{remark}")]
        }
    };
    let rows: Vec<[String; 4]> = gradients.into_iter().enumerate().map(row).collect();

    let file = proto::graph_file(&args.out, &graph.to_def()?).map_err(|error| error.context(args.out.display()))?;
    output::write(&args.out, &file)?;
    let after = graph.nodes().len();
    let (nodes, added) = (count(nodes_before, "node"), count(after - nodes_before, "node"));
    let mut text = format!("{}: {nodes}, {added} added\n", args.model.display());
    let _ = writeln!(text, "gradients of {}", ys.join(" + "));
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
