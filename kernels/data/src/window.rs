//! Windows that move over a dataset.

use std::collections::VecDeque;
use std::sync::Arc;

use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::step::BoxFuture;
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::batch::stacked;
use crate::context::Cx;
use crate::dataset::{
    Dataset, DatasetIterator, Element, Head, INFINITE, Spec, UNKNOWN, input_dataset, scalar, set_dataset, tensors,
    to_tensor,
};
use crate::saved::Saved;
use crate::transform::{Input, Transform, set_transformed};

/// A dataset of elements that are there.
pub(crate) struct Elements {
    head: Head,
    elements: Arc<[Element]>,
}

impl Elements {
    pub(crate) fn new(spec: &Spec, elements: Vec<Element>) -> Elements {
        Elements { head: Head::source(spec), elements: elements.into() }
    }
}

/// An iterator over elements that are there.
struct ElementsIterator {
    elements: Arc<[Element]>,
    at: usize,
}

impl Dataset for Elements {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.elements.len() as i64
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        Ok(Box::new(ElementsIterator { elements: self.elements.clone(), at: 0 }))
    }

    fn get<'a>(&'a self, index: i64, _: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        let element = self.elements.get(usize::try_from(index).ok()?)?.clone();
        Some(Box::pin(std::future::ready(Ok(element))))
    }
}

impl DatasetIterator for ElementsIterator {
    fn next<'a>(&'a mut self, _: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        let element = self.elements.get(self.at).cloned();
        self.at += usize::from(element.is_some());
        Box::pin(std::future::ready(Ok(element)))
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        saved.set("at", self.at as i64);
        Box::pin(std::future::ready(Ok(())))
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.at = saved.get("at")? as usize;
            Ok(())
        })
    }
}

/// Where windows are.
#[derive(Clone, Copy)]
struct Windows {
    size: i64,
    shift: i64,
    stride: i64,
    drops_remainder: bool,
}

impl Windows {
    fn new(size: i64, shift: i64, stride: i64, drops_remainder: bool) -> Result<Windows> {
        ensure!(size > 0, InvalidArgument, "Window size must be greater than zero.");
        ensure!(shift > 0, InvalidArgument, "Window shift must be greater than zero.");
        ensure!(stride > 0, InvalidArgument, "Window stride must be greater than zero.");
        Ok(Windows { size, shift, stride, drops_remainder })
    }

    /// From the first element of a window to its last.
    fn span(&self) -> i64 {
        (self.size - 1).saturating_mul(self.stride).saturating_add(1)
    }

    fn cardinality(&self, input: i64) -> i64 {
        match input {
            INFINITE | UNKNOWN => input,
            known if self.drops_remainder && known < self.span() => 0,
            known if self.drops_remainder => (known - self.span()) / self.shift + 1,
            known => known / self.shift + i64::from(known % self.shift != 0),
        }
    }
}

/// What is made of the elements of a window.
enum Form {
    /// A dataset of each component, whose elements are such.
    Datasets(Vec<Spec>),
    /// The components, stacked along a new first dimension.
    Stacked,
}

/// Windows of the elements of a dataset.
struct Window {
    windows: Windows,
    form: Form,
}

impl Window {
    /// The next element of the input. What is wrong with it is the window's that has it if windows are datasets, and else that of who
    /// asks for a window.
    async fn element(&self, input: &mut Input, cx: &Cx) -> Result<Option<Result<Element>>> {
        cx.go_on().await?;
        if matches!(self.form, Form::Stacked) {
            return Ok(input.next(cx).await?.map(Ok));
        }
        let element = input.next_or_end(cx).await.transpose();
        if matches!(element, Some(Err(_))) {
            // That this call has no more time is nobody else's error.
            cx.go_on().await?;
        }
        Ok(element)
    }

    /// The elements of the next window.
    async fn window(
        &self,
        buffer: &mut VecDeque<Result<Element>>,
        input: &mut Input,
        cx: &Cx,
    ) -> Result<Option<Vec<Element>>> {
        let Windows { size, shift, drops_remainder, .. } = self.windows;
        let (span, was_over) = (self.windows.span() as u64, input.is_over());
        while (buffer.len() as u64) < span && !input.is_over() {
            buffer.extend(self.element(input, cx).await?);
        }
        let ends = input.is_over() && !was_over;
        if buffer.is_empty() || (drops_remainder && (buffer.len() as u64) < span) {
            return Ok(None);
        }
        let stride = usize::try_from(self.windows.stride).unwrap_or(usize::MAX);
        let window = scratch::collected_ok(buffer.iter().step_by(stride).take(size as usize).cloned());
        let there = buffer.len() as i64;
        if shift >= there {
            for _ in there..shift {
                if input.is_over() {
                    break;
                }
                // What is wrong with an element that is left out is no window's.
                _ = self.element(input, cx).await?;
            }
            buffer.clear();
        } else {
            buffer.drain(..shift as usize);
        }
        window.map(Some).map_err(|error| if ends { error.at_end() } else { error })
    }
}

