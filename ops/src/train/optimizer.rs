//! Optimisers: a rule with its learning rate, bounds and slots, and steps by it.

use std::collections::HashMap;
use std::fmt;

use kernlink::dtype::DataType;
use kernlink::gradient::Gradients;
use kernlink::graph::{Graph, IntoOperand, NodeId, Output};
use kernlink::{Result, ensure};

use super::clip::{Clip, clipped};
use super::gradient::{VariableGradient, deduplicated};
use super::initializer::Initializer;
use super::rules::{Adam, Rule, Step};
use super::schedule::Schedule;
use super::scope::TrainingScope;
use super::variable::{Variable, Variables};
use crate::{add_v2, assign_add_variable_op, assign_sub_variable_op, cast, mul};

/// An optimiser: a [`Rule`] with a learning rate, and what else is done with gradients and variables at each step.
///
/// ```ignore
/// let optimizer = Optimizer::new(Adam::default(), CosineDecay::new(1e-3, 1_000)).clip(Clip::GlobalNorm(1.0));
/// let step = optimizer.minimize(&mut graph, &mut variables, loss)?;
/// ```
#[derive(Clone, Debug)]
pub struct Optimizer<R> {
    rule: R,
    learning_rate: Schedule,
    clip: Option<Clip>,
    weight_decay: Option<f64>,
    without_decay: Vec<String>,
    name: String,
}

/// What an optimiser added to a graph, or did, for one step.
#[derive(Clone, Copy, Debug)]
pub struct Update<N, V> {
    /// What takes the step: a node, or nothing where it was taken at once.
    pub train: N,
    /// How many steps were taken before, an `int64`.
    pub iterations: V,
    /// The learning rate of the step, a `float`.
    pub learning_rate: V,
    /// The norm of all gradients before they were clipped, with [`Clip::GlobalNorm`].
    pub global_norm: Option<V>,
}

impl Optimizer<Adam> {
    /// Adam with weight decay, for which Keras takes 0.004.
    pub fn adam_w(learning_rate: impl Into<Schedule>, weight_decay: f64) -> Optimizer<Adam> {
        Optimizer::new(Adam::default(), learning_rate).weight_decay(weight_decay)
    }
}

impl<R: Rule> Optimizer<R> {
    /// By a rule and a learning rate, which may follow a [`Schedule`].
    pub fn new(rule: R, learning_rate: impl Into<Schedule>) -> Optimizer<R> {
        Optimizer {
            rule,
            learning_rate: learning_rate.into(),
            clip: None,
            weight_decay: None,
            without_decay: Vec::new(),
            name: "train".to_owned(),
        }
    }

    /// Bounds the gradients.
    #[must_use]
    pub fn clip(mut self, clip: Clip) -> Self {
        self.clip = Some(clip);
        self
    }

    /// Takes this share of a variable, times the learning rate, off it before each step.
    #[must_use]
    pub fn weight_decay(mut self, share: f64) -> Self {
        self.weight_decay = Some(share);
        self
    }

    /// Lets variables whose name has one of these words be as they are, such as `bias`.
    #[must_use]
    pub fn exclude_from_weight_decay(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.without_decay.extend(words.into_iter().map(Into::into));
        self
    }

    /// What the node is called that takes the step; `train` if nothing is said.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Adds to the variables what the optimiser keeps: the slots of the trainable ones, and the number of steps that were taken.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the schedule or the bound says nothing.
    pub fn build<S: TrainingScope>(self, scope: &mut S, variables: &mut Variables<S>) -> Result<BuiltOptimizer<S, R>>
    where
        S::Output: IntoOperand<S::Output>,
    {
        self.learning_rate.check()?;
        self.clip.map_or(Ok(()), Clip::check)?;
        let iterations = |name: &str| format!("{name}/iterations");
        let names = (1..).map(|number| format!("{}_{number}", R::NAME));
        let mut names = std::iter::once(R::NAME.to_owned()).chain(names);
        let name = names.find(|name| variables.find(&iterations(name)).is_none()).unwrap_or_default();
        let trained: Vec<Variable<S::Output>> = variables.trainable().cloned().collect();
        let count = variables.add(scope, &iterations(&name), [0usize; 0], Initializer::zeros());
        let iterations = count.dtype(DataType::Int64).build()?;
        let mut all = Vec::with_capacity(trained.len());
        for variable in trained {
            let mut slots = Vec::new();
            for slot in self.rule.slots() {
                let slot_name = format!("{}/{name}/{}", variable.name(), slot.name);
                let first = Initializer::constant(slot.initial);
                let slot = variables.add(scope, &slot_name, variable.shape().clone(), first);
                slots.push(slot.dtype(variable.dtype()).trainable(false).build()?.handle());
            }
            all.push((variable, slots));
        }
        Ok(BuiltOptimizer { optimizer: self, variables: all, iterations })
    }

