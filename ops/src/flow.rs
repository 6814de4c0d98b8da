//! Values and flow: constants, placeholders, identities, and the nodes that the runtime itself creates.

use kernlink::attr::AttrValue;
use kernlink::shape_inference::InferenceContext;
use kernlink::tensor::Tensor;
use kernlink::{Result, bail};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: type"),
    attr("index: int >= 0", "Which argument, from 0."),
    stateful,
    system,
    shape_fn = arg_shape,
)]
pub enum Boundaries {
    /// A parameter of a function body: the value of the call's argument `index`.
    ///
    /// Made when a function is instantiated, never written by hand.
    #[op(output("output: T"))]
    _Arg,
    /// A result of a function body: hands `input` back as the call's result `index`.
    ///
    /// Made when a function is instantiated, never written by hand.
    #[op(attr("index: int >= 0", "Which result, from 0."), input("input: T"), shape_fn = shapes::no_outputs)]
    _Retval,
}

/// The shape that whoever instantiated the function noted in `_output_shapes`, if any.
fn arg_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = match c.attrs().get("_output_shapes") {
        Some(AttrValue::ListShape(shapes)) if !shapes.is_empty() => c.make_shape_from_partial(&shapes[0]),
        Some(AttrValue::ListShape(_) | AttrValue::EmptyList) => {
            bail!(InvalidArgument, "Invalid `_output_shapes` attribute value for _Arg node: it is empty")
        }
        _ => c.unknown_shape(),
    };
    shapes::output_shape(c, shape)
}

#[register_op(
    attr("tensor_name: string", "What the pair of nodes call the tensor."),
    attr("send_device: string", "The device of this node."),
    attr("send_device_incarnation: int", "Tells the device from an earlier life of itself."),
    attr("recv_device: string", "The device of the receiving node."),
    attr("client_terminated: bool = false", "Whether a feed or fetch stands at the other end."),
    stateful,
    system,
    shape_fn = shapes::unknown_shape,
)]
pub enum Transfers {
    /// Hands `tensor` to the `_Recv` of the same name on another device.
    ///
    /// Made when a graph is partitioned over devices, never written by hand.
    #[op(attr("T: type", before = "tensor_name"), input("tensor: T"))]
    _Send,
    /// Waits for the tensor that the `_Send` of the same name hands over.
    ///
    /// Made when a graph is partitioned over devices, never written by hand. Its shape is not known before it arrives.
    #[op(
        attr("tensor_type: type", before = "tensor_name"),
        attr("send_device: string", "The device of the sending node."),
        attr("send_device_incarnation: int", "Tells the sending device from an earlier life of itself."),
        attr("recv_device: string", "The device of this node."),
        output("tensor: tensor_type"),
        distributed_communication
    )]
    _Recv,
}

#[register_op(
    attr("dtype: type"),
    attr("shape: shape = { unknown_rank: true }", "What a fed tensor must be compatible with."),
    output("output: dtype"),
    shape_fn = shapes::explicit_shape,
)]
pub enum Placeholders {
    /// A value that every run has to feed; running it unfed is an error.
    Placeholder,
    /// The former name of [`Placeholder`], with a shape that must be given.
    #[op(attr("shape: shape"), deprecated(23, "Placeholder now behaves the same as PlaceholderV2."))]
    PlaceholderV2,
}

/// A value that a run may feed; unfed it is `input`.
#[register_op(
    attr("dtype: type"),
    attr("shape: shape", "What a fed tensor, and `input`, must be compatible with."),
    input("input: dtype", "The value when none is fed."),
    output("output: dtype"),
    shape_fn = placeholder_with_default_shape,
)]
pub struct PlaceholderWithDefault;

fn placeholder_with_default_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.make_shape_from_partial(&c.attr("shape")?);
    // The input may be better known than what may be fed in its place.
    c.merge(c.input(0), shape)?;
    shapes::output_shape(c, shape)
}

/// A tensor that stands in the graph itself.
#[register_op(
    attr("value: tensor", "The tensor; its dtype is `dtype`."),
    attr("dtype: type"),
    output("output: dtype"),
    system,
    shape_fn = const_shape,
)]
pub struct Const;

/// [`Const`] in the memory of the host, wherever the node is.
#[register_op(
    attr("value: tensor", "The tensor; its dtype is `dtype`."),
    attr("dtype: type"),
    output("output: dtype"),
    shape_fn = shapes::unknown_shape,
)]
pub struct HostConst;

/// A fact about factorials.
#[register_op(output("fact: string", "A scalar."), shape_fn = shapes::unknown_shape)]
pub struct Fact;

