//! The graph of the nodes that a dataset was made of.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::DataType;
use kernlink::graph::add_defaults;
use kernlink::proto::{
    AttrValue as ProtoValue, FunctionDef, FunctionDefLibrary, GraphDef, NodeDef, TensorProto, VersionDef,
    attr_to_proto, attr_value, shape_to_proto, tensor_to_attr_proto,
};
use kernlink::shape::PartialShape;
use kernlink::step::FunctionLibrary;
use kernlink::tensor::{Tensor, Variant};
use kernlink::{Error, Result, bail, ensure};

use crate::dataset::{Dataset, INFINITE, dataset_of, ensure_level, is_dataset};
use crate::hash::is_version_of;
use crate::node::{Made, Node};

/// How many nodes a graph may have: a dataset that is made of another one twice has the other's nodes twice, as with TensorFlow.
const MOST_NODES: usize = 100_000;

/// The version of GraphDef whose rules the nodes go by.
const PRODUCER: i32 = 2474;

/// A dataset of which nobody knows how it was made, or that no graph can hold.
pub(crate) const NOT_SERIALIZABLE: [&str; 4] =
    ["GeneratorDataset", "NonSerializableDataset", "ExperimentalNonSerializableDataset", "DataServiceDataset"];

/// Datasets of the elements of several others.
pub(crate) const OF_SEVERAL: [&str; 2] = ["ConcatenateDataset", "ZipDataset"];

/// Datasets of the elements of another one, of all versions.
const KEEPING: [&str; 12] = [
    "TakeDataset",
    "SkipDataset",
    "RepeatDataset",
    "ShuffleDataset",
    "ShuffleAndRepeatDataset",
    "ShardDataset",
    "CacheDataset",
    "PrefetchDataset",
    "FilterDataset",
    "TakeWhileDataset",
    "OptionsDataset",
    "FinalizeDataset",
];

/// One node. Its name is its op's with its number, as TensorFlow has it.
#[derive(Clone)]
pub(crate) struct GraphNode {
    pub(crate) op: String,
    pub(crate) attrs: AttrMap,
    /// The numbers of the nodes of whose outputs it takes the first.
    pub(crate) inputs: Vec<usize>,
    /// What it gives, if it is a constant.
    pub(crate) value: Option<Tensor>,
}

/// What is to be added to the nodes, with how deeply it is nested.
enum Open {
    Value(Tensor),
    Tensor(Tensor, u32),
    Dataset(Arc<dyn Dataset>, u32),
    /// A dataset, once so many inputs are there.
    Made(Arc<dyn Dataset>, usize),
    /// So many tensors of datasets as one, once they are there.
    Packed(usize),
    /// The marks of sources among the nodes from this one on.
    Replicated(usize),
}

/// Datasets of which a node says whether all who share it have the whole.
const SOURCES: [&str; 2] = ["RangeDataset", "TensorSliceDataset"];

/// The nodes of a dataset.
pub(crate) struct Nodes {
    /// In an order in which each comes after those whose outputs it takes.
    pub(crate) all: Vec<GraphNode>,
    /// The number of the one whose output is the dataset.
    pub(crate) dataset: usize,
    /// The functions that the nodes can come to call.
    functions: BTreeMap<String, FunctionDef>,
    /// The functions that the nodes name, by the library that they are looked up in.
    named: Vec<(Arc<dyn FunctionLibrary>, BTreeSet<String>)>,
    /// Whether datasets that no node tells of are constants.
    keeps_datasets: bool,
}

impl Nodes {
    /// The nodes that a dataset was made of.
    ///
    /// # Errors
    /// UNIMPLEMENTED if it is not known how it, or one that it was made of, was made; RESOURCE_EXHAUSTED if there are too many.
    pub(crate) fn of(dataset: &Arc<dyn Dataset>) -> Result<Nodes> {
        Nodes::with(dataset, false)
    }

    /// The nodes of a dataset as far as they are known, for who runs them again in this process: other datasets are constants.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there are too many.
    pub(crate) fn as_known(dataset: &Arc<dyn Dataset>) -> Result<Nodes> {
        Nodes::with(dataset, true)
    }

    fn with(dataset: &Arc<dyn Dataset>, keeps_datasets: bool) -> Result<Nodes> {
        let mut nodes =
            Nodes { all: Vec::new(), dataset: 0, functions: BTreeMap::new(), named: Vec::new(), keeps_datasets };
        nodes.dataset = nodes.add_dataset(dataset)?;
        nodes.add_functions()?;
        Ok(nodes)
    }

