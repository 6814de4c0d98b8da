//! What goes with iterating: who is interested, functions and what else an iterator and those that it is made of share,
//! threads.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use kernlink::kernel::RawContext;
use kernlink::step::{Background, Cancellation, Function, Step, Task, WeakBackground};
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};

use crate::dataset::{Dataset, ensure_level};
use crate::function::Captured;
use crate::last::finish;
use crate::stats::Stats;

/// A function as an iterator has it, and what it was made of.
type Instance = (Arc<Captured>, Arc<dyn Function>);

/// What an iterator that nobody made for another shares with those that it is made of.
#[derive(Default)]
pub(crate) struct Shared {
    /// The functions as this iterator has them: what is stateful in their bodies belongs to it. By the address of what was
    /// captured, which is kept for that.
    functions: Mutex<HashMap<usize, Instance>>,
    /// Cancelled when the iterator goes.
    gone: Cancellation,
    /// How many elements were gone through ahead.
    passed: AtomicU32,
}

impl Shared {
    /// Ends all that is under way for the iterator.
    pub(crate) fn end(&self) {
        self.gone.cancel(Error::cancelled("the iterator was deleted"));
    }

    /// The same functions for what goes on after the end.
    fn afterwards(&self) -> Shared {
        let functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Shared { functions: Mutex::new(functions), ..Shared::default() }
    }

    fn function(&self, captured: &Arc<Captured>) -> Result<Arc<dyn Function>> {
        let address = Arc::as_ptr(captured).addr();
        let functions = || self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, function)) = functions().get(&address) {
            return Ok(function.clone());
        }
        // Not under the lock: it may take long.
        let function = captured.instantiate()?;
        let mut functions = functions();
        let entry = functions.entry(address).or_insert_with(|| (captured.clone(), function));
        Ok(entry.1.clone())
    }
}

/// Ends what is under way for an iterator when it is dropped.
pub(crate) struct EndsWith(pub(crate) Arc<Shared>);

impl Drop for EndsWith {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The context of a call of an iterator.
#[derive(Clone)]
pub(crate) struct Cx {
    background: Background,
    depth: u32,
    /// The run that waits for the element; nobody waits for what is made ahead.
    run: Option<Arc<Step>>,
    shared: Arc<Shared>,
    /// How many iterators call each other, at most.
    level: u32,
    /// Who is told of elements.
    stats: Option<Stats>,
}

impl Cx {
    /// That of an iterator in the run of a kernel.
    pub(crate) fn new(ctx: &RawContext<'_>, dataset: &Arc<dyn Dataset>, shared: &Arc<Shared>) -> Result<Cx> {
        Ok(Cx {
            background: ctx.background()?,
            depth: ctx.run().depth + 1,
            run: Some(ctx.step()?.clone()),
            shared: shared.clone(),
            level: dataset.head().depth,
            stats: None,
        })
    }

    /// That of an iterator over a dataset that a function has made, within this one.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if too many call each other, as those of a function that comes to itself.
    pub(crate) fn within(&self, dataset: &Arc<dyn Dataset>) -> Result<Cx> {
        let level = self.level + dataset.head().depth + 1;
        ensure_level(level)?;
        Ok(Cx { level, ..self.clone() })
    }

    /// The same with somebody who is told of elements.
    pub(crate) fn with_stats(&self, stats: &Stats) -> Cx {
        Cx { stats: Some(stats.clone()), ..self.clone() }
    }

    /// Who is told of elements.
    pub(crate) fn stats(&self) -> Option<&Stats> {
        self.stats.as_ref()
    }

    /// The same for what goes on after the run.
    fn ahead(&self) -> Cx {
        Cx { run: None, ..self.clone() }
    }

    /// What is called when the iterator goes. It does not keep the session, whose resources may have the iterator.
    pub(crate) fn last(&self) -> LastCx {
        let (background, shared) = (self.background.downgrade(), self.shared.clone());
        LastCx { background, depth: self.depth, shared, level: self.level }
    }

    /// How many threads can work at a time.
    pub(crate) fn threads(&self) -> usize {
        self.background.threads()
    }

    /// Whether threads work beside the one that calls. Where none do nothing is made ahead: it would hold up a run whose time
    /// limit it does not know.
    pub(crate) fn works_ahead(&self) -> bool {
        self.threads() > 1
    }

    /// Whether somebody is still interested. Who goes through many elements for one asks now and then.
    ///
    /// # Errors
    /// The reason why not.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(run) = &self.run {
            run.check()?;
        }
        self.background.check()?;
        self.shared.gone.check()
    }

    /// As [`check`](Self::check), for who goes through elements of which none may come out for long. Where that goes on ahead,
    /// others have the thread now and then: elements that are there already are made of what waits for it.
    ///
    /// # Errors
    /// The reason why nobody is interested any more.
    pub(crate) async fn go_on(&self) -> Result<()> {
        const TURN: u32 = 64;
        self.check()?;
        if self.run.is_none() && self.shared.passed.fetch_add(1, Ordering::Relaxed) % TURN == TURN - 1 {
            let mut has_waited = false;
            poll_fn(|context| {
                if has_waited {
                    return Poll::Ready(());
                }
                has_waited = true;
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
        Ok(())
    }

    /// Calls a function.
    ///
    /// # Errors
    /// Those of the function; the reason why nobody is interested any more.
    pub(crate) async fn call(&self, function: &Arc<Captured>, arguments: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let function = self.shared.function(function)?;
        let gone = &self.shared.gone;
        match &self.run {
            Some(run) => {
                let until = [run.cancellation(), gone];
                self.background.call(&function, self.depth, arguments, &until, run.deadline()).await
            }
            None => self.background.call(&function, self.depth, arguments, &[gone], None).await,
        }
    }

    /// Makes something ahead, on other threads, until what is returned is dropped; see [`Cx::works_ahead`].
    pub(crate) fn spawn<T, F>(&self, make: impl FnOnce(Cx) -> F) -> Task<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.background.spawn(make(self.ahead()))
    }
}

/// The context of what is called when an iterator goes.
pub(crate) struct LastCx {
    background: WeakBackground,
    depth: u32,
    shared: Arc<Shared>,
    level: u32,
}

impl LastCx {
    /// Begins something that nobody waits for, unless the session is gone.
    pub(crate) fn begin<F>(&self, make: impl FnOnce(Cx) -> F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        if let Some(background) = self.background.upgrade() {
            let shared = Arc::new(self.shared.afterwards());
            let cx = Cx { background, depth: self.depth, run: None, shared, level: self.level, stats: None };
            match cx.works_ahead() {
                true => cx.spawn(make).detach(),
                false => finish(Box::pin(make(cx))),
            }
        }
    }
}