    /// Adds the nodes of a step that lowers `loss` to a graph: gradients with respect to the trainable variables, and what
    /// changes these. What belongs to the loss runs before. Call it when all variables are there, and make the
    /// [initializer](Variables::initializer) after it.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the loss depends on no trainable variable; NOT_FOUND if an op on the way has no gradient; those of
    /// [`Optimizer::build`].
    pub fn minimize(
        self,
        graph: &mut Graph,
        variables: &mut Variables<Graph>,
        loss: Output,
    ) -> Result<Update<NodeId, Output>> {
        let before = variables.mark();
        let added = graph.all_or_nothing(|graph| {
            let built = self.build(graph, variables)?;
            let handles: Vec<Output> = built.variables.iter().map(|(variable, _)| variable.handle()).collect();
            let gradients = Gradients::of([loss]).with_respect_to(handles).add_to(graph)?;
            built.step(graph, gradients, vec![loss.node])
        });
        added.inspect_err(|_| variables.return_to(before))
    }
}

/// A variable, and the handles of its slots.
type Trained<V> = (Variable<V>, Vec<V>);

/// An optimiser with what it keeps.
pub struct BuiltOptimizer<S: TrainingScope, R> {
    optimizer: Optimizer<R>,
    variables: Vec<Trained<S::Output>>,
    iterations: Variable<S::Output>,
}

