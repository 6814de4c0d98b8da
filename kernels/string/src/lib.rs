//! Strings.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod arena;
mod base64;
mod bytes;
mod characters;
mod encoding;
mod hash;
mod join;
mod map;
mod ngrams;
mod number;
mod pattern;
mod raw;
mod re2;
mod split;
mod text;
mod unicode;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
