//! Optionals.

use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::shape::PartialShape;
use kernlink::tensor::{Tensor, Variant};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::optional::{OPTIONAL, OptionalValue};
use kernlink_kernels_common::tensors::value_in;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// The optional that input 0 holds.
fn optional<'c>(ctx: &'c RawContext<'_>) -> Result<&'c OptionalValue> {
    let tensor = ctx.input_at(0)?;
    ensure!(
        tensor.rank() == 0,
        InvalidArgument,
        "Input to an op on optionals must be a scalar tensor containing an OptionalVariant object, not of shape {}",
        tensor.shape()
    );
    let other = || "Input to an op on optionals must be an OptionalVariant object.".to_owned();
    value_in(&tensor.as_slice::<Variant>()?[0], OPTIONAL, other)
}

#[register_kernel(device = Cpu)]
fn none(ctx: &mut KernelContext<'_, ops::OptionalNone>) -> Result<()> {
    ctx.set_output(ops::OptionalNone::OPTIONAL, Tensor::scalar(Variant::new(OptionalValue(None))))
}

#[register_kernel(device = Cpu)]
fn from_value(ctx: &mut KernelContext<'_, ops::OptionalFromValue>) -> Result<()> {
    let tensors = ctx.input_list(ops::OptionalFromValue::COMPONENTS).iter().cloned().collect();
    ctx.set_output(ops::OptionalFromValue::OPTIONAL, Tensor::scalar(Variant::new(OptionalValue(Some(tensors)))))
}

#[register_kernel(device = Cpu)]
fn has_value(ctx: &mut KernelContext<'_, ops::OptionalHasValue>) -> Result<()> {
    let has_value = optional(ctx)?.0.is_some();
    ctx.set_output(ops::OptionalHasValue::HAS_VALUE, Tensor::from(has_value))
}

struct GetValueKernel {
    shapes: Vec<PartialShape>,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::OptionalGetValue> for GetValueKernel {
    fn new(ctx: &KernelConstruction<'_, ops::OptionalGetValue>) -> Result<Self> {
        let attrs = ctx.attrs();
        ensure!(
            attrs.output_shapes.len() == attrs.output_types.len(),
            InvalidArgument,
            "output_types and output_shapes must be same length, got:\noutput_types: {}\noutput_shapes: {}",
            attrs.output_types.len(),
            attrs.output_shapes.len()
        );
        Ok(Self { shapes: attrs.output_shapes.clone() })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::OptionalGetValue>) -> Result<()> {
        let Some(components) = &optional(ctx)?.0 else {
            bail!(InvalidArgument, "The given optional does not have a value.");
        };
        let components = components.clone();
        ensure!(
            components.len() == self.shapes.len(),
            InvalidArgument,
            "The given optional has {} components, expected {}",
            components.len(),
            self.shapes.len()
        );
        for (index, (component, shape)) in components.into_iter().zip(&self.shapes).enumerate() {
            let dtype = ctx.output_dtype_at(index)?;
            ensure!(
                component.dtype() == dtype,
                InvalidArgument,
                "The given optional does not match the expected type for component {index}. Expected: {dtype}. Actual: \
                 {}.",
                component.dtype()
            );
            ensure!(
                shape.accepts(component.shape()),
                InvalidArgument,
                "The given optional does not match the expected shape for component {index}. Expected: {shape}. \
                 Actual: {}.",
                component.shape()
            );
            ctx.set_output_at(index, component)?;
        }
        Ok(())
    }
}
