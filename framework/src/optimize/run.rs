//! Runs the passes, one patch each.

use std::sync::{Arc, OnceLock};

use super::pass::{Choice, Ends, Pass, Tally};
use super::passes::PASSES;
use super::prune::{self, Prune};
use super::rewrite::{REWRITE, rewrites};
use crate::device::Device;
use crate::error::{Advice, Error, Result, shortened};
use crate::graph::{Graph, GraphPatch, NodeId, Output, Renumbering};
use crate::registry::did_you_mean;
use crate::sort::CompactSort as _;

/// The environment variable with the names of passes that do not run, with commas between them.
pub const WITHOUT: &str = "KERNLINK_WITHOUT";

/// So many times at most runs a pass that [repeats](Pass::repeats).
const MAX_ROUNDS: usize = 64;

/// A pass that repeats stops when the graph has so many times the nodes that it had before, and [`GROWTH`] more: what it
/// makes gives it ever more to do.
const MAX_GROWTH: usize = 4;
const GROWTH: usize = 1000;

/// So often at most all passes run one after the other.
const MAX_ROUNDS_OF_ALL: usize = 3;

/// The passes that run.
#[derive(Clone)]
pub struct Optimizer {
    passes: Vec<&'static dyn Pass>,
    choice: Choice,
}

/// What one pass did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassReport {
    /// The pass.
    pub name: &'static str,
    /// How many places it changed.
    pub changes: usize,
    /// How many nodes there were before.
    pub nodes_before: usize,
    /// How many there are, without those that nothing needs any more.
    pub nodes_after: usize,
    /// How often each part of the pass was applied, by name: each rewrite of the pass `rewrite`.
    pub parts: Vec<(&'static str, usize)>,
    /// The first error of each part that failed somewhere, which left the graph as it was there, or that found no end.
    pub failed: Vec<(&'static str, Error)>,
    /// Whether what it changed may give the passes before it more to do.
    pub opens: bool,
}

/// What a plan is made of: the part of a graph that a run needs, after the passes.
pub(crate) struct Optimized {
    pub(crate) graph: Graph,
    /// As ids of that graph.
    pub(crate) ends: Ends,
    /// For each of its nodes, which one of the original graph it is.
    pub(crate) origins: Vec<Origin>,
}

/// Where a node of an optimised graph comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is a node of the original graph.
    Node(NodeId),
    /// A pass added it, beside a node of the original graph.
    Beside(Option<NodeId>),
}

impl Default for Optimizer {
    /// All passes.
    fn default() -> Optimizer {
        Optimizer { passes: PASSES.to_vec(), choice: Choice::default() }
    }
}

impl Optimizer {
    /// All passes but those with these names.
    ///
    /// # Errors
    /// INVALID_ARGUMENT, with the names that there are, for one that no pass has.
    #[track_caller]
    pub fn without<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Optimizer> {
        Optimizer::default().and_without(names)
    }

    /// The passes and rewrites with these names alone, and what removes unused nodes.
    ///
    /// # Errors
    /// As [`Optimizer::without`].
    #[track_caller]
    pub fn only<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Optimizer> {
        let names: Vec<S> = names.into_iter().collect();
        Optimizer::without(&names)?;
        let is_named = |name: &str| names.iter().any(|named| named.as_ref() == name);
        let mut only = Optimizer::default();
        let of_rewrites = rewrites().iter().any(|rewrite| is_named(rewrite.name));
        only.passes.retain(|pass| {
            let runs_rewrites = of_rewrites && pass.name() == REWRITE;
            is_named(pass.name()) || runs_rewrites || pass.name() == Prune.name()
        });
        if of_rewrites {
            only.choice.without =
                rewrites().iter().map(|rewrite| rewrite.name).filter(|name| !is_named(name)).collect();
        }
        Ok(only)
    }

    /// These passes but those with these names.
    ///
    /// # Errors
    /// As [`Optimizer::without`].
    #[track_caller]
    pub fn and_without<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Optimizer> {
        for name in names {
            let name = name.as_ref();
            let rewrite = rewrites().iter().find(|rewrite| rewrite.name == name);
            self.choice.without.extend(rewrite.map(|rewrite| rewrite.name));
            if rewrite.is_none() && !PASSES.iter().any(|pass| pass.name() == name) {
                let known =
                    || PASSES.iter().map(|pass| pass.name()).chain(rewrites().iter().map(|rewrite| rewrite.name));
                let hint = did_you_mean(name, known());
                let all: Vec<&str> = PASSES.iter().map(|pass| pass.name()).collect();
                let (name, all) = (shortened(name), all.join(", "));
                let message = format!("there is no pass or rewrite `{name}`{hint}; there are {all}, and rewrites");
                return Err(Error::invalid_argument(message).advise(", which ", Advice::ListRewrites, ""));
            }
            self.passes.retain(|pass| pass.name() != name);
        }
        Ok(self)
    }

