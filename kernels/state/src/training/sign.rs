//! Steps that grow where the gradient agrees with its average.

use kernlink::Result;

use super::driver::{Inputs, RealFamily, Rule};
use super::value::Real;

#[derive(Clone, Copy)]
pub(super) struct AddSign<T> {
    rate: T,
    alpha: T,
    decay: T,
    beta: T,
}

impl RealFamily<2> for AddSign<()> {
    type Rule<T: Real> = AddSign<T>;
}

impl<T: Real> Rule<T, 2> for AddSign<T> {
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self {
            rate: inputs.scalar("lr")?,
            alpha: inputs.scalar("alpha")?,
            decay: inputs.scalar("sign_decay")?,
            beta: inputs.scalar("beta")?,
        })
    }

    #[inline(always)]
    fn step(&self, [var, m]: &mut [T; 2], gradient: T) {
        *m = *m * self.beta + gradient * (T::one() - self.beta);
        let agreement = gradient.sign() * m.sign();
        *var -= self.rate * (self.alpha + self.decay * agreement) * gradient;
    }
}

#[derive(Clone, Copy)]
pub(super) struct PowerSign<T> {
    rate: T,
    /// The logarithm of the scale where the signs agree.
    log_scale: T,
    beta: T,
}

impl RealFamily<2> for PowerSign<()> {
    type Rule<T: Real> = PowerSign<T>;
}

impl<T: Real> Rule<T, 2> for PowerSign<T> {
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self {
            rate: inputs.scalar("lr")?,
            log_scale: inputs.scalar::<T>("logbase")? * inputs.scalar::<T>("sign_decay")?,
            beta: inputs.scalar("beta")?,
        })
    }

    #[inline(always)]
    fn step(&self, [var, m]: &mut [T; 2], gradient: T) {
        *m = *m * self.beta + gradient * (T::one() - self.beta);
        let agreement = gradient.sign() * m.sign();
        *var -= self.rate * (self.log_scale * agreement).exp() * gradient;
    }
}
