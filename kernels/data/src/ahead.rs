//! Elements that are made ahead by calls that go on at a time, in the order of the input.

use kernlink::Result;

use crate::context::Cx;
use crate::dataset::{DatasetIterator, Element};
use crate::prefetch::{Call, Prefetched};
use crate::saved::Saved;
use crate::transform::Input;

/// What is made ahead, once the first element was asked for. It has the iterator over the input then: it reads while whoever
/// wants an element does something else, and an element that is there is not kept back by one that is not.
#[derive(Default)]
pub(crate) struct Ahead(Option<Prefetched>);

impl Ahead {
    /// What a call makes of the next element of the input; `None` if there is none. `calls` are under way at most.
    pub(crate) async fn next(
        &mut self,
        calls: usize,
        input: &mut Input,
        cx: &Cx,
        call: impl FnOnce() -> Call,
    ) -> Option<Result<Option<Element>>> {
        if self.0.is_none() {
            self.0 = Some(Prefetched::new(input.take()?, calls).calling(call()));
        }
        match &mut self.0 {
            Some(made) => made.coming(cx).await,
            None => None,
        }
    }

    /// Waits for what is under way, and puts all down.
    pub(crate) async fn save(&mut self, saved: &mut Saved) -> Result<()> {
        match &mut self.0 {
            Some(made) => made.save(saved.part("ahead", 0)).await,
            None => Ok(()),
        }
    }

    /// Takes up what was put down.
    pub(crate) async fn restore(
        &mut self,
        calls: usize,
        input: &mut Input,
        saved: &Saved,
        cx: &Cx,
        call: impl FnOnce() -> Call,
    ) -> Result<()> {
        let Some(saved) = saved.saved_part("ahead", 0) else { return Ok(()) };
        input.restart(cx)?;
        if let Some(iterator) = input.take() {
            let mut made = Prefetched::new(iterator, calls).calling(call());
            made.restore(saved, cx).await?;
            self.0 = Some(made);
        }
        Ok(())
    }
}
