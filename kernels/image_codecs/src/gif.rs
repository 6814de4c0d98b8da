//! GIF files, read as giflib reads them, and composed as TensorFlow composes them: a frame lies over the one before it, which shows
//! where it is transparent or does not reach. What a file says of frames that were shown is passed over.

use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};

use self::lzw::Pixels;

mod lzw;

/// Why a file's blocks cannot be read any further.
type Broken = &'static str;

/// The most pixels of a frame: as many as files of other formats may have.
const MOST_PIXELS: usize = 1 << 29;

/// What a frame paints.
struct Frame {
    left: usize,
    top: usize,
    columns: usize,
    rows: usize,
    palette: Option<Vec<[u8; 3]>>,
    /// The index of the colour that lets the frame before show.
    transparent: Option<u8>,
    /// The index of each pixel's colour.
    pixels: Vec<u8>,
}

/// A file that was read.
pub(crate) struct Gif {
    palette: Option<Vec<[u8; 3]>>,
    frames: Vec<Frame>,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// The bytes of a file.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or("the file ends amid a block")?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    fn word(&mut self) -> Result<usize, Broken> {
        let word = self.take(2)?;
        Ok(usize::from(word[0]) | usize::from(word[1]) << 8)
    }

    /// Data with their length before them; none if that is 0.
    fn block(&mut self) -> Result<Option<&'a [u8]>, Broken> {
        let length = self.byte()?;
        if length == 0 { Ok(None) } else { self.take(length.into()).map(Some) }
    }

    /// The palette that flags announce.
    fn palette(&mut self, flags: u8) -> Result<Option<Vec<[u8; 3]>>, Broken> {
        if flags & 0x80 == 0 {
            return Ok(None);
        }
        Ok(Some(self.take(3 << ((flags & 7) + 1))?.as_chunks::<3>().0.to_vec()))
    }
}

/// What reading a frame can end with.
enum Ended {
    Broken(Broken),
    /// There is no memory for the frame.
    Refused(kernlink::Error),
}

impl From<Broken> for Ended {
    fn from(broken: Broken) -> Ended {
        Ended::Broken(broken)
    }
}

impl Gif {
    /// Reads the frames of a file, or those before the first that is broken.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none; RESOURCE_EXHAUSTED if there is no memory for one.
    pub(crate) fn new(data: &[u8], only_first: bool) -> Result<Gif> {
        let mut reader = Reader { rest: data };
        let palette = match reader.header() {
            Ok(palette) => palette,
            Err(broken) => {
                bail!(InvalidArgument, "Invalid GIF data (size {}), failed to open gif file: {broken}", data.len())
            }
        };
        let mut file = Gif { palette, frames: Vec::new(), rows: 0, columns: 0 };
        let broken = match file.read_frames(&mut reader, only_first) {
            Ok(()) => "it has no image",
            Err(Ended::Broken(broken)) => broken,
            Err(Ended::Refused(error)) => return Err(error),
        };
        ensure!(
            !file.frames.is_empty(),
            InvalidArgument,
            "Invalid GIF data (size {}), failed to slurp gif file: {broken}",
            data.len()
        );
        Ok(file)
    }

    fn read_frames(&mut self, reader: &mut Reader<'_>, only_first: bool) -> Result<(), Ended> {
        let mut transparent = None;
        let mut saw_control = false;
        loop {
            match reader.byte()? {
                b'!' => {
                    let label = reader.byte()?;
                    let first = reader.block()?;
                    // Of several blocks that control a frame giflib takes the first.
                    if let (0xF9, Some(block), false) = (label, first, saw_control) {
                        saw_control = true;
                        transparent = match *block {
                            [flags, _, _, index] if flags & 1 == 1 => Some(index),
                            _ => None,
                        };
                    }
                    // Where there is no block giflib takes the next byte for the length of another all the same.
                    while reader.block()?.is_some() {}
                }
                b',' => {
                    let frame = reader.frame(transparent)?;
                    self.rows = self.rows.max(frame.rows);
                    self.columns = self.columns.max(frame.columns);
                    // The canvas is as large as any frame, so that all are read where only one is kept.
                    if !only_first || self.frames.is_empty() {
                        self.frames.push(frame);
                    }
                    (transparent, saw_control) = (None, false);
                }
                b';' => return Ok(()),
                _ => return Err(Ended::Broken("a block is of no kind that is known")),
            }
        }
    }

    pub(crate) fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Writes the frames one after the other, with red, green and blue of each pixel. `size` is the file's, for errors.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a frame has no palette, or a colour that its palette lacks.
    pub(crate) fn decode(&self, size: usize, out: &mut [u8]) -> Result<()> {
        let length = self.rows * self.columns * 3;
        for (index, frame) in self.frames.iter().enumerate() {
            let (done, rest) = out.split_at_mut(index * length);
            let canvas = &mut rest[..length];
            match index {
                0 => canvas.fill(0),
                _ => canvas.copy_from_slice(&done[(index - 1) * length..]),
            }
            let Some(colors) = frame.palette.as_ref().or(self.palette.as_ref()) else {
                bail!(InvalidArgument, "Invalid GIF data (size {size}), missing color map for frame {index}");
            };
            let columns = frame.columns.min(self.columns.saturating_sub(frame.left));
            let rows = canvas.chunks_exact_mut(self.columns * 3).skip(frame.top);
            for (row, pixels) in rows.zip(frame.pixels.chunks_exact(frame.columns)) {
                let row = row.as_chunks_mut::<3>().0.iter_mut().skip(frame.left);
                for (pixel, &color) in row.zip(&pixels[..columns]) {
                    if Some(color) == frame.transparent {
                        continue;
                    }
                    let color = usize::from(color);
                    ensure!(
                        color < colors.len(),
                        InvalidArgument,
                        "Invalid GIF data (size {size}), found color index {color} outside of color map range {}",
                        colors.len()
                    );
                    *pixel = colors[color];
                }
            }
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// The palette of all frames that have none of their own.
    fn header(&mut self) -> Result<Option<Vec<[u8; 3]>>, Broken> {
        if !self.take(6)?.starts_with(b"GIF") {
            return Err("it does not begin as GIF files do");
        }
        self.take(4)?;
        let flags = self.take(3)?[0];
        self.palette(flags)
    }

    fn frame(&mut self, transparent: Option<u8>) -> Result<Frame, Ended> {
        let [left, top, columns, rows] = [self.word()?, self.word()?, self.word()?, self.word()?];
        let flags = self.byte()?;
        let palette = self.palette(flags)?;
        let code_size = self.byte()?;
        if code_size > 8 {
            return Err(Ended::Broken("the codes of a frame are too long"));
        }
        if columns == 0 || rows == 0 {
            return Err(Ended::Broken("a frame is empty"));
        }
        // A code stands for 4096 pixels at most: memory is not asked for what the data cannot fill.
        if columns * rows > MOST_PIXELS || columns * rows / 4096 > self.rest.len().saturating_mul(8) {
            return Err(Ended::Broken("a frame is too large for its data"));
        }
        let mut pixels = scratch::zeros(columns * rows).map_err(Ended::Refused)?;
        let mut decoder = Pixels::new(code_size);
        if flags & 0x40 != 0 {
            for (first, step) in [(0, 8), (4, 8), (2, 4), (1, 2)] {
                for row in pixels.chunks_exact_mut(columns).skip(first).step_by(step) {
                    decoder.fill(self, row)?;
                }
            }
        } else {
            decoder.fill(self, &mut pixels)?;
        }
        while self.block()?.is_some() {}
        Ok(Frame { left, top, columns, rows, palette, transparent, pixels })
    }
}
