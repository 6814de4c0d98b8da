//! What is known of the shapes that tensors hold: `reshape(x, [shape(y)[0], 8])` has 8 columns, whatever `y` is.

use super::infer::Scope;
use super::{Graph, Node, NodeClass, Output};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::shape::{MAX_RANK, PartialShape};
use crate::shape_inference::{LinkedDim, LinkedShape, subshape_indices};
use crate::tensor::Tensor;

/// The most nodes that are looked at for one input.
const MAX_STEPS: u32 = 4096;

/// The most nodes that are looked through one behind the other.
const MAX_DEPTH: u32 = 64;

/// Looks through the nodes that make a vector of sizes.
struct Search<'a> {
    next_symbol: &'a mut u64,
    steps: u32,
    depth: u32,
}

impl Search<'_> {
    /// A new unknown shape.
    fn shape(&mut self) -> LinkedShape {
        LinkedShape::new(&PartialShape::unknown(), self.next_symbol)
    }

    /// A new unknown dimension.
    fn dim(&mut self) -> LinkedDim {
        self.of(-1)
    }

    /// A dimension of this size, unknown if it is below zero.
    fn of(&mut self, size: i64) -> LinkedDim {
        match usize::try_from(size) {
            Ok(size) => LinkedDim::Known(size),
            Err(_) => {
                *self.next_symbol += 1;
                LinkedDim::Symbol(*self.next_symbol - 1)
            }
        }
    }
}

/// The shape that a vector of sizes stands for, or that the scalar −1 does, which is unknown: so kernels write the shape of
/// a list's elements.
fn sizes(value: &Tensor, search: &mut Search<'_>) -> Result<LinkedShape> {
    if !matches!(value.dtype(), DataType::Int32 | DataType::Int64) {
        let message = format!("Input tensor must be int32 or int64, but was {}", value.dtype());
        return Err(Error::invalid_argument(message));
    }
    if value.rank() == 0 && value.to_i64_vec()? == [-1] {
        return Ok(search.shape());
    }
    if value.rank() != 1 {
        return Err(Error::invalid_argument(format!("Shape must be rank 1 but is rank {}", value.rank())));
    }
    let sizes = value.to_i64_vec()?;
    checked_rank(sizes.len())?;
    if let Some(size) = sizes.iter().find(|&&size| size < -1) {
        return Err(Error::invalid_argument(format!("Invalid value in tensor used for shape: {size}")));
    }
    Ok(LinkedShape::Dims(sizes.into_iter().map(|size| search.of(size)).collect()))
}

fn checked_rank(rank: usize) -> Result<usize> {
    if rank > MAX_RANK {
        return Err(Error::invalid_argument(format!("a shape of rank {rank} is asked for, above {MAX_RANK}")));
    }
    Ok(rank)
}

impl Graph {
    /// What is known of the shape that an output holds as a vector of sizes, without or with only some of its values:
    /// seen through Shape, Pack, Concat, StridedSlice and Cast.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the output cannot hold a shape.
    pub(super) fn constant_partial_shape(
        &self,
        output: Output,
        scope: &Scope<'_>,
        next_symbol: &mut u64,
    ) -> Result<LinkedShape> {
        self.partial_shape(output, scope, &mut Search { next_symbol, steps: MAX_STEPS, depth: 0 })
    }

    fn partial_shape(&self, output: Output, scope: &Scope<'_>, search: &mut Search<'_>) -> Result<LinkedShape> {
        if search.steps == 0 || search.depth == MAX_DEPTH || output.node.index() >= self.nodes.len() {
            return Ok(search.shape());
        }
        search.steps -= 1;
        search.depth += 1;
        let found = self.partial_shape_of(output, scope, search);
        search.depth -= 1;
        found
    }

