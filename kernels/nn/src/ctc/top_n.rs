//! The greatest of many items. Which of equal items are kept, and in what order, is as in TensorFlow: its `TopN` stands on the
//! heaps and the sort of the C++ library of GNU, whose steps are followed here.

use kernlink::Result;
use kernlink::tensor::scratch;

/// Ranges of no more items are sorted by insertion.
const FEW: usize = 16;

/// What is known of the order of the items.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Unordered,
    /// The least stands first.
    BottomKnown,
    /// There are as many as there may be, in a heap whose top is the least.
    Heap,
}

/// At most so many items, the greatest of those that were pushed. `is_greater` of each function compares them, always in the
/// same way.
pub(super) struct TopN<I> {
    items: Vec<I>,
    limit: usize,
    state: State,
}

impl<I: Copy> TopN<I> {
    pub(super) fn new(limit: usize) -> TopN<I> {
        TopN { items: Vec::new(), limit, state: State::Unordered }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The items, in no order that is promised.
    pub(super) fn items(&self) -> &[I] {
        &self.items
    }

    /// Adds an item, and drops the least if there are too many.
    pub(super) fn push(&mut self, item: I, is_greater: impl Fn(I, I) -> bool) -> Result<()> {
        if self.limit == 0 {
            return Ok(());
        }
        if self.state == State::Heap {
            if is_greater(item, self.items[0]) {
                pop_heap(&mut self.items, &is_greater);
                let last = self.items.len() - 1;
                self.items[last] = item;
                sift_up(&mut self.items, last, 0, item, &is_greater);
            }
            return Ok(());
        }
        scratch::push(&mut self.items, item)?;
        let last = self.items.len() - 1;
        if self.items.len() == self.limit + 1 {
            make_heap(&mut self.items, &is_greater);
            pop_heap(&mut self.items, &is_greater);
            self.items.pop();
            self.state = State::Heap;
        } else if self.state == State::BottomKnown && !is_greater(item, self.items[0]) {
            self.items.swap(0, last);
        }
        Ok(())
    }

    /// The least item, if there is one.
    pub(super) fn bottom(&mut self, is_greater: impl Fn(I, I) -> bool) -> Option<I> {
        if self.state == State::Unordered && !self.items.is_empty() {
            let mut least = 0;
            for index in 1..self.items.len() {
                if is_greater(self.items[least], self.items[index]) {
                    least = index;
                }
            }
            self.items.swap(0, least);
            self.state = State::BottomKnown;
        }
        self.items.first().copied()
    }

    /// The items, the greatest first; none are left.
    pub(super) fn extract(&mut self, is_greater: impl Fn(I, I) -> bool) -> Vec<I> {
        let mut items = std::mem::take(&mut self.items);
        match self.state {
            State::Heap => sort_heap(&mut items, &is_greater),
            _ => sort(&mut items, &is_greater),
        }
        self.state = State::Unordered;
        items
    }
}

/// Moves `item` up from `hole`, not above `top`.
fn sift_up<I: Copy>(items: &mut [I], mut hole: usize, top: usize, item: I, is_greater: &impl Fn(I, I) -> bool) {
    while hole > top && is_greater(items[(hole - 1) / 2], item) {
        items[hole] = items[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    items[hole] = item;
}

/// Puts `item` where it belongs at or below `top`, the root of a heap but for what was there.
fn sift_down<I: Copy>(items: &mut [I], top: usize, item: I, is_greater: &impl Fn(I, I) -> bool) {
    let count = items.len();
    let mut hole = top;
    while 2 * hole + 2 < count {
        let right = 2 * hole + 2;
        let child = if is_greater(items[right], items[right - 1]) { right - 1 } else { right };
        items[hole] = items[child];
        hole = child;
    }
    if 2 * hole + 2 == count {
        items[hole] = items[count - 1];
        hole = count - 1;
    }
    sift_up(items, hole, top, item, is_greater);
}

fn make_heap<I: Copy>(items: &mut [I], is_greater: &impl Fn(I, I) -> bool) {
    for root in (0..items.len() / 2).rev() {
        sift_down(items, root, items[root], is_greater);
    }
}

/// Moves the top of a heap to its end.
fn pop_heap<I: Copy>(items: &mut [I], is_greater: &impl Fn(I, I) -> bool) {
    if let Some((last, rest)) = items.split_last_mut()
        && !rest.is_empty()
    {
        let item = std::mem::replace(last, rest[0]);
        sift_down(rest, 0, item, is_greater);
    }
}

fn sort_heap<I: Copy>(items: &mut [I], is_greater: &impl Fn(I, I) -> bool) {
    for count in (2..=items.len()).rev() {
        pop_heap(&mut items[..count], is_greater);
    }
}

/// Sorts items, the greatest first: by parting them, and in the end by insertion.
fn sort<I: Copy>(items: &mut [I], is_greater: &impl Fn(I, I) -> bool) {
    if items.len() > 1 {
        part(items, 2 * items.len().ilog2(), is_greater);
        insert(items, is_greater);
    }
}

/// Parts items until no part has more than a few, or the depth is reached, from where on a heap sorts.
fn part<I: Copy>(mut items: &mut [I], mut depth: u32, is_greater: &impl Fn(I, I) -> bool) {
    while items.len() > FEW {
        if depth == 0 {
            make_heap(items, is_greater);
            return sort_heap(items, is_greater);
        }
        depth -= 1;
        median_first(items, is_greater);
        let pivot = items[0];
        let count = items.len();
        let (mut first, mut last) = (1, count);
        // Where comparisons contradict each other, as with NaN, the ends are the bounds.
        loop {
            while first < count && is_greater(items[first], pivot) {
                first += 1;
            }
            last -= 1;
            while last > 0 && is_greater(pivot, items[last]) {
                last -= 1;
            }
            if first >= last {
                break;
            }
            items.swap(first, last);
            first += 1;
        }
        let (before, after) = items.split_at_mut(first);
        part(after, depth, is_greater);
        items = before;
    }
}

/// Exchanges the first item for the median of the second, the middle one and the last.
fn median_first<I: Copy>(items: &mut [I], is_greater: &impl Fn(I, I) -> bool) {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let order = |x: usize, y: usize| is_greater(items[x], items[y]);
    let median = match (order(a, b), order(b, c), order(a, c)) {
        (true, true, _) => b,
        (true, false, true) => c,
        (true, false, false) => a,
        (false, _, true) => a,
        (false, true, false) => c,
        (false, false, false) => b,
    };
    items.swap(0, median);
}

/// Sorts by insertion.
fn insert<I: Copy>(items: &mut [I], is_greater: &impl Fn(I, I) -> bool) {
    for index in 1..items.len() {
        let item = items[index];
        let mut place = index;
        while place > 0 && is_greater(item, items[place - 1]) {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_are_kept_in_order() {
        for count in [0, 1, 2, 5, 16, 17, 40, 200] {
            for limit in [0, 1, 3, 16, 17, 64, 300] {
                let numbers: Vec<i32> = (0..count).map(|k| (k * 7919 + 13) % 101).collect();
                let mut top = TopN::new(limit);
                for (index, &number) in numbers.iter().enumerate() {
                    top.push(number, |a, b| a > b).unwrap();
                    if index % 3 == 0 {
                        let least = top.items().iter().min().copied();
                        assert_eq!(top.bottom(|a, b| a > b), least);
                    }
                }
                let mut expected = numbers.clone();
                expected.sort_by(|a, b| b.cmp(a));
                expected.truncate(limit);
                assert_eq!(top.len(), expected.len());
                assert_eq!(top.extract(|a, b| a > b), expected, "{count} {limit}");
            }
        }
    }

    #[test]
    fn numbers_that_are_none_do_no_harm() {
        let mut top = TopN::new(40);
        for k in 0..100 {
            top.push(if k % 3 == 0 { f32::NAN } else { (k % 7) as f32 }, |a, b| a > b).unwrap();
        }
        assert_eq!(top.extract(|a, b| a > b).len(), 40);
        let mut numbers: Vec<f32> = (0..50).map(|k| if k % 2 == 0 { f32::NAN } else { k as f32 }).collect();
        sort(&mut numbers, &|a, b| a > b);
        assert_eq!(numbers.len(), 50);
    }
}
