//! Edges of blocks are smoothed (RFC 6386, section 15): sixteen or 32 places of an edge at a time.

use super::header::{Smoothing, Strength};
use super::lines::{Line, LinePair, Lines};
use super::plane::Plane;

/// Samples of a window in front of its first edge.
const BEFORE: usize = 8;

/// By how much the samples around an edge may differ.
#[derive(Clone, Copy)]
struct Edge {
    /// The bound on 2 |p0 - q0| + |p1 - q1| / 2, where p0 and q0 are beside the edge and p1 and q1 behind them.
    step: u8,
    /// As in [`Strength`].
    interior: u8,
    /// As in [`Strength`].
    detail: u8,
}

/// Changes the samples on both sides of the edge between the fourth and the fifth line.
trait Filter {
    fn smooth<L: Lines>(lines: &mut [L; 8], edge: Edge);
}

/// Smooths one of the edges in a window of sixteen lines: the first is in front of the ninth line, the second of the thirteenth.
#[inline(always)]
fn smooth_within<F: Filter, L: Lines>(lines: &mut [L; 16], index: usize, edge: Edge) {
    if let Some(around) = lines[4 + 4 * index..].first_chunk_mut() {
        F::smooth(around, edge);
    }
}

/// Where an edge between the fourth and the fifth line is a step that is smoothed.
#[inline(always)]
fn is_step<L: Lines>(&[_, _, p1, p0, q0, q1, _, _]: &[L; 8], edge: Edge) -> L {
    let across = p0.difference(q0);
    across.plus(across).plus(p1.difference(q1).half()).at_most(L::all(edge.step))
}

/// Where the samples on both sides of it are flat, too.
#[inline(always)]
fn is_flat<L: Lines>(lines: &[L; 8], edge: Edge) -> L {
    let &[p3, p2, p1, p0, q0, q1, q2, q3] = lines;
    let left = p3.difference(p2).larger(p2.difference(p1)).larger(p1.difference(p0));
    let right = q1.difference(q0).larger(q2.difference(q1)).larger(q3.difference(q2));
    is_step(lines, edge).and(left.larger(right).at_most(L::all(edge.interior)))
}

/// Where the samples beside it have no detail to keep.
#[inline(always)]
fn is_plain<L: Lines>(&[_, _, p1, p0, q0, q1, _, _]: &[L; 8], edge: Edge) -> L {
    p1.difference(p0).larger(q1.difference(q0)).at_most(L::all(edge.detail))
}

/// Three times the step across the edge on top of other numbers. A step that is too large for 8 bits itself is none that is smoothed.
#[inline(always)]
fn with_steps<L: Lines>(other: L, p0: L, q0: L) -> L {
    let step = q0.moved_back(p0);
    other.moved(step).moved(step).moved(step)
}

/// What the samples beside an edge are moved by.
#[inline(always)]
fn changes<L: Lines>(sum: L) -> [L; 2] {
    [sum.moved(L::all(3)).eighth(), sum.moved(L::all(4)).eighth()]
}

/// One sample on each side.
struct Simple;

impl Filter for Simple {
    #[inline(always)]
    fn smooth<L: Lines>(lines: &mut [L; 8], edge: Edge) {
        let step = is_step(lines, edge);
        let [_, _, p1, p0, q0, q1, _, _] = *lines;
        let (p1, p0, q0, q1) = (p1.centred(), p0.centred(), q0.centred(), q1.centred());
        let [left, right] = changes(with_steps(p1.moved_back(q1), p0, q0).and(step));
        (lines[3], lines[4]) = (p0.moved(left).centred(), q0.moved_back(right).centred());
    }
}

/// Three samples on each side.
struct Outer;

impl Filter for Outer {
    #[inline(always)]
    fn smooth<L: Lines>(lines: &mut [L; 8], edge: Edge) {
        let (flat, plain) = (is_flat(lines, edge), is_plain(lines, edge));
        let [_, p2, p1, p0, q0, q1, q2, _] = *lines;
        let (p2, p1, p0) = (p2.centred(), p1.centred(), p0.centred());
        let (q0, q1, q2) = (q0.centred(), q1.centred(), q2.centred());
        let sum = with_steps(p1.moved_back(q1), p0, q0).and(flat);
        let [left, right] = changes(sum.and_not(plain));
        let [first, second, third] = sum.and(plain).parts();
        // Of what is joined, one is 0.
        lines[1] = p2.moved(third).centred();
        lines[2] = p1.moved(second).centred();
        lines[3] = p0.moved(first.or(left)).centred();
        lines[4] = q0.moved_back(first.or(right)).centred();
        lines[5] = q1.moved_back(second).centred();
        lines[6] = q2.moved_back(third).centred();
    }
}

/// Two samples on each side.
struct Inner;

