//! Host memory of tensors: aligned, always initialised, and reused.
//!
//! Page faults are most of the cost of an element-wise op on a large tensor, so large freed blocks are kept by size
//! class and handed out again, as long as no more memory is taken than was in use at once before. Small blocks are the
//! allocator's own business.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};

use super::mapping::{Mapping, Registered};
use super::memory;

/// Alignment of every buffer, in bytes.
pub const ALIGNMENT: usize = 64;

/// Blocks below this size go straight to the allocator.
const POOLED_FROM: usize = 64 * 1024;
/// Size classes a power of two.
const STEPS: usize = 4;

/// A block of initialised host memory: allocated, or in the hands of an owner such as a file that is mapped.
pub struct HostBuffer {
    pointer: NonNull<u8>,
    capacity: usize,
    /// What the block is a part of, if it was not allocated here.
    owner: Option<Owner>,
    /// The [stamp](HostBuffer::stamp), if somebody has asked for it since the block was last written; else 0.
    stamp: AtomicU64,
}

/// What keeps a block.
struct Owner {
    /// Dropped with the buffer, and left alone until then.
    _kept: Box<dyn Send + Sync>,
    /// Whether nothing else can see the block.
    is_exclusive: bool,
}

// SAFETY: the block (or the owner that holds it, which is `Send` and `Sync`) is owned and plain bytes; access follows the borrow
// rules of the buffer.
unsafe impl Send for HostBuffer {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// A block of at least `bytes` bytes, zeroed if asked for, else with arbitrary contents; `None` if there is not
    /// enough memory.
    pub fn new(bytes: usize, zeroed: bool) -> Option<HostBuffer> {
        ALLOCATED.with(|allocated| allocated.set(allocated.get().wrapping_add(bytes)));
        if bytes < POOLED_FROM {
            return HostBuffer::allocate_or_clear(bytes.max(1));
        }
        let class = size_class(bytes);
        if let Some(buffer) = POOL.take(class) {
            if zeroed {
                // SAFETY: the block has at least `bytes` bytes and this is its only owner.
                unsafe { buffer.pointer.as_ptr().write_bytes(0, bytes) };
            }
            return Some(buffer);
        }
        let capacity = class_bytes(class)?;
        POOL.make_room(capacity);
        let buffer = HostBuffer::allocate_or_clear(capacity);
        if buffer.is_none() {
            POOL.lock().used -= capacity;
        }
        buffer
    }

    fn allocate_or_clear(capacity: usize) -> Option<HostBuffer> {
        HostBuffer::allocate(capacity).or_else(|| {
            // Blocks that the pool keeps may be the memory that is missing.
            POOL.clear();
            HostBuffer::allocate(capacity)
        })
    }

    /// A frame of its own, by which a stack tells that the request may be refused.
    #[inline(never)]
    fn allocate(capacity: usize) -> Option<HostBuffer> {
        if !memory::may_request(capacity) {
            return None;
        }
        let (layout, is_padded) = layout_of(capacity)?;
        // SAFETY: the layout's size is not zero.
        let mut pointer = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        if is_padded {
            // At least 1 and at most `ALIGNMENT` bytes stand before the block, the last of which says how many.
            let padding = ALIGNMENT - pointer.addr().get() % ALIGNMENT;
            // SAFETY: the allocation has `ALIGNMENT` bytes more than the block.
            pointer = unsafe { pointer.add(padding) };
            // SAFETY: the byte before the block is part of the padding.
            unsafe { pointer.sub(1).write(padding as u8) };
        }
        Some(HostBuffer { pointer, capacity, owner: None, stamp: AtomicU64::new(0) })
    }

    /// The contents of a file, which can be read but not changed.
    pub(super) fn mapped(mapping: Mapping) -> HostBuffer {
        let bytes: &[u8] = &mapping;
        let (pointer, capacity) = (NonNull::from(bytes).cast(), bytes.len());
        // SAFETY: moving a mapping leaves the bytes where they are; it is only read.
        unsafe { HostBuffer::owned_by(pointer, capacity, Box::new(Registered::new(mapping)), false) }
    }

    /// A block of `capacity` bytes that `owner` keeps.
    ///
    /// # Safety
    /// From `pointer` on are `capacity` initialised bytes, which stay there until `owner` is dropped, and which nothing writes
    /// meanwhile. If `is_exclusive`, nothing else reads them either, and they may be written through `pointer`.
    pub(super) unsafe fn owned_by(
        pointer: NonNull<u8>,
        capacity: usize,
        owner: Box<dyn Send + Sync>,
        is_exclusive: bool,
    ) -> HostBuffer {
        let owner = Some(Owner { _kept: owner, is_exclusive });
        HostBuffer { pointer, capacity, owner, stamp: AtomicU64::new(0) }
    }

