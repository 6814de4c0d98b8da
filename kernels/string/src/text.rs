//! StringLength, StringLower, StringUpper, StringStrip, Substr.

use std::char::ToLowercase;

use kernlink::dtype::TString;
use kernlink::error::{Error, Result, shortened_bytes};
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::map::map;
use super::split::is_space;

/// Whether a byte continues a character of UTF-8.
fn is_tail(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// What positions and lengths count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Byte,
    Character,
}

impl Unit {
    fn from_attr(unit: &str) -> Result<Unit> {
        match unit {
            "BYTE" => Ok(Unit::Byte),
            "UTF8_CHAR" => Ok(Unit::Character),
            _ => bail!(InvalidArgument, "Invalid unit '{unit}': must be 'BYTE' or 'UTF8_CHAR'"),
        }
    }
}

#[register_kernel(device = Cpu, state = |ctx| Unit::from_attr(&ctx.attrs().unit))]
fn string_length(&unit: &Unit, ctx: &mut KernelContext<'_, ops::StringLength>) -> Result<()> {
    match unit {
        Unit::Byte => map(ctx, 0, |text| Ok(text.len() as i32)),
        Unit::Character => map(ctx, 1, |text| Ok(text.iter().filter(|&&byte| !is_tail(byte)).count() as i32)),
    }
}

/// Whether letters beyond ASCII have cases.
fn is_unicode(encoding: &str) -> Result<bool> {
    match encoding {
        "" => Ok(false),
        "utf-8" => Ok(true),
        _ => bail!(InvalidArgument, "only utf-8 or '' (no encoding) is supported, received {encoding}"),
    }
}

/// Whether the next letter among `letters` is one that has cases. What may stand within a word is passed over, such as
/// apostrophes and accents.
fn meets_cased(letters: impl Iterator<Item = char>) -> bool {
    // The standard library tells no more of either kind than what it makes of a sigma behind it.
    let ends_word = |letters: &[char]| letters.iter().chain(&['Σ']).collect::<String>().to_lowercase().ends_with('ς');
    for letter in letters {
        if ends_word(&[letter]) {
            return true;
        }
        if !ends_word(&['A', letter]) {
            return false;
        }
    }
    false
}

/// The character that begins at `at`, in lower case: a sigma at the end of a word is another than one within.
fn lower(text: &str, at: usize, character: char) -> ToLowercase {
    let is_final = || meets_cased(text[..at].chars().rev()) && !meets_cased(text[at..].chars().skip(1));
    if character == 'Σ' && is_final() { 'ς'.to_lowercase() } else { character.to_lowercase() }
}

