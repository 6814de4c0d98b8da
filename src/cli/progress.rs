//! How far something long is, on standard error if that is a terminal.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::cli::output::show;

/// What ends sooner shows nothing.
const BEFORE_FIRST: Duration = Duration::from_millis(500);

/// What of a single thing ends sooner shows nothing.
const BEFORE_WAITING: Duration = Duration::from_secs(2);

/// How often the line of a single thing changes.
const BETWEEN_WAITING: Duration = Duration::from_secs(1);

/// How often the line changes.
const BETWEEN: Duration = Duration::from_millis(100);

/// A line such as `step 12 of 100, 3 s left`, which is gone when this is dropped.
pub(crate) struct Progress {
    what: &'static str,
    begun: u64,
    total: u64,
    started: Instant,
    /// When the line changes next; never, where nobody sees it.
    next: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// Of so many steps, runs or files.
    pub(crate) fn new(what: &'static str, total: u64) -> Progress {
        let is_seen = total > 1 && is_seen();
        let started = Instant::now();
        Progress { what, begun: 0, total, started, next: is_seen.then(|| started + BEFORE_FIRST), is_shown: false }
    }

    /// Notes that the next one begins.
    pub(crate) fn begin_next(&mut self) {
        self.begun += 1;
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now < next {
            return;
        }
        self.next = Some(now + BETWEEN);
        self.is_shown = true;
        let text = line(self.what, self.begun, self.total, now - self.started);
        show(&text);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            show("");
        }
    }
}

/// A line such as `loading, 5 s`, of something that cannot say how far it is. It is gone when this is dropped.
pub(crate) struct Waiting {
    /// What is dropped to end it, and the thread that shows it; none where nobody sees it.
    shown: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

impl Waiting {
    /// Of something that begins now.
    pub(crate) fn new(what: &'static str) -> Waiting {
        let shown = is_seen().then(|| {
            let (running, end) = mpsc::channel();
            (running, std::thread::spawn(move || tell_until(what, &end)))
        });
        Waiting { shown }
    }
}

/// Shows how long something has taken, until there is an end.
fn tell_until(what: &str, end: &mpsc::Receiver<()>) {
    let started = Instant::now();
    let mut pause = BEFORE_WAITING;
    while end.recv_timeout(pause) == Err(mpsc::RecvTimeoutError::Timeout) {
        show(&format!("{what}, {} s", started.elapsed().as_secs()));
        pause = BETWEEN_WAITING;
    }
    if pause == BETWEEN_WAITING {
        show("");
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((running, shown)) = self.shown.take() {
            drop(running);
            let _ = shown.join();
        }
    }
}

/// Whether somebody sees lines that change: a terminal that obeys no control sequences could not remove them.
fn is_seen() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !is_dumb && std::io::stderr().is_terminal()
}

/// The line when number `begun` begins, some time after the first.
fn line(what: &str, begun: u64, total: u64, passed: Duration) -> String {
    let mut text = format!("{what} {begun} of {total}");
    let done = begun.saturating_sub(1);
    if done > 0 {
        let left = passed.as_secs_f64() / done as f64 * (total - done.min(total)) as f64;
        let _ = match left.round() {
            ..120.0 => write!(text, ", {left:.0} s left"),
            ..7200.0 => write!(text, ", {:.0} min left", left / 60.0),
            _ => write!(text, ", {:.0} h left", left / 3600.0),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_how_long_it_takes() {
        let seconds = Duration::from_secs;
        assert_eq!(line("step", 1, 10, seconds(1)), "step 1 of 10");
        assert_eq!(line("step", 3, 10, seconds(10)), "step 3 of 10, 40 s left");
        assert_eq!(line("run", 2, 1001, seconds(1)), "run 2 of 1001, 17 min left");
        assert_eq!(line("run", 2, u64::MAX, seconds(1)), "run 2 of 18446744073709551615, 5124095576030431 h left");
    }
}
