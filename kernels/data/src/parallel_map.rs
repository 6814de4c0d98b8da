//! Elements that are made by calls which go on at a time, in the order of the input.

use kernlink::dtype::DataType;
use kernlink::kernel::RawContext;
use kernlink::{Error, Result, ensure};

use crate::context::Cx;
use crate::dataset::{DatasetIterator, Element, UNKNOWN, scalar};
use crate::function::ended;
use crate::prefetch::{Call, Prefetched};
use crate::saved::Saved;
use crate::transform::{Input, Transform};

/// How many calls may be under way: what an input says, but no more than are of use.
pub(crate) fn parallel_calls(count: i64, what: &str) -> Result<Parallelism> {
    ensure!(count > 0 || count == -1, InvalidArgument, "{what} must be greater than zero.");
    Ok(Parallelism(count))
}

/// The scalar that input `num_parallel_calls` is.
pub(crate) fn parallelism(ctx: &RawContext<'_>) -> Result<Parallelism> {
    let count = match ctx.input_named("num_parallel_calls")?.dtype() {
        DataType::Int32 => i64::from(scalar::<i32>(ctx, "num_parallel_calls")?),
        _ => scalar(ctx, "num_parallel_calls")?,
    };
    parallel_calls(count, "num_parallel_calls")
}

/// How many calls may be under way.
#[derive(Clone, Copy)]
pub(crate) struct Parallelism(i64);

impl Parallelism {
    /// More calls than these only take memory.
    const MOST: usize = 256;

    fn calls(self, cx: &Cx) -> usize {
        usize::try_from(self.0).unwrap_or(cx.threads()).clamp(1, Parallelism::MOST)
    }
}

/// Which elements come out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// One for each of the input.
    All,
    /// Those before the first for which the call says OUT_OF_RANGE.
    UntilEnd,
    /// Those of which the call makes something.
    Some,
}

impl Keeps {
    /// Those of a map that is said to preserve the cardinality, or not.
    pub(crate) fn all_if(preserves_cardinality: bool) -> Keeps {
        if preserves_cardinality { Keeps::All } else { Keeps::UntilEnd }
    }
}

/// Calls for elements, several of which go on at a time.
pub(crate) struct ParallelMap {
    pub(crate) call: Call,
    pub(crate) parallelism: Parallelism,
    pub(crate) keeps: Keeps,
    pub(crate) has_random_access: bool,
}

impl ParallelMap {
    fn over(&self, iterator: Box<dyn DatasetIterator>, cx: &Cx) -> Prefetched {
        Prefetched::new(iterator, self.parallelism.calls(cx)).calling(self.call.clone())
    }
}

impl Transform for ParallelMap {
    /// What is made ahead, once the first element was asked for. It has the iterator over the input then: it reads while
    /// whoever wants an element does something else, and an element that is there is not kept back by one that is not.
    type State = Option<Prefetched>;

    fn begin(&self, _: &Cx) -> Result<Option<Prefetched>> {
        Ok(None)
    }

    async fn next<'a>(
        &'a self,
        ahead: &'a mut Option<Prefetched>,
        input: &'a mut Input,
        cx: &'a Cx,
    ) -> Result<Option<Element>> {
        if ahead.is_none() {
            *ahead = input.take().map(|iterator| self.over(iterator, cx));
        }
        let Some(ahead) = ahead else { return Ok(None) };
        loop {
            cx.check()?;
            match ahead.coming(cx).await {
                None => return Ok(None),
                Some(Ok(None)) => {}
                Some(Err(error)) if self.keeps != Keeps::Some => return ended(Err(error), self.keeps == Keeps::All),
                Some(made) => return made,
            }
        }
    }

    fn cardinality(&self, input: i64) -> i64 {
        if self.keeps == Keeps::All { input } else { UNKNOWN }
    }

    /// Waits for what is under way, and puts all down.
    async fn save<'a>(&'a self, ahead: &'a mut Option<Prefetched>, saved: &'a mut Saved) -> Result<()> {
        match ahead {
            Some(ahead) => ahead.save(saved.part("ahead", 0)).await,
            None => Ok(()),
        }
    }

    async fn restore<'a>(
        &'a self,
        ahead: &'a mut Option<Prefetched>,
        input: &'a mut Input,
        saved: &'a Saved,
        cx: &'a Cx,
    ) -> Result<()> {
        let Some(saved) = saved.saved_part("ahead", 0) else { return Ok(()) };
        input.restart(cx)?;
        if let Some(iterator) = input.take() {
            let mut over = self.over(iterator, cx);
            over.restore(saved, cx).await?;
            *ahead = Some(over);
        }
        Ok(())
    }

    fn place(&self, index: i64, _: i64) -> Option<i64> {
        self.has_random_access.then_some(index)
    }

    async fn made<'a>(&'a self, element: Element, _: i64, cx: &'a Cx) -> Result<Element> {
        let made = (self.call)(element, cx.clone()).await?;
        made.ok_or_else(|| Error::internal("nothing was made of an element that is asked for by its place"))
    }
}
