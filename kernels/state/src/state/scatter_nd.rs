//! Changing slices of variables by index vectors.

use kernlink::attr::AttrValue;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::op::Op;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_geometry::indices::ignores_bad_indices;
use kernlink_geometry::integers::position;
use kernlink_kernels_common::rows::row_of;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::combine::{Combine, Rows};
use super::place::{forward, update, writable};

/// The kernel of `ScatterNdAdd`, `ResourceScatterNdAdd` and their kin.
struct ScatterNd {
    how: Combine,
    /// Slices out of range are left out.
    lenient: bool,
}

#[register_kernel(
    device = Cpu,
    op = ops::ScatterNdUpdate,
    Tindices = [int32, int64],
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, string, uint16, uint32,
        uint64, uint8,
    ],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ScatterNdAdd, ops::ScatterNdSub],
    Tindices = [int32, int64],
    T = [
        bfloat16, complex128, complex64, double, float, half, int16, int32, int64, int8, uint16, uint32, uint64, uint8,
    ],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ScatterNdMin, ops::ScatterNdMax],
    Tindices = [int32, int64],
    T = [
        bfloat16, double, float, half, int16, int32, int64, int8, uint16, uint32, uint64, uint8,
    ],
)]
#[register_kernel(
    device = Cpu,
    op = ops::ResourceScatterNdUpdate,
    host_memory = ["ref"],
    Tindices = [int32, int64],
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, string, uint16, uint32,
        uint64, uint8,
    ],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ResourceScatterNdAdd, ops::ResourceScatterNdSub],
    host_memory = ["ref"],
    Tindices = [int32, int64],
    T = [
        bfloat16, bool, complex128, complex64, double, float, half, int16, int32, int64, int8, uint16, uint32, uint64,
        uint8,
    ],
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ResourceScatterNdMin, ops::ResourceScatterNdMax],
    host_memory = ["ref"],
    Tindices = [int32, int64],
    T = [
        bfloat16, double, float, half, int16, int32, int64, int8, uint16, uint32, uint64, uint8,
    ],
)]
impl<O: Op> OpKernel<O> for ScatterNd {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let policy = match ctx.attrs.get("bad_indices_policy") {
            Some(AttrValue::String(policy)) => policy.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        let lenient = ignores_bad_indices(&policy)?;
        Ok(Self { how: Combine::of_op(&O::DEF.name)?, lenient })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.scatter(ctx)?;
        forward(ctx)
    }
}

impl ScatterNd {
    fn scatter(&self, ctx: &mut RawContext<'_>) -> Result<()> {
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
            let found = self.slices(indices, &variable.shape()[..depth])?;
            writable(variable)?;
            if found.iter().all(Option::is_some) && found.len() * size == updates.num_elements() {
                let rows: Vec<usize> = found.into_iter().flatten().collect();
                return Rows { rows: &rows, size, is_scalar: false }.combine(ctx, self.how, variable, updates);
            }
            let updates = updates.clone().reshaped([updates.num_elements() / size, size])?;
            for (index, row) in found.into_iter().enumerate() {
                if let Some(row) = row {
                    let update = updates.slice_rows(index, index + 1)?;
                    Rows { rows: &[row], size, is_scalar: false }.combine(ctx, self.how, variable, &update)?;
                }
            }
            Ok(())
        })
    }

    /// For each index vector the number of the slice; none if it is out of range.
    fn slices(&self, indices: &Tensor, sizes: &[usize]) -> Result<Vec<Option<usize>>> {
        // TensorFlow takes a vector for a matrix with one row, and then reads one index of it.
        let outer =
            if indices.rank() == 1 { Shape::from([1]) } else { Shape::from(&indices.shape()[..indices.rank() - 1]) };
        let values = indices.to_i64_vec()?;
        let vectors = values.chunks_exact(sizes.len()).take(outer.num_elements()).enumerate();
        let slice = |(at, vector): (usize, &[i64])| {
            let row = row_of(vector, sizes);
            ensure!(
                row.is_some() || self.lenient,
                InvalidArgument,
                "indices{} = {vector:?} does not index into shape {sizes:?}",
                position(&outer, at)
            );
            Ok(row)
        };
        vectors.map(slice).collect()
    }
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
