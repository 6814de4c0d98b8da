//! ArgMax and ArgMin: where the greatest or least element along an axis is, the first of equals. NaN is passed over.

use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::op::Op as _;
use kernlink_geometry::reduce::{Sought, sought};
use kernlink_macros::register_kernel;
use kernlink_ops::{ArgMax, ArgMin};

use super::softmax::FEW;
use crate::device::{GpuDevice, Groups};
use crate::element_wise::computed;
use crate::shader::{Entry, Program, Scalar, WORKGROUP, scalar_of};
use crate::team::Team;
use crate::windows::{read, written};

/// Of two that were found, the one beyond the other, or the first.
const MERGE: &str = "if (beyond(b.best, a.best) || (!beyond(a.best, b.best) && b.place < a.place)) {
        return b;
    }
    return a;";

/// The shader for rows by a team, or for columns.
fn program((from, to, greatest, by_rows): (Scalar, Scalar, bool, Option<Team>)) -> Program {
    let names = [from.names(), if greatest { &["greatest"] } else { &[] }].concat();
    let builder = Program::trusted(if greatest { "ArgMax" } else { "ArgMin" })
        .alias("A", computed(from))
        .alias("R", to)
        .read("x", from)
        .write("y", to)
        .words("size inner");
    match by_rows {
        Some(team) => {
            let builder = builder.declare(&team.functions("Found", &["best", "place"], &[("found_of", MERGE)]));
            team.declare(builder).compose(Entry::Rows, include_str!("arg_rows.wgsl"), &names)
        }
        None => builder.compose(Entry::Elements, include_str!("arg_columns.wgsl"), &names),
    }
}

#[register_kernel(
    device = Gpu, op = [ArgMax, ArgMin], T = [f32, i32, u32, bool, f16 if "f16", i64 if "i64"],
    output_type = [i32, i64 if "i64"], host_memory = ["dimension"],
    programs = |T, output_type| {
        let (from, to) = (scalar_of(T)?, scalar_of(output_type)?);
        let ways = Team::of(from).iter().map(|&team| Some(team)).chain([None]);
        Ok(ways.map(|way| program((from, to, O::DEF.name == "ArgMax", way))).collect())
    }
)]
fn arg(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (gpu, input) = (GpuDevice::of(ctx)?, ctx.input(O::INPUT)?);
    let Sought { size, inner, output } = sought(input.shape(), ctx.input(O::DIMENSION)?)?;
    let output = gpu.output(ctx, O::OUTPUT, output)?;
    let count = output.num_elements();
    if count > 0 {
        let (from, to) = (scalar_of(input.dtype())?, scalar_of(output.dtype())?);
        let by_rows = inner == 1 && size > FEW;
        gpu.ensure_rounds(if by_rows { size / WORKGROUP as usize } else { size })?;
        let team = by_rows.then(|| Team::on(gpu, from));
        let shader = gpu.shader(program, (from, to, O::DEF.name == "ArgMax", team));
        gpu.in_windows(count / inner, &[read(input), written(&output)], |outer, tensors| {
            let count = outer.len() * inner;
            let groups = if by_rows { Groups::Rows(count) } else { Groups::Elements(count) };
            gpu.dispatch(&shader, tensors, &[size as u32, inner as u32], groups)
        })?;
    }
    ctx.set_output(O::OUTPUT, output)
}
