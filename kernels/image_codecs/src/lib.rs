//! Image files: JPEG, PNG, GIF, BMP, WebP.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

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
