//! Reductions along axes, where the greatest element is, softmax, running sums, and the greatest elements of rows.

mod arg;
mod cross_entropy;
mod fold;
mod large;
mod norm;
mod plan;
mod reducer;
mod scan;
mod softmax;
mod top_k;
mod top_k_long;

use kernlink::error::Result;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink_geometry::channels::bias_gradient;
use kernlink_ops as ops;

use crate::device::GpuDevice;
use crate::element_wise::has_channels_last;
use crate::family::{gpu_kernels, scalar_of};
use crate::shader::{Program, Scalar};

pub(crate) use fold::Fold;
pub(crate) use plan::{Plan, Run};
pub(crate) use reducer::Kind;

/// An op with inputs `input` and `reduction_indices`, attr `keep_dims` and one output.
struct Reduction {
    kind: Kind,
    keep_dims: bool,
    fold: Fold,
}

impl Reduction {
    fn new(ctx: &RawConstruction<'_>, kind: Kind) -> Result<Reduction> {
        let fold = Fold::new(kind.of(scalar_of(ctx.input_dtype_at(0)?)?));
        Ok(Reduction { kind, keep_dims: ctx.attrs.required("keep_dims")?, fold })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let input = ctx.input_at(0)?;
        let plan = Plan::new(input.shape(), &ctx.input_at(1)?.to_i64_vec()?, self.keep_dims)?;
        // A norm loses the sign.
        let output = if plan.is_copy() && self.kind != Kind::Norm {
            input.clone().reshaped(plan.output)?
        } else {
            self.fold.run(GpuDevice::of(ctx)?, input, &plan, ctx.output_dtype_at(0)?)?
        };
        ctx.set_output_at(0, output)
    }
}

macro_rules! reductions {
    ($($op:ident $attr:ident $dtypes:tt $kind:ident;)*) => {$(
        gpu_kernels! {
            $op $attr $dtypes host ["reduction_indices"] as Reduction: |ctx| Reduction::new(ctx, Kind::$kind)
        }
    )*};
}

reductions! {
    Sum T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } Sum;
    // Sums of integers are kept in 64 bits.
    Mean T { [f32] [f16; "f16"] [i32, u32, i64; "i64"] } Mean;
    Prod T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } Product;
    Max T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } Greatest;
    Min T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } Least;
    EuclideanNorm T { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } Norm;
    // Of bools, all hold if the least does, and any does if the greatest does.
    All Tidx { [i32, i64] } Least;
    Any Tidx { [i32, i64] } Greatest;
}

/// A reduction of all elements.
struct Total(Fold);

impl Total {
    fn new(ctx: &RawConstruction<'_>) -> Result<Total> {
        Ok(Total(Fold::new(Kind::HalfSquares.of(scalar_of(ctx.input_dtype_at(0)?)?))))
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let input = ctx.input_at(0)?;
        let plan = Plan::new(&Shape::from([input.num_elements()]), &[0], false)?;
        let output = self.0.run(GpuDevice::of(ctx)?, input, &plan, ctx.output_dtype_at(0)?)?;
        ctx.set_output_at(0, output)
    }
}

gpu_kernels! { L2Loss { [f32] [f16; "f16"] } as Total: |ctx| Total::new(ctx) }

/// The sum of each channel.
struct BiasAddGrad {
    channels_last: bool,
    fold: Fold,
}

impl BiasAddGrad {
    fn new(ctx: &RawConstruction<'_>) -> Result<BiasAddGrad> {
        let fold = Fold::new(Kind::Sum.of(scalar_of(ctx.input_dtype_at(0)?)?));
        Ok(BiasAddGrad { channels_last: has_channels_last(ctx)?, fold })
    }

    fn compute(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let gradient = ctx.input_at(0)?;
        bias_gradient(gradient.shape(), self.channels_last)?;
        let rank = gradient.rank();
        let channels = if self.channels_last { rank - 1 } else { 1 };
        let axes: Vec<i64> = (0..rank as i64).filter(|&axis| axis != channels as i64).collect();
        let plan = Plan::new(gradient.shape(), &axes, false)?;
        let output = self.fold.run(GpuDevice::of(ctx)?, gradient, &plan, ctx.output_dtype_at(0)?)?;
        ctx.set_output_at(0, output)
    }
}

gpu_kernels! { BiasAddGrad { [f32, i32, u32] [f16; "f16"] [i64; "i64"] } as BiasAddGrad: |ctx| BiasAddGrad::new(ctx) }

/// All programs of the family.
pub(crate) fn programs() -> Vec<Program> {
    use Scalar::{Bool, F16, F32, I32, I64, U32};
    let numbers = [F32, I32, U32, F16, I64];
    let kinds = [Kind::Sum, Kind::Mean, Kind::Product, Kind::Greatest, Kind::Least, Kind::Norm];
    let mut reducers: Vec<_> = kinds.iter().flat_map(|kind| numbers.map(|scalar| kind.of(scalar))).collect();
    reducers.extend([Kind::HalfSquares.of(F32), Kind::HalfSquares.of(F16)]);
    reducers.extend([Kind::Greatest.of(Bool), Kind::Least.of(Bool)]);
    let mut programs: Vec<Program> = reducers.iter().flat_map(fold::programs).collect();
    programs.extend(arg::programs());
    programs.extend(softmax::programs());
    programs.extend(cross_entropy::programs());
    programs.extend(scan::programs());
    programs.extend(top_k::programs());
    programs
}
