//! Element-wise ops.
//!
//! A function of one or two elements is a few lines: `unary` and `binary` make kernels of them. One `driver`
//! finds shapes and buffers and splits the work for all of them; `broadcast` says which elements meet.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod binary;
mod blocks;
mod broadcast;
mod driver;
#[cfg(feature = "math")]
mod easy;
#[cfg_attr(
    not(any(feature = "math", feature = "nn")),
    allow(dead_code, reason = "what has three arguments is part of these")
)]
mod function;
mod grad;
mod ternary;
mod unary;

#[cfg(feature = "nn")]
mod activation;
#[cfg(feature = "nn")]
mod activation_grad;

#[cfg(feature = "math")]
mod add_n;
#[cfg(feature = "math")]
mod arithmetic;
#[cfg(feature = "math")]
mod basic;
#[cfg(feature = "math")]
mod bessel;
#[cfg(feature = "math")]
mod beta;
#[cfg(feature = "math")]
mod bitcast;
#[cfg(feature = "math")]
mod bits;
#[cfg(feature = "math")]
mod clip;
#[cfg(feature = "math")]
mod compare;
#[cfg(feature = "math")]
mod complex;
#[cfg(feature = "math")]
mod division;
#[cfg(feature = "math")]
mod function_grad;
#[cfg(feature = "math")]
mod fused;
#[cfg(feature = "math")]
mod gamma;
#[cfg(feature = "math")]
mod integrals;
#[cfg(feature = "math")]
mod objects;
#[cfg(feature = "math")]
mod parts;
#[cfg(feature = "math")]
mod power;
#[cfg(feature = "math")]
mod quantile;
#[cfg(feature = "math")]
mod select;
#[cfg(feature = "math")]
mod special;
#[cfg(feature = "math")]
mod strings;
#[cfg(feature = "math")]
mod transcendental;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
