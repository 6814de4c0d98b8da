//! The samples of a picture's brightness, or of one of the differences of colour.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::tensor::scratch::{self, Pooled};

/// Samples in front of each row, and rows above the first. A prediction reads one of them, a filter's window has eight.
const LEFT: usize = 8;
const ABOVE: usize = 8;

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
        let mut samples = scratch::pooled::<u8>((ABOVE + rows) * stride)?;
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

    /// `COUNT` rows of `N` samples, the first of which begins at a place.
    ///
    /// # Panics
    /// If the plane ends before.
    #[inline(always)]
    pub(super) fn rows_from<const N: usize, const COUNT: usize>(&mut self, at: usize) -> Rows<'_, N, COUNT> {
        let stride = self.stride;
        let samples = &mut self.samples[at..][..stride.saturating_mul(COUNT - 1).saturating_add(N)];
        Rows { first: samples.as_mut_ptr(), stride, samples: PhantomData }
    }
}

/// `COUNT` rows of `N` samples within a plane. That they are within it was asked once for all of them.
pub(super) struct Rows<'a, const N: usize, const COUNT: usize> {
    first: *mut u8,
    stride: usize,
    samples: PhantomData<&'a mut [u8]>,
}

impl<const N: usize, const COUNT: usize> Rows<'_, N, COUNT> {
    /// One of the rows.
    ///
    /// # Panics
    /// If there is none such.
    #[inline(always)]
    pub(super) fn row(&mut self, k: usize) -> &mut [u8; N] {
        assert!(k < COUNT);
        // SAFETY: there are `N` samples from `COUNT - 1` strides behind the first one on, and they are borrowed as this is.
        unsafe { &mut *self.first.add(k * self.stride).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_rows<const N: usize, const COUNT: usize>(at: impl Fn(&Plane) -> usize) -> bool {
        let mut plane = Plane::new(16, 32).unwrap();
        let at = at(&plane);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut rows = plane.rows_from::<N, COUNT>(at);
            (0..COUNT).for_each(|k| rows.row(k).fill(k as u8));
        }))
        .is_ok_and(|()| (0..COUNT).all(|k| plane.samples[at + k * plane.stride..][..N].iter().all(|&x| x == k as u8)))
    }

    #[test]
    fn rows_are_within_the_plane() {
        assert!(has_rows::<16, 16>(|plane| plane.at(0, 0)));
        assert!(has_rows::<16, 16>(|plane| plane.at(0, 16)));
        assert!(has_rows::<8, 3>(|_| 0));
        assert!(!has_rows::<16, 16>(|plane| plane.at(0, 17)));
        assert!(!has_rows::<16, 17>(|plane| plane.at(0, 0)));
        assert!(!has_rows::<1, 1>(|plane| plane.samples.len()));
        assert!(!has_rows::<1, 1>(|_| usize::MAX));
    }
}
