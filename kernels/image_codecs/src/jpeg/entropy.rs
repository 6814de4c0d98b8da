//! Blocks of Huffman-coded data: sequential scans, and those of progressive files.

use super::codes::usual;
use super::header::{Header, HuffmanCode, NATURAL_ORDER, Scan};
use super::huffman::{BitReader, Bits, Decoder, FAST_BYTES, FastReader, Reader, extended};
use super::idct::Block;
use super::source::{Read, Source, Stop};

/// What decodes the units of a scan.
pub(crate) trait Entropy {
    /// Decodes the blocks of the next unit, one after the other. `blocks` are zeros in a file's first scan of them.
    fn decode(&mut self, source: &mut Source<'_>, blocks: &mut dyn Blocks) -> Read<()>;

    /// Whether the data have ended before they should have.
    fn is_exhausted(&self) -> bool;
}

/// The blocks of a unit.
pub(crate) trait Blocks {
    /// Block `index` of the unit.
    fn block(&mut self, index: usize) -> &mut Block;
}

impl Blocks for [Block; 10] {
    fn block(&mut self, index: usize) -> &mut Block {
        &mut self[index]
    }
}

/// Which of a scan's components each block of a unit belongs to, as an index among the scan's.
pub(crate) fn members(header: &Header<'_>) -> Read<Vec<usize>> {
    let frame = header.frame()?;
    if header.scan.components.len() == 1 {
        return Ok(vec![0]);
    }
    let mut members = Vec::new();
    for (at, &index) in header.scan.components.iter().enumerate() {
        let component = &frame.components[index];
        members.extend(std::iter::repeat_n(at, component.across * component.down));
    }
    if members.len() > 10 { Err(Stop::Error("the sampling factors are too large together")) } else { Ok(members) }
}

/// When the next restart marker is due.
pub(crate) struct Restarts {
    interval: usize,
    left: usize,
}

impl Restarts {
    pub(crate) fn new(interval: usize) -> Restarts {
        Restarts { interval, left: interval }
    }

    /// Whether the marker is due before the next unit.
    pub(crate) fn are_due(&self) -> bool {
        self.interval > 0 && self.left == 0
    }

    pub(crate) fn began(&mut self) {
        self.left = self.interval;
    }

    pub(crate) fn count(&mut self) {
        // An interval whose marker was not found goes on below 0 in libjpeg, too, far from the next.
        self.left = self.left.wrapping_sub(usize::from(self.interval > 0));
    }
}

/// Decodes scans that hold blocks as wholes.
pub(crate) struct Sequential {
    members: Vec<usize>,
    dc: Vec<Decoder>,
    ac: Vec<Decoder>,
    last: [i32; 4],
    bits: Bits,
    restarts: Restarts,
}

impl Sequential {
    pub(crate) fn new(header: &Header<'_>) -> Read<Sequential> {
        let (mut dc, mut ac) = (Vec::new(), Vec::new());
        for &index in &header.scan.components {
            let component = &header.frame()?.components[index];
            // Frames of Motion JPEG leave the usual codes out.
            let decoder = |codes: &[Option<HuffmanCode>; 4], table: u8, is_dc: bool| {
                let code = codes.get(usize::from(table)).and_then(Option::as_ref);
                match (code, table) {
                    (None, 0 | 1) => Decoder::new(Some(&usual(!is_dc, table.into())), is_dc),
                    (code, _) => Decoder::new(code, is_dc),
                }
            };
            dc.push(decoder(&header.dc_codes, component.dc_table, true)?);
            ac.push(decoder(&header.ac_codes, component.ac_table, false)?);
        }
        Ok(Sequential {
            members: members(header)?,
            dc,
            ac,
            last: [0; 4],
            bits: Bits::default(),
            restarts: Restarts::new(header.restart_interval),
        })
    }

