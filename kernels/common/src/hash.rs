//! Tables whose keys come from tensors.

use std::collections::{HashMap, HashSet};

/// The hash of keys that come from tensors: a few times faster than that of the standard library, with a seed of its own in
/// each program, so that keys which are known to collide in one do not in another.
pub type Seeded = foldhash::fast::RandomState;

/// A map with [`Seeded`] hashes.
pub type Map<K, V> = HashMap<K, V, Seeded>;

/// A set with [`Seeded`] hashes.
pub type Set<K> = HashSet<K, Seeded>;
