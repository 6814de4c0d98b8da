//! Where ops go. The wrappers that `#[register_op]` writes are generic over an [`OpScope`], so that one function serves
//! for building graphs and for running ops at once.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::NodeId;
use crate::attr::AttrMap;
use crate::error::{Error, Result};
use crate::op::{OpDef, Signature};
use crate::tensor::{IntoTensor, Tensor};

/// What ops are given to: a [`Graph`](super::Graph), which adds a node, or an
/// [`EagerContext`](crate::runtime::EagerContext), which computes at once.
///
/// Code that is generic over its scope works in both:
///
/// ```ignore
/// fn dense<S: OpScope>(scope: &mut S, x: S::Output, w: S::Output, b: S::Output) -> Result<S::Output> {
///     let y = ops::mat_mul(scope, x, w).build()?;
///     let y = ops::bias_add(scope, y, b).build()?;
///     ops::relu(scope, y).build()
/// }
/// ```
pub trait OpScope {
    /// What one output is: [`Output`](super::Output) in a graph, [`Tensor`] when it is computed.
    type Output: IntoOperand<Self::Output> + Clone + fmt::Debug;

    /// What stands for a whole node: [`NodeId`] in a graph, nothing when it is computed.
    type Node: fmt::Debug;

    /// Adds or runs an op.
    ///
    /// # Errors
    /// NOT_FOUND if the op, or the kernel that it needs, is missing; INVALID_ARGUMENT if inputs or attrs do not suit
    /// the op; and whatever else the scope meets.
    #[track_caller]
    fn apply(&mut self, request: NodeRequest<'_, Self::Output>) -> Result<Applied<Self>>;
}

/// What came of an op: its node and its outputs.
#[non_exhaustive]
pub struct Applied<S: OpScope + ?Sized> {
    /// The node.
    pub node: S::Node,
    /// Its outputs.
    pub outputs: Outputs<S::Output>,
}

/// What is said of a node before its scope checks it. A [`NodeBuilder`](super::NodeBuilder) makes it.
#[non_exhaustive]
pub struct NodeRequest<'o, V> {
    /// The op.
    pub op: &'o OpDef,
    /// What is given for its input arguments, in order.
    pub inputs: SmallVec<[NodeInput<V>; 2]>,
    /// The attrs that are given.
    pub attrs: AttrMap,
    /// The node's name, if it is given.
    pub name: Option<String>,
    /// The device that is asked for; empty for any.
    pub device: String,
    /// The nodes that are to run before it.
    pub control_inputs: Vec<NodeId>,
    /// What went wrong so far.
    pub faults: Vec<String>,
}

impl<'o, V> NodeRequest<'o, V> {
    /// A node of `op`, of which nothing else is said so far.
    pub fn new(op: &'o OpDef) -> NodeRequest<'o, V> {
        NodeRequest {
            op,
            inputs: SmallVec::new(),
            attrs: AttrMap::new(),
            name: None,
            device: String::new(),
            control_inputs: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// The request with what `other` gives for each output of another op.
    pub(crate) fn with_operands<W>(self, mut other: impl FnMut(V) -> Result<Operand<W>>) -> Result<NodeRequest<'o, W>> {
        let NodeRequest { op, inputs, attrs, name, device, control_inputs, faults } = self;
        let mut operand = |operand: Operand<V>| {
            Ok(match operand {
                Operand::Value(value) => other(value)?,
                Operand::Constant(tensor) => Operand::Constant(tensor),
                Operand::Literal(tensor) => Operand::Literal(tensor),
            })
        };
        let inputs = inputs.into_iter().map(|input| {
            Ok(match input {
                NodeInput::Single(one) => NodeInput::Single(operand(one)?),
                NodeInput::List(all) => NodeInput::List(all.into_iter().map(&mut operand).collect::<Result<_>>()?),
            })
        });
        let inputs = inputs.collect::<Result<_>>()?;
        Ok(NodeRequest { op, inputs, attrs, name, device, control_inputs, faults })
    }
}

/// What is given for one input argument of an op.
#[derive(Clone, Debug)]
pub enum NodeInput<V> {
    /// One tensor.
    Single(Operand<V>),
    /// A list of tensors.
    List(Vec<Operand<V>>),
}

impl<V> NodeInput<V> {
    /// The tensors, one or several.
    pub fn operands(&self) -> &[Operand<V>] {
        match self {
            NodeInput::Single(operand) => std::slice::from_ref(operand),
            NodeInput::List(operands) => operands,
        }
    }

    pub(crate) fn operands_mut(&mut self) -> &mut [Operand<V>] {
        match self {
            NodeInput::Single(operand) => std::slice::from_mut(operand),
            NodeInput::List(operands) => operands,
        }
    }
}

/// One tensor that is given to an op.
#[derive(Clone, Debug)]
pub enum Operand<V> {
    /// An output of another op.
    Value(V),
    /// A tensor as it is; in a graph it becomes a `Const` node.
    Constant(Tensor),
    /// An `i32`, an `f64` or an array of them by value, which is what Rust takes numbers without a suffix for; a variable of
    /// such a type is one too, as a value does not tell how it was written. It takes the dtype that the op asks for: that
    /// of its argument, or of the other inputs of the same attr, or else what TensorFlow makes of Python's numbers:
    /// `int32` or `float` if the attr allows it, or the attr's default. Integers become any dtype of numbers that has the
    /// value, floats become floats, to which they are rounded, and complex numbers; one that is finite and that the dtype
    /// could only hold as infinity is refused.
    Literal(Tensor),
}

impl<V> Operand<V> {
    /// The tensor, if it is one; a literal has the dtype of its Rust type.
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Operand::Value(_) => None,
            Operand::Constant(tensor) | Operand::Literal(tensor) => Some(tensor),
        }
    }
}

