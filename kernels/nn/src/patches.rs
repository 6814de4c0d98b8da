//! Convolution by gathering patches into matrices: for dtypes whose speed matters less, and for `bf16` where the processor has a
//! unit for matrices of these.

use std::ops::Range;

use kernlink::Result;
use kernlink::dtype::{Pod, bf16};
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink_kernels_common::gemm::{Gemm, Matrix, Sizes, Target, gemm, gemm_rows};
use kernlink_kernels_common::number::Computed;
use kernlink_kernels_common::panels::Panels;
use kernlink_kernels_common::product;

use super::space::Geometry;

/// Whether patches of `bf16` are best multiplied as such, by the processor's unit for matrices, and not as `f32`. It depends on
/// the filter and the channels alone, so that a filter is packed in one way for images of all sizes.
pub(super) fn is_for_matrix_unit(geometry: &Geometry) -> bool {
    let [depth, patch] = [geometry.out_depth, geometry.patch()];
    let is_large = geometry.patch_depth >= 8 && patch >= 32 && depth >= 16;
    product::has_matrix_unit::<bf16>() && geometry.groups() == 1 && is_large
}

/// The filter as [`by_panels`] wants it, for every geometry.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn panels_of(ctx: &RawContext<'_>, filter: &Tensor) -> Result<Panels> {
    let depth = filter.shape().last().copied().unwrap_or(1);
    let patch = filter.num_elements().checked_div(depth).unwrap_or(0);
    Panels::new(Some(ctx), Matrix::rows(filter.as_slice::<bf16>()?, depth), patch, depth)
}

/// The convolution of `bf16` by a packed filter, where it [`is_for_matrix_unit`]. Each pixel is computed the same way, however
/// many threads share them.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is no memory for the patches.
pub(super) fn by_panels(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    input: &[bf16],
    panels: &Panels,
    output: &mut [bf16],
) -> Result<()> {
    let (patch, depth) = (geometry.patch(), geometry.out_depth);
    if geometry.is_product() {
        let target = Target { data: output, row_stride: depth, accumulate: false };
        return product::by_panels(Some(ctx), geometry.pixels(), Matrix::rows(input, patch), panels, target);
    }
    // The patches, and what the unit makes of them, are in the second cache together.
    let block = ((256 << 10) / (patch * size_of::<bf16>())).clamp(32, 1024) / 32 * 32;
    each_block(ctx, geometry, block, input, output, |patches, count, _, target| {
        product::by_panels(None, count, Matrix::rows(patches, patch), panels, target)
    })
}

/// The convolution of any dtype. Each pixel is computed the same way, however many threads share them.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is no memory for the patches.
pub(super) fn by_patches<T: Gemm + Computed>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    (input, filter): (&[T], &[T]),
    output: &mut [T],
) -> Result<()> {
    let (patch, depth) = (geometry.patch(), geometry.out_depth);
    if geometry.is_product() {
        let sizes = Sizes { m: geometry.pixels(), k: patch, n: depth };
        let target = Target { data: output, row_stride: depth, accumulate: false };
        return gemm(ctx, sizes, Matrix::rows(input, patch), Matrix::rows(filter, depth), target);
    }
    let group_depth = depth / geometry.groups();
    let block = ((1 << 20) / (patch * size_of::<T>())).clamp(1, 1024);
    each_block(ctx, geometry, block, input, output, |patches, count, group, target| {
        let sizes = Sizes { m: count, k: patch, n: group_depth };
        let filter = Matrix { data: &filter[group * group_depth..], row_stride: depth, column_stride: 1 };
        gemm_rows(sizes, Matrix::rows(patches, patch), filter, target)
    })
}

/// Calls `multiply` with the patches of up to `block` pixels, how many they are, the group of the channels and where the
/// products go, on all threads.
fn each_block<T: Pod>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    block: usize,
    input: &[T],
    output: &mut [T],
    multiply: impl Fn(&[T], usize, usize, Target<'_, T>) -> Result<()> + Sync,
) -> Result<()> {
    let (patch, depth, groups) = (geometry.patch(), geometry.out_depth, geometry.groups());
    let group_depth = depth / groups;
    let cost = patch.saturating_mul(group_depth) / 4 + 1;
    ctx.try_parallel_chunks(output, depth, cost.saturating_mul(groups) / depth + 1, |first, output| {
        let mut patches = Tensor::alloc(T::DTYPE, [block.min(output.len() / depth), patch])?;
        let patches = patches.as_mut_slice::<T>()?;
        for (index, output) in output.chunks_mut(block * depth).enumerate() {
            let start = first / depth + index * block;
            let count = output.len() / depth;
            for group in 0..groups {
                let channel = group * geometry.patch_depth;
                for (pixel, target) in patches.chunks_exact_mut(patch).take(count).enumerate() {
                    gather_taps(geometry, input, start + pixel, channel, 0..geometry.taps(), target);
                }
                let data = &mut output[group * group_depth..];
                multiply(
                    &patches[..count * patch],
                    count,
                    group,
                    Target { data, row_stride: depth, accumulate: false },
                )?;
            }
        }
        Ok(())
    })
}

