//! The batches of one kind that wait: all but the last are closed, the last one is open and may be empty.

use std::collections::VecDeque;
use std::time::Instant;

use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::MakeRoom;
use kernlink::{Result, ensure};

use super::options::Options;
use kernlink_kernels_common::alarm::Alarm;

/// What one run adds to one batch.
pub(super) struct Task {
    /// The number of the run.
    pub(super) run: u64,
    /// Which part of the run it is.
    pub(super) part: usize,
    pub(super) rows: usize,
    pub(super) inputs: Vec<Tensor>,
}

/// Tasks that are computed together.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) tasks: Vec<Task>,
    pub(super) rows: usize,
    /// When it is computed though it is not full, once there is a task.
    due: Option<Instant>,
}

impl Batch {
    fn push(&mut self, task: Task, options: &Options) -> Result<()> {
        self.tasks.make_room(1)?;
        self.due.get_or_insert_with(|| Alarm::due(options.timeout));
        self.rows += task.rows;
        self.tasks.push(task);
        Ok(())
    }
}

pub(super) struct Lane {
    batches: VecDeque<Batch>,
}

impl Lane {
    pub(super) fn new() -> Lane {
        Lane { batches: VecDeque::from([Batch::default()]) }
    }

    /// Adds what a run has, and returns in how many parts.
    ///
    /// # Errors
    /// As [`Lane::parts`]; RESOURCE_EXHAUSTED if there is not enough memory, in which case some of it may be there.
    pub(super) fn enter(&mut self, run: u64, inputs: &[Tensor], rows: usize, options: &Options) -> Result<usize> {
        let parts = self.parts(rows, options)?;
        let (mut start, count) = (0, parts.len());
        for (part, rows) in parts.into_iter().enumerate() {
            let inputs = match count {
                1 => inputs.to_vec(),
                _ => inputs.iter().map(|input| input.slice_rows(start, start + rows)).collect::<Result<_>>()?,
            };
            start += rows;
            self.push(Task { run, part, rows, inputs }, options)?;
        }
        Ok(count)
    }

    /// Into how many rows each what a run adds is divided.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it has too many rows; UNAVAILABLE if too many batches wait.
    fn parts(&self, rows: usize, options: &Options) -> Result<Vec<usize>> {
        ensure!(
            rows <= options.max_rows,
            InvalidArgument,
            "Task size {rows} is larger than maximum input batch size {}",
            options.max_rows
        );
        let (waiting, open) = (self.batches.len(), self.batches.back().map_or(0, |batch| batch.rows));
        if !options.splits {
            ensure!(
                open.saturating_add(rows) <= options.max_rows || waiting < options.max_enqueued,
                Unavailable,
                "The batch scheduling queue to which this task was submitted is full; currently {waiting} batches \
                 enqueued and max_enqueued_batches is {}",
                options.max_enqueued
            );
            return Ok(vec![rows]);
        }
        let left = options.max_batch.saturating_sub(open);
        let capacity =
            options.max_enqueued.saturating_sub(waiting).saturating_mul(options.max_batch).saturating_add(left);
        ensure!(
            rows <= capacity,
            Unavailable,
            "The batch scheduling queue to which this task was submitted is full; task size is {rows} but scheduling \
             capacity is only {capacity} (num_enqueued_batches={waiting}, max_enqueued_batches={}, open_batch_size={open}, \
             max_execution_batch_size={})",
            options.max_enqueued,
            options.max_batch
        );
        if rows <= left {
            return Ok(vec![rows]);
        }
        let first = if left > 0 { left } else { options.max_batch };
        let mut parts = vec![first.min(rows)];
        let mut rest = rows - parts[0];
        while rest > 0 {
            parts.make_room(1)?;
            parts.push(rest.min(options.max_batch));
            rest -= rest.min(options.max_batch);
        }
        Ok(parts)
    }

    /// Adds a task to the open batch, or to a new one if it does not fit.
    fn push(&mut self, task: Task, options: &Options) -> Result<()> {
        let open = self.batches.back().map_or(0, |batch| batch.rows);
        if open > 0 && open.saturating_add(task.rows) > options.max_batch {
            self.batches.make_room(1)?;
            self.batches.push_back(Batch::default());
        }
        match self.batches.back_mut() {
            Some(open) => open.push(task, options),
            None => Ok(()),
        }
    }

    /// When the open batch is computed though it is not full.
    pub(super) fn due(&self) -> Option<Instant> {
        self.batches.back().and_then(|open| open.due)
    }

    /// The next batch that is to be computed: one that is closed, or the open one if it is full or its time has come.
    pub(super) fn take(&mut self, now: Instant, options: &Options) -> Option<Batch> {
        if self.batches.len() == 1 {
            let is_full = self.batches[0].rows >= options.max_batch;
            if self.batches[0].rows == 0 || !(is_full || self.due().is_some_and(|due| now >= due)) {
                return None;
            }
            let rest = self.cut(options);
            self.batches.push_back(rest);
        }
        self.batches.pop_front()
    }

    /// Takes the last tasks from the only batch if it has an allowed size without them; they make a new one.
    fn cut(&mut self, options: &Options) -> Batch {
        let batch = &mut self.batches[0];
        let Some(wanted) = options.cut(batch.rows) else { return Batch::default() };
        let mut kept = 0;
        let count = batch.tasks.iter().take_while(|task| {
            kept += task.rows;
            kept <= wanted
        });
        let count = count.count();
        // A task stays whole.
        if batch.tasks[..count].iter().map(|task| task.rows).sum::<usize>() != wanted {
            return Batch::default();
        }
        let tasks = batch.tasks.split_off(count);
        let rest = Batch { rows: batch.rows - wanted, tasks, due: batch.due };
        batch.rows = wanted;
        rest
    }

    /// Removes what a run added.
    pub(super) fn forget(&mut self, run: u64) {
        for batch in &mut self.batches {
            batch.tasks.retain(|task| task.run != run);
            batch.rows = batch.tasks.iter().map(|task| task.rows).sum();
            if batch.tasks.is_empty() {
                batch.due = None;
            }
        }
        let open = self.batches.pop_back().unwrap_or_default();
        self.batches.retain(|batch| !batch.tasks.is_empty());
        self.batches.push_back(open);
    }
}
