//! Suggestions for misspelt names.

use crate::error::shortened;
use crate::sort::CompactSort as _;

/// The longest name that is compared with others: time grows with the square of the length.
const MAX_LENGTH: usize = 1000;

/// The most bytes of names that [`listed`] gives.
const MAX_LISTED: usize = 2000;

/// The names nearest to `name`, at most three, the nearest first; none if all are far (see [`kernlink_spec::near`]).
pub fn nearest_names<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // No name is a misspelling of another.
    if name.is_empty() || name.len() > MAX_LENGTH {
        return Vec::new();
    }
    let name = kernlink_spec::Misspelt::new(name);
    let near = names.into_iter().filter_map(|candidate| Some((name.near(candidate)?, candidate)));
    let mut near = near.collect::<Vec<_>>();
    near.compact_sort();
    near.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// `; did you mean A, B?` of the nearest names, to end a message; nothing if all are far.
pub fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest_names(name, names);
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", listed(near)) }
}

/// The first few names, for a message.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    let mut names = names.into_iter();
    for name in names.by_ref() {
        let separator = if text.is_empty() { "" } else { ", " };
        text += separator;
        text += &shortened(name);
        if text.len() >= MAX_LISTED {
            break;
        }
    }
    match names.count() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first() {
        let names = ["MatMul", "BatchMatMul", "Mul", "MaxPool", "Matmul2"];
        assert_eq!(nearest_names("Matmul", names), ["MatMul", "Matmul2"]);
        assert!(nearest_names("Convolution", names).is_empty());
    }

    #[test]
    fn what_is_far_for_its_length_is_no_suggestion() {
        let names = ["Add", "Abs", "Sub", "Range", "SelfAdjointEig"];
        for name in ["Svd", "Xyz", "Rng", "Qr"] {
            assert_eq!(nearest_names(name, names), [""; 0], "{name}");
        }
        assert_eq!(nearest_names("Sbu", names), ["Sub"], "neighbours that are swapped are one mistake");
    }

    #[test]
    fn lists_are_bounded() {
        assert_eq!(listed(["a", "b"]), "a, b");
        let long = "x".repeat(100_000);
        let text = listed(std::iter::repeat_n(&*long, 1000));
        assert!(text.len() < 3000 && text.ends_with("more"), "{text}");
        assert!(did_you_mean(&long, [&*long]).is_empty());
    }
}
