//! Ops through which nothing flows.

use kernlink_macros::not_differentiable;

use crate::*;

not_differentiable!(Const, NoOp, StopGradient);

not_differentiable!(
    BroadcastArgs,
    BroadcastGradientArgs,
    ConcatOffset,
    InvertPermutation,
    OneHot,
    OnesLike,
    Rank,
    Shape,
    ShapeN,
    Size,
    ZerosLike
);

not_differentiable!(
    All,
    Any,
    ApproximateEqual,
    Equal,
    Greater,
    GreaterEqual,
    IsFinite,
    IsInf,
    IsNan,
    Less,
    LessEqual,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    NotEqual,
    Range
);

not_differentiable!(ArgMax, ArgMin);