    /// Decodes a unit, and answers with the means of its last blocks.
    #[inline(always)]
    fn unit(&self, reader: &mut impl Reader, blocks: &mut dyn Blocks) -> Read<[i32; 4]> {
        let mut last = self.last;
        for (at, &member) in self.members.iter().enumerate() {
            let block = blocks.block(at);
            last[member] = last[member].wrapping_add(reader.difference(&self.dc[member])?);
            block[0] = last[member] as i16;
            let ac = &self.ac[member];
            let mut k = 1;
            while k < 64 {
                let (skipped, value) = reader.coefficient(ac)?;
                k += skipped;
                if value != 0 {
                    block[usize::from(NATURAL_ORDER[k])] = value;
                }
                k += 1;
            }
        }
        Ok(last)
    }

    /// Decodes a unit of data that go on long enough; answers whether no marker was among them.
    fn fast_unit(&mut self, source: &mut Source<'_>, blocks: &mut dyn Blocks) -> Read<bool> {
        let mut reader = FastReader::new(source, self.bits);
        let last = self.unit(&mut reader, blocks)?;
        let Some((count, bits)) = reader.end() else { return Ok(false) };
        source.advance(count);
        (self.bits, self.last) = (bits, last);
        Ok(true)
    }
}

impl Entropy for Sequential {
    fn decode(&mut self, source: &mut Source<'_>, blocks: &mut dyn Blocks) -> Read<()> {
        if self.restarts.are_due() {
            self.bits.clear();
            source.restart()?;
            self.last = [0; 4];
            self.restarts.began();
            if source.marker == 0 {
                self.bits.is_exhausted = false;
            }
        }
        if !self.bits.is_exhausted {
            let is_long =
                self.restarts.interval == 0 && source.marker == 0 && source.left() >= FAST_BYTES * self.members.len();
            if !(is_long && self.fast_unit(source, blocks)?) {
                let mut reader = BitReader { source, bits: self.bits };
                self.last = self.unit(&mut reader, blocks)?;
                self.bits = reader.bits;
            }
            source.commit();
        }
        self.restarts.count();
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        self.bits.is_exhausted
    }
}

/// Decodes scans that hold some bits of some coefficients.
pub(crate) struct Progressive {
    members: Vec<usize>,
    scan: Scan,
    /// The codes of the components, of the DC or AC that the scan holds; none in a scan that refines DC.
    codes: Vec<Decoder>,
    last: [i32; 4],
    /// How many blocks follow without a new coefficient.
    end_run: u32,
    bits: Bits,
    restarts: Restarts,
}

/// Whether the parameters of a scan are possible in progressive files.
pub(crate) fn check_progression(scan: &Scan) -> Read<()> {
    let is_right = if scan.first == 0 {
        scan.last == 0
    } else {
        scan.first <= scan.last && scan.last < 64 && scan.components.len() == 1
    };
    let refines = scan.high_bit == 0 || Some(scan.low_bit) == scan.high_bit.checked_sub(1);
    if is_right && refines && scan.low_bit <= 13 {
        Ok(())
    } else {
        Err(Stop::Error("the parameters of a scan are wrong"))
    }
}

impl Progressive {
    pub(crate) fn new(header: &Header<'_>) -> Read<Progressive> {
        let scan = header.scan.clone();
        check_progression(&scan)?;
        let mut codes = Vec::new();
        for &index in &scan.components {
            let component = &header.frame()?.components[index];
            if scan.first > 0 {
                let code = header.ac_codes.get(usize::from(component.ac_table)).and_then(Option::as_ref);
                codes.push(Decoder::new(code, false)?);
            } else if scan.high_bit == 0 {
                let code = header.dc_codes.get(usize::from(component.dc_table)).and_then(Option::as_ref);
                codes.push(Decoder::new(code, true)?);
            }
        }
        Ok(Progressive {
            members: members(header)?,
            scan,
            codes,
            last: [0; 4],
            end_run: 0,
            bits: Bits::default(),
            restarts: Restarts::new(header.restart_interval),
        })
    }

    fn dc_first(&mut self, reader: &mut BitReader<'_, '_>, blocks: &mut dyn Blocks) -> Read<()> {
        let mut last = self.last;
        for (at, &member) in self.members.iter().enumerate() {
            let difference = reader.difference(&self.codes[member])?;
            last[member] = last[member].checked_add(difference).ok_or(Stop::Error("a coefficient is too large"))?;
            blocks.block(at)[0] = (last[member] << self.scan.low_bit) as i16;
        }
        self.last = last;
        Ok(())
    }

