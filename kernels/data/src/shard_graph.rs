//! How the nodes of a dataset are changed so that it is a worker's share: TensorFlow's rewriting of graphs.

use std::collections::HashSet;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::proto::attr_value;
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};

use crate::hash::is_version_of;
use crate::nodes::{GraphNode, Nodes, OF_SEVERAL};
use crate::order::SHARD_HINT;

/// What opens files that it is given the names of.
const READERS: [&str; 6] = [
    "ArrayRecordDataset",
    "FixedLengthRecordDataset",
    "RecordIODataset",
    "SSTableDataset",
    "TextLineDataset",
    "TFRecordDataset",
];

/// What may stand between the files and the share.
const PASSING: [&str; 31] = [
    "_Retval",
    "AssertNextDataset",
    "BatchDataset",
    "CacheDataset",
    "ExperimentalMapAndBatchDataset",
    "ExperimentalParseExampleDataset",
    "ExperimentalRebatchDataset",
    "FilterDataset",
    "FinalizeDataset",
    "Identity",
    "MapAndBatchDataset",
    "MapDataset",
    "MaxIntraOpParallelismDataset",
    "ModelDataset",
    "OptimizeDataset",
    "OptionsDataset",
    "PaddedBatchDataset",
    "ParallelBatchDataset",
    "ParallelMapDataset",
    "ParseExampleDataset",
    "PrefetchDataset",
    "PrivateThreadPoolDataset",
    "ReduceDataset",
    "RebatchDataset",
    "RepeatDataset",
    "ShardDataset",
    "ShuffleAndRepeatDataset",
    "ShuffleDataset",
    "SkipDataset",
    "TakeDataset",
    "WindowDataset",
];

/// What is made of datasets that a function makes.
const OF_DATASETS: [&str; 5] = [
    "ExperimentalParallelInterleaveDataset",
    "FlatMapDataset",
    "InterleaveDataset",
    "LegacyParallelInterleaveDataset",
    "ParallelInterleaveDataset",
];

const WITHOUT_FILES: [&str; 5] =
    ["GeneratorDataset", "RangeDataset", "SparseTensorsSliceDataset", "TensorDataset", "TensorSliceDataset"];

/// How many functions that make datasets are looked at within each other, at most.
const MOST_FUNCTIONS: usize = 500;

fn is_one(op: &str, ops: &[&str]) -> bool {
    ops.iter().any(|prefix| is_version_of(op, prefix))
}

/// The nodes of a dataset, behind which one stands that takes it.
pub(crate) struct Sharding {
    nodes: Nodes,
    sink: usize,
    workers: i64,
    index: i64,
}

impl Sharding {
    pub(crate) fn new(mut nodes: Nodes, workers: i64, index: i64) -> Result<Sharding> {
        let inputs = vec![nodes.dataset];
        let sink = GraphNode { op: "_Retval".to_owned(), attrs: Default::default(), inputs, value: None };
        let sink = nodes.push(sink)?;
        Ok(Sharding { nodes, sink, workers, index })
    }

    /// The nodes of the share.
    pub(crate) fn into_nodes(mut self) -> Nodes {
        self.nodes.dataset = self.nodes.all[self.sink].inputs[0];
        self.nodes
    }

    /// By files: where names of files are given to what opens them.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such place.
    pub(crate) fn by_files(&mut self) -> Result<()> {
        self.walk(self.sink)
    }

    /// By elements: behind all that makes them.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for batches for several replicas of which nobody knows how many there are.
    pub(crate) fn by_elements(&mut self, replicas: i64) -> Result<()> {
        let mut before = self.sink;
        // As many as before are to be made ahead.
        while ["PrefetchDataset", "OptionsDataset", "FinalizeDataset"].contains(&&*self.input(before).op) {
            before = self.nodes.all[before].inputs[0];
        }
        if self.input(before).op == "RebatchDatasetV2" {
            self.rebatch_for_replicas(self.nodes.all[before].inputs[0], replicas)?;
        }
        self.add_shard(before)
    }

