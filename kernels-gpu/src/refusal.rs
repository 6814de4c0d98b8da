//! Errors that shaders find in elements, such as a divisor of zero.
//!
//! A shader that refuses an element leaves the number of its error in a word of memory. The word is read back along with
//! the next tensor that is, so that nothing waits for it: the error is that of the read-back. What follows the refused
//! element on the device runs all the same, and a variable keeps what else was written to it.
//!
//! TensorFlow's kernels for GPUs say nothing of such elements: they read 0 through an index that is out of range, and
//! write nothing through it. Here the elements are those, and there is the error that the processor's kernels have.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kernlink::device::Device as _;
use kernlink::error::{Code, Error, Result};
use kernlink::kernel::RawConstruction;
use kernlink::tensor::Tensor;

use crate::device::GpuDevice;
use crate::memory::{Buffer, GpuMemory};
use crate::shader::{ProgramBuilder, Scalar};

/// All errors that kernels have announced; their numbers count from 1. Kernels of one node in several plans share one.
static ERRORS: Mutex<Vec<(Code, String)>> = Mutex::new(Vec::new());

/// The WGSL of `fn refuse()`.
pub(crate) const FUNCTION: &str =
    "fn refuse() {\n    if (params.refusal != 0u) {\n        refusals[0] = params.refusal;\n    }\n}\n";

/// Declares what `refuse()` needs: a buffer, after those declared so far, and a parameter.
pub(crate) fn declare(builder: ProgramBuilder) -> ProgramBuilder {
    builder.write("refusals", Scalar::U32).param("refusal", "u32").refusing()
}

/// The error with which a kernel refuses elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Refusal(u32);

impl Refusal {
    /// Of kernels that are to leave out what they would refuse.
    pub(crate) const NONE: Refusal = Refusal(0);

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

/// The word of a device.
#[derive(Default)]
pub(crate) struct Refusals(OnceLock<(Tensor, Arc<Buffer>)>);

impl Refusals {
    /// The buffer that [`declare`] declares.
    pub(crate) fn word(&self, gpu: &GpuDevice) -> Result<&Tensor> {
        if let Some((word, _)) = self.0.get() {
            return Ok(word);
        }
        let word = gpu.to_device(&Tensor::scalar(0u32))?;
        let memory = word.device_memory().and_then(|memory| memory.downcast_ref::<GpuMemory>());
        let Some(buffer) = memory.map(|memory| memory.buffer().clone()) else {
            return Err(Error::internal("the GPU keeps its word of refusals elsewhere"));
        };
        Ok(&self.0.get_or_init(|| (word, buffer)).0)
    }

    /// Where the word is, if it was ever asked for.
    pub(crate) fn buffer(&self) -> Option<&Buffer> {
        self.0.get().map(|(_, buffer)| &**buffer)
    }
}

/// Fails with the error whose number was read back, if any was.
pub(crate) fn check(number: u32) -> Result<()> {
    let Some(position) = (number as usize).checked_sub(1) else { return Ok(()) };
    let errors = ERRORS.lock().unwrap_or_else(PoisonError::into_inner);
    Err(match errors.get(position) {
        Some((code, message)) => Error::new(*code, message.clone()),
        None => Error::internal(format!("a shader refused an element with the unknown error {number}")),
    })
}
