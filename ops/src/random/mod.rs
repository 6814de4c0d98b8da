//! Random numbers, stateful and stateless.
//!
//! | file | what the numbers follow from |
//! |---|---|
//! | `stateful.rs` | a generator inside the kernel, seeded by the attrs `seed` and `seed2` |
//! | `stateless.rs` | a seed that is an input |
//! | `keyed.rs` | a key and a counter that are inputs |
//! | `generator.rs` | a generator that is a variable |
//! | `candidates.rs` | as in `stateful.rs`, classes for losses over few of many |

mod candidates;
mod generator;
mod keyed;
mod stateful;
mod stateless;

pub use candidates::*;
pub use generator::*;
pub use keyed::*;
pub use stateful::*;
pub use stateless::*;
