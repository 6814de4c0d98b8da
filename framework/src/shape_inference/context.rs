//! The context of a shape function: inputs, outputs and attrs of one node, and the arena of shapes and dimensions.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;

use smallvec::SmallVec;

use crate::attr::AttrMap;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::op::{FromAttrValue, OpDef, Signature};
use crate::shape::PartialShape;
use crate::tensor::Tensor;

/// The GraphDef version that Kernlink reads and writes: that of TensorFlow 2.21.
pub const GRAPH_DEF_VERSION: i32 = 2474;

/// Infers the shapes of a node's outputs.
pub type ShapeFn = fn(&mut InferenceContext<'_>) -> Result<()>;

/// A shape in an [`InferenceContext`]. Two handles that are equal stand for the same shape even while it is unknown.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct ShapeHandle(pub(super) u32);

/// A dimension in an [`InferenceContext`]. Two handles that are equal stand for the same size even while it is unknown.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct DimHandle(pub(super) u32);

/// The dimensions of a shape whose rank is known.
pub(super) type Dims = SmallVec<[DimHandle; 4]>;

/// What a resource or variant holds, as far as it is known: one entry a tensor.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ShapeAndType {
    /// The shape of the tensor.
    pub shape: ShapeHandle,
    /// Its dtype, if known.
    pub dtype: Option<DataType>,
}

/// What a shape function asked to know of the value of an input.
#[derive(Clone, Default)]
struct Requested {
    tensor: Cell<bool>,
    partial_shape: Cell<bool>,
}

#[derive(Default)]
pub(super) struct Arena {
    dims: Vec<Option<i64>>,
    shapes: Vec<Option<Dims>>,
    pub(super) merged_shapes: Vec<(ShapeHandle, ShapeHandle)>,
    pub(super) merged_dims: Vec<(DimHandle, DimHandle)>,
}

impl Arena {
    pub(super) fn new_dim(&mut self, value: Option<i64>) -> DimHandle {
        self.dims.push(value);
        DimHandle((self.dims.len() - 1) as u32)
    }

    pub(super) fn new_shape(&mut self, dims: Option<Dims>) -> ShapeHandle {
        self.shapes.push(dims);
        ShapeHandle((self.shapes.len() - 1) as u32)
    }

    pub(super) fn new_partial(&mut self, shape: &PartialShape) -> ShapeHandle {
        let dims = shape.dims().map(|dims| {
            dims.iter().map(|dim| self.new_dim(dim.and_then(|dim| i64::try_from(dim).ok()))).collect::<Dims>()
        });
        self.new_shape(dims)
    }
}

/// One node to a shape function: its input shapes and attrs to read, its output shapes to set.
///
/// Shapes and dimensions are handles with identity: an unknown batch size that goes from an input to an output is
/// known to be the same one. Methods take `&self` so that calls nest:
/// `c.set_output(0, c.vector(c.dim(c.input(0), -1)))`.
///
/// A shape function that names an input, output or dimension that is not there gets an unknown shape; [`run`] then
/// reports the mistake.
///
/// ```
/// use kernlink_framework::Result;
/// use kernlink_framework::shape_inference::InferenceContext;
/// use kernlink_framework::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
///
/// /// The rows of a matrix, then those of another one with as many columns.
/// fn rows_of_both(c: &mut InferenceContext) -> Result<()> {
///     let (a, b) = (c.with_rank(c.input(0), 2)?, c.with_rank(c.input(1), 2)?);
///     let columns = c.merge_dim(c.dim(a, 1), c.dim(b, 1))?;
///     let rows = c.add(c.dim(a, 0), c.dim(b, 0))?;
///     c.set_output(0, c.make_shape([rows, columns]));
///     Ok(())
/// }
///
/// let test = ShapeTest::anonymous(2, 1, rows_of_both);
/// infer_ok(&test, "[2,?];[3,4]", "[5,d1_1]");
/// infer_error("must be equal", &test, "[2,5];[3,4]");
/// ```
///
/// [`run`]: InferenceContext::run
pub struct InferenceContext<'a> {
    op: &'a OpDef,
    attrs: &'a AttrMap,
    signature: &'a Signature,
    pub(super) arena: RefCell<Arena>,
    pub(super) inputs: Vec<ShapeHandle>,
    input_tensors: Vec<Option<Tensor>>,
    input_tensors_as_shapes: Vec<Option<ShapeHandle>>,
    pub(super) input_handles: Vec<Option<Vec<ShapeAndType>>>,
    requested: SmallVec<[Requested; 8]>,
    graph_def_version: i32,
    pub(super) output_handles: RefCell<Vec<Option<Vec<ShapeAndType>>>>,
    outputs: RefCell<Vec<Option<ShapeHandle>>>,
    /// Whether kernels may compute other shapes than are inferred.
    is_promise: Cell<bool>,
    /// Whether the node has more attrs than are known.
    attrs_are_partial: bool,
    /// Whether one of those was asked for.
    missed: Cell<bool>,
    /// The first mistake of the shape function itself.
    fault: Cell<Option<Error>>,
}

