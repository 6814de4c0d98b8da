//! Has the command linked smaller, where this machine's linker and loader can: functions that compile to the same code become
//! one, which many kernels' do, and relocations are packed, which would be 1.8 MB of the file that each start works through.
//! docs/linking.md says how other programs do it.

use std::env::var;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_for = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    if var("HOST") != var("TARGET") || !is_for("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    if is_for("CARGO_CFG_TARGET_ENV", "gnu") && glibc().is_some_and(|version| version >= (2, 36)) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    // Rust gives functions no addresses of their own. A debugger would show one for the other.
    if is_for("PROFILE", "release") && is_linked_with(FOLD) == Some(true) {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
}

/// Asks lld, mold and gold to make one function of those with the same code.
const FOLD: &str = "-Wl,--icf=all";

/// The version of this machine's C library, if it is glibc.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

/// Whether the linker of this build takes an argument: GNU's ld does not take all that others do.
fn is_linked_with(argument: &str) -> Option<bool> {
    let folder = var("OUT_DIR").ok()?;
    let source = Path::new(&folder).join("nothing.rs");
    fs::write(&source, "fn main() {}\n").ok()?;
    let mut command = Command::new(var("RUSTC").ok()?);
    command.arg(source).arg("--out-dir").arg(folder).arg("-C").arg(format!("link-arg={argument}"));
    if let Ok(linker) = var("RUSTC_LINKER") {
        command.arg("-C").arg(format!("linker={linker}"));
    }
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    command.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    Some(command.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?.success())
}
