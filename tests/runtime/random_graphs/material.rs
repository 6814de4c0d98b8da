//! What random graphs are made of: tensors, and the ops with what they take.

use kernlink::prelude::*;

use crate::support::Random;

pub(super) const SHAPES: &[&[usize]] =
    &[&[], &[], &[], &[3], &[3], &[2, 3], &[2, 3], &[1], &[1, 3], &[2, 1], &[0], &[3, 2], &[2]];

/// A random tensor of small numbers; now and then of infinities and NaN.
pub(super) fn tensor(dtype: DataType, shape: &[usize], random: &mut Random) -> Tensor {
    let count = shape.iter().product();
    let odd = random.below(12) == 0;
    let mut float = || match random.below(if odd { 4 } else { 24 }) {
        0 if odd => f32::NAN,
        1 if odd => f32::INFINITY,
        2 => 0.0,
        3 => -0.0,
        _ => (random.below(25) as f32 - 12.0) / 4.0,
    };
    let tensor = match dtype {
        DataType::Float => Tensor::vector(&(0..count).map(|_| float()).collect::<Vec<f32>>()),
        DataType::Double => Tensor::vector(&(0..count).map(|_| f64::from(float())).collect::<Vec<f64>>()),
        DataType::Int32 => Tensor::vector(&(0..count).map(|_| random.below(6) as i32 - 2).collect::<Vec<i32>>()),
        DataType::Int64 => Tensor::vector(&(0..count).map(|_| random.below(6) as i64 - 2).collect::<Vec<i64>>()),
        DataType::Bool => Tensor::vector(&(0..count).map(|_| random.below(2) == 0).collect::<Vec<bool>>()),
        DataType::String => {
            Tensor::vector(&(0..count).map(|_| format!("s{}", random.below(9)).into()).collect::<Vec<TString>>())
        }
        other => panic!("no {other} here"),
    };
    tensor.unwrap().reshaped(shape.to_vec()).unwrap()
}

/// What an output may be fed: of the shape that is known, or of another one.
pub(super) fn feed_like(graph: &Graph, output: Output, random: &mut Random) -> Tensor {
    let dtype = graph.node(output.node).signature.outputs[output.index].dtype;
    let known = graph.shape(output).to_shape().filter(|_| random.below(12) > 0);
    let dims: Vec<usize> = match known {
        Some(shape) => shape.dims().to_vec(),
        None => SHAPES[random.below(SHAPES.len())].to_vec(),
    };
    tensor(dtype, &dims, random)
}

/// The dtypes that values have.
pub(super) const DTYPES: &[DataType] = &[
    DataType::Float,
    DataType::Float,
    DataType::Float,
    DataType::Float,
    DataType::Int32,
    DataType::Int32,
    DataType::Bool,
    DataType::Double,
    DataType::Int64,
];

use DataType::{Bool as B, Double as D, Float as F, Int32 as I, Int64 as L};

/// Ops of one input: the dtypes that it may have.
pub(super) const UNARY: &[(&str, &[DataType])] = &[
    ("Neg", &[F, D, I, L]),
    ("Abs", &[F, D, I, L]),
    ("Sign", &[F, D, I, L]),
    ("Square", &[F, D, I, L]),
    ("Relu", &[F, D, I]),
    ("Relu6", &[F, D]),
    ("Elu", &[F, D]),
    ("Softplus", &[F]),
    ("Tanh", &[F, D]),
    ("Sigmoid", &[F, D]),
    ("Exp", &[F, D]),
    ("Log", &[F, D]),
    ("Sqrt", &[F, D]),
    ("Rsqrt", &[F, D]),
    ("Reciprocal", &[F, D]),
    ("Floor", &[F, D]),
    ("Rint", &[F, D]),
    ("Erf", &[F]),
    ("IsNan", &[F, D]),
    ("IsFinite", &[F, D]),
    ("LogicalNot", &[B]),
    ("ZerosLike", &[F, D, I, L, B]),
    ("OnesLike", &[F, D, I, L]),
    ("Identity", &[F, D, I, L, B]),
    ("Identity", &[F, D, I, L, B]),
    ("StopGradient", &[F, D, I]),
    ("Snapshot", &[F, I]),
    ("Softmax", &[F]),
    ("LogSoftmax", &[F, D]),
    ("L2Loss", &[F, D]),
    ("Shape", &[F, D, I, L, B]),
    ("Shape", &[F, D, I, L, B]),
    ("Size", &[F, D, I, L, B]),
    ("Rank", &[F, D, I, L, B]),
    ("Where", &[B, F]),
    ("InvertPermutation", &[I]),
    ("Unique", &[I, L]),
];

/// Ops of two inputs of one dtype.
pub(super) const BINARY: &[(&str, &[DataType])] = &[
    ("AddV2", &[F, D, I, L]),
    ("AddV2", &[F, D, I, L]),
    ("Add", &[F, I]),
    ("Sub", &[F, D, I, L]),
    ("Mul", &[F, D, I, L]),
    ("Mul", &[F, D, I, L]),
    ("Maximum", &[F, D, I, L]),
    ("Minimum", &[F, D, I, L]),
    ("SquaredDifference", &[F, I]),
    ("RealDiv", &[F, D]),
    ("DivNoNan", &[F, D]),
    ("FloorDiv", &[F, I]),
    ("FloorMod", &[I]),
    ("Pow", &[F]),
    ("Less", &[F, I, L]),
    ("LessEqual", &[F, I]),
    ("Greater", &[F, D, I]),
    ("Equal", &[F, I, B]),
    ("NotEqual", &[F, I]),
    ("LogicalAnd", &[B]),
    ("LogicalOr", &[B]),
    ("MatMul", &[F, D]),
    ("BatchMatMulV2", &[F]),
    ("BiasAdd", &[F]),
    ("Atan2", &[F]),
    ("ReluGrad", &[F]),
    ("TanhGrad", &[F]),
    ("BroadcastArgs", &[I]),
];

/// Ops that reduce one input along others of `int32`.
pub(super) const REDUCTIONS: &[(&str, &[DataType])] = &[
    ("Sum", &[F, D, I]),
    ("Mean", &[F, D]),
    ("Max", &[F, I]),
    ("Min", &[F, I]),
    ("Prod", &[F, I]),
    ("All", &[B]),
    ("Any", &[B]),
    ("ArgMax", &[F, I]),
    ("ReverseV2", &[F, I]),
];
