//! Whether what the loader has mapped is the file that was read.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::loads::FileId;

/// Device and number of an open file.
///
/// # Errors
/// Those of the system.
pub(super) fn id_of(file: &File) -> std::io::Result<FileId> {
    file.metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Whether the memory at an address was mapped from a file, which was opened by a path. The path may lead to another since.
pub(super) fn is_mapped(file: &File, path: &Path, address: usize) -> bool {
    // Some file systems give mappings other devices and numbers than files, so that a mapping is held against a mapping.
    let by_mappings = Page::of(file).and_then(|page| {
        let maps = std::fs::read("/proc/self/maps").ok()?;
        let maps = String::from_utf8_lossy(&maps);
        Some(file_of(&maps, page.0.addr())? == file_of(&maps, address)?)
    });
    by_mappings.unwrap_or_else(|| {
        let there = path.metadata().map(|metadata| (metadata.dev(), metadata.ino()));
        there.is_ok_and(|there| id_of(file).is_ok_and(|own| own == there))
    })
}

/// The device and the number of the file that is mapped at an address.
fn file_of(maps: &str, address: usize) -> Option<(&str, &str)> {
    maps.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let place = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        if !place.contains(&address) {
            return None;
        }
        let (_rights, _offset) = (words.next()?, words.next()?);
        Some((words.next()?, words.next()?))
    })
}

/// The first page of a file, in memory.
struct Page(*mut libc::c_void);

impl Page {
    const LENGTH: usize = 1;

    fn of(file: &File) -> Option<Page> {
        let (rights, kind, from) = (libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd());
        // SAFETY: memory that nobody else has; nothing reads it.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), Page::LENGTH, rights, kind, from, 0) };
        (page != libc::MAP_FAILED).then_some(Page(page))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: it was mapped so, once.
        unsafe { libc::munmap(self.0, Page::LENGTH) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_of_the_file_it_was_made_of_whatever_has_its_name_by_then() {
        let folder = std::env::temp_dir().join(format!("kernlink-identity-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, other) = (folder.join("a"), folder.join("b"));
        std::fs::write(&path, "a").unwrap();
        std::fs::write(&other, "b").unwrap();
        let (first, second) = (File::open(&path).unwrap(), File::open(&other).unwrap());
        assert_ne!(id_of(&first).unwrap(), id_of(&second).unwrap());
        let page = Page::of(&first).unwrap();
        assert!(is_mapped(&first, &path, page.0.addr()) && !is_mapped(&second, &path, page.0.addr()));
        std::fs::rename(&other, &path).unwrap();
        assert!(is_mapped(&first, &path, page.0.addr()) && !is_mapped(&second, &path, page.0.addr()));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn lines_of_mappings_are_read() {
        let maps = "1000-2000 r--p 00000000 08:02 173 /a\n2000-3000 rw-p 00001000 08:02 174 /b c\n";
        assert_eq!(file_of(maps, 0x1fff), Some(("08:02", "173")));
        assert_eq!(file_of(maps, 0x2000), Some(("08:02", "174")));
        assert_eq!((file_of(maps, 0x3000), file_of("nonsense", 0)), (None, None));
    }
}
