//! UnsortedSegmentSum, -Prod, -Max, -Min: rows of which each goes into the one that its number names. As in scattering, rows
//! come in any order, and sums of floats may differ in their last digits from run to run.

use kernlink::dtype::{DataType, f16};
use kernlink::error::{Code, Result};
use kernlink::kernel::KernelContext;
use kernlink::op::Op as _;
use kernlink::tensor::Tensor;
use kernlink_geometry::segments as geometry;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::fill::{self, fill};
use super::merge::{self, Merge};
use super::unit::{pattern, word};
use crate::device::{GpuDevice, Groups};
use crate::indices::Indices;
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::windows::{read, whole};

const OUT_OF_RANGE: &str = "a number in segment_ids is out of range";

/// The program that merges each element of `updates` into the row that the number of its own names.
fn program((merge, scalar, index): (Merge, Scalar, Indices)) -> Program {
    let label = format!("segments {merge:?} of {scalar:?} by {index:?} numbers");
    let program = index.read(merge::read(Program::trusted(label), "updates", scalar), "numbers");
    let program = refusal::declare(merge::write(program, "y", scalar).words("inner segments"));
    let spreads_nan: &[&str] = if matches!(scalar, Scalar::F32 | Scalar::F16) { &["spreads_nan"] } else { &[] };
    let names = [&merge.names(scalar), spreads_nan, index.names()].concat();
    program.compose(Entry::Elements, include_str!("segments.wgsl"), &names)
}

fn programs(merge: Option<Merge>, dtype: DataType, indices: DataType) -> Result<Vec<Program>> {
    let (scalar, index) = (scalar_of(dtype)?, Indices::of(indices)?);
    Ok(merge.map(|merge| program((merge, scalar, index))).into_iter().chain([fill::program(())]).collect())
}

/// What a segment without rows is: what merges into it changes it to the row.
fn initial(merge: Merge, scalar: Scalar) -> Tensor {
    fn one_of<X: Copy>(merge: Merge, [zero, one, least, most]: [X; 4]) -> X {
        match merge {
            Merge::Mul => one,
            Merge::Max => least,
            Merge::Min => most,
            _ => zero,
        }
    }
    match scalar {
        Scalar::F32 => one_of(merge, [0.0, 1.0, f32::MIN, f32::MAX]).into(),
        Scalar::F16 => one_of(merge, [f16::ZERO, f16::ONE, f16::MIN, f16::MAX]).into(),
        Scalar::I32 => one_of(merge, [0, 1, i32::MIN, i32::MAX]).into(),
        Scalar::I64 => one_of(merge, [0, 1, i64::MIN, i64::MAX]).into(),
        Scalar::U32 | Scalar::Bool => one_of(merge, [0, 1, u32::MIN, u32::MAX]).into(),
    }
}

#[register_kernel(
    device = Gpu, op = ops::UnsortedSegmentSum, T = [f32, i32, u32, i64, f16 if "f16"], Tindices = [i32, i64],
    host_memory = ["num_segments"], programs = |T, Tindices| programs(Merge::of(O::DEF), T, Tindices),
    state = |ctx| Ok(Refusal::new(ctx, Code::InvalidArgument, OUT_OF_RANGE))
)]
#[register_kernel(
    device = Gpu, op = [ops::UnsortedSegmentMax, ops::UnsortedSegmentMin, ops::UnsortedSegmentProd],
    T = [f32, i32, u32, f16 if "f16"], Tindices = [i32, i64], host_memory = ["num_segments"],
    programs = |T, Tindices| programs(Merge::of(O::DEF), T, Tindices)
)]
fn unsorted(&refusal: &Refusal, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let merge = Merge::of(O::DEF).unwrap_or(Merge::Add);
    let (data, ids) = (ctx.input(O::DATA)?, ctx.input(O::SEGMENT_IDS)?);
    let (shape, inner) = geometry::unsorted(data.shape(), ids.shape(), ctx.input(O::NUM_SEGMENTS)?)?;
    let count = shape[0];
    let output = gpu.output(ctx, O::OUTPUT, shape)?;
    let scalar = scalar_of(data.dtype())?;
    fill(gpu, &output, pattern(&initial(merge, scalar))?)?;
    // Without segments there is nothing to write, but ids to refuse.
    if data.num_elements() > 0 {
        let shader = gpu.shader(program, (merge, scalar, Indices::of(ids.dtype())?));
        let params = [word(inner), word(count)];
        gpu.in_windows(ids.num_elements(), &[read(data), read(ids), whole(&output)], |_, tensors| {
            let groups = Groups::Elements(tensors[0].num_elements());
            gpu.dispatch_refusing(refusal, &shader, tensors, &params, groups)
        })?;
    }
    ctx.set_output(O::OUTPUT, output)
}
