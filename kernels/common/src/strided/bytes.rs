//! Strided copies of elements that are plain bytes, by width and by the shape of the innermost loops.

use std::mem::MaybeUninit;

use kernlink::kernel::RawContext;

use super::{Odometer, Step, Steps};

/// Bytes that one thread copies at a time, at most.
const BLOCK: usize = 64 * 1024;

/// Elements of `width` bytes on each side of a tile in a transposition: runs of some cache lines, and a tile that fits
/// into the first cache.
pub(super) const fn side(width: usize) -> usize {
    match width {
        ..=2 => 128,
        3..=8 => 64,
        _ => 32,
    }
}

/// Bytes of the largest tile.
const TILE: usize = 32 * 1024;

/// Runs shorter than this many elements are not worth a copy.
pub(super) const SHORT: usize = 16;

/// The first bytes of target and source, for all threads.
#[derive(Clone, Copy)]
struct Ends {
    target: *mut u8,
    source: *const u8,
}

// SAFETY: the threads write disjoint elements of the target, and nothing writes the source.
unsafe impl Send for Ends {}
// SAFETY: as above.
unsafe impl Sync for Ends {}

impl Ends {
    /// # Safety
    /// `offset` is that of an element of the source.
    #[inline(always)]
    unsafe fn source(self, offset: isize) -> *const u8 {
        // SAFETY: the caller's.
        unsafe { self.source.offset(offset) }
    }

    /// # Safety
    /// `offset` is that of an element of the target.
    #[inline(always)]
    unsafe fn target(self, offset: usize) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { self.target.add(offset) }
    }

    /// # Safety
    /// `offset` is that of an element of the source.
    #[inline(always)]
    unsafe fn read<const N: usize>(self, offset: isize) -> [u8; N] {
        // SAFETY: the caller's; byte arrays need no alignment.
        unsafe { self.source(offset).cast::<[u8; N]>().read() }
    }

    /// # Safety
    /// `offset` is that of an element of the target that no other thread touches.
    #[inline(always)]
    unsafe fn write<const N: usize>(self, offset: usize, value: [u8; N]) {
        // SAFETY: the caller's; byte arrays need no alignment.
        unsafe { self.target(offset).cast::<[u8; N]>().write(value) }
    }
}

/// Copies the box of `steps`, which become steps of bytes, from element `from` of `source` to element `first` of `target`, whose elements have
/// `width` bytes.
///
/// # Safety
/// The box fits both slices and meets no element of the target twice; the steps stand from the longest target stride
/// to the shortest.
pub(super) unsafe fn copy(
    ctx: &RawContext<'_>,
    steps: &[Step],
    target: &mut [u8],
    first: usize,
    source: &[u8],
    from: usize,
    width: usize,
) {
    let signed = width as isize;
    let mut steps: Steps = steps
        .iter()
        .map(|step| Step { count: step.count, target: step.target * width, source: step.source * signed })
        .collect();
    // SAFETY: the first element of the box is inside both slices.
    let ends =
        unsafe { Ends { target: target.as_mut_ptr().add(first * width), source: source.as_ptr().add(from * width) } };
    let mut width = width;
    if let Some(&Step { count, target, source }) = steps.last()
        && target == width
        && source == width as isize
    {
        let run = count * width;
        if run > 16 || run.is_power_of_two() {
            width = run;
            steps.pop();
        }
    }
    // SAFETY: as the caller's; a run of neighbours has become one wider element.
    unsafe {
        match width {
            1 => elements::<1>(ctx, &steps, ends),
            2 => elements::<2>(ctx, &steps, ends),
            4 => elements::<4>(ctx, &steps, ends),
            8 => elements::<8>(ctx, &steps, ends),
            16 => elements::<16>(ctx, &steps, ends),
            _ => runs(ctx, &steps, ends, width),
        }
    }
}

