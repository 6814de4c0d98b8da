//! Memory that kernels need for themselves: whose size comes from a tensor or an attr, and which may be refused.
//!
//! `vec![0; n]`, `collect` and `push` end the process when there is no memory. What is here fails with RESOURCE_EXHAUSTED
//! instead, and asks first, as tensors do, whether the system has as much ([`may_request`]). What is as large as a rank,
//! a number of arguments or a name needs none of this.

use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};

use super::buffer::{ALIGNMENT, HostBuffer};
use super::memory::may_request;
use crate::error::{Error, Result};

/// Requests below this many bytes are left to the allocator.
const ASKED_FROM: usize = 4096;

#[cold]
#[track_caller]
fn refused(count: usize, size: usize) -> Error {
    let bytes = count.saturating_mul(size);
    Error::resource_exhausted(format!("OOM when allocating {bytes} bytes of temporary memory ({count} elements)"))
}

#[track_caller]
#[inline]
fn ask(count: usize, size: usize) -> Result<()> {
    let bytes = count.saturating_mul(size);
    if bytes < ASKED_FROM || may_request(bytes) { Ok(()) } else { Err(refused(count, size)) }
}

/// An empty vector with room for `count` elements.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn room<T>(count: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    ask(count, size_of::<T>())?;
    match vector.try_reserve_exact(count) {
        Ok(()) => Ok(vector),
        Err(_) => Err(refused(count, size_of::<T>())),
    }
}

/// `vec![0; count]`: memory that the system clears when it is first touched.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn zeros<T: Zeroable>(count: usize) -> Result<Vec<T>> {
    ask(count, size_of::<T>())?;
    match bytemuck::allocation::try_zeroed_vec(count) {
        Ok(vector) => Ok(vector),
        Err(()) => Err(refused(count, size_of::<T>())),
    }
}

/// Elements in memory that is reused where it is large, as that of tensors is. The system clears the pages of other memory whenever
/// a kernel takes it, which costs more than many kernels compute.
pub struct Pooled<T> {
    /// None if there are no elements.
    buffer: Option<HostBuffer>,
    count: usize,
    elements: PhantomData<T>,
}

impl<T> Default for Pooled<T> {
    fn default() -> Self {
        Pooled { buffer: None, count: 0, elements: PhantomData }
    }
}

impl<T: Pod> Deref for Pooled<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let Some(buffer) = &self.buffer else { return &[] };
        // SAFETY: the buffer is aligned and has room for so many elements; its bytes are initialised, which makes any of these.
        unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), self.count) }
    }
}

impl<T: Pod> DerefMut for Pooled<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let Some(buffer) = &mut self.buffer else { return &mut [] };
        // SAFETY: as above; the buffer is this one's alone.
        unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), self.count) }
    }
}

/// As [`zeros`], in memory that is [reused](Pooled).
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn pooled_zeros<T: Pod>(count: usize) -> Result<Pooled<T>> {
    new_pooled(count, true)
}

/// Elements of any value, in memory that is [reused](Pooled).
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn pooled<T: Pod>(count: usize) -> Result<Pooled<T>> {
    new_pooled(count, false)
}

#[track_caller]
fn new_pooled<T: Pod>(count: usize, zeroed: bool) -> Result<Pooled<T>> {
    const { assert!(align_of::<T>() <= ALIGNMENT && size_of::<T>() > 0) };
    if count == 0 {
        return Ok(Pooled::default());
    }
    let buffer = count.checked_mul(size_of::<T>()).and_then(|bytes| HostBuffer::new(bytes, zeroed));
    match buffer {
        Some(buffer) => Ok(Pooled { buffer: Some(buffer), count, elements: PhantomData }),
        None => Err(refused(count, size_of::<T>())),
    }
}

/// `vec![value; count]`.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>> {
    let mut vector = room(count)?;
    vector.resize(count, value);
    Ok(vector)
}

/// `items.to_vec()`.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn copied<T: Clone>(items: &[T]) -> Result<Vec<T>> {
    let mut vector = room(items.len())?;
    vector.extend_from_slice(items);
    Ok(vector)
}

/// `text.to_owned()`.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn copied_text(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.make_room(text.len())?;
    copy.push_str(text);
    Ok(copy)
}

/// `parts.concat()`.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn joined(parts: &[&[u8]]) -> Result<Vec<u8>> {
    let mut bytes = room(parts.iter().fold(0, |sum, part| sum.saturating_add(part.len())))?;
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    Ok(bytes)
}

/// `items.collect()` to a vector.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn collected<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let (least, most) = items.size_hint();
    let mut vector = room(least)?;
    if most == Some(least) {
        // There is room for all: nothing grows.
        vector.extend(items);
        return Ok(vector);
    }
    for item in items {
        push(&mut vector, item)?;
    }
    Ok(vector)
}

/// `items.collect()` of results to a vector.
///
/// # Errors
/// The first error among the items; RESOURCE_EXHAUSTED if there is not enough memory.
#[track_caller]
pub fn collected_ok<T>(items: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut vector = room(items.size_hint().0)?;
    for item in items {
        push(&mut vector, item?)?;
    }
    Ok(vector)
}

/// `vector.push(item)`.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory; the vector is as before.
#[track_caller]
#[inline]
pub fn push<T>(vector: &mut Vec<T>, item: T) -> Result<()> {
    if vector.len() == vector.capacity() {
        vector.make_room(1)?;
    }
    vector.push(item);
    Ok(())
}

/// `vector.extend_from_slice(items)`.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory; the vector is as before.
#[track_caller]
#[inline]
pub fn append<T: Clone>(vector: &mut Vec<T>, items: &[T]) -> Result<()> {
    vector.make_room(items.len())?;
    vector.extend_from_slice(items);
    Ok(())
}

