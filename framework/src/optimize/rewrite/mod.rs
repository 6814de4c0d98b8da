//! Rewrites: small patterns of nodes that others take the place of, each a registration (`#[register_rewrite]`).
//!
//! A [`RewriteDef`] says which nodes it is about ([`Pattern`]) and has a function that adds what is to stand in their place.
//! The pass here finds the matches, keeps the guards that no function need repeat, and makes the changes.
//! docs/optimizing.md says how a rewrite is written.

pub mod check;
mod created;
mod def;
mod guards;
mod matching;
mod pass;
mod pattern;
mod scope;
mod view;

pub use created::CreatedOp;
#[doc(hidden)]
pub use def::made;
pub use def::{IntoReplacement, Replacement, RewriteDef, rewrites};
pub use matching::Bound;
pub(super) use pass::{REWRITE, Rewrites};
pub use pattern::{AttrIs, AttrPattern, InputPattern, OperandPattern, Pattern, PatternNode};
pub use scope::{Matched, MatchedNode, Rewrite};
