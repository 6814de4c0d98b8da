//! The wire format as TensorFlow's parsers of Examples read it: by hand, without messages in between.
//!
//! They take what a parser of protocol buffers refuses, and refuse what it takes: lengths beyond the end of what holds them
//! are cut there, fields of one message must be in order, what stands behind a list is passed over.

use kernlink::dtype::{DataType, Element, TString};
use kernlink::error::Result;
use kernlink::tensor::scratch::MakeRoom;

/// The key of a field with a length.
pub const fn delimited(field: u8) -> u8 {
    field << 3 | 2
}

/// Bytes that are read one after the other, up to a limit.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    limit: usize,
}

impl<'a> Reader<'a> {
    /// At the first of some bytes, which are the limit.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, limit: bytes.len() }
    }

    /// Whether it is at the limit.
    pub fn at_end(&self) -> bool {
        self.at == self.limit
    }

    /// The bytes up to the limit.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..self.limit]
    }

    /// The next byte; 0 at the limit.
    fn peek(&self) -> u8 {
        self.rest().first().copied().unwrap_or(0)
    }

    /// Passes over a key of one byte if it is the next one.
    #[inline(always)]
    pub fn expect(&mut self, key: u8) -> bool {
        let is_next = self.at < self.limit && self.bytes[self.at] == key;
        self.at += usize::from(is_next);
        is_next
    }

    /// An integer of at most ten bytes, of which the bits beyond 64 are dropped.
    #[inline(always)]
    pub fn varint(&mut self) -> Option<u64> {
        let rest = self.rest();
        let &first = rest.first()?;
        if first < 0x80 {
            self.at += 1;
            return Some(first.into());
        }
        let mut value = u64::from(first & 0x7F);
        for (index, &byte) in rest.iter().enumerate().take(10).skip(1) {
            value |= u64::from(byte & 0x7F) << (7 * index);
            if byte < 0x80 {
                self.at += index + 1;
                return Some(value);
            }
        }
        None
    }

    /// A length: an integer whose bits beyond 32 are dropped.
    #[inline(always)]
    pub fn length(&mut self) -> Option<usize> {
        self.varint().map(|value| value as u32 as usize)
    }

    /// Sets the limit so many bytes ahead, if that is before the present one, which is returned.
    pub fn push_limit(&mut self, length: usize) -> usize {
        let outer = self.limit;
        self.limit = outer.min(self.at.saturating_add(length));
        outer
    }

    /// Sets the limit back.
    pub fn pop_limit(&mut self, outer: usize) {
        self.limit = outer;
    }

    /// So many bytes, if they are there.
    #[inline(always)]
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let bytes = self.rest().get(..length)?;
        self.at += length;
        Some(bytes)
    }

    /// A string: its length, then its bytes.
    #[inline(always)]
    pub fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    /// Passes over a field that Examples do not have. A length beyond the end is one up to it; groups are refused.
    pub fn skip_field(&mut self) -> Option<()> {
        match self.length()? & 7 {
            0 => _ = self.varint()?,
            1 => _ = self.take(8)?,
            2 => {
                let length = self.length()?;
                // A length beyond what an `int` holds moves nothing.
                let length = if length > i32::MAX as usize { 0 } else { length };
                self.at = self.limit.min(self.at + length);
            }
            5 => _ = self.take(4)?,
            _ => return None,
        }
        Some(())
    }

    /// One entry of a map from names to messages: two fields, each the name or the message, and nothing else. `is_strict` says
    /// that the name must be the first, as in a SequenceExample.
    pub fn entry(&mut self, is_strict: bool) -> Option<(&'a [u8], &'a [u8])> {
        let length = self.length()?;
        let outer = self.push_limit(length);
        let (mut name, mut value) = (&[][..], &[][..]);
        for place in 0..2 {
            if self.expect(delimited(1)) && !(is_strict && place == 1) {
                name = self.string()?;
            } else if self.expect(delimited(2)) && !(is_strict && place == 0) {
                value = self.string()?;
            } else {
                return None;
            }
        }
        if !self.at_end() {
            return None;
        }
        self.pop_limit(outer);
        Some((name, value))
    }
}

