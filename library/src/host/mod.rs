//! The host's side of TensorFlow's C API for kernels and ops: its functions over Kernlink's tensors, registry and kernels.
//!
//! The functions are ordinary Rust functions with C's calling convention. No panic leaves them: one that a call meets is an INTERNAL error, where the call has a status.
//! Null pointers are errors where there is a way to say so, and have no effect elsewhere.

#![allow(non_snake_case, reason = "the names are TensorFlow's")]
#![allow(
    clippy::missing_safety_doc,
    reason = "what they ask of callers is said once, in `host`: pointers are null or what these functions gave"
)]

mod attr;
mod boundary;
mod buffer;
mod construction;
mod context;
mod deferred;
pub(crate) mod in_use;
mod kernel;
mod op;
pub mod registration;
mod shader;
mod shape;
mod status;
mod string;
mod tensor;
mod words;

pub use boundary::{guarded, report, text};
pub use buffer::{buffer_of, bytes_of, fill};
pub use in_use::LibraryInUse;
pub use status::Status;
pub use tensor::CTensor;

pub use buffer::{TF_DeleteBuffer, TF_GetBuffer, TF_NewBuffer, TF_NewBufferFromString};
pub use construction::*;
pub use context::*;
pub use deferred::*;
pub use kernel::*;
pub use op::*;
pub use shader::Kernlink_KernelBuilder_SetShader;
pub use shape::*;
pub use status::*;
pub use string::*;
pub use tensor::*;

/// Assigns each function to the type that the list of signatures gives it: one that differs does not compile.
macro_rules! table {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        /// The name of each function that a library may call, and its address.
        pub fn table() -> Vec<(&'static str, *const std::ffi::c_void)> {
            use std::ffi::{c_char, c_int, c_void};

            use crate::abi::*;

            vec![$({
                let function: unsafe extern "C" fn($($type),*) $(-> $result)? = $name;
                (stringify!($name), function as *const c_void)
            }),*]
        }
    };
}

crate::for_each_host_function!(table);

/// All functions that a library finds by their names: those of TensorFlow's C API, and those beyond it.
pub(crate) fn functions() -> Vec<(&'static str, *const std::ffi::c_void)> {
    table().into_iter().chain(shader::extensions()).collect()
}

/// The address of a function of these; null if there is none of this name.
pub fn find(name: &std::ffi::CStr) -> *const std::ffi::c_void {
    let mut found = functions().into_iter().filter(|(other, _)| other.as_bytes() == name.to_bytes());
    found.next().map_or(std::ptr::null(), |(_, address)| address)
}