impl Filter for Inner {
    #[inline(always)]
    fn smooth<L: Lines>(lines: &mut [L; 8], edge: Edge) {
        let (flat, plain) = (is_flat(lines, edge), is_plain(lines, edge));
        let [_, _, p1, p0, q0, q1, _, _] = *lines;
        let (p1, p0, q0, q1) = (p1.centred(), p0.centred(), q0.centred(), q1.centred());
        let [left, right] = changes(with_steps(p1.moved_back(q1).and_not(plain), p0, q0).and(flat));
        let further = right.moved(L::all(1)).signed_half().and(plain);
        lines[2] = p1.moved(further).centred();
        lines[3] = p0.moved(left).centred();
        lines[4] = q0.moved_back(right).centred();
        lines[5] = q1.moved_back(further).centred();
    }
}

/// How a macroblock's edges are smoothed.
#[derive(Clone, Copy, Default)]
pub(super) struct Smoothed {
    pub(super) strength: Strength,
    /// Whether the edges between its blocks are, too.
    pub(super) has_inner: bool,
}

/// Smooths the edges of a row of macroblocks.
pub(super) fn smooth(
    planes: &mut [Plane; 3],
    row: usize,
    smoothing: Smoothing,
    smoothed: impl Iterator<Item = Smoothed>,
) {
    #[cfg(target_arch = "x86_64")]
    if crate::lanes::are_two() {
        #[target_feature(enable = "avx2")]
        fn wide(planes: &mut [Plane; 3], row: usize, smoothing: Smoothing, smoothed: impl Iterator<Item = Smoothed>) {
            smooth_by::<super::lines::WidePair>(planes, row, smoothing, smoothed);
        }
        // SAFETY: the processor has the feature.
        return unsafe { wide(planes, row, smoothing, smoothed) };
    }
    smooth_by::<[Line; 2]>(planes, row, smoothing, smoothed);
}

#[inline(always)]
fn smooth_by<L: LinePair>(
    planes: &mut [Plane; 3],
    row: usize,
    smoothing: Smoothing,
    smoothed: impl Iterator<Item = Smoothed>,
) {
    for (column, Smoothed { strength, has_inner }) in smoothed.enumerate() {
        if strength.edge == 0 {
            continue;
        }
        let edge = |step| Edge { step, interior: strength.interior, detail: strength.detail };
        let edges = [edge(strength.edge + 4), edge(strength.edge)];
        match smoothing {
            Smoothing::Simple => smooth_simply::<L>(&mut planes[0], [row, column], edges, has_inner),
            Smoothing::Normal => smooth_normally::<L>(planes, [row, column], edges, has_inner),
        }
    }
}

/// Edges between columns, then those between rows; of both, the outer one first.
#[inline(always)]
fn smooth_normally<L: LinePair>(
    [brightness, blue, red]: &mut [Plane; 3],
    [row, column]: [usize; 2],
    [outer, inner]: [Edge; 2],
    has_inner: bool,
) {
    let (at, color_at) = (brightness.at(16 * row, 16 * column), blue.at(8 * row, 8 * column));
    if column > 0 || has_inner {
        let mut window = brightness.window::<16, 16>(at - BEFORE);
        let mut colors = [blue.window::<16, 8>(color_at - BEFORE), red.window(color_at - BEFORE)];
        let mut lines = [L::all(0); 16];
        for (k, line) in lines.iter_mut().enumerate() {
            *line = L::new([Line::load(window.row(k)), Line::load(colors[k / 8].row(k % 8))]);
        }
        let mut lines = L::transposed(lines);
        if column > 0 {
            smooth_within::<Outer, _>(&mut lines, 0, outer);
        }
        if has_inner {
            smooth_within::<Inner, _>(&mut lines, 1, inner);
        }
        for (k, line) in L::transposed(lines).into_iter().enumerate() {
            let [line, of_color] = line.lines();
            line.store(window.row(k));
            of_color.store(colors[k / 8].row(k % 8));
        }
    }
    if has_inner {
        smooth_column_edges::<L, Inner>(brightness, at + BEFORE, [Some(inner); 2]);
    }
    let stride = brightness.stride;
    if row > 0 {
        smooth_row_edge_of_all::<L, Outer>([brightness, blue, red], [at, color_at], outer);
    }
    if has_inner {
        let below = [at + 4 * stride, color_at + 4 * blue.stride];
        smooth_row_edge_of_all::<L, Inner>([brightness, blue, red], below, inner);
        smooth_row_edge::<Inner>(brightness, at + 8 * stride, inner);
        smooth_row_edge::<Inner>(brightness, at + 12 * stride, inner);
    }
}

