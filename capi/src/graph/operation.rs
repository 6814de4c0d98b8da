//! `TF_Operation`: what an operation is, where its inputs come from, and who takes its outputs.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use kernlink::Error;
use kernlink::graph::Node;
use kernlink::proto::Message as _;
use kernlink_library::host::{fill, guarded, report, text};

use super::{COperation, GraphState};
use crate::abi::{TF_Buffer, TF_DataType, TF_Graph, TF_Input, TF_Operation, TF_Output, TF_Status};
use crate::pointer::{borrow, slice_mut};

/// What `read` tells of an operation's node, or `otherwise` for null.
///
/// # Safety
/// As said in `pointer`.
unsafe fn of_node<R: Copy>(
    operation: *const TF_Operation,
    otherwise: R,
    read: impl FnOnce(&COperation, &GraphState, &Node) -> R,
) -> R {
    guarded(otherwise, || {
        // SAFETY: as the caller says.
        let Ok(operation) = (unsafe { borrow(operation) }) else { return otherwise };
        let state = operation.graph().read();
        match state.graph.get(operation.id) {
            Some(node) => read(operation, &state, node),
            None => otherwise,
        }
    })
}

/// Texts of an operation, which stay as long as it does. Null for null.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident = $field:ident;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(oper: *mut TF_Operation) -> *const c_char {
                // SAFETY: as said in `pointer`.
                unsafe { borrow(oper.cast_const()) }.map_or(ptr::null(), |operation| operation.$field.as_ptr())
            }
        )*
    };
}

texts! {
    /// The operation's name.
    TF_OperationName = name;
    /// The device that it asks for; empty for any.
    TF_OperationDevice = device;
}

/// The name of its op. It is another one after a gradient has had the operation hand out more by another op; the text stays as
/// long as the operation. Null for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationOpType(oper: *mut TF_Operation) -> *const c_char {
    // SAFETY: as said in `pointer`.
    unsafe { of_node(oper, ptr::null(), |operation, _, node| operation.op_text(&node.op_name())) }
}

/// Counts of an operation; 0 for null.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident = |$operation:ident, $state:ident, $node:ident| $count:expr;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(oper: *mut TF_Operation) -> c_int {
                // SAFETY: as said in `pointer`.
                unsafe { of_node(oper, 0, |$operation, $state, $node| $count as c_int) }
            }
        )*
    };
}

counts! {
    /// How many outputs it has.
    TF_OperationNumOutputs = |_operation, _state, node| node.signature.outputs.len();
    /// How many inputs it has.
    TF_OperationNumInputs = |_operation, _state, node| node.signature.inputs.len();
    /// How many operations it waits for.
    TF_OperationNumControlInputs = |_operation, _state, node| node.control_inputs.len();
    /// How many operations wait for it.
    TF_OperationNumControlOutputs = |operation, state, _node| state.users(operation.id).waiting.len();
    /// How many attrs it has, the op's defaults included.
    TF_OperationGetNumAttrs = |_operation, _state, node| node.attrs.iter().count();
}

/// The number of a dtype as C has it, where references have numbers of their own.
fn number(slot: Option<&kernlink::op::InOutType>) -> TF_DataType {
    slot.map_or(0, |slot| slot.dtype.number() + if slot.is_ref { 100 } else { 0 })
}

/// The dtype of an output; 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationOutputType(oper_out: TF_Output) -> TF_DataType {
    let index = usize::try_from(oper_out.index).unwrap_or(usize::MAX);
    // SAFETY: as said in `pointer`.
    unsafe { of_node(oper_out.oper, 0, |_, _, node| number(node.signature.outputs.get(index))) }
}

/// The dtype of an input; 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationInputType(oper_in: TF_Input) -> TF_DataType {
    let index = usize::try_from(oper_in.index).unwrap_or(usize::MAX);
    // SAFETY: as said in `pointer`.
    unsafe { of_node(oper_in.oper, 0, |_, _, node| number(node.signature.inputs.get(index))) }
}

/// Where an input comes from; null and -1 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationInput(oper_in: TF_Input) -> TF_Output {
    let index = usize::try_from(oper_in.index).unwrap_or(usize::MAX);
    // SAFETY: as said in `pointer`.
    unsafe {
        of_node(oper_in.oper, TF_Output::NONE, |_, state, node| {
            node.inputs.get(index).map_or(TF_Output::NONE, |&input| state.output_to_c(input))
        })
    }
}

/// Where the inputs come from, as many as there is room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationAllInputs(oper: *mut TF_Operation, inputs: *mut TF_Output, max_inputs: c_int) {
    // SAFETY: as said in `pointer`.
    unsafe {
        of_node(oper, (), |_, state, node| {
            fill_list(inputs, max_inputs, node.inputs.iter().map(|&input| state.output_to_c(input)));
        });
    }
}

/// Writes a list, as far as there is room; returns how many were written.
///
/// # Safety
/// As said in `pointer`.
unsafe fn fill_list<T>(first: *mut T, room: c_int, values: impl Iterator<Item = T>) -> c_int {
    // SAFETY: as the caller says.
    let Ok(places) = (unsafe { slice_mut("room", first, room) }) else { return 0 };
    let mut count = 0;
    for (place, value) in places.iter_mut().zip(values) {
        *place = value;
        count += 1;
    }
    count
}

/// How many inputs take an output; 0 if there is no such output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationOutputNumConsumers(oper_out: TF_Output) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe { of_node(oper_out.oper, 0, |operation, state, _| consumers(operation, state, oper_out).count() as c_int) }
}

