//! ZeroOut: the smallest op with an attr.

use kernlink::prelude::*;

/// Keeps the element at `preserve_index` and sets every other one to zero.
#[register_op(
    attr("T: {float, double, int32}"),
    attr("preserve_index: int >= 0 = 0", "Which element to keep, in row-major order."),
    input("to_zero: T"),
    output("zeroed: T"),
    shape_fn = shape::unchanged
)]
pub struct ZeroOut;

struct ZeroOutKernel<T> {
    preserve_index: usize,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [f32, f64, i32])]
impl<T: Number> OpKernel<ZeroOut> for ZeroOutKernel<T> {
    fn new(ctx: &KernelConstruction<ZeroOut>) -> Result<Self> {
        Ok(Self { preserve_index: ctx.attrs().preserve_index as usize, element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<ZeroOut>) -> Result<()> {
        let input = ctx.input(ZeroOut::TO_ZERO)?.as_slice::<T>()?;
        let count = input.len();
        ensure!(
            self.preserve_index < count,
            InvalidArgument,
            "preserve_index {} is out of range for {count} elements",
            self.preserve_index
        );
        let kept = input[self.preserve_index];
        let mut output = ctx.forward_input_or_allocate_output(ZeroOut::TO_ZERO, ZeroOut::ZEROED)?;
        let elements = output.as_mut_slice::<T>()?;
        elements.fill(T::ZERO);
        elements[self.preserve_index] = kept;
        ctx.set_output(ZeroOut::ZEROED, output)
    }
}
