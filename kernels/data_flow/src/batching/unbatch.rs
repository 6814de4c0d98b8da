//! The kernels of `Unbatch`, which hands each run its part of a batch, and of its gradient, which puts parts together.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kernlink::kernel::{KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::resource::Resource;
use kernlink::step::Waiters;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tensors::joined_rows;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use kernlink_kernels_common::alarm::Alarm;

/// Parts that wait for their runs, and runs that wait for their parts, by the id of the run.
struct Parts {
    timeout: Duration,
    state: Mutex<HashMap<i64, Part>>,
    changed: Waiters,
}

/// What stands under an id.
enum Part {
    /// It waits for its run, until the alarm forgets it.
    Waits { part: Tensor, alarm: Option<Alarm> },
    /// Its run waits, until this time.
    Awaited(Instant),
    /// Its run waited, and will see it.
    Came(Tensor),
}

impl Parts {
    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Part>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands out the parts of a batch, and waits for that of this run.
    async fn take(self: &Arc<Self>, id: i64, parts: Vec<(i64, Tensor)>) -> Result<Tensor> {
        let deadline = Alarm::due(self.timeout);
        {
            let mut state = self.lock();
            match state.remove(&id) {
                // As in TensorFlow, what this run brings is not looked at then.
                Some(Part::Waits { part, .. }) => return Ok(part),
                Some(other) => {
                    state.insert(id, other);
                    bail!(AlreadyExists, "Multiple session runs with the same batch key.");
                }
                None => {}
            }
            state.insert(id, Part::Awaited(deadline));
        }
        let _place = Place { parts: self, id };
        self.hand_out(parts, deadline)?;
        let weak = Arc::downgrade(self);
        let wake = move || {
            if let Some(parts) = weak.upgrade() {
                parts.changed.wake_all();
            }
        };
        let _alarm = Alarm::at(deadline, wake);
        let attempt = || {
            let mut state = self.lock();
            match state.get(&id) {
                Some(Part::Came(part)) => {
                    let part = part.clone();
                    state.remove(&id);
                    Some(Ok(part))
                }
                Some(Part::Awaited(deadline)) if Instant::now() < *deadline => None,
                _ => {
                    let late = "Batched data did not arrive within timeout window.";
                    Some(Err(Error::new(kernlink::Code::DeadlineExceeded, late)))
                }
            }
        };
        self.changed.until(attempt).await
    }

    fn hand_out(self: &Arc<Self>, parts: Vec<(i64, Tensor)>, deadline: Instant) -> Result<()> {
        let mut waiting = scratch::room(parts.len())?;
        let result = parts.into_iter().try_for_each(|(id, part)| {
            let mut state = self.lock();
            let part = match state.get(&id) {
                Some(Part::Awaited(_)) => Part::Came(part),
                Some(_) => bail!(AlreadyExists, "Multiple tensors returned for same batch key."),
                None => {
                    waiting.push(id);
                    Part::Waits { part, alarm: None }
                }
            };
            state.insert(id, part);
            Ok(())
        });
        // Once they are there: who comes meanwhile finds them, and an alarm finds what it is to forget.
        for id in waiting {
            let weak = Arc::downgrade(self);
            let forget = move || {
                let Some(parts) = weak.upgrade() else { return };
                let mut state = parts.lock();
                let late = state.remove(&id);
                if let Some(other @ (Part::Awaited(_) | Part::Came(_))) = late {
                    state.insert(id, other);
                    return;
                }
                drop(state);
                drop(late);
            };
            let set = Alarm::at(deadline, forget);
            let mut state = self.lock();
            let unneeded = match state.get_mut(&id) {
                Some(Part::Waits { alarm, .. }) => std::mem::replace(alarm, set),
                _ => set,
            };
            drop(state);
            drop(unneeded);
        }
        self.changed.wake_all();
        result
    }
}

/// The place of a run that waits for its part, which it leaves when it is dropped.
struct Place<'p> {
    parts: &'p Parts,
    id: i64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.parts.lock();
        let left = match state.get(&self.id) {
            Some(Part::Awaited(_) | Part::Came(_)) => state.remove(&self.id),
            _ => None,
        };
        drop(state);
        drop(left);
    }
}

