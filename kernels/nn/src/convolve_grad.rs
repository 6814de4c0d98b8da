//! The gradient of the input of a convolution of images or volumes, channels last.
//!
//! It is itself a convolution: of what flows back with the filter, mirrored and its channels swapped. With strides it is several, one
//! for each place that an input element may have within a stride.

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_ops::shapes::Axis;

use super::convolve::Convolve;
use super::space::Geometry;

/// The input elements of one dimension that stand at the same place within a stride, and the windows that see them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Phase {
    /// The first of the input elements; the others follow, a stride apart.
    first: usize,
    /// How many there are.
    pub(super) count: usize,
    /// The first tap that sees them.
    tap: usize,
    /// Taps from one that sees them to the next.
    step: usize,
    /// How many taps see them.
    pub(super) taps: usize,
    /// Outputs from one tap's to the next one's.
    dilation: usize,
    /// Outputs before the first that the last tap needs; negative if those at the beginning are not needed.
    before: i64,
}

/// The phases of a dimension that have elements.
pub(super) fn phases(axis: &Axis) -> Result<Vec<Phase>> {
    let (stride, dilation) = (axis.stride, axis.dilation);
    let common = gcd(stride, dilation);
    // Nothing repeats beyond the input's end.
    let places = stride.min(axis.input);
    let phase = |first: usize| {
        // An element at `first + i * stride` is seen by tap `t` of output `(padded - t * dilation) / stride + i`.
        let padded = first + axis.before;
        let count = (axis.input - first).div_ceil(stride);
        let sees = |&tap: &usize| tap * dilation % stride == padded % stride;
        let step = stride / common;
        let Some(tap) = (0..axis.window.min(step)).find(sees) else {
            return Phase { first, count, tap: 0, step, taps: 0, dilation: 1, before: 0 };
        };
        let taps = (axis.window - tap).div_ceil(step);
        let dilation = dilation / common;
        // The output in which the last tap sees the first element.
        let start = (padded as i64 - (tap * axis.dilation) as i64) / stride as i64 - ((taps - 1) * dilation) as i64;
        Phase { first, count, tap, step, taps, dilation, before: -start }
    };
    scratch::collected((0..places).map(phase))
}

pub(super) fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Phase {
    /// That of a dimension with one element.
    pub(super) const ONE: Phase = Phase { first: 0, count: 1, tap: 0, step: 1, taps: 1, dilation: 1, before: 0 };

    /// The phase as a convolution over `outputs` values, of which the first `skipped` are not looked at.
    pub(super) fn axis(&self, outputs: usize, skipped: usize) -> Axis {
        Axis {
            input: outputs - skipped,
            window: self.taps,
            stride: 1,
            dilation: self.dilation,
            before: (self.before + skipped as i64) as usize,
            output: self.count,
        }
    }

    /// How many of `outputs` values are not looked at, at the beginning.
    pub(super) fn skipped(&self, outputs: usize) -> usize {
        ((-self.before).max(0) as usize).min(outputs)
    }

    /// The filter's tap at place `index` of the mirrored window.
    pub(super) fn mirrored(&self, index: usize) -> usize {
        self.tap + (self.taps - 1 - index) * self.step
    }
}

/// Writes the gradient of the input of a convolution. Nothing is empty.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn of_input<T: Convolve>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    filter: &Tensor,
    gradient: &Tensor,
    output: &mut Tensor,
) -> Result<()> {
    let phases = [phases(&geometry.planes)?, phases(&geometry.rows)?, phases(&geometry.columns)?];
    let outputs = [geometry.planes.output, geometry.rows.output, geometry.columns.output];
    let is_seen = |axis: usize, phase: &Phase| phase.taps > 0 && phase.skipped(outputs[axis]) < outputs[axis];
    if let ([plane], [row], [column]) = (&phases[0][..], &phases[1][..], &phases[2][..])
        && is_seen(0, plane)
        && is_seen(1, row)
        && is_seen(2, column)
    {
        return of_phase::<T>(ctx, geometry, [plane, row, column], filter, gradient, output);
    }
    output.as_mut_slice::<T>()?.fill(T::ZERO);
    for plane in phases[0].iter().filter(|plane| is_seen(0, plane)) {
        for row in phases[1].iter().filter(|row| is_seen(1, row)) {
            for column in phases[2].iter().filter(|column| is_seen(2, column)) {
                let shape = [geometry.batch, plane.count, row.count, column.count, geometry.in_depth];
                let (place, mut part) = ([plane, row, column], Tensor::alloc(T::DTYPE, shape)?);
                of_phase::<T>(ctx, geometry, place, filter, gradient, &mut part)?;
                scatter(ctx, geometry, place, part.as_slice::<T>()?, output.as_mut_slice::<T>()?);
            }
        }
    }
    Ok(())
}

