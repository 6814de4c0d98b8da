//! Edges of blocks are smoothed (RFC 6386, section 15): sixteen places of an edge at a time.

use kernlink_kernels_common::widest;

use super::header::{Smoothing, Strength};
use super::lines::{Line, turned};
use super::plane::Plane;

/// Lines of a window in front of its first edge.
const BEFORE: usize = 8;

/// Which samples of an edge are changed, and by how much they may differ.
#[derive(Clone, Copy)]
struct Edge {
    kind: Kind,
    /// The bound on 2 |p0 - q0| + |p1 - q1| / 2, where p0 and q0 are beside the edge and p1 and q1 behind them.
    step: u8,
    /// As in [`Strength`].
    interior: u8,
    /// As in [`Strength`].
    detail: u8,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// One on each side.
    Simple,
    /// Three on each side.
    Outer,
    /// Two on each side.
    Inner,
}

/// The edges in a window: in front of its ninth line and of its thirteenth.
type Edges = [Option<Edge>; 2];

/// Smooths the edges of a window, which lie along its columns.
#[inline(always)]
fn smooth_columns(lines: [Line; 16], [first, second]: Edges) -> [Line; 16] {
    let mut lines = turned(lines);
    if let (Some(edge), Some(around)) = (first, lines[4..].first_chunk_mut()) {
        smooth_edge(around, edge);
    }
    if let (Some(edge), Some(around)) = (second, lines[8..].first_chunk_mut()) {
        smooth_edge(around, edge);
    }
    turned(lines)
}

/// Smooths the edge between the fourth and the fifth line.
#[inline(always)]
fn smooth_edge(lines: &mut [Line; 8], edge: Edge) {
    match edge.kind {
        Kind::Simple => simple(lines, edge),
        Kind::Outer => outer(lines, edge),
        Kind::Inner => inner(lines, edge),
    }
}

/// Where an edge between the fourth and the fifth line is a step that is smoothed.
#[inline(always)]
fn is_step(&[_, _, p1, p0, q0, q1, _, _]: &[Line; 8], edge: Edge) -> Line {
    let across = p0.difference(q0);
    across.plus(across).plus(p1.difference(q1).half()).at_most(Line::all(edge.step))
}

/// Where the samples on both sides of it are flat, too.
#[inline(always)]
fn is_flat(lines: &[Line; 8], edge: Edge) -> Line {
    let &[p3, p2, p1, p0, q0, q1, q2, q3] = lines;
    let left = p3.difference(p2).larger(p2.difference(p1)).larger(p1.difference(p0));
    let right = q1.difference(q0).larger(q2.difference(q1)).larger(q3.difference(q2));
    is_step(lines, edge).and(left.larger(right).at_most(Line::all(edge.interior)))
}

/// Where the samples beside it have no detail to keep.
#[inline(always)]
fn is_plain(&[_, _, p1, p0, q0, q1, _, _]: &[Line; 8], edge: Edge) -> Line {
    p1.difference(p0).larger(q1.difference(q0)).at_most(Line::all(edge.detail))
}

/// Three times the step across the edge on top of other numbers. A step that is too large for 8 bits itself is none that is smoothed.
#[inline(always)]
fn with_steps(other: Line, p0: Line, q0: Line) -> Line {
    let step = q0.moved_back(p0);
    other.moved(step).moved(step).moved(step)
}

/// What the samples beside an edge are moved by.
#[inline(always)]
fn changes(sum: Line) -> [Line; 2] {
    [sum.moved(Line::all(3)).eighth(), sum.moved(Line::all(4)).eighth()]
}

#[inline(always)]
fn simple(lines: &mut [Line; 8], edge: Edge) {
    let step = is_step(lines, edge);
    let [_, _, p1, p0, q0, q1, _, _] = *lines;
    let (p1, p0, q0, q1) = (p1.centred(), p0.centred(), q0.centred(), q1.centred());
    let [left, right] = changes(with_steps(p1.moved_back(q1), p0, q0).and(step));
    (lines[3], lines[4]) = (p0.moved(left).centred(), q0.moved_back(right).centred());
}

