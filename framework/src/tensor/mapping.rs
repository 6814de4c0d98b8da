//! A file that the system has mapped into memory.

#[cfg(not(any(unix, windows)))]
use std::ops::Deref;

/// A file in memory.
#[cfg(any(unix, windows))]
pub(super) type Mapping = memmap2::Mmap;

/// There is no mapping on this target.
#[cfg(not(any(unix, windows)))]
pub(super) enum Mapping {}

#[cfg(not(any(unix, windows)))]
impl Deref for Mapping {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match *self {}
    }
}
