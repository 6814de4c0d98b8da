//! Numbers that strings hold.

use kernlink::dtype::Element;

/// A number in hexadecimal, with a fraction and a binary exponent: the text behind `0x`.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    // As many digits as fit, and a last bit for all others: one rounding at the end.
    let (mut mantissa, mut shift) = (0u64, 0i64);
    for (index, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(digit.to_digit(16)?);
        if mantissa >> 58 == 0 {
            mantissa = mantissa << 4 | digit;
            shift -= if index >= whole.len() { 4 } else { 0 };
        } else {
            mantissa |= u64::from(digit != 0);
            shift += if index < whole.len() { 4 } else { 0 };
        }
    }
    let shift = (shift + i64::from(exponent)).clamp(-3000, 3000) as i32;
    // Two steps, so that neither overflows where the result does not.
    Some(libm::ldexp(mantissa as f64, shift))
}

/// Reads a float as C does: decimal or hexadecimal, `inf` and `nan` in any case.
fn float<T: std::str::FromStr>(text: &str, from_hex: fn(f64) -> T, nan: T) -> Option<T> {
    let (negative, size) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if size.starts_with(['+', '-']) {
        return None;
    }
    if let Some(digits) = size.strip_prefix("0x").or_else(|| size.strip_prefix("0X")) {
        let value = hexadecimal(digits)?;
        return Some(from_hex(if negative { -value } else { value }));
    }
    if let Some((head, rest)) = size.split_at_checked(4)
        && head.eq_ignore_ascii_case("nan(")
        && let Some(rest) = rest.strip_suffix(')')
    {
        return rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(nan);
    }
    text.parse().ok()
}

fn trimmed(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    Some(text.trim_matches(|c: char| matches!(c, ' ' | '\t'..='\r')))
}

/// Digits and perhaps a point: the number without it, and how many digits are behind it.
#[doc(hidden)]
pub struct Digits {
    is_negative: bool,
    mantissa: u64,
    behind_point: Option<usize>,
}

impl Digits {
    /// What a short number without an exponent is made of, as most are; for all else there is [`trimmed`].
    #[inline(always)]
    fn read(text: &[u8]) -> Option<Digits> {
        let (is_negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        // As many as fit, with a point.
        if digits.is_empty() || digits.len() > 16 {
            return None;
        }
        let (mut mantissa, mut point) = (0, None);
        for (index, &byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' => mantissa = mantissa * 10 + u64::from(byte - b'0'),
                b'.' if point.is_none() && digits.len() > 1 => point = Some(index),
                _ => return None,
            }
        }
        let behind_point = point.map(|point| digits.len() - 1 - point);
        Some(Digits { is_negative, mantissa, behind_point })
    }
}

/// A number that strings hold.
pub trait Parsed: Element {
    /// The number of a few digits.
    #[doc(hidden)]
    fn of(digits: &Digits) -> Option<Self>;
    /// The number of text without white space around it.
    #[doc(hidden)]
    fn parse(text: &str) -> Option<Self>;
}

/// The number in a string, decimal, or in hexadecimal for floats; white space around it does not count. TensorFlow's
/// `safe_strtof` and its kin.
#[inline]
pub fn parse_number<T: Parsed>(text: &[u8]) -> Option<T> {
    let number = Digits::read(text).and_then(|digits| T::of(&digits));
    number.or_else(|| trimmed(text).and_then(T::parse))
}

macro_rules! parsed {
    (floats $($float:ty, $exact:literal, [$($power:literal),+]);+) => {$(
        impl Parsed for $float {
            /// One rounding, as mantissa and power are exact: after Clinger, "How to Read Floating Point Numbers Accurately"
            /// (1990).
            #[inline(always)]
            fn of(digits: &Digits) -> Option<$float> {
                const POWERS: &[$float] = &[$($power),+];
                let &power = POWERS.get(digits.behind_point.unwrap_or(0))?;
                let size = (digits.mantissa <= 1 << $exact).then_some(digits.mantissa as $float / power)?;
                Some(if digits.is_negative { -size } else { size })
            }
            fn parse(text: &str) -> Option<$float> {
                float(text, |value| value as $float, <$float>::NAN)
            }
        }
    )+};
    (integers $($integer:ty),+) => {$(
        impl Parsed for $integer {
            #[inline(always)]
            fn of(digits: &Digits) -> Option<$integer> {
                // A sign that an integer cannot have is left to who knows what is wrong with it.
                let is_whole = digits.behind_point.is_none() && !(digits.is_negative && <$integer>::MIN == 0);
                let size = digits.mantissa as i64;
                is_whole.then_some(if digits.is_negative { -size } else { size })?.try_into().ok()
            }
            fn parse(text: &str) -> Option<$integer> {
                text.parse().ok()
            }
        }
    )+};
}
parsed!(floats
    f32, 24, [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];
    f64, 53, [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15]
);
parsed!(integers i32, i64, u32, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_digits_are_read_as_many_are() {
        fn agree<T: Parsed + PartialEq + std::fmt::Debug>(text: &str) {
            if let Some(number) = Digits::read(text.as_bytes()).and_then(|digits| T::of(&digits)) {
                assert_eq!(Some(number), T::parse(text), "{text}");
            }
        }
        let texts = ["0", "-0", "7", "0012", "-12.5", "16777216", "16777217", ".5", "5.", "-.25", "0.1", "3.0000001"];
        let long =
            ["123456789012345", "1234567890123456", "0.00000000001", "99999999999999.9", "2147483648", "-2147483648"];
        let wrong = ["", "-", ".", "-.", "1.2.3", "1e5", "+5", " 5", "--5", "5-", "\u{0660}"];
        for text in texts.into_iter().chain(long).chain(wrong) {
            agree::<f32>(text);
            agree::<f64>(text);
            agree::<i32>(text);
            agree::<i64>(text);
            agree::<u32>(text);
            agree::<u64>(text);
        }
        for text in wrong {
            assert!(Digits::read(text.as_bytes()).is_none(), "{text}");
        }
        let number = |text: &str| f32::of(&Digits::read(text.as_bytes()).unwrap());
        assert_eq!(number("-12.5"), Some(-12.5));
        assert!(number("-0").unwrap().is_sign_negative());
        assert_eq!(number("16777217"), None);
    }
}
