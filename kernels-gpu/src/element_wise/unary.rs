//! Functions of one argument.

use kernlink::dtype::DataType;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink_ops as ops;

use crate::device::{GpuDevice, Groups};
use crate::family::{gpu_kernels, scalar, scalar_of};
use crate::shader::{Entry, Program, Scalar, Shader};

/// A function `f(x: T) -> R`, of elements alike on both sides unless it says otherwise.
pub(super) struct Unary {
    shader: Shader,
}

/// The program of a function for elements of one type: four elements a thread.
fn program(label: &str, from: Scalar, to: Scalar, function: &str) -> Program {
    let body = format!(
        "fn f(x: T) -> R {{\n    {function}\n}}\nfn element(i: u32) {{\n    let v = x[i];\n    \
         y[i] = vec4<R>(f(v.x), f(v.y), f(v.z), f(v.w));\n}}\n"
    );
    Program::builder(label)
        .alias("T", from)
        .alias("R", to)
        .read_vectors("x", from, 4)
        .write_vectors("y", to, 4)
        .build(Entry::Elements, &body)
}

impl Unary {
    fn new(label: &str, from: DataType, to: DataType, function: &str) -> Result<Unary> {
        let shader = Shader::new(program(label, scalar_of(from)?, scalar_of(to)?, function));
        Ok(Unary { shader })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gpu = GpuDevice::of(ctx)?;
        let x = ctx.input_at(0)?;
        let y = gpu.allocate_output(ctx, 0, x.shape().clone())?;
        // Buffers hold whole vectors: what the last one has beyond the elements is nobody's.
        gpu.dispatch(&self.shader, &[x, &y], &[], Groups::Elements(x.num_elements().div_ceil(4)))?;
        ctx.set_output_at(0, y)
    }
}

/// Kernels of ops with one input and one output of its dtype.
macro_rules! unary {
    ($($op:ident { $([$($dtype:ident),* $(; $requires:literal)?])* } $function:expr;)*) => {
        $(gpu_kernels! {
            $op { $([$($dtype),* $(; $requires)?])* } as Unary:
            |ctx| Unary::new(stringify!($op), ctx.input_dtype_at(0)?, ctx.output_dtype_at(0)?, $function)
        })*

        pub(super) fn programs() -> Vec<Program> {
            let mut programs = Vec::new();
            $($($(programs.push(program(stringify!($op), scalar!($dtype), scalar!($dtype), $function));)*)*)*
            programs
        }
    };
}

unary! {
    Neg { [f32, i32] [f16; "f16"] [i64; "i64"] } "return -x;";
    Square { [f32, i32] [f16; "f16"] [i64; "i64"] } "return x * x;";
    Relu { [f32] [f16; "f16"] } "return select(x, T(0), x < T(0));";
}
