//! Elements that are made ahead on other threads.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kernlink::kernel::KernelContext;
use kernlink::step::{BoxFuture, Task, Waiters};
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, input_dataset, scalar, set_dataset};
use crate::saved::Saved;

/// What comes next, or will.
type Made = Result<Option<Element>>;

/// What is made of elements before they are given out, of several at a time: an element or nothing.
pub(crate) type Call = Arc<dyn Fn(Element, Cx) -> BoxFuture<'static, Made> + Send + Sync>;

/// An iterator whose elements are made ahead: a future takes it, runs until there are as many as there is room for, and gives
/// it back. What is made of them by calls is made by futures of its own, which count as elements.
pub(crate) struct Prefetched {
    room: usize,
    call: Option<Call>,
    /// As in `Transform::passes_end`.
    passes_end: bool,
    shared: Arc<Shared>,
    maker: Option<Task<()>>,
}

#[derive(Default)]
struct Shared {
    store: Mutex<Store>,
    changed: Waiters,
}

/// An element that is there, or a call that is to make it.
enum Coming {
    Made(Made),
    Called { result: Arc<Mutex<Option<Made>>>, _call: Task<()> },
}

impl Coming {
    /// Begins a call for an element.
    fn called(call: &Call, element: Element, shared: &Arc<Shared>, cx: &Cx) -> Coming {
        let result = Arc::<Mutex<Option<Made>>>::default();
        // The store holds the call: it does not hold the store.
        let filling = Filling { result: result.clone(), shared: Arc::downgrade(shared) };
        let _call = cx.spawn(|cx| {
            let made = call(element, cx);
            async move {
                filling.fill(made.await);
                Ok(())
            }
        });
        Coming::Called { result, _call }
    }

    /// What was made, if it is there; it is taken out.
    fn take(&mut self) -> Option<Made> {
        match self {
            Coming::Made(made) => Some(std::mem::replace(made, Ok(None))),
            Coming::Called { result, .. } => result.lock().unwrap_or_else(PoisonError::into_inner).take(),
        }
    }

    /// What was made, if it is there.
    fn get(&self) -> Option<Made> {
        match self {
            Coming::Made(made) => Some(made.clone()),
            Coming::Called { result, .. } => result.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// Where a call puts its result: an error if it ends without one.
struct Filling {
    result: Arc<Mutex<Option<Made>>>,
    shared: Weak<Shared>,
}

impl Filling {
    fn fill(&self, made: Made) {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(made);
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        self.fill(Err(Error::internal("what makes an element ahead has panicked")));
        if let Some(shared) = self.shared.upgrade() {
            shared.changed.wake_all();
        }
    }
}

#[derive(Default)]
struct Store {
    coming: VecDeque<Coming>,
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

    /// Notes what was made, or will be, and whether the iterator is to make more; otherwise it is given back. At its end
    /// nothing comes.
    fn add(
        &self,
        coming: Option<Coming>,
        iterator: Box<dyn DatasetIterator>,
        room: usize,
    ) -> Option<Box<dyn DatasetIterator>> {
        let mut store = self.store();
        store.is_over = coming.is_none();
        store.coming.extend(coming);
        let goes_on = !store.is_over && !store.is_to_stop && store.coming.len() < room;
        let (kept, given) = if goes_on { (Some(iterator), None) } else { (None, Some(iterator)) };
        store.iterator = given;
        store.is_made = goes_on;
        drop(store);
        self.changed.wake_all();
        kept
    }
}

/// Notes that nothing more comes if what makes elements ends without giving the iterator back, and why.
struct Making {
    shared: Arc<Shared>,
    /// None once the iterator was given back, from when on another may make elements.
    reason: Option<Error>,
}

impl Making {
    /// Ends for a reason, or because the iterator was given back.
    fn end(mut self, reason: Option<Error>) {
        self.reason = reason;
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        let Some(reason) = self.reason.take() else { return };
        let mut store = self.shared.store();
        store.is_made = false;
        store.is_over = true;
        store.coming.push_back(Coming::Made(Err(reason)));
        drop(store);
        self.shared.changed.wake_all();
    }
}

/// Has whoever makes elements stop until this is dropped.
struct Stopping<'s>(&'s Shared);

impl Stopping<'_> {
    fn new(shared: &Shared) -> Stopping<'_> {
        shared.store().is_to_stop = true;
        Stopping(shared)
    }
}

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store().is_to_stop = false;
    }
}

/// The iterator, which is put back when this is dropped: who saves it may give up.
struct Lent<'s> {
    shared: &'s Shared,
    iterator: Option<Box<dyn DatasetIterator>>,
}

impl Lent<'_> {
    fn iterator(&mut self) -> Result<&mut Box<dyn DatasetIterator>> {
        self.iterator.as_mut().ok_or_else(|| Error::internal("the iterator is gone whose elements are made ahead"))
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.shared.store().iterator = self.iterator.take();
    }
}

