//! What to do about an error, in words for a program in C.

use kernlink_framework::error::Advice;

/// The advice by the functions of the C API, as far as it has some for it.
pub(super) fn in_c(advice: &Advice) -> String {
    match advice {
        Advice::GiveAttr { attr, .. } => {
            format!("set `{attr}`, as `TF_SetAttrType(desc, \"T\", TF_FLOAT)` and `TFE_OpSetAttrType` set a dtype")
        }
        Advice::RegisterGradient { .. } => {
            "leave it out of what is differentiated, by a `StopGradient` on what it gives; gradients of ops are written in Rust"
                .to_owned()
        }
        Advice::RaiseLoops => {
            "`kernlink gradients` makes `While` nodes of such loops, which have one, in a graph of a file".to_owned()
        }
        Advice::BringOps => {
            "`TF_LoadLibrary(path, status)` loads a library of ops that declares it, before the graph is read".to_owned()
        }
        Advice::LoadLibrary => "`TF_LoadLibrary(path, status)` loads a library of ops that has it".to_owned(),
        Advice::NestMoreDeeply => "so many are what sessions of the C API allow".to_owned(),
        Advice::LeaveOutPass { name, variable } => format!("`{variable}={name}` in the environment leaves it out"),
        Advice::ListRewrites => "`kernlink optimize --help` lists".to_owned(),
        // How a program is built is said by the command, and the rest suits all.
        Advice::Select(_) | Advice::Said(_) => advice.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_in_rust_what_to_do_in_c() {
        let name = || "x".to_owned();
        let all = [
            Advice::GiveAttr { attr: "T".to_owned(), list: name() },
            Advice::RegisterGradient { op: name(), name: None },
            Advice::RegisterGradient { op: name(), name: Some(name()) },
            Advice::RaiseLoops,
            Advice::BringOps,
            Advice::LoadLibrary,
            Advice::Select(name()),
            Advice::NestMoreDeeply,
            Advice::LeaveOutPass { name: name(), variable: "KERNLINK_WITHOUT" },
            Advice::ListRewrites,
            Advice::Said(name()),
        ];
        for advice in &all {
            let text = in_c(advice);
            assert!(
                !text.is_empty() && !["::", "#[", "use that_crate", ".attr("].iter().any(|rust| text.contains(rust)),
                "{text}"
            );
        }
    }
}
