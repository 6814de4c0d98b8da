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
use crate::graph::{IntoOperand, Operand};
use crate::runtime::Computed;
use crate::tensor::{IntoTensor, ResourceHandle, Tensor};

/// A tensor that no tape can know.
pub(super) const UNTRACED: u64 = 0;
/// Set in the ids of variables, which are those of their names.
pub(super) const VARIABLE: u64 = 1 << 63;
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

/// Outputs with ids of their own.
pub(super) fn traced(outputs: Computed) -> SmallVec<[Traced; 2]> {
    static LAST: AtomicU64 = AtomicU64::new(UNTRACED);
    let id_of = |tensor: &Tensor| match tensor.dtype() {
        DataType::Resource => variable_id(tensor),
        dtype if is_trainable(dtype) => LAST.fetch_add(1, Ordering::Relaxed) + 1,
        _ => UNTRACED,
    };
    outputs.into_iter().flatten().map(|tensor| Traced { id: id_of(&tensor), tensor }).collect()
}

/// The id of the variable that a handle names.
pub(super) fn variable_id(handle: &Tensor) -> u64 {
    let Ok([handle]) = handle.as_slice::<ResourceHandle>() else { return UNTRACED };
    let mut hasher = std::hash::DefaultHasher::new();
    (&handle.container, &handle.name).hash(&mut hasher);
    handle.owned.as_ref().map(|owned| Arc::as_ptr(owned).cast::<()>() as usize).hash(&mut hasher);
    hasher.finish() | VARIABLE
}
