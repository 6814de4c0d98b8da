//! Opening libraries that this program writes.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use kernlink_framework::{Error, Result};

use super::system::{self, Handle};

/// A library that is open until this is dropped, and as long as others need it.
pub(super) struct Written(Handle);

impl Written {
    /// Opens a library of these bytes.
    ///
    /// # Errors
    /// FAILED_PRECONDITION, with what the system says, if it can be opened neither in memory nor in the folder for temporary files.
    pub(super) fn open(image: &[u8], flags: i32) -> Result<Written> {
        in_memory(image, flags).or_else(|in_memory| {
            in_folder(image, flags).map_err(|in_folder| {
                Error::failed_precondition(format!(
                    "the system opens no library that this program writes, neither in memory ({in_memory}) nor in {} \
                     ({in_folder}): set TMPDIR to a folder in which programs may be executed",
                    std::env::temp_dir().display()
                ))
            })
        })
    }

    /// One that is open already, under the name that it gives itself.
    pub(super) fn find(name: &CStr) -> Option<Written> {
        Handle::open(name, system::LOCAL | libc::RTLD_NOLOAD).ok().map(Written)
    }

    /// The address of a symbol of it.
    pub(super) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.0.symbol(name)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn in_memory(image: &[u8], flags: i32) -> Result<Written, String> {
    // SAFETY: a text; the call gives a descriptor or -1.
    let descriptor = unsafe { libc::memfd_create(c"kernlink_host".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    // SAFETY: a descriptor that nobody else has.
    let mut file = File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
    file.write_all(image).map_err(|error| error.to_string())?;
    // The loader keeps what it has mapped. The descriptor is of no more use, and a program may close it unasked.
    Handle::open(&path_of(file.as_raw_fd())?, flags).map(Written)
}

/// A path to what a descriptor leads to, which is never made again: the loader knows a library by its path, and takes it for the one
/// that is meant where the path comes again, though the descriptor's number leads to another file by then.
fn path_of(descriptor: RawFd) -> Result<CString, String> {
    static MADE: AtomicU32 = AtomicU32::new(1);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    // Its digits, as steps that lead nowhere.
    let steps: String = format!("{number:b}").chars().map(|digit| if digit == '1' { "/." } else { "/" }).collect();
    CString::new(format!("/proc/self/fd{steps}/{descriptor}")).map_err(|error| error.to_string())
}

fn in_folder(image: &[u8], flags: i32) -> Result<Written, String> {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let text = |error: std::io::Error| error.to_string();
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let path = std::env::temp_dir().join(format!("libkernlink_host-{}-{time}.so", std::process::id()));
    // A file that somebody else put there is not opened.
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path).map_err(text)?;
    let written = file.write_all(image).map_err(text);
    drop(file);
    let opened = written.and_then(|()| {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        Handle::open(&name, flags).map(Written)
    });
    let _ = std::fs::remove_file(&path);
    opened
}

#[cfg(test)]
mod tests {
    use super::super::exports::image;
    use super::*;

    #[test]
    fn a_library_is_open_as_long_as_it_is_wanted() {
        let name = c"libkernlink_written_test.so";
        let image = image::of("libkernlink_written_test.so", &[], true).unwrap();
        let written = in_memory(&image, system::LOCAL).unwrap();
        let again = Written::find(name).unwrap();
        drop(written);
        assert!(again.symbol(c"kernlink_host").is_some());
        drop(again);
        assert!(Written::find(name).is_none());
    }

    /// Descriptors are given out anew, also those that somebody else closed.
    #[test]
    fn each_is_another_whatever_descriptors_are_closed_meanwhile() {
        let names: Vec<String> = (0..9).map(|number| format!("libkernlink_written_{number}.so")).collect();
        let paths: Vec<_> = (0..9).map(|_| path_of(3).unwrap()).collect();
        assert!((0..9).all(|at| !paths[..at].contains(&paths[at])), "{paths:?}");
        let written: Vec<Written> =
            names.iter().map(|name| in_memory(&image::of(name, &[], true).unwrap(), system::LOCAL).unwrap()).collect();
        let places: Vec<_> = written.iter().map(|written| written.symbol(c"kernlink_host").unwrap()).collect();
        assert!((0..9).all(|at| !places[..at].contains(&places[at])), "{places:?}");
        for (name, own) in names.iter().zip(places) {
            let found = Written::find(&CString::new(&**name).unwrap()).unwrap();
            assert_eq!(found.symbol(c"kernlink_host"), Some(own));
        }
    }

    #[test]
    fn a_file_is_opened_too() {
        let image = image::of("libkernlink_file_test.so", &[], true).unwrap();
        let written = in_folder(&image, system::LOCAL).unwrap();
        assert!(written.symbol(c"kernlink_host").is_some());
    }
}
