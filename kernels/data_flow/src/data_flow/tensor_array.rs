//! Arrays of tensors that live as long as a run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernlink::dtype::DataType;
use kernlink::resource::Resource;
use kernlink::shape::{PartialShape, Shape};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::add_to;

/// What the attrs of a node say of an array.
pub(super) struct Spec {
    pub(super) dtype: DataType,
    pub(super) element_shape: PartialShape,
    pub(super) dynamic_size: bool,
    pub(super) clear_after_read: bool,
    pub(super) identical_shapes: bool,
}

/// An array. Each element is written once; in an array of gradients, writes add up.
pub(super) struct TensorArray {
    pub(super) name: String,
    pub(super) dtype: DataType,
    clear_after_read: bool,
    identical_shapes: bool,
    is_grad: bool,
    state: Mutex<State>,
    /// The arrays of gradients by source.
    grads: Mutex<HashMap<String, Arc<TensorArray>>>,
}

struct State {
    is_closed: bool,
    is_dynamic: bool,
    /// Whether no element was written twice, without which there are no gradients.
    has_gradients: bool,
    element_shape: PartialShape,
    /// How many elements an array of gradients packs: those that were unpacked into the array that it is of.
    marked_size: usize,
    elements: Vec<Slot>,
}

#[derive(Clone, Default)]
struct Slot {
    /// `None` although the element was written stands for zeros.
    tensor: Option<Tensor>,
    shape: Option<Shape>,
    is_read: bool,
    is_cleared: bool,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Makes the slots `count`, if that is more than there are.
fn grow(slots: &mut Vec<Slot>, count: usize) -> Result<()> {
    if count > slots.len() {
        scratch::resize(slots, count, Slot::default())?;
    }
    Ok(())
}

impl TensorArray {
    pub(super) fn new(name: &str, spec: &Spec, size: i32) -> Result<TensorArray> {
        let count = usize::try_from(size)
            .map_err(|_| Error::invalid_argument(format!("Size should be >= 0, but is {size}")))?;
        let mut elements = Vec::new();
        grow(&mut elements, count)?;
        Ok(TensorArray {
            name: format!("{name}_{}", NUMBER.fetch_add(1, Ordering::Relaxed)),
            dtype: spec.dtype,
            clear_after_read: spec.clear_after_read,
            identical_shapes: spec.identical_shapes,
            is_grad: false,
            state: Mutex::new(State {
                is_closed: false,
                is_dynamic: spec.dynamic_size,
                has_gradients: true,
                element_shape: spec.element_shape.clone(),
                marked_size: 0,
                elements,
            }),
            grads: Mutex::default(),
        })
    }

    fn lock_any(&self) -> MutexGuard<'_, State> {
        // No element is left half written by a kernel that panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.lock_any();
        ensure!(!state.is_closed, InvalidArgument, "TensorArray {} has already been closed.", self.name);
        Ok(state)
    }

    /// The array of gradients for a source, whose elements have the dimensions `front` before those of this array's.
    pub(super) fn gradient(&self, source: &str, front: Option<&[usize]>) -> Result<Arc<TensorArray>> {
        ensure!(
            !self.is_grad,
            InvalidArgument,
            "TensorArray {} holds gradients: there are no gradients of them",
            self.name
        );
        let mut grads = self.grads.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock()?;
        // The gradients are of the elements that there are now.
        state.is_dynamic = false;
        if let Some(grad) = grads.get(source) {
            return Ok(grad.clone());
        }
        ensure!(
            state.has_gradients,
            InvalidArgument,
            "Unable to create a gradients TensorArray for '{}'.  Perhaps you used the multiple_writes_aggregate flag on \
             a previous write?  Gradient calculation is impossible when multiple writes are performed to the same index.",
            self.name
        );
        let front = front.unwrap_or_default();
        let longer = |shape: &Shape| front.iter().chain(shape.iter()).copied().collect::<Shape>();
        let element_shape = match state.element_shape.dims() {
            Some(dims) => PartialShape::from_known(front.iter().map(|&dim| Some(dim)).chain(dims.iter().copied())),
            None => PartialShape::unknown(),
        };
        let like = |slot: &Slot| Slot { shape: slot.shape.as_ref().map(longer), ..Slot::default() };
        let grad = Arc::new(TensorArray {
            name: format!("{}@{source}", self.name),
            dtype: self.dtype,
            clear_after_read: true,
            identical_shapes: self.identical_shapes,
            is_grad: true,
            state: Mutex::new(State {
                is_closed: false,
                is_dynamic: false,
                has_gradients: true,
                element_shape,
                marked_size: state.marked_size,
                elements: scratch::collected(state.elements.iter().map(like))?,
            }),
            grads: Mutex::default(),
        });
        grads.insert(source.to_owned(), grad.clone());
        Ok(grad)
    }

    pub(super) fn size(&self) -> Result<usize> {
        Ok(self.lock()?.elements.len())
    }

    /// How many elements are packed or concatenated.
    pub(super) fn packed_size(&self) -> Result<usize> {
        let state = self.lock()?;
        Ok(if self.is_grad { state.marked_size } else { state.elements.len() })
    }

    pub(super) fn is_dynamic(&self) -> bool {
        self.lock_any().is_dynamic
    }

    /// Remembers how many elements were unpacked into the array.
    pub(super) fn mark_size(&self, size: usize) {
        if !self.is_grad {
            self.lock_any().marked_size = size;
        }
    }

