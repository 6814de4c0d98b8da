//! Activations of neural networks.

use kernlink::Result;
use kernlink::dtype::{DataType, Pod};
use kernlink::kernel::{KernelContext, Meet};
use kernlink::tensor::Tensor;
use kernlink_kernels_common::fast;
use kernlink_kernels_common::{epilogue, fused};
use kernlink_macros::register_kernel;
use kernlink_ops::{
    Elu, GeluApproximate, GeluExact, HardSwish, LeakyRelu, Relu, Relu6, Selu, Softplus, Softsign, Swish,
};

use super::binary::{Binary, BinaryFn, binary};
use super::driver::{element_wise, scalar};
use super::unary::{Unary, unary};

pub(super) const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
pub(super) const SELU_SCALE_ALPHA: f64 = 1.758_099_340_847_376_9;

/// One of two values that are both computed: without a branch, so that loops become vector code.
#[inline(always)]
fn select<T>(condition: bool, then: T, otherwise: T) -> T {
    if condition { then } else { otherwise }
}

// NaN stays NaN in all of them.
unary!(Relu, 500:
    f32, f64 => |x| if x > 0.0 || x.is_nan() { x } else { 0.0 }; half;
    i8, i16, i32, i64 => |x| x.max(0);
    u8, u16, u32, u64 => |x| x);
unary!(Relu6, 500:
    f32, f64 => |x| if x > 6.0 { 6.0 } else if x > 0.0 || x.is_nan() { x } else { 0.0 }; half;
    i8, i16, i32, i64, u8, u16, u32, u64 => |x| x.clamp(0, 6));
unary!(Elu, 1500: f32, f64 => |x| select(x < 0.0, fast::exp_m1(x), x); half);
unary!(Selu, 1500:
    f32 => |x| select(x < 0.0, SELU_SCALE_ALPHA as f32 * fast::exp_m1(x), SELU_SCALE as f32 * x); half;
    f64 => |x| select(x < 0.0, SELU_SCALE_ALPHA * fast::exp_m1(x), SELU_SCALE * x));
unary!(Softplus, 3000: f32, f64 => |x| x.max(0.0) + fast::ln_1p(fast::exp(-x.abs())); half);
unary!(Softsign, 1000: f32, f64 => |x| x / (1.0 + x.abs()); half);
unary!(Swish, 2000: f64 => |x| fast::swish(x));
unary!(Swish, 2000: slices fast::swishes);
unary!(HardSwish, 500: f32, f64 => |x| epilogue::hard_swish(x); half);
unary!(GeluExact, 2000: f32, f64 => |x| fused::gelu_exact(x); half);
unary!(GeluApproximate, 2000: f32, f64 => |x| fused::gelu_approximate(x); half);

#[register_kernel(device = Cpu, op = [Relu, Relu6], T = [realnumbertype])]
#[register_kernel(
    device = Cpu,
    op = [Elu, GeluApproximate, GeluExact, HardSwish, Selu, Softplus, Softsign, Swish],
    T = [f32, f64, f16, bf16],
)]
type Activations<O, T> = Unary<O, T>;

// The slope for negative arguments is the loop's second argument.
binary!(LeakyRelu, 500: f32, f64 => |x, slope| if x > 0.0 { x } else { x * slope }; half);

/// The slope for negative arguments, as the dtype has it.
pub(super) struct Slope(pub(super) Tensor);

impl Slope {
    pub(super) fn new(dtype: DataType, alpha: f32) -> Result<Slope> {
        scalar(dtype, alpha).map(Slope)
    }
}

#[register_kernel(
    device = Cpu,
    T = [f32, f64, f16, bf16],
    state = |ctx| Slope::new(ctx.attrs().T, ctx.attrs().alpha),
    element_wise = Binary::<LeakyRelu, T>::element_wise(Some("alpha"), Meet::Equal)
)]
fn leaky_relu<T: Pod>(slope: &Slope, ctx: &mut KernelContext<'_, LeakyRelu>) -> Result<()>
where
    LeakyRelu: BinaryFn<T>,
{
    element_wise(ctx, &const { Binary::<LeakyRelu, T>::SPEC }, std::slice::from_ref(&slope.0))
}
