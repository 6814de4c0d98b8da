//! Which format a file has, by its first bytes.

use std::fmt;

/// A format of image files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    Jpeg,
    Png,
    Gif,
    Bmp,
    Webp,
    Jxl,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Jpeg => "JPEG",
            Format::Png => "PNG",
            Format::Gif => "GIF",
            Format::Bmp => "BMP",
            Format::Webp => "WebP",
            Format::Jxl => "JPEG XL",
        })
    }
}

/// The format of a file.
pub(crate) fn classify(data: &[u8]) -> Option<Format> {
    const JXL_BOX: &[u8] = b"\0\0\0\x0CJXL \r\n\x87\n";
    Some(match data {
        [0xFF, 0xD8, 0xFF, ..] => Format::Jpeg,
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Format::Png,
        [b'G', b'I', b'F', b'8', ..] => Format::Gif,
        [b'B', b'M', ..] => Format::Bmp,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', _, ..] => Format::Webp,
        [0xFF, 0x0A, ..] => Format::Jxl,
        _ if data.starts_with(JXL_BOX) => Format::Jxl,
        _ => return None,
    })
}
