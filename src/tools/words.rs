//! Numbers in sentences.

use std::fmt::Display;

/// `1 op`, `2 ops`
pub(crate) fn count(number: impl Display, one: &str) -> String {
    let number = number.to_string();
    if number == "1" { format!("1 {one}") } else { format!("{number} {one}s") }
}
