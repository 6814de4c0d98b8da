//! Shape tests of declared ops, with the shape function that they were registered with.

use kernlink::attr::AttrValue;
use kernlink::collect::linked_ops;
use kernlink::op::Op;
use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};

/// A node to infer the shapes of.
pub(crate) struct Inference(ShapeTest);

/// A node of op `O`.
#[track_caller]
pub(crate) fn infer<O: Op>() -> Inference {
    let entry = linked_ops().find(|entry| std::ptr::eq(entry.def, O::DEF)).expect("the op is registered");
    Inference(ShapeTest::of::<O>(entry.shape_fn.expect("the op has a shape function")))
}

impl Inference {
    /// Sets an attr.
    pub(crate) fn attr(self, name: &str, value: impl Into<AttrValue>) -> Inference {
        Inference(self.0.attr(name, value))
    }

    /// Makes an input a constant.
    #[cfg(any(feature = "array", feature = "math"))]
    pub(crate) fn tensor(self, index: usize, value: kernlink::tensor::Tensor) -> Inference {
        Inference(self.0.input_tensor(index, value))
    }

    #[track_caller]
    pub(crate) fn ok(self, inputs: &str, outputs: &str) {
        infer_ok(&self.0, inputs, outputs);
    }

    #[track_caller]
    pub(crate) fn error(self, message: &str, inputs: &str) {
        infer_error(message, &self.0, inputs);
    }
}
