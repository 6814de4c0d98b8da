//! SoftShrink: a function of each element, which becomes part of the chains that it stands in.

use kernlink::kernel::{Attrs, ElementFunction, ElementWise, Meet, SliceLoop};
use kernlink::prelude::*;

/// `x` nearer to zero by the threshold; what is nearer than that is zero.
#[register_op(
    attr("T: {float, double}"),
    attr("threshold: float = 0.5"),
    input("x: T"),
    output("y: T"),
    shape_fn = shape::unchanged
)]
pub struct SoftShrink;

/// The loop of the kernel, of the elements and the threshold for each.
struct Shrunk<T>(PhantomData<T>);

impl<T: RealNumber> SliceLoop<2> for Shrunk<T> {
    type In = T;
    type Out = T;

    fn run([x, threshold]: [&[T]; 2], y: &mut [T]) {
        for ((y, &x), &threshold) in y.iter_mut().zip(x).zip(threshold) {
            *y = shrunk(x, threshold);
        }
    }
}

fn shrunk<T: RealNumber>(x: T, threshold: T) -> T {
    if x > threshold {
        x - threshold
    } else if x < threshold.wrapping_neg() {
        x + threshold
    } else {
        x * T::ZERO
    }
}

// What it says of itself lets the pass `fuse-element-wise` take it for a step.
#[register_kernel(
    device = Cpu,
    T = [f32, f64],
    element_wise = Some(ElementWise {
        parameter: Some("threshold"),
        meet: Meet::Equal,
        function: |inputs, output| ElementFunction::binary::<Shrunk<T>>().for_dtypes(inputs, output),
    })
)]
fn compute<T: RealNumber>(attrs: &Attrs<SoftShrink>, ctx: &mut KernelContext<'_, SoftShrink>) -> Result<()> {
    let threshold = T::from_f64(attrs.threshold.into());
    let x = ctx.input(SoftShrink::X)?;
    let mut y = ctx.allocate_output(SoftShrink::Y, x.shape())?;
    for (y, &x) in y.as_mut_slice::<T>()?.iter_mut().zip(x.as_slice::<T>()?) {
        *y = shrunk(x, threshold);
    }
    ctx.set_output(SoftShrink::Y, y)
}

/// What flows back goes on where `x` is further from zero than the threshold.
#[register_gradient(op = SoftShrink)]
fn gradient(g: &mut GradientScope<'_>, threshold: f32, x: Value, d_y: Value) -> Result<Value> {
    let distance = ops::abs(g, x).build()?;
    let threshold = g.scalar(g.dtype(x)?, threshold.into())?;
    let is_far = ops::greater(g, distance, threshold).build()?;
    let nothing = ops::zeros_like(g, d_y).build()?;
    ops::select_v2(g, is_far, d_y, nothing).build()
}

/// The same on the GPU, where a function of elements needs no more to be part of chains.
#[cfg(feature = "gpu-shaders")]
#[register_kernel(
    device = Gpu,
    op = SoftShrink,
    T = [f32],
    wgsl = "soft_shrink.wgsl",
    dispatch = element_wise(equal),
    params = [threshold]
)]
struct SoftShrinkOnGpu;
