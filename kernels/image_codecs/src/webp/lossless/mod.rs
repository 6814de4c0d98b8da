//! Lossless pictures, as the specification of WebP's lossless bitstream describes them and libwebp's `src/dec/vp8l_dec.c` reads them: the
//! same pixels of the same files, of those that no encoder writes, too.

mod bits;
mod codes;
mod pixel;
mod transforms;

use kernlink::tensor::scratch;
use kernlink::{Error, Result as Done};

use super::container::Result;
use bits::Bits;
use codes::{Code, Tables};
use transforms::{Tiles, Transform};

/// Why a picture is not decoded.
enum Fault {
    /// What is wrong with the file.
    File(&'static str),
    Memory(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Memory(error)
    }
}

type Outcome<T> = std::result::Result<T, Fault>;

const CUT: &str = "A lossless picture is cut off.";

/// Symbols of green are samples, then lengths of what is repeated, then places of the cache.
const SAMPLES: usize = 256;
const LENGTH_SYMBOLS: usize = 24;
/// Symbols of distances.
const DISTANCES: usize = 40;

/// The most bits that places of the cache have.
const CACHE_BITS: u32 = 11;

/// Writes the pixels of a picture in three or four channels.
///
/// # Errors
/// The inner one says what is wrong with the picture; RESOURCE_EXHAUSTED if there is not enough memory.
pub(super) fn decode(data: &[u8], columns: usize, rows: usize, channels: usize, out: &mut [u8]) -> Done<Result<()>> {
    told((|| {
        let mut bits = Bits::new(data);
        // The header, which was read.
        for count in [8, 14, 14, 1, 3] {
            bits.number(count);
        }
        let mut picture = Picture::new(bits, columns, rows)?;
        let pixels = picture.pixels()?;
        picture.finish(pixels, |row, pixels| {
            let out = &mut out[row * columns * channels..];
            if channels == 4 {
                transforms::with_alpha(pixels, out.as_chunks_mut().0);
            } else {
                transforms::without_alpha(pixels, out.as_chunks_mut().0);
            }
        })
    })())
}

/// Writes the samples of a plane of alpha, which is the green of a picture without a header.
///
/// # Errors
/// As [`decode`].
pub(super) fn decode_alpha(data: &[u8], columns: usize, rows: usize, plane: &mut [u8]) -> Done<Result<()>> {
    told((|| {
        let mut picture = Picture::new(Bits::new(data), columns, rows)?;
        let is_palette = matches!(picture.transforms[..], [Transform::Palette { .. }]);
        let pixels =
            if is_palette && picture.codes.has_only_green { picture.green_pixels()? } else { picture.pixels()? };
        picture.finish(pixels, |row, pixels| {
            let plane = &mut plane[row * columns..];
            plane.iter_mut().zip(pixels).for_each(|(to, pixel)| *to = (pixel >> 8) as u8);
        })
    })())
}

fn told(outcome: Outcome<()>) -> Done<Result<()>> {
    match outcome {
        Ok(()) => Ok(Ok(())),
        Err(Fault::File(reason)) => Ok(Err(reason)),
        Err(Fault::Memory(error)) => Err(error),
    }
}

/// A picture whose pixels follow.
struct Picture<'a> {
    bits: Bits<'a>,
    /// What was done to the pixels, in turn.
    transforms: Vec<Transform>,
    codes: Codes,
    columns: usize,
    rows: usize,
    /// The columns of the pixels that are written, of which each may stand for several.
    packed_columns: usize,
}

