//! Losses, with what dual coordinate ascent asks of them.
//!
//! The updates are those of S. Shalev-Shwartz and T. Zhang (Stochastic Dual Coordinate Ascent Methods, 2013), for losses that are
//! divided into parts those of C. Ma and others (Adding vs. Averaging in Distributed Primal-Dual Optimization, 2015).

use kernlink::error::Result;
use kernlink::{bail, ensure};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Loss {
    Logistic,
    Squared,
    Hinge,
    SmoothHinge,
    Poisson,
}

/// An example as a loss sees it.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) label: f64,
    pub(super) weight: f64,
}

/// Newton's steps, which double the digits each.
const STEPS: usize = 10;

impl Loss {
    pub(super) fn from_name(name: &str) -> Result<Loss> {
        Ok(match name {
            "logistic_loss" => Loss::Logistic,
            "squared_loss" => Loss::Squared,
            "hinge_loss" => Loss::Hinge,
            "smooth_hinge_loss" => Loss::SmoothHinge,
            "poisson_loss" => Loss::Poisson,
            _ => bail!(InvalidArgument, "Unsupported loss type: {name}"),
        })
    }

    /// The label as the loss has it: -1 and 1 for the classes 0 and 1.
    pub(super) fn label(self, label: f32) -> Result<f64> {
        match self {
            Loss::Squared => {}
            Loss::Poisson => ensure!(
                label >= 0.0 || label.is_nan(),
                InvalidArgument,
                "Only non-negative labels can be used with the Poisson log loss. Found example with label: {label}"
            ),
            _ if label == 0.0 => return Ok(-1.0),
            _ => ensure!(
                label == 1.0,
                InvalidArgument,
                "Only labels of 0.0 or 1.0 are supported right now. Found example with label: {label}"
            ),
        }
        Ok(f64::from(label))
    }

    /// The dual variable of an example that makes the most of it while the others stay, where `prediction` is what the model
    /// says and `norm` the example's squared norm times the number of parts over the strength of regularisation.
    pub(super) fn updated_dual(self, case: Case, dual: f64, prediction: f64, norm: f64) -> f64 {
        let Case { label, weight } = case;
        // Where a dual variable times the label is within 0 and 1.
        let within = |dual: f64| match label * dual {
            signed if signed < 0.0 => 0.0,
            signed if signed > 1.0 => label,
            _ => dual,
        };
        match self {
            Loss::Squared => dual + (label - dual - prediction) / (1.0 + norm * weight),
            Loss::Hinge => within(dual + (label - prediction) / (norm * weight)),
            Loss::SmoothHinge => within(dual + (label - prediction - dual) / (norm * weight + 1.0)),
            Loss::Logistic => {
                let mut x = 0.0f64;
                for _ in 0..STEPS {
                    let tanh = x.tanh();
                    let value = -2.0 * label * x - prediction - norm * weight * (0.5 * (1.0 + tanh) / label - dual);
                    let slope = -2.0 * label - norm * weight * (1.0 - tanh * tanh) * 0.5 / label;
                    x -= value / slope;
                }
                0.5 * (1.0 + x.tanh()) / label
            }
            Loss::Poisson => {
                let mut x = if label - dual > 0.0 { (label - dual).ln() } else { 0.0 };
                for _ in 0..STEPS {
                    let exp = x.exp();
                    let value = x - prediction - norm * weight * (label - dual - exp);
                    x -= value / (1.0 + norm * weight * exp);
                }
                label - x.exp()
            }
        }
    }

    /// The loss of what the model says.
    pub(super) fn primal(self, case: Case, prediction: f64) -> f64 {
        let Case { label, weight } = case;
        let signed = label * prediction;
        weight
            * match self {
                Loss::Squared => (prediction - label) * (prediction - label) * 0.5,
                Loss::Hinge => (1.0 - signed).max(0.0),
                Loss::SmoothHinge if signed >= 1.0 => return 0.0,
                Loss::SmoothHinge if signed <= 0.0 => 0.5 - signed,
                Loss::SmoothHinge => (1.0 - signed) * (1.0 - signed) * 0.5,
                Loss::Logistic if signed > 0.0 => (-signed).exp().ln_1p(),
                Loss::Logistic => signed.exp().ln_1p() - signed,
                Loss::Poisson => prediction.exp() - prediction * label,
            }
    }