/// Calls `work` with target offset, source offset and block for every turn of the loops `outer` and every block below
/// `blocks`, on several threads if it is worth it; `cost` is that of one call.
fn walk(ctx: &RawContext<'_>, outer: &[Step], blocks: usize, cost: usize, work: impl Fn(usize, isize, usize) + Sync) {
    let turns: usize = outer.iter().map(|step| step.count).product();
    ctx.parallel_for(turns * blocks, cost, |range| {
        let mut position = Odometer::at(outer, range.start / blocks);
        let mut block = range.start % blocks;
        for _ in range {
            work(position.target, position.source, block);
            block += 1;
            if block == blocks {
                block = 0;
                position.advance();
            }
        }
    });
}

/// Copies runs of `run` neighbouring bytes.
///
/// # Safety
/// As [`copy`].
unsafe fn runs(ctx: &RawContext<'_>, outer: &[Step], ends: Ends, run: usize) {
    let blocks = run.div_ceil(BLOCK);
    walk(ctx, outer, blocks, 2 + run.min(BLOCK) / 8, |target, source, block| {
        let start = block * BLOCK;
        let length = BLOCK.min(run - start);
        // SAFETY: the run is inside the box.
        unsafe { copy_run(ends.source(source + start as isize), ends.target(target + start), length) };
    });
}

/// Copies neighbouring bytes. Where the target lies a few bytes later in its page than the source in its own, Zen 3 takes what `rep
/// movsb` loads for what that has just stored, and takes 12 times as long. GNU's C library copies runs of less than 2,112 bytes by
/// vectors.
///
/// # Safety
/// As [`std::ptr::copy_nonoverlapping`].
unsafe fn copy_run(from: *const u8, to: *mut u8, length: usize) {
    const PAGE: usize = 4096;
    const SHORT_RUN: usize = 2048;
    let distance = to.addr().wrapping_sub(from.addr()) % PAGE;
    let piece = if (1..32).contains(&distance) { SHORT_RUN } else { length.max(1) };
    for start in (0..length).step_by(piece) {
        // SAFETY: the caller's, for a part of the run.
        unsafe { std::ptr::copy_nonoverlapping(from.add(start), to.add(start), piece.min(length - start)) };
    }
}

/// Copies elements of `N` bytes.
///
/// # Safety
/// As [`copy`].
unsafe fn elements<const N: usize>(ctx: &RawContext<'_>, steps: &[Step], ends: Ends) {
    let Some((&inner, outer)) = steps.split_last() else {
        // SAFETY: the box is this one element.
        return unsafe { ends.write(0, ends.read::<N>(0)) };
    };
    let unit = N as isize;
    if inner.source != 0
        && inner.source != unit
        && let Some(other) = outer.iter().rposition(|step| step.source == unit)
    {
        // SAFETY: as the caller's.
        return unsafe { transposed::<N>(ctx, inner, outer, other, ends) };
    }
    let length = (BLOCK / N).min(inner.count);
    let blocks = inner.count.div_ceil(length);
    let cost = 2 + if inner.source == 0 { length * N / 8 } else { length };
    walk(ctx, outer, blocks, cost, |target, source, block| {
        let turns = block * length..inner.count.min((block + 1) * length);
        let at = |turn: usize| source + turn as isize * inner.source;
        // SAFETY: every turn is inside the box.
        unsafe {
            if inner.source == 0 && inner.target == N {
                let value = ends.read::<N>(source);
                let start = ends.target(target + turns.start * N).cast::<[u8; N]>();
                std::slice::from_raw_parts_mut(start, turns.len()).fill(value);
            } else if inner.source == -unit && inner.target == N && !turns.is_empty() {
                let start = ends.target(target + turns.start * N).cast::<[u8; N]>();
                let last = ends.source(at(turns.end - 1)).cast::<[u8; N]>();
                let target = std::slice::from_raw_parts_mut(start, turns.len());
                let source = std::slice::from_raw_parts(last, turns.len());
                for (to, from) in target.iter_mut().zip(source.iter().rev()) {
                    *to = *from;
                }
            } else {
                for turn in turns {
                    ends.write(target + turn * inner.target, ends.read::<N>(at(turn)));
                }
            }
        }
    });
}

