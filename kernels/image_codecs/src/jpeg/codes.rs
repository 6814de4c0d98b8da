//! Huffman codes for writing: the usual ones, and those made for an image; and bits of coded data.

use super::header::HuffmanCode;

/// The usual codes of T.81, table K.3 to K.6: for DC and AC of brightness and of colours, as lengths and symbols.
pub(crate) fn usual(is_ac: bool, table: usize) -> HuffmanCode {
    let (lengths, listed): ([u8; 16], &[u8]) = match (is_ac, table) {
        (false, 0) => ([0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (false, _) => ([0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        (true, 0) => ([0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7D], AC_OF_BRIGHTNESS),
        (true, _) => ([0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77], AC_OF_COLORS),
    };
    let mut symbols = [0; 256];
    symbols[..listed.len()].copy_from_slice(listed);
    HuffmanCode { lengths, symbols }
}

const AC_OF_BRIGHTNESS: &[u8] = &[
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07, 0x22, 0x71, 0x14,
    0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0, 0x24, 0x33, 0x62, 0x72, 0x82, 0x09,
    0x0A, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A,
    0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64, 0x65,
    0x66, 0x67, 0x68, 0x69, 0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88,
    0x89, 0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9,
    0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA,
    0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA,
    0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA,
];

const AC_OF_COLORS: &[u8] = &[
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71, 0x13, 0x22, 0x32,
    0x81, 0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1, 0xC1, 0x09, 0x23, 0x33, 0x52, 0xF0, 0x15, 0x62, 0x72, 0xD1, 0x0A, 0x16,
    0x24, 0x34, 0xE1, 0x25, 0xF1, 0x17, 0x18, 0x19, 0x1A, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x35, 0x36, 0x37, 0x38, 0x39,
    0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64,
    0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x82, 0x83, 0x84, 0x85, 0x86,
    0x87, 0x88, 0x89, 0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7,
    0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8,
    0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9,
    0xEA, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA,
];

/// The code of least length for symbols that come this often, by T.81, K.2, as libjpeg decides what that leaves open.
pub(crate) fn optimal(counts: &[u32; 256]) -> HuffmanCode {
    const LONGEST: usize = 64;
    let mut counts: [u64; 257] = std::array::from_fn(|symbol| counts.get(symbol).map_or(1, |&count| count.into()));
    let mut sizes = [0usize; 257];
    let mut next = [None; 257];
    // The rarest symbol that is left; of those that are equally rare the last.
    let rarest = |counts: &[u64; 257], but: Option<usize>| {
        (0..257).rev().filter(|&symbol| counts[symbol] > 0 && Some(symbol) != but).min_by_key(|&symbol| counts[symbol])
    };
    while let Some(first) = rarest(&counts, None)
        && let Some(second) = rarest(&counts, Some(first))
    {
        counts[first] += std::mem::take(&mut counts[second]);
        let mut lengthen = |mut symbol: usize| loop {
            sizes[symbol] += 1;
            match next[symbol] {
                Some(after) => symbol = after,
                None => return symbol,
            }
        };
        let last = lengthen(first);
        lengthen(second);
        next[last] = Some(second);
    }
    let mut lengths = [0usize; LONGEST + 1];
    sizes.iter().filter(|&&size| size > 0).for_each(|&size| lengths[size.min(LONGEST)] += 1);
    // Codes of more than 16 bits are shortened by pairs.
    for long in (17..=LONGEST).rev() {
        while lengths[long] > 0 {
            let mut prefix = long - 2;
            while lengths[prefix] == 0 {
                prefix -= 1;
            }
            lengths[long] -= 2;
            lengths[long - 1] += 1;
            lengths[prefix + 1] += 2;
            lengths[prefix] -= 1;
        }
    }
    // The symbol that was added, so that no code is all ones, has the last code.
    if let Some(length) = lengths[..=16].iter_mut().rev().find(|length| **length > 0) {
        *length -= 1;
    }
    let mut code = HuffmanCode { lengths: std::array::from_fn(|k| lengths[k + 1] as u8), symbols: [0; 256] };
    let ordered = (1..=LONGEST).flat_map(|size| (0..256).filter(move |&symbol| sizes[symbol] == size));
    code.symbols.iter_mut().zip(ordered).for_each(|(place, symbol)| *place = symbol as u8);
    code
}

/// The bits of a number's magnitude, and the number as a file holds it: negative ones as the complement of their magnitude.
#[inline(always)]
pub(crate) fn sized(x: i32) -> (u32, u32) {
    let size = 32 - x.unsigned_abs().leading_zeros();
    (size, (x + (x >> 31)) as u32 & ((1 << size) - 1))
}

/// A code that is laid out for encoding: bits and their number for each symbol.
pub(crate) struct Encoder {
    codes: [(u16, u8); 256],
    /// Of small numbers after each run of zeros the bits and, in the last byte, how many they are: code and number together.
    small: [u32; 16 << SMALL_BITS],
}

/// The bits of a small number with its sign.
const SMALL_BITS: u32 = 5;

/// What is added to small numbers, so that they are indices.
const SMALL: i32 = 1 << (SMALL_BITS - 1);

impl Encoder {
    /// The code of tables that no symbol is of.
    pub(crate) const NONE: Encoder = Encoder { codes: [(0, 0); 256], small: [0; 16 << SMALL_BITS] };

    pub(crate) fn new(code: &HuffmanCode, is_ac: bool) -> Encoder {
        let mut codes = [(0, 0); 256];
        let (mut next, mut symbols) = (0u32, code.symbols.iter());
        for (length, &count) in (1..).zip(&code.lengths) {
            for &symbol in symbols.by_ref().take(count.into()) {
                codes[usize::from(symbol)] = (next as u16, length);
                next += 1;
            }
            next <<= 1;
        }
        let mut encoder = Encoder { codes, ..Encoder::NONE };
        if is_ac {
            let runs = encoder.small.as_chunks_mut::<{ 1 << SMALL_BITS }>().0;
            for (run, values) in (0..).zip(runs) {
                for (value, place) in (-SMALL..).zip(values) {
                    let (size, bits) = sized(value);
                    let (code, length) = encoder.codes[usize::from(run << 4 | size as u8)];
                    *place = (u32::from(code) << size | bits) << 8 | (u32::from(length) + size);
                }
            }
        }
        encoder
    }

    /// The bits of a number after a run of zeros, and how many they are.
    #[inline(always)]
    fn coefficient(&self, run: usize, value: i32) -> (u32, u32) {
        let index = (value + SMALL) as u32 as usize;
        if index < 1 << SMALL_BITS {
            let small = self.small[(run & 15) << SMALL_BITS | index];
            return (small >> 8, small & 0xFF);
        }
        let (size, bits) = sized(value);
        let (code, length) = self.codes[(run << 4) & 0xFF | size as usize & 15];
        (u32::from(code) << size | bits, u32::from(length) + size)
    }
}

/// What takes the symbols and bits of a scan.
pub(crate) trait Sink {
    /// A symbol of a table.
    fn symbol(&mut self, table: usize, symbol: u8);

    /// A number of up to 32 bits, that has no others.
    fn bits(&mut self, bits: u32, count: u32);

    /// A symbol, and bits after it.
    #[inline(always)]
    fn number(&mut self, table: usize, symbol: u8, bits: u32, count: u32) {
        self.symbol(table, symbol);
        self.bits(bits, count);
    }

    /// Coefficients, each after a run of zeros, of which 15 with another zero are a symbol, and none with a zero the end of a block.
    fn coefficients(&mut self, table: usize, coefficients: impl Iterator<Item = (usize, i32)>);
}

/// Counts symbols.
pub(crate) struct Counter<'c>(pub(crate) &'c mut [[u32; 256]; 4]);

impl Sink for Counter<'_> {
    fn symbol(&mut self, table: usize, symbol: u8) {
        self.0[table][usize::from(symbol)] += 1;
    }

    fn bits(&mut self, _: u32, _: u32) {}

    fn coefficients(&mut self, table: usize, coefficients: impl Iterator<Item = (usize, i32)>) {
        for (run, value) in coefficients {
            self.symbol(table, (run << 4) as u8 | sized(value).0 as u8);
        }
    }
}

/// Bits that are not written yet, and bytes that are not in the file yet.
struct Pending {
    /// Bits, of which the last `64 - free` count.
    buffer: u64,
    free: u32,
    room: [u8; ROOM],
    /// How many bytes of the room are used.
    used: usize,
}

/// What one call of [`Sink::coefficients`] writes at most: 64 numbers of 32 bits, each byte of which may be followed by zeros.
const MOST_BYTES: usize = 64 * 4 * 2 + 16;

const ROOM: usize = 4096;

/// Adds a number of up to 32 bits to a buffer of which so many bits are free, and writes it to the room once it is full.
#[inline(always)]
fn add(bits: u32, count: u32, [buffer, free]: [u64; 2], room: &mut [u8; ROOM], used: usize) -> ([u64; 2], usize) {
    let count = u64::from(count);
    if count <= free {
        return ([buffer << count | u64::from(bits), free - count], used);
    }
    let rest = count - free;
    // None of the buffer may be free, and then none of it may stay.
    let eight = (buffer << (free & 63)) | u64::from(bits) >> rest;
    let used = match room.get_mut(used..used + 8) {
        Some(place) if !has_ones(eight) => {
            place.copy_from_slice(&eight.to_be_bytes());
            used + 8
        }
        _ => stuffed(eight, room, used),
    };
    ([u64::from(bits), 64 - rest], used)
}

/// Whether one of eight bytes is 0xFF.
#[inline(always)]
fn has_ones(x: u64) -> bool {
    x & (!x).wrapping_sub(0x0101_0101_0101_0101) & 0x8080_8080_8080_8080 != 0
}

/// Writes bytes, those of ones with zeros after them, which tell them from a marker.
#[inline(never)]
fn stuffed(eight: u64, room: &mut [u8; ROOM], mut used: usize) -> usize {
    for byte in eight.to_be_bytes() {
        room[used] = byte;
        used += 1;
        if byte == 0xFF {
            room[used] = 0;
            used += 1;
        }
    }
    used
}

/// Writes symbols and bits to a file.
pub(crate) struct Writer<'w> {
    file: &'w mut Vec<u8>,
    encoders: &'w [Encoder; 4],
    pending: Pending,
}

impl<'w> Writer<'w> {
    pub(crate) fn new(file: &'w mut Vec<u8>, encoders: &'w [Encoder; 4]) -> Writer<'w> {
        Writer { file, encoders, pending: Pending { buffer: 0, free: 64, room: [0; ROOM], used: 0 } }
    }

    /// Fills the last byte with ones.
    pub(crate) fn finish(mut self) {
        self.bits(0x7F, 7);
        self.flush();
        let filled = 64 - self.pending.free;
        for byte in 1..=filled / 8 {
            let byte = (self.pending.buffer >> (filled - byte * 8)) as u8;
            self.file.push(byte);
            if byte == 0xFF {
                self.file.push(0);
            }
        }
    }

    #[inline(never)]
    fn flush(&mut self) {
        self.file.extend_from_slice(&self.pending.room[..self.pending.used]);
        self.pending.used = 0;
    }

    /// Adds numbers, `MOST_BYTES` at most together.
    #[inline(always)]
    fn add(&mut self, numbers: impl Iterator<Item = (u32, u32)>) {
        if self.pending.used > ROOM - MOST_BYTES {
            self.flush();
        }
        // Copies, which stay in registers.
        let (mut state, mut used) = ([self.pending.buffer, self.pending.free.into()], self.pending.used);
        for (bits, count) in numbers {
            (state, used) = add(bits, count, state, &mut self.pending.room, used);
        }
        (self.pending.buffer, self.pending.free, self.pending.used) = (state[0], state[1] as u32, used);
    }
}

