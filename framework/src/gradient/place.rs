//! What the parameters of a gradient's function stand for.

use crate::op::AttrBase;

/// What a parameter of a gradient's function stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// In which list of the op.
    pub side: Side,
    /// The position of the argument, or of the attr.
    pub argument: usize,
    /// What is taken of it.
    pub kind: ParameterKind,
    /// How the parameter is called. A node of another op may ask for the gradient: its attrs are known by their names alone.
    pub name: &'static str,
}

/// Where an argument of an op stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// An input.
    Input,
    /// An output.
    Output,
    /// What flows back to an output.
    Flow,
    /// An attr.
    Attr,
}

/// What a parameter takes of what it is called after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// A tensor.
    Value,
    /// A list of tensors.
    Values,
    /// The shape of a tensor.
    Shape,
    /// The shapes of a list of tensors.
    Shapes,
    /// What flows back, if something does.
    MaybeFlow,
    /// What flows back to each of a list, if something does.
    MaybeFlows,
    /// What flows back, be it slices.
    AnyFlow,
    /// An attr of this type.
    Attr {
        /// The type, or that of the elements.
        base: AttrBase,
        /// Whether it is a list.
        list: bool,
    },
}
