//! How far something is: told to people at a terminal, and to nobody else.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::FromRawFd as _;
use std::process::{Command, Stdio};

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;

use crate::command::{kernlink, save, sum};
use crate::support::{graph, node};

/// Both ends of a new terminal: the one that people look at, and the one that programs write to.
fn terminal() -> (File, File) {
    let (mut seen, mut written) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: both descriptors are written to, and the optional parameters may be null.
    let opened = unsafe { libc::openpty(&mut seen, &mut written, null, null.cast(), null.cast()) };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the descriptors are open and nobody else's.
    unsafe { (File::from_raw_fd(seen), File::from_raw_fd(written)) }
}

/// What the command has written to a terminal when the words are there for so many times, and it is ended.
fn told(args: &[&str], words: &str, times: usize) -> String {
    let (mut seen, written) = terminal();
    let mut run = Command::new(env!("CARGO_BIN_EXE_kernlink"))
        .args(args)
        .env("TERM", "xterm")
        .stdout(Stdio::null())
        .stderr(written)
        .spawn()
        .expect("the command starts");
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    while text.matches(words).count() < times && text.len() < 1 << 20 {
        let length = seen.read(&mut piece).expect("the terminal is open");
        text += &String::from_utf8_lossy(&piece[..length]);
    }
    run.kill().expect("it runs");
    run.wait().expect("it ends");
    text
}

#[test]
fn long_runs_say_how_far_they_are() {
    let model = sum("progress.pb");
    let steps = ["--steps", "18446744073709551615"];
    // The second line takes the place of the first.
    let text = told(&[&["run", &model, "--input", "scope/x=[[1, 2]]"], &steps[..]].concat(), "step ", 2);
    assert!(text.starts_with("\rstep ") && text.contains(" of 18446744073709551615, "), "{text:?}");
    // Standard error that is no terminal has nothing of it.
    let output = kernlink(&["run", &model, "--input", "scope/x=[[1, 2]]", "--steps", "100000", "--timeout", "2"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("step 1"), "{output:?}");
}

#[test]
fn one_long_run_says_that_it_goes_on() {
    // Nobody ever fills the queue.
    let types = ("component_types", AttrValue::ListType(vec![DataType::Float]));
    let def = graph([
        node("queue", "FIFOQueueV2", &[], std::slice::from_ref(&types)),
        node("taken", "QueueDequeueV2", &["queue"], &[types]),
    ]);
    let model = save("waits.pb", &def);
    let text = told(&["run", &model, "--output", "taken"], "running, ", 2);
    assert!(text.contains("\rrunning, 2 s\u{1b}[K"), "{text:?}");
    // What is told takes the place of the line.
    let text = told(&["run", &model, "--output", "taken", "--timeout", "2.5"], "error: ", 1);
    assert!(text.contains("\r\u{1b}[Kerror: DEADLINE_EXCEEDED"), "{text:?}");
    let output = kernlink(&["run", &model, "--output", "taken", "--timeout", "3"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("running, "), "{output:?}");
}
