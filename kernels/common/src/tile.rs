//! The innermost loop of products of `f32`, pairs of `bf16` and 8-bit integers: a tile of the result in registers, rows of the
//! left operand wherever they lie in memory, the right operand packed into panels.
//!
//! A row of the left operand is a list of segments of equal length, each behind a pointer of its own. One segment
//! makes an ordinary matrix; one segment for each tap of a filter makes a convolution that copies nothing.

use crate::epilogue::Epilogue;
use crate::single;

/// Rows of a tile.
pub const ROWS: usize = 6;
/// Columns of a tile, and of a panel.
pub const COLUMNS: usize = 16;

/// For one segment, where it begins in each row of a tile.
pub type Segment = [*const f32; ROWS];

/// What the 32 bits of an element of an operand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// An `f32`.
    Float,
    /// Two `bf16`, whose products are added as `f32`, without an epilogue. AVX512-BF16 is needed.
    Pair,
    /// Four bytes, unsigned ones of the left operand and signed ones of the right, whose products are added as `i32`; what is
    /// written are such sums, to which no epilogue applies. AVX512-VNNI is needed.
    Bytes,
}

/// Whether this processor multiplies [`Words::Bytes`].
pub(crate) fn has_bytes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx512vnni") && std::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The rows of a left operand, their right operand and where the products go.
#[derive(Clone, Copy)]
pub struct Strip<'a> {
    /// For each tile of [`ROWS`] rows, the `per_row` segments of its rows. The last tile may have fewer rows.
    pub segments: &'a [Segment],
    /// Segments of a row.
    pub per_row: usize,
    /// Elements of a segment.
    pub length: usize,
    /// Rows in all.
    pub rows: usize,
    /// The right operand, from the first wanted panel on: [`COLUMNS`] elements of each row of a panel.
    pub panels: &'a [f32],
    /// Elements from row to row of a panel: [`COLUMNS`] if it is packed.
    pub panel_stride: usize,
    /// Elements from panel to panel.
    pub next_panel: usize,
    /// Elements from row to row of the result.
    pub stride: usize,
    /// Columns that are wanted: all of each panel but the last, of which it may be fewer.
    pub columns: usize,
    /// Whether the products are added to what is there.
    pub accumulate: bool,
    /// What the elements are.
    pub words: Words,
    /// What is done to the sums, whose first column is its first channel.
    pub epilogue: Epilogue<'a, f32>,
}

/// Rows of the panels that are multiplied at a time, so that they stay in a near cache while all tiles pass. The products of each
/// time are summed by themselves, from zero on: one sum of all would lose more digits.
const DEPTH: usize = 256;

/// Writes rows times panels to `c`, tile by tile.
///
/// # Safety
/// `segments` holds `per_row` segments for each tile; each pointer of a row in `rows` is followed by `length`
/// elements; the elements of `c` that `rows`, `stride` and `columns` say exist and nothing else accesses them meanwhile.
///
/// # Panics
/// If the panels are not as large as the strip says.
pub unsafe fn multiply(strip: &Strip<'_>, c: *mut f32) {
    let (rows, panels) = (strip.per_row * strip.length, strip.columns.div_ceil(COLUMNS));
    if rows == 0 || panels == 0 {
        return;
    }
    let last = (panels - 1) * strip.next_panel + (rows - 1) * strip.panel_stride + COLUMNS;
    assert!(strip.panels.len() >= last, "panels that are too small");
    assert!(strip.epilogue.covers(strip.rows, strip.columns, strip.stride), "an epilogue that is too small");
    #[cfg(target_arch = "x86_64")]
    {
        match strip.words {
            Words::Float => {}
            Words::Pair => {
                assert!(single::has_pairs(), "a processor that does not multiply pairs");
                assert!(strip.epilogue.is_empty(), "an epilogue of pairs");
                // SAFETY: the processor has the features; the rest is the caller's promise.
                return unsafe { multiply_pairs(strip, c) };
            }
            Words::Bytes => {
                assert!(has_bytes(), "a processor that does not multiply bytes");
                assert!(strip.epilogue.is_empty(), "an epilogue of integers");
                // SAFETY: the processor has the features; the rest is the caller's promise.
                return unsafe { multiply_bytes(strip, c) };
            }
        }
        if std::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has the feature; the rest is the caller's promise.
            return unsafe { multiply_avx512(strip, c) };
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the features; the rest is the caller's promise.
            return unsafe { multiply_avx2(strip, c) };
        }
    }
    assert!(strip.words == Words::Float, "a processor that multiplies floats alone");
    // SAFETY: the caller's promise.
    unsafe { each_depth(strip, c, 1, |part, c| each_tile::<false>(part, c)) }
}

