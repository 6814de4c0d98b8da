//! Tensors that tapes know by their ids.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::differentiable::is_trainable;
use crate::dtype::DataType;
use crate::error::Result;
use crate::graph::{ComputedOutput, IntoOperand, Operand};
use crate::runtime::Computed;
use crate::tensor::{IntoTensor, ResourceHandle, Tensor};

/// A tensor that no tape can know.
pub(super) const UNTRACED: u64 = 0;
/// Set in the ids of variables, which are those of their names.
pub(super) const VARIABLE: u64 = 1 << 63;
/// Set in no id: a mark that lists of ids may set.
pub(super) const KEPT: u64 = 1 << 62;

/// A tensor that a [`GradientTape`](super::GradientTape) knows: what its ops take and give.
#[derive(Clone)]
pub struct Traced {
    pub(super) tensor: Tensor,
    pub(super) id: u64,
}

impl Traced {
    /// The tensor.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// The tensor.
    pub fn into_tensor(self) -> Tensor {
        self.tensor
    }

    /// Has the tensor own its memory, as [`Tensor::make_unique`] does; to tapes it stays the same.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn make_unique(&mut self) -> Result<()> {
        self.tensor.make_unique()
    }
}

impl std::ops::Deref for Traced {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tensor.fmt(f)
    }
}

impl ComputedOutput for Traced {
    #[inline]
    fn as_tensor(&self) -> &Tensor {
        &self.tensor
    }

    #[inline]
    fn into_tensor(self) -> Tensor {
        self.tensor
    }
}

impl IntoOperand<Traced> for Traced {
    fn into_operand(self) -> Result<Operand<Traced>> {
        Ok(Operand::Value(self))
    }
}

impl IntoOperand<Traced> for &Traced {
    fn into_operand(self) -> Result<Operand<Traced>> {
        Ok(Operand::Value(self.clone()))
    }
}

/// The gradient with respect to a tensor that a tape watched.
#[derive(Clone, Debug)]
pub enum TracedGradient {
    /// A tensor of its shape.
    Dense(Traced),
    /// Some of its rows, those that are there several times counting as often.
    Slices {
        /// The rows.
        values: Traced,
        /// Which rows they are.
        indices: Traced,
        /// The shape of the whole, a vector.
        dense_shape: Traced,
    },
}

impl TracedGradient {
    /// The tensor, if the gradient is one.
    pub fn dense(self) -> Option<Traced> {
        match self {
            TracedGradient::Dense(value) => Some(value),
            TracedGradient::Slices { .. } => None,
        }
    }
}

/// What can be [watched](super::GradientTape::watch).
pub trait IntoTraced {
    /// As a traced tensor.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    fn into_traced(self) -> Result<Traced>;
}

impl<T: IntoTensor> IntoTraced for T {
    fn into_traced(self) -> Result<Traced> {
        let tensor = self.into_tensor()?;
        let id = if tensor.dtype() == DataType::Resource { variable_id(&tensor) } else { UNTRACED };
        Ok(Traced { tensor, id })
    }
}

impl IntoTraced for &Traced {
    fn into_traced(self) -> Result<Traced> {
        Ok(self.clone())
    }
}

/// Ids are numbers in turn already.
#[derive(Default)]
pub(super) struct OfId(u64);

impl Hasher for OfId {
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }

    fn write_usize(&mut self, id: usize) {
        self.0 = id as u64;
    }
}

pub(super) type ById<T> = HashMap<u64, T, BuildHasherDefault<OfId>>;

/// A set of ids. Those that a tape meets were given out in turn for the most part, so that bits stand for them; the others, those
/// of variables among them, are looked up.
#[derive(Clone, Default)]
pub(super) struct IdSet {
    /// The id of the first bit.
    first: u64,
    bits: Vec<u64>,
    others: ById<()>,
}

impl IdSet {
    /// How many words of bits of which none is set may lie between two ids.
    const GAP: usize = 16;

    /// Where the bit of an id is, or would be: its word, and the place in it.
    #[inline]
    fn place(&self, id: u64) -> (usize, u64) {
        let offset = id.wrapping_sub(self.first);
        (usize::try_from(offset / 64).unwrap_or(usize::MAX), offset % 64)
    }

