//! The variables of TensorFlow 2: resources that handles name or own.

use std::sync::Arc;

use kernlink::Code;
use kernlink::dtype::DataType;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::resource::{ResourceManager, Variable};
use kernlink::shape::PartialShape;
use kernlink::tensor::{ResourceHandle, Tensor};
use kernlink::{Error, Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// The name by which a node says that its variable has none.
const ANONYMOUS: &str = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

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
        if name == ANONYMOUS {
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

struct VarHandleKernel(Handle);

#[register_kernel(device = Cpu)]
#[register_kernel(device = Default, host_memory = ["resource"])]
impl OpKernel<ops::VarHandleOp> for VarHandleKernel {
    fn new(ctx: &KernelConstruction<'_, ops::VarHandleOp>) -> Result<Self> {
        let attrs = ctx.attrs();
        let held = (attrs.dtype, attrs.shape.clone());
        Ok(Self(Handle::new(ctx, &attrs.container, &attrs.shared_name, held)?))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::VarHandleOp>) -> Result<()> {
        ctx.set_output(ops::VarHandleOp::RESOURCE, self.0.tensor())
    }

    fn is_expensive(&self) -> bool {
        false
    }
}

struct VarHandlesKernel(Vec<Handle>);

#[register_kernel(device = Cpu)]
#[register_kernel(device = Default, host_memory = ["resources"])]
impl OpKernel<ops::_VarHandlesOp> for VarHandlesKernel {
    fn new(ctx: &KernelConstruction<'_, ops::_VarHandlesOp>) -> Result<Self> {
        let attrs = ctx.attrs();
        let lists = [attrs.containers.len(), attrs.shared_names.len(), attrs.dtypes.len(), attrs.shapes.len()];
        let count = ctx.output_len(ops::_VarHandlesOp::RESOURCES);
        ensure!(lists == [count; 4], InvalidArgument, "lists of {lists:?} entries cannot describe {count} variables");
        let handles = (0..count).map(|i| {
            let held = (attrs.dtypes[i], attrs.shapes[i].clone());
            Handle::new(ctx, &attrs.containers[i], &attrs.shared_names[i], held)
        });
        Ok(Self(handles.collect::<Result<_>>()?))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::_VarHandlesOp>) -> Result<()> {
        self.0.iter().enumerate().try_for_each(|(index, handle)| ctx.set_output_at(index, handle.tensor()))
    }

    fn is_expensive(&self) -> bool {
        false
    }
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

struct ReadVariablesKernel;

#[register_kernel(device = Cpu)]
#[register_kernel(device = Default, host_memory = ["resources"])]
impl OpKernel<ops::_ReadVariablesOp> for ReadVariablesKernel {
    fn new(ctx: &KernelConstruction<'_, ops::_ReadVariablesOp>) -> Result<Self> {
        let (inputs, outputs) =
            (ctx.input_len(ops::_ReadVariablesOp::RESOURCES), ctx.output_len(ops::_ReadVariablesOp::VALUES));
        ensure!(
            inputs == outputs,
            InvalidArgument,
            "Mismatched number of arguments to ReadVariablesOp ({inputs} vs. {outputs})"
        );
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::_ReadVariablesOp>) -> Result<()> {
        for index in 0..ctx.num_inputs() {
            let value = value_of(ctx, index, ctx.output_dtype_at(index)?)?;
            ctx.set_output_at(index, value)?;
        }
        Ok(())
    }
}

struct AssignVariableKernel {
    validate_shape: bool,
}

#[register_kernel(
    device = Cpu,
    dtype = [
        realnumbertype, bool, complex128, complex64, float4_e2m1fn, float8_e4m3fn, float8_e5m2, int2, int4, qint32,
        qint8, quint8, resource, string, uint2, uint4, variant,
    ],
)]
#[register_kernel(device = Default, host_memory = ["resource"], dtype = [
    bfloat16, bool, complex128, complex64, double, float, float4_e2m1fn, float8_e4m3fn, float8_e5m2, half, int16, int2,
    int4, int64, int8, resource, string, uint16, uint2, uint32, uint4, uint64, uint8, variant,
])]
impl OpKernel<ops::AssignVariableOp> for AssignVariableKernel {
    fn new(ctx: &KernelConstruction<'_, ops::AssignVariableOp>) -> Result<Self> {
        Ok(Self { validate_shape: ctx.attrs().validate_shape })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::AssignVariableOp>) -> Result<()> {
        let value = ctx.take_input(ops::AssignVariableOp::VALUE)?;
        let dtype = value.dtype();
        let handle = ctx.handle(ops::AssignVariableOp::RESOURCE)?;
        let variable = ctx.resources()?.lookup_or_create_handle(handle, || Ok(Variable::new(dtype)))?;
        ensure!(
            variable.dtype() == dtype,
            InvalidArgument,
            "Trying to assign variable with wrong dtype. Expected {} got {dtype}",
            variable.dtype()
        );
        let old = {
            let mut place = variable.lock();
            if let Some(old) = place.as_ref().filter(|old| self.validate_shape && old.shape() != value.shape()) {
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

    fn is_expensive(&self) -> bool {
        false
    }

    fn asks_for_values(&self) -> bool {
        false
    }
}

struct VarIsInitializedKernel;

#[register_kernel(device = Cpu)]
#[register_kernel(device = Default, host_memory = ["resource", "is_initialized"])]
impl OpKernel<ops::VarIsInitializedOp> for VarIsInitializedKernel {
    fn new(_: &KernelConstruction<'_, ops::VarIsInitializedOp>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::VarIsInitializedOp>) -> Result<()> {
        ctx.handle(ops::VarIsInitializedOp::RESOURCE)?;
        let variable = ctx.resource::<Variable>(ops::VarIsInitializedOp::RESOURCE);
        let is_initialized = variable.is_ok_and(|variable| variable.read().is_ok());
        ctx.set_output(ops::VarIsInitializedOp::IS_INITIALIZED, Tensor::scalar(is_initialized))
    }

    fn is_expensive(&self) -> bool {
        false
    }

    fn asks_for_values(&self) -> bool {
        false
    }
}

struct VariableShapeKernel;

#[register_kernel(device = Cpu, out_type = [int32, int64])]
#[register_kernel(device = Default, out_type = [int32, int64], host_memory = ["input", "output"])]
impl OpKernel<ops::VariableShape> for VariableShapeKernel {
    fn new(_: &KernelConstruction<'_, ops::VariableShape>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::VariableShape>) -> Result<()> {
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

    fn is_expensive(&self) -> bool {
        false
    }

    fn asks_for_values(&self) -> bool {
        false
    }
}

struct DestroyResourceKernel {
    ignore_lookup_error: bool,
}

#[register_kernel(device = Cpu)]
#[register_kernel(device = Default, host_memory = ["resource"])]
impl OpKernel<ops::DestroyResourceOp> for DestroyResourceKernel {
    fn new(ctx: &KernelConstruction<'_, ops::DestroyResourceOp>) -> Result<Self> {
        Ok(Self { ignore_lookup_error: ctx.attrs().ignore_lookup_error })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::DestroyResourceOp>) -> Result<()> {
        match ctx.resources()?.delete_handle(ctx.handle(ops::DestroyResourceOp::RESOURCE)?) {
            Err(error) if self.ignore_lookup_error && error.code() == Code::NotFound => Ok(()),
            result => result,
        }
    }

    fn asks_for_values(&self) -> bool {
        false
    }
}

struct DisableCopyOnReadKernel;

#[register_kernel(device = Cpu)]
impl OpKernel<ops::DisableCopyOnRead> for DisableCopyOnReadKernel {
    fn new(_: &KernelConstruction<'_, ops::DisableCopyOnRead>) -> Result<Self> {
        Ok(Self)
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::DisableCopyOnRead>) -> Result<()> {
        to_read(ctx, 0).map(drop)
    }

    fn is_expensive(&self) -> bool {
        false
    }

    fn asks_for_values(&self) -> bool {
        false
    }
}
