//! Convolutions and products of matrices, with what follows them in one node: TensorFlow's fused ops.
//!
//! Floats and doubles only, whose results are the same to the bit; narrower floats are rounded after each op.

use kernlink::Result;
use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::DataType;
use kernlink::graph::{NodeBuilder, Output};
use kernlink::op::{Op, OpDef};
use kernlink::optimize::rewrite::{Matched, MatchedNode, Rewrite};
use kernlink::tensor::Tensor;
use kernlink_macros::register_rewrite;

use super::places::have_one_shape;
use super::sizes::last_size;
use crate::*;

/// A product, by itself or fused, and what is added to it.
pub(super) struct Product {
    op: &'static OpDef,
    pub(super) attrs: AttrMap,
    pub(super) dtype: DataType,
    factors: [Output; 2],
    ops: Vec<String>,
    arguments: Vec<Output>,
}

/// The attrs that products keep when they are fused.
const KEPT: [&str; 13] = [
    "strides",
    "padding",
    "explicit_paddings",
    "data_format",
    "filter_format",
    "dilations",
    "use_cudnn_on_gpu",
    "transpose_a",
    "transpose_b",
    "adj_x",
    "adj_y",
    "epsilon",
    "leakyrelu_alpha",
];

impl Product {
    /// What a node computes, if it can be fused.
    pub(super) fn of(m: &Rewrite<'_, '_>, node: &MatchedNode) -> Option<Product> {
        let matched = m.node(node.id);
        let (op, is_fused) = match &*matched.op.def.name {
            "Conv2D" => (&FusedConv2D::DEF, false),
            "DepthwiseConv2dNative" => (&FusedDepthwiseConv2dNative::DEF, false),
            "MatMul" => (&FusedMatMul::DEF, false),
            "BatchMatMulV2" => (&FusedBatchMatMulV2::DEF, false),
            "_FusedConv2D" => (&FusedConv2D::DEF, true),
            "_FusedDepthwiseConv2dNative" => (&FusedDepthwiseConv2dNative::DEF, true),
            "_FusedMatMul" => (&FusedMatMul::DEF, true),
            "_FusedBatchMatMulV2" => (&FusedBatchMatMulV2::DEF, true),
            _ => return None,
        };
        let dtype = matched.attrs.required::<DataType>("T").ok()?;
        let fits = match dtype {
            DataType::Float => true,
            DataType::Double => !is_of_matrices(op),
            _ => false,
        };
        // The fused depthwise convolution has no explicit padding.
        let is_explicit = matched.attrs.required::<String>("padding").is_ok_and(|padding| padding == "EXPLICIT");
        if !fits || is_explicit && op.name == FusedDepthwiseConv2dNative::DEF.name {
            return None;
        }
        let inputs = m.inputs(node.id);
        let (mut ops, mut arguments) = (Vec::new(), Vec::new());
        if is_fused {
            ops = matched.attrs.required("fused_ops").ok()?;
            let count = usize::try_from(matched.attrs.required::<i64>("num_args").ok()?).ok()?;
            // A node without ops, or with arguments that no op takes, fails.
            if ops.is_empty() || inputs.len() != count.checked_add(2)? {
                return None;
            }
            arguments = inputs[2..].to_vec();
        }
        let kept = |name: &&&str| op.attrs.iter().any(|attr| attr.name == **name);
        let attrs =
            KEPT.iter().filter(kept).filter_map(|name| Some(((*name).to_owned(), matched.attrs.get(name)?.clone())));
        Some(Product {
            op,
            attrs: attrs.collect(),
            dtype,
            factors: [*inputs.first()?, *inputs.get(1)?],
            ops,
            arguments,
        })
    }

    fn channels_last(&self) -> bool {
        !self.attrs.required::<String>("data_format").is_ok_and(|format| format != "NHWC")
    }

    /// Whether all that is done so far is done to each channel.
    fn is_per_channel(&self) -> bool {
        self.ops.iter().all(|op| matches!(&**op, "BiasAdd" | "Mul" | "FusedBatchNorm"))
    }

