//! What a run tells of its nodes, as TensorFlow's tools read it.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use kernlink::dtype::DataType;
use kernlink::graph::Graph;
use kernlink::proto::{Message as _, TensorShapeProto, tensor_shape_proto::Dim};
use kernlink::step::NodeStats;

use super::devices::full_name;
use super::messages::{
    AllocatorMemoryUsed, DeviceStepStats, MemoryStats, NodeExecStats, NodeOutput, RunMetadataProto, StepStatsProto,
    TensorDescription,
};

/// A serialized RunMetadata of what began then, with statistics if there are some. What ran at once has no graph.
pub(crate) fn metadata_of(begin: SystemTime, traced: Option<&[NodeStats]>, graph: Option<&Graph>) -> Vec<u8> {
    let begin = begin.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    RunMetadataProto { step_stats: traced.map(|nodes| step_stats(begin, nodes, graph)) }.encode_to_vec()
}

/// Statistics of a step, which began so long after 1970, by devices.
fn step_stats(begin: Duration, nodes: &[NodeStats], graph: Option<&Graph>) -> StepStatsProto {
    let mut devices: BTreeMap<&str, (DeviceStepStats, BTreeMap<&str, u32>)> = BTreeMap::new();
    for node in nodes {
        let (device, threads) = devices.entry(&node.device).or_default();
        let next = threads.len() as u32;
        let thread_id = *threads.entry(&node.thread).or_insert(next);
        let stats = NodeExecStats { thread_id, timeline_label: label(node, graph), ..node_stats(begin, node) };
        device.node_stats.push(stats);
    }
    let devices = devices.into_iter().map(|(name, (device, threads))| DeviceStepStats {
        device: full_name(name),
        thread_names: threads.into_iter().map(|(name, id)| (id, name.to_owned())).collect(),
        ..device
    });
    StepStatsProto { dev_stats: devices.collect() }
}

/// `node = Op(input, input)`; without inputs for what is none of the graph's own nodes.
fn label(stats: &NodeStats, graph: Option<&Graph>) -> String {
    let found =
        graph.filter(|_| stats.depth == 0).and_then(|graph| Some((graph, graph.node(graph.find(&stats.node)?))));
    let inputs = found.map_or_else(Vec::new, |(graph, node)| {
        let controls = node.control_inputs.iter().map(|&control| format!("^{}", graph.node(control).name));
        node.inputs.iter().map(|&input| graph.output_name(input)).chain(controls).collect()
    });
    format!("{} = {}({})", stats.node, stats.op, inputs.join(", "))
}

fn node_stats(begin: Duration, node: &NodeStats) -> NodeExecStats {
    let (start, time) = (begin + node.start, node.time);
    let memory = (node.allocated_bytes > 0)
        .then(|| AllocatorMemoryUsed { allocator_name: "cpu".to_owned(), total_bytes: node.allocated_bytes as i64 });
    NodeExecStats {
        node_name: node.node.clone(),
        all_start_micros: start.as_micros() as i64,
        op_end_rel_micros: time.as_micros() as i64,
        all_end_rel_micros: time.as_micros() as i64,
        memory: memory.into_iter().collect(),
        output: node.outputs.split(';').enumerate().filter_map(output).collect(),
        scheduled_micros: start.as_micros() as i64,
        memory_stats: Some(MemoryStats {
            temp_memory_size: node.temporary_bytes as i64,
            persistent_memory_size: node.persistent_bytes,
        }),
        all_start_nanos: start.as_nanos() as i64,
        op_end_rel_nanos: time.as_nanos() as i64,
        all_end_rel_nanos: time.as_nanos() as i64,
        scheduled_nanos: start.as_nanos() as i64,
        ..NodeExecStats::default()
    }
}

/// An output of [`NodeStats::outputs`], such as `float[2,3]`; `None` for one that has no shape to speak of.
fn output((slot, text): (usize, &str)) -> Option<NodeOutput> {
    let (dtype, dims) = text.strip_suffix(']')?.split_once('[')?;
    let dims = dims.split(',').filter(|dim| !dim.is_empty());
    let dim = dims.map(|size| Some(Dim { size: size.parse().ok()?, ..Dim::default() })).collect::<Option<_>>()?;
    let shape = TensorShapeProto { dim, ..TensorShapeProto::default() };
    let dtype = DataType::from_name(dtype)?.number();
    let tensor_description = Some(TensorDescription { dtype, shape: Some(shape) });
    Some(NodeOutput { slot: slot as i32, tensor_description })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read() {
        let read = |text| {
            let description = output((2, text))?.tensor_description?;
            Some((description.dtype, description.shape?.dim.iter().map(|dim| dim.size).collect::<Vec<_>>()))
        };
        assert_eq!(read("float[2,3]"), Some((1, vec![2, 3])));
        assert_eq!(read("int32[]"), Some((3, vec![])));
        assert_eq!(read("string[1]"), Some((7, vec![1])));
        for text in ["", "float", "float[", "what[1]", "float[x]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
