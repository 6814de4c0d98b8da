//! GIF files, as TensorFlow composes their frames: each lies over the one before it, whatever its file says of transparency and of
//! what becomes of frames that were shown.

use gif::{ColorOutput, DecodeOptions, MemoryLimit};
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};

/// The most pixels of a frame: as many as the other formats may have.
const MOST_PIXELS: usize = 1 << 29;

/// What a frame paints.
struct Frame {
    left: usize,
    top: usize,
    columns: usize,
    rows: usize,
    palette: Option<Vec<u8>>,
    /// The index of each pixel's colour.
    pixels: Vec<u8>,
}

/// A file that was read.
pub(crate) struct Gif {
    palette: Option<Vec<u8>>,
    frames: Vec<Frame>,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Gif {
    /// Reads the frames of a file, or those before the first that is broken.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is none; RESOURCE_EXHAUSTED if there is no memory for one.
    pub(crate) fn new(data: &[u8], only_first: bool) -> Result<Gif> {
        let refuse = |reason: String| bail!(InvalidArgument, "Invalid GIF data (size {}), {reason}", data.len());
        let mut options = DecodeOptions::new();
        options.set_color_output(ColorOutput::Indexed);
        options.set_memory_limit(MemoryLimit::Unlimited);
        options.check_frame_consistency(false);
        let mut decoder = match options.read_info(data) {
            Ok(decoder) => decoder,
            Err(error) => return refuse(format!("failed to open gif file: {error}")),
        };
        let palette = decoder.global_palette().map(<[u8]>::to_vec);
        let mut file = Gif { palette, frames: Vec::new(), rows: 0, columns: 0 };
        let mut reason = String::from("gif file does not contain any image");
        loop {
            let frame = match decoder.next_frame_info() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(error) => {
                    reason = format!("failed to slurp gif file: {error}");
                    break;
                }
            };
            let [left, top, columns, rows] = [frame.left, frame.top, frame.width, frame.height].map(usize::from);
            if columns == 0 || rows == 0 {
                return refuse("failed to slurp gif file: a frame is empty".into());
            }
            // A byte of data stands for some thousands of pixels at most, so that memory is not asked for what cannot be there.
            if columns * rows > MOST_PIXELS || columns * rows / 4096 > data.len() {
                reason = "failed to slurp gif file: a frame is too large for its data".into();
                break;
            }
            let palette = frame.palette.clone();
            let mut pixels = scratch::zeros(columns * rows)?;
            if let Err(error) = decoder.read_into_buffer(&mut pixels) {
                reason = format!("failed to slurp gif file: {error}");
                break;
            }
            file.frames.push(Frame { left, top, columns, rows, palette, pixels });
            if only_first && file.frames.len() > 1 {
                // The canvas is as large as all frames need, which is known when all were read.
                file.frames.truncate(1);
            }
            file.rows = file.rows.max(rows);
            file.columns = file.columns.max(columns);
        }
        if file.frames.is_empty() {
            return refuse(reason);
        }
        Ok(file)
    }

    pub(crate) fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Writes the frames one after the other, with red, green and blue of each pixel.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a frame has no palette, or a colour that its palette lacks.
    pub(crate) fn decode(&self, size: usize, out: &mut [u8]) -> Result<()> {
        let length = self.rows * self.columns * 3;
        for (index, frame) in self.frames.iter().enumerate() {
            let (done, rest) = out.split_at_mut(index * length);
            let canvas = &mut rest[..length];
            if [frame.left, frame.top, frame.columns, frame.rows] != [0, 0, self.columns, self.rows] {
                match index {
                    0 => canvas.fill(0),
                    _ => canvas.copy_from_slice(&done[(index - 1) * length..]),
                }
            }
            let Some(palette) = frame.palette.as_ref().or(self.palette.as_ref()) else {
                bail!(InvalidArgument, "Invalid GIF data (size {size}), missing color map for frame {index}");
            };
            let colors = palette.as_chunks::<3>().0;
            let columns = frame.columns.min(self.columns.saturating_sub(frame.left));
            let rows = canvas.chunks_exact_mut(self.columns * 3).skip(frame.top);
            for (row, pixels) in rows.zip(frame.pixels.chunks_exact(frame.columns)) {
                let row = row.as_chunks_mut::<3>().0.iter_mut().skip(frame.left);
                for (pixel, &color) in row.zip(&pixels[..columns]) {
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
