//! Arithmetic coding, T.81, annexes D, F and G.

use super::entropy::{Blocks, Entropy, Restarts, members};
use super::header::{Header, NATURAL_ORDER, Scan};
use super::idct::Block;
use super::progressive::check_progression;
use super::source::{Read, Source, Stop};

/// What a state of a decision holds, T.81, table D.3: how probable the less probable outcome is, the states after the less and the
/// more probable one, and whether the first of these changes which is which. The last one never learns.
#[rustfmt::skip]
const STATES: [(u16, u8, u8, bool); 114] = [
    (0x5a1d, 1, 1, true), (0x2586, 14, 2, false), (0x1114, 16, 3, false), (0x080b, 18, 4, false),
    (0x03d8, 20, 5, false), (0x01da, 23, 6, false), (0x00e5, 25, 7, false), (0x006f, 28, 8, false),
    (0x0036, 30, 9, false), (0x001a, 33, 10, false), (0x000d, 35, 11, false), (0x0006, 9, 12, false),
    (0x0003, 10, 13, false), (0x0001, 12, 13, false), (0x5a7f, 15, 15, true), (0x3f25, 36, 16, false),
    (0x2cf2, 38, 17, false), (0x207c, 39, 18, false), (0x17b9, 40, 19, false), (0x1182, 42, 20, false),
    (0x0cef, 43, 21, false), (0x09a1, 45, 22, false), (0x072f, 46, 23, false), (0x055c, 48, 24, false),
    (0x0406, 49, 25, false), (0x0303, 51, 26, false), (0x0240, 52, 27, false), (0x01b1, 54, 28, false),
    (0x0144, 56, 29, false), (0x00f5, 57, 30, false), (0x00b7, 59, 31, false), (0x008a, 60, 32, false),
    (0x0068, 62, 33, false), (0x004e, 63, 34, false), (0x003b, 32, 35, false), (0x002c, 33, 9, false),
    (0x5ae1, 37, 37, true), (0x484c, 64, 38, false), (0x3a0d, 65, 39, false), (0x2ef1, 67, 40, false),
    (0x261f, 68, 41, false), (0x1f33, 69, 42, false), (0x19a8, 70, 43, false), (0x1518, 72, 44, false),
    (0x1177, 73, 45, false), (0x0e74, 74, 46, false), (0x0bfb, 75, 47, false), (0x09f8, 77, 48, false),
    (0x0861, 78, 49, false), (0x0706, 79, 50, false), (0x05cd, 48, 51, false), (0x04de, 50, 52, false),
    (0x040f, 50, 53, false), (0x0363, 51, 54, false), (0x02d4, 52, 55, false), (0x025c, 53, 56, false),
    (0x01f8, 54, 57, false), (0x01a4, 55, 58, false), (0x0160, 56, 59, false), (0x0125, 57, 60, false),
    (0x00f6, 58, 61, false), (0x00cb, 59, 62, false), (0x00ab, 61, 63, false), (0x008f, 61, 32, false),
    (0x5b12, 65, 65, true), (0x4d04, 80, 66, false), (0x412c, 81, 67, false), (0x37d8, 82, 68, false),
    (0x2fe8, 83, 69, false), (0x293c, 84, 70, false), (0x2379, 86, 71, false), (0x1edf, 87, 72, false),
    (0x1aa9, 87, 73, false), (0x174e, 72, 74, false), (0x1424, 72, 75, false), (0x119c, 74, 76, false),
    (0x0f6b, 74, 77, false), (0x0d51, 75, 78, false), (0x0bb6, 77, 79, false), (0x0a40, 77, 48, false),
    (0x5832, 80, 81, true), (0x4d1c, 88, 82, false), (0x438e, 89, 83, false), (0x3bdd, 90, 84, false),
    (0x34ee, 91, 85, false), (0x2eae, 92, 86, false), (0x299a, 93, 87, false), (0x2516, 86, 71, false),
    (0x5570, 88, 89, true), (0x4ca9, 95, 90, false), (0x44d9, 96, 91, false), (0x3e22, 97, 92, false),
    (0x3824, 99, 93, false), (0x32b4, 99, 94, false), (0x2e17, 93, 86, false), (0x56a8, 95, 96, true),
    (0x4f46, 101, 97, false), (0x47e5, 102, 98, false), (0x41cf, 103, 99, false), (0x3c3d, 104, 100, false),
    (0x375e, 99, 93, false), (0x5231, 105, 102, false), (0x4c0f, 106, 103, false), (0x4639, 107, 104, false),
    (0x415e, 103, 99, false), (0x5627, 105, 106, true), (0x50e7, 108, 107, false), (0x4b85, 109, 103, false),
    (0x5597, 110, 109, false), (0x504f, 111, 107, false), (0x5a10, 110, 111, true), (0x5522, 112, 109, false),
    (0x59eb, 112, 111, true), (0x5a1d, 113, 113, false),
];