    /// Whether the block can be changed: a file's contents and what else others can see cannot.
    pub fn is_writable(&self) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner.is_exclusive)
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.pointer.as_ptr()
    }

    /// The first byte, to change if the block [is writable](HostBuffer::is_writable).
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        *self.stamp.get_mut() = 0;
        self.pointer.as_ptr()
    }

    /// A number that no other buffer has, and that this one has until it is next written.
    pub(super) fn stamp(&self) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let stamp = self.stamp.load(Ordering::Relaxed);
        if stamp != 0 {
            return stamp;
        }
        let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
        match self.stamp.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => fresh,
            Err(other) => other,
        }
    }

    fn release(&mut self) {
        let Some((layout, is_padded)) = layout_of(self.capacity) else { return };
        // SAFETY: the byte before the block says how many stand before it, if any do; the allocation came from
        // `alloc_zeroed` with this very layout.
        unsafe {
            let padding = if is_padded { usize::from(self.pointer.sub(1).read()) } else { 0 };
            dealloc(self.pointer.sub(padding).as_ptr(), layout);
        }
    }
}

/// The layout of the allocation for a block of so many bytes, and whether it is longer than the block, which is aligned in it:
/// an allocator that aligns to as much as [`ALIGNMENT`] writes zeros itself, where fresh pages of the system's have them.
fn layout_of(capacity: usize) -> Option<(Layout, bool)> {
    let is_padded = capacity >= POOLED_FROM;
    let layout = if is_padded {
        Layout::from_size_align(capacity.checked_add(ALIGNMENT)?, 1)
    } else {
        Layout::from_size_align(capacity, ALIGNMENT)
    };
    Some((layout.ok()?, is_padded))
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if self.owner.is_some() {
            return;
        }
        if self.capacity < POOLED_FROM || !POOL.give(self.pointer, self.capacity) {
            self.release();
        }
    }
}

/// The class of the smallest block with at least `bytes` bytes.
fn size_class(bytes: usize) -> usize {
    let power = bytes.ilog2() as usize;
    let (base, step) = (1usize << power, (1usize << power) / STEPS);
    power * STEPS + (bytes - base).div_ceil(step)
}

/// The size of the blocks of a class.
fn class_bytes(class: usize) -> Option<usize> {
    let (power, step) = (class / STEPS, class % STEPS);
    let base = 1usize.checked_shl(power as u32).filter(|_| power < usize::BITS as usize - 2)?;
    Some(base + base / STEPS * step)
}

struct Pool(Mutex<Kept>);

struct Kept {
    classes: Vec<Vec<NonNull<u8>>>,
    /// Bytes of the blocks that are kept.
    bytes: usize,
    /// Bytes of the blocks that are in use.
    used: usize,
    /// The most that were in use at once.
    most_used: usize,
}

/// Bytes that the pool keeps at most: a quarter of the memory that there was when the first block was freed.
static POOL_LIMIT: LazyLock<usize> = LazyLock::new(|| memory::room().map_or(1 << 30, |room| room / 4));

// SAFETY: the pointers are blocks that the pool owns alone.
unsafe impl Send for Kept {}

static POOL: Pool = Pool(Mutex::new(Kept { classes: Vec::new(), bytes: 0, used: 0, most_used: 0 }));

impl Kept {
    fn add_used(&mut self, bytes: usize) {
        self.used += bytes;
        self.most_used = self.most_used.max(self.used);
    }

    fn take(&mut self, class: usize) -> Option<HostBuffer> {
        let pointer = self.classes.get_mut(class)?.pop()?;
        let capacity = class_bytes(class)?;
        self.bytes -= capacity;
        Some(HostBuffer { pointer, capacity, owner: None, stamp: AtomicU64::new(0) })
    }

    /// A block that is to go so that another of so many bytes can come: the smallest that is enough, or else the largest.
    fn take_for(&mut self, capacity: usize) -> Option<HostBuffer> {
        let over = (self.used + self.bytes + capacity).saturating_sub(self.most_used);
        if over == 0 {
            return None;
        }
        let mut kept = (0..self.classes.len()).filter(|&class| !self.classes[class].is_empty());
        let largest = kept.next_back()?;
        let class = kept.find(|&class| class_bytes(class).is_some_and(|bytes| bytes >= over)).unwrap_or(largest);
        self.take(class)
    }
}

impl Pool {
    fn take(&self, class: usize) -> Option<HostBuffer> {
        let mut kept = self.lock();
        let buffer = kept.take(class)?;
        kept.add_used(buffer.capacity);
        Some(buffer)
    }

    /// Counts a block of so many bytes, which is not here, as one in use, and gives others back to the system if there would
    /// be more blocks than were in use before.
    fn make_room(&self, capacity: usize) {
        loop {
            let mut kept = self.lock();
            let Some(buffer) = kept.take_for(capacity) else {
                kept.add_used(capacity);
                return;
            };
            drop(kept);
            std::mem::ManuallyDrop::new(buffer).release();
        }
    }

