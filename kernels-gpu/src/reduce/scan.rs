//! Cumsum, Cumprod and CumulativeLogsumexp: every partial result along an axis.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::op::Op as _;
use kernlink_geometry::reduce::scanned;
use kernlink_macros::register_kernel;
use kernlink_ops::{Cumprod, Cumsum, CumulativeLogsumexp};

use crate::device::{GpuDevice, Groups};
use crate::element_wise::computed;
use crate::shader::{Entry, Program, Scalar, scalar_of};
use crate::windows::{read, written};

/// Elements up to which a thread walks along the axis alone.
const SHORT: usize = 64;
/// Lines along the axis that keep a device busy with a thread for each.
const MANY: usize = 4096;
/// The threads of a workgroup.
const THREADS: u32 = 256;

/// Neighbouring lines that a workgroup walks along together, at most: what it reads at once is a run in memory.
const ACROSS: usize = 32;

/// What is accumulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Sums,
    Products,
    /// Logarithms of sums of exponentials.
    LogSums,
}

impl Kind {
    fn of_op(op: &str) -> Kind {
        match op {
            "Cumprod" => Kind::Products,
            "CumulativeLogsumexp" => Kind::LogSums,
            _ => Kind::Sums,
        }
    }

    /// The name that holds in the file's conditions.
    fn name(self) -> &'static str {
        match self {
            Kind::Sums => "sums",
            Kind::Products => "products",
            Kind::LogSums => "log_sums",
        }
    }
}

fn program((kind, scalar, by_rows): (Kind, Scalar, bool)) -> Program {
    let file = if by_rows { include_str!("scan_rows.wgsl") } else { include_str!("scan_columns.wgsl") };
    let builder = Program::trusted(format!("scan of {kind:?}"))
        .alias("A", computed(scalar))
        .alias("T", scalar)
        .read("x", scalar)
        .write("y", scalar)
        .words("size inner across exclusive reverse");
    match by_rows {
        true => builder.workgroup(THREADS).compose(Entry::Rows, file, &[kind.name()]),
        false => builder.compose(Entry::Elements, file, &[kind.name()]),
    }
}

fn programs(kind: Kind, dtype: DataType) -> Result<Vec<Program>> {
    let scalar = scalar_of(dtype)?;
    Ok([false, true].map(|by_rows| program((kind, scalar, by_rows))).to_vec())
}

#[register_kernel(
    device = Gpu, op = [Cumprod, Cumsum], T = [f32, i32, u32, f16 if "f16", i64 if "i64"], host_memory = ["axis"],
    programs = |T| programs(Kind::of_op(&O::DEF.name), T),
    state = |ctx| Ok([ctx.attrs().exclusive, ctx.attrs().reverse])
)]
#[register_kernel(
    device = Gpu, op = CumulativeLogsumexp, T = [f32, f16 if "f16"], host_memory = ["axis"],
    programs = |T| programs(Kind::of_op(&O::DEF.name), T)
)]
fn scan(&[exclusive, reverse]: &[bool; 2], ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (gpu, input) = (GpuDevice::of(ctx)?, ctx.input(O::X)?);
    let (size, inner) = scanned(input.shape(), ctx.input(O::AXIS)?)?;
    let output = gpu.output(ctx, O::OUT, input.shape().clone())?;
    if output.num_elements() > 0 {
        let lines = output.num_elements() / size;
        let by_rows = size > SHORT && (inner == 1 || lines < MANY || size > gpu.rounds());
        let across = inner.next_power_of_two().min(ACROSS);
        let shader = gpu.shader(program, (Kind::of_op(&O::DEF.name), scalar_of(input.dtype())?, by_rows));
        // A workgroup takes a piece of the lines at a time, and brings it together by halves.
        let at_once = THREADS as usize / across;
        gpu.ensure_rounds(if by_rows { size.div_ceil(at_once) * (at_once.ilog2() as usize + 2) } else { size })?;
        let params = [size as u32, inner as u32, across as u32, u32::from(exclusive), u32::from(reverse)];
        gpu.in_windows(lines / inner, &[read(input), written(&output)], |outer, tensors| {
            let teams = outer.len() * inner.div_ceil(across);
            let groups = if by_rows { Groups::Rows(teams) } else { Groups::Elements(outer.len() * inner) };
            gpu.dispatch(&shader, tensors, &params, groups)
        })?;
    }
    ctx.set_output(O::OUT, output)
}
