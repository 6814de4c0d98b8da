//! Transforms of complex numbers along one dimension of a tensor.

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use rustfft::num_complex::Complex;

use crate::plans::Real;

/// As many neighbouring rows are gathered, and scattered, at a time: the elements of a few cache lines.
const TILE: usize = 16;

/// What one element of a row of a length costs, in nanoseconds.
pub(crate) fn cost(length: usize) -> usize {
    1 + length.ilog2() as usize / 4
}

/// Which way, and what the result is multiplied by.
#[derive(Clone, Copy)]
pub(crate) struct Way<T> {
    pub(crate) inverse: bool,
    pub(crate) scale: Option<T>,
}

impl<T: Real> Way<T> {
    fn scale(self, row: &mut [Complex<T>]) {
        if let Some(scale) = self.scale {
            row.iter_mut().for_each(|x| *x = *x * scale);
        }
    }
}

/// Transforms rows of a length, which lie one after the other, to rows of the same places.
pub(crate) fn rows<T: Real>(
    ctx: &RawContext<'_>,
    from: &[Complex<T>],
    to: &mut [Complex<T>],
    length: usize,
    way: Way<T>,
) -> Result<()> {
    let plan = T::plans().complex(length, way.inverse);
    ctx.try_parallel_chunks(to, length, cost(length), |first, to| {
        let mut space = scratch::zeros(plan.get_immutable_scratch_len())?;
        plan.process_immutable_with_scratch(&from[first..][..to.len()], to, &mut space);
        way.scale(to);
        Ok(())
    })
}

/// Transforms along dimension `axis`.
pub(crate) fn axis<T: Real>(
    ctx: &RawContext<'_>,
    data: &mut [Complex<T>],
    dims: &[usize],
    axis: usize,
    way: Way<T>,
) -> Result<()> {
    let (length, inner) = (dims[axis], dims[axis + 1..].iter().product::<usize>());
    if data.is_empty() {
        return Ok(());
    }
    let plan = T::plans().complex(length, way.inverse);
    // Each column becomes a row of its own; two neighbouring columns are two neighbouring rows.
    let mut rows = scratch::zeros::<Complex<T>>(data.len())?;
    let from = &*data;
    ctx.try_parallel_chunks(&mut rows, length, cost(length) + 1, |first, rows| {
        let mut space = scratch::zeros(plan.get_inplace_scratch_len())?;
        let mut column = first / length;
        let mut rest = rows;
        while !rest.is_empty() {
            // Columns of one block.
            let (outer, at) = (column / inner, column % inner);
            let count = TILE.min(inner - at).min(rest.len() / length);
            let tile;
            (tile, rest) = rest.split_at_mut(count * length);
            let block = &from[outer * length * inner..][..length * inner];
            for (j, line) in block.chunks_exact(inner).enumerate() {
                for (row, &x) in tile[j..].iter_mut().step_by(length).zip(&line[at..at + count]) {
                    *row = x;
                }
            }
            plan.process_with_scratch(tile, &mut space);
            way.scale(tile);
            column += count;
        }
        Ok(())
    })?;
    let rows = &*rows;
    ctx.parallel_chunks(data, inner, 2, |first, lines| {
        let mut line = first / inner;
        let mut rest = lines;
        while !rest.is_empty() {
            // Lines of one block.
            let (outer, at) = (line / length, line % length);
            let count = TILE.min(length - at).min(rest.len() / inner);
            let tile;
            (tile, rest) = rest.split_at_mut(count * inner);
            let block = &rows[outer * length * inner..][..length * inner];
            for (column, row) in block.chunks_exact(length).enumerate() {
                for (x, &y) in tile[column..].iter_mut().step_by(inner).zip(&row[at..at + count]) {
                    *x = y;
                }
            }
            line += count;
        }
    });
    Ok(())
}
