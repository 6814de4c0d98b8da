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
        Refusal::of((code, format!("node `{}` ({}): {message}", ctx.node, ctx.op.name)))
    }

    fn of(error: (Code, String)) -> Refusal {
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

#[cfg(test)]
mod tests {
    use kernlink::step::block_on;

    use super::*;
    use crate::device::Groups;
    use crate::shader::{Entry, Program, Shader};
    use crate::testing::device;

    #[test]
    fn what_is_refused_fails_what_is_read_next_and_nothing_else() {
        let gpu = device();
        let program = declare(Program::builder("refuse what is odd").read("x", Scalar::U32)).declare(FUNCTION);
        let shader =
            Shader::new(program.build(
                Entry::Elements,
                "fn element(i: u32) {\n    if (x[i] % 2u == 1u) {\n        refuse();\n    }\n}\n",
            ));
        let refusal = Refusal::of((Code::OutOfRange, "an element is odd".to_owned()));
        assert_eq!(refusal, Refusal::of((Code::OutOfRange, "an element is odd".to_owned())), "kept once");
        let other = gpu.to_device(&Tensor::vector(&[7f32; 5]).unwrap()).unwrap();
        let read = || block_on(gpu.to_host(&other)).map(|tensor| tensor.as_slice::<f32>().unwrap().to_vec());
        let look = |elements: [u32; 3], refusal: Refusal| {
            let elements = gpu.to_device(&Tensor::vector(&elements).unwrap()).unwrap();
            let word = gpu.refusals().unwrap();
            gpu.dispatch(&shader, &[&elements, word], &[refusal.number()], Groups::Elements(3)).unwrap();
        };
        let refused = |error: Error| {
            assert_eq!((error.code(), error.message()), (Code::OutOfRange, "an element is odd"));
        };
        look([0, 2, 4], refusal);
        assert_eq!(read().unwrap(), [7.0; 5]);
        look([0, 3, 4], refusal);
        look([0, 2, 4], refusal);
        look([1, 3, 5], Refusal::NONE);
        refused(read().unwrap_err());
        assert_eq!(read().unwrap(), [7.0; 5]);
        look([1, 3, 5], Refusal::NONE);
        gpu.synchronize().unwrap();
        look([0, 2, 5], refusal);
        refused(gpu.synchronize().unwrap_err());
        gpu.synchronize().unwrap();
        assert_eq!(read().unwrap(), [7.0; 5]);
    }
}
