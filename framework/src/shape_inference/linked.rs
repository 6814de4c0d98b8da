//! Shapes between nodes: unknown dimensions that keep their identity while a graph is refined node by node.

use std::collections::HashMap;

use super::context::{Arena, Dims};
use super::{DimHandle, InferenceContext, ShapeHandle};
use crate::attr::AttrMap;
use crate::op::{OpDef, Signature};
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// A dimension outside an [`InferenceContext`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkedDim {
    /// Of this size.
    Known(usize),
    /// Unknown; equal symbols stand for equal sizes.
    Symbol(u64),
}

/// A shape outside an [`InferenceContext`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LinkedShape {
    /// Of unknown rank; equal symbols stand for equal shapes.
    Symbol(u64),
    /// Of these dimensions.
    Dims(Vec<LinkedDim>),
}

impl LinkedShape {
    /// `shape` with new symbols, taken from `next_symbol`, for what is unknown.
    pub fn new(shape: &PartialShape, next_symbol: &mut u64) -> LinkedShape {
        match shape.dims() {
            None => LinkedShape::Symbol(take(next_symbol)),
            Some(dims) => LinkedShape::Dims(
                dims.iter()
                    .map(|dim| dim.map_or_else(|| LinkedDim::Symbol(take(next_symbol)), LinkedDim::Known))
                    .collect(),
            ),
        }
    }

    /// What is known of the shape.
    pub fn to_partial(&self) -> PartialShape {
        match self {
            LinkedShape::Symbol(_) => PartialShape::unknown(),
            LinkedShape::Dims(dims) => PartialShape::from_known(dims.iter().map(|dim| match dim {
                LinkedDim::Known(size) => Some(*size),
                LinkedDim::Symbol(_) => None,
            })),
        }
    }
}

fn take(next_symbol: &mut u64) -> u64 {
    *next_symbol += 1;
    *next_symbol - 1
}

/// Symbols outside and the handles that stand for them inside.
#[derive(Default)]
struct Symbols {
    dims: HashMap<u64, DimHandle>,
    shapes: HashMap<u64, ShapeHandle>,
}

impl Symbols {
    fn enter(&mut self, shape: &LinkedShape, arena: &mut Arena) -> ShapeHandle {
        match shape {
            LinkedShape::Symbol(symbol) => *self.shapes.entry(*symbol).or_insert_with(|| arena.new_shape(None)),
            LinkedShape::Dims(dims) => {
                let dims: Dims = dims
                    .iter()
                    .map(|dim| match dim {
                        LinkedDim::Known(size) => arena.new_dim(i64::try_from(*size).ok()),
                        LinkedDim::Symbol(symbol) => *self.dims.entry(*symbol).or_insert_with(|| arena.new_dim(None)),
                    })
                    .collect();
                arena.new_shape(Some(dims))
            }
        }
    }
}

/// What [`InferenceContext::new_linked`] knows of the symbols that it was given.
pub struct Links {
    dims: HashMap<DimHandle, u64>,
    shapes: HashMap<ShapeHandle, u64>,
}

impl<'a> InferenceContext<'a> {
    /// As [`InferenceContext::new`], for inputs whose unknown dimensions have an identity beyond this node.
    /// `input_tensors_as_shapes` is what is known of inputs that hold shapes. The [`Links`] are for
    /// [`linked_outputs`](InferenceContext::linked_outputs).
    pub fn new_linked(
        op: &'a OpDef,
        attrs: &'a AttrMap,
        signature: &'a Signature,
        input_shapes: &[LinkedShape],
        input_tensors: Vec<Option<Tensor>>,
        input_tensors_as_shapes: &[Option<LinkedShape>],
    ) -> (InferenceContext<'a>, Links) {
        let mut arena = Arena::default();
        let mut symbols = Symbols::default();
        let inputs = input_shapes.iter().map(|shape| symbols.enter(shape, &mut arena)).collect();
        let values = input_tensors_as_shapes
            .iter()
            .map(|shape| shape.as_ref().map(|shape| symbols.enter(shape, &mut arena)))
            .collect();
        let mut context = InferenceContext::with_arena(op, attrs, signature, arena, inputs, input_tensors);
        context.set_input_tensor_handles(values);
        let links = Links {
            dims: symbols.dims.into_iter().map(|(symbol, dim)| (dim, symbol)).collect(),
            shapes: symbols.shapes.into_iter().map(|(symbol, shape)| (shape, symbol)).collect(),
        };
        (context, links)
    }

    /// The shape of every output: what comes from an input keeps its symbol, what is new gets one from `next_symbol`.
    pub fn linked_outputs(&self, mut links: Links, next_symbol: &mut u64) -> Vec<LinkedShape> {
        (0..self.num_outputs())
            .map(|index| {
                let shape = self.output(index);
                match self.dims(shape) {
                    None => LinkedShape::Symbol(*links.shapes.entry(shape).or_insert_with(|| take(next_symbol))),
                    Some(dims) => LinkedShape::Dims(
                        dims.into_iter()
                            .map(|dim| match self.value(dim).and_then(|size| usize::try_from(size).ok()) {
                                Some(size) => LinkedDim::Known(size),
                                None => LinkedDim::Symbol(*links.dims.entry(dim).or_insert_with(|| take(next_symbol))),
                            })
                            .collect(),
                    ),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape_inference::testing::context;

    #[test]
    fn symbols_go_from_inputs_to_outputs() {
        context("?;?;?", |c| {
            let (op, attrs, signature) = (c.op(), c.attrs(), c.signature());
            let mut next = 0;
            let batch = LinkedDim::Symbol(take(&mut next));
            let first = LinkedShape::Dims(vec![batch, LinkedDim::Known(3)]);
            let second = LinkedShape::new(&PartialShape::from_dims(&[-1]).unwrap(), &mut next);
            let third = LinkedShape::new(&PartialShape::unknown(), &mut next);
            let inputs = [first.clone(), LinkedShape::Dims(vec![batch]), third.clone()];
            let values = [None, Some(LinkedShape::Dims(vec![batch, LinkedDim::Known(9)]))];
            let (mut context, links) = InferenceContext::new_linked(op, attrs, signature, &inputs, Vec::new(), &values);
            context
                .run(|c| {
                    assert_eq!(c.dim(c.input(0), 0), c.dim(c.input(1), 0));
                    assert_ne!(c.input(2), c.unknown_shape());
                    let value = c.make_shape_from_shape_tensor(1)?;
                    assert_eq!(c.dim(value, 0), c.dim(c.input(0), 0));
                    let new = c.unknown_dim();
                    c.set_output(0, c.make_shape([c.dim(value, 0), c.dim(value, 1), new, new]));
                    c.set_output(1, c.input(2));
                    Ok(())
                })
                .unwrap();
            let outputs = context.linked_outputs(links, &mut next);
            assert_eq!(outputs[1], third);
            let LinkedShape::Dims(dims) = &outputs[0] else { panic!("the rank is known") };
            assert_eq!(dims[..2], [batch, LinkedDim::Known(9)]);
            assert_eq!(dims[2], dims[3]);
            assert_ne!(dims[2], batch);
            assert_eq!(outputs[0].to_partial().to_string(), "[?,9,?,?]");
            assert_ne!(second, LinkedShape::Dims(vec![batch]));
        });
    }
}