    /// Adds a node; returns its number.
    pub(crate) fn push(&mut self, node: GraphNode) -> Result<usize> {
        ensure!(self.all.len() < MOST_NODES, ResourceExhausted, "the dataset was made of more than {MOST_NODES} nodes");
        self.all.push(node);
        Ok(self.all.len() - 1)
    }

    /// Adds a constant.
    pub(crate) fn push_value(&mut self, value: Tensor) -> Result<usize> {
        let attrs = [("dtype".to_owned(), AttrValue::Type(value.dtype()))].into_iter().collect();
        self.push(GraphNode { op: "Const".to_owned(), attrs, inputs: Vec::new(), value: Some(value) })
    }

    /// Adds the nodes of a dataset, those that it takes before it; returns the number of the last. It keeps what is open on a stack of
    /// its own, as a thread's may be small.
    fn add_dataset(&mut self, dataset: &Arc<dyn Dataset>) -> Result<usize> {
        let mut open = vec![Open::Dataset(dataset.clone(), 0)];
        // The numbers of nodes that one which is still open takes.
        let mut numbers = Vec::new();
        while let Some(next) = open.pop() {
            let number = match next {
                Open::Value(value) => self.push_value(value)?,
                Open::Tensor(tensor, depth) => {
                    self.begin_tensor(&tensor, depth, &mut open)?;
                    continue;
                }
                Open::Dataset(dataset, depth) => {
                    self.begin_dataset(&dataset, depth, &mut open)?;
                    continue;
                }
                Open::Made(dataset, count) => {
                    let inputs = numbers.split_off(numbers.len() - count);
                    self.push_dataset(&dataset, inputs)?
                }
                Open::Replicated(start) => {
                    for node in self.all[start..].iter_mut().filter(|node| SOURCES.contains(&&*node.op)) {
                        node.attrs.insert("replicate_on_split", AttrValue::Bool(true));
                    }
                    continue;
                }
                Open::Packed(count) => {
                    let inputs = numbers.split_off(numbers.len() - count);
                    self.push_packed(inputs)?
                }
            };
            numbers.push(number);
        }
        numbers.pop().ok_or_else(|| Error::internal("a dataset without a node"))
    }

    /// Puts what a dataset takes before it. `depth` is how deeply it is nested, in tensors of datasets too.
    fn begin_dataset(&self, dataset: &Arc<dyn Dataset>, depth: u32, open: &mut Vec<Open>) -> Result<()> {
        ensure_level(depth)?;
        if let Some(origin) = dataset.origin() {
            if dataset.replicates() {
                open.push(Open::Replicated(self.all.len()));
            }
            open.push(Open::Dataset(origin.clone(), depth + 1));
            return Ok(());
        }
        let made = dataset.head().made().filter(|made| !NOT_SERIALIZABLE.contains(&&*made.node.op));
        let Some(Made { node, inputs }) = made else {
            if self.keeps_datasets {
                open.push(Open::Value(crate::dataset::to_tensor(dataset.clone())));
                return Ok(());
            }
            let op = dataset.head().made().map_or("a dataset that is no node's output", |made| &made.node.op);
            bail!(Unimplemented, "{op} does not support serialization: nobody can tell how it was made");
        };
        // Datasets in tensors are run as they are.
        let is_of_tensors = self.keeps_datasets && ["TensorDataset", "TensorSliceDataset"].contains(&&*node.op);
        open.push(Open::Made(dataset.clone(), inputs.len()));
        open.extend(inputs.iter().rev().map(|input| match is_of_tensors {
            true => Open::Value(input.clone()),
            false => Open::Tensor(input.clone(), depth + 1),
        }));
        Ok(())
    }

    /// Adds the node of a dataset whose inputs are there.
    fn push_dataset(&mut self, dataset: &Arc<dyn Dataset>, inputs: Vec<usize>) -> Result<usize> {
        let Some(Made { node, .. }) = dataset.head().made() else { bail!(Internal, "a dataset that no node has made") };
        self.note_functions(node)?;
        let mut attrs = node.attrs.clone();
        // What is known of the dataset may be more.
        let spec = &dataset.head().spec;
        for name in ["output_types", "Toutput_types"] {
            if attrs.get(name).is_some() {
                attrs.insert(name, AttrValue::ListType(spec.dtypes.clone()));
            }
        }
        if attrs.get("output_shapes").is_some() {
            let shapes = self.shapes(dataset, &node.op, &inputs).unwrap_or_else(|| spec.shapes.clone());
            attrs.insert("output_shapes", AttrValue::ListShape(shapes));
        }
        self.push(GraphNode { op: node.op.clone(), attrs, inputs, value: None })
    }

