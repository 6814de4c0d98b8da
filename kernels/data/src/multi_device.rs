//! Iterators whose elements several devices get in turn: device `d` of `n` gets elements `d`, `d + n`, ..., whoever asks
//! first. Nobody who waits holds a thread.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernlink::kernel::{KernelContext, KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::resource::Resource;
use kernlink::step::{Task, Waiters};
use kernlink::tensor::{Tensor, Variant};
use kernlink::{Error, Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, Element, Spec, input_dataset, scalar, set_components};
use crate::iterate::{Expected, set_string_handle};
use crate::resource::Running;
use crate::turn::Turn;

/// An iterator of several devices, once there is a dataset that it goes through.
struct MultiDevice {
    spec: Spec,
    devices: usize,
    begun: Mutex<Begun>,
}

/// What was begun last.
#[derive(Default)]
struct Begun {
    /// How often a dataset was set.
    incarnation: i64,
    buffers: Option<Arc<Buffers>>,
}

/// What is made of a dataset, for each device. What makes it ends when this is dropped.
struct Buffers {
    running: Arc<Running>,
    /// How many elements are held for each device; `None` for any number, of which none is made ahead.
    room: Option<usize>,
    shared: Arc<Shared>,
    maker: Mutex<Option<Task<()>>>,
    /// Whose turn it is to make elements if nothing is made ahead.
    turn: Turn<()>,
}

struct Shared {
    store: Mutex<Store>,
    changed: Waiters,
}

struct Store {
    made: Vec<VecDeque<Result<Element>>>,
    /// How many wait for an element, for each device.
    waiting: Vec<usize>,
    /// The device whose element is made next.
    next: usize,
    is_made: bool,
    is_over: bool,
    /// Whether another dataset was set.
    is_replaced: bool,
}

impl Store {
    /// Whether the next element is to be made.
    fn wants_more(&self, room: Option<usize>) -> bool {
        let lacks = |device: usize| self.waiting[device] > self.made[device].len();
        let wanted = match room {
            Some(room) => self.made[self.next].len() < room || lacks(self.next),
            None => (0..self.made.len()).any(lacks),
        };
        wanted && !self.is_over && !self.is_replaced
    }
}

impl Shared {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what was made, and whether more is to be made by whoever works ahead.
    fn add(&self, made: Result<Option<Element>>, room: Option<usize>, is_ahead: bool) -> bool {
        let mut store = self.store();
        let device = store.next;
        match made.transpose() {
            Some(made) => {
                store.made[device].push_back(made);
                store.next = (device + 1) % store.made.len();
            }
            None => store.is_over = true,
        }
        store.is_made = is_ahead && store.wants_more(room);
        let goes_on = store.is_made;
        drop(store);
        self.changed.wake_all();
        goes_on
    }
}

/// Notes that nothing more comes if what makes elements ends early: it has panicked, or was dropped.
struct Making {
    shared: Arc<Shared>,
    has_ended: bool,
}

impl Making {
    /// Nothing more is wanted for now.
    fn end(mut self) {
        self.has_ended = true;
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let mut store = self.shared.store();
        (store.is_made, store.is_over) = (false, true);
        let device = store.next;
        store.made[device].push_back(Err(Error::internal("what makes the elements of an iterator has ended early")));
        drop(store);
        self.shared.changed.wake_all();
    }
}

/// Counts who waits for an element of a device.
struct Waiting<'s>(&'s Shared, usize);

impl<'s> Waiting<'s> {
    fn new(shared: &'s Shared, device: usize) -> Waiting<'s> {
        shared.store().waiting[device] += 1;
        Waiting(shared, device)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.store().waiting[self.1] -= 1;
    }
}

impl Buffers {
    /// Has elements made if they are wanted and nobody makes any.
    fn begin(&self, cx: &Cx) {
        if !cx.works_ahead() {
            return;
        }
        {
            let mut store = self.shared.store();
            if store.is_made || !store.wants_more(self.room) {
                return;
            }
            store.is_made = true;
        }
        let making = Making { shared: self.shared.clone(), has_ended: false };
        let (running, room) = (self.running.clone(), self.room);
        let maker = cx.spawn(|cx| async move {
            loop {
                let made = running.next(&cx).await;
                if !making.shared.add(made, room, true) {
                    making.end();
                    return Ok(());
                }
            }
        });
        let old = self.maker.lock().unwrap_or_else(PoisonError::into_inner).replace(maker);
        drop(old);
    }

