//! Staging areas with keys.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernlink::dtype::DataType;
use kernlink::kernel::{KernelState, NamedResource, RawConstruction, RawContext};
use kernlink::resource::Resource;
use kernlink::step::Waiters;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::stage::{Limits, bytes_of, set_outputs};

/// The components of an element, as far as they have come or are still there.
type Parts = Vec<Option<Tensor>>;

struct Area {
    limits: Limits,
    /// How many components an element has.
    components: usize,
    state: Mutex<State>,
    changed: Waiters,
}

#[derive(Default)]
struct State {
    complete: HashMap<i64, Parts>,
    /// The keys in `complete`, and some that were there: a tree of nodes could not be refused memory.
    order: BinaryHeap<Reverse<i64>>,
    incomplete: HashMap<i64, Parts>,
    bytes: usize,
}

impl State {
    /// Makes room for one more element, whatever becomes of it.
    fn make_room(&mut self) -> Result<()> {
        self.complete.make_room(1)?;
        self.incomplete.make_room(1)?;
        if self.order.len() == self.order.capacity() {
            // Each complete element has its key there, so that these fit.
            self.order.clear();
            self.order.extend(self.complete.keys().copied().map(Reverse));
            self.order.make_room(self.complete.len() + 1)?;
        }
        Ok(())
    }

    /// The lowest key of a complete element.
    fn lowest(&mut self) -> Option<i64> {
        while let Some(&Reverse(key)) = self.order.peek() {
            if self.complete.contains_key(&key) {
                return Some(key);
            }
            self.order.pop();
        }
        None
    }
}

/// Takes the components at `indices` out of an element, or copies of them.
fn pick(parts: &mut Parts, key: i64, indices: &[usize], stay: bool) -> Result<Vec<Tensor>> {
    let part = |&index: &usize| {
        let count = parts.len();
        let slot = parts.get_mut(index).ok_or_else(|| {
            Error::invalid_argument(format!("Index '{index}' for key '{key}' was out of bounds '{count}'."))
        })?;
        let found = if stay { slot.clone() } else { slot.take() };
        found.ok_or_else(|| {
            Error::invalid_argument(format!("Tensor at index '{index}' for key '{key}' has already been removed."))
        })
    };
    scratch::collected_ok(indices.iter().map(part))
}

impl Area {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn put(&self, key: i64, indices: &[usize], tensors: Vec<Tensor>) -> Result<()> {
        for pair in indices.windows(2) {
            ensure!(pair[0] < pair[1], InvalidArgument, "Indices are not strictly ordered");
        }
        ensure!(
            indices.len() == tensors.len(),
            InvalidArgument,
            "there are {} indices for {} tensors",
            indices.len(),
            tensors.len()
        );
        if let Some(index) = indices.iter().find(|&&index| index >= self.components) {
            let count = self.components;
            kernlink::bail!(InvalidArgument, "Index '{index}' for key '{key}' was out of bounds '{count}'.");
        }
        let bytes = bytes_of(&tensors);
        self.limits.ensure_fits(bytes)?;
        let attempt = || {
            let mut state = self.lock();
            if !self.limits.have_room(state.complete.len(), state.bytes, bytes) {
                return None;
            }
            if let Err(error) = state.make_room() {
                return Some(Err(error));
            }
            let mut parts = state.incomplete.remove(&key).unwrap_or_else(|| vec![None; self.components]);
            let taken = indices.iter().find(|&&index| parts[index].is_some());
            let result = match taken {
                Some(index) => {
                    let message = format!("The tensor for index '{index}' for key '{key}' was already initialized.");
                    Err(Error::invalid_argument(message))
                }
                None => {
                    for (&index, tensor) in indices.iter().zip(&tensors) {
                        parts[index] = Some(tensor.clone());
                    }
                    state.bytes += bytes;
                    Ok(())
                }
            };
            if parts.iter().any(Option::is_none) {
                state.incomplete.insert(key, parts);
            } else if state.complete.insert(key, parts).is_none() {
                state.order.push(Reverse(key));
            }
            Some(result)
        };
        let result = self.changed.until(attempt).await;
        self.changed.wake_all();
        result
    }

    /// The components at `indices` of the element with this key, or with the lowest one, once it is complete.
    async fn get(&self, key: Option<i64>, indices: &[usize], stay: bool) -> Result<(i64, Vec<Tensor>)> {
        let attempt = || {
            let mut state = self.lock();
            let key = key.or_else(|| state.lowest())?;
            let parts = state.complete.get_mut(&key)?;
            let picked = match pick(parts, key, indices, stay) {
                Ok(picked) => picked,
                Err(error) => return Some(Err(error)),
            };
            if !stay {
                let is_empty = parts.iter().all(Option::is_none);
                state.bytes -= bytes_of(&picked);
                if is_empty {
                    state.complete.remove(&key);
                }
            }
            Some(Ok((key, picked)))
        };
        let result = self.changed.until(attempt).await;
        if !stay {
            self.changed.wake_all();
        }
        result
    }

