//! Datasets that are made of several others.

use std::sync::Arc;

use kernlink::dtype::DataType;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::step::BoxFuture;
use kernlink::{Error, Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, INFINITE, Spec, UNKNOWN, input_dataset, set_dataset};
use crate::saved::Saved;
use crate::transform::Input;

/// What is made of several datasets.
enum How {
    /// One element of each makes one.
    Zip,
    /// One after the other.
    Concatenate,
    /// The first says from which of the others.
    Directed { stops_at_empty: bool },
}

struct Several {
    head: Head,
    inputs: Vec<Arc<dyn Dataset>>,
    how: How,
}

impl Several {
    fn new(spec: &Spec, inputs: Vec<Arc<dyn Dataset>>, how: How) -> Result<Several> {
        Ok(Several { head: Head::above(spec, &inputs)?, inputs, how })
    }
}

struct SeveralIterator {
    dataset: Arc<Several>,
    inputs: Vec<Input>,
    is_over: bool,
}

impl Dataset for Several {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        let mut all = self.inputs.iter().map(|input| input.cardinality());
        match self.how {
            How::Zip => all.fold(INFINITE, |least, next| match (least, next) {
                (INFINITE, other) | (other, INFINITE) => other,
                (UNKNOWN, _) | (_, UNKNOWN) => UNKNOWN,
                (least, next) => least.min(next),
            }),
            How::Concatenate => all.fold(0, |sum: i64, next| match (sum, next) {
                (INFINITE, _) | (_, INFINITE) => INFINITE,
                (UNKNOWN, _) | (_, UNKNOWN) => UNKNOWN,
                (sum, next) => sum.saturating_add(next),
            }),
            How::Directed { .. } => {
                // That of a selector that ends is not asked for, as with TensorFlow.
                all.next();
                if all.any(|cardinality| cardinality == INFINITE) { INFINITE } else { UNKNOWN }
            }
        }
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let input = |(index, input): (usize, &Arc<dyn Dataset>)| match self.how {
            How::Concatenate if index > 0 => Ok(Input::later(input)),
            _ => Input::new(input, cx),
        };
        let inputs = self.inputs.iter().enumerate().map(input).collect::<Result<_>>()?;
        Ok(Box::new(SeveralIterator { dataset: self, inputs, is_over: false }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        self.inputs.clone()
    }

    fn get<'a>(&'a self, index: i64, cx: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        match self.how {
            How::Zip => {
                let parts: Vec<_> = self.inputs.iter().map(|input| input.get(index, cx)).collect::<Option<_>>()?;
                Some(Box::pin(async move {
                    let mut element = Vec::new();
                    for part in parts {
                        element.extend(part.await?);
                    }
                    Ok(element)
                }))
            }
            How::Concatenate => {
                let mut left = index;
                for input in &self.inputs {
                    let count = input.cardinality();
                    if count < 0 || left < count {
                        return input.get(left, cx);
                    }
                    left -= count;
                }
                None
            }
            How::Directed { .. } => None,
        }
    }
}

impl SeveralIterator {
    async fn zip(&mut self, cx: &Cx) -> Result<Option<Element>> {
        let (mut whole, mut failed, mut ends) = (Vec::new(), None, false);
        // All of them go on, also if one has failed, so that they stay in step.
        // Once one is at its end, those behind it are asked once more: a cache behind it may be at its end, too, and is
        // complete only then.
        for input in &mut self.inputs {
            match input.next(cx).await {
                Ok(Some(element)) if !ends => whole.extend(element),
                Ok(None) => ends = true,
                Err(error) if !ends => {
                    ends = error.is_at_end();
                    failed.get_or_insert(error);
                }
                Ok(Some(_)) | Err(_) => {}
            }
        }
        self.is_over = ends;
        match failed {
            Some(error) => Err(if ends { error.at_end() } else { error }),
            None => Ok((!ends).then_some(whole)),
        }
    }

    async fn concatenate(&mut self, cx: &Cx) -> Result<Option<Element>> {
        for input in &mut self.inputs {
            if let Some(element) = input.next(cx).await? {
                return Ok(Some(element));
            }
        }
        Ok(None)
    }

