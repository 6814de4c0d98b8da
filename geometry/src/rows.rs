//! Where the rows of two tensors are that broadcast to one.

use kernlink::error::Result;
use kernlink::shape::Shape;
use kernlink::tensor::scratch;

/// Where the rows of two operands are that broadcast to an output.
pub struct Rows {
    /// The output's dimensions but the last, innermost first, each with the elements from one index to the next in the
    /// operands.
    pub outer: Vec<(usize, [usize; 2])>,
    /// The sizes of the operands' last dimensions.
    pub widths: [usize; 2],
}

impl Rows {
    /// Of operands that broadcast to `output`, which has at least one dimension.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn new(output: &Shape, operands: [&Shape; 2]) -> Result<Rows> {
        let mut sizes = operands.map(|shape| shape.iter().rev().copied());
        let widths = sizes.each_mut().map(|sizes| sizes.next().unwrap_or(1));
        let mut distance = widths;
        let outer = output.iter().rev().skip(1).map(|&size| {
            let mut steps = [0; 2];
            for operand in 0..2 {
                let own = sizes[operand].next().unwrap_or(1);
                if own != 1 {
                    steps[operand] = distance[operand];
                }
                distance[operand] = distance[operand].saturating_mul(own);
            }
            (size, steps)
        });
        Ok(Rows { outer: scratch::collected(outer)?, widths })
    }

    /// The first element of each operand's row for a row of the output.
    #[inline]
    pub fn of(&self, row: usize) -> [usize; 2] {
        let (mut rest, mut places) = (row, [0; 2]);
        for &(size, steps) in &self.outer {
            let index = rest % size;
            rest /= size;
            places[0] += index * steps[0];
            places[1] += index * steps[1];
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_where_broadcasting_has_them() {
        let shape = |dims: &[usize]| Shape::from(dims);
        let (own, mask) = (shape(&[2, 3, 4, 5]), shape(&[2, 1, 1, 5]));
        let rows = Rows::new(&own, [&own, &mask]).unwrap();
        assert_eq!(rows.widths, [5, 5]);
        assert_eq!([0, 11, 12, 23].map(|row| rows.of(row)), [[0, 0], [55, 0], [60, 5], [115, 5]]);
        let (output, mask) = (shape(&[3, 2, 4]), shape(&[3, 1, 4]));
        let rows = Rows::new(&output, [&shape(&[2, 1]), &mask]).unwrap();
        assert_eq!(rows.widths, [1, 4]);
        assert_eq!([0, 1, 2, 5].map(|row| rows.of(row)), [[0, 0], [1, 0], [0, 4], [1, 8]]);
        assert_eq!(Rows::new(&shape(&[4]), [&shape(&[4]), &shape(&[])]).unwrap().of(0), [0, 0]);
    }
}
