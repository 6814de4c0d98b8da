//! Updates at vectors of indices: ScatterNd, ScatterNdNonAliasingAdd, TensorScatterUpdate, -Add, -Sub, -Max, -Min. And
//! of rows of variables: ResourceScatterUpdate, ScatterUpdate and their kin.
//!
//! Where several updates meet in one element they come in any order: sums of floats may differ in their last digits
//! from run to run, and of several values to set one stays.

use kernlink::dtype::DataType;
use kernlink::error::{Code, Result};
use kernlink::kernel::place::{forward, update as update_variables};
use kernlink::kernel::{KernelContext, RawConstruction};
use kernlink::op::{InputArg, Op, OpDef};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink_geometry::indices::{scattered_nd, scattered_rows};
use kernlink_macros::register_kernel;
use kernlink_ops::*;

use super::fill::{self, fill, fill_with};
use super::gather::refusal_by;
use super::integers::vector;
use super::merge::{self, Merge};
use super::slice::own;
use super::unit::{Unit, word};
use crate::device::{GpuDevice, Groups};
use crate::indices::{Indices, nd_params, out_of_range, read_nd};
use crate::refusal::{self, Refusal};
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::training::place::writable;
use crate::windows::{read, whole, written};

/// The program that sets what vectors of indices name.
fn set_program((unit, index): (Unit, Indices)) -> Program {
    let program = unit.program(format!("scatter of {unit:?} to vectors of {index:?} indices"));
    let program = unit.write(read_nd(index, unit.read(program, "updates").words("inner")), "y");
    refusal::declare(program).compose(Entry::Elements, include_str!("scatter_set.wgsl"), index.names())
}

/// The program that merges into what vectors of indices name.
fn merge_program((merge, scalar, index): (Merge, Scalar, Indices)) -> Program {
    let program = Program::trusted(format!("scatter {merge:?} of {scalar:?} to vectors of {index:?} indices"));
    let program = merge::read(program.words("inner"), "updates", scalar);
    let program = refusal::declare(merge::write(read_nd(index, program), "y", scalar));
    let names = [merge.names(scalar), index.names().to_vec()].concat();
    program.compose(Entry::Elements, include_str!("scatter_merge.wgsl"), &names)
}

/// The programs that set elements.
pub(super) fn set_programs(dtype: DataType, indices: DataType) -> Result<Vec<Program>> {
    let index = Indices::of(indices)?;
    Ok(Unit::all_of(dtype)?.map(|unit| set_program((unit, index))).collect())
}

/// The programs for what an op does.
fn programs(op: &OpDef, dtype: DataType, indices: DataType) -> Result<Vec<Program>> {
    match Merge::of(op) {
        Some(merge) => Ok(vec![merge_program((merge, scalar_of(dtype)?, Indices::of(indices)?))]),
        None => set_programs(dtype, indices),
    }
}

/// The programs for what an op does to rows of a variable, for which a scalar is spread.
fn row_programs(op: &OpDef, dtype: DataType, indices: DataType) -> Result<Vec<Program>> {
    Ok([programs(op, dtype, indices)?, vec![fill::spread_program(())]].concat())
}

/// How updates are merged, if they are not set, and the error for indices that are out of range.
pub(super) type How = (Option<Merge>, Refusal);

/// Merges updates into `output`, or sets them, at vectors of indices.
fn scatter(gpu: &GpuDevice, how: How, indices: &Tensor, updates: &Tensor, output: &Tensor) -> Result<()> {
    let (indexed, row) = scattered_nd(indices.shape(), updates.shape(), output.shape())?;
    scatter_to(gpu, how, [indices, updates, output], indexed, row)
}

/// Merges updates into a tensor, or sets them. `indexed` are the dimensions that the indices name, `row` the elements
/// at one index.
pub(super) fn scatter_to(
    gpu: &GpuDevice,
    (merge, refusal): How,
    [indices, updates, output]: [&Tensor; 3],
    indexed: &[usize],
    row: usize,
) -> Result<()> {
    let index = Indices::of(indices.dtype())?;
    let (shader, times) = match merge {
        Some(merge) => (gpu.shader(merge_program, (merge, scalar_of(output.dtype())?, index)), 1),
        None => {
            let (unit, times) = Unit::of(output.dtype())?.widest(|times| row.is_multiple_of(times));
            (gpu.shader(set_program, (unit, index)), times)
        }
    };
    if updates.num_elements() == 0 {
        return Ok(());
    }
    gpu.in_windows(updates.num_elements() / row, &[read(updates), read(indices)], |_, some| {
        let parts = [whole(some[0]), whole(some[1]), written(output)];
        gpu.in_windows(output.num_elements() / row, &parts, |rows, tensors| {
            let mut params = vec![word(row / times)];
            params.extend(nd_params(indexed, rows)?);
            let groups = Groups::Elements(tensors[0].num_elements() / times);
            gpu.dispatch_refusing(refusal, &shader, tensors, &params, groups)
        })
    })
}

#[register_kernel(
    device = Gpu, op = ScatterNd, T = [f32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    host_memory = ["shape"],
    programs = |T, Tindices| Ok([programs(ScatterNdNonAliasingAdd::DEF, T, Tindices)?, vec![fill::program(())]].concat()),
    state = |ctx| refusal_by(ctx, &ctx.attrs().bad_indices_policy)
)]
fn scatter_nd(&refusal: &Refusal, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let shape = Shape::from_dims(&vector(ctx.input(O::SHAPE)?, "shape")?)?;
    let (indices, updates) = (ctx.input(O::INDICES)?, ctx.input(O::UPDATES)?);
    scattered_nd(indices.shape(), updates.shape(), &shape)?;
    let output = gpu.output(ctx, O::OUTPUT, shape)?;
    fill(gpu, &output, [0; 2])?;
    scatter(gpu, (Some(Merge::Add), refusal), indices, updates, &output)?;
    ctx.set_output(O::OUTPUT, output)
}

