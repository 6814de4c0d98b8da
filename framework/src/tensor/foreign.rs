//! Tensors over memory that was not allocated for them: a vector's, or that of whatever owns a slice.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use super::{HostBuffer, INLINE_BYTES, ResourceHandle, Storage, Tensor, Variant};
use crate::dtype::{DataType, Element, Pod, TString};
use crate::error::{Error, Result};
use crate::shape::Shape;

impl Tensor {
    /// A tensor that takes over a vector, without copying its elements unless they are at most 16 bytes. Such a tensor can be
    /// changed in place as any other. Its elements are aligned to their type, where those of
    /// [`Tensor::alloc`] are aligned to 64 bytes.
    ///
    /// ```
    /// # use kernlink_framework as kernlink;
    /// # use kernlink::tensor::Tensor;
    /// # fn main() -> kernlink::Result<()> {
    /// let samples: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    /// let address = samples.as_ptr();
    /// let tensor = Tensor::from_vec([10, 100], samples)?;
    /// assert_eq!(tensor.as_slice::<f32>()?.as_ptr(), address);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the elements are not as many as the shape says.
    #[track_caller]
    pub fn from_vec<T: Element>(shape: impl Into<Shape>, elements: Vec<T>) -> Result<Tensor> {
        let shape = shape.into();
        ensure_count(&shape, elements.len())?;
        // Not bytes: kept in vectors anyway.
        let elements: Box<dyn Any> = match T::DTYPE {
            DataType::String | DataType::Resource | DataType::Variant => Box::new(elements),
            _ if size_of_val(&*elements) <= INLINE_BYTES => return Tensor::from_elements(shape, &elements),
            _ => {
                let (parts, bytes) = (Parts::of(elements), shape.num_elements() * size_of::<T>());
                let pointer = parts.pointer.cast();
                // SAFETY: the parts hold the vector's `bytes` bytes of initialised elements until they are dropped, and
                // nothing else leads to them. What is written are elements of `T`, of whatever bytes: the storage's dtype is
                // that of `T`.
                let buffer = unsafe { HostBuffer::owned_by(pointer, bytes, Box::new(parts), true) };
                return Ok(Tensor::over(shape, T::DTYPE, buffer));
            }
        };
        let elements = match elements.downcast::<Vec<TString>>() {
            Ok(strings) => return Ok(Tensor { shape, dtype: T::DTYPE, storage: Storage::Strings(Arc::new(*strings)) }),
            Err(others) => others,
        };
        let storage = match elements.downcast::<Vec<ResourceHandle>>() {
            Ok(handles) => Storage::Resources(Arc::new(*handles)),
            Err(others) => {
                let variants = others.downcast::<Vec<Variant>>();
                Storage::Variants(Arc::new(*variants.map_err(|_| Error::internal("a dtype has one type of elements"))?))
            }
        };
        Ok(Tensor { shape, dtype: T::DTYPE, storage })
    }

