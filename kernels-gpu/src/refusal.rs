//! Errors that shaders find in elements, such as a divisor of zero.
//!
//! A shader that refuses an element leaves the number of its error in a word of memory that belongs to its step. The words
//! are read back along with the next tensor that is, whoever's that is, and errors are kept for their steps, which ask as they
//! end: nothing else waits for them. What follows the refused element on the device runs all the same, and a variable
//! keeps what else was written to it.
//!
//! TensorFlow's kernels for GPUs say nothing of such elements: they read 0 through an index that is out of range, and
//! write nothing through it. Here the elements are those, and there is the error that the processor's kernels have.

use std::sync::{Arc, LazyLock, Mutex, OnceLock, Weak};

use kernlink::device::Device as _;
use kernlink::error::{Code, Error, Result};
use kernlink::kernel::RawConstruction;
use kernlink::step::Waiters;
use kernlink::tensor::Tensor;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::device::{Gpu, GpuDevice, lock};
use crate::memory::{Buffer, GpuMemory};
use crate::shader::{ProgramBuilder, Scalar};

/// All errors that kernels have announced.
static ERRORS: LazyLock<Mutex<Errors>> = LazyLock::new(Mutex::default);

/// So many errors may name their nodes. Those that come later name the op alone: a process that loads models without end
/// keeps no more of them than there are kernels.
const NAMED: usize = 1 << 16;

/// The WGSL of `fn refuse()`.
pub(crate) const FUNCTION: &str = include_str!("refuse.wgsl");

/// The bits of the parameter `refusal` that are the error's number; those above are the step's place among the words.
const NUMBER_BITS: u32 = 26;

/// How many words there are. The first is for what belongs to no step, or to one for which there was no other.
const PLACES: usize = 64;

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
        lock(&ERRORS).refusal(NAMED, code, (ctx.node, &ctx.op.name), message)
    }

    /// The parameter `refusal`.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// Errors by their numbers, which count from 1. Kernels of one node in several plans share one.
#[derive(Default)]
struct Errors {
    all: Vec<(Code, Arc<str>)>,
    numbers: FxHashMap<(Code, Arc<str>), u32>,
}

impl Errors {
    /// That of a node, which it names unless there are `named` errors already.
    fn refusal(&mut self, named: usize, code: Code, (node, op): (&str, &str), message: &str) -> Refusal {
        let error = (code, format!("node `{node}` ({op}): {message}").into());
        if self.all.len() < named || self.numbers.contains_key(&error) {
            return self.number(error);
        }
        self.number((code, format!("a node ({op}): {message}").into()))
    }

    fn number(&mut self, error: (Code, Arc<str>)) -> Refusal {
        let number = *self.numbers.entry(error).or_insert_with_key(|error| {
            self.all.push(error.clone());
            self.all.len() as u32
        });
        // Beyond what the bits hold, errors share the last number.
        Refusal(number.min((1 << NUMBER_BITS) - 1))
    }
}

/// The words of a device, and what was found in them.
#[derive(Default)]
pub(crate) struct Refusals {
    words: OnceLock<(Tensor, Arc<Buffer>)>,
    /// The first error of each step that has not asked yet.
    found: Mutex<FxHashMap<i64, u32>>,
    /// For each step, how many copies of its word are on their way.
    under_way: Mutex<FxHashMap<i64, u32>>,
    arrived: Waiters,
}

impl Refusals {
    /// The buffer that [`declare`] declares.
    pub(crate) fn words(&self, gpu: &GpuDevice) -> Result<&Tensor> {
        if let Some((words, _)) = self.words.get() {
            return Ok(words);
        }
        let words = gpu.to_device(&Tensor::vector(&[0u32; PLACES])?)?;
        let memory = words.device_memory().and_then(|memory| memory.downcast_ref::<GpuMemory>());
        let Some(buffer) = memory.map(|memory| memory.buffer().clone()) else {
            return Err(Error::internal("the GPU keeps its words of refusals elsewhere"));
        };
        Ok(&self.words.get_or_init(|| (words, buffer)).0)
    }

    /// Where the words are, if they were ever asked for.
    pub(crate) fn buffer(&self) -> Option<&Buffer> {
        self.words.get().map(|(_, buffer)| &**buffer)
    }

    /// Waits until no copy of a step's word is on its way any more.
    pub(crate) async fn all_arrived(&self, step: i64) {
        self.arrived.until(|| (!lock(&self.under_way).contains_key(&step)).then_some(())).await;
    }

    /// Fails with the error that was found for a step, which is forgotten.
    pub(crate) fn check_step(&self, step: i64) -> Result<()> {
        check(lock(&self.found).remove(&step).unwrap_or(0))
    }
}

/// The steps of which shaders that are recorded may refuse elements.
pub(crate) struct Refusing {
    /// For each place the step that has it; 0 if none does.
    steps: [i64; PLACES],
    /// A bit for each place, whether its word may have been written since it was last copied.
    written: u64,
}

