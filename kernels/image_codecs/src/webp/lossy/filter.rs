//! Edges of blocks are smoothed (RFC 6386, section 15): sixteen places of an edge at a time.

use kernlink_kernels_common::widest;

use super::header::{Smoothing, Strength};
use super::plane::Plane;
use super::window::{Lines, turned};

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

#[inline(always)]
fn tap(value: i16) -> i16 {
    value.clamp(-128, 127)
}

#[inline(always)]
fn sample(value: i16) -> u8 {
    value.clamp(0, 255) as u8
}

/// Smooths the edges of a window, which lie along its lines or, if it is turned for that, its columns.
#[inline(always)]
fn smooth(lines: &mut Lines, is_turned: bool, edges: Edges) {
    if is_turned {
        *lines = turned(*lines);
    }
    if let Some(edge) = edges[0] {
        smooth_edge(lines.first_chunk_mut::<12>().and_then(|lines| lines.last_chunk_mut()), edge);
    }
    if let Some(edge) = edges[1] {
        smooth_edge(lines.last_chunk_mut(), edge);
    }
    if is_turned {
        *lines = turned(*lines);
    }
}

/// Smooths the edge between the fourth and the fifth line.
#[inline(always)]
fn smooth_edge(lines: Option<&mut [[u8; 16]; 8]>, edge: Edge) {
    let Some(lines) = lines else { return };
    match edge.kind {
        Kind::Simple => each_place(lines, |around| simple(around, edge)),
        Kind::Outer => each_place(lines, |around| outer(around, edge)),
        Kind::Inner => each_place(lines, |around| inner(around, edge)),
    }
}

#[inline(always)]
fn each_place(lines: &mut [[u8; 16]; 8], smoothed: impl Fn([i16; 8]) -> [u8; 6]) {
    let mut outcome = [[0u8; 16]; 6];
    for place in 0..16 {
        let mut around = [0; 8];
        for k in 0..8 {
            around[k] = i16::from(lines[k][place]);
        }
        let new = smoothed(around);
        for k in 0..6 {
            outcome[k][place] = new[k];
        }
    }
    lines[1..7].copy_from_slice(&outcome);
}

#[inline(always)]
fn is_step(p1: i16, p0: i16, q0: i16, q1: i16, edge: Edge) -> bool {
    4 * (p0 - q0).abs() + (p1 - q1).abs() <= 2 * i16::from(edge.step) + 1
}

#[inline(always)]
fn is_flat([p3, p2, p1, p0, q0, q1, q2, q3]: [i16; 8], edge: Edge) -> bool {
    let differences = [p3 - p2, p2 - p1, p1 - p0, q1 - q0, q2 - q1, q3 - q2];
    let mut most = 0;
    for difference in differences {
        most = difference.abs().max(most);
    }
    is_step(p1, p0, q0, q1, edge) & (most <= i16::from(edge.interior))
}

#[inline(always)]
fn has_detail(p1: i16, p0: i16, q0: i16, q1: i16, edge: Edge) -> bool {
    (p1 - p0).abs().max((q1 - q0).abs()) > i16::from(edge.detail)
}

/// What the samples beside an edge change by, of a tap.
#[inline(always)]
fn changes(tap_of: i16) -> [i16; 2] {
    [tap(tap_of + 3) >> 3, tap(tap_of + 4) >> 3]
}

#[inline(always)]
fn simple([_, p2, p1, p0, q0, q1, q2, _]: [i16; 8], edge: Edge) -> [u8; 6] {
    let [left, right] = changes(tap(3 * (q0 - p0) + tap(p1 - q1)));
    let keep = if is_step(p1, p0, q0, q1, edge) { -1 } else { 0 };
    [p2 as u8, p1 as u8, sample(p0 + (left & keep)), sample(q0 - (right & keep)), q1 as u8, q2 as u8]
}

