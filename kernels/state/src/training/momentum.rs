//! Steps with momentum.

use kernlink::Result;

use super::driver::{Family, Inputs, Rule};
use super::value::Value;

#[derive(Clone, Copy)]
pub(super) struct Momentum<T> {
    rate: T,
    momentum: T,
    use_nesterov: bool,
}

impl Family<2> for Momentum<()> {
    type Rule<T: Value> = Momentum<T>;
}

impl<T: Value> Rule<T, 2> for Momentum<T> {
    const HAS_SPARSE_STEP: bool = true;

    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        let (rate, momentum) = (inputs.scalar("lr")?, inputs.scalar("momentum")?);
        Ok(Self { rate, momentum, use_nesterov: inputs.flags().use_nesterov })
    }

    #[inline(always)]
    fn step(&self, [var, accum]: &mut [T; 2], gradient: T) {
        *accum = *accum * self.momentum + gradient;
        *var -= if self.use_nesterov {
            gradient * self.rate + *accum * self.momentum * self.rate
        } else {
            *accum * self.rate
        };
    }

    #[inline(always)]
    fn sparse_step(&self, [var, accum]: &mut [T; 2], gradient: T) {
        *accum = *accum * self.momentum + gradient;
        *var -= if self.use_nesterov {
            self.rate * gradient + self.rate * self.momentum * *accum
        } else {
            self.rate * *accum
        };
    }
}

#[derive(Clone, Copy)]
pub(super) struct KerasMomentum<T> {
    rate: T,
    momentum: T,
    use_nesterov: bool,
}

impl Family<2> for KerasMomentum<()> {
    type Rule<T: Value> = KerasMomentum<T>;
}

impl<T: Value> Rule<T, 2> for KerasMomentum<T> {
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self> {
        let (rate, momentum) = (inputs.scalar("lr")?, inputs.scalar("momentum")?);
        Ok(Self { rate, momentum, use_nesterov: inputs.flags().use_nesterov })
    }

    #[inline(always)]
    fn step(&self, [var, accum]: &mut [T; 2], gradient: T) {
        *accum = *accum * self.momentum - gradient * self.rate;
        *var += if self.use_nesterov { *accum * self.momentum - gradient * self.rate } else { *accum };
    }
}