    /// How many channels there are, if that is certain.
    fn channels(&self, m: &Rewrite<'_, '_>) -> Option<usize> {
        let filter = m.shape(self.factors[1]);
        let dims = filter.dims()?;
        let transposed = ["transpose_b", "adj_y"].iter().any(|name| self.attrs.required::<bool>(name).unwrap_or(false));
        match *dims {
            [_, _, depth, multiplier] if self.op.name == FusedDepthwiseConv2dNative::DEF.name => {
                depth?.checked_mul(multiplier?)
            }
            [.., rows, _] if transposed => rows,
            [.., columns] => columns,
            [] => None,
        }
    }

    /// A constant as a vector with an element for each channel, if it broadcasts to the product along these.
    pub(super) fn vector(&self, m: &Rewrite<'_, '_>, constant: Output) -> Result<Option<Tensor>> {
        let (Some(channels), Some(value)) = (self.channels(m), m.constant(constant)) else { return Ok(None) };
        let rank = if is_of_matrices(self.op) { 2 } else { 4 };
        let from_end = if self.channels_last() { 1 } else { 3 };
        let mut sizes = value.shape().iter().rev().enumerate();
        let fits = sizes.all(|(index, &size)| size == if index + 1 == from_end { channels } else { 1 });
        if value.shape().rank() > rank || value.dtype() != self.dtype || value.num_elements() != channels || !fits {
            return Ok(None);
        }
        value.clone().reshaped([channels]).map(Some)
    }

    fn attr(&mut self, name: &str, value: impl Into<AttrValue>) {
        self.attrs.insert(name, value);
    }

    /// Whether TensorFlow computes the fused node: of depthwise convolutions only of floats, with a bias and some activations.
    fn is_portable(&self) -> bool {
        let is_known = |ops: &[&str]| match *ops {
            ["BiasAdd"] => true,
            ["BiasAdd", activation] => matches!(activation, "Relu" | "Relu6" | "Elu" | "Sigmoid" | "Tanh"),
            _ => false,
        };
        let ops: Vec<&str> = self.ops.iter().map(String::as_str).collect();
        self.op.name != FusedDepthwiseConv2dNative::DEF.name || self.dtype == DataType::Float && is_known(&ops)
    }

    /// The fused node with one more op; `None` if the graph is for TensorFlow, too, and that cannot compute it.
    fn then(mut self, m: &mut Rewrite<'_, '_>, op: &str) -> Result<Option<Output>> {
        self.ops.push(op.to_owned());
        if m.is_written() && !self.is_portable() {
            return Ok(None);
        }
        let count = self.arguments.len() as i64;
        let mut node = NodeBuilder::new(m, self.op);
        node.input(self.factors[0]).input(self.factors[1]).input_list(self.arguments);
        if self.op.name == FusedConv2D::DEF.name {
            node.input_list([] as [Output; 0]).attr("num_args", count);
        }
        for (name, value) in self.attrs.iter() {
            node.attr(name, value.clone());
        }
        node.attr("fused_ops", self.ops);
        node.build_output().map(Some)
    }

    /// The fused node with one more step of each channel.
    fn then_vector(mut self, m: &mut Rewrite<'_, '_>, op: &str, vector: Tensor) -> Result<Option<Output>> {
        let vector = constant(m, vector)?;
        self.arguments.push(vector);
        self.then(m, op)
    }
}

/// Whether a fused op is about matrices rather than images.
fn is_of_matrices(op: &OpDef) -> bool {
    [&FusedMatMul::DEF, &FusedBatchMatMulV2::DEF].iter().any(|of_matrices| of_matrices.name == op.name)
}

/// A product and the bias that is added to it become one node.
#[register_rewrite(
    name = "fuse-bias",
    pattern = add @ BiasAdd { value: product @ Conv2D | DepthwiseConv2dNative | MatMul { .. }, bias },
    creates = [FusedConv2D for Conv2D, FusedDepthwiseConv2dNative for DepthwiseConv2dNative, FusedMatMul for MatMul],
    benefit = 4,
)]
fn fuse_bias(
    m: &mut Rewrite<'_, '_>,
    add: &Matched<BiasAdd>,
    product: &MatchedNode,
    bias: Output,
) -> Result<Option<Output>> {
    let Some(mut product) = Product::of(m, product) else { return Ok(None) };
    if (add.attrs().data_format == "NHWC") != product.channels_last() {
        return Ok(None);
    }
    product.arguments.push(bias);
    product.then(m, "BiasAdd")
}

