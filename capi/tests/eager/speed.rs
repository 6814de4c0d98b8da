//! What a call costs: run with `--release -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use kernlink_capi::eager::*;
use kernlink_library::host::{TF_DeleteStatus, TF_NewStatus};

use crate::client::*;

#[test]
#[ignore = "it measures: for release builds"]
fn an_addition_of_small_tensors() {
    const CALLS: u32 = 100_000;
    let context = Context::new();
    let (a, b) = (Handle::floats(&[1.0, 2.0]), Handle::floats(&[3.0, 5.0]));
    let mut best = Duration::MAX;
    for _ in 0..10 {
        let begin = Instant::now();
        for _ in 0..CALLS {
            // SAFETY: all are alive, and deleted once.
            unsafe {
                let status = TF_NewStatus();
                let op = TFE_NewOp(context.0, c"AddV2".as_ptr(), status);
                TFE_OpAddInput(op, a.0, status);
                TFE_OpAddInput(op, b.0, status);
                let (mut result, mut count) = (std::ptr::null_mut(), 1);
                TFE_Execute(op, &raw mut result, &raw mut count, status);
                TFE_DeleteTensorHandle(result);
                TFE_DeleteOp(op);
                TF_DeleteStatus(status);
            }
        }
        best = best.min(begin.elapsed() / CALLS);
    }
    println!("{best:?} for an op from its description to its end");
}