/// # Safety
/// As [`multiply`]; the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn multiply_avx512(strip: &Strip<'_>, c: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { each_depth(strip, c, PANELS, |part, c| avx512::each_tile(part, c)) }
}

/// # Safety
/// As [`multiply`]; the processor has AVX-512 and AVX512-BF16.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn multiply_pairs(strip: &Strip<'_>, c: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { each_depth(strip, c, PANELS, |part, c| avx512_pairs::each_tile(part, c)) }
}

/// # Safety
/// As [`multiply`]; the processor has AVX-512 and AVX512-VNNI.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn multiply_bytes(strip: &Strip<'_>, c: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { each_depth(strip, c, PANELS, |part, c| avx512_bytes::each_tile(part, c)) }
}

/// # Safety
/// As [`multiply`]; the processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn multiply_avx2(strip: &Strip<'_>, c: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { each_depth(strip, c, 1, |part, c| each_tile::<true>(part, c)) }
}

/// Some rows of some panels, by all tiles.
#[derive(Clone)]
struct Part<'a> {
    strip: &'a Strip<'a>,
    /// The segments of each row.
    segments: std::ops::Range<usize>,
    /// The elements of each segment.
    elements: std::ops::Range<usize>,
    /// The first of the rows in the first panel.
    panel: *const f32,
    /// Columns that are wanted.
    columns: usize,
    accumulate: bool,
    /// What is done when these rows of the panels are the last.
    epilogue: Epilogue<'a, f32>,
    /// The first of the rows that are multiplied next, to be fetched meanwhile.
    next: *const f32,
}

/// Calls `work` for `width` panels at a time and for parts of their rows, each after the one before.
///
/// # Safety
/// As [`multiply`], and `work` needs nothing more of what it is given.
#[inline(always)]
unsafe fn each_depth(strip: &Strip<'_>, c: *mut f32, width: usize, work: impl Fn(&Part<'_>, *mut f32)) {
    let panels = strip.columns.div_ceil(COLUMNS);
    for first in (0..panels).step_by(width) {
        let columns = (strip.columns - first * COLUMNS).min(width * COLUMNS);
        let panel = strip.panels.as_ptr().wrapping_add(first * strip.next_panel);
        let c = c.wrapping_add(first * COLUMNS);
        let part = Part {
            strip,
            segments: 0..strip.per_row,
            elements: 0..strip.length,
            panel,
            columns,
            accumulate: strip.accumulate,
            epilogue: Epilogue::default(),
            next: std::ptr::null(),
        };
        let after =
            if first + width < panels { panel.wrapping_add(width * strip.next_panel) } else { std::ptr::null() };
        let epilogue =
            |is_last: bool| if is_last { strip.epilogue.from_column(first * COLUMNS) } else { Epilogue::default() };
        // Whole segments, or parts of one if they are long.
        if strip.length >= DEPTH {
            let pieces = strip.length.div_ceil(DEPTH + DEPTH / 2);
            for segment in 0..strip.per_row {
                for piece in 0..pieces {
                    let elements = piece * strip.length / pieces..(piece + 1) * strip.length / pieces;
                    let row = segment * strip.length + elements.start;
                    let panel = panel.wrapping_add(row * strip.panel_stride);
                    let accumulate = strip.accumulate || row > 0;
                    let is_last = segment + 1 == strip.per_row && piece + 1 == pieces;
                    let (segments, epilogue) = (segment..segment + 1, epilogue(is_last));
                    let next = if is_last { after } else { panel.wrapping_add(elements.len() * strip.panel_stride) };
                    work(&Part { segments, elements, panel, accumulate, epilogue, next, ..part.clone() }, c);
                }
            }
            continue;
        }
        let pieces = strip.per_row.div_ceil((DEPTH / strip.length).max(1));
        for piece in 0..pieces {
            let segments = piece * strip.per_row / pieces..(piece + 1) * strip.per_row / pieces;
            let row = segments.start * strip.length;
            let panel = panel.wrapping_add(row * strip.panel_stride);
            let is_last = piece + 1 == pieces;
            let (accumulate, epilogue) = (strip.accumulate || row > 0, epilogue(is_last));
            let rows = segments.len() * strip.length;
            let next = if is_last { after } else { panel.wrapping_add(rows * strip.panel_stride) };
            work(&Part { segments, panel, accumulate, epilogue, next, ..part.clone() }, c);
        }
    }
}

