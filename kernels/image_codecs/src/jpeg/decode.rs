//! JPEG files to images, byte for byte as libjpeg-turbo 2.1 by way of TensorFlow's `jpeg::Uncompress`.

use kernlink::tensor::scratch::Pooled;

use super::coefficients::{Scans, entropy};
use super::color;
use super::entropy::Whole;
use super::header::{Colors, Header};
use super::idct::Transform;
use super::planes::{Expansion, Plane, Room};
use super::smooth::smooth;
use super::source::{Read, Source, Stop, zeros};

/// What is asked of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// 1 or 3, or 0 for those of the file.
    pub(crate) channels: usize,
    /// By which size is divided: 1, 2, 4 or 8.
    pub(crate) ratio: usize,
    pub(crate) has_fancy_upscaling: bool,
    /// Whether a file that was cut is taken to end well where it ends.
    pub(crate) recovers: bool,
    /// The share of the rows below which a file that was cut is refused.
    pub(crate) acceptable_fraction: f32,
    pub(crate) is_fast: bool,
    /// The first row and column of the part that is asked for, its rows and its columns.
    pub(crate) window: Option<[i32; 4]>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            channels: 0,
            ratio: 1,
            has_fancy_upscaling: true,
            recovers: false,
            acceptable_fraction: 1.0,
            is_fast: true,
            window: None,
        }
    }
}

/// The number of samples from which on TensorFlow refuses an image.
const TOO_MANY_SAMPLES: usize = 1 << 29;

/// A file whose header was read.
pub(crate) struct Decoder<'a> {
    header: Header<'a>,
    options: Options,
    /// The output's rows, columns and channels.
    shape: [usize; 3],
    colors: Colors,
    /// The whole image's rows and columns.
    whole: [usize; 2],
    /// The first row and column of the output in the image.
    origin: [usize; 2],
}