/// A decision's state, and in the highest bit the outcome that is more probable.
type Bin = u8;

/// Decodes the units of arithmetic-coded scans.
pub(crate) struct Arithmetic {
    members: Vec<usize>,
    scan: Scan,
    is_progressive: bool,
    /// Which tables of DC and AC each of the scan's components has.
    tables: Vec<[usize; 2]>,
    dc_bounds: [[u8; 2]; 16],
    ac_bounds: [u8; 16],
    dc: [[Bin; 64]; 16],
    ac: [[Bin; 256]; 16],
    last: [i32; 4],
    contexts: [usize; 4],
    coder: Coder,
    /// Whether codes that cannot be were met: nothing more is decoded then.
    is_lost: bool,
    restarts: Restarts,
}

/// The interval that is being divided.
struct Coder {
    code: i64,
    interval: i64,
    shift: i32,
    /// A decision of which neither outcome is more probable.
    even: Bin,
}

impl Coder {
    fn new() -> Coder {
        Coder { code: 0, interval: 0, shift: -16, even: 113 }
    }

    /// The next byte; zeros where a marker follows.
    fn byte(source: &mut Source<'_>) -> Read<u8> {
        if source.marker != 0 {
            return Ok(0);
        }
        let next = |source: &mut Source<'_>| -> Read<u8> {
            let byte = source.byte()?;
            source.commit();
            Ok(byte)
        };
        let byte = next(source)?;
        if byte != 0xFF {
            return Ok(byte);
        }
        loop {
            match next(source)? {
                0xFF => {}
                0 => return Ok(0xFF),
                marker => {
                    source.marker = marker;
                    return Ok(0);
                }
            }
        }
    }

    /// A decision.
    fn decide(&mut self, source: &mut Source<'_>, bin: &mut Bin) -> Read<bool> {
        while self.interval < 0x8000 {
            self.shift -= 1;
            if self.shift < 0 {
                let byte = Coder::byte(source)?;
                self.code = self.code << 8 | i64::from(byte);
                self.shift += 8;
                if self.shift < 0 {
                    self.shift += 1;
                    if self.shift == 0 {
                        self.interval = 0x8000;
                    }
                }
            }
            self.interval <<= 1;
        }
        let (probable, state) = (*bin & 0x80, usize::from(*bin & 0x7F).min(113));
        let (part, after_less, after_more, switches) = STATES[state];
        let part = i64::from(part);
        self.interval -= part;
        let bound = self.interval << self.shift;
        let less = probable ^ u8::from(switches) << 7 | after_less;
        let more = probable | after_more;
        let is_upper = self.code >= bound;
        let is_small = self.interval < part;
        if is_upper {
            self.code -= bound;
            self.interval = part;
        } else if self.interval >= 0x8000 {
            return Ok(probable != 0);
        }
        // The larger part of the interval is the more probable outcome's, which ever side it is on.
        let is_less = is_upper != is_small;
        *bin = if is_less { less } else { more };
        Ok((probable != 0) != is_less)
    }

    fn decide_evenly(&mut self, source: &mut Source<'_>) -> Read<bool> {
        let mut even = self.even;
        self.decide(source, &mut even)
    }
}

