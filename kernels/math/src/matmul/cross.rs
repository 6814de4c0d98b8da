//! Cross products.

use kernlink::dtype::Number;
use kernlink::kernel::KernelContext;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::Cross;

#[register_kernel(device = Cpu, T = [realnumbertype])]
fn cross<T: Number>(ctx: &mut KernelContext<'_, Cross>) -> Result<()> {
    let (a, b) = (ctx.input(Cross::A)?, ctx.input(Cross::B)?);
    ensure!(
        a.shape() == b.shape(),
        InvalidArgument,
        "Both inputs must be of same shape: {} vs. {}",
        a.shape(),
        b.shape()
    );
    ensure!(a.rank() > 0, InvalidArgument, "Input must be at least 1D, not of shape {}", a.shape());
    ensure!(
        a.shape().last() == Some(&3),
        FailedPrecondition,
        "Cross-products are only defined for 3-element vectors, not shape {}",
        a.shape()
    );
    let mut product = ctx.allocate_output(Cross::PRODUCT, a.shape())?;
    let (a, b) = (a.as_slice::<T>()?.as_chunks::<3>().0, b.as_slice::<T>()?.as_chunks::<3>().0);
    ctx.parallel_chunks(product.as_mut_slice::<T>()?.as_chunks_mut::<3>().0, 1, 3, |first, piece| {
        for ((product, a), b) in piece.iter_mut().zip(&a[first..]).zip(&b[first..]) {
            let part = |i: usize, j: usize| a[i].wrapping_mul(b[j]).wrapping_sub(a[j].wrapping_mul(b[i]));
            *product = [part(1, 2), part(2, 0), part(0, 1)];
        }
    });
    ctx.set_output(Cross::PRODUCT, product)
}
