//! Functions with an attr: LeakyRelu and its gradient, whose slope it is, and ApproximateEqual.

use kernlink::dtype::{DataType, f16};
use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_ops as ops;

use super::driver::{self, ElementWise, Function, Shapes};
use crate::family::{gpu_kernels, scalar};
use crate::shader::{Program, Scalar};

const SLOPED: &str = "return select(x * params.alpha, x, x > 0.0);";
const SLOPED_GRADIENT: &str = "return select(x * params.alpha, x, y > 0.0);";

struct Leaky {
    alpha: f32,
    elements: ElementWise,
}

fn function(operands: usize, scalar: Scalar) -> Function {
    let (label, body) = if operands == 1 { ("LeakyRelu", SLOPED) } else { ("LeakyReluGrad", SLOPED_GRADIENT) };
    Function::new(label, &vec![scalar; operands], scalar, body).shapes(Shapes::Equal).params(&["alpha"])
}

impl Leaky {
    fn new(ctx: &RawConstruction<'_>, operands: usize) -> Result<Leaky> {
        let dtype = ctx.input_dtype_at(0)?;
        let alpha: f32 = ctx.attrs.required("alpha")?;
        let alpha = if dtype == DataType::Half { f16::from_f32(alpha).to_f32() } else { alpha };
        Ok(Leaky { alpha, elements: ElementWise::new(function(operands, crate::family::scalar_of(dtype)?)) })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.elements.compute_with(ctx, &[self.alpha])
    }
}

gpu_kernels! { LeakyRelu { [f32] [f16; "f16"] } as Leaky: |ctx| Leaky::new(ctx, 1) }
gpu_kernels! { LeakyReluGrad { [f32] [f16; "f16"] } as Leaky: |ctx| Leaky::new(ctx, 2) }

/// Whether elements differ by less than the attr `tolerance`.
struct ApproximateEqual {
    tolerance: f32,
    elements: ElementWise,
}

fn near() -> Function {
    let body = "return u32(abs(x - y) < params.tolerance);";
    Function::new("ApproximateEqual", &[Scalar::F32; 2], Scalar::Bool, body)
        .shapes(Shapes::Equal)
        .params(&["tolerance"])
}

impl ApproximateEqual {
    fn new(ctx: &RawConstruction<'_>) -> Result<ApproximateEqual> {
        Ok(ApproximateEqual { tolerance: ctx.attrs.required("tolerance")?, elements: ElementWise::new(near()) })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.elements.compute_with(ctx, &[self.tolerance])
    }
}

gpu_kernels! { ApproximateEqual { [f32] } as ApproximateEqual: |ctx| ApproximateEqual::new(ctx) }

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    let all = [1, 2].into_iter().flat_map(|operands| [scalar!(f32), scalar!(f16)].map(|scalar| (operands, scalar)));
    all.map(|(operands, scalar)| function(operands, scalar))
        .chain([near()])
        .flat_map(|f| driver::programs(&f))
        .collect()
}
