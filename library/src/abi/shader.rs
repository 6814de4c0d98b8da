//! Kernels of which only the shader is written, between a library and Kernlink: TensorFlow's C API has none.
//!
//! A library begins a `TF_KernelBuilder` for the device `GPU` without a function that creates and one that computes, with one
//! dtype for each attr that it constrains, and tells it the shader by [`SET_SHADER`]: its text and how it is run as a [`Shader`]
//! message, and what makes and answers for kernels as [`KernlinkShaderFunctions`].

use std::ffi::{CStr, c_int, c_void};

use super::{TF_DataType, TF_KernelBuilder, TF_OpKernelConstruction, TF_Status, TF_Tensor};

/// The name of the function of type [`SetShader`] that [`KernlinkHost::lookup`](super::KernlinkHost) finds.
pub const SET_SHADER: &CStr = c"Kernlink_KernelBuilder_SetShader";

/// Tells a builder the shader of its kernel, once: a [`Shader`] of `length` bytes, and functions, both of which are copied.
pub type SetShader = unsafe extern "C" fn(
    builder: *mut TF_KernelBuilder,
    shader: *const c_void,
    length: usize,
    functions: *const KernlinkShaderFunctions,
    status: *mut TF_Status,
);

/// What makes a shader's kernels, and is asked before each run. `kernel` is what `create` made for the node. Each may be called on
/// any thread, several at once, and leaves an error in the status.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernlinkShaderFunctions {
    /// The size of the struct that the library knows.
    pub size: usize,
    /// Handed to `create`: by it the library tells the kernel from others of the op.
    pub data: *const c_void,
    /// Makes what the library keeps for a node; the builder's own function deletes it. Without it there is nothing.
    pub create: Option<
        unsafe extern "C" fn(
            data: *const c_void,
            ctx: *mut TF_OpKernelConstruction,
            graph_def_version: c_int,
        ) -> *mut c_void,
    >,
    /// Says the shape of each output by [`KernlinkLaunch::set_output`]. Always there, and asked unless the shader is a function
    /// of elements.
    pub outputs:
        Option<unsafe extern "C" fn(kernel: *mut c_void, launch: *const KernlinkLaunch, status: *mut TF_Status)>,
    /// Writes the bits of those parameters that functions say, in the order of [`Shader::params`]: there is room for `count`.
    pub computed: Option<
        unsafe extern "C" fn(
            kernel: *mut c_void,
            launch: *const KernlinkLaunch,
            words: *mut u32,
            count: usize,
            status: *mut TF_Status,
        ),
    >,
    /// Writes three numbers of workgroups. Asked if the dispatch rule is a function.
    pub groups: Option<
        unsafe extern "C" fn(
            kernel: *mut c_void,
            launch: *const KernlinkLaunch,
            groups: *mut u32,
            status: *mut TF_Status,
        ),
    >,
}

// SAFETY: `data` is the library's, which is called on any thread.
unsafe impl Send for KernlinkShaderFunctions {}
// SAFETY: as above.
unsafe impl Sync for KernlinkShaderFunctions {}

/// A run that is about to be recorded. All of it is good during the call.
#[repr(C)]
pub struct KernlinkLaunch {
    /// The size of the struct that the host knows.
    pub size: usize,
    /// The host's own.
    pub host: *const c_void,
    /// The inputs.
    pub inputs: *const KernlinkInput,
    /// How many there are.
    pub num_inputs: usize,
    /// The outputs' shapes; null in the function that says them.
    pub outputs: *const KernlinkShape,
    /// How many there are.
    pub num_outputs: usize,
    /// Input `index`, one in host memory, as a tensor that the caller deletes; null with an error in the status for others.
    pub input:
        unsafe extern "C" fn(launch: *const KernlinkLaunch, index: usize, status: *mut TF_Status) -> *mut TF_Tensor,
    /// Says the shape of output `index`, in the function that is asked for it. What is said last of an output holds: a shape that is
    /// refused fails the run, unless one that is right comes after it.
    pub set_output:
        unsafe extern "C" fn(launch: *const KernlinkLaunch, index: usize, shape: KernlinkShape, status: *mut TF_Status),
}

/// A shape whose sizes are all known. The struct stays as it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernlinkShape {
    /// The sizes; may be null if there are none.
    pub dims: *const i64,
    /// How many there are.
    pub rank: c_int,
}

/// An input of a run. The struct stays as it is.
#[repr(C)]
pub struct KernlinkInput {
    /// Its dtype.
    pub dtype: TF_DataType,
    /// Its shape.
    pub shape: KernlinkShape,
}

