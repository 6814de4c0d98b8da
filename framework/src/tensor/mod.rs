//! Tensors: a dtype, a shape and shared elements.

mod buffer;
mod device;
mod elements;
mod file;
mod foreign;
mod into;
mod late;
mod mapping;
mod memory;
mod object;
mod pool;
mod print;
mod reference;
pub mod scratch;
mod slot;
mod views;

pub(crate) use buffer::allocated_by_thread;
pub use buffer::{ALIGNMENT, HostBuffer, clear_pool, pool_stats};
pub use device::DeviceMemory;
pub(crate) use device::is_elsewhere;
pub use elements::ContentStamp;
pub use file::FileBytes;
pub use into::{IntoTensor, Nested};
pub use memory::may_request;
pub use object::{ResourceHandle, Variant, VariantValue};
pub(crate) use reference::lock_order;
pub use reference::{PlaceGuard, TensorGuard, TensorRef};

use std::sync::Arc;

use late::Late;

use crate::dtype::{DataType, Element, Pod, TString};
use crate::error::{Error, Result};
use crate::shape::Shape;

/// An n-dimensional array of elements of one dtype, in row-major order.
///
/// Cloning shares the elements, but for a few small ones, which it copies. They can be changed only while nothing else
/// shares them.
///
/// ```
/// use kernlink_framework::tensor::Tensor;
///
/// let mut x = Tensor::new([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
/// assert_eq!(x.shape().dims(), [2, 3]);
/// x.as_mut_slice::<f32>()?[0] = 0.5;
/// assert_eq!(x.as_slice::<f32>()?, [0.5, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// assert_eq!(x.view::<f32>()?[[1, 2]], 6.0); // a view of `ndarray`
///
/// let mut row = x.clone().reshaped([6])?;
/// assert!(row.as_mut_slice::<f32>().is_err(), "x shares the elements");
/// assert!(row.as_slice::<i32>().is_err(), "they are no integers");
/// # Ok::<(), kernlink_framework::Error>(())
/// ```
pub struct Tensor {
    shape: Shape,
    dtype: DataType,
    storage: Storage,
}

/// Bytes that a tensor stores inline, so that scalars need no allocation.
const INLINE_BYTES: usize = 16;

#[derive(Clone)]
enum Storage {
    Inline([u64; INLINE_BYTES / 8]),
    Host {
        buffer: Arc<HostBuffer>,
        offset: usize,
    },
    /// In a file, to be copied when they are read.
    Late(Arc<Late>),
    Strings(Arc<Vec<TString>>),
    Resources(Arc<Vec<ResourceHandle>>),
    Variants(Arc<Vec<Variant>>),
    /// No elements: the place of a tensor.
    Reference(TensorRef),
    /// No elements that the host could read.
    Device(Arc<dyn DeviceMemory>),
}

impl Clone for Tensor {
    #[inline(always)]
    fn clone(&self) -> Tensor {
        if self.is_plain() {
            // SAFETY: neither shape nor storage owns anything, so that a copy of the bytes is a value of its own.
            return unsafe { std::ptr::read(self) };
        }
        self.share()
    }
}

impl Tensor {
    /// A tensor of `dtype` and `shape` whose elements are to be written: numbers hold arbitrary values, strings are
    /// empty.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    #[inline]
    #[track_caller]
    pub fn alloc(dtype: DataType, shape: impl Into<Shape>) -> Result<Tensor> {
        Tensor::allocate(dtype, shape.into(), false)
    }

