//! Iterators as resources.

use std::sync::{Arc, Mutex, PoisonError};

use kernlink::kernel::RawContext;
use kernlink::resource::Resource;
use kernlink::{Code, Error, Result};

use crate::context::{Cx, EndsWith, Shared};
use crate::dataset::{Dataset, DatasetIterator, Element, Spec, with_inputs};
use crate::saved::Saved;
use crate::turn::Turn;

/// An iterator, once there is a dataset that it goes through.
pub(crate) struct IteratorResource {
    pub(crate) spec: Spec,
    running: Mutex<Option<Arc<Running>>>,
}

/// An iterator that goes through a dataset. What is under way for it ends when it is dropped.
pub(crate) struct Running {
    dataset: Arc<dyn Dataset>,
    iterator: Turn<Box<dyn DatasetIterator>>,
    shared: EndsWith,
}

impl Running {
    /// An iterator at the beginning of a dataset.
    pub(crate) fn new(dataset: Arc<dyn Dataset>, ctx: &RawContext<'_>) -> Result<Running> {
        let shared = Arc::new(Shared::default());
        let cx = Cx::new(ctx, &dataset, &shared)?;
        let iterator = dataset.clone().iterator(&cx)?;
        Ok(Running { dataset, iterator: Turn::new(iterator), shared: EndsWith(shared) })
    }

    /// The context of a call in the run of a kernel.
    pub(crate) fn cx(&self, ctx: &RawContext<'_>) -> Result<Cx> {
        Cx::new(ctx, &self.dataset, &self.shared.0)
    }

    /// The next element, or `None` at the end. Who comes first gets it first.
    pub(crate) async fn next(&self, cx: &Cx) -> Result<Option<Element>> {
        let next = self.iterator.take().await.next(cx).await;
        // OUT_OF_RANGE is how the end is told, and no error may pass for it.
        next.map_err(|error| match error.code() {
            Code::OutOfRange => Error::internal(error.message()).context("an element could not be made"),
            // What ends here may be in a function that another dataset calls.
            _ => error.before_end(),
        })
    }
}

fn uninitialized() -> Error {
    Error::failed_precondition(
        "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer \
         operation for this iterator before getting the next element.",
    )
}

impl IteratorResource {
    /// One that is not set to a dataset yet.
    pub(crate) fn new(spec: &Spec) -> IteratorResource {
        IteratorResource { spec: spec.clone(), running: Mutex::new(None) }
    }

    /// Sets it to the beginning of a dataset.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the elements of the dataset are others than those that it is to give.
    pub(crate) fn set(&self, dataset: Arc<dyn Dataset>, ctx: &RawContext<'_>) -> Result<()> {
        self.spec.ensure_accepts(&dataset.head().spec)?;
        self.replace(Running::new(dataset, ctx)?);
        Ok(())
    }

    fn replace(&self, running: Running) {
        let old = self.running.lock().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(running));
        // What it drops may want the iterator.
        drop(old);
    }

    /// What goes through the dataset.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if it is not set to a dataset.
    pub(crate) fn running(&self) -> Result<Arc<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(uninitialized)
    }

    /// The next element, or `None` at the end.
    pub(crate) async fn next(&self, ctx: &RawContext<'_>) -> Result<Option<Element>> {
        let running = self.running()?;
        let cx = running.cx(ctx)?;
        running.next(&cx).await
    }

    /// Puts down where it is.
    pub(crate) async fn save(&self) -> Result<Saved> {
        let running = self.running()?;
        let mut saved = Saved::default();
        running.iterator.take().await.save(&mut saved).await?;
        for (index, dataset) in with_inputs(&running.dataset).iter().enumerate() {
            if let Some(seeds) = dataset.seeds() {
                seeds.save(saved.part("dataset", index));
            }
        }
        Ok(saved)
    }

    /// Goes where it was when `saved` was put down.
    pub(crate) async fn restore(&self, saved: &Saved, ctx: &RawContext<'_>) -> Result<()> {
        let running = Running::new(self.running()?.dataset.clone(), ctx)?;
        {
            let cx = running.cx(ctx)?;
            running.iterator.take().await.restore(saved, &cx).await?;
        }
        // Last: what was restored may have begun inputs, which took seeds.
        for (index, dataset) in with_inputs(&running.dataset).iter().enumerate() {
            if let (Some(seeds), Some(saved)) = (dataset.seeds(), saved.saved_part("dataset", index)) {
                seeds.restore(saved)?;
            }
        }
        self.replace(running);
        Ok(())
    }
}

impl Resource for IteratorResource {
    fn type_name() -> &'static str {
        "tensorflow::data::IteratorResource"
    }

    fn debug_string(&self) -> String {
        "Iterator resource".to_owned()
    }
}
