//! WebP files: still pictures, and animations, as libwebp reads them.

mod alpha;
mod animation;
mod container;
mod lossless;
mod lossy;

use animation::Animation;
use container::{Header, Picture};
use kernlink::{Result, bail, ensure};

/// The number of pixels from which on a file is refused, as those of other formats are.
const TOO_MANY_PIXELS: usize = 1 << 29;

/// A file whose header was read.
pub(crate) struct Webp<'a> {
    content: Content<'a>,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) channels: usize,
}

enum Content<'a> {
    Still(Picture<'a>),
    Animation(Animation<'a>),
}

impl<'a> Webp<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Result<Webp<'a>> {
        let file = match Webp::read(data) {
            Ok(file) => file,
            Err(reason) => bail!(InvalidArgument, "Failed to decode WebP header. {reason}"),
        };
        ensure!(
            file.columns.saturating_mul(file.rows) < TOO_MANY_PIXELS,
            InvalidArgument,
            "Failed to decode WebP header. The image is too large: {} by {}",
            file.columns,
            file.rows
        );
        Ok(file)
    }

    fn read(data: &'a [u8]) -> container::Result<Webp<'a>> {
        let header = Header::new(data)?;
        if let Some(canvas) = header.canvas.filter(|canvas| canvas.is_animated()) {
            let content = Content::Animation(Animation::new(&header, &canvas)?);
            let channels = 3 + usize::from(canvas.has_alpha());
            return Ok(Webp { content, rows: canvas.rows, columns: canvas.columns, channels });
        }
        let picture = Picture::of_still(&header)?;
        let channels = 3 + usize::from(picture.has_alpha);
        Ok(Webp { rows: picture.rows, columns: picture.columns, channels, content: Content::Still(picture) })
    }

    /// How many frames an animation has.
    pub(crate) fn frames(&self) -> Option<usize> {
        match &self.content {
            Content::Still(_) => None,
            Content::Animation(animation) => Some(animation.len()),
        }
    }

    /// Writes the picture, or `count` frames of an animation, which have four channels.
    pub(crate) fn decode(&self, count: usize, out: &mut [u8]) -> Result<()> {
        match &self.content {
            Content::Still(picture) => picture.decode("Failed to decode WebP image.", self.channels, out),
            Content::Animation(animation) => animation.decode(count, out),
        }
    }
}
