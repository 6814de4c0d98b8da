//! Adadelta and RMSProp.

use kernlink::Result;

use super::driver::{Family, Inputs, Rule};
use super::value::Value;

#[derive(Clone, Copy)]
pub(super) struct Adadelta<T> {
    rate: T,
    rho: T,
    epsilon: T,
}

impl Family<3> for Adadelta<()> {
    type Rule<T: Value> = Adadelta<T>;
}

impl<T: Value> Rule<T, 3> for Adadelta<T> {
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self { rate: inputs.scalar("lr")?, rho: inputs.scalar("rho")?, epsilon: inputs.scalar("epsilon")? })
    }

    #[inline(always)]
    fn step(&self, [var, accum, updates]: &mut [T; 3], gradient: T) {
        let rest = T::one() - self.rho;
        *accum = *accum * self.rho + gradient.square() * rest;
        let update = (*updates + self.epsilon).sqrt() * (*accum + self.epsilon).rsqrt() * gradient;
        *var -= update * self.rate;
        *updates = *updates * self.rho + update.square() * rest;
    }
}

#[derive(Clone, Copy)]
pub(super) struct RmsProp<T> {
    rate: T,
    rho: T,
    momentum: T,
    epsilon: T,
}

impl Family<3> for RmsProp<()> {
    type Rule<T: Value> = RmsProp<T>;
}

impl<T: Value> RmsProp<T> {
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self {
            rate: inputs.scalar("lr")?,
            rho: inputs.scalar("rho")?,
            momentum: inputs.scalar("momentum")?,
            epsilon: inputs.scalar("epsilon")?,
        })
    }
}

impl<T: Value> Rule<T, 3> for RmsProp<T> {
    const HAS_SPARSE_STEP: bool = true;

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        RmsProp::new(inputs)
    }

    #[inline(always)]
    fn step(&self, [var, squares, momentum]: &mut [T; 3], gradient: T) {
        *squares += (gradient.square() - *squares) * (T::one() - self.rho);
        *momentum = *momentum * self.momentum + gradient * self.rate / (*squares + self.epsilon).sqrt();
        *var -= *momentum;
    }

    #[inline(always)]
    fn sparse_step(&self, [var, squares, momentum]: &mut [T; 3], gradient: T) {
        *squares = *squares * self.rho + gradient.square() * (T::one() - self.rho);
        *momentum = *momentum * self.momentum + (*squares + self.epsilon).rsqrt() * self.rate * gradient;
        *var -= *momentum;
    }
}

/// RMSProp by the gradients' variance.
#[derive(Clone, Copy)]
pub(super) struct CenteredRmsProp<T>(RmsProp<T>);

impl<T: Value> Rule<T, 4> for CenteredRmsProp<T> {
    const HAS_SPARSE_STEP: bool = true;

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self(RmsProp::new(inputs)?))
    }

    #[inline(always)]
    fn step(&self, [var, mean, squares, momentum]: &mut [T; 4], gradient: T) {
        let Self(rule) = self;
        let rest = T::one() - rule.rho;
        *squares += (gradient.square() - *squares) * rest;
        *mean += (gradient - *mean) * rest;
        let variance = (*squares - mean.square()) + rule.epsilon;
        *momentum = *momentum * rule.momentum + gradient * rule.rate / variance.sqrt();
        *var -= *momentum;
    }

    #[inline(always)]
    fn sparse_step(&self, [var, mean, squares, momentum]: &mut [T; 4], gradient: T) {
        let Self(rule) = self;
        let rest = T::one() - rule.rho;
        *squares = *squares * rule.rho + gradient.square() * rest;
        *mean = *mean * rule.rho + gradient * rest;
        let variance = *squares + rule.epsilon - mean.square();
        *momentum = *momentum * rule.momentum + variance.rsqrt() * rule.rate * gradient;
        *var -= *momentum;
    }
}

impl Family<4> for CenteredRmsProp<()> {
    type Rule<T: Value> = CenteredRmsProp<T>;
}
