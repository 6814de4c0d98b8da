//! A rewrite as a registration, and the list of all that are linked.

use std::any::Any;
use std::sync::OnceLock;

use super::created::CreatedOp;
use super::matching::Bound;
use super::pattern::Pattern;
use super::scope::Rewrite;
use crate::collect;
use crate::error::Result;
use crate::graph::Output;
use crate::kernel::{Location, Provider};
use crate::sort::CompactSort as _;

/// A rewrite: which nodes it is about, and what stands in their place. Made by `#[register_rewrite]`.
pub struct RewriteDef {
    /// The name by which it is switched off, such as `fuse-conv-bias`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it looks for.
    pub pattern: Pattern,
    /// The ops of which it may make nodes, beside `Const`.
    pub creates: &'static [CreatedOp],
    /// Of rewrites of which several would do, the one with the highest is made first.
    pub benefit: i32,
    /// Whether TensorFlow runs the result, too.
    pub is_portable: bool,
    /// Whether nodes of a match, but for the root, may have users outside of it: they then stay.
    pub is_shared: bool,
    /// Whether the result may differ in the last bits, so that it is made only where that is asked for; see
    /// [`Optimizer::with_inexact`](crate::optimize::Optimizer::with_inexact).
    pub is_inexact: bool,
    /// The crate that registered it.
    pub provider: &'static Provider,
    /// Where.
    pub location: Location,
    /// Adds what takes the place of a match; `None` if it is left as it is.
    pub apply: fn(&mut Rewrite<'_, '_>, &Bound) -> Result<Option<Replacement>>,
}

/// What takes the place of the root of a match.
pub enum Replacement {
    /// Of its one output that is used.
    One(Output),
    /// Of its outputs, position by position.
    All(Vec<Output>),
}

/// What the function of a rewrite may return: the [`Output`] that takes the place of the root's, or a list of them.
#[diagnostic::on_unimplemented(
    message = "a rewrite cannot return `{Self}`",
    note = "it returns `Result<Option<Output>>`, or `Result<Option<Vec<Output>>>` if the root has several outputs"
)]
pub trait IntoReplacement {
    /// As a [`Replacement`].
    fn into_replacement(self) -> Replacement;
}

impl IntoReplacement for Output {
    fn into_replacement(self) -> Replacement {
        Replacement::One(self)
    }
}

impl IntoReplacement for Vec<Output> {
    fn into_replacement(self) -> Replacement {
        Replacement::All(self)
    }
}

impl<const N: usize> IntoReplacement for [Output; N] {
    fn into_replacement(self) -> Replacement {
        Replacement::All(self.to_vec())
    }
}

/// What the function of a rewrite returned. Called by what `#[register_rewrite]` writes.
#[doc(hidden)]
pub fn made<R: IntoReplacement>(returned: Result<Option<R>>) -> Result<Option<Replacement>> {
    returned.map(|made| made.map(R::into_replacement))
}

/// The rewrites of all linked crates: the highest benefit first, then by name.
pub fn rewrites() -> &'static [&'static RewriteDef] {
    static ALL: OnceLock<Vec<&'static RewriteDef>> = OnceLock::new();
    ALL.get_or_init(|| {
        let kept = collect::linked_rewrites().filter_map(|entry| entry.rewrite);
        let mut all: Vec<&'static RewriteDef> =
            kept.filter_map(|rewrite| (rewrite as &dyn Any).downcast_ref::<RewriteDef>()).collect();
        all.compact_sort_by_key(|rewrite| (std::cmp::Reverse(rewrite.benefit), rewrite.name, rewrite.location));
        all
    })
}
