//! Tensors full of random numbers.

use std::marker::PhantomData;

use kernlink::dtype::Pod;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::op::Op;
use kernlink_geometry::random::{RESERVED, bounds, check_bounds};
pub(super) use kernlink_geometry::random::{reserved, shape_of};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::philox::{Philox, Words};
use super::real::Real;
use super::source::{Keyed, Seeded, Source, Stateful};

/// What makes numbers of random bits.
pub(super) trait Distribution: Copy + Send + Sync {
    type Element: Pod;
    /// How many numbers a group has, at most 4.
    const GROUP: usize;
    /// Nanoseconds or so for one number.
    const COST: usize;
    /// Whether groups need different numbers of bits. Then each has a part of the sequence to itself.
    const VARIES: bool = false;
    /// The next group, whose first [`GROUP`](Self::GROUP) elements count.
    fn group(&self, generator: &mut Philox) -> [Self::Element; 4];
}

/// A distribution as kernels are called by: made from a node's inputs, which begin at `first`.
pub(super) trait Drawn: Distribution {
    /// Checks the inputs' shapes.
    fn check(_: &RawContext<'_>, _first: usize) -> Result<()> {
        Ok(())
    }
    fn new(ctx: &RawContext<'_>, first: usize) -> Result<Self>;
}

/// Fills `output`.
pub(super) fn fill<D: Distribution>(
    ctx: &RawContext<'_>,
    generator: Philox,
    output: &mut [D::Element],
    distribution: &D,
) {
    ctx.parallel_chunks(output, D::GROUP, D::COST, |first, piece| {
        let first = (first / D::GROUP) as u64;
        let mut sequence = generator;
        sequence.skip(first);
        for (group, numbers) in (first..).zip(piece.chunks_mut(D::GROUP)) {
            if D::VARIES {
                sequence = generator;
                sequence.skip(group.wrapping_mul(D::GROUP as u64 * RESERVED / 4));
            }
            numbers.copy_from_slice(&distribution.group(&mut sequence)[..numbers.len()]);
        }
    });
}

macro_rules! float_distributions {
    ($($(#[$doc:meta])* $name:ident, $cost:literal, $varies:literal, |$bits:ident| $group:expr;)+) => {$(
        $(#[$doc])*
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T: Real> Distribution for $name<T> {
            type Element = T;
            const GROUP: usize = T::GROUP;
            const COST: usize = $cost;
            const VARIES: bool = $varies;
            #[inline(always)]
            fn group(&self, $bits: &mut Philox) -> [T; 4] {
                $group
            }
        }

        impl<T: Real> Drawn for $name<T> {
            fn new(_: &RawContext<'_>, _: usize) -> Result<Self> {
                Ok(Self(PhantomData))
            }
        }
    )+};
}
float_distributions! {
    /// From 0 up to but without 1.
    Uniform, 3, false, |bits| T::uniform(bits.step());
    /// With mean 0 and standard deviation 1.
    Normal, 15, false, |bits| T::normal(bits.step());
    /// With mean 0 and standard deviation 1, between −2 and 2.
    Truncated, 25, true, |bits| T::truncated(&mut Words::new(*bits));
}

/// An integer dtype of random numbers.
pub(super) trait Integer: Pod + PartialOrd + std::fmt::Display {
    const GROUP: usize;
    /// All bits.
    fn full(bits: [u32; 4]) -> [Self; 4];
    /// How many numbers there are from `self` up to but without `high`, as bits.
    fn range(self, high: Self) -> u64;
    /// `self` plus the remainder of `bits`, which are of [`full`](Self::full), by `range`.
    fn plus_remainder(self, bits: Self, range: u64) -> Self;
}

macro_rules! integers {
    ($($t:ty, $unsigned:ty, $group:literal, |$bits:ident| $full:expr);+) => {$(
        impl Integer for $t {
            const GROUP: usize = $group;
            #[inline(always)]
            fn full($bits: [u32; 4]) -> [$t; 4] {
                $full
            }
            fn range(self, high: $t) -> u64 {
                u64::from((high as $unsigned).wrapping_sub(self as $unsigned))
            }
            #[inline(always)]
            fn plus_remainder(self, bits: $t, range: u64) -> $t {
                self.wrapping_add((bits as $unsigned % range as $unsigned) as $t)
            }
        }
    )+};
}
/// The 64-bit numbers in 128 bits.
#[inline(always)]
fn pairs([a, b, c, d]: [u32; 4]) -> [u64; 4] {
    [u64::from(a) | u64::from(b) << 32, u64::from(c) | u64::from(d) << 32, 0, 0]
}
integers!(
    i32, u32, 4, |bits| bits.map(|bits| bits as i32);
    u32, u32, 4, |bits| bits;
    i64, u64, 2, |bits| pairs(bits).map(|bits| bits as i64);
    u64, u64, 2, |bits| pairs(bits)
);

/// Integers of the whole range.
#[derive(Clone, Copy)]
pub(super) struct Full<T>(PhantomData<T>);

impl<T: Integer> Distribution for Full<T> {
    type Element = T;
    const GROUP: usize = T::GROUP;
    const COST: usize = 3;
    #[inline(always)]
    fn group(&self, generator: &mut Philox) -> [T; 4] {
        T::full(generator.step())
    }
}

impl<T: Integer> Drawn for Full<T> {
    fn new(_: &RawContext<'_>, _: usize) -> Result<Self> {
        Ok(Full(PhantomData))
    }
}

/// Integers between two bounds.
#[derive(Clone, Copy)]
pub(super) struct Between<T> {
    low: T,
    range: u64,
}

impl<T: Integer> Distribution for Between<T> {
    type Element = T;
    const GROUP: usize = T::GROUP;
    const COST: usize = 5;
    #[inline(always)]
    fn group(&self, generator: &mut Philox) -> [T; 4] {
        T::full(generator.step()).map(|bits| self.low.plus_remainder(bits, self.range))
    }
}

impl<T: Integer> Drawn for Between<T> {
    fn check(ctx: &RawContext<'_>, first: usize) -> Result<()> {
        check_bounds(ctx, first)
    }

    fn new(ctx: &RawContext<'_>, first: usize) -> Result<Self> {
        let [low, high] = bounds::<T>(ctx, first)?;
        Ok(Between { low, range: low.range(high) })
    }
}

/// A kernel that fills its output with numbers of a distribution.
pub(super) struct Fill<S, D> {
    source: S,
    distribution: PhantomData<fn() -> D>,
}

impl<S: Source, D: Drawn> Fill<S, D> {
    fn run(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        self.source.check(ctx)?;
        if S::CHECKS_ALL {
            D::check(ctx, S::PARAMETERS)?;
        }
        let mut output = ctx.allocate_output_at(0, shape_of(ctx.input_at(S::SHAPE)?)?)?;
        let numbers = output.as_mut_slice::<D::Element>()?;
        if !numbers.is_empty() || S::ALWAYS {
            let distribution = D::new(ctx, S::PARAMETERS)?;
            let generator = self.source.generator(ctx, reserved(numbers.len()))?;
            fill(ctx, generator, numbers, &distribution);
        }
        ctx.set_output_at(0, output)
    }
}

impl<O: Op, S: Source, D: Drawn + 'static> OpKernel<O> for Fill<S, D> {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Self { source: S::new(ctx)?, distribution: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.run(ctx)
    }
}

use ops::{
    RandomStandardNormal, RandomUniform, RandomUniformInt, StatelessRandomNormal, StatelessRandomNormalV2,
    StatelessRandomUniform, StatelessRandomUniformFullInt, StatelessRandomUniformFullIntV2, StatelessRandomUniformInt,
    StatelessRandomUniformIntV2, StatelessRandomUniformV2, StatelessTruncatedNormal, StatelessTruncatedNormalV2,
    TruncatedNormal,
};
#[register_kernel(device = Cpu, op = RandomUniform, dtype = [f16, bf16, f32, f64], host_memory = ["shape"])]
type RandomUniformKernel<dtype> = Fill<Stateful, Uniform<dtype>>;

#[register_kernel(device = Cpu, op = RandomStandardNormal, dtype = [f16, bf16, f32, f64], host_memory = ["shape"])]
type RandomStandardNormalKernel<dtype> = Fill<Stateful, Normal<dtype>>;

#[register_kernel(device = Cpu, op = TruncatedNormal, dtype = [f16, bf16, f32, f64], host_memory = ["shape"])]
type TruncatedNormalKernel<dtype> = Fill<Stateful, Truncated<dtype>>;

#[register_kernel(device = Cpu, op = RandomUniformInt, Tout = [i32, i64], host_memory = ["shape", "minval", "maxval"])]
type RandomUniformIntKernel<Tout> = Fill<Stateful, Between<Tout>>;

#[register_kernel(device = Cpu, op = StatelessRandomUniform, dtype = [f16, bf16, f32, f64], host_memory = ["shape", "seed"])]
type StatelessRandomUniformKernel<dtype> = Fill<Seeded, Uniform<dtype>>;

#[register_kernel(device = Cpu, op = StatelessRandomNormal, dtype = [f16, bf16, f32, f64], host_memory = ["shape", "seed"])]
type StatelessRandomNormalKernel<dtype> = Fill<Seeded, Normal<dtype>>;

#[register_kernel(device = Cpu, op = StatelessTruncatedNormal, dtype = [f16, bf16, f32, f64], host_memory = ["shape", "seed"])]
type StatelessTruncatedNormalKernel<dtype> = Fill<Seeded, Truncated<dtype>>;

#[register_kernel(device = Cpu, op = StatelessRandomUniformInt, dtype = [i32, i64], host_memory = ["shape", "seed", "minval", "maxval"])]
type StatelessRandomUniformIntKernel<dtype> = Fill<Seeded, Between<dtype>>;

#[register_kernel(device = Cpu, op = StatelessRandomUniformFullInt, dtype = [i32, i64, u32, u64], host_memory = ["shape", "seed"])]
type StatelessRandomUniformFullIntKernel<dtype> = Fill<Seeded, Full<dtype>>;

#[register_kernel(device = Cpu, op = StatelessRandomUniformV2, dtype = [f16, bf16, f32, f64], host_memory = ["shape", "alg"])]
type StatelessRandomUniformV2Kernel<dtype> = Fill<Keyed, Uniform<dtype>>;

#[register_kernel(device = Cpu, op = StatelessRandomNormalV2, dtype = [f16, bf16, f32, f64], host_memory = ["shape", "alg"])]
type StatelessRandomNormalV2Kernel<dtype> = Fill<Keyed, Normal<dtype>>;

#[register_kernel(device = Cpu, op = StatelessTruncatedNormalV2, dtype = [f16, bf16, f32, f64], host_memory = ["shape", "alg"])]
type StatelessTruncatedNormalV2Kernel<dtype> = Fill<Keyed, Truncated<dtype>>;

#[register_kernel(device = Cpu, op = StatelessRandomUniformIntV2, dtype = [i32, i64], host_memory = ["shape", "alg", "minval", "maxval"])]
type StatelessRandomUniformIntV2Kernel<dtype> = Fill<Keyed, Between<dtype>>;

#[register_kernel(device = Cpu, op = StatelessRandomUniformFullIntV2, dtype = [i32, i64, u32, u64], host_memory = ["shape", "alg"])]
type StatelessRandomUniformFullIntV2Kernel<dtype> = Fill<Keyed, Full<dtype>>;
