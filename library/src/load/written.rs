//! Opening libraries that this program writes.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::ptr::NonNull;

use kernlink_framework::{Error, Result};

use super::system::{self, Handle};

/// A library that is open until this is dropped, and as long as others need it.
pub(super) struct Written {
    handle: Handle,
    /// The path by which the loader knows it, which must not come to mean another, and what it leads to.
    memory: Option<(CString, File)>,
}

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
        let handle = Handle::open(name, system::LOCAL | libc::RTLD_NOLOAD).ok()?;
        Some(Written { handle, memory: None })
    }

    /// The address of a symbol of it.
    pub(super) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.handle.symbol(name)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.handle.close();
        if let Some((path, file)) = self.memory.take()
            && system::is_open(&path)
        {
            let _ = file.into_raw_fd();
        }
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
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(|error| error.to_string())?;
    let handle = Handle::open(&path, flags)?;
    Ok(Written { handle, memory: Some((path, file)) })
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
        Ok(Written { handle: Handle::open(&name, flags)?, memory: None })
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

    #[test]
    fn a_file_is_opened_too() {
        let image = image::of("libkernlink_file_test.so", &[], true).unwrap();
        let written = in_folder(&image, system::LOCAL).unwrap();
        assert!(written.symbol(c"kernlink_host").is_some());
    }
}
