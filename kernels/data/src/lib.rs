//! Datasets and iterators.
//!
//! A [`Dataset`](dataset::Dataset) is a value in a variant tensor; it says how elements are made. It makes
//! [`DatasetIterator`](dataset::DatasetIterator)s, which give one element after the other as futures: no thread is held
//! while one waits. Most datasets are made of one other, by a [`Transform`](transform::Transform), which says what the next
//! element is, what its iterators keep, and how that is saved. What an iterator calls and spawns goes through a
//! [`Cx`](context::Cx), which knows how long anybody is interested.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod ahead;
mod batch;
mod cache;
mod context;
mod dataset;
mod file_cache;
mod files;
mod filter;
mod function;
mod generator;
mod group;
mod interleave;
mod iterate;
mod map;
mod multi_device;
mod order;
mod padded;
mod prefetch;
mod random;
mod resource;
mod restart;
mod saved;
mod several;
mod shuffle;
mod snapshot;
mod snapshot_files;
mod sources;
mod sparse;
mod transform;
mod turn;
mod whole;
mod window;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
