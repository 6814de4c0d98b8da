//! Products of a vector and a matrix: each element of the matrix is read once, so that tiles have nothing to share.

use kernlink::error::Result;
use kernlink::tensor::Tensor;
use smallvec::SmallVec;

use super::gemm::word;
use super::text::{conditional, declare_multiply_add, sum_of};
use crate::device::{GpuDevice, Groups};
use crate::shader::{Entry, Program, Scalar};
use crate::variants::Variants;

const THREADS: u32 = 256;
/// What a workgroup computes of the result: see `dots.wgsl` and `lines.wgsl`.
const DOTS: usize = 8;
const COLUMNS: usize = 64;

/// What tells a shader from others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) scalar: Scalar,
    /// Whether the inner index counts neighbours in the matrix.
    pub(super) along_inner: bool,
    /// Whether four neighbours are read at once.
    pub(super) vectors: bool,
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
}

pub(super) fn program(key: &Key) -> Program {
    let text = if key.along_inner { include_str!("dots.wgsl") } else { include_str!("lines.wgsl") };
    let width = if key.vectors { 4 } else { 1 };
    let mut builder = Program::trusted("product with a vector")
        .alias("T", key.scalar)
        .alias("A", sum_of(key.scalar))
        .declare(&declare_multiply_add(key.scalar))
        .workgroup(THREADS)
        .read_vectors("vector", key.scalar, if key.along_inner { width } else { 1 })
        .read_vectors("matrix", key.scalar, width)
        .write("result", key.scalar);
    for name in [
        "extent", "inner", "size1", "size2", "step_v0", "step_v1", "step_v2", "step_m0", "step_m1", "step_m2",
        "base_v", "base_m", "base_out",
    ] {
        builder = builder.param(name, "u32");
    }
    let body = [include_str!("batch.wgsl"), &conditional(text, "vectors", key.vectors)].concat();
    builder.build(Entry::Rows, &body)
}

/// Records the products. The output is not empty.
pub(super) fn run(gpu: &GpuDevice, shaders: &Variants<Key>, key: Key, factors: &Factors<'_>) -> Result<()> {
    let &Factors { extent, inner, batches, .. } = factors;
    let tiles = extent.div_ceil(if key.along_inner { DOTS } else { COLUMNS });
    let mut params: SmallVec<[u32; 13]> = SmallVec::from_slice(&[word(extent)?, word(inner)?]);
    params.extend_from_slice(&factors.sizes);
    factors.steps.iter().for_each(|steps| params.extend_from_slice(steps));
    params.extend_from_slice(&factors.bases);
    let tensors = [factors.vector, factors.matrix, factors.out];
    gpu.dispatch(&shaders.get(key), &tensors, &params, Groups::Rows(tiles.saturating_mul(batches)))
}

pub(super) fn programs(scalar: Scalar) -> Vec<Program> {
    let patterns = [(false, false), (false, true), (true, false), (true, true)];
    let key = |(along_inner, vectors)| Key { scalar, along_inner, vectors };
    patterns.into_iter().map(|pattern| program(&key(pattern))).collect()
}
