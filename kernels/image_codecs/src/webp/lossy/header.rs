//! What stands before the picture (RFC 6386, section 9), as libwebp's `src/dec/vp8_dec.c` reads it.

use super::super::container::of_three_bytes;
use super::reader::Reader;
use super::tables::{AC_STEPS, BANDS, DC_STEPS, DEFAULTS, UPDATES};

/// The bytes before the first partition.
const START: usize = 10;

/// What the coefficients of the blocks of a segment are multiplied by: the first one, and the others.
#[derive(Clone, Copy, Default)]
pub(super) struct Steps {
    pub(super) brightness: [i32; 2],
    /// The means of the blocks of 4 by 4.
    pub(super) means: [i32; 2],
    pub(super) color: [i32; 2],
}

/// How the edges of a macroblock are smoothed.
#[derive(Clone, Copy, Default)]
pub(super) struct Strength {
    /// How much neighbours on both sides of an edge may differ; 0 if nothing is smoothed.
    pub(super) edge: u8,
    /// How much neighbours on the same side may differ.
    pub(super) interior: u8,
    /// What differs more on the same side is kept.
    pub(super) detail: u8,
}

/// Which samples around an edge are looked at and changed.
#[derive(Clone, Copy)]
pub(super) enum Smoothing {
    Simple,
    Normal,
}

/// The probabilities of coefficients by what is coded, the place, and what is before it; there is one place more than coefficients.
pub(super) type ByPlace = [[[[u8; 11]; 3]; 17]; 4];

pub(super) struct Header<'a> {
    /// The modes of all macroblocks.
    pub(super) modes: Reader<'a>,
    /// The coefficients of each row of macroblocks, in turn.
    pub(super) partitions: Vec<Reader<'a>>,
    /// How likely the branches of a segment's number are to be 0, if there are segments.
    pub(super) segments: Option<[u8; 3]>,
    /// By segment.
    pub(super) steps: [Steps; 4],
    pub(super) smoothing: Smoothing,
    /// By segment, and whether blocks of 4 by 4 have modes of their own.
    pub(super) strengths: [[Strength; 2]; 4],
    pub(super) probabilities: Box<ByPlace>,
    /// How likely a macroblock is to have coefficients, if that is told for each.
    pub(super) has_coefficients: Option<u8>,
}

/// Numbers of the segments, in place of the picture's or on top of it.
struct Segments {
    are_whole: bool,
    quantizers: [i32; 4],
    levels: [i32; 4],
    /// How likely the branches of their numbers are to be 0, if macroblocks have any.
    tree: Option<[u8; 3]>,
}

impl Segments {
    fn read(reader: &mut Reader<'_>) -> Option<Segments> {
        if !reader.flag() {
            return None;
        }
        let mut segments = Segments { are_whole: true, quantizers: [0; 4], levels: [0; 4], tree: None };
        let has_tree = reader.flag();
        if reader.flag() {
            segments.are_whole = reader.flag();
            segments.quantizers = [(); 4].map(|()| reader.optional(7));
            segments.levels = [(); 4].map(|()| reader.optional(6));
        }
        if has_tree {
            segments.tree = Some([(); 3].map(|()| if reader.flag() { reader.number(8) as u8 } else { 255 }));
        }
        Some(segments)
    }

    /// The number of a segment where the picture has `whole`.
    fn number(segments: Option<&Segments>, whole: i32, number: impl Fn(&Segments) -> i32) -> i32 {
        match segments {
            None => whole,
            Some(segments) if segments.are_whole => number(segments),
            Some(segments) => whole + number(segments),
        }
    }
}

/// How edges are smoothed, by segment and by whether blocks have modes of their own.
struct Filter {
    smoothing: Smoothing,
    level: i32,
    sharpness: i32,
    /// What is added for the macroblocks of key frames, and for those whose blocks have modes of their own.
    changes: [i32; 2],
}

impl Filter {
    fn read(reader: &mut Reader<'_>) -> Filter {
        let smoothing = if reader.flag() { Smoothing::Simple } else { Smoothing::Normal };
        let (level, sharpness) = (reader.number(6), reader.number(3));
        let mut changes = [[0; 4]; 2];
        if reader.flag() && reader.flag() {
            for change in changes.as_flattened_mut() {
                *change = reader.optional(6);
            }
        }
        Filter { smoothing, level, sharpness, changes: changes.map(|changes| changes[0]) }
    }

