//! Convolutions and pooling of volumes, and their gradients.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {half, bfloat16, float, double}"),
    attr("strides: list(int) >= 5", "The window's step in each dimension of the input; 1 for batch and channels."),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside, `SAME` adds zeros around."),
    attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'", "The order of the dimensions of input and output."),
    attr("dilations: list(int) = [1, 1, 1, 1, 1]", "The distance between a window's elements; 1 on a CPU."),
    output("output: T")
)]
pub enum VolumeConvolutions {
    /// The 3-D convolution of `input` with `filter` (strictly, the cross-correlation).
    #[op(
        input("input: T", "`[batch, depth, height, width, channels]`."),
        input("filter: T", "`[depth, height, width, input channels, output channels]`."),
        shape_fn = shapes::conv3d_shape
    )]
    Conv3D,
    /// The gradient of [`Conv3D`] with respect to its input.
    #[op(
        attr("Tshape: {int32, int64} = DT_INT32"),
        input("input_sizes: Tshape", "The shape of the input."),
        input("filter: T", "`[depth, height, width, input channels, output channels]`."),
        input("out_backprop: T", "What flows back into the convolution: of the shape of its output."),
        shape_fn = five_sizes::<0>
    )]
    Conv3DBackpropInputV2,
    /// The gradient of [`Conv3D`] with respect to its filter.
    #[op(
        input("input: T", "`[batch, depth, height, width, channels]`."),
        input("filter_sizes: int32", "The shape of the filter."),
        input("out_backprop: T", "What flows back into the convolution: of the shape of its output."),
        shape_fn = five_sizes::<1>
    )]
    Conv3DBackpropFilterV2,
}

#[register_op(
    input("input: T", "`[batch, depth, height, width, channels]`."),
    input("filter: T", "`[depth, height, width, input channels, output channels]`."),
    input("out_backprop: T", "What flows back into the convolution: of the shape of its output."),
    output("output: T"),
    attr("T: {half, float, double}"),
    attr("strides: list(int) >= 5", "The window's step in each dimension of the input; 1 for batch and channels."),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside, `SAME` adds zeros around."),
    attr("dilations: list(int) = [1, 1, 1, 1, 1]", "The distance between a window's elements; 1 on a CPU.")
)]
pub enum OldVolumeGradients {
    /// The gradient of [`Conv3D`] with respect to its input, which is given for its shape.
    #[op(
        deprecated(10, "Use Conv3DBackpropInputV2"),
        shape_fn = shapes::unchanged_shape_with_rank::<5>,
    )]
    Conv3DBackpropInput,
    /// The gradient of [`Conv3D`] with respect to its filter, which is given for its shape.
    #[op(
        deprecated(10, "Use Conv3DBackpropFilterV2"),
        shape_fn = |c| shapes::output_shape(c, c.with_rank(c.input(1), 5)?),
    )]
    Conv3DBackpropFilter,
}

/// Output 0 has the shape that input `INDEX` holds, of rank 5.
fn five_sizes<const INDEX: usize>(c: &mut InferenceContext<'_>) -> Result<()> {
    let shape = c.make_shape_from_shape_tensor(INDEX)?;
    shapes::output_shape(c, c.with_rank(shape, 5)?)
}

