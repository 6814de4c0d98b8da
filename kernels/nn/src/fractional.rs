//! Pooling with windows of random sizes, as in Benjamin Graham, "Fractional Max-Pooling" (2014), and its gradients.

use kernlink::dtype::RealNumber;
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_geometry::random::philox::{Philox, Words, entropy};
use kernlink_kernels_common::number::{AsPrimitive, Divide};
use kernlink_kernels_common::random_floats::uniform64;
use kernlink_macros::register_kernel;
use kernlink_ops::{FractionalAvgPool, FractionalAvgPoolGrad, FractionalMaxPool, FractionalMaxPoolGrad};

/// The attrs of a pooling.
struct Pooling {
    ratios: [f32; 4],
    is_pseudo_random: bool,
    is_overlapping: bool,
    /// None if each run has others.
    seeds: Option<(i64, i64)>,
}

impl KernelState for Pooling {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let attrs = ctx.attrs;
        let ratios: Vec<f32> = attrs.required("pooling_ratio")?;
        let Ok(ratios) = <[f32; 4]>::try_from(ratios) else {
            bail!(InvalidArgument, "pooling_ratio must have 4 values, one for each dimension");
        };
        for ratio in ratios {
            ensure!(ratio >= 1.0, InvalidArgument, "pooling_ratio cannot be smaller than 1, but {ratio} is");
        }
        ensure!(
            ratios[0] == 1.0 && ratios[3] == 1.0,
            Unimplemented,
            "pooling_ratio {ratios:?} must be 1 for batch and channels"
        );
        let (seed, seed2): (i64, i64) = (attrs.required("seed")?, attrs.required("seed2")?);
        let is_seeded = (seed, seed2) != (0, 0);
        let seeds = match attrs.required("deterministic")? {
            true if is_seeded => Some((seed, seed2)),
            true => Some((entropy() as i64, entropy() as i64)),
            false => {
                ensure!(!is_seeded, InvalidArgument, "seed and seed2 must be 0 unless deterministic is true");
                None
            }
        };
        let is_pseudo_random = attrs.required("pseudo_random")?;
        Ok(Self { ratios, is_pseudo_random, is_overlapping: attrs.required("overlapping")?, seeds })
    }
}

impl Pooling {
    /// The shape of the output, and where windows begin along rows and columns.
    fn sequences(&self, input: &Shape) -> Result<(Shape, [Vec<i64>; 2])> {
        ensure!(input.rank() == 4, InvalidArgument, "value must be 4-dimensional, not {input}");
        let mut sizes = [0; 4];
        for (axis, size) in sizes.iter_mut().enumerate() {
            let (whole, ratio) = (input[axis], self.ratios[axis]);
            ensure!(
                i32::try_from(whole).is_ok(),
                InvalidArgument,
                "dimension {axis} of value exceeds an int32: {whole}"
            );
            ensure!(
                whole as f32 >= ratio,
                InvalidArgument,
                "pooling_ratio {ratio} is higher than the size {whole} of dimension {axis}"
            );
            // What is rounded up when it becomes a float is not more than there is.
            *size = ((whole as f32 / ratio).floor() as usize).min(whole);
        }
        let (seed, seed2) = self.seeds.unwrap_or_else(|| (entropy() as i64, entropy() as i64));
        let mut generator = Philox::from_seeds(seed, seed2);
        let mut sequence = |axis: usize| match self.is_pseudo_random {
            true => pseudo_random(input[axis], sizes[axis], &mut generator),
            false => random(input[axis], sizes[axis], &mut generator),
        };
        let sequences = [sequence(1)?, sequence(2)?];
        Ok((Shape::from(sizes), sequences))
    }
}

/// Windows of two sizes that differ by one, in random order.
fn random(input: usize, output: usize, generator: &mut Philox) -> Result<Vec<i64>> {
    let (size, larger) = (input / output, input % output);
    let mut sizes = scratch::filled(size as i64, output)?;
    sizes[..larger].iter_mut().for_each(|size| *size += 1);
    let mut words = Words::new(*generator);
    generator.skip(output.div_ceil(4) as u64);
    for first in 0..output - 1 {
        let other = first + words.word() as usize % (output - first);
        sizes.swap(first, other);
    }
    let mut end = 0;
    let ends = sizes.iter().map(|size| {
        end += size;
        end
    });
    scratch::collected(std::iter::once(0).chain(ends))
}

