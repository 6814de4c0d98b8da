//! What a variant holds that is a list, and how kernels reach it.

use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::scratch;
use kernlink::tensor::{Tensor, Variant, VariantValue};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::{add_to, zeros_like};

/// A list of tensors of one dtype, whose shapes are compatible with one another as far as `element_shape` says.
pub(super) struct TensorList {
    /// The elements; `None` for those that are not set.
    pub(super) tensors: Vec<Option<Tensor>>,
    pub(super) element_shape: PartialShape,
    pub(super) element_dtype: DataType,
    /// The most elements that the list may get.
    pub(super) max_num_elements: Option<usize>,
}

impl TensorList {
    pub(super) fn new(element_dtype: DataType, element_shape: PartialShape) -> TensorList {
        TensorList { tensors: Vec::new(), element_shape, element_dtype, max_num_elements: None }
    }

    /// A list like this one with other elements.
    fn with(&self, tensors: Vec<Option<Tensor>>) -> TensorList {
        TensorList { tensors, element_shape: self.element_shape.clone(), ..*self }
    }

    /// A list with the same elements.
    pub(super) fn copied(&self) -> Result<TensorList> {
        Ok(self.with(scratch::copied(&self.tensors)?))
    }

    /// Adds `count` elements that are not set.
    pub(super) fn extend_unset(&mut self, count: usize) -> Result<()> {
        let total = self.tensors.len().saturating_add(count);
        scratch::resize(&mut self.tensors, total, None)
    }

    pub(super) fn ensure_dtype(&self, dtype: DataType) -> Result<()> {
        ensure!(
            self.element_dtype == dtype,
            InvalidArgument,
            "Invalid data types; op elements {dtype} but list elements {}",
            self.element_dtype
        );
        Ok(())
    }

    /// `shape` with what all elements that are set say besides.
    pub(super) fn merge_set<'t>(
        &self,
        mut shape: PartialShape,
        tensors: impl IntoIterator<Item = &'t Option<Tensor>>,
    ) -> Result<PartialShape> {
        if self.element_shape.to_shape().is_none() {
            for tensor in tensors.into_iter().flatten() {
                shape = shape.merge(&tensor.shape().into())?;
            }
        }
        Ok(shape)
    }

    /// The one element of a variant tensor.
    pub(super) fn into_tensor(self) -> Tensor {
        Tensor::scalar(Variant::new(self))
    }
}

impl VariantValue for TensorList {
    fn type_name(&self) -> &'static str {
        "tensorflow::TensorList"
    }

    fn zeros_like(&self) -> Result<Variant> {
        let zeros = |tensor: &Option<Tensor>| tensor.as_ref().map(zeros_like).transpose();
        let tensors = scratch::collected_ok(self.tensors.iter().map(zeros))?;
        Ok(Variant::new(self.with(tensors)))
    }

    fn add(&self, other: &Variant) -> Result<Variant> {
        let Some(other) = other.get::<TensorList>() else {
            bail!(InvalidArgument, "a list and a variant of type '{}' cannot be added", other.type_name());
        };
        ensure!(
            self.element_dtype == other.element_dtype,
            InvalidArgument,
            "Trying to add two lists of tensors of different dtypes. One is {} and the other is {}",
            self.element_dtype,
            other.element_dtype
        );
        ensure!(
            self.element_shape.is_compatible(&other.element_shape),
            InvalidArgument,
            "Trying to add two lists of tensors with incompatible element shapes. One is {} and the other is {}",
            self.element_shape,
            other.element_shape
        );
        ensure!(
            self.tensors.len() == other.tensors.len(),
            InvalidArgument,
            "Trying to add two lists of tensors with different lengths. One is {} and the other is {}",
            self.tensors.len(),
            other.tensors.len()
        );
        let add = |(a, b): (&Option<Tensor>, &Option<Tensor>)| match (a, b) {
            (Some(a), Some(b)) => {
                let mut sum = a.clone();
                add_to(&mut sum, b)?;
                Ok(Some(sum))
            }
            (one, None) | (None, one) => Ok(one.clone()),
        };
        let tensors = scratch::collected_ok(self.tensors.iter().zip(&other.tensors).map(add))?;
        let element_shape = self.element_shape.merge(&other.element_shape)?;
        Ok(Variant::new(TensorList { element_shape, ..self.with(tensors) }))
    }
}

/// The list in a variant tensor.
fn list_in(tensor: &Tensor) -> Result<&TensorList> {
    ensure!(tensor.rank() == 0, InvalidArgument, "Input list must be a scalar saw: {}", tensor.shape());
    let variant = &tensor.as_slice::<Variant>()?[0];
    let missing = || Error::invalid_argument(format!("Input handle is not a list. Saw: '{}'", variant.type_name()));
    variant.get().ok_or_else(missing)
}

/// The list that input `index` holds.
pub(super) fn list_at<'c>(ctx: &'c RawContext<'_>, index: usize) -> Result<&'c TensorList> {
    list_in(ctx.input_at(index)?)
}

/// Makes output 0 the list of input 0 after `change`: the list itself if nothing else holds it, else a copy.
pub(super) fn change_list(ctx: &mut RawContext<'_>, change: impl FnOnce(&mut TensorList) -> Result<()>) -> Result<()> {
    let mut handle = ctx.take_input_at(0)?;
    list_in(&handle)?;
    if handle.is_unique()
        && let Some(list) = handle.as_mut_slice::<Variant>()?[0].get_mut::<TensorList>()
    {
        change(list)?;
        return ctx.set_output_at(0, handle);
    }
    let mut list = list_in(&handle)?.copied()?;
    change(&mut list)?;
    ctx.set_output_at(0, list.into_tensor())
}

/// The partial shape that a tensor holds: a vector of sizes, or −1 for an unknown rank.
pub(super) fn partial_shape(tensor: &Tensor) -> Result<PartialShape> {
    let sizes = match tensor.dtype() {
        DataType::Int32 | DataType::Int64 => tensor.to_i64_vec()?,
        other => bail!(InvalidArgument, "Expected an int32 or int64 shape tensor; found {other}"),
    };
    match tensor.rank() {
        0 if sizes == [-1] => Ok(PartialShape::unknown()),
        0 => bail!(InvalidArgument, "The only valid scalar shape tensor is the fully unknown shape specified as -1."),
        1 => PartialShape::from_dims(&sizes),
        rank => bail!(InvalidArgument, "Expected a shape tensor of rank at most 1, got rank {rank}"),
    }
}

/// What the list and input `index` together say of the elements' shapes.
pub(super) fn element_shape_at(ctx: &RawContext<'_>, list: &TensorList, index: usize) -> Result<PartialShape> {
    partial_shape(ctx.input_at(index)?)?.merge(&list.element_shape)
}

/// The shape of elements that are not set.
pub(super) fn known(shape: &PartialShape, what: &str) -> Result<Shape> {
    match shape.to_shape() {
        Some(known) => {
            known.check()?;
            Ok(known)
        }
        None => bail!(InvalidArgument, "{what} but element_shape is not fully defined: {shape}"),
    }
}
