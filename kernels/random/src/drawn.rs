//! Many numbers for each of several distributions.

use kernlink::dtype::{Pod, bf16, f16};
use kernlink::error::Result;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_kernels_common::random_floats::{normal64, uniform64};
use smallvec::SmallVec;

use super::philox::Philox;

/// Steps of the generator that a number may take.
pub(super) const STEPS: u64 = 256;

/// Fills `output`, whose last dimensions are those of the parameters of `count` distributions: element `s * count + d`
/// is sample `s` of distribution `d`. `draw` gets `d` and the number's place in TensorFlow's order: all samples of the
/// first distribution, then all of the next.
pub(super) fn draw_each<U: Pod>(
    ctx: &RawContext<'_>,
    output: &mut [U],
    count: usize,
    cost: usize,
    draw: impl Fn(usize, u64) -> U + Sync,
) {
    if count == 0 {
        return;
    }
    let samples = output.len() / count;
    ctx.parallel_chunks(output, 1, cost, |first, piece| {
        for (i, element) in (first..).zip(piece) {
            let (sample, distribution) = (i / count, i % count);
            *element = draw(distribution, (distribution * samples + sample) as u64);
        }
    });
}

/// The generator of the number at a place.
#[inline]
pub(super) fn at(mut generator: Philox, place: u64, steps: u64) -> Philox {
    generator.skip(place.wrapping_mul(steps));
    generator
}

/// Doubles of a generator, each pair last one first.
#[derive(Default)]
pub(super) struct Pairs {
    pair: [f64; 2],
    left: usize,
}

impl Pairs {
    /// From 0 up to but without 1.
    #[inline]
    pub(super) fn uniform(&mut self, generator: &mut Philox) -> f64 {
        self.next(|| {
            let [a, b, c, d] = generator.step();
            [uniform64(a, b), uniform64(c, d)]
        })
    }

    /// With mean 0 and standard deviation 1.
    #[inline]
    pub(super) fn normal(&mut self, generator: &mut Philox) -> f64 {
        self.next(|| normal64(generator.step()))
    }

    #[inline]
    fn next(&mut self, refill: impl FnOnce() -> [f64; 2]) -> f64 {
        if self.left == 0 {
            self.pair = refill();
            self.left = 2;
        }
        self.left -= 1;
        self.pair[self.left]
    }
}

/// A dtype into which doubles are converted.
pub(super) trait FromDouble: Pod {
    /// The greatest number.
    const GREATEST: f64;
    /// Infinity; 0 if there is none.
    const INFINITY: Self;
    /// `value`, rounded, or cut if this is an integer. Beyond the range of an integer is the least, as x86 has it.
    fn from_double(value: f64) -> Self;
}

macro_rules! from_double {
    (integers $($t:ty),+; $($float:ty, $greatest:expr, $from:expr);+) => {
        $(impl FromDouble for $t {
            const GREATEST: f64 = <$t>::MAX as f64;
            const INFINITY: $t = 0;
            #[inline]
            fn from_double(value: f64) -> $t {
                // MIN as a double is exact, -MIN the first number that is too great.
                if value > <$t>::MIN as f64 - 1.0 && value < -(<$t>::MIN as f64) { value as $t } else { <$t>::MIN }
            }
        })+
        $(impl FromDouble for $float {
            const GREATEST: f64 = $greatest;
            const INFINITY: $float = <$float>::INFINITY;
            #[inline]
            fn from_double(value: f64) -> $float {
                $from(value)
            }
        })+
    };
}
from_double!(integers i32, i64;
    f64, f64::MAX, std::convert::identity;
    f32, f32::MAX as f64, |value| value as f32;
    f16, 65504.0, |value| f16::from_f32(value as f32);
    bf16, 3.3895313892515355e38, |value| bf16::from_f32(value as f32)
);

/// The elements of a float or integer tensor as doubles.
pub(super) fn doubles(tensor: &Tensor) -> Result<Vec<f64>> {
    use kernlink::dtype::DataType;
    Ok(match tensor.dtype() {
        DataType::Double => scratch::copied(tensor.as_slice::<f64>()?)?,
        DataType::Float => scratch::collected(tensor.as_slice::<f32>()?.iter().map(|&value| value.into()))?,
        DataType::Half => scratch::collected(tensor.as_slice::<f16>()?.iter().map(|&value| value.into()))?,
        DataType::Bfloat16 => scratch::collected(tensor.as_slice::<bf16>()?.iter().map(|&value| value.into()))?,
        DataType::Int32 => scratch::collected(tensor.as_slice::<i32>()?.iter().map(|&value| value.into()))?,
        DataType::Int64 => scratch::collected(tensor.as_slice::<i64>()?.iter().map(|&value| value as f64))?,
        other => bail!(Unimplemented, "parameters of dtype {other} are not supported"),
    })
}

/// The places in several tensors of what goes together when they broadcast.
pub(super) struct Places<const N: usize> {
    shape: Shape,
    strides: [SmallVec<[usize; 4]>; N],
}

impl<const N: usize> Places<N> {
    #[track_caller]
    pub(super) fn new(shapes: [&Shape; N]) -> Result<Places<N>> {
        let mut together = Shape::scalar();
        for shape in shapes {
            together = together.broadcast(shape)?;
        }
        let strides = shapes.map(|shape| {
            let missing = together.rank() - shape.rank();
            let strides = shape.strides();
            let stride = |axis| if axis < missing || shape[axis - missing] == 1 { 0 } else { strides[axis - missing] };
            (0..together.rank()).map(stride).collect()
        });
        Ok(Places { shape: together, strides })
    }

    /// The shape to which the tensors broadcast.
    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The places for element `index` of that shape.
    pub(super) fn at(&self, index: usize) -> [usize; N] {
        let (mut places, mut rest) = ([0; N], index);
        for (axis, &size) in self.shape.iter().enumerate().rev() {
            let at = rest % size;
            rest /= size;
            for (place, strides) in places.iter_mut().zip(&self.strides) {
                *place += at * strides[axis];
            }
        }
        places
    }
}

/// `first` followed by `last`.
#[track_caller]
pub(super) fn joined(first: &Shape, last: &Shape) -> Result<Shape> {
    let dims = first.iter().chain(last.iter()).map(|&dim| dim as i64).collect::<Vec<_>>();
    Shape::from_dims(&dims)
}

/// Fails unless the last dimensions of `shape` are those of `last`.
#[track_caller]
pub(super) fn ensure_ends_with(shape: &Shape, last: &Shape) -> Result<()> {
    ensure!(
        shape.dims().ends_with(last.dims()),
        InvalidArgument,
        "the shape {shape} must end as that of the parameters, {last}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_the_broadcast() {
        let places = Places::new([&Shape::from([2, 1]), &Shape::from([3])]).unwrap();
        assert_eq!(*places.shape(), Shape::from([2, 3]));
        let all = (0..6).map(|index| places.at(index)).collect::<Vec<_>>();
        assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(Places::new([&Shape::scalar(), &Shape::scalar()]).unwrap().at(0), [0, 0]);
        assert!(Places::new([&Shape::from([2]), &Shape::from([3])]).is_err());
    }

    #[test]
    fn doubles_beyond_an_integer_are_its_least() {
        assert_eq!(
            [2147483647.9, -2147483648.9, 2147483648.0, f64::NAN].map(i32::from_double),
            [i32::MAX, i32::MIN, i32::MIN, i32::MIN]
        );
        assert_eq!(
            [9.2e18, -9.3e18, 9223372036854775808.0].map(i64::from_double),
            [9200000000000000000, i64::MIN, i64::MIN]
        );
    }
}
