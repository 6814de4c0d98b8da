//! EncodeBase64, DecodeBase64: the alphabet that is safe in URLs.

use kernlink::dtype::TString;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::map::map;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn encode(bytes: &[u8], pad: bool) -> Result<Vec<u8>> {
    let mut text = scratch::room(bytes.len().div_ceil(3) * 4)?;
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().enumerate().fold(0u32, |bits, (index, &byte)| bits | u32::from(byte) << (16 - 8 * index));
        for digit in 0..4 {
            if digit <= chunk.len() {
                text.push(ALPHABET[(bits >> (18 - 6 * digit) & 0x3F) as usize]);
            } else if pad {
                text.push(b'=');
            }
        }
    }
    Ok(text)
}

fn decode(text: &[u8]) -> Result<Vec<u8>> {
    // Only the last of whole groups of four can be padded.
    let text = match text {
        [.., b'=', b'='] if text.len().is_multiple_of(4) => &text[..text.len() - 2],
        [.., b'='] if text.len().is_multiple_of(4) => &text[..text.len() - 1],
        _ => text,
    };
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Ok(byte - b'A'),
        b'a'..=b'z' => Ok(byte - b'a' + 26),
        b'0'..=b'9' => Ok(byte - b'0' + 52),
        b'-' => Ok(62),
        b'_' => Ok(63),
        _ => bail!(InvalidArgument, "Invalid character found in base64."),
    };
    let mut bytes = scratch::room(text.len().div_ceil(4) * 3)?;
    for chunk in text.chunks(4) {
        ensure!(chunk.len() > 1, InvalidArgument, "Base64 string length cannot be 1 modulo 4.");
        let mut bits = 0u32;
        for (index, &byte) in chunk.iter().enumerate() {
            bits |= u32::from(digit(byte)?) << (18 - 6 * index);
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Ok(bytes)
}

#[register_kernel(device = Cpu)]
fn encode_base64(attrs: &Attrs<ops::EncodeBase64>, ctx: &mut KernelContext<'_, ops::EncodeBase64>) -> Result<()> {
    map(ctx, 1, |text| encode(text, attrs.pad).map(TString::from))
}

#[register_kernel(device = Cpu)]
fn decode_base64(ctx: &mut KernelContext<'_, ops::DecodeBase64>) -> Result<()> {
    map(ctx, 1, |text| decode(text).map(TString::from))
}
