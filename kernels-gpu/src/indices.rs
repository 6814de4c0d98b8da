//! Indices in the device's memory: how shaders read them, alone and as vectors. One that is out of range is found as
//! the greatest number: what is read there is 0 and what is written there is nothing, as in TensorFlow's kernels for
//! GPUs. Other than there it is an error, of which the host hears when it next reads something; see [`crate::refusal`].

use std::ops::Range;

use kernlink::bail;
use kernlink::dtype::DataType;
use kernlink::error::{Code, Result};
use kernlink::kernel::RawConstruction;

use crate::device::counted;
use crate::refusal::Refusal;
use crate::shader::{ProgramBuilder, Scalar};

/// The error of a node for an index that is out of range.
pub(crate) fn out_of_range(ctx: &RawConstruction<'_>) -> Refusal {
    Refusal::new(ctx, Code::InvalidArgument, "an index is out of range")
}

/// The dtype of indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Indices {
    Narrow,
    Wide,
}

impl Indices {
    pub(crate) fn of(dtype: DataType) -> Result<Indices> {
        match dtype {
            DataType::Int32 => Ok(Indices::Narrow),
            DataType::Int64 => Ok(Indices::Wide),
            other => bail!(Internal, "no shader takes indices of {other}"),
        }
    }

    /// The names that hold in the conditions of files that import `indices`.
    pub(crate) fn names(self) -> &'static [&'static str] {
        match self {
            Indices::Narrow => &[],
            Indices::Wide => &["wide"],
        }
    }

    /// Declares a buffer of indices that is read: what `index_at(place)` of the module `indices` reads is called
    /// `indices`.
    pub(crate) fn read(self, program: ProgramBuilder, name: &str) -> ProgramBuilder {
        program.read_vectors(name, Scalar::U32, self.width())
    }

    /// Declares a buffer of indices that is written.
    pub(crate) fn write(self, program: ProgramBuilder, name: &str) -> ProgramBuilder {
        program.write_vectors(name, Scalar::U32, self.width())
    }

    /// The words of an index.
    fn width(self) -> u32 {
        match self {
            Indices::Narrow => 1,
            Indices::Wide => 2,
        }
    }
}

/// The most entries of an index.
pub(crate) const MOST_ENTRIES: usize = 8;

/// Declares the indices and the parameters of [`nd_params`], for files that import `indices_nd`. What these refuse the program
/// is to [declare](crate::refusal::declare) after its buffers.
pub(crate) fn read_nd(index: Indices, program: ProgramBuilder) -> ProgramBuilder {
    let program = index.read(program, "indices").words("top height depth");
    (0..MOST_ENTRIES).fold(program, |program, entry| program.words(&format!("size{entry}")))
}

/// The parameters for vectors of indices into these dimensions, of which so many rows are bound.
pub(crate) fn nd_params(indexed: &[usize], bound: Range<usize>) -> Result<[u32; MOST_ENTRIES + 3]> {
    if indexed.len() > MOST_ENTRIES {
        bail!(Unimplemented, "indices of {} entries", indexed.len());
    }
    let mut params = [0; MOST_ENTRIES + 3];
    params[..3].copy_from_slice(&[counted(bound.start)?, counted(bound.len())?, indexed.len() as u32]);
    for (param, &size) in params[3..].iter_mut().zip(indexed) {
        *param = size as u32;
    }
    Ok(params)
}
