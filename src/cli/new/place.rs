//! Where a new crate stands: its folder, the checkout that it depends on, the workspace that is around it.

use std::path::{Component, Path, PathBuf};

use crate::error::{Code, Error, Result};
use crate::tools::words::Called;

/// Refuses a folder in which something is.
pub(super) fn check(dir: &Path) -> Result<()> {
    let shown = dir.display();
    match std::fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Error::already_exists(format!(
                "the folder {shown} is not empty: give the name of a new one, or of an empty one"
            ))),
        },
        Err(_) if dir.symlink_metadata().is_err() => Ok(()),
        Err(_) if !dir.is_dir() => Err(Error::already_exists(format!("{shown} is there already, and is no folder"))),
        Err(error) => Err(Error::from_io(format!("cannot read the folder {shown}"), &error)),
    }
}

/// The folder of a checkout.
///
/// # Errors
/// NOT_FOUND or FAILED_PRECONDITION if Kernlink's facade is not there.
pub(super) fn checkout(path: &Path, called: Called) -> Result<PathBuf> {
    let manifest = path.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|error| {
        Error::from_io(format!("{}: cannot read {}", called.named("kernlink"), manifest.display()), &error)
    })?;
    if !text.lines().any(|line| line.split_whitespace().eq(["name", "=", "\"kernlink\""])) {
        return Err(Error::new(
            Code::FailedPrecondition,
            format!(
                "{}: {} is not that of the crate `kernlink`: give the root of a checkout",
                called.named("kernlink"),
                manifest.display()
            ),
        ));
    }
    path.canonicalize()
        .map_err(|error| Error::from_io(format!("{} {}", called.named("kernlink"), path.display()), &error))
}

/// The folder of the nearest workspace that a folder is inside of. Cargo refuses a crate there that neither is its member
/// nor says that it is a workspace itself.
pub(super) fn workspace_around(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    let is_workspace = |folder: &&Path| {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        text.lines().any(|line| line.trim_start().starts_with("[workspace"))
    };
    dir.ancestors().skip(1).find(is_workspace).map(Path::to_owned)
}

/// The way from a folder to another, both of which exist, as a string in TOML.
pub(super) fn toml_path(from: &Path, to: &Path) -> Result<String> {
    let from = from.canonicalize().map_err(|error| Error::from_io(from.display().to_string(), &error))?;
    let path = relative(&from, to);
    let path = path.to_str().ok_or_else(|| Error::invalid_argument(format!("{} is not UTF-8", path.display())))?;
    let path = if std::path::MAIN_SEPARATOR == '\\' { path.replace('\\', "/") } else { path.to_owned() };
    // A string of JSON is one of TOML, too.
    Ok(serde_json::Value::from(path).to_string())
}

/// The way from one absolute path to another; that path itself if they have nothing in common.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return to.to_owned();
    }
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(common)).collect();
    if way.as_os_str().is_empty() { ".".into() } else { way }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lead_up_and_down() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to)).display().to_string();
        assert_eq!(way("/a/b/c", "/a/d"), "../../d");
        assert_eq!(way("/a", "/a/b/c"), "b/c");
        assert_eq!(way("/a/b", "/a"), "..");
        assert_eq!(way("/a", "/a"), ".");
        assert_eq!(way("a", "/a"), "/a");
    }
}
