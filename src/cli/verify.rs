//! `kernlink verify`

use std::fmt::Write;
use std::path::PathBuf;

use crate::error::Result;
use crate::golden::{self, Report};
use clap::Args;

use crate::cli::job::ENVIRONMENT;
use crate::cli::output;
use crate::cli::progress::Progress;
use crate::tools::words::count;

#[derive(Args)]
#[command(after_help = ENVIRONMENT)]
pub(crate) struct Verify {
    /// Graphs that carry their own answers (.pb or .pbtxt)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Runs only the cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Threads; 0 for one per processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// The device to run on: cpu, gpu, or gpu:K for the adapter number K. On a GPU cases are skipped whose op has no kernel
    /// there
    #[arg(long, value_name = "D", default_value = "cpu")]
    device: String,
}

/// Returns whether no case failed.
pub(crate) fn verify(args: &Verify) -> Result<bool> {
    let devices = crate::tools::devices(&args.device, args.threads)?;
    let device = &devices[0];
    let registry = crate::registry()?;
    let mut report = Report::default();
    let mut progress = Progress::new("file", args.files.len() as u64);
    for file in &args.files {
        progress.begin_next();
        let mut graph = crate::proto::read_graph(file)?;
        if let Some(only) = &args.only {
            graph.node.retain(|node| node.name.contains(only.as_str()));
            if graph.node.is_empty() {
                continue;
            }
        }
        report.merge(golden::verify(&graph, &registry, device).map_err(|error| error.context(file.display()))?);
    }
    drop(progress);
    let mut text = String::new();
    for (case, reason) in &report.failures {
        let _ = writeln!(text, "FAILED {case}: {}", reason.replace('\n', "\n    "));
    }
    let failed = report.failures.len();
    let skipped = match report.skipped.values().sum::<usize>() {
        0 if !device.has_own_memory() => String::new(),
        number => format!(", {number} skipped, as no kernel of {} has a part in them", device.name()),
    };
    let _ = writeln!(
        text,
        "{} passed, {failed} failed{skipped}; passed cases cover {} in {}",
        report.passed(),
        count(report.ops().len(), "op"),
        count(report.covered.len(), "(op, dtype) pair")
    );
    if !report.skipped.is_empty() {
        let ops = report.skipped.iter().map(|(op, cases)| format!("{op} ({cases})"));
        let _ = writeln!(text, "skipped: {}", ops.collect::<Vec<_>>().join(", "));
    }
    if !report.missing_ops.is_empty() {
        let _ = writeln!(text, "missing ops: {}", report.missing_ops.into_iter().collect::<Vec<_>>().join(", "));
    }
    output::print_verdict(&text)?;
    Ok(failed == 0)
}