/// Windows that begin at multiples of their mean size, all moved by the same random number.
fn pseudo_random(input: usize, output: usize, generator: &mut Philox) -> Result<Vec<i64>> {
    let (alpha, size) = (input as f64 / output as f64, input / output);
    // Neither the first window nor the last may have another size than the others.
    let first = (size + 2) as f64 / alpha - 1.0;
    let last = (input + 1 - size) as f64 / alpha - (output as f64 - 1.0);
    let mut words = Words::new(*generator);
    generator.skip(1);
    let moved = uniform64(words.word(), words.word()) * first.min(last);
    let begin = |window: usize| match window {
        0 => 0,
        window if window == output => input as i64,
        window => (alpha * (window as f64 + moved)).ceil() as i64 - 1,
    };
    scratch::collected((0..=output).map(begin))
}

/// Where the windows of a pooling lie.
struct Windows<'s> {
    rows: &'s [i64],
    columns: &'s [i64],
    /// Rows, columns and channels of what is pooled.
    input: [usize; 3],
    is_overlapping: bool,
}

impl<'s> Windows<'s> {
    /// Of sequences that fit an output. As in TensorFlow they may begin behind the first row or column and end behind the last; what
    /// follows the windows of the output does not count.
    fn new(sequences: [&'s [i64]; 2], input: [usize; 3], output: [usize; 2], is_overlapping: bool) -> Result<Self> {
        let used = |axis: usize, name: &str| {
            let (sequence, needed) = (sequences[axis], output[axis] + 1);
            let Some(sequence) = sequence.get(..needed) else {
                bail!(
                    InvalidArgument,
                    "{name} must have {needed} elements, one more than the output has windows, not {}",
                    sequence.len()
                );
            };
            ensure!(
                sequence[0] >= 0 && sequence.is_sorted(),
                InvalidArgument,
                "{name} must not be negative, and each element at least as great as the one before"
            );
            ensure!(
                is_overlapping || sequence.get(1) != Some(&0),
                InvalidArgument,
                "{name} must not have its first window end before row or column 0"
            );
            Ok(sequence)
        };
        let [rows, columns] = [used(0, "row_pooling_sequence")?, used(1, "col_pooling_sequence")?];
        Ok(Self { rows, columns, input, is_overlapping })
    }

    /// The range of a window along an axis; empty behind what is pooled.
    fn range(&self, axis: usize, window: usize) -> std::ops::Range<usize> {
        let sequence = if axis == 0 { self.rows } else { self.columns };
        let end = sequence[window + 1].saturating_add(i64::from(self.is_overlapping));
        sequence[window] as usize..(end as usize).min(self.input[axis])
    }

    /// The pixels of a window, each by its first element in an image.
    fn pixels(&self, row: usize, column: usize) -> impl Iterator<Item = usize> {
        let [_, width, depth] = self.input;
        let columns = self.range(1, column);
        self.range(0, row).flat_map(move |y| columns.clone().map(move |x| (y * width + x) * depth))
    }

    fn output(&self) -> [usize; 2] {
        [self.rows.len() - 1, self.columns.len() - 1]
    }
}

/// Output 0 is what `pool` makes of each window, given an image, the window's pixels and the target; outputs 1 and 2 are the
/// sequences.
fn pooled<T: RealNumber>(
    pooling: &Pooling,
    ctx: &mut RawContext<'_>,
    pool: impl Fn(&[T], &mut dyn Iterator<Item = usize>, &mut [T]) + Sync,
) -> Result<()> {
    let input = ctx.input_at(0)?;
    let (shape, sequences) = pooling.sequences(input.shape())?;
    let (sizes, rows) = ([input.shape()[1], input.shape()[2], input.shape()[3]], shape[1]);
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let windows = Windows::new([&sequences[0], &sequences[1]], sizes, [shape[1], shape[2]], pooling.is_overlapping)?;
    let (elements, depth) = (input.as_slice::<T>()?, sizes[2]);
    let image = elements.len() / shape[0];
    let row = shape[2] * depth;
    let cost = (image / (rows * row)).max(1);
    ctx.parallel_chunks(output.as_mut_slice::<T>()?, row, cost, |first, piece| {
        for (line, target) in (first / row..).zip(piece.chunks_exact_mut(row)) {
            let image = &elements[line / rows * image..][..image];
            for (column, target) in target.chunks_exact_mut(depth).enumerate() {
                pool(image, &mut windows.pixels(line % rows, column), target);
            }
        }
    });
    ctx.set_output_at(0, output)?;
    ctx.set_output_at(1, Tensor::vector(&sequences[0])?)?;
    ctx.set_output_at(2, Tensor::vector(&sequences[1])?)
}

#[register_kernel(device = Cpu, op = FractionalMaxPool, T = [f32, f64, i32, i64])]
fn fractional_max_pool<T: RealNumber>(pooling: &Pooling, ctx: &mut RawContext<'_>) -> Result<()> {
    pooled::<T>(pooling, ctx, |image, pixels, target| {
        target.fill(T::MIN);
        for pixel in pixels {
            for (target, &element) in target.iter_mut().zip(&image[pixel..]) {
                *target = if *target < element { element } else { *target };
            }
        }
    })
}

#[register_kernel(device = Cpu, op = FractionalAvgPool, T = [f32, f64, i32, i64])]
fn fractional_avg_pool<T: RealNumber + Divide>(pooling: &Pooling, ctx: &mut RawContext<'_>) -> Result<()> {
    pooled::<T>(pooling, ctx, |image, pixels, target| {
        target.fill(T::ZERO);
        let mut count = 0;
        for pixel in pixels {
            count += 1;
            for (target, &element) in target.iter_mut().zip(&image[pixel..]) {
                *target = target.wrapping_add(element);
            }
        }
        let count = T::from_f64(f64::from(count));
        target.iter_mut().for_each(|target| *target = target.divide(count));
    })
}

/// Inputs `first` and the next as sequences.
fn sequences<'c>(ctx: &'c RawContext<'_>, first: usize) -> Result<[&'c [i64]; 2]> {
    Ok([ctx.input_at(first)?.as_slice()?, ctx.input_at(first + 1)?.as_slice()?])
}

