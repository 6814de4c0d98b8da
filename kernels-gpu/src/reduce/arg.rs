//! ArgMax and ArgMin: where the greatest or least element along an axis is, the first of equals. NaN is passed over.

use std::sync::OnceLock;

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::op::Op as _;
use kernlink::tensor::Tensor;
use kernlink_geometry::reduce::{Sought, sought};
use kernlink_macros::register_kernel;
use kernlink_ops::{ArgMax, ArgMin};

use super::softmax::FEW;
use crate::composition;
use crate::device::{GpuDevice, Groups};
use crate::element_wise::computed;
use crate::shader::{Entry, Program, Scalar, Shader, WORKGROUP, scalar_of};
use crate::team::Team;
use crate::windows::{read, written};

/// Of two that were found, the one beyond the other, or the first.
const MERGE: &str = "if (beyond(b.best, a.best) || (!beyond(a.best, b.best) && b.place < a.place)) {
        return b;
    }
    return a;";

/// The shader for rows by a team, or for columns.
fn program(from: Scalar, to: Scalar, greatest: bool, by_rows: Option<Team>) -> Program {
    let names = [from.names(), if greatest { &["greatest"] } else { &[] }].concat();
    let (file, found) = match by_rows {
        Some(team) => {
            (include_str!("arg_rows.wgsl"), team.functions("Found", &["best", "place"], &[("found_of", MERGE)]))
        }
        None => (include_str!("arg_columns.wgsl"), String::new()),
    };
    let builder = Program::trusted(if greatest { "ArgMax" } else { "ArgMin" })
        .alias("A", computed(from))
        .alias("R", to)
        .read("x", from)
        .write("y", to)
        .param("size", "u32")
        .param("inner", "u32");
    let body = found + &composition::compose(file, &names);
    match by_rows {
        Some(team) => team.declare(builder).build(Entry::Rows, &body),
        None => builder.build(Entry::Elements, &body),
    }
}

struct Arg {
    from: Scalar,
    to: Scalar,
    greatest: bool,
    by_rows: OnceLock<Shader>,
    by_columns: OnceLock<Shader>,
}

impl Arg {
    fn run(&self, gpu: &GpuDevice, input: &Tensor, dimension: &Tensor, dtype: DataType) -> Result<Tensor> {
        let Sought { size, inner, output } = sought(input.shape(), dimension)?;
        let output = gpu.allocate(dtype, output)?;
        let count = output.num_elements();
        if count == 0 {
            return Ok(output);
        }
        let by_rows = inner == 1 && size > FEW;
        gpu.ensure_rounds(if by_rows { size / WORKGROUP as usize } else { size })?;
        let slot = if by_rows { &self.by_rows } else { &self.by_columns };
        let team = by_rows.then(|| Team::on(gpu, self.from));
        let shader = slot.get_or_init(|| Shader::new(program(self.from, self.to, self.greatest, team)));
        gpu.in_windows(count / inner, &[read(input), written(&output)], |outer, tensors| {
            let count = outer.len() * inner;
            let groups = if by_rows { Groups::Rows(count) } else { Groups::Elements(count) };
            gpu.dispatch(shader, tensors, &[size as u32, inner as u32], groups)
        })?;
        Ok(output)
    }
}

#[register_kernel(
    device = Gpu,
    op = [ArgMax, ArgMin],
    T = [f32, i32, u32, bool, f16 if "f16", i64 if "i64"],
    output_type = [i32, i64 if "i64"],
    host_memory = ["dimension"],
    programs = |T, output_type| programs(T, output_type, O::DEF.name == "ArgMax")
)]
impl OpKernel<O> for Arg {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let (from, to) = (scalar_of(ctx.input_dtype(O::INPUT))?, scalar_of(ctx.output_dtype(O::OUTPUT))?);
        let greatest = O::DEF.name == "ArgMax";
        Ok(Arg { from, to, greatest, by_rows: OnceLock::new(), by_columns: OnceLock::new() })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        let (input, dimension) = (ctx.input(O::INPUT)?, ctx.input(O::DIMENSION)?);
        let output = self.run(GpuDevice::of(ctx)?, input, dimension, ctx.output_dtype(O::OUTPUT)?)?;
        ctx.set_output(O::OUTPUT, output)
    }
}

fn programs(from: DataType, to: DataType, greatest: bool) -> Result<Vec<Program>> {
    let (from, to) = (scalar_of(from)?, scalar_of(to)?);
    let ways = Team::of(from).iter().map(|&team| Some(team)).chain([None]);
    Ok(ways.map(|way| program(from, to, greatest, way)).collect())
}
