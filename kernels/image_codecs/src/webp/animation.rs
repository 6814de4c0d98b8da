//! Animations: frames, each of which changes a part of the canvas. The canvas is what libwebp's `WebPAnimDecoder` makes of it
//! (`src/demux/demux.c` and `anim_decode.c`): what no frame covers is transparent, the background that a file names is not used.

use kernlink::Result;
use kernlink::tensor::scratch;

use super::container::{self, Canvas, Chunk, Header, Picture, check_area, of_three_bytes};

/// The bytes of a frame before its chunks.
const FRAME_HEADER: usize = 16;

/// The flags of VP8X that have a meaning.
const FLAGS: u8 = 0x3e;

struct Frame<'a> {
    picture: Picture<'a>,
    left: usize,
    top: usize,
    /// Whether pixels that are not opaque are blended with what the canvas shows.
    is_blended: bool,
    /// Whether the frame's part of the canvas is made transparent before the next frame.
    is_disposed: bool,
}

impl<'a> Frame<'a> {
    /// The frame of a chunk ANMF of the given length, none without a picture, and the first chunk that is not the frame's. That may be
    /// one inside ANMF: as to libwebp it is one of the file then.
    fn new(length: usize, data: &'a [u8], canvas: &Canvas) -> container::Result<(Option<Frame<'a>>, &'a [u8])> {
        let chunks_length = length.checked_sub(FRAME_HEADER).ok_or("The chunk ANMF is shorter than 16.")?;
        let (header, chunks) = data.split_at_checked(FRAME_HEADER).ok_or("A frame is cut off.")?;
        if chunks.len() < chunks_length {
            return Err("A frame is cut off.");
        }
        let [columns, rows] = [6, 9].map(|at| 1 + of_three_bytes(&header[at..]));
        check_area(columns, rows)?;
        let mut alpha = None;
        let mut picture = None;
        let mut rest = chunks;
        while !(rest.is_empty() && (alpha.is_some() || picture.is_some())) {
            let chunk = Chunk::new(rest)?;
            let (payload, behind) = chunk.split()?;
            match chunk.name {
                b"ALPH" if alpha.is_none() => {
                    if picture.is_some() {
                        return Err("A frame's alpha comes after its picture.");
                    }
                    alpha = Some(&payload[..chunk.length]);
                }
                b"VP8L" if alpha.is_some() => return Err("A lossless picture has alpha of its own."),
                b"VP8 " | b"VP8L" if picture.is_none() => picture = Some(Picture::of_chunk(&chunk, payload, alpha)?),
                _ => break,
            }
            rest = behind;
        }
        if chunks.len() - rest.len() > chunks_length {
            return Err("A frame's chunks are longer than the frame.");
        }
        let Some(picture) = picture else {
            return if alpha.is_some() { Err("A frame has alpha but no picture.") } else { Ok((None, rest)) };
        };
        let [left, top] = [0, 3].map(|at| 2 * of_three_bytes(&header[at..]));
        if left + picture.columns > canvas.columns || top + picture.rows > canvas.rows {
            return Err("A frame goes beyond the canvas.");
        }
        let (is_blended, is_disposed) = (header[15] & 2 == 0, header[15] & 1 != 0);
        Ok((Some(Frame { picture, left, top, is_blended, is_disposed }), rest))
    }

    fn is_full(&self, columns: usize, rows: usize) -> bool {
        (self.picture.columns, self.picture.rows) == (columns, rows)
    }

    /// The part of `canvas` that the frame's row has.
    fn row<'c>(&self, row: usize, canvas: &'c mut [[u8; 4]], columns: usize) -> &'c mut [[u8; 4]] {
        &mut canvas[(self.top + row) * columns + self.left..][..self.picture.columns]
    }

    fn covers(&self, row: usize, column: usize) -> bool {
        (self.top..self.top + self.picture.rows).contains(&row)
            && (self.left..self.left + self.picture.columns).contains(&column)
    }
}

/// A file of frames.
pub(super) struct Animation<'a> {
    frames: Vec<Frame<'a>>,
    columns: usize,
    rows: usize,
}

