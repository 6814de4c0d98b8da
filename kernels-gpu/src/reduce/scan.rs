//! Cumsum, Cumprod and CumulativeLogsumexp: every partial result along an axis.

use std::sync::OnceLock;

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_geometry::reduce::scanned;
use kernlink_ops as ops;

use crate::device::{GpuDevice, Groups};
use crate::element_wise::{computed, for_text};
use crate::family::{gpu_kernels, scalar_of};
use crate::shader::{Entry, Program, Scalar, Shader};
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
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Sums,
    Products,
    /// Logarithms of sums of exponentials.
    LogSums,
}

fn program(kind: Kind, scalar: Scalar, by_rows: bool) -> Program {
    let (label, identity, merge) = match kind {
        Kind::Sums => ("Cumsum", "A(0)", "return a + b;"),
        Kind::Products => ("Cumprod", "A(1)", "return a * b;"),
        Kind::LogSums => (
            "CumulativeLogsumexp",
            "-inf()",
            // The difference of two infinities is no number. One NaN makes the result NaN.
            "if (is_nan(a) || is_nan(b)) { return nan(); }\n    let low = select(b, a, a < b);\n    \
             let high = select(a, b, a < b);\n    if (is_inf(high)) { return high; }\n    \
             return high + own_log1p(own_exp(low - high));",
        ),
    };
    let functions =
        format!("fn identity() -> A {{\n    return {identity};\n}}\nfn merge(a: A, b: A) -> A {{\n    {merge}\n}}\n");
    let text = if by_rows { include_str!("scan_rows.wgsl") } else { include_str!("scan_columns.wgsl") };
    let builder = Program::trusted(label)
        .alias("A", computed(scalar))
        .alias("T", scalar)
        .read("x", scalar)
        .write("y", scalar)
        .param("size", "u32")
        .param("inner", "u32")
        .param("across", "u32")
        .param("exclusive", "u32")
        .param("reverse", "u32");
    let body = for_text(&functions) + &functions + text;
    match by_rows {
        true => builder.workgroup(THREADS).build(Entry::Rows, &body),
        false => builder.build(Entry::Elements, &body),
    }
}

struct Scan {
    kind: Kind,
    scalar: Scalar,
    exclusive: bool,
    reverse: bool,
    by_rows: OnceLock<Shader>,
    by_columns: OnceLock<Shader>,
}

impl Scan {
    fn new(ctx: &RawConstruction<'_>, kind: Kind) -> Result<Scan> {
        Ok(Scan {
            kind,
            scalar: scalar_of(ctx.input_dtype_at(0)?)?,
            exclusive: ctx.attrs.required("exclusive")?,
            reverse: ctx.attrs.required("reverse")?,
            by_rows: OnceLock::new(),
            by_columns: OnceLock::new(),
        })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let input = ctx.input_at(0)?;
        let (size, inner) = scanned(input.shape(), ctx.input_at(1)?)?;
        let output = gpu.allocate_output(ctx, 0, input.shape().clone())?;
        if output.num_elements() > 0 {
            let lines = output.num_elements() / size;
            let by_rows = size > SHORT && (inner == 1 || lines < MANY || size > gpu.rounds());
            let across = inner.next_power_of_two().min(ACROSS);
            let slot = if by_rows { &self.by_rows } else { &self.by_columns };
            let shader = slot.get_or_init(|| Shader::new(program(self.kind, self.scalar, by_rows)));
            // A workgroup takes a piece of the lines at a time, and brings it together by halves.
            let at_once = THREADS as usize / across;
            gpu.ensure_rounds(if by_rows { size.div_ceil(at_once) * (at_once.ilog2() as usize + 2) } else { size })?;
            let flags = [self.exclusive, self.reverse].map(u32::from);
            let params = [size as u32, inner as u32, across as u32, flags[0], flags[1]];
            gpu.in_windows(lines / inner, &[read(input), written(&output)], |outer, tensors| {
                let teams = outer.len() * inner.div_ceil(across);
                let groups = if by_rows { Groups::Rows(teams) } else { Groups::Elements(outer.len() * inner) };
                gpu.dispatch(shader, tensors, &params, groups)
            })?;
        }
        ctx.set_output_at(0, output)
    }
}

gpu_kernels! {
    Cumsum T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } host ["axis"] as Scan: |ctx| Scan::new(ctx, Kind::Sums)
}
gpu_kernels! {
    Cumprod T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } host ["axis"] as Scan: |ctx| Scan::new(ctx, Kind::Products)
}
gpu_kernels! {
    CumulativeLogsumexp T { [f32] [f16; "f16"] } host ["axis"] as Scan: |ctx| Scan::new(ctx, Kind::LogSums)
}

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    use Scalar::{F16, F32, I32, I64, U32};
    let numbers = [F32, I32, U32, F16, I64];
    let mut all: Vec<_> = [Kind::Sums, Kind::Products].iter().flat_map(|&kind| numbers.map(|s| (kind, s))).collect();
    all.extend([(Kind::LogSums, F32), (Kind::LogSums, F16)]);
    all.into_iter().flat_map(|(kind, scalar)| [false, true].map(|by_rows| program(kind, scalar, by_rows))).collect()
}
