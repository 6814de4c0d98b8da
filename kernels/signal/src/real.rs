//! Transforms of real numbers, and those whose results are real: RFFT, IRFFT and those of more dimensions.

use kernlink::dtype::{DataType, Pod};
use kernlink::error::Error;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;
use rustfft::num_complex::Complex;

use crate::along::{self, Way};
use crate::plans::Real;

#[register_kernel(device = Cpu, op = ops::RFFT, host_memory = ["fft_length"], Treal = [float, double], state = |_| Ok(1))]
#[register_kernel(device = Cpu, op = ops::RFFT2D, host_memory = ["fft_length"], Treal = [float, double], state = |_| Ok(2))]
#[register_kernel(device = Cpu, op = ops::RFFT3D, host_memory = ["fft_length"], Treal = [float, double], state = |_| Ok(3))]
fn forward(&rank: &usize, ctx: &mut RawContext<'_>) -> Result<()> {
    let sizes = Sizes::new(ctx, rank, false)?;
    match wide(ctx, "forward")? {
        true => from_real::<f64>(ctx, &sizes),
        false => from_real::<f32>(ctx, &sizes),
    }
}

#[register_kernel(device = Cpu, op = ops::IRFFT, host_memory = ["fft_length"], Tcomplex = [complex64, complex128], state = |_| Ok(1))]
#[register_kernel(device = Cpu, op = ops::IRFFT2D, host_memory = ["fft_length"], Tcomplex = [complex64, complex128], state = |_| Ok(2))]
#[register_kernel(device = Cpu, op = ops::IRFFT3D, host_memory = ["fft_length"], Tcomplex = [complex64, complex128], state = |_| Ok(3))]
fn inverse(&rank: &usize, ctx: &mut RawContext<'_>) -> Result<()> {
    let sizes = Sizes::new(ctx, rank, true)?;
    match wide(ctx, "backward")? {
        true => to_real::<f64>(ctx, &sizes),
        false => to_real::<f32>(ctx, &sizes),
    }
}

/// Whether the numbers are doubles.
///
/// # Errors
/// INVALID_ARGUMENT if the complex numbers are not made of the real ones.
fn wide(ctx: &RawContext<'_>, way: &str) -> Result<bool> {
    let (input, output) = (ctx.input_at(0)?.dtype(), ctx.output_dtype_at(0)?);
    match (input, output) {
        (DataType::Float, DataType::Complex64) | (DataType::Complex64, DataType::Float) => Ok(false),
        (DataType::Double, DataType::Complex128) | (DataType::Complex128, DataType::Double) => Ok(true),
        _ => Err(Error::invalid_argument(format!("Wrong types for {way} real FFT: in={input} out={output}"))),
    }
}

/// The sizes of a transform of the last dimensions.
struct Sizes {
    /// The number of what lies before the transformed dimensions.
    batch: usize,
    /// The transformed dimensions as the input has them.
    input: Vec<usize>,
    /// The transformed dimensions of the real numbers.
    lengths: Vec<usize>,
    output: Shape,
}

impl Sizes {
    /// Checks the inputs.
    fn new(ctx: &RawContext<'_>, rank: usize, inverse: bool) -> Result<Self> {
        let (input, fft_length) = (ctx.input_at(0)?.shape(), ctx.input_at(1)?);
        ensure!(input.rank() >= rank, InvalidArgument, "Input must have rank of at least {rank} but got: {input}");
        ensure!(fft_length.shape().dims() == [rank], InvalidArgument, "fft_length must have shape [{rank}]");
        let before = input.rank() - rank;
        let (mut output, mut lengths) = (input.clone(), Vec::new());
        for (i, &length) in fft_length.as_slice::<i32>()?.iter().enumerate() {
            ensure!(length >= 0, InvalidArgument, "fft_length[{i}] must >= 0, but got: {length}");
            let (length, has, innermost) = (length as usize, input[before + i], i + 1 == rank);
            let least = if inverse && innermost { length / 2 + 1 } else { length };
            ensure!(
                has == 0 || has >= least,
                InvalidArgument,
                "Input dimension {} must have length of at least {least} but got: {has}",
                before + i
            );
            output.dims_mut()[before + i] = if !inverse && innermost && length != 0 { length / 2 + 1 } else { length };
            lengths.push(length);
        }
        let batch = input[..before].iter().product();
        Ok(Self { batch, input: input[before..].to_vec(), lengths, output })
    }

    /// The place in the input of a row of what takes part.
    fn source_row(&self, mut row: usize) -> usize {
        let (mut place, mut stride) = (0, 1);
        let outer = self.lengths.len() - 1;
        for (&has, &takes) in self.input[..outer].iter().zip(&self.lengths[..outer]).rev() {
            place += row % takes * stride;
            row /= takes;
            stride *= has;
        }
        place + row * stride
    }

