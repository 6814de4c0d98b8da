//! Systems on which no library loads.

use std::path::Path;
use std::sync::Arc;

use kernlink_framework::registry::Registry;
use kernlink_framework::{Error, Result};

use super::OpLibrary;
use crate::host::LibraryInUse;

/// Of no library.
pub(super) enum Opened {}

impl Opened {
    pub(super) fn close(&self, _: &Arc<LibraryInUse>) {
        match *self {}
    }
}

pub(super) fn load(path: &Path, _: &Arc<Registry>) -> Result<OpLibrary> {
    let message = format!("cannot load {}: op libraries load on Linux; link the crate instead", path.display());
    Err(Error::unimplemented(message))
}

pub(super) fn is_op_library(_: &Path) -> bool {
    false
}
