//! The functions of the host, for libraries.
//!
//! What is linked into a program is not to be found by the libraries that the program opens. So small libraries are written, and opened
//! so that all others find their symbols. One has the symbol by which libraries in Rust ask for the functions; it is made when the first of
//! them is loaded. The other has functions under TensorFlow's names, and those beyond, which jump to the host's; it is made when the
//! first library is loaded that names them.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use kernlink_framework::{Error, Result};

use super::file::Description;
use super::system;
use super::written::Written;
use crate::abi::{INTERFACE, KernlinkHost};
use crate::host::registration::is_loading;
use crate::host::{TF_RegisterKernelBuilder, find, functions};

pub(super) mod image;

/// The symbol that libraries in Rust look for.
struct Door {
    /// Has the symbol.
    _library: Written,
    host: NonNull<KernlinkHost>,
    /// How many loads have it open.
    open: Mutex<usize>,
}

// SAFETY: of the host's struct only one field is written, as an atomic.
unsafe impl Send for Door {}
// SAFETY: as above.
unsafe impl Sync for Door {}

/// While it lives, a library in Rust finds the host's functions.
struct Admitted(&'static Door);

impl Door {
    /// The only one, which stays.
    fn get() -> Result<&'static Door> {
        static DOOR: OnceLock<Door> = OnceLock::new();
        made_once(&DOOR, Door::make)
    }

    fn make() -> Result<Door> {
        let library = Written::open(&image::of("libkernlink_host.so", &[], true)?, system::GLOBAL)?;
        let host = library.symbol(c"kernlink_host");
        let host = host.ok_or_else(|| Error::internal("the library of the host's symbol lacks it"))?.cast();
        // SAFETY: the struct is in the library that was written, whose data may be changed; nobody else writes to it so far.
        unsafe {
            host.write(KernlinkHost { interface: INTERFACE, size: size_of::<KernlinkHost>() as u32, lookup: None });
        }
        Ok(Door { _library: library, host, open: Mutex::new(0) })
    }

    fn admit(&'static self) -> Admitted {
        self.change(|open| *open += 1);
        Admitted(self)
    }

    /// Changes how many have it open.
    fn change(&self, change: impl FnOnce(&mut usize)) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut open);
        let lookup = if *open > 0 { lookup as *mut c_void } else { std::ptr::null_mut() };
        // SAFETY: the struct stays. An optional function is a pointer, null if there is none.
        let place = unsafe { AtomicPtr::from_ptr((&raw mut (*self.host.as_ptr()).lookup).cast()) };
        place.store(lookup, Ordering::Release);
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.0.change(|open| *open -= 1);
    }
}

