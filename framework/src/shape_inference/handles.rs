//! What resources and variants hold: the shapes and dtypes behind a handle, carried beside the handle's own shape.

use super::context::set_at;
use super::{InferenceContext, ShapeAndType};

impl InferenceContext<'_> {
    /// What the resource or variant at input `index` holds, if known.
    pub fn input_handle_shapes_and_types(&self, index: usize) -> Option<&[ShapeAndType]> {
        self.input_handles.get(index)?.as_deref()
    }

    /// Says what the resource or variant at input `index` holds; nothing happens if there is no such input.
    pub fn set_input_handle_shapes_and_types(&mut self, index: usize, held: &[ShapeAndType]) {
        if index < self.num_inputs() {
            set_at(&mut self.input_handles, index, held.to_vec());
        }
    }

    /// What the resource or variant at output `index` holds, if known.
    pub fn output_handle_shapes_and_types(&self, index: usize) -> Option<Vec<ShapeAndType>> {
        self.output_handles.borrow().get(index).cloned().flatten()
    }

    /// Says what the resource or variant at output `index` holds.
    #[track_caller]
    pub fn set_output_handle_shapes_and_types(&self, index: usize, held: &[ShapeAndType]) {
        if index < self.num_outputs() {
            set_at(&mut self.output_handles.borrow_mut(), index, held.to_vec());
        } else {
            self.record_fault(self.signature().no_output(self.op(), index).message().to_owned());
        }
    }

    /// Copies what is known of the resource or variant at input `input` to output `index`.
    #[track_caller]
    pub fn forward_handle_shapes_and_types(&self, input: usize, index: usize) {
        if let Some(held) = self.input_handle_shapes_and_types(input) {
            self.set_output_handle_shapes_and_types(index, held);
        }
    }

    /// Merges `held` into what is known of input `index`. Returns whether that told something new. Nothing changes if the
    /// numbers of tensors or their dtypes differ, and shapes that contradict each other stay as they were.
    pub fn merge_input_handle_shapes_and_types(&mut self, index: usize, held: &[ShapeAndType]) -> bool {
        let update = self.input_handle_shapes_and_types(index).map(|known| self.merged(known, held));
        self.update_input(index, held, update)
    }

    /// As [`merge_input_handle_shapes_and_types`](Self::merge_input_handle_shapes_and_types), for output `index`.
    pub fn merge_output_handle_shapes_and_types(&self, index: usize, held: &[ShapeAndType]) -> bool {
        let update = self.output_handle_shapes_and_types(index).map(|known| self.merged(&known, held));
        self.update_output(index, held, update)
    }

    /// Relaxes what is known of input `index` to what `held` agrees with. Returns false, and changes nothing, if the numbers
    /// of tensors or their dtypes differ.
    pub fn relax_input_handle_shapes_and_merge_types(&mut self, index: usize, held: &[ShapeAndType]) -> bool {
        let update = self.input_handle_shapes_and_types(index).map(|known| self.relaxed(known, held));
        self.update_input(index, held, update)
    }

    /// As [`relax_input_handle_shapes_and_merge_types`](Self::relax_input_handle_shapes_and_merge_types), for output
    /// `index`.
    pub fn relax_output_handle_shapes_and_merge_types(&self, index: usize, held: &[ShapeAndType]) -> bool {
        let update = self.output_handle_shapes_and_types(index).map(|known| self.relaxed(&known, held));
        self.update_output(index, held, update)
    }

    /// `update` is `None` if nothing was known.
    fn update_input(&mut self, index: usize, held: &[ShapeAndType], update: Option<Option<Vec<ShapeAndType>>>) -> bool {
        let update = update.unwrap_or_else(|| Some(held.to_vec()));
        update.is_some_and(|held| {
            self.set_input_handle_shapes_and_types(index, &held);
            true
        })
    }

    fn update_output(&self, index: usize, held: &[ShapeAndType], update: Option<Option<Vec<ShapeAndType>>>) -> bool {
        let update = update.unwrap_or_else(|| Some(held.to_vec()));
        update.is_some_and(|held| {
            self.set_output_handle_shapes_and_types(index, &held);
            true
        })
    }

    /// The merge of both; `None` if it is nothing new, or they contradict each other.
    fn merged(&self, known: &[ShapeAndType], held: &[ShapeAndType]) -> Option<Vec<ShapeAndType>> {
        let merged = self.both(known, held, |known, held| self.merge(known, held).unwrap_or(known))?;
        (merged != known).then_some(merged)
    }

    fn relaxed(&self, known: &[ShapeAndType], held: &[ShapeAndType]) -> Option<Vec<ShapeAndType>> {
        self.both(known, held, |known, held| self.relax(known, held))
    }

    fn both(
        &self,
        known: &[ShapeAndType],
        held: &[ShapeAndType],
        shape: impl Fn(super::ShapeHandle, super::ShapeHandle) -> super::ShapeHandle,
    ) -> Option<Vec<ShapeAndType>> {
        if known.len() != held.len() {
            return None;
        }
        let pairs = known.iter().zip(held);
        pairs
            .map(|(known, held)| {
                let dtype = match (known.dtype, held.dtype) {
                    (Some(a), b) if b == Some(a) => Some(a),
                    (None, dtype) => dtype,
                    (Some(_), _) => return None,
                };
                Some(ShapeAndType { shape: shape(known.shape, held.shape), dtype })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DataType;
    use crate::shape_inference::testing::context;

    #[test]
    fn what_is_held_is_merged() {
        context("?;[1,?];[?,2];[3]", |c| {
            let of = |index: usize, dtype| ShapeAndType { shape: c.input(index), dtype };
            let (unknown, first, second, other) =
                (of(0, None), of(1, Some(DataType::Float)), of(2, Some(DataType::Float)), of(3, Some(DataType::Int32)));
            assert_eq!(c.input_handle_shapes_and_types(0), None);
            assert!(c.merge_input_handle_shapes_and_types(0, &[unknown]));
            assert!(c.merge_input_handle_shapes_and_types(0, &[first]));
            assert_eq!(c.input_handle_shapes_and_types(0), Some(&[first][..]));
            assert!(!c.merge_input_handle_shapes_and_types(0, &[first]));
            assert!(!c.merge_input_handle_shapes_and_types(0, &[other]));
            assert!(!c.merge_input_handle_shapes_and_types(0, &[first, first]));
            assert!(c.merge_input_handle_shapes_and_types(0, &[second]));
            assert_eq!(c.debug_string(c.input_handle_shapes_and_types(0).unwrap()[0].shape), "[1,2]");
            assert!(
                !c.merge_input_handle_shapes_and_types(9, &[first]) || c.input_handle_shapes_and_types(9).is_none()
            );

            assert!(c.merge_output_handle_shapes_and_types(1, &[first]));
            assert!(c.merge_output_handle_shapes_and_types(1, &[second]));
            assert_eq!(c.debug_string(c.output_handle_shapes_and_types(1).unwrap()[0].shape), "[1,2]");
            assert_eq!(c.output_handle_shapes_and_types(0), None);
        });
    }

    #[test]
    fn what_is_held_is_relaxed() {
        context("[1,2];[1,3];[?,2];[3]", |c| {
            let of = |index: usize| ShapeAndType { shape: c.input(index), dtype: Some(DataType::Float) };
            let inputs = [of(0), of(1), of(2), of(3)];
            let shape = |c: &InferenceContext<'_>| c.debug_string(c.input_handle_shapes_and_types(0).unwrap()[0].shape);
            assert!(c.relax_input_handle_shapes_and_merge_types(0, &[inputs[0]]));
            assert!(c.relax_input_handle_shapes_and_merge_types(0, &[inputs[1]]));
            assert_eq!(shape(c), "[1,?]");
            assert!(c.relax_input_handle_shapes_and_merge_types(0, &[inputs[2]]));
            assert_eq!(shape(c), "[?,?]");
            assert!(c.relax_input_handle_shapes_and_merge_types(0, &[inputs[3]]));
            assert_eq!(shape(c), "?");
            assert!(!c.relax_input_handle_shapes_and_merge_types(0, &[]));
            assert!(c.relax_output_handle_shapes_and_merge_types(0, &[inputs[0]]));
            assert!(c.relax_output_handle_shapes_and_merge_types(0, &[inputs[1]]));
            assert_eq!(c.debug_string(c.output_handle_shapes_and_types(0).unwrap()[0].shape), "[1,?]");
            c.forward_handle_shapes_and_types(0, 1);
            assert_eq!(c.debug_string(c.output_handle_shapes_and_types(1).unwrap()[0].shape), "?");
        });
    }
}
