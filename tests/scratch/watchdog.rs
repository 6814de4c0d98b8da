//! What names the op that takes long, and ends the process whose op does not end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An op that takes longer is told on standard error.
const NOTED: Duration = Duration::from_secs(10);

/// An op that takes longer is taken for one that never ends.
const MOST: Duration = Duration::from_secs(300);

/// What runs, and since when; `None` between.
type Running = Arc<Mutex<Option<(String, Instant)>>>;

/// Watches what runs in this process.
pub(crate) struct Watchdog(Running);

impl Watchdog {
    pub(crate) fn new() -> Watchdog {
        let running = Running::default();
        let watched = Arc::downgrade(&running);
        std::thread::spawn(move || {
            while let Some(running) = watched.upgrade() {
                if let Some((name, began)) = &*running.lock().unwrap_or_else(PoisonError::into_inner)
                    && began.elapsed() > MOST
                {
                    eprintln!("{name} has not ended after {} seconds", MOST.as_secs());
                    std::process::exit(1);
                }
                drop(running);
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        Watchdog(running)
    }

    /// Runs `run`, which is named so.
    pub(crate) fn watch<T>(&self, name: &str, run: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        self.set(Some((name.to_owned(), began)));
        let result = run();
        self.set(None);
        if began.elapsed() > NOTED {
            eprintln!("{name} took {} seconds", began.elapsed().as_secs());
        }
        result
    }

    fn set(&self, running: Option<(String, Instant)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = running;
    }
}
