//! Memory that the parts of a kernel's work use one after the other.

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::tensor::Tensor;

/// Words that a part of the work needs for itself, in memory that earlier runs used, too: a large vector would be given back to
/// the system each time, and its pages found anew.
#[derive(Default)]
pub(crate) struct WordBuffer {
    words: Option<Tensor>,
}

impl WordBuffer {
    /// So many words; what they are does not follow from anything.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(crate) fn words(&mut self, count: usize) -> Result<&mut [f32]> {
        let words = match self.words.take() {
            Some(words) if words.num_elements() >= count => words,
            _ => Tensor::alloc(DataType::Float, [count])?,
        };
        Ok(&mut self.words.insert(words).as_mut_slice::<f32>()?[..count])
    }
}
