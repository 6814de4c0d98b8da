//! Kernels of which only the shader is written, as data and functions: what a device runs them by, and what a library of ops
//! hands to its host.
//!
//! `kernlink::gpu::wgsl` says how such a kernel is written. Everything here is independent of any device.

#[doc(hidden)]
pub mod declared;
mod launch;
mod node;
mod runner;
mod source;
mod suits;

pub use crate::kernel::check::shader::assert_capability;
pub use launch::{IntoShapes, Launch, RawLaunch, Word, groups, shapes, word};
pub use node::{LaunchFunctions, ShaderDef, ShaderNode, functions};
pub use runner::{MakeKernel, ShaderRunner, make};
pub use source::{Dispatch, Made, Operands, Param, ParamType, ParamValue, Source, WORKGROUP};

use crate::error::Result;
use crate::kernel::Meet;
use crate::op::Op;
use crate::shape::Shape;

/// A kernel of op `O` of which only the shader is written. Implemented by `#[register_kernel]`.
pub trait WgslKernel<O: Op>: Send + Sync + 'static {
    /// If it is a function of elements, how the inputs' shapes meet, and the attr that is an argument, if there is one.
    const ELEMENT_WISE: Option<(Meet, Option<&'static str>)> = None;

    /// The shader, and what is to be known of it.
    fn source() -> &'static Source;

    /// The values of those parameters that functions say, in order.
    ///
    /// # Errors
    /// Those of the functions.
    fn computed(launch: &Launch<'_, O>) -> Result<Vec<u32>>;

    /// The outputs' shapes, unless the op's shape function says them.
    fn outputs(launch: &Launch<'_, O>) -> Option<Result<Vec<Shape>>> {
        let _ = launch;
        None
    }

    /// The number of workgroups, if a function says it.
    ///
    /// # Errors
    /// Those of the function.
    fn groups(launch: &Launch<'_, O>) -> Result<[u32; 3]> {
        let _ = launch;
        Ok([1, 1, 1])
    }
}
