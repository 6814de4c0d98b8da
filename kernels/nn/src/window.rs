//! What lies under the windows of pooling, folded channel by channel.

use std::ops::Range;

use kernlink::Result;
use kernlink::tensor::scratch;
use kernlink_geometry::pooling::Geometry;
use kernlink_geometry::volume::Windows;
use kernlink_ops::shapes::Axis;

/// Channels whose results stay in registers while a window passes.
const CHANNELS: usize = 32;

/// The part of the input under a window: in each of `planes` planes `count` pixels of each of `rows` rows.
pub(super) struct Window {
    /// Where the first row's pixels begin.
    first: usize,
    planes: usize,
    /// Elements from plane to plane.
    plane_stride: usize,
    rows: usize,
    /// Elements from row to row.
    stride: usize,
    pub(super) count: usize,
}

impl Window {
    /// What is under the window at `row` and `column` of an image.
    #[inline(always)]
    pub(super) fn new(geometry: &Geometry, row: usize, column: usize) -> Window {
        let Geometry { rows, columns, depth, .. } = *geometry;
        let (rows, columns_seen) = (Span::new(&rows, row), Span::new(&columns, column));
        let stride = columns.input * depth;
        Window {
            first: rows.first * stride + columns_seen.first * depth,
            planes: 1,
            plane_stride: 0,
            rows: rows.count,
            stride,
            count: columns_seen.count,
        }
    }

    /// How many pixels it has.
    pub(super) fn pixels(&self) -> usize {
        self.planes * self.rows * self.count
    }

    /// Where each of its rows begins.
    #[inline(always)]
    pub(super) fn row_starts(&self) -> impl DoubleEndedIterator<Item = usize> {
        let &Window { first, planes, plane_stride, rows, stride, .. } = self;
        (0..planes).flat_map(move |plane| (0..rows).map(move |row| first + plane * plane_stride + row * stride))
    }

    /// Where each of its pixels of `depth` channels begins.
    #[inline(always)]
    pub(super) fn pixel_starts(&self, depth: usize) -> impl DoubleEndedIterator<Item = usize> {
        let count = self.count;
        self.row_starts().flat_map(move |row| (0..count).map(move |pixel| row + pixel * depth))
    }

    /// Folds each channel of its pixels, row by row.
    #[inline(always)]
    pub(super) fn fold<T: Copy, A: Copy>(
        &self,
        image: &[T],
        target: &mut [T],
        start: A,
        fold: impl Fn(A, T) -> A,
        finish: impl Fn(A) -> T,
    ) {
        let depth = target.len();
        let (chunks, rest) = target.as_chunks_mut::<CHANNELS>();
        let (halves, rest) = rest.as_chunks_mut::<{ CHANNELS / 2 }>();
        let (halves_from, rest_from) = (chunks.len() * CHANNELS, depth - rest.len());
        for (index, chunk) in chunks.iter_mut().enumerate() {
            *chunk = self.folded(image, depth, index * CHANNELS, start, &fold).map(&finish);
        }
        for half in halves {
            *half = self.folded(image, depth, halves_from, start, &fold).map(&finish);
        }
        if !rest.is_empty() {
            let mut folded = [start; CHANNELS / 2];
            let folded = &mut folded[..rest.len()];
            for pixel in self.pixel_starts(depth) {
                for (folded, &element) in folded.iter_mut().zip(&image[pixel + rest_from..]) {
                    *folded = fold(*folded, element);
                }
            }
            for (target, &folded) in rest.iter_mut().zip(&*folded) {
                *target = finish(folded);
            }
        }
    }

    /// `N` channels from `channel` on, by plain loops, which the compiler makes vectors of.
    #[inline(always)]
    fn folded<T: Copy, A: Copy, const N: usize>(
        &self,
        image: &[T],
        depth: usize,
        channel: usize,
        start: A,
        fold: impl Fn(A, T) -> A,
    ) -> [A; N] {
        let mut folded = [start; N];
        for plane in 0..self.planes {
            for row in 0..self.rows {
                let row = self.first + plane * self.plane_stride + row * self.stride + channel;
                for pixel in 0..self.count {
                    let Some(source) = image[row + pixel * depth..].first_chunk::<N>() else { continue };
                    for (folded, &element) in folded.iter_mut().zip(source) {
                        *folded = fold(*folded, element);
                    }
                }
            }
        }
        folded
    }
}

/// What a window covers of an axis.
#[derive(Clone, Copy)]
struct Span {
    first: usize,
    count: usize,
}

