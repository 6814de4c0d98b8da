//! Choice between elements: Select, SelectV2 and ClipByValue.

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::{bail, ensure};
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
        let (then, otherwise) = (chosen.shape(), other.shape());
        ensure!(then == otherwise, InvalidArgument, "`t` and `e` must have the same shape, not {then} and {otherwise}");
        let condition = match condition.rank() {
            0 => condition.clone(),
            _ if condition.shape() == then => condition.clone(),
            1 => {
                let rows = condition.num_elements();
                ensure!(
                    then.first() == Some(&rows),
                    InvalidArgument,
                    "a condition with {rows} elements needs tensors with as many rows, not of shape {then}"
                );
                let shape: Shape = std::iter::once(rows).chain(then.iter().skip(1).map(|_| 1)).collect();
                condition.clone().reshaped(shape)?
            }
            _ => bail!(
                InvalidArgument,
                "the condition must be a scalar, a vector, or of shape {then}, not of shape {}",
                condition.shape()
            ),
        };
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
            let bound = ctx.input_at(index)?.shape();
            ensure!(
                bound.rank() == 0 || bound == shape,
                InvalidArgument,
                "a bound must be a scalar or have the shape {shape} of the tensor, not {bound}"
            );
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
