//! The list of passes. A new one gets its line here, and one in docs/optimizing.md.

use std::sync::OnceLock;

use super::elide_identities::ElideIdentities;
use super::fold_branches::FoldBranches;
use super::fold_constants::FoldConstants;
use super::free_constants::FreeConstants;
use super::merge_duplicates::MergeDuplicates;
use super::pass::Pass;
use super::prune::Prune;
use super::rewrite::Rewrites;
use crate::graph::Created;

/// All passes, in the order in which they run.
pub const PASSES: &[&dyn Pass] =
    &[&Prune, &FoldConstants, &FoldBranches, &FreeConstants, &ElideIdentities, &MergeDuplicates, &Rewrites];

/// What all passes may make, for [`Needs::with_created`](crate::graph::Needs::with_created).
pub fn created() -> &'static [Created] {
    static ALL: OnceLock<Vec<Created>> = OnceLock::new();
    ALL.get_or_init(|| PASSES.iter().flat_map(|pass| pass.creates()).copied().collect())
}
