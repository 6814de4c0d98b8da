//! Learning rates that change with the steps. They are those of `tf.keras.optimizers.schedules`.

use kernlink::dtype::DataType;
use kernlink::graph::OpScope;
use kernlink::{Result, ensure};

use crate::{add_v2, cast, ceil, cos, equal, floor, greater, less, minimum, mul, pow, real_div, select_v2, sub};

/// A learning rate: a number, or one that follows from how many steps were taken.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Schedule {
    /// Always the same.
    Constant(f64),
    /// See [`PiecewiseConstantDecay`].
    PiecewiseConstant(PiecewiseConstantDecay),
    /// See [`ExponentialDecay`].
    Exponential(ExponentialDecay),
    /// See [`InverseTimeDecay`].
    InverseTime(InverseTimeDecay),
    /// See [`PolynomialDecay`].
    Polynomial(PolynomialDecay),
    /// See [`CosineDecay`].
    Cosine(CosineDecay),
}

/// One number up to and with the step of the first boundary, the next up to the second one, and so on.
#[derive(Clone, PartialEq, Debug)]
pub struct PiecewiseConstantDecay {
    boundaries: Vec<i64>,
    values: Vec<f64>,
}

/// `initial * rate ^ (step / steps)`
#[derive(Clone, PartialEq, Debug)]
pub struct ExponentialDecay(Falling);

/// `initial / (1 + rate * step / steps)`
#[derive(Clone, PartialEq, Debug)]
pub struct InverseTimeDecay(Falling);

#[derive(Clone, PartialEq, Debug)]
struct Falling {
    initial: f64,
    steps: u64,
    rate: f64,
    staircase: bool,
}

/// `(initial - end) * (1 - step / steps) ^ power + end`, and `end` after so many steps.
#[derive(Clone, PartialEq, Debug)]
pub struct PolynomialDecay {
    initial: f64,
    steps: u64,
    end: f64,
    power: f64,
    cycle: bool,
}

/// Half a wave of the cosine, from the initial number to `alpha` times that, where it stays.
#[derive(Clone, PartialEq, Debug)]
pub struct CosineDecay {
    initial: f64,
    steps: u64,
    alpha: f64,
    warmup: Option<(f64, u64)>,
}

impl PiecewiseConstantDecay {
    /// One value more than there are boundaries, which rise.
    pub fn new(boundaries: impl Into<Vec<i64>>, values: impl Into<Vec<f64>>) -> Self {
        PiecewiseConstantDecay { boundaries: boundaries.into(), values: values.into() }
    }
}

impl ExponentialDecay {
    /// To the share `decay_rate` in each `decay_steps`.
    pub fn new(initial: f64, decay_steps: u64, decay_rate: f64) -> Self {
        ExponentialDecay(Falling { initial, steps: decay_steps, rate: decay_rate, staircase: false })
    }

    /// Falls at the end of `decay_steps` only.
    #[must_use]
    pub fn staircase(mut self) -> Self {
        self.0.staircase = true;
        self
    }
}

impl InverseTimeDecay {
    /// By `decay_rate` in each `decay_steps`.
    pub fn new(initial: f64, decay_steps: u64, decay_rate: f64) -> Self {
        InverseTimeDecay(Falling { initial, steps: decay_steps, rate: decay_rate, staircase: false })
    }

    /// Falls at the end of `decay_steps` only.
    #[must_use]
    pub fn staircase(mut self) -> Self {
        self.0.staircase = true;
        self
    }
}

impl PolynomialDecay {
    /// A straight line, unless another [power](PolynomialDecay::power) is given.
    pub fn new(initial: f64, decay_steps: u64, end: f64) -> Self {
        PolynomialDecay { initial, steps: decay_steps, end, power: 1.0, cycle: false }
    }

    /// The power of what is left of the steps.
    #[must_use]
    pub fn power(mut self, power: f64) -> Self {
        self.power = power;
        self
    }

    /// Takes the next multiple of `decay_steps` for their number once they are over.
    #[must_use]
    pub fn cycle(mut self) -> Self {
        self.cycle = true;
        self
    }
}

impl CosineDecay {
    /// To zero in `decay_steps`, unless [`CosineDecay::alpha`] says something else.
    pub fn new(initial: f64, decay_steps: u64) -> Self {
        CosineDecay { initial, steps: decay_steps, alpha: 0.0, warmup: None }
    }

    /// Which share is left at the end.
    #[must_use]
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// Begins with `steps` in which the rate goes in a straight line from the initial number to `target`, from which it then
    /// decays.
    #[must_use]
    pub fn warmup(mut self, target: f64, steps: u64) -> Self {
        self.warmup = Some((target, steps));
        self
    }
}

macro_rules! schedules {
    ($($ty:ident => $variant:ident,)*) => {$(
        impl From<$ty> for Schedule {
            fn from(schedule: $ty) -> Schedule {
                Schedule::$variant(schedule)
            }
        }
    )*};
}

schedules! {
    f64 => Constant,
    PiecewiseConstantDecay => PiecewiseConstant,
    ExponentialDecay => Exponential,
    InverseTimeDecay => InverseTime,
    PolynomialDecay => Polynomial,
    CosineDecay => Cosine,
}

