//! What stays of a long tape; alone in its program, whose allocator counts the bytes that live. `KERNLINK_TAPE_OPS` says how long
//! the tape is.

#[path = "../support/counting.rs"]
mod counting;

use counting::{Counting, live};
use kernlink::gradient::TracedGradient;
use kernlink::prelude::*;

/// How many ops a tape records, unless something else is said: fewer where each takes ten times as long.
const OPS: usize = if cfg!(debug_assertions) { 40_000 } else { 1_000_000 };

/// What tables that grow by need may still take after the first rounds, in bytes.
const SLACK: usize = 4096;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
