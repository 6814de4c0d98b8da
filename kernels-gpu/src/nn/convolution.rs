//! What Conv2D and its gradients share: attrs, sizes, and how shaders are told of them.

use kernlink::error::{Code, Error, Result};
use kernlink::kernel::window::{Axis, Format, Padding, explicit_paddings, four};
use kernlink::shape::Shape;
use kernlink::{ensure, tensor::Tensor};
use smallvec::SmallVec;

use crate::matmul::gemm::word;

/// What attrs say.
pub(super) struct Convolution {
    strides: [i64; 4],
    dilations: [i64; 4],
    padding: Padding,
    paddings: [(i64, i64); 4],
    pub(super) format: Format,
}

/// The attrs of a convolution's op.
pub(super) struct Attrs<'a> {
    pub(super) strides: &'a [i64],
    pub(super) dilations: &'a [i64],
    pub(super) padding: &'a str,
    pub(super) explicit: &'a [i64],
    pub(super) format: Format,
}

impl Convolution {
    /// `code` is the error's if a stride or dilation moves through batch or channels.
    pub(super) fn new(attrs: &Attrs<'_>, code: Code) -> Result<Convolution> {
        let format = attrs.format;
        let (dilations, strides) = (four("dilations", attrs.dilations)?, four("strides", attrs.strides)?);
        for (name, values) in [("strides", strides), ("dilations", dilations)] {
            if values[0] != 1 || values[format.channels()] != 1 {
                return Err(Error::new(code, format!("{name} {values:?} must be 1 in the batch and depth dimensions")));
            }
            ensure!(
                values.iter().all(|&value| value > 0),
                InvalidArgument,
                "{name} {values:?} must be larger than 0 in rows and columns"
            );
        }
        let padding = Padding::from_attr(attrs.padding)?;
        let paddings = explicit_paddings(padding, attrs.explicit, format)?;
        Ok(Convolution { strides, dilations, padding, paddings, format })
    }

    fn axis(&self, axis: usize, size: usize, window: usize) -> Result<Axis> {
        Axis::new(size, window, self.strides[axis], self.dilations[axis], self.padding, self.paddings[axis])
    }

    /// The convolution of tensors of these shapes.
    pub(super) fn forward(&self, input: &Shape, filter: &Shape) -> Result<Geometry> {
        ensure!(input.rank() == 4, InvalidArgument, "input must be 4-dimensional, not {input}");
        ensure!(filter.rank() == 4, InvalidArgument, "filter must be 4-dimensional, not {filter}");
        let (depth, patch_depth) = (input[self.format.channels()], filter[2]);
        ensure!(patch_depth > 0, InvalidArgument, "filter depth must be positive, filter is {filter}");
        ensure!(
            depth.is_multiple_of(patch_depth),
            InvalidArgument,
            "input depth {depth} must be evenly divisible by filter depth {patch_depth}"
        );
        let (height, width) = (self.format.height(), self.format.width());
        Ok(Geometry {
            batch: input[0],
            rows: self.axis(height, input[height], filter[0])?,
            columns: self.axis(width, input[width], filter[1])?,
            depth,
            patch_depth,
            out_depth: filter[3],
        })
    }

    /// The convolution whose input, filter and output have these shapes; its channels are last.
    pub(super) fn backward(&self, input: &Shape, filter: &Shape, gradient: &Shape) -> Result<Geometry> {
        for (name, shape) in [("input", input), ("filter", filter), ("out_backprop", gradient)] {
            ensure!(shape.rank() == 4, InvalidArgument, "{name} must be 4-dimensional, not {shape}");
        }
        ensure!(
            input[0] == gradient[0],
            InvalidArgument,
            "input and out_backprop must have the same batch size, not {} and {}",
            input[0],
            gradient[0]
        );
        ensure!(filter[2] > 0, InvalidArgument, "filter depth must be positive, filter is {filter}");
        ensure!(
            input[3] == filter[2],
            InvalidArgument,
            "the depths of input and filter must be equal, not {} and {}: gradients of convolutions in groups are not \
             supported",
            input[3],
            filter[2]
        );
        ensure!(
            filter[3] == gradient[3],
            InvalidArgument,
            "filter and out_backprop must have the same output depth, not {} and {}",
            filter[3],
            gradient[3]
        );
        let geometry = self.forward(input, filter)?;
        fits(&geometry.rows, gradient, 1)?;
        fits(&geometry.columns, gradient, 2)?;
        Ok(geometry)
    }
}

