//! Functions of TensorFlow's headers that Kernlink does not have. They exist, so that programs which name them can be linked
//! and loaded, and answer UNIMPLEMENTED.

use std::ffi::c_char;

use kernlink::Error;
use kernlink_library::host::Status;

use crate::abi::{TF_Library, TF_Status};

/// Functions with a status, which say in it that they are not there, and return zero or null.
macro_rules! absent {
    ($(fn $name:ident($($argument:ident: $type:ty),*; $status:ident) $(-> $result:ty = $otherwise:expr)?;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`: UNIMPLEMENTED.")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type,)* $status: *mut TF_Status) $(-> $result)? {
                $(let _ = $argument;)*
                // SAFETY: null or a status of the caller's.
                unsafe { refuse(stringify!($name), $status) };
                $($otherwise)?
            }
        )*
    };
}
/// Says that a function is not there.
///
/// # Safety
/// `status` is null or a status that nothing else uses meanwhile.
unsafe fn refuse(name: &str, status: *mut TF_Status) {
    let error = Error::unimplemented(format!("{name} is not implemented by Kernlink's C API"));
    // SAFETY: as the caller says.
    unsafe { Status::set(status, Err(&error)) };
}

absent! {
    fn TF_LoadPluggableDeviceLibrary(library_filename: *const c_char; status) -> *mut TF_Library = std::ptr::null_mut();
}
