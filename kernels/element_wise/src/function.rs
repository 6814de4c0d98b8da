//! What kernels say of the functions that they compute, for the kernel that computes several one after the other.

use std::any::Any;

use kernlink::dtype::DataType;
use kernlink::kernel::{AnyLoop, ElementFunction};

use super::driver::{Loop, Spec};

/// A loop of some number of arguments.
pub(super) trait Looped {
    fn any(self) -> AnyLoop;
}

impl Looped for Loop<1> {
    fn any(self) -> AnyLoop {
        AnyLoop::One(self)
    }
}

impl Looped for Loop<2> {
    fn any(self) -> AnyLoop {
        AnyLoop::Two(self)
    }
}

impl Looped for Loop<3> {
    fn any(self) -> AnyLoop {
        AnyLoop::Three(self)
    }
}

impl<const N: usize> Spec<N>
where
    Loop<N>: Looped,
{
    /// What a kernel with this loop says of it if its inputs and its output have these dtypes.
    pub(super) fn for_dtypes(
        &self,
        sees_neighbours: bool,
        inputs: &[DataType],
        output: DataType,
    ) -> Option<Box<dyn Any + Send + Sync>> {
        let mut dtypes = [self.inputs[0]; 3];
        dtypes[..N].copy_from_slice(&self.inputs);
        // SAFETY: a spec has the dtypes of its loop.
        let function = unsafe { ElementFunction::new(self.plain().any(), dtypes, self.output) };
        let function = function.with_cost(self.cost).with_limit(self.limit).with_neighbours(sees_neighbours);
        function.for_dtypes(inputs, output)
    }
}