/// Copies where neighbours in the source stand along the loop `outer[other]` and neighbours in the target along
/// `inner`, tile by tile, so that each cache line is fetched once.
///
/// # Safety
/// As [`copy`].
unsafe fn transposed<const N: usize>(ctx: &RawContext<'_>, inner: Step, outer: &[Step], other: usize, ends: Ends) {
    let column = outer[other];
    let outer: Steps = outer.iter().enumerate().filter(|(axis, _)| *axis != other).map(|(_, step)| *step).collect();
    let side = side(N);
    let (columns, turns) = (column.count.div_ceil(side), inner.count.div_ceil(side));
    let buffered = column.count >= SHORT && inner.count >= SHORT;
    let cost = side.min(column.count) * side.min(inner.count);
    walk(ctx, &outer, columns * turns, cost, |target, source, block| {
        let (first, start) = (block / turns * side, block % turns * side);
        let tile = Tile {
            turns: side.min(inner.count - start),
            columns: side.min(column.count - first),
            target: target + first * column.target + start * inner.target,
            source: source + first as isize * column.source + start as isize * inner.source,
        };
        // SAFETY: the turns and columns are inside the box; a tile has at most `side` of each.
        unsafe {
            if buffered {
                tile.turn_in_buffer::<N>(inner, column, ends);
            } else {
                tile.turn::<N>(inner, column, ends);
            }
        }
    });
}

/// A part of a transposition.
struct Tile {
    turns: usize,
    columns: usize,
    target: usize,
    source: isize,
}

impl Tile {
    /// # Safety
    /// As [`copy`].
    #[inline(always)]
    unsafe fn turn<const N: usize>(&self, inner: Step, column: Step, ends: Ends) {
        for c in 0..self.columns {
            let (to, from) = (self.target + c * column.target, self.source + c as isize * N as isize);
            for turn in 0..self.turns {
                // SAFETY: the element is inside the box.
                unsafe {
                    let value = ends.read::<N>(from + turn as isize * inner.source);
                    ends.write(to + turn * inner.target, value);
                }
            }
        }
    }

    /// Reads and writes the tile in runs, and turns it in between: lines a power of two apart drive each other from the
    /// cache.
    ///
    /// # Safety
    /// As [`copy`]; the tile has at most [`side`] elements a side.
    #[inline(always)]
    unsafe fn turn_in_buffer<const N: usize>(&self, inner: Step, column: Step, ends: Ends) {
        let side = const {
            assert!(side(N) * side(N) * N <= TILE);
            side(N)
        };
        let mut buffer = MaybeUninit::<[u8; TILE]>::uninit();
        let buffer = buffer.as_mut_ptr().cast::<[u8; N]>();
        // SAFETY: the elements are inside the box; the buffer has room for `side` times `side` of them, and those are
        // read that were written.
        unsafe {
            for turn in 0..self.turns {
                let from = ends.source(self.source + turn as isize * inner.source).cast();
                std::ptr::copy_nonoverlapping(from, buffer.add(turn * side), self.columns);
            }
            for c in 0..self.columns {
                let to = self.target + c * column.target;
                for turn in 0..self.turns {
                    ends.write(to + turn * inner.target, buffer.add(turn * side + c).read());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_copied_whole_wherever_they_lie_in_their_pages() {
        let source: Vec<u8> = (0..3 * 4096).map(|i| (i * 7 % 251) as u8).collect();
        let mut target = vec![0; 4 * 4096];
        let same = source.as_ptr().addr().wrapping_sub(target.as_ptr().addr()) % 4096;
        for distance in [0, 1, 4, 31, 32, 4095] {
            let first = (same + distance) % 4096;
            for length in [0, 1, 2047, 2048, 2049, 3 * 4096] {
                target.fill(0);
                // SAFETY: both have so many bytes.
                unsafe { copy_run(source.as_ptr(), target[first..].as_mut_ptr(), length) };
                assert_eq!(target[first..][..length], source[..length], "{length} bytes, {distance} later");
                assert!(target[first + length..].iter().all(|&byte| byte == 0), "{length} bytes, {distance} later");
            }
        }
    }
}