/// The same edges of brightness only.
#[inline(always)]
fn smooth_simply<L: LinePair>(
    plane: &mut Plane,
    [row, column]: [usize; 2],
    [outer, inner]: [Edge; 2],
    has_inner: bool,
) {
    let (at, stride) = (plane.at(16 * row, 16 * column), plane.stride);
    let inner = has_inner.then_some(inner);
    smooth_column_edges::<L, Simple>(plane, at, [(column > 0).then_some(outer), inner]);
    smooth_column_edges::<L, Simple>(plane, at + BEFORE, [inner; 2]);
    for (k, edge) in [(row > 0).then_some(outer), inner, inner, inner].into_iter().enumerate() {
        if let Some(edge) = edge {
            smooth_row_edge::<Simple>(plane, at + 4 * k * stride, edge);
        }
    }
}

/// Smooths two edges between columns of brightness, the first of which is in front of a sample.
#[inline(always)]
fn smooth_column_edges<L: LinePair, F: Filter>(plane: &mut Plane, at: usize, edges: [Option<Edge>; 2]) {
    if edges.iter().all(Option::is_none) {
        return;
    }
    let mut window = plane.window::<16, 16>(at - BEFORE);
    let mut rows = [L::all(0); 8];
    for (k, rows) in rows.iter_mut().enumerate() {
        *rows = L::new([Line::load(window.row(k)), Line::load(window.row(k + 8))]);
    }
    let mut pairs = L::pairs_transposed(rows);
    let mut lines = [Line::all(0); 16];
    for (lines, pair) in lines.as_chunks_mut().0.iter_mut().zip(pairs) {
        *lines = pair.lines();
    }
    for (index, edge) in edges.into_iter().enumerate() {
        if let Some(edge) = edge {
            smooth_within::<F, _>(&mut lines, index, edge);
        }
    }
    for (&lines, pair) in lines.as_chunks().0.iter().zip(&mut pairs) {
        *pair = L::new(lines);
    }
    for (k, rows) in L::pairs_transposed_back(pairs).into_iter().enumerate() {
        let [first, second] = rows.lines();
        first.store(window.row(k));
        second.store(window.row(k + 8));
    }
}

/// Smooths the edge above a row of brightness.
#[inline(always)]
fn smooth_row_edge<F: Filter>(plane: &mut Plane, at: usize, edge: Edge) {
    let mut window = plane.window::<16, 8>(at - 4 * plane.stride);
    let mut lines = [Line::all(0); 8];
    for (k, line) in lines.iter_mut().enumerate() {
        *line = Line::load(window.row(k));
    }
    F::smooth(&mut lines, edge);
    let [_, changed @ .., _] = lines;
    for (k, line) in (1..).zip(changed) {
        line.store(window.row(k));
    }
}

