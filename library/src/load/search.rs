//! Where the system looks for libraries that are named without a folder.

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;

/// A folder, as the loader describes it.
#[repr(C)]
struct Folder {
    name: *const c_char,
    flags: c_uint,
}

/// The head of the loader's list of folders.
#[repr(C)]
struct Head {
    size: usize,
    count: c_uint,
    first: [Folder; 0],
}

/// Asks `dlinfo` for the list, of which the head was filled.
const LIST: c_int = 4;
/// Asks `dlinfo` for the head.
const HEAD: c_int = 5;

unsafe extern "C" {
    fn dlinfo(handle: *mut c_void, request: c_int, info: *mut c_void) -> c_int;
}

/// The file of this name in the first of the folders that has one: those of `LD_LIBRARY_PATH`, of the program's own search path,
/// and those that the system's loader always looks in, but not what `ldconfig` has found elsewhere. `None` for names with a folder.
pub(super) fn find(name: &Path) -> Option<PathBuf> {
    if name.components().count() != 1 || name.as_os_str().as_bytes().contains(&b'/') {
        return None;
    }
    folders().into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The folders in which the loader looks for the libraries that the program opens.
fn folders() -> Vec<PathBuf> {
    // SAFETY: null names the program itself, whose handle is counted and closed. The loader writes the head, and then as many
    // bytes as the head says, to where there is room for them.
    unsafe {
        let program = libc::dlopen(ptr::null(), libc::RTLD_LAZY);
        if program.is_null() {
            return Vec::new();
        }
        let mut head = Head { size: 0, count: 0, first: [] };
        let mut folders = Vec::new();
        if dlinfo(program, HEAD, (&raw mut head).cast()) == 0 {
            let mut list = vec![0u64; head.size.max(size_of::<Head>()).div_ceil(size_of::<u64>())];
            let filled = list.as_mut_ptr().cast::<Head>();
            filled.write(head);
            if dlinfo(program, LIST, filled.cast()) == 0 {
                let first = (&raw const (*filled).first).cast::<Folder>();
                let named = std::slice::from_raw_parts(first, (*filled).count as usize).iter();
                let texts = named.filter(|folder| !folder.name.is_null()).map(|folder| CStr::from_ptr(folder.name));
                folders.extend(texts.map(|text| PathBuf::from(OsStr::from_bytes(text.to_bytes()))));
            }
        }
        libc::dlclose(program);
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_has_is_found_by_its_name() {
        assert!(!folders().is_empty());
        let found = find(Path::new("libc.so.6")).unwrap();
        assert!(found.is_absolute() && found.ends_with("libc.so.6"), "{found:?}");
        for name in ["libkernlink_nowhere.so", "./libc.so.6", "", ".", "..", "lib/"] {
            assert_eq!(find(Path::new(name)), None, "{name}");
        }
    }
}
