//! Rewrites of graphs, by theme. What they keep: every value to the bit, and every error, unless they say that they are
//! inexact. docs/optimizing.md lists them.

#[cfg(all(feature = "math", feature = "nn"))]
mod activations;
#[cfg(feature = "math")]
mod arithmetic;
#[cfg(all(feature = "math", feature = "nn"))]
mod attention;
#[cfg(feature = "nn")]
mod batch_norms;
#[cfg(all(feature = "array", feature = "math"))]
mod moves;
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod norms;
#[cfg(all(feature = "array", feature = "nn"))]
mod padding;
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod places;
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod products;
#[cfg(all(feature = "array", feature = "math", feature = "nn"))]
mod sizes;