    /// Adds to what is known of the elements' shapes.
    pub(super) fn merge_element_shape(&self, shape: &PartialShape) -> Result<()> {
        let mut state = self.lock()?;
        state.element_shape = state.element_shape.merge(shape)?;
        Ok(())
    }

    pub(super) fn ensure_dtype(&self, dtype: DataType, verb: &str) -> Result<()> {
        ensure!(
            self.dtype == dtype,
            InvalidArgument,
            "TensorArray dtype is {} but Op {verb} dtype {dtype}.",
            self.dtype
        );
        Ok(())
    }

    /// Writes elements, or adds to them.
    pub(super) fn write(&self, values: impl IntoIterator<Item = (i32, Tensor)>) -> Result<()> {
        let mut state = self.lock()?;
        values.into_iter().try_for_each(|(index, value)| self.write_one(&mut state, index, value))
    }

    fn write_one(&self, state: &mut State, index: i32, value: Tensor) -> Result<()> {
        let (name, size) = (&self.name, state.elements.len());
        let Some(at) = usize::try_from(index).ok().filter(|&at| state.is_dynamic || at < size) else {
            bail!(
                InvalidArgument,
                "TensorArray {name}: Tried to write to index {index} but array is not resizeable and size is: {size}"
            );
        };
        ensure!(
            state.element_shape.accepts(value.shape()),
            InvalidArgument,
            "TensorArray {name}: Could not write to TensorArray index {index} because the value shape is {} which is \
             incompatible with the TensorArray's inferred element shape: {} (consider setting infer_shape=False).",
            value.shape(),
            state.element_shape
        );
        if self.identical_shapes {
            state.element_shape = value.shape().into();
        }
        grow(&mut state.elements, at + 1)?;
        let slot = &mut state.elements[at];
        ensure!(
            !slot.is_read,
            InvalidArgument,
            "TensorArray {name}: Could not write to TensorArray index {index} because it has already been read."
        );
        let Some(shape) = &slot.shape else {
            slot.shape = Some(value.shape().clone());
            slot.tensor = Some(value);
            return Ok(());
        };
        ensure!(
            self.is_grad,
            InvalidArgument,
            "TensorArray {name}: Could not write to TensorArray index {index} because it has already been written to."
        );
        ensure!(
            shape == value.shape(),
            InvalidArgument,
            "TensorArray {name}: Could not aggregate to TensorArray index {index} because the existing shape is \
             {shape} but the new input shape is {}.",
            value.shape()
        );
        match &mut slot.tensor {
            None => slot.tensor = Some(value),
            Some(sum) => {
                add_to(sum, &value)?;
                state.has_gradients = false;
            }
        }
        Ok(())
    }

    /// The elements at these indices.
    pub(super) fn read(&self, indices: impl IntoIterator<Item = i32>) -> Result<Vec<Tensor>> {
        let mut state = self.lock()?;
        scratch::collected_ok(indices.into_iter().map(|index| self.read_one(&mut state, index)))
    }

    fn read_one(&self, state: &mut State, index: i32) -> Result<Tensor> {
        let (name, size) = (&self.name, state.elements.len());
        let at = usize::try_from(index).ok().filter(|&at| self.is_grad || at < size);
        let Some(at) = at else {
            bail!(InvalidArgument, "TensorArray {name}: Tried to read from index {index} but array size is: {size}");
        };
        if state.elements.get(at).is_none_or(|slot| slot.shape.is_none()) {
            // Nothing was written here: zeros, if it is known how many.
            let Some(shape) = state.element_shape.to_shape() else {
                bail!(
                    InvalidArgument,
                    "TensorArray {name}: Could not read from TensorArray index {index}.  Furthermore, the element shape \
                     is not fully defined: {}.  It is possible you are working with a resizeable TensorArray and \
                     stop_gradients is not allowing the gradients to be written.  If you set the full element_shape \
                     property on the forward TensorArray, the proper all-zeros tensor will be returned instead of \
                     incurring this error.",
                    state.element_shape
                );
            };
            grow(&mut state.elements, at + 1)?;
            let first = size.min(at);
            state.elements[first..=at].iter_mut().for_each(|slot| {
                slot.shape.get_or_insert_with(|| shape.clone());
            });
        }
        let slot = &mut state.elements[at];
        ensure!(
            !slot.is_cleared,
            InvalidArgument,
            "TensorArray {name}: Could not read index {index} twice because it was cleared after a previous read \
             (perhaps try setting clear_after_read = false?)."
        );
        let value = match (slot.tensor.take(), &slot.shape) {
            (Some(tensor), _) => tensor,
            (None, Some(shape)) => {
                shape.check()?;
                Tensor::zeros(self.dtype, shape)?
            }
            (None, None) => bail!(Internal, "an element without a shape"),
        };
        slot.is_read = true;
        slot.is_cleared = self.clear_after_read;
        if !self.clear_after_read {
            slot.tensor = Some(value.clone());
        }
        Ok(value)
    }

    /// Forgets all elements.
    pub(super) fn close(&self) {
        let elements = {
            let mut state = self.lock_any();
            state.is_closed = true;
            std::mem::take(&mut state.elements)
        };
        drop(elements);
    }
}

impl Resource for TensorArray {
    fn type_name() -> &'static str {
        "tensorflow::TensorArray"
    }

    fn debug_string(&self) -> String {
        format!("TensorArray[{}]", self.lock_any().elements.len())
    }

    fn memory_used(&self) -> usize {
        self.lock_any().elements.iter().filter_map(|slot| slot.tensor.as_ref()).map(Tensor::num_bytes).sum()
    }
}
