//! Elements of the same key.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Code, Error, Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Spec, UNKNOWN, input_dataset, to_tensor};
use crate::function::{Captured, Closure};
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};
use crate::window::Elements;

/// The state of kernels with several functions.
struct Functions {
    spec: Spec,
    functions: Vec<(&'static str, Arc<Captured>)>,
}

impl Functions {
    fn of(ctx: &RawConstruction<'_>, attrs: &[(&'static str, &'static str)]) -> Result<Functions> {
        let function = |&(attr, captures): &(&str, &'static str)| Ok((captures, Captured::new(ctx, attr)?));
        Ok(Functions { spec: Spec::of(ctx)?, functions: attrs.iter().map(function).collect::<Result<_>>()? })
    }

    /// The functions with what they captured.
    fn closures<const N: usize>(&self, ctx: &RawContext<'_>) -> Result<[Closure; N]> {
        let closures = self.functions.iter().map(|(captures, function)| Closure::new(function, ctx, captures));
        let closures: Vec<Closure> = closures.collect::<Result<_>>()?;
        closures.try_into().map_err(|_| Error::internal("the kernel has other functions"))
    }
}

struct WindowFunctions(Functions);

impl KernelState for WindowFunctions {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let attrs = [
            ("key_func", "key_func_other_arguments"),
            ("reduce_func", "reduce_func_other_arguments"),
            ("window_size_func", "window_size_func_other_arguments"),
        ];
        Functions::of(ctx, &attrs).map(Self)
    }
}

/// Reduces windows of the elements of a key, to a dataset each.
struct GroupByWindow {
    key: Closure,
    reduce: Closure,
    size: Closure,
    /// That of the windows.
    spec: Spec,
}

#[derive(Default)]
struct Groups {
    /// The elements of the keys, and how many make a window.
    groups: BTreeMap<i64, (i64, Vec<Element>)>,
    /// A reduced window.
    open: Option<Window>,
}

struct Window {
    key: i64,
    elements: Vec<Element>,
    dataset: Arc<dyn Dataset>,
    iterator: Box<dyn DatasetIterator>,
}

impl GroupByWindow {
    /// Reduces the elements of a key.
    async fn reduced(&self, key: i64, elements: Vec<Element>, cx: &Cx) -> Result<Window> {
        let window = Elements::new(&self.spec, scratch::copied(&elements)?);
        let reduced = self.reduce.dataset(vec![Tensor::scalar(key), to_tensor(Arc::new(window))], cx).await;
        let dataset = reduced.map_err(|error| match error.code() {
            // As in TensorFlow, for this function alone. That this call has no more time is no error of the function's.
            code if code != Code::OutOfRange && cx.check().is_ok() => Error::internal(format!(
                "Got error code {code} and message {{{}}} from running the function that reduces a window",
                error.message()
            )),
            _ => error,
        })?;
        let iterator = dataset.clone().iterator(&cx.within(&dataset)?)?;
        Ok(Window { key, elements, dataset, iterator })
    }

    async fn open(&self, groups: &mut Groups, key: i64, cx: &Cx) -> Result<()> {
        if let Some((_, elements)) = groups.groups.remove(&key) {
            groups.open = Some(self.reduced(key, elements, cx).await?);
        }
        Ok(())
    }
}

impl Transform for GroupByWindow {
    type State = Groups;

    fn begin(&self, _: &Cx) -> Result<Groups> {
        Ok(Groups::default())
    }

    async fn next<'a>(&'a self, groups: &'a mut Groups, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        loop {
            cx.go_on().await?;
            if let Some(open) = &mut groups.open {
                match open.iterator.next(&cx.within(&open.dataset)?).await.map_err(Error::before_end)? {
                    Some(element) => return Ok(Some(element)),
                    None => groups.open = None,
                }
            }
            match input.next_then_end(cx).await? {
                Some(element) => {
                    let key = self.key.integer(element.clone(), "key_func", cx).await?;
                    let (size, elements) = match groups.groups.entry(key) {
                        Entry::Occupied(group) => group.into_mut(),
                        Entry::Vacant(group) => {
                            let size = self.size.integer(vec![Tensor::scalar(key)], "window_size_func", cx).await?;
                            ensure!(
                                size > 0,
                                InvalidArgument,
                                "Window size must be greater than zero, but got {size} for key {key}."
                            );
                            group.insert((size, Vec::new()))
                        }
                    };
                    scratch::push(elements, element)?;
                    if elements.len() as u64 >= *size as u64 {
                        self.open(groups, key, cx).await?;
                    }
                }
                None => match groups.groups.keys().next().copied() {
                    Some(key) => self.open(groups, key, cx).await?,
                    None => return Ok(None),
                },
            }
        }
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }

    async fn save<'a>(&'a self, groups: &'a mut Groups, saved: &'a mut Saved) -> Result<()> {
        saved.set("groups", groups.groups.len() as i64);
        for (index, (key, (size, elements))) in groups.groups.iter().enumerate() {
            let saved = saved.part("group", index);
            saved.set("key", *key);
            saved.set("size", *size);
            saved.set_elements("elements", scratch::copied(elements)?);
        }
        if let Some(open) = &mut groups.open {
            let saved = saved.part("open", 0);
            saved.set("key", open.key);
            saved.set_elements("elements", scratch::copied(&open.elements)?);
            open.iterator.save(saved.part("iterator", 0)).await?;
        }
        Ok(())
    }

    async fn restore<'a>(
        &'a self,
        groups: &'a mut Groups,
        _: &'a mut Input,
        saved: &'a Saved,
        cx: &'a Cx,
    ) -> Result<()> {
        for index in 0..saved.get("groups")? as usize {
            let saved = saved.required_part("group", index)?;
            let elements = scratch::copied(saved.elements("elements")?)?;
            groups.groups.insert(saved.get("key")?, (saved.get("size")?, elements));
        }
        if let Some(saved) = saved.saved_part("open", 0) {
            let (key, elements) = (saved.get("key")?, scratch::copied(saved.elements("elements")?)?);
            let mut open = self.reduced(key, elements, cx).await?;
            open.iterator.restore(saved.required_part("iterator", 0)?, cx).await?;
            groups.open = Some(open);
        }
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::GroupByWindowDataset, ops::ExperimentalGroupByWindowDataset])]
fn group_by_window(state: &WindowFunctions, ctx: &mut RawContext<'_>) -> Result<()> {
    let [key, reduce, size] = state.0.closures(ctx)?;
    let spec = input_dataset(ctx, 0)?.head().spec.clone();
    set_transformed(ctx, &state.0.spec, GroupByWindow { key, reduce, size, spec })
}

