//! The end of a step, to which the devices add what they have met.

use std::sync::Arc;

use super::Device;
use crate::error::{Code, Result};
use crate::step::{Step, block_on_unchecked};

impl Step {
    /// Ends the step of a run on these devices, as [`Step::end`] does; each begins first with the work that it has put off.
    pub(crate) fn end_run<T>(&self, result: Result<T>, devices: &[Arc<dyn Device>]) -> Result<T> {
        let flushed = devices.iter().try_for_each(|device| device.flush());
        self.end(result.and_then(|value| flushed.map(|()| value)), devices.iter().map(|device| &**device))
    }

    /// Ends the step, of which nothing runs any more but what was deferred: waits for that, asks the devices for errors that
    /// no kernel was told of, and gives the session what was stored for it if all went well.
    pub(crate) fn end<'d, T>(&self, result: Result<T>, devices: impl IntoIterator<Item = &'d dyn Device>) -> Result<T> {
        let mut result = self.end_deferred(result);
        for device in devices.into_iter().filter(|device| device.has_own_memory()) {
            let met = block_on_unchecked(device.end_step(self));
            let was_ended = matches!(&result, Err(e) if matches!(e.code(), Code::Cancelled | Code::DeadlineExceeded));
            // Whatever else went wrong came of it.
            if let (Err(error), false) = (met, was_ended) {
                result = Err(error);
            }
        }
        if result.is_ok() {
            self.deliver_stored_tensors();
        }
        result
    }
}
