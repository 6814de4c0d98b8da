//! What kernels say of the functions that they compute, for the kernel that computes several one after the other.

use kernlink::dtype::DataType;
use kernlink::kernel::ElementWise;

use super::driver::{ChosenLoop, Spec};

/// The function of a kernel, whose arguments and result have one dtype.
#[derive(Clone, Copy)]
pub(super) struct Function {
    /// Its loop.
    pub(super) spec: AnySpec,
    /// Which shapes the inputs may have.
    pub(super) meet: Meet,
    /// Whether it depends on the neighbours of an element how it is computed, so that last bits may depend on how a tensor
    /// is cut into rows.
    pub(super) sees_neighbours: bool,
}

/// A loop of some number of arguments. The last is the attr that [`ElementWise::parameter`] names, if it names one.
#[derive(Clone, Copy)]
pub(super) enum AnySpec {
    One(Spec<1>),
    Two(Spec<2>),
    Three(Spec<3>),
}

/// How the inputs of a function meet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meet {
    /// They broadcast.
    Broadcast,
    /// They have one shape, or if `loosely` one number of elements: the result then has the first shape.
    Alike { loosely: bool },
}

impl Function {
    /// The function of a loop; `sees_neighbours` is false.
    pub(super) const fn new(spec: AnySpec, meet: Meet) -> Function {
        Function { spec, meet, sees_neighbours: false }
    }

    /// What a kernel says of it; `None` if the dtypes are not one of those that `_FusedElementWise` has.
    pub(super) const fn element_wise(&'static self, parameter: Option<&'static str>) -> Option<ElementWise> {
        let (input, output) = match &self.spec {
            AnySpec::One(spec) => (spec.inputs[0], spec.output),
            AnySpec::Two(spec) => (spec.inputs[0], spec.output),
            AnySpec::Three(spec) => (spec.inputs[0], spec.output),
        };
        let is_known = matches!(
            input,
            DataType::Half
                | DataType::Bfloat16
                | DataType::Float
                | DataType::Double
                | DataType::Int32
                | DataType::Int64
        );
        if is_known && input as u8 == output as u8 {
            return Some(ElementWise { parameter, function: self });
        }
        None
    }
}

impl AnySpec {
    /// How many arguments there are.
    pub(super) fn arity(&self) -> usize {
        match self {
            AnySpec::One(_) => 1,
            AnySpec::Two(_) => 2,
            AnySpec::Three(_) => 3,
        }
    }

    /// Whether all arguments and the result have a dtype.
    pub(super) fn is_of(&self, dtype: DataType) -> bool {
        let (inputs, output) = match self {
            AnySpec::One(spec) => (&spec.inputs[..], spec.output),
            AnySpec::Two(spec) => (&spec.inputs[..], spec.output),
            AnySpec::Three(spec) => (&spec.inputs[..], spec.output),
        };
        output == dtype && inputs.iter().all(|input| *input == dtype)
    }

    /// Picoseconds for one element, or so.
    pub(super) fn cost(&self) -> usize {
        match self {
            AnySpec::One(spec) => spec.cost,
            AnySpec::Two(spec) => spec.cost,
            AnySpec::Three(spec) => spec.cost,
        }
    }

    /// The loop for this processor.
    pub(super) fn best(&self) -> AnyLoop {
        match self {
            AnySpec::One(spec) => AnyLoop::One(spec.best()),
            AnySpec::Two(spec) => AnyLoop::Two(spec.best()),
            AnySpec::Three(spec) => AnyLoop::Three(spec.best()),
        }
    }
}

/// A loop of some number of arguments, for this processor.
#[derive(Clone, Copy)]
pub(super) enum AnyLoop {
    One(ChosenLoop<1>),
    Two(ChosenLoop<2>),
    Three(ChosenLoop<3>),
}

impl AnyLoop {
    /// Runs the loop on as many of the operands as it has arguments.
    ///
    /// # Safety
    /// As [`Loop`].
    #[inline]
    pub(super) unsafe fn run(self, operands: [*const u8; 3], output: *mut u8, length: usize) -> bool {
        let [x, y, z] = operands;
        // SAFETY: by the caller's promise.
        unsafe {
            match self {
                AnyLoop::One(chosen) => chosen.call([x], output, length),
                AnyLoop::Two(chosen) => chosen.call([x, y], output, length),
                AnyLoop::Three(chosen) => chosen.call([x, y, z], output, length),
            }
        }
    }
}
