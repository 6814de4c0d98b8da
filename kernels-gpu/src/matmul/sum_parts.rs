//! The sum of parts that workgroups have added up apart from each other.

use kernlink::error::Result;
use kernlink::tensor::Tensor;

use super::gemm::word;
use super::text::sum_of;
use super::tune::Dispatch;
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar, Shader};
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
    result[i] = {result}(sum);
}}
"
    );
    Program::builder("sum of parts")
        .alias("A", sum_of(scalar))
        .alias("R", scalar)
        .read_vectors("scratch", sum_of(scalar), width)
        .write_vectors("result", scalar, width)
        .param("parts", "u32")
        .param("step", "u32")
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
    let dispatch = &mut |shader: &Shader, tensors: &[&Tensor], params: &[u32], groups| {
        gpu.dispatch(shader, tensors, params, groups)
    };
    run_by(dispatch, shaders, scalar, scratch, out)
}

/// Likewise; `dispatch` does it.
pub(crate) fn run_by(
    dispatch: &mut Dispatch<'_>,
    shaders: &Variants<Key>,
    scalar: Scalar,
    scratch: &Tensor,
    out: &Tensor,
) -> Result<()> {
    let elements = out.num_elements();
    let vectors = elements.is_multiple_of(4);
    let count = if vectors { elements / 4 } else { elements };
    let params = [word(scratch.shape()[0])?, word(count)?];
    dispatch(&shaders.get((scalar, vectors)), &[scratch, out], &params, Groups::Elements(count))
}

pub(crate) fn programs() -> Vec<Program> {
    let scalars = [Scalar::F32, Scalar::I32, Scalar::I64, Scalar::F16];
    scalars.into_iter().flat_map(|scalar| [program(&(scalar, false)), program(&(scalar, true))]).collect()
}
