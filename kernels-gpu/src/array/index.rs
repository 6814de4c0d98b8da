//! Indices in the device's memory: how shaders read them, alone and as vectors. One that is out of range is found as
//! the greatest number: what is read there is 0 and what is written there is nothing, as in TensorFlow's kernels for
//! GPUs. Other than there it is an error, of which the host hears when it next reads something; see [`crate::refusal`].

use std::fmt::Write as _;

use kernlink::bail;
use kernlink::dtype::DataType;
use kernlink::error::{Code, Result};
use kernlink::kernel::RawConstruction;

use super::unit::word;
use crate::refusal::{FUNCTION, Refusal};
use crate::shader::{ProgramBuilder, Scalar};

/// The error of a node for an index that is out of range.
pub(crate) fn out_of_range(ctx: &RawConstruction<'_>) -> Refusal {
    Refusal::new(ctx, Code::InvalidArgument, "an index is out of range")
}

/// The dtype of indices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Index {
    Narrow,
    Wide,
}

impl Index {
    pub(crate) const ALL: [Index; 2] = [Index::Narrow, Index::Wide];

    pub(crate) fn of(dtype: DataType) -> Result<Index> {
        match dtype {
            DataType::Int32 => Ok(Index::Narrow),
            DataType::Int64 => Ok(Index::Wide),
            other => bail!(Internal, "no shader takes indices of {other}"),
        }
    }

    /// Declares the buffer `indices`, which is read by `index_at(place)`.
    pub(crate) fn read(self, program: ProgramBuilder) -> ProgramBuilder {
        match self {
            Index::Narrow => program
                .read("indices", Scalar::U32)
                .declare("fn index_at(place: u32) -> u32 {\n    return indices[place];\n}"),
            Index::Wide => program.read_vectors("indices", Scalar::U32, 2).declare(
                "fn index_at(place: u32) -> u32 {\n    let index = indices[place];\n    \
                 return select(index.x, 0xffffffffu, index.y != 0u);\n}",
            ),
        }
    }
}

/// The most entries of an index.
pub(super) const MOST_ENTRIES: usize = 8;

/// Declares the parameters of [`nd_params`], and `row_at(r)`: the row that vector `r` of the indices names, or
/// `0xffffffff`. That one is refused, which the program is to [declare](crate::refusal::declare) after its buffers.
pub(super) fn read_nd(index: Index, program: ProgramBuilder) -> ProgramBuilder {
    let mut program = index.read(program).param("depth", "u32");
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
    body += "    if (!fits) {\n        refuse();\n        return 0xffffffffu;\n    }\n    return row;\n}\n";
    body += FUNCTION;
    program.declare(&body)
}

/// The parameters for vectors of indices into these dimensions.
pub(super) fn nd_params(indexed: &[usize]) -> Result<[u32; MOST_ENTRIES + 1]> {
    if indexed.len() > MOST_ENTRIES {
        bail!(Unimplemented, "indices of {} entries", indexed.len());
    }
    let mut params = [0; MOST_ENTRIES + 1];
    params[0] = word(indexed.len());
    for (param, &size) in params[1..].iter_mut().zip(indexed) {
        *param = word(size);
    }
    Ok(params)
}
