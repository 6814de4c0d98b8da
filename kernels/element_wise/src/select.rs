//! Choice between two tensors, element by element.

use std::any::Any;

use kernlink::dtype::{DataType, Element, TString};
use kernlink::kernel::{AnyLoop, ElementFunction, ElementWise, KernelContext, Meet, RawContext};
use kernlink::tensor::{ResourceHandle, Tensor, Variant};
use kernlink::{Result, bail};
use kernlink_geometry::element_wise as geometry;
use kernlink_macros::register_kernel;
use kernlink_ops::{Select, SelectV2};

use super::broadcast::Plan;
use super::driver::{Loop, NO_ERROR, Spec, element_wise};

/// How many groups of dimensions the three shapes may broadcast along: TensorFlow has no kernel for more.
const LIMIT: usize = 8;

/// `then` where the condition holds, else `otherwise`; inputs 1 and 2 of the kernel.
struct Choice {
    dtype: DataType,
    /// The loop of what is chosen from and the condition, and that of the condition first; `None` for elements that are not
    /// plain bytes.
    run: Option<(Loop<3>, Loop<3>)>,
}

impl Choice {
    fn new(dtype: DataType) -> Result<Choice> {
        let run: Option<(Loop<3>, Loop<3>)> = match dtype.size() {
            0 => None,
            1 => Some((run::<u8>, run_as_given::<u8>)),
            2 => Some((run::<u16>, run_as_given::<u16>)),
            4 => Some((run::<u32>, run_as_given::<u32>)),
            8 => Some((run::<u64>, run_as_given::<u64>)),
            16 => Some((run::<[u64; 2]>, run_as_given::<[u64; 2]>)),
            _ => bail!(InvalidArgument, "{dtype} elements cannot be selected"),
        };
        Ok(Choice { dtype, run })
    }

    fn compute(&self, ctx: &mut RawContext<'_>, condition: Tensor) -> Result<()> {
        let (then, otherwise) = (ctx.input_at(1)?, ctx.input_at(2)?);
        if condition.rank() == 0 && then.shape() == otherwise.shape() {
            let chosen = ctx.take_input_at(if condition.to_scalar::<bool>()? { 1 } else { 2 })?;
            return ctx.set_output_at(0, chosen);
        }
        let Some((run, _)) = self.run else {
            return match self.dtype {
                DataType::String => choose_objects::<TString>(ctx, &condition),
                DataType::Resource => choose_objects::<ResourceHandle>(ctx, &condition),
                _ => choose_objects::<Variant>(ctx, &condition),
            };
        };
        let spec = Spec {
            run,
            wide: None,
            widest: None,
            inputs: [self.dtype, self.dtype, DataType::Bool],
            output: self.dtype,
            cost: 700,
            error: NO_ERROR,
            limit: LIMIT,
            first: 1,
            stored: None,
            of_stored: None,
        };
        element_wise(ctx, &spec, &[condition])
    }
}

/// An element as bits.
trait Bits: Copy {
    /// One of two, without a branch, which could not be foretold.
    fn chosen(condition: bool, then: Self, otherwise: Self) -> Self;
}

macro_rules! bits {
    ($($t:ty),+) => {$(
        impl Bits for $t {
            #[inline(always)]
            fn chosen(condition: bool, then: $t, otherwise: $t) -> $t {
                let mask = <$t>::from(condition).wrapping_neg();
                otherwise ^ (then ^ otherwise) & mask
            }
        }
    )+};
}
bits!(u8, u16, u32, u64);

impl Bits for [u64; 2] {
    #[inline(always)]
    fn chosen(condition: bool, then: [u64; 2], otherwise: [u64; 2]) -> [u64; 2] {
        [0, 1].map(|part| u64::chosen(condition, then[part], otherwise[part]))
    }
}

/// The loop over elements that are bytes of the size of `T`.
///
/// # Safety
/// As [`Loop`](super::driver::Loop).
unsafe fn run<T: Bits>([then, otherwise, condition]: [*const u8; 3], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise; bool tensors hold only 0 and 1.
    let (then, otherwise, condition, out) = unsafe {
        (
            std::slice::from_raw_parts(then.cast::<T>(), length),
            std::slice::from_raw_parts(otherwise.cast::<T>(), length),
            std::slice::from_raw_parts(condition.cast::<bool>(), length),
            std::slice::from_raw_parts_mut(out.cast::<T>(), length),
        )
    };
    for (((out, &then), &otherwise), &condition) in out.iter_mut().zip(then).zip(otherwise).zip(condition) {
        *out = T::chosen(condition, then, otherwise);
    }
    true
}

/// [`run`] with the condition first, as the ops have it.
///
/// # Safety
/// As [`Loop`](super::driver::Loop).
unsafe fn run_as_given<T: Bits>([condition, then, otherwise]: [*const u8; 3], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { run::<T>([then, otherwise, condition], out, length) }
}

/// What the kernels compute of each element.
fn function(inputs: &[DataType], output: DataType) -> Option<Box<dyn Any + Send + Sync>> {
    let (_, run) = Choice::new(output).ok()?.run?;
    let dtypes = [DataType::Bool, output, output];
    // SAFETY: the loop is for elements of the size of these, and conditions.
    let function = unsafe { ElementFunction::new(AnyLoop::Three(run), dtypes, output) };
    function.with_cost(700).with_limit(LIMIT).for_dtypes(inputs, output)
}

fn choose_objects<T: Element>(ctx: &mut RawContext<'_>, condition: &Tensor) -> Result<()> {
    let (then, otherwise) = (ctx.input_at(1)?, ctx.input_at(2)?);
    let plan = Plan::new([then.shape(), otherwise.shape(), condition.shape()], LIMIT)?;
    let mut output = ctx.allocate_output_at(0, plan.shape())?;
    let (then, otherwise) = (then.as_slice::<T>()?, otherwise.as_slice::<T>()?);
    let (condition, out) = (condition.as_slice::<bool>()?, output.as_mut_slice::<T>()?);
    let steps = plan.run_steps();
    plan.runs(0..out.len(), &mut |at, first, length| {
        for (i, out) in out[at..at + length].iter_mut().enumerate() {
            let chosen = if condition[first[2] + i * steps[2]] {
                &then[first[0] + i * steps[0]]
            } else {
                &otherwise[first[1] + i * steps[1]]
            };
            out.clone_from(chosen);
        }
    });
    ctx.set_output_at(0, output)
}

/// The condition has the shape of the others, or is a scalar, or a vector with an element for each of their rows.
#[register_kernel(
    device = Cpu,
    T = [realnumbertype, complex64, complex128, bool, string, resource, variant],
    state = |ctx| Choice::new(ctx.attrs().T),
    element_wise = Some(ElementWise { parameter: None, meet: Meet::Condition, function }),
)]
fn select(choice: &Choice, ctx: &mut KernelContext<'_, Select>) -> Result<()> {
    let condition = ctx.take_input_at(0)?;
    let shape = geometry::condition(condition.shape(), ctx.input_at(1)?.shape(), ctx.input_at(2)?.shape())?;
    let condition = condition.reshaped(shape)?;
    choice.compute(ctx, condition)
}

#[register_kernel(
    device = Cpu,
    T = [realnumbertype, complex64, complex128, bool, string, resource, variant],
    state = |ctx| Choice::new(ctx.attrs().T),
    element_wise = Some(ElementWise { parameter: None, meet: Meet::Broadcast, function }),
)]
fn select_v2(choice: &Choice, ctx: &mut KernelContext<'_, SelectV2>) -> Result<()> {
    let condition = ctx.take_input_at(0)?;
    choice.compute(ctx, condition)
}
