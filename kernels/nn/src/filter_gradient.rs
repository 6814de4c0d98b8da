//! The gradient of the filter of a convolution of images or volumes, channels last: a product of matrices, the patches of the input,
//! transposed, and what flows back. [Another way](super::filter_pixels) gathers no patches.

use std::ops::Range;

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_kernels_common::gemm::{Gemm, Matrix, Sizes, Target, gemm_here};

use super::patches::gather_taps;
use super::space::Geometry;

/// Writes the gradient of the filter of a convolution. Nothing is empty.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn of_filter<T: Gemm>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    input: &[T],
    gradient: &[T],
    output: &mut [T],
) -> Result<()> {
    /// Elements of the gradient that one piece of work adds to.
    const CHUNK: usize = 1 << 18;
    /// Elements of all the gradients that are added at the end.
    const PARTS: usize = 1 << 22;
    let (pixels, patch, depth) = (geometry.pixels(), geometry.patch(), geometry.out_depth);
    let taps = geometry.taps();
    // All sizes follow from the geometry, so that the result does not depend on the number of threads.
    let parts = (PARTS / output.len()).clamp(1, 16).min(pixels.div_ceil(256));
    let chunks = output.len().div_ceil(CHUNK).max(16usize.div_ceil(parts)).min(taps);
    let group_depth = depth / geometry.groups();
    // The left operand of a product is the one that is turned: better the smaller one.
    let is_turned = group_depth < patch / chunks;
    let mut scratch = None;
    let sums = if parts == 1 && !is_turned {
        &mut output[..]
    } else {
        scratch.insert(Tensor::alloc(T::DTYPE, [parts, patch, depth])?).as_mut_slice::<T>()?
    };
    let work = pixels.saturating_mul(patch).saturating_mul(group_depth) / 16 / (parts * chunks);
    let jobs = Jobs::new(sums, parts, chunks, taps, geometry.patch_depth * depth)?;
    ctx.try_parallel_for(parts * chunks, work, |range| {
        for index in range {
            let Some((part, taps, target)) = jobs.take(index) else { continue };
            let pixels = share_of(0..pixels, part, parts);
            filter_part(geometry, (input, gradient), pixels, taps, is_turned, target)?;
        }
        Ok(())
    })?;
    let Some(scratch) = scratch else { return Ok(()) };
    let sums = scratch.as_slice::<T>()?;
    match is_turned {
        true => add_turned(ctx, geometry, (parts, chunks), sums, output),
        false => add_parts(ctx, sums, output),
    }
    Ok(())
}

/// Writes the sum of the parts of a gradient.
pub(super) fn add_parts<T: Gemm>(ctx: &RawContext<'_>, parts: &[T], output: &mut [T]) {
    let length = output.len();
    let count = parts.len() / length.max(1);
    ctx.parallel_chunks(output, 64, count, |first, piece| {
        piece.copy_from_slice(&parts[first..first + piece.len()]);
        for part in 1..count {
            let sums = &parts[part * length + first..][..piece.len()];
            piece.iter_mut().zip(sums).for_each(|(target, &sum)| *target = target.wrapping_add(sum));
        }
    });
}

/// One of so many pieces of nearly the same length.
pub(super) fn share_of(range: Range<usize>, index: usize, count: usize) -> Range<usize> {
    let bound = |index: usize| range.start + index * range.len() / count;
    bound(index)..bound(index + 1)
}

