//! The lookup tables that nodes share.

mod column;
mod entries;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::resource::Resource;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Error, Result, ensure};

use self::column::{ABSENT, Column};
use self::entries::Entries;
pub use self::entries::position_of;

/// What kind of table it is: what may be done with it, and how.
pub enum Kind {
    /// Filled once, from then on only read.
    Fixed,
    /// Changed at any time.
    Mutable,
    /// Changed at any time; two keys are never used.
    Dense {
        /// The key that stands for none.
        empty_key: Tensor,
        /// The key that stands for one that was removed.
        deleted_key: Option<Tensor>,
        /// How many buckets TensorFlow's table would have.
        buckets: u64,
        /// How full TensorFlow's table would be before it grows.
        max_load: f32,
    },
}

/// A table.
pub struct Table {
    /// The dtype of its keys.
    pub key_dtype: DataType,
    /// The dtype of its values.
    pub value_dtype: DataType,
    key_shape: Shape,
    value_shape: Shape,
    kind: Kind,
    state: RwLock<State>,
}

struct State {
    is_initialized: bool,
    /// How many buckets TensorFlow's table would have: exported with the entries.
    buckets: u64,
    entries: Entries,
}

impl Table {
    /// A table of keys and values of these dtypes and shapes.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the values would be too large.
    pub fn new(
        (key_dtype, key_shape): (DataType, Shape),
        (value_dtype, value_shape): (DataType, Shape),
        kind: Kind,
    ) -> Result<Table> {
        value_shape.check()?;
        let entries = Entries::new(key_dtype, key_shape.num_elements(), value_dtype, value_shape.num_elements());
        let buckets = if let Kind::Dense { buckets, .. } = kind { buckets } else { 0 };
        let state = State { is_initialized: !matches!(kind, Kind::Fixed), buckets, entries };
        Ok(Table { key_dtype, value_dtype, key_shape, value_shape, kind, state: RwLock::new(state) })
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn key_width(&self) -> usize {
        self.key_shape.num_elements()
    }

    /// Checks that a node takes the table for what it is.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it has other dtypes.
    pub fn ensure_dtypes(&self, key: DataType, value: DataType, name: &str) -> Result<()> {
        ensure!(
            self.key_dtype == key && self.value_dtype == value,
            InvalidArgument,
            "Conflicting key/value dtypes {key}->{value} with {}-{} for table {name}",
            self.key_dtype,
            self.value_dtype
        );
        Ok(())
    }

    /// How many entries there are.
    pub fn size(&self) -> usize {
        let state = self.read();
        if state.is_initialized { state.entries.len() } else { 0 }
    }

    /// Checks that keys are what the table has.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if they have another dtype.
    pub fn ensure_key_dtype(&self, keys: &Tensor) -> Result<()> {
        let (expected, got) = (self.key_dtype, keys.dtype());
        ensure!(got == expected, InvalidArgument, "Key must be type {expected} but got {got}");
        Ok(())
    }

    fn ensure_value_dtype(&self, values: &Tensor) -> Result<()> {
        let (expected, got) = (self.value_dtype, values.dtype());
        ensure!(got == expected, InvalidArgument, "Value must be type {expected} but got {got}");
        Ok(())
    }

    /// The shape of the values of keys of this shape.
    fn values_of(&self, keys: &Shape) -> Result<Shape> {
        let outer = keys.rank().checked_sub(self.key_shape.rank());
        let outer = outer.filter(|&outer| keys[outer..] == self.key_shape[..]).ok_or_else(|| {
            let own = &self.key_shape;
            Error::invalid_argument(format!("Input key shape {keys} must end with the table's key shape {own}"))
        })?;
        Ok(keys[..outer].iter().chain(self.value_shape.iter()).copied().collect())
    }

    /// A dense table takes one dimension of keys only.
    fn ensure_batch(&self, keys: &Shape) -> Result<()> {
        if !matches!(self.kind, Kind::Dense { .. }) {
            return Ok(());
        }
        let batch = keys.first().copied().unwrap_or(1);
        ensure!(
            batch.checked_mul(self.key_width()) == Some(keys.num_elements()),
            InvalidArgument,
            "Expected key shape [{batch}] followed by {} got {keys}",
            self.key_shape
        );
        Ok(())
    }

    /// Checks that no key is one of those that are never used.
    fn ensure_unreserved(&self, keys: &Tensor) -> Result<()> {
        let Kind::Dense { empty_key, deleted_key, .. } = &self.kind else { return Ok(()) };
        for (name, reserved) in [("empty_key", Some(empty_key)), ("deleted_key", deleted_key.as_ref())] {
            let Some(reserved) = reserved else { continue };
            ensure!(
                !position_of(keys, reserved, self.key_width())?.contains(&true),
                InvalidArgument,
                "Using the {name} as a table key is not allowed"
            );
        }
        Ok(())
    }

    fn ensure_entries(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        self.ensure_key_dtype(keys)?;
        self.ensure_value_dtype(values)?;
        let expected = self.values_of(keys.shape())?;
        ensure!(
            *values.shape() == expected,
            InvalidArgument,
            "Expected shape {expected} for value, got {}",
            values.shape()
        );
        Ok(())
    }

    /// The values of keys, and `default` for those that there are not.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if dtypes or shapes are others; FAILED_PRECONDITION if the table was not filled.
    pub fn find(&self, ctx: &RawContext<'_>, keys: &Tensor, default: &Tensor) -> Result<Tensor> {
        self.ensure_key_dtype(keys)?;
        self.ensure_value_dtype(default)?;
        let shape = self.values_of(keys.shape())?;
        ensure!(
            *default.shape() == self.value_shape || *default.shape() == shape,
            InvalidArgument,
            "Expected shape {} or {shape} for default value, got {}",
            self.value_shape,
            default.shape()
        );
        self.ensure_batch(keys.shape())?;
        self.ensure_unreserved(keys)?;
        let state = self.read();
        ensure!(state.is_initialized, FailedPrecondition, "Table not initialized.");
        // Only tables of this kind take a default for each key; the others take the first of them for all.
        let has_all = matches!(self.kind, Kind::Mutable) && *default.shape() == shape;
        state.entries.find(ctx, keys, self.key_width(), (default, has_all), shape)
    }

    /// Fills a table that is filled once.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if dtypes or shapes are others, or keys are twice there; FAILED_PRECONDITION if it was filled with
    /// other entries.
    pub fn initialize(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        ensure!(self.is_initializable(), InvalidArgument, "the table is not initializable");
        ensure!(keys.shape() == values.shape(), InvalidArgument, "keys and values should have the same dimension.");
        ensure!(keys.num_elements() > 0, InvalidArgument, "keys and values cannot be empty tensors.");
        self.fill(keys, values)
    }

    /// Whether it is of the kind that is filled once.
    pub fn is_initializable(&self) -> bool {
        matches!(self.kind, Kind::Fixed)
    }

    /// Fills a table that is filled once with as many values as keys, which may be none.
    ///
    /// # Errors
    /// As [`Table::initialize`].
    pub fn fill(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        self.ensure_entries(keys, values)?;
        let mut state = self.write();
        if state.is_initialized {
            ensure!(
                state.entries.len() == keys.num_elements(),
                FailedPrecondition,
                "Table was already initialized with different data."
            );
            return Ok(());
        }
        if let Err(error) = state.entries.insert(keys, 1, values, true, |_| true) {
            state.entries.clear();
            return Err(error);
        }
        state.is_initialized = true;
        Ok(())
    }

    /// Whether it is one that is filled once, and was.
    pub fn is_filled(&self) -> bool {
        self.is_initializable() && self.read().is_initialized
    }

    /// Adds entries, or changes them.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if dtypes or shapes are others, or a key is reserved; UNIMPLEMENTED for a table that is filled once.
    pub fn insert(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        self.ensure_entries(keys, values)?;
        ensure!(
            !matches!(self.kind, Kind::Fixed),
            Unimplemented,
            "Insert not supported by InitializableLookupTable implementations"
        );
        self.ensure_batch(keys.shape())?;
        self.ensure_unreserved(keys)?;
        let mut state = self.write();
        if let Kind::Dense { max_load, .. } = self.kind {
            let pending = (state.entries.len() + keys.num_elements() / self.key_width()) as f32;
            while pending > state.buckets as f32 * max_load {
                state.buckets = state.buckets.saturating_mul(2);
            }
        }
        state.entries.insert(keys, self.key_width(), values, false, |_| true)
    }

    /// Removes the entries of keys.
    ///
    /// # Errors
    /// As [`Table::insert`].
    pub fn remove(&self, keys: &Tensor) -> Result<()> {
        self.ensure_key_dtype(keys)?;
        self.values_of(keys.shape())?;
        ensure!(
            !matches!(self.kind, Kind::Fixed),
            Unimplemented,
            "Remove not supported by InitializableLookupTable implementations"
        );
        self.ensure_batch(keys.shape())?;
        self.ensure_unreserved(keys)?;
        self.write().entries.remove(keys, self.key_width())
    }

    /// Replaces all entries.
    ///
    /// # Errors
    /// As [`Table::insert`].
    pub fn import(&self, keys: &Tensor, values: &Tensor) -> Result<()> {
        let Kind::Dense { empty_key, deleted_key, .. } = &self.kind else {
            self.ensure_entries(keys, values)?;
            if let Kind::Fixed = self.kind {
                return self.initialize(keys, values);
            }
            let mut state = self.write();
            state.entries.clear();
            return state.entries.insert(keys, self.key_width(), values, false, |_| true);
        };
        self.ensure_key_dtype(keys)?;
        self.ensure_value_dtype(values)?;
        let (width, value_width) = (self.key_width(), self.value_shape.num_elements());
        let rows = keys.shape().first().copied().unwrap_or(0);
        ensure!(
            keys.shape()[..] == [rows, width] && values.shape()[..] == [rows, value_width],
            InvalidArgument,
            "Expected keys and values as they are exported, of shapes [n,{width}] and [n,{value_width}], got {} and {}",
            keys.shape(),
            values.shape()
        );
        let mut unused = position_of(keys, empty_key, width)?;
        if let Some(deleted_key) = deleted_key {
            let deleted = position_of(keys, deleted_key, width)?;
            unused.iter_mut().zip(deleted).for_each(|(unused, deleted)| *unused |= deleted);
        }
        let mut state = self.write();
        state.entries.clear();
        state.buckets = unused.len() as u64;
        state.entries.insert(keys, width, values, false, |row| !unused[row])
    }

    /// All keys and values. A dense table has as many rows as buckets, those that hold nothing with the empty key, and
    /// keys and values that are scalars are rows of one element.
    ///
    /// # Errors
    /// ABORTED if the table was not filled; RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn export(&self, ctx: &RawContext<'_>) -> Result<(Tensor, Tensor)> {
        let state = self.read();
        ensure!(state.is_initialized, Aborted, "HashTable is not initialized.");
        let (keys, values) = state.entries.export(&self.key_shape, &self.value_shape)?;
        let Kind::Dense { empty_key, .. } = &self.kind else { return Ok((keys, values)) };
        let rows = usize::try_from(state.buckets).map_err(|_| Error::resource_exhausted("too many buckets"))?;
        let rows = rows.max(state.entries.len());
        let picks: Vec<i64> =
            scratch::collected((0..rows).map(|row| if row < state.entries.len() { row as i64 } else { ABSENT }))?;
        let pad = |own: &Tensor, default: &Tensor, width: usize| {
            let mut column = Column::new(own.dtype(), width);
            (0..state.entries.len()).try_for_each(|row| column.push(own, row))?;
            column.gather(ctx, &picks, default, false, Shape::from([rows, width]))
        };
        let zero = Tensor::zeros(self.value_dtype, self.value_shape.clone())?;
        Ok((pad(&keys, empty_key, self.key_width())?, pad(&values, &zero, self.value_shape.num_elements())?))
    }
}

impl Resource for Table {
    fn type_name() -> &'static str {
        "tensorflow::lookup::LookupInterface"
    }

    fn debug_string(&self) -> String {
        format!("a table of {} entries from {} to {}", self.size(), self.key_dtype, self.value_dtype)
    }

    fn memory_used(&self) -> usize {
        self.read().entries.memory_used()
    }
}
