//! Kernels of which only the shader is written: what the host is told of them, and asks before each run.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::{ptr, slice};

use kernlink_framework::collect::linked_ops;
use kernlink_framework::dtype::DataType;
use kernlink_framework::error::catch_panic;
use kernlink_framework::graph::complete_attrs;
use kernlink_framework::kernel::shader::{
    Dispatch, LaunchFunctions, Operands, ParamValue, RawLaunch, ShaderDef, ShaderNode, Source,
};
use kernlink_framework::kernel::{ConstraintValues, KernelDef};
use kernlink_framework::op::{ArgDef, InOutType, Signature};
use kernlink_framework::proto::Message as _;
use kernlink_framework::shape::Shape;
use kernlink_framework::tensor::{DeviceMemory, Tensor};
use kernlink_framework::{Error, Result};

use super::functions::{Host, host};
use super::kernel::node;
use super::status::{Status, set};
use super::tensor::{HostTensor, input_of};
use crate::abi::shader::{Constraint, Dispatch as DispatchMessage, Param, ParamKind, Rule, Shader};
use crate::abi::{
    INTERFACE, KernlinkInput, KernlinkLaunch, KernlinkShaderFunctions, KernlinkShape, TF_KernelBuilder,
    TF_OpKernelConstruction, TF_Status,
};

/// Tells a builder the shader of a kernel.
///
/// # Safety
/// The builder is one of the host's.
///
/// # Errors
/// Those of the host; UNIMPLEMENTED if it runs no shaders.
pub(super) unsafe fn set_shader(
    host: &Host,
    status: &Status,
    builder: *mut TF_KernelBuilder,
    kernel: &'static KernelDef,
    shader: ShaderDef,
) -> Result<()> {
    let set = host.set_shader.ok_or_else(|| Error::unimplemented("the host runs no shaders"))?;
    let message = describe(kernel, shader.source).encode_to_vec();
    let functions = KernlinkShaderFunctions {
        size: size_of::<KernlinkShaderFunctions>(),
        data: ptr::from_ref(kernel).cast(),
        create: Some(create),
        outputs: Some(outputs),
        computed: Some(computed),
        groups: Some(groups),
    };
    status.check(|status| {
        // SAFETY: as the caller says; the host copies what it is given.
        unsafe { set(builder, message.as_ptr().cast(), message.len(), &raw const functions, status) };
    })
}

fn describe(kernel: &KernelDef, source: &Source) -> Shader {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let constraint = |attr: &str| Constraint { attr: attr.to_owned(), ..Constraint::default() };
    let constraints = kernel.constraints.iter().filter_map(|own| match own.values {
        ConstraintValues::Types(_) => None,
        ConstraintValues::Strings(strings) => Some(Constraint { strings: owned(strings), ..constraint(own.attr) }),
        ConstraintValues::Ints(ints) => Some(Constraint { ints: ints.to_vec(), ..constraint(own.attr) }),
        ConstraintValues::Bools(bools) => Some(Constraint { bools: bools.to_vec(), ..constraint(own.attr) }),
    });
    let param = |param: &kernlink_framework::kernel::shader::Param| {
        let (kind, ty, rank) = match param.value {
            ParamValue::Attr(ty) => (ParamKind::Attr, ty.map_or("", |ty| ty.wgsl()), 0),
            ParamValue::Computed(ty) => (ParamKind::Computed, ty.wgsl(), 0),
            ParamValue::Shape { rank } => (ParamKind::Shape, "", rank),
        };
        Param { name: param.name.to_owned(), kind: kind.into(), ty: ty.to_owned(), rank }
    };
    Shader {
        name: source.name.to_owned(),
        registered_in: source.location.file.to_owned(),
        registered_at: source.location.line,
        file: source.file.to_owned(),
        text: source.text.to_owned(),
        requires: owned(kernel.requires),
        constraints: constraints.collect(),
        is_raw: source.is_raw,
        dispatch: Some(dispatch(source.dispatch)),
        params: source.params.iter().map(param).collect(),
        vectors: owned(source.vectors),
        workgroup: source.workgroup,
        refusal_code: source.refusal.map_or(0, |(code, _)| code as i32),
        refusal_message: source.refusal.map_or_else(String::new, |(_, message)| message.to_owned()),
        interface: INTERFACE,
    }
}

