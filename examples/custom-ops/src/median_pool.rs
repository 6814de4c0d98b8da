//! MedianPool: median pooling in one pass, where TensorFlow composes ExtractImagePatches, Reshape and TopKV2.

use kernlink::ops::Relu;
use kernlink::prelude::*;

/// Puts the smaller of each pair of elements first. Written out, because a loop over pairs is not vectorised.
macro_rules! exchange {
    ($p:ident: $($a:literal $b:literal),*) => {$(
        let (u, v) = ($p[$a], $p[$b]);
        $p[$a] = if v < u { v } else { u };
        $p[$b] = if v < u { u } else { v };
    )*};
}

/// The median of each window of `ksize` × `ksize` pixels, channel by channel.
///
/// Outside the image there are zeros (padding `SAME`), or windows stay inside it (`VALID`). A window with an even
/// number of elements gives the upper of its two middle ones. A NaN in a window makes its median NaN.
#[register_op(
    attr("T: {float, double, int32, uint8, int16, int8, int64}"),
    attr("ksize: int >= 1 = 3", "Height and width of the window, in pixels."),
    attr("stride: int >= 1 = 1", "Pixels from one window to the next, in both directions."),
    attr("padding: {'SAME', 'VALID'}"),
    attr("activation: {'', 'Relu'} = ''", "What is done to the medians."),
    input("images: T", "`[batch, height, width, channels]`"),
    output("medians: T", "`[batch, new_height, new_width, channels]`"),
    shape_fn = median_pool_shape
)]
pub struct MedianPool;

fn median_pool_shape(ctx: &mut InferenceContext) -> Result<()> {
    let window = Window::new(ctx.attr("ksize")?, ctx.attr("stride")?, &ctx.attr::<String>("padding")?)?;
    let images = ctx.with_rank(ctx.input(0), 4)?;
    let mut dims = Vec::with_capacity(4);
    for axis in 0..4 {
        let dim = ctx.dim(images, axis);
        dims.push(match ctx.value(dim) {
            Some(size) if axis == 1 || axis == 2 => {
                let (size, _) = window.output(size as usize)?;
                ctx.make_dim(size as i64)
            }
            None if axis == 1 || axis == 2 => ctx.unknown_dim(),
            _ => dim,
        });
    }
    let medians = ctx.make_shape(dims);
    ctx.set_output(0, medians);
    Ok(())
}

/// The most elements of a window.
const MAX_WINDOW: usize = 1 << 20;

/// Which pixels belong to a window.
#[derive(Clone, Copy)]
struct Window {
    size: usize,
    stride: usize,
    same: bool,
}

impl Window {
    fn new(ksize: i64, stride: i64, padding: &str) -> Result<Window> {
        let (size, stride) = (ksize as usize, stride as usize);
        ensure!(
            size.checked_mul(size).is_some_and(|elements| elements <= MAX_WINDOW),
            InvalidArgument,
            "a window of {ksize} x {ksize} pixels has more than {MAX_WINDOW} elements"
        );
        Ok(Window { size, stride, same: padding == "SAME" })
    }

    /// The number of windows along a dimension, and the zeros before its first pixel.
    fn output(&self, input: usize) -> Result<(usize, usize)> {
        if self.same {
            let count = input.div_ceil(self.stride);
            let covered = count.saturating_sub(1).saturating_mul(self.stride).saturating_add(self.size);
            return Ok((count, covered.saturating_sub(input) / 2));
        }
        ensure!(
            input >= self.size,
            InvalidArgument,
            "a window of {} pixels does not fit into {input} pixels without padding",
            self.size
        );
        Ok(((input - self.size) / self.stride + 1, 0))
    }
}

/// Clips medians while they are computed, where a graph has a Relu behind them.
#[register_rewrite(
    name = "fuse-median-pool-relu",
    pattern = Relu { features: pool @ MedianPool { images, activation = "" } },
    creates = [MedianPool],
    internal,
)]
fn fuse_relu(m: &mut Rewrite<'_, '_>, pool: &Matched<MedianPool>, images: Output) -> Result<Option<Output>> {
    let MedianPoolAttrs { ksize, stride, padding, .. } = pool.attrs();
    median_pool(m, images, padding).ksize(*ksize).stride(*stride).activation("Relu").build().map(Some)
}

struct MedianPoolKernel<T> {
    window: Window,
    clips: bool,
    element: PhantomData<T>,
}

