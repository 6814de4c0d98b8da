//! What datasets and iterators are, and how kernels take and give them.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use kernlink::attr::AttrValue;
use kernlink::dtype::{DataType, Element as TensorElement};
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::shape::PartialShape;
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, Variant, VariantValue};
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::tensors::listed;

use crate::context::Cx;
use crate::node::{Made, Node};
use crate::random::Seeds;
use crate::saved::Saved;

/// The components of an element.
pub(crate) type Element = Vec<Tensor>;

/// The cardinality of a dataset that does not end.
pub(crate) const INFINITE: i64 = -1;
/// The cardinality of a dataset of which nobody knows how many elements it has.
pub(crate) const UNKNOWN: i64 = -2;

/// How many datasets may be made of each other: their iterators call each other.
pub(crate) const MOST_NESTED: u32 = 500;

/// The dtypes and shapes of the components of an element.
#[derive(Clone)]
pub(crate) struct Spec {
    pub(crate) dtypes: Vec<DataType>,
    pub(crate) shapes: Vec<PartialShape>,
    /// The node whose attrs say so, if one makes datasets of such elements.
    node: Option<Arc<Node>>,
}

impl Spec {
    /// That of no node.
    pub(crate) fn new(dtypes: Vec<DataType>, shapes: Vec<PartialShape>) -> Spec {
        Spec { dtypes, shapes, node: None }
    }

    /// The same node's with other dtypes and shapes.
    pub(crate) fn with(&self, elements: Spec) -> Spec {
        Spec { node: self.node.clone(), ..elements }
    }

    /// The same, of a node that says this too.
    pub(crate) fn saying(&self, attrs: impl IntoIterator<Item = (&'static str, AttrValue)>) -> Spec {
        let said = |node: &Arc<Node>| {
            let mut node = Node { op: node.op.clone(), attrs: node.attrs.clone(), library: node.library.clone() };
            for (name, value) in attrs {
                node.attrs.insert(name, value);
            }
            Arc::new(node)
        };
        Spec { node: self.node.as_ref().map(said), ..self.clone() }
    }

    /// What attrs say.
    pub(crate) fn of(ctx: &RawConstruction<'_>) -> Result<Spec> {
        let dtypes = match ctx.attrs.get("output_types") {
            Some(_) => ctx.attrs.required("output_types")?,
            None => ctx.attrs.required("Toutput_types")?,
        };
        let shapes = ctx.attrs.required("output_shapes")?;
        Ok(Spec { dtypes, shapes, node: Node::of(ctx).map(Arc::new) })
    }

    /// Refuses elements that are other than this.
    pub(crate) fn ensure_accepts(&self, given: &Spec) -> Result<()> {
        self.ensure_dtypes(&given.dtypes)?;
        ensure!(
            self.shapes.len() == given.shapes.len(),
            InvalidArgument,
            "Number of components does not match: expected {} shapes but got {}.",
            self.shapes.len(),
            given.shapes.len()
        );
        for (index, (own, given)) in self.shapes.iter().zip(&given.shapes).enumerate() {
            ensure!(
                own.is_compatible(given),
                InvalidArgument,
                "Incompatible shapes at component {index}: expected {own} but got {given}."
            );
        }
        Ok(())
    }

    pub(crate) fn ensure_dtypes(&self, given: &[DataType]) -> Result<()> {
        ensure!(
            self.dtypes == given,
            InvalidArgument,
            "Data type mismatch: expected {} but got {}.",
            listed(&self.dtypes),
            listed(given)
        );
        Ok(())
    }
}

impl KernelState for Spec {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Spec::of(ctx)
    }
}

/// Refuses more datasets that are made of each other than iterators may call each other.
pub(crate) fn ensure_level(level: u32) -> Result<()> {
    ensure!(
        level <= MOST_NESTED,
        ResourceExhausted,
        "{level} datasets are made one of the other, and may be {MOST_NESTED}: make some of them of several at once"
    );
    Ok(())
}

/// What all datasets have.
pub(crate) struct Head {
    pub(crate) spec: Spec,
    /// How many datasets this one is made of, one of another.
    pub(crate) depth: u32,
    cardinality: OnceLock<i64>,
    /// The node whose kernel makes the dataset, if the kernel keeps it.
    node: Option<Arc<Node>>,
    /// Of what the dataset was made, if a node has made it.
    made: OnceLock<Made>,
}

