//! `TFE_Op`: an op that is being described, to run at once: its name, device and inputs.

use std::cell::OnceCell;
use std::ffi::{CString, c_char, c_int};
use std::ptr;
use std::sync::Arc;

use kernlink::device::DeviceName;
use kernlink::graph::NodeRequest;
use kernlink::op::OpDef;
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_library::host::{report, text};
use smallvec::SmallVec;

use super::context::CContext;
use super::handle::CHandle;
use crate::abi::{TF_Status, TFE_Context, TFE_Op, TFE_TensorHandle};
use crate::pointer::{borrow, borrow_mut, c_text, free, into_c, opaque, shared, slice};
use crate::program::registry;

opaque! {
    TFE_Op => COp, "op";
}

/// What is behind a `TFE_Op`.
pub(crate) struct COp {
    pub(super) context: Arc<CContext>,
    /// `None` for the name of a function.
    pub(super) op: Option<&'static OpDef>,
    /// The op, or what calls the function; with the attrs that are given, and the device. It has inputs only while it runs.
    pub(super) request: NodeRequest<'static, Tensor>,
    /// The inputs, lists in line.
    pub(super) inputs: SmallVec<[Arc<CHandle>; 3]>,
    /// What the inputs were given as.
    pub(super) given: SmallVec<[Given; 3]>,
    /// Whether each part of `given` is what is given for one argument, in the op's order.
    pub(super) is_by_argument: bool,
    /// The first fault of an attr whose setter has no status. It is told when the op is to run.
    pub(super) fault: Option<Error>,
    /// The position of the device, or why there is none.
    pub(super) device: Result<usize>,
    /// The device that was asked for.
    asked: CString,
    function: String,
    name: OnceCell<CString>,
}

/// What was given in one call.
#[derive(Clone, Copy)]
pub(super) enum Given {
    Single,
    /// So many.
    List(usize),
}

impl COp {
    fn new(context: Arc<CContext>, name: &str) -> Result<COp> {
        // An op of a library that was loaded later is in the program's registry, which contexts share.
        let registry = context.eager.registry();
        let op = registry.find_op(name).map(|entry| entry.def);
        let (function, runs) = match op {
            Some(op) => (String::new(), op),
            None if context.eager.function_library().has_function(name) => {
                (name.to_owned(), registry.op("PartitionedCall")?.def)
            }
            None => return Err(unknown(name)),
        };
        Ok(COp {
            context,
            op,
            request: NodeRequest::new(runs),
            inputs: SmallVec::new(),
            given: SmallVec::new(),
            is_by_argument: op.is_some(),
            fault: None,
            device: Ok(0),
            asked: CString::default(),
            function,
            name: OnceCell::new(),
        })
    }

    /// The name of the op or function.
    pub(super) fn name(&self) -> &str {
        self.op.map_or(&self.function, |op| &op.name)
    }

    /// Whether the next input is given for an argument that is a list; `None` if it is not known which argument's it is.
    fn next_is_list(&self) -> Option<bool> {
        let op = self.op.filter(|_| self.is_by_argument)?;
        op.inputs.get(self.given.len()).map(|argument| argument.is_list())
    }

    fn add(&mut self, input: Arc<CHandle>) {
        // The elements of a list, one by one: where it ends is not known before the attrs are.
        self.is_by_argument &= self.next_is_list() == Some(false);
        self.inputs.push(input);
        self.given.push(Given::Single);
    }

    fn add_list(&mut self, inputs: SmallVec<[Arc<CHandle>; 3]>) -> Result<()> {
        match self.next_is_list() {
            Some(true) => {}
            Some(false) => return Err(Error::invalid_argument("Invalid input list definition")),
            None => self.is_by_argument = false,
        }
        self.given.push(Given::List(inputs.len()));
        self.inputs.extend(inputs);
        Ok(())
    }

    fn set_device(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            (self.device, self.asked) = (Ok(0), CString::default());
            return Ok(());
        }
        let parsed = DeviceName::parse(name).ok().filter(|_| name.starts_with('/'));
        let parsed = parsed.ok_or_else(|| {
            Error::invalid_argument(format!("Malformed device specification '{name}' in eager op: {}", self.name()))
        })?;
        (self.device, self.asked) = (self.context.placed(&parsed), c_text(&parsed.to_string()));
        let position = self.device.clone().unwrap_or_default();
        self.request.device.clear();
        if position > 0 {
            self.request.device.push_str(self.context.eager.devices()[position].name());
        }
        Ok(())
    }
}