    /// Where `shard` was called with a hint.
    pub(crate) fn by_hint(&mut self) -> Result<()> {
        let (workers, index) = (Tensor::scalar(self.workers), Tensor::scalar(self.index));
        let (workers, index) = (self.nodes.push_value(workers)?, self.nodes.push_value(index)?);
        for number in 0..self.nodes.all.len() {
            let node = &self.nodes.all[number];
            let shards = node.inputs.get(1).and_then(|&input| self.nodes.all[input].value.as_ref());
            let shards = shards.and_then(|shards| shards.to_scalar::<i64>().ok());
            if node.op == "ShardDataset" && shards == Some(SHARD_HINT) {
                let node = &mut self.nodes.all[number];
                (node.inputs[1], node.inputs[2]) = (workers, index);
                node.attrs.insert("require_non_empty", true);
            }
        }
        Ok(())
    }

    /// What a node takes first. Nodes of datasets take something, or are none that is asked.
    fn input(&self, number: usize) -> &GraphNode {
        let inputs = &self.nodes.all[number].inputs;
        inputs.first().map_or(&self.nodes.all[number], |&input| &self.nodes.all[input])
    }

    /// Goes up from what a node takes to the place where files are opened.
    fn walk(&mut self, consumer: usize) -> Result<()> {
        let mut open: Vec<(usize, usize)> = vec![(consumer, 0)];
        while let Some((consumer, slot)) = open.pop() {
            let number = self.nodes.all[consumer].inputs[slot];
            let node = &self.nodes.all[number];
            let op = node.op.as_str();
            if op == "AssertCardinalityDataset" {
                // A share has fewer.
                self.nodes.all[consumer].inputs[slot] = node.inputs[0];
                open.push((consumer, slot));
                continue;
            }
            ensure!(!is_one(op, &WITHOUT_FILES), NotFound, "Found an unshardable source dataset: {op}");
            if is_one(op, &OF_SEVERAL) {
                open.extend((0..node.inputs.len()).rev().map(|slot| (number, slot)));
                continue;
            }
            let (is_of_datasets, passes) = (is_one(op, &OF_DATASETS), is_one(op, &PASSING));
            if is_of_datasets && let Some(consumer) = self.datasets_in_tensors(number) {
                self.shard_source(consumer)?;
                continue;
            }
            if is_one(op, &READERS) || ((is_of_datasets || passes) && self.function_reads(node)) {
                self.shard_source(number)?;
                continue;
            }
            ensure!(
                (is_of_datasets || passes) && !node.inputs.is_empty(),
                NotFound,
                "Did not find a shardable source, walked to a node which is not a dataset: {op}. Consider either turning off \
                 auto-sharding or switching the auto_shard_policy to DATA to shard this dataset. You can do this by creating a \
                 new `tf.data.Options()` object then setting `options.experimental_distribute.auto_shard_policy = \
                 AutoShardPolicy.DATA` before applying the options object to the dataset via `dataset.with_options(options)`."
            );
            open.push((number, 0));
        }
        Ok(())
    }

    /// The node that takes what is made of the datasets in a tensor, above one that is made of datasets, if what is between leaves
    /// elements as they are.
    fn datasets_in_tensors(&self, number: usize) -> Option<usize> {
        let mut consumer = number;
        loop {
            let at = *self.nodes.all[consumer].inputs.first()?;
            let node = &self.nodes.all[at];
            if is_one(&node.op, &OF_DATASETS) {
                let source = self.input(at);
                let is_of_tensor = ["TensorSliceDataset", "TensorDataset"].contains(&&*source.op);
                let given = source.inputs.first().map(|&input| &self.nodes.all[input]);
                if is_of_tensor && given.is_some_and(|given| given.value.is_some()) {
                    return Some(consumer);
                }
            }
            if !is_one(&node.op, &PASSING) {
                return None;
            }
            consumer = at;
        }
    }

    /// Whether the function of a node opens files, or one does that makes datasets within it.
    fn function_reads(&self, node: &GraphNode) -> bool {
        let Some(AttrValue::Func(call)) = node.attrs.get("f") else { return false };
        self.reads(&call.name, &mut HashSet::new())
    }

    /// `met` are those that were looked at already, which do not, or are being looked at.
    fn reads(&self, name: &str, met: &mut HashSet<String>) -> bool {
        if met.len() >= MOST_FUNCTIONS || !met.insert(name.to_owned()) {
            return false;
        }
        let Some(function) = self.nodes.function(name) else { return false };
        function.node_def.iter().any(|node| {
            let mut inner = || match node.attr.get("f").and_then(|attr| attr.value.as_ref()) {
                Some(attr_value::Value::Func(call)) => self.reads(&call.name, met),
                _ => false,
            };
            (is_one(&node.op, &READERS) && !node.input.is_empty()) || (is_one(&node.op, &OF_DATASETS) && inner())
        })
    }

