//! Errors that shaders find in elements, such as a divisor of zero.
//!
//! A shader that refuses an element leaves the number of its error in a word of memory. The word is read back along
//! with the next tensor that is, so that nothing waits for it: the error is that of the read-back.

use std::sync::{Mutex, PoisonError};

use kernlink::device::Device as _;
use kernlink::error::{Code, Error, Result};
use kernlink::kernel::RawConstruction;
use kernlink::tensor::Tensor;

use crate::device::{GpuDevice, lock};
use crate::shader::{ProgramBuilder, Scalar};

/// All errors that kernels have announced; their numbers count from 1.
static ERRORS: Mutex<Vec<(Code, String)>> = Mutex::new(Vec::new());

/// The WGSL of `fn refuse()`.
pub(crate) const FUNCTION: &str = "fn refuse() {\n    refusals[0] = params.refusal;\n}\n";

/// Declares what `refuse()` needs: a buffer, after those declared so far, and a parameter.
pub(crate) fn declare(builder: ProgramBuilder) -> ProgramBuilder {
    builder.write("refusals", Scalar::U32).param("refusal", "u32")
}

/// The error with which a kernel refuses elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Refusal(u32);

impl Refusal {
    /// An error of the node.
    pub(crate) fn new(ctx: &RawConstruction<'_>, code: Code, message: &str) -> Refusal {
        let error = (code, format!("node `{}` ({}): {message}", ctx.node, ctx.op.name));
        let mut errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
        let position = errors.iter().position(|known| *known == error).unwrap_or_else(|| {
            errors.push(error);
            errors.len() - 1
        });
        Refusal(position as u32 + 1)
    }

    /// The parameter `refusal`.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// The word of what was recorded since the last read-back.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<Option<Tensor>>);

impl Refusals {
    /// The buffer that [`declare`] declares.
    pub(crate) fn word(&self, gpu: &GpuDevice) -> Result<Tensor> {
        let mut word = lock(&self.0);
        if let Some(word) = &*word {
            return Ok(word.clone());
        }
        let fresh = gpu.to_device(&Tensor::scalar(0u32))?;
        Ok(word.insert(fresh).clone())
    }

    /// The word, if anything that may refuse was recorded; what comes later gets another.
    pub(crate) fn take(&self) -> Option<Tensor> {
        lock(&self.0).take()
    }
}

/// The error whose number was read back.
pub(crate) fn check(word: &Tensor) -> Result<()> {
    let Some(position) = (word.to_scalar::<u32>()? as usize).checked_sub(1) else { return Ok(()) };
    let errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
    Err(match errors.get(position) {
        Some((code, message)) => Error::new(*code, message.clone()),
        None => Error::internal(format!("a shader refused an element with the unknown error {}", position + 1)),
    })
}
