//! FTRL, with shrinkage (V2) and without.

use kernlink::{Result, ensure};

use super::driver::{Inputs, RealFamily, Rule};
use super::value::Real;

#[derive(Clone, Copy)]
pub(super) struct Ftrl<T> {
    rate: T,
    l1: T,
    l2: T,
    /// Of V2 alone.
    shrinkage: Option<T>,
    /// The rate falls with the accumulator to this power.
    power: T,
    multiply_linear: bool,
}

impl RealFamily<3> for Ftrl<()> {
    type Rule<T: Real> = Ftrl<T>;
}

impl<T: Real> Ftrl<T> {
    /// What TensorFlow asks of the scalars of a step for some rows, and not of those of a step for whole variables.
    fn ensure_signs(&self) -> Result<()> {
        let zero = T::of(0.0);
        ensure!(
            self.rate > zero || self.multiply_linear && self.rate >= zero,
            InvalidArgument,
            "lr is not positive, nor zero with multiply_linear_by_lr"
        );
        let not_negative = [("l1", self.l1), ("l2", self.l2), ("l2_shrinkage", self.shrinkage.unwrap_or(zero))];
        for (name, value) in not_negative {
            ensure!(value >= zero, InvalidArgument, "{name} is negative or NaN");
        }
        ensure!(self.power >= zero, InvalidArgument, "lr_power is positive or NaN");
        Ok(())
    }

    #[inline(always)]
    fn root(&self, accum: T) -> T {
        if self.is_square_root() { accum.sqrt() } else { accum.pow(self.power) }
    }

    /// Whether the power is that of a square root.
    fn is_square_root(&self) -> bool {
        self.power == T::of(0.5)
    }

    /// [`Rule::step`], with a function for what accumulators are raised to.
    #[inline(always)]
    fn step_with(&self, [var, accum, linear]: &mut [T; 3], gradient: T, root_of: impl Fn(T) -> T) {
        let (divisor, threshold) = self.advance(*var, accum, linear, gradient, root_of);
        *var = if linear.abs() > threshold { (threshold * linear.sign() - *linear) / divisor } else { T::of(0.0) };
    }

    /// Brings `accum` and `linear` up to date, and returns the divisor of the new value and the threshold of `linear`.
    #[inline(always)]
    fn advance(&self, var: T, accum: &mut T, linear: &mut T, gradient: T, root_of: impl Fn(T) -> T) -> (T, T) {
        let shrunk = match self.shrinkage {
            Some(shrinkage) => gradient + T::of(2.0) * shrinkage * var,
            None => gradient,
        };
        let new = *accum + gradient.square();
        let root = root_of(new);
        let growth = root - root_of(*accum);
        *accum = new;
        if self.multiply_linear {
            *linear += shrunk * self.rate - growth * var;
            (root + T::of(2.0) * self.l2 * self.rate, self.l1 * self.rate)
        } else {
            *linear += shrunk - growth / self.rate * var;
            (root / self.rate + T::of(2.0) * self.l2, self.l1)
        }
    }
}

impl<T: Real> Rule<T, 3> for Ftrl<T> {
    const NEEDS_ELEMENTS: bool = true;
    const HAS_SPARSE_STEP: bool = true;
    const HAS_COMMON_STEP: bool = true;

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        let shrinkage = if inputs.has("l2_shrinkage") { Some(inputs.scalar("l2_shrinkage")?) } else { None };
        let rule = Self {
            rate: inputs.scalar("lr")?,
            l1: inputs.scalar("l1")?,
            l2: inputs.scalar("l2")?,
            shrinkage,
            power: -inputs.scalar::<T>("lr_power")?,
            multiply_linear: inputs.flags().multiply_linear_by_lr,
        };
        if inputs.has("indices") {
            rule.ensure_signs()?;
        }
        Ok(rule)
    }

    #[inline(always)]
    fn step(&self, state: &mut [T; 3], gradient: T) {
        self.step_with(state, gradient, |accum| self.root(accum));
    }

    fn is_common(&self) -> bool {
        self.is_square_root()
    }

    #[inline(always)]
    fn common_step(&self, state: &mut [T; 3], gradient: T) {
        self.step_with(state, gradient, T::sqrt);
    }

    #[inline(always)]
    fn sparse_step(&self, [var, accum, linear]: &mut [T; 3], gradient: T) {
        let (divisor, threshold) = self.advance(*var, accum, linear, gradient, |accum| self.root(accum));
        *var = (linear.min(threshold).max(-threshold) - *linear) / divisor;
    }
}