/// Smooths the edge above a row of brightness, and that above a row of both differences of colour.
#[inline(always)]
fn smooth_row_edge_of_all<L: LinePair, F: Filter>(
    [brightness, blue, red]: [&mut Plane; 3],
    [at, color_at]: [usize; 2],
    edge: Edge,
) {
    let color_at = color_at - 4 * blue.stride;
    let mut window = brightness.window::<16, 8>(at - 4 * brightness.stride);
    let (mut blue, mut red) = (blue.window::<8, 8>(color_at), red.window::<8, 8>(color_at));
    let mut lines = [L::all(0); 8];
    for (k, line) in lines.iter_mut().enumerate() {
        *line = L::new([Line::load(window.row(k)), Line::load_halves([blue.row(k), red.row(k)])]);
    }
    F::smooth(&mut lines, edge);
    let [_, changed @ .., _] = lines;
    for (k, line) in (1..).zip(changed) {
        let [line, of_color] = line.lines();
        line.store(window.row(k));
        of_color.store_halves([blue.row(k), red.row(k)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Smooth = fn(&mut [Plane; 3], usize, Smoothing, &[Smoothed]);

    /// Numbers below others, which seem to be drawn.
    fn drawn(seed: u64) -> impl FnMut(usize) -> usize {
        let mut x = seed;
        move |below| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) as usize % below
        }
    }

    /// Planes of some macroblocks, with steps between flat places and noise, of which a filter has smoothed all rows.
    fn smoothed(seed: u64, smooth: Smooth) -> [Vec<u8>; 3] {
        let mut below = drawn(seed);
        let (rows, columns) = (1 + below(3), 1 + below(4));
        let (step, noise) = (below(130), [2, 4, 8, 20, 60, 200][below(6)]);
        let mut planes = [16, 8, 8].map(|size| {
            let mut plane = Plane::new(size * rows, size * columns).unwrap();
            let (stride, first) = (plane.stride, below(256));
            for (k, sample) in plane.samples.iter_mut().enumerate() {
                let level = first + (k % stride / 4 + k / stride / 4) % 3 * step;
                *sample = (level + below(noise)).min(255) as u8;
            }
            plane
        });
        let smoothing = if below(3) == 0 { Smoothing::Simple } else { Smoothing::Normal };
        for row in 0..rows {
            let smoothed: Vec<Smoothed> = (0..columns)
                .map(|_| {
                    let edge = if below(5) == 0 { 0 } else { below(190) };
                    let [edge, interior, detail] = [edge, 1 + below(63), below(3)].map(|number| number as u8);
                    Smoothed { strength: Strength { edge, interior, detail }, has_inner: below(2) == 0 }
                })
                .collect();
            smooth(&mut planes, row, smoothing, &smoothed);
        }
        planes.map(|plane| plane.samples.to_vec())
    }

    /// Smooths an edge as section 15 of the RFC does, sample by sample: `across` is how far those on both sides are from each other, and
    /// `along` those of the next place.
    fn smooth_edge(samples: &mut [u8], at: usize, [across, along]: [usize; 2], count: usize, kind: u8, edge: Edge) {
        let clamped = |x: i32| x.clamp(-128, 127);
        for place in 0..count {
            let start = at + place * along - 4 * across;
            let [p3, p2, p1, p0, q0, q1, q2, q3] =
                [0, 1, 2, 3, 4, 5, 6, 7].map(|k| i32::from(samples[start + k * across]) - 128);
            let is_step = 2 * (p0 - q0).abs() + (p1 - q1).abs() / 2 <= i32::from(edge.step);
            let neighbours = [[p3, p2], [p2, p1], [p1, p0], [q0, q1], [q1, q2], [q2, q3]];
            let is_flat = neighbours.iter().all(|[a, b]| (a - b).abs() <= i32::from(edge.interior));
            let is_plain = [p1 - p0, q1 - q0].iter().all(|x| x.abs() <= i32::from(edge.detail));
            if !is_step || kind != 0 && !is_flat {
                continue;
            }
            let sum = clamped(3 * (q0 - p0) + if kind == 2 && is_plain { 0 } else { clamped(p1 - q1) });
            let (left, right) = (clamped(sum + 3) >> 3, clamped(sum + 4) >> 3);
            let changes = match (kind, is_plain) {
                (1, true) => [9, 18, 27].map(|part| (part * sum + 63) >> 7).map(|x| [x, x]),
                (2, true) => [[0, 0], [(right + 1) >> 1; 2], [left, right]],
                _ => [[0, 0], [0, 0], [left, right]],
            };
            let sides = [[p2, q2], [p1, q1], [p0, q0]];
            for (k, ([p, q], [left, right])) in sides.into_iter().zip(changes).enumerate() {
                samples[start + (1 + k) * across] = (clamped(p + left) + 128) as u8;
                samples[start + (6 - k) * across] = (clamped(q - right) + 128) as u8;
            }
        }
    }

    /// [`smooth`] sample by sample, in the order of the RFC.
    fn smooth_samples(planes: &mut [Plane; 3], row: usize, smoothing: Smoothing, smoothed: &[Smoothed]) {
        let (kinds, planes) = match smoothing {
            Smoothing::Simple => ([0, 0], &mut planes[..1]),
            Smoothing::Normal => ([1, 2], &mut planes[..]),
        };
        for (column, Smoothed { strength, has_inner }) in smoothed.iter().enumerate() {
            let edge = |step| Edge { step, interior: strength.interior, detail: strength.detail };
            for (plane, size) in planes.iter_mut().zip([16, 8, 8]) {
                let (at, stride) = (plane.at(size * row, size * column), plane.stride);
                for (place, strides) in [(column, [1, stride]), (row, [stride, 1])] {
                    let inner = if *has_inner { size } else { 0 };
                    if place > 0 && strength.edge > 0 {
                        smooth_edge(&mut plane.samples, at, strides, size, kinds[0], edge(strength.edge + 4));
                    }
                    for k in (4..inner).step_by(4).filter(|_| strength.edge > 0) {
                        smooth_edge(
                            &mut plane.samples,
                            at + k * strides[0],
                            strides,
                            size,
                            kinds[1],
                            edge(strength.edge),
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn edges_are_smoothed_as_the_rfc_says() {
        let mut changes = 0;
        for seed in 0..500 {
            let expected = smoothed(seed, smooth_samples);
            let by_any: Smooth = |planes, row, kind, smoothed| smooth(planes, row, kind, smoothed.iter().copied());
            let by_two: Smooth =
                |planes, row, kind, smoothed| smooth_by::<[Line; 2]>(planes, row, kind, smoothed.iter().copied());
            assert!(self::smoothed(seed, by_any) == expected, "{seed}");
            assert!(self::smoothed(seed, by_two) == expected, "{seed}");
            changes += usize::from(expected != self::smoothed(seed, |_, _, _, _| ()));
        }
        assert!(changes > 300, "{changes}");
    }
}
