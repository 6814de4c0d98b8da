//! The variables of TensorFlow 2: resources that handles name or own.

use std::sync::Arc;

use kernlink::Code;
use kernlink::dtype::DataType;
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, RawConstruction, RawContext};
use kernlink::resource::{ResourceManager, Variable};
use kernlink::shape::PartialShape;
use kernlink::tensor::{ResourceHandle, Tensor};
use kernlink::{Error, Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// A handle of a variable, or what makes one.
enum Handle {
    Named(Tensor),
    /// Each run makes a variable of its own, which lives as long as its handles.
    Anonymous {
        resources: Arc<ResourceManager>,
        device: String,
        held: (DataType, PartialShape),
    },
}

impl Handle {
    fn new(ctx: &RawConstruction<'_>, container: &str, name: &str, held: (DataType, PartialShape)) -> Result<Handle> {
        let (resources, device) = (ctx.resources()?, ctx.device_name());
        if name == ResourceHandle::ANONYMOUS_NAME {
            return Ok(Handle::Anonymous { resources: resources.clone(), device: device.to_owned(), held });
        }
        let mut handle = resources.make_handle::<Variable>(device, container, name);
        handle.dtypes_and_shapes = vec![held];
        Ok(Handle::Named(Tensor::scalar(handle)))
    }

    fn tensor(&self) -> Tensor {
        match self {
            Handle::Named(tensor) => tensor.clone(),
            Handle::Anonymous { resources, device, held } => {
                let mut handle = resources.make_owned_handle(device, Arc::new(Variable::new(held.0)));
                handle.dtypes_and_shapes = vec![held.clone()];
                Tensor::scalar(handle)
            }
        }
    }
}

#[register_kernel(device = Cpu, cheap, state = |ctx| {
    let attrs = ctx.attrs();
    Handle::new(ctx, &attrs.container, &attrs.shared_name, (attrs.dtype, attrs.shape.clone()))
})]
#[register_kernel(device = Default, host_memory = ["resource"], cheap)]
fn var_handle(handle: &Handle, ctx: &mut KernelContext<'_, ops::VarHandleOp>) -> Result<()> {
    ctx.set_output(ops::VarHandleOp::RESOURCE, handle.tensor())
}

/// The handles of several variables.
fn handles(ctx: &KernelConstruction<'_, ops::_VarHandlesOp>) -> Result<Vec<Handle>> {
    let attrs = ctx.attrs();
    let lists = [attrs.containers.len(), attrs.shared_names.len(), attrs.dtypes.len(), attrs.shapes.len()];
    let count = ctx.output_len(ops::_VarHandlesOp::RESOURCES);
    ensure!(lists == [count; 4], InvalidArgument, "lists of {lists:?} entries cannot describe {count} variables");
    let handles = (0..count).map(|i| {
        let held = (attrs.dtypes[i], attrs.shapes[i].clone());
        Handle::new(ctx, &attrs.containers[i], &attrs.shared_names[i], held)
    });
    handles.collect()
}

#[register_kernel(device = Cpu, cheap, state = handles)]
#[register_kernel(device = Default, host_memory = ["resources"], cheap)]
fn var_handles(handles: &Vec<Handle>, ctx: &mut KernelContext<'_, ops::_VarHandlesOp>) -> Result<()> {
    handles.iter().enumerate().try_for_each(|(index, handle)| ctx.set_output_at(index, handle.tensor()))
}

/// The variable that input `input` names, to be read.
///
/// # Errors
/// FAILED_PRECONDITION if there is none.
fn to_read(ctx: &RawContext<'_>, input: usize) -> Result<Arc<Variable>> {
    let handle = ctx.handle_at(input)?;
    ctx.resource_at::<Variable>(input).map_err(|error| {
        Error::failed_precondition(format!(
            "Could not find variable {}. This could mean that the variable has been deleted. In TF1, it can also mean the \
             variable is uninitialized. Debug info: container={}, status error message={}",
            handle.name,
            handle.container,
            error.message()
        ))
    })
}

/// The value of the variable that input `input` names.
fn value_of(ctx: &RawContext<'_>, input: usize, dtype: DataType) -> Result<Tensor> {
    let variable = to_read(ctx, input)?;
    ensure!(
        variable.dtype() == dtype,
        InvalidArgument,
        "Trying to read variable with wrong dtype. Expected {dtype} got {}",
        variable.dtype()
    );
    let value = match ctx.run().device.filter(|device| device.has_own_memory() && device.holds(dtype)) {
        Some(device) => variable.read_on(device)?,
        None => variable.read().ok(),
    };
    let Some(value) = value else {
        let ResourceHandle { name, container, .. } = ctx.handle_at(input)?;
        bail!(FailedPrecondition, "Variable {name} in container {container} is uninitialized.")
    };
    Ok(value)
}

#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, host_memory = ["resource"], cheap)]
fn read_variable(ctx: &mut KernelContext<'_, ops::ReadVariableOp>) -> Result<()> {
    let value = value_of(ctx, 0, ctx.output_dtype_at(0)?)?;
    ctx.set_output(ops::ReadVariableOp::VALUE, value)
}

