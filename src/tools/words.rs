//! Numbers in sentences, and what options are called in errors.

use std::fmt::Display;

/// Whom errors speak to: what they call options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Called {
    /// Who runs the command: by its flags.
    #[default]
    Command,
    /// Who calls a function: by its arguments.
    Function,
}

impl Called {
    /// Whether options are arguments of a function.
    pub(crate) fn is_function(self) -> bool {
        self == Called::Function
    }

    /// What an option is called: `--input`, or `inputs` as the argument of a function.
    pub(crate) fn named(self, option: &str) -> String {
        match option {
            _ if !self.is_function() => format!("--{option}"),
            // Those that are given several times.
            "input" | "output" | "tag" | "target" => format!("{option}s"),
            one => one.replace('-', "_"),
        }
    }

    /// An option with a value: `--name my-ops`, or `name='my-ops'`.
    pub(crate) fn option(self, option: &str, value: &str) -> String {
        match self {
            Called::Function => format!("{}='{value}'", self.named(option)),
            Called::Command => format!("--{option} {value}"),
        }
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
        let names = |called: Called| {
            [called.named("input"), called.named("warm-up"), called.named("signature"), called.option("name", "my-ops")]
        };
        assert_eq!(names(Called::Command), ["--input", "--warm-up", "--signature", "--name my-ops"]);
        assert_eq!(names(Called::Function), ["inputs", "warm_up", "signature", "name='my-ops'"]);
    }
}
