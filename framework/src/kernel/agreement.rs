//! Checks that a kernel makes of all of its node's inputs and outputs together.

use super::{RawConstruction, RawContext};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::shape::Shape;

impl RawConstruction<'_> {
    /// Checks the dtypes of the node's inputs and outputs. References count as their dtypes: where one is needed, ask
    /// [`Signature::ensure_types`](crate::op::Signature::ensure_types).
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they are others.
    #[track_caller]
    pub fn match_signature(&self, inputs: &[DataType], outputs: &[DataType]) -> Result<()> {
        self.signature.ensure_dtypes(inputs, outputs)
    }
}

impl RawContext<'_> {
    /// See [`RawConstruction::match_signature`].
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the dtypes are others.
    #[track_caller]
    pub fn match_signature(&self, inputs: &[DataType], outputs: &[DataType]) -> Result<()> {
        self.signature().ensure_dtypes(inputs, outputs)
    }

    /// Checks that all inputs have one shape. The shape of a reference is that of the value behind it.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if one of them has another shape than the first; FAILED_PRECONDITION if one refers to a variable that
    /// was not initialised; INVALID_ARGUMENT if this thread [holds one](crate::tensor::TensorRef::value); as
    /// [`RawContext::input_at`].
    #[track_caller]
    pub fn ensure_inputs_have_same_shape(&self) -> Result<()> {
        let mut first: Option<Shape> = None;
        for index in 0..self.num_inputs() {
            let input = self.input_at(index)?;
            let behind =
                input.reference().map(|reference| Ok::<_, Error>(reference.value()?.shape().clone())).transpose()?;
            let shape = behind.as_ref().unwrap_or(input.shape());
            match &first {
                None => first = Some(shape.clone()),
                Some(first) if first == shape => {}
                Some(first) => return Err(self.differs(first, index, shape)),
            }
        }
        Ok(())
    }

    #[cold]
    #[track_caller]
    fn differs(&self, first: &Shape, index: usize, shape: &Shape) -> Error {
        Error::invalid_argument(format!(
            "Inputs to operation {} of type {} must have the same size and shape.  Input 0: {first} != input {index}: {shape}",
            self.node(),
            self.op().name
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{InOutType, OpDef, Signature};
    use crate::tensor::{Tensor, TensorRef};

    fn signature(inputs: &[InOutType], outputs: &[InOutType]) -> Signature {
        Signature { inputs: inputs.to_vec(), outputs: outputs.to_vec(), ..Signature::default() }
    }

    #[test]
    fn signatures_are_told_apart_by_dtype_and_reference() {
        let (float, int) = (InOutType::from(DataType::Float), InOutType::from(DataType::Int32));
        let float_ref = InOutType { is_ref: true, ..float };
        let own = signature(&[int, float_ref], &[float]);
        assert!(own.ensure_types(&[int, float], &[float]).is_ok());
        assert!(own.ensure_types(&[int, float_ref], &[float]).is_ok());
        for (inputs, outputs) in [
            (&[int][..], &[float][..]),
            (&[float, float], &[float]),
            (&[int, float], &[float_ref]),
            (&[int, float], &[]),
        ] {
            assert!(own.ensure_types(inputs, outputs).is_err());
        }
        let error = own.ensure_types(&[float], &[]).unwrap_err();
        assert_eq!(error.message(), "Signature mismatch, have: int32, float_ref->float expected: float->");
        let mut inputs = [Some(Tensor::scalar(1i32)), Some(Tensor::scalar(1f32))];
        let mut outputs = [None];
        let ctx = RawContext::new("n", &OpDef::EMPTY, &own, &mut inputs, &mut outputs, None);
        assert!(ctx.match_signature(&[DataType::Int32, DataType::Float], &[DataType::Float]).is_ok());
        assert!(ctx.match_signature(&[DataType::Int32], &[DataType::Float]).is_err());
    }

    #[test]
    fn inputs_of_one_shape_are_told_from_others() {
        let float = InOutType::from(DataType::Float);
        let signature = signature(&[float; 3], &[]);
        let check = |last: Tensor| {
            let reference = TensorRef::new(DataType::Float);
            reference.set(Tensor::zeros(DataType::Float, [2, 3]).unwrap()).unwrap();
            let first = Tensor::zeros(DataType::Float, [2, 3]).unwrap();
            let mut inputs = [Some(first), Some(Tensor::from_reference(reference)), Some(last)];
            let ctx = RawContext::new("n", &OpDef::EMPTY, &signature, &mut inputs, &mut [], None);
            ctx.ensure_inputs_have_same_shape()
        };
        assert!(check(Tensor::zeros(DataType::Float, [2, 3]).unwrap()).is_ok());
        let error = check(Tensor::zeros(DataType::Float, [3, 2]).unwrap()).unwrap_err();
        assert_eq!(error.code(), crate::Code::InvalidArgument);
        assert!(error.message().ends_with("must have the same size and shape.  Input 0: [2,3] != input 2: [3,2]"));
        let unset = Tensor::from_reference(TensorRef::new(DataType::Float));
        assert_eq!(check(unset).unwrap_err().code(), crate::Code::FailedPrecondition);
    }

    #[test]
    fn shapes_are_compared_though_a_model_gives_one_variable_twice() {
        let reference = TensorRef::new(DataType::Float);
        reference.set(Tensor::zeros(DataType::Float, [2]).unwrap()).unwrap();
        let signature = signature(&[InOutType::from(DataType::Float); 2], &[]);
        let mut inputs = [(); 2].map(|()| Some(Tensor::from_reference(reference.clone())));
        let ctx = RawContext::new("n", &OpDef::EMPTY, &signature, &mut inputs, &mut [], None);
        ctx.ensure_inputs_have_same_shape().unwrap();
        let guard = reference.value().unwrap();
        let error = ctx.ensure_inputs_have_same_shape().unwrap_err();
        assert!(error.code() == crate::Code::InvalidArgument && error.message().contains("this thread"), "{error}");
        assert!(ctx.referred_at(0).unwrap_err().message().contains("this thread"));
        drop(guard);
        ctx.ensure_inputs_have_same_shape().unwrap();
    }
}
