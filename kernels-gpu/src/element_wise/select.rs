//! Choice between elements: Select, SelectV2 and ClipByValue.

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink_geometry::element_wise as geometry;
use kernlink_ops as ops;

use super::driver::{self, ElementWise, Function};
use crate::device::GpuDevice;
use crate::family::{gpu_kernels, scalar, scalar_of};
use crate::shader::{Program, Scalar};

const CHOICE: &str = "return select(z, y, x != 0u);";
/// The lower bound wins where the bounds cross; NaN stays.
const CLIP: &str = "let below = select(x, z, z < x);\n    return select(below, y, below < y);";

fn choice(scalar: Scalar) -> Function {
    Function::new("Select", &[Scalar::Bool, scalar, scalar], scalar, CHOICE)
}

fn clip(scalar: Scalar) -> Function {
    Function::new("ClipByValue", &[scalar; 3], scalar, CLIP)
}

/// `Select`, whose condition has the shape of the others, or is a scalar, or a vector with an element for each row.
struct Select(ElementWise);

impl Select {
    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let (condition, chosen, other) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
        let shape = geometry::condition(condition.shape(), chosen.shape(), other.shape())?;
        let condition = condition.clone().reshaped(shape)?;
        let output = self.0.run(GpuDevice::of(ctx)?, chosen.dtype(), &[&condition, chosen, other], &[])?;
        ctx.set_output_at(0, output)
    }
}

fn chooser(ctx: &RawConstruction<'_>) -> Result<ElementWise> {
    Ok(ElementWise::new(choice(scalar_of(ctx.output_dtype_at(0)?)?)))
}

gpu_kernels! { Select { [f32, i32, u32, bool] [f16; "f16"] [i64; "i64"] } as Select: |ctx| chooser(ctx).map(Select) }
gpu_kernels! { SelectV2 { [f32, i32, u32, bool] [f16; "f16"] [i64; "i64"] } as ElementWise: |ctx| chooser(ctx) }

/// `ClipByValue`, whose bounds are scalars or have the tensor's shape.
struct Clip(ElementWise);

impl Clip {
    fn new(ctx: &RawConstruction<'_>) -> Result<Clip> {
        Ok(Clip(ElementWise::new(clip(scalar_of(ctx.output_dtype_at(0)?)?))))
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let shape = ctx.input_at(0)?.shape();
        for index in [1, 2] {
            geometry::ensure_bound(shape, ctx.input_at(index)?.shape())?;
        }
        self.0.compute(ctx)
    }
}

gpu_kernels! { ClipByValue { [f32, i32] [f16; "f16"] [i64; "i64"] } as Clip: |ctx| Clip::new(ctx) }

/// All programs of the family.
pub(super) fn programs() -> Vec<Program> {
    let chosen = [scalar!(f32), scalar!(i32), scalar!(u32), scalar!(bool), scalar!(f16), scalar!(i64)].map(choice);
    let clipped = [scalar!(f32), scalar!(i32), scalar!(f16), scalar!(i64)].map(clip);
    chosen.iter().flat_map(driver::programs).chain(clipped.iter().flat_map(driver::programs)).collect()
}
