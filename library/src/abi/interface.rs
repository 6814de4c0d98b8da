//! What Kernlink and a library of its own tell each other beside TensorFlow's functions, by data symbols.

use std::ffi::{c_char, c_void};

/// The number of the interface between a library and Kernlink. A library exports it as a data symbol whose name begins with
/// [`INTERFACE_SYMBOL`], so that it can be read before any code of the library runs.
pub const INTERFACE: u32 = 1;

/// How the names of the data symbols begin by which a library tells its [`INTERFACE`]; the name of its crate follows.
pub const INTERFACE_SYMBOL: &str = "kernlink_library_interface_";

/// The host, as the data symbol `kernlink_host` of the program.
#[repr(C)]
pub struct KernlinkHost {
    /// The [`INTERFACE`] that the program was built with.
    pub interface: u32,
    /// The size of the struct that the program knows.
    pub size: u32,
    /// The address of one of the host's functions, null if it has none of this name; only there while a library is loaded.
    pub lookup: Option<unsafe extern "C" fn(name: *const c_char) -> *const c_void>,
}