impl<'a> InferenceContext<'a> {
    /// A context for a node of `op`. Inputs without a shape in `input_shapes` are unknown; `input_tensors` holds the
    /// values of those inputs that are constant, and may be shorter than the inputs.
    pub fn new(
        op: &'a OpDef,
        attrs: &'a AttrMap,
        signature: &'a Signature,
        input_shapes: Vec<PartialShape>,
        input_tensors: Vec<Option<Tensor>>,
    ) -> InferenceContext<'a> {
        let mut arena = Arena::default();
        let inputs = input_shapes.iter().map(|shape| arena.new_partial(shape)).collect();
        let mut inputs: Vec<ShapeHandle> = inputs;
        inputs.truncate(signature.inputs.len());
        inputs.resize_with(signature.inputs.len(), || arena.new_shape(None));
        InferenceContext {
            requested: std::iter::repeat_n(Requested::default(), inputs.len()).collect(),
            graph_def_version: GRAPH_DEF_VERSION,
            input_handles: Vec::new(),
            output_handles: RefCell::default(),
            op,
            attrs,
            signature,
            arena: RefCell::new(arena),
            inputs,
            input_tensors,
            input_tensors_as_shapes: Vec::new(),
            outputs: RefCell::new(vec![None; signature.outputs.len()]),
            is_promise: Cell::new(false),
            attrs_are_partial: false,
            missed: Cell::new(false),
            fault: Cell::new(None),
        }
    }

    /// Says that the outputs may turn out to have other shapes than the function infers: because an attr promises them, or
    /// because TensorFlow's shape function, which is followed, contradicts its kernel. Debug builds and tests then do not compare
    /// what kernels compute.
    pub fn set_outputs_are_promised(&self) {
        self.is_promise.set(true);
    }

    pub(super) fn outputs_are_promised(&self) -> bool {
        self.is_promise.get()
    }

    /// Says that the node has attrs that are not known here: those that are missing, and the dtypes that lists of dtypes are of.
    /// [`asked_for_unknown_attrs`](Self::asked_for_unknown_attrs) tells whether the shape function did without.
    pub fn set_attrs_are_partial(&mut self) {
        self.attrs_are_partial = true;
    }

    /// Whether the shape function looked at attrs, or dtypes, of which some [are not
    /// known](Self::set_attrs_are_partial): what it inferred, or failed with, may be wrong then.
    pub fn asked_for_unknown_attrs(&self) -> bool {
        self.missed.get()
    }

    /// Notes that something was asked for which may not be known.
    fn may_miss(&self) {
        if self.attrs_are_partial {
            self.missed.set(true);
        }
    }

    /// Adds what is known of inputs that hold shapes: a tensor `[4, <unknown>]` is the shape `[4,?]`. May be shorter
    /// than the inputs.
    pub fn set_input_tensors_as_shapes(&mut self, shapes: &[Option<PartialShape>]) {
        let arena = self.arena.get_mut();
        self.input_tensors_as_shapes =
            shapes.iter().map(|shape| shape.as_ref().map(|shape| arena.new_partial(shape))).collect();
    }

    /// Makes input `index` the constant `tensor`.
    pub fn set_input_tensor(&mut self, index: usize, tensor: Tensor) {
        set_at(&mut self.input_tensors, index, tensor);
    }

    /// Makes known that input `index` holds the shape `shape`.
    pub fn set_input_tensor_as_shape(&mut self, index: usize, shape: ShapeHandle) {
        set_at(&mut self.input_tensors_as_shapes, index, shape);
    }

    /// Gives input `index` another shape; nothing happens if there is no such input.
    pub fn set_input(&mut self, index: usize, shape: ShapeHandle) {
        if let Some(slot) = self.inputs.get_mut(index) {
            *slot = shape;
        }
    }

    /// The version of GraphDef that the graph was written for, which decides what some ops mean.
    pub fn graph_def_version(&self) -> i32 {
        self.graph_def_version
    }

    /// Says for which version of GraphDef the graph was written; otherwise it is the present one.
    pub fn set_graph_def_version(&mut self, version: i32) {
        self.graph_def_version = version;
    }

    /// Runs a shape function. Outputs that it leaves out are unknown.
    ///
    /// # Errors
    /// Those of the function, with the op and its input shapes in the message; INTERNAL if it named an input, output
    /// or dimension that is not there.
    pub fn run(&mut self, shape_fn: ShapeFn) -> Result<()> {
        self.forget_merges();
        let result = shape_fn(self);
        let result = self.fault.take().map_or(result, Err);
        result.map_err(|error| {
            let given = self.describe_inputs();
            error.append(given)
        })
    }

    /// ` for op 'MatMul' with input shapes: [2,3], [4,5] and with computed input tensors: input[1] = <...>.`
    fn describe_inputs(&self) -> String {
        let mut text = format!(" for op '{}' with input shapes: ", self.op.name);
        for (i, &input) in self.inputs.iter().enumerate() {
            let _ = write!(text, "{}{}", if i > 0 { ", " } else { "" }, self.debug_string(input));
        }
        let mut separator = " and with computed input tensors: ";
        for (i, tensor) in self.input_tensors.iter().enumerate() {
            if let Some(tensor) = tensor {
                let _ = write!(text, "{separator}input[{i}] = <{tensor}>");
                separator = ", ";
            }
        }
        separator = " and with input tensors computed as partial shapes: ";
        for (i, shape) in self.input_tensors_as_shapes.iter().enumerate() {
            if let Some(shape) = shape.filter(|&shape| self.rank_known(shape)) {
                let _ = write!(text, "{separator}input[{i}] = {}", self.debug_string(shape));
                separator = ", ";
            }
        }
        text.push('.');
        text
    }

    /// Remembers the first mistake of the shape function.
    #[cold]
    #[track_caller]
    pub(super) fn record_fault(&self, message: String) {
        let first = self.fault.take();
        self.fault.set(Some(first.unwrap_or_else(|| Error::internal(message))));
    }

    /// The declaration of the node's op.
    pub fn op(&self) -> &'a OpDef {
        self.op
    }

    /// The node's attrs, defaults included.
    pub fn attrs(&self) -> &'a AttrMap {
        self.may_miss();
        self.attrs
    }

    /// The dtypes of the node's inputs and outputs.
    pub fn signature(&self) -> &'a Signature {
        self.may_miss();
        self.signature
    }

    /// The attr with this name as a `T`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none or it has another type.
    #[track_caller]
    pub fn attr<T: FromAttrValue>(&self, name: &str) -> Result<T> {
        if self.attrs.get(name).is_none() {
            self.may_miss();
        }
        self.attrs.required(name)
    }

    /// The number of inputs.
    pub fn num_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The number of outputs.
    pub fn num_outputs(&self) -> usize {
        self.signature.outputs.len()
    }

    /// The shape of input `index`.
    #[track_caller]
    pub fn input(&self, index: usize) -> ShapeHandle {
        match self.inputs.get(index) {
            Some(&shape) => shape,
            None => {
                self.record_fault(self.signature.no_input(self.op, index).message().to_owned());
                self.unknown_shape()
            }
        }
    }

    /// The shapes of the input argument with this name: one, or those of a list.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such input.
    #[track_caller]
    pub fn input_named(&self, name: &str) -> Result<Vec<ShapeHandle>> {
        let range = self.op.input_index(name).and_then(|index| self.signature.input_ranges.get(index).cloned());
        let shapes = range.and_then(|range| self.inputs.get(range));
        let shapes = shapes.ok_or_else(|| Error::invalid_argument(format!("Unknown input name: {name}")))?;
        Ok(shapes.to_vec())
    }

    /// The value of input `index`, if it is constant in the graph. Asking for it is what makes a graph look: the shape
    /// function then runs again with the value, if there is one.
    pub fn input_tensor(&self, index: usize) -> Option<&Tensor> {
        self.request_input_tensor(index);
        self.input_tensors.get(index)?.as_ref()
    }

    /// The value of input `index` as a shape, if something of it is known: dimensions that are not are unknown. Asking
    /// for it is what makes a graph look, as with [`input_tensor`](Self::input_tensor).
    pub fn input_tensor_as_shape(&self, index: usize) -> Option<ShapeHandle> {
        self.request_input_tensor_as_partial_shape(index);
        *self.input_tensors_as_shapes.get(index)?
    }

    /// Records that the shape function would use the value of input `index`.
    pub fn request_input_tensor(&self, index: usize) {
        if let Some(requested) = self.requested.get(index) {
            requested.tensor.set(true);
        }
    }

    /// Whether the shape function would use the value of input `index`.
    pub fn requested_input_tensor(&self, index: usize) -> bool {
        self.requested.get(index).is_some_and(|requested| requested.tensor.get())
    }

    /// Records that the shape function would use what is known of the shape that input `index` holds.
    pub fn request_input_tensor_as_partial_shape(&self, index: usize) {
        if let Some(requested) = self.requested.get(index) {
            requested.partial_shape.set(true);
        }
    }

    /// Whether the shape function would use what is known of the shape that input `index` holds.
    pub fn requested_input_tensor_as_partial_shape(&self, index: usize) -> bool {
        self.requested.get(index).is_some_and(|requested| requested.partial_shape.get())
    }

    /// The values of an `int32` or `int64` input `index`, if it is constant in the graph.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for another dtype.
    #[track_caller]
    pub fn input_i64s(&self, index: usize) -> Result<Option<Vec<i64>>> {
        self.input_tensor(index).map(Tensor::to_i64_vec).transpose()
    }

    /// The shape of output `index`; an unknown one if it is not set.
    #[track_caller]
    pub fn output(&self, index: usize) -> ShapeHandle {
        let slot = self.outputs.borrow().get(index).copied();
        match slot {
            Some(Some(shape)) => shape,
            Some(None) => {
                let shape = self.unknown_shape();
                self.set_output(index, shape);
                shape
            }
            None => {
                self.record_fault(self.signature.no_output(self.op, index).message().to_owned());
                self.unknown_shape()
            }
        }
    }

    /// The shapes of the output argument with this name: one, or those of a list.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output.
    #[track_caller]
    pub fn output_named(&self, name: &str) -> Result<Vec<ShapeHandle>> {
        let range = self.op.output_index(name).and_then(|index| self.signature.output_ranges.get(index).cloned());
        let range = range.ok_or_else(|| Error::invalid_argument(format!("Unknown output name: {name}")))?;
        Ok(range.map(|index| self.output(index)).collect())
    }

    /// Sets the shape of output `index`.
    #[track_caller]
    pub fn set_output(&self, index: usize, shape: ShapeHandle) {
        match self.outputs.borrow_mut().get_mut(index) {
            Some(slot) => *slot = Some(shape),
            None => self.record_fault(self.signature.no_output(self.op, index).message().to_owned()),
        }
    }

    /// Sets the shapes of the output argument with this name.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output or it has another number of tensors.
    #[track_caller]
    pub fn set_output_named(&self, name: &str, shapes: &[ShapeHandle]) -> Result<()> {
        let range = self.op.output_index(name).and_then(|index| self.signature.output_ranges.get(index).cloned());
        let range = range.ok_or_else(|| Error::invalid_argument(format!("Unknown output name: {name}")))?;
        if range.len() != shapes.len() {
            let message = format!("Must have exactly {} shapes for output `{name}`, not {}", range.len(), shapes.len());
            return Err(Error::invalid_argument(message));
        }
        range.zip(shapes).for_each(|(index, &shape)| self.set_output(index, shape));
        Ok(())
    }

    /// What is known of the shape of every output.
    pub fn output_shapes(&self) -> Vec<PartialShape> {
        (0..self.num_outputs()).map(|index| self.to_partial(self.output(index))).collect()
    }

    /// What is known of the shape of every output.
    pub fn into_outputs(self) -> Vec<PartialShape> {
        self.output_shapes()
    }

    /// The rank, if known.
    pub fn rank(&self, shape: ShapeHandle) -> Option<usize> {
        self.with_dims(shape, |dims| dims.map(<[DimHandle]>::len))
    }

    /// Whether the rank is known.
    pub fn rank_known(&self, shape: ShapeHandle) -> bool {
        self.rank(shape).is_some()
    }

    /// Dimension `index`, counted from the end if negative; an unknown one if the rank is unknown.
    #[track_caller]
    pub fn dim(&self, shape: ShapeHandle, index: i64) -> DimHandle {
        let found = self.with_dims(shape, |dims| {
            dims.map(|dims| {
                let index = if index < 0 { index.checked_add(dims.len() as i64) } else { Some(index) };
                let index = index.and_then(|index| usize::try_from(index).ok());
                index.and_then(|index| dims.get(index).copied())
            })
        });
        match found {
            Some(Some(dim)) => dim,
            Some(None) => {
                self.record_fault(format!("there is no dimension {index} in shape {}", self.debug_string(shape)));
                self.unknown_dim()
            }
            None => self.unknown_dim(),
        }
    }

    /// The dimensions, if the rank is known.
    pub fn dims(&self, shape: ShapeHandle) -> Option<Vec<DimHandle>> {
        self.with_dims(shape, |dims| dims.map(<[DimHandle]>::to_vec))
    }

    /// The size, if known.
    pub fn value(&self, dim: DimHandle) -> Option<i64> {
        self.arena.borrow().dims.get(dim.0 as usize).copied().flatten()
    }

    /// Whether the size is known.
    pub fn value_known(&self, dim: DimHandle) -> bool {
        self.value(dim).is_some()
    }

    /// Whether the rank and every size are known.
    pub fn fully_defined(&self, shape: ShapeHandle) -> bool {
        self.with_dims(shape, |dims| dims.is_some_and(|dims| dims.iter().all(|&dim| self.value_known(dim))))
    }

    /// The number of elements: 0 if a size is 0, unknown if a size or the rank is, or if it does not fit 63 bits.
    pub fn num_elements(&self, shape: ShapeHandle) -> DimHandle {
        let product = self.with_dims(shape, |dims| {
            let sizes: Vec<Option<i64>> = dims?.iter().map(|&dim| self.value(dim)).collect();
            if sizes.contains(&Some(0)) {
                return Some(0);
            }
            sizes.into_iter().try_fold(1i64, |product, size| product.checked_mul(size?))
        });
        self.arena.borrow_mut().new_dim(product)
    }

    /// What is known of the shape, without identities.
    pub fn to_partial(&self, shape: ShapeHandle) -> PartialShape {
        self.with_dims(shape, |dims| match dims {
            None => PartialShape::unknown(),
            Some(dims) => PartialShape::from_known(
                dims.iter().map(|&dim| self.value(dim).and_then(|size| usize::try_from(size).ok())),
            ),
        })
    }

    /// `[2,?]`, or `?` if the rank is unknown.
    pub fn debug_string(&self, shape: ShapeHandle) -> String {
        if self.rank_known(shape) { self.to_partial(shape).to_string() } else { "?".to_owned() }
    }

    /// The pairs of shapes that the shape function found to be equal while one of them was not fully known.
    pub fn merged_shapes(&self) -> Vec<(ShapeHandle, ShapeHandle)> {
        self.arena.borrow().merged_shapes.clone()
    }

    /// The pairs of dimensions that the shape function found to be equal while one of them was unknown.
    pub fn merged_dims(&self) -> Vec<(DimHandle, DimHandle)> {
        self.arena.borrow().merged_dims.clone()
    }

    /// Forgets which shapes and dimensions were found to be equal.
    pub fn forget_merges(&self) {
        let mut arena = self.arena.borrow_mut();
        arena.merged_shapes.clear();
        arena.merged_dims.clear();
    }

    /// `read` may look at dimensions but must not make any.
    pub(super) fn with_dims<R>(&self, shape: ShapeHandle, read: impl FnOnce(Option<&[DimHandle]>) -> R) -> R {
        let arena = self.arena.borrow();
        read(arena.shapes.get(shape.0 as usize).and_then(|dims| dims.as_deref()))
    }
}

