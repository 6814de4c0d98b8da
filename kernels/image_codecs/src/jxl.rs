//! JPEG XL files.

use jxl::api::{
    Event, JxlColorType, JxlDataFormat, JxlDecoder, JxlDecoderOptions, JxlOutputBuffer, JxlPixelFormat, ProfileLevel,
};
use jxl::error::Error as Refusal;
use kernlink::{Error, Result, ensure};

/// The number of samples from which on a file is refused. The decoder has as much memory for each as its numbers take, which are of
/// four bytes, a few times over.
const TOO_MANY_SAMPLES: usize = 1 << 26;

/// A file whose header was read.
pub(crate) struct Jxl<'a> {
    decoder: JxlDecoder,
    rest: &'a [u8],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// One or three, and one more if there is alpha.
    pub(crate) channels: usize,
}

impl<'a> Jxl<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Result<Jxl<'a>> {
        let mut options = JxlDecoderOptions::default();
        options.sample_limit = Some(TOO_MANY_SAMPLES);
        options.max_profile_level = ProfileLevel::Main10;
        let mut decoder = JxlDecoder::new(options);
        let mut rest = data;
        match decoder.process(&mut rest, None, None) {
            Ok(Event::BasicInfo) => {}
            event => return Err(refused("Failed to decode JXL header", event)),
        }
        let (Some(info), Some(profile)) = (decoder.basic_info(), decoder.embedded_color_profile()) else {
            return Err(Error::internal("a JPEG XL file has no header"));
        };
        let (columns, rows) = info.size;
        let extra = info.extra_channels.len();
        let has_alpha = info.extra_channels.iter().any(|channel| channel.ec_type == jxl::api::ExtraChannel::Alpha);
        let color_type = match (profile.channels(), has_alpha) {
            (1, false) => JxlColorType::Grayscale,
            (1, true) => JxlColorType::GrayscaleAlpha,
            (_, false) => JxlColorType::Rgb,
            (_, true) => JxlColorType::Rgba,
        };
        let channels = color_type.samples_per_pixel();
        ensure!(
            columns.saturating_mul(rows).saturating_mul(channels) < TOO_MANY_SAMPLES,
            InvalidArgument,
            "Failed to decode JXL header. The image is too large: {columns} by {rows}"
        );
        let format = JxlPixelFormat {
            color_type,
            color_data_format: Some(JxlDataFormat::U8 { bit_depth: 8 }),
            extra_channel_format: vec![None; extra],
        };
        decoder.set_pixel_format(format).map_err(|error| refused("Failed to decode JXL header", Err(error)))?;
        Ok(Jxl { decoder, rest, rows, columns, channels })
    }

    /// Writes the first image.
    pub(crate) fn decode(mut self, out: &mut [u8]) -> Result<()> {
        let mut buffers = [JxlOutputBuffer::new(out, self.rows, self.columns * self.channels)];
        loop {
            match self.decoder.process(&mut self.rest, Some(&mut buffers), None) {
                Ok(Event::BasicInfo | Event::FrameHeader) => {}
                Ok(Event::FrameComplete { .. }) => return Ok(()),
                event => return Err(refused("Failed to decode JXL image", event)),
            }
        }
    }
}

/// The error of a file that is damaged, or that was cut.
fn refused(text: &str, event: std::result::Result<Event, Refusal>) -> Error {
    match event {
        Err(error @ (Refusal::OutOfMemory(_) | Refusal::ImageOutOfMemory(..))) => {
            Error::resource_exhausted(format!("{text}: {error}"))
        }
        Err(error) => Error::invalid_argument(format!("{text}: {error}")),
        Ok(_) => Error::invalid_argument(format!("{text}: the file was cut")),
    }
}
