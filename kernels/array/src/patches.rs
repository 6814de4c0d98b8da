//! ExtractImagePatches.

use std::ops::Range;

use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::{bail, ensure};
use kernlink_geometry::integers::checked_shape;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// The windows along one dimension of an image.
#[derive(Clone, Copy)]
struct Windows {
    /// Samples in a window.
    size: i64,
    /// From one window to the next.
    stride: i64,
    /// From one sample to the next.
    rate: i64,
}

impl Windows {
    /// How many windows there are over `input` elements, and how many elements before the first of these they begin.
    fn count(&self, input: i64, same: bool) -> Result<(i64, i64)> {
        let Some(span) = (self.size - 1).checked_mul(self.rate).and_then(|span| span.checked_add(1)) else {
            bail!(InvalidArgument, "ksize {} with rate {} overflows", self.size, self.rate);
        };
        if same {
            let count = (input.saturating_add(self.stride - 1)) / self.stride;
            let needed = (count - 1).max(0).saturating_mul(self.stride).saturating_add(span);
            return Ok((count, needed.saturating_sub(input).max(0) / 2));
        }
        let count = (input - span).saturating_add(self.stride) / self.stride;
        ensure!(count >= 0, InvalidArgument, "windows of {span} elements do not fit {input} elements");
        Ok((count, 0))
    }

    /// The samples of the window that begins at `start` that are inside `0..input`.
    fn inside(&self, start: i64, input: i64) -> Range<i64> {
        let first = ((-start).max(0) + self.rate - 1) / self.rate;
        let end = if input > start { (input - start - 1) / self.rate + 1 } else { 0 };
        let first = first.min(self.size);
        first..end.clamp(first, self.size)
    }
}

struct ExtractImagePatchesKernel {
    rows: Windows,
    columns: Windows,
    same: bool,
}

#[register_kernel(device = Cpu, T = [realnumbertype, complex128, complex64])]
impl OpKernel<ops::ExtractImagePatches> for ExtractImagePatchesKernel {
    fn new(ctx: &KernelConstruction<'_, ops::ExtractImagePatches>) -> Result<Self> {
        let attrs = ctx.attrs();
        let four = |name: &str, values: &[i64]| {
            ensure!(
                values.iter().all(|&value| i32::try_from(value).is_ok()),
                InvalidArgument,
                "{name} {values:?} has values out of range for an int32"
            );
            <[i64; 4]>::try_from(values)
                .map_err(|_| Error::invalid_argument(format!("{name} must have 4 values, not {}", values.len())))
        };
        let lists = [("ksizes", &attrs.ksizes), ("strides", &attrs.strides), ("rates", &attrs.rates)];
        let mut spatial = [(0, 0); 3];
        // All lists are read before the first is judged, as by TensorFlow's shape function.
        for (pair, (name, values)) in spatial.iter_mut().zip(lists) {
            four(name, values).map(|[_, rows, columns, _]| *pair = (rows, columns))?;
        }
        for (&(rows, columns), (name, values)) in spatial.iter().zip(lists) {
            ensure!(
                values[0] == 1 && values[3] == 1,
                Unimplemented,
                "{name} must be [1, rows, columns, 1], not {values:?}"
            );
            ensure!(rows >= 1 && columns >= 1, OutOfRange, "{name} {values:?} is out of range.");
        }
        let [sizes, strides, rates] = spatial;
        Ok(Self {
            rows: Windows { size: sizes.0, stride: strides.0, rate: rates.0 },
            columns: Windows { size: sizes.1, stride: strides.1, rate: rates.1 },
            same: attrs.padding == "SAME",
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ExtractImagePatches>) -> Result<()> {
        let input = ctx.input(ops::ExtractImagePatches::IMAGES)?;
        let [batch, height, width, depth] = *input.shape().dims() else {
            bail!(InvalidArgument, "input must be 4-dimensional, not of shape {}", input.shape());
        };
        let (rows, above) = self.rows.count(height as i64, self.same)?;
        let (columns, left) = self.columns.count(width as i64, self.same)?;
        let samples = (self.rows.size as usize).checked_mul(self.columns.size as usize);
        let shape = checked_shape([
            Some(batch),
            Some(rows as usize),
            Some(columns as usize),
            samples.and_then(|samples| samples.checked_mul(depth)),
        ])?;
        let mut output = ctx.allocate_output(ops::ExtractImagePatches::PATCHES, shape)?;
        if output.num_elements() > 0 {
            let pixel = depth * input.dtype().size();
            let source = input.bytes()?;
            let strip = columns as usize * self.rows.size as usize * self.columns.size as usize * pixel;
            ctx.parallel_chunks(output.bytes_mut()?, strip, 1, |first, strips| {
                for (s, strip) in strips.chunks_exact_mut(strip).enumerate() {
                    let row = first / strip.len() + s;
                    let image = &source[row / rows as usize * (height * width * pixel)..][..height * width * pixel];
                    let top = (row % rows as usize) as i64 * self.rows.stride - above;
                    self.strip(strip, image, top, left, [height, width, pixel]);
                }
            });
        }
        ctx.set_output(ops::ExtractImagePatches::PATCHES, output)
    }
}

impl ExtractImagePatchesKernel {
    /// Writes the windows of one image that begin at row `top`.
    fn strip(&self, strip: &mut [u8], image: &[u8], top: i64, left: i64, [height, width, pixel]: [usize; 3]) {
        let window_row = self.columns.size as usize * pixel;
        let inside_rows = self.rows.inside(top, height as i64);
        let windows = strip.chunks_exact_mut(self.rows.size as usize * window_row);
        for (column, window) in windows.enumerate() {
            let start = column as i64 * self.columns.stride - left;
            let inside = self.columns.inside(start, width as i64);
            for (r, samples) in window.chunks_exact_mut(window_row).enumerate() {
                if !inside_rows.contains(&(r as i64)) || inside.is_empty() {
                    samples.fill(0);
                    continue;
                }
                let image_row = &image[(top + r as i64 * self.rows.rate) as usize * width * pixel..][..width * pixel];
                let (first, end) = (inside.start as usize * pixel, inside.end as usize * pixel);
                samples[..first].fill(0);
                samples[end..].fill(0);
                let from = |sample: i64| (start + sample * self.columns.rate) as usize * pixel;
                if self.columns.rate == 1 {
                    samples[first..end].copy_from_slice(&image_row[from(inside.start)..][..end - first]);
                } else {
                    for (sample, out) in inside.clone().zip(samples[first..end].chunks_exact_mut(pixel)) {
                        out.copy_from_slice(&image_row[from(sample)..][..pixel]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_counted_and_cut() {
        let windows = Windows { size: 3, stride: 2, rate: 2 };
        assert_eq!(windows.count(8, true).unwrap(), (4, 1));
        assert_eq!(windows.count(8, false).unwrap(), (2, 0));
        assert_eq!(windows.inside(-1, 8), 1..3);
        assert_eq!(windows.inside(5, 8), 0..2);
        assert_eq!(windows.inside(9, 8), 0..0);
        assert_eq!(windows.inside(-9, 8), 3..3);
    }
}
