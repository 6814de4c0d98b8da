//! EuclideanNorm.

use kernlink::Result;
use kernlink::dtype::{Complex32, Complex64, Number};
use kernlink::kernel::{Attrs, KernelContext};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::EuclideanNorm;

use super::fill;
use super::plan::Plan;
use super::reducer::Reducer;

/// A number of which there is a root.
trait Root: Number {
    /// The root of a sum of squares.
    fn root(self) -> Self;
}

macro_rules! roots {
    ($($($t:ty),+: |$sum:ident| $root:expr;)+) => {$($(
        impl Root for $t {
            #[inline(always)]
            fn root(self) -> Self { let $sum = self; $root }
        }
    )+)+};
}
roots! {
    f32, f64: |sum| sum.sqrt();
    i8, i16, u8, u16, u32, u64: |sum| (sum as f64).sqrt() as Self;
    // The sum may have wrapped. The root is a NaN then, of which TensorFlow makes the least number.
    i32, i64: |sum| if sum < 0 { Self::MIN } else { (sum as f64).sqrt() as Self };
    Complex32, Complex64: |sum| Self::new(sum.re.sqrt(), 0.0);
}

/// The root of the sum of the squares.
struct NormOf;

impl<T: Computed<Wide: Root>> Reducer<T> for NormOf {
    type Acc = T::Wide;
    const IDENTITY: T::Wide = T::Wide::ZERO;
    #[inline(always)]
    fn lift(element: T) -> T::Wide {
        let wide = element.widen();
        wide.wrapping_mul(wide.conj())
    }
    #[inline(always)]
    fn merge(first: T::Wide, second: T::Wide) -> T::Wide {
        first.wrapping_add(second)
    }
    #[inline(always)]
    fn finish(result: T::Wide, _: usize) -> T {
        T::narrow(result.root())
    }
}

#[register_kernel(device = Cpu, op = EuclideanNorm, Tidx = [int32, int64], T = [realnumbertype, Complex32, Complex64])]
fn euclidean_norm<T: Computed<Wide: Root>>(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let input = ctx.input(O::INPUT)?;
    let plan = Plan::new(input.shape(), &ctx.input_at(1)?.to_i64_vec()?, attrs.keep_dims)?;
    let mut output = ctx.allocate_output(O::OUTPUT, plan.output.clone())?;
    let (elements, norms) = (input.as_slice::<T>()?, output.as_mut_slice::<T>()?);
    if plan.is_copy() {
        // Of one element each, which the loops of a reduction are not made for.
        ctx.parallel_chunks(norms, 1, 1, |first, piece| {
            for (norm, &element) in piece.iter_mut().zip(&elements[first..]) {
                *norm = NormOf::finish(NormOf::lift(element), 1);
            }
        });
    } else {
        fill::<NormOf, T>(ctx, plan, elements, norms)?;
    }
    ctx.set_output(O::OUTPUT, output)
}