impl Default for Refusing {
    fn default() -> Refusing {
        Refusing { steps: [0; PLACES], written: 0 }
    }
}

impl Refusing {
    /// The parameter for a shader that refuses with an error of this number on behalf of a step.
    pub(crate) fn parameter(&mut self, number: u32, step: Option<i64>) -> u32 {
        if number == 0 {
            return 0;
        }
        let place_of = |wanted: i64| (1..PLACES).find(|&place| self.steps[place] == wanted);
        let place = step.and_then(|step| place_of(step).or_else(|| place_of(0))).unwrap_or(0);
        if let Some(step) = step.filter(|_| place > 0) {
            self.steps[place] = step;
        }
        self.written |= 1 << place;
        (place as u32) << NUMBER_BITS | number
    }

    /// Whether a word may have been written since it was last copied.
    pub(crate) fn is_any(&self) -> bool {
        self.written != 0
    }

    /// Gives a step's place free; returns whether its word must be copied before, and `None` if it has no place.
    pub(crate) fn end(&mut self, step: i64) -> Option<bool> {
        let place = self.steps.iter().position(|&other| other == step)?;
        let is_written = self.written & 1 << place != 0;
        if !is_written {
            self.steps[place] = 0;
        }
        Some(is_written)
    }

    /// The words are copied, by a copy that is recorded now, and cleared.
    pub(crate) fn copied(&mut self, gpu: &Arc<Gpu>) -> Copied {
        let written = std::mem::take(&mut self.written);
        let of = |place: usize| (written & 1 << place != 0).then_some((place, self.steps[place]));
        let places: SmallVec<[(usize, i64); 2]> = (0..PLACES).filter_map(of).collect();
        let mut under_way = lock(&gpu.refusals.under_way);
        for (_, step) in &places {
            *under_way.entry(*step).or_default() += 1;
        }
        Copied { gpu: Arc::downgrade(gpu), places }
    }
}

/// The words on their way to the host.
pub(crate) struct Copied {
    gpu: Weak<Gpu>,
    /// The places that may have been written, and the step that each belonged to.
    places: SmallVec<[(usize, i64); 2]>,
}

impl Copied {
    /// The bytes of the words.
    pub(crate) const BYTES: u64 = 4 * PLACES as u64;

    /// Keeps what has come for its steps.
    ///
    /// # Errors
    /// What belongs to no step.
    pub(crate) fn arrive(self, words: &[u8]) -> Result<()> {
        let mut nobodys = 0;
        for &(place, step) in &self.places {
            let word = words.get(4 * place..).and_then(|bytes| bytes.first_chunk());
            let number = word.map_or(0, |&word| u32::from_le_bytes(word)) & ((1 << NUMBER_BITS) - 1);
            match self.gpu.upgrade() {
                Some(gpu) if place > 0 && number > 0 => _ = lock(&gpu.refusals.found).entry(step).or_insert(number),
                _ if place == 0 => nobodys = number,
                _ => {}
            }
        }
        drop(self);
        check(nobodys)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let Some(gpu) = self.gpu.upgrade() else { return };
        {
            let mut under_way = lock(&gpu.refusals.under_way);
            for (_, step) in &self.places {
                if let Some(count) = under_way.get_mut(step) {
                    *count -= 1;
                    if *count == 0 {
                        under_way.remove(step);
                    }
                }
            }
        }
        gpu.refusals.arrived.wake_all();
    }
}

/// Fails with the error whose number was read back, if any was.
pub(crate) fn check(number: u32) -> Result<()> {
    let Some(position) = (number as usize).checked_sub(1) else { return Ok(()) };
    Err(match lock(&ERRORS).all.get(position) {
        Some((code, message)) => Error::new(*code, &**message),
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
        let program = declare(Program::trusted("refuse what is odd").read("x", Scalar::U32)).declare(FUNCTION);
        let shader =
            Shader::new(program.build(
                Entry::Elements,
                "fn element(i: u32) {\n    if (x[i] % 2u == 1u) {\n        refuse();\n    }\n}\n",
            ));
        let of = || lock(&ERRORS).number((Code::OutOfRange, "an element is odd".into()));
        let refusal = of();
        assert_eq!(refusal, of(), "kept once");
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

    #[test]
    fn errors_without_end_are_kept_by_op() {
        let mut errors = Errors::default();
        let mut of = |node: &str, message: &str| errors.refusal(2, Code::OutOfRange, (node, "Gather"), message);
        let first = of("a", "an index");
        assert_ne!(first, of("b", "an index"));
        let late = of("c", "an index");
        assert_eq!(late, of("d", "an index"));
        assert_ne!(late, of("d", "a number"));
        assert_eq!(first, of("a", "an index"));
        let all: Vec<&str> = errors.all.iter().map(|(_, message)| &**message).collect();
        let gathers = ["node `a` (Gather): an index", "node `b` (Gather): an index"];
        assert_eq!(all, [gathers[0], gathers[1], "a node (Gather): an index", "a node (Gather): a number"]);
    }
}
