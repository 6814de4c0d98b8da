//! What the markers of a JPEG file say: its frame, its tables, its scans.

use super::source::{Read, Source, Stop};

/// Where the coefficients of a block are, in the order in which a file holds them. Broken files may go up to 16 beyond the last.
pub(crate) static NATURAL_ORDER: [u8; 80] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
];

/// The most rows or columns that libjpeg takes.
const MOST_LINES: usize = 65500;

/// The most components of a frame.
const MOST_COMPONENTS: usize = 10;

/// What libjpeg takes of scans and no more, for time that a small file can cost.
const MOST_SCANS: usize = 1000;

/// A Huffman code as a file holds it: how many codes there are of each length, from one bit on, and their symbols.
#[derive(Clone)]
pub(crate) struct HuffmanCode {
    pub(crate) lengths: [u8; 16],
    pub(crate) symbols: [u8; 256],
}

/// Divisors of a block's coefficients, in natural order.
pub(crate) type Quantizers = [u16; 64];

#[derive(Clone)]
pub(crate) struct Component {
    pub(crate) id: u8,
    pub(crate) across: usize,
    pub(crate) down: usize,
    pub(crate) table: u8,
    /// The table that stood when the component's first scan began.
    pub(crate) quantizers: Option<Box<Quantizers>>,
    /// How many blocks hold some of the image.
    pub(crate) blocks_across: usize,
    pub(crate) blocks_down: usize,
    pub(crate) dc_table: u8,
    pub(crate) ac_table: u8,
}

/// The frame's header.
#[derive(Clone, Default)]
pub(crate) struct Frame {
    pub(crate) is_progressive: bool,
    pub(crate) is_arithmetic: bool,
    precision: u8,
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) components: Vec<Component>,
    pub(crate) most_across: usize,
    pub(crate) most_down: usize,
}

/// The scan's header.
#[derive(Clone, Default)]
pub(crate) struct Scan {
    /// The indices of the components that it holds.
    pub(crate) components: Vec<usize>,
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) high_bit: u8,
    pub(crate) low_bit: u8,
}

/// What the colours of a file's components are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Colors {
    Gray,
    Rgb,
    Ycc,
    Cmyk,
    Ycck,
    Unknown,
}

/// What was found up to a scan or the end.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Found {
    Scan,
    End,
}

/// All that markers said so far.
pub(crate) struct Header<'a> {
    pub(crate) source: Source<'a>,
    saw_start: bool,
    pub(crate) frame: Option<Frame>,
    pub(crate) scan: Scan,
    pub(crate) scans: usize,
    pub(crate) dc_codes: [Option<HuffmanCode>; 4],
    pub(crate) ac_codes: [Option<HuffmanCode>; 4],
    quantizers: [Option<Box<Quantizers>>; 4],
    pub(crate) restart_interval: usize,
    /// What arithmetic coding is conditioned by: bounds of differences of DC, and a number for AC, of 16 tables each.
    pub(crate) dc_bounds: [[u8; 2]; 16],
    pub(crate) ac_bounds: [u8; 16],
    is_jfif: bool,
    /// What an Adobe marker says of colours.
    adobe: Option<u8>,
}

/// A file's error.
fn error<T>(text: &'static str) -> Read<T> {
    Err(Stop::Error(text))
}

fn check(is_right: bool, text: &'static str) -> Read<()> {
    if is_right { Ok(()) } else { error(text) }
}

