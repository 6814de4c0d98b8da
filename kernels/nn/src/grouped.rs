//! Convolution in groups of few channels, computed as a depthwise one: where each output channel finds the input channels
//! that it sees in its own place, a vector holds the channels of many groups.

use kernlink::Result;
use kernlink::dtype::Number;
use kernlink::error::Error;
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink_kernels_common::fused::Finish;
use kernlink_ops::shapes::Axis;

use super::depthwise::{SumProducts, Tap, Window};
use super::space::Geometry;

/// The sizes of a convolution in groups, of which each has channels.
pub(super) struct Groups {
    pub(super) rows: Axis,
    pub(super) columns: Axis,
    /// Channels of the input.
    pub(super) in_depth: usize,
    /// Channels of the input that one filter sees; divides `in_depth`.
    pub(super) patch_depth: usize,
    /// Channels of the output; a multiple of the number of groups.
    pub(super) out_depth: usize,
}

impl Groups {
    /// Of a convolution for which this is the fastest way.
    pub(super) fn worthwhile(geometry: &Geometry) -> Option<Groups> {
        // Groups of more channels fill enough of a vector by themselves.
        const MOST: usize = 8;
        let &Geometry { rows, columns, in_depth, patch_depth, out_depth, .. } = geometry;
        let groups = geometry.groups();
        let are_few = out_depth / groups <= MOST && patch_depth <= 2 * MOST;
        (geometry.is_flat() && groups > 1 && out_depth >= 2 * MOST && are_few).then_some(Groups {
            rows,
            columns,
            in_depth,
            patch_depth,
            out_depth,
        })
    }

    /// Elements from pixel to pixel of what is copied: pixels whose distance is a large power of two share places in the
    /// first cache, so that a window would not stay there.
    pub(super) fn pitch<T>(&self) -> usize {
        const LINE: usize = 64;
        const APART: usize = 1024;
        let is_shared = (self.out_depth * size_of::<T>()).is_multiple_of(APART);
        if is_shared { self.out_depth + LINE / size_of::<T>() } else { self.out_depth }
    }

    /// Where a line lies among the columns that are kept of it. Zeros are only multiplied by what is finite.
    fn margin<T: SumProducts>(&self, filter: &[T]) -> Margin {
        let &Axis { input, window, stride, dilation, before, output } = &self.columns;
        let last = output.saturating_sub(1).saturating_mul(stride);
        let seen = last.saturating_add(window.saturating_sub(1).saturating_mul(dilation)).saturating_add(1);
        let width = seen.max(input.saturating_add(before));
        // Padding that is much more than the image is not worth its memory.
        let is_finite = || filter.iter().all(|&factor| factor * <T as Number>::ZERO == <T as Number>::ZERO);
        if width <= 2 * input && is_finite() { Margin { before, width } } else { Margin { before: 0, width: input } }
    }

    /// Copies the channels of a line to the places of the output channels that see them: to one line for each channel of a
    /// group.
    fn spread<T: SumProducts>(&self, margin: Margin, line: &[T], planes: &mut [T]) {
        if line.is_empty() || planes.is_empty() {
            return;
        }
        match self.out_depth / (self.in_depth / self.patch_depth) {
            1 => self.spread_to::<T, 1>(margin, line, planes),
            2 => self.spread_to::<T, 2>(margin, line, planes),
            4 => self.spread_to::<T, 4>(margin, line, planes),
            8 => self.spread_to::<T, 8>(margin, line, planes),
            group => self.spread_with(margin, line, planes, |target, pixel, plane| {
                for (target, source) in target.chunks_exact_mut(group).zip(pixel.chunks_exact(self.patch_depth)) {
                    target.fill(source[plane]);
                }
            }),
        }
    }

    /// [`Groups::spread`] for groups of `N` output channels.
    fn spread_to<T: SumProducts, const N: usize>(&self, margin: Margin, line: &[T], planes: &mut [T]) {
        self.spread_with(margin, line, planes, |target, pixel, plane| {
            let targets = target.as_chunks_mut::<N>().0.iter_mut();
            for (target, source) in targets.zip(pixel.chunks_exact(self.patch_depth)) {
                *target = [source[plane]; N];
            }
        });
    }