impl Sink for Writer<'_> {
    #[inline(always)]
    fn symbol(&mut self, table: usize, symbol: u8) {
        self.number(table, symbol, 0, 0);
    }

    #[inline(always)]
    fn bits(&mut self, bits: u32, count: u32) {
        self.add(std::iter::once((bits, count)));
    }

    #[inline(always)]
    fn number(&mut self, table: usize, symbol: u8, bits: u32, count: u32) {
        let (code, length) = self.encoders[table].codes[usize::from(symbol)];
        self.bits(u32::from(code) << count | bits, u32::from(length) + count);
    }

    #[inline(always)]
    fn coefficients(&mut self, table: usize, coefficients: impl Iterator<Item = (usize, i32)>) {
        let encoder = &self.encoders[table];
        self.add(coefficients.map(|(run, value)| encoder.coefficient(run, value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_symbols_have_codes_of_sixteen_bits_at_most() {
        // Counts like Fibonacci's numbers make the deepest tree.
        let mut counts = [0; 256];
        let (mut a, mut b) = (1, 1);
        for count in &mut counts[..40] {
            *count = a;
            (a, b) = (b, a + b);
        }
        let code = optimal(&counts);
        let count: usize = code.lengths.iter().map(|&count| usize::from(count)).sum();
        assert_eq!(count, 40);
        let used: f64 = (1..).zip(&code.lengths).map(|(length, &count)| f64::from(count) * 0.5f64.powi(length)).sum();
        assert!(used < 1.0, "a code of ones only must stay free: {used}");
        assert!(code.symbols[..3].contains(&39));
    }
}