/// Writes the gradient of the input elements of some phases, one of each dimension.
fn of_phase<T: Convolve>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    place: [&Phase; 3],
    filter: &Tensor,
    gradient: &Tensor,
    output: &mut Tensor,
) -> Result<()> {
    let [plane, row, column] = place;
    let outputs = [geometry.planes.output, geometry.rows.output, geometry.columns.output];
    let skipped = [0, 1, 2].map(|axis| place[axis].skipped(outputs[axis]));
    let turned = Geometry {
        batch: geometry.batch,
        planes: plane.axis(outputs[0], skipped[0]),
        rows: row.axis(outputs[1], skipped[1]),
        columns: column.axis(outputs[2], skipped[2]),
        in_depth: geometry.out_depth,
        patch_depth: geometry.out_depth / geometry.groups(),
        out_depth: geometry.in_depth,
    }
    .flattened();
    let elements = filter.as_slice::<T>()?;
    let shape = Shape::from([row.taps, column.taps, turned.patch_depth, turned.out_depth]);
    let mirrored = || mirror(ctx, geometry, place, elements);
    if skipped == [0; 3] && T::may_transform(&shape) && T::is_transformed_once(&turned) {
        let transformed = T::transform(ctx, &mirrored()?.reshaped(shape)?)?;
        if T::convolve_transformed(ctx, &turned, (gradient, &transformed), output.as_mut_slice()?, None)? {
            return Ok(());
        }
    }
    let packed = match geometry.groups() {
        1 => T::pack_taps(ctx, &turned, &mirrored_taps(geometry, place, elements)?, geometry.out_depth)?,
        _ => None,
    };
    let packed = match packed {
        Some(packed) => packed,
        None => T::pack(ctx, &turned, &mirrored()?)?,
    };
    if skipped == [0; 3] {
        return T::convolve(ctx, &turned, (gradient, &packed), output.as_mut_slice()?, None);
    }
    let cropped = crop(geometry, skipped, gradient.as_slice::<T>()?)?;
    T::convolve(ctx, &turned, (&cropped, &packed), output.as_mut_slice()?, None)
}

/// The tap of a filter at place `index` of the mirrored window that some phases see.
fn mirrored_tap(geometry: &Geometry, [plane, row, column]: [&Phase; 3], index: usize) -> usize {
    let (line, x) = (index / column.taps, column.mirrored(index % column.taps));
    let (z, y) = (plane.mirrored(line / row.taps), row.mirrored(line % row.taps));
    (z * geometry.rows.window + y) * geometry.columns.window + x
}

/// How many taps some phases see.
fn taps(place: [&Phase; 3]) -> usize {
    place.iter().map(|phase| phase.taps).product()
}

/// The taps of a filter that some phases see, in reverse, each as it is.
fn mirrored_taps<'f, T>(geometry: &Geometry, place: [&Phase; 3], filter: &'f [T]) -> Result<Vec<&'f [T]>> {
    let tap = geometry.patch_depth * geometry.out_depth;
    let of_index = |index| &filter[mirrored_tap(geometry, place, index) * tap..][..tap];
    scratch::collected((0..taps(place)).map(of_index))
}

/// The taps of a filter that some phases see, in reverse, each with its channels swapped: those of each group by themselves.
fn mirror<T: Pod>(ctx: &RawContext<'_>, geometry: &Geometry, place: [&Phase; 3], filter: &[T]) -> Result<Tensor> {
    let (depth, patch_depth, out_depth) = (geometry.in_depth, geometry.patch_depth, geometry.out_depth);
    let group_depth = out_depth / geometry.groups();
    let mut mirrored = Tensor::alloc(T::DTYPE, [taps(place), group_depth, depth])?;
    // A block is read and written while it is in the cache.
    const BLOCK: usize = 16;
    ctx.parallel_chunks(mirrored.as_mut_slice::<T>()?, BLOCK * depth, 1, |first, piece| {
        let mut line = first / depth;
        let mut rest = piece;
        while !rest.is_empty() {
            let (tap, channel) = (line / group_depth, line % group_depth);
            let lines = BLOCK.min(group_depth - channel).min(rest.len() / depth);
            let (target, others) = rest.split_at_mut(lines * depth);
            let source =
                &filter[mirrored_tap(geometry, place, tap) * patch_depth * out_depth..][..patch_depth * out_depth];
            for group in 0..geometry.groups() {
                let first = group * group_depth + channel;
                for start in (0..patch_depth).step_by(BLOCK) {
                    let end = (start + BLOCK).min(patch_depth);
                    for (index, target) in target.chunks_exact_mut(depth).enumerate() {
                        let target = &mut target[group * patch_depth..][start..end];
                        let source = source[start * out_depth..].chunks(out_depth);
                        target.iter_mut().zip(source).for_each(|(target, source)| *target = source[first + index]);
                    }
                }
            }
            rest = others;
            line += lines;
        }
    });
    Ok(mirrored)
}