    /// Has `pixel(target, source, plane)` write each pixel of each plane.
    #[inline]
    fn spread_with<T>(&self, margin: Margin, line: &[T], planes: &mut [T], pixel: impl Fn(&mut [T], &[T], usize)) {
        let pitch = self.pitch::<T>();
        let Margin { before, width } = margin;
        for (plane, target) in planes.chunks_exact_mut(width * pitch).enumerate() {
            let target = &mut target[before * pitch..];
            for (target, source) in target.chunks_exact_mut(pitch).zip(line.chunks_exact(self.in_depth)) {
                pixel(&mut target[..self.out_depth], source, plane);
            }
        }
    }
}

/// The padding of a line's columns that is kept as zeros, so that pixels at the edges see all columns of the window, as others
/// do.
#[derive(Clone, Copy)]
struct Margin {
    /// Zeros before the line.
    before: usize,
    /// Columns in all.
    width: usize,
}

/// A vector without elements, with the memory of one whose elements live shorter: the standard library collects in place, and
/// nothing is wrong but a little slower where it does not.
fn emptied<'b, T>(mut taps: Vec<Tap<'_, T>>) -> Vec<Tap<'b, T>> {
    taps.clear();
    taps.into_iter().map_while(|_| None).collect()
}

/// Where a line is kept.
fn line_in(kept: &[Option<usize>], line: usize) -> Option<usize> {
    kept.iter().position(|&kept| kept == Some(line))
}

