//! How a step changes a variable: the rules of optimisers, with the names and defaults of `tf.keras.optimizers`.

use kernlink::dtype::DataType;
use kernlink::graph::IntoOperand;
use kernlink::{Error, Result};

use super::scope::TrainingScope;
use crate::{
    add_v2, cast, mul, pow, real_div, resource_apply_adagrad, resource_apply_adam, resource_apply_adam_with_amsgrad,
    resource_apply_centered_rms_prop, resource_apply_ftrl_v2, resource_apply_gradient_descent,
    resource_apply_keras_momentum, resource_apply_rms_prop, resource_scatter_sub, resource_sparse_apply_adagrad,
    resource_sparse_apply_centered_rms_prop, resource_sparse_apply_ftrl_v2, resource_sparse_apply_keras_momentum,
    resource_sparse_apply_rms_prop,
};

/// What an optimiser keeps for each variable: a variable of the same shape and dtype.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slot {
    /// Its name, behind those of the variable and the optimiser.
    pub name: &'static str,
    /// With what it is filled first.
    pub initial: f64,
}

/// What a rule is given of one variable at one step.
#[derive(Clone, Debug)]
pub struct Step<V> {
    /// The handle of the variable.
    pub variable: V,
    /// Its dtype.
    pub dtype: DataType,
    /// The handles of its slots, in the order of [`Rule::slots`].
    pub slots: Vec<V>,
    /// The learning rate, in the variable's dtype.
    pub learning_rate: V,
    /// Which step it is, counted from 1: a `float`, or a `double` for variables of that.
    pub number: V,
}

impl<V: IntoOperand<V> + Clone> Step<V> {
    fn slot(&self, index: usize) -> Result<V> {
        self.slots.get(index).cloned().ok_or_else(|| Error::internal("a step lacks a slot of its rule"))
    }

    /// The dtype of `number`.
    fn wide(&self) -> DataType {
        if self.dtype == DataType::Double { DataType::Double } else { DataType::Float }
    }

    /// `base` to the power of the number of the step, in the variable's dtype.
    fn power<S: TrainingScope<Output = V>>(&self, scope: &mut S, base: f64) -> Result<V> {
        let base = cast(scope, base, self.wide()).build()?;
        let power = pow(scope, base, self.number.clone()).build()?;
        if self.wide() == self.dtype { Ok(power) } else { cast(scope, power, self.dtype).build() }
    }
}

/// A rule by which steps change variables. One of one's own is used as those here are.
pub trait Rule {
    /// Its name, which slots and the count of steps have.
    const NAME: &'static str;

    /// What it keeps for each variable.
    fn slots(&self) -> Vec<Slot>;

    /// Changes a variable by a gradient of its shape.
    ///
    /// # Errors
    /// What its ops meet.
    fn apply<S: TrainingScope>(&self, scope: &mut S, step: &Step<S::Output>, gradient: S::Output) -> Result<S::Node>;

    /// Changes some rows of a variable, each of which is there once; `None` if the rule changes all of them at each step, and so
    /// wants a gradient of the variable's shape.
    ///
    /// # Errors
    /// What its ops meet.
    fn apply_to_rows<S: TrainingScope>(
        &self,
        scope: &mut S,
        step: &Step<S::Output>,
        rows: S::Output,
        indices: S::Output,
    ) -> Result<Option<S::Node>> {
        let _ = (scope, step, rows, indices);
        Ok(None)
    }
}

/// Stochastic gradient descent, with momentum if that is not 0.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sgd {
    /// The share of the last step that the next one keeps.
    pub momentum: f64,
    /// Whether the step looks ahead by the momentum.
    pub nesterov: bool,
}

impl Rule for Sgd {
    const NAME: &'static str = "SGD";

    fn slots(&self) -> Vec<Slot> {
        if self.momentum == 0.0 { Vec::new() } else { vec![Slot { name: "momentum", initial: 0.0 }] }
    }

    fn apply<S: TrainingScope>(&self, scope: &mut S, step: &Step<S::Output>, gradient: S::Output) -> Result<S::Node> {
        let (variable, rate) = (step.variable.clone(), step.learning_rate.clone());
        if self.momentum == 0.0 {
            return resource_apply_gradient_descent(scope, variable, rate, gradient).build();
        }
        let apply = resource_apply_keras_momentum(scope, variable, step.slot(0)?, rate, gradient, self.momentum);
        apply.use_nesterov(self.nesterov).build()
    }