impl Span {
    #[inline(always)]
    fn new(axis: &Axis, place: usize) -> Span {
        let taps = axis.taps(place);
        Span { first: (axis.start(place) + taps.start as i64).max(0) as usize, count: taps.len() }
    }
}

/// The windows over volumes, line by line along the last axis.
pub(super) struct Lines {
    spans: [Vec<Span>; 3],
    /// Elements from plane to plane, and from row to row.
    strides: [usize; 2],
    /// How many planes a volume has.
    planes: usize,
    pub(super) channels: usize,
}

impl Lines {
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is no memory for where windows begin.
    pub(super) fn new(windows: &Windows) -> Result<Lines> {
        let spans = |axis: &Axis| scratch::collected((0..axis.output).map(|place| Span::new(axis, place)));
        let [depth, rows, columns] = &windows.axes;
        // Where there is no window, other sizes may be any.
        if windows.batch == 0 || windows.channels == 0 || windows.axes.iter().any(|axis| axis.output == 0) {
            return Ok(Lines { spans: Default::default(), strides: [0; 2], planes: 0, channels: windows.channels });
        }
        let stride = columns.input * windows.channels;
        let plane = rows.input * stride;
        Ok(Lines {
            spans: [spans(depth)?, spans(rows)?, spans(columns)?],
            strides: [plane, stride],
            planes: depth.input,
            channels: windows.channels,
        })
    }

    /// The elements of an output of as many channels that belong to a line.
    pub(super) fn length(&self) -> usize {
        self.spans[2].len() * self.channels
    }

    /// Whether each pixel of the volumes is under exactly one window.
    pub(super) fn cover_each_once(&self, windows: &Windows) -> bool {
        self.spans.iter().zip(&windows.axes).all(|(spans, axis)| {
            let end = spans.iter().try_fold(0, |end, span| (span.first == end).then_some(end + span.count));
            end == Some(axis.input)
        })
    }

    /// For each window of a line the pixels that it covers of a line of pixels.
    pub(super) fn columns(&self) -> impl Iterator<Item = Range<usize>> {
        self.spans[2].iter().map(|span| span.first..span.first + span.count)
    }

    /// Where the lines of pixels begin that a line of windows sees.
    #[inline(always)]
    pub(super) fn row_starts(&self, line: usize) -> impl ExactSizeIterator<Item = usize> {
        let (first, plane, row) = self.part(line);
        let ([plane_stride, stride], rows) = (self.strides, row.count);
        (0..plane.count * rows).map(move |index| first + index / rows * plane_stride + index % rows * stride)
    }

    /// Where the first line of pixels under a line of windows begins, and what the line covers of the planes and of their rows.
    #[inline(always)]
    fn part(&self, line: usize) -> (usize, Span, Span) {
        let [depth, rows, _] = &self.spans;
        let (rest, row) = (line / rows.len(), rows[line % rows.len()]);
        let (volume, plane) = (rest / depth.len(), depth[rest % depth.len()]);
        let first = (volume * self.planes + plane.first) * self.strides[0] + row.first * self.strides[1];
        (first, plane, row)
    }

    /// The lines whose windows reach into a range of planes, both counted over all volumes.
    pub(super) fn reaching(&self, planes: Range<usize>) -> impl Iterator<Item = usize> {
        let [depth, rows, _] = &self.spans;
        let per_volume = self.planes.max(1);
        let volumes = planes.start / per_volume..planes.end.div_ceil(per_volume);
        let starts = volumes.flat_map(move |volume| {
            depth.iter().enumerate().map(move |(place, span)| (volume * depth.len() + place, volume * per_volume, span))
        });
        // `before` are the planes of the volumes before this one.
        let reaching = starts.filter(move |(_, before, span)| {
            before + span.first < planes.end && before + span.first + span.count > planes.start
        });
        reaching.flat_map(move |(plane, ..)| plane * rows.len()..(plane + 1) * rows.len())
    }

    /// The windows of a line, of all volumes'.
    #[inline(always)]
    pub(super) fn windows(&self, line: usize) -> impl Iterator<Item = Window> {
        let (first, plane, row) = self.part(line);
        let ([plane_stride, stride], channels) = (self.strides, self.channels);
        self.spans[2].iter().map(move |column| Window {
            first: first + column.first * channels,
            planes: plane.count,
            plane_stride,
            rows: row.count,
            stride,
            count: column.count,
        })
    }
}

#[cfg(test)]
mod tests {
    use kernlink_ops::shapes::{Axis, Padding};

