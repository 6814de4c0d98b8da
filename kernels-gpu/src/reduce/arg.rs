//! ArgMax and ArgMin: where the greatest or least element along an axis is, the first of equals. NaN is passed over.

use std::sync::OnceLock;

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_geometry::reduce::{Sought, sought};
use kernlink_ops as ops;

use super::softmax::FEW;
use crate::device::{GpuDevice, Groups};
use crate::element_wise::computed;
use crate::family::{gpu_kernels, scalar_of};
use crate::shader::{Entry, Program, Scalar, Shader, WORKGROUP};
use crate::team::Team;
use crate::windows::{read, written};

/// Of two that were found, the one beyond the other, or the first.
const MERGE: &str = "if (beyond(b.best, a.best) || (!beyond(a.best, b.best) && b.place < a.place)) {
        return b;
    }
    return a;";

/// The shader for rows by a team, or for columns.
fn program(from: Scalar, to: Scalar, greatest: bool, by_rows: Option<Team>) -> Program {
    let part = computed(from);
    // What every sought element is beyond, as TensorFlow starts: the infinities are not.
    let start = match (part, from, greatest) {
        (_, Scalar::F16, true) => "-65504.0",
        (_, Scalar::F16, false) => "65504.0",
        (Scalar::F32, _, true) => "-3.40282347e38",
        (Scalar::F32, _, false) => "3.40282347e38",
        (Scalar::I32, _, true) => "i32(-2147483648)",
        (Scalar::I32, _, false) => "2147483647",
        (Scalar::I64, _, true) => "i64(1) << 63u",
        (Scalar::I64, _, false) => "~(i64(1) << 63u)",
        (Scalar::Bool, _, false) => "1u",
        (_, _, true) => "0u",
        (_, _, false) => "0xffffffffu",
    };
    let comparison = if greatest { "a > b" } else { "a < b" };
    let text = if by_rows.is_some() { include_str!("arg_rows.wgsl") } else { include_str!("arg_columns.wgsl") };
    let found = |team: Team| team.functions("Found", &["best", "place"], &[("found_of", MERGE)]);
    let found = by_rows.map_or_else(String::new, found);
    let body = format!(
        "fn beyond(a: A, b: A) -> bool {{\n    return {comparison};\n}}\n\
         fn first() -> A {{\n    return {start};\n}}\n{found}{text}"
    );
    let builder = Program::trusted(if greatest { "ArgMax" } else { "ArgMin" })
        .alias("A", part)
        .alias("R", to)
        .read("x", from)
        .write("y", to)
        .param("size", "u32")
        .param("inner", "u32");
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
    fn new(ctx: &RawConstruction<'_>, greatest: bool) -> Result<Arg> {
        let (from, to) = (scalar_of(ctx.input_dtype_at(0)?)?, scalar_of(ctx.output_dtype_at(0)?)?);
        Ok(Arg { from, to, greatest, by_rows: OnceLock::new(), by_columns: OnceLock::new() })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let input = ctx.input_at(0)?;
        let Sought { size, inner, output } = sought(input.shape(), ctx.input_at(1)?)?;
        let gpu = GpuDevice::of(ctx)?;
        let output = gpu.allocate_output(ctx, 0, output)?;
        let count = output.num_elements();
        if count > 0 {
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
        }
        ctx.set_output_at(0, output)
    }
}

macro_rules! register {
    ($op:ident $greatest:literal) => {
        gpu_kernels! {
            $op host ["dimension"] as Arg: |ctx| Arg::new(ctx, $greatest);
            { T = [f32, i32, u32, bool], output_type = [int32] }
            { T = [f32, i32, u32, bool], output_type = [int64]; "i64" }
            { T = [f16], output_type = [int32]; "f16" }
            { T = [f16], output_type = [int64]; "f16", "i64" }
            { T = [i64], output_type = [int32, int64]; "i64" }
        }
    };
}

register! { ArgMax true }
register! { ArgMin false }

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    use Scalar::{Bool, F16, F32, I32, I64, U32};
    let mut programs = Vec::new();
    for from in [F32, I32, U32, Bool, F16, I64] {
        for to in [I32, I64] {
            let ways = Team::of(from).iter().map(|&team| Some(team)).chain([None]);
            programs.extend(ways.flat_map(|way| [false, true].map(|greatest| program(from, to, greatest, way))));
        }
    }
    programs
}