impl<'a> Header<'a> {
    /// Reads up to the first scan.
    pub(crate) fn read(source: Source<'a>) -> Read<Header<'a>> {
        let mut header = Header {
            source,
            saw_start: false,
            frame: None,
            scan: Scan::default(),
            scans: 0,
            dc_codes: [const { None }; 4],
            ac_codes: [const { None }; 4],
            quantizers: [const { None }; 4],
            restart_interval: 0,
            dc_bounds: [[0, 1]; 16],
            ac_bounds: [5; 16],
            is_jfif: false,
            adobe: None,
        };
        match header.markers()? {
            Found::Scan => header.set_up()?,
            Found::End => return error("the file has no image"),
        }
        Ok(header)
    }

    /// The frame, which [`read`](Self::read) has found.
    pub(crate) fn frame(&self) -> Read<&Frame> {
        self.frame.as_ref().ok_or(Stop::Error("the file has no frame"))
    }

    /// Reads markers until a scan or the end.
    pub(crate) fn markers(&mut self) -> Read<Found> {
        loop {
            if self.source.marker == 0 {
                if self.saw_start {
                    self.source.next_marker()?;
                } else {
                    let start = [self.source.byte()?, self.source.byte()?];
                    check(start == [0xFF, 0xD8], "the file does not begin as JPEG files do")?;
                    self.source.marker = start[1];
                    self.source.commit();
                }
            }
            match self.source.marker {
                0xD8 => {
                    check(!self.saw_start, "the file begins twice")?;
                    self.saw_start = true;
                }
                0xC0 | 0xC1 => self.read_frame(false, false)?,
                0xC2 => self.read_frame(true, false)?,
                0xC9 => self.read_frame(false, true)?,
                0xCA => self.read_frame(true, true)?,
                0xC3 | 0xC5..=0xC8 | 0xCB | 0xCD..=0xCF => return error("its kind of coding is not supported"),
                0xDA => {
                    self.read_scan()?;
                    self.source.marker = 0;
                    return Ok(Found::Scan);
                }
                0xD9 => {
                    self.source.marker = 0;
                    return Ok(Found::End);
                }
                0xCC => self.read_conditioning()?,
                0xC4 => self.read_codes()?,
                0xDB => self.read_quantizers()?,
                0xDD => {
                    let (length, interval) = (self.source.word()?, self.source.word());
                    check(length == 4, "a marker has a wrong length")?;
                    self.restart_interval = interval?;
                    self.source.commit();
                }
                0xE0 | 0xEE => self.read_application()?,
                0xE1..=0xED | 0xEF | 0xFE | 0xDC => {
                    let length = self.source.word()?;
                    self.skip(length.saturating_sub(2))?;
                }
                0xD0..=0xD7 | 0x01 => {}
                _ => return error("a marker is not known"),
            }
            self.source.marker = 0;
        }
    }

    fn skip(&mut self, count: usize) -> Read<()> {
        self.source.commit();
        if count > 0 { self.source.skip(count) } else { Ok(()) }
    }

    fn read_frame(&mut self, is_progressive: bool, is_arithmetic: bool) -> Read<()> {
        let length = self.source.word()?;
        let precision = self.source.byte()?;
        let (height, width) = (self.source.word()?, self.source.word()?);
        let count = usize::from(self.source.byte()?);
        check(self.frame.is_none(), "the file has two frames")?;
        check(height > 0 && width > 0 && count > 0, "the image is empty")?;
        check(length == 8 + 3 * count, "a marker has a wrong length")?;
        let mut components = Vec::new();
        for _ in 0..count {
            let [id, factors, table] = [self.source.byte()?, self.source.byte()?, self.source.byte()?];
            components.push(Component {
                id,
                across: usize::from(factors >> 4),
                down: usize::from(factors & 15),
                table,
                quantizers: None,
                blocks_across: 0,
                blocks_down: 0,
                dc_table: 0,
                ac_table: 0,
            });
        }
        let frame = Frame { is_progressive, is_arithmetic, precision, height, width, components, ..Frame::default() };
        self.frame = Some(frame);
        self.source.commit();
        Ok(())
    }

    fn read_scan(&mut self) -> Read<()> {
        let Some(frame) = &mut self.frame else { return error("a scan comes before the frame") };
        let source = &mut self.source;
        let length = source.word()?;
        let count = usize::from(source.byte()?);
        check(length == count * 2 + 6 && (1..=4).contains(&count), "a marker has a wrong length")?;
        let mut indices: Vec<usize> = Vec::new();
        for _ in 0..count {
            let [id, tables] = [source.byte()?, source.byte()?];
            // As libjpeg has it, which looks whether a place is free where it could look whether a component is.
            let index = frame
                .components
                .iter()
                .take(4)
                .enumerate()
                .position(|(at, component)| component.id == id && at >= indices.len());
            let Some(index) = index else { return error("a scan has a component that the frame lacks") };
            check(!indices.contains(&index), "a scan has a component twice")?;
            indices.push(index);
            (frame.components[index].dc_table, frame.components[index].ac_table) = (tables >> 4, tables & 15);
        }
        let [first, last, bits] = [source.byte()?, source.byte()?, source.byte()?];
        self.scan = Scan {
            components: indices,
            first: first.into(),
            last: last.into(),
            high_bit: bits >> 4,
            low_bit: bits & 15,
        };
        source.begin_scan();
        self.scans += 1;
        check(self.scans <= MOST_SCANS, "the file has too many scans")?;
        source.commit();
        Ok(())
    }

    fn read_conditioning(&mut self) -> Read<()> {
        let mut length = self.source.word()?;
        check(length >= 2 && length % 2 == 0, "a marker has a wrong length")?;
        while length > 2 {
            let [index, value] = [self.source.byte()?, self.source.byte()?];
            length -= 2;
            match index {
                0..16 => {
                    let bounds = [value & 15, value >> 4];
                    check(bounds[0] <= bounds[1], "a table of arithmetic coding is wrong")?;
                    self.dc_bounds[usize::from(index)] = bounds;
                }
                16..32 => self.ac_bounds[usize::from(index) - 16] = value,
                _ => return error("a table has a wrong index"),
            }
        }
        self.source.commit();
        Ok(())
    }

    fn read_codes(&mut self) -> Read<()> {
        let mut length = self.source.word()? as isize - 2;
        while length > 16 {
            let index = usize::from(self.source.byte()?);
            let mut code = HuffmanCode { lengths: [0; 16], symbols: [0; 256] };
            for count in &mut code.lengths {
                *count = self.source.byte()?;
            }
            length -= 17;
            let count: usize = code.lengths.iter().map(|&count| usize::from(count)).sum();
            check(count <= 256 && count as isize <= length, "a Huffman code is wrong")?;
            for symbol in &mut code.symbols[..count] {
                *symbol = self.source.byte()?;
            }
            length -= count as isize;
            let codes = if index & 0x10 != 0 { &mut self.ac_codes } else { &mut self.dc_codes };
            let Some(place) = codes.get_mut(index & !0x10) else { return error("a table has a wrong index") };
            *place = Some(code);
        }
        check(length == 0, "a marker has a wrong length")?;
        self.source.commit();
        Ok(())
    }

    fn read_quantizers(&mut self) -> Read<()> {
        let mut length = self.source.word()? as isize - 2;
        while length > 0 {
            let kind = self.source.byte()?;
            let Some(place) = self.quantizers.get_mut(usize::from(kind & 15)) else {
                return error("a table has a wrong index");
            };
            let table = place.get_or_insert_with(|| Box::new([0; 64]));
            for &at in &NATURAL_ORDER[..64] {
                let value = if kind >> 4 != 0 { self.source.word()? } else { self.source.byte()?.into() };
                table[usize::from(at)] = value as u16;
            }
            length -= if kind >> 4 != 0 { 129 } else { 65 };
        }
        check(length == 0, "a marker has a wrong length")?;
        self.source.commit();
        Ok(())
    }

    /// Reads a marker of which some kinds say something of colours.
    fn read_application(&mut self) -> Read<()> {
        let length = self.source.word()?.saturating_sub(2);
        let mut data = [0; 14];
        let count = length.min(data.len());
        for byte in &mut data[..count] {
            *byte = self.source.byte()?;
        }
        match self.source.marker {
            0xE0 => self.is_jfif |= count >= 14 && data.starts_with(b"JFIF\0"),
            _ if count >= 12 && data.starts_with(b"Adobe") => self.adobe = Some(data[11]),
            _ => {}
        }
        self.skip(length - count)
    }

    /// Computes what the first scan lets know of the frame.
    fn set_up(&mut self) -> Read<()> {
        let Some(frame) = &mut self.frame else { return error("the file has no frame") };
        if frame.height.max(frame.width) > MOST_LINES {
            return Err(Stop::TooLarge([frame.height, frame.width]));
        }
        check(frame.precision == 8, "its samples do not have 8 bits")?;
        check(frame.components.len() <= MOST_COMPONENTS, "the image has too many components")?;
        for component in &frame.components {
            let are_right = [component.across, component.down].iter().all(|factor| (1..=4).contains(factor));
            check(are_right, "a component has a wrong sampling factor")?;
        }
        frame.most_across = frame.components.iter().map(|component| component.across).max().unwrap_or(1);
        frame.most_down = frame.components.iter().map(|component| component.down).max().unwrap_or(1);
        for component in &mut frame.components {
            component.blocks_across = (frame.width * component.across).div_ceil(frame.most_across * 8);
            component.blocks_down = (frame.height * component.down).div_ceil(frame.most_down * 8);
        }
        Ok(())
    }

    /// Keeps the tables that the components of the scan are to be multiplied by.
    pub(crate) fn latch_quantizers(&mut self) -> Read<()> {
        let Some(frame) = &mut self.frame else { return error("the file has no frame") };
        for &index in &self.scan.components {
            let component = &mut frame.components[index];
            if component.quantizers.is_none() {
                let table = self.quantizers.get(usize::from(component.table)).cloned().flatten();
                check(table.is_some(), "a quantisation table is missing")?;
                component.quantizers = table;
            }
        }
        Ok(())
    }

    /// Whether the components come in more scans than one, so that coefficients must be kept.
    pub(crate) fn has_many_scans(&self) -> bool {
        self.frame
            .as_ref()
            .is_some_and(|frame| frame.is_progressive || self.scan.components.len() < frame.components.len())
    }

    /// Whether an Adobe marker is there, whose files hold colours of print inverted.
    pub(crate) fn is_adobe(&self) -> bool {
        self.adobe.is_some()
    }

    /// What the colours are, as libjpeg guesses.
    pub(crate) fn colors(&self) -> Colors {
        let ids: Vec<u8> =
            self.frame.iter().flat_map(|frame| &frame.components).map(|component| component.id).collect();
        match (ids.len(), self.adobe) {
            (1, _) => Colors::Gray,
            (3, _) if self.is_jfif => Colors::Ycc,
            (3, Some(0)) => Colors::Rgb,
            (3, Some(_)) => Colors::Ycc,
            (3, None) if ids == *b"RGB" => Colors::Rgb,
            (3, None) => Colors::Ycc,
            (4, None | Some(0)) => Colors::Cmyk,
            (4, Some(_)) => Colors::Ycck,
            _ => Colors::Unknown,
        }
    }
}