    fn apply_to_rows<S: TrainingScope>(
        &self,
        scope: &mut S,
        step: &Step<S::Output>,
        rows: S::Output,
        indices: S::Output,
    ) -> Result<Option<S::Node>> {
        let (variable, rate) = (step.variable.clone(), step.learning_rate.clone());
        if self.momentum == 0.0 {
            let by = mul(scope, rows, rate).build()?;
            return resource_scatter_sub(scope, variable, indices, by).build().map(Some);
        }
        let slot = step.slot(0)?;
        let apply = resource_sparse_apply_keras_momentum(scope, variable, slot, rate, rows, indices, self.momentum);
        apply.use_nesterov(self.nesterov).build().map(Some)
    }
}

/// Adam, by averages of the gradients and of their squares, which change all rows of a variable at each step. With
/// [`weight_decay`](super::Optimizer::weight_decay) it is AdamW.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Adam {
    /// The share of the old average of the gradients in the new one.
    pub beta_1: f64,
    /// The share of the old average of the squared gradients in the new one.
    pub beta_2: f64,
    /// Keeps the divisor from zero.
    pub epsilon: f64,
    /// Whether to divide by the greatest average so far.
    pub amsgrad: bool,
}

impl Default for Adam {
    fn default() -> Adam {
        Adam { beta_1: 0.9, beta_2: 0.999, epsilon: 1e-7, amsgrad: false }
    }
}

impl Rule for Adam {
    const NAME: &'static str = "Adam";

    fn slots(&self) -> Vec<Slot> {
        let names = ["momentum", "velocity", "velocity_hat"];
        names[..if self.amsgrad { 3 } else { 2 }].iter().map(|name| Slot { name, initial: 0.0 }).collect()
    }

    fn apply<S: TrainingScope>(&self, scope: &mut S, step: &Step<S::Output>, gradient: S::Output) -> Result<S::Node> {
        let (power_1, power_2) = (step.power(scope, self.beta_1)?, step.power(scope, self.beta_2)?);
        let (variable, rate, m, v) = (step.variable.clone(), step.learning_rate.clone(), step.slot(0)?, step.slot(1)?);
        let Adam { beta_1, beta_2, epsilon, amsgrad } = *self;
        if !amsgrad {
            return resource_apply_adam(
                scope, variable, m, v, power_1, power_2, rate, beta_1, beta_2, epsilon, gradient,
            )
            .build();
        }
        let greatest = step.slot(2)?;
        resource_apply_adam_with_amsgrad(
            scope, variable, m, v, greatest, power_1, power_2, rate, beta_1, beta_2, epsilon, gradient,
        )
        .build()
    }
}

/// `RMSprop`: by the gradient over the root of an average of its squares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RmsProp {
    /// The share of the old average in the new one.
    pub rho: f64,
    /// The share of the last step that the next one keeps.
    pub momentum: f64,
    /// Keeps the divisor from zero.
    pub epsilon: f64,
    /// Whether to take the variance of the gradients in the place of their squares.
    pub centered: bool,
}

impl Default for RmsProp {
    fn default() -> RmsProp {
        RmsProp { rho: 0.9, momentum: 0.0, epsilon: 1e-7, centered: false }
    }
}

impl Rule for RmsProp {
    const NAME: &'static str = "RMSprop";

    fn slots(&self) -> Vec<Slot> {
        let names = ["velocity", "momentum", "average_gradient"];
        names[..if self.centered { 3 } else { 2 }].iter().map(|name| Slot { name, initial: 0.0 }).collect()
    }

    fn apply<S: TrainingScope>(&self, scope: &mut S, step: &Step<S::Output>, gradient: S::Output) -> Result<S::Node> {
        let (variable, rate) = (step.variable.clone(), step.learning_rate.clone());
        let (ms, mom) = (step.slot(0)?, step.slot(1)?);
        let RmsProp { rho, momentum, epsilon, centered } = *self;
        if centered {
            let mg = step.slot(2)?;
            let apply = resource_apply_centered_rms_prop;
            return apply(scope, variable, mg, ms, mom, rate, rho, momentum, epsilon, gradient).build();
        }
        resource_apply_rms_prop(scope, variable, ms, mom, rate, rho, momentum, epsilon, gradient).build()
    }

    fn apply_to_rows<S: TrainingScope>(
        &self,
        scope: &mut S,
        step: &Step<S::Output>,
        rows: S::Output,
        indices: S::Output,
    ) -> Result<Option<S::Node>> {
        let (variable, rate) = (step.variable.clone(), step.learning_rate.clone());
        let (ms, mom) = (step.slot(0)?, step.slot(1)?);
        let RmsProp { rho, momentum, epsilon, centered } = *self;
        if centered {
            let mg = step.slot(2)?;
            let apply = resource_sparse_apply_centered_rms_prop;
            let apply = apply(scope, variable, mg, ms, mom, rate, rho, momentum, epsilon, rows, indices);
            return apply.build().map(Some);
        }
        let apply = resource_sparse_apply_rms_prop;
        apply(scope, variable, ms, mom, rate, rho, momentum, epsilon, rows, indices).build().map(Some)
    }
}

