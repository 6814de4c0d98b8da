//! What kernels compute, held against what the shape functions of their ops say: in debug builds, and where ops are tested.

#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicU32, Ordering};

use super::{InferenceContext, ShapeFn};
use crate::attr::AttrMap;
use crate::dtype::DataType;
use crate::error::{Error, Result, catch_panic};
use crate::op::{OpDef, Signature};
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// A node whose kernel is held against its op's shape function.
#[cfg(debug_assertions)]
pub(crate) struct Inferred {
    shape_fn: ShapeFn,
    attrs: AttrMap,
    /// How many calls are still looked at: what is wrong shows in the first ones, and loops are not to take long.
    left: AtomicU32,
}

#[cfg(debug_assertions)]
impl Inferred {
    const CALLS: u32 = 8;

    /// Inputs of at most so many bytes are known by their values.
    const SMALL: usize = 512;

    /// `None` for an op without a shape function.
    pub(crate) fn new(shape_fn: Option<ShapeFn>, attrs: &AttrMap) -> Option<Box<Inferred>> {
        let left = Inferred::CALLS.into();
        Some(Box::new(Inferred { shape_fn: shape_fn?, attrs: attrs.clone(), left }))
    }

    /// The shapes that the outputs of a call must have; `None` if that is not to be known. A shape function that refuses
    /// the inputs says nothing: feeds may have other shapes than the graph says, and then the kernel decides.
    ///
    /// # Errors
    /// INTERNAL if the shape function panics.
    pub(crate) fn of_call(
        &self,
        op: &OpDef,
        signature: &Signature,
        inputs: &[Option<Tensor>],
    ) -> Result<Option<Vec<PartialShape>>> {
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err() {
            return Ok(None);
        }
        // A copy, so that the kernel may still be the only owner of its input.
        let copy = |tensor: &Tensor| match tensor.num_bytes() <= Inferred::SMALL {
            true => Tensor::from_bytes(tensor.dtype(), tensor.shape(), tensor.bytes().ok()?).ok(),
            false => None,
        };
        Ok(infer_call(self.shape_fn, (op, signature, &self.attrs), inputs, copy)?.unwrap_or_default())
    }
}

/// What a shape function says of the outputs of a call: the shapes that they must have, `None` if that is not to be known, or
/// why it refuses the inputs.
pub(crate) type Said = Result<Option<Vec<PartialShape>>>;

/// What a shape function says of a call of a node with this op, signature and attrs. `value` gives what it may know of an
/// input's elements.
///
/// # Errors
/// INTERNAL if it panics.
pub(crate) fn infer_call(
    shape_fn: ShapeFn,
    (op, signature, attrs): (&OpDef, &Signature, &AttrMap),
    inputs: &[Option<Tensor>],
    value: impl Fn(&Tensor) -> Option<Tensor>,
) -> Result<Said> {
    let known = |input: &Option<Tensor>| {
        let tensor = input.as_ref()?;
        // In a graph, shape functions look behind handles.
        if tensor.reference().is_some() || tensor.dtype() == DataType::Resource {
            return Some((PartialShape::unknown(), None));
        }
        let value = if tensor.device_memory().is_none() { value(tensor) } else { None };
        Some((tensor.shape().into(), value))
    };
    let known: Option<(Vec<PartialShape>, Vec<Option<Tensor>>)> = inputs.iter().map(known).collect();
    let Some((shapes, values)) = known else { return Ok(Ok(None)) };
    let mut context = InferenceContext::new(op, attrs, signature, shapes, values);
    let said = catch_panic("the shape function", || Ok(context.run(shape_fn)))?;
    Ok(said.map(|()| (!context.outputs_are_promised()).then(|| context.into_outputs())))
}

/// Refuses outputs of other shapes than were inferred. A bit of `unused` stands for an output that nothing takes, whatever
/// the kernel makes of it. Handles are scalars, of which TensorFlow's shape functions say `[2]` as of old.
///
/// # Errors
/// INTERNAL.
pub(crate) fn check_outputs(
    op: &OpDef,
    inferred: &[PartialShape],
    outputs: &[Option<Tensor>],
    unused: u64,
) -> Result<()> {
    for (index, (output, shape)) in outputs.iter().zip(inferred).enumerate() {
        let is_value = |tensor: &&Tensor| tensor.reference().is_none() && tensor.dtype() != DataType::Resource;
        let Some(tensor) = output.as_ref().filter(is_value) else { continue };
        let is_unused = index < 64 && unused >> index & 1 == 1;
        if !is_unused && !shape.accepts(tensor.shape()) {
            return Err(Error::internal(format!(
                "the shape function of {} gives {shape} for output {index}, and the kernel {}: one of them is wrong",
                op.name,
                tensor.shape()
            )));
        }
    }
    Ok(())
}
