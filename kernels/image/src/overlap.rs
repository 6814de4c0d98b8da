//! How much boxes overlap.

use kernlink::Result;
use kernlink::dtype::Pod;
use kernlink::tensor::scratch;
use kernlink_kernels_common::extremes::{max_or_first, min_or_first};
use kernlink_kernels_common::widest;

/// A box: its least and greatest coordinates, and its area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Box {
    top: f32,
    left: f32,
    bottom: f32,
    right: f32,
    area: f32,
}

impl Box {
    /// That of two opposite corners.
    #[inline(always)]
    pub(crate) fn new([y0, x0, y1, x1]: [f32; 4]) -> Box {
        let (top, left, bottom, right) =
            (min_or_first(y0, y1), min_or_first(x0, x1), max_or_first(y0, y1), max_or_first(x0, x1));
        Box { top, left, bottom, right, area: (bottom - top) * (right - left) }
    }

    /// Whether its area is a number, as are all in it.
    pub(crate) fn is_finite(&self) -> bool {
        // Twice, as the area of a union may be.
        (self.area * 2.0).is_finite()
    }

    /// The intersection as a part of the union; 0 for boxes without area.
    #[inline(always)]
    pub(crate) fn overlap(&self, other: &Box) -> f32 {
        if self.area <= 0.0 || other.area <= 0.0 {
            return 0.0;
        }
        self.part(other.top, other.left, other.bottom, other.right, other.area)
    }

    #[inline(always)]
    fn part(&self, top: f32, left: f32, bottom: f32, right: f32, area: f32) -> f32 {
        let height = max_or_first(min_or_first(self.bottom, bottom) - max_or_first(self.top, top), 0.0);
        let width = max_or_first(min_or_first(self.right, right) - max_or_first(self.left, left), 0.0);
        let intersection = height * width;
        intersection / (self.area + area - intersection)
    }
}

/// The boxes of a matrix of corners.
pub(crate) fn boxes_of<T: Pod + Into<f32>>(corners: &[T]) -> Result<Vec<Box>> {
    scratch::collected(corners.as_chunks::<4>().0.iter().map(|corners| Box::new(corners.map(Into::into))))
}

/// How many boxes are compared at once.
const GROUP: usize = 16;

/// As many boxes as are compared at once, coordinate by coordinate. What is not filled overlaps with nothing.
#[derive(Clone, Copy, Default)]
struct Group {
    top: [f32; GROUP],
    left: [f32; GROUP],
    bottom: [f32; GROUP],
    right: [f32; GROUP],
    area: [f32; GROUP],
}

/// Boxes that others are compared with.
#[derive(Default)]
pub(crate) struct Chosen {
    groups: Vec<Group>,
    count: usize,
}

impl Chosen {
    pub(crate) fn push(&mut self, other: &Box) -> Result<()> {
        let place = self.count % GROUP;
        if place == 0 {
            scratch::push(&mut self.groups, Group::default())?;
        }
        if let Some(group) = self.groups.last_mut() {
            group.top[place] = other.top;
            group.left[place] = other.left;
            group.bottom[place] = other.bottom;
            group.right[place] = other.right;
            group.area[place] = other.area;
            self.count += 1;
        }
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.groups.clear();
        self.count = 0;
    }

    /// Whether one of them overlaps with `other` more than `limit`, which is not negative.
    pub(crate) fn overlap(&self, other: &Box, limit: f32) -> bool {
        // A box without area overlaps with none; of NaN that is not said.
        let has_none = other.area <= 0.0;
        !has_none && any_overlaps(&self.groups, other, limit)
    }
}

widest! {
    /// Whether a box overlaps with one of others more than `limit`.
    fn any_overlaps(groups: &[Group], other: &Box, limit: f32) -> bool {
        // Boxes that overlap are likely to have been chosen one after the other: the last ones first.
        groups.iter().rev().any(|group| {
            let mut found = 0u32;
            for place in 0..GROUP {
                let area = group.area[place];
                let part = other.part(group.top[place], group.left[place], group.bottom[place], group.right[place], area);
                let has_none = area <= 0.0;
                found |= u32::from(part > limit) & u32::from(!has_none);
            }
            found != 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_parts_of_unions() {
        let unit = Box::new([0.0, 0.0, 1.0, 1.0]);
        assert_eq!(unit.overlap(&Box::new([1.0, 1.0, 0.0, 0.0])), 1.0);
        assert_eq!(unit.overlap(&Box::new([0.0, 0.5, 1.0, 1.5])), 1.0 / 3.0);
        assert_eq!(unit.overlap(&Box::new([2.0, 2.0, 3.0, 3.0])), 0.0);
        assert_eq!(unit.overlap(&Box::new([0.5, 0.5, 0.5, 0.8])), 0.0);
        assert!(unit.overlap(&Box::new([f32::NAN, 0.0, 1.0, 1.0])).is_nan());
        assert!(!Box::new([0.0, 0.0, f32::INFINITY, 1.0]).is_finite());
    }

    #[test]
    fn one_of_many_overlaps_as_each_does() {
        let mut chosen = Chosen::default();
        let boxes: Vec<Box> =
            (0..40).map(|i| Box::new([i as f32, 0.0, i as f32 + 1.5, 1.0 + (i % 3) as f32])).collect();
        for (index, other) in boxes.iter().enumerate() {
            let expected = boxes[..index].iter().any(|chosen| other.overlap(chosen) > 0.2);
            assert_eq!(chosen.overlap(other, 0.2), expected, "{index}");
            chosen.push(other).unwrap();
        }
        chosen.clear();
        assert!(!chosen.overlap(&boxes[0], 0.0));
    }
}