impl Resource for Parts {
    fn type_name() -> &'static str {
        "tensorflow::UnbatchResource"
    }

    fn debug_string(&self) -> String {
        "UnbatchResource".to_owned()
    }
}

struct UnbatchKernel {
    parts: NamedResource<Parts>,
    timeout: Duration,
}

impl KernelState for UnbatchKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let timeout: i64 = ctx.attrs.required("timeout_micros")?;
        ensure!(
            i32::try_from(timeout).is_ok(),
            InvalidArgument,
            "Attr timeout_micros has value {timeout} out of range for an int32"
        );
        let timeout = Duration::from_micros(u64::try_from(timeout).unwrap_or(0));
        Ok(Self { parts: NamedResource::with_node_name(ctx)?, timeout })
    }
}

/// The id that an input holds.
fn id(ctx: &RawContext<'_>, input: usize) -> Result<i64> {
    let id = ctx.input_at(input)?;
    ensure!(id.rank() == 0, InvalidArgument, "Input id should be scalar; Got shape: {}.", id.shape());
    id.to_scalar()
}

/// The rows of input 1, of which each says whose rows are from where to where.
fn index<'c>(ctx: &'c RawContext<'_>) -> Result<&'c [[i64; 3]]> {
    let index = ctx.input_at(1)?;
    ensure!(
        index.rank() == 2 && index.shape()[1] == 3,
        InvalidArgument,
        "Wrong shape for index tensor. Expected 1st dimension size to be 3 ; Got shape: {}.",
        index.shape()
    );
    Ok(index.as_slice::<i64>()?.as_chunks::<3>().0)
}

#[register_kernel(device = Cpu, op = ops::Unbatch)]
async fn unbatch(kernel: &UnbatchKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (data, index, id) = (ctx.input_at(0)?, index(ctx)?, id(ctx, 2)?);
    ensure!(data.rank() > 0, InvalidArgument, "a scalar cannot be divided among runs");
    let rows = data.shape()[0];
    ensure!(
        index.len() <= rows,
        InvalidArgument,
        "Wrong shape for index tensor. Expected 0th dimension size to be no greater than {rows}; Got: {}.",
        index.len()
    );
    let mut start = 0;
    let part = |&[id, from, to]: &[i64; 3]| -> Result<(i64, Tensor)> {
        let size = to.checked_sub(from).and_then(|size| usize::try_from(size).ok());
        let Some(end) = size.and_then(|size| size.checked_add(start)).filter(|end| *end <= rows) else {
            bail!(
                InvalidArgument,
                "Sum of split sizes must not exceed dim0-size of input tensor: rows {from} to {to} of {rows}"
            );
        };
        let part = data.slice_rows(start, end)?;
        start = end;
        Ok((id, part))
    };
    let parts = scratch::collected_ok(index.iter().map(part))?;
    let timeout = kernel.timeout;
    let waiting = kernel.parts.get(|| Ok(Parts { timeout, state: Mutex::default(), changed: Waiters::new() }))?;
    let part = waiting.take(id, parts).await?;
    let dtype = ctx.output_dtype_at(0)?;
    ensure!(part.dtype() == dtype, InvalidArgument, "the part of this run is {} and not {dtype}", part.dtype());
    ctx.set_output_at(0, part)
}

/// Gradients of runs, and batches of them that wait for those that are missing.
#[derive(Default)]
struct Gradients {
    state: Mutex<GradientsOf>,
    changed: Waiters,
}

#[derive(Default)]
struct GradientsOf {
    available: HashMap<i64, Tensor>,
    /// Batches by the id of the run that waits: the ids of their runs, and which of these are missing.
    batches: HashMap<i64, (Vec<i64>, HashSet<i64>)>,
    /// Which batch a gradient is missing in.
    wanted: HashMap<i64, i64>,
    /// What came of batches whose runs have not seen it yet.
    done: HashMap<i64, Result<Tensor>>,
}