/// Checks that each variable is read once.
fn pairs(ctx: &KernelConstruction<'_, ops::_ReadVariablesOp>) -> Result<()> {
    let inputs = ctx.input_len(ops::_ReadVariablesOp::RESOURCES);
    let outputs = ctx.output_len(ops::_ReadVariablesOp::VALUES);
    ensure!(
        inputs == outputs,
        InvalidArgument,
        "Mismatched number of arguments to ReadVariablesOp ({inputs} vs. {outputs})"
    );
    Ok(())
}

#[register_kernel(device = Cpu, state = pairs)]
#[register_kernel(device = Default, host_memory = ["resources"])]
fn read_variables(_: &(), ctx: &mut KernelContext<'_, ops::_ReadVariablesOp>) -> Result<()> {
    for index in 0..ctx.num_inputs() {
        let value = value_of(ctx, index, ctx.output_dtype_at(index)?)?;
        ctx.set_output_at(index, value)?;
    }
    Ok(())
}

#[register_kernel(
    device = Cpu,
    op = ops::AssignVariableOp,
    dtype = [
        realnumbertype, bool, complex128, complex64, float4_e2m1fn, float8_e4m3fn, float8_e5m2, int2, int4, qint32,
        qint8, quint8, resource, string, uint2, uint4, variant,
    ],
    cheap,
    handles_only,
)]
#[register_kernel(device = Default, host_memory = ["resource"], cheap, handles_only, dtype = [
    bfloat16, bool, complex128, complex64, double, float, float4_e2m1fn, float8_e4m3fn, float8_e5m2, half, int16, int2,
    int4, int64, int8, resource, string, uint16, uint2, uint32, uint4, uint64, uint8, variant,
])]
fn assign_variable(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let value = ctx.take_input(O::VALUE)?;
    let dtype = value.dtype();
    let handle = ctx.handle(O::RESOURCE)?;
    let variable = ctx.resources()?.lookup_or_create_handle(handle, || Ok(Variable::new(dtype)))?;
    ensure!(
        variable.dtype() == dtype,
        InvalidArgument,
        "Trying to assign variable with wrong dtype. Expected {} got {dtype}",
        variable.dtype()
    );
    let old = {
        let mut place = variable.lock();
        if let Some(old) = place.as_ref().filter(|old| attrs.validate_shape && old.shape() != value.shape()) {
            bail!(
                InvalidArgument,
                "Trying to assign to variable with tensor with wrong shape. Expected {} got {}",
                old.shape(),
                value.shape()
            );
        }
        place.replace(value)
    };
    // The old value goes when the lock is gone: that may take a while.
    drop(old);
    Ok(())
}

#[register_kernel(device = Cpu, cheap, handles_only)]
#[register_kernel(device = Default, host_memory = ["resource", "is_initialized"], cheap, handles_only)]
fn var_is_initialized(ctx: &mut KernelContext<'_, ops::VarIsInitializedOp>) -> Result<()> {
    ctx.handle(ops::VarIsInitializedOp::RESOURCE)?;
    let variable = ctx.resource::<Variable>(ops::VarIsInitializedOp::RESOURCE);
    let is_initialized = variable.is_ok_and(|variable| variable.read().is_ok());
    ctx.set_output(ops::VarIsInitializedOp::IS_INITIALIZED, Tensor::scalar(is_initialized))
}

#[register_kernel(device = Cpu, out_type = [int32, int64], cheap, handles_only)]
#[register_kernel(device = Default, out_type = [int32, int64], host_memory = ["input", "output"], cheap, handles_only)]
fn variable_shape(ctx: &mut KernelContext<'_, ops::VariableShape>) -> Result<()> {
    let variable = ctx.resource::<Variable>(ops::VariableShape::INPUT)?;
    let shape = variable.read()?.shape().to_i64();
    let shape = match ctx.output_dtype_at(0)? {
        DataType::Int64 => Tensor::vector(&shape)?,
        _ => {
            let narrow: Option<Vec<i32>> = shape.iter().map(|&size| i32::try_from(size).ok()).collect();
            let too_large = || Error::invalid_argument(format!("the shape {shape:?} does not fit int32"));
            Tensor::vector(&narrow.ok_or_else(too_large)?)?
        }
    };
    ctx.set_output(ops::VariableShape::OUTPUT, shape)
}

#[register_kernel(device = Cpu, op = ops::DestroyResourceOp, handles_only)]
#[register_kernel(device = Default, host_memory = ["resource"], handles_only)]
fn destroy_resource(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    match ctx.resources()?.delete_handle(ctx.handle(O::RESOURCE)?) {
        Err(error) if attrs.ignore_lookup_error && error.code() == Code::NotFound => Ok(()),
        result => result,
    }
}

#[register_kernel(device = Cpu, cheap, handles_only)]
fn disable_copy_on_read(ctx: &mut KernelContext<'_, ops::DisableCopyOnRead>) -> Result<()> {
    to_read(ctx, 0).map(drop)
}
