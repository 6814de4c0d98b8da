//! Blocks of Huffman-coded data: what all scans have in common, and sequential ones.

use super::codes::usual;
use super::header::{Header, HuffmanCode, NATURAL_ORDER};
use super::huffman::{BitReader, Bits, Decoder, FAST_BYTES, FastReader, Reader};
use super::idct::Block;
use super::source::{Read, Source, Stop};

/// What decodes the units of a scan.
pub(crate) trait Entropy {
    /// Decodes the blocks of the next unit, one after the other. `blocks` are zeros in a file's first scan of them.
    fn decode(&mut self, source: &mut Source<'_>, blocks: &mut dyn Blocks) -> Read<()>;

    /// Decodes some of the next units of a scan of one component, as far as that is quicker than one by one, and answers how many.
    fn decode_some(&mut self, _: &mut Source<'_>, _: &mut [Block], _: &mut [u64]) -> Read<usize> {
        Ok(0)
    }

    /// Whether the data have ended before they should have.
    fn is_exhausted(&self) -> bool;
}

/// The blocks of a unit.
pub(crate) trait Blocks {
    /// Block `index` of the unit.
    fn block(&mut self, index: usize) -> &mut Block;

    /// That of a scan of one component; and a bit for each of its coefficients of AC, in the order of a file, that is not 0, which
    /// only scans of progressive files keep.
    fn single(&mut self) -> (&mut Block, &mut u64);
}

/// The blocks of a unit of a file that has one scan.
pub(crate) struct Whole {
    pub(crate) blocks: [Block; 10],
    pub(crate) set: u64,
}

impl Blocks for Whole {
    fn block(&mut self, index: usize) -> &mut Block {
        &mut self.blocks[index]
    }

    fn single(&mut self) -> (&mut Block, &mut u64) {
        (&mut self.blocks[0], &mut self.set)
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

    /// Whether there are restart markers.
    pub(crate) fn is_used(&self) -> bool {
        self.interval > 0
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