/// # Safety
/// As [`multiply`]; the processor has AVX2 and FMA if `WIDE` says so.
#[inline(always)]
unsafe fn each_tile<const WIDE: bool>(part: &Part<'_>, c: *mut f32) {
    let strip = part.strip;
    let mut spare = [0.0f32; ROWS * COLUMNS];
    let narrow = part.columns < COLUMNS;
    let right = Right {
        panel: part.panel,
        stride: strip.panel_stride,
        first: part.elements.start,
        length: part.elements.len(),
        accumulate: part.accumulate,
    };
    for (index, segments) in strip.segments.chunks_exact(strip.per_row).enumerate() {
        let segments = &segments[part.segments.clone()];
        let rows = ROWS.min(strip.rows - index * ROWS);
        let c = c.wrapping_add(index * ROWS * strip.stride);
        let (target, stride) = if narrow { (spare.as_mut_ptr(), COLUMNS) } else { (c, strip.stride) };
        // SAFETY: the caller's promise; a narrow tile goes to `spare`, which has room for a whole one.
        unsafe {
            if narrow && part.accumulate {
                for row in 0..rows {
                    let to = target.add(row * COLUMNS);
                    std::ptr::copy_nonoverlapping(c.add(row * strip.stride), to, part.columns);
                }
            }
            match rows {
                1 => whole::<1, WIDE>(segments, right, target, stride),
                2 => whole::<2, WIDE>(segments, right, target, stride),
                3 => whole::<3, WIDE>(segments, right, target, stride),
                4 => whole::<4, WIDE>(segments, right, target, stride),
                5 => whole::<5, WIDE>(segments, right, target, stride),
                _ => whole::<ROWS, WIDE>(segments, right, target, stride),
            }
            if !part.epilogue.is_empty() {
                for row in 0..rows {
                    let target = std::slice::from_raw_parts_mut(target.add(row * stride), part.columns.min(COLUMNS));
                    part.epilogue.from_row((index * ROWS + row) * strip.stride).finish_row(target);
                }
            }
            if narrow {
                for row in 0..rows {
                    let from = target.add(row * COLUMNS);
                    std::ptr::copy_nonoverlapping(from, c.add(row * strip.stride), part.columns);
                }
            }
        }
    }
}

/// The right operand of a tile, which elements of the segments it is for, and what becomes of the products.
#[derive(Clone, Copy)]
struct Right {
    panel: *const f32,
    stride: usize,
    first: usize,
    length: usize,
    accumulate: bool,
}

/// A tile of `R` rows and [`COLUMNS`] columns.
///
/// # Safety
/// As [`each_tile`].
#[inline(always)]
unsafe fn whole<const R: usize, const WIDE: bool>(segments: &[Segment], right: Right, c: *mut f32, stride: usize) {
    #[cfg(target_arch = "x86_64")]
    if WIDE {
        // SAFETY: the caller's promise.
        return unsafe { avx2::<R>(segments, right, c, stride) };
    }
    // SAFETY: the caller's promise.
    unsafe { portable::<R>(segments, right, c, stride) }
}

/// [`whole`] for AVX2 and FMA: two vectors a row.
///
/// # Safety
/// As [`each_tile`].
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<const R: usize>(segments: &[Segment], right: Right, c: *mut f32, stride: usize) {
    use std::arch::x86_64::*;
    let mut panel = right.panel;
    let mut sums = [[_mm256_setzero_ps(); 2]; R];
    // SAFETY: the caller's promise.
    unsafe {
        for segment in segments {
            for p in right.first..right.first + right.length {
                let lines = [_mm256_loadu_ps(panel), _mm256_loadu_ps(panel.add(8))];
                // A count that the compiler knows, so that the sums stay in registers.
                for row in 0..R {
                    let factor = _mm256_broadcast_ss(&*segment[row].add(p));
                    sums[row][0] = _mm256_fmadd_ps(factor, lines[0], sums[row][0]);
                    sums[row][1] = _mm256_fmadd_ps(factor, lines[1], sums[row][1]);
                }
                panel = panel.wrapping_add(right.stride);
            }
        }
        for (row, sums) in sums.iter_mut().enumerate() {
            let to = [c.add(row * stride), c.add(row * stride + 8)];
            for (sum, to) in sums.iter_mut().zip(to) {
                if right.accumulate {
                    *sum = _mm256_add_ps(_mm256_loadu_ps(to), *sum);
                }
                _mm256_storeu_ps(to, *sum);
            }
        }
    }
}

