//! Every golden case, and the table of them in docs/coverage.md, which `KERNLINK_UPDATE=1` rewrites.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use kernlink::device::{CpuDevice, Device};
use kernlink::golden::{self, Report};

use crate::support;

#[test]
fn every_case_passes_and_the_table_says_how_many() {
    let registry = kernlink::registry().unwrap();
    let device: Arc<dyn Device> = Arc::new(CpuDevice::new(0).unwrap());
    let mut total = Report::default();
    let mut table = "| golden cases | cases | ops | (op, dtype) pairs |\n|---|---:|---:|---:|\n".to_owned();
    let mut row = |name: &str, report: &Report| {
        let (cases, ops, pairs) = (report.cases, report.ops().len(), report.covered.len());
        println!("{name}: {cases} cases, {ops} ops, {pairs} (op, dtype) pairs");
        let _ = writeln!(table, "| {name} | {cases} | {ops} | {pairs} |");
    };
    for file in support::golden_files() {
        // Its ops are there without the feature by which files are decoded.
        if cfg!(not(feature = "jxl")) && file.ends_with("jxl.pb") {
            continue;
        }
        let graph = kernlink::proto::read_graph(&file).unwrap();
        let report = golden::verify(&graph, &registry, &device).unwrap();
        row(file.file_stem().unwrap().to_str().unwrap(), &report);
        total.merge(report);
    }
    row("**all**", &total);
    let failures: BTreeSet<String> =
        total.failures.iter().map(|(case, reason)| format!("{case}: {reason}\n")).collect();
    assert!(failures.is_empty(), "{} of {} cases fail:\n{}", failures.len(), total.cases, String::from_iter(failures));
    // It is only right as long as every case passes, so failures are reported before it.
    let command = "--features cli --test oracle golden";
    support::check_coverage("coverage", &table, command);
    #[cfg(feature = "cli")]
    support::check_coverage("ops by family", &crate::coverage::table(&registry, &total.ops()), command);
}