impl<S: TrainingScope, R: Rule> BuiltOptimizer<S, R>
where
    S::Output: IntoOperand<S::Output>,
{
    /// How many steps were taken.
    pub fn iterations(&self) -> &Variable<S::Output> {
        &self.iterations
    }

    /// Sets the learning rate of steps to come, where they run at once; in a graph that of nodes that are added later.
    pub fn set_learning_rate(&mut self, learning_rate: impl Into<Schedule>) {
        self.optimizer.learning_rate = learning_rate.into();
    }

    /// Takes a step, or adds its nodes, by a gradient for each trainable variable, in their order. A variable without a
    /// gradient stays as it is.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there are not as many gradients as variables, or none at all.
    pub fn apply_gradients<G: Into<VariableGradient<S::Output>>>(
        &self,
        scope: &mut S,
        gradients: impl IntoIterator<Item = Option<G>>,
    ) -> Result<Update<S::Node, S::Output>> {
        self.step(scope, gradients, Vec::new())
    }

    /// A step that is taken when `before` has run.
    fn step<G: Into<VariableGradient<S::Output>>>(
        &self,
        scope: &mut S,
        gradients: impl IntoIterator<Item = Option<G>>,
        mut before: Vec<S::Node>,
    ) -> Result<Update<S::Node, S::Output>> {
        let gradients: Vec<Option<G>> = gradients.into_iter().collect();
        let (given, wanted) = (gradients.len(), self.variables.len());
        ensure!(given == wanted, InvalidArgument, "{given} gradients are given for {wanted} trainable variables");
        let given = self.variables.iter().zip(gradients);
        let (changed, mut gradients): (Vec<_>, Vec<VariableGradient<S::Output>>) =
            given.filter_map(|(variable, gradient)| Some((variable, gradient?.into()))).unzip();
        ensure!(
            !changed.is_empty(),
            InvalidArgument,
            "no trainable variable has a gradient: what is minimised does not depend on any of {:?}",
            self.variables.iter().map(|(variable, _)| variable.name()).collect::<Vec<_>>()
        );
        let mut global_norm = None;
        if let Some(clip) = self.optimizer.clip {
            let typed = gradients.into_iter().zip(&changed);
            let typed = typed.map(|(gradient, (variable, _))| (gradient, variable.dtype())).collect();
            (gradients, global_norm) = clipped(scope, typed, clip)?;
        }
        let iterations = self.iterations.read(scope)?;
        let learning_rate = self.optimizer.learning_rate.at(scope, &iterations)?;
        let number = add_v2(scope, iterations.clone(), 1).build()?;
        let mut scalars = Scalars { learning_rate: learning_rate.clone(), number, of_dtypes: HashMap::new() };
        // Once all gradients are there, nobody needs the values of variables any more, which then change in place.
        before.extend(gradients.iter().map(|gradient| S::node_of(&gradient.values())));
        let ready = scope.group(before, &format!("{}/gradients", self.optimizer.name))?;
        let applied = scope.after(vec![ready], |scope| {
            let mut applied = Vec::with_capacity(changed.len());
            for ((variable, slots), gradient) in changed.into_iter().zip(gradients) {
                applied.push(self.change(scope, variable, slots, gradient, &mut scalars)?);
            }
            Ok(applied)
        })?;
        let name = scope.free_name(&self.optimizer.name);
        let train = scope.after(applied, |scope| {
            assign_add_variable_op(scope, self.iterations.handle(), 1i64).name(&name).build()
        })?;
        Ok(Update { train, iterations, learning_rate, global_norm })
    }

    /// Changes one variable.
    fn change(
        &self,
        scope: &mut S,
        variable: &Variable<S::Output>,
        slots: &[S::Output],
        gradient: VariableGradient<S::Output>,
        scalars: &mut Scalars<S::Output>,
    ) -> Result<S::Node> {
        let dtype = variable.dtype();
        let (learning_rate, number) = scalars.of(scope, dtype)?;
        let step = Step { variable: variable.handle(), dtype, slots: slots.to_vec(), learning_rate, number };
        let mut before = Vec::new();
        if let Some(share) = self.optimizer.weight_decay
            && !self.optimizer.without_decay.iter().any(|word| variable.name().contains(word))
        {
            let value = variable.read(scope)?;
            let share = mul(scope, step.learning_rate.clone(), share).build()?;
            let decay = mul(scope, value, share).build()?;
            before.push(assign_sub_variable_op(scope, variable.handle(), decay).build()?);
        }
        let rule = &self.optimizer.rule;
        scope.after(before, |scope| {
            if let VariableGradient::Slices { values, indices, .. } = &gradient {
                let (rows, indices) = deduplicated(scope, values.clone(), indices.clone())?;
                if let Some(node) = rule.apply_to_rows(scope, &step, rows, indices)? {
                    return Ok(node);
                }
            }
            let gradient = gradient.dense(scope)?;
            rule.apply(scope, &step, gradient)
        })
    }
}

impl<S: TrainingScope, R: fmt::Debug> fmt::Debug for BuiltOptimizer<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables: Vec<_> = self.variables.iter().map(|(variable, _)| variable).collect();
        f.debug_struct("BuiltOptimizer").field("optimizer", &self.optimizer).field("variables", &variables).finish()
    }
}

/// The learning rate and the number of a step, in the dtypes of variables.
struct Scalars<V> {
    /// A `float`.
    learning_rate: V,
    /// An `int64`.
    number: V,
    of_dtypes: HashMap<DataType, (V, V)>,
}

impl<V: IntoOperand<V> + Clone> Scalars<V> {
    fn of<S: TrainingScope<Output = V>>(&mut self, scope: &mut S, dtype: DataType) -> Result<(V, V)> {
        if let Some(known) = self.of_dtypes.get(&dtype) {
            return Ok(known.clone());
        }
        let mut as_dtype = |value: &V, dtype| cast(scope, value.clone(), dtype).build();
        let wide = if dtype == DataType::Double { DataType::Double } else { DataType::Float };
        let rate =
            if dtype == DataType::Float { self.learning_rate.clone() } else { as_dtype(&self.learning_rate, dtype)? };
        let scalars = (rate, as_dtype(&self.number, wide)?);
        self.of_dtypes.insert(dtype, scalars.clone());
        Ok(scalars)
    }
}