/// [`whole`] for every processor.
///
/// # Safety
/// As [`each_tile`].
#[inline(always)]
unsafe fn portable<const R: usize>(segments: &[Segment], right: Right, c: *mut f32, stride: usize) {
    let mut sums = [[0.0f32; COLUMNS]; R];
    let mut panel = right.panel;
    // SAFETY: the caller's promise.
    unsafe {
        for segment in segments {
            for p in right.first..right.first + right.length {
                let line = &*panel.cast::<[f32; COLUMNS]>();
                for (sums, row) in sums.iter_mut().zip(segment) {
                    let factor = *row.add(p);
                    for (sum, element) in sums.iter_mut().zip(line) {
                        *sum += factor * element;
                    }
                }
                panel = panel.wrapping_add(right.stride);
            }
        }
        for (row, sums) in sums.iter_mut().enumerate() {
            let to = c.add(row * stride).cast::<[f32; COLUMNS]>();
            if right.accumulate {
                let before = to.read();
                sums.iter_mut().zip(before).for_each(|(sum, before)| *sum += before);
            }
            to.write(*sums);
        }
    }
}

/// The most panels of a tile of AVX-512: with [`ROWS`] rows, 24 of the 32 registers hold sums.
#[cfg(target_arch = "x86_64")]
const PANELS: usize = 4;

/// The most panels of which two tiles, one below the other, are multiplied together. One tile has too few accumulators: the
/// processor begins two multiply-adds in a cycle, and each takes four cycles. And two read a row of the panels once. They fetch
/// nothing for those that come next: so few panels are near in any case.
#[cfg(target_arch = "x86_64")]
const FEW_PANELS: usize = 1;

/// Rows of a packed panel that are fetched before they are multiplied.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 8;

