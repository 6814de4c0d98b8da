//! Gradients of inputs of volumes by products whose rows are the gradients of patches, which are added up.

use kernlink::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink_geometry::volume::Windows;
use kernlink_kernels_common::gemm::{Gemm, Matrix, Sizes, Target, gemm};
use kernlink_kernels_common::tile::COLUMNS;

/// Bytes of patches that are multiplied at a time.
const GATHERED: usize = 8 << 20;

/// How many convolutions by turned filters are made rather than one product.
const MOST_PHASES: usize = 8;

/// Whether that takes less time than convolutions by turned filters, of which there is one for each place between strides: few
/// channels leave most of a panel empty, and long strides make many small convolutions.
pub(super) fn is_better(windows: &Windows) -> bool {
    let phases = windows.axes.iter().map(|axis| axis.stride.min(axis.input.max(1)));
    4 * windows.channels <= COLUMNS || phases.fold(1, usize::saturating_mul) > MOST_PHASES
}

/// The products of what flows back with the filter are the gradients of patches, which are added up where they overlap.
pub(super) fn add_patches<T: Gemm>(
    ctx: &RawContext<'_>,
    windows: &Windows,
    filter: &[T],
    back: &[T],
    output: &mut [T],
) -> Result<()> {
    output.fill(T::ZERO);
    let (patch, channels, per_volume) = (windows.patch(), windows.channels, windows.per_volume());
    let depth = filter.len() / patch;
    let block = (GATHERED / (patch * size_of::<T>())).clamp(1, 4096).min(per_volume);
    let mut patches = Tensor::alloc(T::DTYPE, [block, patch])?;
    let patches = patches.as_mut_slice::<T>()?;
    let volume_len = output.len() / windows.batch;
    let plane_len = volume_len / windows.axes[0].input;
    for (volume, output) in output.chunks_exact_mut(volume_len).enumerate() {
        for start in (0..per_volume).step_by(block) {
            let count = block.min(per_volume - start);
            let first = volume * per_volume + start;
            let sizes = Sizes { m: count, k: depth, n: patch };
            let back = &back[first * depth..][..count * depth];
            let target = Target { data: &mut patches[..count * patch], row_stride: patch, accumulate: false };
            gemm(ctx, sizes, Matrix::rows(back, depth), Matrix::transposed(filter, depth), target)?;
            let patches = &patches[..count * patch];
            // A thread has whole planes, so that nobody else adds to these.
            let cost = (count * patch / output.len().max(1) + 1) * 2;
            ctx.parallel_chunks(output, plane_len, cost, |begin, piece| {
                let planes = begin / plane_len..(begin + piece.len()) / plane_len;
                for (window, patch) in (first..).zip(patches.chunks_exact(patch)) {
                    add_patch(windows, window, patch, planes.clone(), channels, piece);
                }
            });
        }
    }
    Ok(())
}

/// Adds those rows of a patch's gradient that lie in some planes of its volume.
fn add_patch<T: Gemm>(
    windows: &Windows,
    window: usize,
    patch: &[T],
    planes: std::ops::Range<usize>,
    channels: usize,
    output: &mut [T],
) {
    let (_, place) = windows.place(window);
    let [depth, rows, columns] = &windows.axes;
    for z in depth.taps(place[0]) {
        let plane = (depth.start(place[0]) + z as i64) as usize;
        if !planes.contains(&plane) {
            continue;
        }
        for y in rows.taps(place[1]) {
            let row = (rows.start(place[1]) + y as i64) as usize;
            let taps = columns.taps(place[2]);
            let column = (columns.start(place[2]) + taps.start as i64) as usize;
            let length = taps.len() * channels;
            let from = ((z * rows.window + y) * columns.window + taps.start) * channels;
            let to = (((plane - planes.start) * rows.input + row) * columns.input + column) * channels;
            for (to, &from) in output[to..][..length].iter_mut().zip(&patch[from..][..length]) {
                *to = to.wrapping_add(from);
            }
        }
    }
}
