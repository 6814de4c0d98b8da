//! What crates.io and docs.rs need: every crate that is published has a description, a README, the texts of its licences,
//! and is documented with all features.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

/// The manifests of the workspace's crates, with their folders.
fn manifests() -> Vec<(PathBuf, String)> {
    let root_manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    let paths = root_manifest.lines().filter_map(|line| line.split("path = \"").nth(1)?.split('"').next());
    let folders: Vec<PathBuf> = paths.map(|path| root().join(path)).filter(|path| path.is_dir()).collect();
    let manifests = folders.into_iter().map(|folder| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a crate");
        (folder, manifest)
    });
    manifests.chain([(root(), root_manifest.clone())]).collect()
}

#[test]
fn every_crate_can_be_published() {
    let mut faults = Vec::new();
    let manifests = manifests();
    assert!(manifests.len() >= 19, "the crates are found: {}", manifests.len());
    for (folder, manifest) in &manifests {
        let mut lacks = |what: &str| faults.push(format!("{} lacks {what}", folder.display()));
        let required = [
            "\ndescription = \"",
            "\nlicense.workspace = true\n",
            "\nrepository.workspace = true\n",
            "\nreadme = \"README.md\"\n",
            "\n[package.metadata.docs.rs]\nall-features = true\n",
        ];
        required.iter().filter(|line| !manifest.contains(**line)).for_each(|line| lacks(line.trim()));
        let licences =
            ["MIT", "APACHE"].map(|name| (format!("LICENSE-{name}"), root().join(format!("LICENSE-{name}"))));
        for (file, original) in licences {
            // In each crate's folder, so that it is in each package.
            let text = std::fs::read_to_string(folder.join(&file)).unwrap_or_default();
            if text.is_empty() || text != std::fs::read_to_string(original).expect("the licence") {
                lacks(&format!("{file}: ln -s LICENSE of the root"));
            }
        }
        let name = manifest.split("\nname = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a name");
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        if !readme.to_lowercase().starts_with(&format!("# {name}\n")) {
            lacks(&format!("a README.md that begins with `# {name}`"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
