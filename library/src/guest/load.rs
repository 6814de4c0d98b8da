//! The constructor of a library: it looks for a host, and offers it what the crate registered.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write as _;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use kernlink_framework::error::catch_panic;
use kernlink_framework::kernel::Provider;

use super::functions::set_host;
use super::offer::offer;
use super::status::Status;
use super::{Functions, HostKind};
use crate::abi::shader::SET_SHADER;
use crate::abi::{INTERFACE, KernlinkHost, SetShader};

/// What the constructor of a library calls, with its own address. It does not panic.
#[doc(hidden)]
pub fn library_loaded(provider: &'static Provider, constructor: *const ()) {
    if is_of_program(constructor.addr()) {
        return;
    }
    let said = catch_panic("the library's constructor", || Ok(offer_to_any(provider)));
    let said = said.unwrap_or_else(|error| format!("kernlink: library {} is not loaded: {error}\n", provider.name));
    // Nobody can be told that nobody can be told.
    let _ = std::io::stderr().write_all(said.as_bytes());
}

/// Offers the crate's ops and kernels to the host that is there. Returns what is to be told to the user.
fn offer_to_any(provider: &'static Provider) -> String {
    let outcome = match kernlink_host() {
        // SAFETY: Kernlink finds its own functions.
        Some(lookup) => unsafe { offer_by(provider, HostKind::Kernlink, |name| lookup(name.as_ptr())) },
        None if in_process(c"TF_RegisterKernelBuilder").is_null() => return String::new(),
        // SAFETY: functions of these names are TensorFlow's.
        None => unsafe { offer_by(provider, HostKind::TensorFlow, in_process) },
    };
    outcome.unwrap_or_else(|why| format!("kernlink: library {} is not loaded: {why}\n", provider.name))
}

/// Offers a crate's ops and kernels to the host whose functions `lookup` finds. Returns what is to be told to the user: which
/// of it cannot be offered, and which the host refused.
///
/// # Safety
/// As [`Functions::find`].
///
/// # Errors
/// The names of functions that the host lacks.
#[doc(hidden)]
pub unsafe fn offer_by(
    provider: &'static Provider,
    kind: HostKind,
    lookup: impl Fn(&CStr) -> *const c_void,
) -> Result<String, String> {
    // SAFETY: as the caller says.
    let functions = unsafe { Functions::find(&lookup) };
    let functions = functions.map_err(|missing| format!("the host lacks {}", missing.join(", ")))?;
    let set_shader = match kind {
        HostKind::Kernlink => lookup(SET_SHADER),
        HostKind::TensorFlow => ptr::null(),
    };
    // SAFETY: Kernlink's function of that name is of that type; an optional function is a pointer, null if there is none.
    let set_shader = unsafe { std::mem::transmute::<*const c_void, Option<SetShader>>(set_shader) };
    let host = set_host(functions, set_shader, kind);
    Ok(offer(host, &Status::new(host), provider).text(provider.name))
}

/// A symbol of the process; null if there is none.
fn in_process(name: &CStr) -> *const c_void {
    // SAFETY: a name that ends with a zero.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// Kernlink's way to its functions, if it is loading a library.
fn kernlink_host() -> Option<unsafe extern "C" fn(*const c_char) -> *const c_void> {
    let host = in_process(c"kernlink_host").cast::<KernlinkHost>();
    if host.is_null() {
        return None;
    }
    // SAFETY: the symbol is Kernlink's, and stays. Of its fields only `lookup` changes, as an atomic; an optional function is a
    // pointer, null if there is none.
    unsafe {
        let is_known = (*host).interface == INTERFACE && (*host).size as usize >= size_of::<KernlinkHost>();
        let place = AtomicPtr::<c_void>::from_ptr((&raw const (*host).lookup).cast_mut().cast());
        let lookup = place.load(Ordering::Acquire);
        std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn(*const c_char) -> *const c_void>>(lookup)
            .filter(|_| is_known)
    }
}

/// Whether an address is within the program itself, into which the crate is linked then, rather than within a library.
fn is_of_program(address: usize) -> bool {
    struct Asked {
        address: usize,
        is_of_program: bool,
    }

    /// The first object that is visited is the program.
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, asked: *mut c_void) -> c_int {
        // SAFETY: what `dl_iterate_phdr` hands over, and what was handed to it.
        let (info, asked) = unsafe { (&*info, &mut *asked.cast::<Asked>()) };
        // SAFETY: an object has so many headers.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        asked.is_of_program = headers.iter().filter(|header| header.p_type == libc::PT_LOAD).any(|header| {
            let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
            asked.address.wrapping_sub(start) < header.p_memsz as usize
        });
        1
    }

    let mut asked = Asked { address, is_of_program: false };
    // SAFETY: `visit` takes an `Asked`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), ptr::from_mut(&mut asked).cast()) };
    asked.is_of_program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_a_test_is_of_the_program_and_one_of_the_c_library_is_not() {
        assert!(is_of_program((is_of_program as *const ()).addr()));
        assert!(!is_of_program((libc::dlsym as *const ()).addr()));
    }
}
