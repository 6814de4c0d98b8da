//! The sum of parts that workgroups have added up apart from each other.

use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::tensor::Tensor;
use smallvec::SmallVec;

use super::gemm::word;
use super::text::sum_of;
use crate::device::{GpuDevice, Groups};
use crate::epilogue::{End, Epilogue};
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::timing::Dispatch;

/// The type of the result, whether four elements are added at once, and what becomes of the sums.
type Key = (Scalar, bool, Epilogue);

fn program((scalar, vectors, epilogue): Key) -> Program {
    let width = if vectors { 4 } else { 1 };
    let builder = Program::trusted("sum of parts")
        .alias("A", sum_of(scalar))
        .alias("R", scalar)
        .read_vectors("scratch", sum_of(scalar), width)
        .write_vectors("result", scalar, width)
        .words("parts step base channels");
    epilogue.declare(builder, scalar, width).compose(
        Entry::Elements,
        include_str!("sum_parts.wgsl"),
        epilogue.names(vectors),
    )
}

/// Adds the lines of `scratch`, a matrix whose lines have as many elements as `out`.
pub(crate) fn run(gpu: &GpuDevice, scalar: Scalar, scratch: &Tensor, out: &Tensor) -> Result<()> {
    let mut dispatch =
        |shader: &Shader, tensors: &[&Tensor], params: &[u32], groups| gpu.dispatch(shader, tensors, params, groups);
    run_at(gpu, &mut dispatch, scalar, scratch, (out, 0), (End::default(), 1))
}

/// Likewise of shorter lines, for elements from `base` on, with what is done to the sums, whose last dimension has so many
/// channels; `dispatch` does it.
pub(crate) fn run_at(
    gpu: &GpuDevice,
    dispatch: &mut Dispatch<'_>,
    scalar: Scalar,
    scratch: &Tensor,
    (out, base): (&Tensor, u32),
    (end, channels): (End<'_>, usize),
) -> Result<()> {
    let elements = scratch.shape()[1];
    let is_whole = end.epilogue.is_none() || channels.is_multiple_of(4);
    let vectors = elements.is_multiple_of(4) && base.is_multiple_of(4) && is_whole;
    let width = if vectors { 4 } else { 1 };
    let count = elements / width;
    let sizes = [word(scratch.shape()[0])?, word(count)?, base / width as u32, word(channels.div_ceil(width))?];
    let mut params: SmallVec<[u32; 6]> = SmallVec::from_slice(&sizes);
    params.extend_from_slice(end.params);
    let mut tensors: SmallVec<[&Tensor; 8]> = SmallVec::from_slice(&[scratch, out]);
    tensors.extend_from_slice(end.tensors);
    dispatch(&gpu.shader(program, (scalar, vectors, end.epilogue)), &tensors, &params, Groups::Elements(count))
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
    [false, true].map(|vectors| program((scalar, vectors, Epilogue::default()))).to_vec()
}

/// Those for sums that have an epilogue.
pub(crate) fn fused_programs(scalar: Scalar) -> Vec<Program> {
    let all = Epilogue::examples().into_iter().flat_map(|epilogue| [(false, epilogue), (true, epilogue)]);
    all.map(|(vectors, epilogue)| program((scalar, vectors, epilogue))).collect()
}
