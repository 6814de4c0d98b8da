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
    for command in [
        "",
        "-new",
        "-run",
        "-bench",
        "-verify",
        "-inspect",
        "-optimize",
        "-gradients",
        "-select",
        "-checkpoint",
        "-ops",
    ] {
        let page = std::fs::read_to_string(to.join(format!("kernlink{command}.1"))).unwrap();
        holds(&page, &[".SH NAME", &format!(".TH kernlink{command} 1")]);
    }
}

#[cfg(unix)]
#[test]
fn a_program_of_ones_own_goes_by_its_own_name() {
    use std::os::unix::process::CommandExt as _;

    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernlink"));
        let output = command.arg0("/usr/bin/my-ops.2").args(args).output().expect("the command starts");
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(run(&["--version"]), format!("my-ops.2 with kernlink {version}\n"));
    assert_eq!(good(&["--version"]), format!("kernlink {version}\n"));
    holds(&run(&["completions", "fish"]), &["complete -c my-ops.2 "]);
    holds(&run(&["man", "run"]), &[".TH my-ops.2-run 1", &format!("\"Kernlink {version}\"")]);
    let to = folder("man-own");
    run(&["man", "--output", to.to_str().unwrap()]);
    assert!(to.join("my-ops.2-run.1").exists() && !to.join("kernlink-run.1").exists());
}
