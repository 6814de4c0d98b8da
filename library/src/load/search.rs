//! Where the system looks for libraries that are named without a folder.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::system::folders;

/// The file of this name in the first of the folders that has one: those of `LD_LIBRARY_PATH`, of the program's own search path,
/// and those that the system's loader always looks in, but not what `ldconfig` has found elsewhere. `None` for names with a folder.
pub(super) fn find(name: &Path) -> Option<PathBuf> {
    if name.components().count() != 1 || name.as_os_str().as_bytes().contains(&b'/') {
        return None;
    }
    folders().into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
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