    async fn directed(&mut self, stops_at_empty: bool, cx: &Cx) -> Result<Option<Element>> {
        let Some((selector, inputs)) = self.inputs.split_first_mut() else { return Ok(None) };
        loop {
            cx.go_on().await?;
            let Some(selected) = selector.next(cx).await? else { break };
            let index = match selected.as_slice() {
                [index] if index.dtype() == DataType::Int64 && index.rank() == 0 => index.to_scalar::<i64>()?,
                _ => -1,
            };
            let count = inputs.len();
            let input = usize::try_from(index).ok().and_then(|index| inputs.get_mut(index));
            let Some(input) = input else {
                kernlink::bail!(
                    InvalidArgument,
                    "Selector index out of range: {index} where there are {count} datasets"
                );
            };
            if let Some(element) = input.next(cx).await.map_err(Error::before_end)? {
                return Ok(Some(element));
            }
            if stops_at_empty || inputs.iter().all(Input::is_over) {
                break;
            }
        }
        self.is_over = true;
        Ok(None)
    }
}

impl DatasetIterator for SeveralIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            if self.is_over {
                return Ok(None);
            }
            match self.dataset.how {
                How::Zip => self.zip(cx).await,
                How::Concatenate => self.concatenate(cx).await,
                How::Directed { stops_at_empty } => self.directed(stops_at_empty, cx).await,
            }
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            saved.set("is_over", i64::from(self.is_over));
            for (index, input) in self.inputs.iter_mut().enumerate() {
                input.save(saved.part("of", index)).await?;
            }
            Ok(())
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.is_over = saved.get("is_over")? != 0;
            for (index, input) in self.inputs.iter_mut().enumerate() {
                input.restore(saved.required_part("of", index)?, cx).await?;
            }
            Ok(())
        })
    }
}

#[register_kernel(device = Cpu, cheap)]
fn zip(spec: &Spec, ctx: &mut KernelContext<'_, ops::ZipDataset>) -> Result<()> {
    let inputs = (0..ctx.num_inputs()).map(|index| input_dataset(ctx, index)).collect::<Result<_>>()?;
    set_dataset(ctx, Several::new(spec, inputs, How::Zip)?)
}

#[register_kernel(device = Cpu, cheap)]
fn concatenate(spec: &Spec, ctx: &mut KernelContext<'_, ops::ConcatenateDataset>) -> Result<()> {
    let (first, second) = (input_dataset(ctx, 0)?, input_dataset(ctx, 1)?);
    ensure!(
        first.head().spec.dtypes == second.head().spec.dtypes,
        InvalidArgument,
        "input dataset and another dataset have different output_types"
    );
    set_dataset(ctx, Several::new(spec, vec![first, second], How::Concatenate)?)
}

struct DirectedKernel {
    spec: Spec,
    stops_at_empty: bool,
}

impl KernelState for DirectedKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let stops_at_empty = match ctx.attrs.get("stop_on_empty_dataset") {
            Some(_) => ctx.attrs.required("stop_on_empty_dataset")?,
            None => false,
        };
        Ok(Self { spec: Spec::of(ctx)?, stops_at_empty })
    }
}

#[register_kernel(device = Cpu, cheap, op = [
    ops::DirectedInterleaveDataset, ops::ExperimentalDirectedInterleaveDataset,
])]
fn directed_interleave(state: &DirectedKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let inputs = (0..ctx.num_inputs()).map(|index| input_dataset(ctx, index)).collect::<Result<Vec<_>>>()?;
    let selector = &inputs[0].head().spec;
    ensure!(
        selector.dtypes == [DataType::Int64],
        InvalidArgument,
        "The selector dataset must have a single component, an int64 scalar."
    );
    for input in inputs.iter().skip(2) {
        ensure!(
            input.head().spec.dtypes == inputs[1].head().spec.dtypes,
            InvalidArgument,
            "All datasets must have the same types of components."
        );
    }
    let how = How::Directed { stops_at_empty: state.stops_at_empty };
    set_dataset(ctx, Several::new(&state.spec, inputs, how)?)
}
