//! UnsortedSegmentSum, -Prod, -Max, -Min: rows of which each goes into the one that its number names. As in scattering, rows
//! come in any order, and sums of floats may differ in their last digits from run to run.

use kernlink::dtype::f16;
use kernlink::error::{Code, Result};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink_geometry::segments as geometry;

use super::fill::fill;
use super::mover::Mover;
use super::scatter::{Merge, Merging};
use super::unit::{pattern, word};
use super::variant::Variant;
use crate::device::Groups;
use crate::indices::Indices;
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::windows::{read, whole};

const OUT_OF_RANGE: &str = "a number in segment_ids is out of range";

/// The merges that there are ops of.
pub(super) const MERGES: [Merge; 4] = [Merge::Add, Merge::Mul, Merge::Max, Merge::Min];

/// Whether there are kernels for a type: those that shaders merge, but bools.
pub(super) fn is_of(merge: Merge, scalar: Scalar) -> bool {
    merge.is_of(scalar) && scalar != Scalar::Bool
}

/// The program that merges each element of `updates` into the row that the number of its own names.
pub(super) fn program(merge: Merge, scalar: Scalar, index: Indices) -> Program {
    let merging = Merging::spreading_nan(merge, scalar);
    let label = format!("segments {merge:?} of {scalar:?} by {index:?} numbers");
    let program = merging.read(Program::trusted(label), "updates");
    let (program, outside) = match index {
        Indices::Narrow => (program.read("numbers", Scalar::U32), "n >= 0x80000000u"),
        Indices::Wide => (program.read_vectors("numbers", Scalar::U32, 2), "n.y >= 0x80000000u"),
    };
    let (beyond, row) = match index {
        Indices::Narrow => ("n >= params.segments", "n"),
        Indices::Wide => ("n.y != 0u || n.x >= params.segments", "n.x"),
    };
    let program = merging.write(program, "y").param("inner", "u32").param("segments", "u32");
    let body = format!(
        "{}fn element(i: u32) {{\n    let r = i / params.inner;\n    let n = numbers[r];\n    \
         // Rows with negative numbers are left out.\n    if ({outside}) {{\n        return;\n    }}\n    \
         if ({beyond}) {{\n        refuse();\n        return;\n    }}\n    \
         let at = {row} * params.inner + i - r * params.inner;\n    {}\n}}\n",
        merging.helpers, merging.update
    );
    refusal::declare(program).declare(refusal::FUNCTION).build(Entry::Elements, &body)
}

/// What a kernel keeps of its node.
pub(super) type How = (Merge, Refusal);

pub(super) fn how(ctx: &RawConstruction<'_>, merge: Merge) -> Result<How> {
    Ok((merge, Refusal::new(ctx, Code::InvalidArgument, OUT_OF_RANGE)))
}

/// What a segment without rows is: what merges into it changes it to the row.
fn initial(merge: Merge, scalar: Scalar) -> Tensor {
    macro_rules! of {
        ($zero:expr, $one:expr, $least:expr, $most:expr) => {
            match merge {
                Merge::Mul => Tensor::from($one),
                Merge::Max => Tensor::from($least),
                Merge::Min => Tensor::from($most),
                _ => Tensor::from($zero),
            }
        };
    }
    match scalar {
        Scalar::F32 => of!(0f32, 1f32, f32::MIN, f32::MAX),
        Scalar::F16 => of!(f16::ZERO, f16::ONE, f16::MIN, f16::MAX),
        Scalar::I32 => of!(0i32, 1i32, i32::MIN, i32::MAX),
        Scalar::I64 => of!(0i64, 1i64, i64::MIN, i64::MAX),
        Scalar::U32 | Scalar::Bool => of!(0u32, 1u32, u32::MIN, u32::MAX),
    }
}

pub(super) fn unsorted(&(merge, refusal): &How, on: &Mover<'_>, ctx: &mut RawContext<'_>) -> Result<()> {
    let (data, ids, count) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
    let (shape, inner) = geometry::unsorted(data.shape(), ids.shape(), count)?;
    let count = shape[0];
    let output = on.output(ctx, 0, shape)?;
    let scalar = scalar_of(data.dtype())?;
    fill(on, &output, pattern(&initial(merge, scalar))?)?;
    // Without segments there is nothing to write, but ids to refuse.
    if data.num_elements() > 0 {
        let variant = Variant::Segments(merge, scalar, Indices::of(ids.dtype())?);
        let params = [word(inner), word(count)];
        on.gpu.in_windows(ids.num_elements(), &[read(data), read(ids), whole(&output)], |_, tensors| {
            let groups = Groups::Elements(tensors[0].num_elements());
            on.run_refusing(refusal, variant, tensors, &params, groups)
        })?;
    }
    ctx.set_output_at(0, output)
}
