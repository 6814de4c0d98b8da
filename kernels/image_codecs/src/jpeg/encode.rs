//! JPEG files of images, byte for byte as libjpeg-turbo by way of TensorFlow's `jpeg::Compress`.

use std::ops::Range;

use bytemuck::Pod;
use kernlink::tensor::scratch::Pooled;

use super::codes::{Counter, Encoder, Sink, Writer, optimal, usual};
use super::color::rgb_to_ycc;
use super::fdct::{Divisors, transform};
use super::header::{HuffmanCode, NATURAL_ORDER, Quantizers};
use super::idct::Block;
use super::scans::{AcScan, Tables, dc_first, sequential};
use super::source::{Read, Stop, zeros};
use crate::lanes::{Eight, Lanes, pair_sums};

/// What is asked of a file.
#[derive(Clone, Debug)]
pub(crate) struct EncodeOptions {
    /// From 0 to 100.
    pub(crate) quality: i64,
    pub(crate) is_progressive: bool,
    /// Whether codes are made for the image.
    pub(crate) optimizes: bool,
    /// Whether colours are stored for four pixels at once.
    pub(crate) downsamples: bool,
    /// 1 for inches, 2 for centimetres.
    pub(crate) density_unit: u8,
    /// The columns and rows of a unit.
    pub(crate) density: [i64; 2],
    pub(crate) xmp: Vec<u8>,
}

impl Default for EncodeOptions {
    fn default() -> EncodeOptions {
        EncodeOptions {
            quality: 95,
            is_progressive: false,
            optimizes: false,
            downsamples: true,
            density_unit: 1,
            density: [300, 300],
            xmp: Vec::new(),
        }
    }
}

/// The quantisation table of T.81, K.1, of brightness.
const BRIGHTNESS: [u16; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51,
    87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103, 99,
];

/// That of colours.
const COLORS: [u16; 64] = [
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99,
];

/// A table in the quality that is asked for.
fn quantizers(table: &[u16; 64], quality: i64) -> Quantizers {
    let quality = quality.clamp(1, 100);
    let percent = if quality < 50 { 5000 / quality } else { 200 - quality * 2 };
    table.map(|x| ((i64::from(x) * percent + 50) / 100).clamp(1, 255) as u16)
}

/// The most rows or columns that libjpeg takes.
const MOST_LINES: usize = 65500;

/// The number of pixels from which on TensorFlow refuses an image.
const TOO_MANY_PIXELS: usize = 1 << 29;

/// The tables of a component: brightness has its own.
fn tables_of(component: usize) -> Tables {
    let table = component.min(1);
    Tables { dc: table, ac: 2 + table }
}

/// A component's coefficients, in natural order.
struct Component {
    blocks: Pooled<Block>,
    /// How many blocks a row has, with those that fill the last unit.
    stride: usize,
    /// How many rows of units there are.
    units_down: usize,
    /// How many rows and columns of blocks hold some of the image.
    size: [usize; 2],
    /// How many blocks down and across a unit has.
    factors: [usize; 2],
}

/// Brings coefficients from the natural order to that of a file.
fn in_order(block: &mut Block) {
    let natural = *block;
    for (coefficient, &at) in block.iter_mut().zip(&NATURAL_ORDER) {
        *coefficient = natural[usize::from(at)];
    }
}

/// What components are made in, which rows of units share.
#[derive(Default)]
struct Workspace {
    planes: [Pooled<u8>; 3],
    /// A plane in half the size.
    half: Pooled<u8>,
    /// Samples of a row of blocks.
    strip: Pooled<u8>,
}

/// The first elements, which are as they were left, or zeros.
fn first<T: Pod>(room: &mut Pooled<T>, count: usize) -> Read<&mut [T]> {
    if room.len() < count {
        *room = zeros(count)?;
    }
    Ok(&mut room[..count])
}

/// A block that says nothing but its mean.
fn flat(mean: i16) -> Block {
    let mut block = [0; 64];
    block[0] = mean;
    block
}