/// A stack of products and the bias that is added to them become one node.
#[register_rewrite(
    name = "fuse-batched-bias",
    pattern = BiasAdd { value: product @ BatchMatMulV2 { .. }, bias, data_format = "NHWC" },
    creates = [FusedBatchMatMulV2],
    benefit = 4,
    internal,
)]
fn fuse_batched_bias(m: &mut Rewrite<'_, '_>, product: &MatchedNode, bias: Output) -> Result<Option<Output>> {
    let Some(mut product) = Product::of(m, product) else { return Ok(None) };
    product.arguments.push(bias);
    product.then(m, "BiasAdd")
}

/// A product and a constant vector that is added to its channels become one node.
#[register_rewrite(
    name = "fuse-bias-vector",
    pattern = Add | AddV2 { x: product @ Conv2D | DepthwiseConv2dNative | MatMul { .. }, const y },
    creates = [FusedConv2D for Conv2D, FusedDepthwiseConv2dNative for DepthwiseConv2dNative, FusedMatMul for MatMul],
    benefit = 4,
)]
fn fuse_bias_vector(m: &mut Rewrite<'_, '_>, product: &MatchedNode, y: Output) -> Result<Option<Output>> {
    per_channel(m, product, y, "BiasAdd")
}

/// A product and a constant vector by which its channels are multiplied become one node.
#[register_rewrite(
    name = "fuse-scale",
    pattern = Mul {
        x: product @ Conv2D | DepthwiseConv2dNative | MatMul | BatchMatMulV2 | FusedConv2D | FusedDepthwiseConv2dNative | FusedMatMul | FusedBatchMatMulV2 { .. },
        const y
    },
    creates = [FusedConv2D for Conv2D, FusedDepthwiseConv2dNative for DepthwiseConv2dNative, FusedMatMul for MatMul, FusedBatchMatMulV2 for BatchMatMulV2],
    benefit = 3,
    internal,
)]
fn fuse_scale(m: &mut Rewrite<'_, '_>, product: &MatchedNode, y: Output) -> Result<Option<Output>> {
    per_channel(m, product, y, "Mul")
}

/// A fused or stacked product and a constant vector that is added to its channels become one node.
#[register_rewrite(
    name = "fuse-second-bias",
    pattern = Add | AddV2 { x: product @ BatchMatMulV2 | FusedConv2D | FusedDepthwiseConv2dNative | FusedMatMul | FusedBatchMatMulV2 { .. }, const y },
    creates = [FusedConv2D for Conv2D, FusedDepthwiseConv2dNative for DepthwiseConv2dNative, FusedMatMul for MatMul, FusedBatchMatMulV2 for BatchMatMulV2],
    benefit = 3,
    internal,
)]
fn fuse_second_bias(m: &mut Rewrite<'_, '_>, product: &MatchedNode, y: Output) -> Result<Option<Output>> {
    per_channel(m, product, y, "BiasAdd")
}

fn per_channel(m: &mut Rewrite<'_, '_>, product: &MatchedNode, y: Output, op: &str) -> Result<Option<Output>> {
    let Some(product) = Product::of(m, product).filter(Product::is_per_channel) else { return Ok(None) };
    match product.vector(m, y)? {
        Some(vector) => product.then_vector(m, op, vector),
        None => Ok(None),
    }
}

/// A convolution and the normalisation of its channels, in inference, become one node.
#[register_rewrite(
    name = "fuse-batch-norm",
    pattern = norm @ FusedBatchNorm | FusedBatchNormV2 | FusedBatchNormV3 {
        x: product @ Conv2D | DepthwiseConv2dNative { .. },
        scale, offset, mean, variance, is_training = false
    },
    creates = [FusedConv2D for Conv2D, FusedDepthwiseConv2dNative for DepthwiseConv2dNative],
    benefit = 4,
)]
fn fuse_batch_norm(
    m: &mut Rewrite<'_, '_>,
    norm: &MatchedNode,
    product: &MatchedNode,
    scale: Output,
    offset: Output,
    mean: Output,
    variance: Output,
) -> Result<Option<Output>> {
    normalised(m, norm, product, [scale, offset, mean, variance])
}