    use super::*;

    #[test]
    fn windows_of_any_depth_are_folded_element_by_element() {
        let rows = Axis::new(5, 3, 2, 1, Padding::Same).unwrap();
        let columns = Axis::new(4, 2, 1, 1, Padding::Explicit((1, 2))).unwrap();
        for depth in [1, 15, 16, 31, 32, 35, 49, 64, 70] {
            let geometry = Geometry { batch: 1, rows, columns, depth };
            let image: Vec<i32> = (0..5 * 4 * depth as i32).map(|i| i * 7919 % 1009 - 504).collect();
            for (row, column) in (0..rows.output).flat_map(|row| (0..columns.output).map(move |column| (row, column))) {
                let mut sums = vec![0; depth];
                let mut pixels = 0;
                for (y, x) in (0..3).flat_map(|y| (0..2).map(move |x| (y, x))) {
                    let Some((y, x)) = rows.at(row, y).zip(columns.at(column, x)) else { continue };
                    pixels += 1;
                    let pixel = &image[(y * 4 + x) * depth..][..depth];
                    sums.iter_mut().zip(pixel).for_each(|(sum, element)| *sum += element);
                }
                let mut folded = vec![-1; depth];
                let window = Window::new(&geometry, row, column);
                window.fold(&image, &mut folded, 0, |a, b| a + b, |sum| sum);
                assert_eq!((window.pixels(), folded), (pixels, sums), "{depth} at {row}, {column}");
            }
        }
    }

    #[test]
    fn windows_of_volumes_see_what_their_taps_do() {
        let axes = [
            Axis::new(4, 3, 1, 1, Padding::Same).unwrap(),
            Axis::new(5, 2, 2, 1, Padding::Same).unwrap(),
            Axis::new(3, 2, 1, 1, Padding::Valid).unwrap(),
        ];
        for channels in [3, 49] {
            let windows = Windows { batch: 2, axes, channels };
            let lines = Lines::new(&windows).unwrap();
            assert!(!lines.cover_each_once(&windows));
            assert_eq!(lines.length(), 2 * channels);
            let volumes: Vec<i32> = (0..2 * 4 * 5 * 3 * channels as i32).map(|i| i * 7919 % 1009 - 504).collect();
            let mut window = 0;
            for line in 0..2 * 4 * 3 {
                let mut planes = Vec::new();
                for seen in lines.windows(line) {
                    let (volume, place) = windows.place(window);
                    let taps = (0..3).flat_map(|z| (0..2).flat_map(move |y| (0..2).map(move |x| [z, y, x])));
                    let pixels: Vec<usize> = taps.filter_map(|tap| windows.pixel(volume, place, tap)).collect();
                    planes.extend(pixels.iter().map(|pixel| pixel / 15));
                    assert_eq!(seen.pixels(), pixels.len());
                    let starts = pixels.iter().map(|at| at * channels);
                    assert_eq!(seen.pixel_starts(channels).collect::<Vec<_>>(), starts.collect::<Vec<_>>());
                    let mut folded = vec![-1; channels];
                    seen.fold(&volumes, &mut folded, 0, |a, b| a + b, |sum| sum);
                    let sum = |channel: usize| pixels.iter().map(|at| volumes[at * channels + channel]).sum::<i32>();
                    assert_eq!(folded, (0..channels).map(sum).collect::<Vec<_>>());
                    window += 1;
                }
                for from in 0..8 {
                    for to in from + 1..=8 {
                        let reaches = planes.iter().any(|plane| (from..to).contains(plane));
                        let found = lines.reaching(from..to).any(|other| other == line);
                        assert_eq!(found, reaches, "{line} in {from}..{to}");
                    }
                }
            }
        }
    }

    #[test]
    fn windows_side_by_side_cover_each_pixel_once() {
        let axis = |input, window, stride, padding| Axis::new(input, window, stride, 1, padding).unwrap();
        let row = axis(4, 2, 2, Padding::Valid);
        for (rows, covers) in [
            (row, true),
            (axis(5, 2, 2, Padding::Same), true),
            (axis(5, 2, 2, Padding::Valid), false),
            (axis(5, 2, 3, Padding::Valid), false),
            (axis(4, 2, 1, Padding::Valid), false),
        ] {
            let windows = Windows { batch: 1, axes: [row, rows, row], channels: 2 };
            assert_eq!(Lines::new(&windows).unwrap().cover_each_once(&windows), covers, "{rows:?}");
        }
    }
}
