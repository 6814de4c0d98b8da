//! Connectionist temporal classification, as in Alex Graves, "Supervised Sequence Labelling with Recurrent Neural Networks",
//! chapter 7.

mod beam;
mod decoded;
mod forward_backward;
mod greedy;
mod loss;
mod top_n;

use kernlink::dtype::Number;
use kernlink_kernels_common::fast::Real;
use kernlink_kernels_common::number::Float;

use crate::softmax::Normalize;

/// A dtype of logits.
pub(super) trait Logit: Number + Float + Real + Normalize {
    /// The logarithm of the sum of what both are the logarithms of, exact as `f32` is, as TensorFlow has it for both dtypes.
    fn log_sum_exp(self, other: Self) -> Self;
}

macro_rules! logits {
    ($($t:ty),*) => {$(
        impl Logit for $t {
            #[inline]
            fn log_sum_exp(self, other: $t) -> $t {
                if self == <$t>::NEG_INFINITY {
                    return other;
                }
                if other == <$t>::NEG_INFINITY {
                    return self;
                }
                let (great, small) = if self > other { (self, other) } else { (other, self) };
                great + <$t>::from(((small - great) as f32).exp().ln_1p())
            }
        }
    )*};
}
logits!(f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_logarithms() {
        let none = f32::NEG_INFINITY;
        assert_eq!((none.log_sum_exp(none), none.log_sum_exp(-2.0), 3.0f32.log_sum_exp(none)), (none, -2.0, 3.0));
        assert!((0.25f64.ln().log_sum_exp(0.5f64.ln()) - 0.75f64.ln()).abs() < 1e-6);
        assert!(f32::NAN.log_sum_exp(0.0).is_nan());
    }
}
