//! Products of matrices over batch dimensions that broadcast: by which shader they are computed.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::products::{Batch, Side, Sizes};
use smallvec::{SmallVec, smallvec};

use super::config::Extents;
use super::gemm::{self, Gemm, Target, word};
use super::text::Source;
use super::vector;
use crate::device::GpuDevice;
use crate::epilogue::{End, Epilogue, Finish, Stage};
use crate::shader::{Scalar, scalar_of};

/// How many batch dimensions a shader counts; of others the host does.
const COUNTED: usize = 3;

/// Multiplies matrices of one dtype.
pub(super) struct Products {
    scalar: Scalar,
    pub(super) transposed: [bool; 2],
    pub(super) by_tiles: Gemm,
}

/// The kinds of factors.
pub(super) fn sources(transposed: [bool; 2]) -> [Source; 2] {
    [
        if transposed[0] { Source::Columns } else { Source::Rows },
        if transposed[1] { Source::Rows } else { Source::Columns },
    ]
}

impl Products {
    pub(super) fn new(dtype: DataType, transposed: [bool; 2]) -> Result<Products> {
        let [a, b] = sources(transposed);
        let by_tiles = Gemm::new(dtype, a, b)?;
        Ok(Products { scalar: scalar_of(dtype)?, transposed, by_tiles })
    }

    /// The products of tensors of two dimensions or more.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the inner dimensions differ or the batch dimensions do not broadcast.
    pub(super) fn compute(&self, gpu: &GpuDevice, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        self.fused(gpu, [a, b], |_| Ok(None))
    }

    /// The products, and what `finish` makes of them, given their shape.
    ///
    /// # Errors
    /// As [`Products::compute`], and those of `finish`.
    pub(super) fn fused(
        &self,
        gpu: &GpuDevice,
        [a, b]: [&Tensor; 2],
        finish: impl FnOnce(&Shape) -> Result<Option<Finish>>,
    ) -> Result<Tensor> {
        let sizes = Sizes::new(
            Side { shape: a.shape(), transposed: self.transposed[0] },
            Side { shape: b.shape(), transposed: self.transposed[1] },
        )?;
        let finish = finish(&sizes.output)?;
        let out = gpu.allocate(a.dtype(), sizes.output.clone())?;
        if out.num_elements() == 0 {
            return Ok(out);
        }
        if !gpu.fit(&[a, b, &out]) {
            self.by_windows(gpu, [a, b, &out], &sizes)?;
            finish.iter().try_for_each(|finish| finish.finish(gpu, &out))?;
            return Ok(out);
        }
        let stage = finish.as_ref().map(Finish::first);
        let arguments: SmallVec<[&Tensor; 8]> = stage.into_iter().flat_map(Stage::tensors).collect();
        let end = stage.map(|stage| stage.end(&arguments)).unwrap_or_default();
        let (outer, counted) = sizes.batch.split_at(sizes.batch.len().saturating_sub(COUNTED));
        let whole: usize = counted.iter().map(|&(size, _)| size).product();
        let matrices = [sizes.rows * sizes.inner, sizes.inner * sizes.columns];
        let rounds: usize = outer.iter().map(|&(size, _)| size).product();
        for round in 0..rounds {
            let (mut rest, mut bases) = (round, [0, 0, round * whole * sizes.rows * sizes.columns]);
            for &(size, steps) in outer.iter().rev() {
                for side in 0..2 {
                    bases[side] += rest % size * steps[side] * matrices[side];
                }
                rest /= size;
            }
            self.some(gpu, [a, b, &out], (&sizes, counted), bases, end)?;
        }
        finish.iter().try_for_each(|finish| finish.finish_rest(gpu, &out))?;
        Ok(out)
    }