fn dispatch(dispatch: Dispatch) -> DispatchMessage {
    let (rule, of, rows, columns) = match dispatch {
        Dispatch::Elements { of, each } => (Rule::Elements, of, each, 0),
        Dispatch::Rows { of } => (Rule::Rows, of, 0, 0),
        Dispatch::Tiles { of, rows, columns } => (Rule::Tiles, of, rows, columns),
        Dispatch::ElementWise(Operands::Broadcast) => (Rule::Broadcast, "", 0, 0),
        Dispatch::ElementWise(Operands::Equal) => (Rule::Equal, "", 0, 0),
        Dispatch::ElementWise(Operands::Alike) => (Rule::Alike, "", 0, 0),
        Dispatch::Function => (Rule::Function, "", 0, 0),
    };
    DispatchMessage { rule: rule.into(), of: of.to_owned(), rows, columns }
}

/// The functions of a shader, for a node.
struct Node {
    functions: Box<dyn LaunchFunctions>,
    /// The dtype of each input, and whether it is in host memory.
    inputs: Vec<(DataType, bool)>,
    num_outputs: usize,
}

/// Makes the functions for a node; null if it fails.
unsafe extern "C" fn create(data: *const c_void, ctx: *mut TF_OpKernelConstruction, version: c_int) -> *mut c_void {
    let Some(host) = host() else { return ptr::null_mut() };
    let made = catch_panic("the kernel's construction", || {
        // SAFETY: the host hands over what `set_shader` gave it.
        let kernel = unsafe { data.cast::<KernelDef>().as_ref() };
        let kernel: &'static KernelDef = kernel.ok_or_else(|| Error::internal("no kernel is named"))?;
        // SAFETY: the host calls with a context that lives as long as the call.
        unsafe { make(host, ctx, kernel, version) }
    });
    match made {
        Ok(node) => Box::into_raw(Box::new(node)).cast(),
        Err(error) => {
            let status = Status::new(host);
            // SAFETY: as above.
            unsafe { (host.TF_OpKernelConstruction_Failure)(ctx, status.with(&error)) };
            ptr::null_mut()
        }
    }
}

/// # Safety
/// `ctx` is a context of the host's.
unsafe fn make(
    host: &'static Host,
    ctx: *mut TF_OpKernelConstruction,
    kernel: &'static KernelDef,
    graph_def_version: c_int,
) -> Result<Node> {
    let shader = kernel.shader.ok_or_else(|| Error::internal(format!("{kernel} is no shader")))?;
    let op = shader.source.op;
    // SAFETY: as the caller says.
    let (_, mut attrs) = unsafe { node(host, ctx, |_| Ok(op)) }?;
    complete_attrs(op, &mut attrs)?;
    let signature = Signature::new(op, &attrs)?;
    let shape_fn = linked_ops().find(|entry| entry.def.name == op.name).and_then(|entry| entry.shape_fn);
    let node = ShaderNode { attrs: &attrs, signature: &signature, shape_fn, graph_def_version };
    // Shaders take no lists, so that each argument is one tensor.
    let on_host = |(slot, arg): (&InOutType, &ArgDef)| (slot.dtype, kernel.host_memory.contains(&&*arg.name));
    let inputs = signature.inputs.iter().zip(op.inputs.iter()).map(on_host).collect();
    Ok(Node { functions: (shader.functions)(&node)?, inputs, num_outputs: signature.outputs.len() })
}

/// Deletes what [`create`] made.
pub(super) unsafe extern "C" fn delete(node: *mut c_void) {
    if !node.is_null() {
        // SAFETY: the pointer came from `create`, and is deleted once.
        let node = unsafe { Box::from_raw(node.cast::<Node>()) };
        // A panic of what is dropped has no way to be told.
        let _ = catch_panic("the kernel's end", || {
            drop(node);
            Ok(())
        });
    }
}

/// Memory of the host's device.
struct Elsewhere;

impl DeviceMemory for Elsewhere {
    fn device(&self) -> &str {
        "the host's device"
    }

    fn num_bytes(&self) -> usize {
        0
    }
}

/// # Safety
/// The host says so many sizes.
unsafe fn shape(shape: KernlinkShape) -> Result<Shape> {
    let dims = match usize::try_from(shape.rank) {
        Ok(rank) if rank > 0 => {
            // SAFETY: as the caller says.
            unsafe { slice::from_raw_parts(shape.dims, rank) }
        }
        _ => &[],
    };
    let sizes = dims.iter().map(|&size| usize::try_from(size)).collect::<Result<Vec<_>, _>>();
    let shape = Shape::from(sizes.map_err(|_| Error::internal("the host says a negative size"))?);
    shape.check()?;
    Ok(shape)
}