    /// A tensor over the elements that something else owns: a memory-mapped file, a buffer of another library, an `Arc` of an
    /// array. They are not copied unless they are at most 16 bytes. The owner is asked for them once, and dropped when no
    /// tensor shares them any more. The tensor can only be read; [`Tensor::make_unique`] copies.
    ///
    /// ```
    /// # use kernlink_framework as kernlink;
    /// # use std::sync::Arc;
    /// # use kernlink::tensor::Tensor;
    /// # fn main() -> kernlink::Result<()> {
    /// let weights: Arc<[f32]> = vec![0.5; 1000].into();
    /// let tensor = Tensor::from_owner([1000], weights.clone())?;
    /// assert_eq!(tensor.as_slice::<f32>()?.as_ptr(), weights.as_ptr());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the elements are not as many as the shape says.
    #[track_caller]
    pub fn from_owner<T: Pod, O: AsRef<[T]> + Send + Sync + 'static>(
        shape: impl Into<Shape>,
        owner: O,
    ) -> Result<Tensor> {
        let shape = shape.into();
        let owner = Pinned::new(owner);
        let elements: &[T] = owner.get().as_ref();
        ensure_count(&shape, elements.len())?;
        if size_of_val(elements) <= INLINE_BYTES {
            return Tensor::from_elements(shape, elements);
        }
        let (pointer, bytes) = (NonNull::from(elements).cast(), size_of_val(elements));
        // SAFETY: `owner` lent the slice, and is lent itself, to nobody else, until it is dropped: it stays where it is, and
        // nothing writes the slice as long as it is lent. The buffer does not write either.
        let buffer = unsafe { HostBuffer::owned_by(pointer, bytes, Box::new(owner), false) };
        Ok(Tensor::over(shape, T::DTYPE, buffer))
    }

    /// A tensor over memory that a program in another language gave, which may write there whenever no kernel runs: so the tensor
    /// has no [content stamp](Tensor::content_stamp), and elements are not copied however few they are. It can only be read;
    /// [`Tensor::make_unique`] copies.
    ///
    /// # Safety
    /// From `pointer` on are as many initialised elements of `dtype` as `shape` says, which stay there until `owner` is dropped,
    /// and which nothing writes while a kernel or another function reads the tensor.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a dtype that is no plain bytes, too many elements, or a pointer that is not aligned to an element.
    #[track_caller]
    pub unsafe fn from_memory(
        dtype: DataType,
        shape: impl Into<Shape>,
        pointer: NonNull<u8>,
        owner: Box<dyn Send + Sync>,
    ) -> Result<Tensor> {
        let shape = shape.into();
        shape.check()?;
        let bytes = shape.num_elements().checked_mul(dtype.size()).filter(|_| dtype.is_pod());
        let Some(bytes) = bytes.filter(|_| pointer.addr().get().is_multiple_of(dtype.size().min(8))) else {
            let message = format!("{dtype} elements of shape {shape} cannot be at {pointer:?}");
            return Err(Error::invalid_argument(message));
        };
        // SAFETY: as the caller says; what is not exclusive is not written.
        let buffer = unsafe { HostBuffer::owned_by(pointer, bytes, owner, false) };
        buffer.set_changeable();
        Ok(Tensor::over(shape, dtype, buffer))
    }

    /// The first byte, for a program in another language to read and, as long as no kernel or other function reads the tensor,
    /// to write: from now on the elements have no [content stamp](Tensor::content_stamp). Null for a tensor without bytes that
    /// the host could read. Whoever writes must write elements of the dtype.
    pub fn expose(&mut self) -> *mut u8 {
        match &mut self.storage {
            Storage::Inline(bits) => bits.as_mut_ptr().cast(),
            Storage::Host { buffer, offset } => {
                buffer.set_changeable();
                buffer.as_ptr().wrapping_add(*offset).cast_mut()
            }
            Storage::Late(late) => late.aligned().map_or(std::ptr::null_mut(), |buffer| {
                buffer.set_changeable();
                buffer.as_ptr().cast_mut()
            }),
            _ => std::ptr::null_mut(),
        }
    }

    fn over(shape: Shape, dtype: DataType, buffer: HostBuffer) -> Tensor {
        Tensor { shape, dtype, storage: Storage::Host { buffer: Arc::new(buffer), offset: 0 } }
    }
}

#[track_caller]
fn ensure_count(shape: &Shape, elements: usize) -> Result<()> {
    if shape.num_elements() == elements {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("shape {shape} has {} elements, not {elements}", shape.num_elements())))
}

/// What a vector is made of. A vector that is moved claims its elements for itself, and pointers to them lapse.
struct Parts<T> {
    pointer: NonNull<T>,
    length: usize,
    capacity: usize,
}

// SAFETY: it owns its elements, as a vector does.
unsafe impl<T: Send> Send for Parts<T> {}
// SAFETY: it gives no access to them.
unsafe impl<T: Sync> Sync for Parts<T> {}

impl<T> Parts<T> {
    fn of(elements: Vec<T>) -> Parts<T> {
        let mut elements = std::mem::ManuallyDrop::new(elements);
        let (length, capacity) = (elements.len(), elements.capacity());
        // SAFETY: the pointer of a vector is never null.
        let pointer = unsafe { NonNull::new_unchecked(elements.as_mut_ptr()) };
        Parts { pointer, length, capacity }
    }
}

