//! Steps that last for several ops.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::resource::ResourceManager;
use crate::step::{Step, lock};

/// The step that ops belong to which run now. Without one, each op is a step of its own.
#[derive(Default)]
pub(super) struct EagerSteps {
    /// How many were begun and not ended. Read before the lock is taken, which most contexts never need.
    begun: AtomicU64,
    /// The container of the resources that go with them.
    container: Mutex<Option<Arc<str>>>,
}

impl EagerSteps {
    pub(super) fn begin(&self) {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let mut container = lock(&self.container);
        self.begun.fetch_add(1, Ordering::Release);
        container.get_or_insert_with(|| {
            format!("__per_step_eager_{}", NUMBER.fetch_add(1, Ordering::Relaxed)).as_str().into()
        });
    }

    /// The last one to end takes the resources with it.
    pub(super) fn end(&self, resources: &ResourceManager) {
        let mut container = lock(&self.container);
        let begun = self.begun.load(Ordering::Acquire);
        if begun > 0 {
            self.begun.store(begun - 1, Ordering::Release);
        }
        if begun == 1
            && let Some(container) = container.take()
        {
            resources.cleanup(&container);
        }
    }

    /// The step of an op, whose resources stay until the steps end that were begun.
    #[inline]
    pub(super) fn join(&self, step: Step) -> Step {
        match self.begun.load(Ordering::Acquire) {
            0 => step,
            _ => step.with_container(lock(&self.container).clone()),
        }
    }
}
