//! `TF_Function`: functions made of parts of graphs, and the functions of graphs.

use std::collections::hash_map::DefaultHasher;
use std::ffi::{CString, c_char, c_int, c_void};
use std::hash::{Hash, Hasher};
use std::ptr;

use kernlink::graph::{FunctionParts, Graph, NodeId};
use kernlink::proto::{FunctionDef, Message as _, attr_from_proto, encoded};
use kernlink::{Error, Result};
use kernlink_library::host::{fill, guarded, report, text};

use crate::abi::{TF_Buffer, TF_Function, TF_FunctionOptions, TF_Graph, TF_Operation, TF_Output, TF_Status};
use crate::graph::{CGraph, node_in, output_in};
use crate::pointer::{borrow, borrow_mut, bytes, c_text, free, into_c, opaque, slice, slice_mut, texts};

opaque! {
    TF_Function => CFunction, "function";
}

/// What is behind a `TF_Function`.
pub(crate) struct CFunction {
    pub(crate) def: FunctionDef,
    name: CString,
}

impl CFunction {
    pub(crate) fn new(def: FunctionDef) -> CFunction {
        let name = c_text(name_of(&def));
        CFunction { def, name }
    }
}

fn name_of(def: &FunctionDef) -> &str {
    def.signature.as_ref().map_or("", |signature| &signature.name)
}

/// The names in an array; `None` for a null pointer.
///
/// # Safety
/// As said in `pointer`.
unsafe fn names(what: &str, first: *const *const c_char, count: c_int) -> Result<Option<Vec<String>>> {
    if first.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller says.
    let names = unsafe { texts(what, first, count) }?;
    Ok(Some(names.into_iter().map(str::to_owned).collect()))
}

/// The nodes of an array of operations.
///
/// # Safety
/// As said in `pointer`.
unsafe fn nodes(graph: &CGraph, what: &str, first: *const *const TF_Operation, count: c_int) -> Result<Vec<NodeId>> {
    // SAFETY: as the caller says.
    let operations = unsafe { slice(what, first, count) }?;
    // SAFETY: as the caller says.
    operations.iter().map(|&operation| unsafe { node_in(graph, operation) }).collect()
}

/// As [`TF_GraphToFunctionWithControlOutputs`], without control outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphToFunction(
    fn_body: *const TF_Graph,
    fn_name: *const c_char,
    append_hash_to_fn_name: u8,
    num_opers: c_int,
    opers: *const *const TF_Operation,
    ninputs: c_int,
    inputs: *const TF_Output,
    noutputs: c_int,
    outputs: *const TF_Output,
    output_names: *const *const c_char,
    opts: *const TF_FunctionOptions,
    description: *const c_char,
    status: *mut TF_Status,
) -> *mut TF_Function {
    // SAFETY: as said in `pointer`.
    unsafe {
        TF_GraphToFunctionWithControlOutputs(
            fn_body,
            fn_name,
            append_hash_to_fn_name,
            num_opers,
            opers,
            ninputs,
            inputs,
            noutputs,
            outputs,
            output_names,
            0,
            ptr::null(),
            ptr::null(),
            opts,
            description,
            status,
        )
    }
}

/// A function whose body is made of operations of a graph: all but those of the inputs if `num_opers` is -1. The graph stays
/// as it is. The caller deletes the function; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphToFunctionWithControlOutputs(
    fn_body: *const TF_Graph,
    fn_name: *const c_char,
    append_hash_to_fn_name: u8,
    num_opers: c_int,
    opers: *const *const TF_Operation,
    ninputs: c_int,
    inputs: *const TF_Output,
    noutputs: c_int,
    outputs: *const TF_Output,
    output_names: *const *const c_char,
    ncontrol_outputs: c_int,
    control_outputs: *const *const TF_Operation,
    control_output_names: *const *const c_char,
    _opts: *const TF_FunctionOptions,
    description: *const c_char,
    status: *mut TF_Status,
) -> *mut TF_Function {
    let make = || -> Result<*mut TF_Function> {
        // SAFETY: as said in `pointer`.
        unsafe {
            let graph = borrow(fn_body)?;
            let state = graph.read();
            let outputs_of = |what: &str, first: *const TF_Output, count: c_int| {
                let given = slice(what, first, count)?;
                given.iter().map(|&output| output_in(graph, &state.graph, output)).collect::<Result<Vec<_>>>()
            };
            let parts = FunctionParts {
                nodes: if num_opers == -1 { None } else { Some(nodes(graph, "operations", opers, num_opers)?) },
                inputs: outputs_of("inputs", inputs, ninputs)?,
                outputs: outputs_of("outputs", outputs, noutputs)?,
                output_names: names("output names", output_names, noutputs)?,
                control_outputs: nodes(graph, "control outputs", control_outputs, ncontrol_outputs)?,
                control_output_names: names("control output names", control_output_names, ncontrol_outputs)?,
                description: if description.is_null() {
                    String::new()
                } else {
                    text("the description", description)?.to_owned()
                },
            };
            let name = text("the function's name", fn_name)?;
            let mut def = state.graph.to_function(name, &parts)?;
            if append_hash_to_fn_name != 0 {
                let mut hasher = DefaultHasher::new();
                encoded(&def)?.hash(&mut hasher);
                if let Some(signature) = &mut def.signature {
                    signature.name = format!("{name}_{:016x}", hasher.finish());
                }
            }
            Ok(into_c(CFunction::new(def)))
        }
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), make) }
}

