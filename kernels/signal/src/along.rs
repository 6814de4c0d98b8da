//! Transforms of complex numbers along one dimension of a tensor.

use std::sync::Arc;

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::scratch;
use kernlink_kernels_common::turn::transpose;
use rustfft::Fft;
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
    /// The same way, with nothing multiplied.
    fn unscaled(self) -> Self {
        Way { scale: None, ..self }
    }

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

/// Transforms the columns of one block of lines where they lie, some at a time.
fn columns<T: Real>(
    plan: &dyn Fft<T>,
    block: &mut [Complex<T>],
    inner: usize,
    tile: &mut [Complex<T>],
    space: &mut [Complex<T>],
) {
    let length = block.len() / inner;
    for at in (0..inner).step_by(TILE) {
        let count = TILE.min(inner - at);
        let tile = &mut tile[..count * length];
        transpose((&block[at..], inner), (tile, length), [length, count]);
        plan.process_with_scratch(tile, space);
        transpose((tile, length), (&mut block[at..], inner), [count, length]);
    }
}

/// Transforms along the last dimensions, those of each block of elements while they are in a near cache.
pub(crate) fn all<T: Real>(
    ctx: &RawContext<'_>,
    from: &[Complex<T>],
    to: &mut [Complex<T>],
    dims: &[usize],
    way: Way<T>,
) -> Result<()> {
    let (size, last) = (dims.iter().product::<usize>(), dims.len() - 1);
    if to.len() / size < ctx.threads() {
        rows(ctx, from, to, dims[last], way)?;
        let dims = &[&[to.len() / size], dims].concat()[..];
        return (1..dims.len() - 1).try_for_each(|dimension| axis(ctx, to, dims, dimension, way.unscaled()));
    }
    let plans: Vec<_> = dims.iter().map(|&length| T::plans().complex(length, way.inverse)).collect();
    let costs = dims.iter().map(|&length| cost(length) + 1).sum();
    ctx.try_parallel_chunks(to, size, costs, |first, to| {
        let tiles = (0..last).map(|at| dims[at] * TILE.min(dims[at + 1..].iter().product()));
        let mut tile = scratch::zeros(tiles.max().unwrap_or(0))?;
        let lens = plans[..last].iter().map(|plan| plan.get_inplace_scratch_len());
        let most = lens.chain([plans[last].get_immutable_scratch_len()]).max().unwrap_or(0);
        let mut space = scratch::zeros(most)?;
        nested(&plans, dims, &from[first..][..to.len()], to, way, (&mut tile, &mut space));
        Ok(())
    })
}

/// Transforms blocks one after the other, all inner dimensions of one before its outermost.
fn nested<T: Real>(
    plans: &[Arc<dyn Fft<T>>],
    dims: &[usize],
    from: &[Complex<T>],
    to: &mut [Complex<T>],
    way: Way<T>,
    (tile, space): (&mut [Complex<T>], &mut [Complex<T>]),
) {
    let [length, inner @ ..] = dims else { return };
    if inner.is_empty() {
        // So many are multiplied while they are in the first cache.
        let some = (1024 / length).max(1) * length;
        for (from, to) in from.chunks(some).zip(to.chunks_mut(some)) {
            plans[0].process_immutable_with_scratch(from, to, space);
            way.scale(to);
        }
        return;
    }
    let step = inner.iter().product::<usize>();
    for (from, to) in from.chunks_exact(length * step).zip(to.chunks_exact_mut(length * step)) {
        nested(&plans[1..], inner, from, to, way, (&mut *tile, &mut *space));
        columns(&*plans[0], to, step, tile, space);
    }
}

/// Transforms along dimension `axis`, without a factor.
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
    if data.len() / (length * inner) >= ctx.threads() {
        return ctx.try_parallel_chunks(data, length * inner, cost(length) + 1, |_, data| {
            let mut tile = scratch::zeros(length * TILE.min(inner))?;
            let mut space = scratch::zeros(plan.get_inplace_scratch_len())?;
            for block in data.chunks_exact_mut(length * inner) {
                columns(&*plan, block, inner, &mut tile, &mut space);
            }
            Ok(())
        });
    }
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
            transpose((&block[at..], inner), (tile, length), [length, count]);
            plan.process_with_scratch(tile, &mut space);
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
            transpose((&block[at..], length), (tile, inner), [inner, count]);
            line += count;
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;

    use super::*;

    #[test]
    fn threads_change_roundings_at_most() {
        let signature = Signature::default();
        for dims in [&[7][..], &[5, 6], &[16, 33], &[3, 18, 5], &[2, 1, 19]] {
            let size = dims.iter().product::<usize>();
            let from: Vec<_> = (0..4 * size).map(|i| Complex::new((i % 23) as f64 * 0.37, (i % 7) as f64)).collect();
            let transformed = |threads: usize| {
                let pool = ThreadPool::new("test", threads);
                let ctx = RawContext::new("fft", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
                let mut to = vec![Complex::new(f64::NAN, f64::NAN); from.len()];
                all(&ctx, &from, &mut to, dims, Way { inverse: true, scale: Some(0.5) }).unwrap();
                to
            };
            // Blocks by themselves, and all of one dimension before the next.
            let (alone, shared) = (transformed(1), transformed(8));
            // What transforms rows takes two at a time, and the last one otherwise.
            let differences = alone.iter().zip(&shared).map(|(a, b)| (a - b).norm());
            assert!(differences.fold(0.0, f64::max) < 1e-10, "{dims:?}");
            // The first of each transform is the sum.
            for (from, to) in from.chunks_exact(size).zip(alone.chunks_exact(size)) {
                assert!((from.iter().sum::<Complex<f64>>() * 0.5 - to[0]).norm() < 1e-9, "{dims:?}");
            }
            if let [rows, columns] = *dims {
                let (k, l) = (rows - 2, columns - 1);
                let angle = |i: usize| {
                    let turns = (k * (i / columns)) as f64 / rows as f64 + (l * (i % columns)) as f64 / columns as f64;
                    Complex::from_polar(0.5, std::f64::consts::TAU * turns)
                };
                let expected: Complex<f64> = (0..size).map(|i| from[i] * angle(i)).sum();
                assert!((expected - alone[k * columns + l]).norm() < 1e-9, "{dims:?}");
            }
        }
    }
}