    /// These passes, and with them rewrites after which results may differ in the last bits
    /// ([`RewriteDef::is_inexact`](crate::optimize::rewrite::RewriteDef::is_inexact)).
    #[must_use]
    pub fn with_inexact(mut self, inexact: bool) -> Optimizer {
        self.choice.inexact = inexact;
        self
    }

    /// All passes but those that the environment variable [`WITHOUT`] names. It is read once.
    ///
    /// # Errors
    /// As [`Optimizer::without`]; also for a value that is not Unicode.
    pub fn from_env() -> Result<Optimizer> {
        static CHOSEN: OnceLock<Result<Optimizer>> = OnceLock::new();
        let read = || {
            // What is no Unicode names no pass.
            let names = std::env::var_os(WITHOUT).unwrap_or_default();
            let names = names.to_string_lossy();
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            Optimizer::without(names).map_err(|error| error.context(WITHOUT))
        };
        CHOSEN.get_or_init(read).clone()
    }

    /// The passes, in the order in which they run.
    pub fn passes(&self) -> &[&'static dyn Pass] {
        &self.passes
    }

    /// Optimises a graph in place; `ends` is renumbered with it. Says what each pass did.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `ends` names what is not in the graph; those of a pass, with its name. The graph is as the
    /// passes before it left it.
    pub fn optimize(&self, graph: &mut Graph, ends: &mut Ends) -> Result<Vec<PassReport>> {
        check(graph, ends)?;
        let mut all = self.one_round(graph, ends, false)?;
        all.extend(self.one_round(graph, ends, true)?);
        Ok(all)
    }

    /// As [`Optimizer::optimize`], but as often as a session does it: what one pass leaves may give those before it more to
    /// do.
    ///
    /// # Errors
    /// As [`Optimizer::optimize`].
    pub fn in_session(&self, graph: &mut Graph, ends: &mut Ends) -> Result<Vec<PassReport>> {
        check(graph, ends)?;
        let mut all = Vec::new();
        for _ in 0..MAX_ROUNDS_OF_ALL {
            let round = self.one_round(graph, ends, false)?;
            let opens = round.iter().any(|report| report.opens);
            all.extend(round);
            if !opens {
                break;
            }
        }
        all.extend(self.one_round(graph, ends, true)?);
        Ok(all)
    }

    /// Runs those passes that are [last](Pass::is_last), or the others.
    fn one_round(&self, graph: &mut Graph, ends: &mut Ends, last: bool) -> Result<Vec<PassReport>> {
        let mut reports = Vec::with_capacity(self.passes.len());
        for &pass in self.passes.iter().filter(|pass| pass.is_last() == last) {
            if ends.is_written && !pass.is_portable() {
                continue;
            }
            let nodes_before = graph.nodes().len();
            let mut tally = Tally::default();
            let changes = self.run_one(pass, graph, ends, &mut tally, &mut |_| {})?;
            let opens = changes > 0 && (pass.opens() || tally.opens);
            let (parts, failed) = (tally.applied.into_iter().collect(), tally.failed);
            let nodes_after = graph.nodes().len();
            reports.push(PassReport { name: pass.name(), changes, nodes_before, nodes_after, parts, failed, opens });
        }
        Ok(reports)
    }

    /// The part of a graph that a run needs, optimised; `None` if no pass has anything to do there.
    ///
    /// # Errors
    /// Those of a pass, with its name.
    pub(crate) fn for_run(
        &self,
        graph: &Graph,
        needed: &[NodeId],
        ends: &Ends,
        devices: &[Arc<dyn Device>],
    ) -> Result<Option<Optimized>> {
        if !self.passes.iter().any(|pass| pass.is_worthwhile(graph, needed)) {
            return Ok(None);
        }
        let kept = prune::kept(graph, ends);
        let (mut part, renumbering) = graph.subgraph(&kept)?;
        let mut origins: Vec<Origin> = kept.into_iter().map(Origin::Node).collect();
        let mut ends = renumbered(ends, &renumbering)?;
        ends.run_on(devices);
        // What one leaves may give another one more to do, such as the constants of a body that was inlined.
        let mut opens = true;
        for round in 0..=MAX_ROUNDS_OF_ALL {
            let last = !opens || round == MAX_ROUNDS_OF_ALL;
            opens = false;
            for &pass in self.passes.iter().filter(|pass| pass.is_last() == last) {
                let mut follow = |renumbering: &Renumbering| origins = followed(&origins, renumbering);
                let mut tally = Tally::default();
                let changes = self.run_one(pass, &mut part, &mut ends, &mut tally, &mut follow)?;
                opens |= changes > 0 && (pass.opens() || tally.opens);
            }
            if last {
                break;
            }
        }
        Ok(Some(Optimized { graph: part, ends, origins }))
    }

