//! PNG files: samples as libpng gives them by way of TensorFlow's settings, and files of images.

use std::io::Cursor;

use kernlink::error::Code;
use kernlink::tensor::scratch;
use kernlink::{Error, Result, ensure};
use png::{BitDepth, ColorType, Compression, DecodeOptions, Decoder, DeflateCompression, Encoder, Limits, Reader};

use self::gray::ToGray;

mod gray;

/// The most rows or columns that libpng takes.
const MOST_LINES: u32 = 1_000_000;

/// The bytes before the first chunk, and those behind the content of each.
const SIGNATURE: usize = 8;
const CHECKSUM: usize = 4;

/// The number of pixels from which on TensorFlow refuses a file.
const TOO_MANY_PIXELS: u64 = 1 << 29;

/// A file whose header was read.
pub(crate) struct Png<'a> {
    reader: Reader<Cursor<&'a [u8]>>,
    size: usize,
    /// Whether samples of 16 bits are asked for.
    is_wide: bool,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) channels: usize,
}

/// Whether the names of all chunks of a file, as far as it has them, are of letters: libpng refuses others, also for a chunk that it
/// would leave out.
fn are_named(data: &[u8]) -> bool {
    let mut rest = data.get(SIGNATURE..).unwrap_or_default();
    while let Some((&[a, b, c, d, ref name @ ..], after)) = rest.split_first_chunk::<8>() {
        if !name.iter().all(u8::is_ascii_alphabetic) {
            return false;
        }
        if name == b"IEND" {
            break;
        }
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        rest = length.checked_add(CHECKSUM).and_then(|length| after.get(length..)).unwrap_or_default();
    }
    true
}

impl<'a> Png<'a> {
    /// Reads the header of a file, whose samples are to have eight bits or 16, for `channels`, or those of the file if that is 0.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none, or TensorFlow finds the image too large.
    pub(crate) fn new(data: &'a [u8], channels: usize, is_wide: bool) -> Result<Png<'a>> {
        ensure!(
            are_named(data),
            InvalidArgument,
            "Invalid PNG. Failed to initialize decoder: the name of a chunk has a byte that is no letter"
        );
        let mut options = DecodeOptions::default();
        options.set_ignore_text_chunk(true);
        options.set_ignore_adler32(false);
        // A profile matters where brightness is computed.
        options.set_ignore_iccp_chunk(channels != 1);
        let mut decoder = Decoder::new_with_options(Cursor::new(data), options);
        // What the library asks for is no more than the file's size and a row; rows are checked below.
        decoder.set_limits(Limits { bytes: data.len().saturating_mul(2).saturating_add(1 << 26) });
        let reader = decoder
            .read_info()
            .map_err(|error| Error::invalid_argument(format!("Invalid PNG. Failed to initialize decoder: {error}")))?;
        let info = reader.info();
        let (columns, rows) = info.size();
        ensure!(
            columns.max(rows) <= MOST_LINES && u64::from(columns) * u64::from(rows) < TOO_MANY_PIXELS,
            InvalidArgument,
            "PNG size too large for int: {columns} by {rows}"
        );
        ensure!(
            info.color_type != ColorType::Indexed || info.palette.is_some(),
            InvalidArgument,
            "Invalid PNG. Failed to initialize decoder: the palette is missing"
        );
        let channels = match (channels, info.color_type) {
            (0, ColorType::Indexed) if info.trns.is_some() => 4,
            (0, ColorType::Indexed) => 3,
            (0, other) => other.samples(),
            (channels, _) => channels,
        };
        Ok(Png { size: data.len(), is_wide, rows: rows as usize, columns: columns as usize, channels, reader })
    }

    fn read(&mut self) -> Result<Vec<u8>> {
        let refused = |error: png::DecodingError, size: usize| match error {
            png::DecodingError::LimitsExceeded => {
                Error::new(Code::ResourceExhausted, format!("Invalid PNG data, size {size}: {error}"))
            }
            _ => Error::invalid_argument(format!("Invalid PNG data, size {size}: {error}")),
        };
        let length = self.reader.output_buffer_size().unwrap_or(usize::MAX);
        let mut pixels = scratch::zeros(length)?;
        self.reader.next_frame(&mut pixels).map_err(|error| refused(error, self.size))?;
        self.reader.finish().map_err(|error| refused(error, self.size))?;
        Ok(pixels)
    }

    /// Writes samples of eight bits.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the file is broken.
    pub(crate) fn decode(mut self, out: &mut [u8]) -> Result<()> {
        debug_assert!(!self.is_wide);
        let pixels = self.read()?;
        let info = self.reader.info();
        if info.bit_depth == BitDepth::Eight
            && info.color_type != ColorType::Indexed
            && info.color_type.samples() == self.channels
        {
            out.copy_from_slice(&pixels);
            return Ok(());
        }
        self.convert(&pixels, |index, sample| out[index] = sample.eight());
        Ok(())
    }

    /// Writes samples of 16 bits.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub(crate) fn decode_wide(mut self, out: &mut [u16]) -> Result<()> {
        debug_assert!(self.is_wide);
        let pixels = self.read()?;
        self.convert(&pixels, |index, sample| out[index] = sample.sixteen());
        Ok(())
    }

