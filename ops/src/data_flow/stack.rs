//! Stacks, which gradients of loops use.

use kernlink_macros::register_op;

use super::handle::{close_reference_shape, reference_shape};
use crate::shapes;

#[register_op(
    attr("elem_type: type", "The dtype of the elements."),
    attr("stack_name: string = ''", "A name for the stack; empty for that of the node."),
    output("handle: Ref(string)", "The name of the stack."),
    stateful,
    shape_fn = reference_shape,
)]
pub enum Stacks {
    /// A stack of tensors that lives as long as the run.
    Stack,
    /// A stack of tensors that lives as long as the run.
    #[op(
        input("max_size: int32", "How many elements fit, or a negative number for any number."),
        output("handle: resource", "The stack.")
    )]
    StackV2,
}

#[register_op(input("handle: Ref(string)", "The stack."), shape_fn = shapes::shape_of_input::<1>)]
pub enum StackElements {
    /// Puts a tensor on a stack and hands it on.
    #[op(
        attr("T: type"),
        attr("swap_memory: bool = false", "Whether memory may be swapped to the host."),
        input("elem: T", "The tensor."),
        output("output: T")
    )]
    StackPush,
    /// Puts a tensor on a stack and hands it on.
    #[op(like = StackPush, input("handle: resource"), stateful)]
    StackPushV2,
    /// Takes the last tensor from a stack.
    #[op(attr("elem_type: type"), output("elem: elem_type", "The tensor."), shape_fn = shapes::unknown_shape)]
    StackPop,
    /// Takes the last tensor from a stack.
    #[op(like = StackPop, input("handle: resource"), stateful)]
    StackPopV2,
}

/// Forgets a stack.
#[register_op(input("handle: Ref(string)", "The stack."), shape_fn = close_reference_shape)]
pub struct StackClose;

/// Forgets a stack.
#[register_op(input("handle: resource", "The stack."), stateful, shape_fn = close_reference_shape)]
pub struct StackCloseV2;
