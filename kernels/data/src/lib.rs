//! Datasets and iterators; records of files in random order.
//!
//! A `Dataset` is a value in a variant tensor; it says how elements are made. It makes
//! `DatasetIterator`s, which give one element after the other as futures: no thread is held
//! while one waits. Most datasets are made of one other, by a `Transform`, which says what the next
//! element is, what its iterators keep, and how that is saved. What an iterator calls and spawns goes through a
//! `Cx`, which knows how long anybody is interested.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod auto_shard;
mod batch;
mod batch_size;
mod brought;
mod cache;
mod compressed;
mod context;
mod csv;
mod dataset;
mod distribute;
mod examples;
mod fastest;
mod file_cache;
mod files;
mod filter;
mod flatten;
mod function;
mod generator;
mod global_shuffle;
mod graphs;
mod group;
mod hash;
mod interleave;
mod iterate;
mod last;
mod map;
mod map_defun;
mod multi_device;
mod node;
mod nodes;
mod order;
mod padded;
mod parallel_map;
mod prefetch;
mod random;
mod record_input;
mod resource;
mod restart;
mod saved;
mod several;
mod shard_graph;
mod shuffle;
mod sinks;
mod sleep;
mod snapshot;
mod snapshot_chunks;
mod snapshot_files;
mod snapshot_legacy;
mod snapshot_run;
mod snapshot_v2;
mod snapshot_write;
mod sources;
mod sparse;
mod stats;
mod status_text;
mod transform;
mod turn;
mod whole;
mod window;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
