//! References: the values of outputs of type `Ref(T)`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Tensor;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::shape::Shape;

/// A place that holds a tensor which kernels may replace: the value of a variable of TensorFlow 1.
///
/// Clones refer to the same place. What was read stays as it was when the place changes later.
#[derive(Clone)]
pub struct TensorRef(Arc<Place>);

struct Place {
    dtype: DataType,
    /// Of the variable, for errors.
    name: String,
    /// What the variable declares, for assignments that must keep to it.
    shape: Option<Shape>,
    value: Mutex<Option<Tensor>>,
}

impl TensorRef {
    /// A place for tensors of a dtype, without a value.
    pub fn new(dtype: DataType) -> TensorRef {
        TensorRef(Arc::new(Place { dtype, name: String::new(), shape: None, value: Mutex::new(None) }))
    }

    /// The place of a variable that declares this shape, without a value.
    pub fn of_variable(dtype: DataType, name: impl Into<String>, shape: Shape) -> TensorRef {
        TensorRef(Arc::new(Place { dtype, name: name.into(), shape: Some(shape), value: Mutex::new(None) }))
    }

    /// The variable's name, if it has one.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The shape that the variable declares.
    pub fn declared_shape(&self) -> Option<&Shape> {
        self.0.shape.as_ref()
    }

    /// A number that no other place has while this one lives; several places are locked in the order of these numbers.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// The error of reading a place without a value.
    #[cold]
    #[track_caller]
    pub fn uninitialized(&self) -> Error {
        let separator = if self.0.name.is_empty() { "" } else { " " };
        Error::failed_precondition(format!("Attempting to use uninitialized value{separator}{}", self.0.name))
    }

    /// The dtype of what it holds.
    pub fn dtype(&self) -> DataType {
        self.0.dtype
    }

    /// The value, locked against others until the guard goes. `None` stands for a variable that was not initialised.
    ///
    /// Whoever changes it keeps to the dtype.
    pub fn lock(&self) -> MutexGuard<'_, Option<Tensor>> {
        // A kernel that panicked with the lock left a whole tensor or none.
        self.0.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<Tensor> {
        self.lock().clone()
    }

    /// The value, locked against others until the guard goes: to be read without another owner, or changed.
    ///
    /// ```
    /// # use kernlink_framework as kernlink;
    /// # use kernlink::dtype::DataType;
    /// # use kernlink::tensor::{Tensor, TensorRef};
    /// # fn main() -> kernlink::Result<()> {
    /// let place = TensorRef::new(DataType::Int64);
    /// place.set(Tensor::vector(&[1i64, 2, 3])?)?;
    /// let mut value = place.value()?;
    /// value.make_unique()?; // a reader may hold the elements
    /// value.as_mut_slice::<i64>()?[0] += 10;
    /// drop(value);
    /// # assert_eq!(place.get().unwrap().as_slice::<i64>()?, [11, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// FAILED_PRECONDITION if there is none.
    #[track_caller]
    pub fn value(&self) -> Result<TensorGuard<'_>> {
        let place = self.lock();
        if place.is_some() { Ok(TensorGuard(place)) } else { Err(self.uninitialized()) }
    }

    /// Replaces the value.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the dtype is another.
    #[track_caller]
    pub fn set(&self, value: Tensor) -> Result<()> {
        if value.dtype() != self.0.dtype {
            let message = format!("a {} reference cannot hold a {} tensor", self.0.dtype, value.dtype());
            return Err(Error::invalid_argument(message));
        }
        *self.lock() = Some(value);
        Ok(())
    }

    /// Removes the value, so that the variable is uninitialised.
    pub fn clear(&self) -> Option<Tensor> {
        self.lock().take()
    }

    /// Whether both refer to the same place.
    pub fn is_same(&self, other: &TensorRef) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The value of a [`TensorRef`], locked. Whoever changes it keeps to the dtype.
pub struct TensorGuard<'a>(MutexGuard<'a, Option<Tensor>>);

impl Deref for TensorGuard<'_> {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        self.0.as_ref().expect("a guard is made of a place with a value, and gives out nothing that could empty it")
    }
}

impl DerefMut for TensorGuard<'_> {
    fn deref_mut(&mut self) -> &mut Tensor {
        self.0.as_mut().expect("as above")
    }
}

impl fmt::Debug for TensorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<reference to {}>", self.0.dtype)
    }
}
