//! Loops over closures. Both forms check their variables alike; here is the one whose condition and body are functions.

use kernlink::dtype::DataType;
use kernlink::graph::{Graph, IntoOperand, NodeId, NodeInput, Operand, Output, TensorSpec, Values};
use kernlink::shape::PartialShape;
use kernlink::{Error, Result, ensure};

use super::{
    AsFunctions, Building, CallSite, Form, check_dtypes, common_captures, constant, def, define, dtype_of, output_of,
};
use crate::{StatelessWhile, While};

/// A loop.
pub struct WhileLoop<V, C, B, F = AsFunctions> {
    pub(super) variables: V,
    pub(super) cond: C,
    pub(super) body: B,
    pub(super) settings: Settings,
    pub(super) form: Form<F>,
}

/// What may be said of a loop.
pub(super) struct Settings {
    invariants: Option<Vec<PartialShape>>,
    maximum: Result<Option<Operand<Output>>>,
    pub(super) parallel_iterations: i64,
}

/// The values that `variables` have when `cond` no longer holds: as long as it does, `body` makes their next values of
/// them.
///
/// The dtype of a variable stays, and so does what is known of its shape unless `shape_invariants` says less. The node
/// is a `While`, or a `StatelessWhile` if neither closure keeps a state or has effects; as in TensorFlow, its first two
/// inputs are a counter of the iterations and their maximum, or -1.
pub fn while_loop<V, C, B>(graph: &mut Graph, variables: V, cond: C, body: B) -> Building<'_, WhileLoop<V, C, B>>
where
    V: Values,
    C: FnOnce(&mut Graph, V) -> Result<Output>,
    B: FnOnce(&mut Graph, V) -> Result<V>,
{
    Building::new(graph, WhileLoop::new(variables, cond, body))
}

impl<V, C, B, F> WhileLoop<V, C, B, F> {
    pub(super) fn new(variables: V, cond: C, body: B) -> WhileLoop<V, C, B, F> {
        let settings = Settings { invariants: None, maximum: Ok(None), parallel_iterations: 10 };
        WhileLoop { variables, cond, body, settings, form: Form::default() }
    }
}

impl<V, C, B, F> Building<'_, WhileLoop<V, C, B, F>> {
    /// Says what of the variables' shapes stays the same in all iterations, one shape a variable.
    pub fn shape_invariants(mut self, shapes: impl IntoIterator<Item = impl Into<PartialShape>>) -> Self {
        self.kind.settings.invariants = Some(shapes.into_iter().map(Into::into).collect());
        self
    }

    /// Ends the loop after this many iterations at the latest: an int32 scalar.
    pub fn maximum_iterations(mut self, maximum: impl IntoOperand<Output>) -> Self {
        self.kind.settings.maximum = maximum.into_operand().map(Some);
        self
    }

    /// Lets this many iterations run at a time; 10 if nothing is said.
    pub fn parallel_iterations(mut self, count: i64) -> Self {
        self.kind.settings.parallel_iterations = count;
        self
    }
}

impl Settings {
    /// What stays the same of the variables' shapes.
    pub(super) fn invariants(&self, graph: &Graph, variables: &[Output]) -> Result<Vec<PartialShape>> {
        ensure!(!variables.is_empty(), InvalidArgument, "a loop needs a variable, such as a counter");
        ensure!(
            self.parallel_iterations > 0,
            InvalidArgument,
            "parallel_iterations is {} and must be at least 1",
            self.parallel_iterations
        );
        let shapes = variables.iter().map(|&variable| Ok(TensorSpec::like(graph, variable)?.partial_shape().clone()));
        let shapes = shapes.collect::<Result<Vec<_>>>()?;
        let Some(invariants) = &self.invariants else { return Ok(shapes) };
        ensure!(
            invariants.len() == shapes.len(),
            InvalidArgument,
            "{} shape invariants are given for {} variables",
            invariants.len(),
            shapes.len()
        );
        for (index, (invariant, shape)) in invariants.iter().zip(&shapes).enumerate() {
            ensure!(
                is_within(shape, invariant),
                InvalidArgument,
                "the shape invariant of variable {index} is {invariant}, but it starts with shape {shape}: leave the \
                 dimensions unknown that differ"
            );
        }
        Ok(invariants.clone())
    }

    /// The most iterations, if that is said.
    pub(super) fn maximum(&mut self, graph: &mut Graph) -> Result<Option<Output>> {
        let maximum = std::mem::replace(&mut self.maximum, Ok(None))?;
        let Some(maximum) = maximum.map(|operand| output_of(graph, operand)).transpose()? else { return Ok(None) };
        let dtype = dtype_of(graph, maximum)?;
        ensure!(dtype == DataType::Int32, InvalidArgument, "maximum_iterations is {dtype} and must be int32");
        Ok(Some(maximum))
    }
}

/// Whether all that is known of `outer` is known of `shape`.
fn is_within(shape: &PartialShape, outer: &PartialShape) -> bool {
    outer.merge(shape).is_ok_and(|merged| merged == *shape)
}