#[register_kernel(device = Cpu, T = [f32, f64, i32, u8, i16, i8, i64])]
impl<T: Number + PartialOrd> OpKernel<MedianPool> for MedianPoolKernel<T> {
    fn new(ctx: &KernelConstruction<MedianPool>) -> Result<Self> {
        let attrs = ctx.attrs();
        let window = Window::new(attrs.ksize, attrs.stride, &attrs.padding)?;
        Ok(Self { window, clips: attrs.activation == "Relu", element: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<MedianPool>) -> Result<()> {
        let images = ctx.input(MedianPool::IMAGES)?;
        let &[batch, height, width, channels] = images.shape().dims() else {
            bail!(InvalidArgument, "images must have rank 4, not shape {}", images.shape());
        };
        let (rows, top) = self.window.output(height)?;
        let (columns, left) = self.window.output(width)?;
        let mut medians = ctx.allocate_output(MedianPool::MEDIANS, [batch, rows, columns, channels])?;
        if medians.num_elements() > 0 {
            let image = Image { pixels: images.as_slice::<T>()?, height, width, channels, top, left };
            let row_length = columns * channels;
            let cost = if self.window.size == 3 { 4 } else { 10 * self.window.size * self.window.size };
            ctx.parallel_chunks(medians.as_mut_slice::<T>()?, row_length, cost, |first, piece| {
                let mut scratch = Scratch::new(&image, &self.window, columns);
                for (i, medians) in piece.chunks_exact_mut(row_length).enumerate() {
                    let row = first / row_length + i;
                    scratch.load(&image, row / rows, row % rows * self.window.stride);
                    scratch.medians(medians);
                    if self.clips {
                        medians.iter_mut().filter(|median| **median < T::ZERO).for_each(|median| *median = T::ZERO);
                    }
                }
            });
        }
        ctx.set_output(MedianPool::MEDIANS, medians)
    }
}

/// The same on the GPU.
#[cfg(feature = "gpu-shaders")]
mod gpu {
    use kernlink::gpu::wgsl::Launch;

    use super::*;

    #[register_kernel(
        device = Gpu,
        op = MedianPool,
        T = [f32, i32],
        // Without a kernel that clips, what is placed here is not fused.
        activation = [""],
        wgsl = "median_pool.wgsl",
        dispatch = elements("medians"),
        params = [
            ksize: u32,
            stride: u32,
            top: i32 = |launch| zeros_before(launch, 1),
            left: i32 = |launch| zeros_before(launch, 2),
            shape("images", 4),
            shape("medians", 4),
        ]
    )]
    struct MedianPoolOnGpu;

    fn zeros_before(launch: &Launch<MedianPool>, axis: usize) -> Result<i32> {
        let attrs = launch.attrs();
        let window = Window::new(attrs.ksize, attrs.stride, &attrs.padding)?;
        // The op's shape function has seen to the rank.
        let (_, zeros) = window.output(launch.input_shape(MedianPool::IMAGES).dims()[axis])?;
        Ok(zeros as i32)
    }
}

/// A batch of images, with the zeros before their first row and column.
struct Image<'a, T> {
    pixels: &'a [T],
    height: usize,
    width: usize,
    channels: usize,
    top: usize,
    left: usize,
}

/// The rows of input under one row of windows, with zeros around, and room for one window.
struct Scratch<T> {
    rows: Vec<Vec<T>>,
    window: Window,
    channels: usize,
    elements: Vec<T>,
}

impl<T: Number + PartialOrd> Scratch<T> {
    fn new(image: &Image<T>, window: &Window, columns: usize) -> Self {
        let padded = ((columns - 1) * window.stride + window.size).max(image.left + image.width);
        Scratch {
            rows: vec![vec![T::ZERO; padded * image.channels]; window.size],
            window: *window,
            channels: image.channels,
            elements: Vec::with_capacity(window.size * window.size),
        }
    }

    /// Copies the rows from `top` (zeros included) of an image of the batch.
    fn load(&mut self, image: &Image<T>, batch: usize, top: usize) {
        let length = image.width * image.channels;
        for (i, row) in self.rows.iter_mut().enumerate() {
            let target = &mut row[image.left * image.channels..][..length];
            match (top + i).checked_sub(image.top).filter(|&y| y < image.height) {
                Some(y) => target.copy_from_slice(&image.pixels[(batch * image.height + y) * length..][..length]),
                None => target.fill(T::ZERO),
            }
        }
    }

    fn medians(&mut self, medians: &mut [T]) {
        if self.window.size == 3 && self.window.stride == 1 {
            return self.medians_of_nine(medians);
        }
        let middle = self.window.size * self.window.size / 2;
        for (i, median) in medians.iter_mut().enumerate() {
            let (column, channel) = (i / self.channels, i % self.channels);
            self.elements.clear();
            for row in &self.rows {
                let first = column * self.window.stride * self.channels + channel;
                self.elements.extend(row[first..].iter().step_by(self.channels).take(self.window.size));
            }
            *median = match self.elements.iter().find(|&&element| is_nan(element)) {
                Some(nan) => *nan,
                None => {
                    *self
                        .elements
                        .select_nth_unstable_by(middle, |a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal))
                        .1
                }
            };
        }
    }

    /// 3 × 3 windows side by side: neighbours in the row are neighbours in memory, so that one loop over the row does
    /// many windows at once. The network of 19 exchanges is Paeth's (Graphics Gems, 1990).
    fn medians_of_nine(&self, medians: &mut [T]) {
        let length = medians.len();
        let at = |row: usize, column: usize| &self.rows[row][column * self.channels..][..length];
        let sources: [&[T]; 9] = std::array::from_fn(|i| at(i / 3, i % 3));
        let [s0, s1, s2, s3, s4, s5, s6, s7, s8] = sources;
        for (i, median) in medians.iter_mut().enumerate() {
            let mut p = [s0[i], s1[i], s2[i], s3[i], s4[i], s5[i], s6[i], s7[i], s8[i]];
            let mut nan = T::ZERO;
            for x in p {
                nan = if is_nan(x) { x } else { nan };
            }
            exchange!(p: 1 2, 4 5, 7 8, 0 1, 3 4, 6 7, 1 2, 4 5, 7 8, 0 3, 5 8, 4 7, 3 6, 1 4, 2 5, 4 7, 4 2, 6 4, 4 2);
            *median = if is_nan(nan) { nan } else { p[4] };
        }
    }
}

/// Only NaN differs from itself.
#[allow(clippy::eq_op, reason = "the definition of NaN")]
fn is_nan<T: PartialEq>(x: T) -> bool {
    x != x
}
