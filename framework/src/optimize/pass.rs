//! What a pass is, and what it is told of the run that the graph is for.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::device::{Device, DeviceType};
use crate::error::{Error, Result};
use crate::graph::{Created, Graph, GraphPatch, NodeId, Output};

/// So many nodes at most that hand on what they are given are followed, so that looking behind each node of a long chain is
/// linear work.
pub(super) const MAX_IDENTITIES: usize = 32;

/// A way to make a graph compute the same with less to do.
///
/// A pass holds no state. It never changes what a run gives: neither values nor errors of nodes that have effects, nor
/// which outputs can be fed and fetched, which [`Ends`] names.
pub trait Pass: Sync {
    /// The name by which the pass is switched off, such as `fuse-conv-bias`.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn summary(&self) -> &'static str;

    /// Whether there may be something to do in a graph, of which a run needs `nodes`. It looks at each node once at most:
    /// where no pass has anything to do, the graph is not copied.
    fn is_worthwhile(&self, graph: &Graph, nodes: &[NodeId]) -> bool;

    /// Notes the changes in a patch of the graph, of which a run needs all nodes. Returns how many places it changes, of
    /// the kind that [`Pass::summary`] speaks of.
    ///
    /// # Errors
    /// Whatever keeps the graph from being run at all.
    fn run(&self, patch: &mut GraphPatch<'_>, ends: &Ends) -> Result<usize>;

    /// [`Pass::run`], but for what is switched off within the pass; says in `tally` what was done of which kind.
    ///
    /// # Errors
    /// As [`Pass::run`].
    fn run_chosen(&self, patch: &mut GraphPatch<'_>, ends: &Ends, _: &Choice, _: &mut Tally) -> Result<usize> {
        self.run(patch, ends)
    }

    /// Whether what the pass left may give it more to do: it then runs until it changes nothing, at most some rounds.
    fn repeats(&self) -> bool {
        false
    }

    /// Whether what the pass did may give those before it more to do: in a session all of them then run again, at most some
    /// rounds.
    fn opens(&self) -> bool {
        false
    }

    /// Whether it runs once, after all others have run for the last time: they would not know again what it leaves.
    fn is_last(&self) -> bool {
        false
    }

    /// Whether the result is a graph that TensorFlow runs too. A pass that leaves one which only Kernlink lays out does not
    /// run when a graph is optimised to be written.
    fn is_portable(&self) -> bool {
        true
    }

    /// The ops of which the pass may make nodes: a build for selected ops keeps these with those that they replace.
    fn creates(&self) -> &'static [Created] {
        &[]
    }
}

/// Which of the parts of passes run.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The names of those that do not.
    pub without: BTreeSet<&'static str>,
    /// Whether those run that may change the last bits of results.
    pub inexact: bool,
}

/// What the parts of a pass did.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How often each was applied, by name.
    pub applied: BTreeMap<&'static str, usize>,
    /// The first error of each that failed, with its name: the graph was left as it was there, or it found no end.
    pub failed: Vec<(&'static str, Error)>,
    /// Whether what was done may give passes before this one more to do, where that is not so of the pass as a whole
    /// ([`Pass::opens`]).
    pub opens: bool,
}

impl Tally {
    /// Notes the error of a part, if it is its first.
    pub fn fail(&mut self, name: &'static str, error: Error) {
        if self.failed.iter().all(|(failed, _)| *failed != name) {
            self.failed.push((name, error));
        }
    }
}

/// What goes into a graph and what comes out of it.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    feeds: Vec<Output>,
    fetches: Vec<Output>,
    targets: Vec<NodeId>,
    fed: HashSet<Output>,
    /// The nodes of which something is fed.
    fed_nodes: HashSet<NodeId>,
    fetched: HashSet<Output>,
    /// The targets, and the nodes of which something is fetched.
    wanted: HashSet<NodeId>,
    /// The types of devices on which nodes may run, with what they can do; empty if that is not known.
    pub(crate) devices: Vec<(DeviceType, Vec<&'static str>)>,
    /// Whether the graph is written afterwards: feeds, fetches and targets keep their names, and only passes run whose
    /// results are [portable](Pass::is_portable).
    pub is_written: bool,
    /// Whether the run is partial: feeds arrive while it runs, and who takes none does not wait for them.
    pub is_partial: bool,
}

impl Ends {
    /// What a run is fed, and what it fetches and runs.
    pub fn new(feeds: Vec<Output>, fetches: Vec<Output>, targets: Vec<NodeId>) -> Ends {
        Ends {
            fed: feeds.iter().copied().collect(),
            fed_nodes: feeds.iter().map(|feed| feed.node).collect(),
            fetched: fetches.iter().copied().collect(),
            wanted: fetches.iter().map(|fetch| fetch.node).chain(targets.iter().copied()).collect(),
            feeds,
            fetches,
            targets,
            devices: Vec::new(),
            is_written: false,
            is_partial: false,
        }
    }

    /// Says on which devices nodes may run. Where that is not said, rewrites keep to what all devices have kernels for.
    pub fn run_on(&mut self, devices: &[Arc<dyn Device>]) {
        for device in devices {
            let capabilities = device.capabilities();
            let known = |(kind, able): &(DeviceType, Vec<&str>)| *kind == device.device_type() && *able == capabilities;
            if !self.devices.iter().any(known) {
                self.devices.push((device.device_type(), capabilities.to_vec()));
            }
        }
    }

    /// How many kinds of devices nodes may run on; 0 if that is not known.
    pub(super) fn device_kinds(&self) -> usize {
        self.devices.len()
    }

    /// The outputs that are fed: what uses them takes the feed.
    pub fn feeds(&self) -> &[Output] {
        &self.feeds
    }

    /// The outputs that are computed.
    pub fn fetches(&self) -> &[Output] {
        &self.fetches
    }

    /// The nodes that run besides.
    pub fn targets(&self) -> &[NodeId] {
        &self.targets
    }

    /// Whether an output is fed.
    pub fn is_fed(&self, output: Output) -> bool {
        self.fed.contains(&output)
    }

    /// Whether an output of a node is fed.
    pub fn feeds_some_of(&self, node: NodeId) -> bool {
        self.fed_nodes.contains(&node)
    }

    /// Whether an output is fetched.
    pub fn is_fetched(&self, output: Output) -> bool {
        self.fetched.contains(&output)
    }

    /// Whether something of a node is fed or fetched, or it is to run: what it computes is seen from outside.
    pub fn holds(&self, node: NodeId) -> bool {
        self.fed_nodes.contains(&node) || self.wanted.contains(&node)
    }
}
