//! Has the relocations of the command packed, where this machine's loader reads them so: they would be 1.8 MB of the file,
//! and each start works through them. docs/linking.md says how other programs do it.

use std::env::var;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_for = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let is_here = var("HOST") == var("TARGET");
    if is_here
        && is_for("CARGO_CFG_TARGET_OS", "linux")
        && is_for("CARGO_CFG_TARGET_ENV", "gnu")
        && glibc().is_some_and(|version| version >= (2, 36))
    {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's C library, if it is glibc.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
