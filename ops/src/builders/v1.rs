//! Branches and loops of TensorFlow 1: nodes of the graph itself, of which some are dead. They are what `tf.compat.v1`
//! builds without functions.

use kernlink::Result;
use kernlink::attr::AttrMap;
use kernlink::graph::{CaptureNode, ControlFlowContext, Graph, IntoOperand, Output, Values};

use super::{Building, Cond, Form, check_dtypes, def, dtype_of, output_of};
use crate::{RefSwitch, Switch};

/// Says how branches and loops are built: as nodes of the graph itself.
pub struct AsNodes;

/// As [`cond`](super::cond), with switches and merges. `pred` must be a bool scalar.
///
/// What a closure takes from outside comes through a `Switch`, so that the nodes of the branch that is not taken are
/// dead; a `Merge` passes on each result. Nodes without inputs wait for the branch.
pub fn cond<V, T, E>(
    graph: &mut Graph,
    pred: impl IntoOperand<Output>,
    on_true: T,
    on_false: E,
) -> Building<'_, Cond<T, E, AsNodes>>
where
    V: Values,
    T: FnOnce(&mut Graph) -> Result<V>,
    E: FnOnce(&mut Graph) -> Result<V>,
{
    Building::new(graph, Cond { pred: pred.into_operand(), on_true, on_false, form: Form::default() })
}

/// Gives the nodes of one branch or loop their names, device and what they wait for.
macro_rules! node {
    ($graph:ident, $site:ident, $op:ident($($input:expr),*)) => {{
        let name = $graph.free_name(&format!("{}/{}", $site.base, stringify!($op)));
        crate::$op($graph, $($input),*).name(&name).device($site.device)
    }};
}

#[derive(Clone, Copy)]
struct Site<'s> {
    base: &'s str,
    device: &'s str,
}

impl<T, E> Building<'_, Cond<T, E, AsNodes>> {
    /// Builds the branches; returns what they merge to.
    ///
    /// # Errors
    /// Those of the branches; INVALID_ARGUMENT if they return values of another number or dtype, or `pred` is no bool
    /// scalar.
    pub fn build<V>(self) -> Result<V>
    where
        V: Values,
        T: FnOnce(&mut Graph) -> Result<V>,
        E: FnOnce(&mut Graph) -> Result<V>,
    {
        let Building { graph, name, device, control_inputs, kind: Cond { pred, on_true, on_false, .. } } = self;
        let site = Site { base: name.as_deref().unwrap_or("cond"), device: &device };
        let pred = pred?;
        graph.all_or_nothing(|graph| {
            let pred = output_of(graph, pred)?;
            let mut switch = node!(graph, site, switch(pred, pred));
            for control in control_inputs {
                switch = switch.control_input(control);
            }
            let switch = switch.build()?;
            let pred = node!(graph, site, identity(pred)).build()?;
            let (values, merged) = branch(graph, site, "true", (pred, 1), switch.output_true, on_true)?;
            let (_, others) = branch(graph, site, "false", (pred, 0), switch.output_false, on_false)?;
            let dtypes = |graph: &Graph, outputs: &[Output]| {
                outputs.iter().map(|&output| dtype_of(graph, output)).collect::<Result<Vec<_>>>()
            };
            let (on_true, on_false) = (dtypes(graph, &merged)?, dtypes(graph, &others)?);
            let what = format!("branch `false` of `{}`", site.base);
            check_dtypes(&what, &on_false, "branch `true`", &on_true)?;
            let merges = others.into_iter().zip(merged).map(|(on_false, on_true)| {
                node!(graph, site, merge([on_false, on_true])).build().map(|merge| merge.output)
            });
            let merges = merges.collect::<Result<Vec<_>>>()?;
            Ok(values.with_outputs(merges))
        })
    }
}

/// Builds one branch: what it returns, and the same as it is inside.
fn branch<V: Values>(
    graph: &mut Graph,
    site: Site<'_>,
    label: &str,
    (pred, output): (Output, usize),
    taken: Output,
    build: impl FnOnce(&mut Graph) -> Result<V>,
) -> Result<(V, Vec<Output>)> {
    let pivot = node!(graph, site, identity(taken)).build()?;
    let inputs = vec![pred];
    let capture =
        CaptureNode { op: def::<Switch>(), ref_op: def::<RefSwitch>(), inputs, attrs: AttrMap::new(), output };
    let context = ControlFlowContext::branch(graph, capture, pivot.node);
    let built = graph.within(context, |graph| {
        let values = build(graph)?;
        let inside = values.to_outputs().into_iter().map(|value| graph.bring_in(value)).collect::<Result<Vec<_>>>()?;
        Ok((values, inside))
    });
    let (results, _) = built.map_err(|error| error.context(format!("in branch `{label}` of `{}`", site.base)))?;
    Ok(results)
}

#[cfg(feature = "math")]
pub use loops::while_loop;

#[cfg(feature = "math")]
mod loops {
    use kernlink::graph::{NodeId, TensorSpec};
    use kernlink::{Error, Result};

    use super::super::constant;
    use super::super::loops::{WhileLoop, check_variables};
    use super::*;
    use crate::{Enter, RefEnter};

