//! The sizes of a convolution, channels last, over volumes, of which images are those with one plane.

use kernlink_geometry::convolution;
use kernlink_ops::shapes::Axis;

/// What moves over the planes of images.
pub(super) const ONE_PLANE: Axis = Axis { input: 1, window: 1, stride: 1, dilation: 1, before: 0, output: 1 };

/// The sizes of a convolution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    /// Volumes, or images.
    pub(super) batch: usize,
    /// How the window moves over the planes of a volume.
    pub(super) planes: Axis,
    /// How it moves over rows.
    pub(super) rows: Axis,
    /// How it moves over columns.
    pub(super) columns: Axis,
    /// Channels of the input.
    pub(super) in_depth: usize,
    /// Channels of the input that one filter sees; divides `in_depth`.
    pub(super) patch_depth: usize,
    /// Channels of the output; a multiple of the number of groups.
    pub(super) out_depth: usize,
}

impl From<convolution::Geometry> for Geometry {
    fn from(images: convolution::Geometry) -> Self {
        let convolution::Geometry { batch, rows, columns, in_depth, patch_depth, out_depth } = images;
        Geometry { batch, planes: ONE_PLANE, rows, columns, in_depth, patch_depth, out_depth }
    }
}

impl Geometry {
    /// With the planes of all volumes as images where each is convolved by itself.
    pub(super) fn flattened(self) -> Geometry {
        match self.planes.is_trivial() {
            true => Geometry { batch: self.batch * self.planes.input, planes: ONE_PLANE, ..self },
            false => self,
        }
    }

    /// Whether it is a convolution of images.
    pub(super) fn is_flat(&self) -> bool {
        self.planes == ONE_PLANE
    }

    /// Groups of channels that are convolved each by itself.
    #[inline]
    pub(super) fn groups(&self) -> usize {
        self.in_depth / self.patch_depth.max(1)
    }

    /// Output pixels.
    #[inline]
    pub(super) fn pixels(&self) -> usize {
        self.lines() * self.columns.output
    }

    /// Lines of the output.
    #[inline]
    pub(super) fn lines(&self) -> usize {
        self.batch * self.planes.output * self.rows.output
    }

    /// Lines of the input.
    #[inline]
    pub(super) fn input_lines(&self) -> usize {
        self.batch * self.planes.input * self.rows.input
    }

    /// Elements of a window in one channel.
    #[inline]
    pub(super) fn taps(&self) -> usize {
        self.planes.window * self.rows.window * self.columns.window
    }

    /// Elements of a patch: what one filter multiplies.
    #[inline]
    pub(super) fn patch(&self) -> usize {
        self.taps() * self.patch_depth
    }

    /// Whether each output pixel's patch is a row of the input as it lies in memory.
    pub(super) fn is_product(&self) -> bool {
        let axes = [&self.planes, &self.rows, &self.columns];
        self.groups() == 1 && (axes.iter().all(|axis| axis.is_trivial()) || axes.iter().all(|axis| axis.is_whole()))
    }

    /// Whether the elements that a row of a filter sees are neighbours in memory for every output, and none is padding.
    pub(super) fn has_whole_rows(&self) -> bool {
        let columns = &self.columns;
        let is_inside = columns.dilation == 1 && columns.interior() == (0..columns.output);
        self.groups() == 1 && (columns.window == 1 || is_inside)
    }

    /// Volume, plane, row and column of an output pixel.
    #[inline]
    pub(super) fn pixel(&self, index: usize) -> [usize; 4] {
        let [volume, plane, row] = self.line(index / self.columns.output);
        [volume, plane, row, index % self.columns.output]
    }

    /// Volume, plane and row of a line of the output.
    #[inline]
    pub(super) fn line(&self, index: usize) -> [usize; 3] {
        let (plane, row) = (index / self.rows.output, index % self.rows.output);
        [plane / self.planes.output, plane % self.planes.output, row]
    }

    /// The line of the input with such a volume, plane and row.
    #[inline]
    pub(super) fn input_line(&self, [volume, plane, row]: [usize; 3]) -> usize {
        (volume * self.planes.input + plane) * self.rows.input + row
    }

    /// The first element of an input pixel.
    #[inline]
    pub(super) fn input_at(&self, [volume, plane, row, column]: [usize; 4]) -> usize {
        (self.input_line([volume, plane, row]) * self.columns.input + column) * self.in_depth
    }
}
