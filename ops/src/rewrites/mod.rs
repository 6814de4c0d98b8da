//! Rewrites of graphs, by theme. What they keep: every value to the bit, and every error, unless they say that they are
//! inexact. docs/optimizing.md lists them.

#[cfg(feature = "math")]
mod arithmetic;
