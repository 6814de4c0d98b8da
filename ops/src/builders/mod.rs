//! Calls, branches and loops over closures: what [`call`], [`cond`], [`switch_case`] and [`while_loop`] build.
//!
//! They are TensorFlow's functions of these names. Closures add nodes to the graph and return outputs; what they use from
//! outside is handed to the branch or loop. Those at the root make functions, and nodes that call them (TensorFlow 2);
//! those of [`v1`] make switches, merges and loops in the graph itself (TensorFlow 1). `docs/control-flow.md` has
//! examples. Derivatives that take a loop over gradients stand here, too: `jacobian` and `hessian`.

mod branches;
mod call;
#[cfg(all(feature = "gradients", feature = "list"))]
mod derivatives;
#[cfg(feature = "math")]
mod loops;
pub mod v1;

pub use branches::{Cond, SwitchCase, cond, switch_case};
pub use call::{Call, call};
#[cfg(all(feature = "gradients", feature = "list"))]
pub use derivatives::{hessian, jacobian, jvp};
#[cfg(feature = "math")]
pub use loops::{WhileLoop, while_loop};

use std::marker::PhantomData;

use kernlink::attr::AttrMap;
use kernlink::graph::{Function, Graph, NodeBuilder, NodeId, OpScope, Operand, Output, Trace};
use kernlink::op::{Op, OpDef};
use kernlink::tensor::IntoTensor;
use kernlink::{Error, Result};

/// A constant: a tensor, or a number, string, array, slice, vector or `ndarray` array of which one is made. It is a node of
/// the graph, or the tensor itself in an eager context. [`const_`](crate::const_) does the same of a tensor, with a name or
/// a device.
///
/// The dtype is that of the Rust type, which of a number without a suffix is `i32` or `f64`. What is an input of an op need
/// not be made a constant before: wrappers take all of this, and there `1` and `0.5` have the dtype that the op asks for.
///
/// ```
/// # use kernlink_framework as kernlink;
/// use kernlink::graph::Graph;
/// use kernlink::registry::Registry;
/// use kernlink_ops as ops;
///
/// # fn main() -> kernlink::Result<()> {
/// let mut graph = Graph::new(&std::sync::Arc::new(Registry::linked(&[])?));
/// let weights = ops::constant(&mut graph, [[0.5f32, 1.0], [1.5, 2.0]])?;
/// let words = ops::constant(&mut graph, ["one", "two"])?;
/// let both = ops::identity_n(&mut graph, [weights, words]).build()?;
/// # let _ = both;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn constant<S: OpScope>(scope: &mut S, value: impl IntoTensor) -> Result<S::Output> {
    let value = value.into_tensor()?;
    let dtype = value.dtype();
    crate::const_(scope, value, dtype).build()
}

/// Says how branches and loops are built: as functions that nodes call.
pub struct AsFunctions;

/// Settings of what is built over closures; `kind` says what.
#[must_use = "`build` adds the nodes"]
pub struct Building<'g, K> {
    graph: &'g mut Graph,
    name: Option<String>,
    device: String,
    control_inputs: Vec<NodeId>,
    kind: K,
}

impl<'g, K> Building<'g, K> {
    fn new(graph: &'g mut Graph, kind: K) -> Building<'g, K> {
        Building { graph, name: None, device: String::new(), control_inputs: Vec::new(), kind }
    }

    /// Names the node; what is made of several nodes, and functions, take names that begin with it.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Asks for a device.
    pub fn device(mut self, device: &str) -> Self {
        self.device = device.to_owned();
        self
    }

    /// Makes it run after a node, or that of an output.
    pub fn control_input(mut self, node: impl Into<NodeId>) -> Self {
        self.control_inputs.push(node.into());
        self
    }
}

/// A node that calls functions, before it has its op and inputs.
struct CallSite {
    name: Option<String>,
    device: String,
    control_inputs: Vec<NodeId>,
}

impl CallSite {
    /// Adds the node, which waits for what the bodies of `functions` wait for.
    fn build(
        self,
        graph: &mut Graph,
        op: &'static OpDef,
        functions: &[Function],
        set: impl FnOnce(&mut NodeBuilder<'_>),
    ) -> Result<NodeId> {
        let mut node = NodeBuilder::new(graph, op);
        set(&mut node);
        if let Some(name) = &self.name {
            node.name(name);
        }
        node.device(&self.device);
        let captured = functions.iter().flat_map(Function::control_captures);
        self.control_inputs.iter().chain(captured).for_each(|&control| _ = node.control_input(control));
        node.build()
    }
}

/// An operand as an output.
fn output_of(graph: &mut Graph, operand: Operand<Output>) -> Result<Output> {
    match operand {
        Operand::Value(output) => Ok(output),
        Operand::Constant(tensor) | Operand::Literal(tensor) => constant(graph, tensor),
    }
}

/// All that bodies capture, in the order of first use.
fn common_captures<'t>(traces: impl IntoIterator<Item = &'t Trace>) -> Vec<Output> {
    let mut captures = Vec::new();
    let mut seen = std::collections::HashSet::new();
    captures.extend(traces.into_iter().flat_map(Trace::captures).copied().filter(|capture| seen.insert(*capture)));
    captures
}

/// Puts a body into the library, under a name that begins with `base`.
fn define(graph: &mut Graph, base: &str, trace: &Trace, captures: &[Output]) -> Result<Function> {
    let name = graph.free_function_name(base);
    graph.define(&name, trace, captures, &AttrMap::new())
}

/// Refuses results of a branch or iteration that differ in number or dtype from those that `like` has.
fn check_dtypes(
    what: &str,
    given: &[kernlink::dtype::DataType],
    like: &str,
    expected: &[kernlink::dtype::DataType],
) -> Result<()> {
    let values = |count: usize| if count == 1 { "1 value".to_owned() } else { format!("{count} values") };
    if given.len() != expected.len() {
        let (given, expected) = (values(given.len()), values(expected.len()));
        return Err(Error::invalid_argument(format!("{what} returns {given}, but {like} {expected}")));
    }
    match given.iter().zip(expected).position(|(given, expected)| given != expected) {
        Some(index) => Err(Error::invalid_argument(format!(
            "{what} returns {} as value {index}, but {like} {}: cast one of them",
            given[index], expected[index]
        ))),
        None => Ok(()),
    }
}

/// The dtype of an output.
fn dtype_of(graph: &Graph, output: Output) -> Result<kernlink::dtype::DataType> {
    kernlink::graph::TensorSpec::like(graph, output).map(|spec| spec.dtype())
}

fn def<O: Op>() -> &'static OpDef {
    O::DEF
}

/// How something is built, without a value.
type Form<F> = PhantomData<F>;
