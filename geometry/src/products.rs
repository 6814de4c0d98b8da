//! The sizes of products of matrices over batch dimensions that broadcast.

use smallvec::SmallVec;

use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::{bail, ensure};

/// One side of a product.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Batch dimensions, then rows and columns: at least 2 dimensions.
    pub shape: &'a Shape,
    /// Whether rows and columns are exchanged.
    pub transposed: bool,
}

impl Side<'_> {
    /// Batch dimensions, rows and columns; these as they enter the product.
    fn split(&self) -> (&[usize], usize, usize) {
        let (batch, matrix) = self.shape.split_at(self.shape.rank() - 2);
        if self.transposed { (batch, matrix[1], matrix[0]) } else { (batch, matrix[0], matrix[1]) }
    }
}

/// A batch dimension: its size, and the matrices between neighbours on either side, none where that side broadcasts.
pub type Batch = (usize, [usize; 2]);

/// The sizes of products.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// The output's shape.
    pub output: Shape,
    /// Rows of the first factors and the products.
    pub rows: usize,
    /// Columns of the first factors, rows of the second ones.
    pub inner: usize,
    /// Columns of the second factors and the products.
    pub columns: usize,
    /// The batch dimensions, as few as say the same, the outermost first.
    pub batch: SmallVec<[Batch; 4]>,
}

impl Sizes {
    /// The products of the matrices on two sides.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the inner dimensions differ or the batch dimensions do not broadcast.
    pub fn new(a: Side<'_>, b: Side<'_>) -> Result<Sizes> {
        let ((a_batch, rows, inner), (b_batch, b_rows, columns)) = (a.split(), b.split());
        let turned = |side: Side<'_>| if side.transposed { " transposed" } else { "" };
        ensure!(
            inner == b_rows,
            InvalidArgument,
            "the matrices do not fit: {}{} has {inner} columns, {}{} has {b_rows} rows",
            a.shape,
            turned(a),
            b.shape,
            turned(b)
        );
        let Ok(mut output) = Shape::from(a_batch).broadcast(&Shape::from(b_batch)) else {
            bail!(InvalidArgument, "the batch dimensions of {} and {} do not broadcast", a.shape, b.shape);
        };
        let batch = collapsed(&output, a_batch, b_batch);
        output.push(rows);
        output.push(columns);
        output.check()?;
        Ok(Sizes { output, rows, inner, columns, batch })
    }
}

/// The batch dimensions, as few as say the same.
fn collapsed(sizes: &[usize], a: &[usize], b: &[usize]) -> SmallVec<[Batch; 4]> {
    let mut batch: SmallVec<[Batch; 4]> = SmallVec::new();
    let mut next = [1usize; 2];
    for (from_last, &size) in sizes.iter().rev().enumerate() {
        let mut steps = [0; 2];
        for (side, (shape, step)) in [a, b].into_iter().zip(&mut steps).enumerate() {
            let own = shape.len().checked_sub(from_last + 1).map_or(1, |axis| shape[axis]);
            if own != 1 {
                *step = next[side];
            }
            next[side] = next[side].saturating_mul(own);
        }
        if size == 1 {
            continue;
        }
        match batch.last_mut() {
            Some((inner, inner_steps))
                if steps.iter().zip(&*inner_steps).all(|(&step, &own)| step == own.saturating_mul(*inner)) =>
            {
                *inner = inner.saturating_mul(size);
            }
            _ => batch.push((size, steps)),
        }
    }
    batch.reverse();
    batch
}

/// Fails unless the factors of one product, named `a` and `b`, are matrices.
///
/// # Errors
/// INVALID_ARGUMENT if one is not.
pub fn ensure_matrices(a: &Shape, b: &Shape) -> Result<()> {
    for (shape, name) in [(a, "a"), (b, "b")] {
        ensure!(shape.rank() == 2, InvalidArgument, "`{name}` must be a matrix, not of shape {shape}");
    }
    Ok(())
}

/// Fails unless the factors of several products, named `x` and `y`, have matrices, and the same batch dimensions if they
/// do not broadcast.
///
/// # Errors
/// INVALID_ARGUMENT if they have not.
pub fn ensure_batches(x: &Shape, y: &Shape, broadcasts: bool) -> Result<()> {
    let batch = |shape: &Shape| Shape::from(&shape[..shape.rank().saturating_sub(2)]);
    let same = broadcasts || (x.rank() == y.rank() && batch(x) == batch(y));
    ensure!(same, InvalidArgument, "`x` and `y` must have the same batch dimensions, not shapes {x} and {y}");
    for (shape, name) in [(x, "x"), (y, "y")] {
        ensure!(shape.rank() >= 2, InvalidArgument, "`{name}` must have at least 2 dimensions, not shape {shape}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_that_say_the_same_are_one() {
        let collapsed = |sizes: &[usize], a: &[usize], b: &[usize]| collapsed(sizes, a, b).to_vec();
        assert_eq!(collapsed(&[2, 3, 4], &[2, 3, 4], &[2, 3, 4]), [(24, [1, 1])]);
        assert_eq!(collapsed(&[2, 3, 4], &[2, 3, 4], &[4]), [(6, [4, 0]), (4, [1, 1])]);
        assert_eq!(collapsed(&[2, 3], &[2, 1], &[3]), [(2, [1, 0]), (3, [0, 1])]);
        assert_eq!(collapsed(&[1, 1], &[1], &[1, 1]), []);
        assert_eq!(collapsed(&[2, 2, 2, 2], &[2, 1, 1, 2], &[1, 2, 2, 1]), [(2, [2, 0]), (4, [0, 1]), (2, [1, 0])]);
    }

    #[test]
    fn sizes_are_checked() {
        let output = |a: &[usize], b: &[usize], transposed: bool| {
            let (a, b) = (Shape::from(a), Shape::from(b));
            let sizes = Sizes::new(Side { shape: &a, transposed }, Side { shape: &b, transposed: false });
            sizes.map(|sizes| sizes.output)
        };
        assert_eq!(output(&[4, 2, 3], &[3, 5], false).unwrap(), Shape::from([4, 2, 5]));
        assert_eq!(output(&[3, 2], &[1, 3, 5], true).unwrap(), Shape::from([1, 2, 5]));
        assert!(output(&[2, 3], &[4, 5], false).is_err());
        assert!(output(&[2, 2, 3], &[3, 3, 5], false).is_err());
        assert!(output(&[usize::MAX >> 2, 0], &[0, 8], false).is_err());
    }
}
