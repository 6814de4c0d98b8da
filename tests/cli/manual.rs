//! Completions and the manual.

use std::process::{Command, Stdio};

use crate::command::{bad, folder, good, holds};

#[test]
fn shells_complete_commands_and_flags() {
    for (shell, words) in [("bash", "complete -F"), ("zsh", "#compdef kernlink"), ("fish", "complete -c kernlink")] {
        holds(&good(&["completions", shell]), &[words, "optimize", "save-checkpoint", "kernlink"]);
    }
    holds(&good(&["completions", "fish", "--name", "my-ops"]), &["complete -c my-ops "]);
    bad(&["completions", "tcsh"], 2, &["bash", "powershell"]);
    bad(&["completions", "bash", "--name", "x; rm"], 2, &["INVALID_ARGUMENT", "is no name for a command"]);
    let script = good(&["completions", "bash"]);
    let check = "source /dev/stdin; COMP_WORDS=(kernlink run --save); COMP_CWORD=2; _kernlink kernlink --save run; \
                 printf '%s\\n' \"${COMPREPLY[@]}\"";
    let Ok(mut bash) = Command::new("bash").args(["-c", check]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    else {
        return;
    };
    std::io::Write::write_all(&mut bash.stdin.take().unwrap(), script.as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--save\n--save-checkpoint\n");
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    holds(&good(&["man"]), &[".TH kernlink 1", "kernlink\\-run(1)", "Writes a crate"]);
    holds(&good(&["man", "run"]), &[".TH kernlink-run 1", "\\-\\-save\\-checkpoint", "base64"]);
    bad(&["man", "rum"], 2, &["NOT_FOUND", "no command `rum`; did you mean run?"]);
    let to = folder("man");
    holds(&good(&["man", "--output", to.to_str().unwrap()]), &["pages in"]);
    for command in ["", "-new", "-run", "-bench", "-verify", "-inspect", "-optimize", "-select", "-checkpoint", "-ops"]
    {
        let page = std::fs::read_to_string(to.join(format!("kernlink{command}.1"))).unwrap();
        holds(&page, &[".SH NAME", &format!(".TH kernlink{command} 1")]);
    }
}