    /// If nothing is made ahead, makes elements in the run that waits for one of a device, as far as there is room, until there is
    /// one.
    async fn make(&self, device: usize, cx: &Cx) -> Result<()> {
        // Devices get elements in the order in which these are made.
        let _turn = self.turn.take().await;
        loop {
            {
                let store = self.shared.store();
                if store.is_made || !store.made[device].is_empty() || !store.wants_more(self.room) {
                    return Ok(());
                }
            }
            let made = self.running.next(cx).await;
            if made.is_err() {
                // That this run has no more time is nobody else's error.
                cx.check()?;
            }
            self.shared.add(made, self.room, false);
        }
    }

    /// The next element of a device, or `None` at the end.
    async fn next(&self, device: usize, cx: &Cx) -> Result<Option<Element>> {
        let works_ahead = cx.works_ahead();
        let element = {
            let _waiting = Waiting::new(&self.shared, device);
            loop {
                match works_ahead {
                    true => self.begin(cx),
                    false => self.make(device, cx).await?,
                }
                let take = || {
                    let mut store = self.shared.store();
                    match store.made[device].pop_front() {
                        Some(made) => Some(Some(made.map(Some))),
                        None if store.is_replaced => {
                            Some(Some(Err(Error::cancelled("Cancelled and buffer not filled."))))
                        }
                        None if store.is_over => Some(Some(Ok(None))),
                        // Another device has made room.
                        None if !works_ahead && !store.is_made && store.wants_more(self.room) => Some(None),
                        None => None,
                    }
                };
                if let Some(element) = self.shared.changed.until(take).await {
                    break element;
                }
            }
        };
        // There is room again, for which others may wait.
        match works_ahead {
            true => self.begin(cx),
            false => self.shared.changed.wake_all(),
        }
        element
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        self.shared.store().is_replaced = true;
        self.shared.changed.wake_all();
    }
}

impl MultiDevice {
    fn begun(&self) -> MutexGuard<'_, Begun> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets it to the beginning of a dataset, and returns the number of this beginning.
    fn set(&self, dataset: Arc<dyn Dataset>, room: i64, ctx: &RawContext<'_>) -> Result<i64> {
        self.spec.ensure_accepts(&dataset.head().spec)?;
        let store = Store {
            made: (0..self.devices).map(|_| VecDeque::new()).collect(),
            waiting: vec![0; self.devices],
            next: 0,
            is_made: false,
            is_over: false,
            is_replaced: false,
        };
        let buffers = Buffers {
            running: Arc::new(Running::new(dataset, ctx)?),
            room: usize::try_from(room).ok(),
            shared: Arc::new(Shared { store: Mutex::new(store), changed: Waiters::new() }),
            maker: Mutex::new(None),
            turn: Turn::new(()),
        };
        let mut begun = self.begun();
        begun.incarnation += 1;
        let incarnation = begun.incarnation;
        let old = begun.buffers.replace(Arc::new(buffers));
        drop(begun);
        if let Some(old) = old {
            old.shared.store().is_replaced = true;
            old.shared.changed.wake_all();
        }
        Ok(incarnation)
    }

    /// What was begun under this number.
    fn buffers(&self, incarnation: i64) -> Result<Arc<Buffers>> {
        let begun = self.begun();
        let Some(buffers) = &begun.buffers else {
            bail!(
                FailedPrecondition,
                "the iterator of several devices goes through no dataset yet: run MultiDeviceIteratorInit first"
            );
        };
        ensure!(
            incarnation == begun.incarnation,
            InvalidArgument,
            "Invalid incarnation id. Provided: {incarnation}; Expected: {}",
            begun.incarnation
        );
        Ok(buffers.clone())
    }
}

impl Resource for MultiDevice {
    fn type_name() -> &'static str {
        "tensorflow::data::(anonymous namespace)::MultiDeviceIterator"
    }

