//! TopK, TopKV2 and ApproxTopK.
//!
//! The heap and the order in which it is searched are TensorFlow's, so that an unsorted answer, and one over NaNs,
//! which no order holds, come out in the same order. Where the order is that of the numbers, [`Ranking`] is faster.

use std::cmp::Ordering;

use kernlink::bail;
use kernlink::dtype::{DataType, Element, RealNumber};
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry as geometry;
use kernlink_geometry::integers::scalar;
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::ranked::{Ranked, Ranking};

/// Whether column `a` goes before column `b`: the greater element, or of equals the earlier one.
fn before<T: PartialOrd>(row: &[T], a: u32, b: u32) -> bool {
    let (x, y) = (&row[a as usize], &row[b as usize]);
    if y < x {
        true
    } else if y > x {
        false
    } else {
        a < b
    }
}

/// Puts `value` into the hole at `hole`, or above it where it belongs.
fn sift_up<T: PartialOrd>(heap: &mut [u32], row: &[T], mut hole: usize, top: usize, value: u32) {
    while hole > top {
        let parent = (hole - 1) / 2;
        if !before(row, heap[parent], value) {
            break;
        }
        heap[hole] = heap[parent];
        hole = parent;
    }
    heap[hole] = value;
}

/// Puts `value` into the heap below the hole at `hole`: the hole sinks to the bottom, and the value rises from there.
fn sift_down<T: PartialOrd>(heap: &mut [u32], row: &[T], mut hole: usize, value: u32) {
    let (top, mut child) = (hole, hole);
    while child < (heap.len() - 1) / 2 {
        child = 2 * (child + 1);
        if before(row, heap[child], heap[child - 1]) {
            child -= 1;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    if heap.len().is_multiple_of(2) && child == (heap.len() - 2) / 2 {
        child = 2 * child + 1;
        heap[hole] = heap[child];
        hole = child;
    }
    sift_up(heap, row, hole, top, value);
}

/// Moves the first of the heap, which goes last of all, to its end.
fn pop<T: PartialOrd>(heap: &mut [u32], row: &[T]) {
    if let [first, .., last] = heap {
        let value = std::mem::replace(last, *first);
        let rest = heap.len() - 1;
        sift_down(&mut heap[..rest], row, 0, value);
    }
}

/// The columns of the `k` greatest of more than `k` elements, in `heap`, which has room for one more.
fn select<T: PartialOrd>(row: &[T], heap: &mut [u32], sorted: bool) {
    let k = heap.len() - 1;
    for (column, slot) in (0..).zip(heap.iter_mut()) {
        *slot = column;
    }
    for hole in (0..heap.len() / 2).rev() {
        let value = heap[hole];
        sift_down(heap, row, hole, value);
    }
    pop(heap, row);
    let heap = &mut heap[..k];
    for column in k as u32 + 1..row.len() as u32 {
        if before(row, column, heap[0]) {
            pop(heap, row);
            sift_up(heap, row, k - 1, 0, column);
        }
    }
    if sorted {
        for length in (2..=k).rev() {
            pop(&mut heap[..length], row);
        }
    }
}

/// Called by pointer, so that it is compiled once and not for each dtype: only rows with NaNs come here.
fn sort_columns(order: &mut [u32], compare: &mut dyn FnMut(u32, u32) -> Ordering) {
    order.sort_unstable_by(|&a, &b| compare(a, b));
}

/// The columns of all elements, the greatest first.
fn sort<T: PartialOrd>(row: &[T], order: &mut [u32]) {
    for (column, slot) in (0..).zip(order.iter_mut()) {
        *slot = column;
    }
    let greater = |a: u32, b: u32| row[b as usize] < row[a as usize];
    if order.len() > 16 {
        let is_nan = |column: u32| row[column as usize].partial_cmp(&row[column as usize]).is_none();
        // The columns make it stable, in place.
        sort_columns(order, &mut |a, b| {
            let order = row[b as usize].partial_cmp(&row[a as usize]);
            order.unwrap_or_else(|| is_nan(b).cmp(&is_nan(a))).then(a.cmp(&b))
        });
        return;
    }
    for end in 1..order.len() {
        let column = order[end];
        let mut place = end;
        if greater(column, order[0]) {
            place = 0;
        } else {
            while greater(column, order[place - 1]) {
                place -= 1;
            }
        }
        order[place..=end].rotate_right(1);
    }
}

widest! {
    /// The greatest of some numbers, the first of which is not NaN.
    fn maximum<T: RealNumber>(row: &[T]) -> T {
        const LANES: usize = 32;
        let mut lanes = [row[0]; LANES];
        let (chunks, rest) = row.as_chunks::<LANES>();
        for chunk in chunks {
            for (greatest, &value) in lanes.iter_mut().zip(chunk) {
                *greatest = if value > *greatest { value } else { *greatest };
            }
        }
        let mut greatest = row[0];
        for &value in lanes.iter().chain(rest) {
            greatest = if value > greatest { value } else { greatest };
        }
        greatest
    }
}

widest! {
    /// The chunk of 64 numbers in which `number` is first.
    fn chunk_of<T: RealNumber>(row: &[T], number: T) -> usize {
        for (index, chunk) in row.chunks(64).enumerate() {
            let mut is_there = false;
            for &value in chunk {
                is_there |= value == number;
            }
            if is_there {
                return index;
            }
        }
        0
    }
}

/// The column of the greatest element, the first of them. NaN is below all numbers.
fn greatest<T: RealNumber>(row: &[T]) -> u32 {
    let is_number = |value: &T| value.partial_cmp(value).is_some();
    let Some(first) = row.iter().position(is_number) else { return 0 };
    let numbers = &row[first..];
    let maximum = maximum(numbers);
    let start = chunk_of(numbers, maximum) * 64;
    let column = numbers[start..].iter().position(|&value| value == maximum).unwrap_or(0);
    (first + start + column) as u32
}

/// Integers as a tensor of `dtype`.
fn indices_tensor(dtype: DataType, shape: &kernlink::shape::Shape, columns: &[u32]) -> Result<Tensor> {
    fn put<T: Element>(tensor: &mut Tensor, columns: &[u32], from: impl Fn(u32) -> T) -> Result<()> {
        tensor.as_mut_slice::<T>()?.iter_mut().zip(columns).for_each(|(slot, &column)| *slot = from(column));
        Ok(())
    }
    let mut tensor = Tensor::alloc(dtype, shape)?;
    match dtype {
        DataType::Int16 => put(&mut tensor, columns, |column| column as i16)?,
        DataType::Int32 => put(&mut tensor, columns, |column| column as i32)?,
        DataType::Int64 => put(&mut tensor, columns, i64::from)?,
        other => bail!(InvalidArgument, "indices cannot be {other}"),
    }
    Ok(tensor)
}

#[register_kernel(
    device = Cpu,
    op = ops::TopKV2,
    host_memory = ["k"],
    T = [realnumbertype],
    index_type = [int16, int32, int64],
)]
fn top_k_v2<T: Ranked>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let k = scalar(ctx.input(O::K)?, "k")?;
    top_k::<T>(ctx, k, attrs.sorted)
}

