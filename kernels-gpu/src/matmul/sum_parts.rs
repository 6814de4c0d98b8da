//! The sum of parts that workgroups have added up apart from each other.

use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::tensor::Tensor;

use super::gemm::word;
use super::text::sum_of;
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::timing::Dispatch;

/// The type of the result, and whether four elements are added at once.
type Key = (Scalar, bool);

fn program((scalar, vectors): Key) -> Program {
    let width = if vectors { 4 } else { 1 };
    Program::trusted("sum of parts")
        .alias("A", sum_of(scalar))
        .alias("R", scalar)
        .read_vectors("scratch", sum_of(scalar), width)
        .write_vectors("result", scalar, width)
        .words("parts step base")
        .compose(Entry::Elements, include_str!("sum_parts.wgsl"), if vectors { &["vectors"] } else { &[] })
}

/// Adds the lines of `scratch`, a matrix whose lines have as many elements as `out`.
pub(crate) fn run(gpu: &GpuDevice, scalar: Scalar, scratch: &Tensor, out: &Tensor) -> Result<()> {
    let mut dispatch =
        |shader: &Shader, tensors: &[&Tensor], params: &[u32], groups| gpu.dispatch(shader, tensors, params, groups);
    run_at(gpu, &mut dispatch, scalar, scratch, out, 0)
}

/// Likewise of shorter lines, for elements from `base` on; `dispatch` does it.
pub(crate) fn run_at(
    gpu: &GpuDevice,
    dispatch: &mut Dispatch<'_>,
    scalar: Scalar,
    scratch: &Tensor,
    out: &Tensor,
    base: u32,
) -> Result<()> {
    let elements = scratch.shape()[1];
    let vectors = elements.is_multiple_of(4) && base.is_multiple_of(4);
    let width = if vectors { 4 } else { 1 };
    let count = elements / width;
    let params = [word(scratch.shape()[0])?, word(count)?, base / width as u32];
    dispatch(&gpu.shader(program, (scalar, vectors)), &[scratch, out], &params, Groups::Elements(count))
}

/// The dtype in which parts are kept.
pub(crate) fn sum_dtype(dtype: DataType) -> DataType {
    if dtype == DataType::Half { DataType::Float } else { dtype }
}

/// Memory for `parts` results of so many elements, as they are added up.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(crate) fn scratch(gpu: &GpuDevice, dtype: DataType, parts: usize, elements: usize) -> Result<Tensor> {
    let dtype = sum_dtype(dtype);
    if cfg!(test) && dtype == DataType::Float {
        // What nobody writes is not to look like a result.
        return gpu.to_device(&Tensor::from_elements([parts, elements], &vec![f32::NAN; parts * elements])?);
    }
    gpu.allocate(dtype, [parts, elements])
}

/// The programs for results of a type.
pub(crate) fn programs(scalar: Scalar) -> Vec<Program> {
    [false, true].map(|vectors| program((scalar, vectors))).to_vec()
}
