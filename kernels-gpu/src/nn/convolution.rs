//! How shaders are told of the sizes of convolutions.

use kernlink::error::Result;
use kernlink_geometry::convolution::Geometry;
use kernlink_ops::shapes::Axis;
use smallvec::SmallVec;

use crate::matmul::gemm::word;

/// The parameters of products that are convolutions: strides of the two factors, steps from group to group, sizes.
pub(super) fn params(geometry: &Geometry, strides: [usize; 2], steps: [usize; 2]) -> Result<SmallVec<[u32; 18]>> {
    let (rows, columns) = (&geometry.rows, &geometry.columns);
    let sizes = [
        strides[0],
        strides[1],
        steps[0],
        steps[1],
        rows.input,
        columns.input,
        geometry.in_depth,
        rows.output,
        columns.output,
        geometry.out_depth,
        columns.window,
        geometry.patch_depth,
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

/// Fails unless all places that windows see, in the padding, too, can be counted with a sign.
pub(super) fn reaches(axis: &Axis) -> Result<()> {
    let windows = axis.output.saturating_mul(axis.stride).saturating_add(axis.input);
    word(windows.saturating_add(axis.window.saturating_mul(axis.dilation)).saturating_add(axis.before)).map(drop)
}
