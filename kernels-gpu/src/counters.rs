//! What the device has made and done so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum Counter {
    Pipelines,
    BindGroupLayouts,
    BindGroups,
    Buffers,
    Dispatches,
    Submissions,
    Uploads,
    ReadBacks,
}

const NAMES: [&str; 8] =
    ["pipelines", "bind_group_layouts", "bind_groups", "buffers", "dispatches", "submissions", "uploads", "read_backs"];

#[derive(Default)]
pub(crate) struct Counters([AtomicU64; NAMES.len()]);

impl Counters {
    pub(crate) fn add(&self, counter: Counter) {
        self.0[counter as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// All, with their names.
    pub(crate) fn all(&self) -> Vec<(&'static str, u64)> {
        NAMES.iter().zip(&self.0).map(|(&name, count)| (name, count.load(Ordering::Relaxed))).collect()
    }
}
