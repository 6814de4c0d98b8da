//! Names of nodes and of their outputs.

use crate::error::{Error, Result, shortened};

/// `node` or `node:index`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TensorName<'a> {
    /// The node's name.
    pub node: &'a str,
    /// Which of its outputs.
    pub index: usize,
}

impl<'a> TensorName<'a> {
    /// Splits a name.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if what follows the colon is no number without leading zeros.
    #[track_caller]
    pub fn parse(name: &'a str) -> Result<TensorName<'a>> {
        let Some((node, number)) = name.rsplit_once(':') else { return Ok(TensorName { node: name, index: 0 }) };
        let canonical = number == "0" || (!number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit()));
        match number.parse() {
            Ok(index) if canonical => Ok(TensorName { node, index }),
            _ => Err(Error::invalid_argument(format!(
                "`{}` does not name an output: expected `node` or `node:1`",
                shortened(name)
            ))),
        }
    }
}

/// Whether a node may have this name: it begins with a letter, digit or dot and goes on with these and `_ / \ -`; parts
/// may be joined by `>`.
pub fn is_valid_node_name(name: &str) -> bool {
    let first = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
    let later = |byte: u8| first(byte) || matches!(byte, b'_' | b'/' | b'\\' | b'-');
    name.split('>').all(|part| match part.as_bytes() {
        [] => false,
        [head, tail @ ..] => first(*head) && tail.iter().all(|&byte| later(byte)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_numbered_canonically() {
        assert_eq!(TensorName::parse("a/b:12").unwrap(), TensorName { node: "a/b", index: 12 });
        assert_eq!(TensorName::parse("a").unwrap().index, 0);
        for bad in ["a:", "a:01", "a:x", "a:-1", "a:99999999999999999999999"] {
            assert!(TensorName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn node_names() {
        for good in ["a", "0", ".x", "a/b_c-d\\e", "Ns>x"] {
            assert!(is_valid_node_name(good), "{good}");
        }
        for bad in ["", "_a", "a b", "a>", "a:0", "^a", "ä"] {
            assert!(!is_valid_node_name(bad), "{bad}");
        }
    }
}
