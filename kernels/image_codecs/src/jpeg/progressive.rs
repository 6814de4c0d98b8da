//! Blocks of Huffman-coded data in the scans of progressive files.

use super::entropy::{Blocks, Entropy, Restarts, members};
use super::header::{Header, NATURAL_ORDER, Scan};
use super::huffman::{BitReader, Bits, Decoder, FastReader, Reader, extended};
use super::idct::Block;
use super::source::{Read, Source, Stop};

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
    /// How many bytes there are from the marker after the scan on, if there is one, once that was looked for.
    after: Option<Option<usize>>,
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
            after: None,
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

    /// The scan of coefficients of AC, with the state that goes from block to block.
    fn ac(&mut self) -> Band<'_> {
        Band {
            code: &self.codes[0],
            first: self.scan.first,
            last: self.scan.last,
            low_bit: self.scan.low_bit,
            refines: self.scan.high_bit > 0,
            end_run: &mut self.end_run,
        }
    }

    fn dc_refine(&mut self, reader: &mut BitReader<'_, '_>, blocks: &mut dyn Blocks) -> Read<()> {
        for at in 0..self.members.len() {
            if reader.get(1)? == 1 {
                blocks.block(at)[0] |= 1 << self.scan.low_bit;
            }
        }
        Ok(())
    }
}

/// A scan of some coefficients of AC.
struct Band<'b> {
    code: &'b Decoder,
    first: usize,
    last: usize,
    low_bit: u8,
    refines: bool,
    end_run: &'b mut u32,
}

/// Coefficient `k` in the order of a file, where those that would be after the last one are the last.
#[inline(always)]
fn put(block: &mut Block, set: &mut u64, k: usize, value: i16) {
    block[usize::from(NATURAL_ORDER[k])] = value;
    let k = k.min(63);
    *set = *set & !(1 << k) | u64::from(value != 0) << k;
}

impl Band<'_> {
    #[inline(always)]
    fn first(&mut self, reader: &mut impl Reader, block: &mut Block, set: &mut u64) -> Read<()> {
        if *self.end_run > 0 {
            *self.end_run -= 1;
            return Ok(());
        }
        let mut k = self.first;
        while k <= self.last {
            if let Some((skipped, value)) = reader.short(self.code) {
                k += skipped;
                put(block, set, k, value << self.low_bit);
                k += 1;
                continue;
            }
            let symbol = reader.symbol(self.code)?;
            let (run, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
            if size > 0 {
                k += run as usize;
                put(block, set, k, (extended(reader.get(size)?, size) << self.low_bit) as i16);
            } else if run == 15 {
                k += 15;
            } else {
                *self.end_run = (1 << run) - 1;
                if run > 0 {
                    *self.end_run += reader.get(run)? as u32;
                }
                break;
            }
            k += 1;
        }
        Ok(())
    }

    /// Reads the next bits of coefficients that are not 0 already.
    #[inline(always)]
    fn correct(&self, reader: &mut impl Reader, block: &mut Block, mut which: u64) -> Read<()> {
        let bit = 1i16 << self.low_bit;
        while which != 0 {
            let coefficient = &mut block[usize::from(NATURAL_ORDER[which.trailing_zeros() as usize & 63])];
            which &= which - 1;
            if reader.bit()? && *coefficient & bit == 0 {
                *coefficient = coefficient.wrapping_add(if *coefficient >= 0 { bit } else { -bit });
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn refine(&mut self, reader: &mut impl Reader, block: &mut Block, set: &mut u64) -> Read<()> {
        let bit = 1i16 << self.low_bit;
        // The coefficients from `k` on, and those before it.
        let from = |k: usize| if k > 63 { 0 } else { u64::MAX << k };
        let band = !from(self.last + 1);
        let mut k = self.first;
        if *self.end_run == 0 {
            while k <= self.last {
                let symbol = reader.symbol(self.code)?;
                let (run, size) = (u32::from(symbol >> 4), symbol & 15);
                let mut value = 0;
                if size > 0 {
                    value = if reader.get(1)? == 1 { bit } else { -bit };
                } else if run != 15 {
                    *self.end_run = 1 << run;
                    if run > 0 {
                        *self.end_run += reader.get(run)? as u32;
                    }
                    break;
                }
                // The place is that of the zero after as many as the run has.
                let mut zeros = !*set & from(k) & band;
                for _ in 0..run {
                    zeros &= zeros.wrapping_sub(1);
                }
                let place = if zeros == 0 { self.last + 1 } else { zeros.trailing_zeros() as usize };
                self.correct(reader, block, *set & from(k) & !from(place))?;
                if value != 0 {
                    put(block, set, place, value);
                }
                k = place + 1;
            }
        }
        if *self.end_run > 0 {
            self.correct(reader, block, *set & from(k) & band)?;
            *self.end_run -= 1;
        }
        Ok(())
    }

    /// Decodes blocks while enough bytes are left before the marker, of which there are `after` bytes.
    fn run(&mut self, reader: &mut FastReader<'_>, after: usize, blocks: &mut [Block], set: &mut [u64]) -> Read<usize> {
        let count = blocks.len().min(set.len());
        let mut done = 0;
        while done < count && reader.has_enough(after) {
            if self.refines {
                self.refine(reader, &mut blocks[done], &mut set[done])?;
                done += 1;
            } else if *self.end_run > 0 {
                let ended = (*self.end_run as usize).min(count - done);
                *self.end_run -= ended as u32;
                done += ended;
            } else {
                self.first(reader, &mut blocks[done], &mut set[done])?;
                done += 1;
            }
        }
        Ok(done)
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
                (_, high_bit) => {
                    let (block, set) = blocks.single();
                    match high_bit {
                        0 => self.ac().first(&mut reader, block, set)?,
                        _ => self.ac().refine(&mut reader, block, set)?,
                    }
                }
            }
            self.bits = reader.bits;
            source.commit();
        }
        self.restarts.count();
        Ok(())
    }

    fn decode_some(&mut self, source: &mut Source<'_>, blocks: &mut [Block], set: &mut [u64]) -> Read<usize> {
        if self.scan.first == 0 || self.restarts.is_used() || self.bits.is_exhausted || source.marker != 0 {
            return Ok(0);
        }
        // How far libjpeg reads ahead shows where a file ends amid a scan, so that scan is read as libjpeg reads it.
        let Some(after) = *self.after.get_or_insert_with(|| source.size_behind_codes()) else { return Ok(0) };
        let mut reader = FastReader::new(source, self.bits);
        let done = self.ac().run(&mut reader, after, blocks, set)?;
        // No marker is met before the one that is after the scan, where this ends.
        let Some((count, bits)) = reader.end() else { return Err(Stop::Error("a marker is amid a scan")) };
        source.advance(count);
        source.commit();
        self.bits = bits;
        Ok(done)
    }

    fn is_exhausted(&self) -> bool {
        self.bits.is_exhausted
    }
}
