//! Kernels of which only the shader is written: what the host is told of them, and asks before each run.

use std::ffi::c_void;
use std::{ptr, slice};

use kernlink_framework::dtype::DataType;
use kernlink_framework::error::catch_panic;
use kernlink_framework::graph::complete_attrs;
use kernlink_framework::kernel::check::shader::CAPABILITIES;
use kernlink_framework::kernel::shader::{
    Dispatch, LaunchFunctions, Operands, ParamValue, RawLaunch, ShaderDef, ShaderNode, Source,
};
use kernlink_framework::kernel::{ConstraintValues, GPU, KernelDef};
use kernlink_framework::op::Signature;
use kernlink_framework::proto::Message as _;
use kernlink_framework::registry::NodeQuery;
use kernlink_framework::shape::Shape;
use kernlink_framework::shape_inference::GRAPH_DEF_VERSION;
use kernlink_framework::tensor::{DeviceMemory, Tensor};
use kernlink_framework::{Error, Result};

use super::functions::{Host, host};
use super::kernel::{context, node};
use super::status::{Status, set};
use super::tensor::{HostTensor, elements};
use crate::abi::shader::{Constraint, Dispatch as DispatchMessage, Param, ParamKind, Rule, Shader};
use crate::abi::{
    KernlinkInput, KernlinkLaunch, KernlinkShaderFunctions, KernlinkShape, TF_KernelBuilder, TF_OpKernelConstruction,
    TF_Status,
};

/// What the host asks of a shader.
static FUNCTIONS: KernlinkShaderFunctions = KernlinkShaderFunctions {
    size: size_of::<KernlinkShaderFunctions>(),
    outputs: Some(outputs),
    computed: Some(computed),
    groups: Some(groups),
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
    kernel: &KernelDef,
    shader: ShaderDef,
) -> Result<()> {
    let set = host.set_shader.ok_or_else(|| Error::unimplemented("the host runs no shaders"))?;
    let message = describe(kernel, shader.source).encode_to_vec();
    status.check(|status| {
        // SAFETY: as the caller says; the host copies what it is given.
        unsafe { set(builder, message.as_ptr().cast(), message.len(), &raw const FUNCTIONS, status) };
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
    num_outputs: usize,
}

/// Makes the functions for a node; null if it fails.
pub(super) unsafe extern "C" fn create(ctx: *mut TF_OpKernelConstruction) -> *mut c_void {
    let Some(host) = host() else { return ptr::null_mut() };
    // SAFETY: the host calls with a context that lives as long as the call.
    match catch_panic("the kernel's construction", || unsafe { make(host, ctx) }) {
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
unsafe fn make(host: &'static Host, ctx: *mut TF_OpKernelConstruction) -> Result<Node> {
    let registry = context()?.registry();
    // SAFETY: as the caller says.
    let (name, entry, mut attrs) = unsafe { node(host, ctx, registry) }?;
    complete_attrs(entry.def, &mut attrs)?;
    let signature = Signature::new(entry.def, &attrs)?;
    let query = NodeQuery { node: &name, op: &entry.def.name, attrs: &attrs, device: GPU, capabilities: CAPABILITIES };
    let kernel = registry.find_kernel(query)?;
    let shader = kernel.shader.ok_or_else(|| Error::internal(format!("{kernel} is no shader")))?;
    let node = ShaderNode {
        attrs: &attrs,
        signature: &signature,
        shape_fn: entry.shape_fn,
        graph_def_version: GRAPH_DEF_VERSION,
    };
    Ok(Node { functions: (shader.functions)(&node)?, num_outputs: signature.outputs.len() })
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
        let given = match launch.num_inputs {
            0 => &[],
            // SAFETY: as the caller says.
            count => unsafe { slice::from_raw_parts(launch.inputs, count) },
        };
        // First of all they are owned, so that they are deleted whatever happens.
        let handles = given.iter().map(|input| (!input.tensor.is_null()).then(|| HostTensor::new(host, input.tensor)));
        let handles: Vec<_> = handles.collect();
        let input = |(index, (input, handle)): (usize, (&KernlinkInput, Option<HostTensor>))| {
            let dtype = DataType::from_number(input.dtype)
                .ok_or_else(|| Error::internal(format!("input {index} has the unknown dtype {}", input.dtype)))?;
            match handle {
                // SAFETY: the handle is there.
                Some(handle) => unsafe { elements(handle, index, dtype) },
                // SAFETY: as the caller says.
                None => Ok(Tensor::from_device(dtype, unsafe { shape(input.shape) }?, std::sync::Arc::new(Elsewhere))),
            }
        };
        let inputs = given.iter().zip(handles).enumerate().map(input).collect::<Result<Vec<Tensor>>>()?;
        let shapes = match launch.num_outputs {
            0 => &[],
            // SAFETY: as the caller says.
            count => unsafe { slice::from_raw_parts(launch.outputs, count) },
        };
        // SAFETY: as the caller says.
        let outputs = shapes.iter().map(|&one| unsafe { shape(one) }).collect::<Result<Vec<_>>>()?;
        // SAFETY: the host calls with what `create` made.
        let node = unsafe { made.cast_const().cast::<Node>().as_ref() }
            .ok_or_else(|| Error::internal("a kernel that could not be made is called"))?;
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
