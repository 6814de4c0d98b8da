//! Images: detection, crops, sizes, colours, boxes.

// The macros' output names the framework as users see it.
extern crate kernlink_framework as kernlink;

mod adjust;
mod color;
mod combined;
mod contrast;
mod crop;
mod crop_grad;
mod draw;
mod glimpse;
mod overlap;
mod pixel;
mod resize_area;
mod resize_bicubic;
mod sample;
mod scale;
mod spans;
mod suppression;
mod ties;
mod transform;

kernlink::provider!(kernels = kernlink_macros::registered_kernels!(), part_of = "kernlink-kernels");