    fn give(&self, pointer: NonNull<u8>, capacity: usize) -> bool {
        let limit = *POOL_LIMIT;
        let mut kept = self.lock();
        kept.used -= capacity;
        if kept.bytes + capacity > limit {
            return false;
        }
        let class = size_class(capacity);
        // What there is no memory to note goes back to the system.
        if kept.classes.get_mut(class).is_some_and(|blocks| blocks.try_reserve(1).is_err()) {
            return false;
        }
        if kept.classes.len() <= class {
            kept.classes.resize_with(class + 1, Vec::new);
        }
        kept.classes[class].push(pointer);
        kept.bytes += capacity;
        true
    }

    /// Gives all blocks back to the system.
    fn clear(&self) {
        let kept = {
            let mut kept = self.lock();
            kept.bytes = 0;
            std::mem::take(&mut kept.classes)
        };
        for (class, blocks) in kept.into_iter().enumerate() {
            let Some(capacity) = class_bytes(class) else { continue };
            for pointer in blocks {
                std::mem::ManuallyDrop::new(HostBuffer { pointer, capacity, owner: None, stamp: AtomicU64::new(0) })
                    .release();
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Bytes that the pool of freed buffers holds at present.
pub fn pool_stats() -> usize {
    POOL.lock().bytes
}

thread_local! {
    static ALLOCATED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The bytes of all buffers that this thread has asked for so far.
pub(crate) fn allocated_by_thread() -> usize {
    ALLOCATED.with(std::cell::Cell::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cover_their_sizes() {
        for bytes in [POOLED_FROM, POOLED_FROM + 1, 100_000, 131_071, 131_072, 1 << 20, (1 << 20) + 12_345] {
            let size = class_bytes(size_class(bytes)).unwrap();
            assert!(size >= bytes && size <= bytes + bytes / 2, "{bytes} -> {size}");
            assert_eq!(size_class(size), size_class(bytes));
        }
    }

    #[test]
    fn zeroed_means_zeroed_after_reuse() {
        // Miri takes minutes for many bytes.
        let bytes = if cfg!(miri) { POOLED_FROM + 1 } else { 777_777 };
        let mut buffer = HostBuffer::new(bytes, false).unwrap();
        // SAFETY: the buffer has at least `bytes` bytes.
        unsafe { buffer.as_mut_ptr().write_bytes(0xff, bytes) };
        drop(buffer);
        let buffer = HostBuffer::new(bytes, true).unwrap();
        // SAFETY: as above.
        let contents = unsafe { std::slice::from_raw_parts(buffer.as_ptr(), bytes) };
        assert!(contents.iter().all(|&byte| byte == 0));
        assert_eq!(buffer.as_ptr() as usize % ALIGNMENT, 0);
    }

    #[test]
    fn a_pool_that_was_emptied_serves_again() {
        let bytes = 3 << 20;
        for _ in 0..2 {
            drop(HostBuffer::new(bytes, false).unwrap());
            POOL.clear();
        }
        assert!(HostBuffer::new(bytes, true).is_some());
    }

    #[test]
    fn a_block_that_is_to_come_takes_the_place_of_others() {
        let mut kept = Kept { classes: Vec::new(), bytes: 0, used: 0, most_used: 100 << 20 };
        let mut give = |kept: &mut Kept, bytes: usize| {
            let class = size_class(bytes);
            kept.classes.resize_with(kept.classes.len().max(class + 1), Vec::new);
            kept.classes[class].push(NonNull::dangling());
            kept.bytes += bytes;
        };
        for megabytes in [8, 16, 32, 40] {
            give(&mut kept, megabytes << 20);
        }
        let mut gone = |kept: &mut Kept, megabytes: usize| {
            kept.take_for(megabytes << 20).map(|buffer| std::mem::ManuallyDrop::new(buffer).capacity >> 20)
        };
        // 96 of 100 are kept.
        assert_eq!(gone(&mut kept, 4), None);
        assert_eq!(gone(&mut kept, 14), Some(16));
        assert_eq!(gone(&mut kept, 14), None);
        assert_eq!(gone(&mut kept, 90), Some(40));
        assert_eq!(gone(&mut kept, 90), Some(32));
        assert_eq!(gone(&mut kept, 90), None);
        kept.add_used(90 << 20);
        assert_eq!(gone(&mut kept, 30), Some(8));
        assert_eq!(gone(&mut kept, 30), None, "nothing is kept");
        kept.add_used(30 << 20);
        assert_eq!((kept.used, kept.most_used, kept.bytes), (120 << 20, 120 << 20, 0));
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert!(HostBuffer::new(usize::MAX, false).is_none());
        assert!(HostBuffer::new(usize::MAX / 2, false).is_none());
    }
}
