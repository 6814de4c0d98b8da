//! One thread after the other.

use std::sync::{Mutex, MutexGuard};
use std::thread::ThreadId;

use crate::step::lock;

/// Has one thread after the other do something. One that does it is not kept from doing it within.
#[derive(Default)]
pub(super) struct Turns {
    turn: Mutex<()>,
    whose: Mutex<Option<ThreadId>>,
}

pub(super) struct Turn<'t> {
    turns: &'t Turns,
    _turn: MutexGuard<'t, ()>,
}

impl Turns {
    /// Waits for its turn; `None` if it is this thread's already.
    pub(super) fn wait(&self) -> Option<Turn<'_>> {
        let own = std::thread::current().id();
        if *lock(&self.whose) == Some(own) {
            return None;
        }
        let turn = lock(&self.turn);
        *lock(&self.whose) = Some(own);
        Some(Turn { turns: self, _turn: turn })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.turns.whose) = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_thread_waits_for_the_turns_of_others_alone() {
        let turns = Turns::default();
        let turn = turns.wait();
        assert!(turn.is_some() && turns.wait().is_none());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| turns.wait().is_some());
            std::thread::sleep(Duration::from_millis(20));
            assert!(!other.is_finished());
            drop(turn);
            assert!(other.join().unwrap());
        });
        assert!(turns.wait().is_some());
    }
}