impl GradientsOf {
    /// The gradients of runs, one after the other. They are available no more then.
    fn joined(&mut self, ids: &[i64]) -> Result<Tensor> {
        let mut parts = scratch::room(ids.len())?;
        for id in ids {
            match self.available.remove(id) {
                Some(part) => parts.push(part),
                None => bail!(Internal, "bad bookkeeping of available tensors."),
            }
        }
        joined_rows(&scratch::collected(parts.iter())?)
    }

    /// Enters a run with the ids of its batch; returns its result if it need not wait.
    fn enter(&mut self, id: i64, gradient: &Tensor, batch: Option<Vec<i64>>) -> Result<Option<Tensor>> {
        ensure!(!self.available.contains_key(&id), InvalidArgument, "Two runs with the same batch key.");
        self.available.insert(id, gradient.clone());
        let mut result = None;
        match batch {
            Some(ids) => {
                let missing: HashSet<i64> = ids.iter().copied().filter(|id| !self.available.contains_key(id)).collect();
                if missing.is_empty() {
                    return self.joined(&ids).map(Some);
                }
                ensure!(!self.batches.contains_key(&id), InvalidArgument, "Batch key with valid batch used twice.");
                ensure!(
                    missing.iter().all(|id| !self.wanted.contains_key(id)),
                    InvalidArgument,
                    "Missing tensor wanted by more than one batch."
                );
                self.wanted.extend(missing.iter().map(|&missing| (missing, id)));
                self.batches.insert(id, (ids, missing));
            }
            None => result = Some(gradient.slice_rows(0, 0)?),
        }
        if let Some(batch) = self.wanted.remove(&id) {
            let Some((_, missing)) = self.batches.get_mut(&batch) else {
                bail!(InvalidArgument, "Batch no longer exists.");
            };
            missing.remove(&id);
            if missing.is_empty()
                && let Some((ids, _)) = self.batches.remove(&batch)
            {
                let joined = self.joined(&ids);
                self.done.insert(batch, joined);
            }
        }
        Ok(result)
    }
}

impl Gradients {
    fn lock(&self) -> MutexGuard<'_, GradientsOf> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a run whose batch waits for gradients, which it leaves when it is dropped.
struct Waiting<'g> {
    gradients: &'g Gradients,
    id: i64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.gradients.lock();
        let done = state.done.remove(&self.id);
        let batch = state.batches.remove(&self.id);
        if let Some((_, missing)) = &batch {
            for missing in missing {
                state.wanted.remove(missing);
            }
            let own = state.available.remove(&self.id);
            drop(state);
            drop(own);
        } else {
            drop(state);
        }
        drop(done);
    }
}

impl Resource for Gradients {
    fn type_name() -> &'static str {
        "tensorflow::UnbatchGradResource"
    }

    fn debug_string(&self) -> String {
        "UnbatchGradResource".to_owned()
    }
}

struct UnbatchGradKernel {
    gradients: NamedResource<Gradients>,
}

impl KernelState for UnbatchGradKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { gradients: NamedResource::with_node_name(ctx)? })
    }
}

#[register_kernel(device = Cpu, op = ops::UnbatchGrad)]
async fn unbatch_grad(kernel: &UnbatchGradKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (data, gradient, id) = (ctx.input_at(0)?, ctx.input_at(2)?, id(ctx, 3)?);
    ensure!(gradient.rank() > 0, InvalidArgument, "a gradient that is a scalar cannot be one of several rows");
    let batch = if data.num_elements() > 0 {
        ensure!(ctx.input_at(1)?.num_elements() > 0, InvalidArgument, "batch_index is empty while the tensor isn't.");
        Some(scratch::collected(index(ctx)?.iter().map(|row| row[0]))?)
    } else {
        None
    };
    let gradients = kernel.gradients.get(|| Ok(Gradients::default()))?;
    let entered = gradients.lock().enter(id, gradient, batch);
    gradients.changed.wake_all();
    let joined = match entered? {
        Some(joined) => joined,
        None => {
            let _waiting = Waiting { gradients: &gradients, id };
            gradients.changed.until(|| gradients.lock().done.remove(&id)).await?
        }
    };
    ctx.set_output_at(0, joined)
}
