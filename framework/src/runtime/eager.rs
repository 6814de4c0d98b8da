//! One op, run at once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::executor::kernel_panicked;
use crate::attr::AttrMap;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::complete_attrs;
use crate::kernel::{RawConstruction, RawContext};
use crate::op::Signature;
use crate::registry::{NodeQuery, Registry};
use crate::tensor::Tensor;

/// Runs one op on a device. `attrs` must hold what has no default, dtypes and list lengths included; `inputs` are flat,
/// lists in line.
///
/// # Errors
/// NOT_FOUND if the op or its kernel is missing; INVALID_ARGUMENT if attrs or inputs do not suit the op; and whatever
/// the kernel meets.
pub fn run_op(
    registry: &Registry,
    device: &dyn Device,
    op: &str,
    mut attrs: AttrMap,
    inputs: Vec<Tensor>,
) -> Result<Vec<Tensor>> {
    let context = |error: Error| error.at_node(op, op, device.name());
    let entry = registry.op(op)?;
    complete_attrs(entry.def, &mut attrs).map_err(context)?;
    let signature = Signature::new(entry.def, &attrs).map_err(context)?;
    if inputs.len() != signature.inputs.len() {
        let message = format!("{} inputs are given, not {}", inputs.len(), signature.inputs.len());
        return Err(context(Error::invalid_argument(message)));
    }
    for (i, (input, expected)) in inputs.iter().zip(&signature.inputs).enumerate() {
        if input.dtype() != expected.dtype {
            let message = format!("input {i} must be {}, not {}", expected.dtype, input.dtype());
            return Err(context(Error::invalid_argument(message)));
        }
    }
    let query = NodeQuery { node: op, op, attrs: &attrs, device: device.device_type() };
    let def = registry.find_kernel(query)?;
    let construction = RawConstruction {
        node: op,
        op: entry.def,
        attrs: &attrs,
        signature: &signature,
        device: device.device_type(),
        constants: &[],
    };
    let mut inputs: Vec<Option<Tensor>> = inputs.into_iter().map(Some).collect();
    let mut outputs: Vec<Option<Tensor>> = vec![None; signature.outputs.len()];
    let result = catch_unwind(AssertUnwindSafe(|| {
        let kernel = (def.create)(&construction)?;
        let pool = device.pool().map(|pool| &**pool);
        kernel.compute(&mut RawContext::new(op, entry.def, &signature, &mut inputs, &mut outputs, pool))
    }));
    match result {
        Ok(result) => result.map_err(context)?,
        Err(panic) => {
            return Err(context(kernel_panicked(&*panic)));
        }
    }
    let missing = |index: usize| context(Error::internal(format!("the kernel did not set output {index}")));
    outputs.into_iter().enumerate().map(|(index, output)| output.ok_or_else(|| missing(index))).collect()
}
