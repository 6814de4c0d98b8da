//! Tensors as batches of matrices, which threads share.

use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};

/// The matrices of the inputs, in the last two dimensions.
pub(crate) struct Matrices {
    outer: Shape,
    pub(crate) count: usize,
    /// Rows and columns of each input's.
    pub(crate) sizes: Vec<[usize; 2]>,
}

impl Matrices {
    /// Of the first inputs.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are no two dimensions, or those before them differ.
    pub(crate) fn of(ctx: &RawContext<'_>, inputs: usize) -> Result<Self> {
        let (mut outer, mut sizes) = (Shape::scalar(), Vec::new());
        for index in 0..inputs {
            let shape = ctx.input_at(index)?.shape();
            let rank = shape.rank();
            ensure!(rank >= 2, InvalidArgument, "Input tensor {index} must have rank >= 2, got {rank}");
            let before = Shape::from(&shape[..rank - 2]);
            if index > 0 {
                ensure!(rank == outer.rank() + 2, InvalidArgument, "All input tensors must have the same rank.");
                ensure!(
                    before == outer,
                    InvalidArgument,
                    "All input tensors must have the same outer dimensions: {outer} and {before}"
                );
            }
            outer = before;
            sizes.push([shape[rank - 2], shape[rank - 1]]);
        }
        Ok(Matrices { count: outer.num_elements(), outer, sizes })
    }

    /// As [`Matrices::of`] for one input of square matrices; their size, too.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they are not square, or as there.
    pub(crate) fn square(ctx: &RawContext<'_>) -> Result<(Self, usize)> {
        let matrices = Matrices::of(ctx, 1)?;
        Ok((matrices.ensure_square()?, ctx.input_at(0)?.shape()[ctx.input_at(0)?.rank() - 1]))
    }

    /// # Errors
    /// INVALID_ARGUMENT if those of the first input are not square.
    pub(crate) fn ensure_square(self) -> Result<Self> {
        let [rows, columns] = self.sizes[0];
        ensure!(rows == columns, InvalidArgument, "Input matrix must be square, not {rows} x {columns}.");
        Ok(self)
    }

    /// The shape of as many tensors of some dimensions.
    pub(crate) fn shape(&self, dims: &[usize]) -> Shape {
        let mut shape = self.outer.clone();
        shape.extend(dims);
        shape
    }
}

/// Cuts a slice into pieces of one length, of which there are `count`, also where they are empty.
pub(crate) fn pieces<T>(mut rest: &mut [T], count: usize) -> impl Iterator<Item = &mut [T]> {
    let length = rest.len() / count.max(1);
    (0..count).map(move |_| {
        let (piece, others) = std::mem::take(&mut rest).split_at_mut(length);
        rest = others;
        piece
    })
}

/// Part `index` of as many of one length.
pub(crate) fn part<T>(all: &[T], index: usize, length: usize) -> &[T] {
    &all[index * length..][..length]
}

/// Works on items, on several threads if it is worth it; `cost` is that of one in nanoseconds.
///
/// # Errors
/// That of the first item that fails.
pub(crate) fn each<I: Send>(
    ctx: &RawContext<'_>,
    items: impl Iterator<Item = I>,
    cost: usize,
    work: impl Fn(usize, &mut I) -> Result<()> + Sync,
) -> Result<()> {
    let mut items = scratch::collected(items)?;
    ctx.try_parallel_chunks(&mut items, 1, cost, |first, items| {
        items.iter_mut().enumerate().try_for_each(|(i, item)| work(first + i, item))
    })
}

/// What so many steps for each of three dimensions cost.
pub(crate) fn cubic(m: usize, n: usize, k: usize) -> usize {
    m.saturating_mul(n).saturating_mul(k) / 2 + 50
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_many_as_they_should_be() {
        let mut all = [1, 2, 3, 4, 5, 6];
        assert_eq!(pieces(&mut all, 3).map(|piece| piece.to_vec()).collect::<Vec<_>>(), [[1, 2], [3, 4], [5, 6]]);
        assert_eq!(pieces(&mut all[..0], 3).map(|piece| piece.len()).collect::<Vec<_>>(), [0; 3]);
        assert_eq!(pieces(&mut all[..0], 0).count(), 0);
    }
}