/// The four sizes of images.
fn four(name: &str, shape: &Shape) -> Result<[usize; 4]> {
    <[usize; 4]>::try_from(shape.dims())
        .map_err(|_| Error::invalid_argument(format!("{name} must be 4-dimensional, not {shape}")))
}

/// Attr `overlapping`.
fn overlaps(ctx: &RawConstruction<'_>) -> Result<bool> {
    ctx.attrs.required("overlapping")
}

#[register_kernel(device = Cpu, op = FractionalMaxPoolGrad, T = [f32, f64, i32, i64], state = |ctx| overlaps(ctx))]
fn fractional_max_pool_grad<T: RealNumber>(is_overlapping: &bool, ctx: &mut RawContext<'_>) -> Result<()> {
    let (input, pooled, flow) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
    let [batch, height, width, depth] = four("orig_input", input.shape())?;
    let [pooled_batch, rows, columns, pooled_depth] = four("orig_output", pooled.shape())?;
    ensure!(
        flow.shape() == pooled.shape() && (pooled_batch, pooled_depth) == (batch, depth),
        InvalidArgument,
        "orig_output, {}, and out_backprop, {}, must have one shape, with batch and channels of orig_input, {}",
        pooled.shape(),
        flow.shape(),
        input.shape()
    );
    for (tensor, name) in [(input, "orig_input"), (pooled, "orig_output")] {
        ensure!(tensor.num_elements() > 0, InvalidArgument, "{name} must not be empty, but it is {}", tensor.shape());
    }
    let windows = Windows::new(sequences(ctx, 3)?, [height, width, depth], [rows, columns], *is_overlapping)?;
    let mut output = ctx.allocate_output_at(0, input.shape().clone())?;
    let image = height * width * depth;
    let flows = rows * columns * depth;
    let (elements, pooled, flow) = (input.as_slice::<T>()?, pooled.as_slice::<T>()?, flow.as_slice::<T>()?);
    ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, image.max(1), 2, |first, piece| {
        for (index, target) in (first / image.max(1)..).zip(piece.chunks_exact_mut(image.max(1))) {
            let (source, pooled, flow) = (
                &elements[index * image..][..image],
                &pooled[index * flows..][..flows],
                &flow[index * flows..][..flows],
            );
            back_to_greatest(&windows, source, pooled, flow, target)?;
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

/// Adds what flows back into an image's windows to where each one's first greatest element stands.
fn back_to_greatest<T: RealNumber>(
    windows: &Windows<'_>,
    image: &[T],
    pooled: &[T],
    flow: &[T],
    target: &mut [T],
) -> Result<()> {
    target.fill(T::ZERO);
    let ([_, columns], depth) = (windows.output(), windows.input[2]);
    for (at, (pooled, flow)) in pooled.iter().zip(flow).enumerate() {
        let (window, channel) = (at / depth, at % depth);
        let mut greatest = None;
        for pixel in windows.pixels(window / columns, window % columns) {
            let place = pixel + channel;
            if greatest.is_none_or(|greatest: usize| image[greatest] < image[place]) {
                greatest = Some(place);
            }
        }
        // NaN is the greatest if it stands first, and no other then.
        match greatest {
            Some(place) if image[place] == *pooled || image[place].partial_cmp(pooled).is_none() => {
                target[place] = target[place].wrapping_add(*flow);
            }
            _ => bail!(InvalidArgument, "orig_output is not what the sequences make of orig_input: an element differs"),
        }
    }
    Ok(())
}

#[register_kernel(device = Cpu, op = FractionalAvgPoolGrad, T = [f32, f64, i32, i64], state = |ctx| overlaps(ctx))]
fn fractional_avg_pool_grad<T>(is_overlapping: &bool, ctx: &mut RawContext<'_>) -> Result<()>
where
    T: RealNumber + AsPrimitive<f64>,
    f64: AsPrimitive<T>,
{
    let (shape, flow) = (ctx.input_at(0)?, ctx.input_at(1)?);
    ensure!(
        shape.rank() == 1 && shape.num_elements() == 4,
        InvalidArgument,
        "orig_input_tensor_shape must be a vector of 4 elements, not of shape {}",
        shape.shape()
    );
    let shape = Shape::from_dims(shape.as_slice::<i64>()?)?;
    let [batch, height, width, depth] = four("orig_input_tensor_shape", &shape)?;
    let [flow_batch, rows, columns, flow_depth] = four("out_backprop", flow.shape())?;
    ensure!(
        (flow_batch, flow_depth) == (batch, depth),
        InvalidArgument,
        "out_backprop, {}, must have batch and channels of orig_input_tensor_shape, {shape}",
        flow.shape()
    );
    for (shape, name) in [(&shape, "orig_input_tensor_shape"), (flow.shape(), "out_backprop")] {
        ensure!(
            !shape.dims().contains(&0),
            InvalidArgument,
            "{name} must be positive in all dimensions, but it is {shape}"
        );
    }
    let windows = Windows::new(sequences(ctx, 2)?, [height, width, depth], [rows, columns], *is_overlapping)?;
    let mut output = ctx.allocate_output_at(0, shape)?;
    let (image, flows) = (height * width * depth, rows * columns * depth);
    let flow = flow.as_slice::<T>()?;
    ctx.try_parallel_chunks(output.as_mut_slice::<T>()?, image.max(1), 2, |first, piece| {
        // Images of which there are none may be of any size.
        let mut sums: Vec<f64> = scratch::zeros(image.min(piece.len()))?;
        for (index, target) in (first / image.max(1)..).zip(piece.chunks_exact_mut(image.max(1))) {
            sums.fill(0.0);
            for (window, flow) in flow[index * flows..][..flows].chunks_exact(depth.max(1)).enumerate() {
                let pixels = || windows.pixels(window / columns, window % columns);
                let count = pixels().count() as f64;
                for pixel in pixels() {
                    for (sum, flow) in sums[pixel..].iter_mut().zip(flow) {
                        *sum += AsPrimitive::<f64>::as_(*flow) / count;
                    }
                }
            }
            target.iter_mut().zip(&sums).for_each(|(target, sum)| *target = sum.as_());
        }
        Ok(())
    })?;
    ctx.set_output_at(0, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_all_and_differ_by_one() {
        let mut generator = Philox::from_seeds(1, 2);
        for (input, output) in [(10, 6), (23, 10), (7, 7), (9, 1), (100, 51), (6, 4)] {
            for _ in 0..20 {
                for of in [random, pseudo_random] {
                    let sequence = of(input, output, &mut generator).unwrap();
                    assert_eq!((sequence.len(), sequence[0], sequence[output]), (output + 1, 0, input as i64));
                    let size = (input / output) as i64;
                    let fits = sequence.windows(2).all(|ends| (size..=size + 1).contains(&(ends[1] - ends[0])));
                    assert!(fits, "{input} {output}: {sequence:?}");
                }
            }
        }
    }
}