impl Component {
    /// Makes the coefficients of a plane, of which the last row and column are repeated.
    fn fill(
        &mut self,
        plane: &[u8],
        [rows, columns]: [usize; 2],
        units: [usize; 2],
        divisors: &Divisors,
        strip: &mut Pooled<u8>,
    ) -> Read<()> {
        let [down, across] = self.factors;
        let (stride, size) = (units[1] * across, [rows.div_ceil(8), columns.div_ceil(8)]);
        (self.stride, self.units_down, self.size) = (stride, units[0], size);
        let blocks = first(&mut self.blocks, units[0] * down * stride)?;
        let width = size[1] * 8;
        let strip = first(strip, width * 8)?;
        for row in 0..size[0] {
            for (y, line) in strip.chunks_exact_mut(width).enumerate() {
                let from = (row * 8 + y).min(rows - 1);
                let samples = &plane[from * columns..][..columns];
                line[..columns].copy_from_slice(samples);
                line[columns..].fill(samples[columns - 1]);
            }
            transform(strip, width, divisors, &mut blocks[row * stride..][..size[1]]);
        }
        // Blocks that only fill the last unit have the mean of the block before them.
        for row in 0..size[0] {
            for column in size[1]..stride {
                blocks[row * stride + column] = flat(blocks[row * stride + column - 1][0]);
            }
        }
        for row in size[0]..units[0] * down {
            for column in 0..stride {
                let last = column / across * across + across - 1;
                blocks[row * stride + column] = flat(blocks[(row - 1) * stride + last][0]);
            }
        }
        Ok(())
    }
}

/// Writes half as many samples in both directions to `half`, with whole blocks across that go on with the last column; halves go up
/// and down in turn. Answers with the rows and columns.
fn downsampled(plane: &[u8], [rows, columns]: [usize; 2], half: &mut Pooled<u8>) -> Read<[usize; 2]> {
    let size = [rows.div_ceil(2), columns.div_ceil(16) * 8];
    for (y, line) in first(half, size[0] * size[1])?.chunks_exact_mut(size[1]).enumerate() {
        let row = |y: usize| &plane[y.min(rows - 1) * columns..][..columns];
        let (above, below) = (row(2 * y), row(2 * y + 1));
        let (eights, sixteens) = (line.as_chunks_mut().0, above.as_chunks().0.iter().zip(below.as_chunks().0));
        let mut done = 0;
        for (out, (above, below)) in eights.iter_mut().zip(sixteens) {
            let bias = Eight::each([1, 2, 1, 2, 1, 2, 1, 2]);
            let [means] = pair_sums(*above).add(pair_sums(*below)).add(bias).right::<2>().array();
            *out = means.map(|x| x as u8);
            done += 8;
        }
        let pairs = above.chunks(2).zip(below.chunks(2));
        for (x, (out, (above, below))) in line.iter_mut().zip(pairs).enumerate().skip(done) {
            let sum = |pair: &[u8]| u16::from(pair[0]) + u16::from(pair[pair.len() - 1]);
            *out = ((sum(above) + sum(below) + 1 + (x as u16 & 1)) >> 2) as u8;
        }
        let last = 2 * (u16::from(above[columns - 1]) + u16::from(below[columns - 1]));
        for (x, out) in line.iter_mut().enumerate().skip(columns.div_ceil(2)) {
            *out = ((last + 1 + (x as u16 & 1)) >> 2) as u8;
        }
    }
    Ok(size)
}

/// Calls `f` for each block of a scan with the place of its component in the scan, unit by unit.
fn for_each_block<'c>(components: &[&'c Component], mut f: impl FnMut(usize, &'c Block)) {
    if let [component] = components[..] {
        for row in 0..component.size[0] {
            for column in 0..component.size[1] {
                f(0, &component.blocks[row * component.stride + column]);
            }
        }
        return;
    }
    let across = components[0].stride / components[0].factors[1];
    for row in 0..components[0].units_down {
        for column in 0..across {
            for (index, component) in components.iter().enumerate() {
                let [height, width] = component.factors;
                for y in 0..height {
                    for x in 0..width {
                        let at = (row * height + y) * component.stride + column * width + x;
                        f(index, &component.blocks[at]);
                    }
                }
            }
        }
    }
}

/// A scan: its components, the first and last of the coefficients, and their bits.
struct Scan {
    components: &'static [usize],
    band: [usize; 2],
    high_bit: u8,
    low_bit: u8,
}

const fn scan(components: &'static [usize], band: [usize; 2], high_bit: u8, low_bit: u8) -> Scan {
    Scan { components, band, high_bit, low_bit }
}

/// The scan of a file that is not progressive.
const WHOLE: [&[Scan]; 2] = [&[scan(&[0], [0, 63], 0, 0)], &[scan(&[0, 1, 2], [0, 63], 0, 0)]];

/// The scans of progressive files of brightness, and of colours.
const PROGRESSION: [&[Scan]; 2] = [
    &[
        scan(&[0], [0, 0], 0, 1),
        scan(&[0], [1, 5], 0, 2),
        scan(&[0], [6, 63], 0, 2),
        scan(&[0], [1, 63], 2, 1),
        scan(&[0], [0, 0], 1, 0),
        scan(&[0], [1, 63], 1, 0),
    ],
    &[
        scan(&[0, 1, 2], [0, 0], 0, 1),
        scan(&[0], [1, 5], 0, 2),
        scan(&[2], [1, 63], 0, 1),
        scan(&[1], [1, 63], 0, 1),
        scan(&[0], [6, 63], 0, 2),
        scan(&[0], [1, 63], 2, 1),
        scan(&[0, 1, 2], [0, 0], 1, 0),
        scan(&[2], [1, 63], 1, 0),
        scan(&[1], [1, 63], 1, 0),
        scan(&[0], [1, 63], 1, 0),
    ],
];

