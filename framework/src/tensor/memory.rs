//! How much memory there is.
//!
//! Linux grants more memory than it has and kills the process that then uses it, so requests are compared with what is
//! available first: large ones each, small ones whenever they have added up. Where the process has a limit of its own
//! (`ulimit -v`), some of it is kept back for what cannot be refused, such as a message or a node of a map.

use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Available memory is looked up once in so many bytes of requests.
const CHECK_EVERY: usize = 256 << 20;

/// What is kept back of the process's address space, at most. The allocator of glibc takes 64 MiB at once for each of
/// its arenas, so that less would not do.
const MARGIN: usize = 128 << 20;

/// What is kept back of the process's address space, if that is limited: a small limit leaves less to keep.
static KEPT: LazyLock<Option<usize>> = LazyLock::new(|| address_space().map(|limit| MARGIN.min(limit / 8)));

/// Bytes requested since the last check.
static UNCHECKED: AtomicUsize = AtomicUsize::new(0);

/// Counts a request for memory, and returns whether the system can grant it; `true` on systems that do not say.
pub fn may_request(bytes: usize) -> bool {
    let unchecked = UNCHECKED.fetch_add(bytes.min(CHECK_EVERY), Ordering::Relaxed);
    // Between two checks no more is granted than a part of what is kept back.
    if unchecked.saturating_add(bytes) < KEPT.map_or(CHECK_EVERY, |kept| kept / 8) {
        return true;
    }
    UNCHECKED.store(0, Ordering::Relaxed);
    has_room_for(bytes)
}

fn has_room_for(bytes: usize) -> bool {
    let limits = [meminfo("MemAvailable:"), control_group(), left_of_address_space()];
    limits.into_iter().flatten().all(|limit| bytes < limit)
}

/// Bytes that the process can have in all; `None` on systems that do not say.
pub(super) fn total() -> Option<usize> {
    let group = GROUPS.iter().filter_map(ControlGroup::limit).min();
    [meminfo("MemTotal:"), group, address_space()].into_iter().flatten().min()
}

/// What `/proc/meminfo` says: `MemAvailable:` is what new work can use without swapping.
fn meminfo(name: &str) -> Option<usize> {
    let mut text = [0; 4096];
    let line = head_of("/proc/meminfo", &mut text)?.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The beginning of a file of the system, without asking for memory.
fn head_of<'t>(path: &str, text: &'t mut [u8; 4096]) -> Option<&'t str> {
    let mut file = std::fs::File::open(path).ok()?;
    let mut length = 0;
    while length < text.len() {
        match file.read(&mut text[length..]).ok()? {
            0 => break,
            more => length += more,
        }
    }
    // What is cut off in a character is not of interest.
    text[..length].utf8_chunks().next().map(|chunk| chunk.valid())
}

/// The limit on the process's address space; `None` if there is none.
fn address_space() -> Option<usize> {
    let mut text = [0; 4096];
    let line =
        head_of("/proc/self/limits", &mut text)?.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    // The limit in force, the highest it may be set to, and the unit.
    line.split_whitespace().next()?.parse().ok()
}

/// Bytes of address space that the process may still take, what is kept back left out.
fn left_of_address_space() -> Option<usize> {
    let kept = (*KEPT)?;
    let mut text = [0; 4096];
    let status = head_of("/proc/self/status", &mut text)?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(address_space()?.saturating_sub(kibibytes.checked_mul(1024)?).saturating_sub(kept))
}

/// A control group with a limit on memory: the files that say what it is, what is used, and what of that is page cache.
struct ControlGroup {
    limit: String,
    used: String,
    stat: String,
    /// What stands before the size of the page cache that is not in use.
    cache: &'static str,
}

/// The process's control group and those that it is in, of both versions. In a container the root stands for its own.
static GROUPS: LazyLock<Vec<ControlGroup>> = LazyLock::new(|| {
    let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut groups = Vec::new();
    // `0::/a/b` is version 2, `7:memory:/a/b` version 1.
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, [limit, used, cache]) = if controllers.is_empty() {
            ("/sys/fs/cgroup", ["memory.max", "memory.current", "inactive_file "])
        } else if controllers.split(',').any(|controller| controller == "memory") {
            let files = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "];
            ("/sys/fs/cgroup/memory", files)
        } else {
            continue;
        };
        for group in Path::new(path.trim_start_matches('/')).ancestors() {
            let file = |name: &str| Path::new(root).join(group).join(name).to_string_lossy().into_owned();
            let group = ControlGroup { limit: file(limit), used: file(used), stat: file("memory.stat"), cache };
            // The root has no limit, and a path of the host's may not exist here.
            if Path::new(&group.limit).exists() {
                groups.push(group);
            }
        }
    }
    groups
});

/// Bytes that the process's control groups may still use. Their page cache counts as free.
fn control_group() -> Option<usize> {
    GROUPS.iter().filter_map(ControlGroup::left).min()
}

impl ControlGroup {
    /// Bytes that it may use; `None` without a limit.
    fn limit(&self) -> Option<usize> {
        let mut text = [0; 4096];
        head_of(&self.limit, &mut text)?.trim().parse().ok()
    }

    /// Bytes that it may still use; `None` without a limit.
    fn left(&self) -> Option<usize> {
        let limit = self.limit()?;
        let mut text = [0; 4096];
        let used: usize = head_of(&self.used, &mut text)?.trim().parse().ok()?;
        let files = head_of(&self.stat, &mut text).and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix(self.cache))?;
            line.trim().parse().ok()
        });
        Some(limit.saturating_sub(used.saturating_sub(files.unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_group_keeps_what_its_files_say() {
        let folder = std::env::temp_dir().join(format!("kernlink-group-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).unwrap();
            folder.join(name).to_str().unwrap().to_owned()
        };
        let stat = file("stat", "cache 77\ninactive_file 5\ntotal_inactive_file 20\n");
        let group = |limit: &str, cache| {
            ControlGroup { limit: file("limit", limit), used: file("used", "150\n"), stat: stat.clone(), cache }.left()
        };
        assert_eq!(group("200\n", "inactive_file "), Some(55));
        assert_eq!(group("200\n", "total_inactive_file "), Some(70));
        assert_eq!(group("100\n", "inactive_file "), Some(0));
        assert_eq!(group("max\n", "inactive_file "), None);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_little_fits_and_everything_does_not() {
        assert!(has_room_for(1));
        if cfg!(target_os = "linux") {
            assert!(!has_room_for(usize::MAX));
            assert!(!may_request(usize::MAX));
        }
    }
}
