//! Datasets that graphs make which come as values, and the functions that come with these.

use std::sync::{Arc, Weak};

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::proto::{FunctionDef, GraphDef, Message as _, NodeDef};
use kernlink::runtime::{BroughtFunctions, GraphFunction, graph_function};
use kernlink::step::{BoxFuture, FunctionLibrary};
use kernlink::tensor::{Tensor, Variant, scratch};
use kernlink::{Error, Result, bail};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, dataset_of, scalar, to_tensor};
use crate::saved::Saved;

/// Where graphs that come as values are run.
pub(crate) struct Place {
    library: Weak<dyn FunctionLibrary>,
    device: String,
}

impl Place {
    pub(crate) fn of(ctx: &RawConstruction<'_>) -> Result<Place> {
        Ok(Place { library: ctx.library()?, device: ctx.device_name().to_owned() })
    }

    /// The dataset that an output of a graph is, which is fed these.
    pub(crate) async fn dataset(
        &self,
        ctx: &RawContext<'_>,
        graph: GraphDef,
        output: &str,
        feeds: Vec<(String, Tensor)>,
    ) -> Result<Tensor> {
        let library = self.library.upgrade().ok_or_else(|| Error::failed_precondition("the session is gone"))?;
        let names: Vec<&str> = feeds.iter().map(|(name, _)| &**name).collect();
        let GraphFunction { function, brought } = graph_function(&*library, graph, &names, output, &self.device)?;
        let values = feeds.into_iter().map(|(_, value)| value).collect();
        let results = ctx.call(&function, values).await?;
        let [result] = &results[..] else { bail!(Internal, "a graph gives one dataset") };
        match brought {
            None => Ok(result.clone()),
            Some(brought) => Brought::of(dataset_of(result)?, &brought),
        }
    }
}

impl KernelState for Place {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Place::of(ctx)
    }
}

#[register_kernel(device = Cpu)]
async fn from_graph(state: &Place, ctx: &mut KernelContext<'_, ops::DatasetFromGraph>) -> Result<()> {
    let text: TString = scalar(ctx, "graph_def")?;
    let graph = decoded(text.as_bytes())?;
    let output = output_of(&graph.node).to_owned();
    let dataset = state.dataset(ctx, without_retvals(graph), &output, Vec::new()).await?;
    ctx.set_output_at(0, dataset)
}

/// The graph that a text holds. Nobody can refuse the memory that this takes, so that it is asked for before: a function of two
/// bytes may be the one for which a list grows to twice its size.
fn decoded(text: &[u8]) -> Result<GraphDef> {
    drop(scratch::room::<FunctionDef>(text.len())?);
    GraphDef::decode(text).map_err(|_| Error::invalid_argument("Could not parse GraphDef"))
}

/// What the last `_Retval` takes.
fn output_of(nodes: &[NodeDef]) -> &str {
    let mut retvals = nodes.iter().rev().filter(|node| node.op == "_Retval");
    retvals.next().and_then(|node| node.input.first()).map_or("", |input| input)
}

/// A graph without what only says which output counts.
pub(crate) fn without_retvals(mut graph: GraphDef) -> GraphDef {
    graph.node.retain(|node| node.op != "_Retval");
    graph
}

/// A dataset whose functions came with the graph that made it.
struct Brought {
    head: Head,
    dataset: Arc<dyn Dataset>,
    brought: Arc<BroughtFunctions>,
}

impl Brought {
    /// The dataset in a tensor, with the functions that it needs.
    fn of(dataset: Arc<dyn Dataset>, brought: &Arc<BroughtFunctions>) -> Result<Tensor> {
        let head = Head::above(&dataset.head().spec, [&dataset])?;
        Ok(to_tensor(Arc::new(Brought { head, dataset, brought: brought.clone() })))
    }
}

/// An element of a brought dataset: the datasets in it, which may call the same functions, keep these too.
fn element(element: Element, brought: &Arc<BroughtFunctions>) -> Result<Element> {
    let keep = |variant: &Variant| -> Result<Variant> {
        match dataset_of(&Tensor::scalar(variant.clone())) {
            Ok(dataset) => Ok(Brought::of(dataset, brought)?.as_slice::<Variant>()?[0].clone()),
            Err(_) => Ok(variant.clone()),
        }
    };
    let component = |tensor: Tensor| -> Result<Tensor> {
        if tensor.dtype() != DataType::Variant || tensor.reference().is_some() {
            return Ok(tensor);
        }
        let variants = tensor.as_slice::<Variant>()?;
        let mut kept = scratch::room(variants.len())?;
        for variant in variants {
            kept.push(keep(variant)?);
        }
        Tensor::from_vec(tensor.shape().clone(), kept)
    };
    element.into_iter().map(component).collect()
}

impl Dataset for Brought {
    fn head(&self) -> &Head {
        &self.head
    }

    fn origin(&self) -> Option<&Arc<dyn Dataset>> {
        Some(&self.dataset)
    }

    fn counted(&self) -> i64 {
        self.dataset.cardinality()
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let iterator = self.dataset.clone().iterator(cx)?;
        let has_datasets = self.head.spec.dtypes.contains(&DataType::Variant);
        Ok(Box::new(BroughtIterator { iterator, has_datasets, brought: self.brought.clone() }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        vec![self.dataset.clone()]
    }

    fn get<'a>(&'a self, index: i64, cx: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        let made = self.dataset.get(index, cx)?;
        Some(Box::pin(async move { element(made.await?, &self.brought) }))
    }
}

/// An iterator that keeps the functions that it calls. They go after it.
struct BroughtIterator {
    iterator: Box<dyn DatasetIterator>,
    /// Whether elements may be or have datasets.
    has_datasets: bool,
    brought: Arc<BroughtFunctions>,
}

impl DatasetIterator for BroughtIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        if !self.has_datasets {
            return self.iterator.next(cx);
        }
        Box::pin(async move {
            match self.iterator.next(cx).await? {
                Some(made) => Ok(Some(element(made, &self.brought)?)),
                None => Ok(None),
            }
        })
    }

    fn pass(&mut self, count: i64) -> i64 {
        self.iterator.pass(count)
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        self.iterator.save(saved)
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        self.iterator.restore(saved, cx)
    }
}
