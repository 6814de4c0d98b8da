//! How much memory there is.
//!
//! Linux grants more memory than it has and kills the process that then uses it, so large requests are compared with
//! what is available first.

/// Requests from this size on are checked.
pub(super) const CHECKED_FROM: usize = 256 << 20;

/// Whether the system can give this many bytes; `true` where it does not say.
pub(super) fn has_room_for(bytes: usize) -> bool {
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

/// Bytes that the process's control group may still use.
fn control_group() -> Option<usize> {
    let read = |name: &str| -> Option<usize> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    Some(read("memory.max")?.saturating_sub(read("memory.current").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_fits_and_everything_does_not() {
        assert!(has_room_for(1));
        if cfg!(target_os = "linux") {
            assert!(!has_room_for(usize::MAX));
        }
    }
}