impl<T> Drop for Parts<T> {
    fn drop(&mut self) {
        // SAFETY: these are the parts of a vector that was not dropped.
        drop(unsafe { Vec::from_raw_parts(self.pointer.as_ptr(), self.length, self.capacity) });
    }
}

/// A value that stays where it is. A box that is moved claims its value for itself, and pointers into it lapse.
struct Pinned<O>(NonNull<O>);

// SAFETY: it owns the value, as a box does.
unsafe impl<O: Send> Send for Pinned<O> {}
// SAFETY: it gives out shared references, as a box does.
unsafe impl<O: Sync> Sync for Pinned<O> {}

impl<O> Pinned<O> {
    fn new(value: O) -> Pinned<O> {
        // SAFETY: the pointer of a box is never null.
        Pinned(unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(value))) })
    }

    fn get(&self) -> &O {
        // SAFETY: the value lives until `self` is dropped, and is not changed.
        unsafe { self.0.as_ref() }
    }
}

impl<O> Drop for Pinned<O> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box, and is freed once.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Code;

    #[test]
    fn a_vector_is_taken_over_and_changed_in_place() {
        let elements: Vec<i32> = (0..100).collect();
        let address = elements.as_ptr();
        let mut tensor = Tensor::from_vec([10, 10], elements).unwrap();
        assert_eq!(tensor.as_slice::<i32>().unwrap().as_ptr(), address);
        tensor.as_mut_slice::<i32>().unwrap()[7] = -7;
        let row = tensor.slice_rows(0, 1).unwrap();
        assert_eq!(row.as_slice::<i32>().unwrap()[7], -7);
        assert_eq!(tensor.as_mut_slice::<i32>().unwrap_err().code(), Code::Internal);
        drop(tensor);
        assert_eq!(row.as_slice::<i32>().unwrap()[..8], [0, 1, 2, 3, 4, 5, 6, -7]);
    }

    #[test]
    fn vectors_of_all_kinds_are_tensors() {
        let strings: Vec<TString> = ["a", "a string that is too long to be kept in itself"].map(TString::from).into();
        let tensor = Tensor::from_vec([2], strings.clone()).unwrap();
        assert_eq!((tensor.dtype(), tensor.as_slice::<TString>().unwrap()), (DataType::String, &*strings));
        assert_eq!(Tensor::from_vec([1], vec![ResourceHandle::default()]).unwrap().dtype(), DataType::Resource);
        assert_eq!(Tensor::from_vec([1], vec![Variant::default()]).unwrap().dtype(), DataType::Variant);
        assert_eq!(Tensor::from_vec([3], vec![true, false, true]).unwrap().to_string(), "bool [3] [true false true]");
        assert!(Tensor::from_vec([2], vec![1.0f32, 2.0]).unwrap().inline_bits().is_some());
        assert_eq!(Tensor::from_vec::<f64>([0, 3], Vec::new()).unwrap().num_elements(), 0);
        let mut roomy = Vec::with_capacity(1000);
        roomy.extend([1u8; 20]);
        assert_eq!(Tensor::from_vec([20], roomy).unwrap().as_slice::<u8>().unwrap(), [1; 20]);
        assert_eq!(Tensor::from_vec([3], vec![1.0f32]).unwrap_err().code(), Code::InvalidArgument);
    }

    #[test]
    fn bytes_of_any_address_are_cast_aligned() {
        let tensor = Tensor::from_vec([80], (0..80u8).collect()).unwrap();
        for start in 0..8 {
            let cast = tensor.slice_rows(start, start + 64).unwrap().bitcast(DataType::Int64, [8]).unwrap();
            let first = i64::from_ne_bytes(std::array::from_fn(|i| (start + i) as u8));
            assert_eq!(cast.as_slice::<i64>().unwrap()[0], first);
        }
    }

    /// Elements within the owner itself, which would move with it; counts its drops.
    struct Within([f32; 8], Arc<AtomicUsize>);

    impl AsRef<[f32]> for Within {
        fn as_ref(&self) -> &[f32] {
            &self.0
        }
    }

    impl Drop for Within {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn an_owner_lives_as_long_as_its_tensors() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let owner = |value: f32| Within([value; 8], dropped.clone());
        let mut tensor = Tensor::from_owner([2, 4], owner(1.5)).unwrap();
        let row = tensor.slice_rows(1, 2).unwrap();
        assert!(!tensor.is_unique());
        tensor.make_unique().unwrap();
        tensor.as_mut_slice::<f32>().unwrap()[0] = 9.0;
        drop(tensor);
        assert_eq!((row.as_slice::<f32>().unwrap(), dropped.load(Ordering::Relaxed)), (&[1.5; 4][..], 0));
        // From another thread.
        std::thread::spawn(move || drop(row)).join().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        assert_eq!(Tensor::from_owner([9], owner(0.0)).unwrap_err().code(), Code::InvalidArgument);
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
        // The one owner of what is only read cannot write it either.
        let mut alone = Tensor::from_owner([8], owner(2.5)).unwrap();
        assert_eq!(alone.as_mut_slice::<f32>().unwrap_err().code(), Code::Internal);
    }

    #[test]
    fn memory_that_others_write_has_no_stamp_and_is_never_written_here() {
        static ELEMENTS: [AtomicUsize; 8] = [const { AtomicUsize::new(7) }; 8];
        let pointer = NonNull::from(&ELEMENTS).cast::<u8>();
        // SAFETY: the elements are 8 bytes each, stay, and are written below only while no tensor is read.
        let made = |shape: Shape| unsafe { Tensor::from_memory(DataType::Int64, shape, pointer, Box::new(())) };
        for shape in [Shape::from([8]), Shape::from([1]), Shape::from([])] {
            let mut tensor = made(shape).unwrap();
            assert_eq!((tensor.content_stamp(), tensor.is_unique()), (None, false));
            ELEMENTS[0].store(9, Ordering::Relaxed);
            assert_eq!(tensor.as_slice::<i64>().unwrap()[0], 9);
            tensor.make_unique().unwrap();
            tensor.as_mut_slice::<i64>().unwrap()[0] = 1;
            assert_eq!(ELEMENTS[0].load(Ordering::Relaxed), 9);
        }
        // SAFETY: refused before anything is read.
        let refused =
            |dtype, pointer| unsafe { Tensor::from_memory(dtype, [1], pointer, Box::new(())) }.unwrap_err().code();
        assert_eq!(refused(DataType::String, pointer), Code::InvalidArgument);
        // SAFETY: within the array.
        assert_eq!(refused(DataType::Int32, unsafe { pointer.add(2) }), Code::InvalidArgument);
    }

    #[test]
    fn what_is_exposed_is_written_through_the_pointer() {
        for count in [0usize, 1, 4, 100] {
            let mut tensor = Tensor::zeros(DataType::Float, [count]).unwrap();
            let first = tensor.expose().cast::<f32>();
            // SAFETY: there are so many elements, and nothing reads them meanwhile.
            (0..count).for_each(|i| unsafe { first.add(i).write(i as f32) });
            let expected: Vec<f32> = (0..count).map(|i| i as f32).collect();
            assert_eq!((tensor.as_slice::<f32>().unwrap(), tensor.content_stamp()), (&*expected, None));
            // Written by its one owner it still is what others may write.
            tensor.as_mut_slice::<f32>().unwrap().fill(2.0);
            assert_eq!(tensor.content_stamp(), None);
        }
        let mut strings = Tensor::from_vec([1], vec![TString::from("a")]).unwrap();
        assert!(strings.expose().is_null());
    }

    #[test]
    fn shared_arrays_and_small_ones() {
        let shared: Arc<[i64]> = vec![3; 100].into();
        let tensor = Tensor::from_owner([100], shared.clone()).unwrap();
        assert_eq!((tensor.as_slice::<i64>().unwrap().as_ptr(), Arc::strong_count(&shared)), (shared.as_ptr(), 2));
        drop(tensor);
        assert_eq!(Arc::strong_count(&shared), 1);
        let small = Tensor::from_owner::<i64, _>([], [5i64]).unwrap();
        assert_eq!(small.to_scalar::<i64>().unwrap(), 5);
    }
}
