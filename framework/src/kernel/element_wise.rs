//! What a kernel says of itself if it computes each element by itself.

use std::any::Any;

/// What a kernel computes of elements that are in the same place.
///
/// A kernel has one if its inputs, one or two, and its only output have one dtype, each element of the output is a function
/// of those of the inputs in the same place, and it fails for nothing but shapes. The pass `fuse-element-wise` then makes one
/// node of several such nodes.
#[derive(Clone, Copy)]
pub struct ElementWise {
    /// The attr, a float, that is one more argument of the function.
    pub parameter: Option<&'static str>,
    /// The function, of the type that the device's kernel of `_FusedElementWise` takes.
    pub function: &'static (dyn Any + Send + Sync),
}
