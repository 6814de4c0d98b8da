//! Gradients of graphs: nodes that compute what flows back from some outputs to others.

use super::pass::{Options, OutputGradient, Pass, is_below};
use super::value::IndexedSlices;
use crate::error::{Error, Result};
use crate::graph::{Graph, Output};

impl OutputGradient {
    /// The gradient as one tensor; for rows, nodes are added that sum them.
    ///
    /// # Errors
    /// NOT_FOUND if op UnsortedSegmentSum or its kernel is missing.
    pub fn dense(self, graph: &mut Graph) -> Result<Output> {
        let (values, indices, dense_shape) = match self {
            OutputGradient::Dense(output) => return Ok(output),
            OutputGradient::Slices { values, indices, dense_shape } => (values, indices, dense_shape),
        };
        let mut pass = Pass::new(graph, Options::default(), []);
        let [rows, of, whole] = [values, indices, dense_shape].map(|output| pass.value_of(output));
        let slices = IndexedSlices { values: rows, indices: of, dense_shape: whole };
        let dense = pass.in_scope_of(values.node, |scope| scope.dense(slices.into()))?;
        Ok(pass.output_of(dense))
    }
}

/// Adds the gradients of the sum of `ys` with respect to each of `xs` to a graph, as TensorFlow's `tf.gradients` does.
///
/// ```ignore
/// let gradients = Gradients::of([loss]).with_respect_to([weights, biases]).add_to(&mut graph)?;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Gradients {
    ys: Vec<Output>,
    xs: Vec<Output>,
    grad_ys: Vec<Option<Output>>,
    stop: Vec<Output>,
    prefix: Option<String>,
    options: Options,
}

impl Gradients {
    /// Of the sum of these outputs.
    pub fn of(ys: impl IntoIterator<Item = Output>) -> Gradients {
        Gradients { ys: ys.into_iter().collect(), ..Gradients::default() }
    }

    /// With respect to these outputs.
    #[must_use]
    pub fn with_respect_to(mut self, xs: impl IntoIterator<Item = Output>) -> Gradients {
        self.xs.extend(xs);
        self
    }

    /// What flows back to each of the `ys`, `None` for ones: as many as there are `ys`.
    #[must_use]
    pub fn grad_ys(mut self, grad_ys: impl IntoIterator<Item = Option<Output>>) -> Gradients {
        self.grad_ys.extend(grad_ys);
        self
    }

    /// Treats these outputs as constants: nothing flows through them.
    #[must_use]
    pub fn stop_gradients(mut self, outputs: impl IntoIterator<Item = Output>) -> Gradients {
        self.stop.extend(outputs);
        self
    }

    /// Gives zeros, of its dtype and shape, for each of the `xs` on which the `ys` do not depend, instead of `None`.
    #[must_use]
    pub fn zeros_if_unconnected(mut self) -> Gradients {
        self.options.zeros_if_unconnected = true;
        self
    }

    /// Asks that the nodes that are added for a node be on its device (`_class`), whatever that will be.
    #[must_use]
    pub fn colocate_with_ops(mut self) -> Gradients {
        self.options.colocate = true;
        self
    }

    /// Adds what flows back from several users of an output two at a time, where otherwise one `AddN` takes all of it: that
    /// needs less memory, as summands can go as soon as they are added.
    #[must_use]
    pub fn sum_in_pairs(mut self) -> Gradients {
        self.options.sum_in_pairs = true;
        self
    }

    /// What the names of the nodes begin with, before a `/`: that of no node so far. Otherwise it is [`free_prefix`](super::free_prefix).
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Gradients {
        self.prefix = Some(prefix.to_owned());
        self
    }

    /// What an error advises if an op on the way has no gradient, in the place of how to register one: for a program whose users
    /// do not write it.
    #[must_use]
    pub fn advise(mut self, advice: &'static str) -> Gradients {
        self.options.advice = Some(advice);
        self
    }

    /// Adds the nodes; returns the gradient for each of the `xs`, `None` where the `ys` do not depend on it.
    ///
    /// # Errors
    /// NOT_FOUND if an op on the way has no registered gradient; INVALID_ARGUMENT if a node's name begins with the prefix, an output is not the graph's, a `y`
    /// has a dtype that cannot be differentiated, or `grad_ys` do not suit the `ys`; and what the gradients' ops meet.
    pub fn add_to(&self, graph: &mut Graph) -> Result<Vec<Option<OutputGradient>>> {
        if let Some(prefix) = &self.prefix
            && let Some(node) = graph.nodes().iter().find(|node| is_below(&node.name, prefix))
        {
            return Err(Error::invalid_argument(format!(
                "prefix [{prefix}] conflicts with existing node in the graph named [{}]",
                node.name
            )));
        }
        let mut pass = Pass::new(graph, self.options, self.stop.iter().copied());
        if let Some(prefix) = &self.prefix {
            pass.name_below(prefix);
        }
        pass.run(&self.ys, &self.grad_ys, &self.xs)
    }
}
