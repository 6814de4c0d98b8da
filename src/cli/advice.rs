//! What to do about an error, in words for who runs the command.

use crate::error::Advice;

/// The advice by the flags of the command, as far as it has some for it.
pub(super) fn in_flags(advice: &Advice) -> String {
    match advice {
        Advice::LoadLibrary => "a library of ops that has it is loaded by `--library FILE`".to_owned(),
        Advice::NestMoreDeeply => {
            "`--call-depth N` of `kernlink run` and `kernlink bench` lets calls be nested more deeply".to_owned()
        }
        Advice::LeaveOutPass { name, variable } => format!("`{variable}={name}` leaves it out"),
        Advice::ListRewrites => "`kernlink optimize --help` lists".to_owned(),
        // The command runs what is linked into it, and what the graphs say.
        Advice::GiveAttr { .. }
        | Advice::RegisterGradient { .. }
        | Advice::RaiseLoops
        | Advice::BringOps
        | Advice::Select(_)
        | Advice::Said(_) => advice.to_string(),
    }
}
