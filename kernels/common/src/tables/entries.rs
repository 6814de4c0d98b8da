//! Keys and values by key.

use crate::hash::Map;
use kernlink::dtype::{DataType, TString};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Result, bail};

use super::column::{ABSENT, Column, out_of_memory};

/// Entries in the order in which they came, but for those that took the place of removed ones.
pub(super) struct Entries {
    index: Index,
    keys: Column,
    values: Column,
}

/// Rows by key: integers by their value, strings by their bytes, and keys of several elements by all their bytes.
enum Index {
    Ints(Map<i64, usize>),
    Texts(Map<TString, usize>),
}

/// Nanoseconds that looking for a key takes, or so.
const FIND: usize = 20;

/// The keys in a tensor, one a row.
enum Keys<'t> {
    Ints32(&'t [i32]),
    Ints64(&'t [i64]),
    Texts(&'t [TString]),
    Rows(Vec<TString>),
}

impl<'t> Keys<'t> {
    fn new(tensor: &'t Tensor, width: usize) -> Result<Keys<'t>> {
        Ok(match (tensor.dtype(), width) {
            (DataType::Int32, 1) => Keys::Ints32(tensor.as_slice()?),
            (DataType::Int64, 1) => Keys::Ints64(tensor.as_slice()?),
            (DataType::String, 1) => Keys::Texts(tensor.as_slice()?),
            (_, 0) => bail!(InvalidArgument, "a key has at least one element"),
            (DataType::String, _) => {
                let row = |texts: &[TString]| {
                    let mut bytes = scratch::room(texts.iter().map(|text| text.len() + 8).sum())?;
                    for text in texts {
                        bytes.extend((text.as_bytes().len() as u64).to_ne_bytes());
                        bytes.extend(text.as_bytes());
                    }
                    Ok(TString::from(bytes))
                };
                Keys::Rows(scratch::collected_ok(tensor.as_slice::<TString>()?.chunks_exact(width).map(row))?)
            }
            (dtype, _) => {
                let rows = tensor.bytes()?.chunks_exact(width * dtype.size());
                Keys::Rows(scratch::collected_ok(rows.map(|row| scratch::copied(row).map(TString::from)))?)
            }
        })
    }

    fn len(&self) -> usize {
        match self {
            Keys::Ints32(keys) => keys.len(),
            Keys::Ints64(keys) => keys.len(),
            Keys::Texts(keys) => keys.len(),
            Keys::Rows(keys) => keys.len(),
        }
    }

    fn equal(&self, row: usize, other: &Keys<'_>, other_row: usize) -> bool {
        match (self, other) {
            (Keys::Ints32(a), Keys::Ints32(b)) => a[row] == b[other_row],
            (Keys::Ints64(a), Keys::Ints64(b)) => a[row] == b[other_row],
            (Keys::Texts(a), Keys::Texts(b)) => a[row] == b[other_row],
            (Keys::Rows(a), Keys::Rows(b)) => a[row] == b[other_row],
            _ => false,
        }
    }
}

/// The row of `keys` that equals one of `reserved`, which has one row each.
pub fn position_of(keys: &Tensor, reserved: &Tensor, width: usize) -> Result<Vec<bool>> {
    let (keys, reserved) = (Keys::new(keys, width)?, Keys::new(reserved, width)?);
    scratch::collected((0..keys.len()).map(|row| keys.equal(row, &reserved, 0)))
}

/// Writes the row that `find` gives for each key, or [`ABSENT`].
fn pick<'i>(ctx: &RawContext<'_>, picks: &mut [i64], find: impl Fn(usize) -> Option<&'i usize> + Sync) {
    ctx.parallel_chunks(picks, 1, FIND, |first, piece| {
        for (index, pick) in piece.iter_mut().enumerate() {
            *pick = find(first + index).map_or(ABSENT, |&row| row as i64);
        }
    });
}

impl Entries {
    pub(super) fn new(key_dtype: DataType, key_width: usize, value_dtype: DataType, value_width: usize) -> Entries {
        let index = match (key_dtype, key_width) {
            (DataType::Int32 | DataType::Int64, 1) => Index::Ints(Map::default()),
            _ => Index::Texts(Map::default()),
        };
        Entries { index, keys: Column::new(key_dtype, key_width), values: Column::new(value_dtype, value_width) }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.rows()
    }

    pub(super) fn clear(&mut self) {
        match &mut self.index {
            Index::Ints(index) => *index = Map::default(),
            Index::Texts(index) => *index = Map::default(),
        }
        self.keys.clear();
        self.values.clear();
    }

    fn row_of(&self, keys: &Keys<'_>, row: usize) -> Option<usize> {
        match (&self.index, keys) {
            (Index::Ints(index), Keys::Ints32(keys)) => index.get(&i64::from(keys[row])).copied(),
            (Index::Ints(index), Keys::Ints64(keys)) => index.get(&keys[row]).copied(),
            (Index::Texts(index), Keys::Texts(keys)) => index.get(&keys[row]).copied(),
            (Index::Texts(index), Keys::Rows(keys)) => index.get(&keys[row]).copied(),
            _ => None,
        }
    }

    /// The values of all keys, in a tensor of this shape; `default` is for keys that there are not, for all the same
    /// or each its own.
    pub(super) fn find(
        &self,
        ctx: &RawContext<'_>,
        keys: &Tensor,
        key_width: usize,
        (default, has_all): (&Tensor, bool),
        shape: Shape,
    ) -> Result<Tensor> {
        let keys = Keys::new(keys, key_width)?;
        // Memory that runs share.
        let mut picks = Tensor::alloc(DataType::Int64, [keys.len()])?;
        let places = picks.as_mut_slice()?;
        match (&self.index, &keys) {
            (Index::Ints(index), Keys::Ints32(keys)) => pick(ctx, places, |row| index.get(&i64::from(keys[row]))),
            (Index::Ints(index), Keys::Ints64(keys)) => pick(ctx, places, |row| index.get(&keys[row])),
            (Index::Texts(index), Keys::Texts(keys)) => pick(ctx, places, |row| index.get(&keys[row])),
            (Index::Texts(index), Keys::Rows(keys)) => pick(ctx, places, |row| index.get(&keys[row])),
            _ => bail!(Internal, "keys of another dtype"),
        }
        self.values.gather(ctx, picks.as_slice()?, default, has_all, shape)
    }

    /// Adds the rows that `wanted` says. A key that is there gets the new value, or if that is `refused`, must have the
    /// same value.
    pub(super) fn insert(
        &mut self,
        keys: &Tensor,
        key_width: usize,
        values: &Tensor,
        refuse_changes: bool,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<()> {
        let given = Keys::new(keys, key_width)?;
        let reserved = match &mut self.index {
            Index::Ints(index) => index.try_reserve(given.len()),
            Index::Texts(index) => index.try_reserve(given.len()),
        };
        reserved.map_err(|_| out_of_memory(given.len()))?;
        for row in (0..given.len()).filter(|&row| wanted(row)) {
            if let Some(index) = self.row_of(&given, row) {
                if !refuse_changes {
                    self.values.set(index, values, row)?;
                } else if !self.values.equals(index, values, row)? {
                    bail!(
                        FailedPrecondition,
                        "HashTable has different value for same key: the key at position {row} was given before with \
                         another value"
                    );
                }
                continue;
            }
            // The index comes last, since it has room: it must not say where a row is that memory was refused for.
            let index = self.len();
            self.keys.push(keys, row)?;
            if let Err(error) = self.values.push(values, row) {
                self.keys.swap_remove(index);
                return Err(error);
            }
            match (&mut self.index, &given) {
                (Index::Ints(rows), Keys::Ints32(keys)) => rows.insert(keys[row].into(), index),
                (Index::Ints(rows), Keys::Ints64(keys)) => rows.insert(keys[row], index),
                (Index::Texts(rows), Keys::Texts(keys)) => rows.insert(keys[row].clone(), index),
                (Index::Texts(rows), Keys::Rows(keys)) => rows.insert(keys[row].clone(), index),
                _ => bail!(Internal, "keys of another dtype"),
            };
        }
        Ok(())
    }

    /// Takes out the entries of these keys, as far as there are any.
    pub(super) fn remove(&mut self, keys: &Tensor, key_width: usize) -> Result<()> {
        let given = Keys::new(keys, key_width)?;
        for row in 0..given.len() {
            let Some(removed) = self.row_of(&given, row) else { continue };
            // The last entry moves to the place that is free then. Its key may get no memory, so it is asked for first.
            let last = self.len() - 1;
            let moved = if removed == last { None } else { Some(self.keys.row(last)?) };
            let moved = moved.as_ref().map(|key| Keys::new(key, key_width)).transpose()?;
            match (&mut self.index, &given) {
                (Index::Ints(index), Keys::Ints32(keys)) => index.remove(&i64::from(keys[row])),
                (Index::Ints(index), Keys::Ints64(keys)) => index.remove(&keys[row]),
                (Index::Texts(index), Keys::Texts(keys)) => index.remove(&keys[row]),
                (Index::Texts(index), Keys::Rows(keys)) => index.remove(&keys[row]),
                _ => bail!(Internal, "keys of another dtype"),
            };
            if let Some(moved) = moved {
                match (&mut self.index, moved) {
                    (Index::Ints(index), Keys::Ints32(keys)) => index.insert(keys[0].into(), removed),
                    (Index::Ints(index), Keys::Ints64(keys)) => index.insert(keys[0], removed),
                    (Index::Texts(index), Keys::Texts(keys)) => index.insert(keys[0].clone(), removed),
                    (Index::Texts(index), Keys::Rows(keys)) => index.insert(keys[0].clone(), removed),
                    _ => bail!(Internal, "keys of another dtype"),
                };
            }
            self.keys.swap_remove(removed);
            self.values.swap_remove(removed);
        }
        Ok(())
    }

    /// All keys and values, whose shapes are these but for the number of entries in front.
    pub(super) fn export(&self, key_shape: &Shape, value_shape: &Shape) -> Result<(Tensor, Tensor)> {
        Ok((self.keys.to_tensor(key_shape)?, self.values.to_tensor(value_shape)?))
    }

    pub(super) fn memory_used(&self) -> usize {
        self.keys.memory_used() + self.values.memory_used() + self.len() * size_of::<(i64, usize)>()
    }
}
