//! How a batch is computed.

use std::sync::Arc;

use kernlink::step::Cancellation;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::joined_rows;

use super::batcher::{Batcher, Means};
use super::lane::Batch;

/// A batch that is computed. Its runs learn what came of it when this is dropped, whatever happens.
pub(super) struct Execution {
    pub(super) batcher: Arc<Batcher>,
    pub(super) id: u64,
    pub(super) batch: Batch,
    pub(super) means: Means,
    pub(super) cancellation: Cancellation,
    /// What each task gets.
    pub(super) outcome: Option<Result<Vec<Vec<Tensor>>>>,
}

impl Drop for Execution {
    fn drop(&mut self) {
        let broken = || Err(Error::internal("the batch was not computed to its end"));
        let outcome = self.outcome.take().unwrap_or_else(broken);
        self.batcher.finish(self.id, &self.batch, outcome);
    }
}

impl Execution {
    pub(super) async fn run(mut self) -> Result<()> {
        self.outcome = Some(self.compute().await);
        Ok(())
    }

    async fn compute(&self) -> Result<Vec<Vec<Tensor>>> {
        let batch = self.joined()?;
        let Some((function, captured)) = &self.means.function else { return self.for_the_last(batch) };
        let arguments = batch.into_iter().chain(captured.iter().cloned()).collect();
        let (background, depth) = (&self.means.background, self.means.depth);
        let results = background.call(function, depth, arguments, &[&self.cancellation], None).await?;
        self.divided(&results)
    }

    /// How many rows the batch has, filled up.
    fn filled(&self) -> usize {
        self.batcher.options.filled(self.batch.rows)
    }

    /// The inputs of all tasks, filled up by the first row.
    fn joined(&self) -> Result<Vec<Tensor>> {
        let tasks = &self.batch.tasks;
        let Some(first) = tasks.first() else { bail!(InvalidArgument, "Empty batch.") };
        ensure!(
            tasks.iter().all(|task| task.inputs.len() == first.inputs.len()),
            InvalidArgument,
            "Batching inputs must have equal number of edges"
        );
        let filling = self.filled() - self.batch.rows;
        let join = |input: usize| -> Result<Tensor> {
            let row = match filling {
                0 => None,
                _ => Some(first.inputs[input].slice_rows(0, 1)?),
            };
            let parts = tasks.iter().map(|task| &task.inputs[input]);
            joined_rows(&scratch::collected(parts.chain(std::iter::repeat_n(row.as_ref(), filling).flatten()))?)
        };
        (0..first.inputs.len()).map(join).collect()
    }

    /// The part of each task in the results.
    fn divided(&self, results: &[Tensor]) -> Result<Vec<Vec<Tensor>>> {
        let rows = self.filled();
        for result in results {
            ensure!(result.rank() > 0, FailedPrecondition, "Batched output tensor has 0 dimensions");
            ensure!(
                result.shape()[0] == rows,
                FailedPrecondition,
                "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input \
                 tensors: {} and {rows}",
                result.shape()[0]
            );
        }
        let mut start = 0;
        let part = |rows: usize| {
            let end = start + rows;
            let part = results.iter().map(|result| result.slice_rows(start, end)).collect::<Result<Vec<Tensor>>>();
            start = end;
            part
        };
        scratch::collected_ok(self.batch.tasks.iter().map(|task| task.rows).map(part))
    }

    /// The whole batch for its last task and nothing for the others; for each which rows are whose, and its id.
    fn for_the_last(&self, batch: Vec<Tensor>) -> Result<Vec<Vec<Tensor>>> {
        let tasks = &self.batch.tasks;
        let mut index = scratch::room(3 * tasks.len())?;
        let mut start = 0;
        for task in tasks {
            index.extend([task.run as i64, start, start + task.rows as i64]);
            start += task.rows as i64;
        }
        let mut outputs = scratch::room(tasks.len())?;
        for task in &tasks[..tasks.len() - 1] {
            let mut nothing = task.inputs.iter().map(|input| input.slice_rows(0, 0)).collect::<Result<Vec<_>>>()?;
            nothing.push(Tensor::from_elements::<i64>([0, 3], &[])?);
            nothing.push(Tensor::scalar(task.run as i64));
            outputs.push(nothing);
        }
        let mut last = batch;
        last.push(Tensor::from_elements([tasks.len(), 3], &index)?);
        last.push(Tensor::scalar(tasks[tasks.len() - 1].run as i64));
        outputs.push(last);
        Ok(outputs)
    }
}
