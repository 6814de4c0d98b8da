//! DynamicStitch, ParallelDynamicStitch: rows of several tensors, in places that indices in host memory say.

use kernlink::device::Device as _;
use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink_geometry::stitch::stitched;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::fill::{self, fill};
use super::scatter::{scatter_to, set_programs};
use crate::device::GpuDevice;
use crate::refusal::Refusal;

#[register_kernel(
    device = Gpu, op = [ops::DynamicStitch, ops::ParallelDynamicStitch], T = [f32, i32, u32, bool, i64, f16 if "f16"],
    host_memory = ["indices"],
    programs = |T| Ok([vec![fill::program(())], set_programs(T, DataType::Int32)?].concat())
)]
fn stitch(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    /// Of rows that are left out: no tensor has so many.
    const NOWHERE: i32 = -1;
    let gpu = GpuDevice::of(ctx)?;
    let (shape, row) = stitched(ctx)?;
    let rows = shape[0];
    let output = gpu.output(ctx, O::MERGED, shape)?;
    if output.num_elements() > 0 {
        // Of rows for one place the last stays: the others are not written, so that it does not matter who comes first.
        let mut taken = scratch::zeros::<u8>(rows)?;
        let mut places = Vec::new();
        let indices: Vec<&Tensor> = ctx.input_list(O::INDICES).iter().collect();
        for indices in indices.iter().rev() {
            let mut own = scratch::copied(indices.as_slice::<i32>()?)?;
            for place in own.iter_mut().rev() {
                if std::mem::replace(&mut taken[*place as usize], 1) == 1 {
                    *place = NOWHERE;
                }
            }
            places.push(own);
        }
        if taken.contains(&0) {
            fill(gpu, &output, [0; 2])?;
        }
        for (data, places) in ctx.input_list(O::DATA).iter().zip(places.iter().rev()) {
            if places.iter().any(|&place| place != NOWHERE) {
                let indices = gpu.to_device(&Tensor::vector(places)?)?;
                let how = (None, Refusal::NONE);
                scatter_to(gpu, how, [&indices, data, &output], &[rows], row)?;
            }
        }
    }
    ctx.set_output(O::MERGED, output)
}