impl Transform for Window {
    /// What was read and may be in a window that follows.
    type State = VecDeque<Result<Element>>;

    fn passes_end(&self) -> bool {
        matches!(self.form, Form::Datasets(_))
    }

    fn begin(&self, _: &Cx) -> Result<Self::State> {
        Ok(VecDeque::new())
    }

    async fn next<'a>(
        &'a self,
        buffer: &'a mut Self::State,
        input: &'a mut Input,
        cx: &'a Cx,
    ) -> Result<Option<Element>> {
        let Some(window) = self.window(buffer, input, cx).await? else { return Ok(None) };
        let Form::Datasets(specs) = &self.form else { return stacked(&window).map(Some) };
        let component = |(index, spec): (usize, &Spec)| {
            let part = window.iter().map(|element| Ok(element.get(index).cloned().into_iter().collect()));
            Ok(to_tensor(Arc::new(Elements::new(spec, scratch::collected_ok(part)?))))
        };
        specs.iter().enumerate().map(component).collect::<Result<Element>>().map(Some)
    }

    fn cardinality(&self, input: i64) -> i64 {
        self.windows.cardinality(input)
    }

    async fn save<'a>(&'a self, buffer: &'a mut Self::State, saved: &'a mut Saved) -> Result<()> {
        saved.set_results("buffer", scratch::collected(buffer.iter().map(|result| result.clone().map(Some)))?);
        Ok(())
    }

    async fn restore<'a>(
        &'a self,
        buffer: &'a mut Self::State,
        _: &'a mut Input,
        saved: &'a Saved,
        _: &'a Cx,
    ) -> Result<()> {
        *buffer = saved.results("buffer")?.iter().cloned().filter_map(Result::transpose).collect();
        Ok(())
    }
}

#[register_kernel(device = Cpu, cheap)]
fn window(spec: &Spec, ctx: &mut KernelContext<'_, ops::WindowDataset>) -> Result<()> {
    let (size, shift, stride) = (scalar(ctx, "size")?, scalar(ctx, "shift")?, scalar(ctx, "stride")?);
    let windows = Windows::new(size, shift, stride, scalar(ctx, "drop_remainder")?)?;
    let input = input_dataset(ctx, 0)?;
    let Spec { dtypes, shapes, .. } = &input.head().spec;
    let components = dtypes.iter().zip(shapes);
    let specs = components.map(|(dtype, shape)| Spec::new(vec![*dtype], vec![shape.clone()])).collect();
    set_transformed(ctx, spec, Window { windows, form: Form::Datasets(specs) })
}

/// A dataset's spec, and whether windows that are not full are left out.
struct SlidingKernel {
    spec: Spec,
    drops_remainder: bool,
}

impl KernelState for SlidingKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let drops_remainder = match ctx.attrs.get("drop_remainder") {
            Some(_) => ctx.attrs.required("drop_remainder")?,
            None => true,
        };
        Ok(Self { spec: Spec::of(ctx)?, drops_remainder })
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::SlidingWindowDataset, ops::ExperimentalSlidingWindowDataset])]
fn sliding_window(state: &SlidingKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let (size, shift) = (scalar(ctx, "window_size")?, scalar(ctx, "window_shift")?);
    let windows = Windows::new(size, shift, scalar(ctx, "window_stride")?, state.drops_remainder)?;
    set_transformed(ctx, &state.spec, Window { windows, form: Form::Stacked })
}

/// The elements that are given component by component.
#[register_kernel(device = Cpu, cheap)]
fn window_op(spec: &Spec, ctx: &mut KernelContext<'_, ops::WindowOp>) -> Result<()> {
    let inputs = tensors(ctx, "inputs")?;
    let components = spec.dtypes.len();
    ensure!(
        components > 0 && inputs.len() % components == 0,
        InvalidArgument,
        "the number of `inputs` ({}) must be a multiple of that of components ({components})",
        inputs.len()
    );
    let count = inputs.len() / components;
    let element = |index: usize| (0..components).map(|component| inputs[component * count + index].clone()).collect();
    let elements = (0..count).map(element).collect();
    set_dataset(ctx, Elements::new(spec, elements))
}

/// The elements that are given one after the other.
#[register_kernel(device = Cpu, cheap)]
fn list(spec: &Spec, ctx: &mut KernelContext<'_, ops::ListDataset>) -> Result<()> {
    let inputs = tensors(ctx, "tensors")?;
    let components = spec.dtypes.len();
    ensure!(
        components > 0 && inputs.len() % components == 0,
        InvalidArgument,
        "the number of `tensors` ({}) must be a multiple of that of components ({components})",
        inputs.len()
    );
    let elements = scratch::collected(inputs.chunks_exact(components).map(<[_]>::to_vec))?;
    for element in &elements {
        let given: Vec<_> = element.iter().map(kernlink::tensor::Tensor::dtype).collect();
        spec.ensure_dtypes(&given)?;
    }
    set_dataset(ctx, Elements::new(spec, elements))
}
