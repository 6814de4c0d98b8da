//! Conv: convolutions over two or three dimensions of space.

use kernlink::attr::AttrMap;
use kernlink::kernel::{KernelContext, RawConstruction};
use kernlink::shape::Shape;
use kernlink::{Code, Result, bail, ensure};
use kernlink_geometry::convolution::Convolution;
use kernlink_geometry::volume::Volumes;
use kernlink_kernels_common::fused::Nothing;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::Conv;

use super::conv2d::Prepared;
use super::convolve::Convolve;
use super::volume;

/// Over how many dimensions.
enum Space {
    Plane(Box<Prepared>),
    Volume(Volumes),
}

/// What a node keeps.
struct PreparedConv {
    space: Space,
    batch_dims: usize,
    groups: usize,
}

impl PreparedConv {
    fn new<T: Computed<Wide: Convolve>>(ctx: &RawConstruction<'_>) -> Result<Self> {
        let attrs = ctx.attrs;
        let (strides, mut dilations): (Vec<i64>, Vec<i64>) = (attrs.required("strides")?, attrs.required("dilations")?);
        let (batch_dims, groups): (i64, i64) = (attrs.required("batch_dims")?, attrs.required("groups")?);
        let rank = strides.len();
        ensure!(
            matches!(rank, 4 | 5),
            InvalidArgument,
            "strides must have 4 or 5 values, two more than space has dimensions, not {rank}"
        );
        ensure!(groups >= 1, InvalidArgument, "groups must be positive, not {groups}");
        ensure!(batch_dims >= 0, InvalidArgument, "batch_dims must not be negative, but is {batch_dims}");
        if dilations.is_empty() {
            dilations = vec![1; rank];
        }
        let padding: String = attrs.required("padding")?;
        let format = match (&*attrs.required::<String>("data_format")?, rank) {
            ("CHANNELS_LAST", 4) => "NHWC",
            ("CHANNELS_FIRST", 4) => "NCHW",
            ("CHANNELS_LAST", _) => "NDHWC",
            ("CHANNELS_FIRST", _) => "NCDHW",
            (other, _) => bail!(InvalidArgument, "Unknown data format: {other}"),
        };
        let mut own = AttrMap::default();
        own.insert("data_format", format);
        own.insert("strides", strides);
        own.insert("dilations", dilations);
        own.insert("explicit_paddings", attrs.required::<Vec<i64>>("explicit_paddings")?);
        let space = if rank == 4 {
            own.insert("padding", padding);
            Space::Plane(Box::new(Prepared::of::<T>(ctx, Convolution::new(&own, Code::InvalidArgument)?)?))
        } else {
            ensure!(
                padding != "EXPLICIT",
                InvalidArgument,
                "padding is EXPLICIT over two dimensions of space alone: pad volumes before"
            );
            ensure!(
                groups == 1,
                Unimplemented,
                "groups are for two dimensions of space alone, not {groups} over three"
            );
            own.insert("padding", padding);
            Space::Volume(Volumes::of_convolution(&own)?)
        };
        let [batch_dims, groups] = [batch_dims, groups].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        Ok(Self { space, batch_dims, groups })
    }
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64, i32], state = |ctx| PreparedConv::new::<T>(ctx))]
fn conv<T: Computed<Wide: Convolve>>(prepared: &PreparedConv, ctx: &mut KernelContext<'_, Conv>) -> Result<()> {
    let (input, filter) = (ctx.input(Conv::INPUT)?, ctx.input(Conv::FILTER)?);
    let (shape, batch_dims) = (input.shape().clone(), prepared.batch_dims);
    let space = match prepared.space {
        Space::Plane(_) => 2,
        Space::Volume(_) => 3,
    };
    ensure!(
        shape.rank() == batch_dims.saturating_add(space + 1),
        InvalidArgument,
        "input must have {space} dimensions of space beside {batch_dims} of batches and that of channels, not shape {shape}"
    );
    ensure!(filter.num_elements() > 0, InvalidArgument, "filter must not be empty, but is of shape {}", filter.shape());
    ensure!(
        filter.rank() == space + 2,
        InvalidArgument,
        "filter must have {} dimensions, two more than space, not shape {}",
        space + 2,
        filter.shape()
    );
    // All batches are one, as far as windows are concerned.
    let (batches, rest) = shape.dims().split_at(batch_dims);
    let joined = |batch: usize, rest: &[usize]| -> Result<Shape> {
        let dims = std::iter::once(batch).chain(rest.iter().copied());
        Shape::from_dims(&dims.map(|dim| dim as i64).collect::<Vec<_>>())
    };
    let images = input.clone().reshaped(joined(batches.iter().product(), rest)?)?;
    let output = match &prepared.space {
        Space::Plane(plane) => {
            let (depth, own) = (plane.depth(images.shape()), filter.shape()[2]);
            ensure!(
                own.checked_mul(prepared.groups) == Some(depth),
                InvalidArgument,
                "filter has {own} input channels for each of {} groups, but input has {depth}",
                prepared.groups
            );
            plane.convolved::<T, Nothing>(ctx, &images, |_, _| Ok(None))?
        }
        Space::Volume(volumes) => volume::convolved::<T>(volumes, ctx, &images, filter)?,
    };
    let dims = batches.iter().chain(&output.shape().dims()[1..]).map(|&dim| dim as i64).collect::<Vec<_>>();
    let output = output.reshaped(Shape::from_dims(&dims)?)?;
    ctx.set_output(Conv::OUTPUT, output)
}
