//! The node whose shapes a host wants to know, as a shape function in C sees it.

use std::ffi::c_int;

use kernlink_framework::dtype::DataType;
use kernlink_framework::shape::PartialShape;
use kernlink_framework::{Error, Result};

use super::functions::Host;
use super::status::{Status, text};
use crate::abi::{TF_DimensionHandle, TF_ShapeHandle, TF_ShapeInferenceContext};

/// A node, as long as its shape function runs.
pub(super) struct Node<'s> {
    host: &'static Host,
    ctx: *mut TF_ShapeInferenceContext,
    status: &'s Status,
}

/// A shape of the host's.
pub(super) struct Shape {
    host: &'static Host,
    handle: *mut TF_ShapeHandle,
}

impl Drop for Shape {
    fn drop(&mut self) {
        // SAFETY: the host gave the handle, which is deleted once.
        unsafe { (self.host.TF_DeleteShapeHandle)(self.handle) };
    }
}

/// A dimension of the host's.
struct Dimension {
    host: &'static Host,
    handle: *mut TF_DimensionHandle,
}

impl Drop for Dimension {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { (self.host.TF_DeleteDimensionHandle)(self.handle) };
    }
}

impl<'s> Node<'s> {
    /// The node behind a context, which stays as long as this.
    pub(super) fn new(host: &'static Host, ctx: *mut TF_ShapeInferenceContext, status: &'s Status) -> Node<'s> {
        Node { host, ctx, status }
    }

    /// Leaves the shapes of all outputs unknown.
    pub(super) fn leave_unknown(&self) -> Result<()> {
        // SAFETY: the context is there, as `new` was told; so are all below, and handles as long as their owners.
        self.status.check(|status| unsafe { (self.host.TF_ShapeInferenceContextSetUnknownShape)(self.ctx, status) })
    }

    pub(super) fn num_inputs(&self) -> usize {
        // SAFETY: see `leave_unknown`.
        usize::try_from(unsafe { (self.host.TF_ShapeInferenceContextNumInputs)(self.ctx) }).unwrap_or(0)
    }

    /// The dtype that an attr holds, if the host tells.
    pub(super) fn attr_type(&self, name: &str) -> Option<DataType> {
        let (name, mut dtype) = (text(name), 0);
        let asked = self.status.check(|status| {
            // SAFETY: see `leave_unknown`.
            unsafe { (self.host.TF_ShapeInferenceContext_GetAttrType)(self.ctx, name.as_ptr(), &raw mut dtype, status) }
        });
        asked.ok().and_then(|()| DataType::from_number(dtype))
    }

    fn new_shape(&self) -> Shape {
        // SAFETY: it takes nothing.
        Shape { host: self.host, handle: unsafe { (self.host.TF_NewShapeHandle)() } }
    }

    /// The shape of an input.
    pub(super) fn input(&self, index: usize) -> Result<Shape> {
        let shape = self.new_shape();
        self.status.check(|status| {
            // SAFETY: see `leave_unknown`.
            unsafe { (self.host.TF_ShapeInferenceContextGetInput)(self.ctx, index as c_int, shape.handle, status) }
        })?;
        Ok(shape)
    }

    /// What is known of a shape.
    pub(super) fn known_of(&self, shape: &Shape) -> Result<PartialShape> {
        // SAFETY: see `leave_unknown`.
        let rank = unsafe { (self.host.TF_ShapeInferenceContextRank)(self.ctx, shape.handle) };
        if rank < 0 {
            return Ok(PartialShape::unknown());
        }
        // SAFETY: it takes nothing.
        let dim = Dimension { host: self.host, handle: unsafe { (self.host.TF_NewDimensionHandle)() } };
        let sizes = (0..rank).map(|axis| {
            // SAFETY: see `leave_unknown`; there are so many dimensions.
            unsafe {
                (self.host.TF_ShapeInferenceContextDim)(self.ctx, shape.handle, axis, dim.handle);
                match (self.host.TF_DimensionHandleValueKnown)(dim.handle) {
                    0 => -1,
                    _ => (self.host.TF_DimensionHandleValue)(dim.handle),
                }
            }
        });
        PartialShape::from_dims(&sizes.collect::<Vec<_>>()).map_err(|error| Error::internal(error.message()))
    }

    pub(super) fn scalar(&self) -> Shape {
        // SAFETY: see `leave_unknown`.
        Shape { host: self.host, handle: unsafe { (self.host.TF_ShapeInferenceContextScalar)(self.ctx) } }
    }

    /// The shape of a vector of this size, if it is known.
    pub(super) fn vector(&self, size: Option<usize>) -> Shape {
        // A size beyond all numbers of dimensions, -1 as a number with a sign, is an unknown one.
        let size = size.unwrap_or(usize::MAX);
        // SAFETY: see `leave_unknown`.
        let handle = unsafe { (self.host.TF_ShapeInferenceContextVectorFromSize)(self.ctx, size) };
        Shape { host: self.host, handle }
    }

    /// The shape of one dimension that is this one of another shape.
    pub(super) fn axis(&self, shape: &Shape, axis: usize) -> Result<Shape> {
        let (part, axis) = (self.new_shape(), axis as i64);
        self.status.check(|status| {
            let subshape = self.host.TF_ShapeInferenceContextSubshape;
            // SAFETY: see `leave_unknown`.
            unsafe { subshape(self.ctx, shape.handle, axis, axis + 1, part.handle, status) }
        })?;
        Ok(part)
    }

    /// The dimensions of both.
    pub(super) fn concatenate(&self, first: &Shape, second: &Shape) -> Result<Shape> {
        let whole = self.new_shape();
        self.status.check(|status| {
            let concatenate = self.host.TF_ShapeInferenceContextConcatenateShapes;
            // SAFETY: see `leave_unknown`.
            unsafe { concatenate(self.ctx, first.handle, second.handle, whole.handle, status) }
        })?;
        Ok(whole)
    }

    pub(super) fn set_output(&self, index: usize, shape: &Shape) -> Result<()> {
        self.status.check(|status| {
            // SAFETY: see `leave_unknown`.
            unsafe { (self.host.TF_ShapeInferenceContextSetOutput)(self.ctx, index as c_int, shape.handle, status) }
        })
    }
}