pub(super) fn set_at<T: Clone>(list: &mut Vec<Option<T>>, index: usize, value: T) {
    if list.len() <= index {
        list.resize(index + 1, None);
    }
    list[index] = Some(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape_inference::testing::context;

    #[test]
    fn handles_keep_their_identity() {
        context("[1,?,3];?;?", |c| {
            assert_eq!(c.input(0), c.input(0));
            assert_ne!(c.input(1), c.input(2));
            assert_eq!(c.dim(c.input(0), 1), c.dim(c.input(0), -2));
            assert_ne!(c.dim(c.input(1), 0), c.dim(c.input(1), 0));
            assert_eq!(c.value(c.dim(c.input(0), -1)), Some(3));
            assert_eq!(c.rank(c.input(0)), Some(3));
            assert_eq!(c.rank(c.input(1)), None);
            assert_eq!(c.debug_string(c.input(0)), "[1,?,3]");
            assert_eq!(c.debug_string(c.input(1)), "?");
            assert!(!c.fully_defined(c.input(0)) && !c.fully_defined(c.input(1)));
        });
    }

    #[test]
    fn num_elements_is_zero_as_soon_as_a_size_is() {
        context("[2,3];[2,?];[0,?];?;[];[4611686018427387904,4]", |c| {
            let counts: Vec<_> = (0..6).map(|i| c.value(c.num_elements(c.input(i)))).collect();
            assert_eq!(counts, [Some(6), None, Some(0), None, Some(1), None]);
        });
    }

    #[test]
    fn what_is_not_there_is_reported_by_run() {
        for shape_fn in [
            (|c: &mut InferenceContext<'_>| {
                c.input(7);
                Ok(())
            }) as ShapeFn,
            |c| {
                c.set_output(9, c.scalar());
                Ok(())
            },
            |c| {
                c.dim(c.input(0), 3);
                Ok(())
            },
        ] {
            context("[1,2]", |c| {
                let error = c.run(shape_fn).unwrap_err();
                assert_eq!(error.code(), crate::Code::Internal);
                assert!(error.message().contains("there is no "), "{error}");
                assert!(error.message().ends_with("with input shapes: [1,2]."), "{error}");
                assert!(c.run(|_| Ok(())).is_ok());
            });
        }
    }

    #[test]
    fn outputs_that_are_not_set_are_unknown() {
        context("[1,2]", |c| {
            c.set_output(1, c.input(0));
            let shapes = c.output_shapes();
            assert_eq!(shapes[0], PartialShape::unknown());
            assert_eq!(shapes[1].to_string(), "[1,2]");
        });
    }
}