/// What `made` holds, which is made at most once. Others wait meanwhile, and nothing of theirs runs in here.
fn made_once<T>(made: &'static OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&'static T> {
    static MAKING: Mutex<()> = Mutex::new(());
    if let Some(made) = made.get() {
        return Ok(made);
    }
    let _alone = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    match made.get() {
        Some(made) => Ok(made),
        None => make().map(|new| made.get_or_init(|| new)),
    }
}

/// Finds a function of the host.
unsafe extern "C" fn lookup(name: *const c_char) -> *const c_void {
    // Another thread may be opening a library by other means meanwhile.
    if name.is_null() || !is_loading() {
        return std::ptr::null();
    }
    // SAFETY: the library's text.
    find(unsafe { CStr::from_ptr(name) })
}

/// The functions under TensorFlow's names.
static FUNCTIONS: OnceLock<Written> = OnceLock::new();

/// What a library finds while it is opened.
pub(super) struct Provided {
    _admitted: Option<Admitted>,
    stand_ins: Vec<Written>,
}

impl Provided {
    /// Lets nobody find the functions any more; what stands in for other libraries stays.
    pub(super) fn stand_ins(self) -> Vec<Written> {
        self.stand_ins
    }
}

/// Has a library find the functions of the host, and the libraries of TensorFlow that it is linked to.
///
/// # Errors
/// FAILED_PRECONDITION if a library that names TensorFlow's functions would get TensorFlow's own; UNIMPLEMENTED for a machine without
/// jumps; what the system says if it opens no library that was written.
pub(super) fn provide(path: &Path, library: &Description) -> Result<Provided> {
    let cannot = |error: Error| error.context(format!("cannot load {}", path.display()));
    let admitted = match library.is_in_rust {
        true => Some(Door::get().map_err(cannot)?.admit()),
        false => None,
    };
    if library.names_functions {
        made_once(&FUNCTIONS, make_functions).map_err(cannot)?;
    }
    let stand_ins = library.of_tensorflow().map(|name| stand_in(name)).collect::<Result<_>>().map_err(cannot)?;
    Ok(Provided { _admitted: admitted, stand_ins })
}

fn make_functions() -> Result<Written> {
    // Once they are there, libraries find them before those of a TensorFlow that comes later.
    if let Some(other) = tensorflow_in_process() {
        return Err(Error::failed_precondition(format!(
            "{other} has TensorFlow's functions in this process, and the library would register there: load it in a process \
             without TensorFlow, or write it in Rust with `kernlink::library!()`"
        )));
    }
    Written::open(&image::of("libkernlink_functions.so", &functions(), false)?, system::GLOBAL)
}

/// The file that has the functions which libraries find by their names, if these are not the host's.
fn tensorflow_in_process() -> Option<String> {
    const NAME: &CStr = c"TF_RegisterKernelBuilder";
    let found = system::symbol_of_process(NAME)?;
    // What is in the file of the host itself leads to the host, as the C API's exports do.
    let own = system::file_at(TF_RegisterKernelBuilder as *const c_void);
    let other = system::file_at(found.as_ptr());
    match (own, other) {
        (Some((own, _)), Some((other, _))) if own == other => None,
        (_, other) => Some(other.map_or_else(|| "another library".to_owned(), |(_, name)| name)),
    }
}

/// An empty library under the name of one of TensorFlow's, so that the loader does not look for that: the host has what is wanted
/// of it. If there is one of the name, it is that.
fn stand_in(name: &str) -> Result<Written> {
    let text = CString::new(name).map_err(|_| Error::invalid_argument("a library's name has a zero in it"))?;
    match Written::find(&text) {
        Some(there) => Ok(there),
        None => Written::open(&image::of(name, &[], false)?, system::LOCAL),
    }
}

#[cfg(test)]
mod tests {
    use kernlink_framework::kernel::Location;

    use super::*;
    use crate::abi::{TF_Code, TF_Status};
    use crate::host::LibraryInUse;
    use crate::host::registration::collect_of;

    #[test]
    fn functions_jump_to_the_hosts() {
        let image = image::of("libkernlink_functions_test.so", &functions(), false).unwrap();
        let functions = Written::open(&image, system::LOCAL).unwrap();
        for (name, _) in super::functions() {
            assert!(functions.symbol(&CString::new(name).unwrap()).is_some(), "{name}");
        }
        assert!(functions.symbol(c"TF_Nope").is_none() && functions.symbol(c"kernlink_host").is_none());
        let symbol = |name| functions.symbol(name).unwrap().as_ptr();
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
    }

    #[test]
    fn the_door_is_open_until_the_last_load_has_ended() {
        let door: &'static Door = Box::leak(Box::new(Door::make().unwrap()));
        // SAFETY: the struct is there, and this thread alone changes it.
        let open = || unsafe { door.host.read() }.lookup;
        assert!(open().is_none());
        let (first, second) = (door.admit(), door.admit());
        let lookup = open().unwrap();
        // SAFETY: a text.
        assert!(unsafe { lookup(c"TF_NewStatus".as_ptr()) }.is_null(), "this thread loads nothing");
        // SAFETY: texts.
        let ask = || unsafe {
            assert_eq!(
                lookup(c"TF_NewStatus".as_ptr()),
                functions().iter().find(|(name, _)| *name == "TF_NewStatus").unwrap().1
            );
            assert!(lookup(c"TF_Nope".as_ptr()).is_null() && lookup(std::ptr::null()).is_null());
        };
        collect_of(&LibraryInUse::new(Location::library("libz.so")), ask);
        drop(first);
        assert!(open().is_some());
        drop(second);
        assert!(open().is_none());
    }

    #[test]
    fn a_library_in_rust_does_not_make_tensorflows_names_known() {
        let needed = vec!["libtensorflow_provided_test.so".to_owned(), "libnowhere.so".to_owned()];
        let library = Description { is_in_rust: true, names_functions: false, needed };
        let provided = provide(Path::new("libx.so"), &library).unwrap();
        assert!(system::symbol_of_process(c"kernlink_host").is_some());
        assert!(system::symbol_of_process(c"TF_NewStatus").is_none());
        assert!(system::is_open(c"libtensorflow_provided_test.so"));
        drop(provided);
        assert!(!system::is_open(c"libtensorflow_provided_test.so"));
    }

    #[test]
    fn a_stand_in_goes_with_the_last_load_that_wants_it() {
        let (name, text) = ("libtensorflow_stand_in_test.so", c"libtensorflow_stand_in_test.so");
        let (first, second) = (stand_in(name).unwrap(), stand_in(name).unwrap());
        drop(first);
        assert!(system::is_open(text));
        drop(second);
        assert!(!system::is_open(text));
    }
}