impl Arithmetic {
    pub(crate) fn new(header: &Header<'_>) -> Read<Arithmetic> {
        let frame = header.frame()?;
        if frame.is_progressive {
            check_progression(&header.scan)?;
        }
        let components = header.scan.components.iter().map(|&index| &frame.components[index]);
        Ok(Arithmetic {
            members: members(header)?,
            scan: header.scan.clone(),
            is_progressive: frame.is_progressive,
            tables: components.map(|component| [component.dc_table.into(), component.ac_table.into()]).collect(),
            dc_bounds: header.dc_bounds,
            ac_bounds: header.ac_bounds,
            dc: [[0; 64]; 16],
            ac: [[0; 256]; 16],
            last: [0; 4],
            contexts: [0; 4],
            coder: Coder::new(),
            is_lost: false,
            restarts: Restarts::new(header.restart_interval),
        })
    }

    /// The bits of a magnitude `most`, beside its highest, and the sign.
    fn value(&mut self, source: &mut Source<'_>, mut most: i32, is_negative: bool, mut bin: Bin) -> Read<(i32, Bin)> {
        let mut value = most;
        while most > 1 {
            most >>= 1;
            if self.coder.decide(source, &mut bin)? {
                value |= most;
            }
        }
        value += 1;
        Ok((if is_negative { -value } else { value }, bin))
    }

    /// The mean of the next block of a component.
    fn dc_value(&mut self, source: &mut Source<'_>, member: usize) -> Read<Option<i32>> {
        let table = self.tables[member][0];
        let mut at = self.contexts[member];
        if !self.coder.decide(source, &mut self.dc[table][at])? {
            self.contexts[member] = 0;
            return Ok(Some(self.last[member]));
        }
        let is_negative = self.coder.decide(source, &mut self.dc[table][at + 1])?;
        at += 2 + usize::from(is_negative);
        let mut most = i32::from(self.coder.decide(source, &mut self.dc[table][at])?);
        if most != 0 {
            at = 20;
            while self.coder.decide(source, &mut self.dc[table][at])? {
                most <<= 1;
                if most == 0x8000 {
                    return Ok(None);
                }
                at += 1;
            }
        }
        let [low, high] = self.dc_bounds[table].map(|bound| (1i32 << bound) >> 1);
        let sign = usize::from(is_negative) * 4;
        self.contexts[member] = if most < low {
            0
        } else if most > high {
            12 + sign
        } else {
            4 + sign
        };
        let (value, bin) = self.value(source, most, is_negative, self.dc[table][at + 14])?;
        self.dc[table][at + 14] = bin;
        self.last[member] = (self.last[member] + value) & 0xFFFF;
        Ok(Some(self.last[member]))
    }

    /// The next coefficients of a block, from `first` to `last`. False if the codes cannot be.
    fn ac_values(&mut self, source: &mut Source<'_>, table: usize, block: &mut Block) -> Read<bool> {
        let (first, last, low_bit) =
            if self.is_progressive { (self.scan.first, self.scan.last, self.scan.low_bit) } else { (1, 63, 0) };
        let mut k = first;
        while k <= last {
            let mut at = 3 * (k - 1);
            if self.coder.decide(source, &mut self.ac[table][at])? {
                break;
            }
            while !self.coder.decide(source, &mut self.ac[table][at + 1])? {
                at += 3;
                k += 1;
                if k > last {
                    return Ok(false);
                }
            }
            let is_negative = self.coder.decide_evenly(source)?;
            at += 2;
            let mut most = i32::from(self.coder.decide(source, &mut self.ac[table][at])?);
            if most != 0 && self.coder.decide(source, &mut self.ac[table][at])? {
                most <<= 1;
                at = if k <= usize::from(self.ac_bounds[table]) { 189 } else { 217 };
                while self.coder.decide(source, &mut self.ac[table][at])? {
                    most <<= 1;
                    if most == 0x8000 {
                        return Ok(false);
                    }
                    at += 1;
                }
            }
            let (value, bin) = self.value(source, most, is_negative, self.ac[table][at + 14])?;
            self.ac[table][at + 14] = bin;
            block[usize::from(NATURAL_ORDER[k])] = (value << low_bit) as i16;
            k += 1;
        }
        Ok(true)
    }

