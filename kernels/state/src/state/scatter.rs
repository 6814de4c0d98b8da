//! Changing rows of variables by index.

use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Error, Result, ensure};
use kernlink_geometry::indices::scattered_rows;
use kernlink_geometry::integers::position;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::combine::{Combine, Rows, match_numbers};
use super::place::{forward, update};

/// The kernel of `ScatterAdd`, `ResourceScatterAdd` and their kin.
#[register_kernel(
    device = Cpu,
    op = ops::ScatterUpdate,
    Tindices = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, resource, string, variant],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ScatterAdd, ops::ScatterSub, ops::ScatterMul, ops::ScatterDiv],
    Tindices = [int32, int64],
    T = [realnumbertype, complex128, complex64],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ScatterMin, ops::ScatterMax],
    Tindices = [int32, int64],
    T = [bfloat16, double, float, half, int32, int64],
)]
#[register_kernel(
    device = Cpu,
    op = ops::ResourceScatterUpdate,
    host_memory = ["resource"],
    Tindices = [int32, int64],
    dtype = [realnumbertype, bool, complex128, complex64, string, variant],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ResourceScatterAdd, ops::ResourceScatterSub, ops::ResourceScatterMul, ops::ResourceScatterDiv],
    host_memory = ["resource"],
    Tindices = [int32, int64],
    dtype = [realnumbertype, complex128, complex64],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ResourceScatterMin, ops::ResourceScatterMax],
    host_memory = ["resource"],
    Tindices = [int32, int64],
    dtype = [realnumbertype],
)]
fn scatter(&how: &Combine, ctx: &mut RawContext<'_>) -> Result<()> {
    let dtype = ctx.input_at(2)?.dtype();
    let is_resource = !ctx.signature().inputs[0].is_ref;
    update(ctx, dtype, |ctx, [variable]| {
        let (indices, updates) = (ctx.input_at(1)?, ctx.input_at(2)?);
        let (count, size) = scattered_rows(variable.shape(), indices.shape(), updates.shape(), is_resource)?;
        if how == Combine::Div && (is_resource || dtype.is_integer()) {
            ensure!(!contains_zero(updates)?, InvalidArgument, "updates must not contain 0");
        }
        let rows = rows(indices, count)?;
        if !rows.is_empty() {
            variable.make_unique()?;
            Rows { rows: &rows, size, is_scalar: updates.rank() == 0 }.combine(ctx, how, variable, updates)?;
        }
        Ok(())
    })?;
    forward(ctx)
}

fn contains_zero(tensor: &Tensor) -> Result<bool> {
    match_numbers!(tensor.dtype(), T => Ok(tensor.as_slice::<T>()?.contains(&T::default())))
}

/// The indices, each below `count`.
fn rows(indices: &Tensor, count: usize) -> Result<Vec<usize>> {
    let values = indices.to_i64_vec()?;
    let row = |(at, &index): (usize, &i64)| match usize::try_from(index) {
        Ok(row) if row < count => Ok(row),
        _ => Err(Error::invalid_argument(format!(
            "indices{} = {index} is not in [0, {count})",
            position(indices.shape(), at)
        ))),
    };
    scratch::collected_ok(values.iter().enumerate().map(row))
}