impl<'a> Animation<'a> {
    /// The frames of a file whose chunk VP8X was read.
    pub(super) fn new(header: &Header<'a>, canvas: &Canvas) -> container::Result<Animation<'a>> {
        let length_behind = header.length_behind()?;
        if canvas.flags & !FLAGS != 0 {
            return Err("The chunk VP8X has flags of no meaning.");
        }
        // Nothing is read behind the end that the file tells.
        let length = header.rest.len().checked_sub(length_behind).ok_or("The chunk VP8X is longer than the file.")?;
        let mut rest = &header.rest[..length];
        let mut has_header = false;
        let mut frames = Vec::new();
        loop {
            let chunk = Chunk::new(rest)?;
            match chunk.name {
                b"VP8X" => return Err("A second chunk VP8X."),
                b"ALPH" | b"VP8 " | b"VP8L" => return Err("A picture of an animation is in no frame."),
                b"ANMF" if !has_header => return Err("A frame comes before the chunk ANIM."),
                b"ANMF" => {
                    let (frame, behind) = Frame::new(chunk.even_length(), chunk.behind_header, canvas)?;
                    if let Some(frame) = frame {
                        scratch::push(&mut frames, frame).map_err(|_| "There is no memory for its frames.")?;
                    }
                    rest = behind;
                }
                name => {
                    let (payload, behind) = chunk.split()?;
                    if name == b"ANIM" && payload.len() < 6 {
                        return Err("The chunk ANIM is shorter than 6.");
                    }
                    has_header |= name == b"ANIM";
                    rest = behind;
                }
            }
            if rest.is_empty() {
                break;
            }
        }
        if frames.is_empty() {
            return Err("The animation has no frame.");
        }
        Ok(Animation { frames, columns: canvas.columns, rows: canvas.rows })
    }

    /// How many frames there are.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Writes the canvas after each of the first `count` frames, in four channels.
    pub(super) fn decode(&self, count: usize, out: &mut [u8]) -> Result<()> {
        let (columns, rows) = (self.columns, self.rows);
        let sizes = self.frames.iter().take(count).map(|frame| frame.picture.columns * frame.picture.rows);
        let mut room = scratch::zeros(sizes.max().unwrap_or(0) * 4)?;
        let mut before: Option<(&Frame<'_>, &mut [[u8; 4]])> = None;
        let mut was_key = false;
        let canvases = out.as_chunks_mut::<4>().0.chunks_exact_mut(columns * rows);
        for (index, (frame, canvas)) in self.frames.iter().zip(canvases).take(count).enumerate() {
            let picture = &frame.picture;
            let pixels = &mut room[..picture.columns * picture.rows * 4];
            let what = format_args!("Failed to decode WebP Animation: failed to decode frame: {index}:");
            picture.decode(what, 4, pixels)?;
            let pixels = pixels.as_chunks::<4>().0.chunks_exact(picture.columns).enumerate();

            // A key frame shows nothing of the canvas before.
            let is_key = match &before {
                None => true,
                Some(_) if frame.is_full(columns, rows) && !(picture.has_alpha && frame.is_blended) => true,
                Some((before, _)) => before.is_disposed && (before.is_full(columns, rows) || was_key),
            };
            match &before {
                Some((before, shown)) if !is_key => {
                    canvas.copy_from_slice(shown);
                    if before.is_disposed {
                        (0..before.picture.rows).for_each(|row| before.row(row, canvas, columns).fill([0; 4]));
                    }
                }
                _ => canvas.fill([0; 4]),
            }
            let blended_over = before.as_ref().filter(|_| frame.is_blended && !is_key).map(|(before, _)| *before);
            for (row, pixels) in pixels {
                let shown = frame.row(row, canvas, columns);
                let Some(before) = blended_over else {
                    shown.copy_from_slice(pixels);
                    continue;
                };
                for (column, (shown, &pixel)) in shown.iter_mut().zip(pixels).enumerate() {
                    // What was made transparent shows the pixel as it is: blending would round it.
                    let is_taken = before.is_disposed && before.covers(frame.top + row, frame.left + column);
                    *shown = if is_taken { pixel } else { blended(pixel, *shown) };
                }
            }
            before = Some((frame, canvas));
            was_key = is_key;
        }
        Ok(())
    }
}

/// A pixel over another one, by libwebp's integers.
fn blended(over: [u8; 4], under: [u8; 4]) -> [u8; 4] {
    let alpha = u32::from(over[3]);
    match alpha {
        0 => under,
        255 => over,
        _ => {
            let under_alpha = (u32::from(under[3]) * (256 - alpha)) >> 8;
            let both = alpha + under_alpha;
            let scale = (1 << 24) / both;
            let channel = |at: usize| {
                let sum = u32::from(over[at]) * alpha + u32::from(under[at]) * under_alpha;
                ((sum * scale) >> 24) as u8
            };
            [channel(0), channel(1), channel(2), both as u8]
        }
    }
}
