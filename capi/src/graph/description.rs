//! `TF_OperationDescription`: an operation is described part by part, and added to its graph when it is finished.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::TString;
use kernlink::error::shortened;
use kernlink::graph::{Graph, NodeId, NodeInput, NodeRequest, OpScope, Operand, Output};
use kernlink::proto::{Message as _, attr_to_proto};
use kernlink::{Error, Result};
use kernlink_library::host::{dtype_of, guarded, report, text};

use super::{CGraph, node_in};
use crate::abi::{TF_DataType, TF_Graph, TF_Operation, TF_OperationDescription, TF_Output, TF_Status, TF_Tensor};
use crate::call::Call;
use crate::pointer::{borrow, borrow_mut, bytes, into_c, opaque, shared, slice, take};
use crate::values::{
    attr_message, byte_strings, constant, function_named, list, partial_shape, partial_shapes, setters, shape_message,
    string, strings,
};

opaque! {
    TF_OperationDescription => Description, "description";
}

/// The attr that lists what a node is to be colocated with.
const CLASS: &str = "_class";

/// What is behind a `TF_OperationDescription`.
pub(crate) struct Description {
    graph: Arc<CGraph>,
    op: String,
    name: String,
    device: String,
    inputs: Vec<Given>,
    control_inputs: Vec<NodeId>,
    colocated: Vec<TString>,
    attrs: AttrMap,
    /// The first fault of a part that has no status of its own. It is told when the operation is finished.
    fault: Option<Error>,
}

/// What is given for one argument: one output, or a list.
enum Given {
    Single(Output),
    List(Vec<Output>),
}

impl Description {
    /// Describes a part that has no status.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn part(description: *mut TF_OperationDescription, part: impl FnOnce(&mut Description) -> Result<()>) {
        guarded((), || {
            // SAFETY: as the caller says.
            if let Ok(description) = unsafe { borrow_mut(description) }
                && let Err(error) = part(description)
            {
                description.fault.get_or_insert(error);
            }
        });
    }

    /// Gives an attr.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn attr<V: Into<AttrValue>>(
        description: *mut TF_OperationDescription,
        name: *const c_char,
        value: impl FnOnce() -> Result<V>,
    ) {
        // SAFETY: as the caller says.
        unsafe { Description::part(description, |description| description.set(name, value)) };
    }

    /// Gives an attr whose value the status is about. A description that is null is an error of the status, too.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn checked_attr<V: Into<AttrValue>>(
        description: *mut TF_OperationDescription,
        name: *const c_char,
        status: *mut TF_Status,
        value: impl FnOnce() -> Result<V>,
    ) {
        // SAFETY: as the caller says.
        unsafe { report(status, (), || borrow_mut(description)?.set(name, value)) };
    }

    /// # Safety
    /// As said in `pointer`.
    unsafe fn set<V: Into<AttrValue>>(&mut self, name: *const c_char, value: impl FnOnce() -> Result<V>) -> Result<()> {
        // SAFETY: as the caller says.
        let name = unsafe { text("an attr's name", name) }?;
        let value = value().map_err(|error| error.context(format!("attr '{name}'")))?;
        match (name, value.into()) {
            (CLASS, AttrValue::ListString(classes)) => self.colocated = classes,
            (CLASS, AttrValue::EmptyList) => self.colocated.clear(),
            (_, value) => self.set_once(name, value)?,
        }
        Ok(())
    }

    /// Gives an attr a value. That it has another one already is a fault, which is told when the operation is finished.
    fn set_once(&mut self, name: &str, value: AttrValue) -> Result<()> {
        if let Some(known) = self.attrs.get(name) {
            // As messages, in which a float that is no number equals itself.
            if attr_to_proto(known)?.encode_to_vec() != attr_to_proto(&value)?.encode_to_vec() {
                let (known, value) = (known.to_string(), value.to_string());
                self.fault.get_or_insert(Error::invalid_argument(format!(
                    "Inconsistent values for attr '{name}' {} vs. {}",
                    shortened(&known),
                    shortened(&value)
                )));
            }
            return Ok(());
        }
        self.attrs.insert(name, value);
        Ok(())
    }

    /// The output that C gives as an input.
    ///
    /// # Safety
    /// As said in `pointer`.
    unsafe fn source(&self, output: TF_Output) -> Result<Output> {
        // SAFETY: as the caller says.
        let node = unsafe { self.node(output.oper) }?;
        let index = usize::try_from(output.index);
        let index = index.map_err(|_| {
            Error::invalid_argument(format!("output {} is given as an input of '{}'", output.index, self.name))
        })?;
        Ok(Output { node, index })
    }

    /// # Safety
    /// As said in `pointer`.
    unsafe fn node(&self, operation: *const TF_Operation) -> Result<NodeId> {
        // SAFETY: as the caller says.
        unsafe { node_in(&self.graph, operation) }
    }

    fn finish(mut self) -> Result<*mut TF_Operation> {
        let mut colocated = std::mem::take(&mut self.colocated);
        if !colocated.is_empty() {
            colocated.sort();
            colocated.dedup();
            self.set_once(CLASS, colocated.into())?;
        }
        let Description { graph, op, name, device, inputs, control_inputs, attrs, fault, .. } = self;
        if let Some(fault) = fault {
            return Err(fault.context(format!("operation '{name}'")));
        }
        let id = graph.change(|graph| {
            if graph.find(&name).is_some() {
                return Err(Error::invalid_argument(format!("Duplicate node name in graph: '{name}'")));
            }
            let mut request = match graph.registry().find_op(&op) {
                Some(entry) => {
                    let mut request = NodeRequest::new(entry.def);
                    request.inputs.extend(inputs.into_iter().map(Given::into_input));
                    request.attrs = attrs;
                    request
                }
                None if graph.has_function(&op) => {
                    Call::new(graph, &op, &attrs)?.of(inputs.into_iter().flat_map(Given::outputs))
                }
                None => return Err(unknown_op(graph, &op)),
            };
            request.name = Some(name);
            request.device = device;
            request.control_inputs = control_inputs;
            Ok(graph.apply(request)?.node)
        })?;
        Ok(graph.read().operation(id))
    }
}