impl<'a> Picture<'a> {
    fn new(mut bits: Bits<'a>, columns: usize, rows: usize) -> Outcome<Picture<'a>> {
        let mut transforms = Vec::new();
        let mut packed_columns = columns;
        let mut seen = [false; 4];
        while bits.flag() {
            let kind = bits.number(2) as usize;
            if std::mem::replace(&mut seen[kind], true) {
                return Err(Fault::File("A lossless picture has a transform twice."));
            }
            let columns = packed_columns;
            let tiles = |bits: &mut Bits<'_>| Tiles::read(bits, columns, rows);
            let transform = match kind {
                0 => Transform::Predicted { tiles: tiles(&mut bits)?, above: scratch::zeros(columns + 1)? },
                1 => Transform::Colors(tiles(&mut bits)?),
                2 => Transform::GreenLeftOut,
                _ => {
                    let count = 1 + bits.number(8) as usize;
                    let packed = [16, 4, 2].into_iter().filter(|&most| count <= most).count() as u32;
                    packed_columns = columns.div_ceil(1 << packed);
                    let colors = transforms::palette(&inner_pixels(&mut bits, count, 1)?, packed)?;
                    Transform::Palette { colors, bits: packed, columns }
                }
            };
            scratch::push(&mut transforms, transform)?;
        }
        let codes = Codes::read(&mut bits, packed_columns, rows, true)?;
        Ok(Picture { bits, transforms, codes, columns, rows, packed_columns })
    }

    fn pixels(&mut self) -> Outcome<Vec<u32>> {
        self.codes.pixels(&mut self.bits, self.packed_columns, self.rows)
    }

    fn green_pixels(&mut self) -> Outcome<Vec<u32>> {
        self.codes.green_pixels(&mut self.bits, self.packed_columns, self.rows)
    }

    /// Undoes what was done to the pixels, row by row.
    fn finish(&mut self, pixels: Vec<u32>, mut with: impl FnMut(usize, &[u32])) -> Outcome<()> {
        let mut line = scratch::zeros(self.columns)?;
        for (row, packed) in pixels.chunks_exact(self.packed_columns).enumerate() {
            line[..packed.len()].copy_from_slice(packed);
            let undo = |count, transform: &mut Transform| transform.undo(row, &mut line, count);
            self.transforms.iter_mut().rev().fold(packed.len(), undo);
            with(row, &line);
        }
        Ok(())
    }
}

impl Tiles {
    fn read(bits: &mut Bits<'_>, columns: usize, rows: usize) -> Outcome<Tiles> {
        let size = 2 + bits.number(3);
        let values = inner_pixels(bits, columns.div_ceil(1 << size), rows.div_ceil(1 << size))?;
        Ok(Tiles { values, bits: size, columns })
    }

    /// The value that holds for a pixel.
    fn at(&self, row: usize, column: usize) -> u32 {
        self.values[(row >> self.bits) * self.columns.div_ceil(1 << self.bits) + (column >> self.bits)]
    }
}

/// Reads a picture that a transform, or the choice of codes, is written in.
fn inner_pixels(bits: &mut Bits<'_>, columns: usize, rows: usize) -> Outcome<Vec<u32>> {
    Codes::read(bits, columns, rows, false)?.pixels(bits, columns, rows)
}

/// The codes of a tile's pixels.
#[derive(Clone, Copy, Default)]
struct Group {
    green: Code,
    red: Code,
    blue: Code,
    alpha: Code,
    distance: Code,
    /// The other components of all pixels, if there is but one symbol for each.
    others: Option<u32>,
}

/// The color cache: the last pixels, by a hash of theirs.
struct Cache {
    /// As many as the largest cache has.
    pixels: [u32; 1 << CACHE_BITS],
    bits: u32,
}

impl Cache {
    #[inline(always)]
    fn insert(&mut self, pixel: u32) {
        let place = pixel.wrapping_mul(0x1e35_a7bd) >> (32 - self.bits);
        self.pixels[place as usize % self.pixels.len()] = pixel;
    }

