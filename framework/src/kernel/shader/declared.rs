//! Kernels of which only the shader is written, in a build without a device for them: a library offers them to a host that
//! has one.

use std::convert::Infallible;
use std::marker::PhantomData;

use super::{Source, WgslKernel};
use crate::error::{Error, Result};
use crate::kernel::{KernelConstruction, KernelContext, OpKernel};
use crate::op::Op;

/// A kernel of which only the shader is written. It cannot be made here.
pub struct Kernel<K, O> {
    never: Infallible,
    kernel: PhantomData<fn() -> (K, O)>,
}

/// A kernel of which only a function of elements is written. It cannot be made here.
pub type ElementWise<K, O> = Kernel<K, O>;

fn without_a_device(source: &Source) -> Error {
    Error::failed_precondition(format!(
        "`{}` ({}) is a shader, and this program is built without a device for shaders: build it with the feature `gpu` of \
         kernlink, or load the crate as a library into a program that has one",
        source.name, source.location
    ))
}

impl<K: WgslKernel<O>, O: Op> OpKernel<O> for Kernel<K, O> {
    fn new(_: &KernelConstruction<'_, O>) -> Result<Kernel<K, O>> {
        Err(without_a_device(K::source()))
    }

    fn compute(&self, _: &mut KernelContext<'_, O>) -> Result<()> {
        match self.never {}
    }
}

/// In a build with the feature `gpu`, checks the shader of a kernel for each combination of its dtypes.
///
/// # Errors
/// FAILED_PRECONDITION in this build.
pub fn check<K: WgslKernel<O>, O: Op>() -> Result<()> {
    Err(without_a_device(K::source()).append(
        "\n  to check shaders, tests need it too: `kernlink = { ..., features = [\"gpu\"] }` among [dev-dependencies]",
    ))
}
