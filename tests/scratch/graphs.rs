//! Ops that take what other ops make: the graphs of their golden cases, with constants made large.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kernlink::Result;
use kernlink::attr::AttrValue;
use kernlink::device::CpuDevice;
use kernlink::graph::Graph;
use kernlink::proto::{self, GraphDef, NodeDef};
use kernlink::runtime::{RunOptions, Session};
use kernlink::tensor::Tensor;

use crate::allocator::watched;
use crate::support::golden_graphs;
use crate::watchdog::Watchdog;
use crate::{Faults, by_place, enlarged};

/// So many ways at most to make the constants of a graph large are tried.
const MOST: usize = 6;

/// What waits for more than there is waits no longer.
const PATIENCE: Duration = Duration::from_millis(300);

/// Checks every `parts`-th of the cases, from `part` on, that have an op which no case of a single op has.
pub(crate) fn check(
    golden: &[GraphDef],
    is_single: impl Fn(&str) -> bool,
    only: Option<&str>,
    (part, parts): (usize, usize),
    seed: usize,
    watchdog: &Watchdog,
    faults: &mut Faults,
) {
    let cases: Vec<GraphDef> = golden.iter().flat_map(golden_graphs::cases).collect();
    let by_op = golden_graphs::by_op(&cases);
    let wanted = by_op.iter().filter(|(op, _)| only.map_or(!is_single(op), |only| only == op.as_str()));
    let chosen: BTreeSet<usize> = wanted.map(|(_, cases)| cases[seed % cases.len()]).collect();
    for case in chosen.into_iter().skip(part).step_by(parts) {
        let case = &cases[case];
        let name = case.node.first().map_or("", |node| &node.name);
        let constants: Vec<(usize, Tensor)> = case.node.iter().enumerate().filter_map(constant).collect();
        let values: Vec<Tensor> = constants.iter().map(|(_, value)| value.clone()).collect();
        let with = |values: &[Tensor]| {
            let mut graph = case.clone();
            for ((index, _), value) in constants.iter().zip(values) {
                let value = proto::attr_to_proto(&AttrValue::Tensor(value.clone())).ok()?;
                graph.node[*index].attr.insert("value".to_owned(), value);
            }
            Prepared::new(&graph)
        };
        watchdog.watch(&format!("the case of {name}"), || {
            let Some(small) = with(&values) else { return };
            let (_, found) = watched(None, || small.run());
            let small = by_place(&found);
            for values in enlarged(&values).into_iter().take(MOST) {
                // Shapes that do not fit are refused before anything runs.
                if with(&values).is_some() {
                    let make = || with(&values).expect("it could be made before");
                    // A session asks for memory, too: as much as its graph needs.
                    faults.check(name, &small, |place| place.contains("kernlink_kernels"), make, Prepared::run);
                }
            }
        });
    }
}

/// A constant, and its place among the nodes.
fn constant((index, node): (usize, &NodeDef)) -> Option<(usize, Tensor)> {
    match proto::attr_from_proto(node.attr.get("value").filter(|_| node.op == "Const")?) {
        Ok(AttrValue::Tensor(value)) => Some((index, value)),
        _ => None,
    }
}

/// A session whose first run is to be watched, and what that computes.
struct Prepared {
    session: Session,
    targets: Vec<String>,
}

impl Prepared {
    fn new(graph: &GraphDef) -> Option<Prepared> {
        let graph = Graph::import(graph, &kernlink::registry().unwrap()).ok()?;
        let targets: Vec<String> = graph.sinks().into_iter().map(|id| graph.node(id).name.clone()).collect();
        (!targets.is_empty())
            .then(|| Prepared { session: Session::on(graph, Arc::new(CpuDevice::new(1).unwrap())), targets })
    }

    fn run(&self) -> Result<()> {
        let targets: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        let mut options = RunOptions::new();
        options.timeout = Some(PATIENCE);
        self.session.run_with(&[], &[], &targets, &options).map(drop)
    }
}