/// A shader, and how it is run: what `#[register_kernel(wgsl = ...)]` is told.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Shader {
    /// The struct that stands for the kernel.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The source file of the registration.
    #[prost(string, tag = "2")]
    pub registered_in: String,
    /// The line of the registration.
    #[prost(uint32, tag = "3")]
    pub registered_at: u32,
    /// The shader's file, relative to that of the registration.
    #[prost(string, tag = "4")]
    pub file: String,
    /// The shader.
    #[prost(string, tag = "5")]
    pub text: String,
    /// Capabilities that the device must have; `f16` and `i64` too, if the shader computes with half or int64.
    #[prost(string, repeated, tag = "6")]
    pub requires: Vec<String>,
    /// Values of attrs, other than dtypes, for which the kernel is.
    #[prost(message, repeated, tag = "7")]
    pub constraints: Vec<Constraint>,
    /// Whether the file is the whole shader.
    #[prost(bool, tag = "8")]
    pub is_raw: bool,
    /// How many threads there are.
    #[prost(message, optional, tag = "9")]
    pub dispatch: Option<Dispatch>,
    /// The parameters, but for those of the dispatch rule.
    #[prost(message, repeated, tag = "10")]
    pub params: Vec<Param>,
    /// Arguments that are bound as arrays of vectors.
    #[prost(string, repeated, tag = "11")]
    pub vectors: Vec<String>,
    /// The threads of a workgroup.
    #[prost(uint32, tag = "12")]
    pub workgroup: u32,
    /// The code of the error for elements that an element-wise function refuses; 0 if it refuses none.
    #[prost(int32, tag = "13")]
    pub refusal_code: i32,
    /// The message of that error.
    #[prost(string, tag = "14")]
    pub refusal_message: String,
    /// The lowest [`INTERFACE`](super::INTERFACE) of a host that understands all of the message.
    #[prost(uint32, tag = "15")]
    pub interface: u32,
}

/// The values of an attr for which a kernel is: of one kind, and at least one.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Constraint {
    /// The attr.
    #[prost(string, tag = "1")]
    pub attr: String,
    /// Values of one of type `string`.
    #[prost(string, repeated, tag = "2")]
    pub strings: Vec<String>,
    /// Values of one of type `int`.
    #[prost(int64, repeated, tag = "3")]
    pub ints: Vec<i64>,
    /// Values of one of type `bool`.
    #[prost(bool, repeated, tag = "4")]
    pub bools: Vec<bool>,
}

/// How many threads a shader has.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Dispatch {
    /// The rule.
    #[prost(enumeration = "Rule", tag = "1")]
    pub rule: i32,
    /// The argument that it is about; empty for the first output.
    #[prost(string, tag = "2")]
    pub of: String,
    /// The elements of a thread, or the rows of a tile.
    #[prost(uint32, tag = "3")]
    pub rows: u32,
    /// The columns of a tile.
    #[prost(uint32, tag = "4")]
    pub columns: u32,
}

/// A rule of [`Dispatch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Rule {
    /// None: what a host does not know is 0, too.
    Unknown = 0,
    /// A thread for each so many elements.
    Elements = 1,
    /// A workgroup for each row.
    Rows = 2,
    /// A workgroup for each tile.
    Tiles = 3,
    /// A function of elements, whose operands broadcast.
    Broadcast = 4,
    /// A function of elements, whose operands have one shape.
    Equal = 5,
    /// A function of elements, whose operands have as many elements.
    Alike = 6,
    /// As many workgroups as a function says.
    Function = 7,
}

/// A parameter of a shader.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Param {
    /// Its name; of a shape the argument's.
    #[prost(string, tag = "1")]
    pub name: String,
    /// What it is.
    #[prost(enumeration = "ParamKind", tag = "2")]
    pub kind: i32,
    /// Its type, `i32`, `u32` or `f32`; of an attr empty for the attr's own.
    #[prost(string, tag = "3")]
    pub ty: String,
    /// Of a shape, how many dimensions there are: 1 to 254.
    #[prost(uint32, tag = "4")]
    pub rank: u32,
}

/// What a [`Param`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum ParamKind {
    /// None: what a host does not know is 0, too.
    Unknown = 0,
    /// The value of the attr of that name.
    Attr = 1,
    /// What a function says.
    Computed = 2,
    /// The dimensions of the argument of that name.
    Shape = 3,
}