/// A copy of what flows back, without the first planes, rows and columns.
pub(super) fn crop<T: Pod>(geometry: &Geometry, skipped: [usize; 3], gradient: &[T]) -> Result<Tensor> {
    let (planes, rows, columns) = (geometry.planes.output, geometry.rows.output, geometry.columns.output);
    let (deep, height, width) = (planes - skipped[0], rows - skipped[1], columns - skipped[2]);
    let depth = geometry.out_depth;
    let mut cropped = Tensor::alloc(T::DTYPE, [geometry.batch, deep, height, width, depth])?;
    let lines = cropped.as_mut_slice::<T>()?.chunks_exact_mut(width * depth);
    for (line, target) in lines.enumerate() {
        let plane = line / height / deep * planes + skipped[0] + line / height % deep;
        let row = plane * rows + skipped[1] + line % height;
        target.copy_from_slice(&gradient[(row * columns + skipped[2]) * depth..][..width * depth]);
    }
    Ok(cropped)
}

/// Copies the elements of some phases to their places.
pub(super) fn scatter<T: Pod>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    [plane, row, column]: [&Phase; 3],
    part: &[T],
    output: &mut [T],
) {
    let (depth, length) = (geometry.in_depth, geometry.columns.input * geometry.in_depth);
    let (planes, rows) = (&geometry.planes, &geometry.rows);
    // Which element of a phase stands at a place.
    let index = |phase: &Phase, at: usize, stride: usize| {
        at.checked_sub(phase.first).filter(|place| place % stride == 0).map(|place| place / stride)
    };
    ctx.parallel_chunks(output, length, 1, |first, piece| {
        for (line, target) in (first / length..).zip(piece.chunks_exact_mut(length)) {
            let (y, z, volume) =
                (line % rows.input, line / rows.input % planes.input, line / rows.input / planes.input);
            let seen = index(plane, z, planes.stride).zip(index(row, y, rows.stride));
            let Some((z, y)) = seen else { continue };
            let start = ((volume * plane.count + z) * row.count + y) * column.count * depth;
            let source = part[start..][..column.count * depth].chunks_exact(depth);
            let targets = target[column.first * depth..].chunks_mut(depth).step_by(geometry.columns.stride);
            targets.zip(source).for_each(|(target, source)| target.copy_from_slice(source));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::filter_gradient::of_filter;
    use super::super::space::ONE_PLANE;
    use super::*;
    use kernlink::dtype::DataType;
    use kernlink::op::{OpDef, Signature};
    use kernlink_ops::shapes::Padding;

    /// Both gradients by the definition.
    fn naive(geometry: &Geometry, input: &[f64], filter: &[f64], gradient: &[f64]) -> [Vec<f64>; 2] {
        let (planes, rows, columns) = (&geometry.planes, &geometry.rows, &geometry.columns);
        let (patch_depth, group_depth) = (geometry.patch_depth, geometry.out_depth / geometry.groups());
        let (mut of_input, mut of_filter) = (vec![0.0; input.len()], vec![0.0; filter.len()]);
        for pixel in 0..geometry.pixels() {
            let [volume, plane, row, column] = geometry.pixel(pixel);
            for tap in 0..geometry.taps() {
                let line = tap / columns.window;
                let seen = planes.at(plane, line / rows.window).zip(rows.at(row, line % rows.window));
                let Some(((z, y), x)) = seen.zip(columns.at(column, tap % columns.window)) else { continue };
                for c in 0..patch_depth {
                    for o in 0..geometry.out_depth {
                        let start = geometry.input_at([volume, z, y, x]) + o / group_depth * patch_depth;
                        let weight = (tap * patch_depth + c) * geometry.out_depth + o;
                        let flow = gradient[pixel * geometry.out_depth + o];
                        of_input[start + c] += flow * filter[weight];
                        of_filter[weight] += flow * input[start + c];
                    }
                }
            }
        }
        [of_input, of_filter]
    }

    #[test]
    fn gradients_agree_with_the_definition() {
        let pool = kernlink::threads::ThreadPool::new("test", 1);
        let signature = Signature::default();
        let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        // Small whole numbers, so that every order of addition gives the same sum.
        let values = |count: usize| (0..count).map(|i| (i * 7 % 11) as f64 - 5.0).collect::<Vec<f64>>();
        let single = |shape: &[usize], values: &[f64]| {
            let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            Tensor::from_elements(shape, &narrow).unwrap()
        };
        let mut tried = 0;
        for (height, width, in_depth, window, out_depth, groups) in [
            (9, 7, 3, 3, 5, 1),
            (7, 8, 4, 2, 20, 1),
            (6, 6, 17, 1, 3, 1),
            (5, 4, 2, 4, 2, 1),
            (11, 3, 1, 5, 1, 1),
            (9, 7, 4, 3, 6, 2),
            (7, 8, 6, 2, 3, 3),
            (6, 6, 36, 1, 34, 2),
        ] {
            let patch_depth = in_depth / groups;
            for (stride, dilation, padding) in [
                (1, 1, Padding::Same),
                (1, 2, Padding::Same),
                (2, 1, Padding::Valid),
                (2, 1, Padding::Same),
                (3, 1, Padding::Same),
                (2, 2, Padding::Same),
                (3, 2, Padding::Explicit((4, 1))),
                (2, 3, Padding::Explicit((2, 5))),
                (4, 6, Padding::Explicit((7, 20))),
                (1, 1, Padding::Explicit((9, 3))),
                (2, 1, Padding::Explicit((30, 2))),
                (5, 1, Padding::Explicit((0, 40))),
            ] {
                let axis = |size| Axis::new(size, window, stride, dilation, padding);
                let (Ok(rows), Ok(columns)) = (axis(height), axis(width)) else { continue };
                let volumes = Axis::new(5, 2 + tried % 2, stride, dilation, padding);
                let planes = volumes.ok().filter(|planes| tried % 3 > 0 && planes.output > 0).unwrap_or(ONE_PLANE);
                let geometry = Geometry { batch: 2, planes, rows, columns, in_depth, patch_depth, out_depth };
                let shapes = [
                    [2, planes.input, height, width, in_depth],
                    [planes.window, window, window, patch_depth, out_depth],
                    [2, planes.output, rows.output, columns.output, out_depth],
                ];
                let [input, filter, gradient] = shapes.map(|shape| values(shape.iter().product()));
                if gradient.is_empty() {
                    continue;
                }
                tried += 1;
                let [expected_input, expected_filter] = naive(&geometry, &input, &filter, &gradient);
                let wide = |index: usize, values: &[f64]| Tensor::from_elements(shapes[index], values).unwrap();
                let mut got = Tensor::zeros(DataType::Double, shapes[0]).unwrap();
                of_input::<f64>(&ctx, &geometry, &wide(1, &filter), &wide(2, &gradient), &mut got).unwrap();
                assert_eq!(got.as_slice::<f64>().unwrap(), expected_input, "input {geometry:?}");
                let mut got = single(&shapes[0], &vec![f64::NAN; input.len()]);
                let (narrow_filter, narrow_gradient) = (single(&shapes[1], &filter), single(&shapes[2], &gradient));
                of_input::<f32>(&ctx, &geometry, &narrow_filter, &narrow_gradient, &mut got).unwrap();
                let got: Vec<f64> = got.as_slice::<f32>().unwrap().iter().map(|&value| value.into()).collect();
                assert_eq!(got, expected_input, "input {geometry:?}");
                let mut got = vec![f64::NAN; filter.len()];
                of_filter(&ctx, &geometry, &input, &gradient, &mut got).unwrap();
                assert_eq!(got, expected_filter, "filter {geometry:?}");
            }
        }
        assert!(tried > 70, "{tried}");
    }

    #[test]
    fn filters_that_are_transformed_give_the_same() {
        let pool = kernlink::threads::ThreadPool::new("test", 1);
        let signature = Signature::default();
        let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        let axis = |size| Axis::new(size, 3, 1, 1, Padding::Same).unwrap();
        let (planes, rows, columns) = (ONE_PLANE, axis(29), axis(28));
        let geometry = Geometry { batch: 1, planes, rows, columns, in_depth: 32, patch_depth: 32, out_depth: 64 };
        let numbers = |count: usize| (0..count).map(|i| (i * 7 % 11) as f32 - 5.0).collect::<Vec<f32>>();
        let filter = Tensor::from_elements([3, 3, 32, 64], &numbers(9 * 32 * 64)).unwrap();
        let gradient = Tensor::from_elements([1, 29, 28, 64], &numbers(29 * 28 * 64)).unwrap();
        let mut found = Tensor::zeros(DataType::Float, [1, 29, 28, 32]).unwrap();
        of_input::<f32>(&ctx, &geometry, &filter, &gradient, &mut found).unwrap();
        let wide = |tensor: &Tensor| {
            let elements: Vec<f64> = tensor.as_slice::<f32>().unwrap().iter().map(|&element| element.into()).collect();
            Tensor::from_elements(tensor.shape().clone(), &elements).unwrap()
        };
        let mut expected = Tensor::zeros(DataType::Double, [1, 29, 28, 32]).unwrap();
        of_input::<f64>(&ctx, &geometry, &wide(&filter), &wide(&gradient), &mut expected).unwrap();
        assert_eq!(wide(&found).as_slice::<f64>().unwrap(), expected.as_slice::<f64>().unwrap());
    }
}