    /// Deals out what a node takes, in an order that is the same for all workers; each shuffles its own share.
    fn shard_source(&mut self, number: usize) -> Result<()> {
        self.add_shard(number)?;
        for op in ["ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3"] {
            let Some(mut shuffle) = self.without_shuffles(number, op) else { continue };
            let shard = self.nodes.all[number].inputs[0];
            for name in ["output_types", "output_shapes"] {
                if let Some(value) = self.nodes.all[shard].attrs.get(name) {
                    shuffle.attrs.insert(name, value.clone());
                }
            }
            shuffle.attrs.remove("metadata");
            shuffle.inputs[0] = shard;
            self.nodes.all[number].inputs[0] = self.nodes.push(shuffle)?;
            break;
        }
        Ok(())
    }

    /// Takes out all nodes of an op above one; returns the last.
    fn without_shuffles(&mut self, number: usize, op: &str) -> Option<GraphNode> {
        let mut found = None;
        let mut open = vec![number];
        while let Some(number) = open.pop() {
            for slot in 0..self.nodes.all[number].inputs.len() {
                let mut input = self.nodes.all[number].inputs[slot];
                while self.nodes.all[input].op == op {
                    found = Some(self.nodes.all[input].clone());
                    input = self.nodes.all[input].inputs[0];
                }
                self.nodes.all[number].inputs[slot] = input;
                open.push(input);
            }
        }
        found
    }

    /// Deals out what a node takes first.
    fn add_shard(&mut self, before: usize) -> Result<()> {
        let after = self.nodes.all[before].inputs[0];
        let node = &self.nodes.all[after];
        ensure!(
            node.op.contains("Dataset"),
            NotFound,
            "Unable to shard this input. You may need to wrap the inputs to your reader dataset in a TensorSliceDataset. Input \
             node is {}",
            node.op
        );
        let shapes = || AttrValue::ListShape(vec![PartialShape::unknown()]);
        let shapes = node.attrs.get("output_shapes").cloned().unwrap_or_else(shapes);
        let types = node.attrs.get("output_types").or_else(|| node.attrs.get("Toutput_types")).cloned();
        let types = types.unwrap_or_else(|| AttrValue::ListType(vec![DataType::String]));
        let attrs = [("output_shapes", shapes), ("output_types", types), ("require_non_empty", AttrValue::Bool(true))];
        let attrs = attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let workers = self.nodes.push_value(Tensor::scalar(self.workers))?;
        let index = self.nodes.push_value(Tensor::scalar(self.index))?;
        let shard =
            GraphNode { op: "ShardDataset".to_owned(), attrs, inputs: vec![after, workers, index], value: None };
        self.nodes.all[before].inputs[0] = self.nodes.push(shard)?;
        Ok(())
    }

    /// Batches by how many replicas there are, which elements can be dealt out of.
    fn rebatch_for_replicas(&mut self, number: usize, replicas: i64) -> Result<()> {
        ensure!(
            replicas >= 1,
            InvalidArgument,
            "Cannot rewrite RebatchDatasetV2 to legacy RebatchDataset with invalid num_replicas argument. `num_replicas` is \
             {replicas}, but expected to be >= 1."
        );
        let replicas = self.nodes.push_value(Tensor::scalar(replicas))?;
        let node = &mut self.nodes.all[number];
        node.op = "RebatchDataset".to_owned();
        node.inputs.truncate(1);
        node.inputs.push(replicas);
        node.attrs.insert("use_fallback", true);
        node.attrs.remove("metadata");
        let Some(AttrValue::ListShape(shapes)) = node.attrs.get("output_shapes") else {
            bail!(InvalidArgument, "Cannot rewrite RebatchDatasetV2 with missing `output_shapes` attr.");
        };
        let rows = |shape: &PartialShape| match shape.dims() {
            Some(dims) if !dims.is_empty() => {
                PartialShape::from_known(std::iter::once(None).chain(dims[1..].iter().copied()))
            }
            _ => shape.clone(),
        };
        let shapes = shapes.iter().map(rows).collect();
        node.attrs.insert("output_shapes", AttrValue::ListShape(shapes));
        Ok(())
    }
}
