//! Tensors full of random numbers.

use std::marker::PhantomData;

use kernlink::dtype::Pod;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::op::Op;
use kernlink::tensor::Tensor;
use kernlink_geometry::random::{RESERVED, bounds, check_bounds};
pub(super) use kernlink_geometry::random::{reserved, shape_of};
use kernlink_kernels_common::widest;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::divisor::{Divisor32, Divisor64};
use super::philox::{BLOCK, Philox};
use super::real::{Real, WORDS};
use super::source::{Keyed, Seeded, Source, Stateful};

/// What makes numbers of random bits.
pub(super) trait Distribution: Copy + Send + Sync {
    type Element: Pod;
    /// How many numbers a group has, at most 4. Each begins with the bits of a step.
    const GROUP: usize;
    /// Nanoseconds or so for one number.
    const COST: usize;
    /// Steps from one group to the next: more than one if groups need different numbers of bits.
    const STRIDE: u64 = 1;
    /// The numbers of [`BLOCK`] groups, the first of which begins where `generator` is, by the words of each one's first
    /// step. `BLOCK *` [`GROUP`](Self::GROUP) of them count. Always inlined.
    fn numbers(&self, words: [u32; WORDS], generator: Philox) -> [Self::Element; WORDS];
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
        let mut generator = generator;
        generator.skip(((first / D::GROUP) as u64).wrapping_mul(D::STRIDE));
        fill_piece(generator, piece, distribution);
    });
}

widest! {
    avx512:
    fn fill_piece<D: Distribution>(generator: Philox, piece: &mut [D::Element], distribution: &D) {
        let mut generator = generator;
        for block in piece.chunks_mut(BLOCK * D::GROUP) {
            let first = generator;
            let numbers = distribution.numbers(generator.block(D::STRIDE), first);
            match block.first_chunk_mut() {
                // As many as are known when this is compiled.
                Some(whole) if D::GROUP == 4 => *whole = numbers,
                _ => block.copy_from_slice(&numbers[..block.len()]),
            }
        }
    }
}

