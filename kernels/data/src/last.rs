//! What is done when an iterator goes, where no threads work beside the one that drops it: the run that does so may have a time
//! limit, which what comes last has not.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use kernlink::Result;
use kernlink::step::{BoxFuture, block_on};

type Last = BoxFuture<'static, Result<()>>;

/// More threads than these help nobody; what comes then waits its turn.
const MOST: usize = 16;

struct Waiting {
    futures: VecDeque<Last>,
    threads: usize,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { futures: VecDeque::new(), threads: 0 });

fn waiting() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs what waits until nothing does.
fn work() {
    loop {
        let next = {
            let mut waiting = waiting();
            let next = waiting.futures.pop_front();
            // With the same lock: who brings something counts on the threads that count.
            waiting.threads -= usize::from(next.is_none());
            next
        };
        let Some(next) = next else { return };
        // Nobody is there to be told of an error, or of a panic.
        _ = catch_unwind(AssertUnwindSafe(|| block_on(next)));
    }
}

/// Runs a future to its end on a thread that it may hold up.
pub(crate) fn finish(future: Last) {
    {
        let mut waiting = waiting();
        waiting.futures.push_back(future);
        if waiting.threads >= MOST {
            return;
        }
        waiting.threads += 1;
    }
    let started = thread::Builder::new().name("kernlink-last".to_owned()).spawn(work);
    if started.is_err() {
        // There are no threads at all.
        work();
    }
}
