//! The binary interface of TensorFlow's C API for kernels and ops (`tensorflow/c/kernels.h`, `ops.h`, and what these need): its
//! types, its functions' signatures, and the layout of strings.
//!
//! Nothing in here computes anything but strings. [`host`](crate::host) implements the functions.

#![allow(non_camel_case_types, reason = "the names are TensorFlow's")]

mod functions;
mod interface;
pub mod shader;
mod string;

pub use interface::{INTERFACE, INTERFACE_SYMBOL, KernlinkHost};
pub use shader::{KernlinkInput, KernlinkLaunch, KernlinkShaderFunctions, KernlinkShape, SetShader};
#[cfg(feature = "host")]
pub(crate) use string::data_pointer as string_data_pointer;
pub use string::{Strings, TF_TString};

use std::ffi::{c_char, c_int, c_void};

macro_rules! opaque {
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

opaque! {
    /// How a call went: a code and a message.
    TF_Status;
    /// A tensor.
    TF_Tensor;
    /// The registration of a kernel that is being described.
    TF_KernelBuilder;
    /// The node for which a kernel is made.
    TF_OpKernelConstruction;
    /// One call of a kernel.
    TF_OpKernelContext;
    /// What an asynchronous kernel calls once it is done.
    TF_AsyncOpKernelDoneCallback;
    /// The declaration of an op that is being described.
    TF_OpDefinitionBuilder;
    /// A shape in a shape function.
    TF_ShapeHandle;
    /// A dimension in a shape function.
    TF_DimensionHandle;
    /// One call of a shape function.
    TF_ShapeInferenceContext;
}

/// The number of a dtype, as C passes it: not every number is one.
pub type TF_DataType = c_int;
/// The number of a code; 0 is OK.
pub type TF_Code = c_int;
/// The number of a kind of strings.
pub type TF_TString_Type = c_int;
/// A bool in a byte.
pub type TF_Bool = u8;

/// Bytes, and how they are freed.
#[repr(C)]
pub struct TF_Buffer {
    /// The first byte; may be null if there are none.
    pub data: *const c_void,
    /// How many.
    pub length: usize,
    /// Frees them, if somebody has to.
    pub data_deallocator: Option<unsafe extern "C" fn(data: *mut c_void, length: usize)>,
}

/// Bytes that belong to somebody else.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TF_StringView {
    /// The first byte.
    pub data: *const c_char,
    /// How many.
    pub len: usize,
}

/// Which inputs belong to an argument: what `TF_InputRange` is asked and answers.
#[repr(C)]
pub struct TF_InputRange_Args {
    /// The size of the struct that the caller knows.
    pub struct_size: usize,
    /// For whoever implements the function.
    pub private: *mut c_void,
    /// The first input.
    pub start: c_int,
    /// The one after the last.
    pub stop: c_int,
    /// How it went.
    pub status: *mut TF_Status,
}

/// Where a temporary tensor is wanted.
#[repr(C)]
pub struct TF_AllocatorAttributes {
    /// The size of the struct that the caller knows.
    pub struct_size: usize,
    /// Whether in the host's memory.
    pub on_host: TF_Bool,
}

/// Makes a kernel for a node; null if it keeps nothing.
pub type CreateFunction = unsafe extern "C" fn(*mut TF_OpKernelConstruction) -> *mut c_void;
/// Computes.
pub type ComputeFunction = unsafe extern "C" fn(*mut c_void, *mut TF_OpKernelContext);
/// Begins to compute, and calls back.
pub type ComputeAsyncFunction =
    unsafe extern "C" fn(*mut c_void, *mut TF_OpKernelContext, *mut TF_AsyncOpKernelDoneCallback);
/// Frees what was made.
pub type DeleteFunction = unsafe extern "C" fn(*mut c_void);
/// Says which shapes the outputs have.
pub type ShapeFunction = unsafe extern "C" fn(*mut TF_ShapeInferenceContext, *mut TF_Status);
/// Frees a tensor's memory: data, its length, and the argument given with it.
pub type Deallocator = unsafe extern "C" fn(data: *mut c_void, length: usize, argument: *mut c_void);
