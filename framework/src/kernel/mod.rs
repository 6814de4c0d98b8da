//! Kernels: how an op is computed on a device for certain dtypes.

mod agreement;
mod builder;
pub mod check;
mod construction;
mod context;
mod def;
mod dynamic;
mod element_wise;
mod fallible;
mod host_slots;
mod lists;
mod memory;
pub mod place;
mod resources;
mod runner;
pub mod shader;
mod split;
mod surroundings;

pub use crate::device::{CPU, DeviceType, GPU};
pub use builder::{KernelDefBuilder, check_against_op};
pub use construction::{GraphNode, KernelConstruction, RawConstruction, Surroundings};
pub use context::{KernelContext, RawContext, RunInfo};
pub use def::{
    AttrConstraint, ConstraintValues, CrateProvider, CreateClosure, CreateKernel, KernelDef, Location, Provider,
    ProviderAtRoot,
};
pub use dynamic::{
    AsyncOpKernel, Attrs, DynKernel, KernelState, OpKernel, compute_and_wait, create_async_kernel, create_kernel,
};
pub use element_wise::{AnyLoop, ElementFunction, ElementLoop, ElementWise, FunctionOf, Meet, SliceLoop, UnaryClosure};
pub use host_slots::HostSlots;
pub use lists::InputList;
pub use memory::{MemoryType, NodeMemory};
pub use resources::{IsResourceInitialized, NamedResource, ResourceHandleOp, ResourceHandlesOp};
pub use runner::Runner;
