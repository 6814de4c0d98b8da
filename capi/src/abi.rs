//! The types of `c_api.h`, as C passes them; those that op libraries need, too, are `kernlink_library`'s.

#![allow(non_camel_case_types, reason = "the names are TensorFlow's")]

use std::ffi::{c_char, c_int, c_void};

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
    /// How a message is added to a graph.
    TF_ImportGraphDefOptions;
    /// What became of a message that was added to a graph.
    TF_ImportGraphDefResults;
    /// A function.
    TF_Function;
    /// How a function is made; there are no options so far.
    TF_FunctionOptions;
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

impl TF_Output {
    /// None: of no operation.
    pub const NONE: TF_Output = TF_Output { oper: std::ptr::null_mut(), index: -1 };
}

/// What an attr's value is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TF_AttrMetadata {
    /// Whether it is a list.
    pub is_list: u8,
    /// The number of elements of a list; -1 for other values.
    pub list_size: i64,
    /// What kind of value it is, or what its elements are.
    pub r#type: c_int,
    /// The bytes of a string or of all strings, the rank of a shape or all of them; -1 for other values.
    pub total_size: i64,
}

/// A loop that is being described.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TF_WhileParams {
    /// How many variables it has.
    pub ninputs: c_int,
    /// The graph of the condition.
    pub cond_graph: *mut TF_Graph,
    /// The variables in it.
    pub cond_inputs: *const TF_Output,
    /// What the caller says the condition is: a bool scalar.
    pub cond_output: TF_Output,
    /// The graph of the body.
    pub body_graph: *mut TF_Graph,
    /// The variables in it.
    pub body_inputs: *const TF_Output,
    /// What the caller says the variables are after an iteration.
    pub body_outputs: *mut TF_Output,
    /// What the names of the loop's nodes begin with.
    pub name: *const c_char,
}

opaque_types! {
    /// What sessions are made with.
    TF_SessionOptions;
    /// What runs a graph.
    TF_Session;
    /// A session whose graph belongs to it.
    TF_DeprecatedSession;
    /// The devices of a session, as they were when it was asked.
    TF_DeviceList;
}

opaque_types! {
    /// A process of a cluster.
    TF_Server;
    /// Texts about ops.
    TF_ApiDefMap;
}

/// Called with each of a status' keys, its value and what the caller hands on.
pub type PayloadVisitor = Option<unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void)>;

/// Where kernels of other devices meet, and its functions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TF_RendezvousThunk {
    rendezvous: *mut c_void,
    send_func: *const c_void,
    async_recv_func: *const c_void,
    start_abort_func: *const c_void,
}

impl TF_RendezvousThunk {
    /// None, without functions.
    pub const NONE: TF_RendezvousThunk = TF_RendezvousThunk {
        rendezvous: std::ptr::null_mut(),
        send_func: std::ptr::null(),
        async_recv_func: std::ptr::null(),
        start_abort_func: std::ptr::null(),
    };
}

opaque_types! {
    /// What contexts are made with.
    TFE_ContextOptions;
    /// Where ops run at once.
    TFE_Context;
    /// A tensor that ops take and give.
    TFE_TensorHandle;
    /// How a tensor lies on its device.
    TFE_TensorDebugInfo;
    /// An op that is being described, to run at once.
    TFE_Op;
}

/// What happens to inputs that are on another device than the op: `TFE_DEVICE_PLACEMENT_EXPLICIT` and its like.
pub type TFE_ContextDevicePlacementPolicy = c_int;
