//! Freed blocks of tensors' memory, by size class.
//!
//! Page faults are most of the cost of an element-wise op on a large tensor, so large freed blocks are kept and handed out
//! again: some in any case, and more as long as no more memory is taken than was in use at once of late. Small blocks are the
//! allocator's own business.

use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::memory;

/// Blocks below this size go straight to the allocator.
pub(super) const POOLED_FROM: usize = 64 * 1024;
/// Size classes a power of two.
const STEPS: usize = 4;
/// Bytes that are kept in any case, for blocks of many sizes in turn.
const FREE: usize = 1 << 30;
/// How many requests make a period: more than a step of training has.
const PERIOD: usize = 1 << 14;

/// Bytes that are kept at most: a quarter of the memory that there is.
static LIMIT: LazyLock<usize> = LazyLock::new(|| memory::total().map_or(1 << 30, |total| total / 4));

pub(super) static POOL: Pool = Pool(Mutex::new(Kept::new(FREE)));

/// A block of initialised memory that nobody uses.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) pointer: NonNull<u8>,
    pub(super) capacity: usize,
}

/// The class of the smallest block with at least `bytes` bytes.
pub(super) fn size_class(bytes: usize) -> usize {
    let power = bytes.ilog2() as usize;
    let (base, step) = (1usize << power, (1usize << power) / STEPS);
    power * STEPS + (bytes - base).div_ceil(step)
}

/// The size of the blocks of a class.
pub(super) fn class_bytes(class: usize) -> Option<usize> {
    let (power, step) = (class / STEPS, class % STEPS);
    let base = 1usize.checked_shl(power as u32).filter(|_| power < usize::BITS as usize - 2)?;
    Some(base + base / STEPS * step)
}

/// The blocks that all threads share.
pub(super) struct Pool(Mutex<Kept>);

struct Kept {
    classes: Vec<Vec<NonNull<u8>>>,
    /// Bytes that are kept in any case.
    free: usize,
    /// Bytes of the blocks that are kept.
    bytes: usize,
    /// Bytes of the blocks that are in use.
    used: usize,
    /// The most that were in use at once, in this period and in the one before.
    most_used: [usize; 2],
    /// The requests of this period.
    requests: usize,
}

// SAFETY: the pointers are blocks that the pool owns alone.
unsafe impl Send for Kept {}

impl Kept {
    const fn new(free: usize) -> Kept {
        Kept { classes: Vec::new(), free, bytes: 0, used: 0, most_used: [0; 2], requests: 0 }
    }

    fn most_used(&self) -> usize {
        self.most_used[0].max(self.most_used[1])
    }

    fn add_used(&mut self, bytes: usize) {
        self.used += bytes;
        self.requests += 1;
        if self.requests == PERIOD {
            (self.most_used, self.requests) = ([0, self.most_used[0]], 0);
        }
        self.most_used[0] = self.most_used[0].max(self.used);
    }

    fn take(&mut self, class: usize) -> Option<Block> {
        let pointer = self.classes.get_mut(class)?.pop()?;
        let capacity = class_bytes(class)?;
        self.bytes -= capacity;
        Some(Block { pointer, capacity })
    }

    /// A block that is to go, as there are so many bytes too much: the smallest that is enough, or else the largest.
    fn take_of(&mut self, over: usize) -> Option<Block> {
        let mut kept = (0..self.classes.len()).filter(|&class| !self.classes[class].is_empty());
        let largest = kept.next_back()?;
        let class = kept.find(|&class| class_bytes(class).is_some_and(|bytes| bytes >= over)).unwrap_or(largest);
        self.take(class)
    }

    /// How many bytes too much there are if so many are kept and so many others in use.
    fn over(&self, kept: usize, used: usize) -> usize {
        let over = kept.saturating_add(used).saturating_sub(self.most_used());
        over.min(kept.saturating_sub(self.free))
    }

    /// A block that is to go before another of so many bytes comes.
    fn take_for(&mut self, capacity: usize) -> Option<Block> {
        match self.over(self.bytes, self.used.saturating_add(capacity)) {
            0 => None,
            over => self.take_of(over),
        }
    }

    /// Keeps a block that was in use; returns those that are to go.
    fn give(&mut self, block: Block, limit: usize) -> [Option<Block>; 2] {
        self.used -= block.capacity;
        let over = self.over(self.bytes + block.capacity, self.used);
        if over > 0 {
            // A period has passed in which less was used: what is too much goes as blocks come back.
            let other = if over > block.capacity { self.take_of(over - block.capacity) } else { None };
            return [Some(block), other];
        }
        if self.bytes + block.capacity > limit || !self.note(&block) {
            return [Some(block), None];
        }
        self.bytes += block.capacity;
        [None, None]
    }

    /// Adds a block to those of its class, if there is memory to note it.
    fn note(&mut self, block: &Block) -> bool {
        let class = size_class(block.capacity);
        let missing = (class + 1).saturating_sub(self.classes.len());
        if self.classes.try_reserve(missing).is_err() {
            return false;
        }
        self.classes.extend(std::iter::repeat_with(Vec::new).take(missing));
        let blocks = &mut self.classes[class];
        let has_room = blocks.try_reserve(1).is_ok();
        if has_room {
            blocks.push(block.pointer);
        }
        has_room
    }
}

