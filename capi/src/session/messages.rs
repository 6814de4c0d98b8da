//! The protocol buffers that sessions are told with and tell with: of each the fields that count.

use std::collections::{BTreeMap, HashMap};

use kernlink::proto::TensorShapeProto;

/// `tensorflow.ConfigProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ConfigProto {
    #[prost(map = "string, int32", tag = "1")]
    pub(super) device_count: HashMap<String, i32>,
    #[prost(int32, tag = "2")]
    pub(super) intra_op_parallelism_threads: i32,
    #[prost(int32, tag = "5")]
    pub(super) inter_op_parallelism_threads: i32,
    #[prost(bool, tag = "7")]
    pub(crate) allow_soft_placement: bool,
    #[prost(bool, tag = "8")]
    pub(super) log_device_placement: bool,
    #[prost(bool, tag = "9")]
    pub(super) use_per_session_threads: bool,
    #[prost(int64, tag = "11")]
    pub(super) operation_timeout_in_ms: i64,
    #[prost(message, repeated, tag = "12")]
    pub(super) session_inter_op_thread_pool: Vec<ThreadPoolOptionProto>,
}

/// `tensorflow.ThreadPoolOptionProto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ThreadPoolOptionProto {
    #[prost(int32, tag = "1")]
    pub(super) num_threads: i32,
}

/// `tensorflow.RunOptions`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RunOptionsProto {
    /// 0 for no trace.
    #[prost(int32, tag = "1")]
    pub(super) trace_level: i32,
    #[prost(int64, tag = "2")]
    pub(super) timeout_in_ms: i64,
    #[prost(int32, tag = "3")]
    pub(super) inter_op_thread_pool: i32,
}

/// `tensorflow.RunMetadata`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RunMetadataProto {
    #[prost(message, optional, tag = "1")]
    pub(super) step_stats: Option<StepStatsProto>,
}

/// `tensorflow.StepStats`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StepStatsProto {
    #[prost(message, repeated, tag = "1")]
    pub(super) dev_stats: Vec<DeviceStepStats>,
}

/// `tensorflow.DeviceStepStats`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct DeviceStepStats {
    #[prost(string, tag = "1")]
    pub(super) device: String,
    #[prost(message, repeated, tag = "2")]
    pub(super) node_stats: Vec<NodeExecStats>,
    #[prost(btree_map = "uint32, string", tag = "3")]
    pub(super) thread_names: BTreeMap<u32, String>,
}

/// `tensorflow.NodeExecStats`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NodeExecStats {
    #[prost(string, tag = "1")]
    pub(super) node_name: String,
    #[prost(int64, tag = "2")]
    pub(super) all_start_micros: i64,
    #[prost(int64, tag = "4")]
    pub(super) op_end_rel_micros: i64,
    #[prost(int64, tag = "5")]
    pub(super) all_end_rel_micros: i64,
    #[prost(message, repeated, tag = "6")]
    pub(super) memory: Vec<AllocatorMemoryUsed>,
    #[prost(message, repeated, tag = "7")]
    pub(super) output: Vec<NodeOutput>,
    #[prost(string, tag = "8")]
    pub(super) timeline_label: String,
    #[prost(int64, tag = "9")]
    pub(super) scheduled_micros: i64,
    #[prost(uint32, tag = "10")]
    pub(super) thread_id: u32,
    #[prost(message, optional, tag = "12")]
    pub(super) memory_stats: Option<MemoryStats>,
    #[prost(int64, tag = "13")]
    pub(super) all_start_nanos: i64,
    #[prost(int64, tag = "15")]
    pub(super) op_end_rel_nanos: i64,
    #[prost(int64, tag = "16")]
    pub(super) all_end_rel_nanos: i64,
    #[prost(int64, tag = "17")]
    pub(super) scheduled_nanos: i64,
}

/// `tensorflow.NodeOutput`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NodeOutput {
    #[prost(int32, tag = "1")]
    pub(super) slot: i32,
    #[prost(message, optional, tag = "3")]
    pub(super) tensor_description: Option<TensorDescription>,
}

/// `tensorflow.TensorDescription`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorDescription {
    /// The number of the dtype.
    #[prost(int32, tag = "1")]
    pub(super) dtype: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<TensorShapeProto>,
}

/// `tensorflow.AllocatorMemoryUsed`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct AllocatorMemoryUsed {
    #[prost(string, tag = "1")]
    pub(super) allocator_name: String,
    #[prost(int64, tag = "2")]
    pub(super) total_bytes: i64,
}

/// `tensorflow.MemoryStats`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct MemoryStats {
    #[prost(int64, tag = "1")]
    pub(super) temp_memory_size: i64,
    #[prost(int64, tag = "3")]
    pub(super) persistent_memory_size: i64,
}
