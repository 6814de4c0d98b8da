//! How queues keep their elements: in order, at random, by priority.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use kernlink::Result;

use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};

/// An element of a queue: one tensor a component.
pub(super) type Element = Vec<Tensor>;

/// The elements of a queue.
pub(super) enum Store {
    Ordered(VecDeque<Element>),
    Shuffled {
        elements: Vec<Element>,
        random: Philox,
        /// How many must be left while the queue is open.
        keep: usize,
    },
    /// By the first component and, among equals, in the order in which they came.
    ByPriority {
        elements: BinaryHeap<Prioritized>,
        next: u64,
    },
}

/// An element in its place: the heap's greatest is that with the lowest priority and number.
pub(super) struct Prioritized {
    place: Reverse<(i64, u64)>,
    element: Element,
}

impl PartialEq for Prioritized {
    fn eq(&self, other: &Prioritized) -> bool {
        self.place == other.place
    }
}

impl Eq for Prioritized {}

impl PartialOrd for Prioritized {
    fn partial_cmp(&self, other: &Prioritized) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Prioritized {
    fn cmp(&self, other: &Prioritized) -> std::cmp::Ordering {
        self.place.cmp(&other.place)
    }
}

impl Store {
    pub(super) fn len(&self) -> usize {
        match self {
            Store::Ordered(elements) => elements.len(),
            Store::Shuffled { elements, .. } => elements.len(),
            Store::ByPriority { elements, .. } => elements.len(),
        }
    }

    /// How many elements may be taken.
    pub(super) fn available(&self, is_closed: bool) -> usize {
        match self {
            Store::Shuffled { elements, keep, .. } if !is_closed => elements.len().saturating_sub(*keep),
            _ => self.len(),
        }
    }

    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn push(&mut self, element: Element) -> Result<()> {
        match self {
            Store::Ordered(elements) => {
                elements.make_room(1)?;
                elements.push_back(element);
            }
            Store::Shuffled { elements, .. } => scratch::push(elements, element)?,
            Store::ByPriority { elements, next } => {
                let place = Reverse((element[0].to_scalar::<i64>()?, *next));
                elements.make_room(1)?;
                elements.push(Prioritized { place, element });
                *next += 1;
            }
        }
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<Element> {
        match self {
            Store::Ordered(elements) => elements.pop_front(),
            Store::Shuffled { elements, random, .. } if !elements.is_empty() => {
                let index = random.next() as usize % elements.len();
                Some(elements.swap_remove(index))
            }
            Store::Shuffled { .. } => None,
            Store::ByPriority { elements, .. } => elements.pop().map(|first| first.element),
        }
    }

    /// Puts elements that were popped back, so that they are popped again in the same order if there is one.
    pub(super) fn give_back(&mut self, taken: Vec<Element>) {
        match self {
            Store::Ordered(elements) => taken.into_iter().rev().for_each(|element| elements.push_front(element)),
            Store::Shuffled { elements, .. } => elements.extend(taken),
            Store::ByPriority { .. } => taken.into_iter().for_each(|element| {
                // It was pushed before, so that its priority can be read.
                let _ = self.push(element);
            }),
        }
    }
}

/// TensorFlow's generator of random numbers, one at a time.
pub(super) struct Philox {
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    used: usize,
}

impl Philox {
    pub(super) fn new(seed: u64, seed2: u64) -> Philox {
        let (low, high) = (seed2 as u32, (seed2 >> 32) as u32);
        let key = [seed as u32, (seed >> 32) as u32];
        Philox { key, counter: [0, 0, low, high], block: [0; 4], used: 4 }
    }

    fn next(&mut self) -> u32 {
        if self.used == 4 {
            self.block = self.rounds();
            self.used = 0;
            for part in &mut self.counter {
                *part = part.wrapping_add(1);
                if *part != 0 {
                    break;
                }
            }
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    fn rounds(&self) -> [u32; 4] {
        let (mut c, mut key) = (self.counter, self.key);
        for _ in 0..10 {
            let (a, b) = (0xD251_1F53 * u64::from(c[0]), 0xCD9E_8D57 * u64::from(c[2]));
            let high = |product: u64| (product >> 32) as u32;
            c = [high(b) ^ c[1] ^ key[0], b as u32, high(a) ^ c[3] ^ key[1], a as u32];
            key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
        }
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_what_its_authors_publish() {
        let mut random = Philox::new(0, 0);
        assert_eq!([(); 4].map(|()| random.next()), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    }
}
