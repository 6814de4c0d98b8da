//! FTRL, with shrinkage (V2) and without.

use kernlink::Result;

use super::driver::{Bound, Inputs, RealFamily, Rule};
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
    #[inline(always)]
    fn root(&self, accum: T) -> T {
        if self.power == T::of(0.5) { accum.sqrt() } else { accum.pow(self.power) }
    }

    /// Brings `accum` and `linear` up to date, and returns the divisor of the new value and the threshold of `linear`.
    #[inline(always)]
    fn advance(&self, var: T, accum: &mut T, linear: &mut T, gradient: T) -> (T, T) {
        let shrunk = match self.shrinkage {
            Some(shrinkage) => gradient + T::of(2.0) * shrinkage * var,
            None => gradient,
        };
        let new = *accum + gradient.square();
        let root = self.root(new);
        let growth = root - self.root(*accum);
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

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        let multiply_linear = inputs.flags().multiply_linear_by_lr;
        // Only the steps of some rows refuse scalars.
        let scalar =
            |name, bound| if inputs.is_sparse() { inputs.bounded(name, bound) } else { inputs.scalar::<T>(name) };
        // Without a division by the rate, it may be zero.
        let least_rate = if multiply_linear { Bound::NonNegative } else { Bound::Positive };
        let has_shrinkage = inputs.has("l2_shrinkage");
        Ok(Self {
            rate: scalar("lr", least_rate)?,
            l1: scalar("l1", Bound::NonNegative)?,
            l2: scalar("l2", Bound::NonNegative)?,
            shrinkage: if has_shrinkage { Some(scalar("l2_shrinkage", Bound::NonNegative)?) } else { None },
            power: -scalar("lr_power", Bound::NonPositive)?,
            multiply_linear,
        })
    }

    #[inline(always)]
    fn step(&self, [var, accum, linear]: &mut [T; 3], gradient: T) {
        let (divisor, threshold) = self.advance(*var, accum, linear, gradient);
        *var = if linear.abs() > threshold { (threshold * linear.sign() - *linear) / divisor } else { T::of(0.0) };
    }

    #[inline(always)]
    fn sparse_step(&self, [var, accum, linear]: &mut [T; 3], gradient: T) {
        let (divisor, threshold) = self.advance(*var, accum, linear, gradient);
        *var = (linear.min(threshold).max(-threshold) - *linear) / divisor;
    }
}
