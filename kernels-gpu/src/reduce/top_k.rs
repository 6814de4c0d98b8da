//! TopKV2: the greatest elements of each row in their order, the first of equals first, NaN last.

use std::sync::OnceLock;

use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink_geometry::integers::scalar;
use kernlink_geometry::reduce::greatest;
use kernlink_ops as ops;

use super::top_k_long::{self, Long};
use crate::device::{GpuDevice, Groups};
use crate::element_wise::{computed, for_text};
use crate::family::{gpu_kernels, scalar_of};
use crate::shader::{Entry, Program, Scalar, Shader};
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
fn program(scalar: Scalar, places: Scalar, seeks: Option<Team>) -> Program {
    let part = computed(scalar);
    let is_nan = if part == Scalar::F32 { "return is_nan(a);" } else { "return false;" };
    let order = format!("fn is_last(a: A) -> bool {{\n    {is_nan}\n}}\n");
    let found = |team: Team| team.functions("Found", &["key", "place"], &[("found_of", MERGE)]);
    let text = match seeks {
        Some(team) => found(team) + include_str!("top_k_seek.wgsl"),
        None => include_str!("top_k_sort.wgsl").to_owned(),
    };
    let builder = Program::trusted("TopKV2")
        .alias("A", part)
        .alias("T", scalar)
        .alias("I", places)
        .read("x", scalar)
        .write("values", scalar)
        .write("indices", places)
        .param("columns", "u32")
        .param("k", "u32")
        .constant("SORTED", SORTED as u32)
        .workgroup(THREADS);
    let builder = seeks.map_or(builder.clone(), |team| team.declare(builder));
    builder.build(Entry::Rows, &(for_text(&order) + &order + include_str!("top_k_order.wgsl") + &text))
}

#[derive(Default)]
struct TopK {
    sorts: OnceLock<Shader>,
    seeks: OnceLock<Shader>,
    long: Long,
}

impl TopK {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let (input, k) = (ctx.input_at(0)?, scalar(ctx.input_at(1)?, "k")?);
        let (columns, shape) = greatest(input.shape(), k, ctx.output_dtype_at(1)?)?;
        let k = k as usize;
        let values = gpu.allocate_output(ctx, 0, shape.clone())?;
        let indices = gpu.allocate_output(ctx, 1, shape)?;
        if values.num_elements() > 0 {
            let (scalar, places) = (scalar_of(input.dtype())?, scalar_of(indices.dtype())?);
            let parts = [read(input), written(&values), written(&indices)];
            let rounds = if k > FEW { sorting_rounds(columns, k) } else { k * (columns / THREADS as usize + 16) };
            if columns > SORTED && (k > SORTED / 2 || rounds > gpu.rounds()) {
                gpu.in_windows(values.num_elements() / k, &parts, |_, tensors| {
                    self.long.run(gpu, [tensors[0], tensors[1], tensors[2]], [scalar, places], columns, k)
                })?;
                ctx.set_output_at(0, values)?;
                return ctx.set_output_at(1, indices);
            }
            let sorts = columns <= SORTED || FEW < k;
            let slot = if sorts { &self.sorts } else { &self.seeks };
            let team = (!sorts).then(|| Team::on(gpu, scalar));
            let shader = slot.get_or_init(|| Shader::new(program(scalar, places, team)));
            gpu.in_windows(values.num_elements() / k, &parts, |rows, tensors| {
                gpu.dispatch(shader, tensors, &[columns as u32, k as u32], Groups::Rows(rows.len()))
            })?;
        }
        ctx.set_output_at(0, values)?;
        ctx.set_output_at(1, indices)
    }
}

gpu_kernels! {
    TopKV2 host ["k"] as TopK: |_ctx| Ok(TopK::default());
    { T = [f32, i32, u32], index_type = [int32] }
    { T = [f32, i32, u32], index_type = [int64]; "i64" }
    { T = [f16], index_type = [int32]; "f16" }
    { T = [f16], index_type = [int64]; "f16", "i64" }
    { T = [i64], index_type = [int32, int64]; "i64" }
}

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    use Scalar::{F16, F32, I32, I64, U32};
    let all = [F32, I32, U32, F16, I64].into_iter().flat_map(|scalar| [I32, I64].map(|places| (scalar, places)));
    let all: Vec<_> = all.collect();
    let ways = |scalar| Team::of(scalar).iter().map(|&team| Some(team)).chain([None]);
    let mut programs: Vec<Program> =
        all.iter().flat_map(|&(scalar, places)| ways(scalar).map(move |way| program(scalar, places, way))).collect();
    programs.extend(all.iter().flat_map(|&(scalar, places)| top_k_long::programs(scalar, places)));
    programs
}
