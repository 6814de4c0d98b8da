//! Steps along the gradient, with and without a proximal term.

use kernlink::Result;

use super::driver::{Family, Inputs, RealFamily, Rule};
use super::value::{Real, Value};

#[derive(Clone, Copy)]
pub(super) struct GradientDescent<T> {
    rate: T,
}

impl Family<1> for GradientDescent<()> {
    type Rule<T: Value> = GradientDescent<T>;
}

impl<T: Value> Rule<T, 1> for GradientDescent<T> {
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self { rate: inputs.scalar("alpha")? })
    }

    #[inline(always)]
    fn step(&self, [var]: &mut [T; 1], gradient: T) {
        *var -= gradient * self.rate;
    }
}

/// A step against the gradient at this rate, then towards zero.
#[inline(always)]
pub(super) fn proximal<T: Real>(var: &mut T, gradient: T, rate: T, l1: T, l2: T) {
    let stepped = *var - gradient * rate;
    let divisor = T::one() + l2 * rate;
    *var = if l1 > T::of(0.0) {
        stepped.sign() * (stepped.abs() - rate * l1).max(T::of(0.0)) / divisor
    } else {
        stepped / divisor
    };
}

#[derive(Clone, Copy)]
pub(super) struct ProximalGradientDescent<T> {
    rate: T,
    l1: T,
    l2: T,
}

impl RealFamily<1> for ProximalGradientDescent<()> {
    type Rule<T: Real> = ProximalGradientDescent<T>;
}

impl<T: Real> Rule<T, 1> for ProximalGradientDescent<T> {
    const NEEDS_ELEMENTS: bool = true;

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self { rate: inputs.scalar("alpha")?, l1: inputs.scalar("l1")?, l2: inputs.scalar("l2")? })
    }

    #[inline(always)]
    fn step(&self, [var]: &mut [T; 1], gradient: T) {
        proximal(var, gradient, self.rate, self.l1, self.l2);
    }
}
