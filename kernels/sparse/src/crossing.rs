//! All combinations of what several columns hold in one row: what the crosses have in common.

use std::borrow::Cow;
use std::ops::Range;

use kernlink::dtype::{DataType, TString};
use kernlink::error::{Error, Result};
use kernlink::kernel::RawContext;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_kernels_common::farmhash::{fingerprint_cat64, fingerprint64};

/// The features of a column, row after row.
#[derive(Clone, Copy)]
pub(super) enum Features<'a> {
    Integers(&'a [i64]),
    Strings(&'a [TString]),
}

impl<'a> Features<'a> {
    pub(super) fn new(tensor: &'a Tensor) -> Result<Features<'a>> {
        match tensor.dtype() {
            DataType::Int64 => Ok(Features::Integers(tensor.as_slice()?)),
            DataType::String => Ok(Features::Strings(tensor.as_slice()?)),
            dtype => bail!(InvalidArgument, "Unexpected dtype for input: {dtype}"),
        }
    }

    /// The feature as text.
    fn text(&self, n: usize) -> Cow<'a, [u8]> {
        match self {
            Features::Integers(values) => Cow::Owned(values[n].to_string().into_bytes()),
            Features::Strings(values) => Cow::Borrowed(&values[n]),
        }
    }

    /// Of each feature the number itself, or the fingerprint of the text.
    pub(super) fn fingerprints(&self) -> Result<Vec<u64>> {
        match self {
            Features::Integers(values) => scratch::collected(values.iter().map(|&value| value as u64)),
            Features::Strings(values) => scratch::collected(values.iter().map(|text| fingerprint64(text))),
        }
    }
}

/// A row with crosses.
struct Row {
    /// Its number.
    row: usize,
    /// The first of its crosses.
    start: usize,
}

/// The rows in which each column has features.
#[derive(Default)]
pub(super) struct Crosses {
    rows: Vec<Row>,
    /// Of each of these rows in turn the features that each column has in it.
    features: Vec<Range<usize>>,
    /// The number of all crosses.
    pub(super) total: usize,
    /// The greatest number of crosses in a row.
    pub(super) widest: usize,
}

impl Crosses {
    /// Adds a row, unless a column has no feature in it.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for more crosses than a tensor can have.
    pub(super) fn push(&mut self, row: usize, features: impl Iterator<Item = Range<usize>>) -> Result<()> {
        let first = self.features.len();
        let mut count = Some(1usize);
        for range in features {
            if range.is_empty() {
                self.features.truncate(first);
                return Ok(());
            }
            count = count.and_then(|count| count.checked_mul(range.len()));
            scratch::push(&mut self.features, range)?;
        }
        let total = count.and_then(|count| self.total.checked_add(count)).filter(|&total| i64::try_from(total).is_ok());
        let (Some(count), Some(total)) = (count, total) else {
            bail!(InvalidArgument, "row {row} has more crosses than a tensor can hold");
        };
        scratch::push(&mut self.rows, Row { row, start: self.total })?;
        self.total = total;
        self.widest = self.widest.max(count);
        Ok(())
    }

    /// The number of each cross's row, and its number there.
    pub(super) fn indices(&self) -> impl Iterator<Item = [i64; 2]> + '_ {
        let ends = self.rows.iter().skip(1).map(|row| row.start).chain([self.total]);
        self.rows.iter().zip(ends).flat_map(|(row, end)| (0..end - row.start).map(|n| [row.row as i64, n as i64]))
    }

    /// Where the crosses of each of `count` rows begin, and where the last end.
    pub(super) fn splits(&self, count: usize) -> impl Iterator<Item = i64> + '_ {
        let mut rows = self.rows.iter().peekable();
        (0..=count).map(move |row| {
            while rows.next_if(|next| next.row < row).is_some() {}
            rows.peek().map_or(self.total, |next| next.start) as i64
        })
    }

    /// Calls `write` with each of the output's elements and the features that it crosses, one a column.
    fn fill<T: Send>(
        &self,
        ctx: &RawContext<'_>,
        output: &mut [T],
        write: &(dyn Fn(&mut T, &[usize]) -> Result<()> + Sync),
    ) -> Result<()> {
        let Some(columns) = self.features.len().checked_div(self.rows.len()) else {
            return Ok(());
        };
        let features = |number: usize| &self.features[number * columns..][..columns];
        ctx.try_parallel_chunks(output, 1, 20 + 20 * columns, |first, piece| {
            let mut number = self.rows.partition_point(|row| row.start <= first) - 1;
            let mut rest = first - self.rows[number].start;
            let mut picks = vec![0; columns];
            for (pick, range) in picks.iter_mut().zip(features(number)).rev() {
                *pick = range.start + rest % range.len();
                rest /= range.len();
            }
            for slot in piece {
                write(slot, &picks)?;
                // The last column turns fastest.
                let mut carried = true;
                for (pick, range) in picks.iter_mut().zip(features(number)).rev() {
                    *pick += 1;
                    carried = *pick == range.end;
                    if !carried {
                        break;
                    }
                    *pick = range.start;
                }
                if carried && number + 1 < self.rows.len() {
                    number += 1;
                    picks.iter_mut().zip(features(number)).for_each(|(pick, range)| *pick = range.start);
                }
            }
            Ok(())
        })
    }

    /// Joins the texts of the features.
    pub(super) fn join(
        &self,
        ctx: &RawContext<'_>,
        output: &mut Tensor,
        columns: &[Features<'_>],
        separator: &[u8],
    ) -> Result<()> {
        self.fill(ctx, output.as_mut_slice::<TString>()?, &|slot, picks| {
            let mut text = Vec::new();
            for (n, (column, &pick)) in columns.iter().zip(picks).enumerate() {
                if n > 0 {
                    scratch::append(&mut text, separator)?;
                }
                scratch::append(&mut text, &column.text(pick))?;
            }
            *slot = TString::from(text);
            Ok(())
        })
    }

    /// Joins the fingerprints of the features; `key` stands before them.
    pub(super) fn hash(
        &self,
        ctx: &RawContext<'_>,
        output: &mut Tensor,
        columns: &[Vec<u64>],
        key: Option<u64>,
        buckets: i64,
    ) -> Result<()> {
        // Modulo the greatest number, so that no fingerprint is negative.
        let buckets = if buckets > 0 { buckets as u64 } else { i64::MAX as u64 };
        self.fill(ctx, output.as_mut_slice::<i64>()?, &|slot, picks| {
            let hashes = columns.iter().zip(picks).map(|(column, &pick)| column[pick]);
            let hash = match key {
                Some(key) => hashes.fold(key, fingerprint_cat64),
                None => hashes.reduce(fingerprint_cat64).unwrap_or(0),
            };
            *slot = (hash % buckets) as i64;
            Ok(())
        })
    }
}

