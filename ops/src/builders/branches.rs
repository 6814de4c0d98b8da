//! Branches that are functions: `If` and `Case`.

use kernlink::attr::FunctionRef;
use kernlink::graph::{
    Function, Graph, IntoOperand, NodeBuilder, NodeId, NodeInput, Operand, Output, Savepoint, Trace, Values,
};
use kernlink::op::OpDef;
use kernlink::{Error, Result};

use super::{AsFunctions, Building, CallSite, Form, check_dtypes, common_captures, def, define};
use crate::{Case, If, StatelessCase, StatelessIf};

/// A choice between two closures.
pub struct Cond<T, E, F = AsFunctions> {
    pub(super) pred: Result<Operand<Output>>,
    pub(super) on_true: T,
    pub(super) on_false: E,
    pub(super) form: Form<F>,
}

/// What `on_true` returns if `pred` holds, and what `on_false` returns if not: only one of them runs. Both must return
/// values of the same number and dtypes.
///
/// A number holds if it is not zero, a string or any tensor that is no scalar if it is not empty.
///
/// The node is an `If`, or a `StatelessIf` if no branch keeps a state or has effects.
pub fn cond<V, T, E>(
    graph: &mut Graph,
    pred: impl IntoOperand<Output>,
    on_true: T,
    on_false: E,
) -> Building<'_, Cond<T, E>>
where
    V: Values,
    T: FnOnce(&mut Graph) -> Result<V>,
    E: FnOnce(&mut Graph) -> Result<V>,
{
    Building::new(graph, Cond { pred: pred.into_operand(), on_true, on_false, form: Form::default() })
}

impl<T, E> Building<'_, Cond<T, E>> {
    /// Builds the branches and the node; returns its outputs.
    ///
    /// # Errors
    /// Those of the branches; INVALID_ARGUMENT if they return values of another number or dtype.
    pub fn build<V>(self) -> Result<V>
    where
        V: Values,
        T: FnOnce(&mut Graph) -> Result<V>,
        E: FnOnce(&mut Graph) -> Result<V>,
    {
        self.build_node().map(|(_, values)| values)
    }

    /// As [`build`](Self::build); returns the node too.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_node<V>(self) -> Result<(NodeId, V)>
    where
        V: Values,
        T: FnOnce(&mut Graph) -> Result<V>,
        E: FnOnce(&mut Graph) -> Result<V>,
    {
        let Building { graph, name, device, control_inputs, kind: Cond { pred, on_true, on_false, .. } } = self;
        let mut branches = Branches::new("cond", name);
        let site = CallSite { name: branches.name.clone(), device, control_inputs };
        graph.all_or_nothing(|graph| {
            branches.trace(graph, "true", on_true)?;
            branches.trace(graph, "false", on_false)?;
            branches.build(graph, site, [def::<StatelessIf>(), def::<If>()], pred?, |node, functions| {
                for (attr, function) in ["then_branch", "else_branch"].into_iter().zip(functions) {
                    node.attr(attr, function);
                }
            })
        })
    }
}

/// A choice between any number of closures.
pub struct SwitchCase<V> {
    index: Result<Operand<Output>>,
    branches: Branches<V>,
    fault: Option<Error>,
    /// The graph without the functions that branches build.
    before: Savepoint,
}

/// What the branch with number `branch_index` returns, an int32 from 0; the last one for any other number. Branches are
/// added with `branch`; all must return values of the same number and dtypes.
///
/// The node is a `Case`, or a `StatelessCase` if no branch keeps a state or has effects.
pub fn switch_case<V: Values>(
    graph: &mut Graph,
    branch_index: impl IntoOperand<Output>,
) -> Building<'_, SwitchCase<V>> {
    let index = branch_index.into_operand();
    let before = graph.savepoint();
    Building::new(graph, SwitchCase { index, branches: Branches::new("case", None), fault: None, before })
}

