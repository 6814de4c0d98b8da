//! Encodings: bytes to characters and back.

mod names;
mod pairs;
mod single;

use kernlink::bail;
use kernlink::error::Result;
use kernlink::tensor::scratch::MakeRoom;

use names::NAMES;
use pairs::Pairs;

/// An encoding that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    /// In some byte order; `None` if a mark at the start says which.
    Utf16(Option<Order>),
    Utf32(Option<Order>),
    Ascii,
    Latin1,
    /// Of a byte each, by a table with this number.
    Single(u8),
    Pairs(Pairs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Big,
    Little,
}

/// A character that was read: `None` for bytes that are none, and how many bytes it took.
pub(super) type Decoded = (Option<u32>, usize);

impl Encoding {
    /// The encoding with this name, found as ICU finds it for TensorFlow: of letters the case does not count, nor does what
    /// is neither letter nor digit, nor zeros before other digits of a number. A name that is not known may begin with `x-`.
    pub(super) fn from_name(name: &str) -> Result<Encoding> {
        let find = |name: &str| {
            let plain = plain(name);
            NAMES.iter().find(|(_, names)| names.split(' ').any(|name| name == plain)).map(|&(encoding, _)| encoding)
        };
        let found = find(name).or_else(|| find(name.strip_prefix("x-")?));
        let Some(encoding) = found else {
            bail!(
                InvalidArgument,
                "Could not create converter for input encoding: {name}; UTF-8, UTF-16, UTF-32 (also with -BE and -LE), \
                 US-ASCII, ISO-8859-1 to -15, windows-1250 to -1258, KOI8-R and -U, Macintosh's and IBM's code pages, \
                 Shift_JIS, EUC-JP, EUC-KR, windows-949, Big5, GBK, GB2312 and GB18030 are known"
            );
        };
        Ok(encoding)
    }

    /// Calls `f` with each character of a text.
    ///
    /// # Errors
    /// The first of `f`, which is not called again: what memory was refused for would be asked for with each character.
    pub(super) fn each(self, text: &[u8], f: &mut dyn FnMut(Decoded) -> Result<()>) -> Result<()> {
        let mut rest = text;
        // A mark of the byte order counts as part of the first character.
        let mut mark = 0;
        let encoding = match self {
            Encoding::Utf16(None) => {
                let order = match text {
                    [0xFE, 0xFF, ..] => Some(Order::Big),
                    [0xFF, 0xFE, ..] => Some(Order::Little),
                    _ => None,
                };
                mark = if order.is_some() { 2 } else { 0 };
                Encoding::Utf16(Some(order.unwrap_or(Order::Big)))
            }
            Encoding::Utf32(None) => {
                let order = match text {
                    [0, 0, 0xFE, 0xFF, ..] => Some(Order::Big),
                    [0xFF, 0xFE, 0, 0, ..] => Some(Order::Little),
                    _ => None,
                };
                mark = if order.is_some() { 4 } else { 0 };
                Encoding::Utf32(Some(order.unwrap_or(Order::Big)))
            }
            other => other,
        };
        rest = &rest[mark..];
        while !rest.is_empty() {
            let (character, length) = encoding.next(rest);
            rest = &rest[length..];
            f((character, length + mark))?;
            mark = 0;
        }
        Ok(())
    }

    /// The first character of a text that is not empty, of an encoding with a byte order.
    fn next(self, text: &[u8]) -> Decoded {
        match self {
            Encoding::Utf8 => utf8(text),
            Encoding::Utf16(order) => utf16(text, order.unwrap_or(Order::Big)),
            Encoding::Utf32(order) => match text.first_chunk::<4>() {
                Some(&bytes) => {
                    let value = match order.unwrap_or(Order::Big) {
                        Order::Big => u32::from_be_bytes(bytes),
                        Order::Little => u32::from_le_bytes(bytes),
                    };
                    (char::from_u32(value).map(u32::from), 4)
                }
                None => (None, text.len()),
            },
            Encoding::Ascii => (text[0].is_ascii().then_some(text[0].into()), 1),
            Encoding::Latin1 => (Some(text[0].into()), 1),
            Encoding::Single(table) => (single::character(table, text[0]), 1),
            Encoding::Pairs(pairs) => pairs.next(text),
        }
    }
}

/// A name of an encoding as names are compared.
fn plain(name: &str) -> String {
    let (mut plain, mut in_number) = (String::new(), false);
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '0' if !in_number && letters.peek().is_some_and(char::is_ascii_digit) => continue,
            '0' => {}
            '1'..='9' => in_number = true,
            _ => in_number = false,
        }
        if letter.is_ascii_alphanumeric() {
            plain.push(letter.to_ascii_lowercase());
        }
    }
    plain
}

fn utf8(text: &[u8]) -> Decoded {
    if text[0].is_ascii() {
        return (Some(text[0].into()), 1);
    }
    // No character has more than four bytes, so what follows does not matter.
    let start = &text[..text.len().min(4)];
    match std::str::from_utf8(start) {
        Ok(valid) => first(valid),
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(&start[..error.valid_up_to()]).map_or((None, 1), first)
        }
        // What might have become a character, had it gone on, is one error.
        Err(error) => (None, error.error_len().unwrap_or(start.len())),
    }
}

fn first(text: &str) -> Decoded {
    text.chars().next().map_or((None, 1), |character| (Some(character.into()), character.len_utf8()))
}

