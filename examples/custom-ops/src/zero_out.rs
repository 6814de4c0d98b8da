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

/// The one element that was kept takes what flows back to it: the op is linear, and its own gradient.
#[register_gradient(op = ZeroOut)]
fn gradient(g: &mut GradientScope<'_>, preserve_index: i64, d_zeroed: Value) -> Result<Value> {
    zero_out(g, d_zeroed).preserve_index(preserve_index).build()
}

/// The same on the GPU: its elements are all there is to say.
#[cfg(feature = "gpu-shaders")]
#[register_kernel(
    device = Gpu,
    op = ZeroOut,
    T = [f32, i32],
    wgsl = "zero_out.wgsl",
    params = [preserve_index: u32],
    outputs = zeroed_shape
)]
struct ZeroOutOnGpu;

#[cfg(feature = "gpu-shaders")]
fn zeroed_shape(launch: &kernlink::gpu::wgsl::Launch<ZeroOut>) -> Result<Shape> {
    let (shape, index) = (launch.input_shape(ZeroOut::TO_ZERO), launch.attrs().preserve_index);
    let count = shape.num_elements();
    ensure!((index as usize) < count, InvalidArgument, "preserve_index {index} is out of range for {count} elements");
    Ok(shape.clone())
}
