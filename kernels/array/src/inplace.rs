//! InplaceUpdate, InplaceAdd, InplaceSub; Empty, DeepCopy.

use kernlink::dtype::{Element, Number};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::integers::vector;
use kernlink_kernels_common::element::{bytes_mut, match_objects};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::grad::own;

/// Calls `change` with the number of a row of input 0 and that of the row of input 2 for it, in order.
fn change_rows(
    ctx: &mut RawContext<'_>,
    change: impl FnOnce(&mut Tensor, &Tensor, &[(usize, usize)], usize) -> Result<()>,
) -> Result<()> {
    let (x, i, v) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?.clone());
    ensure!(i.rank() == 1, InvalidArgument, "i must be a vector, not of shape {}", i.shape());
    ensure!(
        x.rank() > 0 && x.rank() == v.rank() && x.shape()[1..] == v.shape()[1..],
        InvalidArgument,
        "x and v shape doesn't match: {} vs. {}",
        x.shape(),
        v.shape()
    );
    ensure!(
        i.num_elements() == v.shape()[0],
        InvalidArgument,
        "i and v shape doesn't match at index 0: {} vs. {}",
        i.shape(),
        v.shape()
    );
    let (rows, row) = (x.shape()[0], x.shape()[1..].iter().product());
    let mut places = Vec::new();
    if x.num_elements() > 0 {
        let place = |index: &i32| i64::from(*index).rem_euclid(rows as i64) as usize;
        places = scratch::collected(i.as_slice::<i32>()?.iter().map(place).enumerate().map(|(from, to)| (to, from)))?;
    }
    let mut y = own(ctx, 0)?;
    if !places.is_empty() {
        change(&mut y, &v, &places, row)?;
    }
    ctx.set_output_at(0, y)
}

#[register_kernel(device = Cpu)]
fn inplace_update(ctx: &mut KernelContext<'_, ops::InplaceUpdate>) -> Result<()> {
    change_rows(ctx, |y, v, places, row| {
        let dtype = y.dtype();
        match_objects!(dtype, T => update_objects::<T>(y, v, places, row), _ => {
            let (bytes, v) = (row * dtype.size(), v.bytes()?);
            // SAFETY: only bytes of elements of the same dtype are written.
            let y = unsafe { bytes_mut(y)? };
            for &(to, from) in places {
                y[to * bytes..][..bytes].copy_from_slice(&v[from * bytes..][..bytes]);
            }
            Ok(())
        })
    })
}

fn update_objects<T: Element>(y: &mut Tensor, v: &Tensor, places: &[(usize, usize)], row: usize) -> Result<()> {
    let (y, v) = (y.as_mut_slice::<T>()?, v.as_slice::<T>()?);
    for &(to, from) in places {
        y[to * row..][..row].clone_from_slice(&v[from * row..][..row]);
    }
    Ok(())
}

#[register_kernel(device = Cpu, op = ops::InplaceAdd, T = [realnumbertype, Complex32, Complex64], state = |_| Ok(false))]
#[register_kernel(device = Cpu, op = ops::InplaceSub, T = [realnumbertype, Complex32, Complex64], state = |_| Ok(true))]
fn change<T: Number>(&subtracts: &bool, ctx: &mut RawContext<'_>) -> Result<()> {
    change_rows(ctx, |y, v, places, row| {
        let (y, v) = (y.as_mut_slice::<T>()?, v.as_slice::<T>()?);
        for &(to, from) in places {
            for (y, &v) in y[to * row..][..row].iter_mut().zip(&v[from * row..][..row]) {
                *y = if subtracts { y.wrapping_sub(v) } else { y.wrapping_add(v) };
            }
        }
        Ok(())
    })
}

#[register_kernel(device = Cpu, host_memory = ["shape"], dtype = [realnumbertype, bool, complex128, complex64, string])]
fn empty(ctx: &mut KernelContext<'_, ops::Empty>) -> Result<()> {
    let shape = Shape::from_dims(&vector(ctx.input(ops::Empty::SHAPE)?, "shape")?)?;
    let output = Tensor::zeros(ctx.output_dtype_at(0)?, shape)?;
    ctx.set_output(ops::Empty::OUTPUT, output)
}

#[register_kernel(device = Cpu)]
fn deep_copy(ctx: &mut KernelContext<'_, ops::DeepCopy>) -> Result<()> {
    let copy = own(ctx, 0)?;
    ctx.set_output(ops::DeepCopy::Y, copy)
}