#[inline(always)]
fn outer(lines: &mut [Line; 8], edge: Edge) {
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

#[inline(always)]
fn inner(lines: &mut [Line; 8], edge: Edge) {
    let (flat, plain) = (is_flat(lines, edge), is_plain(lines, edge));
    let [_, _, p1, p0, q0, q1, _, _] = *lines;
    let (p1, p0, q0, q1) = (p1.centred(), p0.centred(), q0.centred(), q1.centred());
    let [left, right] = changes(with_steps(p1.moved_back(q1).and_not(plain), p0, q0).and(flat));
    let further = right.moved(Line::all(1)).signed_half().and(plain);
    lines[2] = p1.moved(further).centred();
    lines[3] = p0.moved(left).centred();
    lines[4] = q0.moved_back(right).centred();
    lines[5] = q1.moved_back(further).centred();
}

widest! {
    /// Smooths the edges of a macroblock. `has_inner` says whether those between its blocks are, too.
    pub(super) fn smooth_macroblock(
        planes: &mut [Plane; 3],
        place: [usize; 2],
        smoothing: Smoothing,
        strength: Strength,
        has_inner: bool,
    ) {
        let [row, column] = place;
        if strength.edge == 0 {
            return;
        }
        let is_simple = smoothing == Smoothing::Simple;
        let edge = |kind, step| {
            let kind = if is_simple { Kind::Simple } else { kind };
            Some(Edge { kind, step, interior: strength.interior, detail: strength.detail })
        };
        let outer = edge(Kind::Outer, strength.edge + 4);
        let inner = if has_inner { edge(Kind::Inner, strength.edge) } else { None };
        let [brightness, blue, red] = planes;
        // Edges between columns, then those between rows.
        let first = if column > 0 { outer } else { None };
        for (half, edges) in [(0, [first, inner]), (1, [inner, inner])] {
            if edges.iter().any(Option::is_some) {
                let at = brightness.at(16 * row, 16 * column + BEFORE * half);
                columns(brightness, at, edges);
            }
        }
        if !is_simple && (first.is_some() || inner.is_some()) {
            color_columns([&mut *blue, &mut *red], [8 * row, 8 * column], [first, inner]);
        }
        let first = if row > 0 { outer } else { None };
        for (k, edge) in [first, inner, inner, inner].into_iter().enumerate() {
            if let Some(edge) = edge {
                rows(brightness, brightness.at(16 * row + 4 * k, 16 * column), edge);
            }
        }
        for (k, edge) in [first, inner].into_iter().enumerate() {
            if let (false, Some(edge)) = (is_simple, edge) {
                color_rows([&mut *blue, &mut *red], [8 * row + 4 * k, 8 * column], edge);
            }
        }
    }
}

/// Reads, or writes, as many samples of each of some rows, which are so far apart. There are so many samples behind the last one, too: then
/// one comparison for each row is enough.
#[inline(always)]
fn each_row<const N: usize, const ROWS: usize>(
    samples: &mut [u8],
    stride: usize,
    mut work: impl FnMut(usize, &mut [u8; N]),
) {
    let mut rest = samples;
    for k in 0..ROWS {
        let Some((row, behind)) = rest.split_at_mut_checked(stride) else {
            debug_assert!(false, "a plane without a row behind the last");
            return;
        };
        if let Some(row) = row.first_chunk_mut() {
            work(k, row);
        }
        rest = behind;
    }
}

/// Smooths edges between columns of brightness, the first of which is in front of a sample.
#[inline(always)]
fn columns(plane: &mut Plane, at: usize, edges: Edges) {
    let (at, stride) = (at - BEFORE, plane.stride);
    let samples = &mut plane.samples[at..];
    let mut lines = [Line::all(0); 16];
    each_row::<16, 16>(samples, stride, |k, row| lines[k] = Line::load(row));
    lines = smooth_columns(lines, edges);
    each_row::<16, 16>(samples, stride, |k, row| lines[k].store(row));
}

/// Smooths the edge above a row of brightness.
#[inline(always)]
fn rows(plane: &mut Plane, at: usize, edge: Edge) {
    let (at, stride) = (at - 4 * plane.stride, plane.stride);
    let samples = &mut plane.samples[at..];
    let mut lines = [Line::all(0); 8];
    each_row::<16, 8>(samples, stride, |k, row| lines[k] = Line::load(row));
    smooth_edge(&mut lines, edge);
    each_row::<16, 6>(&mut samples[stride..], stride, |k, row| lines[k + 1].store(row));
}

/// Smooths edges between columns of both differences of colour.
#[inline(always)]
fn color_columns(planes: [&mut Plane; 2], [row, column]: [usize; 2], edges: Edges) {
    let mut lines = [Line::all(0); 16];
    let (at, stride) = (planes[0].at(row, column), planes[0].stride);
    let [blue, red] = planes.map(|plane| &mut plane.samples[at - BEFORE..]);
    each_row::<16, 8>(blue, stride, |k, row| lines[k] = Line::load(row));
    each_row::<16, 8>(red, stride, |k, row| lines[8 + k] = Line::load(row));
    lines = smooth_columns(lines, edges);
    each_row::<16, 8>(blue, stride, |k, row| lines[k].store(row));
    each_row::<16, 8>(red, stride, |k, row| lines[8 + k].store(row));
}

/// Smooths the edge above a row of both differences of colour.
#[inline(always)]
fn color_rows(planes: [&mut Plane; 2], [row, column]: [usize; 2], edge: Edge) {
    let (at, stride) = (planes[0].at(row, column), planes[0].stride);
    let [blue, red] = planes.map(|plane| &mut plane.samples[at - 4 * stride..]);
    let mut lines = [Line::all(0); 8];
    for (k, line) in lines.iter_mut().enumerate() {
        if let (Some(blue), Some(red)) = (blue[k * stride..].first_chunk(), red[k * stride..].first_chunk()) {
            *line = Line::load_halves([blue, red]);
        }
    }
    smooth_edge(&mut lines, edge);
    let mut both = [[0; 16]; 8];
    both.iter_mut().zip(lines).for_each(|(both, line)| line.store(both));
    each_row::<8, 6>(&mut blue[stride..], stride, |k, row| row.copy_from_slice(&both[k + 1][..8]));
    each_row::<8, 6>(&mut red[stride..], stride, |k, row| row.copy_from_slice(&both[k + 1][8..]));
}
