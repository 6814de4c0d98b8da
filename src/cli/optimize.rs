//! `kernlink optimize`

use std::fmt::Write;
use std::path::PathBuf;

use crate::error::{Code, Error, Result, shortened};
use crate::graph::{Graph, to_dot};
use crate::optimize::rewrite::rewrites;
use crate::optimize::{PASSES, PassReport};
use crate::proto;
use crate::sort::CompactSort as _;
use crate::tools::words::{Called, count};
use crate::tools::{self, Optimized, Unsaved, lacking, read_model};
use clap::Args;

use crate::cli::{model, output, tell_passed_over};

#[derive(Args)]
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
    let options = tools::Optimize {
        tags: args.tag.clone(),
        signature: args.signature.clone(),
        inputs: args.input.clone(),
        outputs: args.output.clone(),
        targets: args.target.clone(),
        without: args.without.clone(),
        inexact: args.inexact,
        by_flags: true,
    };
    // What is wrong with names of passes is told first.
    options.optimizer()?;
    let files = [("--out", &args.out), ("--dot", &args.dot)];
    let files: Vec<_> = files.iter().filter_map(|(flag, file)| Some((*flag, file.as_deref()?))).collect();
    files.iter().try_for_each(|(flag, file)| output::check(flag, file))?;
    output::check_distinct(&files, &args.model)?;
    let graphs = read_model(&args.model)?;
    if !args.tag.is_empty() && !args.model.is_dir() {
        return Err(model::tags_of_no_saved_model(&args.model, Called::Command));
    }
    if matches!(&graphs[..], [meta] if meta.graph_def.is_none()) {
        return Err(Error::not_found(format!("{} holds no graph", args.model.display())));
    }
    let optimized = tools::optimize(graphs, &options)?;
    let Optimized { graph, def, kept, nodes_before, functions_before, reports, passed_over, .. } = &optimized;
    tell_passed_over(passed_over);
    let mut text = format!("{}: {}, keeping {kept}\n", args.model.display(), count(nodes_before, "node"));
    text += &done(reports);
    if *functions_before > 0 {
        let _ = writeln!(text, "functions: {functions_before} before, {} after", graph.function_names().len());
    }
    let registry = crate::registry()?;
    for line in lacking::lines(&Graph::missing_ops(def, &registry), |op, nodes| registry.missing_op(op, nodes)) {
        output::tell(&format!("warning: kept as it is: {line}"));
    }
    // What was written before another file failed is told, too.
    write(args, &optimized, &mut text).inspect_err(|_| output::tell(text.trim_end()))?;
    output::print(&text)
}

/// What passes did, a line each, and how often each rewrite was applied.
pub(crate) fn done(reports: &[PassReport]) -> String {
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
        for (name, times) in &report.parts {
            let _ = writeln!(text, "  {name}: {}", count(times, "time"));
        }
        for (name, error) in &report.failed {
            output::tell(&format!("warning: rewrite {name} failed: {error}"));
        }
    }
    text
}

/// Writes what is asked for, and says where it is.
fn write(args: &Optimize, optimized: &Optimized, text: &mut String) -> Result<()> {
    let Optimized { graph, def, unsaved, .. } = optimized;
    if let Some(out) = &args.out {
        let file = proto::graph_file(out, def).map_err(|error| match error.code() {
            Code::ResourceExhausted => {
                error.context("what constants fold to is written, too (--without fold-constants)")
            }
            _ => error,
        });
        output::write(out, &file.map_err(|error| error.context(out.display()))?)?;
        let _ = writeln!(text, "the graph, {}, is in {}", count(graph.nodes().len(), "node"), out.display());
        *text += &unsaved.as_ref().map(|unsaved| without_values(args, unsaved)).unwrap_or_default();
    }
    if let Some(dot) = &args.dot {
        output::write(dot, to_dot(def).as_bytes())?;
        let _ = writeln!(text, "its drawing is in {}", dot.display());
    }
    Ok(())
}

/// What a graph with variables needs before it can run.
fn without_values(args: &Optimize, unsaved: &Unsaved) -> String {
    let mut text = format!(
        "the values of {} are not in the graph: it runs only in a session in which a program has given them, and not by \
         `kernlink run`, which runs the passes on the model itself: {}\n",
        count(unsaved.variables, "variable"),
        args.model.display()
    );
    if let Some((node, file)) = &unsaved.restored_by {
        let (node, file) = (shortened(node), shortened(file));
        let _ = match unsaved.has_restore {
            true => writeln!(text, "{node} restores them from the checkpoint whose name is fed to {file}"),
            false => writeln!(text, "--target {node} keeps what restores them"),
        };
    }
    text
}