    /// Inserts pixels four at a time. Which of those with one place stays is the last; to insert the last four again, in order, changes nothing.
    #[inline(always)]
    fn insert_all(&mut self, pixels: &[u32]) {
        match pixels.last_chunk::<4>() {
            Some(last) => {
                let fours = pixels.as_chunks::<4>().0;
                fours.iter().chain([last]).flatten().for_each(|&pixel| self.insert(pixel));
            }
            None => pixels.iter().for_each(|&pixel| self.insert(pixel)),
        }
    }
}

/// How pixels are written.
struct Codes {
    cache: Option<Cache>,
    tables: Tables,
    groups: Vec<Group>,
    /// The entropy image: which group's codes hold for which tile, if there are several.
    choice: Option<Tiles>,
    /// Whether pixels differ in green only, and no cache is used.
    has_only_green: bool,
}

impl Codes {
    fn read(bits: &mut Bits<'_>, columns: usize, rows: usize, is_outer: bool) -> Outcome<Codes> {
        let mut cache = None;
        if bits.flag() {
            let bits = bits.number(4);
            if !(1..=CACHE_BITS).contains(&bits) {
                return Err(Fault::File("The cache of a lossless picture is too large, or has no room."));
            }
            cache = Some(Cache { pixels: [0; 1 << CACHE_BITS], bits });
        }
        let choice = if is_outer && bits.flag() { Some(Tiles::read(bits, columns, rows)?) } else { None };
        if bits.has_ended() {
            return Err(Fault::File(CUT));
        }
        let mut codes = Codes { cache, tables: Tables::default(), groups: Vec::new(), choice, has_only_green: true };
        codes.read_groups(bits, columns * rows)?;
        Ok(codes)
    }

    /// Reads the groups, and keeps those that a tile has.
    fn read_groups(&mut self, bits: &mut Bits<'_>, pixels: usize) -> Outcome<()> {
        let group = |value: u32| (value >> 8 & 0xffff) as usize;
        let chosen = self.choice.as_ref().map_or(&[0][..], |choice| &choice.values);
        let count = 1 + chosen.iter().copied().map(group).max().unwrap_or(0);
        let mut is_chosen = scratch::filled(false, count)?;
        chosen.iter().for_each(|&value| is_chosen[group(value)] = true);
        // libwebp looks at these for `has_only_green`.
        let counts_all = count <= 1000 && count <= pixels;
        let mut places = scratch::zeros::<u32>(count)?;
        let mut lengths = Vec::new();
        for (is_chosen, place) in is_chosen.into_iter().zip(&mut places) {
            let mark = self.tables.len();
            let group = self.read_group(bits, &mut lengths)?;
            if is_chosen || counts_all {
                self.has_only_green &= self.cache.is_none() && group.others.is_some();
            }
            if is_chosen {
                *place = self.groups.len() as u32;
                scratch::push(&mut self.groups, group)?;
            } else {
                self.tables.truncate(mark);
            }
        }
        if let Some(choice) = &mut self.choice {
            choice.values.iter_mut().for_each(|value| *value = places[group(*value)]);
        }
        Ok(())
    }

    fn read_group(&mut self, bits: &mut Bits<'_>, lengths: &mut Vec<u8>) -> Outcome<Group> {
        let places = self.cache.as_ref().map_or(0, |cache| 1 << cache.bits);
        let tables = &mut self.tables;
        let mut code = |symbols| tables.read(bits, symbols, lengths);
        let [green, red, blue, alpha] =
            [code(SAMPLES + LENGTH_SYMBOLS + places)?, code(SAMPLES)?, code(SAMPLES)?, code(SAMPLES)?];
        let distance = code(DISTANCES)?;
        let others = [alpha, red, blue].map(|code| tables.only_symbol(code).map(u32::from));
        let others = match others {
            [Some(alpha), Some(red), Some(blue)] => Some(alpha << 24 | red << 16 | blue),
            _ => None,
        };
        Ok(Group { green, red, blue, alpha, distance, others })
    }

    /// The group of a pixel.
    #[inline(always)]
    fn group(&self, row: usize, column: usize) -> &Group {
        &self.groups[self.choice.as_ref().map_or(0, |choice| choice.at(row, column) as usize)]
    }

    /// In which columns another tile may begin: all whose bits of these are 0.
    fn tile_mask(&self) -> usize {
        self.choice.as_ref().map_or(usize::MAX, |choice| (1 << choice.bits) - 1)
    }

