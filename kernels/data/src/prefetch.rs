//! Elements that are made ahead on other threads.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernlink::kernel::KernelContext;
use kernlink::step::{BoxFuture, Task, Waiters};
use kernlink::tensor::scratch;
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, input_dataset, scalar, set_dataset};
use crate::saved::Saved;

/// An iterator whose elements are made ahead: a future takes it, runs until there are as many as there is room for, and gives
/// it back.
pub(crate) struct Prefetched {
    room: usize,
    shared: Arc<Shared>,
    maker: Option<Task<()>>,
}

#[derive(Default)]
struct Shared {
    store: Mutex<Store>,
    changed: Waiters,
}

#[derive(Default)]
struct Store {
    made: VecDeque<Result<Option<Element>>>,
    /// While nobody makes elements.
    iterator: Option<Box<dyn DatasetIterator>>,
    is_made: bool,
    /// Whether the iterator has come to its end.
    is_over: bool,
    /// Whether whoever makes elements is to give the iterator back.
    is_to_stop: bool,
}

impl Shared {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what was made, and whether the iterator is to make more; otherwise it is given back.
    fn add(
        &self,
        made: Result<Option<Element>>,
        iterator: Box<dyn DatasetIterator>,
        room: usize,
    ) -> Option<Box<dyn DatasetIterator>> {
        let mut store = self.store();
        store.is_over = matches!(made, Ok(None));
        if !store.is_over {
            store.made.push_back(made);
        }
        let goes_on = !store.is_over && !store.is_to_stop && store.made.len() < room;
        let (kept, given) = if goes_on { (Some(iterator), None) } else { (None, Some(iterator)) };
        store.iterator = given;
        store.is_made = goes_on;
        drop(store);
        self.changed.wake_all();
        kept
    }
}

/// Notes that nothing more comes if what makes elements ends without giving the iterator back: it has panicked.
struct Making {
    shared: Arc<Shared>,
    /// Whether the iterator was given back, from when on another may make elements.
    gave_back: bool,
}

impl Making {
    /// The iterator was given back.
    fn end(mut self) {
        self.gave_back = true;
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        if self.gave_back {
            return;
        }
        let mut store = self.shared.store();
        store.is_made = false;
        store.is_over = true;
        store.made.push_back(Err(Error::internal("what makes elements ahead has panicked")));
        drop(store);
        self.shared.changed.wake_all();
    }
}

impl Prefetched {
    pub(crate) fn new(iterator: Box<dyn DatasetIterator>, room: usize) -> Prefetched {
        let store = Store { iterator: Some(iterator), ..Store::default() };
        let shared = Arc::new(Shared { store: Mutex::new(store), changed: Waiters::new() });
        Prefetched { room, shared, maker: None }
    }

    /// Has elements made if there is room and nobody makes any.
    pub(crate) fn begin(&mut self, cx: &Cx) {
        let mut iterator = {
            let mut store = self.shared.store();
            if store.is_made || store.is_over || store.made.len() >= self.room {
                return;
            }
            let Some(iterator) = store.iterator.take() else { return };
            store.is_made = true;
            iterator
        };
        let (shared, room) = (self.shared.clone(), self.room);
        self.maker = Some(cx.spawn(|cx| {
            let making = Making { shared, gave_back: false };
            async move {
                loop {
                    let made = iterator.next(&cx).await;
                    match making.shared.add(made, iterator, room) {
                        Some(kept) => iterator = kept,
                        None => {
                            making.end();
                            return Ok(());
                        }
                    }
                    cx.check()?;
                }
            }
        }));
    }

    /// Waits until nobody makes elements.
    async fn stop(&mut self) {
        self.shared.store().is_to_stop = true;
        self.shared.changed.until(|| (!self.shared.store().is_made).then_some(())).await;
        self.shared.store().is_to_stop = false;
        self.maker = None;
    }

    fn take_iterator(&self) -> Result<Box<dyn DatasetIterator>> {
        let iterator = self.shared.store().iterator.take();
        iterator.ok_or_else(|| Error::internal("the iterator is gone whose elements are made ahead"))
    }
}

impl DatasetIterator for Prefetched {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            self.begin(cx);
            let shared = &*self.shared;
            let next = || {
                let mut store = shared.store();
                match store.made.pop_front() {
                    Some(made) => Some(made),
                    None if store.is_made => None,
                    None => Some(Ok(None)),
                }
            };
            let made = shared.changed.until(next).await;
            self.begin(cx);
            made
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.stop().await;
            let (made, is_over) = {
                let store = self.shared.store();
                (scratch::collected(store.made.iter().cloned())?, store.is_over)
            };
            saved.set_results("made", made);
            saved.set("is_over", i64::from(is_over));
            let mut iterator = self.take_iterator()?;
            let result = iterator.save(saved.part("iterator", 0)).await;
            self.shared.store().iterator = Some(iterator);
            result
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.stop().await;
            let mut iterator = self.take_iterator()?;
            iterator.restore(saved.required_part("iterator", 0)?, cx).await?;
            let mut store = self.shared.store();
            store.made = saved.results("made")?.iter().cloned().collect();
            store.is_over = saved.get("is_over")? != 0;
            store.iterator = Some(iterator);
            Ok(())
        })
    }
}

struct Prefetch {
    head: Head,
    input: Arc<dyn Dataset>,
    /// `None` if nothing is made ahead.
    room: Option<usize>,
}

impl Dataset for Prefetch {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.input.cardinality()
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let iterator = self.input.clone().iterator(cx)?;
        Ok(match self.room {
            Some(room) => Box::new(Prefetched::new(iterator, room)),
            None => iterator,
        })
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        vec![self.input.clone()]
    }

    fn get<'a>(&'a self, index: i64, cx: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        self.input.get(index, cx)
    }
}

/// How many elements are made ahead if a graph leaves that to us.
const ROOM: usize = 16;

#[register_kernel(device = Cpu, cheap)]
fn prefetch(spec: &Spec, ctx: &mut KernelContext<'_, ops::PrefetchDataset>) -> Result<()> {
    let count: i64 = scalar(ctx, "buffer_size")?;
    ensure!(count >= -1, InvalidArgument, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
    let input = input_dataset(ctx, 0)?;
    let room = (count != 0).then(|| usize::try_from(count).unwrap_or(ROOM));
    set_dataset(ctx, Prefetch { head: Head::above(spec, [&input])?, input, room })
}
