//! The first values of variables.

use kernlink::dtype::DataType;
use kernlink::graph::OpScope;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};

use crate::{add_v2, cast, fill, mul, stateless_random_normal, stateless_random_uniform, stateless_truncated_normal};

/// What a variable begins with. Random ones follow from their seed: of one that is [given](Initializer::seed) the values are those
/// of the initialiser of `tf.keras` with that seed.
#[derive(Clone, Debug)]
pub struct Initializer {
    kind: Kind,
    seed: Option<i64>,
}

#[derive(Clone, Debug)]
enum Kind {
    Constant(f64),
    Value(Tensor),
    Normal { mean: f64, stddev: f64 },
    TruncatedNormal { mean: f64, stddev: f64 },
    Uniform { minval: f64, maxval: f64 },
    VarianceScaling { scale: f64, fan: Fan, distribution: Distribution },
}

/// By which number of units the variance of weights is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fan {
    /// That of the inputs of a unit.
    In,
    /// That of the units to which an input goes.
    Out,
    /// Their mean.
    Average,
}

/// How random weights are spread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    /// Normally, those beyond two standard deviations drawn again.
    TruncatedNormal,
    /// Normally.
    UntruncatedNormal,
    /// All in a range equally likely.
    Uniform,
}

impl Initializer {
    fn new(kind: Kind) -> Initializer {
        Initializer { kind, seed: None }
    }

    /// Zeros.
    pub fn zeros() -> Initializer {
        Initializer::constant(0.0)
    }

    /// Ones.
    pub fn ones() -> Initializer {
        Initializer::constant(1.0)
    }

    /// The same number everywhere.
    pub fn constant(value: f64) -> Initializer {
        Initializer::new(Kind::Constant(value))
    }

    /// A tensor of the variable's shape.
    pub fn value(value: Tensor) -> Initializer {
        Initializer::new(Kind::Value(value))
    }

    /// Of the normal distribution.
    pub fn random_normal(mean: f64, stddev: f64) -> Initializer {
        Initializer::new(Kind::Normal { mean, stddev })
    }

    /// Of the normal distribution, those beyond two standard deviations drawn again.
    pub fn truncated_normal(mean: f64, stddev: f64) -> Initializer {
        Initializer::new(Kind::TruncatedNormal { mean, stddev })
    }

    /// All from `minval` up to `maxval` equally likely.
    pub fn random_uniform(minval: f64, maxval: f64) -> Initializer {
        Initializer::new(Kind::Uniform { minval, maxval })
    }

    /// Of the variance `scale` over the number of units.
    pub fn variance_scaling(scale: f64, fan: Fan, distribution: Distribution) -> Initializer {
        Initializer::new(Kind::VarianceScaling { scale, fan, distribution })
    }

    /// Glorot's (Xavier's) for layers before a symmetric function: uniform.
    pub fn glorot_uniform() -> Initializer {
        Initializer::variance_scaling(1.0, Fan::Average, Distribution::Uniform)
    }

    /// Glorot's (Xavier's) for layers before a symmetric function: normal.
    pub fn glorot_normal() -> Initializer {
        Initializer::variance_scaling(1.0, Fan::Average, Distribution::TruncatedNormal)
    }

    /// He's for layers before a Relu: uniform.
    pub fn he_uniform() -> Initializer {
        Initializer::variance_scaling(2.0, Fan::In, Distribution::Uniform)
    }

    /// He's for layers before a Relu: normal.
    pub fn he_normal() -> Initializer {
        Initializer::variance_scaling(2.0, Fan::In, Distribution::TruncatedNormal)
    }

    /// LeCun's for layers before a Selu: uniform.
    pub fn lecun_uniform() -> Initializer {
        Initializer::variance_scaling(1.0, Fan::In, Distribution::Uniform)
    }

    /// LeCun's for layers before a Selu: normal.
    pub fn lecun_normal() -> Initializer {
        Initializer::variance_scaling(1.0, Fan::In, Distribution::TruncatedNormal)
    }

    /// The seed of random values; without one, it follows from that of the [`Variables`](super::Variables) and from how many
    /// were made before.
    #[must_use]
    pub fn seed(mut self, seed: i32) -> Initializer {
        self.seed = Some(seed.into());
        self
    }

    pub(super) fn is_random(&self) -> bool {
        !matches!(self.kind, Kind::Constant(_) | Kind::Value(_))
    }

    /// The values of a variable. `seed` is taken where none is given.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a tensor has another shape or dtype, or the dtype has no random numbers.
    pub fn values<S: OpScope>(
        &self,
        scope: &mut S,
        dtype: DataType,
        shape: &Shape,
        seed: [i64; 2],
    ) -> Result<S::Output> {
        let dims: Vec<i64> = shape.iter().map(|&dim| dim as i64).collect();
        let seed = self.seed.map_or(seed, |seed| [seed, 0]);
        let (random, factor, offset) = match &self.kind {
            Kind::Constant(value) => {
                let value = cast(scope, Tensor::scalar(*value), dtype).build()?;
                return fill(scope, dims, value).build();
            }
            Kind::Value(value) => {
                let (given, wanted) = (value.shape(), shape);
                ensure!(
                    given == wanted,
                    InvalidArgument,
                    "a variable of shape {wanted} cannot begin with a tensor of shape {given}"
                );
                let given = value.dtype();
                ensure!(given == dtype, InvalidArgument, "a variable of {dtype} cannot begin with a tensor of {given}");
                return crate::constant(scope, value.clone());
            }
            Kind::Normal { mean, stddev } => (Distribution::UntruncatedNormal, *stddev, *mean),
            Kind::TruncatedNormal { mean, stddev } => (Distribution::TruncatedNormal, *stddev, *mean),
            Kind::Uniform { minval, maxval } => (Distribution::Uniform, maxval - minval, *minval),
            Kind::VarianceScaling { scale, fan, distribution } => {
                let variance = scale / fan.of(shape).max(1.0);
                match distribution {
                    // The deviation of what is left of a normal distribution of deviation 1.
                    Distribution::TruncatedNormal => (*distribution, variance.sqrt() / 0.879_625_661_034_239_8, 0.0),
                    Distribution::UntruncatedNormal => (*distribution, variance.sqrt(), 0.0),
                    Distribution::Uniform => {
                        let limit = (3.0 * variance).sqrt();
                        (*distribution, 2.0 * limit, -limit)
                    }
                }
            }
        };
        let values = match random {
            Distribution::TruncatedNormal => stateless_truncated_normal(scope, dims, &seed[..]).dtype(dtype).build()?,
            Distribution::UntruncatedNormal => stateless_random_normal(scope, dims, &seed[..]).dtype(dtype).build()?,
            Distribution::Uniform => stateless_random_uniform(scope, dims, &seed[..]).dtype(dtype).build()?,
        };
        let values = mul(scope, values, factor).build()?;
        add_v2(scope, values, offset).build()
    }
}

impl Fan {
    /// Of weights whose last two dimensions are inputs and outputs, and those before a window.
    fn of(self, shape: &Shape) -> f64 {
        let dims: Vec<f64> = shape.iter().map(|&dim| dim as f64).collect();
        let (inputs, outputs) = match dims[..] {
            [] => (1.0, 1.0),
            [units] => (units, units),
            [ref window @ .., inputs, outputs] => {
                let size: f64 = window.iter().product();
                (inputs * size, outputs * size)
            }
        };
        match self {
            Fan::In => inputs,
            Fan::Out => outputs,
            Fan::Average => f64::midpoint(inputs, outputs),
        }
    }
}