impl Prefetched {
    pub(crate) fn new(iterator: Box<dyn DatasetIterator>, room: usize) -> Prefetched {
        let store = Store { iterator: Some(iterator), ..Store::default() };
        let shared = Arc::new(Shared { store: Mutex::new(store), changed: Waiters::new() });
        Prefetched { room, call: None, passes_end: true, shared, maker: None }
    }

    /// The same, which gives out what a call makes of each element.
    pub(crate) fn calling(self, call: Call) -> Prefetched {
        Prefetched { call: Some(call), ..self }
    }

    /// Has elements made if there is room and nobody makes any.
    pub(crate) fn begin(&mut self, cx: &Cx) {
        if !cx.works_ahead() {
            return;
        }
        let mut iterator = {
            let mut store = self.shared.store();
            if store.is_made || store.is_over || store.coming.len() >= self.room {
                return;
            }
            let Some(iterator) = store.iterator.take() else { return };
            store.is_made = true;
            iterator
        };
        let (shared, call, room) = (self.shared.clone(), self.call.clone(), self.room);
        self.maker = Some(cx.spawn(|cx| {
            let panicked = Error::internal("what makes elements ahead has panicked");
            let making = Making { shared, reason: Some(panicked) };
            async move {
                loop {
                    let coming = match (iterator.next(&cx).await, &call) {
                        (Ok(None), _) => None,
                        (Ok(Some(element)), Some(call)) => Some(Coming::called(call, element, &making.shared, &cx)),
                        (made, _) => Some(Coming::Made(made)),
                    };
                    match making.shared.add(coming, iterator, room) {
                        Some(kept) => iterator = kept,
                        None => {
                            making.end(None);
                            return Ok(());
                        }
                    }
                    if let Err(over) = cx.check() {
                        making.end(Some(over));
                        return Ok(());
                    }
                }
            }
        }));
    }

    /// Waits until nobody makes elements.
    async fn stop(&mut self) {
        let stopping = Stopping::new(&self.shared);
        self.shared.changed.until(|| (!self.shared.store().is_made).then_some(())).await;
        drop(stopping);
        self.maker = None;
    }

    fn lent(&self) -> Lent<'_> {
        let iterator = self.shared.store().iterator.take();
        Lent { shared: &self.shared, iterator }
    }

    /// What comes next if nothing is made ahead, which is made in the run that asks for it, as long as that has time. `None` at
    /// the end.
    async fn at_once(&mut self, cx: &Cx) -> Option<Made> {
        let mut lent = self.lent();
        let next = match lent.iterator() {
            Ok(iterator) => iterator.next(cx).await.transpose(),
            Err(gone) => Some(Err(gone)),
        };
        drop(lent);
        match (next, &self.call) {
            (Some(Ok(element)), Some(call)) => Some(call(element, cx.clone()).await),
            (Some(made), _) => Some(made.map(Some)),
            (None, _) => {
                self.shared.store().is_over = true;
                None
            }
        }
    }

    /// Whether whatever comes next is there, or somebody makes it.
    fn is_begun(&self) -> bool {
        let store = self.shared.store();
        store.is_made || store.is_over || !store.coming.is_empty()
    }

    /// What comes next, which is waited for in its place: whoever waits may give up. `None` at the end.
    pub(crate) async fn coming(&mut self, cx: &Cx) -> Option<Made> {
        self.begin(cx);
        if !self.is_begun() {
            return self.at_once(cx).await;
        }
        let shared = &*self.shared;
        let next = || {
            let mut store = shared.store();
            let Some(first) = store.coming.front_mut() else { return (!store.is_made).then_some((None, None)) };
            let made = first.take()?;
            Some((Some(made), store.coming.pop_front()))
        };
        // A call is dropped without the lock.
        let (made, _taken) = shared.changed.until(next).await;
        self.begin(cx);
        made
    }
}

impl DatasetIterator for Prefetched {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            let element = self.coming(cx).await.unwrap_or(Ok(None));
            if self.passes_end { element } else { element.map_err(Error::before_end) }
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.stop().await;
            let all_made = || {
                let store = self.shared.store();
                let made = store.coming.iter().map(Coming::get).collect::<Option<Vec<_>>>()?;
                Some((made, store.is_over))
            };
            let (made, is_over) = self.shared.changed.until(all_made).await;
            saved.set_results("made", made);
            saved.set("is_over", i64::from(is_over));
            self.lent().iterator()?.save(saved.part("iterator", 0)).await
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.stop().await;
            self.lent().iterator()?.restore(saved.required_part("iterator", 0)?, cx).await?;
            let made = saved.results("made")?.iter().cloned().map(Coming::Made).collect();
            let is_over = saved.get("is_over")? != 0;
            let mut store = self.shared.store();
            let old = std::mem::replace(&mut store.coming, made);
            store.is_over = is_over;
            drop(store);
            drop(old);
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
            Some(room) => Box::new(Prefetched { passes_end: false, ..Prefetched::new(iterator, room) }),
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
