//! What follows a product in one node: a bias or a normalisation, a summand, an activation.

use kernlink::attr::AttrMap;
use kernlink::dtype::DataType;
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Code, bail, ensure};
use smallvec::SmallVec;

/// The function that is taken of each element at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// None.
    Identity,
    /// `max(x, 0)`.
    Relu,
    /// `min(max(x, 0), 6)`.
    Relu6,
    /// `x` where positive, `exp(x) - 1` elsewhere.
    Elu,
    /// `x` where positive, this times `x` elsewhere.
    LeakyRelu(f32),
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// `0.5 * x * (1 + erf(x / sqrt(2)))`.
    GeluExact,
    /// `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`.
    GeluApproximate,
    /// `x * sigmoid(x)`.
    Swish,
    /// `x * relu6(x + 3) / 6`.
    HardSwish,
}

/// The names of activations in attr `fused_ops`, those of TensorFlow with or without oneDNN.
const NAMES: [(&str, Activation); 10] = [
    ("Relu", Activation::Relu),
    ("Relu6", Activation::Relu6),
    ("Elu", Activation::Elu),
    ("LeakyRelu", Activation::LeakyRelu(0.0)),
    ("Sigmoid", Activation::Sigmoid),
    ("Tanh", Activation::Tanh),
    ("GeluExact", Activation::GeluExact),
    ("GeluApproximate", Activation::GeluApproximate),
    ("_MklSwish", Activation::Swish),
    ("_FusedHardSwish", Activation::HardSwish),
];

impl Activation {
    /// All but [`Activation::Identity`], [`Activation::LeakyRelu`] with this slope.
    pub fn all(slope: f32) -> impl Iterator<Item = (&'static str, Activation)> {
        NAMES.iter().map(move |&(name, activation)| (name, activation.with_slope(slope)))
    }

    fn with_slope(self, slope: f32) -> Activation {
        if let Activation::LeakyRelu(_) = self { Activation::LeakyRelu(slope) } else { self }
    }
}

/// A step that each channel takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Channels {
    /// Its argument is added.
    Bias,
    /// Its argument is a factor.
    Scale,
    /// Its arguments are scale, offset, mean and variance, to which this epsilon is added.
    Norm {
        /// Attr `epsilon`.
        epsilon: f32,
    },
}

impl Channels {
    /// How many arguments the step has, each with an element for each channel.
    pub fn vectors(self) -> usize {
        self.names().len()
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            Channels::Bias => &["bias"],
            Channels::Scale => &["scale"],
            Channels::Norm { .. } => &["scale", "offset", "estimated_mean", "estimated_variance"],
        }
    }
}

/// What attr `fused_ops` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Fusion {
    /// What is done to each channel, in order: at least one step.
    pub channels: SmallVec<[Channels; 2]>,
    /// Whether the last argument, in the output's shape, is added then.
    pub summand: bool,
    /// What is taken of the sum.
    pub activation: Activation,
}

impl Fusion {
    /// Of attrs `fused_ops`, `num_args`, `epsilon` and `leakyrelu_alpha`. `normalises` says whether `FusedBatchNorm` may
    /// be among the ops.
    ///
    /// # Errors
    /// UNIMPLEMENTED for ops that do not follow each other in one kernel, INVALID_ARGUMENT for none, and for a number of
    /// arguments that is not theirs.
    pub fn new(attrs: &AttrMap, normalises: bool) -> Result<Fusion> {
        let names: Vec<String> = attrs.required("fused_ops")?;
        ensure!(!names.is_empty(), InvalidArgument, "there must be at least one fused op");
        let unknown = || Error::new(Code::Unimplemented, format!("Fusion is not implemented: [{}]", names.join(",")));
        let (mut channels, mut rest) = (SmallVec::new(), &names[..]);
        while let [first, others @ ..] = rest {
            channels.push(match &**first {
                "BiasAdd" => Channels::Bias,
                "Mul" => Channels::Scale,
                "FusedBatchNorm" if normalises => Channels::Norm { epsilon: attrs.required("epsilon")? },
                _ => break,
            });
            rest = others;
        }
        if channels.is_empty() {
            return Err(unknown());
        }
        let (summand, rest) = match rest {
            [first, rest @ ..] if first == "Add" => (true, rest),
            rest => (false, rest),
        };
        let activation = match rest {
            [] => Activation::Identity,
            [name] => {
                let slope = attrs.required("leakyrelu_alpha")?;
                let found = Activation::all(slope).find(|(known, _)| known == name);
                found.ok_or_else(unknown)?.1
            }
            _ => return Err(unknown()),
        };
        let fusion = Fusion { channels, summand, activation };
        let given: i64 = attrs.required("num_args")?;
        ensure!(
            usize::try_from(given) == Ok(fusion.arguments()),
            InvalidArgument,
            "[{}] must have {} extra arguments, not {given}",
            names.join(","),
            fusion.arguments()
        );
        Ok(fusion)
    }

    /// How many arguments are [`Fusion::channels`]'.
    pub fn vectors(&self) -> usize {
        self.channels.iter().map(|step| step.vectors()).sum()
    }

    /// How many arguments there are.
    pub fn arguments(&self) -> usize {
        self.vectors() + usize::from(self.summand)
    }