fn check(is_right: bool, text: &'static str) -> Read<()> {
    if is_right { Ok(()) } else { Err(Stop::Error(text)) }
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(data: &'a [u8], options: Options) -> Read<Decoder<'a>> {
        let header = Header::read(Source::new(data, options.recovers))?;
        let frame = header.frame()?;
        let count = frame.components.len();
        let channels = if options.channels == 0 { count.min(3) } else { options.channels };
        let colors = header.colors();
        let whole = [frame.height, frame.width].map(|size| size.div_ceil(options.ratio));
        if whole[0].saturating_mul(whole[1]).saturating_mul(count) >= TOO_MANY_SAMPLES {
            return Err(Stop::TooLarge(whole));
        }
        let is_possible = match channels {
            1 => matches!(colors, Colors::Gray | Colors::Ycc | Colors::Rgb),
            3 => colors != Colors::Unknown,
            _ => false,
        };
        check(is_possible, "its colours cannot be made those that are asked for")?;
        let (mut origin, mut size) = ([0, 0], whole);
        if let Some(window) = options.window {
            let [y, x, height, width] = window.map(i64::from);
            let fits = y >= 0
                && x >= 0
                && height > 0
                && width > 0
                && y + height <= whole[0] as i64
                && x + width <= whole[1] as i64;
            if !fits {
                return Err(Stop::Beyond(whole));
            }
            (origin, size) = ([y as usize, x as usize], [height as usize, width as usize]);
        }
        Ok(Decoder { options, shape: [size[0], size[1], channels], colors, whole, origin, header })
    }

    /// Rows, columns and channels.
    pub(crate) fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// The components that the output needs.
    fn needed(&self) -> usize {
        match (self.shape[2], self.colors) {
            (1, Colors::Gray | Colors::Ycc) | (3, Colors::Gray) => 1,
            (_, Colors::Cmyk | Colors::Ycck) => 4,
            _ => 3,
        }
    }

    /// The units of pixels that columns of units have, and the first one that the output needs.
    fn planes(&self) -> Read<(Vec<Plane>, usize)> {
        let frame = self.header.frame()?;
        let least = 8 / self.options.ratio;
        let is_fancy = self.options.has_fancy_upscaling && least > 1;
        let align = if frame.components.len() == 1 { least } else { least * frame.most_across };
        let is_narrow = self.shape[1] < self.whole[1];
        let first_unit = if is_narrow { self.origin[1] / align } else { 0 };
        let columns = self.origin[1] + self.shape[1] - first_unit * align;
        let mut narrowest = true;
        let mut planes = Vec::new();
        for component in &frame.components {
            let mut size = least;
            let divides = |most: usize, factor: usize, size: usize| (most * least).is_multiple_of(factor * size * 2);
            while size < 8
                && divides(frame.most_across, component.across, size)
                && divides(frame.most_down, component.down, size)
            {
                size *= 2;
            }
            let transform = match size {
                1 => Transform::Mean,
                2 => Transform::Quarter,
                4 => Transform::Half,
                _ if self.options.is_fast => Transform::Fast,
                _ => Transform::Accurate,
            };
            let across_in = component.across * size / least;
            let down_in = component.down * size / least;
            let full_columns = (frame.width * component.across * size).div_ceil(frame.most_across * 8);
            let some_columns = (columns * component.across).div_ceil(frame.most_across);
            narrowest &= !(is_narrow && some_columns < 2 && full_columns >= 2);
            let blocks = [
                component.blocks_down.next_multiple_of(component.down),
                component.blocks_across.next_multiple_of(component.across),
            ];
            let across_of_units = if frame.components.len() == 1 { 1 } else { component.across };
            planes.push((
                Plane {
                    samples: Pooled::default(),
                    stride: blocks[1] * size,
                    rows: (frame.height * component.down * size).div_ceil(frame.most_down * 8),
                    columns: if is_narrow { some_columns } else { full_columns },
                    first: first_unit * across_of_units * size,
                    transform,
                    multipliers: component.quantizers.as_deref().map_or([0; 64], |table| transform.multipliers(table)),
                    expansion: Expansion::Same,
                    has_context: false,
                    needed: [0..0, 0..0],
                    waiting: (None, [0; 64]),
                },
                [across_in, down_in],
                full_columns,
                blocks[0] * size,
            ));
        }
        let needed = self.needed();
        let mut all = Vec::new();
        for (index, (mut plane, [across, down], full_columns, rows)) in planes.into_iter().enumerate() {
            // libjpeg chooses how to expand before it knows of the window, and again only for very narrow ones.
            let is_wide = (if narrowest { full_columns } else { plane.columns }) > 2;
            let (most_across, most_down) = (frame.most_across, frame.most_down);
            let expansion = |is_wide: bool| match () {
                () if across == most_across && down == most_down => Ok(Expansion::Same),
                () if across * 2 == most_across && down == most_down && is_fancy && is_wide => Ok(Expansion::Across),
                () if across == most_across && down * 2 == most_down && is_fancy => Ok(Expansion::Down),
                () if across * 2 == most_across && down * 2 == most_down && is_fancy && is_wide => Ok(Expansion::Both),
                () if most_across.is_multiple_of(across) && most_down.is_multiple_of(down) => {
                    Ok(Expansion::Repeated(most_across / across, most_down / down))
                }
                () => Err(Stop::Error("its sampling factors are not supported")),
            };
            if index < needed {
                plane.expansion = expansion(is_wide)?;
                plane.has_context = matches!(expansion(full_columns > 2)?, Expansion::Down | Expansion::Both);
                let is_filtered = matches!(plane.expansion, Expansion::Across | Expansion::Both);
                check(!is_filtered || plane.columns >= 2, "the crop window is too narrow")?;
                plane.samples = zeros(plane.stride * rows)?;
                check(plane.stride > plane.first, "the crop window goes beyond the image")?;
                plane.need(&(self.origin[0]..self.origin[0] + self.shape[0]), columns);
            }
            all.push(plane);
        }
        Ok((all, first_unit * align))
    }

    /// Reads the samples of the components.
    ///
    /// # Errors
    /// What is wrong with the file, or that too little of it is there.
    pub(crate) fn decode(mut self) -> Read<Image<'a>> {
        let ((mut planes, first), rows) = self.samples()?;
        planes.iter_mut().for_each(Plane::end);
        // libjpeg passes over rows above the window though they are missing, but not over those that it makes with the next ones:
        // of such a window less than nothing is there, which is not acceptable to anybody.
        let has_context = planes.iter().any(|plane| plane.has_context);
        let rows = (rows as i64 - self.origin[0] as i64).min(self.shape[0] as i64);
        let rows = if has_context { rows } else { rows.max(0) };
        let fraction = rows as f32 / self.shape[0] as f32;
        if fraction < self.options.acceptable_fraction.min(1.0) {
            return Err(Stop::Suspended);
        }
        let rows = rows.max(0) as usize;
        Ok(Image { decoder: self, planes, first, rows })
    }

    fn samples(&mut self) -> Read<((Vec<Plane>, usize), usize)> {
        if self.header.has_many_scans() { Ok((self.read_many_scans()?, self.whole[0])) } else { self.read_one_scan() }
    }

    /// The samples of a file whose components come in one scan, and how many rows of the image they are enough for.
    fn read_one_scan(&mut self) -> Read<((Vec<Plane>, usize), usize)> {
        self.header.latch_quantizers()?;
        let (mut planes, first) = self.planes()?;
        let mut entropy = entropy(&self.header)?;
        let frame = self.header.frame.as_ref().ok_or(Stop::Error("the file has no frame"))?;
        // In a scan of one component a unit is one block.
        let is_single = frame.components.len() == 1;
        let factors: Vec<_> = self
            .header
            .scan
            .components
            .iter()
            .map(|&index| {
                let component = &frame.components[index];
                (index, if is_single { [1, 1] } else { [component.down, component.across] })
            })
            .collect();
        let units = if is_single {
            [frame.components[0].blocks_down, frame.components[0].blocks_across]
        } else {
            [frame.height.div_ceil(frame.most_down * 8), frame.width.div_ceil(frame.most_across * 8)]
        };
        let has_context = planes.iter().any(|plane| plane.has_context);
        // How many rows of the image so many rows of units, or of a single component's blocks, are enough for.
        let rows_of_image = |rows: usize| {
            let row = if is_single { rows / frame.components[0].down } else { rows };
            let groups = (row * 8 / self.options.ratio).saturating_sub(has_context.into());
            (groups * frame.most_down).min(self.whole[0])
        };
        // What is below the window is not read, be it as broken as it may.
        let end = self.origin[0] + self.shape[0];
        let ends_early = end < self.whole[0];
        let source = &mut self.header.source;
        let count = factors.iter().map(|(_, [down, across])| down * across).sum::<usize>().min(10);
        let mut unit = Whole { blocks: [[0; 64]; 10], set: 0 };
        for row in 0..units[0] {
            if ends_early && rows_of_image(row) >= end {
                break;
            }
            for column in 0..units[1] {
                unit.blocks[..count].fill([0; 64]);
                match entropy.decode(source, &mut unit) {
                    Err(Stop::Suspended) => return Ok(((planes, first), rows_of_image(row))),
                    other => other?,
                }
                let mut at = 0;
                for &(index, [down, across]) in &factors {
                    for y in 0..down {
                        for x in 0..across {
                            planes[index].put(&unit.blocks[at], row * down + y, column * across + x);
                            at += 1;
                        }
                    }
                }
            }
        }
        if ends_early {
            return Ok(((planes, first), self.whole[0]));
        }
        match self.header.markers() {
            Ok(super::header::Found::Scan) => Err(Stop::Error("the file goes on where it should end")),
            Ok(super::header::Found::End) | Err(Stop::Suspended) => Ok(((planes, first), self.whole[0])),
            Err(stop) => Err(stop),
        }
    }

    /// The samples of a file whose components come in several scans.
    fn read_many_scans(&mut self) -> Read<(Vec<Plane>, usize)> {
        // What cannot be expanded is refused before all is read.
        self.planes()?;
        let scans = Scans::read(&mut self.header)?;
        let (mut planes, first) = self.planes()?;
        let smoothing = scans.smoothing(&self.header);
        let frame = self.header.frame()?;
        let units_down = frame.height.div_ceil(frame.most_down * 8);
        let needed = self.needed();
        for (index, plane) in planes[..needed].iter_mut().enumerate() {
            let component = &frame.components[index];
            let coefficients = &scans.components[index];
            let Some(quantizers) = &component.quantizers else {
                // No scan had the component: its samples are those of coefficients that are 0.
                plane.samples.fill(128);
                continue;
            };
            let [rows, range] = plane.needed.clone();
            let range = range.start..range.end.min(component.blocks_across);
            for row in rows.start..rows.end.min(component.blocks_down) {
                let unit = row / component.down;
                let Some(smoothing) = &smoothing else {
                    for (column, block) in coefficients.row(row).iter().enumerate().take(component.blocks_across) {
                        plane.put(block, row, column);
                    }
                    continue;
                };
                let unknown = &smoothing[index][usize::from(!scans.is_good(unit))];
                let last_unit = units_down - 1;
                let (within, rows) = (
                    row % component.down,
                    match component.blocks_down % component.down {
                        rest if unit == last_unit && rest > 0 => rest,
                        _ => component.down,
                    },
                );
                let above = if within > 0 || unit > 0 { row - 1 } else { row };
                let above_that = if within > 1 || unit > 1 { row - 2 } else { above };
                let below = if within + 1 < rows || unit < last_unit { row + 1 } else { row };
                let below_that = if within + 2 < rows || unit + 1 < last_unit { row + 2 } else { below };
                let rows = [above_that, above, row, below, below_that].map(|row| coefficients.row(row));
                let mean = |column: usize| rows.map(|row| i32::from(row[column][0]));
                let mut window = [mean(range.start); 5];
                for column in range.clone() {
                    if column == range.start && column + 1 < component.blocks_across {
                        window[3] = mean(column + 1);
                    }
                    if column + 2 < component.blocks_across {
                        window[4] = mean(column + 2);
                    }
                    let mut block = rows[2][column];
                    let means = std::array::from_fn(|y| std::array::from_fn(|x| window[x][y]));
                    smooth(&mut block, &means, unknown, quantizers);
                    plane.put(&block, row, column);
                    window.rotate_left(1);
                    window[4] = window[3];
                }
            }
        }
        Ok((planes, first))
    }
}

