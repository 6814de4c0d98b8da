//! Adagrad and its kin.

use kernlink::Result;

use super::driver::{Family, Inputs, RealFamily, Rule};
use super::gradient_descent::proximal;
use super::value::{Real, Value};

#[derive(Clone, Copy)]
pub(super) struct Adagrad<T> {
    rate: T,
    update_slots: bool,
}

impl Family<2> for Adagrad<()> {
    type Rule<T: Value> = Adagrad<T>;
}

impl<T: Value> Rule<T, 2> for Adagrad<T> {
    const NEEDS_ELEMENTS: bool = true;

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self { rate: inputs.scalar("lr")?, update_slots: inputs.flags().update_slots })
    }

    #[inline(always)]
    fn step(&self, [var, accum]: &mut [T; 2], gradient: T) {
        if self.update_slots {
            *accum += gradient.square();
        }
        *var -= gradient * self.rate * accum.rsqrt();
    }
}

#[derive(Clone, Copy)]
pub(super) struct AdagradV2<T> {
    rate: T,
    epsilon: T,
    update_slots: bool,
}

impl Family<2> for AdagradV2<()> {
    type Rule<T: Value> = AdagradV2<T>;
}

impl<T: Value> Rule<T, 2> for AdagradV2<T> {
    const NEEDS_ELEMENTS: bool = true;

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        let (rate, epsilon) = (inputs.scalar("lr")?, inputs.scalar("epsilon")?);
        Ok(Self { rate, epsilon, update_slots: inputs.flags().update_slots })
    }

    #[inline(always)]
    fn step(&self, [var, accum]: &mut [T; 2], gradient: T) {
        if self.update_slots {
            *accum += gradient.square();
        }
        *var -= gradient * self.rate / (accum.sqrt() + self.epsilon);
    }
}

#[derive(Clone, Copy)]
pub(super) struct AdagradDa<T> {
    rate: T,
    l1: T,
    l2: T,
    steps: T,
}

impl RealFamily<3> for AdagradDa<()> {
    type Rule<T: Real> = AdagradDa<T>;
}

impl<T: Real> Rule<T, 3> for AdagradDa<T> {
    const NEEDS_ELEMENTS: bool = true;
    const HAS_SPARSE_STEP: bool = true;

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self {
            rate: inputs.scalar("lr")?,
            l1: inputs.scalar("l1")?,
            l2: inputs.scalar("l2")?,
            steps: inputs.scalar("global_step")?,
        })
    }

    #[inline(always)]
    fn step(&self, [var, sum, squares]: &mut [T; 3], gradient: T) {
        *sum += gradient;
        *squares += gradient.square();
        let divisor = self.l2 * (self.steps * self.rate) + squares.sqrt();
        *var = if self.l1 > T::of(0.0) {
            -self.rate * sum.sign() * (sum.abs() - self.steps * self.l1).max(T::of(0.0)) / divisor
        } else {
            -(self.rate * *sum) / divisor
        };
    }

    #[inline(always)]
    fn sparse_step(&self, [var, sum, squares]: &mut [T; 3], gradient: T) {
        *sum += gradient;
        *squares += gradient.square();
        let divisor = self.l2 + squares.sqrt() / (self.steps * self.rate);
        *var = if self.l1 > T::of(0.0) {
            -sum.sign() * (sum.abs() / self.steps - self.l1).max(T::of(0.0)) / divisor
        } else {
            -(*sum / self.steps) / divisor
        };
    }
}

#[derive(Clone, Copy)]
pub(super) struct ProximalAdagrad<T> {
    rate: T,
    l1: T,
    l2: T,
}

impl RealFamily<2> for ProximalAdagrad<()> {
    type Rule<T: Real> = ProximalAdagrad<T>;
}

impl<T: Real> Rule<T, 2> for ProximalAdagrad<T> {
    const NEEDS_ELEMENTS: bool = true;

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self { rate: inputs.scalar("lr")?, l1: inputs.scalar("l1")?, l2: inputs.scalar("l2")? })
    }

    #[inline(always)]
    fn step(&self, [var, accum]: &mut [T; 2], gradient: T) {
        *accum += gradient.square();
        proximal(var, gradient, self.rate * accum.rsqrt(), self.l1, self.l2);
    }
}
