//! The list of passes. A new one gets its line here, and one in docs/optimizing.md.

use std::sync::OnceLock;

use super::elide_identities::ElideIdentities;
use super::fold_branches::FoldBranches;
use super::fold_constants::FoldConstants;
use super::free_constants::FreeConstants;
use super::fuse_element_wise::FuseElementWise;
use super::hoist_invariants::HoistInvariants;
use super::inline_functions::InlineFunctions;
use super::merge_duplicates::MergeDuplicates;
use super::pass::Pass;
use super::prune::Prune;
use super::rewrite::{CreatedOp, Rewrites, rewrites};
use crate::graph::{Created, CreatedFrom};
use crate::op::OpDef;

/// All passes, in the order in which they run.
pub const PASSES: &[&dyn Pass] = &[
    &Prune,
    &FoldConstants,
    &FoldBranches,
    &InlineFunctions,
    &FreeConstants,
    &ElideIdentities,
    &HoistInvariants,
    &MergeDuplicates,
    &Rewrites,
    &FuseElementWise,
];

/// What all passes may make, for [`Needs::with_created`](crate::graph::Needs::with_created).
pub fn created() -> &'static [Created] {
    static ALL: OnceLock<Vec<Created>> = OnceLock::new();
    ALL.get_or_init(|| PASSES.iter().flat_map(|pass| pass.creates()).copied().chain(created_by_rewrites()).collect())
}

/// What rewrites may make. It lives as long as the rewrites, which are linked.
fn created_by_rewrites() -> Vec<Created> {
    let name = |op: &&'static OpDef| &*op.name;
    let all = rewrites().iter().flat_map(|rewrite| {
        let nodes = rewrite.pattern.nodes.iter().map(|node| &*node.ops.iter().map(name).collect::<Vec<_>>().leak());
        let nodes: Vec<&[&str]> = nodes.collect();
        rewrite.creates.iter().map(move |CreatedOp { op, of }| {
            let of = of.iter().map(|of| &*vec![name(of)].leak());
            let needed: Vec<&[&str]> = nodes.iter().copied().chain(of).collect();
            Created { from: CreatedFrom::Match(needed.leak()), to: &op.name }
        })
    });
    all.collect()
}