    fn partial_shape_of(&self, output: Output, scope: &Scope<'_>, search: &mut Search<'_>) -> Result<LinkedShape> {
        let (node, shape) = (self.node(output.node), self.shape(output));
        let count = match shape.dims() {
            Some([]) => return self.unknown_by_scalar(output, scope, search),
            Some([count]) => *count,
            Some(dims) => {
                return Err(Error::invalid_argument(format!("Shape must be rank 1 but is rank {}", dims.len())));
            }
            None => None,
        };
        if count == Some(0) {
            return Ok(LinkedShape::Dims(Vec::new()));
        }
        // Ops of these names have inputs in TensorFlow, but perhaps not in a user's own registry.
        let has_inputs = node.inputs.len() > output.index;
        match if has_inputs { node.class } else { NodeClass::Other } {
            NodeClass::Cast => {
                if let Ok(Some(value)) = self.evaluate(output, scope)
                    && let Ok(shape) = sizes(&value, search)
                {
                    return Ok(shape);
                }
                let before = self.partial_shape(node.inputs[0], scope, search);
                let Some(LinkedShape::Dims(dims)) = before.ok() else { return Ok(search.shape()) };
                let is_size = matches!(node.signature.outputs[0].dtype, DataType::Int32 | DataType::Int64);
                Ok(LinkedShape::Dims(if is_size { dims } else { dims.iter().map(|_| search.dim()).collect() }))
            }
            NodeClass::Shape => Ok(self.linked_shape(node.inputs[0])),
            NodeClass::ShapeN => Ok(self.linked_shape(node.inputs[output.index])),
            NodeClass::Pack => {
                checked_rank(node.inputs.len())?;
                let sizes = node.inputs.iter().map(|&input| {
                    let size = self.evaluate_int(input, scope)?;
                    Ok(search.of(size.unwrap_or(-1)))
                });
                Ok(LinkedShape::Dims(sizes.collect::<Result<_>>()?))
            }
            class @ (NodeClass::Concat | NodeClass::ConcatV2) => {
                let axis = if class == NodeClass::Concat { 0 } else { node.inputs.len() - 1 };
                let mut joined = Vec::new();
                for (index, &input) in node.inputs.iter().enumerate() {
                    if index == axis {
                        continue;
                    }
                    match self.partial_shape(input, scope, search)? {
                        LinkedShape::Dims(dims) => joined.extend(dims),
                        LinkedShape::Symbol(_) => return Ok(search.shape()),
                    }
                    checked_rank(joined.len())?;
                }
                Ok(LinkedShape::Dims(joined))
            }
            NodeClass::StridedSlice => self.partial_slice(node, scope, search),
            NodeClass::VariableShape => {
                let held = self.held.get(&node.inputs[0]).and_then(|held| held.first());
                Ok(held.map_or_else(|| search.shape(), |held| held.shape.clone()))
            }
            _ => match self.evaluate(output, scope)? {
                Some(value) => sizes(&value, search),
                None => match count {
                    Some(rank) => Ok(LinkedShape::Dims((0..checked_rank(rank)?).map(|_| search.dim()).collect())),
                    None => Ok(search.shape()),
                },
            },
        }
    }

    /// The scalar −1, which stands for an unknown shape.
    fn unknown_by_scalar(&self, output: Output, scope: &Scope<'_>, search: &mut Search<'_>) -> Result<LinkedShape> {
        match self.evaluate(output, scope)? {
            None => Err(Error::invalid_argument(
                "Received a shape scalar with unknown static value.  A static value of '-1' is required to represent \
                 an unknown shape.",
            )),
            Some(value) if value.to_i64_vec().is_ok_and(|sizes| sizes == [-1]) && value.rank() == 0 => {
                Ok(search.shape())
            }
            Some(value) => Err(Error::invalid_argument(format!(
                "Received an invalid shape scalar with a static value that is not '-1': {value}"
            ))),
        }
    }

    /// A slice of one range of a vector of sizes.
    fn partial_slice(&self, node: &Node, scope: &Scope<'_>, search: &mut Search<'_>) -> Result<LinkedShape> {
        // What is sliced may have more sizes than a shape.
        if let Some([Some(count)]) = self.shape(node.inputs[0]).dims()
            && checked_rank(*count).is_err()
        {
            return Ok(search.shape());
        }
        let is_single = |&input: &Output| self.shape(input).dims().is_some_and(|dims| dims == [Some(1)]);
        if !node.inputs.get(1..4).is_some_and(|ends| ends.iter().all(is_single)) {
            return Ok(search.shape());
        }
        let mask = |name: &str| node.attrs.required::<i64>(name);
        let (begin_mask, end_mask) = (mask("begin_mask")?, mask("end_mask")?);
        let others = [mask("ellipsis_mask")?, mask("new_axis_mask")?, mask("shrink_axis_mask")?];
        if !matches!((begin_mask, end_mask), (0 | 1, 0 | 1)) || others != [0; 3] {
            return Ok(search.shape());
        }
        let begin = if begin_mask == 1 { Some(0) } else { self.evaluate_int(node.inputs[1], scope)? };
        let Some(begin) = begin else { return Ok(search.shape()) };
        let end = if end_mask == 1 { Some(i64::MAX) } else { self.evaluate_int(node.inputs[2], scope)? };
        let Some(end) = end else { return Ok(search.shape()) };
        let Some(stride) = self.evaluate_int(node.inputs[3], scope)? else { return Ok(search.shape()) };
        match self.partial_shape(node.inputs[0], scope, search)? {
            LinkedShape::Symbol(symbol) if begin == 0 && end == i64::MAX && stride == 1 => {
                Ok(LinkedShape::Symbol(symbol))
            }
            LinkedShape::Symbol(_) => Ok(search.shape()),
            LinkedShape::Dims(dims) => {
                let picked = subshape_indices(dims.len(), begin, end, stride)?;
                Ok(LinkedShape::Dims(picked.into_iter().map(|index| dims[index]).collect()))
            }
        }
    }
}
