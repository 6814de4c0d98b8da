//! How shaders are told of the sizes of poolings.

use kernlink::error::Result;
use kernlink::kernel::geometry::pooling::Geometry;
use smallvec::SmallVec;

use super::convolution::reaches;
use super::element::Key;
use crate::device::GpuDevice;
use crate::matmul::gemm::word;
use crate::shader::Scalar;

/// The parameters of [`params`].
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

/// What a shader is told that goes through windows of elements, or through the elements' windows.
///
/// # Errors
/// RESOURCE_EXHAUSTED for what shaders cannot count, or the driver would not go through.
pub(super) fn params(gpu: &GpuDevice, geometry: &Geometry) -> Result<SmallVec<[u32; 14]>> {
    let (rows, columns) = (&geometry.rows, &geometry.columns);
    let [seen_rows, seen_columns] = [rows, columns].map(|side| side.window.min(side.input.max(side.output)) + 1);
    gpu.ensure_rounds(seen_rows.saturating_mul(seen_columns))?;
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
    Key { scalar, vectors: geometry.depth.is_multiple_of(4) }
}
