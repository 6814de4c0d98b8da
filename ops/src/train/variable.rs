//! Variables that are trained, and those that an optimiser keeps.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::gradient::{GradientTape, Traced};
use kernlink::graph::{Graph, IntoOperand, NodeId, OpScope, Renumbering};
use kernlink::runtime::EagerContext;
use kernlink::shape::Shape;
use kernlink::{Error, Result, ensure};

use super::initializer::Initializer;
use super::scope::TrainingScope;
use crate::{assign_variable_op, read_variable_op, var_handle_op};

/// A variable behind a handle: an output of a graph, or a tensor.
#[derive(Clone)]
pub struct Variable<V> {
    pub(super) name: Arc<str>,
    pub(super) handle: V,
    pub(super) dtype: DataType,
    pub(super) shape: Shape,
    pub(super) is_trainable: bool,
}

/// Whether variables of a dtype can be trained.
pub(super) fn has_gradients(dtype: DataType) -> bool {
    dtype.is_floating() || dtype.is_complex()
}

impl<V: Clone> Variable<V> {
    /// Its name, by which checkpoints have it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What ops that change it take.
    pub fn handle(&self) -> V {
        self.handle.clone()
    }

    /// Its dtype.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether optimisers change it.
    pub fn is_trainable(&self) -> bool {
        self.is_trainable
    }

    /// Its value: in a graph that at the time when the node runs.
    ///
    /// # Errors
    /// FAILED_PRECONDITION, where ops run at once, if it has none.
    #[track_caller]
    pub fn read<S: OpScope>(&self, scope: &mut S) -> Result<S::Output>
    where
        V: IntoOperand<S::Output>,
    {
        read_variable_op(scope, self.handle(), self.dtype).build()
    }

    /// Gives it a value.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the value has another dtype or shape.
    #[track_caller]
    pub fn assign<S: OpScope>(&self, scope: &mut S, value: impl IntoOperand<S::Output>) -> Result<S::Node>
    where
        V: IntoOperand<S::Output>,
    {
        assign_variable_op(scope, self.handle(), value).validate_shape(true).build()
    }
}

impl<V> fmt::Debug for Variable<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.name, self.dtype, self.shape)
    }
}

/// The variables of a model and its optimisers.
///
/// ```
/// # use kernlink_framework as kernlink;
/// # use std::sync::Arc;
/// use kernlink::graph::Graph;
/// use kernlink::registry::Registry;
/// use kernlink_ops::train::{Initializer, Variables};
///
/// # fn main() -> kernlink::Result<()> {
/// let mut graph = Graph::new(&Arc::new(Registry::linked(&[])?));
/// let mut variables = Variables::new().seed(7);
/// let weights = variables.add(&mut graph, "weights", [64, 10], Initializer::he_normal()).build()?;
/// let weights = weights.read(&mut graph)?;
/// variables.initializer(&mut graph)?;
/// # let _ = weights;
/// # Ok(())
/// # }
/// ```
pub struct Variables<S: TrainingScope> {
    all: Vec<Known<S>>,
    /// Where each is among them.
    by_name: HashMap<Arc<str>, usize>,
    seed: i32,
    /// How many had random values.
    drawn: i64,
}

/// A variable, and what gives it its first value, unless that comes with the model.
type Known<S> = (Variable<<S as OpScope>::Output>, Option<<S as OpScope>::Node>);

impl<S: TrainingScope> Default for Variables<S> {
    fn default() -> Self {
        Variables { all: Vec::new(), by_name: HashMap::new(), seed: 0, drawn: 0 }
    }
}

impl<S: TrainingScope> Variables<S> {
    /// None.
    pub fn new() -> Self {
        Variables::default()
    }

    /// From which random first values follow: 0 if nothing is said, so that each run begins with the same.
    #[must_use]
    pub fn seed(mut self, seed: i32) -> Self {
        self.seed = seed;
        self
    }

