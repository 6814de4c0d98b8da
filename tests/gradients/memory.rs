//! What stays of a long tape; alone in its program, whose allocator counts the bytes that live. `KERNLINK_TAPE_OPS` says how long
//! the tape is.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

use kernlink::gradient::TracedGradient;
use kernlink::prelude::*;

/// How many ops a tape records, unless something else is said: fewer where each takes ten times as long.
const OPS: usize = if cfg!(debug_assertions) { 40_000 } else { 1_000_000 };

/// What tables that grow by need may still take after the first rounds, in bytes.
const SLACK: usize = 4096;

/// The system's allocator, which counts the bytes that live.
struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: every call goes to the system's allocator as it came; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_add(size as isize - layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn live() -> isize {
    LIVE.load(Ordering::Relaxed)
}

/// Records a chain of so many ops and goes back over it. What lived at the end of the tape, in bytes.
fn round(context: &EagerContext, ops: usize) -> isize {
    let mut tape = GradientTape::new(context);
    let x = tape.watch(&[1.0f32; 64][..]).unwrap();
    let mut y = x.clone();
    for _ in 0..ops {
        y = ops::mul(&mut tape, &y, 1.0f32).build().unwrap();
    }
    assert_eq!(tape.len(), ops);
    let recorded = live();
    let found = tape.gradient(&y, [&x]).unwrap().remove(0).and_then(TracedGradient::dense).unwrap();
    assert_eq!(found.as_slice::<f32>().unwrap(), [1.0; 64]);
    recorded
}

/// A long tape is gone back over without recursion, and leaves no memory behind.
#[test]
fn long_tapes_leave_nothing_behind() {
    let context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let ops = std::env::var("KERNLINK_TAPE_OPS").map_or(OPS, |ops| ops.parse().expect("KERNLINK_TAPE_OPS is a number"));
    round(&context, ops);
    let before = live();
    for again in 1..=2 {
        let recorded = round(&context, ops);
        // A tensor of 256 bytes for each op.
        assert!(recorded - before > 256 * ops as isize, "{} bytes live on the tape", recorded - before);
        let after = live();
        let difference = after.abs_diff(before);
        assert!(difference <= SLACK, "{before} bytes lived after the first round, {after} after {again} more");
    }
}