/// The elements of a list, before they are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span<'a> {
    bytes: &'a [u8],
    is_packed: bool,
    /// How many elements there are.
    pub count: usize,
}

/// What a feature holds lists of.
pub trait Value: Element + Default {
    /// The list's field in a feature.
    const FIELD: u8;

    /// The elements of a list that lies before the reader's limit. `is_strict` says that of a SequenceExample: floats that
    /// are cut off are refused, and lengths that are too great are cut.
    fn span<'a>(list: &mut Reader<'a>, is_strict: bool) -> Option<Span<'a>>;

    /// Reads elements, as many as there are places; `None` if they are malformed. `source` is the string that they are part
    /// of.
    fn read(span: Span<'_>, source: &TString, places: &mut [Self]) -> Option<()>;

    /// Appends the elements to a list.
    fn append(span: Span<'_>, source: &TString, list: &mut Vec<Self>) -> Result<Option<()>> {
        list.make_room(span.count)?;
        let start = list.len();
        list.resize(start + span.count, Self::default());
        Ok(Self::read(span, source, &mut list[start..]))
    }
}

/// The bytes of numbers: packed, or with a key before each.
fn numbers<'a>(list: &mut Reader<'a>, single_key: u8) -> Option<(&'a [u8], bool)> {
    if list.at_end() {
        return Some((&[], true));
    }
    match list.peek() {
        key if key == delimited(1) => {
            list.at += 1;
            let length = list.length()?.min(list.rest().len());
            Some((list.take(length)?, true))
        }
        key if key == single_key => {
            let bytes = list.rest();
            list.at = list.limit;
            Some((bytes, false))
        }
        _ => None,
    }
}

impl Value for f32 {
    const FIELD: u8 = 2;

    fn span<'a>(list: &mut Reader<'a>, is_strict: bool) -> Option<Span<'a>> {
        const SINGLE: u8 = 1 << 3 | 5;
        if !is_strict && list.peek() == delimited(1) {
            // Only whole floats need be there.
            let mut ahead = *list;
            ahead.at += 1;
            let length = ahead.length()? / 4 * 4;
            let bytes = ahead.take(length)?;
            *list = ahead;
            return Some(Span { bytes, is_packed: true, count: length / 4 });
        }
        let (bytes, is_packed) = numbers(list, SINGLE)?;
        let size = if is_packed { 4 } else { 5 };
        if bytes.len() % size != 0 || (!is_packed && bytes.chunks_exact(5).any(|chunk| chunk[0] != SINGLE)) {
            return None;
        }
        Some(Span { bytes, is_packed, count: bytes.len() / size })
    }

    fn read(span: Span<'_>, _: &TString, places: &mut [f32]) -> Option<()> {
        if span.is_packed {
            let floats = span.bytes.as_chunks::<4>().0;
            places.iter_mut().zip(floats).for_each(|(place, bytes)| *place = f32::from_le_bytes(*bytes));
        } else {
            let floats = span.bytes.as_chunks::<5>().0;
            let float = |&[_, a, b, c, d]: &[u8; 5]| f32::from_le_bytes([a, b, c, d]);
            places.iter_mut().zip(floats).for_each(|(place, bytes)| *place = float(bytes));
        }
        Some(())
    }
}

impl Value for i64 {
    const FIELD: u8 = 3;

    fn span<'a>(list: &mut Reader<'a>, _: bool) -> Option<Span<'a>> {
        const SINGLE: u8 = 1 << 3;
        let (bytes, is_packed) = numbers(list, SINGLE)?;
        if is_packed {
            // Each integer ends with a byte whose highest bit is clear.
            let is_whole = bytes.last().is_none_or(|&last| last < 0x80);
            let count = bytes.iter().map(|&byte| usize::from(byte < 0x80)).sum();
            return is_whole.then_some(Span { bytes, is_packed, count });
        }
        let (mut reader, mut count) = (Reader::new(bytes), 0);
        while !reader.at_end() {
            if !reader.expect(SINGLE) {
                return None;
            }
            reader.varint()?;
            count += 1;
        }
        Some(Span { bytes, is_packed, count })
    }

    fn read(span: Span<'_>, _: &TString, places: &mut [i64]) -> Option<()> {
        if span.is_packed && span.count == span.bytes.len() {
            // No integer is longer than a byte.
            places.iter_mut().zip(span.bytes).for_each(|(place, &byte)| *place = byte.into());
            return Some(());
        }
        let mut reader = Reader::new(span.bytes);
        for place in places {
            reader.at += usize::from(!span.is_packed);
            *place = reader.varint()? as i64;
        }
        Some(())
    }
}

