//! What CPU kernels of several families share.
//!
//! No kernel is here. Each family is a crate of its own, so that an edit there rebuilds little; what is here rebuilds them all.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

pub mod alarm;
#[cfg(target_arch = "x86_64")]
mod amx;
pub mod blocked;
mod complex_product;
pub mod element;
pub mod epilogue;
pub mod event_file;
#[cfg(feature = "examples")]
pub mod example;
pub mod extremes;
pub mod farmhash;
#[expect(clippy::excessive_precision, reason = "coefficients as published")]
pub mod fast;
pub mod files;
pub mod float16;
pub mod fused;
pub mod gather;
pub mod gemm;
pub mod gemv;
pub mod hash;
pub mod hash64;
pub mod histogram;
pub mod int8;
pub mod mersenne;
pub mod number;
pub mod optional;
pub mod outer;
pub mod panels;
pub mod parsed;
pub mod product;
pub mod ragged;
pub mod random_floats;
#[cfg(feature = "records")]
pub mod records;
pub mod remembered;
pub mod rows;
pub mod single;
pub mod siphash;
#[cfg(feature = "records")]
pub mod snappy;
pub mod strided;
pub mod summarize;
pub mod tables;
pub mod tensor_message;
pub mod tensors;
pub mod tile;
pub mod truncate;
pub mod turn;
pub mod vector;
pub mod wav;
pub mod wire;
mod word_buffer;