impl Schedule {
    /// Whether it says anything.
    pub(super) fn check(&self) -> Result<()> {
        let steps = match self {
            Schedule::Constant(_) => 1,
            Schedule::PiecewiseConstant(PiecewiseConstantDecay { boundaries, values }) => {
                let (count, wanted) = (values.len(), boundaries.len() + 1);
                ensure!(
                    count == wanted,
                    InvalidArgument,
                    "{count} learning rates are given between {} boundaries: {wanted} are needed",
                    boundaries.len()
                );
                ensure!(
                    boundaries.is_sorted(),
                    InvalidArgument,
                    "the boundaries {boundaries:?} of the learning rates do not rise"
                );
                1
            }
            Schedule::Exponential(ExponentialDecay(falling)) | Schedule::InverseTime(InverseTimeDecay(falling)) => {
                falling.steps
            }
            Schedule::Polynomial(decay) => decay.steps,
            Schedule::Cosine(decay) => decay.steps.min(decay.warmup.map_or(u64::MAX, |(_, steps)| steps)),
        };
        ensure!(steps > 0, InvalidArgument, "a learning rate cannot change within 0 steps");
        Ok(())
    }

    /// The learning rate, a `float`, when so many steps were taken, an `int64`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a number of steps is 0, or boundaries and values do not suit each other.
    pub fn at<S: OpScope>(&self, scope: &mut S, steps: &S::Output) -> Result<S::Output> {
        self.check()?;
        match self {
            Schedule::Constant(rate) => crate::constant(scope, *rate as f32),
            Schedule::PiecewiseConstant(PiecewiseConstantDecay { boundaries, values }) => {
                let mut rate = crate::constant(scope, values[0] as f32)?;
                for (&boundary, &value) in boundaries.iter().zip(&values[1..]) {
                    let is_past = greater(scope, steps.clone(), boundary).build()?;
                    rate = select_v2(scope, is_past, value as f32, rate).build()?;
                }
                Ok(rate)
            }
            Schedule::Exponential(ExponentialDecay(falling)) => {
                let times = falling.times(scope, steps)?;
                let share = pow(scope, falling.rate as f32, times).build()?;
                mul(scope, share, falling.initial).build()
            }
            Schedule::InverseTime(InverseTimeDecay(falling)) => {
                let times = falling.times(scope, steps)?;
                let share = mul(scope, times, falling.rate).build()?;
                let share = add_v2(scope, share, 1.0).build()?;
                real_div(scope, falling.initial, share).build()
            }
            Schedule::Polynomial(decay) => decay.at(scope, steps),
            Schedule::Cosine(decay) => decay.at(scope, steps),
        }
    }
}

fn float<S: OpScope>(scope: &mut S, steps: &S::Output) -> Result<S::Output> {
    cast(scope, steps.clone(), DataType::Float).build()
}

impl Falling {
    /// How often `steps` went by.
    fn times<S: OpScope>(&self, scope: &mut S, steps: &S::Output) -> Result<S::Output> {
        let steps = float(scope, steps)?;
        let times = real_div(scope, steps, self.steps as f64).build()?;
        if self.staircase { floor(scope, times).build() } else { Ok(times) }
    }
}

impl PolynomialDecay {
    fn at<S: OpScope>(&self, scope: &mut S, steps: &S::Output) -> Result<S::Output> {
        let (step, all) = (float(scope, steps)?, self.steps as f64);
        let done = if self.cycle {
            let times = real_div(scope, step.clone(), all).build()?;
            let times = ceil(scope, times).build()?;
            let is_first = equal(scope, step.clone(), 0.0).build()?;
            let times = select_v2(scope, is_first, 1.0f32, times).build()?;
            let all = mul(scope, times, all).build()?;
            real_div(scope, step, all).build()?
        } else {
            let step = minimum(scope, step, all).build()?;
            real_div(scope, step, all).build()?
        };
        let left = sub(scope, 1.0, done).build()?;
        let left = pow(scope, left, self.power).build()?;
        let left = mul(scope, left, self.initial - self.end).build()?;
        add_v2(scope, left, self.end).build()
    }
}

impl CosineDecay {
    fn at<S: OpScope>(&self, scope: &mut S, steps: &S::Output) -> Result<S::Output> {
        let (step, all) = (float(scope, steps)?, self.steps as f64);
        let Some((target, warmup)) = self.warmup else { return self.decayed(scope, step, self.initial) };
        let warmup = warmup as f64;
        let last = minimum(scope, step, all + warmup).build()?;
        let share = real_div(scope, last.clone(), warmup).build()?;
        let risen = mul(scope, share, target - self.initial).build()?;
        let risen = add_v2(scope, risen, self.initial).build()?;
        let after = sub(scope, last.clone(), warmup).build()?;
        let decayed = self.decayed(scope, after, target)?;
        let is_warming_up = less(scope, last, warmup).build()?;
        select_v2(scope, is_warming_up, risen, decayed).build()
    }

    fn decayed<S: OpScope>(&self, scope: &mut S, step: S::Output, from: f64) -> Result<S::Output> {
        let all = self.steps as f64;
        let step = minimum(scope, step, all).build()?;
        let done = real_div(scope, step, all).build()?;
        let angle = mul(scope, done, std::f64::consts::PI).build()?;
        let wave = cos(scope, angle).build()?;
        let wave = add_v2(scope, wave, 1.0).build()?;
        let wave = mul(scope, wave, 0.5 * (1.0 - self.alpha)).build()?;
        let share = add_v2(scope, wave, self.alpha).build()?;
        mul(scope, share, from).build()
    }
}
