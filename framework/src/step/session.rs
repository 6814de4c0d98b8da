//! What a session shares among its runs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::{Cancellation, CollectiveExecutor, lock};
use crate::bail;
use crate::error::{Error, Result};
use crate::resource::ResourceManager;
use crate::tensor::Tensor;

/// What the runs of a session share: resources, and tensors that stay in the session.
pub struct SessionContext {
    handle: String,
    resources: Arc<ResourceManager>,
    tensors: Mutex<HashMap<String, Tensor>>,
    next_tensor: AtomicU64,
    metadata: Option<(String, i64)>,
    collectives: Option<Arc<dyn CollectiveExecutor>>,
    closed: Cancellation,
}

static NEXT_SESSION: AtomicU64 = AtomicU64::new(0);

impl SessionContext {
    /// A session with these resources, which several sessions may share.
    pub fn new(resources: Arc<ResourceManager>) -> SessionContext {
        SessionContext {
            handle: format!("direct{}", NEXT_SESSION.fetch_add(1, Ordering::Relaxed)),
            resources,
            tensors: Mutex::default(),
            next_tensor: AtomicU64::new(0),
            metadata: None,
            collectives: None,
            closed: Cancellation::new(),
        }
    }

    /// The same with a name and a version for those who look at kernels.
    pub fn with_metadata(mut self, name: impl Into<String>, version: i64) -> SessionContext {
        self.metadata = Some((name.into(), version));
        self
    }

    /// The same with what computes together with other devices and processes.
    pub fn with_collectives(mut self, collectives: Arc<dyn CollectiveExecutor>) -> SessionContext {
        self.collectives = Some(collectives);
        self
    }

    /// What computes together with other devices and processes, if the session was given it.
    pub fn collectives(&self) -> Option<&Arc<dyn CollectiveExecutor>> {
        self.collectives.as_ref()
    }

    /// The session's own name.
    pub fn handle(&self) -> &str {
        &self.handle
    }

    /// Cancelled when the session is closed, or the last that runs in it is dropped. What goes on beside runs ends with it: it
    /// holds the session, whose resources may hold what it waits for.
    pub fn closed(&self) -> &Cancellation {
        &self.closed
    }

    /// Name and version, if they were given.
    pub fn metadata(&self) -> Option<(&str, i64)> {
        self.metadata.as_ref().map(|(name, version)| (name.as_str(), *version))
    }

    /// The resources.
    pub fn resources(&self) -> &Arc<ResourceManager> {
        &self.resources
    }

    /// A number for a tensor that is to stay.
    pub fn next_tensor_id(&self) -> u64 {
        self.next_tensor.fetch_add(1, Ordering::Relaxed)
    }

    /// Keeps a tensor.
    pub fn add_tensor(&self, handle: &str, tensor: Tensor) {
        lock(&self.tensors).insert(handle.to_owned(), tensor);
    }

    /// The tensor that was kept under a handle.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none.
    pub fn tensor(&self, handle: &str) -> Result<Tensor> {
        let found = lock(&self.tensors).get(handle).cloned();
        match found {
            Some(tensor) => Ok(tensor),
            None => bail!(InvalidArgument, "The tensor with handle '{handle}' is not in the session store."),
        }
    }

    /// Forgets the tensor that was kept under a handle.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none.
    pub fn delete_tensor(&self, handle: &str) -> Result<()> {
        let removed = lock(&self.tensors).remove(handle);
        match removed {
            Some(_) => Ok(()),
            None => bail!(InvalidArgument, "Failed to delete a tensor with handle '{handle}' in the session store."),
        }
    }
}

/// Ends what goes on beside the runs of a session when it is dropped: whoever runs something in the session has it.
pub(crate) struct EndsSession(pub(crate) Arc<SessionContext>);

impl Drop for EndsSession {
    fn drop(&mut self) {
        self.0.closed.cancel(Error::cancelled("the session is gone"));
    }
}