/// An output of a scope that computes at once: a tensor, perhaps with what else is known of it.
pub(crate) trait ComputedOutput {
    /// The tensor.
    fn as_tensor(&self) -> &Tensor;

    /// The tensor.
    fn into_tensor(self) -> Tensor;
}

impl ComputedOutput for Tensor {
    #[inline]
    fn as_tensor(&self) -> &Tensor {
        self
    }

    #[inline]
    fn into_tensor(self) -> Tensor {
        self
    }
}

impl<V> Operand<V> {
    /// The tensor, which without a graph it is in any case.
    #[inline]
    pub(crate) fn into_tensor(self) -> Tensor
    where
        V: ComputedOutput,
    {
        match self {
            Operand::Value(value) => value.into_tensor(),
            Operand::Constant(tensor) | Operand::Literal(tensor) => tensor,
        }
    }

    /// As [`Operand::into_tensor`].
    #[inline]
    pub(crate) fn as_tensor(&self) -> &Tensor
    where
        V: ComputedOutput,
    {
        match self {
            Operand::Value(value) => value.as_tensor(),
            Operand::Constant(tensor) | Operand::Literal(tensor) => tensor,
        }
    }
}

impl Operand<Tensor> {
    /// As [`Operand::into_tensor`].
    pub(crate) fn as_tensor_mut(&mut self) -> &mut Tensor {
        let (Operand::Value(tensor) | Operand::Constant(tensor) | Operand::Literal(tensor)) = self;
        tensor
    }
}

/// What can be given as an input of an op: an output of another one, or a tensor or [what becomes one](IntoTensor): a number,
/// a string, an array, slice or vector of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an input of an op",
    note = "inputs are outputs of other ops (`Output` in a graph, `Tensor` in an eager context), and tensors, numbers, \
            strings and arrays of them, which become constants; what a wrapper returns is an output after `.build()?`"
)]
pub trait IntoOperand<V> {
    /// The operand.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory for a tensor.
    fn into_operand(self) -> Result<Operand<V>>;
}

impl IntoOperand<super::Output> for super::Output {
    fn into_operand(self) -> Result<Operand<super::Output>> {
        Ok(Operand::Value(self))
    }
}

impl<V, T: IntoTensor> IntoOperand<V> for T {
    #[inline]
    fn into_operand(self) -> Result<Operand<V>> {
        self.into_tensor().map(if T::IS_LITERAL { Operand::Literal } else { Operand::Constant })
    }
}

/// The outputs of a node, by argument of its op.
pub struct Outputs<V> {
    values: SmallVec<[Option<V>; 2]>,
    signature: Arc<Signature>,
}

impl<V> Outputs<V> {
    pub(crate) fn new(values: SmallVec<[Option<V>; 2]>, signature: Arc<Signature>) -> Outputs<V> {
        Outputs { values, signature }
    }

    /// Takes the one output of argument `argument`.
    ///
    /// # Errors
    /// INTERNAL if the node has no such output, or it was taken: the op that the registry knows by this name is
    /// another one than the caller's.
    pub fn take(&mut self, argument: usize) -> Result<V> {
        let range = self.signature.output_ranges.get(argument);
        let value = range.and_then(|range| self.values.get_mut(range.start)?.take());
        value.ok_or_else(|| missing(argument))
    }

    /// Takes the outputs of argument `argument`, a list.
    ///
    /// # Errors
    /// As [`Outputs::take`].
    pub fn take_list(&mut self, argument: usize) -> Result<Vec<V>> {
        let Some(range) = self.signature.output_ranges.get(argument) else { return Err(missing(argument)) };
        let values = self.values.get_mut(range.clone()).into_iter().flatten();
        values.map(|value| value.take().ok_or_else(|| missing(argument))).collect()
    }

    /// Which outputs each argument has.
    pub(crate) fn signature(&self) -> &Arc<Signature> {
        &self.signature
    }

    /// How many each argument of the op gives, in order: `None` for one that is no list.
    pub fn lengths<'a>(&'a self, op: &'a OpDef) -> impl Iterator<Item = Option<usize>> + 'a {
        let ranges = self.signature.output_ranges.iter().zip(op.outputs.iter());
        ranges.map(|(range, argument)| argument.is_list().then_some(range.len()))
    }

    /// All outputs, in order.
    pub fn into_vec(self) -> Vec<V> {
        self.values.into_iter().flatten().collect()
    }
}

#[cold]
fn missing(argument: usize) -> Error {
    Error::internal(format!("the node lacks output argument {argument}: the registry's op is not the wrapper's"))
}
