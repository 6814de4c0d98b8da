//! Products of a vector and a matrix: each element of the matrix is read once, so that tiles have nothing to share.

use kernlink::error::Result;
use kernlink::tensor::Tensor;
use smallvec::SmallVec;

use super::gemm::word;
use super::sum_parts;
use super::text::{declare_multiply_add, sum_of};
use crate::device::{GpuDevice, Groups};
use crate::epilogue::{End, Epilogue};
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::transfer::device_bytes;

const THREADS: u32 = 256;
/// What a workgroup computes of the result: see `dots.wgsl` and `lines.wgsl`.
const DOTS: usize = 8;
const COLUMNS: usize = 64;
/// How far a workgroup comes along the inner dimension at a time, at most.
const STEP: usize = 128;
/// The least of it that a workgroup takes at once, all loops of a thread counted.
const AT_ONCE: usize = 8;

/// What tells a shader from others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) scalar: Scalar,
    /// Whether the inner index counts neighbours in the matrix.
    pub(super) along_inner: bool,
    /// Whether four neighbours are read at once.
    pub(super) vectors: bool,
    /// Whether the inner dimension is cut, so that results are as they are added up.
    pub(super) parts: bool,
    /// What becomes of the results.
    pub(super) epilogue: Epilogue,
}

/// The vectors and the matrices.
pub(super) struct Factors<'a> {
    pub(super) vector: &'a Tensor,
    pub(super) matrix: &'a Tensor,
    pub(super) out: &'a Tensor,
    /// The elements of a result.
    pub(super) extent: usize,
    pub(super) inner: usize,
    pub(super) batches: usize,
    /// The sizes of the second and the third batch dimension, and the steps of all three in `vector` and `matrix`.
    pub(super) sizes: [u32; 2],
    pub(super) steps: [[u32; 3]; 2],
    /// Where the vectors, the matrices and the results begin.
    pub(super) bases: [u32; 3],
    /// What is done to all of the output, which has so many columns.
    pub(super) end: End<'a>,
    pub(super) columns: usize,
}

fn program(key: Key) -> Program {
    let text = if key.along_inner { include_str!("dots.wgsl") } else { include_str!("lines.wgsl") };
    let width = if key.vectors { 4 } else { 1 };
    let result = if key.parts { sum_of(key.scalar) } else { key.scalar };
    let builder = Program::trusted("product with a vector")
        .alias("T", key.scalar)
        .alias("A", sum_of(key.scalar))
        .alias("R", result)
        .declare(&declare_multiply_add(key.scalar))
        .workgroup(THREADS)
        .read_vectors("vector", key.scalar, if key.along_inner { width } else { 1 })
        .read_vectors("matrix", key.scalar, width)
        .write("result", result);
    let builder = builder
        .words("extent inner size1 size2 step_v0 step_v1 step_v2 step_m0 step_m1 step_m2")
        .words("base_v base_m base_out batches chunk channels");
    let vectors = if key.vectors { &["vectors"][..] } else { &[] };
    let ends = if key.epilogue.is_none() { &[][..] } else { &["fused"] };
    key.epilogue.declare(builder, key.scalar, 1).compose(Entry::Rows, text, &[vectors, ends].concat())
}

/// In how many parts of `STEP` or more the inner dimension is cut, so that there are enough workgroups.
fn parts(groups: usize, inner: usize, is_software: bool) -> usize {
    /// Workgroups that keep a large device busy, and a processor.
    const BUSY: usize = 512;
    const FEW: usize = 4;
    let busy = if is_software { FEW } else { BUSY };
    if 2 * groups > busy { 1 } else { (busy / groups).min(inner / (4 * STEP)).max(1) }
}

/// Records the products. The output is not empty.
pub(super) fn run(gpu: &GpuDevice, mut key: Key, factors: &Factors<'_>) -> Result<()> {
    let &Factors { out, extent, inner, batches, end, columns, .. } = factors;
    let tiles = extent.div_ceil(if key.along_inner { DOTS } else { COLUMNS });
    let groups = tiles.saturating_mul(batches);
    // Parts are bound all at once.
    let most = gpu.gpu.limits.binding / device_bytes(sum_parts::sum_dtype(out.dtype()), batches * extent);
    let needed = gpu.parts_of_rounds(inner / AT_ONCE);
    let wanted = parts(groups, inner, gpu.adapter().is_software).max(needed).min(most).max(1);
    let chunk = inner.div_ceil(wanted).next_multiple_of(STEP);
    let parts = inner.div_ceil(chunk.max(1)).max(1);
    gpu.ensure_rounds(chunk.min(inner) / AT_ONCE)?;
    key.parts = parts > 1;
    // Parts have their end when they are added up.
    key.epilogue = if key.parts { Epilogue::default() } else { end.epilogue };
    let [base_v, base_m, base_out] = factors.bases;
    let mut params: SmallVec<[u32; 15]> = SmallVec::from_slice(&[word(extent)?, word(inner)?]);
    params.extend_from_slice(&factors.sizes);
    factors.steps.iter().for_each(|steps| params.extend_from_slice(steps));
    params.extend_from_slice(&[base_v, base_m, if key.parts { 0 } else { base_out }, word(batches)?, word(chunk)?]);
    params.push(word(columns)?);
    let scratch = match parts {
        1 => None,
        parts => Some(sum_parts::scratch(gpu, out.dtype(), parts, batches * extent)?),
    };
    let factors = [factors.vector, factors.matrix, scratch.as_ref().unwrap_or(out)];
    let mut tensors: SmallVec<[&Tensor; 8]> = SmallVec::from_slice(&factors);
    if !key.parts {
        params.extend_from_slice(end.params);
        tensors.extend_from_slice(end.tensors);
    }
    gpu.dispatch(&gpu.shader(program, key), &tensors, &params, Groups::Rows(groups.saturating_mul(parts)))?;
    match &scratch {
        Some(scratch) => {
            let mut dispatch = |shader: &Shader, tensors: &[&Tensor], params: &[u32], groups| {
                gpu.dispatch(shader, tensors, params, groups)
            };
            sum_parts::run_at(gpu, &mut dispatch, key.scalar, scratch, (out, base_out), (end, columns))
        }
        None => Ok(()),
    }
}

fn key(scalar: Scalar, bits: u32, epilogue: Epilogue) -> Key {
    Key { scalar, along_inner: bits & 1 != 0, vectors: bits & 2 != 0, parts: bits & 4 != 0, epilogue }
}

pub(super) fn programs(scalar: Scalar) -> Vec<Program> {
    (0..8).map(|bits| program(key(scalar, bits, Epilogue::default()))).collect()
}

/// Those for results that have an epilogue.
pub(super) fn fused_programs(scalar: Scalar) -> Vec<Program> {
    let of = |epilogue| (0..4).map(move |bits| program(key(scalar, bits, epilogue)));
    Epilogue::examples().into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_long_lines_are_cut() {
        assert_eq!(parts(64, 4096, false), 8);
        assert_eq!(parts(1, 1_000_000, false), 512);
        assert_eq!(parts(1, 100, false), 1);
        assert_eq!(parts(400, 100_000, false), 1);
        assert_eq!(parts(1, 100_000, true), 4);
    }
}
