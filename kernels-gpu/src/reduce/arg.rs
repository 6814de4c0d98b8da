//! ArgMax and ArgMin: where the greatest or least element along an axis is, the first of equals. NaN is passed over.

use std::sync::OnceLock;

use kernlink::error::Result;
use kernlink::kernel::geometry::reduce::{Sought, sought};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::softmax::FEW;
use crate::device::{GpuDevice, Groups};
use crate::element_wise::computed;
use crate::family::scalar_of;
use crate::shader::{Entry, Program, Scalar, Shader};
use crate::windows::{read, written};

fn program(from: Scalar, to: Scalar, greatest: bool, by_rows: bool) -> Program {
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
    let text = if by_rows { include_str!("arg_rows.wgsl") } else { include_str!("arg_columns.wgsl") };
    let body = format!(
        "fn beyond(a: A, b: A) -> bool {{\n    return {comparison};\n}}\n\
         fn first() -> A {{\n    return {start};\n}}\n{text}"
    );
    let builder = Program::builder(if greatest { "ArgMax" } else { "ArgMin" })
        .alias("A", part)
        .alias("R", to)
        .read("x", from)
        .write("y", to)
        .param("size", "u32")
        .param("inner", "u32");
    builder.build(if by_rows { Entry::Rows } else { Entry::Elements }, &body)
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
            let slot = if by_rows { &self.by_rows } else { &self.by_columns };
            let shader = slot.get_or_init(|| Shader::new(program(self.from, self.to, self.greatest, by_rows)));
            gpu.in_windows(count / inner, &[read(input), written(&output)], |outer, tensors| {
                let count = outer.len() * inner;
                let groups = if by_rows { Groups::Rows(count) } else { Groups::Elements(count) };
                gpu.dispatch(shader, tensors, &[size as u32, inner as u32], groups)
            })?;
        }
        ctx.set_output_at(0, output)
    }
}

/// Registers the two ops for dtypes of elements and of places, with the capabilities that they need.
macro_rules! register {
    ($op:ident $greatest:literal) => {
        const _: () = {
            struct Kernel(Arg);

            impl OpKernel<ops::$op> for Kernel {
                fn new(ctx: &KernelConstruction<'_, ops::$op>) -> Result<Self> {
                    Arg::new(ctx, $greatest).map(Kernel)
                }

                fn compute(&self, ctx: &mut KernelContext<'_, ops::$op>) -> Result<()> {
                    self.0.compute(ctx)
                }

                fn is_expensive(&self) -> bool {
                    false
                }
            }

            register! { @ $op
                [f32, i32, u32, bool] [int32];
                [f32, i32, u32, bool] [int64] requires ["i64"];
                [f16] [int32] requires ["f16"];
                [f16] [int64] requires ["f16", "i64"];
                [i64] [int32, int64] requires ["i64"];
            }
        };
    };
    (@ $op:ident $([$($t:ident),*] [$($output:ident),*] $(requires $requires:tt)?;)*) => {$(
        const _: () = {
            #[register_kernel(
                device = Gpu, op = ops::$op, host_memory = ["dimension"], $(requires = $requires,)? T = [$($t),*],
                output_type = [$($output),*]
            )]
            type Registered = Kernel;
        };
    )*};
}

register! { ArgMax true }
register! { ArgMin false }

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    use Scalar::{Bool, F16, F32, I32, I64, U32};
    let mut programs = Vec::new();
    for from in [F32, I32, U32, Bool, F16, I64] {
        for to in [I32, I64] {
            for (greatest, by_rows) in [(false, false), (false, true), (true, false), (true, true)] {
                programs.push(program(from, to, greatest, by_rows));
            }
        }
    }
    programs
}