    /// The node's arguments, which follow two inputs and have to be of dtype `dtype`: as many as
    /// [`Fusion::arguments`]. `output` is the product's shape with channels last, to where `last` brings a summand.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the arguments do not fit, and those of `last`.
    pub fn arguments_of(
        &self,
        ctx: &RawContext<'_>,
        dtype: DataType,
        output: &Shape,
        last: impl FnOnce(&Tensor) -> Result<Tensor>,
    ) -> Result<SmallVec<[Tensor; 5]>> {
        let mut tensors = SmallVec::<[Tensor; 5]>::new();
        for index in 0..self.arguments() {
            let argument = ctx.input_at(2 + index)?;
            let found = argument.dtype();
            ensure!(found == dtype, InvalidArgument, "arguments must be {dtype}, not {found}");
            tensors.push(argument.clone());
        }
        if self.summand
            && let Some(summand) = tensors.last_mut()
        {
            *summand = last(summand)?;
        }
        self.ensure_arguments(tensors.iter().map(Tensor::shape), output)?;
        Ok(tensors)
    }

    /// Fails unless arguments of these shapes fit an output, whose last dimension is the channels.
    fn ensure_arguments<'a>(&self, arguments: impl IntoIterator<Item = &'a Shape>, output: &Shape) -> Result<()> {
        let channels = output.last().copied().unwrap_or(1);
        let names = self.channels.iter().flat_map(|step| step.names());
        let mut arguments = arguments.into_iter();
        for (name, shape) in names.zip(arguments.by_ref()) {
            ensure!(shape.rank() == 1, InvalidArgument, "{name} must be 1-dimensional, not {shape}");
            ensure!(
                shape[0] == channels,
                InvalidArgument,
                "{name} must have as many elements as there are output channels, {channels}, not {}",
                shape[0]
            );
        }
        for summand in arguments {
            ensure!(
                summand == output,
                InvalidArgument,
                "what is added must have the output's shape, {output}, not {summand}"
            );
        }
        Ok(())
    }
}

/// What follows a normalisation of batches in one node: attrs `activation_mode` and `num_side_inputs` say it.
///
/// # Errors
/// INVALID_ARGUMENT for another activation than `Identity` and `Relu`, and for more than one side input.
pub fn after_norm(attrs: &AttrMap) -> Result<Activation> {
    let mode: String = attrs.required("activation_mode")?;
    let activation = match &*mode {
        "Identity" => Activation::Identity,
        "Relu" => Activation::Relu,
        _ => bail!(InvalidArgument, "activation_mode is {mode}; Identity and Relu are supported"),
    };
    let sides: i64 = attrs.required("num_side_inputs")?;
    ensure!(sides <= 1, InvalidArgument, "there may be one side input, not {sides}");
    Ok(activation)
}

/// Fails unless what is added to a normalised `x` has its shape.
///
/// # Errors
/// INVALID_ARGUMENT if it has another one.
pub fn ensure_side(side: &Shape, x: &Shape) -> Result<()> {
    ensure!(side == x, InvalidArgument, "side_input must have the shape of x, {x}, not {side}");
    Ok(())
}

/// Fails unless a fused convolution's filter has its dimensions in the order that kernels know.
///
/// # Errors
/// UNIMPLEMENTED for another order.
pub fn ensure_filter_format(attrs: &AttrMap) -> Result<()> {
    let order: String = attrs.required("filter_format")?;
    ensure!(order == "HWIO", Unimplemented, "filter_format {order} is not supported, HWIO is");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernlink::attr::AttrValue;

    fn fusion(ops: &[&str], arguments: i64) -> Result<Fusion> {
        let ops: Vec<String> = ops.iter().map(|op| (*op).to_owned()).collect();
        let attrs: [(&str, AttrValue); 4] = [
            ("fused_ops", ops.into()),
            ("num_args", arguments.into()),
            ("epsilon", 0.5f32.into()),
            ("leakyrelu_alpha", 0.25f32.into()),
        ];
        Fusion::new(&attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(), true)
    }

    #[test]
    fn ops_have_one_order() {
        let found = fusion(&["FusedBatchNorm", "Add", "LeakyRelu"], 5).unwrap();
        let activation = Activation::LeakyRelu(0.25);
        assert_eq!(found, Fusion { channels: [Channels::Norm { epsilon: 0.5 }][..].into(), summand: true, activation });
        assert_eq!(fusion(&["BiasAdd"], 1).unwrap().activation, Activation::Identity);
        let steps = fusion(&["BiasAdd", "Mul", "BiasAdd"], 3).unwrap().channels;
        assert_eq!(steps[..], [Channels::Bias, Channels::Scale, Channels::Bias]);
        for ops in
            [&["Relu"][..], &["BiasAdd", "Relu", "Add"], &["BiasAdd", "Relu", "Relu"], &["Add"], &["BiasAdd", "Exp"]]
        {
            assert_eq!(fusion(ops, 1).unwrap_err().code(), Code::Unimplemented, "{ops:?}");
        }
        for (ops, arguments) in [(&[][..], 0), (&["BiasAdd"], 2), (&["BiasAdd", "Add"], 1), (&["FusedBatchNorm"], 3)] {
            assert_eq!(fusion(ops, arguments).unwrap_err().code(), Code::InvalidArgument, "{ops:?}");
        }
    }

    #[test]
    fn arguments_fit_the_output() {
        let ensure = |shapes: &[&[usize]]| {
            let shapes: Vec<Shape> = shapes.iter().map(|&shape| Shape::from(shape)).collect();
            fusion(&["BiasAdd", "Add"], 2).unwrap().ensure_arguments(&shapes, &Shape::from([2, 3]))
        };
        assert!(ensure(&[&[3], &[2, 3]]).is_ok());
        for refused in [&[&[2][..], &[2, 3]], &[&[1, 3], &[2, 3]], &[&[3], &[3]], &[&[], &[2, 3]]] {
            assert!(ensure(refused).is_err(), "{refused:?}");
        }
    }
}
