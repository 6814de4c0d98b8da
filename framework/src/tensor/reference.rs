//! References: the values of outputs of type `Ref(T)`.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use ndarray::{ArrayViewMut2, ArrayViewMut3, ArrayViewMutD};

use super::Tensor;
use crate::dtype::{DataType, Element};
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
    /// [`this_thread`] of the thread that holds the lock, 0 if none does.
    holder: AtomicUsize,
}

/// A number of this thread, not 0, that no other thread has while this one lives.
fn this_thread() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| std::ptr::from_ref(own).addr())
}

/// The order in which to lock places with these addresses, so that no two threads wait for each other.
///
/// # Errors
/// INVALID_ARGUMENT if two are the same place; `what` are they called.
#[track_caller]
pub(crate) fn lock_order<const N: usize>(addresses: [usize; N], what: &str) -> Result<[usize; N]> {
    let mut order: [usize; N] = std::array::from_fn(|index| index);
    order.sort_unstable_by_key(|&index| addresses[index]);
    if let Some(pair) = order.windows(2).find(|pair| addresses[pair[0]] == addresses[pair[1]]) {
        let (first, second) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        return Err(Error::invalid_argument(format!("{what} {first} and {second} are the same variable")));
    }
    Ok(order)
}

impl TensorRef {
    /// A place for tensors of a dtype, without a value.
    pub fn new(dtype: DataType) -> TensorRef {
        TensorRef::with(dtype, String::new(), None)
    }

    /// The place of a variable that declares this shape, without a value.
    pub fn of_variable(dtype: DataType, name: impl Into<String>, shape: Shape) -> TensorRef {
        TensorRef::with(dtype, name.into(), Some(shape))
    }

    fn with(dtype: DataType, name: String, shape: Option<Shape>) -> TensorRef {
        let (value, holder) = (Mutex::new(None), AtomicUsize::new(0));
        TensorRef(Arc::new(Place { dtype, name, shape, value, holder }))
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

    /// The place, locked against others until the guard goes. `None` stands for a variable that was not initialised. It is for
    /// kernels that give a variable its first value or compare it with another before they do; those that want the value that
    /// is there call [`TensorRef::value`].
    ///
    /// # Errors
    /// INVALID_ARGUMENT if this thread holds the place already: it would wait for itself. See
    /// [deadlocks](TensorRef::value).
    #[track_caller]
    pub fn lock(&self) -> Result<PlaceGuard<'_>> {
        let place = &*self.0;
        // A kernel that panicked with the lock left a whole tensor or none.
        let value = match place.value.try_lock() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Only this thread writes its own number, and takes it back before it unlocks: no ordering is needed.
            Err(TryLockError::WouldBlock) if place.holder.load(Ordering::Relaxed) == this_thread() => {
                return Err(self.held());
            }
            Err(TryLockError::WouldBlock) => place.value.lock().unwrap_or_else(PoisonError::into_inner),
        };
        place.holder.store(this_thread(), Ordering::Relaxed);
        Ok(PlaceGuard { place, value })
    }

    #[cold]
    #[track_caller]
    fn held(&self) -> Error {
        let separator = if self.0.name.is_empty() { "" } else { " " };
        Error::invalid_argument(format!(
            "the value of variable{separator}{} is locked by this thread, which would wait for itself. Do two inputs of the \
             node refer to one variable? `TensorRef::is_same` tells; or drop the guard first",
            self.0.name
        ))
    }

    /// The value, if there is one.
    ///
    /// # Errors
    /// As [`TensorRef::lock`].
    #[track_caller]
    pub fn get(&self) -> Result<Option<Tensor>> {
        Ok(self.lock()?.clone())
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
    /// # assert_eq!(place.get()?.unwrap().as_slice::<i64>()?, [11, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// FAILED_PRECONDITION if there is none; INVALID_ARGUMENT if this thread holds the place already.
    ///
    /// # Deadlocks
    /// A model may wire one variable to two inputs of a node. A thread that holds a place and asks for it again gets an error,
    /// of which the executor tells the node. Threads that lock several places, each in an order of its own, wait for each other
    /// for ever: `values` locks them in one order.
    /// [`place::update`](crate::kernel::place::update) does so.
    #[track_caller]
    pub fn value(&self) -> Result<TensorGuard<'_>> {
        let place = self.lock()?;
        if place.is_some() { Ok(TensorGuard(place)) } else { Err(self.uninitialized()) }
    }

    /// The values of several places, all locked, in an order that is the same for all threads.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if two of them are the same place; as [`TensorRef::value`].
    #[track_caller]
    pub fn values<'a, const N: usize>(places: [&'a TensorRef; N]) -> Result<[TensorGuard<'a>; N]> {
        let mut guards = [const { None }; N];
        for index in lock_order(places.map(TensorRef::address), "references")? {
            guards[index] = Some(places[index].value()?);
        }
        Ok(guards.map(|guard| guard.expect("the order has every index")))
    }

    #[track_caller]
    fn ensure_dtype(expected: DataType, value: &Tensor) -> Result<()> {
        if value.dtype() == expected {
            return Ok(());
        }
        let message = format!("a {expected} reference cannot hold a {} tensor", value.dtype());
        Err(Error::invalid_argument(message))
    }

    /// Replaces the value.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the dtype is another, or this thread [holds the place](TensorRef::value).
    #[track_caller]
    pub fn set(&self, value: Tensor) -> Result<()> {
        TensorRef::ensure_dtype(self.0.dtype, &value)?;
        let old = self.lock()?.replace(value)?;
        // Outside of the lock: freeing it may take a while.
        drop(old);
        Ok(())
    }

    /// Removes the value, so that the variable is uninitialised.
    ///
    /// # Errors
    /// As [`TensorRef::lock`].
    #[track_caller]
    pub fn clear(&self) -> Result<Option<Tensor>> {
        Ok(self.lock()?.take())
    }

    /// Whether both refer to the same place.
    pub fn is_same(&self, other: &TensorRef) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// What a [`TensorRef`] holds, locked. It is read as an `Option<Tensor>`, and changed by methods that keep the dtype:
///
/// ```compile_fail,E0594
/// # use kernlink_framework as kernlink;
/// # use kernlink::dtype::DataType;
/// # use kernlink::tensor::{Tensor, TensorRef};
/// # let place = TensorRef::new(DataType::Int64);
/// let mut value = place.lock().unwrap();
/// *value = Some(Tensor::scalar(1f32)); // `value.replace(...)?` is the way, and refuses this one
/// ```
pub struct PlaceGuard<'a> {
    place: &'a Place,
    value: MutexGuard<'a, Option<Tensor>>,
}

impl Deref for PlaceGuard<'_> {
    type Target = Option<Tensor>;
    fn deref(&self) -> &Option<Tensor> {
        &self.value
    }
}

impl PlaceGuard<'_> {
    /// Replaces the value and returns what was there: freeing it may take a while, and is better done without the lock.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the dtype is another.
    #[track_caller]
    pub fn replace(&mut self, value: Tensor) -> Result<Option<Tensor>> {
        TensorRef::ensure_dtype(self.place.dtype, &value)?;
        Ok(self.value.replace(value))
    }

    /// Removes the value, so that the variable is uninitialised.
    pub fn take(&mut self) -> Option<Tensor> {
        self.value.take()
    }

    /// The value, if there is one. Whoever changes it keeps to the dtype.
    pub(crate) fn value_mut(&mut self) -> Option<&mut Tensor> {
        self.value.as_mut()
    }
}

impl Drop for PlaceGuard<'_> {
    fn drop(&mut self) {
        // The fields, and with them the lock, go after this.
        self.place.holder.store(0, Ordering::Relaxed);
    }
}

/// The value of a [`TensorRef`], locked. It is read as a [`Tensor`], and changed by methods that keep its dtype:
///
/// ```compile_fail,E0594
/// # use kernlink_framework as kernlink;
/// # use kernlink::dtype::DataType;
/// # use kernlink::tensor::{Tensor, TensorRef};
/// # let place = TensorRef::new(DataType::Int64);
/// let mut value = place.value().unwrap();
/// *value = Tensor::scalar(1f32); // `value.set(...)?` is the way, and refuses this one
/// ```
pub struct TensorGuard<'a>(PlaceGuard<'a>);

/// Writes methods that change a tensor, and keep its dtype, as those of a guard.
macro_rules! changes {
    ($($name:ident $([$T:ident])? ($($arg:ident: $ty:ty)?) -> $result:ty;)*) => {$(
        #[doc = concat!("See [`Tensor::", stringify!($name), "`].")]
        ///
        /// # Errors
        #[doc = concat!("As [`Tensor::", stringify!($name), "`].")]
        #[track_caller]
        pub fn $name $(<$T: Element>)? (&mut self $(, $arg: $ty)?) -> Result<$result> {
            self.tensor().$name $(::<$T>)? ($($arg)?)
        }
    )*};
}

impl TensorGuard<'_> {
    fn tensor(&mut self) -> &mut Tensor {
        self.0.value_mut().expect("a guard is made of a place with a value, and gives out nothing that could empty it")
    }

    /// Replaces the value.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the dtype is another.
    #[track_caller]
    pub fn set(&mut self, value: Tensor) -> Result<()> {
        TensorRef::ensure_dtype(self.dtype(), &value)?;
        *self.tensor() = value;
        Ok(())
    }

    /// See [`Tensor::is_unique`].
    pub fn is_unique(&mut self) -> bool {
        self.tensor().is_unique()
    }

    changes! {
        make_unique() -> ();
        as_mut_slice[T]() -> &mut [T];
        bytes_mut() -> &mut [u8];
        view_mut[T]() -> ArrayViewMutD<'_, T>;
        flat_inner_dims_mut[T]() -> ArrayViewMut2<'_, T>;
        flat_outer_dims_mut[T]() -> ArrayViewMut2<'_, T>;
        flat_around_mut[T](axis: usize) -> ArrayViewMut3<'_, T>;
    }
}

