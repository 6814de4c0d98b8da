//! What kernels for all devices have in common: checks of attrs and shapes, and where elements are.
//!
//! An op's checks and their texts are stated once, in these modules, and with them the shapes that follow and the way
//! from elements of the output to those of the inputs. A kernel's own part is to compute.

// As users see the framework.
extern crate kernlink_framework as kernlink;

pub mod broadcast;
pub mod chain;
pub mod channels;
pub mod concat;
pub mod convolution;
pub mod depthwise;
pub mod einsum;
pub mod element_wise;
pub mod fill;
pub mod fusion;
pub mod images;
pub mod indices;
pub mod integers;
pub mod loss;
pub mod pad;
pub mod pooling;
pub mod products;
pub mod random;
pub mod rearranged;
pub mod reduce;
pub mod reshape;
pub mod resize;
pub mod reverse_sequence;
pub mod rows;
pub mod segments;
pub mod sequence;
pub mod slice;
pub mod space;
pub mod split;
pub mod stitch;
pub mod strided;
pub mod training;
pub mod volume;
