//! A crate that `kernlink new` writes, and its commands.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's, so that crates of others that are compiled already are not compiled again. Cargo compiles Kernlink's own
/// anew, as their paths lead out of the new crate's folder.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder")
}

/// A crate in a folder of this test's own.
pub(crate) struct NewCrate {
    pub(crate) folder: PathBuf,
}

impl NewCrate {
    /// Writes the crate, with what `args` say.
    pub(crate) fn write(name: &str, args: &[&str]) -> NewCrate {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        let at = folder.to_str().expect("UTF-8");
        let all = [&["new", at, "--kernlink", env!("CARGO_MANIFEST_DIR")], args].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_kernlink")).args(all).output().expect("the command starts");
        assert!(output.status.success(), "{output:?}");
        NewCrate { folder }
    }

    /// Gives the crate the profile of the workspace, which goes with what is compiled already, and of Kernlink the families alone that
    /// the command cannot do without: those of `default` and `cli` would be compiled for nothing that is tested.
    pub(crate) fn for_a_quick_build(self) -> NewCrate {
        let profile = |text: &str| text.find("\n[profile.dev]").map(|at| text[at..].to_owned()).expect("a profile");
        let file = self.folder.join("Cargo.toml");
        let own = std::fs::read_to_string(&file).expect("Cargo.toml");
        let workspace = std::fs::read_to_string(crate::support::path("Cargo.toml")).expect("Cargo.toml");
        let head = &own[..own.len() - profile(&own).len()];
        let whole = "\nkernlink = { path";
        assert!(head.contains(whole), "{head}");
        let head = head.replace(whole, "\nkernlink = { default-features = false, path");
        assert!(head.contains("kernlink/cli"), "{head}");
        let head = head.replace("kernlink/cli", "kernlink/command");
        // Those that it does not have, and the framework, which it has with other features, are not compiled already.
        let others = ["kernlink-framework", "naga"];
        let shared = |line: &&str| others.iter().all(|package| !line.starts_with(package));
        let profile: String = profile(&workspace).split_inclusive('\n').filter(shared).collect();
        std::fs::write(&file, format!("{head}{profile}")).expect("Cargo.toml");
        self
    }

    /// What Cargo prints, which must succeed without a warning.
    #[track_caller]
    pub(crate) fn cargo(&self, args: &[&str]) -> String {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.arg("--offline").args(args).current_dir(&self.folder).env("CARGO_TARGET_DIR", target());
        // Its command takes a software adapter only by its name.
        let adapter = std::env::var("KERNLINK_GPU").unwrap_or_else(|_| "llvmpipe".to_owned());
        cargo.env("KERNLINK_GPU", adapter);
        // Clippy in the place of the compiler looks at the crate alone, and needs nothing compiled twice.
        if Command::new("clippy-driver").arg("--version").output().is_ok_and(|output| output.status.success()) {
            cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        }
        let output = cargo.output().expect("cargo starts");
        let [text, report] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(output.status.success(), "{args:?}: {text}{report}");
        assert!(!report.contains("warning"), "{args:?}: {report}");
        text
    }

    /// Checks that the sources are written as rustfmt writes them.
    pub(crate) fn check_format(&self) {
        // The modules of the library are found by its names for them.
        let sources = ["src/lib.rs", "src/main.rs", "tests/ops.rs", "examples/own.rs"];
        // The settings of the folders above are not the crate's.
        let style = ["--config", "max_width=100,use_small_heuristics=Default", "--edition", "2024", "--check"];
        let output = Command::new("rustfmt").args(style).args(sources).current_dir(&self.folder).output();
        let Ok(output) = output else { return };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
