//! What differences cannot tell of, each with its reason.

/// An entry of one of the lists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Exempt {
    pub(super) op: &'static str,
    /// The input, if the op is checked by others.
    pub(super) argument: Option<&'static str>,
}

/// Samples, whose gradients say how they move so that the probability of less stays as it is.
const SAMPLES: &str = "the samples come by rejection; own.rs holds the gradient against their distribution";

/// Images that are seen through transforms.
const INVERSE: &str =
    "what flows back is seen through the inverse transform, as in TensorFlow, which is near the slope at best";

/// Functions of steps.
const STEPS: &str = "it has steps in place of slopes; what flows is that of the function without them";

/// Ops.
pub(super) const OPS: &[(&str, &str)] = &[
    ("FakeQuantWithMinMaxArgs", STEPS),
    ("FakeQuantWithMinMaxVars", STEPS),
    ("FakeQuantWithMinMaxVarsPerChannel", STEPS),
    ("ImageProjectiveTransformV2", INVERSE),
    ("ImageProjectiveTransformV3", INVERSE),
    ("PreventGradient", "its gradient is an error, as it is asked to be"),
    ("QuantizeAndDequantize", STEPS),
    ("QuantizeAndDequantizeV2", STEPS),
    ("QuantizeAndDequantizeV3", STEPS),
    ("QuantizeAndDequantizeV4", STEPS),
    ("RandomGamma", SAMPLES),
    ("StatelessRandomGammaV2", SAMPLES),
    ("StatelessRandomGammaV3", SAMPLES),
    ("TensorArrayGradV3", "its gradient is an error: gradients go through an array once"),
];

const NO_SLOPE: &str = "nothing flows back to it, as in TensorFlow";
const BY_FLOW: &str = "a handle: what flows back goes by `flow_in`";
const STATISTICS: &str = "statistics of `x`, to which their part of the slope goes";

/// Inputs of ops that are checked by others.
pub(super) const ARGUMENTS: &[(&str, &str, &str)] = &[
    ("Betainc", "a", NO_SLOPE),
    ("Betainc", "b", NO_SLOPE),
    ("FusedBatchNorm", "mean", NO_SLOPE),
    ("FusedBatchNorm", "variance", NO_SLOPE),
    ("FusedBatchNormGrad", "reserve_space_1", STATISTICS),
    ("FusedBatchNormGrad", "reserve_space_2", STATISTICS),
    ("FusedBatchNormGradV2", "reserve_space_1", STATISTICS),
    ("FusedBatchNormGradV2", "reserve_space_2", STATISTICS),
    ("FusedBatchNormGradV3", "reserve_space_1", STATISTICS),
    ("FusedBatchNormGradV3", "reserve_space_2", STATISTICS),
    ("FusedBatchNormGradV3", "reserve_space_3", "empty on the CPU"),
    ("FusedBatchNormV2", "mean", NO_SLOPE),
    ("FusedBatchNormV2", "variance", NO_SLOPE),
    ("FusedBatchNormV3", "mean", NO_SLOPE),
    ("FusedBatchNormV3", "variance", NO_SLOPE),
    ("MatrixDiagPartV2", "padding_value", NO_SLOPE),
    ("MatrixDiagPartV3", "padding_value", NO_SLOPE),
    ("MatrixDiagV2", "padding_value", NO_SLOPE),
    ("MatrixDiagV3", "padding_value", NO_SLOPE),
    ("MatrixSolveLs", "l2_regularizer", NO_SLOPE),
    ("PadV2", "constant_values", NO_SLOPE),
    ("Polygamma", "a", "an order, which is whole"),
    ("ScaleAndTranslate", "scale", NO_SLOPE),
    ("ScaleAndTranslate", "translation", NO_SLOPE),
    ("SparseAdd", "thresh", "a limit, at which the function has no slope"),
    ("StatelessParameterizedTruncatedNormal", "minvals", SAMPLES),
    ("StatelessParameterizedTruncatedNormal", "maxvals", SAMPLES),
    ("TensorArrayConcatV3", "handle", BY_FLOW),
    ("TensorArrayGatherV3", "handle", BY_FLOW),
    ("TensorArrayReadV3", "handle", BY_FLOW),
    ("TensorArrayScatterV3", "handle", BY_FLOW),
    ("TensorArraySplitV3", "handle", BY_FLOW),
    ("TensorArrayWriteV3", "handle", BY_FLOW),
    ("Zeta", "x", NO_SLOPE),
];

const NO_KERNEL: &str = "no kernel, as in TensorFlow";

/// Ops that declare `double`, and are checked in `float` alone.
pub(super) const NOT_DOUBLE: &[(&str, &str)] =
    &[("AvgPool3D", NO_KERNEL), ("AvgPool3DGrad", NO_KERNEL), ("MaxPool3DGradGrad", NO_KERNEL)];

/// Ops that declare complex numbers, and are not checked in them.
pub(super) const NOT_COMPLEX: &[(&str, &str)] = &[
    ("BatchToSpace", NO_KERNEL),
    ("BatchToSpaceND", NO_KERNEL),
    ("BatchNormWithGlobalNormalization", NO_KERNEL),
    ("ClipByValue", "its gradient compares, as TensorFlow's does"),
    ("FloorDiv", NO_KERNEL),
    ("Round", NO_KERNEL),
    ("SpaceToBatch", NO_KERNEL),
    ("SpaceToBatchND", NO_KERNEL),
    ("SparseDenseCwiseAdd", NO_KERNEL),
    ("SparseDenseCwiseDiv", NO_KERNEL),
    ("SparseDenseCwiseMul", NO_KERNEL),
    ("SparseSparseMinimum", NO_KERNEL),
    ("TensorScatterMax", NO_KERNEL),
    ("TensorScatterMin", NO_KERNEL),
    ("TruncateDiv", NO_KERNEL),
];

const TWICE: &str = "at 0 the gradient is twice the slope, as in TensorFlow";
const BENT: &str = "at 0 the slope bends, so that differences are only as near as their step";

/// What the names of cases begin with that are at points where their gradient is none, and why. Other cases and `inputs` have
/// these ops at other points.
pub(super) const OTHER_POINTS: &[(&str, &str)] = &[
    ("BesselI1_double_zero", TWICE),
    ("BesselI1_float_zero", TWICE),
    ("BesselI1e_double_zero", BENT),
    ("BesselI1e_float_zero", BENT),
    ("ClipByValue_", "two elements meet a limit"),
    ("CropAndResize_", "some boxes reach beyond the images, and copies of the nearest pixels have no slope by boxes"),
    ("CrossEntropy_", "the gradient takes labels for distributions, which these are not"),
    ("FusedBatchNormGrad_1_", "the statistics are not those of `x`"),
    ("FusedBatchNormGradV2_1_", "the statistics are not those of `x`"),
    ("FusedBatchNormGradV3_1_", "the statistics are not those of `x`"),
];
