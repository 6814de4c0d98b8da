//! Sorting in the device's memory, of as many elements as there are: a bitonic network, whose near exchanges workgroups
//! do in their own memory. What is sorted are keys with the places where they come from, so that equal keys keep their
//! order.

use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::tensor::Tensor;

use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, ProgramBuilder, Scalar};

/// The entries that a workgroup sorts in its memory; a line of entries has as many or a power of two times more.
const SORTED: usize = 1024;
const THREADS: u32 = 256;

/// The words of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Keys {
    Narrow,
    /// Two words, the high one first.
    Wide,
}

impl Keys {
    /// The words of an entry: the key and the place, and one that makes it a vector of four.
    fn width(self) -> u32 {
        match self {
            Keys::Narrow => 2,
            Keys::Wide => 4,
        }
    }

    /// The names that hold in the files' conditions.
    fn names(self) -> &'static [&'static str] {
        match self {
            Keys::Narrow => &[],
            Keys::Wide => &["wide"],
        }
    }

    /// What an entry is in a shader: `x`, or `x` and `y`, are the key.
    fn entry(self) -> &'static str {
        match self {
            Keys::Narrow => "alias E = vec2<u32>;\nfn place_of(e: E) -> u32 {\n    return e.y;\n}",
            Keys::Wide => "alias E = vec4<u32>;\nfn place_of(e: E) -> u32 {\n    return e.z;\n}",
        }
    }

    /// Declares entries `name` that are read, or written.
    pub(crate) fn declare(self, program: ProgramBuilder, name: &str, writes: bool) -> ProgramBuilder {
        let program = program.declare(self.entry());
        if writes {
            program.write_vectors(name, Scalar::U32, self.width())
        } else {
            program.read_vectors(name, Scalar::U32, self.width())
        }
    }
}

/// The entries of a line that has at least so many, the others being such as go last.
pub(crate) fn padded(count: usize) -> usize {
    count.next_power_of_two().max(SORTED)
}

/// Memory for lines of entries.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory, or more entries than a shader counts.
pub(crate) fn allocate(gpu: &GpuDevice, keys: Keys, lines: usize, padded: usize) -> Result<Tensor> {
    let entries = lines.saturating_mul(padded);
    if entries > i32::MAX as usize {
        return Err(Error::resource_exhausted(format!("{entries} elements are more than the GPU sorts at once")));
    }
    gpu.allocate(DataType::Uint32, [entries, keys.width() as usize])
}

/// The exchanges of neighbours that are near.
fn near(keys: Keys) -> Program {
    let program = Program::trusted(format!("sort of {keys:?} keys, near"))
        .constant("SORTED", SORTED as u32)
        .words("padded first last")
        .workgroup(THREADS);
    let program = keys.declare(program, "entries", true);
    program.compose(Entry::Rows, include_str!("sort_near.wgsl"), keys.names())
}

/// The exchanges over one distance.
fn far(keys: Keys) -> Program {
    let program =
        Program::trusted(format!("sort of {keys:?} keys, far")).words("padded size distance").workgroup(THREADS);
    let program = keys.declare(program, "entries", true);
    program.compose(Entry::Elements, include_str!("sort_far.wgsl"), keys.names())
}

/// Sorts each of so many lines of `padded` entries, the least key first.
///
/// # Errors
/// Those of [`GpuDevice::dispatch`].
pub(crate) fn sort(gpu: &GpuDevice, keys: Keys, entries: &Tensor, lines: usize, padded: usize) -> Result<()> {
    let total = lines * padded;
    let nearby = |first: usize, last: usize| {
        let params = [padded as u32, first as u32, last as u32];
        gpu.run(near, keys, &[entries], &params, Groups::Rows(total / SORTED))
    };
    nearby(2, SORTED)?;
    let mut size = 2 * SORTED;
    while size <= padded {
        let mut distance = size / 2;
        while distance >= SORTED {
            let params = [padded as u32, size as u32, distance as u32];
            gpu.run(far, keys, &[entries], &params, Groups::Elements(total / 2))?;
            distance /= 2;
        }
        nearby(size, size)?;
        size *= 2;
    }
    Ok(())
}

/// All programs for keys of such words.
pub(crate) fn programs(keys: Keys) -> [Program; 2] {
    [near(keys), far(keys)]
}