impl Scan {
    /// Gives the scan's symbols and bits to a sink. `last` are the means of the components' blocks before these.
    fn write(&self, components: &[&Component], last: &mut [i32; 3], sink: &mut impl Sink) {
        match (self.band, self.high_bit) {
            ([0, 63], _) => {
                for_each_block(components, |at, block| {
                    sequential(block, &mut last[at], tables_of(self.components[at]), sink);
                });
            }
            ([0, _], 0) => {
                for_each_block(components, |at, block| {
                    dc_first(block, &mut last[at], self.low_bit, tables_of(self.components[at]), sink);
                });
            }
            ([0, _], _) => {
                for_each_block(components, |_, block| sink.bits((block[0] >> self.low_bit) as u32 & 1, 1));
            }
            (band, high_bit) => {
                let mut scan = AcScan::new(sink, tables_of(self.components[0]).ac, band, self.low_bit);
                for_each_block(components, |_, block| match high_bit {
                    0 => scan.first(block),
                    _ => scan.refine(block),
                });
                scan.end();
            }
        }
    }

    /// Which tables the scan uses: those of DC are 0 and 1, those of AC 2 and 3, in the order in which they are written.
    fn tables(&self) -> Vec<usize> {
        let mut tables = Vec::new();
        for &component in self.components {
            let Tables { dc, ac } = tables_of(component);
            let dc = (self.band[0] == 0 && self.high_bit == 0).then_some(dc);
            let ac = (self.band[1] > 0).then_some(ac);
            for table in [dc, ac].into_iter().flatten() {
                if !tables.contains(&table) {
                    tables.push(table);
                }
            }
        }
        tables
    }
}

/// A marker with what it says.
fn marker(file: &mut Vec<u8>, code: u8, data: &[u8]) {
    file.extend([0xFF, code]);
    file.extend((data.len() as u16 + 2).to_be_bytes());
    file.extend(data);
}

/// An image, and how its components are made.
struct Picture<'i> {
    image: &'i [u8],
    size: [usize; 2],
    channels: usize,
    /// How many rows and columns a sample of colour stands for.
    factor: usize,
    /// How many rows and columns of units the image has.
    units: [usize; 2],
    divisors: [Divisors; 2],
}

impl Picture<'_> {
    /// The components, without coefficients yet.
    fn components(&self) -> Vec<Component> {
        let factors = |component| [if component == 0 { self.factor } else { 1 }; 2];
        let empty = |component| Component {
            blocks: Pooled::default(),
            stride: 0,
            units_down: 0,
            size: [0; 2],
            factors: factors(component),
        };
        (0..self.channels).map(empty).collect()
    }

    /// Makes the coefficients of some rows of units.
    fn fill(&self, rows: Range<usize>, components: &mut [Component], room: &mut Workspace) -> Read<()> {
        let Picture { size: [height, columns], channels, factor, .. } = *self;
        let units = [rows.len(), self.units[1]];
        let [start, end] = [rows.start, rows.end].map(|row| (row * 8 * factor).min(height));
        let (image, size) = (&self.image[start * columns * channels..end * columns * channels], [end - start, columns]);
        let Workspace { planes: [y, cb, cr], half, strip } = room;
        if let [gray] = components {
            return gray.fill(image, size, units, &self.divisors[0], strip);
        }
        let pixels = size[0] * columns;
        let (y, cb, cr) = (first(y, pixels)?, first(cb, pixels)?, first(cr, pixels)?);
        rgb_to_ycc(image.as_chunks().0, [&mut *y, &mut *cb, &mut *cr]);
        for (at, (component, plane)) in components.iter_mut().zip([y, cb, cr]).enumerate() {
            let divisors = &self.divisors[at.min(1)];
            if at > 0 && factor == 2 {
                let size = downsampled(plane, size, half)?;
                component.fill(&*half, size, units, divisors, strip)?;
            } else {
                component.fill(plane, size, units, divisors, strip)?;
            }
        }
        Ok(())
    }
}

