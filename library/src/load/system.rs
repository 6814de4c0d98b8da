//! The system's loader.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

/// Symbols that are for the opened library alone.
pub(super) const LOCAL: c_int = libc::RTLD_NOW | libc::RTLD_LOCAL;
/// Symbols that all libraries which are opened later find.
pub(super) const GLOBAL: c_int = libc::RTLD_NOW | libc::RTLD_GLOBAL;

/// What is open.
pub(super) struct Handle(NonNull<c_void>);

// SAFETY: the loader's handles are for all threads.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// Opens a library, which runs its constructors.
    ///
    /// # Errors
    /// What the loader says.
    pub(super) fn open(path: &CStr, flags: c_int) -> Result<Handle, String> {
        // SAFETY: a path that ends with a zero. What the library's constructors do is what its author answers for.
        let handle = unsafe { libc::dlopen(path.as_ptr(), flags) };
        NonNull::new(handle).map(Handle).ok_or_else(|| {
            // SAFETY: null, or a text that stays until this thread asks the loader for something again.
            let said = unsafe { libc::dlerror().cast_const().as_ref() };
            let Some(said) = said else { return "the loader does not say why".to_owned() };
            // SAFETY: as above.
            unsafe { CStr::from_ptr(said) }.to_string_lossy().into_owned()
        })
    }

    /// Says that nobody needs it any more, once.
    pub(super) fn close(&self) {
        // SAFETY: nothing that the host keeps leads into the library: callers see to it.
        unsafe { libc::dlclose(self.0.as_ptr()) };
    }

    /// The address of a symbol of it.
    pub(super) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: an open handle, and a text.
        NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })
    }
}

/// Whether a library is in the process.
pub(super) fn is_open(path: &CStr) -> bool {
    let handle = Handle::open(path, LOCAL | libc::RTLD_NOLOAD);
    if let Ok(handle) = &handle {
        handle.close();
    }
    handle.is_ok()
}

/// The address of a symbol that all of the process sees.
pub(super) fn symbol_of_process(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: a text.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

/// Which file of the process has an address, by where the file is in memory, and its name.
pub(super) fn file_at(address: *const c_void) -> Option<(usize, String)> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null::<c_char>(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: any address may be asked about.
    if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's text, which stays as long as the file is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned();
    Some((info.dli_fbase.addr(), name))
}
