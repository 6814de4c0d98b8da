//! Former forms of the ops on arrays of tensors.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use super::tensor_array::{close_shape, concat_shape, handle_and_scalars, size_shape, split_shape};
use crate::shapes;

/// The first form of [`TensorArrayV3`](super::TensorArrayV3).
#[register_op(
    attr("dtype: type"),
    attr("dynamic_size: bool = false", "Whether writing beyond the end makes the array longer."),
    attr("clear_after_read: bool = true", "Whether an element is forgotten once it was read."),
    attr("tensor_array_name: string = ''", "A name for the array; empty for that of the node."),
    attr("element_shape: shape = { unknown_rank: true }", "What the shapes of all elements are compatible with."),
    input("size: int32", "The length, a scalar."),
    output("handle: Ref(string)", "The name of the array."),
    stateful,
    deprecated(16, "Use TensorArrayV3"),
    shape_fn = shapes::unknown_shape,
)]
pub struct TensorArray;

/// The second form of [`TensorArrayV3`](super::TensorArrayV3).
#[register_op(
    attr("dtype: type"),
    attr("element_shape: shape = { unknown_rank: true }", "What the shapes of all elements are compatible with."),
    attr("dynamic_size: bool = false", "Whether writing beyond the end makes the array longer."),
    attr("clear_after_read: bool = true", "Whether an element is forgotten once it was read."),
    attr("tensor_array_name: string = ''", "A name for the array; empty for that of the node."),
    input("size: int32", "The length, a scalar."),
    output("handle: string", "The name of the array."),
    stateful,
    deprecated(26, "Use TensorArrayV3"),
    shape_fn = v2_shape,
)]
pub struct TensorArrayV2;

#[register_op(
    attr("source: string", "Whose gradients: those of the same source share the array."),
    input("handle: string"),
    input("flow_in: float"),
    output("grad_handle: Ref(string)"),
    stateful,
    shape_fn = shapes::unknown_shape,
)]
pub enum Gradients {
    /// The first form of [`TensorArrayGradV3`](super::TensorArrayGradV3).
    #[op(deprecated(16, "Use TensorArrayGradV3"))]
    TensorArrayGrad,
    /// The second form of [`TensorArrayGradV3`](super::TensorArrayGradV3).
    #[op(output("grad_handle: string"), deprecated(26, "Use TensorArrayGradV3"), shape_fn = grad_v2_shape)]
    TensorArrayGradV2,
}

#[register_op(
    attr("T: type"),
    input("handle: Ref(string)"),
    input("value: T"),
    input("flow_in: float"),
    output("flow_out: float"),
    shape_fn = shapes::unknown_shape,
)]
pub enum Writers {
    /// The first form of [`TensorArrayWriteV3`](super::TensorArrayWriteV3).
    #[op(input("index: int32", after = "handle"), deprecated(16, "Use TensorArrayWriteV3"))]
    TensorArrayWrite,
    /// The second form of [`TensorArrayWriteV3`](super::TensorArrayWriteV3).
    #[op(
        input("handle: string"),
        input("index: int32", after = "handle"),
        deprecated(26, "Use TensorArrayWriteV3"),
        shape_fn = write_v2_shape,
    )]
    TensorArrayWriteV2,
    /// The first form of [`TensorArrayScatterV3`](super::TensorArrayScatterV3).
    #[op(input("indices: int32", after = "handle"), deprecated(19, "Use TensorArrayGradV3"))]
    TensorArrayScatter,
    /// The second form of [`TensorArrayScatterV3`](super::TensorArrayScatterV3).
    #[op(
        input("handle: string"),
        input("indices: int32", after = "handle"),
        deprecated(26, "Use TensorArrayScatterV3"),
        shape_fn = scatter_v2_shape,
    )]
    TensorArrayScatterV2,
    /// The first form of [`TensorArraySplitV3`](super::TensorArraySplitV3).
    #[op(input("lengths: int64", after = "value"), deprecated(16, "Use TensorArraySplitV3"))]
    TensorArraySplit,
    /// The second form of [`TensorArraySplitV3`](super::TensorArraySplitV3).
    #[op(
        input("handle: string"),
        input("lengths: int64", after = "value"),
        deprecated(26, "Use TensorArraySplitV3"),
        shape_fn = split_shape,
    )]
    TensorArraySplitV2,
    /// Writes the slices of `value` along its first dimension to the elements of an array.
    #[op(deprecated(20, "Use TensorArrayScatterV3 with RangeOp"))]
    TensorArrayUnpack,
}