#[register_kernel(device = Cpu, op = ops::TopK, T = [realnumbertype])]
fn top_k_kernel<T: Ranked>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    top_k::<T>(ctx, attrs.k, attrs.sorted)
}

/// TensorFlow's CPU has no other dimension than the last, nor the least elements.
#[register_kernel(device = Cpu, T = [f32, f16, bf16], reduction_dimension = [-1], is_max_k = [true])]
fn approx_top_k<T: Ranked>(attrs: &Attrs<ops::ApproxTopK>, ctx: &mut KernelContext<'_, ops::ApproxTopK>) -> Result<()> {
    top_k::<T>(ctx, attrs.k, true)
}

/// Writes the `k` greatest of each row of input 0 to output 0, and where they stood to output 1.
fn top_k<T: Ranked>(ctx: &mut RawContext<'_>, k: i64, sorted: bool) -> Result<()> {
    let input = ctx.input_at(0)?;
    let index_type = ctx.output_dtype_at(1)?;
    let (columns, shape) = geometry::reduce::greatest(input.shape(), k, index_type)?;
    let k = k as usize;
    let mut values = ctx.allocate_output_at(0, shape)?;
    let mut picked = Tensor::alloc(DataType::Uint32, values.shape())?;
    let count = values.num_elements();
    if count > 0 {
        let rows = input.as_slice::<T>()?;
        let cost = (columns * (1 + k.ilog2() as usize)).div_ceil(k);
        ctx.try_parallel_chunks(picked.as_mut_slice::<u32>()?, k, cost, |first, pieces| {
            let is_ordered = k > 1 && (sorted || k == columns);
            let mut ranking = if is_ordered { Some(Ranking::new(k, columns)?) } else { None };
            let mut heap = scratch::zeros(k + 1)?;
            for (r, piece) in pieces.chunks_exact_mut(k).enumerate() {
                let row = &rows[(first / k + r) * columns..][..columns];
                if k == 1 {
                    piece[0] = greatest(row);
                } else if ranking.as_mut().is_some_and(|ranking| ranking.columns(row, piece)) {
                } else if k == columns {
                    sort(row, piece);
                } else {
                    select(row, &mut heap, sorted);
                    piece.copy_from_slice(&heap[..k]);
                }
            }
            Ok(())
        })?;
        let picked = picked.as_slice::<u32>()?;
        ctx.parallel_chunks(values.as_mut_slice::<T>()?, k, 1, |first, pieces| {
            for (r, piece) in (first / k..).zip(pieces.chunks_exact_mut(k)) {
                let row = &rows[r * columns..][..columns];
                for (value, &column) in piece.iter_mut().zip(&picked[r * k..]) {
                    *value = row[column as usize];
                }
            }
        });
    }
    let indices = indices_tensor(index_type, values.shape(), picked.as_slice::<u32>()?)?;
    ctx.set_output_at(0, values)?;
    ctx.set_output_at(1, indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(row: &[f32], k: usize, sorted: bool) -> Vec<u32> {
        let mut heap = vec![0; k + 1];
        select(row, &mut heap, sorted);
        heap[..k].to_vec()
    }

    #[test]
    fn the_greatest_is_the_first_that_none_exceeds() {
        let nan = f32::NAN;
        assert_eq!(greatest(&[nan, nan]), 0);
        assert_eq!(greatest(&[nan, -0.0, nan, 0.0]), 1);
        assert_eq!(greatest(&[f32::NEG_INFINITY; 3]), 0);
        for length in [1, 31, 32, 33, 200, 1000] {
            for place in [0, length / 2, length - 1] {
                let mut row = vec![-1i64; length];
                row[place..].fill(5);
                assert_eq!(greatest(&row) as usize, place, "{length}");
                let mut row = vec![nan; length];
                row[place] = -2.0;
                assert_eq!(greatest(&row) as usize, place, "{length}");
            }
        }
    }

    #[test]
    fn the_order_is_that_of_tensorflow() {
        let nan = f32::NAN;
        assert_eq!(selected(&[3.0, 1.0, 2.0, 5.0, 4.0, 9.0, 7.0], 3, false), [3, 5, 6]);
        assert_eq!(selected(&[3.0, 1.0, 2.0, 5.0, 4.0, 9.0, 7.0], 2, false), [6, 5]);
        assert_eq!(selected(&[9.0, 8.0, 7.0, 1.0, 2.0, 3.0], 3, false), [2, 1, 0]);
        assert_eq!(selected(&[1.0, 2.0, nan, nan, 5.0, 4.0], 3, true), [1, 0, 2]);
        assert_eq!(selected(&[2.0, 1.0, 2.0, 2.0], 2, true), [0, 2]);
        let mut order = [0; 6];
        sort(&[1.0, 2.0, nan, nan, 5.0, 4.0], &mut order);
        assert_eq!(order, [4, 1, 0, 2, 3, 5]);
        let mut order = [0; 40];
        sort(&[nan; 40], &mut order);
        assert_eq!(order[39], 39);
    }
}