/// The rows of a sparse column: runs of elements with equal first indices.
///
/// A run that is out of order, or no row, ends the column: what comes after it is not seen.
pub(super) struct Runs<'a> {
    indices: &'a [i64],
    rows: i64,
    next: usize,
}

impl<'a> Runs<'a> {
    /// Of a matrix of indices with two columns.
    pub(super) fn new(indices: &'a Tensor, rows: i64) -> Result<Runs<'a>> {
        ensure!(indices.shape().get(1) == Some(&2), Internal, "indices of shape {}", indices.shape());
        Ok(Runs { indices: indices.as_slice()?, rows, next: 0 })
    }

    fn peek(&self) -> Option<i64> {
        self.indices.get(2 * self.next).copied()
    }
}

impl Iterator for Runs<'_> {
    type Item = (usize, Range<usize>);

    fn next(&mut self) -> Option<(usize, Range<usize>)> {
        let row = self.peek().filter(|row| (0..self.rows).contains(row))?;
        let start = self.next;
        while self.peek() == Some(row) {
            self.next += 1;
        }
        let run = start..self.next;
        if self.peek().is_some_and(|next| next < row) {
            self.indices = &self.indices[..2 * self.next];
        }
        Some((row as usize, run))
    }
}

/// The features of several columns.
pub(super) fn features<'a>(tensors: impl Iterator<Item = &'a Tensor>) -> Result<Vec<Features<'a>>> {
    tensors.map(Features::new).collect()
}

/// How many rows a column says that there are.
pub(super) fn rows(size: i64) -> Result<usize> {
    usize::try_from(size).map_err(|_| Error::invalid_argument(format!("there cannot be {size} rows")))
}
