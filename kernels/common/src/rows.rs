//! Rows that are picked one by one: what gathering comes down to.

use kernlink::dtype::Element;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;

use super::element::{bytes_mut, match_objects};

/// Which row of the source row `r` of the target is: `None` for a row of zeros, empty strings or empty handles.
pub type Pick<'a> = &'a (dyn Fn(usize) -> Option<usize> + Sync);

/// Makes row `r` of `target` a copy of row `pick(r)` of `source`, where a row is `row` elements. Both have the same
/// dtype, and `pick` stays below the number of rows in `source`.
pub fn take_rows(ctx: &RawContext<'_>, target: &mut Tensor, source: &Tensor, row: usize, pick: Pick<'_>) -> Result<()> {
    let dtype = target.dtype();
    kernlink::ensure!(dtype == source.dtype(), Internal, "rows of {} cannot become {dtype}", source.dtype());
    if target.num_elements() == 0 {
        return Ok(());
    }
    match_objects!(dtype, T => take_objects(target.as_mut_slice::<T>()?, source.as_slice::<T>()?, row, pick), _ => {
        let source = source.bytes()?;
        // SAFETY: only bytes of elements of the same dtype are written, and zeros.
        let target = unsafe { bytes_mut(target)? };
        match row * dtype.size() {
            1 => take_narrow::<1>(ctx, target, source, pick),
            2 => take_narrow::<2>(ctx, target, source, pick),
            4 => take_narrow::<4>(ctx, target, source, pick),
            8 => take_narrow::<8>(ctx, target, source, pick),
            16 => take_narrow::<16>(ctx, target, source, pick),
            bytes => take_wide(ctx, target, source, bytes, pick),
        }
    });
    Ok(())
}

/// The number of the row that an index into the first dimensions names; none if it is out of range.
#[inline]
pub fn row_of(index: &[i64], sizes: &[usize]) -> Option<usize> {
    index.iter().zip(sizes).try_fold(0usize, |row, (&index, &size)| {
        usize::try_from(index).ok().filter(|&index| index < size).map(|index| row * size + index)
    })
}

/// Nanoseconds or so that it takes to pick a row, to which its length adds.
const PICK_COST: usize = 4;

fn take_narrow<const N: usize>(ctx: &RawContext<'_>, target: &mut [u8], source: &[u8], pick: Pick<'_>) {
    let (target, source) = (target.as_chunks_mut::<N>().0, source.as_chunks::<N>().0);
    ctx.parallel_chunks(target, 1, PICK_COST, |first, rows| {
        for (r, row) in rows.iter_mut().enumerate() {
            *row = pick(first + r).map_or([0; N], |from| source[from]);
        }
    });
}

fn take_wide(ctx: &RawContext<'_>, target: &mut [u8], source: &[u8], bytes: usize, pick: Pick<'_>) {
    // `parallel_chunks` counts bytes here: a cost of one per byte overstates it, so the rows are counted instead.
    let rows = target.len() / bytes;
    let cost = (PICK_COST + bytes / 8).div_ceil(bytes).max(1);
    let copy = |first: usize, piece: &mut [u8]| {
        for (r, row) in piece.chunks_exact_mut(bytes).enumerate() {
            match pick(first / bytes + r) {
                Some(from) => row.copy_from_slice(&source[from * bytes..][..bytes]),
                None => row.fill(0),
            }
        }
    };
    if rows * (PICK_COST + bytes / 8) < 40_000 {
        copy(0, target)
    } else {
        ctx.parallel_chunks(target, bytes, cost, copy)
    }
}

fn take_objects<T: Element>(target: &mut [T], source: &[T], row: usize, pick: Pick<'_>) {
    for (r, row_out) in target.chunks_exact_mut(row).enumerate() {
        match pick(r) {
            Some(from) => row_out.clone_from_slice(&source[from * row..][..row]),
            None => row_out.fill(T::default()),
        }
    }
}
