//! The host's functions, by their addresses.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use crate::abi::*;

macro_rules! table {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        /// The functions of a host. Those who call one follow what the C API asks for.
        #[allow(non_snake_case, reason = "the names are TensorFlow's")]
        #[allow(dead_code, reason = "the interface is offered as a whole, of which libraries of Rust need a part")]
        pub struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        impl Functions {
            /// The functions that `lookup` finds.
            ///
            /// # Safety
            /// What `lookup` finds by a name is the function of that name and of the type that the list of signatures says.
            ///
            /// # Errors
            /// The names of those that it does not find.
            pub unsafe fn find(lookup: impl Fn(&CStr) -> *const c_void) -> Result<Functions, Vec<&'static str>> {
                const NAMES: &[&CStr] = &[$(c_name(concat!(stringify!($name), "\0"))),*];
                let found: Vec<_> = NAMES.iter().map(|name| lookup(name)).collect();
                let missing = NAMES.iter().zip(&found).filter(|(_, address)| address.is_null());
                let missing: Vec<_> = missing.filter_map(|(name, _)| name.to_str().ok()).collect();
                if !missing.is_empty() {
                    return Err(missing);
                }
                let mut found = found.into_iter();
                Ok(Functions {
                    $($name: {
                        let address = found.next().unwrap_or(std::ptr::null());
                        // SAFETY: there are as many addresses as fields, none is null, and the caller says which type each has.
                        unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(address) }
                    },)*
                })
            }
        }
    };
}

crate::for_each_host_function!(table);

/// A text that ends with a zero, as C takes it.
const fn c_name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// What a host is, where hosts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// Kernels may call back at any time, and outputs may be handles of resources, of which the bytes are a message.
    Kernlink,
    /// A kernel's callback is an object that ends with the call of the kernel, so that a kernel must call back before it returns.
    /// No output can be made a handle.
    TensorFlow,
}

/// Who loaded the library.
pub(super) struct Host {
    functions: Functions,
    /// Takes shaders, if the host runs any.
    pub(super) set_shader: Option<SetShader>,
    pub(super) kind: HostKind,
}

impl std::ops::Deref for Host {
    type Target = Functions;
    fn deref(&self) -> &Functions {
        &self.functions
    }
}

static HOST: OnceLock<Host> = OnceLock::new();

/// The host that loaded the library; `None` before it was found.
pub(super) fn host() -> Option<&'static Host> {
    HOST.get()
}

/// Notes the host; the first stays.
pub(super) fn set_host(functions: Functions, set_shader: Option<SetShader>, kind: HostKind) -> &'static Host {
    HOST.get_or_init(|| Host { functions, set_shader, kind })
}