#[register_op(
    attr("ksize: list(int) >= 5", "The window's size in each dimension of the input; 1 for batch and channels."),
    attr("strides: list(int) >= 5", "The window's step in each dimension of the input; 1 for batch and channels."),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside, `SAME` lets them reach out."),
    attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'", "The order of the dimensions of input and output."),
    attr("T: {half, bfloat16, float, double}"),
    output("output: T"),
    shape_fn = shapes::pool3d_shape,
)]
pub enum VolumePools {
    /// The mean of each window of volumes; what lies outside of `input` does not count.
    #[op(input("input: T", "`[batch, depth, height, width, channels]`."))]
    AvgPool3D,
    /// The gradient of [`AvgPool3D`].
    #[op(
        input("orig_input_shape: int32", "The shape of the input of `AvgPool3D`."),
        input("grad: T", "What flows back: of the shape of its output."),
        shape_fn = shapes::avg_pool3d_grad_shape
    )]
    AvgPool3DGrad,
    /// The greatest element in each window of volumes.
    #[op(attr("T: {half, bfloat16, float}"), input("input: T", "`[batch, depth, height, width, channels]`."))]
    MaxPool3D,
    /// The gradient of [`MaxPool3D`]. Of equal elements each takes the whole of what flows back.
    #[op(
        attr("T: {half, bfloat16, float} = DT_FLOAT"),
        attr("TInput: {half, bfloat16, float} = DT_FLOAT"),
        input("orig_input: TInput", "The input of `MaxPool3D`."),
        input("orig_output: TInput", "Its output."),
        input("grad: T", "What flows back: of the shape of its output."),
        shape_fn = shapes::max_pool3d_grad_shape
    )]
    MaxPool3DGrad,
    /// The gradient of [`MaxPool3DGrad`] with respect to `grad`: what flows to the first of the greatest elements.
    #[op(
        attr("T: realnumbertype"),
        input("orig_input: T", "The input of `MaxPool3D`."),
        input("orig_output: T", "Its output."),
        input("grad: T", "What flows back: of the shape of its input."),
        shape_fn = max_pool3d_grad_grad_shape
    )]
    MaxPool3DGradGrad,
}

fn max_pool3d_grad_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    shapes::pool3d_shape(c)?;
    c.merge(c.input(0), c.input(2))?;
    c.merge(c.input(1), c.output(0))?;
    Ok(())
}

/// The patches under a sliding window, each laid out along the channels: `[batch, depths, rows, columns, ksizes[1] * ksizes[2] *
/// ksizes[3] * channels]`.
#[register_op(
    attr("ksizes: list(int) >= 5", "The window's size in each of the five dimensions; 1 for batch and channels."),
    attr("strides: list(int) >= 5", "The distance between windows in each dimension; 1 for batch and channels."),
    attr("T: realnumbertype"),
    attr("padding: {'SAME', 'VALID'}", "`VALID` keeps windows inside the volume, `SAME` adds zeros around it."),
    input("input: T", "`[batch, depth, height, width, channels]`."),
    output("patches: T"),
    shape_fn = extract_volume_patches_shape,
)]
pub struct ExtractVolumePatches;

fn extract_volume_patches_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let input = c.with_rank(c.input(0), 5)?;
    let five = |name: &str| -> Result<[i64; 5]> {
        let values: Vec<i64> = c.attr(name)?;
        let count = values.len();
        <[i64; 5]>::try_from(values).map_err(|_| {
            kernlink::Error::invalid_argument(format!(
                "ExtractVolumePatches requires {name} to contain 5 values, got {count}"
            ))
        })
    };
    let (sizes, strides) = (five("ksizes")?, five("strides")?);
    let padding: String = c.attr("padding")?;
    let padding = shapes::Padding::new(&padding, &[], shapes::TensorFormat::Nhwc, 5)?;
    let mut output = c.replace_dim(input, 4, {
        let mut depth = c.dim(input, 4);
        for &size in &sizes[1..4] {
            depth = c.multiply(depth, size)?;
        }
        depth
    })?;
    for axis in 1..4 {
        let size = match c.value(c.dim(input, axis as i64)) {
            None => c.unknown_dim(),
            Some(size) => {
                kernlink::ensure!(sizes[axis] >= 0, InvalidArgument, "ksizes {sizes:?} must not be negative");
                let along = padding.along(axis);
                let axis = shapes::Axis::new(size as usize, sizes[axis] as usize, strides[axis], 1, along)?;
                c.make_dim(axis.output as i64)
            }
        };
        output = c.replace_dim(output, axis as i64, size)?;
    }
    shapes::output_shape(c, output)
}