impl Pool {
    /// A block of a class, which is in use from now on.
    pub(super) fn take(&self, class: usize) -> Option<Block> {
        let mut kept = self.lock();
        let block = kept.take(class)?;
        kept.add_used(block.capacity);
        Some(block)
    }

    /// A block that is to go before another of so many bytes comes, as there would be more than were in use at once; `None` if none
    /// has to.
    pub(super) fn take_for(&self, capacity: usize) -> Option<Block> {
        self.lock().take_for(capacity)
    }

    /// Counts a block that was not here as one in use.
    pub(super) fn add_used(&self, capacity: usize) {
        LazyLock::force(&LIMIT);
        self.lock().add_used(capacity);
    }

    /// Keeps a block that was in use; returns those that are to go.
    pub(super) fn give(&self, block: Block) -> [Option<Block>; 2] {
        let limit = *LIMIT;
        self.lock().give(block, limit)
    }

    /// Hands all blocks over.
    pub(super) fn clear(&self, release: impl Fn(Block)) {
        let classes = {
            let mut kept = self.lock();
            kept.bytes = 0;
            std::mem::take(&mut kept.classes)
        };
        for (class, blocks) in classes.into_iter().enumerate() {
            let Some(capacity) = class_bytes(class) else { continue };
            blocks.into_iter().for_each(|pointer| release(Block { pointer, capacity }));
        }
    }

    /// Bytes of the blocks that are here.
    pub(super) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// The most that were in use at once of late.
    #[cfg(test)]
    pub(super) fn most_used(&self) -> usize {
        self.lock().most_used()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: usize = 1 << 20;

    fn block(megabytes: usize) -> Block {
        Block { pointer: NonNull::dangling(), capacity: megabytes * MB }
    }

    fn gone(blocks: [Option<Block>; 2]) -> Vec<usize> {
        blocks.into_iter().flatten().map(|block| block.capacity / MB).collect()
    }

    /// What has to go for a block to come.
    fn for_another(kept: &mut Kept, megabytes: usize) -> Vec<usize> {
        let mut gone = Vec::new();
        while let Some(block) = kept.take_for(megabytes * MB) {
            gone.push(block.capacity / MB);
        }
        gone
    }

    #[test]
    fn classes_cover_their_sizes() {
        for bytes in [POOLED_FROM, POOLED_FROM + 1, 100_000, 131_071, 131_072, 1 << 20, (1 << 20) + 12_345] {
            let size = class_bytes(size_class(bytes)).unwrap();
            assert!(size >= bytes && size <= bytes + bytes / 2, "{bytes} -> {size}");
            assert_eq!(size_class(size), size_class(bytes));
        }
    }

    #[test]
    fn there_are_never_more_blocks_than_were_in_use_at_once() {
        let mut kept = Kept::new(0);
        for megabytes in [8, 16, 32, 40, 4] {
            kept.add_used(megabytes * MB);
        }
        for megabytes in [8, 16, 32, 40] {
            assert_eq!(gone(kept.give(block(megabytes), usize::MAX)), []);
        }
        // All 96 that were given back are kept, and 4 are in use.
        assert_eq!((kept.used, kept.bytes, kept.most_used()), (4 * MB, 96 * MB, 100 * MB));
        assert_eq!(for_another(&mut kept, 10), [16]);
        assert_eq!(for_another(&mut kept, 16), []);
        assert_eq!(for_another(&mut kept, 90), [40, 32, 8]);
        assert_eq!(kept.bytes, 0);
        kept.add_used(90 * MB);
        assert_eq!(for_another(&mut kept, 30), []);
        kept.add_used(30 * MB);
        assert_eq!(kept.most_used(), 124 * MB);
        // No more than the limit.
        assert_eq!(gone(kept.give(block(28), 30 * MB)), []);
        assert_eq!(gone(kept.give(block(4), 30 * MB)), [4]);
        assert_eq!((kept.used, kept.bytes), (92 * MB, 28 * MB));
    }

    #[test]
    fn some_blocks_are_kept_in_any_case() {
        let mut kept = Kept::new(20 * MB);
        for megabytes in [8, 12, 16] {
            kept.add_used(megabytes * MB);
        }
        for megabytes in [8, 12, 16] {
            assert_eq!(gone(kept.give(block(megabytes), usize::MAX)), []);
        }
        assert_eq!(for_another(&mut kept, 40), [16]);
        kept.add_used(40 * MB);
        assert_eq!((kept.bytes, kept.most_used()), (20 * MB, 40 * MB));
        kept.add_used(MB);
        assert_eq!(gone(kept.give(block(1), usize::MAX)), [1], "more than 20 MB, and than were in use");
    }

    #[test]
    fn what_was_used_long_ago_goes_as_blocks_come_back() {
        let mut kept = Kept::new(0);
        for megabytes in [64, 32, 1] {
            kept.add_used(megabytes * MB);
        }
        for megabytes in [64, 32, 1] {
            assert_eq!(gone(kept.give(block(megabytes), usize::MAX)), []);
        }
        // From now on one block is used, again and again.
        let mut work = |requests: usize| {
            let mut went = Vec::new();
            for _ in 0..requests {
                let block = kept.take(size_class(MB)).unwrap_or(block(1));
                kept.add_used(block.capacity);
                went.extend(gone(kept.give(block, usize::MAX)));
            }
            went
        };
        assert_eq!(work(PERIOD), []);
        assert_eq!(work(PERIOD), [1, 64, 1, 32]);
    }
}