    fn debug_string(&self) -> String {
        format!("MultiDeviceIterator for {} devices", self.devices)
    }
}

/// What a node says of an iterator that it makes.
struct Made {
    spec: Spec,
    devices: usize,
}

impl Made {
    fn make(&self) -> MultiDevice {
        MultiDevice { spec: self.spec.clone(), devices: self.devices, begun: Mutex::default() }
    }
}

impl KernelState for Made {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let devices: Vec<String> = ctx.attrs.required("devices")?;
        ensure!(!devices.is_empty(), InvalidArgument, "`devices` must name a device");
        Ok(Self { spec: Spec::of(ctx)?, devices: devices.len() })
    }
}

/// The state of a node that makes one with a name.
struct Named {
    made: Made,
    iterator: NamedResource<MultiDevice>,
}

impl KernelState for Named {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { made: Made::new(ctx)?, iterator: NamedResource::new(ctx)? })
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::MultiDeviceIterator])]
fn multi_device_iterator(state: &Named, ctx: &mut RawContext<'_>) -> Result<()> {
    let iterator = state.iterator.get(|| Ok(state.made.make()))?;
    state.made.spec.ensure_accepts(&iterator.spec)?;
    state.iterator.set_handle(ctx)
}

#[register_kernel(device = Cpu, cheap, op = [ops::AnonymousMultiDeviceIterator, ops::AnonymousMultiDeviceIteratorV3])]
fn anonymous_multi_device_iterator(state: &Made, ctx: &mut RawContext<'_>) -> Result<()> {
    let iterator = Arc::new(state.make());
    let resources = ctx.resources()?;
    let handle = resources.make_owned_handle(ctx.device_name(), iterator.clone());
    if ctx.num_outputs() > 1 {
        // Its name can be told as a string.
        resources.create_unowned(&handle.container, &handle.name, &iterator)?;
        ctx.set_output_at(1, Tensor::scalar(Variant::default()))?;
    }
    ctx.set_output_at(0, Tensor::scalar(handle))
}

#[register_kernel(device = Cpu)]
fn init(ctx: &mut KernelContext<'_, ops::MultiDeviceIteratorInit>) -> Result<()> {
    let dataset = input_dataset(ctx, 0)?;
    let room = scalar(ctx, "max_buffer_size")?;
    let incarnation = ctx.resource_at::<MultiDevice>(1)?.set(dataset, room, ctx)?;
    ctx.set_output_at(0, Tensor::scalar(incarnation))
}

#[register_kernel(device = Cpu)]
async fn get_next_from_shard(ctx: &mut KernelContext<'_, ops::MultiDeviceIteratorGetNextFromShard>) -> Result<()> {
    let iterator = ctx.resource_at::<MultiDevice>(0)?;
    let (device, incarnation): (i32, i64) = (scalar(ctx, "shard_num")?, scalar(ctx, "incarnation_id")?);
    let buffers = iterator.buffers(incarnation)?;
    let Some(device) = usize::try_from(device).ok().filter(|device| *device < iterator.devices) else {
        bail!(InvalidArgument, "shard_num must be from 0 to {}, but is {device}", iterator.devices - 1);
    };
    let cx = buffers.running.cx(ctx)?;
    match buffers.next(device, &cx).await? {
        Some(element) => set_components(ctx, element),
        None => Err(Error::out_of_range("End of sequence")),
    }
}

#[register_kernel(device = Cpu, cheap)]
fn to_string_handle(ctx: &mut KernelContext<'_, ops::MultiDeviceIteratorToStringHandle>) -> Result<()> {
    set_string_handle::<MultiDevice>(ctx)
}

#[register_kernel(device = Cpu, cheap)]
fn from_string_handle(
    state: &Expected,
    ctx: &mut KernelContext<'_, ops::MultiDeviceIteratorFromStringHandle>,
) -> Result<()> {
    state.set_handle(ctx, |iterator: &MultiDevice| &iterator.spec)
}
