//! Elements that are made ahead by calls that go on at a time, in the order of the input.

use std::collections::VecDeque;
use std::future::Future;

use kernlink::Result;
use kernlink::step::Task;
use kernlink::tensor::scratch;

use crate::context::Cx;
use crate::dataset::Element;
use crate::saved::Saved;
use crate::transform::Input;

/// What comes next, or will: a result, or a call that is under way.
enum Coming {
    Result(Result<Option<Element>>),
    Call(Task<Option<Element>>),
}

/// What is made ahead.
#[derive(Default)]
pub(crate) struct Ahead(VecDeque<Coming>);

impl Ahead {
    /// What a call makes of the next element of the input, and whether there was one; as many calls are begun for those
    /// that follow as may be under way.
    pub(crate) async fn next<F>(
        &mut self,
        calls: usize,
        input: &mut Input,
        cx: &Cx,
        call: impl Fn(Element, Cx) -> F,
    ) -> Option<Result<Option<Element>>>
    where
        F: Future<Output = Result<Option<Element>>> + Send + 'static,
    {
        while self.0.len() < calls && !input.is_over() {
            let coming = match input.next(cx).await {
                Ok(Some(element)) => Coming::Call(cx.spawn(|cx| call(element, cx))),
                Ok(None) => break,
                Err(error) => {
                    // That this call has no more time is nobody else's error.
                    if let Err(over) = cx.check() {
                        return Some(Err(over));
                    }
                    Coming::Result(Err(error))
                }
            };
            self.0.push_back(coming);
        }
        let result = match self.0.front_mut()? {
            // It stays in its place until it is there: whoever waits may give up.
            Coming::Call(call) => call.result().await,
            Coming::Result(result) => std::mem::replace(result, Ok(None)),
        };
        self.0.pop_front();
        Some(result)
    }

    /// Waits for what is under way, and puts all down.
    pub(crate) async fn save(&mut self, saved: &mut Saved) -> Result<()> {
        let mut results = Vec::new();
        for coming in &mut self.0 {
            if let Coming::Call(call) = coming {
                *coming = Coming::Result(call.result().await);
            }
            if let Coming::Result(result) = coming {
                scratch::push(&mut results, result.clone())?;
            }
        }
        saved.set_results("ahead", results);
        Ok(())
    }

    pub(crate) fn restored(saved: &Saved) -> Result<Ahead> {
        Ok(Ahead(saved.results("ahead")?.iter().cloned().map(Coming::Result).collect()))
    }
}
