//! Changing slices of variables by index vectors.

use kernlink::attr::AttrValue;
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_geometry::indices::ignores_bad_indices;
use kernlink_geometry::integers::position;
use kernlink_kernels_common::rows::row_of;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::combine::{Combine, Rows};
use super::place::{forward, update};

/// What the ops say by their names and attrs.
struct Scatter {
    how: Combine,
    /// Slices out of range are left out.
    lenient: bool,
}

impl KernelState for Scatter {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let policy = match ctx.attrs.get("bad_indices_policy") {
            Some(AttrValue::String(policy)) => policy.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        Ok(Self { how: Combine::new(ctx)?, lenient: ignores_bad_indices(&policy)? })
    }
}

/// The kernel of `ScatterNdAdd`, `ResourceScatterNdAdd` and their kin.
#[register_kernel(
    device = Cpu,
    op = ops::ScatterNdUpdate,
    Tindices = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, string],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ScatterNdAdd, ops::ScatterNdSub],
    Tindices = [int32, int64],
    T = [realnumbertype, complex128, complex64],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ScatterNdMin, ops::ScatterNdMax],
    Tindices = [int32, int64],
    T = [realnumbertype],
)]
#[register_kernel(
    device = Cpu,
    op = ops::ResourceScatterNdUpdate,
    host_memory = ["ref"],
    Tindices = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, string],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ResourceScatterNdAdd, ops::ResourceScatterNdSub],
    host_memory = ["ref"],
    Tindices = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ResourceScatterNdMin, ops::ResourceScatterNdMax],
    host_memory = ["ref"],
    Tindices = [int32, int64],
    T = [realnumbertype],
)]
fn scatter(state: &Scatter, ctx: &mut RawContext<'_>) -> Result<()> {
    let dtype = ctx.input_at(2)?.dtype();
    update(ctx, dtype, |ctx, [variable]| {
        let (indices, updates) = (ctx.input_at(1)?, ctx.input_at(2)?);
        let depth = check_shapes(variable.shape(), indices.shape(), updates.shape())?;
        if variable.num_elements() == 0 || updates.num_elements() == 0 {
            return Ok(());
        }
        ensure!(
            (1..=7).contains(&depth),
            InvalidArgument,
            "Only indices.shape[-1] values between 1 and 7 are currently supported.  Requested rank: {depth}"
        );
        let size: usize = variable.shape()[depth..].iter().product();
        let found = slices(indices, &variable.shape()[..depth], state.lenient)?;
        variable.make_unique()?;
        if found.iter().all(Option::is_some) && found.len() * size == updates.num_elements() {
            let rows: Vec<usize> = scratch::collected(found.into_iter().flatten())?;
            return Rows { rows: &rows, size, is_scalar: false }.combine(ctx, state.how, variable, updates);
        }
        let updates = updates.clone().reshaped([updates.num_elements() / size, size])?;
        for (index, row) in found.into_iter().enumerate() {
            if let Some(row) = row {
                let update = updates.slice_rows(index, index + 1)?;
                Rows { rows: &[row], size, is_scalar: false }.combine(ctx, state.how, variable, &update)?;
            }
        }
        Ok(())
    })?;
    forward(ctx)
}

/// For each index vector the number of the slice; none if it is out of range.
fn slices(indices: &Tensor, sizes: &[usize], lenient: bool) -> Result<Vec<Option<usize>>> {
    // TensorFlow takes a vector for a matrix with one row, and then reads one index of it.
    let outer =
        if indices.rank() == 1 { Shape::from([1]) } else { Shape::from(&indices.shape()[..indices.rank() - 1]) };
    let values = indices.to_i64_vec()?;
    let vectors = values.chunks_exact(sizes.len()).take(outer.num_elements()).enumerate();
    let slice = |(at, vector): (usize, &[i64])| {
        let row = row_of(vector, sizes);
        ensure!(
            row.is_some() || lenient,
            InvalidArgument,
            "indices{} = {vector:?} does not index into shape {sizes:?}",
            position(&outer, at)
        );
        Ok(row)
    };
    scratch::collected_ok(vectors.map(slice))
}

/// Checks that the shapes fit, and returns the length of an index vector.
fn check_shapes(variable: &Shape, indices: &Shape, updates: &Shape) -> Result<usize> {
    ensure!(variable.rank() > 0, InvalidArgument, "Output must be at least 1-D, got shape: {variable}");
    let counts = [variable.num_elements(), indices.num_elements(), updates.num_elements()];
    ensure!(
        counts[1..] == [0, 0] || !counts.contains(&0),
        InvalidArgument,
        "Indices and updates specified for empty output.  indices shape: {indices}"
    );
    let (batch, depth) = match indices.split_last() {
        Some((&depth, outer)) if !outer.is_empty() => (outer.len(), depth),
        _ => (1, 1),
    };
    ensure!(
        indices.rank() > 0 && updates.rank() >= batch && updates[..batch] == indices[..batch],
        InvalidArgument,
        "Dimensions [0,{batch}) of indices[shape={indices}] must match dimensions [0,{batch}) of updates[shape={updates}]"
    );
    ensure!(
        depth <= variable.rank() && updates[batch..] == variable[depth..],
        InvalidArgument,
        "Dimensions [{depth},{}) of input[shape={variable}] must match dimensions [{batch},{}) of updates[shape={updates}]",
        variable.rank(),
        updates.rank()
    );
    Ok(depth)
}
