//! AsString, StringToNumber.

use kernlink::dtype::{Complex32, Complex64, DataType, Element, TString, bf16, f16};
use kernlink::error::{Error, Result, shortened_bytes};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawContext};
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{bail, ensure};
use kernlink_kernels_common::parsed::{Parsed, parse_number};
use kernlink_kernels_common::summarize::general;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::map::{each, map};

/// Digits after the point beyond which a double has only zeros.
const ALL_DIGITS: usize = 1100;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    Plain,
    Scientific,
    Shortest,
}

/// A conversion of C's `printf`.
struct Format {
    /// One of its flags, if there is any.
    flag: Option<u8>,
    width: usize,
    precision: Option<usize>,
    notation: Notation,
}

impl Format {
    /// Digits with their sign, filled to the width.
    fn fill(&self, sign: &str, digits: &str, zeros_fit: bool) -> Result<String> {
        let sign = match self.flag {
            Some(flag @ (b'+' | b' ')) if sign.is_empty() => {
                if flag == b'+' {
                    "+"
                } else {
                    " "
                }
            }
            _ => sign,
        };
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        let mut text = empty(sign.len() + digits.len(), missing)?;
        let fill = |text: &mut String, filler: char| text.extend(std::iter::repeat_n(filler, missing));
        match self.flag {
            Some(b'-') => {
                text.push_str(sign);
                text.push_str(digits);
                fill(&mut text, ' ');
            }
            Some(b'0') if zeros_fit => {
                text.push_str(sign);
                fill(&mut text, '0');
                text.push_str(digits);
            }
            _ => {
                fill(&mut text, ' ');
                text.push_str(sign);
                text.push_str(digits);
            }
        }
        Ok(text)
    }

    fn signed(&self, value: i64) -> Result<String> {
        self.fill(if value < 0 { "-" } else { "" }, &value.unsigned_abs().to_string(), true)
    }

    fn unsigned(&self, value: u64) -> Result<String> {
        let flag = self.flag.filter(|flag| !matches!(flag, b'+' | b' '));
        Format { flag, ..*self }.fill("", &value.to_string(), true)
    }

    fn float(&self, value: f64) -> Result<String> {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let size = value.abs();
        if !size.is_finite() {
            return self.fill(sign, if size.is_nan() { "nan" } else { "inf" }, false);
        }
        let precision = self.precision.unwrap_or(6);
        let (known, zeros) = (precision.min(ALL_DIGITS), precision.saturating_sub(ALL_DIGITS));
        let keep_point = self.flag == Some(b'#');
        let mut digits = match self.notation {
            Notation::Plain => format!("{size:.known$}"),
            Notation::Scientific => scientific(size, known),
            Notation::Shortest if keep_point => alternate(size, known),
            Notation::Shortest => general(size, known),
        };
        if zeros > 0 && self.notation != Notation::Shortest {
            let at = digits.find('e').unwrap_or(digits.len());
            let tail = digits.split_off(at);
            let mut long = empty(digits.len() + tail.len(), zeros)?;
            long.push_str(&digits);
            long.extend(std::iter::repeat_n('0', zeros));
            long.push_str(&tail);
            digits = long;
        }
        if keep_point && !digits.contains('.') {
            let at = digits.find('e').unwrap_or(digits.len());
            digits.make_room(1)?;
            digits.insert(at, '.');
        }
        self.fill(sign, &digits, true)
    }

    /// C cuts and pads by bytes, so text that is no UTF-8 is no obstacle. Without a width TensorFlow formats nothing.
    fn text(&self, text: &TString) -> Result<TString> {
        if self.width == 0 {
            return Ok(text.clone());
        }
        let text = self.precision.map_or_else(|| text.clone(), |most| text.slice(..most.min(text.len())));
        let missing = self.width.saturating_sub(text.len());
        if missing == 0 {
            return Ok(text);
        }
        let mut filled = scratch::room(text.len().saturating_add(missing))?;
        let fill = |filled: &mut Vec<u8>| filled.extend(std::iter::repeat_n(b' ', missing));
        if self.flag == Some(b'-') {
            filled.extend_from_slice(&text);
            fill(&mut filled);
        } else {
            fill(&mut filled);
            filled.extend_from_slice(&text);
        }
        Ok(filled.into())
    }
}

/// An empty string with room for two parts.
fn empty(first: usize, second: usize) -> Result<String> {
    Ok(String::from_utf8(scratch::room(first.saturating_add(second))?).unwrap_or_default())
}

/// C's `%.*e` of a number that is not negative.
fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{exponent:0>2}")
}

/// C's `%#.*g` of a number that is not negative: trailing zeros stay.
fn alternate(value: f64, digits: usize) -> String {
    let digits = digits.max(1);
    let text = scientific(value, digits - 1);
    let exponent: i32 = text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or_default();
    if exponent < -4 || exponent >= digits as i32 {
        return text;
    }
    format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize)
}