    #[inline]
    pub(super) fn contains(&self, id: u64) -> bool {
        let (word, bit) = self.place(id);
        match self.bits.get(word) {
            Some(bits) if bits >> bit & 1 != 0 => true,
            _ => !self.others.is_empty() && self.others.contains_key(&id),
        }
    }

    /// Adds an id; one of a tensor that no tape can know stays out.
    #[inline]
    pub(super) fn insert(&mut self, id: u64) {
        if id == UNTRACED {
            return;
        }
        if self.bits.is_empty() && id & VARIABLE == 0 {
            self.first = id;
        }
        let (word, bit) = self.place(id);
        match self.bits.get_mut(word) {
            Some(bits) => *bits |= 1 << bit,
            None => self.insert_beyond(id, word, bit),
        }
    }

    #[inline(never)]
    fn insert_beyond(&mut self, id: u64, word: usize, bit: u64) {
        let is_near = word < self.bits.len() + IdSet::GAP;
        if id & VARIABLE == 0 && !is_near && id > self.first && self.bits.len() <= IdSet::GAP {
            // The ids went on elsewhere: those so far are few.
            let ids =
                (0..self.bits.len() as u64 * 64).filter(|bit| self.bits[(bit / 64) as usize] >> (bit % 64) & 1 != 0);
            self.others.extend(ids.map(|bit| (self.first + bit, ())));
            (self.first, self.bits) = (id, vec![1]);
        } else if id & VARIABLE != 0 || !is_near {
            self.others.insert(id, ());
        } else {
            self.bits.resize(word + 1, 0);
            self.bits[word] |= 1 << bit;
        }
    }
}

impl FromIterator<u64> for IdSet {
    fn from_iter<I: IntoIterator<Item = u64>>(ids: I) -> IdSet {
        let mut set = IdSet::default();
        ids.into_iter().for_each(|id| set.insert(id));
        set
    }
}

/// Outputs with ids of their own.
pub(super) fn traced(outputs: Computed) -> SmallVec<[Option<Traced>; 2]> {
    static LAST: AtomicU64 = AtomicU64::new(UNTRACED);
    let id_of = |tensor: &Tensor| match tensor.dtype() {
        DataType::Resource => variable_id(tensor),
        dtype if is_trainable(dtype) => LAST.fetch_add(1, Ordering::Relaxed) + 1,
        _ => UNTRACED,
    };
    outputs.into_iter().map(|output| output.map(|tensor| Traced { id: id_of(&tensor), tensor })).collect()
}

/// The id of the variable that a handle names.
pub(super) fn variable_id(handle: &Tensor) -> u64 {
    let Ok([handle]) = handle.as_slice::<ResourceHandle>() else { return UNTRACED };
    let mut hasher = std::hash::DefaultHasher::new();
    (&handle.container, &handle.name).hash(&mut hasher);
    handle.owned.as_ref().map(|owned| Arc::as_ptr(owned).cast::<()>() as usize).hash(&mut hasher);
    (hasher.finish() | VARIABLE) & !KEPT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_the_ids_that_were_put_in_and_no_others() {
        let far = 64 * (IdSet::GAP as u64) * 100;
        // In turn, with gaps near and far, backwards, again, and those of variables.
        let ids = [
            1000,
            1001,
            1063,
            1064,
            1500,
            1499,
            999,
            3,
            1001,
            far,
            far + 1,
            far - 1,
            5 * far,
            VARIABLE | 1001,
            VARIABLE,
        ];
        let mut set = IdSet::default();
        assert!(!ids.iter().any(|&id| set.contains(id)));
        for (count, &id) in ids.iter().enumerate() {
            set.insert(id);
            let within = &ids[..=count];
            for around in ids.iter().flat_map(|&id| [id.wrapping_sub(1), id, id + 1]) {
                assert_eq!(set.contains(around), within.contains(&around), "{around} after {within:?}");
            }
        }
        set.insert(UNTRACED);
        assert!(!set.contains(UNTRACED));
    }

    #[test]
    fn sets_of_ids_that_lie_apart_stay_small() {
        let set: IdSet = (1..100_000u64).map(|number| number * 1_000_000).collect();
        assert!(set.bits.len() <= 2 * IdSet::GAP, "{} words", set.bits.len());
        assert!((1..100_000u64).all(|number| set.contains(number * 1_000_000)));
        let set: IdSet = (5..10_000).collect();
        assert!(set.others.is_empty());
    }
}