    /// The products over at most three batch dimensions, from `bases` in the two factors and the output, with their end.
    pub(super) fn some(
        &self,
        gpu: &GpuDevice,
        [a, b, out]: [&Tensor; 3],
        (sizes, batch): (&Sizes, &[Batch]),
        bases: [usize; 3],
        end: End<'_>,
    ) -> Result<()> {
        let &Sizes { rows, inner, columns, .. } = sizes;
        let mut extents = [1usize; COUNTED];
        let mut steps = [[0u32; COUNTED]; 2];
        for (place, &(size, counted)) in (COUNTED - batch.len()..).zip(batch) {
            extents[place] = size;
            steps[0][place] = word(counted[0].saturating_mul(rows * inner))?;
            steps[1][place] = word(counted[1].saturating_mul(inner * columns))?;
        }
        let bases = [word(bases[0])?, word(bases[1])?, word(bases[2])?];
        let batches: usize = extents.iter().product();
        let shared = [word(extents[1])?, word(extents[2])?];
        let is_multiple = |side: usize| bases[side].is_multiple_of(4) && steps[side].iter().all(|step| step % 4 == 0);
        let by_vector = |vector: usize, extent: usize, along_inner: bool| {
            let matrix = 1 - vector;
            let neighbours = if along_inner { inner } else { extent };
            let vectors = neighbours.is_multiple_of(4) && is_multiple(matrix) && (!along_inner || is_multiple(vector));
            let key =
                vector::Key { scalar: self.scalar, along_inner, vectors, parts: false, epilogue: Epilogue::default() };
            let factors = [a, b];
            let factors = vector::Factors {
                vector: factors[vector],
                matrix: factors[matrix],
                out,
                extent,
                inner,
                batches,
                sizes: shared,
                steps: [steps[vector], steps[matrix]],
                bases: [bases[vector], bases[matrix], bases[2]],
                end,
                columns,
            };
            vector::run(gpu, key, &factors)
        };
        if rows == 1 {
            return by_vector(0, columns, self.transposed[1]);
        }
        if columns == 1 {
            return by_vector(1, rows, !self.transposed[0]);
        }
        let strides = [if self.transposed[0] { rows } else { inner }, if self.transposed[1] { inner } else { columns }];
        let vectors = [
            strides[0].is_multiple_of(4) && is_multiple(0),
            strides[1].is_multiple_of(4) && is_multiple(1),
            columns.is_multiple_of(4) && bases[2].is_multiple_of(4),
        ];
        let mut special: SmallVec<[u32; 18]> = smallvec![word(strides[0])?, word(strides[1])?];
        special.extend_from_slice(&shared);
        steps.iter().for_each(|steps| special.extend_from_slice(steps));
        special.extend_from_slice(&bases);
        let factors = gemm::Factors {
            a,
            b,
            out,
            extents: Extents { rows, columns, inner, batches },
            vectors,
            stride: columns,
            step: rows * columns,
            target: Target::Whole,
            end,
            special,
        };
        self.by_tiles.run(gpu, &factors)
    }
}

#[cfg(test)]
mod tests {
    use kernlink::device::Device as _;
    use kernlink::step::block_on;

    use super::*;
    use crate::matmul::config::Choice;
    use crate::testing::device;

    /// Small whole numbers, whose products `f32` adds without loss.
    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 31 + seed * 17) % 13) as f32 - 6.0).collect()
    }

    fn multiplied(gpu: &GpuDevice, products: &Products, a: (&[usize], &[f32]), b: (&[usize], &[f32])) -> Vec<f32> {
        let there = |(shape, values): (&[usize], &[f32])| {
            gpu.to_device(&Tensor::from_elements(Shape::from(shape), values).unwrap()).unwrap()
        };
        let out = products.compute(gpu, &there(a), &there(b)).unwrap();
        block_on(gpu.to_host(&out)).unwrap().as_slice::<f32>().unwrap().to_vec()
    }

    #[test]
    fn parts_of_some_products_leave_the_others_alone() {
        let gpu = device();
        // Four batch dimensions that do not merge: two rounds.
        for (rows, columns, inner) in [(8, 8, 130), (5, 3, 130)] {
            let (a, b) = (numbers(4 * rows * inner, 1), numbers(4 * inner * columns, 2));
            let mut products = Products::new(DataType::Float, [false; 2]).unwrap();
            products.by_tiles.forced = Some(Choice { line: 3, parts: 3 });
            let shapes = [[2, 1, 2, 1, rows, inner], [1, 2, 1, 2, inner, columns]];
            let found = multiplied(&gpu, &products, (&shapes[0], &a), (&shapes[1], &b));
            assert_eq!(found.len(), 16 * rows * columns);
            for (i, &found) in found.iter().enumerate() {
                let (batch, row, column) = (i / columns / rows, i / columns % rows, i % columns);
                let (of_a, of_b) = (batch / 8 * 2 + batch / 2 % 2, batch / 4 % 2 * 2 + batch % 2);
                let product = |k| a[(of_a * rows + row) * inner + k] * b[(of_b * inner + k) * columns + column];
                let expected: f32 = (0..inner).map(product).sum();
                assert_eq!(found, expected, "batch {batch}, row {row}, column {column}");
            }
        }
    }

    #[test]
    fn products_with_a_vector_are_cut_into_parts() {
        let gpu = device();
        for (inner, extent) in [(5000, 40), (4999, 7), (4097, 64)] {
            for transposed in [false, true] {
                let (v, m) = (numbers(3 * inner, 1), numbers(inner * extent, 2));
                let matrix = if transposed { [extent, inner] } else { [inner, extent] };
                let at = |k: usize, column: usize| m[if transposed { column * inner + k } else { k * extent + column }];
                let products = Products::new(DataType::Float, [false, transposed]).unwrap();
                let found = multiplied(&gpu, &products, (&[3, 1, inner], &v), (&matrix, &m));
                for (i, &found) in found.iter().enumerate() {
                    let expected: f32 = (0..inner).map(|k| v[i / extent * inner + k] * at(k, i % extent)).sum();
                    assert_eq!(found, expected, "{inner} {extent} {transposed} {i}");
                }
            }
        }
    }
}
