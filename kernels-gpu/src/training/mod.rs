//! Variables on the device: adding to them, and steps of optimisers. Their values are changed in place if nobody else
//! holds them. Handles, reading and assigning are with the kernels for the processor, which serve all devices.

mod accumulate;
mod apply;
pub(crate) mod place;
mod rules;

use kernlink_ops as ops;

use crate::family::gpu_kernels;
use crate::indices::Indices;
use crate::shader::{Program, Scalar};
use accumulate::Accumulate;
use apply::Apply;

/// All programs of the family.
pub(crate) fn programs() -> Vec<Program> {
    let accumulate =
        accumulate::SCALARS.into_iter().flat_map(|scalar| [false, true].map(|sub| accumulate::program(scalar, sub)));
    let mut programs: Vec<Program> = accumulate.collect();
    for scalar in [Scalar::F32, Scalar::F16] {
        programs.extend([3, 4, 5, 6].map(|count| apply::pack_program(scalar, count)));
        for rule in rules::RULES {
            for is_sparse in [false, true] {
                programs.extend([false, true].map(|flag| apply::program(rule, scalar, [flag; 3], is_sparse)));
            }
        }
    }
    programs.extend([Indices::Narrow, Indices::Wide].map(apply::order_program));
    programs
}

gpu_kernels! {
    AssignAdd T { [f32, u32] [f16; "f16"] [i64; "i64"] } host [] as Accumulate:
    |ctx| Accumulate::new(ctx, false)
}
gpu_kernels! {
    AssignSub T { [f32, u32] [f16; "f16"] [i64; "i64"] } host [] as Accumulate:
    |ctx| Accumulate::new(ctx, true)
}
gpu_kernels! {
    AssignAddVariableOp dtype { [f32, u32] [f16; "f16"] [i64; "i64"] } host ["resource"] as Accumulate:
    |ctx| Accumulate::new(ctx, false)
}
gpu_kernels! {
    AssignSubVariableOp dtype { [f32, u32] [f16; "f16"] [i64; "i64"] } host ["resource"] as Accumulate:
    |ctx| Accumulate::new(ctx, true)
}
const ACCUMULATE: usize = 4 * 3;

/// Registers the kernels of rules, for their dtypes: on variables that references lead to, and on resources, which
/// handles in host memory name.
macro_rules! rules {
    ($($rule:literal $dtypes:tt: $([$reference:ident])? $resource:ident $host:tt;)*) => {
        $(
            $(gpu_kernels! { $reference T $dtypes host [] as Apply: |ctx| Apply::new(ctx, $rule) })?
            gpu_kernels! { $resource T $dtypes host $host as Apply: |ctx| Apply::new(ctx, $rule) }
        )*

        const RULES: usize = 0 $(+ rules!(@count $dtypes) * (1 $(+ rules!(@one $reference))?))*;
    };
    (@one $anything:ident) => { 1 };
    (@count { $($group:tt)* }) => { 0 $(+ rules!(@group $group))* };
    (@group $group:tt) => { 1 };
}

rules! {
    "GradientDescent" { [f32] [f16; "f16"] }: [ApplyGradientDescent] ResourceApplyGradientDescent ["var"];
    "ProximalGradientDescent" { [f32] }: [ApplyProximalGradientDescent] ResourceApplyProximalGradientDescent ["var"];
    "Momentum" { [f32] [f16; "f16"] }: [ApplyMomentum] ResourceApplyMomentum ["var", "accum"];
    "KerasMomentum" { [f32] [f16; "f16"] }: ResourceApplyKerasMomentum ["var", "accum"];
    "Adagrad" { [f32] [f16; "f16"] }: [ApplyAdagrad] ResourceApplyAdagrad ["var", "accum"];
    "AdagradV2" { [f32] [f16; "f16"] }: [ApplyAdagradV2] ResourceApplyAdagradV2 ["var", "accum"];
    "ProximalAdagrad" { [f32] }: [ApplyProximalAdagrad] ResourceApplyProximalAdagrad ["var", "accum"];
    "Adam" { [f32] [f16; "f16"] }: [ApplyAdam] ResourceApplyAdam ["var", "m", "v"];
    "AdamWithAmsgrad" { [f32] [f16; "f16"] }: ResourceApplyAdamWithAmsgrad ["var", "m", "v", "vhat"];
    "AdaMax" { [f32] [f16; "f16"] }: [ApplyAdaMax] ResourceApplyAdaMax ["var", "m", "v"];
    "Adadelta" { [f32] [f16; "f16"] }: [ApplyAdadelta] ResourceApplyAdadelta ["var", "accum", "accum_update"];
    "RMSProp" { [f32] [f16; "f16"] }: [ApplyRMSProp] ResourceApplyRMSProp ["var", "ms", "mom"];
    "CenteredRMSProp" { [f32] [f16; "f16"] }: [ApplyCenteredRMSProp]
        ResourceApplyCenteredRMSProp ["var", "mg", "ms", "mom"];
    "Ftrl" { [f32] [f16; "f16"] }: [ApplyFtrl] ResourceApplyFtrl ["var", "accum", "linear"];
    "FtrlV2" { [f32] [f16; "f16"] }: [ApplyFtrlV2] ResourceApplyFtrlV2 ["var", "accum", "linear"];
    "AddSign" { [f32] [f16; "f16"] }: [ApplyAddSign] ResourceApplyAddSign ["var", "m"];
    "PowerSign" { [f32] [f16; "f16"] }: [ApplyPowerSign] ResourceApplyPowerSign ["var", "m"];

    "ProximalGradientDescent" { [f32] }: [SparseApplyProximalGradientDescent]
        ResourceSparseApplyProximalGradientDescent ["var"];
    "Momentum" { [f32] [f16; "f16"] }: [SparseApplyMomentum] ResourceSparseApplyMomentum ["var", "accum"];
    "KerasMomentum" { [f32] [f16; "f16"] }: ResourceSparseApplyKerasMomentum ["var", "accum"];
    "Adagrad" { [f32] [f16; "f16"] }: [SparseApplyAdagrad] ResourceSparseApplyAdagrad ["var", "accum"];
    "AdagradV2" { [f32] [f16; "f16"] }: [SparseApplyAdagradV2] ResourceSparseApplyAdagradV2 ["var", "accum"];
    "ProximalAdagrad" { [f32] }: [SparseApplyProximalAdagrad] ResourceSparseApplyProximalAdagrad ["var", "accum"];
    "Adadelta" { [f32] [f16; "f16"] }: [SparseApplyAdadelta]
        ResourceSparseApplyAdadelta ["var", "accum", "accum_update"];
    "RMSProp" { [f32] [f16; "f16"] }: [SparseApplyRMSProp] ResourceSparseApplyRMSProp ["var", "ms", "mom"];
    "CenteredRMSProp" { [f32] [f16; "f16"] }: [SparseApplyCenteredRMSProp]
        ResourceSparseApplyCenteredRMSProp ["var", "mg", "ms", "mom"];
    "Ftrl" { [f32] [f16; "f16"] }: [SparseApplyFtrl] ResourceSparseApplyFtrl ["var", "accum", "linear"];
    "FtrlV2" { [f32] [f16; "f16"] }: [SparseApplyFtrlV2] ResourceSparseApplyFtrlV2 ["var", "accum", "linear"];
}

/// The number of kernels of the family.
pub(crate) const KERNELS: usize = ACCUMULATE + RULES;
