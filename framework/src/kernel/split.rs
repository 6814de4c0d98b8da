//! How a kernel splits its work over threads.

use std::ops::Range;

use super::context::RawContext;
use crate::threads::ThreadPool;

/// The least work, in nanoseconds or so, that is worth a thread that is awake.
const WORTH_SPLITTING: usize = 20_000;

/// The least work that is worth waking threads.
const WORTH_WAKING: usize = 60_000;

/// The least work of a part.
const PART: usize = 5_000;

/// The most parts that there are for each thread.
const PARTS_PER_THREAD: usize = 4;

impl<'a> RawContext<'a> {
    /// The number of threads that [`RawContext::parallel_for`] may use.
    pub fn threads(&self) -> usize {
        self.pool.map_or(1, ThreadPool::threads)
    }

    /// Runs `work` on ranges that together cover `0..total`, on several threads if `total * cost` (in nanoseconds or
    /// so) is worth it. The ranges are equal but for one item.
    ///
    /// The calling thread runs nothing else until all are done, so that it may hold locks.
    pub fn parallel_for(&self, total: usize, cost: usize, work: impl Fn(Range<usize>) + Sync) {
        self.parallel_ranges(total, 1, cost, &work);
    }

    /// Splits `items` into pieces of a multiple of `unit` items (the last may be shorter) and runs `work` on each with
    /// the index of its first item, on several threads if it is worth it. `cost` is that of one item.
    pub fn parallel_chunks<T: Send>(
        &self,
        items: &mut [T],
        unit: usize,
        cost: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        /// The items, of which each part takes others.
        struct Items<T>(*mut T);
        // SAFETY: threads take distinct items, which can be sent to them.
        unsafe impl<T: Send> Sync for Items<T> {}
        impl<T> Items<T> {
            /// # Safety
            /// The range is within the items, and nobody else uses what is in it.
            #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
            unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
                // SAFETY: by the caller's promise.
                unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
            }
        }

        let length = items.len();
        let items = Items(items.as_mut_ptr());
        self.parallel_ranges(length, unit.max(1), cost, &|range| {
            // SAFETY: the ranges are parts of the items that do not overlap.
            work(range.start, unsafe { items.slice(range) });
        });
    }

    /// Runs `work` on ranges that together cover `0..length`, do not overlap, and begin at multiples of `unit`; `cost` is that of
    /// one item. Apart from the functions above, because these are compiled for every kernel, and what this does once; it is
    /// for kernels that split what they know no type of.
    #[inline(never)]
    pub fn parallel_ranges(&self, length: usize, unit: usize, cost: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
        let units = length.div_ceil(unit);
        let Some(Split { pool, parts, is_long }) = self.split(units, cost.saturating_mul(unit)) else {
            return work(0..length);
        };
        let bound = |part: usize| (part * units / parts * unit).min(length);
        pool.for_each(parts, is_long, |part| work(bound(part)..bound(part + 1)));
    }

    /// The pool, if work is to be split over it.
    pub fn pool(&self) -> Option<&ThreadPool> {
        self.pool
    }

    /// How work is split, if it is.
    fn split(&self, total: usize, cost: usize) -> Option<Split<'a>> {
        let work = total.saturating_mul(cost.max(1));
        let pool = self.pool.filter(|_| work >= WORTH_SPLITTING)?;
        let (threads, is_long) = (pool.threads(), work >= WORTH_WAKING);
        // More parts than threads: one that comes late, or is held up, does fewer.
        let mut parts = (work / PART).min(PARTS_PER_THREAD * threads).min(total);
        if parts > threads {
            parts -= parts % threads;
        }
        if parts < 2 {
            return None;
        }
        // Loops one after the other may be worth waking threads that each of them is not.
        let is_long = is_long || (!pool.are_awake() && pool.has_missed(work, WORTH_WAKING));
        (is_long || pool.are_awake()).then_some(Split { pool, parts, is_long })
    }
}

/// Work that is done in parts.
struct Split<'a> {
    pool: &'a ThreadPool,
    parts: usize,
    /// Whether it is worth waking threads.
    is_long: bool,
}