/// Splits the output's lines (all columns and channels of a row) among threads.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is no memory for the lines that a window sees.
pub(super) fn by_lines<T: SumProducts>(
    ctx: &RawContext<'_>,
    groups: &Groups,
    (input, filter): (&[T], &[T]),
    output: &mut [T],
    finish: Option<&dyn Finish<T>>,
) -> Result<()> {
    let &Groups { rows, columns, in_depth, patch_depth: planes, out_depth: depth } = groups;
    let pitch = groups.pitch::<T>();
    let mut apart = Tensor::alloc(T::DTYPE, [if pitch == depth { 0 } else { filter.len() / depth }, pitch])?;
    for (target, source) in apart.as_mut_slice::<T>()?.chunks_exact_mut(pitch).zip(filter.chunks_exact(depth)) {
        target[..depth].copy_from_slice(source);
    }
    let filter = if pitch == depth { filter } else { apart.as_slice::<T>()? };
    let margin = groups.margin(filter);
    let Margin { before, width } = margin;
    let seen = Axis { input: width, before: columns.before - before, ..columns };
    let window = Window { rows, columns: seen, depth, planes, pitch, filter, filter_pitch: pitch };
    let length = columns.output * depth;
    let pixels = columns.input * in_depth;
    let plane = width * pitch;
    // As many lines as a window sees at most.
    let places = rows.window.min(rows.input);
    ctx.try_parallel_chunks(output, length, window.taps().div_ceil(16), |first, piece| {
        let mut lines = Tensor::alloc(T::DTYPE, [places, planes, plane])?;
        let lines = lines.as_mut_slice::<T>()?;
        if width > columns.input {
            lines.fill(<T as Number>::ZERO);
        }
        let mut kept = scratch::filled(None, places)?;
        let mut taps = scratch::room(window.taps())?;
        for (index, target) in piece.chunks_exact_mut(length).enumerate() {
            let index = first / length + index;
            let (batch, row) = (index / rows.output, index % rows.output);
            let seen =
                || rows.taps(row).filter_map(|tap| rows.at(row, tap)).map(|input_row| batch * rows.input + input_row);
            for line in seen() {
                if line_in(&kept, line).is_some() {
                    continue;
                }
                let is_free = |kept: &Option<usize>| kept.is_none_or(|kept| seen().all(|line| line != kept));
                let place =
                    kept.iter().position(is_free).ok_or_else(|| Error::internal("more lines than a window sees"))?;
                let target = &mut lines[place * planes * plane..][..planes * plane];
                groups.spread(margin, &input[line * pixels..][..pixels], target);
                kept[place] = Some(line);
            }
            let source = |row: usize, index: usize| {
                let place = line_in(&kept, batch * rows.input + row).unwrap_or(0);
                &lines[(place * planes + index) * plane..][..plane]
            };
            let mut seen = emptied(taps);
            window.line(source, (index, row), target, &mut seen, finish);
            taps = emptied(seen);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use kernlink::op::{OpDef, Signature};
    use kernlink::threads::ThreadPool;
    use kernlink_ops::shapes::Padding;

    use super::*;

    /// The convolution by the definition.
    fn naive(groups: &Groups, batch: usize, input: &[f32], filter: &[f32]) -> Vec<f32> {
        let &Groups { rows, columns, in_depth, patch_depth, out_depth } = groups;
        let group_depth = out_depth / (in_depth / patch_depth);
        let mut output = vec![0.0; batch * rows.output * columns.output * out_depth];
        for (at, target) in output.iter_mut().enumerate() {
            let (place, channel) = (at / out_depth, at % out_depth);
            let (line, column) = (place / columns.output, place % columns.output);
            let (image, row) = (line / rows.output, line % rows.output);
            for (y_tap, x_tap) in (0..rows.window).flat_map(|y| (0..columns.window).map(move |x| (y, x))) {
                let Some((y, x)) = rows.at(row, y_tap).zip(columns.at(column, x_tap)) else { continue };
                for i in 0..patch_depth {
                    let from = ((image * rows.input + y) * columns.input + x) * in_depth;
                    let tap = (y_tap * columns.window + x_tap) * patch_depth + i;
                    *target +=
                        input[from + channel / group_depth * patch_depth + i] * filter[tap * out_depth + channel];
                }
            }
        }
        output
    }

    #[test]
    fn groups_agree_with_the_definition() {
        let signature = Signature::default();
        let pool = ThreadPool::new("test", 2);
        let ctx = RawContext::new("conv", &OpDef::EMPTY, &signature, &mut [], &mut [], Some(&pool));
        let axis = |input: usize, window: usize, stride: i64, dilation: i64, padding: Padding<(i64, i64)>| {
            Axis::new(input, window, stride, dilation, padding).unwrap()
        };
        let same = || Padding::Same;
        let windows = [
            (axis(5, 3, 1, 1, same()), axis(7, 3, 1, 1, same())),
            (axis(6, 2, 2, 1, Padding::Valid), axis(9, 3, 1, 2, same())),
            (axis(7, 3, 3, 2, Padding::Explicit((4, 1))), axis(4, 5, 2, 1, Padding::Explicit((0, 6)))),
            (axis(3, 5, 1, 1, same()), axis(14, 5, 1, 1, same())),
            (axis(4, 3, 2, 1, same()), axis(9, 3, 2, 2, Padding::Explicit((1, 3)))),
            // Padding that is more than the image.
            (axis(4, 3, 1, 1, same()), axis(3, 3, 1, 7, Padding::Explicit((20, 9)))),
            // Nothing but padding.
            (axis(3, 1, 1, 1, Padding::Valid), axis(0, 2, 1, 1, Padding::Explicit((2, 1)))),
        ];
        for (rows, columns) in windows {
            for (in_depth, patch_depth, out_depth) in
                [(8, 2, 16), (3, 1, 6), (32, 4, 64), (6, 3, 16), (256, 1, 256), (20, 5, 12)]
            {
                let groups = Groups { rows, columns, in_depth, patch_depth, out_depth };
                let numbers = |count: usize, by: usize| -> Vec<f32> {
                    // Small whole numbers, so that every order of addition gives the same sum.
                    (0..count).map(|i| (i * by % 7) as f32 - 3.0).collect()
                };
                let input = numbers(2 * rows.input * columns.input * in_depth, 5);
                let filter = numbers(rows.window * columns.window * patch_depth * out_depth, 11);
                let expected = naive(&groups, 2, &input, &filter);
                let mut output = vec![f32::NAN; expected.len()];
                by_lines(&ctx, &groups, (&input, &filter), &mut output, None).unwrap();
                assert_eq!(output, expected, "{rows:?} {columns:?} {in_depth} {patch_depth} {out_depth}");
                // What is not finite is not multiplied by padding.
                let mut filter = filter;
                filter.iter_mut().for_each(|factor| *factor = f32::INFINITY);
                let positive: Vec<f32> = input.iter().map(|element| element.abs() + 1.0).collect();
                by_lines(&ctx, &groups, (&positive, &filter), &mut output, None).unwrap();
                assert!(output.iter().all(|&sum| sum == f32::INFINITY || sum == 0.0), "{rows:?} {columns:?}");
            }
        }
    }
}