    /// How many elements of the last dimension say all.
    fn half(&self) -> usize {
        self.innermost() / 2 + 1
    }

    fn innermost(&self) -> usize {
        self.lengths[self.lengths.len() - 1]
    }

    /// The dimensions of the halves.
    fn halves(&self) -> Vec<usize> {
        let mut dims = vec![self.batch];
        dims.extend_from_slice(&self.lengths);
        dims[self.lengths.len()] = self.half();
        dims
    }
}

fn from_real<T: Real>(ctx: &mut RawContext<'_>, sizes: &Sizes) -> Result<()>
where
    Complex<T>: Pod,
{
    let input = ctx.input_at(0)?;
    if input.num_elements() == 0 {
        // TensorFlow leaves what is in the memory.
        let zeros = Tensor::zeros(ctx.output_dtype_at(0)?, sizes.output.clone())?;
        return ctx.set_output_at(0, zeros);
    }
    let mut output = ctx.allocate_output_at(0, sizes.output.clone())?;
    let (from, to) = (input.as_slice::<T>()?, output.as_mut_slice::<Complex<T>>()?);
    if !to.is_empty() {
        let (length, half, stride) = (sizes.innermost(), sizes.half(), sizes.input[sizes.input.len() - 1]);
        let plan = T::plans().forward(length);
        ctx.try_parallel_chunks(to, half, along::cost(length), |first, to| {
            let mut space = scratch::zeros(plan.get_scratch_len())?;
            let mut row = scratch::zeros::<T>(length)?;
            for (i, to) in to.chunks_exact_mut(half).enumerate() {
                row.copy_from_slice(&from[sizes.source_row(first / half + i) * stride..][..length]);
                plan.process_with_scratch(&mut row, to, &mut space).map_err(unexpected)?;
            }
            Ok(())
        })?;
        let dims = sizes.halves();
        for axis in 1..sizes.lengths.len() {
            along::axis(ctx, to, &dims, axis, Way { inverse: false, scale: None })?;
        }
    }
    ctx.set_output_at(0, output)
}

fn to_real<T: Real>(ctx: &mut RawContext<'_>, sizes: &Sizes) -> Result<()>
where
    Complex<T>: Pod,
{
    let input = ctx.input_at(0)?;
    if input.num_elements() == 0 {
        let zeros = Tensor::zeros(ctx.output_dtype_at(0)?, sizes.output.clone())?;
        return ctx.set_output_at(0, zeros);
    }
    let mut output = ctx.allocate_output_at(0, sizes.output.clone())?;
    let (from, to) = (input.as_slice::<Complex<T>>()?, output.as_mut_slice::<T>()?);
    if !to.is_empty() {
        let (length, half, stride) = (sizes.innermost(), sizes.half(), sizes.input[sizes.input.len() - 1]);
        // The other dimensions first: what comes of them is again a half that says all.
        let mut between = Vec::new();
        if sizes.lengths.len() > 1 {
            let dims = sizes.halves();
            between = scratch::zeros(dims.iter().product())?;
            ctx.parallel_chunks(&mut between, half, 1, |first, rows| {
                for (i, row) in rows.chunks_exact_mut(half).enumerate() {
                    row.copy_from_slice(&from[sizes.source_row(first / half + i) * stride..][..half]);
                }
            });
            for axis in 1..sizes.lengths.len() {
                along::axis(ctx, &mut between, &dims, axis, Way { inverse: true, scale: None })?;
            }
        }
        let (from, stride) = if between.is_empty() { (from, stride) } else { (&between[..], half) };
        let plan = T::plans().inverse(length);
        let scale = T::reciprocal(sizes.lengths.iter().product());
        ctx.try_parallel_chunks(to, length, along::cost(length), |first, to| {
            let mut space = scratch::zeros(plan.get_scratch_len())?;
            let mut row = scratch::zeros::<Complex<T>>(half)?;
            for (i, to) in to.chunks_exact_mut(length).enumerate() {
                for (row, &x) in row.iter_mut().zip(&from[(first / length + i) * stride..]) {
                    *row = x * scale;
                }
                // These are their own conjugates: imaginary parts count for nothing.
                row[0].im = T::zero();
                if length.is_multiple_of(2) {
                    row[half - 1].im = T::zero();
                }
                plan.process_with_scratch(&mut row, to, &mut space).map_err(unexpected)?;
            }
            Ok(())
        })?;
    }
    ctx.set_output_at(0, output)
}

/// Lengths fit and imaginary parts are zero where they must be.
#[cold]
fn unexpected(error: realfft::FftError) -> Error {
    Error::internal(format!("a real FFT was refused: {error}"))
}