/// The text with ASCII changed by `ascii`, and all else by `change`. As far as TensorFlow sees it when it changes the case
/// of Unicode: up to a zero byte, with `\u{FFFD}` for what is not UTF-8.
fn changed<C: Iterator<Item = char>>(
    text: &TString,
    ascii: fn(&mut [u8]),
    change: impl Fn(&str, usize, char) -> C,
) -> Result<TString> {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let mut changed = scratch::room(end)?;
    for chunk in text[..end].utf8_chunks() {
        let (valid, mut at) = (chunk.valid(), 0);
        while at < valid.len() {
            let rest = &valid.as_bytes()[at..];
            // Most texts are ASCII to their end, which is seen faster than where a run of it ends.
            let run = if rest.is_ascii() { rest.len() } else { rest.iter().take_while(|byte| byte.is_ascii()).count() };
            let start = changed.len();
            scratch::append(&mut changed, &rest[..run])?;
            ascii(&mut changed[start..]);
            at += run;
            let Some(character) = valid[at..].chars().next() else { break };
            for other in change(valid, at, character) {
                scratch::append(&mut changed, other.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
            at += character.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            scratch::append(&mut changed, "\u{FFFD}".as_bytes())?;
        }
    }
    Ok(changed.into())
}

/// The text with its ASCII letters changed.
fn changed_ascii(text: &TString, ascii: fn(&mut [u8])) -> Result<TString> {
    let mut text = scratch::copied(text)?;
    ascii(&mut text);
    Ok(text.into())
}

#[register_kernel(device = Cpu, state = |ctx| is_unicode(&ctx.attrs().encoding))]
fn string_lower(&unicode: &bool, ctx: &mut KernelContext<'_, ops::StringLower>) -> Result<()> {
    match unicode {
        false => map(ctx, 1, |text| changed_ascii(text, <[u8]>::make_ascii_lowercase)),
        true => map(ctx, 4, |text| changed(text, <[u8]>::make_ascii_lowercase, lower)),
    }
}

#[register_kernel(device = Cpu, state = |ctx| is_unicode(&ctx.attrs().encoding))]
fn string_upper(&unicode: &bool, ctx: &mut KernelContext<'_, ops::StringUpper>) -> Result<()> {
    match unicode {
        false => map(ctx, 1, |text| changed_ascii(text, <[u8]>::make_ascii_uppercase)),
        true => {
            map(ctx, 4, |text| changed(text, <[u8]>::make_ascii_uppercase, |_, _, character| character.to_uppercase()))
        }
    }
}

#[register_kernel(device = Cpu)]
fn strip(ctx: &mut KernelContext<'_, ops::StringStrip>) -> Result<()> {
    map(ctx, 0, |text| {
        let start = text.iter().position(|&byte| !is_space(byte)).unwrap_or(text.len());
        let end = text.iter().rposition(|&byte| !is_space(byte)).map_or(start, |last| last + 1);
        Ok(text.slice(start..end))
    })
}

/// The part of `text` that begins at `pos` and has `len` units; `None` if `pos` is outside.
fn part(text: &TString, pos: i64, len: i64, unit: Unit) -> Option<TString> {
    let (start, end) = match unit {
        Unit::Byte => {
            let start = if pos < 0 { pos.checked_add(text.len() as i64)? } else { pos };
            let start = usize::try_from(start).ok().filter(|&start| start <= text.len())?;
            // A negative length is as good as an endless one.
            (start, usize::try_from(len).map_or(text.len(), |len| start.saturating_add(len).min(text.len())))
        }
        Unit::Character if pos >= 0 => {
            let (start, missing) = forward(text, 0, pos);
            if missing > 0 {
                return None;
            }
            (start, forward(text, start, len).0)
        }
        Unit::Character => {
            // Characters behind the part.
            let behind = i128::from(pos).checked_neg()?.checked_sub(len.into())?.max(0);
            let inside = i128::from(pos).checked_neg()?.checked_sub(behind)?;
            let (end, missing) = backward(text, text.len(), behind);
            if missing > 0 || inside < 0 {
                return None;
            }
            let (start, missing) = backward(text, end, inside);
            if missing > 0 {
                return None;
            }
            (start, end)
        }
    };
    Some(text.slice(start..end))
}

/// Where `count` characters after `at` end, and how many there are too few.
fn forward(text: &[u8], mut at: usize, mut count: i64) -> (usize, i64) {
    while count > 0 && at < text.len() {
        at += 1 + text[at + 1..].iter().take_while(|&&byte| is_tail(byte)).count();
        count -= 1;
    }
    (at, count)
}

/// Where `count` characters before `at` begin, and how many there are too few.
fn backward(text: &[u8], mut at: usize, mut count: i128) -> (usize, i128) {
    while count > 0 && at > 0 {
        at -= 1;
        while at > 0 && is_tail(text[at]) {
            at -= 1;
        }
        count -= 1;
    }
    (at, count)
}

/// The output's shape, and for each of its dimensions how far the texts and the positions move.
fn broadcast(texts: &Shape, positions: &Shape) -> Result<(Shape, Vec<[usize; 2]>)> {
    let shape = texts.broadcast(positions)?;
    let steps = |of: &Shape, axis: usize| {
        let own = (axis + of.rank()).checked_sub(shape.rank()).filter(|&own| of[own] != 1);
        own.map_or(0, |own| of.strides()[own])
    };
    let steps = (0..shape.rank()).map(|axis| [steps(texts, axis), steps(positions, axis)]).collect();
    Ok((shape, steps))
}

fn substr(ctx: &RawContext<'_>, unit: Unit) -> Result<Tensor> {
    let (texts, pos, len) = (ctx.input_at(0)?, ctx.input_at(1)?, ctx.input_at(2)?);
    ensure!(
        pos.shape() == len.shape(),
        InvalidArgument,
        "pos and len should have the same shape, got: {} vs. {}",
        pos.shape(),
        len.shape()
    );
    let (shape, steps) = broadcast(texts.shape(), pos.shape())?;
    // TensorFlow broadcasts in one or two dimensions only, unless there is nothing to it.
    ensure!(
        pos.rank() == 0 || texts.shape() == pos.shape() || shape.rank() <= 2,
        Unimplemented,
        "Substr broadcast not implemented for {} dimensions",
        shape.rank()
    );
    let mut output = ctx.allocate_output_at(0, shape.clone())?;
    let (texts, pos, len) = (texts.as_slice::<TString>()?, pos.to_i64_vec()?, len.to_i64_vec()?);
    for (index, slot) in output.as_mut_slice::<TString>()?.iter_mut().enumerate() {
        let (mut rest, mut at) = (index, [0, 0]);
        for (&size, step) in shape.iter().zip(&steps).rev() {
            at = [at[0] + rest % size * step[0], at[1] + rest % size * step[1]];
            rest /= size;
        }
        let (text, pos, len) = (&texts[at[0]], pos[at[1]], len[at[1]]);
        *slot = part(text, pos, len, unit).ok_or_else(|| {
            let text = shortened_bytes(text);
            Error::invalid_argument(format!("pos {pos} out of range for string b'{text}' at index {index}"))
        })?;
    }
    Ok(output)
}

#[register_kernel(device = Cpu, T = [int32, int64], state = |ctx| Unit::from_attr(&ctx.attrs().unit))]
fn substr_kernel(&unit: &Unit, ctx: &mut KernelContext<'_, ops::Substr>) -> Result<()> {
    let output = substr(ctx, unit)?;
    ctx.set_output(ops::Substr::OUTPUT, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_those_of_the_standard_library() {
        let texts = [
            "",
            "ABC xyz",
            "ΟΔΥΣΣΕΥΣ",
            "ΑΣ ΒΣ, Σ",
            "ΑΣ'",
            "ΑΣ'Β",
            "Α''Σ''",
            "''Σ",
            "aΣ1",
            "Σa",
            "ÀÉ\u{301}Σ\u{301}",
            "İI\u{307}",
            "ß ŉ ﬃ",
            "ʰΣ",
            "AʰΣ ʰ",
            "\u{1F600}Σ.Σ:Σ",
        ];
        for text in texts {
            let own = |changed: TString| String::from_utf8(changed.to_vec()).unwrap();
            let bytes = TString::from(text);
            assert_eq!(own(changed(&bytes, <[u8]>::make_ascii_lowercase, lower).unwrap()), text.to_lowercase());
            let upper = changed(&bytes, <[u8]>::make_ascii_uppercase, |_, _, c| c.to_uppercase());
            assert_eq!(own(upper.unwrap()), text.to_uppercase());
        }
        let broken = TString::from(&b"A\xCE\xA3\xFFB\0C"[..]);
        assert_eq!(changed(&broken, <[u8]>::make_ascii_lowercase, lower).unwrap(), TString::from("aς\u{FFFD}b"));
    }

    #[test]
    fn every_character_is_passed_over_or_ends_a_word_as_in_the_standard_library() {
        for character in ('\u{80}'..='\u{1FFFF}').chain('\u{E0000}'..='\u{E0FFF}') {
            let text = format!("A{character}Σ{character}a Σ{character}");
            let changed = changed(&TString::from(text.as_str()), <[u8]>::make_ascii_lowercase, lower).unwrap();
            assert_eq!(changed.to_string_lossy(), text.to_lowercase());
        }
    }
}
