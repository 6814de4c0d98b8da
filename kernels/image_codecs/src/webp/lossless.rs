//! Lossless pictures, which the crate `image-webp` decodes: it takes files, so that each becomes one of its own.

use std::io::Cursor;

use image_webp::{DecodingError, WebPDecoder};
use kernlink::Result as Done;
use kernlink::tensor::scratch;

/// Writes the pixels of a picture, of which `parts` are the payload, in four channels. The crate would need room for four to give three,
/// and ends the process if there is none.
///
/// # Errors
/// The inner one is that of the decoder; RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn decode(
    parts: [&[u8]; 2],
    columns: usize,
    rows: usize,
    out: &mut [u8],
) -> Done<Result<(), DecodingError>> {
    let file = file(parts, columns, rows)?;
    Ok(WebPDecoder::new(Cursor::new(file)).and_then(|mut decoder| decoder.read_image(out)))
}

/// The flag of a file with alpha.
const ALPHA: u8 = 0x10;

/// A file of one picture.
fn file(parts: [&[u8]; 2], columns: usize, rows: usize) -> Done<Vec<u8>> {
    let [columns, rows] = [columns, rows].map(|size| (size as u32 - 1).to_le_bytes());
    let canvas = [ALPHA, 0, 0, 0, columns[0], columns[1], columns[2], rows[0], rows[1], rows[2]];
    let size = parts[0].len() + parts[1].len();
    let length = 4 + 8 + canvas.len() + 8 + size.next_multiple_of(2);
    let mut file = scratch::room(8 + length)?;
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(length as u32).to_le_bytes());
    file.extend_from_slice(b"WEBPVP8X");
    file.extend_from_slice(&(canvas.len() as u32).to_le_bytes());
    file.extend_from_slice(&canvas);
    file.extend_from_slice(b"VP8L");
    file.extend_from_slice(&(size as u32).to_le_bytes());
    parts.into_iter().for_each(|part| file.extend_from_slice(part));
    file.extend_from_slice(&[0][..size % 2]);
    Ok(file)
}