    fn ac_first(&mut self, reader: &mut BitReader<'_, '_>, block: &mut Block) -> Read<()> {
        if self.end_run > 0 {
            self.end_run -= 1;
            return Ok(());
        }
        let mut k = self.scan.first;
        while k <= self.scan.last {
            let symbol = reader.symbol(&self.codes[0])?;
            let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            if size > 0 {
                k += run as usize;
                let value = extended(reader.get(size)?, size) << self.scan.low_bit;
                block[usize::from(NATURAL_ORDER[k])] = value as i16;
            } else if run == 15 {
                k += 15;
            } else {
                self.end_run = (1 << run) - 1;
                if run > 0 {
                    self.end_run += reader.get(run)? as u32;
                }
                break;
            }
            k += 1;
        }
        Ok(())
    }

    fn dc_refine(&mut self, reader: &mut BitReader<'_, '_>, blocks: &mut dyn Blocks) -> Read<()> {
        for at in 0..self.members.len() {
            if reader.get(1)? == 1 {
                blocks.block(at)[0] |= 1 << self.scan.low_bit;
            }
        }
        Ok(())
    }

    fn ac_refine(&mut self, reader: &mut BitReader<'_, '_>, block: &mut Block) -> Read<()> {
        let bit = 1i16 << self.scan.low_bit;
        let correct = |reader: &mut BitReader<'_, '_>, coefficient: &mut i16| -> Read<()> {
            if reader.get(1)? == 1 && *coefficient & bit == 0 {
                *coefficient = coefficient.wrapping_add(if *coefficient >= 0 { bit } else { -bit });
            }
            Ok(())
        };
        let mut end_run = self.end_run;
        let mut k = self.scan.first;
        if end_run == 0 {
            while k <= self.scan.last {
                let symbol = reader.symbol(&self.codes[0])?;
                let (mut run, size) = (i32::from(symbol >> 4), symbol & 15);
                let mut value = 0;
                if size > 0 {
                    value = if reader.get(1)? == 1 { bit } else { -bit };
                } else if run != 15 {
                    end_run = 1 << run;
                    if run > 0 {
                        end_run += reader.get(run as u32)? as u32;
                    }
                    break;
                }
                loop {
                    let coefficient = &mut block[usize::from(NATURAL_ORDER[k])];
                    if *coefficient != 0 {
                        correct(reader, coefficient)?;
                    } else {
                        run -= 1;
                        if run < 0 {
                            break;
                        }
                    }
                    k += 1;
                    if k > self.scan.last {
                        break;
                    }
                }
                if value != 0 {
                    block[usize::from(NATURAL_ORDER[k])] = value;
                }
                k += 1;
            }
        }
        if end_run > 0 {
            while k <= self.scan.last {
                let coefficient = &mut block[usize::from(NATURAL_ORDER[k])];
                if *coefficient != 0 {
                    correct(reader, coefficient)?;
                }
                k += 1;
            }
            end_run -= 1;
        }
        self.end_run = end_run;
        Ok(())
    }
}

impl Entropy for Progressive {
    fn decode(&mut self, source: &mut Source<'_>, blocks: &mut dyn Blocks) -> Read<()> {
        if self.restarts.are_due() {
            self.bits.clear();
            source.restart()?;
            self.last = [0; 4];
            self.end_run = 0;
            self.restarts.began();
            if source.marker == 0 {
                self.bits.is_exhausted = false;
            }
        }
        let refines_dc = self.scan.first == 0 && self.scan.high_bit > 0;
        // Bits that refine DC are zeros where the data have ended, and so change nothing.
        if !self.bits.is_exhausted || refines_dc {
            let mut reader = BitReader { source, bits: self.bits };
            match (self.scan.first, self.scan.high_bit) {
                (0, 0) => self.dc_first(&mut reader, blocks)?,
                (0, _) => self.dc_refine(&mut reader, blocks)?,
                (_, 0) => self.ac_first(&mut reader, blocks.block(0))?,
                _ => self.ac_refine(&mut reader, blocks.block(0))?,
            }
            self.bits = reader.bits;
            source.commit();
        }
        self.restarts.count();
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        self.bits.is_exhausted
    }
}
