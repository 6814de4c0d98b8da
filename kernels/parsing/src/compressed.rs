//! DecodeCompressed.
//!
//! As TensorFlow's, it gives what there is of a string that was cut, and fails only if bytes are wrong.

use kernlink::dtype::TString;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::DecodeCompressed;
use zlib_rs::crc32::crc32;
use zlib_rs::{Inflate, InflateFlush, Status};

/// How far back a stream may refer: 2 to this power.
const WINDOW_BITS: u8 = 15;

/// The most bytes that a string has.
const MOST: usize = i32::MAX as usize;

/// How much room a stream is given at least, and how much at most is added at once.
const LEAST_ROOM: usize = 256;
const MOST_ROOM: usize = 1 << 18;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    Zlib,
    Gzip,
}

struct DecodeCompressedKernel(Compression);

#[register_kernel(device = Cpu)]
impl OpKernel<DecodeCompressed> for DecodeCompressedKernel {
    fn new(ctx: &KernelConstruction<'_, DecodeCompressed>) -> Result<Self> {
        Ok(Self(match &*ctx.attrs().compression_type {
            "" => Compression::None,
            "ZLIB" => Compression::Zlib,
            "GZIP" => Compression::Gzip,
            other => bail!(InvalidArgument, "Only ZLIB, GZIP or NONE are supported compressions, not '{other}'"),
        }))
    }

    fn compute(&self, ctx: &mut KernelContext<'_, DecodeCompressed>) -> Result<()> {
        let input = ctx.input(DecodeCompressed::BYTES)?;
        if self.0 == Compression::None {
            let input = input.clone();
            return ctx.set_output(DecodeCompressed::OUTPUT, input);
        }
        let strings = input.as_slice::<TString>()?;
        let mut output = ctx.allocate_output(DecodeCompressed::OUTPUT, input.shape())?;
        // What a byte becomes takes about as many nanoseconds as it has bytes.
        let bytes: usize = strings.iter().map(|string| string.len()).sum();
        let cost = bytes.saturating_mul(5) / strings.len().max(1) + 2000;
        ctx.try_parallel_chunks(output.as_mut_slice::<TString>()?, 1, cost, |first, piece| {
            let mut expander = Expander::new();
            for (place, string) in piece.iter_mut().zip(&strings[first..]) {
                let expanded = match self.0 {
                    Compression::Gzip => expander.gunzip(string)?,
                    _ => expander.unzlib(string)?,
                };
                *place = expanded.into();
            }
            Ok(())
        })?;
        ctx.set_output(DecodeCompressed::OUTPUT, output)
    }
}

fn wrong(what: &str) -> Error {
    Error::data_loss(format!("the string cannot be decompressed: {what}"))
}

/// What came of a stream.
enum End {
    /// It is whole.
    Whole,
    /// Bytes are missing, or there is more than a string may hold.
    Cut,
}

/// Decompresses one stream after the other. Its state and its memory are made once: a file may hold a stream every twenty bytes.
pub(super) struct Expander {
    stream: Inflate,
    /// What was expanded, and behind it room for more, which is zeroed once however many streams fill it.
    room: Vec<u8>,
    filled: usize,
}

impl Expander {
    pub(super) fn new() -> Expander {
        Expander { stream: Inflate::new(true, WINDOW_BITS), room: Vec::new(), filled: 0 }
    }