/// The place of the device that the node is on among the types named; their number, if it is none of them.
#[register_op(
    attr("device_names: list(string)", "Types of devices, such as `CPU`."),
    output("index: int32", "A scalar."),
    stateful,
    shape_fn = shapes::scalar_shape,
)]
pub struct DeviceIndex;

/// What functions of old hand their arguments on by: tensors of one dtype as tensors of their own, or the other way round.
#[register_op(shape_fn = shapes::unknown_shape)]
pub enum Arrays {
    /// Tensors, one by one given, as a list of one dtype.
    #[op(
        attr("Tin: list(type) >= 1"),
        attr("T: type"),
        attr("N: int >= 1"),
        input("input: Tin", "Tensors, all of dtype `T`."),
        output("output: N * T")
    )]
    _ListToArray,
    /// A list of one dtype as tensors, one by one given.
    #[op(
        attr("T: type"),
        attr("N: int >= 1"),
        attr("out_types: list(type) >= 1"),
        input("input: N * T"),
        output("output: out_types", "The tensors, all of dtype `T`.")
    )]
    _ArrayToList,
}

fn const_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let value: Tensor = c.attr("value")?;
    shapes::output_shape(c, c.make_shape_from_partial(&value.shape().into()))
}

#[register_op(attr("T: type"), input("input: T"), output("output: T"), shape_fn = shapes::unchanged_shape)]
pub enum Identities {
    /// Passes `input` on, without copying it.
    Identity,
    /// Passes `input` on; to gradients it is a constant.
    StopGradient,
    /// Passes `input` on; asking for its gradient is an error with `message`.
    #[op(attr("message: string = ''", "Why there is no gradient."))]
    PreventGradient,
    /// Passes on a copy of `input` that later writes to its buffer do not reach.
    Snapshot,
    /// Passes `input` on; the graph's author promises that it is the same in each run.
    #[op(stateful)]
    GuaranteeConst,
}

/// Passes a list of tensors on, without copying them.
///
/// The outputs exist together: none is there before all inputs are.
#[register_op(attr("T: list(type)"), input("input: T"), output("output: T"), shape_fn = identity_n_shape)]
pub struct IdentityN;

fn identity_n_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    (0..c.num_inputs()).for_each(|i| c.set_output(i, c.input(i)));
    Ok(())
}

/// Does nothing; control edges to and from it order other nodes.
#[register_op(system, shape_fn = shapes::no_outputs)]
pub struct NoOp;

/// The reference that it is given.
#[register_op(
    attr("T: type"),
    input("input: Ref(T)"),
    output("output: Ref(T)"),
    allows_uninitialized_input,
    shape_fn = shapes::unchanged_shape,
)]
pub struct RefIdentity;

#[cfg(test)]
mod tests {
    use crate::testing::infer;
    use kernlink::dtype::DataType;
    use kernlink::shape::PartialShape;

    use super::*;

    #[test]
    fn placeholders() {
        let op = || infer::<Placeholder>().attr("dtype", DataType::Float);
        op().ok("", "?");
        op().attr("shape", PartialShape::from_dims(&[1, -1]).unwrap()).ok("", "[1,?]");
        op().attr("shape", PartialShape::from_dims(&[]).unwrap()).ok("", "[]");

        let op = || infer::<PlaceholderWithDefault>().attr("dtype", DataType::Float);
        let known = || op().attr("shape", PartialShape::from_dims(&[1, -1]).unwrap());
        known().ok("[1,2]", "[1,?]");
        known().ok("?", "[1,?]");
        known().error("Dimension 0 in both shapes must be equal", "[2,2]");
        known().error("Shapes must be equal rank", "[1]");
        op().attr("shape", PartialShape::unknown()).ok("[1,2]", "?");
    }

    #[test]
    fn constants() {
        let value = Tensor::from_elements([2, 3], &[0.0f32; 6]).unwrap();
        infer::<Const>().attr("dtype", DataType::Float).attr("value", value).ok("", "[2,3]");
    }

    #[test]
    fn identities() {
        infer::<Identity>().attr("T", DataType::Float).ok("[1,?]", "in0");
        let types = vec![DataType::Float, DataType::Int32];
        infer::<IdentityN>().attr("T", types).ok("[2];?", "in0;in1");
    }

    #[test]
    fn arguments() {
        let op = || infer::<_Arg>().attr("T", DataType::Float).attr("index", 0i64);
        op().ok("", "?");
        op().attr("_output_shapes", vec![PartialShape::from_dims(&[3, -1]).unwrap()]).ok("", "[3,?]");
        op().attr("_output_shapes", AttrValue::EmptyList).error("_output_shapes", "");
    }
}
