//! Arguments that are lists of tensors, and outputs made of one of several inputs.

use std::ops::{Index, Range};

use super::{KernelContext, RawContext};
use crate::ensure;
use crate::error::Result;
use crate::op::{InputArg, InputListArg, Op, OutputArg, OutputListArg};
use crate::shape::Shape;
use crate::tensor::Tensor;

impl RawContext<'_> {
    /// Sets the outputs of a range, in order.
    ///
    /// # Errors
    /// INTERNAL if the tensors are not as many; as [`RawContext::set_output_at`].
    #[track_caller]
    pub fn set_outputs_at(
        &mut self,
        range: Range<usize>,
        tensors: impl IntoIterator<Item = Tensor, IntoIter: ExactSizeIterator>,
    ) -> Result<()> {
        let tensors = tensors.into_iter();
        ensure!(
            tensors.len() == range.len(),
            Internal,
            "{} tensors are set as {} outputs, from {} on",
            tensors.len(),
            range.len(),
            range.start
        );
        for (index, tensor) in range.zip(tensors) {
            self.set_output_at(index, tensor)?;
        }
        Ok(())
    }
}

impl<O: Op> KernelContext<'_, O> {
    /// The tensors of a list input.
    pub fn input_list(&self, input: InputListArg<O>) -> InputList<'_> {
        InputList { tensors: &self.raw.inputs[self.input_range(input)] }
    }

    /// The positions of a list input among the node's inputs.
    pub fn input_range(&self, input: InputListArg<O>) -> Range<usize> {
        self.raw.signature.input_ranges[input.index()].clone()
    }

    /// The positions of a list output among the node's outputs.
    pub fn output_range(&self, output: OutputListArg<O>) -> Range<usize> {
        self.raw.signature.output_ranges[output.index()].clone()
    }

    /// Sets all outputs of a list.
    ///
    /// # Errors
    /// INTERNAL if the tensors are not as many as the list is long; as [`KernelContext::set_output`].
    #[track_caller]
    pub fn set_output_list(
        &mut self,
        output: OutputListArg<O>,
        tensors: impl IntoIterator<Item = Tensor, IntoIter: ExactSizeIterator>,
    ) -> Result<()> {
        let range = self.output_range(output);
        self.raw.set_outputs_at(range, tensors)
    }

    /// The first of the inputs that an output of this shape can take the place of, else a tensor with arbitrary values;
    /// see [`RawContext::forward_input_or_allocate_output_at`].
    ///
    /// # Errors
    /// As [`KernelContext::allocate_output`].
    #[track_caller]
    pub fn forward_first_or_allocate_output(
        &mut self,
        candidates: &[InputArg<O>],
        output: OutputArg<O>,
        shape: &Shape,
    ) -> Result<Tensor> {
        let output = self.output_position(output);
        let forward = |&input| {
            let input = self.input_position(input);
            self.raw.forward_input_at(input, output, shape)
        };
        match candidates.iter().find_map(forward) {
            Some(tensor) => Ok(tensor),
            None => self.raw.allocate_output_at(output, shape),
        }
    }
}

/// The tensors of a list input, by index.
#[derive(Clone, Copy)]
pub struct InputList<'a> {
    tensors: &'a [Option<Tensor>],
}

impl<'a> InputList<'a> {
    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// Tensor `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<&'a Tensor> {
        self.tensors.get(index)?.as_ref()
    }

    /// The tensors, in order.
    ///
    /// # Panics
    /// If the kernel has taken one of them, or takes dead inputs and one is dead.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a Tensor> + Clone + use<'a> {
        self.tensors.iter().map(|slot| slot.as_ref().expect("list inputs are not taken one by one"))
    }
}

impl Index<usize> for InputList<'_> {
    type Output = Tensor;
    fn index(&self, index: usize) -> &Tensor {
        self.get(index).expect("the index is below len()")
    }
}
