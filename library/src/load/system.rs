//! The system's loader.

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::ptr::{self, NonNull};

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
        dli_fname: ptr::null::<c_char>(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: any address may be asked about.
    if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's text, which stays as long as the file is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned();
    Some((info.dli_fbase.addr(), name))
}

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

/// The folders in which the loader looks for the libraries that the program opens.
pub(super) fn folders() -> Vec<PathBuf> {
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
