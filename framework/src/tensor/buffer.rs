//! Host memory of tensors: aligned, always initialised, and, where blocks are large, [reused](super::pool).

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use super::mapping::{Mapping, Registered};
use super::memory;
use super::pool::{Block, POOL, POOLED_FROM, class_bytes, size_class};

/// Alignment of every buffer, in bytes.
pub const ALIGNMENT: usize = 64;

/// A block of initialised host memory: allocated, or in the hands of an owner such as a file that is mapped.
pub struct HostBuffer {
    pointer: NonNull<u8>,
    capacity: usize,
    /// What the block is a part of, if it was not allocated here.
    owner: Option<Owner>,
    /// The [stamp](HostBuffer::stamp), if somebody has asked for it since the block was last written; else 0; or [`CHANGEABLE`].
    stamp: AtomicU64,
}

/// In place of a stamp: something outside may change the block at any time.
const CHANGEABLE: u64 = u64::MAX;

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
        if let Some(block) = POOL.take(class) {
            if zeroed {
                // SAFETY: the block has at least `bytes` bytes and this is its only owner.
                unsafe { block.pointer.as_ptr().write_bytes(0, bytes) };
            }
            return Some(HostBuffer::from(block));
        }
        let capacity = class_bytes(class)?;
        while let Some(block) = POOL.take_for(capacity) {
            release(block);
        }
        let buffer = HostBuffer::allocate_or_clear(capacity)?;
        POOL.add_used(capacity);
        Some(buffer)
    }

    fn allocate_or_clear(capacity: usize) -> Option<HostBuffer> {
        HostBuffer::allocate(capacity).or_else(|| {
            // Blocks that the pool keeps may be the memory that is missing.
            clear_pool();
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
        Some(HostBuffer::from(Block { pointer, capacity }))
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
        if *self.stamp.get_mut() != CHANGEABLE {
            *self.stamp.get_mut() = 0;
        }
        self.pointer.as_ptr()
    }

    /// A number that no other buffer has, and that this one has until it is next written; `None` if something outside may write
    /// it.
    pub(super) fn stamp(&self) -> Option<u64> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let stamp = self.stamp.load(Ordering::Relaxed);
        if stamp != 0 {
            return Some(stamp).filter(|stamp| *stamp != CHANGEABLE);
        }
        let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
        match self.stamp.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Some(fresh),
            Err(other) => Some(other).filter(|stamp| *stamp != CHANGEABLE),
        }
    }

    /// Something outside may write the block from now on.
    pub(super) fn set_changeable(&self) {
        self.stamp.store(CHANGEABLE, Ordering::Relaxed);
    }
}

impl From<Block> for HostBuffer {
    fn from(Block { pointer, capacity }: Block) -> HostBuffer {
        HostBuffer { pointer, capacity, owner: None, stamp: AtomicU64::new(0) }
    }
}

/// Gives a block back to the system.
fn release(Block { pointer, capacity }: Block) {
    let Some((layout, is_padded)) = layout_of(capacity) else { return };
    // SAFETY: the byte before the block says how many stand before it, if any do; the allocation came from `alloc_zeroed` with
    // this very layout.
    unsafe {
        let padding = if is_padded { usize::from(pointer.sub(1).read()) } else { 0 };
        dealloc(pointer.sub(padding).as_ptr(), layout);
    }
}

/// Gives the memory of freed buffers, which is kept for others, back to the system: for a program that will not need as much again
/// soon.
pub fn clear_pool() {
    POOL.clear(release);
}

/// Bytes that the pool of freed buffers holds at present.
pub fn pool_stats() -> usize {
    POOL.bytes()
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
        let block = Block { pointer: self.pointer, capacity: self.capacity };
        if self.capacity < POOLED_FROM {
            release(block);
        } else {
            POOL.give(block).into_iter().flatten().for_each(release);
        }
    }
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
            clear_pool();
        }
        assert!(HostBuffer::new(bytes, true).is_some());
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert!(HostBuffer::new(usize::MAX, false).is_none());
        assert!(HostBuffer::new(usize::MAX / 2, false).is_none());
        // What is refused does not count as used.
        assert!(HostBuffer::new(1 << 50, false).is_none());
        assert!(POOL.most_used() < 1 << 50);
    }
}