/// Which inputs take an output, as many as there is room for; returns how many do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationOutputConsumers(
    oper_out: TF_Output,
    consumers: *mut TF_Input,
    max_consumers: c_int,
) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe {
        of_node(oper_out.oper, 0, |operation, state, _| {
            fill_list(consumers, max_consumers, self::consumers(operation, state, oper_out));
            self::consumers(operation, state, oper_out).count() as c_int
        })
    }
}

fn consumers<'s>(
    operation: &COperation,
    state: &'s GraphState,
    output: TF_Output,
) -> impl Iterator<Item = TF_Input> + use<'s> {
    let taking = state.users(operation.id).taking.iter();
    let inputs = taking.filter(move |taker| taker.output as c_int == output.index);
    inputs.map(|taker| TF_Input { oper: state.at(taker.node as usize), index: taker.input as c_int })
}

/// The operations that it waits for, as many as there is room for; returns how many it waits for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetControlInputs(
    oper: *mut TF_Operation,
    control_inputs: *mut *mut TF_Operation,
    max_control_inputs: c_int,
) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe {
        of_node(oper, 0, |_, state, node| {
            let controls = node.control_inputs.iter().map(|&control| state.operation(control));
            fill_list(control_inputs, max_control_inputs, controls);
            node.control_inputs.len() as c_int
        })
    }
}

/// The operations that wait for it, as many as there is room for; returns how many do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetControlOutputs(
    oper: *mut TF_Operation,
    control_outputs: *mut *mut TF_Operation,
    max_control_outputs: c_int,
) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe {
        of_node(oper, 0, |operation, state, _| {
            let waiting = &state.users(operation.id).waiting;
            fill_list(control_outputs, max_control_outputs, waiting.iter().map(|&node| state.at(node as usize)));
            waiting.len() as c_int
        })
    }
}

/// How many tensors the arguments of an operation's inputs or outputs stand for.
macro_rules! list_lengths {
    ($($(#[$doc:meta])* $name:ident = $kind:literal, $arguments:ident, $ranges:ident;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                oper: *mut TF_Operation,
                arg_name: *const c_char,
                status: *mut TF_Status,
            ) -> c_int {
                let length = || {
                    // SAFETY: as said in `pointer`.
                    let operation = unsafe { borrow(oper.cast_const()) }?;
                    // SAFETY: as said in `pointer`.
                    let name = unsafe { text("the argument's name", arg_name) }?;
                    let state = operation.graph().read();
                    let node = state.graph.node(operation.id);
                    let position = node.op.def.$arguments.iter().position(|argument| argument.name == *name);
                    let range = position.and_then(|position| node.signature.$ranges.get(position));
                    let none = || Error::invalid_argument(format!("{} arg '{name}' not found", $kind));
                    Ok(range.ok_or_else(none)?.len() as c_int)
                };
                // SAFETY: as said in `pointer`.
                unsafe { report(status, -1, length) }
            }
        )*
    };
}

list_lengths! {
    /// How many inputs the argument `arg_name` stands for; -1 on failure.
    TF_OperationInputListLength = "Input", inputs, input_ranges;
    /// How many outputs the argument `arg_name` stands for; -1 on failure.
    TF_OperationOutputListLength = "Output", outputs, output_ranges;
}

/// The operation as a serialized NodeDef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationToNodeDef(
    oper: *mut TF_Operation,
    output_node_def: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let operation = borrow(oper.cast_const())?;
            let def = operation.graph().read().graph.node_def(operation.id)?;
            fill(output_node_def, def.encode_to_vec())
        });
    }
}

/// The name of attr `i`, in the order of names.
fn attr_name(node: &Node, i: c_int) -> Option<&str> {
    node.attrs.iter().nth(usize::try_from(i).ok()?).map(|(name, _)| name)
}

/// The length of the name of attr `i`, in bytes; -1 if there is no such attr.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrNameLength(oper: *mut TF_Operation, i: c_int) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe { of_node(oper, -1, |_, _, node| attr_name(node, i).map_or(-1, |name| name.len() as c_int)) }
}

/// Copies the name of attr `i`, as many bytes as [`TF_OperationGetAttrNameLength`] says. No zero follows them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_OperationGetAttrName(
    oper: *mut TF_Operation,
    i: c_int,
    output: *mut c_char,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        report(status, (), || {
            let operation = borrow(oper.cast_const())?;
            let state = operation.graph().read();
            let name = attr_name(state.graph.node(operation.id), i);
            let name = name.ok_or_else(|| Error::out_of_range(format!("there is no attr {i}")))?;
            slice_mut("the output", output.cast::<u8>(), name.len())?.copy_from_slice(name.as_bytes());
            Ok(())
        });
    }
}

/// The operation of this name; null if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphOperationByName(graph: *mut TF_Graph, oper_name: *const c_char) -> *mut TF_Operation {
    guarded(ptr::null_mut(), || {
        if oper_name.is_null() {
            return ptr::null_mut();
        }
        // SAFETY: as said in `pointer`.
        let (graph, name) = unsafe { (borrow(graph.cast_const()), CStr::from_ptr(oper_name)) };
        let (Ok(graph), Ok(name)) = (graph, name.to_str()) else { return ptr::null_mut() };
        let state = graph.read();
        state.graph.find(name).map_or(ptr::null_mut(), |id| state.operation(id))
    })
}

/// The operation after position `*pos`, which goes on; null after the last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_GraphNextOperation(graph: *mut TF_Graph, pos: *mut usize) -> *mut TF_Operation {
    guarded(ptr::null_mut(), || {
        // SAFETY: as said in `pointer`.
        let (Ok(graph), Some(position)) = (unsafe { (borrow(graph.cast_const()), pos.as_mut()) }) else {
            return ptr::null_mut();
        };
        let operation = graph.read().at(*position);
        if !operation.is_null() {
            *position += 1;
        }
        operation
    })
}
