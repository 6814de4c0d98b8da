//! EuclideanNorm.

use kernlink::Result;
use kernlink::dtype::{Complex32, Complex64, Number, bf16, f16};
use kernlink::kernel::{Attrs, KernelContext};
use kernlink_macros::register_kernel;
use kernlink_ops::EuclideanNorm;

use super::fill;
use super::plan::Plan;
use super::reducer::{Reducer, Summand};

/// A number with a square and a root.
trait Root: Summand {
    /// The square of the absolute value.
    fn square(self) -> Self::Acc;
    /// The root of a sum of squares.
    fn root(sum: Self::Acc) -> Self;
}

macro_rules! roots {
    ($($($t:ty),+: |$x:ident| $square:expr, |$sum:ident| $root:expr;)+) => {$($(
        impl Root for $t {
            #[inline(always)]
            fn square(self) -> Self::Acc { let $x = self; $square }
            #[inline(always)]
            fn root($sum: Self::Acc) -> Self { $root }
        }
    )+)+};
}
roots! {
    f32, f64: |x| x * x, |sum| sum.sqrt();
    f16: |x| x.to_f32() * x.to_f32(), |sum| f16::from_f32(sum.sqrt());
    bf16: |x| x.to_f32() * x.to_f32(), |sum| bf16::from_f32(sum.sqrt());
    i8, i16, u8, u16, u32, u64: |x| x.wrapping_mul(x), |sum| (sum as f64).sqrt() as Self;
    // The sum may have wrapped. The root is a NaN then, of which TensorFlow makes the least number.
    i32, i64: |x| x.wrapping_mul(x), |sum| if sum < 0 { Self::MIN } else { (sum as f64).sqrt() as Self };
    Complex32, Complex64: |x| x * x.conj(), |sum| Self::new(sum.re.sqrt(), 0.0);
}

/// The root of the sum of the squares.
struct NormOf;

impl<T: Root> Reducer<T> for NormOf {
    type Acc = T::Acc;
    const IDENTITY: T::Acc = T::Acc::ZERO;
    #[inline(always)]
    fn lift(element: T) -> T::Acc {
        element.square()
    }
    #[inline(always)]
    fn merge(first: T::Acc, second: T::Acc) -> T::Acc {
        first.add(second)
    }
    #[inline(always)]
    fn finish(result: T::Acc, _: usize) -> T {
        T::root(result)
    }
}

#[register_kernel(device = Cpu, Tidx = [int32, int64], T = [realnumbertype, Complex32, Complex64])]
fn euclidean_norm<T: Root>(attrs: &Attrs<EuclideanNorm>, ctx: &mut KernelContext<'_, EuclideanNorm>) -> Result<()> {
    let input = ctx.input(EuclideanNorm::INPUT)?;
    let plan = Plan::new(input.shape(), &ctx.input_at(1)?.to_i64_vec()?, attrs.keep_dims)?;
    let mut output = ctx.allocate_output(EuclideanNorm::OUTPUT, plan.output.clone())?;
    let (elements, norms) = (input.as_slice::<T>()?, output.as_mut_slice::<T>()?);
    if plan.is_copy() {
        // Of one element each, which the loops of a reduction are not made for.
        ctx.parallel_chunks(norms, 1, 1, |first, piece| {
            for (norm, &element) in piece.iter_mut().zip(&elements[first..]) {
                *norm = T::root(element.square());
            }
        });
    } else {
        fill::<NormOf, T>(ctx, plan, elements, norms);
    }
    ctx.set_output(EuclideanNorm::OUTPUT, output)
}
