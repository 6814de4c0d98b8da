//! Image files: JPEG, PNG, GIF, BMP, WebP.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

/// Computes values by instructions of SSE2. Those that access memory have an `unsafe` of their own.
#[cfg(target_arch = "x86_64")]
macro_rules! sse2 {
    ($body:expr) => {
        // SAFETY: the instructions are SSE2's, which every x86-64 has, and none accesses memory.
        unsafe { $body }
    };
}

/// Instructions of AVX2 on values of types that only code behind [`lanes::are_two`] makes.
#[cfg(target_arch = "x86_64")]
macro_rules! avx2 {
    ($body:expr) => {
        // SAFETY: whoever has or makes a value runs where AVX2 is; no instruction accesses memory.
        unsafe { $body }
    };
}

mod bmp;
#[cfg(test)]
mod broken;
mod decode;
mod encode;
mod format;
mod gif;
mod jpeg;
#[cfg(feature = "jxl")]
mod jxl;
mod lanes;
mod png;
mod summary;
mod upsample;
mod webp;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