    /// A tensor of zeros, of empty strings, or of empty handles.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn zeros(dtype: DataType, shape: impl Into<Shape>) -> Result<Tensor> {
        Tensor::allocate(dtype, shape.into(), true)
    }

    /// [`Tensor::clone`] for tensors that own something.
    fn share(&self) -> Tensor {
        Tensor { shape: self.shape.clone(), dtype: self.dtype, storage: self.storage.clone() }
    }

    /// Whether it owns nothing: a copy of its bytes is a value of its own, and it can be forgotten.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        matches!(self.storage, Storage::Inline(_)) && self.shape.is_inline()
    }

    /// The bytes of a tensor that stores them inline: a small one that shares no buffer.
    #[inline]
    pub fn inline_bits(&self) -> Option<&[u64; 2]> {
        match &self.storage {
            Storage::Inline(bits) => Some(bits),
            _ => None,
        }
    }

    #[track_caller]
    fn allocate(dtype: DataType, shape: Shape, zeroed: bool) -> Result<Tensor> {
        fn objects<T: Default>(count: usize, shape: &Shape, dtype: DataType) -> Result<Arc<Vec<T>>> {
            let mut items = scratch::room(count).map_err(|_| out_of_memory(shape, dtype))?;
            // Made one by one: to clone a string costs more.
            items.resize_with(count, T::default);
            Ok(Arc::new(items))
        }
        let count = shape.num_elements();
        let storage = match dtype {
            DataType::String => Storage::Strings(objects(count, &shape, dtype)?),
            DataType::Resource => Storage::Resources(objects(count, &shape, dtype)?),
            DataType::Variant => Storage::Variants(objects(count, &shape, dtype)?),
            _ => {
                let bytes = count.checked_mul(dtype.size()).ok_or_else(|| out_of_memory(&shape, dtype))?;
                if bytes <= INLINE_BYTES {
                    Storage::Inline([0; INLINE_BYTES / 8])
                } else {
                    // A recycled buffer may hold bytes that are no bools.
                    let zeroed = zeroed || dtype == DataType::Bool;
                    let buffer = HostBuffer::new(bytes, zeroed).ok_or_else(|| out_of_memory(&shape, dtype))?;
                    Storage::Host { buffer: Arc::new(buffer), offset: 0 }
                }
            }
        };
        Ok(Tensor { shape, dtype, storage })
    }

    /// A tensor from its elements.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `elements` are not as many as the shape says; RESOURCE_EXHAUSTED if there is not enough
    /// memory.
    #[track_caller]
    pub fn from_elements<T: Element>(shape: impl Into<Shape>, elements: &[T]) -> Result<Tensor> {
        let mut tensor = Tensor::alloc_for(T::DTYPE, shape.into(), elements.len())?;
        tensor.as_mut_slice::<T>()?.clone_from_slice(elements);
        Ok(tensor)
    }

    /// [`Tensor::alloc`] for so many elements, if that is what the shape has.
    #[track_caller]
    #[inline(never)]
    fn alloc_for(dtype: DataType, shape: Shape, count: usize) -> Result<Tensor> {
        if shape.num_elements() != count {
            let message = format!("shape {shape} has {} elements, not {count}", shape.num_elements());
            return Err(Error::invalid_argument(message));
        }
        Tensor::alloc(dtype, shape)
    }

    /// A scalar.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Tensor::from_elements(Shape::scalar(), &[value]).expect("a scalar needs no allocation that can fail")
    }

    /// A scalar of a dtype of plain bytes, from its bytes in the host's order, the rest of which is ignored.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for string, resource and variant.
    #[track_caller]
    #[inline]
    pub fn scalar_from_bits(dtype: DataType, bits: [u64; 2]) -> Result<Tensor> {
        let mut scalar = None;
        Tensor::put_scalar(&mut scalar, dtype, bits);
        scalar.ok_or_else(|| Error::invalid_argument(format!("a {dtype} is not plain bytes")))
    }

    /// A vector.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn vector<T: Element>(elements: &[T]) -> Result<Tensor> {
        Tensor::from_elements([elements.len()], elements)
    }

    /// A tensor with a copy of these bytes, which are in the host's byte order.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the number of bytes is not that of the shape, or the dtype is not plain bytes;
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn from_bytes(dtype: DataType, shape: impl Into<Shape>, bytes: &[u8]) -> Result<Tensor> {
        let shape = shape.into();
        if !dtype.is_pod() || shape.num_elements().checked_mul(dtype.size()) != Some(bytes.len()) {
            let message = format!("a {dtype} tensor of shape {shape} cannot be made from {} bytes", bytes.len());
            return Err(Error::invalid_argument(message));
        }
        let mut tensor = Tensor::alloc(dtype, shape)?;
        let target = tensor.raw_bytes_mut()?;
        target.copy_from_slice(bytes);
        if dtype == DataType::Bool {
            target.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(tensor)
    }

    /// The dtype.
    #[inline]
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// The shape.
    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of dimensions.
    #[inline]
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The number of elements.
    #[inline]
    pub fn num_elements(&self) -> usize {
        self.shape.num_elements()
    }

    /// Bytes of the elements in memory, what strings point to left out.
    pub fn num_bytes(&self) -> usize {
        match self.dtype {
            DataType::String => self.num_elements() * size_of::<TString>(),
            DataType::Resource => self.num_elements() * size_of::<ResourceHandle>(),
            DataType::Variant => self.num_elements() * size_of::<Variant>(),
            _ => self.num_elements() * self.dtype.size(),
        }
    }

    /// The same elements with another shape.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the number of elements differs.
    #[track_caller]
    pub fn reshaped(mut self, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        if shape.num_elements() != self.num_elements() {
            return Err(Error::invalid_argument(format!("shape {} cannot become {shape}", self.shape)));
        }
        self.shape = shape;
        Ok(self)
    }

    /// The same bytes as elements of another dtype, in another shape: no conversion takes place.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the number of bytes differs or one of the dtypes is not plain bytes or is bool.
    #[track_caller]
    pub fn bitcast(self, dtype: DataType, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        let bytes = shape.num_elements().checked_mul(dtype.size());
        if !self.dtype.is_pod() || !dtype.is_pod() || bytes != Some(self.num_bytes()) || dtype == DataType::Bool {
            let message = format!("{} {} cannot be read as {dtype} {shape}", self.dtype, self.shape);
            return Err(Error::invalid_argument(message));
        }
        let aligned = match &self.storage {
            // Only the device knows the layout of its elements.
            Storage::Device(_) => return Err(self.no_elements()),
            Storage::Host { buffer, offset } => {
                buffer.as_ptr().wrapping_add(*offset).addr().is_multiple_of(dtype.size().min(8))
            }
            // The copy that suits the elements suits all others, too.
            Storage::Late(late) => {
                let storage = Storage::Host { buffer: late.aligned()?.clone(), offset: 0 };
                return Ok(Tensor { shape, dtype, storage });
            }
            _ => true,
        };
        if !aligned {
            return Tensor::from_bytes(dtype, shape, self.bytes()?);
        }
        Ok(Tensor { shape, dtype, storage: self.storage })
    }

    /// Rows `start..end` along the first dimension. Numbers are shared, not copied, unless they are few.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a scalar or a range outside the first dimension; RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn slice_rows(&self, start: usize, end: usize) -> Result<Tensor> {
        let rows = *self.shape.first().ok_or_else(|| Error::invalid_argument("a scalar has no rows"))?;
        if start > end || end > rows {
            return Err(Error::invalid_argument(format!("rows {start}..{end} are outside 0..{rows}")));
        }
        let mut shape = self.shape.clone();
        shape.dims_mut()[0] = end - start;
        let per_row = self.num_elements().checked_div(rows).unwrap_or(0);
        let (first, last) = (start * per_row, end * per_row);
        let storage = match &self.storage {
            Storage::Host { buffer, offset } => {
                Storage::Host { buffer: buffer.clone(), offset: offset + first * self.dtype.size() }
            }
            Storage::Late(late) => Storage::Host { buffer: late.aligned()?.clone(), offset: first * self.dtype.size() },
            Storage::Inline(_) => {
                let size = self.dtype.size();
                return Tensor::from_bytes(self.dtype, shape, &self.bytes()?[first * size..last * size]);
            }
            Storage::Strings(items) => Storage::Strings(Arc::new(scratch::copied(&items[first..last])?)),
            Storage::Resources(items) => Storage::Resources(Arc::new(scratch::copied(&items[first..last])?)),
            Storage::Variants(items) => Storage::Variants(Arc::new(scratch::copied(&items[first..last])?)),
            Storage::Reference(_) | Storage::Device(_) => return Err(self.no_elements()),
        };
        Ok(Tensor { shape, dtype: self.dtype, storage })
    }

    /// Whether nothing else shares the elements, so that they can be changed.
    pub fn is_unique(&mut self) -> bool {
        match &mut self.storage {
            Storage::Inline(_) => true,
            Storage::Host { buffer, .. } => exclusive(buffer).is_some(),
            Storage::Strings(items) => Arc::get_mut(items).is_some(),
            Storage::Resources(items) => Arc::get_mut(items).is_some(),
            Storage::Variants(items) => Arc::get_mut(items).is_some(),
            Storage::Reference(_) | Storage::Late(_) => false,
            Storage::Device(memory) => Arc::get_mut(memory).is_some(),
        }
    }

    /// Copies the elements if another tensor shares them, so that they can be changed.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory; INTERNAL if they are in the memory of a device.
    #[track_caller]
    pub fn make_unique(&mut self) -> Result<()> {
        if self.is_unique() {
            return Ok(());
        }
        *self = match self.dtype {
            DataType::String => Tensor::from_elements(&self.shape, self.as_slice::<TString>()?)?,
            DataType::Resource => Tensor::from_elements(&self.shape, self.as_slice::<ResourceHandle>()?)?,
            DataType::Variant => Tensor::from_elements(&self.shape, self.as_slice::<Variant>()?)?,
            _ => Tensor::from_bytes(self.dtype, &self.shape, self.bytes()?)?,
        };
        Ok(())
    }

    /// A copy whose elements clones share, however few they are; strings, resources and variants are so in any case.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn to_shareable(&self) -> Result<Tensor> {
        let Storage::Inline(_) = &self.storage else { return Ok(self.clone()) };
        let bytes = self.bytes()?;
        let mut large = Tensor::zeros(DataType::Uint8, [INLINE_BYTES + 1])?;
        large.raw_bytes_mut()?[..bytes.len()].copy_from_slice(bytes);
        Ok(Tensor { shape: self.shape.clone(), dtype: self.dtype, storage: large.storage })
    }

    /// A tensor that stands for a place: what flows from an output of type `Ref(T)`. It has no elements of its own.
    pub fn from_reference(reference: TensorRef) -> Tensor {
        let dtype = reference.dtype();
        Tensor { shape: Shape::from([0]), dtype, storage: Storage::Reference(reference) }
    }

    /// The place that the tensor stands for, if it does.
    pub fn reference(&self) -> Option<&TensorRef> {
        match &self.storage {
            Storage::Reference(reference) => Some(reference),
            _ => None,
        }
    }

    /// A tensor whose elements are in the memory of a device, in a layout that only the device knows.
    pub fn from_device(dtype: DataType, shape: impl Into<Shape>, memory: Arc<dyn DeviceMemory>) -> Tensor {
        Tensor { shape: shape.into(), dtype, storage: Storage::Device(memory) }
    }

    /// The device memory that holds the elements; `None` if they are on the host.
    #[inline]
    pub fn device_memory(&self) -> Option<&Arc<dyn DeviceMemory>> {
        match &self.storage {
            Storage::Device(memory) => Some(memory),
            _ => None,
        }
    }
}