impl Deref for TensorGuard<'_> {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        self.0.as_ref().expect("a guard is made of a place with a value, and gives out nothing that could empty it")
    }
}

impl fmt::Debug for TensorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<reference to {}>", self.0.dtype)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::Code;

    fn place(value: i64) -> TensorRef {
        let place = TensorRef::new(DataType::Int64);
        place.set(Tensor::scalar(value)).unwrap();
        place
    }

    /// Runs `body`, which a deadlock would not let end.
    fn ends(body: impl FnOnce() + Send + 'static) {
        let (done, ended) = mpsc::channel();
        thread::spawn(move || {
            body();
            _ = done.send(());
        });
        let limit = Duration::from_secs(if cfg!(miri) { 600 } else { 20 });
        ended.recv_timeout(limit).expect("it waits for itself, or has panicked");
    }

    #[test]
    fn a_thread_does_not_wait_for_itself() {
        ends(|| {
            let first = place(1);
            let second = first.clone();
            let refused = |result: Result<()>| {
                let error = result.unwrap_err();
                assert_eq!(error.code(), Code::InvalidArgument);
                assert!(error.message().contains("is locked by this thread"), "{error}");
            };
            let guard = first.value().unwrap();
            refused(second.value().map(drop));
            refused(second.set(Tensor::scalar(2i64)));
            refused(TensorRef::values([&place(3), &second]).map(drop));
            refused(second.lock().map(drop));
            refused(second.get().map(drop));
            refused(second.clear().map(drop));
            assert_eq!(guard.to_scalar::<i64>().unwrap(), 1);
            drop(guard);
            second.set(Tensor::scalar(2i64)).unwrap();
            let guard = first.lock().unwrap();
            refused(second.value().map(drop));
            drop(guard);
            assert_eq!(second.value().unwrap().to_scalar::<i64>().unwrap(), 2);
        });
    }

    #[test]
    fn another_thread_waits_for_the_guard() {
        ends(|| {
            let first = place(0);
            let second = first.clone();
            let mut guard = first.value().unwrap();
            let (asks, asked) = mpsc::channel();
            let waiter = thread::spawn(move || {
                asks.send(()).unwrap();
                second.value().map(|value| value.to_scalar::<i64>())
            });
            asked.recv().unwrap();
            guard.as_mut_slice::<i64>().unwrap()[0] = 7;
            drop(guard);
            assert_eq!(waiter.join().unwrap().unwrap().unwrap(), 7);
        });
    }

    #[test]
    fn several_places_are_locked_in_one_order() {
        ends(|| {
            let (a, b) = (place(0), place(0));
            thread::scope(|scope| {
                for order in [[&a, &b], [&b, &a]] {
                    scope.spawn(move || {
                        for _ in 0..2000 {
                            for mut value in TensorRef::values(order).unwrap() {
                                value.as_mut_slice::<i64>().unwrap()[0] += 1;
                            }
                        }
                    });
                }
            });
            assert_eq!([&a, &b].map(|place| place.get().unwrap().unwrap().to_scalar::<i64>().unwrap()), [4000; 2]);
            let (first, second) = (place(1), place(2));
            let [one, two] = TensorRef::values([&first, &second]).unwrap();
            assert_eq!((one.to_scalar::<i64>().unwrap(), two.to_scalar::<i64>().unwrap()), (1, 2));
            let error = TensorRef::values([&a, &b, &a.clone()]).map(drop).unwrap_err();
            assert_eq!(error.message(), "references 0 and 2 are the same variable");
            let empty = TensorRef::of_variable(DataType::Int64, "v", Shape::scalar());
            let error = TensorRef::values([&a, &empty]).map(drop).unwrap_err();
            assert_eq!(error.message(), "Attempting to use uninitialized value v");
            assert!(a.value().is_ok(), "it is let go after an error");
        });
    }

    #[test]
    fn a_guard_keeps_the_dtype() {
        let place = place(1);
        let mut value = place.value().unwrap();
        let error = value.set(Tensor::scalar(1f32)).unwrap_err();
        assert_eq!(error.message(), "a int64 reference cannot hold a float tensor");
        value.set(Tensor::vector(&[1i64, 2]).unwrap()).unwrap();
        value.flat_around_mut::<i64>(0).unwrap()[[0, 1, 0]] = 5;
        drop(value);
        assert_eq!(place.get().unwrap().unwrap().as_slice::<i64>().unwrap(), [1, 5]);
        let mut guard = place.lock().unwrap();
        let error = guard.replace(Tensor::scalar(1f32)).unwrap_err();
        assert_eq!(error.message(), "a int64 reference cannot hold a float tensor");
        let old = guard.replace(Tensor::scalar(3i64)).unwrap().unwrap();
        assert_eq!((old.num_elements(), guard.take().unwrap().to_scalar::<i64>().unwrap()), (2, 3));
        assert!(guard.is_none());
    }
}
