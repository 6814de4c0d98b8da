//! Image files: JPEG, PNG, GIF, BMP and WebP to tensors, and JPEG and PNG of tensors.

mod decode;
mod encode;

pub use decode::*;
pub use encode::*;
