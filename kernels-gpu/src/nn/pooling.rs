//! How shaders are told of the sizes of poolings.

use kernlink::error::Result;
use kernlink_geometry::pooling::Geometry;
use kernlink_ops::shapes::Axis;
use smallvec::SmallVec;

use super::convolution::reaches;
use super::element::Key;
use crate::device::GpuDevice;
use crate::matmul::gemm::word;
use crate::shader::Scalar;

/// The parameters of [`params`].
pub(super) const PARAMS: &str =
    "rows columns depth out_rows out_columns window_rows window_columns stride_y stride_x before_y before_x";

/// What the loops of a shader go through.
#[derive(Clone, Copy)]
pub(super) enum Through {
    /// The elements of a window.
    Window,
    /// The windows that see an element.
    Windows,
}

impl Through {
    /// How often they go round.
    fn rounds(self, geometry: &Geometry) -> usize {
        let along = |side: &Axis| match self {
            Through::Window => side.window.min(side.input) + 1,
            Through::Windows => side.window.div_ceil(side.stride).min(side.output) + 1,
        };
        along(&geometry.rows).saturating_mul(along(&geometry.columns))
    }
}

/// What shaders are told of a pooling.
///
/// # Errors
/// RESOURCE_EXHAUSTED for what shaders cannot count, or the driver would not go through.
pub(super) fn params(gpu: &GpuDevice, geometry: &Geometry, through: &[Through]) -> Result<SmallVec<[u32; 14]>> {
    let (rows, columns) = (&geometry.rows, &geometry.columns);
    through.iter().try_for_each(|through| gpu.ensure_rounds(through.rounds(geometry)))?;
    reaches(rows)?;
    reaches(columns)?;
    let sizes = [
        rows.input,
        columns.input,
        geometry.depth,
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
pub(super) fn key_of(geometry: &Geometry, scalar: Scalar) -> Key {
    Key::new(scalar, geometry.depth.is_multiple_of(4))
}