    /// Runs a pass, for as long as it finds something to do if it says so, and removes what it leaves unused.
    fn run_one(
        &self,
        pass: &dyn Pass,
        graph: &mut Graph,
        ends: &mut Ends,
        tally: &mut Tally,
        follow: &mut dyn FnMut(&Renumbering),
    ) -> Result<usize> {
        let name = pass.name();
        let context = |error: Error| {
            error.context(format!("pass {name}")).advise(
                "; ",
                Advice::LeaveOutPass { name: name.to_owned(), variable: WITHOUT },
                "",
            )
        };
        let prunes = self.passes.iter().any(|other| other.name() == Prune.name());
        let most = graph.nodes().len().saturating_mul(MAX_GROWTH).saturating_add(GROWTH);
        let mut total = 0;
        for round in 1..=if pass.repeats() { MAX_ROUNDS } else { 1 } {
            let before = tally.applied.clone();
            let changes = self.changed(pass, graph, ends, tally, follow).map_err(context)?;
            if changes > 0 && prunes && name != Prune.name() {
                self.changed(&Prune, graph, ends, tally, follow).map_err(context)?;
            }
            total += changes;
            if changes == 0 {
                break;
            }
            if pass.repeats() && (round == MAX_ROUNDS || graph.nodes().len() > most) {
                let again = tally.applied.iter().filter(|(name, times)| before.get(*name) != Some(times));
                for name in again.map(|(name, _)| *name).collect::<Vec<_>>() {
                    tally.fail(name, endless(round, graph.nodes().len()));
                }
                break;
            }
        }
        Ok(total)
    }

    /// Runs a pass on a graph once, if there is something to do.
    fn changed(
        &self,
        pass: &dyn Pass,
        graph: &mut Graph,
        ends: &mut Ends,
        tally: &mut Tally,
        follow: &mut dyn FnMut(&Renumbering),
    ) -> Result<usize> {
        let mut patch: GraphPatch<'_> = graph.patch();
        let changes = pass.run_chosen(&mut patch, ends, &self.choice, tally)?;
        if patch.is_empty() {
            return Ok(0);
        }
        ends.feeds().iter().for_each(|&feed| _ = patch.keep_feed(feed));
        ends.fetches().iter().for_each(|&fetch| _ = patch.keep_fetch(fetch));
        let renumbering = patch.apply()?;
        *ends = renumbered(ends, &renumbering)?;
        follow(&renumbering);
        Ok(changes)
    }
}

/// That a part of a pass is to be applied still when the pass stops.
fn endless(rounds: usize, nodes: usize) -> Error {
    Error::internal(format!(
        "it still applies after {rounds} rounds, with which the graph has {nodes} nodes, and is not applied any further: \
         does it, or another one, make again what it takes?"
    ))
}

/// The ends of a graph that was edited. Where nobody asks for names, what is used in the place of a fetch is fetched.
fn renumbered(ends: &Ends, renumbering: &Renumbering) -> Result<Ends> {
    let gone = || Error::internal("a feed, a fetch or a target was removed");
    let fetch = |&fetch: &Output| match ends.is_written {
        true => renumbering.output(fetch).or_else(|| renumbering.used_for(fetch)),
        false => renumbering.used_for(fetch),
    };
    let target = |&target: &NodeId| match renumbering.node(target) {
        Some(node) if ends.is_written => vec![node],
        _ => renumbering.awaited_for(target),
    };
    let mut targets: Vec<NodeId> = ends.targets().iter().flat_map(target).collect();
    targets.compact_sort();
    targets.dedup();
    let feeds = ends.feeds().iter().map(|&feed| renumbering.output(feed).ok_or_else(gone)).collect::<Result<_>>()?;
    let fetches = ends.fetches().iter().map(|output| fetch(output).ok_or_else(gone)).collect::<Result<_>>()?;
    let mut after = Ends::new(feeds, fetches, targets);
    (after.is_written, after.is_partial) = (ends.is_written, ends.is_partial);
    after.devices.clone_from(&ends.devices);
    Ok(after)
}

/// Fails if the ends name what is not in the graph.
fn check(graph: &Graph, ends: &Ends) -> Result<()> {
    for (what, outputs) in [("a feed", ends.feeds()), ("a fetch", ends.fetches())] {
        outputs.iter().try_for_each(|&output| graph.check_output(output)).map_err(|error| error.context(what))?;
    }
    ends.targets().iter().try_for_each(|&id| graph.check_node(id)).map_err(|error| error.context("a target"))
}

/// Where the nodes of an edited graph come from.
fn followed(origins: &[Origin], renumbering: &Renumbering) -> Vec<Origin> {
    let moved = origins.iter().enumerate().filter_map(|(before, &origin)| Some((renumbering.at(before)?, origin)));
    let beside = |before: Option<NodeId>| match before.and_then(|id| origins.get(id.index())) {
        Some(&Origin::Node(node)) => Origin::Beside(Some(node)),
        Some(&beside) => beside,
        None => Origin::Beside(None),
    };
    let added = renumbering.added().iter().map(|&(node, before)| (node, beside(before)));
    let mut all: Vec<(NodeId, Origin)> = moved.chain(added).collect();
    all.compact_sort_by_key(|(node, _)| *node);
    all.into_iter().map(|(_, origin)| origin).collect()
}
