//! What the attrs of a node say of batches.

use std::time::Duration;

use kernlink::kernel::RawConstruction;
use kernlink::{Result, bail, ensure};

/// How many batches are computed at a time where `num_batch_threads` leaves that open, as TensorFlow begins with.
const IN_FLIGHT: i32 = 2;

/// How batches are made.
#[derive(Clone)]
pub(super) struct Options {
    /// How many are computed at a time.
    pub(super) threads: usize,
    /// The most rows of a run.
    pub(super) max_rows: usize,
    /// The most rows of a batch.
    pub(super) max_batch: usize,
    /// How long a batch waits to become full.
    pub(super) timeout: Duration,
    /// How many batches wait at most.
    pub(super) max_enqueued: usize,
    /// The sizes to which batches are filled up.
    pub(super) allowed: Vec<i32>,
    /// Whether the rows of a run may go to several batches.
    pub(super) splits: bool,
    /// Whether runs that are beyond an allowed size wait for the next batch.
    pub(super) trims: bool,
    /// Whether batches are given to a function, or else to one of their runs.
    pub(super) calls: bool,
}

/// An attr of TensorFlow's with 32 bits.
fn number(ctx: &RawConstruction<'_>, name: &str) -> Result<i32> {
    let value: i64 = ctx.attrs.required(name)?;
    match i32::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) => bail!(InvalidArgument, "Attr {name} has value {value} out of range for an int32"),
    }
}

impl Options {
    /// The options of a `Batch`, or of a `BatchFunction` if it `calls`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for attrs that are out of range, or do not suit each other.
    pub(super) fn new(ctx: &RawConstruction<'_>, calls: bool) -> Result<Options> {
        let threads = number(ctx, "num_batch_threads")?;
        let max_rows = number(ctx, "max_batch_size")?;
        let timeout = number(ctx, "batch_timeout_micros")?;
        let max_enqueued = number(ctx, "max_enqueued_batches")?;
        let sizes: Vec<i64> = ctx.attrs.required("allowed_batch_sizes")?;
        let Ok(allowed) = sizes.iter().map(|&size| i32::try_from(size)).collect::<Result<Vec<i32>, _>>() else {
            bail!(InvalidArgument, "Attr allowed_batch_sizes has a value out of range for an int32: {sizes:?}");
        };
        // Without a number of threads TensorFlow uses another scheduler, which always splits.
        let asks = calls && ctx.attrs.required::<bool>("enable_large_batch_splitting")?;
        ensure!(
            allowed.is_sorted_by(|a, b| a < b),
            InvalidArgument,
            "allowed_batch_sizes entries must be monotonically increasing: {allowed:?}"
        );
        if let Some(&last) = allowed.last().filter(|_| !asks) {
            ensure!(
                last == max_rows,
                InvalidArgument,
                "final entry in allowed_batch_sizes must equal max_batch_size{}: {last} and {max_rows}",
                if calls { " when enable_large_batch_splitting is False" } else { "" }
            );
        }
        ensure!(calls || threads > 0, InvalidArgument, "num_batch_threads must be positive; was {threads}");
        // A negative limit is none, but for the scheduler without a number of threads.
        ensure!(
            max_rows > 0 || max_rows < 0 && threads > 0,
            InvalidArgument,
            "input_batch_size_limit must be positive; was {max_rows}"
        );
        ensure!(timeout >= 0, InvalidArgument, "batch_timeout_micros must be non-negative; was {timeout}");
        let splits = asks || threads <= 0;
        ensure!(
            !splits || max_enqueued != 0,
            InvalidArgument,
            "max_enqueued_batches must be positive; was {max_enqueued}"
        );
        let limit = |value: i32| usize::try_from(value).unwrap_or(usize::MAX);
        let max_batch = allowed.last().copied().filter(|_| splits).unwrap_or(max_rows);
        ensure!(
            max_batch != 0 && limit(max_batch) <= limit(max_rows),
            InvalidArgument,
            "When enable_large_batch_splitting is true, input_batch_size_limit must be greater than or equal to \
             max_execution_batch_size, and that be positive: {max_rows} and {max_batch}"
        );
        Ok(Options {
            threads: limit(if threads > 0 { threads } else { IN_FLIGHT }),
            max_rows: limit(max_rows),
            max_batch: limit(max_batch),
            timeout: Duration::from_micros(timeout as u64),
            max_enqueued: limit(max_enqueued).max(1),
            trims: splits && ctx.attrs.required::<String>("batch_padding_policy")? == "BATCH_DOWN",
            allowed,
            splits,
            calls,
        })
    }

    /// To how many rows a batch is filled up: the smallest allowed size that is as large, if there is one.
    pub(super) fn filled(&self, rows: usize) -> usize {
        let sizes = self.allowed.iter().filter_map(|&size| usize::try_from(size).ok());
        sizes.into_iter().find(|&size| size >= rows).unwrap_or(rows)
    }

    /// To how many rows a batch is cut, so that it need not be filled up; `None` if it stays as it is.
    pub(super) fn cut(&self, rows: usize) -> Option<usize> {
        if !self.trims || self.filled(rows) == rows {
            return None;
        }
        let sizes = self.allowed.iter().rev().filter_map(|&size| usize::try_from(size).ok());
        sizes.into_iter().find(|&size| size < rows && size > 0)
    }
}
