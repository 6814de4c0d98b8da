//! The elements that are objects: resource handles and variants.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// An element of dtype `resource`: names a resource that the runtime keeps.
#[derive(Clone, Default, Debug, PartialEq, Eq, Hash)]
pub struct ResourceHandle {
    /// The device that holds the resource.
    pub device: String,
    /// The container in which it is kept.
    pub container: String,
    /// Its name there.
    pub name: String,
}

/// An element of dtype `variant`: a value whose type is known at run time.
#[derive(Clone, Default)]
pub struct Variant(Option<Arc<dyn Any + Send + Sync>>);

impl Variant {
    /// Wraps a value.
    pub fn new<T: Any + Send + Sync>(value: T) -> Variant {
        Variant(Some(Arc::new(value)))
    }

    /// The value, if it is a `T`.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "<variant>" } else { "<empty variant>" })
    }
}
