//! What to do about an error, where the words for it depend on who reads them.

use std::fmt;
use std::ops::Range;

/// What to do about an error. A message has it in the words of a program in Rust; another front end has words of its own for each
/// kind, and puts them in their place by [`Error::in_words`](super::Error::in_words).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// To give an attr of a node: nothing else says what it is, as its list of inputs is empty.
    GiveAttr {
        /// The attr.
        attr: String,
        /// The list.
        list: String,
    },
    /// To register a gradient.
    RegisterGradient {
        /// The op that has none.
        op: String,
        /// The name by which a node asks for it, if it is not to be the op's own.
        name: Option<String>,
    },
    /// To make `While` nodes of loops of TensorFlow 1, which have a gradient.
    RaiseLoops,
    /// To bring ops that are declared elsewhere.
    BringOps,
    /// To load a library of ops.
    LoadLibrary,
    /// To select what a selection left out, in this file.
    Select(String),
    /// To let calls of functions nest more deeply.
    NestMoreDeeply,
    /// To leave out a graph pass or a rewrite.
    LeaveOutPass {
        /// Its name.
        name: String,
        /// The environment variable that names those which do not run.
        variable: &'static str,
    },
    /// To list the rewrites.
    ListRewrites,
    /// In words that suit all who read them.
    Said(String),
}

/// In the words of a program in Rust.
impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Advice::GiveAttr { attr, .. } => write!(f, "give it with `.attr(\"{attr}\", ...)`"),
            Advice::RegisterGradient { op, name: Some(name) } => {
                write!(f, "register it with `#[register_gradient(op = {op}, name = \"{name}\")]`")
            }
            Advice::RegisterGradient { op, name: None } => write!(
                f,
                "register one with `#[register_gradient(op = {op})]`, or state that nothing flows through it with \
                 `not_differentiable!({op})`"
            ),
            Advice::RaiseLoops => {
                f.write_str("`graph.raise_loops()` makes `While` nodes of such loops, which have one")
            }
            Advice::BringOps => {
                f.write_str("a crate that declares it must be named in the program: `use that_crate as _;`")
            }
            Advice::LoadLibrary => f.write_str("`kernlink::load_op_library(path)` loads a library of ops that has it"),
            Advice::Select(file) => write!(
                f,
                "add it: run `kernlink select MODEL... > {file}` with every model that the program is to run, and build again \
                 with KERNLINK_SELECT={file}"
            ),
            Advice::NestMoreDeeply => f.write_str("`SessionOptions::call_depth` lets calls be nested more deeply"),
            Advice::LeaveOutPass { name, variable } => {
                write!(f, "`{variable}={name}` or `SessionOptions::without_pass(\"{name}\")` leaves it out")
            }
            Advice::ListRewrites => f.write_str("`PASSES` and `rewrites()` of `kernlink::optimize` list"),
            Advice::Said(words) => f.write_str(words),
        }
    }
}

/// Advice, and the bytes of a message in which it stands.
#[derive(Clone)]
pub(super) struct Advised {
    pub(super) advice: Advice,
    pub(super) at: Range<usize>,
}

impl Advised {
    /// Has it stand in a message that became another, with so much more before what it was; false if that was cut there.
    pub(super) fn follow(&mut self, was: &str, message: &str, before: usize) -> bool {
        let text = was.get(self.at.clone());
        self.at = self.at.start + before..self.at.end + before;
        text.is_some() && message.get(self.at.clone()) == text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Code, Error, MAX_MESSAGE};

    fn loud(advice: &Advice) -> String {
        format!("<{advice:?}>")
    }

    #[test]
    fn advice_has_other_words_wherever_it_stands() {
        let plain = Error::not_found("no op");
        assert_eq!((plain.advice().count(), plain.clone().in_words(loud).message()), (0, "no op"));
        let error = plain.advise("; ", Advice::BringOps, " (or not)");
        assert!(error.advice().eq([&Advice::BringOps]));
        assert_eq!(error.message(), format!("no op; {} (or not)", Advice::BringOps));
        let error = error.context("a graph").append(" at the end").at_node("n", "Op", "");
        assert_eq!(error.clone().in_words(loud).message(), "a graph: no op; <BringOps> (or not) at the end");
        assert!(error.to_string().contains("`use that_crate as _;` (or not) at the end\n  in node `n`"), "{error}");
        let again = error.in_words(loud);
        assert_eq!(again.clone().in_words(|_| String::new()).message(), again.message());
    }

    #[test]
    fn each_piece_of_advice_has_other_words() {
        let select = || Advice::Select("FILE".to_owned());
        let error = Error::not_found("no op").advise_all("; ", vec![select(), Advice::BringOps]).context("a graph");
        let error = error.append("!").advise("; ", Advice::NestMoreDeeply, " or so").context("é");
        assert!(error.advice().eq([&select(), &Advice::BringOps, &Advice::NestMoreDeeply]));
        let expected = "é: a graph: no op; <Select(\"FILE\")>; <BringOps>!; <NestMoreDeeply> or so";
        assert_eq!(error.in_words(loud).message(), expected);
        // What follows may cut one of them.
        let long = "x".repeat(2 * MAX_MESSAGE);
        let error = Error::not_found("no op").advise("; ", select(), &long).advise("; ", Advice::BringOps, "");
        assert_eq!(error.advice().next(), Some(&select()));
        assert!(error.in_words(loud).message().starts_with("no op; <Select(\"FILE\")>xxx"));
    }

    #[test]
    fn advice_that_a_long_message_lost_is_left_alone() {
        let long = "é".repeat(MAX_MESSAGE);
        let error = Error::new(Code::Internal, "short: ").advise("", Advice::BringOps, &long);
        assert_eq!(
            error.clone().in_words(|_| String::new()).message().len(),
            error.message().len() - Advice::BringOps.to_string().len()
        );
        // The middle of what is too long is cut.
        for (error, is_there) in [
            (error.clone().context(&long), false),
            (error.clone().append(&long), true),
            (Error::internal(&*long).advise("; ", Advice::BringOps, &long), false),
        ] {
            assert_eq!(error.advice().count(), usize::from(is_there));
            let words = [Advice::BringOps.to_string(), loud(&Advice::BringOps)];
            let has = |error: &Error| words.each_ref().map(|words| error.message().contains(words.as_str()));
            assert_eq!((has(&error), has(&error.clone().in_words(loud))), ([is_there, false], [false, is_there]));
        }
    }
}
