//! Random numbers, bit for bit those of TensorFlow.
//!
//! `philox`, which all devices share, makes random bits, `float` makes numbers of them, `real` those of each dtype.
//! `fill` fills tensors with what a `Distribution` makes of a generator from a
//! `Source`. Everything that draws a varying number of bits an element starts each element at a place of
//! its own, so that results do not depend on the number of threads.
//!
//! What TensorFlow itself computes in an order that depends on its threads (Multinomial, and the truncated normal
//! distributions with parameters, of many elements) is here what it computes on one thread.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod binomial;
mod candidates;
mod divisor;
mod drawn;
mod fill;
mod gamma;
mod generator;
mod index_shuffle;
mod keys;
mod multinomial;
mod poisson;
mod real;
mod shuffle;
mod stochastic_cast;
mod truncated;

use kernlink_geometry::random::{philox, source};

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
