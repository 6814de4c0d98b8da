//! The functions of the host, for libraries that name them.
//!
//! What is linked into a program is not to be found by the libraries that the program opens. So a small library is written, whose functions
//! jump to the host's, and opened so that all others find its symbols. It is made when the first library is loaded.

use std::ffi::{CStr, CString, c_char, c_void};
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::OnceLock;

use kernlink_framework::{Error, Result};

use super::system::{self, Handle};
use crate::abi::{INTERFACE, KernlinkHost};
use crate::host::registration::is_loading;
use crate::host::{TF_RegisterKernelBuilder, table};

mod image;

/// The library that was written.
pub(super) struct Exports {
    handle: Handle,
    host: NonNull<KernlinkHost>,
}

// SAFETY: the host's struct is written only while the lock of all loads is held.
unsafe impl Send for Exports {}
// SAFETY: as above.
unsafe impl Sync for Exports {}

/// While it lives, a library in Rust finds the host's functions.
pub(super) struct Admitted(&'static Exports);

impl Exports {
    /// Has libraries in Rust find the host's functions until what is returned is dropped.
    pub(super) fn admit(&'static self) -> Admitted {
        // SAFETY: the struct is in the library that was written, whose data may be changed; one load runs at a time.
        unsafe { self.host.write(KernlinkHost { lookup: Some(lookup), ..CLOSED }) };
        Admitted(self)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        // SAFETY: as in `admit`.
        unsafe { self.0.host.write(CLOSED) };
    }
}

/// What libraries see when none is being loaded.
const CLOSED: KernlinkHost =
    KernlinkHost { interface: INTERFACE, size: size_of::<KernlinkHost>() as u32, lookup: None };

/// Finds a function of the host.
unsafe extern "C" fn lookup(name: *const c_char) -> *const c_void {
    // Another thread may be opening a library by other means meanwhile.
    if name.is_null() || !is_loading() {
        return std::ptr::null();
    }
    // SAFETY: the library's text.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    table().into_iter().find(|(other, _)| other.as_bytes() == name).map_or(std::ptr::null(), |(_, address)| address)
}

/// Has the functions of the host be found, and the libraries of TensorFlow that a library is linked to.
///
/// # Errors
/// FAILED_PRECONDITION if a library in C would get TensorFlow's own functions; UNIMPLEMENTED for a machine without jumps; what
/// the system says if it opens no library that was written.
pub(super) fn provide(path: &Path, needed: &[String], is_in_c: bool) -> Result<&'static Exports> {
    static EXPORTS: OnceLock<Exports> = OnceLock::new();
    let cannot = |error: Error| error.context(format!("cannot load {}", path.display()));
    let exports = match EXPORTS.get() {
        Some(exports) => exports,
        // One load runs at a time.
        None => {
            let made = make().map_err(cannot)?;
            EXPORTS.get_or_init(|| made)
        }
    };
    if is_in_c && let Some(other) = tensorflow_in_process(exports) {
        return Err(Error::failed_precondition(format!(
            "cannot load {}: {other} has TensorFlow's functions in this process, and the library would register there: load it in a \
             process without TensorFlow, or write it in Rust with `kernlink::library!()`",
            path.display()
        )));
    }
    needed.iter().try_for_each(|name| stand_in(name)).map_err(cannot)?;
    Ok(exports)
}

fn make() -> Result<Exports> {
    let image = image::of("libkernlink_host.so", &table())?;
    let handle = open(&image, system::GLOBAL)?;
    let host = handle.symbol(c"kernlink_host");
    let host = host.ok_or_else(|| Error::internal("the library of the host's functions lacks a symbol"))?.cast();
    let exports = Exports { handle, host };
    // SAFETY: as in `admit`.
    unsafe { exports.host.write(CLOSED) };
    Ok(exports)
}

/// The file that has the functions which libraries in C find, if these are not the host's.
fn tensorflow_in_process(exports: &Exports) -> Option<String> {
    const NAME: &CStr = c"TF_RegisterKernelBuilder";
    let found = system::symbol_of_process(NAME)?;
    if exports.handle.symbol(NAME) == Some(found) {
        return None;
    }
    // What is in the file of the host itself leads to the host, as the C API's exports do.
    let own = system::file_at(TF_RegisterKernelBuilder as *const c_void);
    let other = system::file_at(found.as_ptr());
    match (own, other) {
        (Some((own, _)), Some((other, _))) if own == other => None,
        (_, other) => Some(other.map_or_else(|| "another library".to_owned(), |(_, name)| name)),
    }
}