/// An image whose components were read.
pub(crate) struct Image<'a> {
    decoder: Decoder<'a>,
    planes: Vec<Plane>,
    /// The image's column that the planes' rows begin with.
    first: usize,
    /// How many rows of the output there are data for.
    rows: usize,
}

impl Image<'_> {
    /// The number of samples of an output's row.
    pub(crate) fn row_length(&self) -> usize {
        self.decoder.shape[1] * self.decoder.shape[2]
    }

    /// Writes rows of pixels, of which the first begins with sample `at` of the output.
    pub(crate) fn render(&self, at: usize, out: &mut [u8]) {
        let Decoder { shape: [_, columns, channels], origin, colors, .. } = self.decoder;
        let skipped = origin[1] - self.first;
        let mut rooms = [(); 4].map(|()| Room::new(skipped + columns));
        let needed = self.decoder.needed();
        for (y, out) in (at / self.row_length()..).zip(out.chunks_exact_mut(self.row_length())) {
            if y >= self.rows {
                out.fill(0);
                continue;
            }
            let row = origin[0] + y;
            let [a, b, c, d] = &mut rooms;
            let mut rows: [&[u8]; 4] = [&[]; 4];
            for ((row_of, plane), room) in rows.iter_mut().zip(&self.planes[..needed]).zip([a, b, c, d]) {
                *row_of = plane.expanded(row, room).get(skipped..).unwrap_or_default();
            }
            let [p, q, r, s] = rows;
            let pixels = out.as_chunks_mut::<3>().0;
            match (channels, colors) {
                (1, Colors::Rgb) => color::rgb_to_gray([p, q, r], out),
                (1, _) => out.copy_from_slice(&p[..columns]),
                (_, Colors::Gray) => color::rgb([p, p, p], pixels),
                (_, Colors::Rgb) => color::rgb([p, q, r], pixels),
                (_, Colors::Ycc) => color::ycc_to_rgb([p, q, r], pixels),
                _ => color::inks_to_rgb([p, q, r, s], colors == Colors::Ycck, self.decoder.header.is_adobe(), pixels),
            }
        }
    }
}

/// The rows, columns and components that a file says it has, of a file that TensorFlow's `jpeg::GetImageInfo` takes.
pub(crate) fn shape(data: &[u8]) -> Read<[usize; 3]> {
    let header = &mut Header::read(Source::new(data, false))?;
    let frame = header.frame()?;
    Ok([frame.height, frame.width, frame.components.len()])
}
