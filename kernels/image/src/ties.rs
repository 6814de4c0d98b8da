//! Heaps and sorting that leave equal elements in the order in which the C++ standard library of GNU leaves them.
//!
//! Neither a heap nor an unstable sort says anything of the order of equal elements, and yet it is what decides between
//! detections with equal scores. TensorFlow uses `std::priority_queue` and `std::sort`; these are their algorithms: binary
//! heaps whose hole sinks to the bottom before it rises (Knuth, The Art of Computer Programming 3, 5.2.3, exercise 18), and
//! Musser's introsort ("Introspective Sorting and Selection Algorithms", 1997) with a final insertion sort.

/// Ranges up to this length are left to the insertion sort.
const SHORT: usize = 16;

/// Moves `value` from the hole at `hole` up to where it belongs, not above `top`.
fn rise<T: Copy>(heap: &mut [T], mut hole: usize, top: usize, value: T, less: impl Fn(T, T) -> bool) {
    while hole > top {
        let parent = (hole - 1) / 2;
        if !less(heap[parent], value) {
            break;
        }
        heap[hole] = heap[parent];
        hole = parent;
    }
    heap[hole] = value;
}

/// Fills the hole at `top` with the greater of its children, and so on, and puts `value` in where it belongs.
fn sink<T: Copy>(heap: &mut [T], top: usize, value: T, less: impl Fn(T, T) -> bool) {
    let length = heap.len();
    let mut hole = top;
    loop {
        let right = 2 * hole + 2;
        let child = match right {
            _ if right < length => right - usize::from(less(heap[right], heap[right - 1])),
            _ if right == length => right - 1,
            _ => break,
        };
        heap[hole] = heap[child];
        hole = child;
    }
    rise(heap, hole, top, value, less);
}

/// Adds the last element to the heap of those before it: `std::push_heap`.
pub(crate) fn push<T: Copy>(heap: &mut [T], less: impl Fn(T, T) -> bool) {
    if let [.., value] = *heap {
        rise(heap, heap.len() - 1, 0, value, less);
    }
}

/// Exchanges the greatest element of a heap for the last, which it makes part of the heap of the others: `std::pop_heap`.
pub(crate) fn pop<T: Copy>(heap: &mut [T], less: impl Fn(T, T) -> bool) {
    let Some((last, rest)) = heap.split_last_mut() else { return };
    if let Some(&greatest) = rest.first() {
        let value = std::mem::replace(last, greatest);
        sink(rest, 0, value, less);
    }
}

/// Sorts as `std::sort` does. `less` is a strict weak order.
pub(crate) fn sort<T: Copy>(items: &mut [T], less: impl Fn(T, T) -> bool + Copy) {
    introsort(items, 2 * items.len().max(1).ilog2(), less);
    // What is left is at most `SHORT` places from where it belongs, so that only the first of these can lack a lower bound.
    for at in 1..items.len() {
        let value = items[at];
        if at < SHORT && less(value, items[0]) {
            items.copy_within(..at, 1);
            items[0] = value;
            continue;
        }
        let mut hole = at;
        while hole > 0 && less(value, items[hole - 1]) {
            items[hole] = items[hole - 1];
            hole -= 1;
        }
        items[hole] = value;
    }
}

/// Sorts but for ranges of at most [`SHORT`].
fn introsort<T: Copy>(mut items: &mut [T], depth: u32, less: impl Fn(T, T) -> bool + Copy) {
    for depth in (0..=depth).rev() {
        if items.len() <= SHORT {
            return;
        }
        if depth == 0 {
            return heapsort(items, less);
        }
        let cut = partition(items, less);
        let (lower, upper) = items.split_at_mut(cut);
        introsort(upper, depth - 1, less);
        items = lower;
    }
}

fn heapsort<T: Copy>(items: &mut [T], less: impl Fn(T, T) -> bool + Copy) {
    for top in (0..items.len() / 2).rev() {
        let value = items[top];
        sink(items, top, value, less);
    }
    for length in (2..=items.len()).rev() {
        pop(&mut items[..length], less);
    }
}

/// Puts those not above the median of three before those not below it; returns where the latter begin.
fn partition<T: Copy>(items: &mut [T], less: impl Fn(T, T) -> bool) -> usize {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let is_less = |x: usize, y: usize| less(items[x], items[y]);
    let median = match is_less(a, b) {
        true if is_less(b, c) => b,
        true if is_less(a, c) => c,
        true => a,
        false if is_less(a, c) => a,
        false if is_less(b, c) => c,
        false => b,
    };
    items.swap(0, median);
    let pivot = items[0];
    let (mut first, mut last) = (1, items.len());
    loop {
        while less(items[first], pivot) {
            first += 1;
        }
        last -= 1;
        while less(pivot, items[last]) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        items.swap(first, last);
        first += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    fn numbers(count: usize, below: u32) -> Vec<u32> {
        let mut state = 12345u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        (0..count).map(next).collect()
    }

    const GNU_HEAP: [usize; 8] = [0, 2, 6, 5, 7, 4, 1, 3];
    #[rustfmt::skip]
    const GNU_SORT: [usize; 40] = [
        29, 20, 17, 23, 14, 26, 11, 8, 32, 5, 35, 2, 38, 31, 1, 34, 28, 25, 37, 22, 16, 13, 4, 10, 19, 7, 30, 39, 0, 3, 36, 6,
        33, 9, 12, 27, 15, 24, 18, 21,
    ];

    #[test]
    fn everything_is_sorted() {
        for count in [0, 1, 2, 3, 15, 16, 17, 40, 1000] {
            for below in [1, 2, 10, 1 << 20] {
                let mut items = numbers(count, below);
                let mut expected = items.clone();
                expected.sort_unstable();
                sort(&mut items, |a, b| a < b);
                assert_eq!(items, expected, "{count} below {below}");
                heapsort(&mut items, |a, b| b < a);
                expected.reverse();
                assert_eq!(items, expected, "{count} below {below}");
            }
        }
        // A sequence on which the median of three is always bad ends with the heap.
        let mut items: Vec<u32> = (0..2000).map(|i| if i % 2 == 0 { i / 2 } else { 2000 - i }).collect();
        let mut expected = items.clone();
        expected.sort_unstable();
        sort(&mut items, |a, b| a < b);
        assert_eq!(items, expected);
    }

    #[test]
    fn the_greatest_leaves_first() {
        let (mut heap, mut left) = (Vec::new(), Vec::new());
        for number in numbers(100, 50) {
            heap.push(number);
            push(&mut heap, |a, b| a < b);
        }
        while !heap.is_empty() {
            pop(&mut heap, |a, b| a < b);
            left.extend(heap.pop());
        }
        let mut expected = numbers(100, 50);
        expected.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(left, expected);
    }

    /// What `g++` makes of it: each element with its place, compared without it.
    #[test]
    fn equal_elements_leave_in_the_order_of_gnu() {
        let mut heap = Vec::new();
        for place in 0..8 {
            heap.push((1, place));
            push(&mut heap, |a, b| a.0 < b.0);
        }
        let mut left = Vec::new();
        while !heap.is_empty() {
            pop(&mut heap, |a, b| a.0 < b.0);
            left.extend(heap.pop().map(|(_, place)| place));
        }
        assert_eq!(left, GNU_HEAP);
        let mut items: Vec<(u32, usize)> = (0..40).map(|place| (place as u32 % 3, place)).collect();
        sort(&mut items, |a, b| b.0 < a.0);
        assert_eq!(items.iter().map(|item| item.1).collect::<Vec<_>>(), GNU_SORT);
    }
}
