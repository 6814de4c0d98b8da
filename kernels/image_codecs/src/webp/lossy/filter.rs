//! Edges of blocks are smoothed (RFC 6386, section 15): sixteen or 32 places of an edge at a time.

use super::header::{Smoothing, Strength};
use super::lines::{Line, Lines, TwoLines};
use super::plane::{Plane, Rows};

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

/// The lines around an edge in a window: the first is in front of the ninth line, the second of the thirteenth.
#[inline(always)]
fn around<L>(lines: &mut [L; 16], edge: usize) -> &mut [L; 8] {
    match lines[4 + 4 * edge..].first_chunk_mut() {
        Some(around) => around,
        None => unreachable!(),
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
            smooth_by::<super::lines::Two>(planes, row, smoothing, smoothed);
        }
        // SAFETY: the processor has the feature.
        return unsafe { wide(planes, row, smoothing, smoothed) };
    }
    smooth_by::<[Line; 2]>(planes, row, smoothing, smoothed);
}

#[inline(always)]
fn smooth_by<L: TwoLines>(
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
fn smooth_normally<L: TwoLines>(
    [brightness, blue, red]: &mut [Plane; 3],
    [row, column]: [usize; 2],
    [outer_edge, inner_edge]: [Edge; 2],
    has_inner: bool,
) {
    let (at, color_at) = (brightness.at(16 * row, 16 * column), blue.at(8 * row, 8 * column));
    if column > 0 || has_inner {
        let mut rows = Both {
            brightness: brightness.rows_from::<16, 16>(at - BEFORE),
            colors: [blue.rows_from::<16, 8>(color_at - BEFORE), red.rows_from(color_at - BEFORE)],
        };
        let mut lines = [L::all(0); 16];
        for (k, line) in lines.iter_mut().enumerate() {
            *line = L::new([Line::load(rows.brightness.row(k)), Line::load(rows.colors[k / 8].row(k % 8))]);
        }
        let mut lines = L::turned(lines);
        if column > 0 {
            Outer::smooth(around(&mut lines, 0), outer_edge);
        }
        if has_inner {
            Inner::smooth(around(&mut lines, 1), inner_edge);
        }
        for (k, line) in L::turned(lines).into_iter().enumerate() {
            let [line, of_color] = line.lines();
            line.store(rows.brightness.row(k));
            of_color.store(rows.colors[k / 8].row(k % 8));
        }
    }
    if has_inner {
        columns::<L, Inner>(brightness, at + BEFORE, [Some(inner_edge); 2]);
    }
    if row > 0 {
        both_rows::<L, Outer>([&mut *brightness, &mut *blue, &mut *red], [at, color_at], outer_edge);
    }
    if has_inner {
        let below = [at + 4 * brightness.stride, color_at + 4 * blue.stride];
        both_rows::<L, Inner>([&mut *brightness, blue, red], below, inner_edge);
        rows::<Inner>(brightness, at + 8 * brightness.stride, inner_edge);
        rows::<Inner>(brightness, at + 12 * brightness.stride, inner_edge);
    }
}

/// Rows of brightness, and of both differences of colour.
struct Both<'a, const N: usize, const HALF: usize, const COUNT: usize, const COLOR_COUNT: usize> {
    brightness: Rows<'a, N, COUNT>,
    colors: [Rows<'a, HALF, COLOR_COUNT>; 2],
}

/// Smooths the edge above rows of all planes.
#[inline(always)]
fn both_rows<L: TwoLines, F: Filter>(planes: [&mut Plane; 3], [at, color_at]: [usize; 2], edge: Edge) {
    let [brightness, blue, red] = planes;
    let (at, color_at) = (at - 4 * brightness.stride, color_at - 4 * blue.stride);
    let mut rows = brightness.rows_from::<16, 8>(at);
    let (mut blue, mut red) = (blue.rows_from::<8, 8>(color_at), red.rows_from::<8, 8>(color_at));
    let mut lines = [L::all(0); 8];
    for (k, line) in lines.iter_mut().enumerate() {
        *line = L::new([Line::load(rows.row(k)), Line::load_halves([blue.row(k), red.row(k)])]);
    }
    F::smooth(&mut lines, edge);
    let [_, changed @ .., _] = lines;
    for (k, line) in (1..).zip(changed) {
        let [line, of_color] = line.lines();
        line.store(rows.row(k));
        of_color.store_halves([blue.row(k), red.row(k)]);
    }
}

/// The same edges of brightness only.
#[inline(always)]
fn smooth_simply<L: TwoLines>(
    plane: &mut Plane,
    [row, column]: [usize; 2],
    [outer, inner]: [Edge; 2],
    has_inner: bool,
) {
    let (at, stride) = (plane.at(16 * row, 16 * column), plane.stride);
    let inner = has_inner.then_some(inner);
    columns::<L, Simple>(plane, at, [(column > 0).then_some(outer), inner]);
    columns::<L, Simple>(plane, at + BEFORE, [inner; 2]);
    for (k, edge) in [(row > 0).then_some(outer), inner, inner, inner].into_iter().enumerate() {
        if let Some(edge) = edge {
            rows::<Simple>(plane, at + 4 * k * stride, edge);
        }
    }
}

/// Smooths two edges between columns of brightness, the first of which is in front of a sample.
#[inline(always)]
fn columns<L: TwoLines, F: Filter>(plane: &mut Plane, at: usize, edges: [Option<Edge>; 2]) {
    if edges.iter().all(Option::is_none) {
        return;
    }
    let mut rows = plane.rows_from::<16, 16>(at - BEFORE);
    let mut both = [L::all(0); 8];
    for (k, both) in both.iter_mut().enumerate() {
        *both = L::new([Line::load(rows.row(k)), Line::load(rows.row(k + 8))]);
    }
    let mut pairs = L::columns(both);
    let mut lines = [Line::all(0); 16];
    for (lines, pair) in lines.as_chunks_mut().0.iter_mut().zip(pairs) {
        *lines = pair.lines();
    }
    for (k, edge) in edges.into_iter().enumerate() {
        if let Some(edge) = edge {
            F::smooth(around(&mut lines, k), edge);
        }
    }
    for (&lines, pair) in lines.as_chunks().0.iter().zip(&mut pairs) {
        *pair = L::new(lines);
    }
    for (k, both) in L::rows(pairs).into_iter().enumerate() {
        let [first, second] = both.lines();
        first.store(rows.row(k));
        second.store(rows.row(k + 8));
    }
}

/// Smooths the edge above a row of brightness.
#[inline(always)]
fn rows<F: Filter>(plane: &mut Plane, at: usize, edge: Edge) {
    let mut rows = plane.rows_from::<16, 8>(at - 4 * plane.stride);
    let mut lines = [Line::all(0); 8];
    for (k, line) in lines.iter_mut().enumerate() {
        *line = Line::load(rows.row(k));
    }
    F::smooth(&mut lines, edge);
    let [_, changed @ .., _] = lines;
    for (k, line) in (1..).zip(changed) {
        line.store(rows.row(k));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Planes of two rows of three macroblocks, with steps and flat places.
    fn planes(seed: u32) -> [Plane; 3] {
        let mut x = seed;
        [2, 1, 1].map(|blocks| {
            let mut plane = Plane::new(16 * blocks, 24 * blocks).unwrap();
            for (k, sample) in plane.samples.iter_mut().enumerate() {
                x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = x >> (26 + (k / 40 + seed as usize) % 6);
                *sample = (100 + k / 4 % 3 * 20 + noise as usize) as u8;
            }
            plane
        })
    }

    fn smoothed(seed: u32, smooth: impl Fn(&mut [Plane; 3], usize, Smoothing, [Smoothed; 3])) -> Vec<Vec<u8>> {
        let mut planes = planes(seed);
        let smoothed = std::array::from_fn(|column| {
            let number = seed as usize * 7 + column * 5;
            let [edge, interior, detail] = [3, 5, 2].map(|step| (number * step % 64) as u8);
            Smoothed { strength: Strength { edge, interior, detail }, has_inner: !number.is_multiple_of(3) }
        });
        let smoothing = if seed.is_multiple_of(4) { Smoothing::Simple } else { Smoothing::Normal };
        (0..2).for_each(|row| smooth(&mut planes, row, smoothing, smoothed));
        planes.map(|plane| plane.samples.to_vec()).to_vec()
    }

    #[test]
    fn wide_lines_smooth_as_narrow_ones_do() {
        let mut changes = 0;
        for seed in 0..200 {
            let found = smoothed(seed, |planes, row, smoothing, smoothed| {
                smooth(planes, row, smoothing, smoothed.into_iter());
            });
            let expected = smoothed(seed, |planes, row, smoothing, smoothed| {
                smooth_by::<[Line; 2]>(planes, row, smoothing, smoothed.into_iter());
            });
            assert_eq!(found, expected, "{seed}");
            changes += usize::from(found != planes(seed).map(|plane| plane.samples.to_vec()));
        }
        assert!(changes > 190, "{changes}");
    }
}