/// The file of an image `[rows, columns, channels]` with one channel or three.
///
/// # Errors
/// What is wrong with the image's size, or that there is no memory for the file.
pub(crate) fn encode(image: &[u8], [rows, columns, channels]: [usize; 3], options: &EncodeOptions) -> Read<Vec<u8>> {
    let refuse = |text| Err(Stop::Error(text));
    if rows == 0 || columns == 0 {
        return refuse("the image is empty");
    }
    if rows.max(columns) > MOST_LINES || rows.saturating_mul(columns) >= TOO_MANY_PIXELS {
        return Err(Stop::TooLarge([rows, columns]));
    }
    const NAMESPACE: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
    if NAMESPACE.len() + options.xmp.len() > 65533 {
        return refuse("the XMP metadata are too long");
    }
    let tables = [quantizers(&BRIGHTNESS, options.quality), quantizers(&COLORS, options.quality)];
    let size = [rows, columns];
    let factor = if channels == 3 && options.downsamples { 2 } else { 1 };
    let units = size.map(|size| size.div_ceil(8 * factor));
    let picture = Picture { image, size, channels, factor, units, divisors: tables.each_ref().map(Divisors::new) };

    let mut file = vec![0xFF, 0xD8];
    let [x_density, y_density] = options.density.map(|density| (density as u16).to_be_bytes());
    let mut jfif = b"JFIF\0\x01\x01".to_vec();
    jfif.push(options.density_unit);
    jfif.extend([x_density, y_density].as_flattened());
    jfif.extend([0, 0]);
    marker(&mut file, 0xE0, &jfif);
    if !options.xmp.is_empty() {
        marker(&mut file, 0xE1, &[NAMESPACE, &options.xmp].concat());
    }
    for (index, table) in tables.iter().enumerate().take(channels) {
        let values = NATURAL_ORDER[..64].iter().map(|&at| table[usize::from(at)] as u8);
        marker(&mut file, 0xDB, &std::iter::once(index as u8).chain(values).collect::<Vec<u8>>());
    }
    let mut frame = vec![8];
    frame.extend([rows as u16, columns as u16].map(u16::to_be_bytes).as_flattened());
    frame.push(channels as u8);
    let mut components = picture.components();
    for (component, &Component { factors: [down, across], .. }) in components.iter().enumerate() {
        frame.extend([component as u8 + 1, (across << 4 | down) as u8, tables_of(component).dc as u8]);
    }
    marker(&mut file, if options.is_progressive { 0xC2 } else { 0xC0 }, &frame);

    let scans = if options.is_progressive { PROGRESSION } else { WHOLE }[usize::from(channels == 3)];
    if options.optimizes || options.is_progressive {
        picture.fill(0..units[0], &mut components, &mut Workspace::default())?;
        if options.is_progressive {
            components.iter_mut().for_each(|component| component.blocks.iter_mut().for_each(in_order));
        }
        for scan in scans {
            let chosen: Vec<&Component> = scan.components.iter().map(|&index| &components[index]).collect();
            let mut counts = [[0; 256]; 4];
            scan.write(&chosen, &mut [0; 3], &mut Counter(&mut counts));
            let encoders = begin(scan, |table| optimal(&counts[table]), &mut file);
            let mut writer = Writer::new(&mut file, &encoders);
            scan.write(&chosen, &mut [0; 3], &mut writer);
            writer.finish();
        }
    } else {
        // Codes that are known beforehand need no more than a row of units at a time.
        let scan = &scans[0];
        let encoders = begin(scan, |table| usual(table >= 2, table % 2), &mut file);
        let (mut writer, mut last) = (Writer::new(&mut file, &encoders), [0; 3]);
        let mut room = Workspace::default();
        for row in 0..units[0] {
            picture.fill(row..row + 1, &mut components, &mut room)?;
            scan.write(&components.iter().collect::<Vec<_>>(), &mut last, &mut writer);
        }
        writer.finish();
    }
    file.extend([0xFF, 0xD9]);
    Ok(file)
}

/// Writes the codes of a scan's tables and its header.
fn begin(scan: &Scan, code: impl Fn(usize) -> HuffmanCode, file: &mut Vec<u8>) -> [Encoder; 4] {
    let used = scan.tables();
    let mut encoders = [Encoder::NONE; 4];
    for &table in &used {
        let code = code(table);
        let count = code.lengths.iter().map(|&count| usize::from(count)).sum();
        let mut data = vec![u8::from(table >= 2) << 4 | (table % 2) as u8];
        data.extend(code.lengths);
        data.extend(&code.symbols[..count]);
        marker(file, 0xC4, &data);
        encoders[table] = Encoder::new(&code, table >= 2);
    }
    let mut header = vec![scan.components.len() as u8];
    for &component in scan.components {
        let Tables { dc, ac } = tables_of(component);
        let dc = if used.contains(&dc) { dc } else { 0 };
        let ac = if used.contains(&ac) { ac - 2 } else { 0 };
        header.extend([component as u8 + 1, (dc << 4 | ac) as u8]);
    }
    header.extend([scan.band[0] as u8, scan.band[1] as u8, scan.high_bit << 4 | scan.low_bit]);
    marker(file, 0xDA, &header);
    encoders
}