#[inline(always)]
fn outer(around: [i16; 8], edge: Edge) -> [u8; 6] {
    let [_, p2, p1, p0, q0, q1, q2, _] = around;
    let all = tap(3 * (q0 - p0) + tap(p1 - q1));
    let [left, right] = changes(all);
    let flat = if is_flat(around, edge) { -1i16 } else { 0 };
    let detail = if has_detail(p1, p0, q0, q1, edge) { -1i16 } else { 0 };
    let part = |factor: i16| ((factor * all + 63) >> 7) & flat & !detail;
    let (first, second, third) = (part(27), part(18), part(9));
    let (left, right) = (left & flat & detail, right & flat & detail);
    [
        sample(p2 + third),
        sample(p1 + second),
        sample(p0 + first + left),
        sample(q0 - first - right),
        sample(q1 - second),
        sample(q2 - third),
    ]
}

#[inline(always)]
fn inner(around: [i16; 8], edge: Edge) -> [u8; 6] {
    let [_, p2, p1, p0, q0, q1, q2, _] = around;
    let flat = if is_flat(around, edge) { -1i16 } else { 0 };
    let detail = if has_detail(p1, p0, q0, q1, edge) { -1i16 } else { 0 };
    let [left, right] = changes(tap(3 * (q0 - p0) + (tap(p1 - q1) & detail))).map(|change| change & flat);
    let further = ((right + 1) >> 1) & !detail;
    [p2 as u8, sample(p1 + further), sample(p0 + left), sample(q0 - right), sample(q1 - further), q2 as u8]
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
    for (is_turned, place) in [(true, column), (false, row)] {
        let first = if place > 0 { outer } else { None };
        for (half, edges) in [(0, [first, inner]), (1, [inner, inner])] {
            if edges.iter().all(Option::is_none) {
                continue;
            }
            let (down, across) = if is_turned { (0, half) } else { (half, 0) };
            let at = brightness.at(16 * row + BEFORE * down, 16 * column + BEFORE * across);
            window(brightness, at, is_turned, edges);
        }
        if !is_simple && (first.is_some() || inner.is_some()) {
            colors([blue, red], [8 * row, 8 * column], is_turned, [first, inner]);
        }
    }
}
}

/// Reads, or writes, as many samples of each of some rows, which are so far apart.
#[inline(always)]
fn each_row<const N: usize, const ROWS: usize>(
    samples: &mut [u8],
    stride: usize,
    mut work: impl FnMut(usize, &mut [u8; N]),
) {
    for k in 0..ROWS {
        if let Some(row) = samples[k * stride..].first_chunk_mut() {
            work(k, row);
        }
    }
}

/// Smooths a window of brightness, whose first edge is in front of a sample.
#[inline(always)]
fn window(plane: &mut Plane, at: usize, is_turned: bool, edges: Edges) {
    let (at, stride) = (at - if is_turned { BEFORE } else { BEFORE * plane.stride }, plane.stride);
    let samples = &mut plane.samples[at..];
    let mut lines: Lines = [[0; 16]; 16];
    each_row::<16, 16>(samples, stride, |k, row| lines[k] = *row);
    smooth(&mut lines, is_turned, edges);
    each_row::<16, 16>(samples, stride, |k, row| *row = lines[k]);
}

/// Smooths windows of both differences of colour side by side.
#[inline(always)]
fn colors(planes: [&mut Plane; 2], [row, column]: [usize; 2], is_turned: bool, edges: Edges) {
    let mut lines: Lines = [[0; 16]; 16];
    let (at, stride) = (planes[0].at(row, column), planes[0].stride);
    let [blue, red] = planes.map(|plane| &mut plane.samples[at - if is_turned { BEFORE } else { BEFORE * stride }..]);
    if is_turned {
        each_row::<16, 8>(blue, stride, |k, row| lines[k] = *row);
        each_row::<16, 8>(red, stride, |k, row| lines[8 + k] = *row);
        smooth(&mut lines, is_turned, edges);
        each_row::<16, 8>(blue, stride, |k, row| *row = lines[k]);
        each_row::<16, 8>(red, stride, |k, row| *row = lines[8 + k]);
    } else {
        each_row::<8, 16>(blue, stride, |k, row| lines[k][..8].copy_from_slice(row));
        each_row::<8, 16>(red, stride, |k, row| lines[k][8..].copy_from_slice(row));
        smooth(&mut lines, is_turned, edges);
        each_row::<8, 16>(blue, stride, |k, row| row.copy_from_slice(&lines[k][..8]));
        each_row::<8, 16>(red, stride, |k, row| row.copy_from_slice(&lines[k][8..]));
    }
}
