//! The variables of TensorFlow 1: places that references lead to.

use std::sync::Arc;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, KernelState, OpKernel, RawConstruction, RawContext};
use kernlink::resource::{ContainerInfo, Resource, ResourceManager};
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::{Tensor, TensorRef};
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// A variable of TensorFlow 1, as the session keeps it.
struct ReferenceVariable(TensorRef);

impl Resource for ReferenceVariable {
    fn type_name() -> &'static str {
        "tensorflow::LegacyVar"
    }

    fn debug_string(&self) -> String {
        let dtype = self.0.dtype();
        match self.0.get() {
            Ok(Some(value)) => format!("{dtype}/{}", value.shape()),
            Ok(None) => format!("{dtype}, uninitialized"),
            Err(_) => format!("{dtype}, locked"),
        }
    }

    fn memory_used(&self) -> usize {
        memory_used(&self.0)
    }
}

/// The bytes of what a reference refers to; 0 while this thread holds it.
fn memory_used(reference: &TensorRef) -> usize {
    reference.lock().map_or(0, |value| value.as_ref().map_or(0, Tensor::num_bytes))
}

/// The dtype and the shape that a variable's node declares.
fn declared(ctx: &RawConstruction<'_>) -> Result<(DataType, Shape)> {
    let shape = match ctx.attrs.get("shape") {
        Some(AttrValue::Shape(shape)) => shape.clone(),
        _ => PartialShape::unknown(),
    };
    let shape = match (shape.rank(), shape.to_shape()) {
        (None, _) => Shape::scalar(),
        (_, Some(shape)) => shape,
        (_, None) => bail!(InvalidArgument, "Shape {shape} is not fully defined"),
    };
    shape.check()?;
    Ok((ctx.output_dtype_at(0)?, shape))
}

struct VariableOfNode {
    resources: Arc<ResourceManager>,
    kept: ContainerInfo,
    dtype: DataType,
    shape: Shape,
}

impl KernelState for VariableOfNode {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let (dtype, shape) = declared(ctx)?;
        Ok(Self { resources: ctx.resources()?.clone(), kept: ctx.container_info(true)?, dtype, shape })
    }
}

#[register_kernel(device = Cpu, op = [ops::Variable, ops::VariableV2], cheap)]
#[register_kernel(
    device = Default,
    dtype = [bfloat16, bool, complex128, complex64, double, float, half, int64, uint32],
    cheap,
)]
fn variable(variable: &VariableOfNode, ctx: &mut RawContext<'_>) -> Result<()> {
    let make = || {
        let reference = TensorRef::of_variable(variable.dtype, ctx.node(), variable.shape.clone());
        // There is nothing to initialise in a variable without elements.
        if variable.shape.num_elements() == 0 {
            let nothing = Tensor::zeros(variable.dtype, variable.shape.clone())?;
            let device = ctx.run().device.filter(|device| device.has_own_memory());
            reference.set(match device {
                Some(device) => device.to_device(&nothing)?,
                None => nothing,
            })?;
        }
        Ok(ReferenceVariable(reference))
    };
    let kept = variable.resources.lookup_or_create(&variable.kept.container, &variable.kept.name, make)?;
    ensure!(
        kept.0.dtype() == variable.dtype,
        InvalidArgument,
        "variable {} holds {}, not {}",
        variable.kept.name,
        kept.0.dtype(),
        variable.dtype
    );
    ctx.set_output_reference_at(0, kept.0.clone())
}

/// A temporary variable, as its step keeps it.
struct TemporaryVariable(TensorRef);

impl Resource for TemporaryVariable {
    fn type_name() -> &'static str {
        "tensorflow::TemporaryVariableOp::TmpVar"
    }

    fn memory_used(&self) -> usize {
        memory_used(&self.0)
    }
}

/// The name of a temporary variable in its step: each iteration of a loop has its own.
fn temporary_name(ctx: &RawContext<'_>, name: &str) -> String {
    match ctx.run().frame {
        0 => name.to_owned(),
        frame => format!("{name}/frame:{frame}/iter:{}", ctx.run().iteration),
    }
}

struct TemporaryVariableKernel {
    name: String,
    dtype: DataType,
    shape: Shape,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::TemporaryVariable> for TemporaryVariableKernel {
    fn new(ctx: &KernelConstruction<'_, ops::TemporaryVariable>) -> Result<Self> {
        let (dtype, shape) = declared(ctx)?;
        let name = if ctx.attrs().var_name.is_empty() { ctx.node.to_owned() } else { ctx.attrs().var_name.clone() };
        Ok(Self { name, dtype, shape })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::TemporaryVariable>) -> Result<()> {
        let name = temporary_name(ctx, &self.name);
        let reference = TensorRef::of_variable(self.dtype, &*name, self.shape.clone());
        reference.set(Tensor::zeros(self.dtype, self.shape.clone())?)?;
        let variable = Arc::new(TemporaryVariable(reference.clone()));
        ctx.resources()?.create(&ctx.step()?.container(), &name, variable)?;
        ctx.set_output_reference(ops::TemporaryVariable::REF, reference)
    }
}

/// The name that the attr must give.
fn given_name(ctx: &KernelConstruction<'_, ops::DestroyTemporaryVariable>) -> Result<String> {
    ensure!(!ctx.attrs().var_name.is_empty(), InvalidArgument, "Missing var_name attribute");
    Ok(ctx.attrs().var_name.clone())
}

#[register_kernel(device = Cpu, op = ops::DestroyTemporaryVariable, state = given_name)]
fn destroy_temporary_variable(name: &String, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let value = ctx.referred(O::REF)?;
    let (container, name) = (ctx.step()?.container(), temporary_name(ctx, name));
    ctx.resources()?.delete::<TemporaryVariable>(&container, &name)?;
    ctx.set_output(O::VALUE, value)
}

#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, host_memory = ["is_initialized"], cheap)]
fn is_variable_initialized(ctx: &mut KernelContext<'_, ops::IsVariableInitialized>) -> Result<()> {
    let is_initialized = ctx.reference(ops::IsVariableInitialized::REF)?.lock()?.is_some();
    ctx.set_output(ops::IsVariableInitialized::IS_INITIALIZED, Tensor::scalar(is_initialized))
}

#[register_kernel(
    device = Cpu,
    T = [realnumbertype, bool, complex128, complex64, qint32, qint8, quint16, quint8, resource, string, variant],
    cheap,
)]
#[register_kernel(
    device = Default,
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int64, int8, uint16, uint32, uint64, uint8,
    ],
    cheap,
)]
fn assign(attrs: &Attrs<ops::Assign>, ctx: &mut KernelContext<'_, ops::Assign>) -> Result<()> {
    let value = ctx.take_input(ops::Assign::VALUE)?;
    let reference = ctx.reference(ops::Assign::REF)?;
    let dtype = reference.dtype();
    ensure!(value.dtype() == dtype, InvalidArgument, "a variable of {dtype} cannot be assigned {}", value.dtype());
    let old = {
        let mut place = reference.lock()?;
        let shape = place.as_ref().map(Tensor::shape).or(reference.declared_shape());
        if let Some(shape) = shape.filter(|&shape| attrs.validate_shape && shape != value.shape()) {
            bail!(
                InvalidArgument,
                "Assign requires shapes of both tensors to match. lhs shape= {shape} rhs shape= {}",
                value.shape()
            );
        }
        place.replace(value)?
    };
    // The old value goes when the lock is gone: that may take a while.
    drop(old);
    ctx.forward_reference(ops::Assign::REF, ops::Assign::OUTPUT_REF)
}
