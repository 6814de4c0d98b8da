//! SparseSegmentSum, SparseSegmentMean and SparseSegmentSqrtN, with a number of segments and without.

use kernlink::dtype::Number;
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_geometry::integers::scalar;
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::elements::{ensure_vector, i64s};
use super::number::Scale;

/// What the sum of a segment is divided by, given its number of rows, if it is.
pub(super) type Divisor = Option<fn(f64) -> f64>;

/// A run of equal segment numbers.
struct Segment {
    row: usize,
    start: usize,
    end: usize,
}

/// Ops with inputs `data`, `indices`, `segment_ids` and perhaps `num_segments`.
#[register_kernel(
    device = Cpu,
    op = [ops::SparseSegmentSum, ops::SparseSegmentSumWithNumSegments],
    Tidx = [int32, int64],
    Tsegmentids = [int32, int64],
    T = [realnumbertype],
    state = |_| Ok(None),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::SparseSegmentMean, ops::SparseSegmentMeanWithNumSegments],
    Tidx = [int32, int64],
    Tsegmentids = [int32, int64],
    T = [bf16, f64, f32, f16],
    state = |_| Ok(Some(|count| count)),
)]
#[register_kernel(
    device = Cpu,
    op = [ops::SparseSegmentSqrtN, ops::SparseSegmentSqrtNWithNumSegments],
    Tidx = [int32, int64],
    Tsegmentids = [int32, int64],
    T = [bf16, f64, f32, f16],
    state = |_| Ok(Some(f64::sqrt)),
)]
fn sparse_segment<T: Computed<Wide: Scale>>(&divisor: &Divisor, ctx: &mut RawContext<'_>) -> Result<()> {
    let (data, indices, segments) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
    let given = match ctx.num_inputs() {
        4 => Some(scalar(ctx.input_at(3)?, "num_segments")?),
        _ => None,
    };
    ensure!(given.is_none_or(|rows| rows >= 0), InvalidArgument, "segment ids must be >= 0");
    ensure_vector(indices, "indices")?;
    ensure_vector(segments, "segment_ids")?;
    ensure!(
        indices.num_elements() == segments.num_elements(),
        InvalidArgument,
        "segment_ids and indices should have same size."
    );
    let Some(&height) = data.shape().first() else {
        bail!(InvalidArgument, "Shape must be at least rank 1");
    };
    let (segments, rows) = runs(segments, given)?;
    let picks = picks(indices, height)?;

    let mut shape = data.shape().clone();
    shape.dims_mut()[0] = rows;
    let mut output = ctx.allocate_output_at(0, shape)?;
    let width: usize = data.shape()[1..].iter().product();
    if output.num_elements() > 0 {
        let sums = Sums { data: data.as_slice::<T>()?, width, picks: &picks, divisor };
        let cost = picks.len().div_ceil(rows).max(1);
        ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, width, cost, |first, piece| {
            let first = first / width;
            let mut next = segments.partition_point(|segment| segment.row < first);
            let mut sum = scratch::filled(T::widen(T::ZERO), width)?;
            for (r, row) in piece.chunks_exact_mut(width).enumerate() {
                match segments.get(next) {
                    Some(segment) if segment.row == first + r => {
                        sums.of(segment, &mut sum, row);
                        next += 1;
                    }
                    _ => row.fill(T::ZERO),
                }
            }
            Ok(())
        })?;
    }
    ctx.set_output_at(0, output)
}

/// The runs of equal numbers, and the number of rows of the output.
fn runs(segments: &Tensor, given: Option<i64>) -> Result<(Vec<Segment>, usize)> {
    let numbers = i64s(segments)?;
    let after_last = numbers.last().map_or(Some(0), |last| last.checked_add(1));
    let Some(after_last) = after_last else {
        bail!(InvalidArgument, "Last segment id must be < kintmax, got {}", i64::MAX);
    };
    let rows = given.unwrap_or(after_last);
    ensure!(rows >= after_last, InvalidArgument, "segment ids must be < num_segments");
    ensure!(rows >= 0 && (numbers.is_empty() || rows > 0), InvalidArgument, "segment ids must be >= 0");
    let mut runs: Vec<Segment> = Vec::new();
    for (n, &number) in numbers.iter().enumerate() {
        ensure!(
            (0..rows).contains(&number),
            InvalidArgument,
            "Segment id {number} out of range [0, {rows}), possibly because 'segment_ids' input is not sorted."
        );
        match runs.last_mut() {
            Some(run) if run.row == number as usize => run.end = n + 1,
            last => {
                ensure!(
                    last.is_none_or(|run| run.row < number as usize),
                    InvalidArgument,
                    "segment ids are not increasing"
                );
                scratch::push(&mut runs, Segment { row: number as usize, start: n, end: n + 1 })?;
            }
        }
    }
    Ok((runs, rows as usize))
}

/// Indices of rows of a tensor that has `height` of them.
fn picks(indices: &Tensor, height: usize) -> Result<Vec<usize>> {
    let pick = |(n, &index): (usize, &i64)| match usize::try_from(index) {
        Ok(index) if index < height => Ok(index),
        _ => bail!(InvalidArgument, "Bad: indices[{n}] == {index} out of range [0, {height})"),
    };
    scratch::collected_ok(i64s(indices)?.iter().enumerate().map(pick))
}

struct Sums<'a, T> {
    data: &'a [T],
    width: usize,
    picks: &'a [usize],
    divisor: Divisor,
}

impl<T: Computed<Wide: Scale>> Sums<'_, T> {
    fn row(&self, pick: usize) -> &[T] {
        &self.data[pick * self.width..][..self.width]
    }

    /// Writes the result for one segment to `output`. The order of additions is TensorFlow's.
    fn of(&self, segment: &Segment, sum: &mut [T::Wide], output: &mut [T]) {
        let picks = &self.picks[segment.start..segment.end];
        let count = picks.len();
        if count == 1 {
            return output.copy_from_slice(self.row(picks[0]));
        }
        // First as many as leave a multiple of eight.
        let first = match count % 8 {
            rest @ 0..=1 => rest + 8,
            rest => rest,
        };
        let (first, rest) = picks.split_at(first);
        sum.iter_mut().zip(self.row(first[0])).for_each(|(sum, x)| *sum = x.widen());
        for &pick in &first[1..] {
            sum.iter_mut().zip(self.row(pick)).for_each(|(sum, x)| *sum = sum.wrapping_add(x.widen()));
        }
        for eight in rest.as_chunks::<8>().0 {
            let rows = eight.map(|pick| self.row(pick));
            for (c, sum) in sum.iter_mut().enumerate() {
                let eight = rows[1..].iter().fold(rows[0][c].widen(), |sum, row| sum.wrapping_add(row[c].widen()));
                *sum = sum.wrapping_add(eight);
            }
        }
        let finish = output.iter_mut().zip(sum);
        match self.divisor.map(|divisor| divisor(count as f64)) {
            None => finish.for_each(|(slot, sum)| *slot = T::narrow(*sum)),
            Some(divisor) if count < 10 => {
                let factor = T::Wide::reciprocal(divisor);
                finish.for_each(|(slot, sum)| *slot = T::narrow(sum.times(factor)));
            }
            Some(divisor) => finish.for_each(|(slot, sum)| *slot = T::narrow(sum.over(divisor))),
        }
    }
}
