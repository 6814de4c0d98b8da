//! What the functions of a registration see of a run.

use std::ops::Deref;

use crate::error::{Error, Result};
use crate::op::{InputArg, Op, OutputArg};
use crate::shape::Shape;
use crate::tensor::Tensor;

/// A run of a shader that is about to be recorded.
#[derive(Clone, Copy)]
pub struct RawLaunch<'a> {
    /// The inputs, in order. The elements of those that are not in host memory cannot be read.
    pub inputs: &'a [&'a Tensor],
    /// The outputs' shapes; empty as long as they are not known.
    pub outputs: &'a [Shape],
}

/// A run of a kernel of op `O` that is about to be recorded.
pub struct Launch<'a, O: Op> {
    attrs: &'a O::Attrs,
    raw: RawLaunch<'a>,
}

impl<'a, O: Op> Launch<'a, O> {
    /// A run of a node with these attrs.
    pub fn new(attrs: &'a O::Attrs, raw: RawLaunch<'a>) -> Launch<'a, O> {
        Launch { attrs, raw }
    }

    /// The node's attrs.
    pub fn attrs(&self) -> &'a O::Attrs {
        self.attrs
    }

    /// An input. The elements of one that is not in host memory cannot be read.
    pub fn input(&self, input: InputArg<O>) -> &'a Tensor {
        self.raw.inputs[input.index()]
    }

    /// The shape of an input.
    pub fn input_shape(&self, input: InputArg<O>) -> &'a Shape {
        self.input(input).shape()
    }

    /// The shape of an output.
    ///
    /// # Errors
    /// INTERNAL within the function that says what the shapes are.
    pub fn output_shape(&self, output: OutputArg<O>) -> Result<&'a Shape> {
        let shape = self.raw.outputs.get(output.index());
        shape.ok_or_else(|| Error::internal("the shapes of the outputs are not known yet"))
    }
}

impl<'a, O: Op> Deref for Launch<'a, O> {
    type Target = RawLaunch<'a>;
    fn deref(&self) -> &RawLaunch<'a> {
        &self.raw
    }
}

/// The value of a parameter.
pub trait Word {
    /// Its bits.
    fn word(self) -> u32;
}

impl Word for u32 {
    fn word(self) -> u32 {
        self
    }
}

impl Word for i32 {
    fn word(self) -> u32 {
        self as u32
    }
}

impl Word for f32 {
    fn word(self) -> u32 {
        self.to_bits()
    }
}

/// The bits of a parameter that a function says. For what `#[register_kernel]` writes.
///
/// # Errors
/// Those of the function.
pub fn word<O: Op, W: Word, F: FnOnce(&Launch<'_, O>) -> Result<W>>(launch: &Launch<'_, O>, value: F) -> Result<u32> {
    value(launch).map(Word::word)
}

/// The workgroups that a function says. For what `#[register_kernel]` writes.
///
/// # Errors
/// Those of the function.
pub fn groups<O: Op, F: FnOnce(&Launch<'_, O>) -> Result<[u32; 3]>>(
    launch: &Launch<'_, O>,
    groups: F,
) -> Result<[u32; 3]> {
    groups(launch)
}

/// The shapes of an op's outputs.
pub trait IntoShapes {
    /// All of them, in order.
    fn into_shapes(self) -> Vec<Shape>;
}

impl IntoShapes for Shape {
    fn into_shapes(self) -> Vec<Shape> {
        vec![self]
    }
}

impl<const N: usize> IntoShapes for [Shape; N] {
    fn into_shapes(self) -> Vec<Shape> {
        self.into()
    }
}

impl IntoShapes for Vec<Shape> {
    fn into_shapes(self) -> Vec<Shape> {
        self
    }
}

/// The shapes of the outputs that a function says. For what `#[register_kernel]` writes.
///
/// # Errors
/// Those of the function.
pub fn shapes<O: Op, S: IntoShapes, F: FnOnce(&Launch<'_, O>) -> Result<S>>(
    launch: &Launch<'_, O>,
    shapes: F,
) -> Result<Vec<Shape>> {
    shapes(launch).map(IntoShapes::into_shapes)
}
