//! TopKV2: the greatest elements of each row in their order, the first of equals first, NaN last.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::integers::scalar;
use kernlink_geometry::reduce::greatest;
use kernlink_macros::register_kernel;
use kernlink_ops::TopKV2;

use super::top_k_long;
use crate::device::{GpuDevice, Groups};
use crate::element_wise::computed;
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::team::Team;
use crate::windows::{read, written};

/// The elements that a workgroup sorts in its memory.
const SORTED: usize = 1024;
/// Up to this many of a long row are sought one after the other.
const FEW: usize = 8;

/// The threads of a workgroup.
const THREADS: u32 = 256;

/// How often a thread goes round in loops where a workgroup sorts a row, piece by piece, for its first `k` elements.
fn sorting_rounds(columns: usize, k: usize) -> usize {
    let (steps, each) = (SORTED.ilog2() as usize, SORTED / THREADS as usize + 1);
    let sort = steps + steps * (steps + 1) / 2 * (each + 1);
    columns.div_ceil(SORTED - k.min(SORTED - 1)) * (sort + each + 2)
}

/// Of two that were found, the first in order.
const MERGE: &str = "if (before(b.key, b.place, a.key, a.place)) {
        return b;
    }
    return a;";

/// The shader that sorts, or that seeks by a team.
fn program((scalar, places, seeks): (Scalar, Scalar, Option<Team>)) -> Program {
    let part = computed(scalar);
    let (file, found) = match seeks {
        Some(team) => {
            (include_str!("top_k_seek.wgsl"), team.functions("Found", &["key", "place"], &[("found_of", MERGE)]))
        }
        None => (include_str!("top_k_sort.wgsl"), String::new()),
    };
    let builder = Program::trusted("TopKV2")
        .alias("A", part)
        .alias("T", scalar)
        .alias("I", places)
        .read("x", scalar)
        .write("values", scalar)
        .write("indices", places)
        .words("columns k")
        .declare(&found)
        .constant("SORTED", SORTED as u32)
        .workgroup(THREADS);
    let builder = seeks.map_or(builder.clone(), |team| team.declare(builder));
    builder.compose(Entry::Rows, file, part.names())
}

#[register_kernel(
    device = Gpu, op = TopKV2, T = [f32, i32, u32, f16 if "f16", i64 if "i64"], index_type = [i32, i64 if "i64"],
    host_memory = ["k"], programs = |T, index_type| programs(T, index_type)
)]
fn top_k(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let gpu = GpuDevice::of(ctx)?;
    let (input, k) = (ctx.input(O::INPUT)?, scalar(ctx.input(O::K)?, "k")?);
    let (columns, shape) = greatest(input.shape(), k, ctx.output_dtype(O::INDICES)?)?;
    let values = gpu.output(ctx, O::VALUES, shape.clone())?;
    let indices = gpu.output(ctx, O::INDICES, shape)?;
    if values.num_elements() > 0 {
        find(gpu, [input, &values, &indices], columns, k as usize)?;
    }
    ctx.set_output(O::VALUES, values)?;
    ctx.set_output(O::INDICES, indices)
}

/// The first `k` elements of each row in their order.
fn find(gpu: &GpuDevice, [input, values, indices]: [&Tensor; 3], columns: usize, k: usize) -> Result<()> {
    let (scalar, places) = (scalar_of(input.dtype())?, scalar_of(indices.dtype())?);
    let parts = [read(input), written(values), written(indices)];
    let rounds = if k > FEW { sorting_rounds(columns, k) } else { k * (columns / THREADS as usize + 16) };
    if columns > SORTED && (k > SORTED / 2 || rounds > gpu.rounds()) {
        return gpu.in_windows(values.num_elements() / k, &parts, |_, tensors| {
            top_k_long::run(gpu, [tensors[0], tensors[1], tensors[2]], columns, k)
        });
    }
    let sorts = columns <= SORTED || FEW < k;
    let shader = gpu.shader(program, (scalar, places, (!sorts).then(|| Team::on(gpu, scalar))));
    gpu.in_windows(values.num_elements() / k, &parts, |rows, tensors| {
        gpu.dispatch(&shader, tensors, &[columns as u32, k as u32], Groups::Rows(rows.len()))
    })
}

fn programs(dtype: DataType, index_type: DataType) -> Result<Vec<Program>> {
    let (scalar, places) = (scalar_of(dtype)?, scalar_of(index_type)?);
    let ways = Team::of(scalar).iter().map(|&team| Some(team)).chain([None]);
    let programs: Vec<Program> = ways.map(|way| program((scalar, places, way))).collect();
    Ok([&programs[..], &top_k_long::programs(scalar, places)].concat())
}
