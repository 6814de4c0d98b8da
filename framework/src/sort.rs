//! Sorting that costs little code. The standard library's is compiled for each type and order, to several kilobytes each
//! time; here one function sorts the places of items, whatever these are. For lists that are short, or sorted once.

use std::cmp::Ordering;

/// Stable sorting of slices.
pub trait CompactSort<T> {
    /// Sorts in rising order.
    fn compact_sort(&mut self)
    where
        T: Ord;

    /// Sorts by a key.
    fn compact_sort_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);

    /// Sorts by a function.
    fn compact_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);
}

impl<T> CompactSort<T> for [T] {
    fn compact_sort(&mut self)
    where
        T: Ord,
    {
        self.compact_sort_by(T::cmp);
    }

    fn compact_sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.compact_sort_by(|a, b| key(a).cmp(&key(b)));
    }

    fn compact_sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        if self.len() < 2 {
            return;
        }
        let mut places = places(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        // One cycle of moves after the other.
        for start in 0..places.len() {
            let mut to = start;
            while places[to] != to {
                let from = std::mem::replace(&mut places[to], to);
                if from == start {
                    break;
                }
                self.swap(to, from);
                to = from;
            }
        }
    }
}

/// Where the items stand that are to stand at each place.
#[inline(never)]
fn places(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_unstable_by(|&a, &b| compare(a, b).then(a.cmp(&b)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_sorted_as_the_standard_library_does_it() {
        for count in [0, 1, 2, 3, 10, 100, 1000] {
            let items: Vec<(usize, usize)> = (0..count).map(|i| (i * 7919 % 53, i)).collect();
            let (mut by_key, mut right) = (items.clone(), items.clone());
            by_key.compact_sort_by_key(|item| item.0);
            right.sort_by_key(|item| item.0);
            assert_eq!(by_key, right);
            let (mut falling, mut right) = (items.clone(), items.clone());
            falling.compact_sort_by(|a, b| b.0.cmp(&a.0));
            right.sort_by_key(|item| std::cmp::Reverse(item.0));
            assert_eq!(falling, right);
            let mut all: Vec<(usize, usize)> = items.iter().rev().copied().collect();
            all.compact_sort();
            assert!(all.is_sorted() && all.len() == count);
        }
    }
}