struct AsStringKernel {
    format: Format,
}

/// Sets the output to the text of each number.
fn print<T: Element + Copy>(ctx: &mut RawContext<'_>, text: impl Fn(T) -> Result<String> + Sync) -> Result<()> {
    each(ctx, |_: &[T]| 150, |&value| text(value).map(TString::from))
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::AsString> for AsStringKernel {
    fn new(ctx: &KernelConstruction<'_, ops::AsString>) -> Result<Self> {
        let attrs = ctx.attrs();
        let is_float = matches!(
            attrs.T,
            DataType::Float
                | DataType::Double
                | DataType::Half
                | DataType::Bfloat16
                | DataType::Complex64
                | DataType::Complex128
        );
        // What has no meaning for strings is passed over.
        if !is_float && attrs.T != DataType::String {
            let dtype = attrs.T;
            ensure!(
                !attrs.scientific && !attrs.shortest,
                InvalidArgument,
                "scientific and shortest format not supported for datatype {dtype}"
            );
            ensure!(attrs.precision < 0, InvalidArgument, "precision not supported for datatype {dtype}");
        }
        ensure!(attrs.fill.len() <= 1, InvalidArgument, "Fill string must be one or fewer characters");
        ensure!(
            !attrs.scientific || !attrs.shortest,
            InvalidArgument,
            "Cannot select both scientific and shortest notation"
        );
        let flag = attrs.fill.bytes().next();
        ensure!(
            flag.is_none_or(|flag| b" +-0#".contains(&flag)),
            InvalidArgument,
            "Fill argument not supported: \"{}\"",
            attrs.fill
        );
        let notation = match (attrs.scientific, attrs.shortest) {
            (true, _) => Notation::Scientific,
            (_, true) => Notation::Shortest,
            _ => Notation::Plain,
        };
        let width = usize::try_from(attrs.width).ok();
        let format = Format {
            // Without a width the fill does not matter.
            flag: flag.filter(|_| width.is_some()),
            width: width.unwrap_or(0),
            precision: usize::try_from(attrs.precision).ok(),
            notation,
        };
        Ok(Self { format })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::AsString>) -> Result<()> {
        let format = &self.format;
        let complex = |re: f64, im: f64| {
            let (re, im) = (format.float(re)?, format.float(im)?);
            let mut text = empty(re.len() + im.len(), 3)?;
            ["(", &re, ",", &im, ")"].iter().for_each(|part| text.push_str(part));
            Ok(text)
        };
        match ctx.input(ops::AsString::INPUT)?.dtype() {
            DataType::Float => print(ctx, |value: f32| format.float(value.into())),
            DataType::Double => print(ctx, |value: f64| format.float(value)),
            DataType::Half => print(ctx, |value: f16| format.float(value.into())),
            DataType::Bfloat16 => print(ctx, |value: bf16| format.float(value.into())),
            DataType::Int8 => print(ctx, |value: i8| format.signed(value.into())),
            DataType::Int16 => print(ctx, |value: i16| format.signed(value.into())),
            DataType::Int32 => print(ctx, |value: i32| format.signed(value.into())),
            DataType::Int64 => print(ctx, |value: i64| format.signed(value)),
            DataType::Uint8 => print(ctx, |value: u8| format.unsigned(value.into())),
            DataType::Uint16 => print(ctx, |value: u16| format.unsigned(value.into())),
            DataType::Uint32 => print(ctx, |value: u32| format.unsigned(value.into())),
            DataType::Uint64 => print(ctx, |value: u64| format.unsigned(value)),
            DataType::Complex64 => print(ctx, |value: Complex32| complex(value.re.into(), value.im.into())),
            DataType::Complex128 => print(ctx, |value: Complex64| complex(value.re, value.im)),
            DataType::Bool => print(ctx, |value: bool| Ok(value.to_string())),
            DataType::String => map(ctx, 1, |text| format.text(text)),
            dtype => bail!(Unimplemented, "Cannot encode input of type {dtype}"),
        }
    }
}

#[register_kernel(device = Cpu, out_type = [float, double, int32, int64, uint32, uint64])]
fn to_number(ctx: &mut KernelContext<'_, ops::StringToNumber>) -> Result<()> {
    /// Sets the output to the number in each string.
    fn parse<T: Parsed>(ctx: &mut RawContext<'_>) -> Result<()> {
        map(ctx, 4, |text| {
            parse_number::<T>(text).ok_or_else(|| {
                let text = shortened_bytes(text);
                Error::invalid_argument(format!("StringToNumberOp could not correctly convert string: {text}"))
            })
        })
    }
    match ctx.output_dtype_at(0)? {
        DataType::Float => parse::<f32>(ctx),
        DataType::Double => parse::<f64>(ctx),
        DataType::Int32 => parse::<i32>(ctx),
        DataType::Int64 => parse::<i64>(ctx),
        DataType::Uint32 => parse::<u32>(ctx),
        _ => parse::<u64>(ctx),
    }
}
