//! Names of nodes and of their outputs.

use std::collections::HashMap;

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

/// `base`, or `base_1`, `base_2`, ..., whichever is free first. `suffixes` has the last number of each base, so that
/// names with one base are found in linear time together.
pub(super) fn numbered(base: &str, suffixes: &mut HashMap<String, u32>, is_free: impl Fn(&str) -> bool) -> String {
    if is_free(base) {
        return base.to_owned();
    }
    let number = suffixes.entry(base.to_owned()).or_default();
    loop {
        *number += 1;
        let name = format!("{base}_{number}");
        if is_free(&name) {
            return name;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_go_on_from_the_last() {
        let (mut names, mut suffixes, asked) = (HashSet::from(["a_2".to_owned()]), HashMap::new(), Cell::new(0));
        for expected in
            ["a", "a_1", "a_3", "a_4"].into_iter().map(str::to_owned).chain((5..100).map(|i| format!("a_{i}")))
        {
            let name = numbered("a", &mut suffixes, |name| {
                asked.set(asked.get() + 1);
                !names.contains(name)
            });
            assert_eq!(name, expected);
            names.insert(name);
        }
        assert_eq!(asked.get(), 2 * 99);
    }

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
