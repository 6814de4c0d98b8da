//! The sum of parts that workgroups have added up apart from each other.

use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::tensor::Tensor;

use super::gemm::word;
use super::text::sum_of;
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar};
use crate::timing::Dispatch;
use crate::variants::Variants;

/// The type of the result, and whether four elements are added at once.
pub(crate) type Key = (Scalar, bool);

pub(crate) fn program(&(scalar, vectors): &Key) -> Program {
    let width = if vectors { 4 } else { 1 };
    let (sum, result) = if vectors { ("vec4<A>", "vec4<R>") } else { ("A", "R") };
    let body = format!(
        "fn element(i: u32) {{
    var sum = {sum}();
    for (var part = 0u; part < params.parts; part++) {{
        sum += scratch[part * params.step + i];
    }}
    result[params.base + i] = {result}(sum);
}}
"
    );
    Program::trusted("sum of parts")
        .alias("A", sum_of(scalar))
        .alias("R", scalar)
        .read_vectors("scratch", sum_of(scalar), width)
        .write_vectors("result", scalar, width)
        .param("parts", "u32")
        .param("step", "u32")
        .param("base", "u32")
        .build(Entry::Elements, &body)
}

/// Adds the lines of `scratch`, a matrix whose lines have as many elements as `out`.
pub(crate) fn run(
    gpu: &GpuDevice,
    shaders: &Variants<Key>,
    scalar: Scalar,
    scratch: &Tensor,
    out: &Tensor,
) -> Result<()> {
    run_at(
        &mut |shader, tensors, params, groups| gpu.dispatch(shader, tensors, params, groups),
        shaders,
        scalar,
        scratch,
        out,
        0,
    )
}

/// Likewise of shorter lines, for elements from `base` on; `dispatch` does it.
pub(crate) fn run_at(
    dispatch: &mut Dispatch<'_>,
    shaders: &Variants<Key>,
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
    dispatch(&shaders.get((scalar, vectors)), &[scratch, out], &params, Groups::Elements(count))
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
    [false, true].map(|vectors| program(&(scalar, vectors))).to_vec()
}
