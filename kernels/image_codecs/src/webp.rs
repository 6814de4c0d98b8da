//! WebP files: single images, and animations.

use std::io::Cursor;

use image_webp::{DecodingError, WebPDecoder};
use kernlink::tensor::scratch;
use kernlink::{Error, Result, bail, ensure};

/// The number of pixels from which on a file is refused, as those of other formats are.
const TOO_MANY_PIXELS: usize = 1 << 29;

/// A file whose header was read.
pub(crate) struct Webp<'a> {
    decoder: WebPDecoder<Cursor<&'a [u8]>>,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) channels: usize,
    /// How many frames an animation has.
    pub(crate) frames: Option<usize>,
}

impl<'a> Webp<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Result<Webp<'a>> {
        let decoder = WebPDecoder::new(Cursor::new(data));
        let decoder = decoder.map_err(|error| refused("Failed to decode WebP header.", &error))?;
        let (columns, rows) = decoder.dimensions();
        let (columns, rows) = (columns as usize, rows as usize);
        ensure!(
            columns.saturating_mul(rows) < TOO_MANY_PIXELS,
            InvalidArgument,
            "Failed to decode WebP header. The image is too large: {columns} by {rows}"
        );
        let channels = if decoder.has_alpha() { 4 } else { 3 };
        let frames = decoder.is_animated().then(|| decoder.num_frames() as usize);
        Ok(Webp { decoder, rows, columns, channels, frames })
    }

    /// Writes the image, or `count` frames of an animation, which have four channels.
    pub(crate) fn decode(mut self, count: usize, out: &mut [u8]) -> Result<()> {
        if self.frames.is_none() {
            return self.decoder.read_image(out).map_err(|error| refused("Failed to decode WebP image.", &error));
        }
        let pixels = self.rows * self.columns;
        let mut room = scratch::zeros(if self.channels == 4 { 0 } else { pixels * 3 })?;
        for (index, out) in out.chunks_exact_mut(pixels * 4).take(count).enumerate() {
            let frame = if self.channels == 4 { &mut *out } else { &mut room[..] };
            if let Err(error) = self.decoder.read_frame(frame) {
                bail!(InvalidArgument, "Failed to decode WebP Animation: failed to decode frame: {index}: {error}");
            }
            if self.channels == 3 {
                for (out, &[r, g, b]) in out.as_chunks_mut::<4>().0.iter_mut().zip(room.as_chunks::<3>().0) {
                    *out = [r, g, b, 255];
                }
            }
        }
        Ok(())
    }
}

fn refused(text: &str, error: &DecodingError) -> Error {
    Error::invalid_argument(format!("{text} {error}"))
}