impl Head {
    /// That of a dataset that is made of others.
    pub(crate) fn above<'d>(spec: &Spec, inputs: impl IntoIterator<Item = &'d Arc<dyn Dataset>>) -> Result<Head> {
        let depth = inputs.into_iter().map(|input| input.head().depth + 1).max().unwrap_or(0);
        ensure_level(depth)?;
        Ok(Head { depth, ..Head::source(spec) })
    }

    /// That of one that is made of no other.
    pub(crate) fn source(spec: &Spec) -> Head {
        let (cardinality, made) = (OnceLock::new(), OnceLock::new());
        // Who makes another dataset by this one's spec is another node.
        let Spec { dtypes, shapes, node } = spec.clone();
        Head { spec: Spec::new(dtypes, shapes), depth: 0, cardinality, node, made }
    }

    /// Of what the dataset was made; `None` for one that is no node's output, as a window is.
    pub(crate) fn made(&self) -> Option<&Made> {
        self.made.get()
    }
}

/// How elements are made.
pub(crate) trait Dataset: Send + Sync {
    fn head(&self) -> &Head;

    /// How many elements there are, or [`INFINITE`] or [`UNKNOWN`]: asked once.
    fn counted(&self) -> i64;

    /// How many elements there are, or [`INFINITE`] or [`UNKNOWN`].
    fn cardinality(&self) -> i64 {
        *self.head().cardinality.get_or_init(|| self.counted())
    }

    /// An iterator at the beginning.
    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>>;

    /// The datasets that it is made of.
    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        Vec::new()
    }

    /// The dataset that this one is, if it only keeps what that one needs.
    fn origin(&self) -> Option<&Arc<dyn Dataset>> {
        None
    }

    /// Whether all who share it have the whole of its sources, which its graph says of these: it is its origin otherwise.
    fn replicates(&self) -> bool {
        false
    }

    /// What gives its iterators their seeds: a state of the dataset, which outlives them.
    fn seeds(&self) -> Option<&Seeds> {
        None
    }

    /// Its own options, an `OptionsProto`.
    fn options(&self) -> Option<&[u8]> {
        None
    }

    /// Whether elements can be had in any order if they can of the datasets that it is made of.
    fn has_random_access(&self) -> bool {
        true
    }

    /// The element in some place, which is below the cardinality; `None` if elements are only made in order.
    fn get<'a>(&'a self, index: i64, cx: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        let _ = (index, cx);
        None
    }
}

/// Makes elements in order.
pub(crate) trait DatasetIterator: Send {
    /// The next element, or `None` at the end, again and again. After an error the iterator goes on with what comes next.
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>>;

    /// Passes over at most so many elements, as far as they need not be made for it; returns over how many.
    fn pass(&mut self, count: i64) -> i64 {
        let _ = count;
        0
    }

    /// Puts down where it is. It may go on afterwards.
    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>>;

    /// Goes where another iterator over the same dataset was. The iterator is at its beginning.
    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>>;
}

/// A dataset and those that it is made of, each once, in an order that is always the same.
pub(crate) fn with_inputs(dataset: &Arc<dyn Dataset>) -> Vec<Arc<dyn Dataset>> {
    let address = |dataset: &Arc<dyn Dataset>| Arc::as_ptr(dataset).cast::<()>().addr();
    let mut known = HashSet::from([address(dataset)]);
    let (mut all, mut next) = (vec![dataset.clone()], 0);
    while let Some(dataset) = all.get(next) {
        let inputs = dataset.inputs();
        all.extend(inputs.into_iter().filter(|input| known.insert(address(input))));
        next += 1;
    }
    all
}

/// A dataset in a variant.
pub(crate) struct DatasetValue(Option<Arc<dyn Dataset>>);

impl Drop for DatasetValue {
    /// Datasets in tensors of datasets go one after the other, however deep they are nested.
    fn drop(&mut self) {
        thread_local! {
            /// Those that are to go, while one goes.
            static GOING: RefCell<Option<Vec<Arc<dyn Dataset>>>> = const { RefCell::new(None) };
        }
        let Some(dataset) = self.0.take() else { return };
        // A thread that ends has none: its datasets go as they are.
        let first = GOING.try_with(|going| match &mut *going.borrow_mut() {
            Some(others) => {
                others.push(dataset);
                None
            }
            none => {
                *none = Some(Vec::new());
                Some(dataset)
            }
        });
        let mut next = first.ok().flatten();
        while let Some(dataset) = next {
            drop(dataset);
            next = GOING.with(|going| {
                let mut going = going.borrow_mut();
                let next = going.as_mut().and_then(Vec::pop);
                if next.is_none() {
                    *going = None;
                }
                next
            });
        }
    }
}