/// Opens an empty library under the name of one of TensorFlow's, so that the loader does not look for that: the host has
/// what is wanted of it.
fn stand_in(name: &str) -> Result<()> {
    let text = CString::new(name).map_err(|_| Error::invalid_argument("a library's name has a zero in it"))?;
    if !system::is_open(&text) {
        open(&image::of(name, &[])?, system::LOCAL)?;
    }
    Ok(())
}

/// Opens a library that is in memory.
fn open(image: &[u8], flags: i32) -> Result<Handle> {
    in_memory(image, flags).or_else(|in_memory| {
        in_folder(image, flags).map_err(|in_folder| {
            Error::failed_precondition(format!(
                "the system opens no library that this program writes, neither in memory ({in_memory}) nor in {} ({in_folder}): \
                 set TMPDIR to a folder in which programs may be executed",
                std::env::temp_dir().display()
            ))
        })
    })
}

fn in_memory(image: &[u8], flags: i32) -> Result<Handle, String> {
    // SAFETY: a text; the call gives a descriptor or -1.
    let descriptor = unsafe { libc::memfd_create(c"kernlink_host".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    // SAFETY: a descriptor that nobody else has.
    let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
    file.write_all(image).map_err(|error| error.to_string())?;
    let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(|error| error.to_string())?;
    let handle = Handle::open(&path, flags)?;
    // The loader knows the library by this path, which must not come to mean another.
    let _ = file.into_raw_fd();
    Ok(handle)
}

fn in_folder(image: &[u8], flags: i32) -> Result<Handle, String> {
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
        Handle::open(&name, flags)
    });
    let _ = std::fs::remove_file(&path);
    opened
}

#[cfg(test)]
mod tests {
    use kernlink_framework::kernel::Location;

    use super::*;
    use crate::abi::{TF_Code, TF_Status};
    use crate::host::registration::collect_of;

    #[test]
    fn functions_jump_to_the_hosts() {
        let exports: &'static Exports = Box::leak(Box::new(make().unwrap()));
        let names: Vec<&str> = table().into_iter().map(|(name, _)| name).collect();
        for name in &names {
            assert!(exports.handle.symbol(&CString::new(*name).unwrap()).is_some(), "{name}");
        }
        assert!(exports.handle.symbol(c"TF_Nope").is_none());
        let symbol = |name| exports.handle.symbol(name).unwrap().as_ptr();
        // SAFETY: the functions have these types.
        unsafe {
            let new: unsafe extern "C" fn() -> *mut TF_Status = std::mem::transmute(symbol(c"TF_NewStatus"));
            let set: unsafe extern "C" fn(*mut TF_Status, TF_Code, *const c_char) =
                std::mem::transmute(symbol(c"TF_SetStatus"));
            let get: unsafe extern "C" fn(*const TF_Status) -> TF_Code = std::mem::transmute(symbol(c"TF_GetCode"));
            let delete: unsafe extern "C" fn(*mut TF_Status) = std::mem::transmute(symbol(c"TF_DeleteStatus"));
            let status = new();
            set(status, 7, c"no".as_ptr());
            assert_eq!(get(status), 7);
            delete(status);
        }
        // SAFETY: the struct is there.
        let open = || unsafe { exports.host.read() }.lookup;
        assert!(open().is_none());
        let admitted = exports.admit();
        let lookup = open().unwrap();
        // SAFETY: a text.
        assert!(unsafe { lookup(c"TF_NewStatus".as_ptr()) }.is_null(), "this thread loads nothing");
        // SAFETY: texts.
        let ask = || unsafe {
            assert_eq!(
                lookup(c"TF_NewStatus".as_ptr()),
                table().iter().find(|(name, _)| *name == "TF_NewStatus").unwrap().1
            );
            assert!(lookup(c"TF_Nope".as_ptr()).is_null() && lookup(std::ptr::null()).is_null());
        };
        collect_of(Location::library("libz.so"), ask);
        drop(admitted);
        assert!(open().is_none());
    }

    #[test]
    fn a_file_is_opened_too() {
        let image = image::of("libkernlink_test.so", &table()).unwrap();
        let handle = in_folder(&image, system::LOCAL).unwrap();
        assert!(handle.symbol(c"TF_NewStatus").is_some());
        handle.close();
    }
}
