//! What gradients of all kinds are made of: constants, zeros, shapes, sums, and slices made dense.

use super::scope::GradientScope;
use super::value::{Gradient, IndexedSlices, ShapeOf, Value};
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::graph::{IntoOperand, NodeBuilder, created, settled};
use crate::op::OpDef;
use crate::shape::Shape;
use crate::tensor::{IntoTensor, Tensor};

impl GradientScope<'_> {
    /// A constant.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn constant(&mut self, value: impl IntoTensor) -> Result<Value> {
        let value = value.into_tensor()?;
        self.node.add_constant(value)
    }

    /// A scalar of a dtype of numbers.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for another dtype.
    pub fn scalar(&mut self, dtype: DataType, value: f64) -> Result<Value> {
        let value = settled(&Tensor::scalar(value), dtype).map_err(Error::invalid_argument)?;
        self.constant(value)
    }

    /// The dimensions of a shape as a vector of `int32`, or of `int64` if one is too large: a constant if all are known.
    ///
    /// # Errors
    /// NOT_FOUND if op Shape or its kernel is missing.
    pub fn dims(&mut self, shape: &ShapeOf) -> Result<Value> {
        match (shape.known.to_shape(), shape.of) {
            (Some(known), _) => {
                let dims = dims_of(&known)?;
                self.node.add_constant(dims)
            }
            (None, Some(of)) => self.op_of(created::SHAPE, [of])?.build_output(),
            (None, None) => Err(Error::internal("a shape that nobody knows")),
        }
    }

    /// Zeros of a dtype and a shape.
    ///
    /// # Errors
    /// NOT_FOUND if op Fill, or ZerosLike for what is no number, or its kernel is missing.
    pub fn zeros(&mut self, dtype: DataType, shape: &ShapeOf) -> Result<Value> {
        match shape.of.filter(|_| !dtype.is_pod()) {
            Some(of) => self.op_of(created::ZEROS_LIKE, [of])?.build_output(),
            None => self.filled(Tensor::zeros(dtype, Shape::scalar())?, shape),
        }
    }

    /// Zeros of a dtype and of the shape of the variable that a handle names.
    ///
    /// # Errors
    /// NOT_FOUND if op VariableShape or Fill or its kernel is missing.
    pub fn zeros_of_variable(&mut self, handle: Value, dtype: DataType) -> Result<Value> {
        let dims = self.op_of(created::VARIABLE_SHAPE, [handle])?.build_output()?;
        let mut fill = self.op_of(created::FILL, [dims])?;
        fill.input(Tensor::zeros(dtype, Shape::scalar())?);
        fill.build_output()
    }

    /// Ones of a dtype of numbers and a shape.
    ///
    /// # Errors
    /// NOT_FOUND if op Fill or its kernel is missing.
    pub fn ones(&mut self, dtype: DataType, shape: &ShapeOf) -> Result<Value> {
        let one = settled(&Tensor::scalar(1i32), dtype).map_err(Error::invalid_argument)?;
        self.filled(one, shape)
    }

    fn filled(&mut self, value: Tensor, shape: &ShapeOf) -> Result<Value> {
        let dims = self.dims(shape)?;
        let mut fill = self.op_of(created::FILL, [dims])?;
        fill.input(value);
        fill.build_output()
    }

    /// All that flows to one place: the sum, or the rows of all if all are slices.
    ///
    /// # Errors
    /// NOT_FOUND if op AddN, ConcatV2 or UnsortedSegmentSum or its kernel is missing.
    pub fn sum(&mut self, flows: &[Gradient]) -> Result<Gradient> {
        let slices = flows.iter().map(|flow| match flow {
            Gradient::Slices(slices) => Some(*slices),
            Gradient::Dense(_) => None,
        });
        match slices.collect::<Option<Vec<_>>>() {
            Some(slices) if !slices.is_empty() => {
                let values = self.joined(slices.iter().map(|slices| slices.values).collect())?;
                let indices = self.of_one_dtype(slices.iter().map(|slices| slices.indices).collect())?;
                let indices = self.joined(indices)?;
                Ok(Gradient::Slices(IndexedSlices { values, indices, dense_shape: slices[0].dense_shape }))
            }
            _ => {
                let dense = flows.iter().map(|&flow| self.dense(flow)).collect::<Result<Vec<_>>>()?;
                self.add_n(&dense).map(Gradient::Dense)
            }
        }
    }

    /// Indices as `int64`, if some are and others are not.
    fn of_one_dtype(&mut self, mut indices: Vec<Value>) -> Result<Vec<Value>> {
        let dtypes = indices.iter().map(|&value| self.dtype(value)).collect::<Result<Vec<_>>>()?;
        if dtypes.iter().any(|dtype| *dtype != dtypes[0]) {
            for index in &mut indices {
                let mut cast = self.op_of(created::CAST, [*index])?;
                cast.attr("DstT", DataType::Int64);
                *index = cast.build_output()?;
            }
        }
        Ok(indices)
    }

    /// Tensors behind each other.
    fn joined(&mut self, values: Vec<Value>) -> Result<Value> {
        if let [value] = values[..] {
            return Ok(value);
        }
        let op = self.find_op(created::CONCAT_V2)?;
        let mut joined = NodeBuilder::new(self, op);
        joined.input_list(values).input(0i32);
        joined.build_output()
    }

    /// The sum of tensors of one dtype and shape.
    ///
    /// # Errors
    /// NOT_FOUND if op AddN or its kernel is missing.
    pub fn add_n(&mut self, values: &[Value]) -> Result<Value> {
        if let &[value] = values {
            return Ok(value);
        }
        let op = self.find_op(created::ADD_N)?;
        let mut sum = NodeBuilder::new(self, op);
        sum.input_list(values.iter().copied());
        sum.build_output()
    }

    /// A gradient as a tensor: rows that are there several times are added.
    ///
    /// # Errors
    /// NOT_FOUND if op UnsortedSegmentSum or its kernel is missing.
    pub fn dense(&mut self, gradient: Gradient) -> Result<Value> {
        let IndexedSlices { values, indices, dense_shape } = match gradient {
            Gradient::Dense(value) => return Ok(value),
            Gradient::Slices(slices) => slices,
        };
        let rows = match self.known_value(dense_shape) {
            Some(dims) => {
                let dims = dims.to_i64_vec()?;
                self.constant(dims.first().copied().unwrap_or(0))?
            }
            None => {
                let mut first = self.op_of(created::STRIDED_SLICE, [dense_shape])?;
                first.input(&[0i32][..]).input(&[1i32][..]).input(&[1i32][..]).attr("shrink_axis_mask", 1i64);
                first.build_output()?
            }
        };
        let mut sum = self.op_of(created::UNSORTED_SEGMENT_SUM, [values, indices])?;
        sum.input(rows);
        sum.build_output()
    }

    fn find_op(&self, name: &str) -> Result<&'static OpDef> {
        Ok(self.node.registry().op(name)?.def)
    }

    fn op_of(
        &mut self,
        op: &str,
        inputs: impl IntoIterator<Item = impl IntoOperand<Value>>,
    ) -> Result<NodeBuilder<'_, Self>> {
        let op = self.find_op(op)?;
        let mut builder = NodeBuilder::new(self, op);
        inputs.into_iter().for_each(|input| _ = builder.input(input));
        Ok(builder)
    }
}

/// Dimensions as a vector of `int32`, or of `int64` if one is too large.
fn dims_of(shape: &Shape) -> Result<Tensor> {
    let narrow: Option<Vec<i32>> = shape.iter().map(|&dim| i32::try_from(dim).ok()).collect();
    match narrow {
        Some(dims) => Tensor::vector(&dims),
        None => Tensor::vector(&shape.iter().map(|&dim| dim as i64).collect::<Vec<_>>()),
    }
}
