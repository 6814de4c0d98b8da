//! Adam and its kin.

use kernlink::Result;

use super::driver::{Family, Inputs, RealFamily, Rule};
use super::value::{Real, Value};

#[derive(Clone, Copy)]
pub(super) struct Adam<T> {
    rate: T,
    beta1: T,
    beta2: T,
    epsilon: T,
    use_nesterov: bool,
}

impl Family<3> for Adam<()> {
    type Rule<T: Value> = Adam<T>;
}

impl<T: Value> Rule<T, 3> for Adam<T> {
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        let (power1, power2): (T, T) = (inputs.scalar("beta1_power")?, inputs.scalar("beta2_power")?);
        Ok(Self {
            rate: inputs.scalar::<T>("lr")? * (T::one() - power2).sqrt() / (T::one() - power1),
            beta1: inputs.scalar("beta1")?,
            beta2: inputs.scalar("beta2")?,
            epsilon: inputs.scalar("epsilon")?,
            use_nesterov: inputs.flags().use_nesterov,
        })
    }

    #[inline(always)]
    fn step(&self, [var, m, v]: &mut [T; 3], gradient: T) {
        *m += (gradient - *m) * (T::one() - self.beta1);
        *v += (gradient.square() - *v) * (T::one() - self.beta2);
        let ahead = if self.use_nesterov { gradient * (T::one() - self.beta1) + self.beta1 * *m } else { *m };
        *var -= ahead * self.rate / (v.sqrt() + self.epsilon);
    }
}

/// Adam with the greatest average so far.
#[derive(Clone, Copy)]
pub(super) struct AmsGrad<T>(Adam<T>);

impl<T: Real> Rule<T, 4> for AmsGrad<T> {
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        Ok(Self(Adam::new(inputs)?))
    }

    #[inline(always)]
    fn step(&self, [var, m, v, greatest]: &mut [T; 4], gradient: T) {
        let Self(adam) = self;
        *m += (gradient - *m) * (T::one() - adam.beta1);
        *v += (gradient.square() - *v) * (T::one() - adam.beta2);
        *greatest = greatest.max(*v);
        *var -= *m * adam.rate / (greatest.sqrt() + adam.epsilon);
    }
}

impl RealFamily<4> for AmsGrad<()> {
    type Rule<T: Real> = AmsGrad<T>;
}

#[derive(Clone, Copy)]
pub(super) struct AdaMax<T> {
    rate: T,
    beta1: T,
    beta2: T,
    epsilon: T,
}

impl RealFamily<3> for AdaMax<()> {
    type Rule<T: Real> = AdaMax<T>;
}

impl<T: Real> Rule<T, 3> for AdaMax<T> {
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        let power: T = inputs.scalar("beta1_power")?;
        Ok(Self {
            rate: inputs.scalar::<T>("lr")? / (T::one() - power),
            beta1: inputs.scalar("beta1")?,
            beta2: inputs.scalar("beta2")?,
            epsilon: inputs.scalar("epsilon")?,
        })
    }

    #[inline(always)]
    fn step(&self, [var, m, v]: &mut [T; 3], gradient: T) {
        *m += (gradient - *m) * (T::one() - self.beta1);
        *v = (self.beta2 * *v).max(gradient.abs());
        *var -= self.rate * (*m / (*v + self.epsilon));
    }
}
