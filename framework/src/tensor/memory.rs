//! How much memory there is.
//!
//! Linux grants more memory than it has and kills the process that then uses it, so requests are compared with what is
//! available first: large ones each, small ones whenever they have added up.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Available memory is looked up once in so many bytes of requests.
const CHECK_EVERY: usize = 256 << 20;

/// Bytes requested since the last check.
static UNCHECKED: AtomicUsize = AtomicUsize::new(0);

/// Counts a request for memory, and returns whether the system can grant it; `true` on systems that do not say.
pub fn may_request(bytes: usize) -> bool {
    let unchecked = UNCHECKED.fetch_add(bytes.min(CHECK_EVERY), Ordering::Relaxed);
    if unchecked.saturating_add(bytes) < CHECK_EVERY {
        return true;
    }
    UNCHECKED.store(0, Ordering::Relaxed);
    has_room_for(bytes)
}

fn has_room_for(bytes: usize) -> bool {
    let limits = [available(), control_group()];
    limits.into_iter().flatten().all(|limit| bytes < limit)
}

/// Bytes that new work can use without swapping, by `/proc/meminfo`.
fn available() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Bytes that the process's control group may still use. Its page cache counts as free.
fn control_group() -> Option<usize> {
    let read = |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let limit: usize = read("memory.max")?.trim().parse().ok()?;
    let used: usize = read("memory.current")?.trim().parse().ok()?;
    let files = read("memory.stat").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("inactive_file "))?;
        line.trim().parse().ok()
    });
    Some(limit.saturating_sub(used.saturating_sub(files.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_fits_and_everything_does_not() {
        assert!(has_room_for(1));
        if cfg!(target_os = "linux") {
            assert!(!has_room_for(usize::MAX));
            assert!(!may_request(usize::MAX));
        }
    }
}