    /// The shapes of a dataset's components where TensorFlow tells them by the dataset that it is made of, not by an attr.
    fn shapes(&self, dataset: &Arc<dyn Dataset>, op: &str, inputs: &[usize]) -> Option<Vec<PartialShape>> {
        let of = |&input: &usize| match self.all[input].attrs.get("output_shapes") {
            Some(AttrValue::ListShape(shapes)) => Some(shapes.as_slice()),
            _ => None,
        };
        if op == "ZipDataset" {
            return Some(inputs.iter().map(of).collect::<Option<Vec<_>>>()?.concat());
        }
        let shapes = of(inputs.first()?)?;
        if KEEPING.iter().any(|prefix| is_version_of(op, prefix)) {
            return Some(shapes.to_vec());
        }
        let (size, drops) = match op {
            "BatchDatasetV2" => (1, 2),
            "ParallelBatchDataset" => (1, 3),
            _ => return None,
        };
        let given = |place: usize| self.all[*inputs.get(place)?].value.as_ref();
        let is_whole = given(drops)?.to_scalar().ok()?;
        let has_end = dataset.inputs().first()?.cardinality() != INFINITE;
        let size: i64 = given(size)?.to_scalar().ok()?;
        let size = usize::try_from(size).ok().filter(|_| is_whole || !has_end);
        let batched = |shape: &PartialShape| match shape.dims() {
            Some(dims) => PartialShape::from_known(std::iter::once(size).chain(dims.iter().copied())),
            None => shape.clone(),
        };
        Some(shapes.iter().map(batched).collect())
    }

    /// Puts what gives a tensor: a constant, or the datasets in it.
    fn begin_tensor(&self, tensor: &Tensor, depth: u32, open: &mut Vec<Open>) -> Result<()> {
        if tensor.dtype() != DataType::Variant || tensor.reference().is_some() {
            open.push(Open::Value(tensor.clone()));
            return Ok(());
        }
        if let Ok(dataset) = dataset_of(tensor) {
            open.push(Open::Dataset(dataset, depth));
            return Ok(());
        }
        ensure_level(depth)?;
        let elements = tensor.as_slice::<Variant>()?;
        let Some((&rows, dims)) = tensor.shape().dims().split_first().filter(|_| elements.iter().any(is_dataset))
        else {
            open.push(Open::Value(tensor.clone()));
            return Ok(());
        };
        // Several at once, however they are arranged.
        let size = elements.len() / rows;
        ensure!(rows <= MOST_NODES, ResourceExhausted, "the dataset was made of more than {MOST_NODES} nodes");
        open.push(Open::Packed(rows));
        for row in (0..rows).rev() {
            let row = elements[row * size..(row + 1) * size].to_vec();
            open.push(Open::Tensor(Tensor::from_vec(dims.to_vec(), row)?, depth + 1));
        }
        Ok(())
    }

    /// Adds the node that puts tensors of datasets together.
    fn push_packed(&mut self, inputs: Vec<usize>) -> Result<usize> {
        let attrs = [
            ("N", AttrValue::Int(inputs.len() as i64)),
            ("T", AttrValue::Type(DataType::Variant)),
            ("axis", AttrValue::Int(0)),
        ];
        let attrs = attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        self.push(GraphNode { op: "Pack".to_owned(), attrs, inputs, value: None })
    }

    /// Notes the functions that a node names.
    fn note_functions(&mut self, node: &Node) -> Result<()> {
        let Some(library) = &node.library else { return Ok(()) };
        let Some(library) = library.upgrade() else {
            bail!(FailedPrecondition, "the session is gone that the functions of {} belong to", node.op);
        };
        let place = match self.named.iter().position(|(other, _)| Arc::ptr_eq(other, &library)) {
            Some(place) => place,
            None => {
                self.named.push((library, BTreeSet::new()));
                self.named.len() - 1
            }
        };
        self.named[place].1.extend(node.attrs.functions().map(|function| function.name.to_string()));
        Ok(())
    }

