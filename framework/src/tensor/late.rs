//! Elements that stay in a file that is mapped, at an address which does not suit them: they are copied when somebody asks
//! for them, and bytes of them can be read where they are.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::buffer::HostBuffer;
use super::mapping::release_pages;
use crate::error::{Error, Result};

/// See the module.
pub(super) struct Late {
    content: Bytes,
    copy: OnceLock<Arc<HostBuffer>>,
}

impl Late {
    pub(super) fn new(content: Bytes) -> Late {
        Late { content, copy: OnceLock::new() }
    }

    /// Another one with the same elements, not copied yet; `None` if they are.
    pub(super) fn another(&self) -> Option<Late> {
        self.copy.get().is_none().then(|| Late::new(self.content.clone()))
    }

    /// The elements where they are, at any address.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.content
    }

    /// The elements at an address that suits them; they stay there.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    #[inline]
    pub(super) fn aligned(&self) -> Result<&Arc<HostBuffer>> {
        match self.copy.get() {
            Some(copy) => Ok(copy),
            None => self.make(),
        }
    }

    #[cold]
    #[track_caller]
    fn make(&self) -> Result<&Arc<HostBuffer>> {
        let bytes = &self.content[..];
        let mut buffer = HostBuffer::new(bytes.len(), false).ok_or_else(|| {
            Error::resource_exhausted(format!("out of memory when a constant of {} bytes is copied", bytes.len()))
        })?;
        // SAFETY: the buffer has room for the bytes, is writable, and nothing else uses it.
        unsafe { buffer.as_mut_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        release_pages(bytes);
        // Of two that are made at once one stays.
        Ok(self.copy.get_or_init(|| Arc::new(buffer)))
    }
}
