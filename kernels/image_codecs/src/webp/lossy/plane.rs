//! The samples of a picture's brightness, or of one of the differences of colour.

use kernlink::Result;
use kernlink::tensor::scratch;

/// Samples in front of each row, and rows above the first: filters look at eight of them, predictions at one.
const LEFT: usize = 8;
const ABOVE: usize = 8;

/// Whole macroblocks of samples, with what predictions take for the samples above and to the left of the picture.
pub(super) struct Plane {
    pub(super) samples: Vec<u8>,
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
        let mut samples = scratch::zeros::<u8>((ABOVE + rows) * stride)?;
        let (above, picture) = samples.split_at_mut(ABOVE * stride);
        above.fill(127);
        picture.chunks_exact_mut(stride).for_each(|row| row[..LEFT].fill(129));
        Ok(Plane { samples, stride })
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
