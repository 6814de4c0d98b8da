//! The samples of a picture's brightness, or of one of the differences of colour.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::tensor::scratch::{self, Pooled};

/// Samples in front of each row: a window of a filter has eight, of which predictions read one.
const LEFT: usize = 8;

/// Rows above the first, which predictions read.
const ABOVE: usize = 1;

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

    /// A window that begins at a place.
    ///
    /// # Panics
    /// If the plane ends before.
    #[inline(always)]
    pub(super) fn window<const N: usize, const COUNT: usize>(&mut self, at: usize) -> Window<'_, N, COUNT> {
        let stride = self.stride;
        let samples = &mut self.samples[at..][..stride.saturating_mul(COUNT - 1).saturating_add(N)];
        Window { first: samples.as_mut_ptr(), stride, samples: PhantomData }
    }
}

/// `COUNT` rows of `N` samples within a plane. That they are within it was asked once for all of them.
pub(super) struct Window<'a, const N: usize, const COUNT: usize> {
    first: *mut u8,
    stride: usize,
    samples: PhantomData<&'a mut [u8]>,
}

impl<const N: usize, const COUNT: usize> Window<'_, N, COUNT> {
    /// One of the rows.
    ///
    /// # Panics
    /// If there is none such.
    #[inline(always)]
    pub(super) fn row(&mut self, k: usize) -> &mut [u8; N] {
        assert!(k < COUNT);
        // SAFETY: the slice that this was made of ends `N` samples behind the start of row `COUNT - 1`, and `k` is less than `COUNT`. The row
        // borrows this, so there is no other one at the same time.
        unsafe { &mut *self.first.add(k * self.stride).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_window<const N: usize, const COUNT: usize>(at: impl Fn(&Plane) -> usize) -> bool {
        let mut plane = Plane::new(16, 32).unwrap();
        let at = at(&plane);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut window = plane.window::<N, COUNT>(at);
            (0..COUNT).for_each(|k| window.row(k).fill(k as u8));
        }))
        .is_ok_and(|()| (0..COUNT).all(|k| plane.samples[at + k * plane.stride..][..N].iter().all(|&x| x == k as u8)))
    }

    #[test]
    fn windows_are_within_the_plane() {
        assert!(has_window::<16, 16>(|plane| plane.at(0, 0)));
        assert!(has_window::<16, 16>(|plane| plane.at(0, 16)));
        assert!(has_window::<8, 3>(|_| 0));
        assert!(!has_window::<16, 16>(|plane| plane.at(0, 17)));
        assert!(!has_window::<16, 17>(|plane| plane.at(0, 0)));
        assert!(!has_window::<1, 1>(|plane| plane.samples.len()));
        assert!(!has_window::<1, 1>(|_| usize::MAX));
    }
}
