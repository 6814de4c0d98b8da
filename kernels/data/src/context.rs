//! What goes with iterating: who is interested, functions and what else an iterator and those that it is made of share,
//! threads.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use kernlink::kernel::RawContext;
use kernlink::step::{Background, Cancellation, Function, Task};
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};

use crate::function::Captured;

/// What an iterator that nobody made for another shares with those that it is made of.
#[derive(Default)]
pub(crate) struct Shared {
    /// The functions as this iterator has them: what is stateful in their bodies belongs to it. By the address of what was
    /// captured, which is kept for that.
    functions: Mutex<HashMap<usize, (Arc<Captured>, Arc<dyn Function>)>>,
    /// Cancelled when the iterator goes.
    gone: Cancellation,
}

impl Shared {
    /// Ends all that is under way for the iterator.
    pub(crate) fn end(&self) {
        self.gone.cancel(Error::cancelled("the iterator was deleted"));
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
    /// That of the run that waits for the element; of what is made ahead, that of nobody.
    run: Cancellation,
    shared: Arc<Shared>,
}

impl Cx {
    /// That of an iterator in the run of a kernel.
    pub(crate) fn new(ctx: &RawContext<'_>, shared: &Arc<Shared>) -> Result<Cx> {
        Ok(Cx {
            background: ctx.background()?,
            depth: ctx.run().depth + 1,
            run: ctx.cancellation()?.clone(),
            shared: shared.clone(),
        })
    }

    /// The same for what goes on after the run.
    fn ahead(&self) -> Cx {
        Cx { run: Cancellation::new(), ..self.clone() }
    }

    /// How many threads can work at a time.
    pub(crate) fn threads(&self) -> usize {
        self.background.threads()
    }

    /// Whether somebody is still interested. Who goes through many elements for one asks now and then.
    ///
    /// # Errors
    /// The reason why not.
    pub(crate) fn check(&self) -> Result<()> {
        self.run.check()?;
        self.shared.gone.check()
    }

    /// Calls a function.
    ///
    /// # Errors
    /// Those of the function; the reason why nobody is interested any more.
    pub(crate) async fn call(&self, function: &Arc<Captured>, arguments: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let function = self.shared.function(function)?;
        self.background.call(&function, self.depth, arguments, &[&self.run, &self.shared.gone]).await
    }

    /// Makes something ahead, on other threads, until what is returned is dropped.
    pub(crate) fn spawn<T, F>(&self, make: impl FnOnce(Cx) -> F) -> Task<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.background.spawn(make(self.ahead()))
    }
}
