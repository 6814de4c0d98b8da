//! JPEG files. The libraries that read them give no coefficients and have transforms of their own, so that none gives the samples
//! that TensorFlow gives; this follows libjpeg's public description, step by step, to the last bit.

mod arithmetic;
mod codes;
mod coefficients;
mod color;
mod decode;
mod encode;
mod entropy;
mod fdct;
mod header;
mod huffman;
mod idct;
mod planes;
mod progressive;
mod rows;
mod scans;
mod smooth;
mod source;

pub(crate) use decode::{Decoder, Options, shape};
pub(crate) use encode::{EncodeOptions, encode};
pub(crate) use source::Stop;
