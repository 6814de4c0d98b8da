//! The gradients of activations.

use std::marker::PhantomData;

use kernlink::Result;
use kernlink::kernel::{ElementWise, KernelContext, Meet};
use kernlink_geometry::element_wise::ensure_alike;
use kernlink_kernels_common::fast;
use kernlink_macros::register_kernel;
use kernlink_ops::{EluGrad, LeakyReluGrad, Relu6Grad, ReluGrad, SeluGrad, SoftplusGrad, SoftsignGrad};

use super::activation::{SELU_SCALE, SELU_SCALE_ALPHA, Slope};
use super::binary::binary;
use super::driver::{SliceLoop, Spec, element_wise};
use super::grad::Gradient;
use super::ternary::ternary;

// Products with 0 or 1, as in TensorFlow: an infinite gradient of what did not count becomes NaN.
binary!(ReluGrad, 500:
    f32, f64 => |dy, x| dy * if x > 0.0 { 1.0 } else { 0.0 }; half;
    i8, i16, i32, i64, u8, u16, u32, u64 => |dy, x| if x > 0 { dy } else { 0 });
binary!(Relu6Grad, 500:
    f32, f64 => |dy, x| dy * if x > 0.0 && x < 6.0 { 1.0 } else { 0.0 }; half;
    i8, i16, i32, i64, u8, u16, u32, u64 => |dy, x| if x > 0 && x < 6 { dy } else { 0 });
binary!(EluGrad, 500: f32, f64 => |dy, y| if y < 0.0 { (y + 1.0) * dy } else { dy }; half);
binary!(SeluGrad, 500:
    f32 => |dy, y| if y < 0.0 { dy * (y + SELU_SCALE_ALPHA as f32) } else { dy * SELU_SCALE as f32 }; half;
    f64 => |dy, y| if y < 0.0 { dy * (y + SELU_SCALE_ALPHA) } else { dy * SELU_SCALE });
binary!(SoftplusGrad, 1500: f32, f64 => |dy, x| dy / (fast::exp(-x) + 1.0); half);
binary!(SoftsignGrad, 1000:
    f32, f64 => |dy, x| dy / ((x.abs() + 1.0) * (x.abs() + 1.0)); half);

#[register_kernel(device = Cpu, op = [ReluGrad, Relu6Grad], T = [realnumbertype])]
#[register_kernel(device = Cpu, op = [EluGrad, SeluGrad, SoftplusGrad, SoftsignGrad], T = [f32, f64, f16, bf16])]
type Gradients<O, T> = Gradient<O, T, false>;

#[register_kernel(
    device = Cpu,
    T = [f32, f64, f16, bf16],
    state = |ctx| Slope::new(ctx.attrs().T, ctx.attrs().alpha),
    element_wise = Some(ElementWise {
        parameter: Some("alpha"),
        meet: Meet::Equal,
        function: |inputs, output| const { &Spec::of::<Leaky<T>>() }.for_dtypes(false, inputs, output),
    })
)]
fn leaky_relu_grad<T>(slope: &Slope, ctx: &mut KernelContext<'_, LeakyReluGrad>) -> Result<()>
where
    Leaky<T>: SliceLoop<3, In = T, Out = T>,
{
    let (x, y) = (ctx.input_at(0)?.shape(), ctx.input_at(1)?.shape());
    ensure_alike(x, y, false)?;
    element_wise(ctx, &const { Spec::of::<Leaky<T>>() }, std::slice::from_ref(&slope.0))
}

/// The gradient, or its product with the slope, by the sign of the feature.
struct Leaky<T>(PhantomData<T>);

ternary!(Leaky: f32, f64 => |dy, x, slope| if x > 0.0 { dy } else { dy * slope }; half);
