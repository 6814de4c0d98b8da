//! DynamicPartition, DynamicStitch, ParallelDynamicStitch.

use kernlink::dtype::Element;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::scratch;

use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::integers::position;
use kernlink_geometry::stitch::stitched;
use kernlink_kernels_common::element::{bytes_mut, match_objects};
use kernlink_kernels_common::rows::take_rows;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64, resource, string, variant])]
fn dynamic_partition(ctx: &mut KernelContext<'_, ops::DynamicPartition>) -> Result<()> {
    let data = ctx.input(ops::DynamicPartition::DATA)?.clone();
    let partitions = ctx.input(ops::DynamicPartition::PARTITIONS)?;
    ensure!(
        data.shape().starts_with(partitions.shape()),
        InvalidArgument,
        "data.shape must start with partitions.shape, got data.shape = {}, partitions.shape = {}",
        data.shape(),
        partitions.shape()
    );
    let mut rows = vec![Vec::new(); ctx.num_outputs()];
    let count = rows.len();
    for (row, &partition) in partitions.as_slice::<i32>()?.iter().enumerate() {
        let list = usize::try_from(partition).ok().and_then(|partition| rows.get_mut(partition));
        let Some(list) = list else {
            let at = position(partitions.shape(), row);
            kernlink::bail!(InvalidArgument, "partitions{at} = {partition} is not in [0, {count})");
        };
        scratch::push(list, row)?;
    }
    let slice = &data.shape()[partitions.rank()..];
    let size = slice.iter().product();
    for (index, rows) in rows.iter().enumerate() {
        let mut shape = Shape::from([rows.len()]);
        slice.iter().for_each(|&dim| shape.push(dim));
        let mut output = ctx.allocate_output_at(index, shape)?;
        take_rows(ctx, &mut output, &data, size, &|row| Some(rows[row]))?;
        ctx.set_output_at(index, output)?;
    }
    Ok(())
}

/// Both ops: the first half of the inputs are indices, the second half data.
fn stitch(ctx: &RawContext<'_>) -> Result<Tensor> {
    let (shape, row) = stitched(ctx)?;
    let mut output = Tensor::zeros(ctx.output_dtype_at(0)?, shape)?;
    if output.num_elements() == 0 {
        return Ok(output);
    }
    let count = ctx.num_inputs() / 2;
    for i in 0..count {
        let (indices, data) = (ctx.input_at(i)?.as_slice::<i32>()?, ctx.input_at(count + i)?);
        let dtype = data.dtype();
        match_objects!(dtype, T => put_objects::<T>(&mut output, data, row, indices)?, _ => {
            let bytes = row * dtype.size();
            // SAFETY: only bytes of elements of the same dtype are written.
            let target = unsafe { bytes_mut(&mut output)? };
            for (&index, source) in indices.iter().zip(data.bytes()?.chunks_exact(bytes)) {
                target[index as usize * bytes..][..bytes].copy_from_slice(source);
            }
        });
    }
    Ok(output)
}

fn put_objects<T: Element>(output: &mut Tensor, data: &Tensor, row: usize, indices: &[i32]) -> Result<()> {
    let target = output.as_mut_slice::<T>()?;
    for (&index, source) in indices.iter().zip(data.as_slice::<T>()?.chunks_exact(row)) {
        target[index as usize * row..][..row].clone_from_slice(source);
    }
    Ok(())
}

#[register_kernel(
    device = Cpu,
    op = [ops::DynamicStitch, ops::ParallelDynamicStitch],
    host_memory = ["indices"],
    T = [realnumbertype, bool, complex128, complex64, qint32, qint8, quint8, string, variant],
)]
fn stitch_kernel(ctx: &mut RawContext<'_>) -> Result<()> {
    let output = stitch(ctx)?;
    ctx.set_output_at(0, output)
}
