//! Libraries that a C compiler makes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of the test's own, empty.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Makes a shared library of one of the sources in `c`.
pub(crate) fn compile(source: &str, to: &Path, arguments: &[&str]) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(source);
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"]).arg(to).arg(source);
    let output =
        command.args(["-lpthread"]).args(arguments).output().expect("a C compiler, which the linker needs, too");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
