//! StringSplit, StringSplitV2.

use kernlink::dtype::TString;
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::map::scalar;

/// Every string of one byte, one after another.
static BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        bytes[byte] = byte as u8;
        byte += 1;
    }
    bytes
};

/// White space as C knows it.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// A byte as a string, without an allocation.
fn one_byte(byte: u8) -> TString {
    TString::from_static(&BYTES[usize::from(byte)..][..1])
}

/// Appends the pieces between bytes for which `is_delimiter` holds.
fn at_bytes(
    text: &TString,
    is_delimiter: impl Fn(u8) -> bool,
    skip_empty: bool,
    pieces: &mut Vec<TString>,
) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut start = 0;
    let ends = text.iter().enumerate().filter(|&(_, &byte)| is_delimiter(byte)).map(|(at, _)| at);
    for end in ends.chain([text.len()]) {
        if end > start || !skip_empty {
            scratch::push(pieces, piece(text, start, end))?;
        }
        start = end + 1;
    }
    Ok(())
}

/// Part of a string. The shortest are copied: they would keep a long string alive.
fn piece(text: &TString, start: usize, end: usize) -> TString {
    match text[start..end] {
        [byte] => one_byte(byte),
        _ => text.slice(start..end),
    }
}

/// Appends the words of a text, at most `limit` of them and then the rest.
fn words(text: &TString, limit: usize, pieces: &mut Vec<TString>) -> Result<()> {
    let skip = |from: usize, space: bool| {
        text[from..].iter().position(|&byte| is_space(byte) != space).map_or(text.len(), |at| from + at)
    };
    let mut start = skip(0, true);
    let mut count = 0;
    while start < text.len() {
        let end = skip(start, false);
        scratch::push(pieces, piece(text, start, end))?;
        start = skip(end, true);
        count += 1;
        if count == limit {
            scratch::push(pieces, piece(text, start, text.len()))?;
            return Ok(());
        }
    }
    Ok(())
}

/// Appends the pieces between occurrences of `separator`, at most `limit` cuts.
fn at_separators(text: &TString, separator: &[u8], limit: usize, pieces: &mut Vec<TString>) -> Result<()> {
    let (mut start, mut from, mut count) = (0, 0, 0);
    while count < limit {
        // Only where the first byte stands can the whole stand.
        let Some(at) = text[from..].iter().position(|&byte| byte == separator[0]).map(|at| from + at) else { break };
        if text[at..].starts_with(separator) {
            scratch::push(pieces, piece(text, start, at))?;
            start = at + separator.len();
            (from, count) = (start, count + 1);
        } else {
            from = at + 1;
        }
    }
    scratch::push(pieces, piece(text, start, text.len()))
}

/// Sets the outputs to the sparse matrix of what `split` appends for each string.
fn split(ctx: &mut RawContext<'_>, split: impl Fn(&TString, &mut Vec<TString>) -> Result<()>) -> Result<()> {
    let input = ctx.input_at(0)?;
    ensure!(input.rank() == 1, InvalidArgument, "input must be a vector, got shape: {}", input.shape());
    let mut pieces = Vec::new();
    let mut ends = scratch::room(input.num_elements())?;
    for text in input.as_slice::<TString>()? {
        split(text, &mut pieces)?;
        ends.push(pieces.len());
    }
    let (mut indices, mut widest, mut start) = (ctx.allocate_output_at(0, [pieces.len(), 2])?, 0, 0);
    let mut slots = indices.as_mut_slice::<i64>()?.as_chunks_mut::<2>().0.iter_mut();
    for (row, &end) in ends.iter().enumerate() {
        (0..end - start).zip(&mut slots).for_each(|(column, slot)| *slot = [row as i64, column as i64]);
        widest = widest.max(end - start);
        start = end;
    }
    let shape = Tensor::vector(&[ends.len() as i64, widest as i64])?;
    let mut values = ctx.allocate_output_at(1, Shape::from([pieces.len()]))?;
    values.as_mut_slice::<TString>()?.iter_mut().zip(pieces).for_each(|(slot, piece)| *slot = piece);
    ctx.set_output_at(0, indices)?;
    ctx.set_output_at(1, values)?;
    ctx.set_output_at(2, shape)
}

#[register_kernel(device = Cpu)]
fn string_split(attrs: &Attrs<ops::StringSplit>, ctx: &mut KernelContext<'_, ops::StringSplit>) -> Result<()> {
    let delimiter = scalar(ctx.input(ops::StringSplit::DELIMITER)?, "delimiter")?.clone();
    match delimiter.as_bytes() {
        [] => split(ctx, |text, pieces| {
            pieces.make_room(text.len())?;
            pieces.extend(text.iter().map(|&byte| one_byte(byte)));
            Ok(())
        }),
        &[only] => split(ctx, |text, pieces| at_bytes(text, |byte| byte == only, attrs.skip_empty, pieces)),
        several => split(ctx, |text, pieces| at_bytes(text, |byte| several.contains(&byte), attrs.skip_empty, pieces)),
    }
}

#[register_kernel(device = Cpu)]
fn string_split_v2(attrs: &Attrs<ops::StringSplitV2>, ctx: &mut KernelContext<'_, ops::StringSplitV2>) -> Result<()> {
    let separator = scalar(ctx.input(ops::StringSplitV2::SEP)?, "sep")?.clone();
    let limit = usize::try_from(attrs.maxsplit).unwrap_or(usize::MAX);
    if limit == 0 {
        return split(ctx, |text, pieces| scratch::push(pieces, text.clone()));
    }
    match separator.as_bytes() {
        [] => split(ctx, |text, pieces| words(text, limit, pieces)),
        separator => split(ctx, |text, pieces| at_separators(text, separator, limit, pieces)),
    }
}
