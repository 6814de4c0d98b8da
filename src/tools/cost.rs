//! What ops and nodes take.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::sort::CompactSort as _;
use crate::step::NodeStats;

/// Totals of an op or node over runs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Cost {
    /// How often it ran.
    pub calls: u64,
    /// How long it took on threads.
    pub time: Duration,
    /// Time on devices that work asynchronously.
    pub device_time: Duration,
    /// The bytes of its outputs.
    pub output_bytes: u64,
    /// The bytes of all tensors that it allocated.
    pub allocated_bytes: u64,
    /// Whether its time includes that of others, as that of calls does.
    pub is_async: bool,
}

impl Cost {
    /// Adds a run of a node.
    pub fn add(&mut self, stats: &NodeStats) {
        if stats.is_device_work {
            self.device_time += stats.time;
            return;
        }
        self.calls += 1;
        self.time += stats.time;
        self.output_bytes += stats.output_bytes as u64;
        self.allocated_bytes += stats.allocated_bytes as u64;
        self.is_async |= stats.is_async;
    }
}

/// Sorts by time, slowest first; entries that include the time of others, such as calls, come last.
pub fn slowest_first<K>(costs: BTreeMap<K, Cost>) -> Vec<(K, Cost)> {
    let mut costs: Vec<(K, Cost)> = costs.into_iter().collect();
    costs.compact_sort_by_key(|(_, cost)| (cost.is_async, std::cmp::Reverse(cost.device_time + cost.time)));
    costs
}
