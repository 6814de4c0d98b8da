//! NearestNeighbors.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink_geometry::integers::scalar;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Sums that [`product`] adds up at the end.
pub(super) const LANES: usize = 8;

/// The sum of the products of two points' coordinates.
#[inline]
pub(super) fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// Half the square of each point's distance to the origin.
pub(super) fn half_squared_norms(points: &[f32], count: usize, width: usize) -> Result<Vec<f32>> {
    scratch::collected((0..count).map(|n| {
        let point = &points[n * width..][..width];
        0.5 * product(point, point)
    }))
}

#[register_kernel(device = Cpu)]
fn nearest_neighbors(ctx: &mut KernelContext<'_, ops::NearestNeighbors>) -> Result<()> {
    type Op = ops::NearestNeighbors;
    let (points, centers) = (ctx.input(Op::POINTS)?, ctx.input(Op::CENTERS)?);
    ensure!(points.rank() == 2, InvalidArgument, "Input points should be a matrix.");
    ensure!(centers.rank() == 2, InvalidArgument, "Input centers should be a matrix.");
    let k = scalar(ctx.input(Op::K)?, "Input k")?;
    let (count, width) = (points.shape()[0], points.shape()[1]);
    ensure!(count > 0, InvalidArgument, "Expected points.rows() > 0.");
    ensure!(
        width == centers.shape()[1],
        InvalidArgument,
        "Expected point_dimensions == center_dimensions: {width} vs {}.",
        centers.shape()[1]
    );
    ensure!(k >= 0, InvalidArgument, "Expected k >= 0.");
    let center_count = centers.shape()[0];
    let k = usize::try_from(k).unwrap_or(usize::MAX).min(center_count);
    let mut indices = ctx.allocate_output(Op::NEAREST_CENTER_INDICES, [count, k])?;
    let mut distances = ctx.allocate_output(Op::NEAREST_CENTER_DISTANCES, [count, k])?;
    if k > 0 {
        let (points, centers) = (points.as_slice::<f32>()?, centers.as_slice::<f32>()?);
        let half_norms = half_squared_norms(centers, center_count, width)?;
        let rows = indices.as_mut_slice::<i64>()?.chunks_exact_mut(k);
        let rows = rows.zip(distances.as_mut_slice::<f32>()?.chunks_exact_mut(k));
        let mut rows: Vec<_> = scratch::collected(rows)?;
        let cost = center_count.saturating_mul(width.saturating_add(8));
        ctx.try_parallel_chunks(&mut rows, 1, cost, |first, rows| {
            let mut all: Vec<(f32, usize)> = scratch::room(center_count)?;
            for (n, (indices, distances)) in (first..).zip(rows) {
                let point = &points[n * width..][..width];
                let half_norm = 0.5 * product(point, point);
                all.clear();
                all.extend(half_norms.iter().enumerate().map(|(center, half_norm)| {
                    (half_norm - product(point, &centers[center * width..][..width]), center)
                }));
                let nearer = |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
                if k < center_count {
                    all.select_nth_unstable_by(k - 1, nearer);
                }
                all[..k].sort_unstable_by(nearer);
                for ((index, distance), &(partial, center)) in indices.iter_mut().zip(distances.iter_mut()).zip(&all) {
                    *index = center as i64;
                    *distance = 2.0 * (half_norm + partial);
                }
            }
            Ok(())
        })?;
    }
    ctx.set_output(Op::NEAREST_CENTER_INDICES, indices)?;
    ctx.set_output(Op::NEAREST_CENTER_DISTANCES, distances)
}
