//! What poolings and their gradients share: attrs, sizes, and how shaders are told of them.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::kernel::window::{Axis, Format, Padding, explicit_paddings, four};
use kernlink::shape::Shape;
use smallvec::SmallVec;

use super::convolution::reaches;
use super::element::Key;
use crate::matmul::gemm::word;
use crate::shader::Scalar;

/// What attrs say.
pub(super) struct Pooling {
    pub(super) windows: [i64; 4],
    pub(super) strides: [i64; 4],
    pub(super) padding: Padding,
    explicit: Vec<i64>,
}

impl Pooling {
    /// `batch_first` says which of two errors an op reports first.
    pub(super) fn new(
        format: &str,
        windows: &[i64],
        strides: &[i64],
        padding: &str,
        explicit: &[i64],
        batch_first: bool,
    ) -> Result<Pooling> {
        let padding = Padding::from_attr(padding)?;
        ensure!(format == "NHWC", InvalidArgument, "data_format must be NHWC, not {format}");
        let (windows, strides) = (four("ksize", windows)?, four("strides", strides)?);
        let spatial = windows[0] == 1 && strides[0] == 1;
        if spatial || !batch_first {
            ensure!(windows.iter().all(|&size| size > 0), InvalidArgument, "ksize {windows:?} must be positive");
        }
        ensure!(
            spatial,
            Unimplemented,
            "pooling over the batch is not supported: ksize {windows:?}, strides {strides:?}"
        );
        Ok(Pooling { windows, strides, padding, explicit: explicit.to_vec() })
    }

    /// The pooling whose window and stride are inputs `first` and `first + 1`.
    pub(super) fn from_inputs(ctx: &RawContext<'_>, first: usize, padding: &str, format: &str) -> Result<Pooling> {
        let values = |index: usize| ctx.input_at(index)?.to_i64_vec();
        let (windows, strides) = (values(first)?, values(first + 1)?);
        Pooling::new(format, &windows, &strides, padding, &[], true)
    }

    /// The window over an input of `shape`.
    pub(super) fn geometry(&self, shape: &Shape) -> Result<Geometry> {
        ensure!(shape.rank() == 4, InvalidArgument, "the input must be 4-dimensional, not {shape}");
        let [_, height, width, depth] = self.windows;
        ensure!(
            depth == 1 || (height == 1 && width == 1),
            Unimplemented,
            "pooling is over depth or over rows and columns, not both: ksize {:?}",
            self.windows
        );
        let explicit = if self.padding == Padding::Explicit { &self.explicit[..] } else { &[] };
        let paddings = explicit_paddings(self.padding, explicit, Format::Nhwc)?;
        for axis in [1, 2] {
            let (before, after) = paddings[axis];
            ensure!(
                before.max(after) < self.windows[axis],
                InvalidArgument,
                "padding {:?} must be smaller than the window, {}",
                paddings[axis],
                self.windows[axis]
            );
        }
        let axis = |axis: usize| {
            let window = self.windows[axis] as usize;
            Axis::new(shape[axis], window, self.strides[axis], 1, self.padding, paddings[axis])
        };
        if depth > 1 {
            ensure!(
                shape[3].is_multiple_of(depth as usize),
                Unimplemented,
                "depthwise pooling needs a window that divides the depth: {depth} does not divide {}",
                shape[3]
            );
            ensure!(
                self.strides[3] == depth,
                Unimplemented,
                "depthwise pooling needs a stride equal to its window: {} is not {depth}",
                self.strides[3]
            );
        }
        Ok(Geometry { batch: shape[0], rows: axis(1)?, columns: axis(2)?, depth: shape[3] })
    }

    /// The window over `input`; it moves over rows and columns alone.
    pub(super) fn spatial(&self, input: &Shape) -> Result<Geometry> {
        ensure!(
            self.windows[3] == 1 && self.strides[3] == 1,
            Unimplemented,
            "pooling over the depth has no gradient: ksize {:?}, strides {:?}",
            self.windows,
            self.strides
        );
        self.geometry(input)
    }
}

/// A window over rows and columns.
pub(super) struct Geometry {
    pub(super) batch: usize,
    pub(super) rows: Axis,
    pub(super) columns: Axis,
    pub(super) depth: usize,
}

/// The parameters of [`Geometry::params`].
pub(super) const PARAMS: [&str; 11] = [
    "rows",
    "columns",
    "depth",
    "out_rows",
    "out_columns",
    "window_rows",
    "window_columns",
    "stride_y",
    "stride_x",
    "before_y",
    "before_x",
];

impl Geometry {
    pub(super) fn output(&self) -> Shape {
        Shape::from([self.batch, self.rows.output, self.columns.output, self.depth])
    }

    pub(super) fn params(&self) -> Result<SmallVec<[u32; 14]>> {
        let (rows, columns) = (&self.rows, &self.columns);
        reaches(rows)?;
        reaches(columns)?;
        let sizes = [
            rows.input,
            columns.input,
            self.depth,
            rows.output,
            columns.output,
            rows.window,
            columns.window,
            rows.stride,
            columns.stride,
            rows.before,
            columns.before,
        ];
        sizes.into_iter().map(word).collect()
    }

    /// The shader for elements of a type.
    pub(super) fn key(&self, scalar: Scalar) -> Key {
        Key { scalar, vectors: self.depth.is_multiple_of(4) }
    }
}

/// Fails unless a tensor has the shape that the pooling gives.
pub(super) fn ensure_shape(name: &str, found: &Shape, expected: &Shape) -> Result<()> {
    ensure!(found == expected, InvalidArgument, "{name} must have shape {expected}, not {found}");
    Ok(())
}
