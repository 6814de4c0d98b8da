//! Closures of a kernel on the threads that nodes run on.

use std::sync::Arc;

use crate::device::Device;
use crate::error::catch_panic;
use crate::step::{InterOp, Step};
use crate::threads::ThreadPool;

/// Runs closures on the threads that the nodes of a step run on. It may outlive the call of the kernel: the step ends
/// only when all closures have run.
#[derive(Clone)]
pub struct Runner {
    step: Arc<Step>,
    pool: Option<Arc<ThreadPool>>,
}

impl Runner {
    pub(super) fn new(step: &Arc<Step>, device: Option<&dyn Device>) -> Runner {
        Runner { step: step.clone(), pool: Runner::pool(step, device) }
    }

    /// The threads that nodes of a device run on in a step.
    pub(super) fn pool(step: &Step, device: Option<&dyn Device>) -> Option<Arc<ThreadPool>> {
        match step.inter_op() {
            InterOp::Devices => device.and_then(Device::pool).cloned(),
            InterOp::Caller => None,
            InterOp::Pool(pool) => Some(pool.clone()),
        }
    }

    /// Runs `work` on one of the threads, or at once if there is only the calling one. If it panics, the step fails.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) {
        let (step, deferred) = (self.step.clone(), self.step.defer());
        let work = move || {
            let done = catch_panic("a part of a kernel's work", || {
                work();
                Ok(())
            });
            if let Err(error) = done {
                step.cancellation().cancel(error.clone());
                deferred.fail(error);
            }
        };
        match &self.pool {
            Some(pool) => pool.spawn(self.step.id(), work),
            None => work(),
        }
    }
}
