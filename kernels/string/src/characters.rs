//! UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode, UnicodeTranscode, UnicodeScript.

use kernlink::dtype::TString;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::encoding::{Encoding, Output};
use super::map::{integers, map};
use super::unicode;

/// What is done about what is no character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Strict,
    Replace(u32),
    Ignore,
}

#[derive(Clone, Copy)]
struct Faults {
    policy: Policy,
    /// What stands for a control character, also if faults are not replaced.
    replacement: u32,
    control: bool,
}

impl Faults {
    fn new(errors: &str, replacement: i64, control: bool) -> Result<Faults> {
        let Some(replacement) = u32::try_from(replacement).ok().filter(|&replacement| replacement <= 0x10_FFFF) else {
            bail!(InvalidArgument, "replacement_char out of unicode codepoint range");
        };
        let policy = match errors {
            "strict" => Policy::Strict,
            "replace" => Policy::Replace(replacement),
            "ignore" => Policy::Ignore,
            _ => bail!(InvalidArgument, "errors policy must be one of 'strict', 'replace', or 'ignore'"),
        };
        Ok(Faults { policy, replacement, control })
    }

    /// What becomes of a character that was read: itself, another, or nothing.
    fn settle(&self, character: Option<u32>) -> Result<Option<u32>> {
        let control = self.control && character.is_some_and(|character| character < 0x20);
        match (character, self.policy) {
            (Some(character), _) if !control => Ok(Some(character)),
            (_, Policy::Ignore) => Ok(None),
            (None, Policy::Strict) => Err(malformed()),
            _ => Ok(Some(self.replacement)),
        }
    }
}

#[cold]
#[track_caller]
fn malformed() -> Error {
    Error::invalid_argument("Invalid formatting on input string")
}

/// Sets the outputs to the characters of all strings, and to where they begin if there is an output for it.
fn decode(ctx: &mut RawContext<'_>, encoding: Encoding, faults: Faults) -> Result<()> {
    let texts = ctx.input_at(0)?.as_slice::<TString>()?;
    let mut splits = scratch::room(texts.len() + 1)?;
    splits.push(0);
    let (mut characters, mut starts) = (Vec::new(), Vec::new());
    let offsets = ctx.num_outputs() > 2;
    for text in texts {
        let mut at = 0;
        encoding.each(text, &mut |(character, length)| {
            if let Some(character) = faults.settle(character)? {
                scratch::push(&mut characters, character as i32)?;
                if offsets {
                    scratch::push(&mut starts, at as i64)?;
                }
            }
            at += length;
            Ok(())
        })?;
        splits.push(characters.len() as i64);
    }
    ctx.set_output_at(0, integers(&splits, ctx.output_dtype_at(0)?)?)?;
    ctx.set_output_at(1, Tensor::vector(&characters)?)?;
    if offsets {
        ctx.set_output_at(2, Tensor::vector(&starts)?)?;
    }
    Ok(())
}

struct DecodeKernel {
    encoding: Encoding,
    faults: Faults,
}

#[register_kernel(device = Cpu, op = [ops::UnicodeDecode, ops::UnicodeDecodeWithOffsets], Tsplits = [int32, int64])]
impl OpKernel<O> for DecodeKernel {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let attrs = ctx.attrs();
        let encoding = Encoding::from_name(&attrs.input_encoding)?;
        let faults = Faults::new(&attrs.errors, attrs.replacement_char, attrs.replace_control_characters)?;
        Ok(Self { encoding, faults })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        decode(ctx, self.encoding, self.faults)
    }
}

struct TranscodeKernel {
    input: Encoding,
    output: Output,
    faults: Faults,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::UnicodeTranscode> for TranscodeKernel {
    fn new(ctx: &KernelConstruction<'_, ops::UnicodeTranscode>) -> Result<Self> {
        let attrs = ctx.attrs();
        let faults = Faults::new(&attrs.errors, attrs.replacement_char, attrs.replace_control_characters)?;
        let output = Output::from_name(&attrs.output_encoding)?;
        Ok(Self { input: Encoding::from_name(&attrs.input_encoding)?, output, faults })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::UnicodeTranscode>) -> Result<()> {
        map(ctx, 4, |text| {
            let mut result = scratch::room(text.len())?;
            self.input.each(text, &mut |(character, _)| {
                // Here, other than when decoding, a control character is a fault like any other.
                let control = self.faults.control && character.is_some_and(|character| character < 0x20);
                match self.faults.settle(character.filter(|_| !control))? {
                    Some(character) => self.output.push(character, &mut result),
                    None => Ok(()),
                }
            })?;
            Ok(TString::from(result))
        })
    }
}

struct EncodeKernel {
    output: Output,
    faults: Faults,
}

#[register_kernel(device = Cpu, Tsplits = [int32, int64])]
impl OpKernel<ops::UnicodeEncode> for EncodeKernel {
    fn new(ctx: &KernelConstruction<'_, ops::UnicodeEncode>) -> Result<Self> {
        let attrs = ctx.attrs();
        let faults = Faults::new(&attrs.errors, attrs.replacement_char, false)?;
        Ok(Self { output: Output::from_name(&attrs.output_encoding)?, faults })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::UnicodeEncode>) -> Result<()> {
        let values = ctx.input(ops::UnicodeEncode::INPUT_VALUES)?.as_slice::<i32>()?;
        let splits = ctx.input(ops::UnicodeEncode::INPUT_SPLITS)?.to_i64_vec()?;
        let Some((&first, &last)) = splits.first().zip(splits.last()) else {
            bail!(InvalidArgument, "Input_splits should contain elements, but given input_values has 0 elements");
        };
        ensure!(first == 0, InvalidArgument, "First value in input_splits must be zero.");
        ensure!(
            last == values.len() as i64,
            InvalidArgument,
            "Last value in input_splits must be equal to length of input_tensor."
        );
        let mut output = ctx.allocate_output(ops::UnicodeEncode::OUTPUT, [splits.len() - 1])?;
        for (slot, row) in output.as_mut_slice::<TString>()?.iter_mut().zip(splits.windows(2)) {
            let Some(row) = usize::try_from(row[0])
                .ok()
                .zip(usize::try_from(row[1]).ok())
                .and_then(|(start, end)| values.get(start..end))
            else {
                bail!(
                    InvalidArgument,
                    "Values in input_splits must be equal or in ascending order, within the length of input_tensor."
                );
            };
            let mut text = scratch::room(row.len())?;
            for &value in row {
                let character = u32::try_from(value).ok().and_then(char::from_u32).map(u32::from);
                let settled = self.faults.settle(character).map_err(|_| {
                    Error::invalid_argument("Code point is out of range for Unicode, or is a surrogate.")
                })?;
                settled.map_or(Ok(()), |character| self.output.push(character, &mut text))?;
            }
            *slot = text.into();
        }
        ctx.set_output(ops::UnicodeEncode::OUTPUT, output)
    }
}

#[register_kernel(device = Cpu)]
fn script(ctx: &mut KernelContext<'_, ops::UnicodeScript>) -> Result<()> {
    let input = ctx.input(ops::UnicodeScript::INPUT)?;
    let mut output = ctx.allocate_output(ops::UnicodeScript::OUTPUT, input.shape())?;
    for (slot, &character) in output.as_mut_slice::<i32>()?.iter_mut().zip(input.as_slice::<i32>()?) {
        *slot = u32::try_from(character).ok().and_then(unicode::script).unwrap_or(-1);
    }
    ctx.set_output(ops::UnicodeScript::OUTPUT, output)
}