    /// What a zlib stream holds, as far as it goes.
    pub(super) fn unzlib(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>> {
        self.filled = 0;
        self.stream.reset(true);
        // What stands behind the stream does not count.
        self.inflate(&mut bytes)?;
        self.taken()
    }

    /// What the members of a gzip file hold, one behind the other. As in TensorFlow one that holds nothing is the last.
    pub(super) fn gunzip(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>> {
        self.filled = 0;
        while let Some(length) = gzip_header(bytes)? {
            bytes = &bytes[length..];
            let start = self.filled;
            self.stream.reset(false);
            if let End::Cut = self.inflate(&mut bytes)? {
                break;
            }
            let member = &self.room[start..self.filled];
            // Each half of the trailer is looked at once it is there.
            for (value, name) in [(crc32(0, member), "data"), (member.len() as u32, "length")] {
                let Some((stored, behind)) = bytes.split_first_chunk::<4>() else { return self.taken() };
                ensure!(u32::from_le_bytes(*stored) == value, DataLoss, "incorrect {name} check in a gzip string");
                bytes = behind;
            }
            if member.is_empty() {
                break;
            }
        }
        self.taken()
    }

    /// Appends what the stream holds. `rest` begins behind it then.
    fn inflate(&mut self, rest: &mut &[u8]) -> Result<End> {
        loop {
            let start = self.filled;
            if self.room.len() - start < LEAST_ROOM {
                let more = rest.len().saturating_mul(4).clamp(LEAST_ROOM, MOST_ROOM);
                scratch::resize(&mut self.room, start + more, 0)?;
            }
            let (read, written) = (self.stream.total_in(), self.stream.total_out());
            let status = self.stream.decompress(rest, &mut self.room[start..], InflateFlush::NoFlush);
            let written = (self.stream.total_out() - written) as usize;
            self.filled = (start + written).min(MOST);
            let status = status.map_err(|error| wrong(self.stream.error_message().unwrap_or(error.as_str())))?;
            *rest = &rest[(self.stream.total_in() - read) as usize..];
            if status == Status::StreamEnd {
                return Ok(End::Whole);
            }
            // Though there was room, nothing more came: bytes are missing.
            if start + written < self.room.len() || self.filled == MOST {
                return Ok(End::Cut);
            }
        }
    }

    /// What was expanded, without much room behind it.
    fn taken(&mut self) -> Result<Vec<u8>> {
        if self.filled < self.room.len() / 2 {
            return scratch::copied(&self.room[..self.filled]);
        }
        self.room.truncate(self.filled);
        Ok(std::mem::take(&mut self.room))
    }
}

/// The length of a member's header (RFC 1952); `None` if it is cut.
fn gzip_header(bytes: &[u8]) -> Result<Option<usize>> {
    const CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    if bytes.len() < 2 {
        return Ok(None);
    }
    ensure!(bytes.starts_with(&[0x1F, 0x8B]), DataLoss, "incorrect header check: the string is not in the gzip format");
    let Some(&[method, flags]) = bytes.get(2..4) else { return Ok(None) };
    ensure!(method == 8 && flags & 0xE0 == 0, DataLoss, "a gzip header has an unknown method or flags");
    // Time and system.
    let mut at = 10;
    if flags & EXTRA != 0 {
        let Some(&[low, high]) = bytes.get(at..at + 2) else { return Ok(None) };
        at += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let Some(text) = bytes.get(at..) else { return Ok(None) };
            let Some(end) = text.iter().position(|&byte| byte == 0) else { return Ok(None) };
            at += end + 1;
        }
    }
    if flags & CRC != 0 {
        let Some(&[low, high]) = bytes.get(at..at + 2) else { return Ok(None) };
        ensure!(
            u16::from_le_bytes([low, high]) == crc32(0, &bytes[..at]) as u16,
            DataLoss,
            "a gzip header has an incorrect check"
        );
        at += 2;
    }
    Ok((at <= bytes.len()).then_some(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `"x"` as a member of a gzip file.
    const MEMBER: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\xab\0\0\x83\x16\xdc\x8c\x01\0\0\0";

    #[test]
    fn room_is_made_once_for_many_members() {
        let mut expander = Expander::new();
        let expanded = expander.gunzip(&MEMBER.repeat(3000)).unwrap();
        assert_eq!(expanded, b"x".repeat(3000));
        // What is small is copied, so that no string keeps the room behind it.
        assert!(expanded.capacity() < 2 * expanded.len() + LEAST_ROOM);
        assert!(expander.room.len() <= MOST_ROOM, "{}", expander.room.len());
    }

    #[test]
    fn an_expander_forgets_what_went_before() {
        let zlib = b"\x78\x9c\xab\0\0\0\x79\0\x79";
        let mut expander = Expander::new();
        for _ in 0..2 {
            assert_eq!(expander.unzlib(zlib).unwrap(), b"x");
            assert_eq!(expander.gunzip(MEMBER).unwrap(), b"x");
            assert_eq!(expander.gunzip(&MEMBER[..11]).unwrap(), b"");
            assert!(expander.unzlib(b"no stream").is_err());
        }
    }
}
