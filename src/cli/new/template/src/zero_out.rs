//! ZeroOut: an op with an attr, and its kernel for the CPU.

use kernlink::prelude::*;

/// Keeps the element at `preserve_index` and sets every other one to zero.
#[register_op(
    attr("T: {float, double, int32}"),
    attr("preserve_index: int >= 0 = 0", "Which element to keep, in row-major order."),
    input("to_zero: T"),
    output("zeroed: T", "Of the shape of `to_zero`."),
    shape_fn = shape::unchanged
)]
pub struct ZeroOut;

struct ZeroOutKernel<T> {
    preserve_index: usize,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [f32, f64, i32])]
impl<T: Number> OpKernel<ZeroOut> for ZeroOutKernel<T> {
    /// Runs once for a node.
    fn new(ctx: &KernelConstruction<ZeroOut>) -> Result<Self> {
        let preserve_index = ctx.attrs().preserve_index as usize;
        Ok(Self {
            preserve_index,
            element: PhantomData,
        })
    }

    /// Runs once a step, on several threads at a time.
    fn compute(&self, ctx: &mut KernelContext<ZeroOut>) -> Result<()> {
        let input = ctx.input(ZeroOut::TO_ZERO)?.as_slice::<T>()?;
        let (index, count) = (self.preserve_index, input.len());
        ensure!(
            index < count,
            InvalidArgument,
            "preserve_index {index} is out of range for {count} elements"
        );
        let kept = input[index];
        // The input's own memory if nothing else uses it.
        let mut output = ctx.forward_input_or_allocate_output(ZeroOut::TO_ZERO, ZeroOut::ZEROED)?;
        let elements = output.as_mut_slice::<T>()?;
        elements.fill(T::ZERO);
        elements[index] = kept;
        ctx.set_output(ZeroOut::ZEROED, output)
    }
}
