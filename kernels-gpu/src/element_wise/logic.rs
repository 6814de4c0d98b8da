//! Functions of bools, and whether elements are equal.

use kernlink::device::Device as _;
use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink_ops as ops;

use super::driver::{self, ElementWise, Function, Shapes};
use crate::device::GpuDevice;
use crate::family::{gpu_kernels, scalar};
use crate::shader::{Program, Scalar};

const AND: &str = "return x & y;";
const OR: &str = "return x | y;";
const NOT: &str = "return 1u - x;";
const EQUAL: &str = "return u32(x == y);";
/// Whether NaN is unequal to itself is left to nobody.
const UNEQUAL: &str = "return 1u - u32(x == y);";

fn of_bools(label: &str, operands: usize, body: &'static str) -> Function {
    Function::new(label, &vec![Scalar::Bool; operands], Scalar::Bool, body)
}

gpu_kernels! { LogicalAnd as ElementWise: |_ctx| Result::Ok(ElementWise::new(of_bools("LogicalAnd", 2, AND))) }
gpu_kernels! { LogicalOr as ElementWise: |_ctx| Result::Ok(ElementWise::new(of_bools("LogicalOr", 2, OR))) }
gpu_kernels! { LogicalNot as ElementWise: |_ctx| Result::Ok(ElementWise::new(of_bools("LogicalNot", 1, NOT))) }

/// `Equal` or `NotEqual`.
struct Equality {
    /// What the answer is for equal elements.
    equal: bool,
    /// Whether shapes that do not fit are an error; otherwise the tensors are unequal as a whole.
    strict: bool,
    elements: ElementWise,
}

impl Equality {
    fn new(ctx: &RawConstruction<'_>, equal: bool) -> Result<Equality> {
        let (from, to) = (ctx.input_dtype_at(0)?, ctx.output_dtype_at(0)?);
        let body = if equal { EQUAL } else { UNEQUAL };
        let function = Function::of(if equal { "Equal" } else { "NotEqual" }, 2, from, to, body)?;
        let strict = ctx.attrs.required("incompatible_shape_error")?;
        Ok(Equality { equal, strict, elements: ElementWise::new(function) })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        if !self.strict && ctx.input_at(0)?.shape().broadcast(ctx.input_at(1)?.shape()).is_err() {
            let answer = GpuDevice::of(ctx)?.to_device(&Tensor::scalar(!self.equal))?;
            return ctx.set_output_at(0, answer);
        }
        self.elements.compute(ctx)
    }
}

gpu_kernels! { Equal { [f32, i32, u32, bool] [f16; "f16"] [i64; "i64"] } as Equality: |ctx| Equality::new(ctx, true) }
gpu_kernels! {
    NotEqual { [f32, i32, u32, bool] [f16; "f16"] [i64; "i64"] } as Equality: |ctx| Equality::new(ctx, false)
}

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    let mut functions = vec![
        of_bools("LogicalAnd", 2, AND),
        of_bools("LogicalOr", 2, OR),
        of_bools("LogicalNot", 1, NOT).shapes(Shapes::Equal),
    ];
    for scalar in [scalar!(f32), scalar!(i32), scalar!(u32), scalar!(bool), scalar!(f16), scalar!(i64)] {
        functions.push(Function::new("Equal", &[scalar; 2], Scalar::Bool, EQUAL));
        functions.push(Function::new("NotEqual", &[scalar; 2], Scalar::Bool, UNEQUAL));
    }
    functions.iter().flat_map(driver::programs).collect()
}
