//! CheckNumerics, CheckNumericsV2.

use kernlink::dtype::{DataType, Pod, bf16, f16};
use kernlink::error::{Error, Result};
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::Tensor;
use kernlink_kernels_common::number::Float;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Which numbers a tensor holds that are not finite.
#[derive(Default)]
struct Found {
    negative: bool,
    positive: bool,
    nan: bool,
}

fn find<T: Pod + Float>(tensor: &Tensor) -> Result<Found> {
    let mut found = Found::default();
    for value in tensor.as_slice::<T>()?.iter().filter(|value| !value.is_finite()) {
        found.nan |= value.is_nan();
        found.negative |= *value < T::zero();
        found.positive |= *value > T::zero();
    }
    Ok(found)
}

fn names(found: [(bool, &'static str); 3]) -> String {
    let names: Vec<&str> = found.into_iter().filter(|(found, _)| *found).map(|(_, name)| name).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[register_kernel(device = Cpu, op = [ops::CheckNumerics, ops::CheckNumericsV2], T = [float, double, half, bfloat16])]
fn check(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let tensor = ctx.input(O::TENSOR)?;
    let found = match tensor.dtype() {
        DataType::Float => find::<f32>(tensor),
        DataType::Double => find::<f64>(tensor),
        DataType::Half => find::<f16>(tensor),
        _ => find::<bf16>(tensor),
    }?;
    let names = names(match &*ctx.op().name {
        "CheckNumerics" => [(found.negative || found.positive, "Inf"), (found.nan, "NaN"), (false, "")],
        _ => [(found.negative, "-Inf"), (found.positive, "+Inf"), (found.nan, "NaN")],
    });
    if !names.is_empty() {
        return Err(Error::invalid_argument(format!("{} : Tensor had {names} values", attrs.message)));
    }
    let tensor = ctx.take_input(O::TENSOR)?;
    ctx.set_output(O::OUTPUT, tensor)
}

/// Hands on a tensor of the right shape.
#[register_kernel(device = Cpu, cheap)]
#[register_kernel(device = Default, T = [bool, int32, resource, string], host_memory = ["input", "output"], cheap)]
#[register_kernel(
    device = Default,
    T = [
        bfloat16, complex128, complex64, double, float, half, int16, int64, int8, uint16, uint32, uint64, uint8, variant,
    ],
    cheap,
)]
fn ensure_shape(attrs: &Attrs<ops::EnsureShape>, ctx: &mut KernelContext<'_, ops::EnsureShape>) -> Result<()> {
    let input = ctx.take_input(ops::EnsureShape::INPUT)?;
    if !attrs.shape.accepts(input.shape()) {
        return Err(Error::invalid_argument(format!(
            "Shape of tensor {} {} is not compatible with expected shape {}.",
            ctx.node(),
            input.shape(),
            attrs.shape
        )));
    }
    ctx.set_output(ops::EnsureShape::OUTPUT, input)
}