    fn clear(&self) {
        let state = std::mem::take(&mut *self.lock());
        drop(state);
        self.changed.wake_all();
    }
}

impl Resource for Area {
    fn type_name() -> &'static str {
        "tensorflow::StagingMap"
    }

    fn debug_string(&self) -> String {
        format!("StagingMap of {} elements", self.lock().complete.len())
    }

    fn memory_used(&self) -> usize {
        self.lock().bytes
    }
}

fn key_at(ctx: &RawContext<'_>, input: usize) -> Result<i64> {
    let key = ctx.input_at(input)?;
    ensure!(key.rank() == 0, InvalidArgument, "key must be an int64 scalar, but got shape {}", key.shape());
    key.to_scalar::<i64>()
}

fn indices_at(ctx: &RawContext<'_>, input: usize) -> Result<Vec<usize>> {
    let indices = ctx.input_at(input)?;
    ensure!(indices.rank() == 1, InvalidArgument, "indices must be a vector, but got shape {}", indices.shape());
    let index = |&index: &i32| {
        usize::try_from(index).map_err(|_| Error::invalid_argument(format!("Index '{index}' was out of bounds")))
    };
    scratch::collected_ok(indices.as_slice::<i32>()?.iter().map(index))
}

struct MapKernel {
    area: NamedResource<Area>,
    limits: Limits,
    components: usize,
}

impl MapKernel {
    fn area(&self) -> Result<Arc<Area>> {
        let (limits, components) = (self.limits, self.components);
        self.area.get(|| Ok(Area { limits, components, state: Mutex::default(), changed: Waiters::new() }))
    }
}

impl KernelState for MapKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let dtypes: Vec<DataType> = ctx.attrs.required("dtypes")?;
        Ok(Self { area: NamedResource::with_node_name(ctx)?, limits: Limits::new(ctx)?, components: dtypes.len() })
    }
}

#[register_kernel(device = Cpu, op = [ops::MapStage, ops::OrderedMapStage])]
async fn put(kernel: &MapKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (key, indices) = (key_at(ctx, 0)?, indices_at(ctx, 1)?);
    let tensors = (2..ctx.num_inputs()).map(|index| ctx.input_at(index).cloned()).collect::<Result<Vec<_>>>()?;
    kernel.area()?.put(key, &indices, tensors).await
}

#[register_kernel(device = Cpu, op = [ops::MapPeek, ops::OrderedMapPeek])]
async fn peek(kernel: &MapKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    get(kernel, ctx, true).await
}

#[register_kernel(device = Cpu, op = [ops::MapUnstage, ops::OrderedMapUnstage])]
async fn unstage(kernel: &MapKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    get(kernel, ctx, false).await
}

async fn get(kernel: &MapKernel, ctx: &mut RawContext<'_>, stay: bool) -> Result<()> {
    let (key, indices) = (key_at(ctx, 0)?, indices_at(ctx, 1)?);
    let (_, tensors) = kernel.area()?.get(Some(key), &indices, stay).await?;
    set_outputs(ctx, 0, tensors)
}

#[register_kernel(device = Cpu, op = [ops::MapUnstageNoKey, ops::OrderedMapUnstageNoKey])]
async fn unstage_any(kernel: &MapKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let indices = indices_at(ctx, 0)?;
    let (key, tensors) = kernel.area()?.get(None, &indices, false).await?;
    ctx.set_output_at(0, Tensor::from(key))?;
    set_outputs(ctx, 1, tensors)
}

#[register_kernel(device = Cpu, op = [ops::MapSize, ops::OrderedMapSize])]
fn size(kernel: &MapKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let size = kernel.area()?.lock().complete.len() as i32;
    ctx.set_output_at(0, Tensor::from(size))
}

#[register_kernel(device = Cpu, op = [ops::MapIncompleteSize, ops::OrderedMapIncompleteSize])]
fn incomplete_size(kernel: &MapKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let size = kernel.area()?.lock().incomplete.len() as i32;
    ctx.set_output_at(0, Tensor::from(size))
}

#[register_kernel(device = Cpu, op = [ops::MapClear, ops::OrderedMapClear])]
fn clear(kernel: &MapKernel, _: &mut RawContext<'_>) -> Result<()> {
    kernel.area()?.clear();
    Ok(())
}