    /// The loss of a dual variable.
    pub(super) fn dual(self, case: Case, dual: f64) -> f64 {
        let Case { label, weight } = case;
        let signed = dual * label;
        let ln = |x: f64| if x > 0.0 { x.ln() } else { 0.0 };
        weight
            * match self {
                Loss::Squared => dual * (0.5 * dual - label),
                Loss::Hinge | Loss::SmoothHinge if !(0.0..=1.0).contains(&signed) && !signed.is_nan() => {
                    return f64::MAX;
                }
                Loss::Hinge => -signed,
                Loss::SmoothHinge => -signed + 0.5 * dual * dual,
                Loss::Logistic => signed * ln(signed) + (1.0 - signed) * ln(1.0 - signed),
                Loss::Poisson if label == dual => return 0.0,
                Loss::Poisson if label - dual < 0.0 => return f64::MAX,
                Loss::Poisson => (label - dual) * ((label - dual).ln() - 1.0),
            }
    }

    /// The slope of the loss of an example of weight 1.
    pub(super) fn slope(self, label: f64, prediction: f64) -> f64 {
        let signed = label * prediction;
        match self {
            Loss::Squared => prediction - label,
            Loss::Hinge if signed < 1.0 => -label,
            Loss::Hinge => 0.0,
            Loss::SmoothHinge if signed >= 1.0 => 0.0,
            Loss::SmoothHinge if signed <= 0.0 => -label,
            Loss::SmoothHinge => prediction - label,
            Loss::Logistic if signed > 0.0 => -label * (-signed).exp() / (1.0 + (-signed).exp()),
            Loss::Logistic => -label / (1.0 + signed.exp()),
            Loss::Poisson => prediction.exp() - label,
        }
    }

    /// The reciprocal of how fast the slope changes at most; 0 if it jumps.
    pub(super) fn smoothness(self) -> f64 {
        match self {
            Loss::Hinge => 0.0,
            Loss::Logistic => 4.0,
            Loss::Squared | Loss::SmoothHinge | Loss::Poisson => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(Loss, f32); 6] = [
        (Loss::Logistic, 0.0),
        (Loss::Logistic, 1.0),
        (Loss::Squared, 2.5),
        (Loss::Hinge, 1.0),
        (Loss::SmoothHinge, 0.0),
        (Loss::Poisson, 3.0),
    ];

    #[test]
    fn slopes_are_those_of_the_losses() {
        for (loss, label) in ALL {
            let case = Case { label: loss.label(label).unwrap(), weight: 1.0 };
            for x in [-1.7, -0.3, 0.2, 0.9, 1.6] {
                let slope = (loss.primal(case, x + 1e-6) - loss.primal(case, x - 1e-6)) / 2e-6;
                assert!((slope - loss.slope(case.label, x)).abs() < 1e-5, "{label} {x}");
            }
        }
    }

    #[test]
    fn the_updated_dual_is_the_best() {
        for (loss, label) in ALL {
            let case = Case { label: loss.label(label).unwrap(), weight: 0.7 };
            let (dual, prediction, norm) = (0.3 * case.label.signum(), 0.4, 1.3);
            // What the dual variable costs while the others stay.
            let cost = |new: f64| {
                let step = (new - dual) * case.weight;
                loss.dual(case, new) + step * prediction + 0.5 * norm * step * step
            };
            let best = loss.updated_dual(case, dual, prediction, norm);
            for other in [best - 1e-3, best + 1e-3] {
                assert!(cost(best) <= cost(other) + 1e-12, "{label}: {best} against {other}");
            }
        }
    }
}
