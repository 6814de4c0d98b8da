//! SobolSample.

use std::sync::{Arc, Mutex, PoisonError};

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink_geometry::integers::scalar;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// For each dimension but the first the coefficients of a primitive polynomial but for the outer ones, and half of each of the
/// first direction numbers, which are odd, but for the first: S. Joe and F. Y. Kuo, of whose 21,201 dimensions TensorFlow has 21,200, in as many bits as
/// they need. `tests/golden/sobol.py` writes it.
static NUMBERS: &[u8] = include_bytes!("sobol.bin");

/// How many primitive polynomials of each degree are used.
const POLYNOMIALS: [usize; 18] = [1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7775];

const MOST_DIMENSIONS: usize = 21_200;

/// The bits that a point's number may have.
const DIGITS: usize = 31;

/// Bits one after the other, the lowest of a byte first.
struct Bits {
    at: usize,
}

impl Bits {
    fn take(&mut self, count: usize) -> u32 {
        let bits = (0..count)
            .map(|n| (self.at + n, n))
            .fold(0, |bits, (at, n)| bits | u32::from(NUMBERS.get(at / 8).copied().unwrap_or(0) >> (at % 8) & 1) << n);
        self.at += count;
        bits
    }
}

/// The direction numbers of each dimension.
type Directions = Vec<[u32; DIGITS]>;

/// [`decoded`], of as many dimensions or more: they stay for the next call, 124 bytes a dimension.
fn directions(dimensions: usize) -> Result<Arc<Directions>> {
    static KNOWN: Mutex<Option<Arc<Directions>>> = Mutex::new(None);
    // They are whole whatever panicked.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.as_ref().filter(|known| known.len() >= dimensions) {
        return Ok(known.clone());
    }
    let new = Arc::new(decoded(dimensions)?);
    *known = Some(new.clone());
    Ok(new)
}

/// The direction numbers of each dimension as fractions of 2³².
fn decoded(dimensions: usize) -> Result<Directions> {
    let mut directions = scratch::room(dimensions)?;
    directions.push(std::array::from_fn(|digit| 1 << (31 - digit)));
    let mut bits = Bits { at: 0 };
    let degrees = POLYNOMIALS.iter().zip(1usize..).flat_map(|(&count, degree)| std::iter::repeat_n(degree, count));
    for degree in degrees.take(dimensions - 1) {
        let polynomial = bits.take(degree - 1);
        let mut numbers = [0u32; DIGITS];
        for (digit, number) in numbers.iter_mut().enumerate().take(degree) {
            *number = (2 * bits.take(digit) + 1) << (31 - digit);
        }
        for digit in degree..DIGITS {
            let before = numbers[digit - degree];
            let mut number = before ^ before >> degree;
            for back in 1..degree {
                if polynomial >> (degree - 1 - back) & 1 == 1 {
                    number ^= numbers[digit - back];
                }
            }
            numbers[digit] = number;
        }
        directions.push(numbers);
    }
    Ok(directions)
}

/// A float type that a point may have.
trait Coordinate: Send {
    /// `fraction / 2³²`
    fn of(fraction: u32) -> Self;
}

impl Coordinate for f32 {
    fn of(fraction: u32) -> f32 {
        fraction as f32 * 2f32.powi(-32)
    }
}

impl Coordinate for f64 {
    fn of(fraction: u32) -> f64 {
        f64::from(fraction) * 2f64.powi(-32)
    }
}

#[register_kernel(device = Cpu, dtype = [f32, f64])]
fn sobol_sample<dtype: Coordinate + kernlink::dtype::Element>(
    ctx: &mut KernelContext<'_, ops::SobolSample>,
) -> Result<()> {
    type Op = ops::SobolSample;
    let dimensions = scalar(ctx.input(Op::DIM)?, "dim")?;
    let count = scalar(ctx.input(Op::NUM_RESULTS)?, "num_results")?;
    let skip = scalar(ctx.input(Op::SKIP)?, "skip")?;
    ensure!(dimensions >= 1, InvalidArgument, "dim must be at least one");
    ensure!(dimensions <= MOST_DIMENSIONS as i64, InvalidArgument, "dim must be at most {MOST_DIMENSIONS}");
    ensure!(count >= 1, InvalidArgument, "num_results must be at least one");
    ensure!(skip >= 0, InvalidArgument, "skip must be non-negative");
    ensure!(count + skip < i64::from(i32::MAX), InvalidArgument, "num_results+skip must be less than {}", i32::MAX);
    let dimensions = dimensions as usize;
    let mut output = ctx.allocate_output(Op::SAMPLES, [count as usize, dimensions])?;
    let directions = directions(dimensions)?;
    let directions = &directions[..dimensions];
    ctx.try_parallel_chunks(output.as_mut_slice::<dtype>()?, dimensions, 2, |first, piece| {
        // Point 0 of the sequence, the origin, is never among the results.
        let first = (first / dimensions) as u32 + skip as u32 + 1;
        let gray = first ^ first >> 1;
        let start = directions.iter().map(|numbers| {
            numbers.iter().enumerate().filter(|(digit, _)| gray >> digit & 1 == 1).fold(0, |x, (_, number)| x ^ number)
        });
        let mut point: Vec<u32> = scratch::collected(start)?;
        for (number, row) in (first..).zip(piece.chunks_exact_mut(dimensions)) {
            row.iter_mut().zip(&point).for_each(|(slot, &x)| *slot = dtype::of(x));
            // The next point differs in one digit of its number's Gray code.
            let digit = number.trailing_ones() as usize;
            point.iter_mut().zip(directions).for_each(|(x, numbers)| *x ^= numbers.get(digit).copied().unwrap_or(0));
        }
        Ok(())
    })?;
    ctx.set_output(Op::SAMPLES, output)
}
