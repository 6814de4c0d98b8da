//! Numbers in sentences, and what options are called in errors.

use std::cell::Cell;
use std::fmt::Display;

thread_local! {
    /// Whether what runs was called as a function.
    static IS_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Does `work` of the command, which was called as a function: errors that this thread meets call options by the names of its
/// arguments, and not by flags.
pub(crate) fn as_function<R>(work: impl FnOnce() -> R) -> R {
    /// What was so before, also if `work` panics.
    struct Before(bool);

    impl Drop for Before {
        fn drop(&mut self) {
            IS_FUNCTION.set(self.0);
        }
    }

    let _before = Before(IS_FUNCTION.replace(true));
    work()
}

/// Whether options are arguments of a function.
pub(crate) fn is_function() -> bool {
    IS_FUNCTION.get()
}

/// What errors call an option: `--input`, or `inputs` as the argument of a function.
pub(crate) fn named(option: &str) -> String {
    match option {
        _ if !is_function() => format!("--{option}"),
        // Those that are given several times.
        "input" | "output" | "tag" | "target" => format!("{option}s"),
        one => one.replace('-', "_"),
    }
}

/// An option with a value: `--name my-ops`, or `name='my-ops'`.
pub(crate) fn option(option: &str, value: &str) -> String {
    match is_function() {
        true => format!("{}='{value}'", named(option)),
        false => format!("--{option} {value}"),
    }
}

/// `1 op`, `2 ops`
pub(crate) fn count(number: impl Display, one: &str) -> String {
    let number = number.to_string();
    if number == "1" { format!("1 {one}") } else { format!("{number} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_arguments_where_the_command_is_a_function() {
        let names = || [named("input"), named("warm-up"), named("signature"), option("name", "my-ops")];
        let flags = ["--input", "--warm-up", "--signature", "--name my-ops"];
        assert_eq!(names(), flags);
        assert_eq!(as_function(names), ["inputs", "warm_up", "signature", "name='my-ops'"]);
        let still = as_function(|| {
            as_function(|| ());
            is_function()
        });
        assert!(still);
        let panics = std::panic::catch_unwind(|| as_function(|| panic!("on purpose")));
        assert!(panics.is_err() && names() == flags);
    }
}