    /// Reads the pixels; the cache is used up.
    fn pixels(&mut self, bits: &mut Bits<'_>, columns: usize, rows: usize) -> Outcome<Vec<u32>> {
        let mut pixels = scratch::zeros::<u32>(columns * rows)?;
        // A local copy, so that the compiler keeps it in registers.
        let mut own = *bits;
        let mut cache = self.cache.take();
        let mask = self.tile_mask();
        let (mut at, mut row, mut column) = (0, 0, 0);
        let mut group = self.group(0, 0);
        while at < pixels.len() {
            if column & mask == 0 {
                group = self.group(row, column);
            }
            own.fill();
            let symbol = self.tables.symbol(group.green, &mut own);
            let pixel = if symbol < SAMPLES {
                let others = match group.others {
                    Some(others) => others,
                    None => {
                        let red = self.tables.symbol(group.red, &mut own);
                        own.fill();
                        let blue = self.tables.symbol(group.blue, &mut own);
                        let alpha = self.tables.symbol(group.alpha, &mut own);
                        (alpha << 24 | red << 16 | blue) as u32
                    }
                };
                others | (symbol as u32) << 8
            } else if symbol < SAMPLES + LENGTH_SYMBOLS {
                let Repeated { length, distance } = self.repeated(&mut own, group, symbol, columns);
                if own.is_over() {
                    break;
                }
                repeat(&mut pixels, at, length, distance)?;
                if let Some(cache) = &mut cache {
                    // The last ones, of one distance, are all that there are, in the order that counts.
                    let last = length.min(distance);
                    cache.insert_all(&pixels[at + length - last..at + length]);
                }
                at += length;
                column += length;
                while column >= columns {
                    (row, column) = (row + 1, column - columns);
                }
                if column & mask != 0 {
                    group = self.group(row, column);
                }
                continue;
            } else {
                cache.as_ref().map_or(0, |cache| cache.pixels[symbol - SAMPLES - LENGTH_SYMBOLS])
            };
            if own.is_over() {
                break;
            }
            pixels[at] = pixel;
            if let Some(cache) = &mut cache {
                cache.insert(pixel);
            }
            at += 1;
            column += 1;
            if column == columns {
                (row, column) = (row + 1, 0);
            }
        }
        own.note_end();
        *bits = own;
        if own.has_ended() { Err(Fault::File(CUT)) } else { Ok(pixels) }
    }

    /// Reads the pixels of a plane of alpha that is a palette's indices: libwebp has a loop of its own for these, which takes bits behind the
    /// end for the last symbol.
    fn green_pixels(&mut self, bits: &mut Bits<'_>, columns: usize, rows: usize) -> Outcome<Vec<u32>> {
        let mut pixels = scratch::zeros::<u32>(columns * rows)?;
        let mut at = 0;
        while !bits.has_ended() && at < pixels.len() {
            let group = self.group(at / columns, at % columns);
            bits.fill();
            let symbol = self.tables.symbol(group.green, bits);
            if symbol < SAMPLES {
                pixels[at] = (symbol as u32) << 8;
                at += 1;
            } else {
                let Repeated { length, distance } = self.repeated(bits, group, symbol, columns);
                repeat(&mut pixels, at, length, distance)?;
                at += length;
            }
            bits.note_end();
        }
        if at < pixels.len() { Err(Fault::File(CUT)) } else { Ok(pixels) }
    }