/// Copies what some taps of a patch see, row by row of the window, from input channel `channel` on.
pub(super) fn gather_taps<T: Pod>(
    geometry: &Geometry,
    input: &[T],
    pixel: usize,
    channel: usize,
    taps: Range<usize>,
    patch: &mut [T],
) {
    let [volume, plane, row, column] = geometry.pixel(pixel);
    let (planes, rows, columns) = (&geometry.planes, &geometry.rows, &geometry.columns);
    let (line, mut column_tap) = (taps.start / columns.window, taps.start % columns.window);
    let (mut plane_tap, mut row_tap) = (line / rows.window, line % rows.window);
    let seen = |plane_tap, row_tap| planes.at(plane, plane_tap).zip(rows.at(row, row_tap));
    let mut line = seen(plane_tap, row_tap);
    for target in patch.chunks_exact_mut(geometry.patch_depth) {
        match line.zip(columns.at(column, column_tap)) {
            Some(((plane, row), column)) => {
                let start = geometry.input_at([volume, plane, row, column]) + channel;
                target.copy_from_slice(&input[start..start + geometry.patch_depth]);
            }
            None => target.fill(T::default()),
        }
        column_tap += 1;
        if column_tap == columns.window {
            (row_tap, column_tap) = (row_tap + 1, 0);
            if row_tap == rows.window {
                (plane_tap, row_tap) = (plane_tap + 1, 0);
            }
            line = seen(plane_tap, row_tap);
        }
    }
}

#[cfg(test)]
mod tests {
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;
    use kernlink_ops::shapes::{Axis, Padding};

    use super::super::space::ONE_PLANE;
    use super::*;

    #[test]
    fn threads_change_nothing_of_products_by_panels() {
        let signature = Signature::default();
        let axis = Axis::new(14, 3, 1, 1, Padding::Same).unwrap();
        let geometry = Geometry {
            batch: 1,
            planes: ONE_PLANE,
            rows: axis,
            columns: axis,
            in_depth: 40,
            patch_depth: 40,
            out_depth: 72,
        };
        let numbers = |count: usize| -> Vec<bf16> {
            (0..count).map(|i| bf16::from_f32((i * 37 % 101) as f32 * 0.013 - 0.6)).collect()
        };
        let (input, filter) = (numbers(14 * 14 * 40), numbers(9 * 40 * 72));
        let filter = Tensor::from_elements([3, 3, 40, 72], &filter).unwrap();
        let convolved = |threads: usize| {
            let pool = ThreadPool::new("test", threads);
            let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
            let mut output = vec![bf16::NAN; 14 * 14 * 72];
            by_panels(&ctx, &geometry, &input, &panels_of(&ctx, &filter).unwrap(), &mut output).unwrap();
            output.iter().map(|x| x.to_bits()).collect::<Vec<u16>>()
        };
        assert_eq!(convolved(1), convolved(16));
    }

    #[test]
    fn threads_change_nothing_of_products_of_patches() {
        let signature = Signature::default();
        // Parts of one pixel and of several.
        let axes = [(1, 7), (3, 3), (5, 1)]
            .map(|(rows, columns)| [rows, columns].map(|size| Axis::new(size, 3, 1, 1, Padding::Same).unwrap()));
        for ([rows, columns], out_depth) in axes.into_iter().flat_map(|axes| [(axes, 128), (axes, 1)]) {
            let geometry =
                Geometry { batch: 1, planes: ONE_PLANE, rows, columns, in_depth: 64, patch_depth: 64, out_depth };
            let numbers =
                |count: usize| -> Vec<f64> { (0..count).map(|i| (i * 37 % 101) as f64 * 0.013 - 0.6).collect() };
            let (input, filter) = (numbers(rows.input * columns.input * 64), numbers(9 * 64 * out_depth));
            let convolved = |threads: usize| {
                let pool = ThreadPool::new("test", threads);
                let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
                let mut output = vec![f64::NAN; geometry.pixels() * out_depth];
                by_patches(&ctx, &geometry, (&input, &filter), &mut output).unwrap();
                output.iter().map(|x| x.to_bits()).collect::<Vec<u64>>()
            };
            let alone = convolved(1);
            for threads in [2, 4, 8] {
                assert_eq!(convolved(threads), alone, "{geometry:?}");
            }
        }
    }
}