/// A tensor with updates at vectors of indices.
fn updated<O: Op>(
    ctx: &mut KernelContext<'_, O>,
    refusal: Refusal,
    tensor: InputArg<O>,
    [indices, updates]: [InputArg<O>; 2],
) -> Result<Tensor> {
    let gpu = GpuDevice::of(ctx)?;
    scattered_nd(ctx.input(indices)?.shape(), ctx.input(updates)?.shape(), ctx.input(tensor)?.shape())?;
    let output = own(gpu, ctx, tensor)?;
    scatter(gpu, (Merge::of(O::DEF), refusal), ctx.input(indices)?, ctx.input(updates)?, &output)?;
    Ok(output)
}

#[register_kernel(
    device = Gpu, op = ScatterNdNonAliasingAdd, T = [f32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    programs = |T, Tindices| programs(O::DEF, T, Tindices),
    state = |ctx| refusal_by(ctx, &ctx.attrs().bad_indices_policy)
)]
fn add(&refusal: &Refusal, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let output = updated(ctx, refusal, O::INPUT, [O::INDICES, O::UPDATES])?;
    ctx.set_output(O::OUTPUT, output)
}

#[register_kernel(
    device = Gpu, op = TensorScatterUpdate, T = [f32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    programs = |T, Tindices| programs(O::DEF, T, Tindices),
    state = |ctx| refusal_by(ctx, &ctx.attrs().bad_indices_policy)
)]
#[register_kernel(
    device = Gpu, op = [TensorScatterAdd, TensorScatterSub], T = [f32, u32, i64, f16 if "f16"], Tindices = [i32, i64],
    programs = |T, Tindices| programs(O::DEF, T, Tindices)
)]
#[register_kernel(
    device = Gpu, op = [TensorScatterMax, TensorScatterMin], T = [f32, u32, f16 if "f16"], Tindices = [i32, i64],
    programs = |T, Tindices| programs(O::DEF, T, Tindices)
)]
fn update(&refusal: &Refusal, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let output = updated(ctx, refusal, O::TENSOR, [O::INDICES, O::UPDATES])?;
    ctx.set_output(O::OUTPUT, output)
}

/// What kernels that update rows of variables keep of their nodes.
fn how(ctx: &RawConstruction<'_>) -> Result<How> {
    let merge = Merge::of(ctx.op);
    let refusal = match merge {
        Some(Merge::DivByNonzero) => {
            Refusal::new(ctx, Code::InvalidArgument, "an index is out of range, or updates contain 0")
        }
        _ => out_of_range(ctx),
    };
    Ok((merge, refusal))
}

#[register_kernel(
    device = Gpu, op = ResourceScatterUpdate, dtype = [f32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    host_memory = ["resource"], programs = |dtype, Tindices| row_programs(O::DEF, dtype, Tindices), state = |ctx| how(ctx)
)]
#[register_kernel(
    device = Gpu, op = [ResourceScatterAdd, ResourceScatterSub], dtype = [f32, u32, i64, f16 if "f16"],
    Tindices = [i32, i64], host_memory = ["resource"], programs = |dtype, Tindices| row_programs(O::DEF, dtype, Tindices)
)]
#[register_kernel(
    device = Gpu, op = [ResourceScatterDiv, ResourceScatterMax, ResourceScatterMin, ResourceScatterMul],
    dtype = [f32, u32, f16 if "f16"], Tindices = [i32, i64], host_memory = ["resource"],
    programs = |dtype, Tindices| row_programs(O::DEF, dtype, Tindices)
)]
#[register_kernel(
    device = Gpu, op = ScatterUpdate, T = [f32, u32, bool, i64, f16 if "f16"], Tindices = [i32, i64],
    programs = |T, Tindices| row_programs(O::DEF, T, Tindices)
)]
#[register_kernel(
    device = Gpu, op = [ScatterAdd, ScatterSub], T = [f32, u32, i64, f16 if "f16"], Tindices = [i32, i64],
    programs = |T, Tindices| row_programs(O::DEF, T, Tindices)
)]
#[register_kernel(
    device = Gpu, op = [ScatterDiv, ScatterMax, ScatterMin, ScatterMul], T = [f32, f16 if "f16"], Tindices = [i32, i64],
    programs = |T, Tindices| row_programs(O::DEF, T, Tindices)
)]
fn update_rows(&how: &How, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let dtype = ctx.input(O::UPDATES)?.dtype();
    let (indices, updates) = (ctx.input_position(O::INDICES), ctx.input_position(O::UPDATES));
    let is_resource = !ctx.signature().inputs[0].is_ref;
    update_variables(ctx, dtype, |ctx, [variable]| {
        let (indices, updates) = (ctx.input_at(indices)?, ctx.input_at(updates)?);
        let (count, size) = scattered_rows(variable.shape(), indices.shape(), updates.shape(), is_resource)?;
        if indices.num_elements() * size == 0 {
            return Ok(());
        }
        let spread;
        let updates = if updates.rank() == 0 {
            spread = gpu.allocate(dtype, [indices.num_elements(), size])?;
            fill_with(gpu, &spread, updates)?;
            &spread
        } else {
            updates
        };
        writable(gpu, variable)?;
        scatter_to(gpu, how, [indices, updates, variable], &[count], size)
    })?;
    forward(ctx)
}