    /// Reads how many pixels are repeated, whose symbol was read, and from where.
    #[inline(always)]
    fn repeated(&self, bits: &mut Bits<'_>, group: &Group, symbol: usize, columns: usize) -> Repeated {
        let length = extended(bits, symbol - SAMPLES);
        let symbol = self.tables.symbol(group.distance, bits);
        bits.fill();
        Repeated { length, distance: distance(extended(bits, symbol), columns) }
    }
}

/// How many pixels are repeated, and how far behind they are.
struct Repeated {
    length: usize,
    distance: usize,
}

/// A number that a symbol and the bits behind it tell.
#[inline(always)]
fn extended(bits: &mut Bits<'_>, symbol: usize) -> usize {
    if symbol < 4 {
        return symbol + 1;
    }
    let more = (symbol - 2) >> 1;
    ((2 + (symbol & 1)) << more) + bits.number(more as u32) as usize + 1
}

/// A backward reference: repeats pixels, some of which may be among those that are written.
#[inline(always)]
fn repeat(pixels: &mut [u32], at: usize, length: usize, distance: usize) -> Outcome<()> {
    if distance > at || length > pixels.len() - at {
        return Err(Fault::File("A lossless picture repeats pixels that it has not."));
    }
    let start = at - distance;
    // Eight at a time. Up to seven pixels behind the last are written, too: those are read later, or the picture is refused.
    if let (8.., ..=64, Some(pixels)) = (distance, length, pixels.get_mut(start..at + length.next_multiple_of(8))) {
        for k in (0..length).step_by(8) {
            let mut eight = [0; 8];
            eight.copy_from_slice(&pixels[k..][..8]);
            pixels[k + distance..][..8].copy_from_slice(&eight);
        }
        return Ok(());
    }
    if distance == 1 {
        let pixel = pixels[start];
        pixels[at..at + length].fill(pixel);
        return Ok(());
    }
    if distance < length && length < 32 {
        (at..at + length).for_each(|k| pixels[k] = pixels[k - distance]);
        return Ok(());
    }
    // What is written may be repeated, too: each copy is twice as long as the one before.
    let mut done = 0;
    while done < length {
        let count = (distance + done).min(length - done);
        pixels.copy_within(start..start + count, at + done);
        done += count;
    }
    Ok(())
}

/// How far a pixel is behind that a number tells: the first numbers are those of pixels nearby.
fn distance(number: usize, columns: usize) -> usize {
    let Some(near) = NEAR.get(number - 1).map(|&near| usize::from(near)) else { return number - NEAR.len() };
    // In few columns it may not be behind.
    (columns * (near >> 4) + 8).saturating_sub(near & 15).max(1)
}

/// The distance map: rows above, in the higher half, and columns to the right of the eighth to the left.
const NEAR: [u8; 120] = [
    0x18, 0x07, 0x17, 0x19, 0x28, 0x06, 0x27, 0x29, 0x16, 0x1a, 0x26, 0x2a, 0x38, 0x05, 0x37, 0x39, 0x15, 0x1b, 0x36,
    0x3a, 0x25, 0x2b, 0x48, 0x04, 0x47, 0x49, 0x14, 0x1c, 0x35, 0x3b, 0x46, 0x4a, 0x24, 0x2c, 0x58, 0x45, 0x4b, 0x34,
    0x3c, 0x03, 0x57, 0x59, 0x13, 0x1d, 0x56, 0x5a, 0x23, 0x2d, 0x44, 0x4c, 0x55, 0x5b, 0x33, 0x3d, 0x68, 0x02, 0x67,
    0x69, 0x12, 0x1e, 0x66, 0x6a, 0x22, 0x2e, 0x54, 0x5c, 0x43, 0x4d, 0x65, 0x6b, 0x32, 0x3e, 0x78, 0x01, 0x77, 0x79,
    0x53, 0x5d, 0x11, 0x1f, 0x64, 0x6c, 0x42, 0x4e, 0x76, 0x7a, 0x21, 0x2f, 0x75, 0x7b, 0x31, 0x3f, 0x63, 0x6d, 0x52,
    0x5e, 0x00, 0x74, 0x7c, 0x41, 0x4f, 0x10, 0x20, 0x62, 0x6e, 0x30, 0x73, 0x7d, 0x51, 0x5f, 0x40, 0x72, 0x7e, 0x61,
    0x6f, 0x50, 0x71, 0x7f, 0x60, 0x70,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_repeated_one_by_one() {
        for at in [1, 2, 7, 8, 30, 100] {
            for distance in (1..=at).filter(|distance| *distance < 20 || distance % 7 == 0) {
                for length in [1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100] {
                    for behind in [0, 1, 7, 8] {
                        let mut pixels: Vec<u32> = (0..at as u32).collect();
                        pixels.resize(at + length + behind, u32::MAX);
                        let mut expected = pixels.clone();
                        (at..at + length).for_each(|k| expected[k] = expected[k - distance]);
                        assert!(repeat(&mut pixels, at, length, distance).is_ok());
                        let end = at + length;
                        assert_eq!(pixels[..end], expected[..end], "{length} of {distance} at {at}, before {behind}");
                    }
                }
            }
        }
        for (length, distance) in [(3, 1), (1, 9), (3, 9)] {
            assert!(repeat(&mut [0; 10], 8, length, distance).is_err());
        }
    }
}
