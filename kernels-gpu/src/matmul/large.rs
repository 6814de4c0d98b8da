//! Products of matrices that are larger than what the device binds at once: batch by batch, and by rows of the output; where
//! a single matrix is too large, columns are computed by themselves, or sums over the inner dimension in terms.

use std::ops::Range;

use kernlink::error::Result;
use kernlink::tensor::Tensor;
use kernlink_geometry::products::{Batch, Sizes};

use super::config::Extents;
use super::gemm::{self, Target, of_matrices, word};
use super::products::Products;
use super::text::Source;
use crate::device::GpuDevice;
use crate::epilogue::End;
use crate::transfer::device_bytes;
use crate::windows::{Piece, read, read_if, whole, written};

/// A part of one product: how large it is, and from which elements on the matrices are read and written.
#[derive(Clone, Copy)]
struct Cut {
    rows: usize,
    inner: usize,
    columns: usize,
    bases: [usize; 3],
    target: Target,
}

impl Products {
    /// The products over all batch dimensions.
    #[cold]
    pub(super) fn by_windows(&self, gpu: &GpuDevice, tensors: [&Tensor; 3], sizes: &Sizes) -> Result<()> {
        let matrices = [sizes.rows * sizes.inner, sizes.inner * sizes.columns, sizes.rows * sizes.columns];
        let (&(size, steps), outer) = sizes.batch.split_last().unwrap_or((&(1, [1, 1]), &[]));
        let rounds: usize = outer.iter().map(|&(size, _)| size).product();
        for round in 0..rounds {
            let (mut rest, mut firsts) = (round, [0, 0, round * size]);
            for &(size, steps) in outer.iter().rev() {
                for side in 0..2 {
                    firsts[side] += rest % size * steps[side];
                }
                rest /= size;
            }
            let counts = [if steps[0] > 0 { size } else { 1 }, if steps[1] > 0 { size } else { 1 }, size];
            let pieces: [Piece<'_>; 3] = std::array::from_fn(|k| Piece {
                tensor: tensors[k],
                first: firsts[k] * matrices[k],
                count: counts[k] * matrices[k],
                written: k == 2,
            });
            gpu.with_pieces(&pieces, |tensors| {
                self.along([tensors[0], tensors[1], tensors[2]], gpu, sizes, (size, steps))
            })?;
        }
        Ok(())
    }

    /// The products along one batch dimension.
    fn along(&self, [a, b, out]: [&Tensor; 3], gpu: &GpuDevice, sizes: &Sizes, (size, steps): Batch) -> Result<()> {
        let parts = [read_if(steps[0] > 0, a), read_if(steps[1] > 0, b), written(out)];
        let shared = [(steps[0], a), (steps[1], b)];
        let fits = shared.iter().all(|&(step, tensor)| step > 0 || gpu.fits(tensor));
        if size > 1 && fits && gpu.window(size, &parts)?.is_some() {
            return gpu.in_windows(size, &parts, |range, tensors| {
                let batch = [(range.len(), steps)];
                self.some(gpu, [tensors[0], tensors[1], tensors[2]], (sizes, &batch), [0; 3], End::default())
            });
        }
        let matrices = [sizes.rows * sizes.inner, sizes.inner * sizes.columns, sizes.rows * sizes.columns];
        for round in 0..size {
            let tensors = [(a, steps[0]), (b, steps[1]), (out, 1)];
            let pieces: [Piece<'_>; 3] = std::array::from_fn(|k| Piece {
                tensor: tensors[k].0,
                first: round * tensors[k].1 * matrices[k],
                count: matrices[k],
                written: k == 2,
            });
            gpu.with_pieces(&pieces, |tensors| self.by_rows(gpu, [tensors[0], tensors[1], tensors[2]], sizes))?;
        }
        Ok(())
    }

    /// One product, by rows of the output.
    fn by_rows(&self, gpu: &GpuDevice, [a, b, out]: [&Tensor; 3], sizes: &Sizes) -> Result<()> {
        let moves = !self.transposed[0];
        // A factor that is not gone through by rows is cut later, if it is too large.
        let parts = [read(a), written(out)];
        gpu.in_windows(sizes.rows, if moves { &parts } else { &parts[1..] }, |rows, tensors| {
            let (a, base) = if moves { (tensors[0], 0) } else { (a, rows.start) };
            self.by_columns(gpu, [a, b, tensors[tensors.len() - 1]], sizes, rows, base)
        })
    }

    /// Some rows of one product, as far as it can be without parts of sums.
    fn by_columns(
        &self,
        gpu: &GpuDevice,
        [a, b, out]: [&Tensor; 3],
        sizes: &Sizes,
        rows: Range<usize>,
        base: usize,
    ) -> Result<()> {
        let (inner, columns) = (sizes.inner, sizes.columns);
        let cut = Cut { rows: rows.len(), inner, columns, bases: [base, 0, 0], target: Target::Whole };
        if gpu.fit(&[a, b]) {
            return self.cut(gpu, [a, b, out], sizes, cut);
        }
        if self.transposed[1] && gpu.fits(a) {
            return gpu.in_windows(columns, &[read(b), whole(out)], |some, tensors| {
                let bases = [base, 0, some.start];
                let cut = Cut { columns: some.len(), bases, target: Target::Some, ..cut };
                self.cut(gpu, [a, tensors[0], tensors[1]], sizes, cut)
            });
        }
        if self.transposed[1] && !gpu.fits(b) {
            // Neither can be cut along the inner dimension as it is.
            let turned = crate::array::turned(gpu, b, [columns, inner])?;
            let other = Products::new(b.dtype(), [self.transposed[0], false])?;
            return other.by_columns(gpu, [a, &turned, out], sizes, rows, base);
        }
        let parts = [read_if(self.transposed[0], a), read_if(!self.transposed[1], b)];
        let window = gpu.window(inner, &parts)?.unwrap_or(inner);
        let (terms, dtype) = (inner.div_ceil(window), self.by_tiles.sum_dtype());
        // The terms of some rows at a time are bound at once.
        let some = (gpu.gpu.limits.binding / device_bytes(dtype, terms * columns)).max(1);
        for row in (0..rows.len()).step_by(some) {
            let count = some.min(rows.len() - row);
            let base = base + row * if self.transposed[0] { 1 } else { inner };
            let cut = Cut { rows: count, target: Target::Term, ..cut };
            let terms = gpu.allocate(dtype, [terms, count * columns])?;
            gpu.in_windows(inner, &parts, |some, tensors| {
                let first = some.start / window * count * columns;
                let term = Piece { tensor: &terms, first, count: count * columns, written: true };
                let start = |moves: bool| if moves { 0 } else { some.start };
                let bases = [base + start(self.transposed[0]), start(!self.transposed[1]), 0];
                let cut = Cut { inner: some.len(), bases, ..cut };
                gpu.with_pieces(&[term], |term| self.cut(gpu, [tensors[0], tensors[1], term[0]], sizes, cut))
            })?;
            let out = Piece { tensor: out, first: row * columns, count: count * columns, written: true };
            gpu.with_pieces(&[out], |out| self.by_tiles.add(gpu, &terms, out[0]))?;
        }
        Ok(())
    }

    fn cut(&self, gpu: &GpuDevice, [a, b, out]: [&Tensor; 3], sizes: &Sizes, cut: Cut) -> Result<()> {
        let Cut { rows, inner, columns, bases, target } = cut;
        let strides = [
            if self.transposed[0] { sizes.rows } else { sizes.inner },
            if self.transposed[1] { sizes.inner } else { sizes.columns },
            sizes.columns,
        ];
        let by_fours = |k: usize, extent: usize| [strides[k], bases[k], extent].iter().all(|n| n.is_multiple_of(4));
        let along = |k: usize, extent: usize| if self.transposed[k] == (k == 0) { extent } else { inner };
        let mut vectors = [by_fours(0, along(0, 4)), by_fours(1, along(1, columns)), by_fours(2, columns)];
        // Of the shaders that there are.
        match self.by_tiles.sources() {
            [Source::Columns, Source::Rows] => {}
            [_, Source::Rows] => vectors = [vectors[0] && vectors[1], vectors[0] && vectors[1], vectors[2]],
            _ => vectors = [vectors[0], vectors[1] && vectors[2], vectors[1] && vectors[2]],
        }
        let mut special = of_matrices([strides[0], strides[1]])?;
        for (place, base) in (special.len() - 3..).zip(bases) {
            special[place] = word(base)?;
        }
        let extents = Extents { rows, columns, inner, batches: 1 };
        let (stride, end) = (strides[2], End::default());
        let factors = gemm::Factors { a, b, out, extents, vectors, stride, step: 0, target, end, special };
        self.by_tiles.run(gpu, &factors)
    }
}