macro_rules! float_distributions {
    ($($(#[$doc:meta])* $name:ident, $cost:literal, $stride:expr, |$words:ident, $generator:pat_param| $numbers:expr;)+) => {$(
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
            const STRIDE: u64 = $stride;
            #[inline(always)]
            fn numbers(&self, $words: [u32; WORDS], $generator: Philox) -> [T; WORDS] {
                $numbers
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
    Uniform, 1, 1, |words, _| T::uniform(words);
    /// With mean 0 and standard deviation 1.
    Normal, 4, 1, |words, _| T::normal(words);
    /// With mean 0 and standard deviation 1, between −2 and 2.
    Truncated, 8, T::GROUP as u64 * RESERVED / 4, |words, generator| T::truncated(words, generator, Self::STRIDE);
}

/// An integer dtype of random numbers.
pub(super) trait Integer: Pod + PartialOrd + std::fmt::Display {
    /// How many numbers 128 bits make.
    const GROUP: usize;
    /// What divides by a range.
    type Range: Copy + Send + Sync;
    /// All bits: of the numbers, the first `BLOCK * GROUP` count.
    fn full(words: [u32; WORDS]) -> [Self; WORDS];
    /// The numbers from `self` up to but without `high`, which is greater.
    fn range(self, high: Self) -> Self::Range;
    /// `self` plus the remainder of `bits`, which are of [`full`](Self::full), by the length of `range`.
    fn plus_remainder(self, bits: Self, range: Self::Range) -> Self;
}

macro_rules! integers {
    ($($t:ty, $range:ident($unsigned:ty), $group:literal);+) => {$(
        impl Integer for $t {
            const GROUP: usize = $group;
            type Range = $range;
            #[inline(always)]
            fn full(words: [u32; WORDS]) -> [$t; WORDS] {
                let mut numbers = [0; WORDS];
                for (number, words) in numbers.iter_mut().zip(words.as_chunks::<{ 4 / $group }>().0) {
                    *number = words.iter().rev().fold(0, |high, &low| high << 32 | u64::from(low)) as $t;
                }
                numbers
            }
            fn range(self, high: $t) -> $range {
                $range::new((high as $unsigned).wrapping_sub(self as $unsigned))
            }
            #[inline(always)]
            fn plus_remainder(self, bits: $t, range: $range) -> $t {
                self.wrapping_add(range.remainder(bits as $unsigned) as $t)
            }
        }
    )+};
}
integers!(i32, Divisor32(u32), 4; u32, Divisor32(u32), 4; i64, Divisor64(u64), 2; u64, Divisor64(u64), 2);

/// Integers of the whole range.
#[derive(Clone, Copy)]
pub(super) struct Full<T>(PhantomData<T>);

impl<T: Integer> Distribution for Full<T> {
    type Element = T;
    const GROUP: usize = T::GROUP;
    const COST: usize = 1;
    #[inline(always)]
    fn numbers(&self, words: [u32; WORDS], _: Philox) -> [T; WORDS] {
        T::full(words)
    }
}

impl<T: Integer> Drawn for Full<T> {
    fn new(_: &RawContext<'_>, _: usize) -> Result<Self> {
        Ok(Full(PhantomData))
    }
}

/// Integers between two bounds.
#[derive(Clone, Copy)]
pub(super) struct Between<T: Integer> {
    low: T,
    range: T::Range,
}

impl<T: Integer> Distribution for Between<T> {
    type Element = T;
    const GROUP: usize = T::GROUP;
    const COST: usize = 2;
    #[inline(always)]
    fn numbers(&self, words: [u32; WORDS], _: Philox) -> [T; WORDS] {
        let mut numbers = T::full(words);
        for number in &mut numbers[..BLOCK * T::GROUP] {
            *number = self.low.plus_remainder(*number, self.range);
        }
        numbers
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
        let check = |ctx: &RawContext<'_>| {
            self.source.check(ctx)?;
            if S::CHECKS_ALL { D::check(ctx, S::PARAMETERS) } else { Ok(()) }
        };
        output_of(ctx, S::SHAPE, &check, &|ctx, output| {
            let numbers = output.as_mut_slice::<D::Element>()?;
            if !numbers.is_empty() || S::ALWAYS {
                let distribution = D::new(ctx, S::PARAMETERS)?;
                let generator = self.source.generator(ctx, reserved(numbers.len()))?;
                fill(ctx, generator, numbers, &distribution);
            }
            Ok(())
        })
    }
}

/// What all such kernels have in common: sets output 0, of the shape that input `shape` says, to what `draw` makes of it.
#[inline(never)]
fn output_of(
    ctx: &mut RawContext<'_>,
    shape: usize,
    check: &dyn Fn(&RawContext<'_>) -> Result<()>,
    draw: &dyn Fn(&RawContext<'_>, &mut Tensor) -> Result<()>,
) -> Result<()> {
    check(ctx)?;
    let mut output = ctx.allocate_output_at(0, shape_of(ctx.input_at(shape)?)?)?;
    draw(ctx, &mut output)?;
    ctx.set_output_at(0, output)
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

#[cfg(test)]
mod tests {
    use kernlink::dtype::{bf16, f16};

    use super::*;

    fn is_made_of_groups<D: Distribution>(distribution: &D)
    where
        D::Element: Default + PartialEq + std::fmt::Debug,
    {
        let start = Philox::new(7, [u64::MAX - 30, 1]);
        let mut whole = vec![D::Element::default(); 301];
        fill_piece(start, &mut whole, distribution);
        for (index, group) in whole.chunks(D::GROUP).enumerate() {
            let mut alone = vec![D::Element::default(); group.len()];
            let mut generator = start;
            generator.skip(index as u64 * D::STRIDE);
            fill_piece(generator, &mut alone, distribution);
            assert_eq!(group, alone, "group {index}");
        }
    }

    #[test]
    fn a_group_depends_on_its_place_alone() {
        fn floats<T: Real + Default + PartialEq>() {
            is_made_of_groups(&Uniform::<T>(PhantomData));
            is_made_of_groups(&Normal::<T>(PhantomData));
            is_made_of_groups(&Truncated::<T>(PhantomData));
        }
        fn integers<T: Integer + Default>(low: T, high: T) {
            is_made_of_groups(&Full::<T>(PhantomData));
            is_made_of_groups(&Between { low, range: low.range(high) });
        }
        floats::<f16>();
        floats::<bf16>();
        floats::<f32>();
        floats::<f64>();
        integers::<i32>(i32::MIN, i32::MAX);
        integers::<i64>(-5, 6);
        integers::<u32>(0, 1);
        integers::<u64>(3, u64::MAX);
    }
}
