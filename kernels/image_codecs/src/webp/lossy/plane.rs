//! The samples of a picture's brightness, or of one of the differences of colour.

use kernlink::Result;
use kernlink::tensor::scratch::{self, Pooled};

/// Samples in front of each row, and rows above the first. A prediction reads one of them, a filter's window has eight.
const LEFT: usize = 8;
const ABOVE: usize = 8;

/// Rows behind the last, to which filters may go on from row to row.
const BELOW: usize = 1;

/// Whole macroblocks of samples, with what predictions take for the samples above and to the left of the picture.
pub(super) struct Plane {
    pub(super) samples: Pooled<u8>,
    /// Samples from row to row.
    pub(super) stride: usize,
}

impl Plane {
    /// A plane of so many rows and columns.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn new(rows: usize, columns: usize) -> Result<Plane> {
        let stride = LEFT + columns;
        let mut samples = scratch::pooled::<u8>((ABOVE + rows + BELOW) * stride)?;
        samples[..ABOVE * stride].fill(127);
        Ok(Plane { samples, stride })
    }

    /// Writes what predictions take for the samples to the left of some rows. Not for all rows at once: a file that ends early shall not
    /// have the system find memory for rows that it never reaches.
    pub(super) fn begin_rows(&mut self, first: usize, count: usize) {
        let start = (ABOVE + first) * self.stride;
        let rows = self.samples[start..].chunks_exact_mut(self.stride).take(count);
        rows.for_each(|row| row[..LEFT].fill(129));
    }

    /// Where a sample is.
    #[inline(always)]
    pub(super) fn at(&self, row: usize, column: usize) -> usize {
        (ABOVE + row) * self.stride + LEFT + column
    }

    /// The first samples of a row.
    pub(super) fn row(&self, row: usize, count: usize) -> &[u8] {
        &self.samples[self.at(row, 0)..][..count]
    }
}