    /// Adds a variable: of `float`, and trainable, unless something else is said. Where ops run at once it gets its value now,
    /// in a graph by [`Variables::initializer`].
    pub fn add<'v>(
        &'v mut self,
        scope: &'v mut S,
        name: &str,
        shape: impl Into<Shape>,
        initializer: Initializer,
    ) -> NewVariable<'v, S> {
        let (name, shape) = (name.to_owned(), shape.into());
        NewVariable { variables: self, scope, name, shape, initializer, dtype: DataType::Float, is_trainable: None }
    }

    /// All of them, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Variable<S::Output>> {
        self.all.iter().map(|(variable, _)| variable)
    }

    /// Those that optimisers change.
    pub fn trainable(&self) -> impl Iterator<Item = &Variable<S::Output>> {
        self.iter().filter(|variable| variable.is_trainable)
    }

    /// The variable of a name.
    pub fn find(&self, name: &str) -> Option<&Variable<S::Output>> {
        self.by_name.get(name).and_then(|&index| self.all.get(index)).map(|(variable, _)| variable)
    }

    /// How many there are.
    pub(super) fn mark(&self) -> usize {
        self.all.len()
    }

    /// Forgets those that were added since, none of them random.
    pub(super) fn return_to(&mut self, mark: usize) {
        let forgotten = self.all.drain(mark.min(self.all.len())..);
        forgotten.for_each(|(variable, _)| _ = self.by_name.remove(&variable.name));
    }

    /// Keeps a variable that is in the scope.
    pub(super) fn insert(&mut self, variable: Variable<S::Output>, initial: Option<S::Node>) -> Result<()> {
        self.check_name(&variable.name)?;
        self.by_name.insert(variable.name.clone(), self.all.len());
        self.all.push((variable, initial));
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<()> {
        match self.find(name) {
            Some(_) => Err(Error::already_exists(format!("there are two variables `{name}`"))),
            None => Ok(()),
        }
    }

    /// How many numbers the trainable ones have.
    pub fn count_params(&self) -> usize {
        self.trainable().map(|variable| variable.shape.num_elements()).sum()
    }
}

impl Variables<Graph> {
    /// Adds the node `init`, which gives all variables that were added so far their first values.
    ///
    /// # Errors
    /// NOT_FOUND if op NoOp is missing.
    pub fn initializer(&self, graph: &mut Graph) -> Result<NodeId> {
        graph.group(self.all.iter().filter_map(|(_, initial)| *initial).collect(), "init")
    }

    /// Follows the nodes of a graph that was edited.
    pub(super) fn renumber(&mut self, renumbering: &Renumbering) {
        for (variable, initial) in &mut self.all {
            variable.handle = renumbering.output(variable.handle).unwrap_or(variable.handle);
            *initial = initial.and_then(|node| renumbering.node(node));
        }
    }
}

impl Variables<EagerContext> {
    /// The trainable variables for a tape, which watches them from now on: what its `gradient` takes.
    ///
    /// # Errors
    /// Those of [`GradientTape::watch`].
    pub fn watch(&self, tape: &mut GradientTape<'_>) -> Result<Vec<Traced>> {
        self.trainable().map(|variable| tape.watch(variable.handle())).collect()
    }
}

impl<S: TrainingScope> fmt::Debug for Variables<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A variable that is being added.
#[must_use = "`build` adds the variable"]
pub struct NewVariable<'v, S: TrainingScope> {
    variables: &'v mut Variables<S>,
    scope: &'v mut S,
    name: String,
    shape: Shape,
    initializer: Initializer,
    dtype: DataType,
    is_trainable: Option<bool>,
}

impl<S: TrainingScope> NewVariable<'_, S> {
    /// Its dtype. Of one that has no gradients it is not trainable.
    pub fn dtype(mut self, dtype: DataType) -> Self {
        self.dtype = dtype;
        self
    }

    /// Whether optimisers change it.
    pub fn trainable(mut self, is_trainable: bool) -> Self {
        self.is_trainable = Some(is_trainable);
        self
    }

    /// Adds it.
    ///
    /// # Errors
    /// ALREADY_EXISTS if there is one of the name; INVALID_ARGUMENT if the name is illegal, the first value does not suit, or
    /// a dtype without gradients is to be trained.
    #[track_caller]
    pub fn build(self) -> Result<Variable<S::Output>>
    where
        S::Output: IntoOperand<S::Output>,
    {
        let NewVariable { variables, scope, name, shape, initializer, dtype, is_trainable } = self;
        variables.check_name(&name)?;
        let has_gradients = has_gradients(dtype);
        ensure!(
            has_gradients || is_trainable != Some(true),
            InvalidArgument,
            "variable `{name}` of {dtype} cannot be trained: gradients are of floats and complex numbers"
        );
        let is_trainable = is_trainable.unwrap_or(has_gradients);
        let handle = var_handle_op(scope, dtype, shape.clone()).shared_name(&name).name(&name).build()?;
        let value = initializer.values(scope, dtype, &shape, [variables.seed.into(), variables.drawn])?;
        variables.drawn += i64::from(initializer.is_random());
        let assign = assign_variable_op(scope, handle.clone(), value).name(&format!("{name}/Assign")).build()?;
        let variable = Variable { name: name.into(), handle, dtype, shape, is_trainable };
        variables.insert(variable.clone(), Some(assign))?;
        Ok(variable)
    }
}