/// `vector.resize(count, value)`.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory; the vector is as before.
#[track_caller]
pub fn resize<T: Clone>(vector: &mut Vec<T>, count: usize, value: T) -> Result<()> {
    vector.make_room(count.saturating_sub(vector.len()))?;
    vector.resize(count, value);
    Ok(())
}

/// A collection that grows, if there is memory.
pub trait MakeRoom {
    /// Makes room for `more` elements beside those that it has.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory; the collection is as before.
    fn make_room(&mut self, more: usize) -> Result<()>;
}

/// How many buckets a hash table takes for so many elements, as far as this can be told from outside: a power of two, of
/// which at most seven in eight are used.
fn buckets(count: usize) -> usize {
    let spread = count.checked_mul(8).map(|eighths| eighths.div_ceil(7));
    spread.and_then(usize::checked_next_power_of_two).unwrap_or(usize::MAX)
}

macro_rules! makes_room {
    ([$($generics:tt)*] $collection:ty, $element:ty) => {
        makes_room!([$($generics)*] $collection, size_of::<$element>(), |most| most);
    };
    // A bucket has a byte beside the element, which says whether it is used.
    (table [$($generics:tt)*] $collection:ty, $element:ty) => {
        makes_room!([$($generics)*] $collection, size_of::<$element>().saturating_add(1), |most| buckets(most));
    };
    ([$($generics:tt)*] $collection:ty, $size:expr, |$most:ident| $places:expr) => {
        impl<$($generics)*> MakeRoom for $collection {
            #[track_caller]
            #[inline]
            fn make_room(&mut self, more: usize) -> Result<()> {
                if self.capacity() - self.len() >= more {
                    return Ok(());
                }
                // It at least doubles, so that growing by one costs as much as `push` does.
                let $most = self.len().saturating_add(more.max(self.len()));
                let places = $places;
                ask(places, $size)?;
                match self.try_reserve(more) {
                    Ok(()) => Ok(()),
                    Err(_) => Err(refused(places, $size)),
                }
            }
        }
    };
}

makes_room!([T] Vec<T>, T);
makes_room!([T] VecDeque<T>, T);
makes_room!([T: Ord] BinaryHeap<T>, T);
makes_room!([] String, u8);
makes_room!(table [K: Eq + Hash, V, S: BuildHasher] HashMap<K, V, S>, (K, V));
makes_room!(table [K: Eq + Hash, S: BuildHasher] HashSet<K, S>, K);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn what_there_is_no_memory_for_is_an_error() {
        let (huge, first) = (usize::MAX / 2, line!());
        let refusals = [
            room::<u64>(huge).map(drop),
            zeros::<u64>(huge).map(drop),
            filled(1u8, huge).map(drop),
            collected(std::iter::repeat_n(0u8, huge)).map(drop),
            collected_ok(std::iter::repeat_n(0u8, huge).map(Ok)).map(drop),
            resize(&mut vec![1u8], huge, 2),
            String::from("x").make_room(huge),
            HashMap::<u64, u64>::new().make_room(huge),
        ];
        for (index, refusal) in refusals.into_iter().enumerate() {
            let error = refusal.expect_err("nobody has so much");
            assert_eq!(error.code(), Code::ResourceExhausted, "{index}");
            assert!(error.message().starts_with("OOM when allocating "), "{error}");
            assert!(error.location().line() > first, "it is raised where the memory is asked for: {error}");
        }
    }

    #[test]
    fn tables_are_asked_for_with_all_their_buckets() {
        for count in 8..5000 {
            let mut table = HashSet::<u64>::new();
            table.make_room(count).unwrap();
            assert_eq!(table.capacity(), buckets(count) / 8 * 7, "{count}");
        }
        assert_eq!(buckets(usize::MAX), usize::MAX);
        let error = HashMap::<u64, u64>::new().make_room(1 << 56).unwrap_err();
        let bytes = (1u64 << 57) * 17;
        assert!(error.message().contains(&format!("{bytes} bytes")), "{error}");
    }

    #[test]
    fn what_fits_is_there() {
        assert_eq!(zeros::<f32>(3).unwrap(), [0.0; 3]);
        assert!(pooled_zeros::<u64>(usize::MAX / 4).is_err());
        assert!(pooled_zeros::<[i16; 64]>(0).unwrap().is_empty());
        for _ in 0..2 {
            // The second time it is the memory that the first one has written.
            let mut pooled = pooled_zeros::<u64>(1 << 16).unwrap();
            assert!(pooled.len() == 1 << 16 && pooled.iter().all(|&x| x == 0));
            pooled.fill(u64::MAX);
        }
        assert_eq!(filled("a", 2).unwrap(), ["a", "a"]);
        assert_eq!(copied(&[1, 2]).unwrap(), [1, 2]);
        assert_eq!(joined(&[b"a", b"", b"bc"]).unwrap(), b"abc");
        assert_eq!(collected((0..100).filter(|n| n % 3 == 0)).unwrap().len(), 34);
        assert_eq!(collected_ok((0..3).map(Ok)).unwrap(), [0, 1, 2]);
        let stops = (0..3).map(|n| if n < 1 { Ok(n) } else { Err(Error::internal("no")) });
        assert_eq!(collected_ok(stops).unwrap_err().code(), Code::Internal);
        let mut vector = vec![1];
        for n in 0..1000 {
            push(&mut vector, n).unwrap();
        }
        append(&mut vector, &[7; 9]).unwrap();
        resize(&mut vector, 1001, 0).unwrap();
        assert_eq!((vector.len(), vector[1000]), (1001, 999));
    }
}
