//! Resources: what outlives a run and is shared by kernels, such as variables, tables and queues.

mod container;
mod manager;
mod variable;

pub use container::ContainerInfo;
pub use manager::ResourceManager;
pub use variable::Variable;

use std::any::Any;

/// Something that a [`ResourceManager`] keeps.
pub trait Resource: Any + Send + Sync {
    /// The name of the type, for errors.
    fn type_name() -> &'static str
    where
        Self: Sized;

    /// A line of description.
    fn debug_string(&self) -> String {
        "a resource".to_owned()
    }

    /// The bytes of memory that it holds.
    fn memory_used(&self) -> usize {
        0
    }
}
