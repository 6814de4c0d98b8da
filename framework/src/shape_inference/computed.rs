//! What kernels compute, held against what the shape functions of their ops say; for debug builds.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{InferenceContext, ShapeFn};
use crate::attr::AttrMap;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::op::{OpDef, Signature};
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// A node whose kernel is held against its op's shape function.
pub(crate) struct Inferred {
    shape_fn: ShapeFn,
    attrs: AttrMap,
    /// How many calls are still looked at: what is wrong shows in the first ones, and loops are not to take long.
    left: AtomicU32,
}

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
    pub(crate) fn of_call(
        &self,
        op: &OpDef,
        signature: &Signature,
        inputs: &[Option<Tensor>],
    ) -> Option<Vec<PartialShape>> {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
        let known = |input: &Option<Tensor>| {
            let tensor = input.as_ref()?;
            // In a graph, shape functions look behind handles.
            if tensor.reference().is_some() || tensor.dtype() == DataType::Resource {
                return Some((PartialShape::unknown(), None));
            }
            let is_small = tensor.num_bytes() <= Inferred::SMALL && tensor.device_memory().is_none();
            let bytes = tensor.bytes().ok().filter(|_| is_small);
            // A copy, so that the kernel may still be the only owner of its input.
            let value = bytes.and_then(|bytes| Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes).ok());
            Some((tensor.shape().into(), value))
        };
        let (shapes, values) =
            inputs.iter().map(known).collect::<Option<(Vec<PartialShape>, Vec<Option<Tensor>>)>>()?;
        let mut context = InferenceContext::new(op, &self.attrs, signature, shapes, values);
        context.run(self.shape_fn).ok()?;
        (!context.outputs_are_promised()).then(|| context.into_outputs())
    }
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