    fn strength(&self, level: i32, has_block_modes: bool) -> Strength {
        let change = self.changes[0] + if has_block_modes { self.changes[1] } else { 0 };
        let level = (level + change).clamp(0, 63);
        if level == 0 || self.level == 0 {
            return Strength::default();
        }
        let mut interior = level;
        if self.sharpness > 0 {
            interior >>= if self.sharpness > 4 { 2 } else { 1 };
            interior = interior.min(9 - self.sharpness);
        }
        let interior = interior.max(1);
        let detail = u8::from(level >= 15) + u8::from(level >= 40);
        Strength { edge: (2 * level + interior) as u8, interior: interior as u8, detail }
    }
}

/// The changes of quantizers: of first coefficients of brightness, of both kinds of means, and of both kinds of colour.
fn read_steps(reader: &mut Reader<'_>, segments: Option<&Segments>) -> [Steps; 4] {
    let whole = reader.number(7);
    let [first, mean, other_mean, color, other_color] = [(); 5].map(|()| reader.optional(4));
    std::array::from_fn(|segment| {
        let quantizer = Segments::number(segments, whole, |segments| segments.quantizers[segment]);
        let at = |change: i32, most: i32| (quantizer + change).clamp(0, most) as usize;
        let (dc, ac) =
            (|change, most| DC_STEPS[at(change, most)].into(), |change| i32::from(AC_STEPS[at(change, 127)]));
        Steps {
            brightness: [dc(first, 127), ac(0)],
            means: [2 * dc(mean, 127), (ac(other_mean) * 155 / 100).max(8)],
            color: [dc(color, 117), ac(other_color)],
        }
    })
}

fn read_probabilities(reader: &mut Reader<'_>) -> Box<ByPlace> {
    let mut probabilities = DEFAULTS;
    let tables = probabilities.iter_mut().flatten().flatten().flatten();
    for (probability, &update) in tables.zip(UPDATES.iter().flatten().flatten().flatten()) {
        if reader.is(update) {
            *probability = reader.number(8) as u8;
        }
    }
    let mut by_place = Box::new([[[[0; 11]; 3]; 17]; 4]);
    for (places, bands) in by_place.iter_mut().zip(&probabilities) {
        for (place, &band) in places.iter_mut().zip(&BANDS) {
            *place = bands[usize::from(band)];
        }
    }
    by_place
}

/// Where the coefficients are, which may end early.
fn partitions<'a>(count: usize, data: &'a [u8]) -> Option<Vec<Reader<'a>>> {
    let (sizes, mut rest) = data.split_at_checked(3 * (count - 1))?;
    let mut partitions = Vec::with_capacity(count);
    for size in sizes.as_chunks::<3>().0 {
        let (partition, behind) = rest.split_at(of_three_bytes(size).min(rest.len()));
        partitions.push(Reader::new(partition));
        rest = behind;
    }
    partitions.push(Reader::new(rest));
    (!rest.is_empty()).then_some(partitions)
}

impl<'a> Header<'a> {
    /// Reads it from a picture, whose first ten bytes were looked at.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn new(data: &'a [u8]) -> super::Result<Header<'a>> {
        const CUT: &str = "A lossy picture is cut off.";
        let (start, data) = data.split_at_checked(START).ok_or(CUT)?;
        let (first, behind) = data.split_at_checked(of_three_bytes(start) >> 5).ok_or(CUT)?;
        let mut reader = Reader::new(first);
        // A space of colours and whether samples need be clamped, neither of which changes anything.
        reader.number(2);
        let segments = Segments::read(&mut reader);
        if reader.is_over {
            return Err("The segments of a lossy picture are cut off.");
        }
        let filter = Filter::read(&mut reader);
        if reader.is_over {
            return Err("The filters of a lossy picture are cut off.");
        }
        let count = 1 << reader.number(2);
        let partitions = partitions(count, behind).ok_or("The partitions of a lossy picture are cut off.")?;
        let steps = read_steps(&mut reader, segments.as_ref());
        // Whether the next picture has the same probabilities.
        reader.flag();
        let probabilities = read_probabilities(&mut reader);
        let has_coefficients = reader.flag().then(|| reader.number(8) as u8);
        let strengths = std::array::from_fn(|segment| {
            let level = Segments::number(segments.as_ref(), filter.level, |segments| segments.levels[segment]);
            [false, true].map(|has_block_modes| filter.strength(level, has_block_modes))
        });
        Ok(Header {
            modes: reader,
            partitions,
            segments: segments.and_then(|segments| segments.tree),
            steps,
            smoothing: filter.smoothing,
            strengths,
            probabilities,
            has_coefficients,
        })
    }
}