/// Adds the parts of a filter's gradient that [`filter_part`] wrote turned, each chunk of taps by itself.
fn add_turned<T: Gemm>(
    ctx: &RawContext<'_>,
    geometry: &Geometry,
    (parts, chunks): (usize, usize),
    sums: &[T],
    output: &mut [T],
) {
    /// Lines of the output that are written together, so that what is read are lines of the cache.
    const LINES: usize = 16;
    let (patch_depth, depth, length) = (geometry.patch_depth, geometry.out_depth, output.len());
    let taps = geometry.taps();
    ctx.parallel_chunks(output, LINES * depth, parts, |first, piece| {
        let (mut line, mut rest) = (first / depth, piece);
        while !rest.is_empty() {
            let chunk =
                (0..chunks).map(|chunk| share_of(0..taps, chunk, chunks)).find(|of| of.contains(&(line / patch_depth)));
            let (start, end) = chunk.map_or((line, line + 1), |of| (of.start * patch_depth, of.end * patch_depth));
            let lines = LINES.min(end - line).min(rest.len() / depth);
            let (target, others) = rest.split_at_mut(lines * depth);
            for channel in 0..depth {
                let at = start * depth + channel * (end - start) + line - start;
                let mut column = [T::ZERO; LINES];
                column[..lines].copy_from_slice(&sums[at..][..lines]);
                for part in 1..parts {
                    let sums = &sums[part * length + at..][..lines];
                    column.iter_mut().zip(sums).for_each(|(target, &sum)| *target = target.wrapping_add(sum));
                }
                target[channel..].iter_mut().step_by(depth).zip(column).for_each(|(target, sum)| *target = sum);
            }
            (line, rest) = (line + lines, others);
        }
    });
}

/// Pieces of sums, each for one thread to write: some taps of one part.
struct Jobs<'a, T> {
    slots: Vec<std::sync::Mutex<Option<&'a mut [T]>>>,
    chunks: usize,
    taps: usize,
}

impl<'a, T> Jobs<'a, T> {
    fn new(sums: &'a mut [T], parts: usize, chunks: usize, taps: usize, tap: usize) -> Result<Self> {
        let mut slots = scratch::room(parts * chunks)?;
        for mut part in sums.chunks_exact_mut(taps * tap) {
            for chunk in 0..chunks {
                let (piece, rest) = part.split_at_mut(share_of(0..taps, chunk, chunks).len() * tap);
                slots.push(std::sync::Mutex::new(Some(piece)));
                part = rest;
            }
        }
        Ok(Jobs { slots, chunks, taps })
    }

    /// The part, the taps and the sums of a job, which is then nobody else's.
    fn take(&self, index: usize) -> Option<(usize, Range<usize>, &'a mut [T])> {
        let piece = self.slots[index].lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()?;
        Some((index / self.chunks, share_of(0..self.taps, index % self.chunks, self.chunks), piece))
    }
}

/// Writes the products of some pixels' patches, of some taps alone, with what flows back to these pixels: a row for each
/// element of a patch or, if turned, for each channel.
fn filter_part<T: Gemm>(
    geometry: &Geometry,
    (input, gradient): (&[T], &[T]),
    pixels: Range<usize>,
    taps: Range<usize>,
    is_turned: bool,
    target: &mut [T],
) -> Result<()> {
    const SCRATCH: usize = 1 << 17;
    let (depth, group_depth) = (geometry.out_depth, geometry.out_depth / geometry.groups());
    let direct = geometry.is_product();
    let patch = taps.len() * geometry.patch_depth;
    let block = if direct { pixels.len() } else { (SCRATCH / patch).clamp(16, 512).min(pixels.len()) };
    let mut scratch = Tensor::alloc(T::DTYPE, [if direct { 0 } else { block }, patch])?;
    let scratch = scratch.as_mut_slice::<T>()?;
    for start in pixels.clone().step_by(block.max(1)) {
        let count = block.min(pixels.end - start);
        for group in 0..geometry.groups() {
            let patches = if direct {
                let first = start * geometry.patch() + taps.start * geometry.patch_depth;
                Matrix::rows(&input[first..], geometry.patch())
            } else {
                let channel = group * geometry.patch_depth;
                for (index, target) in scratch.chunks_exact_mut(patch).take(count).enumerate() {
                    gather_taps(geometry, input, start + index, channel, taps.clone(), target);
                }
                Matrix::rows(scratch, patch)
            };
            let flows = Matrix::rows(&gradient[start * depth + group * group_depth..], depth);
            let accumulate = start != pixels.start;
            let (sizes, left, right, first, row_stride) = if is_turned {
                let sizes = Sizes { m: group_depth, k: count, n: patch };
                (sizes, flows.turned(), patches, group * group_depth * patch, patch)
            } else {
                let sizes = Sizes { m: patch, k: count, n: group_depth };
                (sizes, patches.turned(), flows, group * group_depth, depth)
            };
            gemm_here(sizes, left, right, Target { data: &mut target[first..], row_stride, accumulate })?;
        }
    }
    Ok(())
}