/// As TensorFlow says it, and why.
pub(super) fn unknown(name: &str) -> Error {
    let why = registry().map_or_else(|error| error.to_string(), |registry| registry.unknown_op(name));
    Error::not_found(format!(
        "'{name}' is neither a type of a primitive operation nor a name of a function registered in binary running on this \
         machine: {why}"
    ))
}

/// Begins the description of an op, or of a call of the context's function of this name; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_NewOp(
    ctx: *mut TFE_Context,
    op_or_function_name: *const c_char,
    status: *mut TF_Status,
) -> *mut TFE_Op {
    // SAFETY: as said in `pointer`.
    let make = || unsafe { Ok(into_c(COp::new(shared(ctx)?, text("the op's name", op_or_function_name)?)?)) };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), make) }
}

/// Frees a description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_DeleteOp(op: *mut TFE_Op) {
    // SAFETY: as said in `pointer`.
    unsafe { free(op) };
}

/// The name of the op or function, for as long as the description is there; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpGetName(op: *const TFE_Op, status: *mut TF_Status) -> *const c_char {
    let name = || {
        // SAFETY: as said in `pointer`.
        let op = unsafe { borrow(op) }?;
        Ok(op.name.get_or_init(|| c_text(op.name())).as_ptr())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null(), name) }
}

/// The context, which stays as long as the description; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpGetContext(op: *const TFE_Op, status: *mut TF_Status) -> *mut TFE_Context {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), || Ok(Arc::as_ptr(&borrow(op)?.context).cast_mut().cast())) }
}

/// Asks for a device; the empty name for any. That the context has it is checked when the op runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpSetDevice(op: *mut TFE_Op, device_name: *const c_char, status: *mut TF_Status) {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), || borrow_mut(op)?.set_device(text("the device's name", device_name)?)) };
}

/// The device that is asked for, until another one is or the description goes; empty for any; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpGetDevice(op: *const TFE_Op, status: *mut TF_Status) -> *const c_char {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null(), || Ok(borrow(op)?.asked.as_ptr())) }
}

/// Gives the next input: that of an argument, or of a list whose elements are given one by one and whose length the attrs say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpAddInput(op: *mut TFE_Op, input: *mut TFE_TensorHandle, status: *mut TF_Status) {
    let add = || {
        // SAFETY: as said in `pointer`.
        let (op, input) = unsafe { (borrow_mut(op)?, shared(input)?) };
        op.add(input);
        Ok(())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), add) };
}

/// Gives the next argument, which is a list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpAddInputList(
    op: *mut TFE_Op,
    inputs: *mut *mut TFE_TensorHandle,
    num_inputs: c_int,
    status: *mut TF_Status,
) {
    let add = || {
        // SAFETY: as said in `pointer`.
        let (op, inputs) = unsafe { (borrow_mut(op)?, slice("inputs", inputs, num_inputs)?) };
        // SAFETY: as said in `pointer`.
        op.add_list(inputs.iter().map(|&input| unsafe { shared(input) }).collect::<Result<_>>()?)
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), add) };
}

/// How many inputs were given, those in lists included; -1 on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpGetFlatInputCount(op: *const TFE_Op, status: *mut TF_Status) -> c_int {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, -1, || Ok(borrow(op)?.inputs.len() as c_int)) }
}

/// An input, which stays the op's; null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TFE_OpGetFlatInput(
    op: *const TFE_Op,
    index: c_int,
    status: *mut TF_Status,
) -> *mut TFE_TensorHandle {
    let input = || {
        // SAFETY: as said in `pointer`.
        let inputs = &unsafe { borrow(op) }?.inputs;
        let input = usize::try_from(index).ok().and_then(|index| inputs.get(index));
        let none = || Error::invalid_argument(format!("input {index} of {}", inputs.len()));
        Ok(Arc::as_ptr(input.ok_or_else(none)?).cast_mut().cast())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), input) }
}
