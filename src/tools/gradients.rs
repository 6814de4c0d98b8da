//! A graph with the gradients of some of its outputs with respect to others.

use crate::dtype::DataType;
use crate::error::{Code, Error, Result, shortened};
use crate::gradient::{Gradients as OfGraph, OutputGradient, free_prefix};
use crate::graph::{Graph, Output};
use crate::proto::GraphDef;
use crate::shape::PartialShape;
use crate::{ensure, ops};

/// Which gradients are added: all are names of outputs of floats (`node` or `node:1`).
#[derive(Clone, Debug, Default)]
pub struct Differentiate {
    /// What is differentiated. Of several, the sum is.
    pub ys: Vec<String>,
    /// With respect to what.
    pub xs: Vec<String>,
    /// What flows back to each of `ys`; ones unless it is given.
    pub grad_ys: Vec<String>,
    /// Outputs that count as constants.
    pub stops: Vec<String>,
    /// Whether errors name the command's flags.
    pub(crate) by_flags: bool,
}

impl Differentiate {
    /// How an error calls one of these.
    fn called(&self, name: &str) -> String {
        if self.by_flags { format!("--{name}") } else { format!("{}s", name.replace('-', "_")) }
    }
}

/// A graph with gradients.
#[non_exhaustive]
pub struct Differentiated {
    /// The graph.
    pub graph: Graph,
    /// The names of what is differentiated.
    pub ys: Vec<String>,
    /// How many nodes there were.
    pub nodes_before: usize,
    /// For each of `xs` its name and the gradient; `None` if nothing depends on it by floats.
    pub gradients: Vec<(String, Option<Gradient>)>,
    /// The attrs of the graph that its ops do not have.
    pub passed_over: Vec<String>,
}

/// A gradient in a graph.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gradient {
    /// The node that gives it.
    pub name: String,
    /// Its dtype.
    pub dtype: DataType,
    /// What is known of its shape.
    pub shape: PartialShape,
    /// Whether it was one of rows that were gathered.
    pub of_rows: bool,
}

/// What to do about an op that has no gradient.
const ADVICE: &str = "name an output on the way with --stop, so that it counts as a constant and nothing flows through it, or \
                      let --x be one between it and the --y; a gradient of one's own is in the command of a crate that registers \
                      it, which `kernlink new` begins";

/// Adds gradients to a graph: `gradients/K` is that of the sum of all `ys` with respect to the K-th of `xs`.
///
/// # Errors
/// NOT_FOUND for names that the graph lacks; INVALID_ARGUMENT for outputs of no floats, and if nothing depends on any of `xs`; and as
/// [`Graph::import`] and [`Gradients::add_to`](crate::gradient::Gradients::add_to).
pub fn differentiate(def: &GraphDef, options: &Differentiate) -> Result<Differentiated> {
    let registry = crate::registry()?;
    let mut graph = Graph::import(def, &registry)?;
    let passed_over = crate::tools::unknown_attrs(def, &registry);
    // Outputs are found by their names after this. Loops of which no function can be made matter if they are on the way.
    let unlike = graph.raise_loops().err();

    let named = |name: &str, names: &[String], floats: bool| -> Result<Vec<Output>> {
        let found = names.iter().map(|name| {
            let output = graph.output(name)?;
            let dtype = dtype_of(&graph, output);
            let is_float = dtype.is_floating() || dtype.is_complex();
            let name = shortened(name);
            ensure!(
                is_float || !floats,
                InvalidArgument,
                "`{name}` is {dtype}, and gradients are of floats: name an output before it was made an integer, such as the \
                 logits of classes"
            );
            Ok(output)
        });
        found.collect::<Result<_>>().map_err(|error: Error| error.context(options.called(name)))
    };
    let (ys, xs) = (named("y", &options.ys, true)?, named("x", &options.xs, true)?);
    let (flows, stops) = (named("grad-y", &options.grad_ys, true)?, named("stop", &options.stops, false)?);
    if let Some(complex) = ys.iter().find(|y| dtype_of(&graph, **y).is_complex() && flows.is_empty()) {
        let (name, dtype) = (graph.output_name(*complex), dtype_of(&graph, *complex));
        let name = shortened(&name);
        return Err(Error::invalid_argument(format!(
            "{}: `{name}` is {dtype}: its gradient depends on what flows back to it, which {} names",
            options.called("y"),
            options.called("grad-y")
        )));
    }

    let prefix = free_prefix(&graph);
    let nodes_before = graph.nodes().len();
    let asked = OfGraph::of(ys.iter().copied()).with_respect_to(xs.iter().copied());
    let asked = asked.grad_ys(flows.into_iter().map(Some)).stop_gradients(stops);
    let asked = if options.by_flags { asked.advise(ADVICE) } else { asked };
    let found = asked.add_to(&mut graph).map_err(|error| match unlike {
        Some(unlike) if error.code() == Code::FailedPrecondition => unlike,
        _ => error,
    })?;
    if found.iter().all(Option::is_none) {
        let names = |outputs: &[String]| outputs.iter().map(|name| shortened(name)).collect::<Vec<_>>().join(", ");
        return Err(Error::invalid_argument(format!(
            "{} depends on none of {} by floats: nothing is written",
            names(&options.ys),
            names(&options.xs)
        )));
    }
    let mut gradients = Vec::new();
    for (k, (&x, gradient)) in xs.iter().zip(found).enumerate() {
        let of = graph.output_name(x);
        let gradient = match gradient {
            None => None,
            Some(gradient) => {
                let of_rows = matches!(gradient, OutputGradient::Slices { .. });
                let dense = gradient.dense(&mut graph)?;
                let name = format!("{prefix}/{k}");
                let named = ops::identity(&mut graph, dense).name(&name).build()?;
                let (dtype, shape) = (dtype_of(&graph, named), graph.shape(named).clone());
                Some(Gradient { name, dtype, shape, of_rows })
            }
        };
        gradients.push((of, gradient));
    }
    let ys = ys.iter().map(|&y| graph.output_name(y)).collect();
    Ok(Differentiated { graph, ys, nodes_before, gradients, passed_over })
}

fn dtype_of(graph: &Graph, output: Output) -> DataType {
    graph.node(output.node).signature.outputs[output.index].dtype
}
