//! Moving tensors into and out of `Option<Tensor>` slots, as the executor does: inline and without a temporary for scalars,
//! which own nothing.

use super::{Storage, Tensor};
use crate::dtype::DataType;
use crate::shape::Shape;

impl Tensor {
    /// Empties a slot, without a call if its tensor owns nothing.
    #[inline(always)]
    pub(crate) fn clear(place: &mut Option<Tensor>) {
        if place.as_ref().is_none_or(Tensor::is_plain) { std::mem::forget(place.take()) } else { *place = None }
    }

    /// Fills a slot, without a call if its former tensor owns nothing.
    #[inline(always)]
    pub(crate) fn put(place: &mut Option<Tensor>, tensor: Option<Tensor>) {
        Tensor::clear(place);
        std::mem::forget(std::mem::replace(place, tensor));
    }

    /// Moves a tensor from one slot to another.
    #[inline(always)]
    pub(crate) fn shift(from: &mut Option<Tensor>, to: &mut Option<Tensor>) {
        Tensor::clear(to);
        // SAFETY: the slots are distinct. The copy is owned by the second alone, as the first is overwritten; the second's
        // former tensor was dropped.
        unsafe {
            std::ptr::copy_nonoverlapping(from, to, 1);
            std::ptr::write(from, None);
        }
    }

    /// Fills a slot with a clone of another's tensor.
    #[inline(always)]
    pub(crate) fn copy(from: &Option<Tensor>, to: &mut Option<Tensor>) {
        if !from.as_ref().is_some_and(Tensor::is_plain) {
            *to = from.clone();
            return;
        }
        Tensor::clear(to);
        // SAFETY: as for `clone`; the second slot's former tensor was dropped.
        unsafe { std::ptr::copy_nonoverlapping(from, to, 1) };
    }

    /// Fills a slot with a clone of a tensor.
    #[inline(always)]
    pub(crate) fn put_clone(from: &Tensor, to: &mut Option<Tensor>) {
        if !from.is_plain() {
            *to = Some(from.clone());
            return;
        }
        Tensor::clear(to);
        // SAFETY: as for `clone`; the slot's former tensor was dropped.
        unsafe { std::ptr::write(to, Some(std::ptr::read(from))) };
    }

    /// Fills a slot with [`Tensor::scalar_from_bits`], or empties it for string, resource and variant.
    #[inline(always)]
    pub(crate) fn put_scalar(place: &mut Option<Tensor>, dtype: DataType, mut bits: [u64; 2]) {
        if dtype == DataType::Bool {
            bits = [u64::from_ne_bytes([u8::from(bits[0].to_ne_bytes()[0] != 0); 8]), 0];
        }
        Tensor::clear(place);
        if dtype.is_pod() {
            *place = Some(Tensor { shape: Shape::scalar(), dtype, storage: Storage::Inline(bits) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_own_what_was_brought_to_them() {
        let tensors = [
            Tensor::scalar(2.5f64),
            Tensor::vector(&[7i32; 100]).unwrap(),
            Tensor::from_elements([1, 1, 1, 1, 1], &[1u8]).unwrap(),
            Tensor::from("text that is too long to be kept in a string itself"),
        ];
        for tensor in &tensors {
            for held in tensors.iter().cloned().map(Some).chain([None]) {
                let (mut from, mut to) = (Some(tensor.clone()), held);
                Tensor::copy(&from, &mut to);
                assert_eq!(to.as_ref().unwrap().shape(), tensor.shape());
                Tensor::shift(&mut to, &mut from);
                assert!(to.is_none() && from.as_ref().unwrap().dtype() == tensor.dtype());
                Tensor::copy(&to, &mut from);
                Tensor::shift(&mut from, &mut to);
                assert!(from.is_none() && to.is_none());
                for slot in [&mut from, &mut to] {
                    Tensor::put_clone(tensor, slot);
                    Tensor::put_clone(tensor, slot);
                    assert_eq!(slot.as_ref().unwrap().shape(), tensor.shape());
                }
            }
        }
        // None was dropped twice, and none is left.
        for mut tensor in tensors {
            assert!(tensor.is_unique());
        }
    }
}
