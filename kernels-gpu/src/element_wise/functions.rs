//! Functions of one to three elements: the files have one for each op, by its name, and the lists here say of which dtypes.

use kernlink_geometry::element_wise::{BY_ZERO, NEGATIVE_POWER};
use kernlink_macros::register_kernel;
use kernlink_ops::*;

/// Functions of one element.
#[register_kernel(
    device = Gpu,
    op = [
        Acos, Acosh, Asin, Asinh, Atan, Atanh, Ceil, Cos, Cosh, Digamma, Elu, Erf, Erfc, Exp, Expm1, Floor, Inv, IsFinite,
        IsInf, IsNan, Lgamma, Log, Log1p, Reciprocal, Rsqrt, Selu, Sigmoid, Sin, Sinh, Softplus, Softsign, Sqrt, Tan, Tanh,
        Swish, HardSwish, GeluExact, GeluApproximate
    ],
    T = [f32, f16],
    wgsl = "unary.wgsl",
    dispatch = element_wise(equal)
)]
#[register_kernel(
    device = Gpu, op = [Erfinv, Ndtri, Rint], T = [f32], wgsl = "unary.wgsl", dispatch = element_wise(equal)
)]
#[register_kernel(
    device = Gpu, op = [Abs, Neg, Round, Sign], T = [f32, i32, f16, i64], wgsl = "unary.wgsl",
    dispatch = element_wise(equal)
)]
#[register_kernel(
    device = Gpu, op = [Relu, Relu6, Square], T = [f32, i32, u32, f16, i64], wgsl = "unary.wgsl",
    dispatch = element_wise(equal)
)]
#[register_kernel(device = Gpu, op = Invert, T = [i32, u32, i64], wgsl = "unary.wgsl", dispatch = element_wise(equal))]
#[register_kernel(device = Gpu, op = LogicalNot, wgsl = "unary.wgsl", dispatch = element_wise(equal))]
#[register_kernel(
    device = Gpu, op = LeakyRelu, T = [f32, f16], wgsl = "unary.wgsl", dispatch = element_wise(equal), params = [alpha]
)]
struct Unary;

/// Functions of two elements.
#[register_kernel(
    device = Gpu, op = [Atan2, DivNoNan, MulNoNan, RealDiv, Xdivy, Xlogy], T = [f32, f16], wgsl = "binary.wgsl",
    dispatch = element_wise(broadcast)
)]
#[register_kernel(
    device = Gpu, op = [Igamma, Igammac, NextAfter, Polygamma, Zeta], T = [f32], wgsl = "binary.wgsl",
    dispatch = element_wise(broadcast)
)]
#[register_kernel(
    device = Gpu, op = [Add, SquaredDifference], T = [f32, i32, f16, i64], wgsl = "binary.wgsl",
    dispatch = element_wise(broadcast)
)]
#[register_kernel(
    device = Gpu, op = [AddV2, Greater, GreaterEqual, Less, LessEqual, Maximum, Minimum, Mul, Sub],
    T = [f32, i32, u32, f16, i64], wgsl = "binary.wgsl", dispatch = element_wise(broadcast)
)]
#[register_kernel(
    device = Gpu, op = [BitwiseAnd, BitwiseOr, BitwiseXor, LeftShift, RightShift], T = [i32, u32, i64],
    wgsl = "binary.wgsl", dispatch = element_wise(broadcast)
)]
#[register_kernel(device = Gpu, op = [LogicalAnd, LogicalOr], wgsl = "binary.wgsl", dispatch = element_wise(broadcast))]
#[register_kernel(
    device = Gpu, op = Pow, T = [f32, i32, f16, i64], wgsl = "binary.wgsl", dispatch = element_wise(broadcast),
    refusal = (InvalidArgument, NEGATIVE_POWER)
)]
#[register_kernel(
    device = Gpu, op = [Div, FloorDiv, FloorMod], T = [f32, i32, u32, f16, i64], wgsl = "binary.wgsl",
    dispatch = element_wise(broadcast), refusal = (InvalidArgument, BY_ZERO)
)]
#[register_kernel(
    device = Gpu, op = Mod, T = [f32, i32, i64], wgsl = "binary.wgsl", dispatch = element_wise(broadcast),
    refusal = (InvalidArgument, BY_ZERO)
)]
// The code is TensorFlow's: it does not expect this error of the truncating ones.
#[register_kernel(
    device = Gpu, op = TruncateDiv, T = [f32, i32, u32, f16, i64], wgsl = "binary.wgsl",
    dispatch = element_wise(broadcast), refusal = (Internal, BY_ZERO)
)]
#[register_kernel(
    device = Gpu, op = TruncateMod, T = [f32, i32, i64], wgsl = "binary.wgsl", dispatch = element_wise(broadcast),
    refusal = (Internal, BY_ZERO)
)]
#[register_kernel(
    device = Gpu, op = ApproximateEqual, T = [f32], wgsl = "binary.wgsl", dispatch = element_wise(equal),
    params = [tolerance]
)]
struct Binary;

/// Gradients of functions of one element.
#[register_kernel(
    device = Gpu, op = [Relu6Grad, ReluGrad], T = [f32, i32, u32, f16, i64], wgsl = "gradient.wgsl",
    dispatch = element_wise(equal)
)]
#[register_kernel(
    device = Gpu, op = [EluGrad, SeluGrad, SoftplusGrad, SoftsignGrad], T = [f32, f16], wgsl = "gradient.wgsl",
    dispatch = element_wise(equal)
)]
#[register_kernel(
    device = Gpu, op = [InvGrad, ReciprocalGrad, RsqrtGrad, SigmoidGrad, SqrtGrad, TanhGrad], T = [f32, f16],
    wgsl = "gradient.wgsl", dispatch = element_wise(alike)
)]
#[register_kernel(
    device = Gpu, op = LeakyReluGrad, T = [f32, f16], wgsl = "gradient.wgsl", dispatch = element_wise(equal),
    params = [alpha]
)]
struct Gradient;

/// A choice between two elements.
#[register_kernel(
    device = Gpu, op = SelectV2, T = [f32, i32, u32, bool, f16, i64], wgsl = "select.wgsl",
    dispatch = element_wise(broadcast)
)]
struct Choice;