/// The buffer, if it has one owner and can be changed.
#[inline]
fn exclusive(buffer: &mut Arc<HostBuffer>) -> Option<&mut HostBuffer> {
    Arc::get_mut(buffer).filter(|buffer| buffer.is_writable())
}

#[cold]
#[track_caller]
fn out_of_memory(shape: &Shape, dtype: DataType) -> Error {
    Error::resource_exhausted(format!("OOM when allocating tensor with shape{shape} and type {dtype}"))
}

impl<T: Pod> From<T> for Tensor {
    fn from(value: T) -> Tensor {
        Tensor::scalar(value)
    }
}

impl From<&str> for Tensor {
    fn from(text: &str) -> Tensor {
        Tensor::scalar(TString::from(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tensors_need_no_buffer() {
        let tensor = Tensor::scalar(2.5f64);
        assert!(matches!(tensor.storage, Storage::Inline(_)));
        assert_eq!(tensor.to_scalar::<f64>().unwrap(), 2.5);
    }

    #[test]
    fn a_shared_tensor_cannot_be_changed() {
        let mut tensor = Tensor::vector(&[1i32; 100]).unwrap();
        let other = tensor.clone();
        assert_eq!(tensor.as_mut_slice::<i32>().unwrap_err().code(), crate::Code::Internal);
        drop(other);
        tensor.as_mut_slice::<i32>().unwrap()[99] = 7;
        assert_eq!(tensor.as_slice::<i32>().unwrap()[99], 7);
    }

    #[test]
    fn shared_elements_are_copied_to_be_changed() {
        for mut tensor in [
            Tensor::vector(&[1i32; 100]).unwrap(),
            Tensor::vector(&[TString::from("a"), TString::from("b")]).unwrap(),
            Tensor::vector(&[Variant::default(), Variant::default()]).unwrap(),
            Tensor::vector(&[ResourceHandle::default(), ResourceHandle::default()]).unwrap(),
            Tensor::vector(&[true; 100]).unwrap(),
        ] {
            let other = tensor.clone();
            assert!(!tensor.is_unique());
            tensor.make_unique().unwrap();
            assert!(tensor.is_unique());
            assert_eq!((tensor.to_string(), tensor.dtype()), (other.to_string(), other.dtype()));
            let before = tensor.clone();
            drop(other);
            drop(before);
            tensor.make_unique().unwrap();
        }
        // What nothing shares stays where it is.
        let mut tensor = Tensor::vector(&[1i32; 100]).unwrap();
        let address = tensor.bytes().unwrap().as_ptr();
        tensor.make_unique().unwrap();
        assert_eq!(tensor.bytes().unwrap().as_ptr(), address);
    }

    #[test]
    fn vectors_of_sizes_are_shapes() {
        assert_eq!(Tensor::vector(&[2i32, 3]).unwrap().to_shape().unwrap(), Shape::from([2, 3]));
        assert_eq!(Tensor::vector::<i64>(&[]).unwrap().to_shape().unwrap(), Shape::scalar());
        for wrong in [Tensor::scalar(2i32), Tensor::vector(&[-1i64]).unwrap(), Tensor::vector(&[2i16]).unwrap()] {
            assert_eq!(wrong.to_shape().unwrap_err().code(), crate::Code::InvalidArgument, "{wrong}");
        }
    }

    #[test]
    fn rows_share_their_buffer_and_bitcast_stays_aligned() {
        let tensor = Tensor::from_elements([5, 3], &(0..15u16).collect::<Vec<_>>()).unwrap();
        let rows = tensor.slice_rows(1, 3).unwrap();
        assert_eq!(rows.as_slice::<u16>().unwrap(), [3, 4, 5, 6, 7, 8]);
        let cast = rows.bitcast(DataType::Int32, [3]).unwrap();
        assert_eq!(cast.as_slice::<i32>().unwrap()[0], 3 | 4 << 16);
        assert!(tensor.slice_rows(4, 6).is_err());
    }

    #[test]
    fn too_large_is_an_error() {
        let error = Tensor::alloc(DataType::Float, [1 << 40, 1 << 20]).unwrap_err();
        assert_eq!(error.code(), crate::Code::ResourceExhausted);
    }

    #[test]
    fn bytes_become_bools() {
        let tensor = Tensor::from_bytes(DataType::Bool, [3], &[0, 2, 255]).unwrap();
        assert_eq!(tensor.as_slice::<bool>().unwrap(), [false, true, true]);
    }
}
