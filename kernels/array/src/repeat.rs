//! Elements again and again: Tile, BroadcastTo, Fill, ZerosLike, OnesLike.

use kernlink::dtype::{DataType, Number};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink_geometry::fill::{filled, one};
use kernlink_geometry::integers::vector;
use kernlink_geometry::rearranged::{broadcast_to, tiled};
use kernlink_kernels_common::strided::{fill, rearrange};
use kernlink_kernels_common::tensors::zeros_like;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

#[register_kernel(device = Cpu, host_memory = ["multiples"], Tmultiples = [int32, int64])]
fn tile(ctx: &mut KernelContext<'_, ops::Tile>) -> Result<()> {
    let tiles = tiled(ctx.input(ops::Tile::INPUT)?.shape(), ctx.input(ops::Tile::MULTIPLES)?)?;
    rearrange(ctx, 0, tiles)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["multiples"],
    T = [bf16, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, Complex32, Complex64],
)]
fn tile_grad<T: Number>(ctx: &mut KernelContext<'_, ops::TileGrad>) -> Result<()> {
    let input = ctx.input(ops::TileGrad::INPUT)?;
    let multiples = vector(ctx.input(ops::TileGrad::MULTIPLES)?, "multiples")?;
    ensure!(
        multiples.len() == input.rank(),
        InvalidArgument,
        "Expected multiples argument to be a vector of length {} but got length {}",
        input.rank(),
        multiples.len()
    );
    let mut sizes = Vec::with_capacity(multiples.len());
    for (axis, (&size, &multiple)) in input.shape().iter().zip(&multiples).enumerate() {
        ensure!(
            multiple > 0 && (size as i64) % multiple == 0,
            InvalidArgument,
            "Expected input_dim {axis} to be a positive multiple of multiples[{axis}], but got {size} vs {multiple}"
        );
        sizes.push(size / multiple as usize);
    }
    let mut output = ctx.allocate_output(ops::TileGrad::OUTPUT, sizes.clone())?;
    let strides = output.shape().strides();
    let slots = output.as_mut_slice::<T>()?;
    slots.fill(T::ZERO);
    let mut index = vec![0; sizes.len()];
    for &x in input.as_slice::<T>()? {
        let place: usize =
            index.iter().zip(&sizes).zip(&strides).map(|((&index, &size), &stride)| index % size * stride).sum();
        slots[place] = slots[place].wrapping_add(x);
        for (index, &size) in index.iter_mut().zip(input.shape().iter()).rev() {
            *index += 1;
            if *index < size {
                break;
            }
            *index = 0;
        }
    }
    ctx.set_output(ops::TileGrad::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["shape"],
    T = [realnumbertype, bool, complex128, complex64, float8_e4m3fn, float8_e5m2, resource, string, variant],
)]
#[register_kernel(device = Default, T = [int32], host_memory = ["input", "shape", "output"])]
fn broadcast_to_kernel(ctx: &mut KernelContext<'_, ops::BroadcastTo>) -> Result<()> {
    let repeated = broadcast_to(ctx.input(ops::BroadcastTo::INPUT)?.shape(), ctx.input(ops::BroadcastTo::SHAPE)?)?;
    rearrange(ctx, 0, repeated)
}

#[register_kernel(
    device = Cpu,
    host_memory = ["dims"],
    index_type = [int32, int64],
    T = [numbertype, bool, int4, resource, string, uint4, variant],
)]
#[register_kernel(
    device = Default,
    T = [int32],
    index_type = [int32, int64],
    host_memory = ["dims", "value", "output"],
)]
fn fill_kernel(ctx: &mut KernelContext<'_, ops::Fill>) -> Result<()> {
    let value = ctx.input(ops::Fill::VALUE)?;
    let shape = filled(ctx.input(ops::Fill::DIMS)?, value)?;
    let mut output = ctx.allocate_output(ops::Fill::OUTPUT, shape)?;
    fill(ctx, &mut output, value)?;
    ctx.set_output(ops::Fill::OUTPUT, output)
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64, string, variant])]
#[register_kernel(device = Default, T = [int32], host_memory = ["y"])]
fn zeros_like_kernel(ctx: &mut KernelContext<'_, ops::ZerosLike>) -> Result<()> {
    let input = ctx.input(ops::ZerosLike::X)?;
    ensure!(
        input.dtype() != DataType::Variant || input.rank() == 0,
        InvalidArgument,
        "ZerosLike non-scalar Tensor with dtype=DT_VARIANT is not supported."
    );
    let output = zeros_like(input)?;
    ctx.set_output(ops::ZerosLike::Y, output)
}

#[register_kernel(device = Cpu, T = [realnumbertype, bool, complex128, complex64])]
#[register_kernel(device = Default, T = [int32], host_memory = ["x", "y"])]
fn ones_like(ctx: &mut KernelContext<'_, ops::OnesLike>) -> Result<()> {
    let input = ctx.input(ops::OnesLike::X)?;
    let value = one(input.dtype())?;
    let mut output = ctx.forward_input_or_allocate_output(ops::OnesLike::X, ops::OnesLike::Y)?;
    fill(ctx, &mut output, &value)?;
    ctx.set_output(ops::OnesLike::Y, output)
}
