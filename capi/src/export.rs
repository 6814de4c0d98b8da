//! The functions that op libraries call, which `kernlink-library` has, under their names.

use std::ffi::{c_char, c_int, c_void};

use kernlink_library::abi::*;
use kernlink_library::host;

use crate::program::takes_registrations;

macro_rules! export {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        $(
            #[doc = concat!("[`", stringify!($name), "`](host::", stringify!($name), ").")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                takes_registrations();
                // SAFETY: the caller keeps to what the function asks.
                unsafe { host::$name($($argument),*) }
            }
        )*
    };
}

kernlink_library::for_each_host_function!(export);
