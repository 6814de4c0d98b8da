//! The functions that op libraries may call, under their C names: those of the crate `kernlink-library`.

use std::ffi::{c_char, c_int, c_void};

use kernlink_library::abi::*;
use kernlink_library::{for_each_host_function, host};

macro_rules! export {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                // SAFETY: the same function, with what the caller gave.
                unsafe { host::$name($($argument),*) }
            }
        )*
    };
}

for_each_host_function!(export);