    /// As [`while_loop`](super::super::while_loop), with switches, merges and nodes that lead back.
    ///
    /// What the closures take from outside enters the loop by an `Enter` that every iteration sees. Nodes without
    /// inputs, and those that take only such values, wait for their iteration.
    pub fn while_loop<V, C, B>(
        graph: &mut Graph,
        variables: V,
        cond: C,
        body: B,
    ) -> Building<'_, WhileLoop<V, C, B, AsNodes>>
    where
        V: Values,
        C: FnOnce(&mut Graph, V) -> Result<Output>,
        B: FnOnce(&mut Graph, V) -> Result<V>,
    {
        Building::new(graph, WhileLoop::new(variables, cond, body))
    }

    impl<V, C, B> Building<'_, WhileLoop<V, C, B, AsNodes>>
    where
        V: Values,
        C: FnOnce(&mut Graph, V) -> Result<Output>,
        B: FnOnce(&mut Graph, V) -> Result<V>,
    {
        /// Builds the loop; returns the variables as they leave it.
        ///
        /// # Errors
        /// Those of the closures; INVALID_ARGUMENT if there are no variables, the condition is no bool scalar, or the
        /// body changes a variable's dtype, or its shape beyond what the invariants allow.
        pub fn build(self) -> Result<V> {
            let Building { graph, name, device, control_inputs, kind } = self;
            let site = Site { base: name.as_deref().unwrap_or("while"), device: &device };
            let within = |error: Error| error.context(format!("in loop `{}`", site.base));
            graph.all_or_nothing(|graph| build(graph, site, &control_inputs, kind)).map_err(within)
        }
    }

    fn build<V, C, B>(
        graph: &mut Graph,
        site: Site<'_>,
        control_inputs: &[NodeId],
        kind: WhileLoop<V, C, B, AsNodes>,
    ) -> Result<V>
    where
        V: Values,
        C: FnOnce(&mut Graph, V) -> Result<Output>,
        B: FnOnce(&mut Graph, V) -> Result<V>,
    {
        let WhileLoop { variables, cond, body, mut settings, .. } = kind;
        let own = variables.to_outputs();
        let mut invariants = settings.invariants(graph, &own)?;
        let maximum = settings.maximum(graph)?;
        // The counter comes last, and is nobody else's.
        let mut entering = own.clone();
        if maximum.is_some() {
            let counter = constant(graph, 0i32)?;
            invariants.push(graph.shape(counter).clone());
            entering.push(counter);
        }
        let values = |outputs: &[Output]| variables.clone().with_outputs(outputs.iter().copied());

        let frame = graph.free_name(&format!("{}/enter", site.base));
        let parallel = settings.parallel_iterations;
        let mut enters = Vec::with_capacity(entering.len());
        for (&variable, invariant) in entering.iter().zip(&invariants) {
            let mut enter = node!(graph, site, enter(variable, &frame)).parallel_iterations(parallel);
            for &control in control_inputs {
                enter = enter.control_input(control);
            }
            let enter = enter.build()?;
            graph.set_shape(enter, invariant)?;
            enters.push(enter);
        }
        // Their second inputs are still to come.
        let merges = enters.iter().map(|&enter| node!(graph, site, merge([enter, enter])).build().map(|m| m.output));
        let merges = merges.collect::<Result<Vec<_>>>()?;
        let attrs = [
            ("frame_name", frame.as_str().into()),
            ("is_constant", true.into()),
            ("parallel_iterations", parallel.into()),
        ];
        let capture = CaptureNode {
            op: def::<Enter>(),
            ref_op: def::<RefEnter>(),
            inputs: Vec::new(),
            attrs: attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            output: 0,
        };
        let entries = enters.iter().map(|enter| enter.node).collect();
        let context = ControlFlowContext::frame(capture, merges[0].node, entries);
        let (switches, mut context) = graph.within(context, |graph| {
            let mut holds = cond(graph, values(&merges))?;
            if let (Some(maximum), Some(&counter)) = (maximum, merges.last()) {
                let more = node!(graph, site, less(counter, maximum)).build()?;
                holds = node!(graph, site, logical_and(more, holds)).build()?;
            }
            let goes_on = node!(graph, site, loop_cond(holds)).build()?;
            let switches = merges.iter().map(|&merge| node!(graph, site, switch(merge, goes_on)).build());
            switches.collect::<Result<Vec<_>>>()
        })?;
        // What the body has alone waits for it.
        let taken = switches.iter().map(|switch| node!(graph, site, identity(switch.output_true)).build());
        let taken = taken.collect::<Result<Vec<_>>>()?;
        context.set_pivot(taken[0].node);
        let (next, _) = graph.within(context, |graph| {
            let mut next = body(graph, values(&taken))?.to_outputs();
            let specs = next.iter().map(|&next| TensorSpec::like(graph, next));
            let specs = specs.map(|spec| spec.map(|spec| (spec.dtype(), spec.partial_shape().clone())));
            check_variables(graph, &own, &specs.collect::<Result<Vec<_>>>()?, &invariants)?;
            if let Some(&counter) = taken.last().filter(|_| maximum.is_some()) {
                next.push(node!(graph, site, add_v2(counter, 1i32)).build()?);
            }
            let next = next.into_iter().map(|value| node!(graph, site, next_iteration(value)).build());
            next.collect::<Result<Vec<_>>>()
        })?;
        for (merge, next) in merges.iter().zip(next) {
            graph.close_loop(merge.node, next)?;
        }
        let exits = switches.iter().map(|switch| node!(graph, site, exit(switch.output_false)).build());
        let exits = exits.collect::<Result<Vec<_>>>()?;
        Ok(variables.with_outputs(exits))
    }
}
