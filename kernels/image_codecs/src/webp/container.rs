//! The container of WebP files: a RIFF file of chunks. Which files are good, libwebp's `src/dec/webp_dec.c` says.

use std::fmt::Display;
use std::result;

use kernlink::{Result as Done, bail};

use super::alpha::Alpha;
use super::{lossless, lossy};

/// What is read, or what is wrong with the file.
pub(super) type Result<T> = result::Result<T, &'static str>;

/// The bytes before a chunk's payload: its name, and the payload's length.
const CHUNK_HEADER: usize = 8;

/// The payload of the chunk VP8X.
const CANVAS: usize = 10;

/// The first byte of a lossless picture.
const LOSSLESS: u8 = 0x2f;

const CUT: &str = "The file is cut off.";

/// A chunk at the beginning of `data`, and what is behind it.
pub(super) struct Chunk<'a> {
    pub(super) name: &'a [u8; 4],
    /// The payload's length, without what makes it even.
    pub(super) length: usize,
    /// What is behind the chunk's header, to the data's end.
    pub(super) behind_header: &'a [u8],
}

impl<'a> Chunk<'a> {
    pub(super) fn new(data: &'a [u8]) -> Result<Chunk<'a>> {
        let (name, data) = data.split_first_chunk().ok_or(CUT)?;
        let (length, behind_header) = data.split_first_chunk().ok_or(CUT)?;
        let length = u32::from_le_bytes(*length);
        if length > u32::MAX - 9 {
            return Err("A chunk is too long.");
        }
        Ok(Chunk { name, length: length as usize, behind_header })
    }

    /// The length with what makes it even.
    pub(super) fn even_length(&self) -> usize {
        self.length.next_multiple_of(2)
    }

    /// The payload with what makes it even, and what follows.
    pub(super) fn split(&self) -> Result<(&'a [u8], &'a [u8])> {
        self.behind_header.split_at_checked(self.even_length()).ok_or(CUT)
    }

    fn is_picture(&self) -> bool {
        matches!(self.name, b"VP8 " | b"VP8L")
    }
}

/// A number of 24 bits at the beginning of `bytes`, which has as many.
pub(super) fn of_three_bytes(bytes: &[u8]) -> usize {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize
}

/// Refuses what no canvas or frame is as large as.
pub(super) fn check_area(columns: usize, rows: usize) -> Result<()> {
    if columns as u64 * rows as u64 >= 1 << 32 { Err("The canvas or a frame has 2^32 pixels or more.") } else { Ok(()) }
}

/// What the chunk VP8X says.
#[derive(Clone, Copy)]
pub(super) struct Canvas {
    pub(super) flags: u8,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Canvas {
    pub(super) fn is_animated(&self) -> bool {
        self.flags & 0x02 != 0
    }

    pub(super) fn has_alpha(&self) -> bool {
        self.flags & 0x10 != 0
    }
}

/// The beginning of a file.
pub(super) struct Header<'a> {
    /// The length of the file that its first bytes tell.
    pub(super) length: usize,
    /// How long the data is.
    pub(super) found: usize,
    pub(super) canvas: Option<Canvas>,
    /// What follows.
    pub(super) rest: &'a [u8],
}

impl<'a> Header<'a> {
    pub(super) fn new(data: &'a [u8]) -> Result<Header<'a>> {
        let file = Chunk::new(data)?;
        let Some(rest) = file.behind_header.strip_prefix(b"WEBP").filter(|_| file.name == b"RIFF") else {
            return Err("It does not begin as a WebP file.");
        };
        if file.length < 4 + CHUNK_HEADER {
            return Err("The file holds no chunk.");
        }
        let header = Header { length: CHUNK_HEADER + file.length, found: data.len(), canvas: None, rest };
        let chunk = Chunk::new(rest)?;
        if chunk.name != b"VP8X" {
            return Ok(header);
        }
        if chunk.length != CANVAS {
            return Err("The chunk VP8X has another length than 10.");
        }
        let (payload, rest) = chunk.split()?;
        let canvas = Canvas {
            flags: payload[0],
            columns: 1 + of_three_bytes(&payload[4..]),
            rows: 1 + of_three_bytes(&payload[7..]),
        };
        check_area(canvas.columns, canvas.rows)?;
        Ok(Header { canvas: Some(canvas), rest, ..header })
    }

    /// How much of the data is behind the end that the file tells.
    ///
    /// # Errors
    /// That the file is shorter than it says.
    pub(super) fn length_behind(&self) -> Result<usize> {
        self.found.checked_sub(self.length).ok_or(CUT)
    }
}

/// A picture: a still one, or that of a frame.
pub(super) struct Picture<'a> {
    is_lossless: bool,
    /// The plane of alpha, which lossless pictures have none of.
    alpha: Option<&'a [u8]>,
    /// The payload and what follows: libwebp reads what a picture that is too short lacks from there.
    readable: &'a [u8],
    pub(super) has_alpha: bool,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl<'a> Picture<'a> {
    /// The picture of a still file.
    pub(super) fn of_still(header: &Header<'a>) -> Result<Picture<'a>> {
        header.length_behind()?;
        let mut rest = header.rest;
        let mut alpha = None;
        let Some(canvas) = header.canvas else {
            return match Chunk::new(rest)? {
                chunk if chunk.is_picture() => {
                    if chunk.length > header.length - 12 - CHUNK_HEADER {
                        return Err("The picture is longer than the file.");
                    }
                    Picture::of_chunk(&chunk, chunk.behind_header, None)
                }
                // A picture may do without its chunk.
                _ => Picture::new(rest.first() == Some(&LOSSLESS), rest, rest, None),
            };
        };
        let mut room = header.length.saturating_sub(12 + CHUNK_HEADER + CANVAS);
        loop {
            let chunk = Chunk::new(rest)?;
            let left = room.checked_sub(CHUNK_HEADER).and_then(|room| room.checked_sub(chunk.even_length()));
            room = left.ok_or("A chunk is longer than the file.")?;
            if chunk.is_picture() {
                let mut picture = Picture::of_chunk(&chunk, chunk.behind_header, alpha)?;
                if (picture.columns, picture.rows) != (canvas.columns, canvas.rows) {
                    return Err("The picture has another size than the canvas.");
                }
                picture.has_alpha |= canvas.has_alpha() && !picture.is_lossless;
                return Ok(picture);
            }
            let (payload, behind) = chunk.split()?;
            if chunk.name == b"ALPH" {
                alpha = Some(&payload[..chunk.length]);
            }
            rest = behind;
        }
    }

    /// The picture of a chunk that is one. `readable` is the payload and whatever libwebp may read behind it.
    pub(super) fn of_chunk(chunk: &Chunk<'a>, readable: &'a [u8], alpha: Option<&'a [u8]>) -> Result<Picture<'a>> {
        Picture::new(chunk.name == b"VP8L", readable.get(..chunk.length).ok_or(CUT)?, readable, alpha)
    }

    fn new(is_lossless: bool, data: &'a [u8], readable: &'a [u8], alpha: Option<&'a [u8]>) -> Result<Picture<'a>> {
        let (columns, rows, has_alpha) = if is_lossless {
            let (start, _) = readable.split_first_chunk::<5>().ok_or(CUT)?;
            let bits = u32::from_le_bytes([start[1], start[2], start[3], start[4]]);
            if start[0] != LOSSLESS || bits >> 29 != 0 {
                return Err("A lossless picture does not begin as one.");
            }
            (1 + (bits & 0x3fff), 1 + ((bits >> 14) & 0x3fff), (bits >> 28) & 1 != 0)
        } else {
            let (start, _) = data.split_first_chunk::<10>().ok_or(CUT)?;
            let bits = of_three_bytes(start);
            let [columns, rows] = [6, 8].map(|at| u32::from(u16::from_le_bytes([start[at], start[at + 1]]) & 0x3fff));
            // A key frame, of one of four profiles, that is shown.
            let is_key = bits & 1 == 0 && (bits >> 1) & 7 <= 3 && (bits >> 4) & 1 == 1;
            if start[3..6] != [0x9d, 0x01, 0x2a] || !is_key || bits >> 5 >= data.len() || columns == 0 || rows == 0 {
                return Err("A lossy picture does not begin as one.");
            }
            (columns, rows, false)
        };
        let has_alpha = has_alpha || alpha.is_some();
        let alpha = alpha.filter(|_| !is_lossless);
        Ok(Picture { is_lossless, alpha, readable, has_alpha, columns: columns as usize, rows: rows as usize })
    }

    /// Writes the pixels in three or four channels; those of a picture without alpha are opaque. `what` begins the text of an error.
    pub(super) fn decode(&self, what: impl Display, channels: usize, out: &mut [u8]) -> Done<()> {
        let &Picture { columns, rows, .. } = self;
        if self.is_lossless {
            if let Err(reason) = lossless::decode(self.readable, columns, rows, channels, out)? {
                bail!(InvalidArgument, "{what} {reason}");
            }
            return Ok(());
        }
        let alpha = match self.alpha.filter(|_| channels == 4) {
            Some(chunk) => match Alpha::new(chunk) {
                Ok(alpha) => Some(alpha),
                Err(reason) => bail!(InvalidArgument, "{what} {reason}"),
            },
            None => None,
        };
        // Before the picture, so that its planes do not take memory at the same time; errors of the picture come first, though.
        let alpha = alpha.map(|alpha| alpha.plane(columns, rows));
        let picture = lossy::Picture::read(self.readable, columns, rows, &what)?;
        if channels == 3 {
            return picture.write(out);
        }
        let alpha = match alpha.transpose()?.transpose() {
            Ok(plane) => plane,
            Err(reason) => bail!(InvalidArgument, "{what} {reason}"),
        };
        picture.write_with_alpha(alpha.as_deref(), out)
    }
}