/// The function's name, which stays as long as it does; null for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_FunctionName(func: *mut TF_Function) -> *const c_char {
    // SAFETY: as said in `pointer`.
    unsafe { borrow(func.cast_const()) }.map_or(ptr::null(), |function| function.name.as_ptr())
}

/// The function as a serialized FunctionDef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_FunctionToFunctionDef(
    func: *mut TF_Function,
    output_func_def: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), || fill(output_func_def, encoded(&borrow(func.cast_const())?.def)?)) };
}

/// A function of a serialized FunctionDef, for the caller to delete; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_FunctionImportFunctionDef(
    proto: *const c_void,
    proto_len: usize,
    status: *mut TF_Status,
) -> *mut TF_Function {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, ptr::null_mut(), || {
            let def = FunctionDef::decode(bytes("the message", proto.cast(), proto_len)?);
            let def =
                def.map_err(|_| Error::invalid_argument("Invalid FunctionDef given to TF_FunctionImportFunctionDef"))?;
            Ok(into_c(CFunction::new(def)))
        })
    }
}

/// Sets an attr of the function to the value of a serialized AttrValue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_FunctionSetAttrValueProto(
    func: *mut TF_Function,
    attr_name: *const c_char,
    proto: *const c_void,
    proto_len: usize,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let function = borrow_mut(func)?;
            let value = kernlink::proto::AttrValue::decode(bytes("the message", proto.cast(), proto_len)?);
            let value = value.ok().filter(|value| value.value.is_none() || attr_from_proto(value).is_ok()).ok_or_else(
                || Error::invalid_argument("Unparseable AttrValue proto passed to TF_FunctionSetAttrValueProto"),
            )?;
            function.def.attr.insert(text("the attr's name", attr_name)?.to_owned(), value);
            Ok(())
        });
    }
}

/// An attr of the function as a serialized AttrValue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_FunctionGetAttrValueProto(
    func: *mut TF_Function,
    attr_name: *const c_char,
    output_attr_value: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let (function, name) = (borrow(func.cast_const())?, text("the attr's name", attr_name)?);
            let value = function.def.attr.get(name).ok_or_else(|| {
                let function = name_of(&function.def);
                Error::invalid_argument(format!("Function '{function}' has no attr named '{name}'."))
            })?;
            fill(output_attr_value, value.encode_to_vec())
        });
    }
}

/// Frees a function. Graphs that it was copied to keep theirs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeleteFunction(func: *mut TF_Function) {
    // SAFETY: as said in `pointer`.
    unsafe { free(func) };
}

/// Adds a function to a graph, so that its operations can call it, and its gradient, which may be null. One that is there
/// already must be the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphCopyFunction(
    g: *mut TF_Graph,
    func: *const TF_Function,
    grad: *const TF_Function,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let (graph, function) = (borrow(g.cast_const())?, borrow(func)?);
            let gradient = if grad.is_null() { None } else { Some(borrow(grad)?) };
            graph.change(|state| copy(state, function, gradient))
        });
    }
}

fn copy(graph: &mut Graph, function: &CFunction, gradient: Option<&CFunction>) -> Result<()> {
    graph.all_or_nothing(|graph| {
        graph.add_functions(std::slice::from_ref(&function.def))?;
        let Some(gradient) = gradient else { return Ok(()) };
        graph.add_functions(std::slice::from_ref(&gradient.def))?;
        graph.set_function_gradient(name_of(&function.def), name_of(&gradient.def))
    })
}

/// How many functions a graph has; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphNumFunctions(g: *mut TF_Graph) -> c_int {
    guarded(0, || {
        // SAFETY: as said in `pointer`.
        unsafe { borrow(g.cast_const()) }.map_or(0, |graph| graph.read().graph.num_functions() as c_int)
    })
}

/// The functions of a graph, as many as there is room for, for the caller to delete; returns how many were written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphGetFunctions(
    g: *mut TF_Graph,
    funcs: *mut *mut TF_Function,
    max_func: c_int,
    status: *mut TF_Status,
) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, 0, || {
            let graph = borrow(g.cast_const())?;
            let state = graph.read();
            let defs = state.graph.function_names().into_iter().filter_map(|name| state.graph.function_def(name));
            let mut count = 0;
            for (place, def) in slice_mut("functions", funcs, max_func)?.iter_mut().zip(defs) {
                *place = into_c(CFunction::new(def.clone()));
                count += 1;
            }
            Ok(count)
        })
    }
}