impl<V: Values> Building<'_, SwitchCase<V>> {
    /// Adds a branch.
    pub fn branch(mut self, branch: impl FnOnce(&mut Graph) -> Result<V>) -> Self {
        let SwitchCase { branches, fault, .. } = &mut self.kind;
        if fault.is_none() {
            let label = branches.traces.len().to_string();
            *fault = branches.trace(self.graph, &label, branch).err();
        }
        self
    }

    /// Builds the node; returns its outputs.
    ///
    /// # Errors
    /// Those of the branches; INVALID_ARGUMENT if there are none, or they return values of another number or dtype.
    pub fn build(self) -> Result<V> {
        self.build_node().map(|(_, values)| values)
    }

    /// As [`build`](Self::build); returns the node too.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_node(self) -> Result<(NodeId, V)> {
        let Building { graph, name, device, control_inputs, kind } = self;
        let SwitchCase { index, mut branches, fault, before } = kind;
        branches.name = name;
        let site = CallSite { name: branches.name.clone(), device, control_inputs };
        let built = fault.map_or(index, Err).and_then(|index| {
            branches.build(graph, site, [def::<StatelessCase>(), def::<Case>()], index, |node, functions| {
                node.attr("branches", functions);
            })
        });
        if built.is_err() {
            graph.roll_back(before);
        }
        built
    }
}

/// The bodies of a node's branches.
struct Branches<V> {
    kind: &'static str,
    name: Option<String>,
    traces: Vec<(String, Trace)>,
    values: Option<V>,
}

impl<V: Values> Branches<V> {
    fn new(kind: &'static str, name: Option<String>) -> Branches<V> {
        Branches { kind, name, traces: Vec::new(), values: None }
    }

    fn base(&self) -> &str {
        self.name.as_deref().unwrap_or(self.kind)
    }

    fn trace(&mut self, graph: &mut Graph, label: &str, branch: impl FnOnce(&mut Graph) -> Result<V>) -> Result<()> {
        let traced = graph.trace(Vec::new(), |graph, _| branch(graph));
        let (trace, values) =
            traced.map_err(|error| error.context(format!("in branch `{label}` of `{}`", self.base())))?;
        if let Some((first, like)) = self.traces.first() {
            let (what, first) = (format!("branch `{label}` of `{}`", self.base()), format!("branch `{first}`"));
            check_dtypes(&what, &trace.result_dtypes(), &first, &like.result_dtypes())?;
        }
        self.traces.push((label.to_owned(), trace));
        self.values.get_or_insert(values);
        Ok(())
    }

    /// Adds the node: of the first op if the branches have no state, of the second if one has.
    fn build(
        self,
        graph: &mut Graph,
        site: CallSite,
        [stateless, stateful]: [&'static OpDef; 2],
        selector: Operand<Output>,
        set: impl FnOnce(&mut NodeBuilder<'_>, Vec<FunctionRef>),
    ) -> Result<(NodeId, V)> {
        let captures = common_captures(self.traces.iter().map(|(_, trace)| trace));
        let Some((_, first)) = self.traces.first() else {
            return Err(Error::invalid_argument(format!("`{}` has no branches: add one with `branch`", self.base())));
        };
        let results = first.result_dtypes();
        let functions = self.traces.iter().map(|(label, trace)| {
            let base = if self.kind == "case" {
                format!("{}_branch{label}", self.base())
            } else {
                format!("{}_{label}", self.base())
            };
            define(graph, &base, trace, &captures)
        });
        let functions = functions.collect::<Result<Vec<_>>>()?;
        let op = if functions.iter().any(Function::is_stateful) { stateful } else { stateless };
        let inputs = captures.into_iter().map(Operand::Value).collect();
        let node = site.build(graph, op, &functions, |node| {
            node.operands(NodeInput::Single(selector)).operands(NodeInput::List(inputs)).attr("Tout", results);
            set(node, functions.iter().map(Function::reference).collect());
        })?;
        let outputs = graph.outputs_of(node, 0);
        let values = self.values.map(|values| values.with_outputs(outputs));
        values.map(|values| (node, values)).ok_or_else(|| Error::internal("a branch has no values"))
    }
}