fn utf16(text: &[u8], order: Order) -> Decoded {
    let unit = |at: usize| {
        let bytes = *text.get(at..)?.first_chunk::<2>()?;
        Some(match order {
            Order::Big => u16::from_be_bytes(bytes),
            Order::Little => u16::from_le_bytes(bytes),
        })
    };
    match unit(0) {
        None => (None, text.len()),
        Some(high @ 0xD800..=0xDBFF) => match unit(2) {
            Some(low @ 0xDC00..=0xDFFF) => {
                (Some(0x10000 + (u32::from(high & 0x3FF) << 10 | u32::from(low & 0x3FF))), 4)
            }
            Some(_) => (None, 2),
            // Half of a pair at the end is cut off with what is left of the other.
            None => (None, text.len()),
        },
        Some(0xDC00..=0xDFFF) => (None, 2),
        Some(unit) => (Some(unit.into()), 2),
    }
}

/// An encoding that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Utf8,
    Utf16,
    Utf32,
}

impl Output {
    pub(super) fn from_name(name: &str) -> Result<Output> {
        Ok(match name {
            "UTF-8" => Output::Utf8,
            "UTF-16-BE" => Output::Utf16,
            "UTF-32-BE" => Output::Utf32,
            _ => bail!(InvalidArgument, "Invalid encoding \"{name}\": must be UTF-8, UTF-16-BE or UTF-32-BE"),
        })
    }

    /// Appends a character; a surrogate as far as the encoding can hold it.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn push(self, character: u32, text: &mut Vec<u8>) -> Result<()> {
        // No character takes more.
        text.make_room(4)?;
        match (self, char::from_u32(character)) {
            (Output::Utf8, valid) => {
                let valid = valid.unwrap_or(char::REPLACEMENT_CHARACTER);
                text.extend_from_slice(valid.encode_utf8(&mut [0; 4]).as_bytes());
            }
            (Output::Utf16, Some(valid)) => {
                valid.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.extend_from_slice(&unit.to_be_bytes()));
            }
            (Output::Utf16, None) => text.extend_from_slice(&(character as u16).to_be_bytes()),
            (Output::Utf32, _) => text.extend_from_slice(&character.to_be_bytes()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use kernlink::Error;

    use super::*;

    #[test]
    fn names_are_of_one_encoding_and_have_tables() {
        let names = || NAMES.iter().flat_map(|&(encoding, names)| names.split(' ').map(move |name| (name, encoding)));
        assert_eq!(names().map(|(name, _)| name).collect::<HashSet<_>>().len(), names().count());
        for (name, encoding) in names() {
            // Zeros that are kept, as a hyphen stands behind them, would be taken away from a name without hyphens.
            if plain(name) == name {
                assert_eq!(Encoding::from_name(name).unwrap(), encoding, "{name}");
            }
            let mut found = 0;
            let count = &mut |_| {
                found += 1;
                Ok(())
            };
            encoding.each(b"\xC1", count).unwrap();
            assert_eq!(found, 1, "{name}");
        }
        assert!(Encoding::from_name("EBCDIC-XX").is_err());
        for name in ["ANSI_X3.4-1968", "ISO646-US", "cp367", "csASCII"] {
            assert_eq!(Encoding::from_name(name).ok(), Some(Encoding::Ascii), "{name}");
        }
        for name in ["csISOLatin1", "x-csISOLatin1", "ISO_8859-01", "iso 8859.1"] {
            assert_eq!(Encoding::from_name(name).ok(), Some(Encoding::Latin1), "{name}");
        }
        // A number goes on over no hyphen, a zero at its end counts, and only one small x- is taken away.
        for name in ["ISO-8859-0", "ISO-885901", "x-x-csISOLatin1", "X-csISOLatin1", ""] {
            assert!(Encoding::from_name(name).is_err(), "{name}");
        }
        assert_eq!(Encoding::from_name("cp1200").ok(), Some(Encoding::Utf16(Some(Order::Big))), "not windows-1200");
        assert!(Encoding::from_name("ANSI_X3.4").is_err(), "TensorFlow does not know it");
        assert_eq!(Encoding::from_name("shift-jis").unwrap(), Encoding::Pairs(Pairs::ShiftJis));
    }

    #[test]
    fn every_text_of_three_bytes_is_taken_to_its_end() {
        use Encoding::{Utf8, Utf16, Utf32};
        let all = [Utf8, Utf16(None), Utf16(Some(Order::Little)), Utf32(None), Encoding::Ascii];
        let named = [
            "windows-1252",
            "KOI8-R",
            "Shift_JIS",
            "EUC-JP",
            "EUC-KR",
            "windows-949",
            "Big5",
            "GBK",
            "GB2312",
            "GB18030",
        ];
        let all = all.into_iter().chain(named.map(|name| Encoding::from_name(name).unwrap()));
        for encoding in all {
            for bits in (0..1 << 24).step_by(251) {
                let text: [u8; 3] = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
                let mut taken = 0;
                let take = &mut |(_, length)| {
                    taken += length;
                    Ok(())
                };
                encoding.each(&text, take).unwrap();
                assert_eq!(taken, 3, "{encoding:?} {text:?}");
            }
        }
    }

    #[test]
    fn characters_end_with_the_first_error() {
        let mut seen = 0;
        let refuse = &mut |_| {
            seen += 1;
            Err(Error::resource_exhausted("no"))
        };
        Encoding::Utf8.each(b"abc", refuse).unwrap_err();
        assert_eq!(seen, 1);
    }
}
