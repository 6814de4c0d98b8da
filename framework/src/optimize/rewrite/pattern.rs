//! What a rewrite looks for, as constant data.

use crate::attr::AttrValue;
use crate::graph::Node;
use crate::op::OpDef;

/// Nodes and the edges between them. Written by `#[register_rewrite]`.
#[derive(Debug)]
pub struct Pattern {
    /// The nodes, the root first: the node whose outputs are replaced. The others are matched by the inputs of those before.
    pub nodes: &'static [PatternNode],
    /// How many outputs are captured by name.
    pub outputs: usize,
    /// How many lists of outputs are captured by name.
    pub lists: usize,
}

/// One node of a [`Pattern`].
#[derive(Debug)]
pub struct PatternNode {
    /// The ops that it may be of.
    pub ops: &'static [&'static OpDef],
    /// Which of its outputs is used by the node that names it, by position among the op's output arguments.
    pub output: usize,
    /// What is asked of its input arguments.
    pub inputs: &'static [InputPattern],
    /// What is asked of its attrs.
    pub attrs: &'static [AttrPattern],
}

/// What is asked of one input argument.
#[derive(Debug)]
pub struct InputPattern {
    /// Which of the op's input arguments.
    pub argument: usize,
    /// What it must be.
    pub operand: OperandPattern,
}

/// What an input must be.
#[derive(Debug)]
pub enum OperandPattern {
    /// Anything.
    Any,
    /// Any output: the capture with this number. Where it is bound already, it must be the same output.
    Output(usize),
    /// The same, if it is a constant that is not fed.
    Constant(usize),
    /// All tensors of an argument that is a list: the list capture with this number.
    List(usize),
    /// Exactly these tensors of an argument that is a list.
    Each(&'static [OperandPattern]),
    /// An output of the node with this number in the pattern.
    Node(usize),
}

/// A value that an attr must have.
#[derive(Debug)]
pub struct AttrPattern {
    /// The attr.
    pub name: &'static str,
    /// Its value.
    pub is: AttrIs,
}

/// The value in an [`AttrPattern`].
#[derive(Debug)]
pub enum AttrIs {
    /// A string.
    String(&'static str),
    /// An integer.
    Int(i64),
    /// A bool.
    Bool(bool),
    /// A dtype.
    Type(crate::dtype::DataType),
}

impl AttrPattern {
    fn matches(&self, node: &Node) -> bool {
        match (&self.is, node.attrs.get(self.name)) {
            (AttrIs::String(text), Some(AttrValue::String(value))) => value.as_bytes() == text.as_bytes(),
            (AttrIs::Int(int), Some(AttrValue::Int(value))) => int == value,
            (AttrIs::Bool(bool), Some(AttrValue::Bool(value))) => bool == value,
            (AttrIs::Type(dtype), Some(AttrValue::Type(value))) => dtype == value,
            _ => false,
        }
    }
}

impl PatternNode {
    /// Whether a node is of one of the ops and has the attrs. Ops are told apart by their declarations: an op of a user's
    /// registry that only has the name is another one.
    pub(super) fn matches(&self, node: &Node) -> bool {
        self.ops.iter().any(|op| std::ptr::eq(*op, node.op.def)) && self.attrs.iter().all(|attr| attr.matches(node))
    }
}
