//! What a variant holds that is a list, and how kernels reach it.

use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::proto::{Message, TensorShapeProto, encoded, shape_from_proto, shape_to_proto};
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::tensor::{Tensor, Variant, VariantValue};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::tensors::{add_to, value_in, zeros_like};
use kernlink_kernels_common::wire::{read_varint, write_varint};

/// TensorFlow's name of the type.
const NAME: &str = "tensorflow::TensorList";

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
        NAME
    }

    /// The metadata: how many elements are not set, which, the dtype's number, the most elements or -1, and the shape's message.
    fn parts(&self) -> Result<Option<(Vec<u8>, Vec<Tensor>)>> {
        let unset =
            || (0..).zip(&self.tensors).filter(|(_, tensor)| tensor.is_none()).map(|(index, _): (u64, _)| index);
        let most = self.max_num_elements.map_or(u64::MAX, |most| most as u64);
        let mut metadata = Vec::new();
        let numbers = std::iter::once(unset().count() as u64).chain(unset());
        for number in numbers.chain([self.element_dtype.number() as u64, most]) {
            write_varint(&mut metadata, number)?;
        }
        metadata.extend(encoded(&shape_to_proto(&self.element_shape))?);
        Ok(Some((metadata, scratch::collected(self.tensors.iter().flatten().cloned())?)))
    }

    fn from_parts(type_name: &str, mut metadata: &[u8], tensors: &[Tensor]) -> Option<Self> {
        if type_name != NAME {
            return None;
        }
        let mut number = || read_varint(&mut metadata).ok();
        let mut of = tensors.iter();
        let unset = usize::try_from(number()?).ok()?;
        let count = tensors.len().checked_add(unset)?;
        let mut elements = Vec::new();
        for _ in 0..unset {
            let index = usize::try_from(number()?).ok().filter(|&index| elements.len() <= index && index < count)?;
            while elements.len() < index {
                elements.make_room(1).ok()?;
                elements.push(Some(of.next()?.clone()));
            }
            elements.make_room(1).ok()?;
            elements.push(None);
        }
        elements.make_room(of.len()).ok()?;
        elements.extend(of.map(|tensor| Some(tensor.clone())));
        let element_dtype = DataType::from_number(i32::try_from(number()?).ok()?)?;
        let max_num_elements = match number()? {
            u64::MAX => None,
            most => Some(usize::try_from(most).ok()?),
        };
        let element_shape = shape_from_proto(&TensorShapeProto::decode(metadata).ok()?).ok()?;
        let suits =
            |tensor: &Tensor| tensor.dtype() == element_dtype && element_shape.is_compatible(&tensor.shape().into());
        tensors.iter().all(suits).then_some(TensorList {
            tensors: elements,
            element_shape,
            element_dtype,
            max_num_elements,
        })
    }

    fn zeros_like(&self) -> Result<Variant> {
        let zeros = |tensor: &Option<Tensor>| tensor.as_ref().map(zeros_like).transpose();
        let tensors = scratch::collected_ok(self.tensors.iter().map(zeros))?;
        // It may hold any number, as TensorFlow's.
        Ok(Variant::new(TensorList { max_num_elements: None, ..self.with(tensors) }))
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
        Ok(Variant::new(TensorList { element_shape, max_num_elements: None, ..self.with(tensors) }))
    }
}

/// The list in a variant tensor.
fn list_in(tensor: &Tensor) -> Result<&TensorList> {
    ensure!(tensor.rank() == 0, InvalidArgument, "Input list must be a scalar saw: {}", tensor.shape());
    let variant = &tensor.as_slice::<Variant>()?[0];
    value_in(variant, NAME, || format!("Input handle is not a list. Saw: '{}'", variant.type_name()))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of a message with these numbers in front of the message of a shape, and as many tensors `[k, k]`.
    fn read(numbers: &[u64], shape: &[u8], tensors: usize) -> Option<TensorList> {
        let mut metadata = Vec::new();
        numbers.iter().for_each(|&number| write_varint(&mut metadata, number).unwrap());
        metadata.extend(shape);
        let tensors: Vec<_> = (0..tensors).map(|k| Tensor::from_elements([2], &[k as f32; 2]).unwrap()).collect();
        TensorList::from_parts(NAME, &metadata, &tensors)
    }

    #[test]
    fn lists_from_messages_are_whole_or_none() {
        const UNKNOWN: u64 = u64::MAX;
        const ANY: [u8; 2] = [0x18, 1];
        let float = DataType::Float.number() as u64;
        let set = |list: TensorList| list.tensors.iter().map(Option::is_some).collect::<Vec<_>>();
        let (of_two, of_three) = (&[0x12, 2, 8, 2], &[0x12, 2, 8, 3]);
        assert_eq!(set(read(&[0, float, UNKNOWN], &ANY, 2).unwrap()), [true, true]);
        assert_eq!(set(read(&[2, 0, 2, float, 7], of_two, 2).unwrap()), [false, true, false, true]);
        assert_eq!(set(read(&[1, 2, float, 7], of_two, 2).unwrap()), [true, true, false]);
        let bad: [(&[u64], &[u8], usize); 11] = [
            (&[], &[], 2),
            (&[0, float], &ANY, 2),
            (&[u64::MAX, 0, float, UNKNOWN], &ANY, 2),
            (&[2, 2, 0, float, UNKNOWN], &ANY, 2),
            (&[2, 1, 1, float, UNKNOWN], &ANY, 2),
            (&[1, 3, float, UNKNOWN], &ANY, 2),
            (&[1, 1, float, UNKNOWN], &ANY, 0),
            (&[0, 999, UNKNOWN], &ANY, 0),
            (&[0, DataType::Int32.number() as u64, UNKNOWN], &ANY, 2),
            (&[0, float, UNKNOWN], of_three, 2),
            (&[0, float, UNKNOWN], &[0x12, 9, 8], 2),
        ];
        for (numbers, shape, tensors) in bad {
            assert!(read(numbers, shape, tensors).is_none(), "{numbers:?} {shape:?}");
        }
    }
}