    /// Gives each sample of the output, in order.
    fn convert(&self, pixels: &[u8], mut put: impl FnMut(usize, Sample)) {
        let info = self.reader.info();
        let depth = info.bit_depth as usize;
        let trns = info.trns.as_deref();
        let wants_alpha = self.channels.is_multiple_of(2);
        // What libpng fills with has as many ones as the file's samples have bits, in eight bits, too.
        let filler = Sample { value: ((1u32 << depth) - 1) as u16, is_wide: depth == 16 };
        let samples = info.color_type.samples();
        let stride = (self.columns * samples * depth).div_ceil(8);
        let to_gray =
            (self.channels < 3 && info.color_type != ColorType::Grayscale).then(|| ToGray::new(info, self.is_wide));
        let palette = info.palette.as_deref().unwrap_or_default().as_chunks::<3>().0;
        let scale = match depth {
            1 => 255,
            2 => 85,
            4 => 17,
            _ => 1,
        };
        // The colour that stands for transparency.
        let key: Option<[u16; 3]> = trns.and_then(|trns| match (info.color_type, trns) {
            // The library gives one byte of a sample where that is all that it can have.
            (ColorType::Grayscale, &[low]) => Some([low.into(); 3]),
            (ColorType::Grayscale, &[high, low, ..]) => Some([u16::from_be_bytes([high, low]); 3]),
            (ColorType::Rgb, &[r, g, b]) => Some([r, g, b].map(u16::from)),
            (ColorType::Rgb, &[a, b, c, d, e, f, ..]) => Some([[a, b], [c, d], [e, f]].map(u16::from_be_bytes)),
            _ => None,
        });
        let mask = ((1u32 << depth) - 1) as u16;
        let mut at = 0;
        for row in pixels.chunks_exact(stride).take(self.rows) {
            for column in 0..self.columns {
                let sample = |k: usize| -> u16 {
                    let index = column * samples + k;
                    match depth {
                        16 => u16::from_be_bytes([row[index * 2], row[index * 2 + 1]]),
                        8 => row[index].into(),
                        _ => {
                            let bit = index * depth;
                            u16::from(row[bit / 8] >> (8 - depth - bit % 8)) & mask
                        }
                    }
                };
                let keyed = |color: [u16; 3]| match key {
                    Some(key) if key.map(|x| x & mask) == color => 0,
                    Some(_) => u16::MAX,
                    None => filler.value,
                };
                let (color, alpha) = match info.color_type {
                    ColorType::Grayscale => {
                        let gray = sample(0);
                        ([gray * scale; 3], keyed([gray; 3]))
                    }
                    ColorType::GrayscaleAlpha => ([sample(0); 3], sample(1)),
                    ColorType::Rgb => {
                        let color = [sample(0), sample(1), sample(2)];
                        (color, keyed(color))
                    }
                    ColorType::Rgba => ([sample(0), sample(1), sample(2)], sample(3)),
                    ColorType::Indexed => {
                        let index = usize::from(sample(0));
                        let color = palette.get(index).copied().unwrap_or_default().map(u16::from);
                        (color, trns.map_or(filler.value, |trns| trns.get(index).copied().unwrap_or(255).into()))
                    }
                };
                let is_wide = depth == 16;
                let mut give = |value: u16| {
                    put(at, Sample { value, is_wide });
                    at += 1;
                };
                match &to_gray {
                    Some(to_gray) => give(to_gray.gray(color)),
                    None if self.channels < 3 => give(color[0]),
                    None => color.into_iter().for_each(&mut give),
                }
                if wants_alpha {
                    give(if is_wide { alpha } else { alpha & 255 });
                }
            }
        }
    }
}

/// A sample of eight bits or, if it is wide, 16.
#[derive(Clone, Copy)]
struct Sample {
    value: u16,
    is_wide: bool,
}

impl Sample {
    fn eight(self) -> u8 {
        if self.is_wide { (self.value >> 8) as u8 } else { self.value as u8 }
    }

    fn sixteen(self) -> u16 {
        if self.is_wide { self.value } else { self.value * 257 }
    }
}

/// A file of an image with samples of eight bits, or of 16 in the order of PNG files.
///
/// # Errors
/// INTERNAL if the image is empty.
pub(crate) fn encode(samples: &[u8], size: [u32; 2], channels: usize, is_wide: bool, level: i64) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, size[1], size[0]);
    encoder.set_color(match channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    });
    encoder.set_depth(if is_wide { BitDepth::Sixteen } else { BitDepth::Eight });
    encoder.set_compression(Compression::Balanced);
    if let Ok(level @ 0..=9) = u8::try_from(level) {
        encoder.set_deflate_compression(DeflateCompression::Level(level));
    }
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(samples)?;
        writer.finish()
    });
    written.map_err(|error| Error::new(Code::Internal, format!("PNG encoding failed: {error}")))?;
    Ok(file)
}