impl Value for TString {
    const FIELD: u8 = 1;

    fn span<'a>(list: &mut Reader<'a>, _: bool) -> Option<Span<'a>> {
        let (start, mut count) = (list.at, 0);
        while !list.at_end() {
            if !list.expect(delimited(1)) {
                return None;
            }
            list.string()?;
            count += 1;
        }
        Some(Span { bytes: &list.bytes[start..list.at], is_packed: false, count })
    }

    fn read(span: Span<'_>, source: &TString, places: &mut [TString]) -> Option<()> {
        let mut reader = Reader::new(span.bytes);
        for place in places {
            reader.at += 1;
            *place = part_of(source, reader.string()?);
        }
        Some(())
    }
}

/// A part of a string, or a copy of one: it shares the bytes if this keeps little else in memory, because it is long or because the
/// whole string takes no more than a copy and its administration do, and is a copy otherwise.
pub fn part_of(source: &TString, part: &[u8]) -> TString {
    const LONG: usize = 256;
    const SHORT: usize = 64;
    if source.len() > SHORT && (part.len() < LONG || part.len() < source.len() / 4) {
        return TString::from(part);
    }
    let start = part.as_ptr().addr().wrapping_sub(source.as_ptr().addr());
    match start.checked_add(part.len()) {
        Some(end) if end <= source.len() => source.slice(start..end),
        _ => TString::from(part),
    }
}

/// The dtype of a feature by the key of its list, which is passed over; `None` if it has none.
///
/// # Errors
/// INVALID_ARGUMENT if it is no list that features have.
pub fn feature_dtype(feature: &mut Reader<'_>) -> Result<Option<DataType>> {
    let dtype = match feature.peek() {
        _ if feature.at_end() => return Ok(None),
        key if key == delimited(<TString as Value>::FIELD) => DataType::String,
        key if key == delimited(<f32 as Value>::FIELD) => DataType::Float,
        key if key == delimited(<i64 as Value>::FIELD) => DataType::Int64,
        _ => kernlink::bail!(InvalidArgument, "Unsupported datatype."),
    };
    feature.at += 1;
    Ok(Some(dtype))
}

/// The elements of the list in a feature whose key has been passed over; what stands behind it does not count.
pub fn list_span<'a, T: Value>(feature: &mut Reader<'a>) -> Option<Span<'a>> {
    let length = feature.length()?;
    feature.push_limit(length);
    T::span(feature, false)
}

/// The elements of the next feature of a SequenceExample; `None` if they are of another dtype or malformed. The reader stands
/// behind what was read then, with the limit that it had.
pub fn sequence_span<'a, T: Value>(feature: &mut Reader<'a>) -> Option<Span<'a>> {
    if !feature.expect(delimited(T::FIELD)) {
        return None;
    }
    let length = feature.length()?;
    if length == 0 {
        return Some(Span::default());
    }
    let outer = feature.push_limit(length);
    // A list that is said to have bytes, but ends here, has none that could be a key.
    if feature.at_end() && T::FIELD != <TString as Value>::FIELD {
        return None;
    }
    let span = T::span(feature, true)?;
    feature.pop_limit(outer);
    Some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_bytes_if_that_keeps_little_else() {
        for (whole, part, shares) in
            [(8, 3, true), (64, 1, true), (65, 63, false), (1000, 255, false), (1000, 256, true), (5000, 300, false)]
        {
            let source = TString::from((0..whole).map(|i| i as u8).collect::<Vec<_>>());
            let found = part_of(&source, &source[2..][..part]);
            assert_eq!(&found[..], &source[2..][..part]);
            assert_eq!(found.as_ptr() == source[2..].as_ptr(), shares, "{part} of {whole}");
        }
        // What is no part is a copy.
        let (source, other) = (TString::from(vec![1; 300]), vec![2; 280]);
        assert_eq!(&part_of(&source, &other)[..], other);
    }
}