/// Adagrad: by the gradient over the root of the sum of all squared gradients.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Adagrad {
    /// With what the sum begins.
    pub initial_accumulator_value: f64,
    /// Keeps the divisor from zero.
    pub epsilon: f64,
}

impl Default for Adagrad {
    fn default() -> Adagrad {
        Adagrad { initial_accumulator_value: 0.1, epsilon: 1e-7 }
    }
}

impl Rule for Adagrad {
    const NAME: &'static str = "Adagrad";

    /// Keras adds `epsilon` to the sum under the root; a sum that begins with it comes to the same.
    fn slots(&self) -> Vec<Slot> {
        vec![Slot { name: "accumulator", initial: self.initial_accumulator_value + self.epsilon }]
    }

    fn apply<S: TrainingScope>(&self, scope: &mut S, step: &Step<S::Output>, gradient: S::Output) -> Result<S::Node> {
        let (variable, rate) = (step.variable.clone(), step.learning_rate.clone());
        resource_apply_adagrad(scope, variable, step.slot(0)?, rate, gradient).build()
    }

    fn apply_to_rows<S: TrainingScope>(
        &self,
        scope: &mut S,
        step: &Step<S::Output>,
        rows: S::Output,
        indices: S::Output,
    ) -> Result<Option<S::Node>> {
        let (variable, rate) = (step.variable.clone(), step.learning_rate.clone());
        resource_sparse_apply_adagrad(scope, variable, step.slot(0)?, rate, rows, indices).build().map(Some)
    }
}

/// FTRL: steps that follow the regularised leader.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ftrl {
    /// To which power the rate falls with the gradients, 0 or less.
    pub learning_rate_power: f64,
    /// With what the sum of the squared gradients begins.
    pub initial_accumulator_value: f64,
    /// The strength of L1 regularisation.
    pub l1_regularization_strength: f64,
    /// The strength of L2 regularisation.
    pub l2_regularization_strength: f64,
    /// How much of the variable the gradient gets added, twice.
    pub l2_shrinkage_regularization_strength: f64,
    /// Beta of the paper.
    pub beta: f64,
}

impl Default for Ftrl {
    fn default() -> Ftrl {
        Ftrl {
            learning_rate_power: -0.5,
            initial_accumulator_value: 0.1,
            l1_regularization_strength: 0.0,
            l2_regularization_strength: 0.0,
            l2_shrinkage_regularization_strength: 0.0,
            beta: 0.0,
        }
    }
}

impl Ftrl {
    /// The strength of L2 regularisation, with what beta adds to it.
    fn l2<S: TrainingScope>(&self, scope: &mut S, step: &Step<S::Output>) -> Result<S::Output> {
        let l2 = cast(scope, self.l2_regularization_strength, step.dtype).build()?;
        if self.beta == 0.0 {
            return Ok(l2);
        }
        let of_beta = real_div(scope, self.beta / 2.0, step.learning_rate.clone()).build()?;
        add_v2(scope, l2, of_beta).build()
    }
}

impl Rule for Ftrl {
    const NAME: &'static str = "Ftrl";

    fn slots(&self) -> Vec<Slot> {
        let sum = Slot { name: "accumulator", initial: self.initial_accumulator_value };
        vec![sum, Slot { name: "linear", initial: 0.0 }]
    }

    fn apply<S: TrainingScope>(&self, scope: &mut S, step: &Step<S::Output>, gradient: S::Output) -> Result<S::Node> {
        let l2 = self.l2(scope, step)?;
        let (variable, rate) = (step.variable.clone(), step.learning_rate.clone());
        let (sum, linear) = (step.slot(0)?, step.slot(1)?);
        let (l1, shrinkage) = (self.l1_regularization_strength, self.l2_shrinkage_regularization_strength);
        let power = self.learning_rate_power;
        resource_apply_ftrl_v2(scope, variable, sum, linear, gradient, rate, l1, l2, shrinkage, power).build()
    }

    fn apply_to_rows<S: TrainingScope>(
        &self,
        scope: &mut S,
        step: &Step<S::Output>,
        rows: S::Output,
        indices: S::Output,
    ) -> Result<Option<S::Node>> {
        let l2 = self.l2(scope, step)?;
        let (variable, rate) = (step.variable.clone(), step.learning_rate.clone());
        let (sum, linear) = (step.slot(0)?, step.slot(1)?);
        let (l1, shrinkage) = (self.l1_regularization_strength, self.l2_shrinkage_regularization_strength);
        let (power, apply) = (self.learning_rate_power, resource_sparse_apply_ftrl_v2);
        apply(scope, variable, sum, linear, rows, indices, rate, l1, l2, shrinkage, power).build().map(Some)
    }
}
