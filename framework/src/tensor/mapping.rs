//! Files that the system has mapped into memory, and which they are.

#[cfg(not(any(unix, windows)))]
use std::ops::Deref;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// A mapping that is known to [`is_mapped`] and [`release_pages`] as long as it lives.
pub(super) struct Registered(Arc<Mapping>);

/// The mappings there are.
static MAPPINGS: Mutex<Vec<Arc<Mapping>>> = Mutex::new(Vec::new());

fn mappings() -> MutexGuard<'static, Vec<Arc<Mapping>>> {
    MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registered {
    pub(super) fn new(mapping: Mapping) -> Registered {
        let mapping = Arc::new(mapping);
        mappings().push(mapping.clone());
        Registered(mapping)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut mappings = mappings();
        let place = mappings.iter().position(|mapping| Arc::ptr_eq(mapping, &self.0));
        let removed = place.map(|place| mappings.swap_remove(place));
        drop(mappings);
        drop(removed);
    }
}

/// Where bytes stand in a mapping.
fn place_in(mapping: &Mapping, bytes: &[u8]) -> Option<Range<usize>> {
    let start = bytes.as_ptr().addr().checked_sub(mapping.as_ptr().addr())?;
    let end = start.checked_add(bytes.len())?;
    (end <= mapping.len()).then_some(start..end)
}

/// Whether bytes are part of a file that is mapped.
pub(super) fn is_mapped(bytes: &[u8]) -> bool {
    mappings().iter().any(|mapping| place_in(mapping, bytes).is_some())
}

/// Tells the system that bytes will not be read soon, if they are part of a file that is mapped: they need not stay in the
/// process's memory, and come from the file when they are read again.
pub(super) fn release_pages(bytes: &[u8]) {
    let mappings = mappings();
    let found = mappings.iter().find_map(|mapping| Some((mapping.clone(), place_in(mapping, bytes)?)));
    drop(mappings);
    let Some((mapping, range)) = found else { return };
    #[cfg(unix)]
    {
        // SAFETY: the mapping is of a file and only read, so that its pages have the file's contents again when they are
        // touched.
        _ = unsafe { mapping.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, range.start, range.len()) };
    }
    #[cfg(not(unix))]
    drop((mapping, range));
}