    /// Adds the functions that the nodes name, and those that these can come to call.
    fn add_functions(&mut self) -> Result<()> {
        for (library, names) in std::mem::take(&mut self.named) {
            let graph = kernlink::runtime::functions_of(&*library)?;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for name in graph.functions_called(&names) {
                if !self.functions.contains_key(&name)
                    && let Some(function) = graph.function_def(&name)
                {
                    let mut function = function.clone();
                    // Files leave out attrs that have their defaults.
                    for node in &mut function.node_def {
                        if let Ok(op) = graph.registry().op(&node.op) {
                            add_defaults(node, op.def)?;
                        }
                    }
                    self.functions.insert(name, function);
                }
            }
        }
        Ok(())
    }

    /// A function that the nodes can come to call.
    pub(crate) fn function(&self, name: &str) -> Option<&FunctionDef> {
        self.functions.get(name)
    }

    /// The functions that the nodes can come to call.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &FunctionDef> {
        self.functions.values()
    }

    /// The graph as a message, in which a `_Retval` takes the dataset.
    ///
    /// # Errors
    /// UNIMPLEMENTED for a constant that no message can hold; RESOURCE_EXHAUSTED if there is not enough memory.
    pub(crate) fn to_def(&self) -> Result<GraphDef> {
        let mut bytes = 0usize;
        self.to_def_with(|_, value| {
            bytes = bytes.saturating_add(value.num_bytes());
            ensure!(
                bytes <= i32::MAX as usize,
                ResourceExhausted,
                "the constants of a dataset's graph are too large for a message"
            );
            Ok(Some(tensor_to_attr_proto(value)?))
        })
    }

    /// The graph as a message that is fed what its constants are, and the names of what is fed and with what.
    pub(crate) fn to_def_and_feeds(&self) -> Result<(GraphDef, Vec<(String, Tensor)>)> {
        let mut feeds = Vec::new();
        let def = self.to_def_with(|number, value| {
            feeds.push((format!("Placeholder/_{number}"), value.clone()));
            Ok(None)
        })?;
        Ok((def, feeds))
    }

    /// `constant` says what is said of a constant, by its node's number; for `None` a placeholder takes its place.
    fn to_def_with(&self, mut constant: impl FnMut(usize, &Tensor) -> Result<Option<TensorProto>>) -> Result<GraphDef> {
        let used = self.used();
        let mut names = vec![String::new(); self.all.len()];
        let mut nodes = Vec::new();
        for (number, node) in self.all.iter().enumerate().filter(|(number, _)| used.contains(number)) {
            let mut attr = BTreeMap::new();
            for (name, value) in node.attrs.iter() {
                attr.insert(name.to_owned(), attr_to_proto(value)?);
            }
            let mut op = node.op.clone();
            if let Some(value) = &node.value {
                let (name, value) = match constant(number, value)? {
                    Some(proto) => ("value", attr_value::Value::Tensor(proto)),
                    None => {
                        op = "Placeholder".to_owned();
                        ("shape", attr_value::Value::Shape(shape_to_proto(&PartialShape::from(value.shape().clone()))))
                    }
                };
                attr.insert(name.to_owned(), ProtoValue { value: Some(value) });
            }
            names[number] = format!("{op}/_{number}");
            nodes.push((number, NodeDef { name: names[number].clone(), op, attr, ..NodeDef::default() }));
        }
        let nodes = nodes.into_iter().map(|(number, mut def)| {
            def.input = self.all[number].inputs.iter().map(|&input| names[input].clone()).collect();
            def
        });
        let mut nodes: Vec<NodeDef> = nodes.collect();
        let retval = [("T", attr_value::Value::Type(DataType::Variant.number())), ("index", attr_value::Value::I(0))];
        nodes.push(NodeDef {
            name: "dataset".to_owned(),
            op: "_Retval".to_owned(),
            input: vec![names[self.dataset].clone()],
            attr: retval.map(|(name, value)| (name.to_owned(), ProtoValue { value: Some(value) })).into(),
            ..NodeDef::default()
        });
        let library = FunctionDefLibrary { function: self.functions().cloned().collect(), ..Default::default() };
        Ok(GraphDef {
            node: nodes,
            library: Some(library),
            versions: Some(VersionDef { producer: PRODUCER, ..VersionDef::default() }),
            ..GraphDef::default()
        })
    }

    /// The numbers of the nodes that the dataset needs.
    fn used(&self) -> HashSet<usize> {
        let (mut used, mut open) = (HashSet::new(), vec![self.dataset]);
        while let Some(number) = open.pop() {
            if used.insert(number) {
                open.extend(&self.all[number].inputs);
            }
        }
        used
    }
}