/// Refuses an iteration that changes what must stay of a variable.
pub(super) fn check_variables(
    graph: &Graph,
    variables: &[Output],
    next: &[(DataType, PartialShape)],
    invariants: &[PartialShape],
) -> Result<()> {
    let dtypes = variables.iter().map(|&variable| dtype_of(graph, variable)).collect::<Result<Vec<_>>>()?;
    let given: Vec<DataType> = next.iter().map(|(dtype, _)| *dtype).collect();
    check_dtypes("the body", &given, "the loop has", &dtypes)?;
    for (index, ((_, shape), invariant)) in next.iter().zip(invariants).enumerate() {
        ensure!(
            is_within(shape, invariant),
            InvalidArgument,
            "variable {index} (`{}`) enters the loop with shape {invariant}, but has shape {shape} after one iteration: to \
             allow that, give `shape_invariants` that leave unknown what changes",
            graph.output_name(variables[index])
        );
    }
    Ok(())
}

impl<V, C, B> Building<'_, WhileLoop<V, C, B>>
where
    V: Values,
    C: FnOnce(&mut Graph, V) -> Result<Output>,
    B: FnOnce(&mut Graph, V) -> Result<V>,
{
    /// Builds the functions and the node; returns the variables.
    ///
    /// # Errors
    /// Those of the closures; INVALID_ARGUMENT if there are no variables, or the body changes a variable's dtype, or
    /// its shape beyond what the invariants allow.
    pub fn build(self) -> Result<V> {
        self.build_node().map(|(_, values)| values)
    }

    /// As [`build`](Self::build); returns the node too.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_node(self) -> Result<(NodeId, V)> {
        let Building { graph, name, device, control_inputs, kind } = self;
        let base = name.clone().unwrap_or_else(|| "while".to_owned());
        let site = CallSite { name, device, control_inputs };
        let within = |error: Error| error.context(format!("in loop `{base}`"));
        graph.all_or_nothing(|graph| build(graph, &base, site, kind)).map_err(within)
    }
}

fn build<V, C, B>(graph: &mut Graph, base: &str, site: CallSite, kind: WhileLoop<V, C, B>) -> Result<(NodeId, V)>
where
    V: Values,
    C: FnOnce(&mut Graph, V) -> Result<Output>,
    B: FnOnce(&mut Graph, V) -> Result<V>,
{
    let WhileLoop { variables, cond, body, mut settings, .. } = kind;
    let own = variables.to_outputs();
    let invariants = settings.invariants(graph, &own)?;
    let has_maximum = !matches!(settings.maximum, Ok(None));
    let maximum = match settings.maximum(graph)? {
        Some(maximum) => maximum,
        None => constant(graph, -1i32)?,
    };
    let inputs: Vec<Output> = [constant(graph, 0i32)?, maximum].into_iter().chain(own.iter().copied()).collect();

    let mut specs = Vec::with_capacity(inputs.len());
    for (index, &input) in inputs.iter().enumerate() {
        let spec = TensorSpec::like(graph, input)?;
        specs.push(match index {
            0 => spec.name("loop_counter"),
            1 => spec.name("maximum_iterations"),
            _ => {
                let name = graph.node(input.node).name.clone();
                spec.name(&name).shape(invariants[index - 2].clone())
            }
        });
    }
    let (cond, _) = graph.trace(specs.clone(), |graph, arguments| {
        let holds = cond(graph, variables.clone().with_outputs(arguments[2..].iter().copied()))?;
        if !has_maximum {
            return Ok(holds);
        }
        let more = crate::less(graph, arguments[0], arguments[1]).build()?;
        crate::logical_and(graph, more, holds).build()
    })?;
    let (mut body, _) = graph.trace(specs, |graph, arguments| {
        let next = body(graph, variables.clone().with_outputs(arguments[2..].iter().copied()))?;
        let count = crate::add_v2(graph, arguments[0], 1i32).build()?;
        Ok([count, arguments[1]].into_iter().chain(next.to_outputs()).collect::<Vec<_>>())
    })?;
    let next = body.result_dtypes().into_iter().zip(body.result_shapes().iter().cloned()).skip(2);
    check_variables(graph, &own, &next.collect::<Vec<_>>(), &invariants)?;

    let captures = common_captures([&cond, &body]);
    for &capture in &captures {
        body.add_result(graph, capture)?;
    }
    let functions = [
        define(graph, &format!("{base}_cond"), &cond, &captures)?,
        define(graph, &format!("{base}_body"), &body, &captures)?,
    ];
    let op =
        if functions.iter().any(|function| function.is_stateful()) { def::<While>() } else { def::<StatelessWhile>() };
    let shapes = settings.invariants.is_some().then(|| {
        let captured = captures.iter().map(|&capture| graph.shape(capture).clone());
        let scalar = || PartialShape::of_rank(0);
        [scalar(), scalar()].into_iter().chain(invariants).chain(captured).collect::<Vec<_>>()
    });
    let inputs = inputs.into_iter().chain(captures).map(Operand::Value).collect();
    let node = site.build(graph, op, &functions, |node| {
        node.operands(NodeInput::List(inputs)).attr("parallel_iterations", settings.parallel_iterations);
        node.attr("cond", functions[0].reference()).attr("body", functions[1].reference());
        if let Some(shapes) = shapes {
            node.attr("output_shapes", shapes);
        }
    })?;
    let outputs = graph.outputs_of(node, 0);
    Ok((node, variables.with_outputs(outputs.into_iter().skip(2))))
}