impl Given {
    fn into_input(self) -> NodeInput<Output> {
        match self {
            Given::Single(output) => NodeInput::Single(Operand::Value(output)),
            Given::List(outputs) => NodeInput::List(outputs.into_iter().map(Operand::Value).collect()),
        }
    }

    fn outputs(self) -> Vec<Output> {
        match self {
            Given::Single(output) => vec![output],
            Given::List(outputs) => outputs,
        }
    }
}

/// An op that is neither registered nor a function of the graph.
pub(crate) fn unknown_op(graph: &Graph, op: &str) -> Error {
    Error::invalid_argument(format!(
        "Op type not registered '{op}' in binary running on this machine: {}",
        graph.registry().unknown_op(op)
    ))
}

/// Begins the description of an operation. Null for null, and for texts that are no UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_NewOperation(
    graph: *mut TF_Graph,
    op_type: *const c_char,
    oper_name: *const c_char,
) -> *mut TF_OperationDescription {
    guarded(ptr::null_mut(), || {
        let described = || -> Result<Description> {
            // SAFETY: as said in `pointer`.
            unsafe {
                Ok(Description {
                    graph: shared(graph)?,
                    op: text("the op", op_type)?.to_owned(),
                    name: text("the operation's name", oper_name)?.to_owned(),
                    device: String::new(),
                    inputs: Vec::new(),
                    control_inputs: Vec::new(),
                    colocated: Vec::new(),
                    attrs: AttrMap::new(),
                    fault: None,
                })
            }
        };
        described().map_or(ptr::null_mut(), into_c)
    })
}

/// Asks for a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_SetDevice(desc: *mut TF_OperationDescription, device: *const c_char) {
    // SAFETY: as said in `pointer`.
    unsafe {
        Description::part(desc, |description| {
            description.device = text("the device", device)?.to_owned();
            Ok(())
        });
    }
}

/// Gives the next argument, which is one tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_AddInput(desc: *mut TF_OperationDescription, input: TF_Output) {
    // SAFETY: as said in `pointer`.
    unsafe {
        Description::part(desc, |description| {
            let source = description.source(input)?;
            description.inputs.push(Given::Single(source));
            Ok(())
        });
    }
}

/// Gives the next argument, which is a list of tensors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_AddInputList(
    desc: *mut TF_OperationDescription,
    inputs: *const TF_Output,
    num_inputs: c_int,
) {
    // SAFETY: as said in `pointer`.
    unsafe {
        Description::part(desc, |description| {
            let inputs = slice("inputs", inputs, num_inputs)?;
            let sources = inputs.iter().map(|&input| description.source(input)).collect::<Result<_>>()?;
            description.inputs.push(Given::List(sources));
            Ok(())
        });
    }
}