/// Fails unless the gradient is as large as the output.
pub(super) fn fits(axis: &Axis, gradient: &Shape, dimension: usize) -> Result<()> {
    ensure!(
        axis.output == gradient[dimension],
        InvalidArgument,
        "out_backprop has size {} in dimension {dimension}; an input of {} and a filter of {} make {}",
        gradient[dimension],
        axis.input,
        axis.window,
        axis.output
    );
    Ok(())
}

/// The sizes of a convolution.
#[derive(Clone)]
pub(super) struct Geometry {
    pub(super) batch: usize,
    pub(super) rows: Axis,
    pub(super) columns: Axis,
    pub(super) depth: usize,
    /// The channels that one filter sees.
    pub(super) patch_depth: usize,
    pub(super) out_depth: usize,
}

impl Geometry {
    /// The convolution of so many images.
    pub(super) fn of_images(&self, batch: usize) -> Geometry {
        Geometry { batch, ..self.clone() }
    }

    /// Output pixels.
    pub(super) fn pixels(&self) -> usize {
        self.batch * self.rows.output * self.columns.output
    }

    /// The elements that one filter multiplies.
    pub(super) fn patch(&self) -> usize {
        self.rows.window * self.columns.window * self.patch_depth
    }

    /// Whether each output pixel's patch is a row of the input as it lies in memory.
    pub(super) fn is_product(&self) -> bool {
        let trivial = self.rows.is_trivial() && self.columns.is_trivial();
        let whole = self.rows.is_whole() && self.columns.is_whole();
        self.patch_depth == self.depth && (trivial || whole)
    }

    /// The parameters of products that are convolutions: strides of the two factors, steps from group to group, sizes.
    pub(super) fn params(&self, strides: [usize; 2], steps: [usize; 2]) -> Result<SmallVec<[u32; 18]>> {
        let (rows, columns) = (&self.rows, &self.columns);
        let sizes = [
            strides[0],
            strides[1],
            steps[0],
            steps[1],
            rows.input,
            columns.input,
            self.depth,
            rows.output,
            columns.output,
            self.out_depth,
            columns.window,
            self.patch_depth,
            rows.stride,
            columns.stride,
            rows.dilation,
            columns.dilation,
            rows.before,
            columns.before,
        ];
        reaches(rows)?;
        reaches(columns)?;
        sizes.into_iter().map(word).collect()
    }
}

/// Fails unless all places that windows see, in the padding, too, can be counted with a sign.
pub(super) fn reaches(axis: &Axis) -> Result<()> {
    let windows = axis.output.saturating_mul(axis.stride).saturating_add(axis.input);
    word(windows.saturating_add(axis.window.saturating_mul(axis.dilation)).saturating_add(axis.before)).map(drop)
}

/// The shape that a vector of sizes describes.
pub(super) fn shape_from(sizes: &Tensor, name: &str) -> Result<Shape> {
    ensure!(sizes.rank() == 1, InvalidArgument, "{name} must be 1-dimensional, not {}", sizes.shape());
    let mut dims = Vec::with_capacity(sizes.num_elements());
    let mut total = 1usize;
    for size in sizes.to_i64_vec()? {
        let dim = usize::try_from(size);
        ensure!(dim.is_ok(), InvalidArgument, "the sizes in {name} must be >= 0, not {size}");
        dims.push(dim.unwrap_or(0));
        total = total.saturating_mul(dims[dims.len() - 1].max(1));
    }
    ensure!(total < 1 << 60, InvalidArgument, "{name} {dims:?} describes too many elements");
    Ok(Shape::from(&dims[..]))
}