#[register_op(
    attr("dtype: type"),
    input("handle: Ref(string)"),
    input("flow_in: float"),
    output("value: dtype"),
    shape_fn = shapes::unknown_shape,
)]
pub enum Readers {
    /// The first form of [`TensorArrayReadV3`](super::TensorArrayReadV3).
    #[op(input("index: int32", after = "handle"), deprecated(16, "Use TensorArrayReadV3"))]
    TensorArrayRead,
    /// The second form of [`TensorArrayReadV3`](super::TensorArrayReadV3).
    #[op(
        input("handle: string"),
        input("index: int32", after = "handle"),
        deprecated(26, "Use TensorArrayReadV3"),
        shape_fn = read_v2_shape,
    )]
    TensorArrayReadV2,
    /// The first form of [`TensorArrayGatherV3`](super::TensorArrayGatherV3).
    #[op(
        attr("element_shape: shape = { unknown_rank: true }"),
        input("indices: int32", after = "handle"),
        deprecated(16, "Use TensorArrayGatherV3")
    )]
    TensorArrayGather,
    /// The second form of [`TensorArrayGatherV3`](super::TensorArrayGatherV3).
    #[op(
        attr("element_shape: shape = { unknown_rank: true }"),
        input("handle: string"),
        input("indices: int32", after = "handle"),
        deprecated(26, "Use TensorArrayGatherV3"),
        shape_fn = gather_v2_shape,
    )]
    TensorArrayGatherV2,
    /// The first form of [`TensorArrayConcatV3`](super::TensorArrayConcatV3).
    #[op(
        attr("element_shape_except0: shape = { unknown_rank: true }"),
        output("lengths: int64"),
        deprecated(16, "Use TensorArrayGradV3")
    )]
    TensorArrayConcat,
    /// The second form of [`TensorArrayConcatV3`](super::TensorArrayConcatV3).
    #[op(
        attr("element_shape_except0: shape = { unknown_rank: true }"),
        input("handle: string"),
        output("lengths: int64"),
        shape_fn = concat_shape,
    )]
    TensorArrayConcatV2,
    /// All elements of an array stacked along a new first dimension.
    #[op(attr("element_shape: shape = { unknown_rank: true }"), deprecated(16, "Use TensorArrayGatherV3 with RangeOp"))]
    TensorArrayPack,
}

#[register_op(input("handle: Ref(string)"), shape_fn = shapes::unknown_shape)]
pub enum States {
    /// The first form of [`TensorArraySizeV3`](super::TensorArraySizeV3).
    #[op(input("flow_in: float"), output("size: int32"), deprecated(16, "Use TensorArraySizeV3"))]
    TensorArraySize,
    /// The second form of [`TensorArraySizeV3`](super::TensorArraySizeV3).
    #[op(
        input("handle: string"),
        input("flow_in: float"),
        output("size: int32"),
        deprecated(26, "Use TensorArraySizeV3"),
        shape_fn = size_shape,
    )]
    TensorArraySizeV2,
    /// The first form of [`TensorArrayCloseV3`](super::TensorArrayCloseV3).
    #[op(deprecated(16, "Use TensorArrayCloseV3"), shape_fn = shapes::no_outputs)]
    TensorArrayClose,
    /// The second form of [`TensorArrayCloseV3`](super::TensorArrayCloseV3).
    #[op(input("handle: string"), deprecated(26, "Use TensorArrayCloseV3"), shape_fn = close_shape)]
    TensorArrayCloseV2,
}

fn v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    c.with_rank(c.input(0), 0)?;
    shapes::output_shape(c, c.vector(2))
}

fn grad_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[])?;
    shapes::output_shape(c, c.vector(2))
}

fn write_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[1, 3])?;
    shapes::scalar_shape(c)
}

fn read_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[1, 2])?;
    shapes::unknown_shape(c)
}

fn gather_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[2])?;
    c.with_rank(c.input(1), 1)?;
    shapes::unknown_shape(c)
}

fn scatter_v2_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    handle_and_scalars(c, &[3])?;
    c.with_rank(c.input(1), 1)?;
    shapes::scalar_shape(c)
}
