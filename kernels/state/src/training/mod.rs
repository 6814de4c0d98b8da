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

use kernlink::dtype::{Complex32, Complex64, bf16, f16};
use kernlink_ops as ops;

use adagrad::{Adagrad, AdagradDa, AdagradV2, ProximalAdagrad};
use adam::{AdaMax, Adam, AmsGrad};
use driver::register_rules;
use ftrl::Ftrl;
use gradient_descent::{GradientDescent, ProximalGradientDescent};
use momentum::{KerasMomentum, Momentum};
use rms_prop::{Adadelta, CenteredRmsProp, RmsProp};
use sign::{AddSign, PowerSign};

// Each with the number of its variables.
register_rules! {
    GradientDescent, 1: ApplyGradientDescent, ResourceApplyGradientDescent
        = [f32, f64, f16, bf16, Complex32, Complex64];
    ProximalGradientDescent, 1: ApplyProximalGradientDescent, ResourceApplyProximalGradientDescent,
        SparseApplyProximalGradientDescent, ResourceSparseApplyProximalGradientDescent
        = [f32, f64];
    Momentum, 2: ApplyMomentum, ResourceApplyMomentum, SparseApplyMomentum, ResourceSparseApplyMomentum
        = [f32, f64, f16, bf16, Complex32, Complex64];
    KerasMomentum, 2: ResourceApplyKerasMomentum, ResourceSparseApplyKerasMomentum
        = [f32, f64, f16, bf16, Complex32, Complex64];
    Adagrad, 2: ApplyAdagrad, ResourceApplyAdagrad, SparseApplyAdagrad, ResourceSparseApplyAdagrad
        = [f32, f64, f16, bf16, Complex32, Complex64];
    AdagradV2, 2: ApplyAdagradV2, ResourceApplyAdagradV2, SparseApplyAdagradV2, ResourceSparseApplyAdagradV2
        = [f32, f64, f16, bf16, Complex32, Complex64];
    AdagradDa, 3: ApplyAdagradDA, ResourceApplyAdagradDA, SparseApplyAdagradDA, ResourceSparseApplyAdagradDA
        = [f32, f64];
    ProximalAdagrad, 2: ApplyProximalAdagrad, ResourceApplyProximalAdagrad, SparseApplyProximalAdagrad,
        ResourceSparseApplyProximalAdagrad
        = [f32, f64];
    Adam, 3: ApplyAdam, ResourceApplyAdam = [f32, f64, f16, bf16, Complex32, Complex64];
    AmsGrad, 4: ResourceApplyAdamWithAmsgrad = [f32, f64, f16, bf16];
    AdaMax, 3: ApplyAdaMax, ResourceApplyAdaMax = [f32, f64, f16];
    Adadelta, 3: ApplyAdadelta, ResourceApplyAdadelta, SparseApplyAdadelta, ResourceSparseApplyAdadelta
        = [f32, f64, f16, bf16, Complex32, Complex64];
    RmsProp, 3: ApplyRMSProp, ResourceApplyRMSProp = [f32, f64, f16, bf16, Complex32, Complex64];
    RmsProp, 3: SparseApplyRMSProp, ResourceSparseApplyRMSProp = [f32, f64, f16, Complex32, Complex64];
    CenteredRmsProp, 4: ApplyCenteredRMSProp, ResourceApplyCenteredRMSProp
        = [f32, f64, f16, bf16, Complex32, Complex64];
    CenteredRmsProp, 4: SparseApplyCenteredRMSProp, ResourceSparseApplyCenteredRMSProp
        = [f32, f64, f16, Complex32, Complex64];
    Ftrl, 3: ApplyFtrl, ResourceApplyFtrl, SparseApplyFtrl, ResourceSparseApplyFtrl, ApplyFtrlV2, ResourceApplyFtrlV2,
        SparseApplyFtrlV2, ResourceSparseApplyFtrlV2
        = [f32, f64, f16, bf16];
    AddSign, 2: ApplyAddSign, ResourceApplyAddSign = [f32, f64, f16, bf16];
    PowerSign, 2: ApplyPowerSign, ResourceApplyPowerSign = [f32, f64, f16, bf16];
}
