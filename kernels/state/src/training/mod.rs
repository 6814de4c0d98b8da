//! Steps of optimisers: [`driver`] does all that they have in common, and each rule says what becomes of one element.

mod adagrad;
mod adam;
mod driver;
mod ftrl;
mod gradient_descent;
mod momentum;
mod rms_prop;
mod sign;
mod value;

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use adagrad::{Adagrad, AdagradDa, AdagradV2, ProximalAdagrad};
use adam::{AdaMax, Adam, AmsGrad};
use driver::Step;
use ftrl::Ftrl;
use gradient_descent::{GradientDescent, ProximalGradientDescent};
use momentum::{KerasMomentum, Momentum};
use rms_prop::{Adadelta, CenteredRmsProp, RmsProp};
use sign::{AddSign, PowerSign};

#[register_kernel(
    device = Cpu,
    op = [ops::ApplyGradientDescent, ops::ResourceApplyGradientDescent],
    T = [f32, f64, f16, bf16, Complex32, Complex64],
    state = |ctx| Step::of::<GradientDescent<()>, 1>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [
        ops::ApplyProximalGradientDescent, ops::ResourceApplyProximalGradientDescent,
        ops::SparseApplyProximalGradientDescent, ops::ResourceSparseApplyProximalGradientDescent,
    ],
    T = [f32, f64],
    state = |ctx| Step::of_reals::<ProximalGradientDescent<()>, 1>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ApplyMomentum, ops::ResourceApplyMomentum, ops::SparseApplyMomentum, ops::ResourceSparseApplyMomentum],
    T = [f32, f64, f16, bf16, Complex32, Complex64],
    state = |ctx| Step::of::<Momentum<()>, 2>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ResourceApplyKerasMomentum, ops::ResourceSparseApplyKerasMomentum],
    T = [f32, f64, f16, bf16, Complex32, Complex64],
    state = |ctx| Step::of::<KerasMomentum<()>, 2>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ApplyAdagrad, ops::ResourceApplyAdagrad, ops::SparseApplyAdagrad, ops::ResourceSparseApplyAdagrad],
    T = [f32, f64, f16, bf16, Complex32, Complex64],
    state = |ctx| Step::of::<Adagrad<()>, 2>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [
        ops::ApplyAdagradV2, ops::ResourceApplyAdagradV2, ops::SparseApplyAdagradV2, ops::ResourceSparseApplyAdagradV2,
    ],
    T = [f32, f64, f16, bf16, Complex32, Complex64],
    state = |ctx| Step::of::<AdagradV2<()>, 2>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [
        ops::ApplyAdagradDA, ops::ResourceApplyAdagradDA, ops::SparseApplyAdagradDA, ops::ResourceSparseApplyAdagradDA,
    ],
    T = [f32, f64],
    state = |ctx| Step::of_reals::<AdagradDa<()>, 3>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [
        ops::ApplyProximalAdagrad, ops::ResourceApplyProximalAdagrad, ops::SparseApplyProximalAdagrad,
        ops::ResourceSparseApplyProximalAdagrad,
    ],
    T = [f32, f64],
    state = |ctx| Step::of_reals::<ProximalAdagrad<()>, 2>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ApplyAdam, ops::ResourceApplyAdam],
    T = [f32, f64, f16, bf16, Complex32, Complex64],
    state = |ctx| Step::of::<Adam<()>, 3>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ResourceApplyAdamWithAmsgrad],
    T = [f32, f64, f16, bf16],
    state = |ctx| Step::of_reals::<AmsGrad<()>, 4>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ApplyAdaMax, ops::ResourceApplyAdaMax],
    T = [f32, f64, f16],
    state = |ctx| Step::of_reals::<AdaMax<()>, 3>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ApplyAdadelta, ops::ResourceApplyAdadelta, ops::SparseApplyAdadelta, ops::ResourceSparseApplyAdadelta],
    T = [f32, f64, f16, bf16, Complex32, Complex64],
    state = |ctx| Step::of::<Adadelta<()>, 3>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ApplyRMSProp, ops::ResourceApplyRMSProp],
    T = [f32, f64, f16, bf16, Complex32, Complex64],
    state = |ctx| Step::of::<RmsProp<()>, 3>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::SparseApplyRMSProp, ops::ResourceSparseApplyRMSProp],
    T = [f32, f64, f16, Complex32, Complex64],
    state = |ctx| Step::of::<RmsProp<()>, 3>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ApplyCenteredRMSProp, ops::ResourceApplyCenteredRMSProp],
    T = [f32, f64, f16, bf16, Complex32, Complex64],
    state = |ctx| Step::of::<CenteredRmsProp<()>, 4>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::SparseApplyCenteredRMSProp, ops::ResourceSparseApplyCenteredRMSProp],
    T = [f32, f64, f16, Complex32, Complex64],
    state = |ctx| Step::of::<CenteredRmsProp<()>, 4>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [
        ops::ApplyFtrl, ops::ResourceApplyFtrl, ops::SparseApplyFtrl, ops::ResourceSparseApplyFtrl, ops::ApplyFtrlV2,
        ops::ResourceApplyFtrlV2, ops::SparseApplyFtrlV2, ops::ResourceSparseApplyFtrlV2,
    ],
    T = [f32, f64, f16, bf16],
    state = |ctx| Step::of_reals::<Ftrl<()>, 3>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ApplyAddSign, ops::ResourceApplyAddSign],
    T = [f32, f64, f16, bf16],
    state = |ctx| Step::of_reals::<AddSign<()>, 2>(ctx),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::ApplyPowerSign, ops::ResourceApplyPowerSign],
    T = [f32, f64, f16, bf16],
    state = |ctx| Step::of_reals::<PowerSign<()>, 2>(ctx),
)]
fn apply(step: &Step, ctx: &mut RawContext<'_>) -> Result<()> {
    step.take(ctx)
}
