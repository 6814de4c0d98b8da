//! The element of a string tensor.

use std::borrow::Borrow;
use std::fmt::{self, Write};
use std::ops::{Deref, RangeBounds};

use bytes::Bytes;

/// A string of bytes, not necessarily UTF-8. Cloning shares the bytes.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TString(Bytes);

impl TString {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The string, with `\u{FFFD}` for what is not UTF-8.
    pub fn to_string_lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// The string for messages, with `\u{FFFD}` for what is not UTF-8: it is written as it is, without a copy.
    pub fn display(&self) -> impl fmt::Display {
        struct Lossy<'b>(&'b [u8]);
        impl fmt::Display for Lossy<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                for chunk in self.0.utf8_chunks() {
                    f.write_str(chunk.valid())?;
                    if !chunk.invalid().is_empty() {
                        f.write_char(char::REPLACEMENT_CHARACTER)?;
                    }
                }
                Ok(())
            }
        }
        Lossy(&self.0)
    }

    /// A string whose bytes are part of the program: it costs no allocation.
    pub const fn from_static(bytes: &'static [u8]) -> TString {
        TString(Bytes::from_static(bytes))
    }

    /// A part of the string, which shares its bytes.
    ///
    /// # Panics
    /// If the range is outside the string.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> TString {
        TString(self.0.slice(range))
    }

    /// The bytes as a shared buffer.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl Deref for TString {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for TString {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl From<Bytes> for TString {
    fn from(bytes: Bytes) -> TString {
        TString(bytes)
    }
}

impl From<Vec<u8>> for TString {
    fn from(bytes: Vec<u8>) -> TString {
        TString(bytes.into())
    }
}

impl From<String> for TString {
    fn from(text: String) -> TString {
        TString(text.into())
    }
}

impl From<&str> for TString {
    fn from(text: &str) -> TString {
        TString(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl From<&[u8]> for TString {
    fn from(bytes: &[u8]) -> TString {
        TString(Bytes::copy_from_slice(bytes))
    }
}

impl fmt::Debug for TString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}