/// Tiles of several panels, a vector a row and panel, in a module for processors with some features, with an epilogue or
/// without; `$add` adds the product of a factor and a line to sums, `$total` adds sums.
#[cfg(target_arch = "x86_64")]
macro_rules! tiles {
    (
        mod $name:ident for $features:literal $(, $epilogue:ident)?:
        |$sum:ident, $factor:ident, $line:ident| $add:expr, $total:path
    ) => {
mod $name {
    use std::arch::x86_64::*;

    use super::{AHEAD, COLUMNS, Epilogue, FEW_PANELS, PANELS, Part, ROWS, Segment};
    use crate::epilogue::avx512::{load, store};

    /// A tile's right operand and target.
    #[derive(Clone, Copy)]
    struct Tile<'t> {
        panel: *const f32,
        panel_stride: usize,
        next_panel: usize,
        first: usize,
        length: usize,
        stride: usize,
        /// The columns of the last panel that are wanted.
        last: __mmask16,
        accumulate: bool,
        #[allow(dead_code, reason = "not all tiles have one")]
        epilogue: Epilogue<'t, f32>,
        /// Rows of the panels that come next, of which this tile fetches one in as many as there are tiles, from an element of
        /// a segment on. Many at once would keep the tile itself waiting.
        next: *const f32,
        fetch_at: usize,
        fetch_every: usize,
    }

    /// # Safety
    /// As [`super::multiply`]; the processor has the features. At most [`PANELS`] panels.
    #[inline]
    #[target_feature(enable = $features)]
    pub(super) unsafe fn each_tile(part: &Part<'_>, c: *mut f32) {
        let panels = part.columns.div_ceil(COLUMNS);
        // SAFETY: the caller's promise.
        unsafe {
            match panels {
                1 => each::<1>(part, c),
                2 => each::<2>(part, c),
                3 => each::<3>(part, c),
                _ => each::<PANELS>(part, c),
            }
        }
    }

    /// # Safety
    /// As [`each_tile`], for as many panels.
    #[inline]
    #[target_feature(enable = $features)]
    unsafe fn each<const P: usize>(part: &Part<'_>, c: *mut f32) {
        let strip = part.strip;
        let tile = Tile {
            panel: part.panel,
            panel_stride: strip.panel_stride,
            next_panel: strip.next_panel,
            first: part.elements.start,
            length: part.elements.len(),
            stride: strip.stride,
            last: u16::MAX >> (P * COLUMNS - part.columns),
            accumulate: part.accumulate,
            epilogue: part.epilogue,
            next: part.next,
            fetch_at: usize::MAX,
            fetch_every: strip.segments.len() / strip.per_row,
        };
        let segments_of = |index: usize| &strip.segments[index * strip.per_row..][part.segments.clone()];
        let mut index = 0;
        while index * ROWS < strip.rows {
            let (rows, at) = (strip.rows - index * ROWS, index * ROWS * strip.stride);
            let c = c.wrapping_add(at);
            let tile = Tile { epilogue: part.epilogue.from_row(at), ..tile };
            if P <= FEW_PANELS && rows >= 2 * ROWS {
                // SAFETY: the caller's promise.
                unsafe { whole::<{ 2 * ROWS }, P>([segments_of(index), segments_of(index + 1)], tile, c) };
                index += 2;
                continue;
            }
            let tile = Tile {
                next: part.next.wrapping_add(index * strip.panel_stride),
                fetch_at: if part.next.is_null() { usize::MAX } else { part.elements.start + index },
                ..tile
            };
            let segments = [segments_of(index); 2];
            // SAFETY: the caller's promise.
            unsafe {
                match rows {
                    1 => whole::<1, P>(segments, tile, c),
                    2 => whole::<2, P>(segments, tile, c),
                    3 => whole::<3, P>(segments, tile, c),
                    4 => whole::<4, P>(segments, tile, c),
                    5 => whole::<5, P>(segments, tile, c),
                    _ => whole::<ROWS, P>(segments, tile, c),
                }
            }
            index += 1;
        }
    }

    /// A tile of `R` rows and `P` panels, or two, one below the other, if there are more than [`ROWS`].
    ///
    /// # Safety
    /// As [`each_tile`].
    #[inline]
    #[target_feature(enable = $features)]
    unsafe fn whole<const R: usize, const P: usize>(segments: [&[Segment]; 2], tile: Tile<'_>, c: *mut f32) {
        let mut sums = [[_mm512_setzero_ps(); P]; R];
        let mask = |panel: usize| if panel + 1 < P { u16::MAX } else { tile.last };
        let mut panel = tile.panel;
        let (mut fetch_at, mut next) = (tile.fetch_at, tile.next);
        // SAFETY: the caller's promise; columns that are not wanted are masked.
        unsafe {
            for (upper, lower) in segments[0].iter().zip(segments[1]) {
                for p in tile.first..tile.first + tile.length {
                    if R <= ROWS && p == fetch_at {
                        for column in 0..P {
                            _mm_prefetch::<_MM_HINT_T1>(next.wrapping_add(column * tile.next_panel).cast());
                        }
                        next = next.wrapping_add(tile.fetch_every * tile.panel_stride);
                        fetch_at += tile.fetch_every;
                    }
                    let mut lines = [_mm512_setzero_ps(); P];
                    for (column, line) in lines.iter_mut().enumerate() {
                        let from = panel.wrapping_add(column * tile.next_panel);
                        // From the second cache, where packed panels stay: the processor itself fetches too few at a time. A
                        // distance that the compiler knows costs no register.
                        _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(AHEAD * COLUMNS).cast());
                        *line = _mm512_loadu_ps(from);
                    }
                    // Counts that the compiler knows, so that the sums stay in registers.
                    for row in 0..R {
                        let from = if row < ROWS { upper[row] } else { lower[row - ROWS] };
                        let factor = _mm512_set1_ps(*from.add(p));
                        for column in 0..P {
                            let ($sum, $factor, $line) = (sums[row][column], factor, lines[column]);
                            sums[row][column] = $add;
                        }
                    }
                    panel = panel.wrapping_add(tile.panel_stride);
                }
                fetch_at = fetch_at.saturating_sub(tile.length);
            }
            if tile.accumulate {
                for (row, sums) in sums.iter_mut().enumerate() {
                    for (column, sum) in sums.iter_mut().enumerate() {
                        let from = c.wrapping_add(row * tile.stride + column * COLUMNS);
                        *sum = $total(load(mask(column), from), *sum);
                    }
                }
            }
            $({
                use crate::epilogue::finish_vectors;
                finish_vectors!(&tile.$epilogue, sums: [[_; P]; R], last: tile.last, stride: tile.stride);
            })?
            for (row, sums) in sums.iter().enumerate() {
                for (column, &sum) in sums.iter().enumerate() {
                    let to = c.wrapping_add(row * tile.stride + column * COLUMNS);
                    store(mask(column), to, sum);
                }
            }
        }
    }
}
    };
}
#[cfg(target_arch = "x86_64")]
tiles!(mod avx512 for "avx512f", epilogue: |sum, factor, line| _mm512_fmadd_ps(factor, line, sum), _mm512_add_ps);
#[cfg(target_arch = "x86_64")]
tiles!(mod avx512_pairs for "avx512f,avx512bf16": |sum, factor, line| {
    _mm512_dpbf16_ps(sum, std::mem::transmute::<__m512, __m512bh>(factor), std::mem::transmute::<__m512, __m512bh>(line))
}, _mm512_add_ps);
#[cfg(target_arch = "x86_64")]
tiles!(mod avx512_bytes for "avx512f,avx512vnni": |sum, factor, line| {
    let [sum, factor, line] = [sum, factor, line].map(|words| _mm512_castps_si512(words));
    _mm512_castsi512_ps(_mm512_dpbusd_epi32(sum, factor, line))
}, super::add_integers);

