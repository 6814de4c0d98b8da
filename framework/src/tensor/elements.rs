//! The elements of tensors, as slices, bytes and values.

use std::sync::Arc;

use super::device::ELSEWHERE;
use super::{Storage, Tensor, exclusive, scratch};
use crate::dtype::{DataType, Element, Pod};
use crate::error::{Error, Result};
use crate::shape::Shape;

/// Where elements are, and since when they are as they are: see [`Tensor::content_stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentStamp {
    buffer: u64,
    offset: usize,
}

impl Tensor {
    /// The elements.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `T` is not the type of the dtype.
    #[track_caller]
    #[inline]
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        let first = self.first(T::DTYPE)?.cast();
        // SAFETY: `T` is the Rust type of `dtype` (checked by `first`, `Element` is sealed), and the constructors make
        // storage of that type with as many initialised elements; host elements are aligned to
        // their type.
        Ok(unsafe { std::slice::from_raw_parts(first, self.num_elements()) })
    }

    /// The first element, if the elements have this dtype. Apart from [`Tensor::as_slice`], which is compiled wherever it is
    /// called; so below.
    #[track_caller]
    #[inline(never)]
    fn first(&self, dtype: DataType) -> Result<*const u8> {
        if self.dtype != dtype {
            return Err(self.wrong_dtype(dtype));
        }
        Ok(match &self.storage {
            Storage::Inline(bytes) => bytes.as_ptr().cast(),
            Storage::Host { buffer, offset } => buffer.as_ptr().wrapping_add(*offset),
            Storage::Late(late) => late.aligned()?.as_ptr(),
            Storage::Strings(items) => items.as_ptr().cast(),
            Storage::Resources(items) => items.as_ptr().cast(),
            Storage::Variants(items) => items.as_ptr().cast(),
            Storage::Reference(_) | Storage::Device(_) => return Err(self.no_elements()),
        })
    }

    /// What tells later whether a tensor's elements are still these; `None` if they are stored in the tensor itself, are no
    /// numbers that the host can read, or can be changed by something outside.
    ///
    /// Nothing is kept alive: elements that are gone, and others that come to stand where they stood, have other stamps.
    pub fn content_stamp(&self) -> Option<ContentStamp> {
        match &self.storage {
            Storage::Host { buffer, offset } => Some(ContentStamp { buffer: buffer.stamp()?, offset: *offset }),
            Storage::Late(late) => Some(ContentStamp { buffer: late.aligned().ok()?.stamp()?, offset: 0 }),
            _ => None,
        }
    }

    /// The elements, to change. [`Tensor::make_unique`] makes sure that no other tensor shares them.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `T` is not the type of the dtype; INTERNAL if another tensor shares the elements. Numbers of at
    /// most 16 bytes together are stored in the tensor itself as a rule, so that clones have their own and this does not
    /// fail; it may all the same, as where they are part of a larger tensor.
    #[track_caller]
    #[inline]
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        let first = self.first_mut(T::DTYPE)?.cast();
        // SAFETY: as in `as_slice`; the storage has no other owner, so nothing else reads or writes it meanwhile.
        Ok(unsafe { std::slice::from_raw_parts_mut(first, self.num_elements()) })
    }

    /// The first element, to change, if the elements have this dtype and no other owner.
    #[track_caller]
    #[inline(never)]
    fn first_mut(&mut self, dtype: DataType) -> Result<*mut u8> {
        if self.dtype != dtype {
            return Err(self.wrong_dtype(dtype));
        }
        Ok(match &mut self.storage {
            Storage::Inline(bytes) => bytes.as_mut_ptr().cast(),
            Storage::Host { buffer, offset } => {
                let offset = *offset;
                exclusive(buffer).ok_or_else(shared)?.as_mut_ptr().wrapping_add(offset)
            }
            Storage::Strings(items) => Arc::get_mut(items).ok_or_else(shared)?.as_mut_ptr().cast(),
            Storage::Resources(items) => Arc::get_mut(items).ok_or_else(shared)?.as_mut_ptr().cast(),
            Storage::Variants(items) => Arc::get_mut(items).ok_or_else(shared)?.as_mut_ptr().cast(),
            Storage::Late(_) => return Err(shared()),
            Storage::Reference(_) | Storage::Device(_) => return Err(self.no_elements()),
        })
    }

    /// The element of a scalar, or of any tensor with one element.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `T` is not the type of the dtype or there is not exactly one element.
    #[track_caller]
    pub fn to_scalar<T: Element>(&self) -> Result<T> {
        match self.as_slice::<T>()? {
            [value] => Ok(value.clone()),
            elements => Err(Error::invalid_argument(format!(
                "a scalar is expected, not a tensor of shape {} with {} elements",
                self.shape,
                elements.len()
            ))),
        }
    }

    /// The elements of a tensor of integers, in order.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a dtype whose values are not all `i64`s; RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn to_i64_vec(&self) -> Result<Vec<i64>> {
        #[track_caller]
        fn widened<T: Pod + Into<i64>>(elements: &[T]) -> Result<Vec<i64>> {
            scratch::collected(elements.iter().map(|&value| value.into()))
        }
        match self.dtype {
            DataType::Int8 => widened(self.as_slice::<i8>()?),
            DataType::Uint8 => widened(self.as_slice::<u8>()?),
            DataType::Int16 => widened(self.as_slice::<i16>()?),
            DataType::Int32 => widened(self.as_slice::<i32>()?),
            DataType::Int64 => scratch::copied(self.as_slice::<i64>()?),
            other => Err(Error::invalid_argument(format!("integers are expected, not {other}"))),
        }
    }

    /// The shape whose sizes the elements are, of a vector of int32 or int64.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for another dtype or rank, and as [`Shape::from_dims`].
    #[track_caller]
    pub fn to_shape(&self) -> Result<Shape> {
        if !matches!(self.dtype, DataType::Int32 | DataType::Int64) || self.rank() != 1 {
            let message =
                format!("a shape is a vector of int32 or int64, not a {} tensor of {}", self.dtype, self.shape);
            return Err(Error::invalid_argument(message));
        }
        Shape::from_dims(&self.to_i64_vec()?)
    }

    /// The elements of a tensor of plain bytes, as bytes in the host's order, at whatever address they are.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for string, resource and variant.
    #[inline]
    #[track_caller]
    pub fn bytes(&self) -> Result<&[u8]> {
        let length = self.byte_length()?;
        let pointer: *const u8 = match &self.storage {
            Storage::Inline(bytes) => bytes.as_ptr().cast(),
            Storage::Host { buffer, offset } => buffer.as_ptr().wrapping_add(*offset),
            Storage::Late(late) => late.bytes().as_ptr(),
            _ => return Err(self.no_elements()),
        };
        // SAFETY: the storage holds `length` initialised bytes from `pointer` on.
        Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
    }

    /// As [`Tensor::bytes`], at an address that suits elements of the dtype: those of a constant that lies in a file at
    /// another are copied first, as [`Tensor::as_slice`] does.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for string, resource and variant; RESOURCE_EXHAUSTED if there is not enough memory.
    #[inline]
    #[track_caller]
    pub fn aligned_bytes(&self) -> Result<&[u8]> {
        let length = self.byte_length()?;
        let pointer = self.first(self.dtype)?;
        // SAFETY: as in `bytes`.
        Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
    }

    /// The elements of a tensor of plain bytes, bool excluded, as bytes to change.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for string, resource, variant and bool; INTERNAL if another tensor shares the elements, as
    /// [`Tensor::as_mut_slice`] says.
    #[inline]
    #[track_caller]
    pub fn bytes_mut(&mut self) -> Result<&mut [u8]> {
        if self.dtype == DataType::Bool {
            return Err(Error::invalid_argument("not every byte is a bool"));
        }
        self.raw_bytes_mut()
    }

    #[inline]
    #[track_caller]
    pub(super) fn raw_bytes_mut(&mut self) -> Result<&mut [u8]> {
        let length = self.byte_length()?;
        let pointer: *mut u8 = match &mut self.storage {
            Storage::Inline(bytes) => bytes.as_mut_ptr().cast(),
            Storage::Host { buffer, offset } => {
                let offset = *offset;
                exclusive(buffer).ok_or_else(shared)?.as_mut_ptr().wrapping_add(offset)
            }
            Storage::Late(_) => return Err(shared()),
            _ => return Err(self.no_elements()),
        };
        // SAFETY: the storage holds `length` initialised bytes from `pointer` on and has no other owner.
        Ok(unsafe { std::slice::from_raw_parts_mut(pointer, length) })
    }

    #[inline]
    #[track_caller]
    fn byte_length(&self) -> Result<usize> {
        if !self.dtype.is_pod() {
            return Err(Error::invalid_argument(format!("{} elements are not plain bytes", self.dtype)));
        }
        Ok(self.num_elements() * self.dtype.size())
    }

    #[cold]
    #[track_caller]
    pub(super) fn no_elements(&self) -> Error {
        match &self.storage {
            Storage::Reference(_) => Error::internal("a reference has no elements: read what it refers to"),
            Storage::Device(memory) => {
                Error::internal(format!("{ELSEWHERE} {}: bring them to the host", memory.device()))
            }
            _ => Error::internal(format!("the elements of a {} tensor are not there as such", self.dtype)),
        }
    }

    #[cold]
    #[track_caller]
    fn wrong_dtype(&self, asked: DataType) -> Error {
        Error::invalid_argument(format!("a {} tensor cannot be read as {asked}", self.dtype))
    }
}

#[cold]
#[track_caller]
fn shared() -> Error {
    Error::internal(
        "the elements are shared with another tensor and cannot be changed: call `make_unique` first, or take the tensor \
         from `forward_input_or_allocate_output`",
    )
}