    /// Refines the coefficients of a block. False if the codes cannot be.
    fn refine(&mut self, source: &mut Source<'_>, table: usize, block: &mut Block) -> Read<bool> {
        let bit = 1i16 << self.scan.low_bit;
        let place = |k: usize| usize::from(NATURAL_ORDER[k]);
        let before = (1..=self.scan.last).rev().find(|&k| block[place(k)] != 0).unwrap_or(0);
        let mut k = self.scan.first;
        while k <= self.scan.last {
            let mut at = 3 * (k - 1);
            if k > before && self.coder.decide(source, &mut self.ac[table][at])? {
                break;
            }
            loop {
                let coefficient = &mut block[place(k)];
                if *coefficient != 0 {
                    if self.coder.decide(source, &mut self.ac[table][at + 2])? {
                        *coefficient = coefficient.wrapping_add(if *coefficient < 0 { -bit } else { bit });
                    }
                    break;
                }
                if self.coder.decide(source, &mut self.ac[table][at + 1])? {
                    *coefficient = if self.coder.decide_evenly(source)? { -bit } else { bit };
                    break;
                }
                at += 3;
                k += 1;
                if k > self.scan.last {
                    return Ok(false);
                }
            }
            k += 1;
        }
        Ok(true)
    }

    fn unit(&mut self, source: &mut Source<'_>, blocks: &mut dyn Blocks) -> Read<()> {
        let refines_dc = self.is_progressive && self.scan.first == 0 && self.scan.high_bit > 0;
        if self.is_lost && !refines_dc {
            return Ok(());
        }
        if self.is_progressive && self.scan.first > 0 {
            let table = self.tables[0][1];
            let is_right = if self.scan.high_bit == 0 {
                self.ac_values(source, table, blocks.block(0))?
            } else {
                self.refine(source, table, blocks.block(0))?
            };
            self.is_lost = !is_right;
            return Ok(());
        }
        for at in 0..self.members.len() {
            let member = self.members[at];
            if refines_dc {
                if self.coder.decide_evenly(source)? {
                    blocks.block(at)[0] |= 1 << self.scan.low_bit;
                }
                continue;
            }
            let Some(mean) = self.dc_value(source, member)? else {
                self.is_lost = true;
                return Ok(());
            };
            let low_bit = if self.is_progressive { self.scan.low_bit } else { 0 };
            blocks.block(at)[0] = (mean << low_bit) as i16;
            if !self.is_progressive && !self.ac_values(source, self.tables[member][1], blocks.block(at))? {
                self.is_lost = true;
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Entropy for Arithmetic {
    fn decode(&mut self, source: &mut Source<'_>, blocks: &mut dyn Blocks) -> Read<()> {
        let whole = |stop| match stop {
            Stop::Suspended => Stop::Error("the file ends amid its data"),
            stop => stop,
        };
        if self.restarts.are_due() {
            source.restart().map_err(whole)?;
            self.dc = [[0; 64]; 16];
            self.ac = [[0; 256]; 16];
            (self.last, self.contexts) = ([0; 4], [0; 4]);
            (self.coder, self.is_lost) = (Coder::new(), false);
            self.restarts.began();
        }
        self.restarts.count();
        self.unit(source, blocks).map_err(whole)
    }

    fn is_exhausted(&self) -> bool {
        false
    }
}