/// Adds integers that stand for floats.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn add_integers(a: std::arch::x86_64::__m512, b: std::arch::x86_64::__m512) -> std::arch::x86_64::__m512 {
    use std::arch::x86_64::*;
    _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epilogue::End;

    #[test]
    fn tiles_agree_with_the_definition() {
        // Segments of which several make a part, and ones of which each makes several.
        for (length, per_row) in [(5, 80), (600, 2)] {
            let k = per_row * length;
            let a: Vec<f32> = (0..3 * ROWS * k).map(|i| (i % 13) as f32 - 5.0).collect();
            let b: Vec<f32> = (0..k * 150).map(|i| (i % 7) as f32 - 3.0).collect();
            let mut segments = Vec::new();
            for tile in 0..3 {
                for start in (0..k).step_by(length) {
                    segments.push(std::array::from_fn(|row| a[(tile * ROWS + row) * k + start..].as_ptr()));
                }
            }
            for rows in [1usize, 2, 3, 4, 5, 6, 7, 12, 13, 17, 18] {
                for (columns, is_packed, accumulate) in
                    [(16usize, true, false), (5, true, true), (100, false, true), (61, false, false), (150, true, true)]
                {
                    let (panel_stride, next_panel) = if is_packed { (COLUMNS, COLUMNS * k) } else { (150, COLUMNS) };
                    let at = |p: usize, column: usize| {
                        let (panel, column) = (column / COLUMNS, column % COLUMNS);
                        b[(panel * next_panel + p * panel_stride + column) % b.len()]
                    };
                    let panels = columns.div_ceil(COLUMNS);
                    let count = (panels - 1) * next_panel + (k - 1) * panel_stride + COLUMNS;
                    let right: Vec<f32> = (0..count).map(|i| b[i % b.len()]).collect();
                    let segments = &segments[..rows.div_ceil(ROWS) * per_row];
                    let stride = columns + 3;
                    let shift: Vec<f32> = (0..columns).map(|column| column as f32).collect();
                    let summand: Vec<f32> = (0..rows * stride).map(|i| (i % 17) as f32).collect();
                    let mut epilogue = Epilogue::default();
                    if accumulate {
                        epilogue.shift = Some(&shift);
                        epilogue.summand = Some(&summand);
                        epilogue.end = End::Relu(f32::INFINITY);
                    }
                    let strip = Strip {
                        segments,
                        per_row,
                        length,
                        rows,
                        panels: &right,
                        panel_stride,
                        next_panel,
                        stride,
                        columns,
                        accumulate,
                        words: Words::Float,
                        epilogue,
                    };
                    let mut results = [(); 2].map(|()| vec![7.0f32; rows * stride]);
                    // SAFETY: the operands have the sizes that the strip says.
                    unsafe {
                        multiply(&strip, results[0].as_mut_ptr());
                        each_depth(&strip, results[1].as_mut_ptr(), 1, |part, c| each_tile::<false>(part, c));
                    }
                    for row in (0..rows).step_by(3) {
                        for column in (0..stride).step_by(7).chain([columns - 1, columns]) {
                            let sum = || (0..k).map(|p| a[row * k + p] * at(p, column)).sum::<f32>();
                            let before = if accumulate { 7.0 } else { 0.0 };
                            let more = column as f32 + summand[row * stride + column];
                            let after = |sum: f32| if accumulate { (sum + more).max(0.0) } else { sum };
                            let expected = if column < columns { after(before + sum()) } else { 7.0 };
                            let found = [results[0][row * stride + column], results[1][row * stride + column]];
                            assert_eq!(found, [expected; 2], "{rows} rows, {row} {column}");
                        }
                    }
                }
            }
        }
    }
}
