//! Indices in the device's memory: how shaders read them, alone and as vectors. One that is out of range is found as
//! the greatest number: what is read there is 0 and what is written there is nothing, as in TensorFlow's kernels for
//! GPUs. Other than there it is an error, of which the host hears when it next reads something; see [`crate::refusal`].

use std::fmt::Write as _;
use std::ops::Range;

use kernlink::bail;
use kernlink::dtype::DataType;
use kernlink::error::{Code, Result};
use kernlink::kernel::RawConstruction;

use crate::device::counted;
use crate::refusal::{FUNCTION, Refusal};
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
    pub(crate) const ALL: [Indices; 2] = [Indices::Narrow, Indices::Wide];

    pub(crate) fn of(dtype: DataType) -> Result<Indices> {
        match dtype {
            DataType::Int32 => Ok(Indices::Narrow),
            DataType::Int64 => Ok(Indices::Wide),
            other => bail!(Internal, "no shader takes indices of {other}"),
        }
    }

    /// Declares the buffer `indices`, which is read by `index_at(place)`.
    pub(crate) fn read(self, program: ProgramBuilder) -> ProgramBuilder {
        match self {
            Indices::Narrow => program
                .read("indices", Scalar::U32)
                .declare("fn index_at(place: u32) -> u32 {\n    return indices[place];\n}"),
            Indices::Wide => program.read_vectors("indices", Scalar::U32, 2).declare(
                "fn index_at(place: u32) -> u32 {\n    let index = indices[place];\n    \
                 return select(index.x, 0xffffffffu, index.y != 0u);\n}",
            ),
        }
    }
}

/// The most entries of an index.
pub(crate) const MOST_ENTRIES: usize = 8;

/// Declares the parameters of [`nd_params`], and `row_at(r)`: which of the rows that are bound vector `r` of the indices
/// names, or `ELSEWHERE`, or `NOWHERE` of all rows. That one is refused, which the program is to
/// [declare](crate::refusal::declare) after its buffers.
pub(crate) fn read_nd(index: Indices, program: ProgramBuilder) -> ProgramBuilder {
    let mut program = index.read(program).constant("ELSEWHERE", u32::MAX - 1).constant("NOWHERE", u32::MAX);
    program = program.param("top", "u32").param("height", "u32").param("depth", "u32");
    let mut body = "fn row_at(r: u32) -> u32 {\n    var row = 0u;\n    var fits = true;\n    \
                    let first = r * params.depth;\n    var entry = 0u;\n"
        .to_owned();
    for entry in 0..MOST_ENTRIES {
        program = program.param(&format!("size{entry}"), "u32");
        let _ = write!(
            body,
            "    if (params.depth > {entry}u) {{\n        entry = index_at(first + {entry}u);\n        \
             fits = fits && entry < params.size{entry};\n        row = row * params.size{entry} + entry;\n    }}\n"
        );
    }
    body += "    if (!fits) {\n        refuse();\n        return NOWHERE;\n    }\n    \
             return select(ELSEWHERE, row - params.top, row - params.top < params.height);\n}\n";
    body += FUNCTION;
    program.declare(&body)
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