struct ReducerFunctions(Functions);

impl KernelState for ReducerFunctions {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let attrs = [
            ("key_func", "key_func_other_arguments"),
            ("init_func", "init_func_other_arguments"),
            ("reduce_func", "reduce_func_other_arguments"),
            ("finalize_func", "finalize_func_other_arguments"),
        ];
        Functions::of(ctx, &attrs).map(Self)
    }
}

/// Reduces all elements of a key to one.
struct GroupByReducer {
    key: Closure,
    init: Closure,
    reduce: Closure,
    finalize: Closure,
}

/// The states of the keys, and once there are no more elements, the keys in their order.
#[derive(Default)]
struct Reduced {
    states: BTreeMap<i64, Element>,
    is_complete: bool,
    left: VecDeque<i64>,
}

impl Transform for GroupByReducer {
    type State = Reduced;

    fn begin(&self, _: &Cx) -> Result<Reduced> {
        Ok(Reduced::default())
    }

    async fn next<'a>(&'a self, reduced: &'a mut Reduced, input: &'a mut Input, cx: &'a Cx) -> Result<Option<Element>> {
        while !reduced.is_complete {
            cx.go_on().await?;
            let element = match input.next_then_end(cx).await {
                Ok(Some(element)) => element,
                Ok(None) => {
                    reduced.is_complete = true;
                    reduced.left = reduced.states.keys().copied().collect();
                    break;
                }
                Err(error) => {
                    // As in TensorFlow an error that comes with the end leaves nothing.
                    if input.is_over() {
                        *reduced = Reduced { is_complete: true, ..Reduced::default() };
                    }
                    return Err(error);
                }
            };
            let key = self.key.integer(element.clone(), "key_func", cx).await?;
            let state = match reduced.states.get(&key) {
                Some(state) => state.clone(),
                None => self.init.call(vec![Tensor::scalar(key)], cx).await?,
            };
            let state = self.reduce.call(state.into_iter().chain(element).collect(), cx).await?;
            reduced.states.insert(key, state);
        }
        let Some(key) = reduced.left.pop_front() else { return Ok(None) };
        let state = reduced.states.remove(&key).unwrap_or_default();
        self.finalize.call(state, cx).await.map(Some)
    }

    fn cardinality(&self, _: i64) -> i64 {
        UNKNOWN
    }

    async fn save<'a>(&'a self, reduced: &'a mut Reduced, saved: &'a mut Saved) -> Result<()> {
        saved.set("is_complete", i64::from(reduced.is_complete));
        saved.set("states", reduced.states.len() as i64);
        for (index, (key, state)) in reduced.states.iter().enumerate() {
            let saved = saved.part("state", index);
            saved.set("key", *key);
            saved.set_elements("state", vec![state.clone()]);
        }
        Ok(())
    }

    async fn restore<'a>(
        &'a self,
        reduced: &'a mut Reduced,
        _: &'a mut Input,
        saved: &'a Saved,
        _: &'a Cx,
    ) -> Result<()> {
        for index in 0..saved.get("states")? as usize {
            let saved = saved.required_part("state", index)?;
            reduced.states.insert(saved.get("key")?, saved.element("state")?);
        }
        reduced.is_complete = saved.get("is_complete")? != 0;
        if reduced.is_complete {
            reduced.left = reduced.states.keys().copied().collect();
        }
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::GroupByReducerDataset, ops::ExperimentalGroupByReducerDataset])]
fn group_by_reducer(state: &ReducerFunctions, ctx: &mut RawContext<'_>) -> Result<()> {
    let [key, init, reduce, finalize] = state.0.closures(ctx)?;
    set_transformed(ctx, &state.0.spec, GroupByReducer { key, init, reduce, finalize })
}