/// Asks a node of a run; its error goes to the host's status.
///
/// # Safety
/// The pointers are what the host calls with.
unsafe fn ask(
    made: *mut c_void,
    launch: *const KernlinkLaunch,
    status: *mut TF_Status,
    answer: impl FnOnce(&'static Host, &Node, RawLaunch<'_>) -> Result<()>,
) {
    let Some(host) = host() else { return };
    let answered = catch_panic("the shader's function", || {
        // SAFETY: as the caller says.
        let launch = unsafe { &*launch };
        // SAFETY: the host calls with what `create` made.
        let node = unsafe { made.cast_const().cast::<Node>().as_ref() }
            .ok_or_else(|| Error::internal("a kernel that could not be made is called"))?;
        let given = match launch.num_inputs {
            0 => &[],
            // SAFETY: as the caller says.
            count => unsafe { slice::from_raw_parts(launch.inputs, count) },
        };
        if given.len() != node.inputs.len() {
            return Err(Error::internal(format!("the host has {} inputs, not {}", given.len(), node.inputs.len())));
        }
        let given_status = Status::new(host);
        let input = |(index, (given, &(dtype, is_on_host))): (usize, (&KernlinkInput, &(DataType, bool)))| {
            if !is_on_host || dtype == DataType::Variant {
                // SAFETY: as the caller says.
                let shape = unsafe { shape(given.shape) }?;
                return Ok(Tensor::from_device(dtype, shape, Arc::new(Elsewhere)));
            }
            // SAFETY: the host's function, within the call.
            let handle = given_status.check(|status| unsafe { (launch.input)(launch, index, status) })?;
            // SAFETY: the handle is the library's, and is there.
            unsafe { input_of(HostTensor::new(host, handle), index, dtype) }
        };
        let inputs = given.iter().zip(&node.inputs).enumerate().map(input).collect::<Result<Vec<Tensor>>>()?;
        let shapes = match launch.num_outputs {
            0 => &[],
            // SAFETY: as the caller says.
            count => unsafe { slice::from_raw_parts(launch.outputs, count) },
        };
        // SAFETY: as the caller says.
        let outputs = shapes.iter().map(|&one| unsafe { shape(one) }).collect::<Result<Vec<_>>>()?;
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        answer(host, node, RawLaunch { inputs: &inputs, outputs: &outputs })
    });
    if let Err(error) = answered {
        // SAFETY: the host's own.
        unsafe { set(host, status, &error) };
    }
}

unsafe extern "C" fn outputs(made: *mut c_void, launch: *const KernlinkLaunch, status: *mut TF_Status) {
    let answer = |host: &'static Host, node: &Node, run: RawLaunch<'_>| {
        let shapes = node.functions.outputs(run)?;
        if shapes.len() != node.num_outputs {
            let (said, count) = (shapes.len(), node.num_outputs);
            return Err(Error::internal(format!("the shader says the shapes of {said} outputs of {count}")));
        }
        let said = Status::new(host);
        for (index, shape) in shapes.iter().enumerate() {
            let dims: Vec<i64> = shape.dims().iter().map(|&size| size as i64).collect();
            let shape = KernlinkShape { dims: dims.as_ptr(), rank: dims.len() as i32 };
            // SAFETY: the host's function, within the call; the sizes are there meanwhile.
            said.check(|status| unsafe { ((*launch).set_output)(launch, index, shape, status) })?;
        }
        Ok(())
    };
    // SAFETY: the host's pointers.
    unsafe { ask(made, launch, status, answer) };
}

unsafe extern "C" fn computed(
    made: *mut c_void,
    launch: *const KernlinkLaunch,
    words: *mut u32,
    count: usize,
    status: *mut TF_Status,
) {
    let answer = |_: &'static Host, node: &Node, run: RawLaunch<'_>| {
        let said = node.functions.computed(run)?;
        if said.len() != count {
            return Err(Error::internal(format!("the shader says {} parameters, not {count}", said.len())));
        }
        // SAFETY: the host has room for so many.
        unsafe { ptr::copy_nonoverlapping(said.as_ptr(), words, count) };
        Ok(())
    };
    // SAFETY: the host's pointers.
    unsafe { ask(made, launch, status, answer) };
}

unsafe extern "C" fn groups(
    made: *mut c_void,
    launch: *const KernlinkLaunch,
    groups: *mut u32,
    status: *mut TF_Status,
) {
    let answer = |_: &'static Host, node: &Node, run: RawLaunch<'_>| {
        let said = node.functions.groups(run)?;
        // SAFETY: the host has room for three.
        unsafe { ptr::copy_nonoverlapping(said.as_ptr(), groups, said.len()) };
        Ok(())
    };
    // SAFETY: the host's pointers.
    unsafe { ask(made, launch, status, answer) };
}
