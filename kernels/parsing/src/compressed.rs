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
            for (place, string) in piece.iter_mut().zip(&strings[first..]) {
                let expanded = match self.0 {
                    Compression::Gzip => gunzip(string)?,
                    _ => unzlib(string)?,
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

/// Appends what a stream holds. `rest` begins behind it then.
fn inflate(stream: &mut Inflate, rest: &mut &[u8], out: &mut Vec<u8>) -> Result<End> {
    loop {
        let start = out.len();
        let more = rest.len().saturating_mul(4).clamp(256, 1 << 18);
        scratch::resize(out, start + more, 0)?;
        let (read, written) = (stream.total_in(), stream.total_out());
        let status = stream.decompress(rest, &mut out[start..], InflateFlush::NoFlush);
        let written = (stream.total_out() - written) as usize;
        out.truncate((start + written).min(MOST));
        let status = status.map_err(|error| wrong(stream.error_message().unwrap_or(error.as_str())))?;
        *rest = &rest[(stream.total_in() - read) as usize..];
        if status == Status::StreamEnd {
            return Ok(End::Whole);
        }
        // Though there was room, nothing more came: bytes are missing.
        if written < more || out.len() == MOST {
            return Ok(End::Cut);
        }
    }
}

/// What a zlib stream holds, as far as it goes.
pub(super) fn unzlib(mut bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    // What stands behind the stream does not count.
    inflate(&mut Inflate::new(true, WINDOW_BITS), &mut bytes, &mut out)?;
    Ok(out)
}

/// The members of a gzip file, one behind the other. As in TensorFlow one that holds nothing is the last.
pub(super) fn gunzip(mut bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    while let Some(length) = gzip_header(bytes)? {
        bytes = &bytes[length..];
        let start = out.len();
        if let End::Cut = inflate(&mut Inflate::new(false, WINDOW_BITS), &mut bytes, &mut out)? {
            break;
        }
        // Each half of the trailer is looked at once it is there.
        for (value, name) in [(crc32(0, &out[start..]), "data"), ((out.len() - start) as u32, "length")] {
            let Some((stored, behind)) = bytes.split_first_chunk::<4>() else { return Ok(out) };
            ensure!(u32::from_le_bytes(*stored) == value, DataLoss, "incorrect {name} check in a gzip string");
            bytes = behind;
        }
        if out.len() == start {
            break;
        }
    }
    Ok(out)
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