impl VariantValue for DatasetValue {
    fn type_name(&self) -> &'static str {
        "tensorflow::DatasetVariantWrapper"
    }
}

/// Whether a variant holds a dataset.
pub(crate) fn is_dataset(variant: &Variant) -> bool {
    variant.get::<DatasetValue>().is_some()
}

/// A dataset in a tensor.
pub(crate) fn to_tensor(dataset: Arc<dyn Dataset>) -> Tensor {
    Tensor::scalar(Variant::new(DatasetValue(Some(dataset))))
}

/// The dataset that a tensor holds.
///
/// # Errors
/// INVALID_ARGUMENT if it holds something else.
pub(crate) fn dataset_of(tensor: &Tensor) -> Result<Arc<dyn Dataset>> {
    ensure!(
        tensor.dtype() == DataType::Variant && tensor.rank() == 0,
        InvalidArgument,
        "Dataset tensor must be a scalar of dtype DT_VARIANT."
    );
    match tensor.as_slice::<Variant>()?[0].get::<DatasetValue>() {
        Some(DatasetValue(Some(dataset))) => Ok(dataset.clone()),
        _ => bail!(InvalidArgument, "Tensor must be a Dataset object."),
    }
}

/// The dataset that input `index` holds.
pub(crate) fn input_dataset(ctx: &RawContext<'_>, index: usize) -> Result<Arc<dyn Dataset>> {
    dataset_of(ctx.input_at(index)?)
}

/// Sets the output to a dataset, which notes of what it was made.
pub(crate) fn set_dataset(ctx: &mut RawContext<'_>, dataset: impl Dataset + 'static) -> Result<()> {
    let head = dataset.head();
    if let Some(made) = Made::by(ctx, head.node.as_ref()) {
        _ = head.made.set(made);
    }
    ctx.set_output_at(0, to_tensor(Arc::new(dataset)))
}

/// The scalar that the input of this name is.
pub(crate) fn scalar<T: TensorElement>(ctx: &RawContext<'_>, name: &str) -> Result<T> {
    let tensor = ctx.input_named(name)?;
    ensure!(tensor.rank() == 0, InvalidArgument, "{name} must be a scalar");
    tensor.to_scalar()
}

/// The elements of the vector that the input of this name is.
pub(crate) fn vector<T: TensorElement + Clone>(ctx: &RawContext<'_>, name: &str) -> Result<Vec<T>> {
    let tensor = ctx.input_named(name)?;
    ensure!(tensor.rank() <= 1, InvalidArgument, "`{name}` must be a scalar or a vector.");
    kernlink::tensor::scratch::copied(tensor.as_slice::<T>()?)
}

/// The tensors of the list input of this name.
pub(crate) fn tensors(ctx: &RawContext<'_>, name: &str) -> Result<Vec<Tensor>> {
    ctx.input_range_of(name)?.map(|index| ctx.input_at(index).cloned()).collect()
}

/// Sets the outputs to the components of an element.
pub(crate) fn set_components(ctx: &mut RawContext<'_>, element: Element) -> Result<()> {
    ensure!(
        element.len() == ctx.num_outputs(),
        InvalidArgument,
        "The element has {} components, but {} are expected.",
        element.len(),
        ctx.num_outputs()
    );
    for (index, component) in element.into_iter().enumerate() {
        let expected = ctx.output_dtype_at(index)?;
        ensure!(
            component.dtype() == expected,
            InvalidArgument,
            "Expected component {index} to be {expected} but it is {}.",
            component.dtype()
        );
        ctx.set_output_at(index, component)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Elements;

    #[test]
    fn datasets_within_tensors_go_one_after_the_other() {
        let spec = Spec::new(vec![DataType::Variant], vec![PartialShape::unknown()]);
        let mut tensor = to_tensor(Arc::new(Elements::new(&spec, Vec::new())));
        for _ in 0..100_000 {
            tensor = to_tensor(Arc::new(Elements::new(&spec, vec![vec![tensor]])));
        }
        // One inside of the other, they would need a stack of many megabytes.
        drop(tensor);
    }
}