/// A fused convolution and the normalisation of its channels, in inference, become one node.
#[register_rewrite(
    name = "fuse-second-batch-norm",
    pattern = norm @ FusedBatchNorm | FusedBatchNormV2 | FusedBatchNormV3 {
        x: product @ FusedConv2D | FusedDepthwiseConv2dNative { .. },
        scale, offset, mean, variance, is_training = false
    },
    creates = [FusedConv2D for Conv2D, FusedDepthwiseConv2dNative for DepthwiseConv2dNative],
    benefit = 3,
    internal,
)]
fn fuse_second_batch_norm(
    m: &mut Rewrite<'_, '_>,
    norm: &MatchedNode,
    product: &MatchedNode,
    scale: Output,
    offset: Output,
    mean: Output,
    variance: Output,
) -> Result<Option<Output>> {
    normalised(m, norm, product, [scale, offset, mean, variance])
}

fn normalised(
    m: &mut Rewrite<'_, '_>,
    norm: &MatchedNode,
    product: &MatchedNode,
    vectors: [Output; 4],
) -> Result<Option<Output>> {
    let Some(mut product) = Product::of(m, product).filter(Product::is_per_channel) else { return Ok(None) };
    let format: String = m.attr(norm.id, "data_format")?;
    let is_second = product.ops.iter().any(|op| op == "FusedBatchNorm");
    if product.dtype != DataType::Float || (format == "NHWC") != product.channels_last() || is_second {
        return Ok(None);
    }
    product.attr("epsilon", m.attr::<f32>(norm.id, "epsilon")?);
    product.arguments.extend(vectors);
    product.then(m, "FusedBatchNorm")
}

/// A fused convolution and what of the same shape is added to it, as in residual blocks, become one node.
#[register_rewrite(
    name = "fuse-residual",
    pattern = Add | AddV2 { x: product @ FusedConv2D | FusedDepthwiseConv2dNative { .. }, y: summand },
    creates = [FusedConv2D for FusedConv2D, FusedDepthwiseConv2dNative for FusedDepthwiseConv2dNative],
    benefit = 2,
    internal,
)]
fn fuse_residual(m: &mut Rewrite<'_, '_>, product: &MatchedNode, summand: Output) -> Result<Option<Output>> {
    let output = product.output(0);
    let Some(mut product) = Product::of(m, product).filter(Product::is_per_channel) else { return Ok(None) };
    // The kernel does not broadcast.
    if summand == output || !product.channels_last() || !have_one_shape(m, output, summand) {
        return Ok(None);
    }
    product.arguments.push(summand);
    product.then(m, "Add")
}

/// A fused product and the activation of it become one node.
#[register_rewrite(
    name = "fuse-activation",
    pattern = activation @ Relu | Relu6 | Elu | LeakyRelu {
        features: product @ FusedConv2D | FusedDepthwiseConv2dNative | FusedMatMul | FusedBatchMatMulV2 { .. }
    },
    creates = [FusedConv2D for Conv2D, FusedDepthwiseConv2dNative for DepthwiseConv2dNative, FusedMatMul for MatMul, FusedBatchMatMulV2 for BatchMatMulV2],
    benefit = 2,
)]
fn fuse_activation(m: &mut Rewrite<'_, '_>, activation: &MatchedNode, product: &MatchedNode) -> Result<Option<Output>> {
    activated(m, activation, product)
}