/// Makes the operation run after another one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_AddControlInput(desc: *mut TF_OperationDescription, input: *mut TF_Operation) {
    // SAFETY: as said in `pointer`.
    unsafe {
        Description::part(desc, |description| {
            let node = description.node(input)?;
            description.control_inputs.push(node);
            Ok(())
        });
    }
}

/// Asks for the device of another operation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_ColocateWith(desc: *mut TF_OperationDescription, op: *mut TF_Operation) {
    // SAFETY: as said in `pointer`.
    unsafe {
        Description::part(desc, |description| {
            description.node(op)?;
            description.colocated.push(format!("loc:@{}", borrow(op.cast_const())?.name_text()).into());
            Ok(())
        });
    }
}

setters! {
    TF_OperationDescription => Description;
    attr {
        /// Sets an attr to an integer.
        TF_SetAttrInt(value: i64) = Ok(value);
        /// Sets an attr to a float.
        TF_SetAttrFloat(value: f32) = Ok(value);
        /// Sets an attr to a bool, which is false for 0.
        TF_SetAttrBool(value: u8) = Ok(value != 0);
        /// Sets an attr to a dtype.
        TF_SetAttrType(value: TF_DataType) = dtype_of(value);
        /// Inside of a function: the attr's value is that of the function's attr `placeholder`.
        TF_SetAttrPlaceholder(placeholder: *const c_char) =
            text("the placeholder", placeholder).map(|name| AttrValue::Placeholder(name.to_owned()));
        /// Sets an attr to a string of `length` bytes.
        TF_SetAttrString(value: *const c_void, length: usize) = string(value, length);
        /// Sets an attr to the function of this name, without attrs.
        TF_SetAttrFuncName(value: *const c_char, length: usize) = function_named(value, length);
        /// Sets an attr to a shape, of which -1 is not known.
        TF_SetAttrShape(dims: *const i64, num_dims: c_int) = partial_shape(dims, num_dims);
        /// Sets an attr to a list of integers.
        TF_SetAttrIntList(values: *const i64, num_values: c_int) = list(values, num_values, |&value| Ok(value));
        /// Sets an attr to a list of floats.
        TF_SetAttrFloatList(values: *const f32, num_values: c_int) = list(values, num_values, |&value| Ok(value));
        /// Sets an attr to a list of bools.
        TF_SetAttrBoolList(values: *const u8, num_values: c_int) = list(values, num_values, |&value| Ok(value != 0));
        /// Sets an attr to a list of dtypes.
        TF_SetAttrTypeList(values: *const TF_DataType, num_values: c_int) =
            list(values, num_values, |&value| dtype_of(value));
        /// Sets an attr to a list of strings.
        TF_SetAttrStringList(values: *const *const c_void, lengths: *const usize, num_values: c_int) =
            strings(values, lengths, num_values);
        /// Sets an attr to a list of shapes.
        TF_SetAttrShapeList(dims: *const *const i64, num_dims: *const c_int, num_shapes: c_int) =
            partial_shapes(dims, num_dims, num_shapes);
    }
    checked_attr {
        /// Sets an attr to the shape of a serialized TensorShapeProto.
        TF_SetAttrTensorShapeProto(proto: *const c_void, proto_len: usize) =
            shape_message(bytes("the message", proto.cast(), proto_len)?);
        /// Sets an attr to the shapes of serialized TensorShapeProtos.
        TF_SetAttrTensorShapeProtoList(protos: *const *const c_void, proto_lens: *const usize, num_shapes: c_int) =
            byte_strings(protos, proto_lens, num_shapes, shape_message);
        /// Sets an attr to a tensor, which is copied.
        TF_SetAttrTensor(value: *mut TF_Tensor) = constant(value);
        /// Sets an attr to a list of tensors.
        TF_SetAttrTensorList(values: *const *mut TF_Tensor, num_values: c_int) =
            list(values, num_values, |&value| constant(value));
        /// Sets an attr to the value of a serialized AttrValue.
        TF_SetAttrValueProto(proto: *const c_void, proto_len: usize) =
            attr_message(bytes("the message", proto.cast(), proto_len)?);
    }
}

/// Adds the operation to its graph, and frees the description. Null on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_FinishOperation(
    desc: *mut TF_OperationDescription,
    status: *mut TF_Status,
) -> *mut TF_Operation {
    // SAFETY: as said in `pointer`.
    unsafe { report(status, ptr::null_mut(), || take(desc)?.finish()) }
}
