//! Functions of TensorFlow's headers that Kernlink does not have. They exist, so that programs which name them can be linked
//! and loaded, and answer UNIMPLEMENTED.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use kernlink::Error;
use kernlink_library::host::Status;

use crate::abi::{
    PayloadVisitor, TF_ApiDefMap, TF_Buffer, TF_Graph, TF_ImportGraphDefOptions, TF_ImportGraphDefResults, TF_Input,
    TF_Library, TF_OpKernelContext, TF_Operation, TF_Output, TF_RendezvousThunk, TF_Server, TF_Status, TFE_Context,
};

/// Functions that say in their status, if they have one, that they are not there, and return zero or null.
macro_rules! absent {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(; $status:ident)?) $(-> $result:ty = $otherwise:expr)?;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type,)* $($status: *mut TF_Status)?) $(-> $result)? {
                $(let _ = $argument;)*
                $(
                    // SAFETY: null or a status of the caller's.
                    unsafe { refuse(stringify!($name), $status) };
                )?
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

// Plugins, and what only they call.
absent! {
    /// UNIMPLEMENTED: devices are no plugins.
    fn TF_LoadPluggableDeviceLibrary(library_filename: *const c_char; status) -> *mut TF_Library = ptr::null_mut();
    /// UNIMPLEMENTED: file systems are no plugins.
    fn TF_RegisterFilesystemPlugin(plugin_filename: *const c_char; status);
    /// UNIMPLEMENTED: returns a rendezvous without functions.
    fn TF_GetRendezvous(ctx: *mut TF_OpKernelContext) -> TF_RendezvousThunk = TF_RendezvousThunk::NONE;
    /// UNIMPLEMENTED: calls nothing, since payloads are not kept.
    fn TF_ForEachPayload(s: *const TF_Status, visitor: PayloadVisitor, capture: *mut c_void);
    /// UNIMPLEMENTED: calls nothing, since nothing is logged.
    fn TF_RegisterLogListener(listener: Option<unsafe extern "C" fn(*const c_char)>);
}

// Changes to operations that are in a graph already.
absent! {
    /// UNIMPLEMENTED: inputs stay as they are.
    fn TF_UpdateEdge(graph: *mut TF_Graph, new_src: TF_Output, dst: TF_Input; status);
    /// UNIMPLEMENTED: inputs stay as they are.
    fn TF_AddWhileInputHack(graph: *mut TF_Graph, new_src: TF_Output, dst: *mut TF_Operation; status);
    /// UNIMPLEMENTED: no operation waits for another that it has not waited for.
    fn TF_AddOperationControlInput(graph: *mut TF_Graph, op: *mut TF_Operation, input: *mut TF_Operation);
    /// UNIMPLEMENTED: operations wait for what they have waited for.
    fn TF_RemoveAllControlInputs(graph: *mut TF_Graph, op: *mut TF_Operation);
    /// UNIMPLEMENTED: attrs stay as they are.
    fn TF_SetAttr(graph: *mut TF_Graph, op: *mut TF_Operation, attr_name: *const c_char, attr_value_proto: *mut TF_Buffer; status);
    /// UNIMPLEMENTED: attrs stay as they are.
    fn TF_ClearAttr(graph: *mut TF_Graph, op: *mut TF_Operation, attr_name: *const c_char; status);
    /// UNIMPLEMENTED: full types stay as they are.
    fn TF_SetFullType(graph: *mut TF_Graph, op: *mut TF_Operation, full_type_proto: *const TF_Buffer);
    /// UNIMPLEMENTED: the device that an operation asks for stays as it is.
    fn TF_SetRequestedDevice(graph: *mut TF_Graph, op: *mut TF_Operation, device: *const c_char);
}

// Shapes of what is behind handles, and of ops without a shape function.
absent! {
    /// UNIMPLEMENTED: returns null.
    fn TF_GetHandleShapeAndType(graph: *mut TF_Graph, output: TF_Output) -> *mut TF_Buffer = ptr::null_mut();
    /// UNIMPLEMENTED: what is behind a handle stays as it is known.
    fn TF_SetHandleShapeAndType(graph: *mut TF_Graph, output: TF_Output, proto: *const c_void, proto_len: usize; status);
    /// UNIMPLEMENTED: ops without a shape function have outputs of unknown shape.
    fn TF_SetRequireShapeInferenceFns(graph: *mut TF_Graph, require: bool);
}

// What passes objects of C++.
absent! {
    /// UNIMPLEMENTED: the message would be an object of C++.
    fn TF_GraphImportGraphDefWithResultsNoSerialization(
        graph: *mut TF_Graph, graph_def: *const TF_Buffer, options: *const TF_ImportGraphDefOptions; status
    ) -> *mut TF_ImportGraphDefResults = ptr::null_mut();
}

// Texts about ops.
absent! {
    /// UNIMPLEMENTED: there are no texts about ops.
    fn TF_NewApiDefMap(op_list_buffer: *mut TF_Buffer; status) -> *mut TF_ApiDefMap = ptr::null_mut();
    /// UNIMPLEMENTED: nothing is there to be freed.
    fn TF_DeleteApiDefMap(apimap: *mut TF_ApiDefMap);
    /// UNIMPLEMENTED: there are no texts about ops.
    fn TF_ApiDefMapPut(api_def_map: *mut TF_ApiDefMap, text: *const c_char, text_len: usize; status);
    /// UNIMPLEMENTED: there are no texts about ops.
    fn TF_ApiDefMapGet(api_def_map: *mut TF_ApiDefMap, name: *const c_char, name_len: usize; status) -> *mut TF_Buffer = ptr::null_mut();
}

// Clusters.
absent! {
    /// UNIMPLEMENTED: there are no clusters.
    fn TF_NewServer(proto: *const c_void, proto_len: usize; status) -> *mut TF_Server = ptr::null_mut();
    /// UNIMPLEMENTED: there are no clusters.
    fn TF_ServerStart(server: *mut TF_Server; status);
    /// UNIMPLEMENTED: there are no clusters.
    fn TF_ServerStop(server: *mut TF_Server; status);
    /// UNIMPLEMENTED: there are no clusters.
    fn TF_ServerJoin(server: *mut TF_Server; status);
    /// UNIMPLEMENTED: returns null.
    fn TF_ServerTarget(server: *mut TF_Server) -> *const c_char = ptr::null();
    /// UNIMPLEMENTED: nothing is there to be freed.
    fn TF_DeleteServer(server: *mut TF_Server);
    /// UNIMPLEMENTED: there are no clusters.
    fn TFE_ContextSetServerDef(
        ctx: *mut TFE_Context, keep_alive_secs: c_int, proto: *const c_void, proto_len: usize; status
    );
}