/// A fused product and the smooth activation of it become one node.
#[register_rewrite(
    name = "fuse-smooth-activation",
    pattern = activation @ Swish | HardSwish | GeluExact | GeluApproximate {
        features: product @ FusedConv2D | FusedDepthwiseConv2dNative | FusedMatMul | FusedBatchMatMulV2 { .. }
    },
    creates = [FusedConv2D for Conv2D, FusedDepthwiseConv2dNative for DepthwiseConv2dNative, FusedMatMul for MatMul, FusedBatchMatMulV2 for BatchMatMulV2],
    benefit = 2,
    internal,
)]
fn fuse_smooth_activation(
    m: &mut Rewrite<'_, '_>,
    activation: &MatchedNode,
    product: &MatchedNode,
) -> Result<Option<Output>> {
    activated(m, activation, product)
}

/// A fused product and its sigmoid or hyperbolic tangent become one node.
#[register_rewrite(
    name = "fuse-sigmoid",
    pattern = activation @ Sigmoid | Tanh { x: product @ FusedConv2D | FusedDepthwiseConv2dNative | FusedMatMul | FusedBatchMatMulV2 { .. } },
    creates = [FusedConv2D for Conv2D, FusedDepthwiseConv2dNative for DepthwiseConv2dNative, FusedMatMul for MatMul, FusedBatchMatMulV2 for BatchMatMulV2],
    benefit = 2,
    internal,
)]
fn fuse_sigmoid(m: &mut Rewrite<'_, '_>, activation: &MatchedNode, product: &MatchedNode) -> Result<Option<Output>> {
    activated(m, activation, product)
}

fn activated(m: &mut Rewrite<'_, '_>, activation: &MatchedNode, product: &MatchedNode) -> Result<Option<Output>> {
    let ends = |product: &Product| product.ops.last().is_some_and(|op| op == "Add");
    let Some(mut product) = Product::of(m, product).filter(|product| product.is_per_channel() || ends(product)) else {
        return Ok(None);
    };
    let name = match &*m.node(activation.id).op.def.name {
        "_Swish" => "_MklSwish",
        "_HardSwish" => "_FusedHardSwish",
        "_GeluExact" => "GeluExact",
        "_GeluApproximate" => "GeluApproximate",
        name => name,
    };
    let name = name.to_owned();
    if name == "LeakyRelu" {
        product.attr("leakyrelu_alpha", m.attr::<f32>(activation.id, "alpha")?);
    }
    product.then(m, &name)
}

/// The bias of a product of matrices in another shape goes before the reshaping, where it is fused.
#[register_rewrite(
    name = "fuse-reshaped-bias",
    pattern = add @ BiasAdd { value: reshape @ Reshape { tensor: product @ MatMul { .. }, shape }, bias },
    creates = [FusedMatMul, Reshape],
    benefit = 4,
)]
fn fuse_reshaped_bias(
    m: &mut Rewrite<'_, '_>,
    add: &Matched<BiasAdd>,
    reshape: &Matched<Reshape>,
    product: &MatchedNode,
    shape: Output,
    bias: Output,
) -> Result<Option<Output>> {
    let Some(mut product) = Product::of(m, product) else { return Ok(None) };
    let columns = product.channels(m);
    let length = m.shape(bias).dims().and_then(|dims| dims.first().copied().flatten());
    let is_last = columns.is_some() && columns == length && columns == last_size(m, reshape.output(0));
    if add.attrs().data_format != "NHWC" || !is_last {
        return Ok(None);
    }
    product.arguments.push(bias);
    let Some(product) = product.then(m, "BiasAdd")? else { return Ok(None) };
    crate::reshape(m, product, shape).build().map(Some)
}

/// An activation of a fused product in another shape goes before the reshaping, where it is fused.
#[register_rewrite(
    name = "fuse-reshaped-activation",
    pattern = activation @ Relu | Relu6 | Elu | LeakyRelu | Swish | HardSwish | GeluExact | GeluApproximate {
        features: Reshape { tensor: product @ FusedMatMul { .. }, shape }
    },
    creates = [FusedMatMul, Reshape],
    benefit = 2,
    internal,
)]
fn fuse_reshaped_activation(
    m: &mut Rewrite<'_, '_>,
    activation: &MatchedNode,
    product: &MatchedNode,
    shape: Output,
) -> Result<Option<Output>> {
    match activated(m, activation, product)? {
        Some(product) => crate::reshape(m, product, shape).build().map(Some),
        None => Ok(None),
    }
}
