//! BMP files without compression, with 8, 24 or 32 bits a pixel. Those of 8 bits are taken as brightness, as TensorFlow takes them.

use kernlink::{Result, ensure};
use kernlink_kernels_common::vector::widest;

/// A file whose header was read.
pub(crate) struct Bmp<'a> {
    pixels: &'a [u8],
    /// How many bytes a row has.
    stride: usize,
    is_top_down: bool,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) channels: usize,
}

impl<'a> Bmp<'a> {
    /// Reads a file's header.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for what TensorFlow refuses, among this any file that has not just the size that its header says.
    pub(crate) fn new(data: &'a [u8]) -> Result<Bmp<'a>> {
        ensure!(
            data.len() >= 32,
            InvalidArgument,
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got {} bytes",
            data.len()
        );
        let word = |at: usize| i32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        let (header, columns, rows) = (word(10), word(18), word(22));
        let channels = i16::from_le_bytes([data[28], data[29]]) / 8;
        ensure!(
            matches!(channels, 1 | 3 | 4),
            InvalidArgument,
            "Number of channels inherent in the image must be 1, 3 or 4, was {channels}"
        );
        ensure!(columns > 0, InvalidArgument, "Width must be positive");
        ensure!(rows != 0, InvalidArgument, "Height must be nonzero");
        ensure!(header >= 0, InvalidArgument, "header size must be nonnegative");
        let [header, columns, channels] = [i64::from(header), i64::from(columns), i64::from(channels)];
        let (is_top_down, rows) = (rows < 0, i64::from(rows).abs());
        ensure!(
            columns * rows < i64::from(i32::MAX / 8),
            InvalidArgument,
            "Total possible pixel bytes must be less than 2^30"
        );
        let stride = (channels * columns + 3) / 4 * 4;
        let difference = data.len() as i64 - header - stride * rows;
        ensure!(
            difference == 0,
            InvalidArgument,
            "Input size should match (header_size + row_size * abs_height) but they differ by {difference}"
        );
        Ok(Bmp {
            pixels: &data[header as usize..],
            stride: stride as usize,
            is_top_down,
            rows: rows as usize,
            columns: columns as usize,
            channels: channels as usize,
        })
    }

    /// Writes the pixels, with 1, 3 or 4 channels.
    pub(crate) fn decode(&self, channels: usize, out: &mut [u8]) {
        let length = self.columns * self.channels;
        for (row, out) in out.chunks_exact_mut(self.columns * channels).enumerate() {
            let row = if self.is_top_down { row } else { self.rows - 1 - row };
            let pixels = &self.pixels[row * self.stride..][..length];
            match (self.channels, channels) {
                (3, 3) => swapped(pixels.as_chunks().0, out.as_chunks_mut().0),
                (3, 4) => with_alpha(pixels.as_chunks().0, out.as_chunks_mut().0),
                (4, 3) => without_alpha(pixels.as_chunks().0, out.as_chunks_mut().0),
                (4, 4) => swapped_with_alpha(pixels.as_chunks().0, out.as_chunks_mut().0),
                (_, 3) => pixels.iter().zip(out.as_chunks_mut::<3>().0).for_each(|(&x, out)| *out = [x; 3]),
                (_, 4) => pixels.iter().zip(out.as_chunks_mut().0).for_each(|(&x, out)| *out = [x, x, x, 255]),
                _ => out.copy_from_slice(pixels),
            }
        }
    }
}

widest! {
    fn swapped(pixels: &[[u8; 3]], out: &mut [[u8; 3]]) {
        pixels.iter().zip(out).for_each(|(&[b, g, r], out)| *out = [r, g, b]);
    }
}

widest! {
    fn with_alpha(pixels: &[[u8; 3]], out: &mut [[u8; 4]]) {
        pixels.iter().zip(out).for_each(|(&[b, g, r], out)| *out = [r, g, b, 255]);
    }
}

widest! {
    fn without_alpha(pixels: &[[u8; 4]], out: &mut [[u8; 3]]) {
        pixels.iter().zip(out).for_each(|(&[b, g, r, _], out)| *out = [r, g, b]);
    }
}

widest! {
    fn swapped_with_alpha(pixels: &[[u8; 4]], out: &mut [[u8; 4]]) {
        pixels.iter().zip(out).for_each(|(&[b, g, r, a], out)| *out = [r, g, b, a]);
    }
}
