//! NearestNeighbors.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink_geometry::integers::scalar;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// Sums that [`product`] adds up at the end.
const LANES: usize = 8;

/// The sum of the products of two points' coordinates.
#[inline]
fn product(a: &[f32], b: &[f32]) -> f32 {
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

/// The products of as many points and one other: as [`product`], but the other is read only once.
#[inline]
fn products<const POINTS: usize>(points: [&[f32]; POINTS], other: &[f32]) -> [f32; POINTS] {
    let (other, other_rest) = other.as_chunks::<LANES>();
    let split = points.map(|point| point.as_chunks::<LANES>());
    let mut sums = [[0.0f32; LANES]; POINTS];
    for (index, other) in other.iter().enumerate() {
        for (sums, (point, _)) in sums.iter_mut().zip(&split) {
            let Some(point) = point.get(index) else { continue };
            for lane in 0..LANES {
                sums[lane] += point[lane] * other[lane];
            }
        }
    }
    std::array::from_fn(|point| {
        let rest: f32 = split[point].1.iter().zip(other_rest).map(|(a, b)| a * b).sum();
        sums[point].iter().sum::<f32>() + rest
    })
}

/// Half the square of each point's distance to the origin.
fn half_squared_norms(points: &[f32], count: usize, width: usize) -> Result<Vec<f32>> {
    scratch::collected((0..count).map(|n| {
        let point = &points[n * width..][..width];
        0.5 * product(point, point)
    }))
}

/// How many points are compared with a center at a time.
const POINTS: usize = 4;

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
        ctx.try_parallel_chunks(&mut rows, POINTS, cost, |first, rows| {
            let mut all: [Vec<(f32, usize)>; POINTS] = [const { Vec::new() }; POINTS];
            for all in &mut all {
                *all = scratch::room(center_count)?;
            }
            for (block, rows) in rows.chunks_mut(POINTS).enumerate() {
                // Where fewer points are left, the last is there several times.
                let last = first + block * POINTS + rows.len() - 1;
                let block: [&[f32]; POINTS] =
                    std::array::from_fn(|n| &points[(first + block * POINTS + n).min(last) * width..][..width]);
                all.iter_mut().for_each(Vec::clear);
                for (center, half_norm) in half_norms.iter().enumerate() {
                    let products = products(block, &centers[center * width..][..width]);
                    all.iter_mut().zip(products).for_each(|(all, product)| all.push((half_norm - product, center)));
                }
                for (((indices, distances), point), all) in rows.iter_mut().zip(block).zip(&mut all) {
                    let half_norm = 0.5 * product(point, point);
                    let nearer = |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
                    if k < center_count {
                        all.select_nth_unstable_by(k - 1, nearer);
                    }
                    all[..k].sort_unstable_by(nearer);
                    let nearest = indices.iter_mut().zip(distances.iter_mut()).zip(&*all);
                    for ((index, distance), &(partial, center)) in nearest {
                        *index = center as i64;
                        *distance = 2.0 * (half_norm + partial);
                    }
                }
            }
            Ok(())
        })?;
    }
    ctx.set_output(Op::NEAREST_CENTER_INDICES, indices)?;
    ctx.set_output(Op::NEAREST_CENTER_DISTANCES, distances)
}
