//! Work on several threads that may fail, such as for lack of memory.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::RawContext;
use crate::error::{Error, Result};

/// The error of the piece that starts first: the same whatever the number of threads.
#[derive(Default)]
struct First(Mutex<Option<(usize, Error)>>);

impl First {
    fn note(&self, start: usize, result: Result<()>) {
        let Err(error) = result else { return };
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(other, _)| start < *other) {
            *first = Some((start, error));
        }
    }

    fn result(self) -> Result<()> {
        match self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

impl RawContext<'_> {
    /// [`RawContext::parallel_for`] for work that may fail. All ranges are worked on, whether or not one fails.
    ///
    /// # Errors
    /// That of the first range that fails.
    pub fn try_parallel_for(
        &self,
        total: usize,
        cost: usize,
        work: impl Fn(Range<usize>) -> Result<()> + Sync,
    ) -> Result<()> {
        let first = First::default();
        self.parallel_for(total, cost, |range| first.note(range.start, work(range)));
        first.result()
    }

    /// [`RawContext::parallel_chunks`] for work that may fail. All pieces are worked on, whether or not one fails.
    ///
    /// # Errors
    /// That of the first piece that fails.
    pub fn try_parallel_chunks<T: Send>(
        &self,
        items: &mut [T],
        unit: usize,
        cost: usize,
        work: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
    ) -> Result<()> {
        let first = First::default();
        self.parallel_chunks(items, unit, cost, |start, piece| first.note(start, work(start, piece)));
        first.result()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{OpDefBuilder, Signature};

    #[test]
    fn the_first_error_is_that_of_the_first_piece() {
        let op = OpDefBuilder::new("Splits").build().unwrap();
        let signature = Signature::default();
        let pool = crate::threads::ThreadPool::new("test", 3);
        for threads in [None, Some(&pool)] {
            let ctx = RawContext::new("n", &op, &signature, &mut [], &mut [], threads);
            let mut items = vec![0usize; 100];
            let fails = |start: usize| match start {
                0 => Ok(()),
                _ => Err(Error::resource_exhausted(format!("from {start}"))),
            };
            let result = ctx.try_parallel_chunks(&mut items, 25, 1 << 20, |start, piece| {
                piece.fill(start + 1);
                fails(start)
            });
            assert_eq!(result.map_err(|error| error.message().to_owned()).err(), threads.map(|_| "from 25".to_owned()));
            assert!(items.iter().all(|&item| item > 0), "{items:?}");
            let result = ctx.try_parallel_for(100, 1 << 20, |range| fails(range.start));
            assert_eq!(result.is_err(), threads.is_some());
        }
    }
}
