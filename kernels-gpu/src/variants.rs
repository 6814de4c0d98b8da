//! Shaders of a kernel of which its inputs decide: made when they are first needed.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use crate::device::lock;
use crate::shader::{Program, Shader};

/// Shaders by what tells them from each other.
pub(crate) struct Variants<K> {
    make: fn(&K) -> Program,
    made: Mutex<HashMap<K, Arc<Shader>>>,
}

impl<K: Copy + Eq + Hash> Variants<K> {
    pub(crate) fn new(make: fn(&K) -> Program) -> Variants<K> {
        Variants { make, made: Mutex::default() }
    }

    /// The shader for a key.
    pub(crate) fn get(&self, key: K) -> Arc<Shader> {
        lock(&self.made).entry(key).or_insert_with(|| Arc::new(Shader::new((self.make)(&key)))).clone()
    }
}
