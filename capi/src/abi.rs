//! The types of `c_api.h`, as C passes them; those that op libraries need, too, are `kernlink_library`'s.

#![allow(non_camel_case_types, reason = "the names are TensorFlow's")]

use std::ffi::c_int;

pub use kernlink_library::abi::*;

macro_rules! opaque_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            pub struct $name {
                _opaque: [u8; 0],
            }
        )*
    };
}
opaque_types! {
    /// A graph, to which operations are added.
    TF_Graph;
    /// A node of a graph. It lives as long as the graph.
    TF_Operation;
    /// A library that was loaded.
    TF_Library;
    /// A node that is being described.
    TF_OperationDescription;
}

/// An input of an operation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TF_Input {
    /// The operation.
    pub oper: *mut TF_Operation,
    /// Which of its inputs.
    pub index: c_int,
}

/// An output of an operation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TF_Output {
    /// The operation.
    pub oper: *mut TF_Operation,
    /// Which of its outputs.
    pub index: c_int,
}
