//! The documents: their links lead somewhere, README stays short, and the list of features is that of Cargo.toml.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// README, CONTRIBUTING and the pages of docs.
fn pages() -> Vec<PathBuf> {
    let docs =
        std::fs::read_dir(root().join("docs")).expect("docs is there").map(|page| page.expect("readable").path());
    let docs = docs.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    docs.chain(["README.md", "CONTRIBUTING.md", "tests/golden/README.md"].map(|page| root().join(page))).collect()
}

/// As GitHub names headings: in small letters, with a dash for each space and without other marks.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let mut dead = Vec::new();
    for page in pages() {
        for link in read(&page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, section) = link.split_once('#').unwrap_or((link, ""));
            if link.contains("://") || file.contains(' ') {
                continue;
            }
            let target = if file.is_empty() { page.clone() } else { page.parent().expect("a folder").join(file) };
            let has_section = section.is_empty()
                || target.is_file()
                    && read(&target).lines().any(|line| line.starts_with('#') && anchor(line) == section);
            if !target.exists() || !has_section {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn the_readme_is_short() {
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= 200, "README.md has {lines} lines: what is long goes to docs");
}

/// `docs/features.md` as `Cargo.toml` has it, where each feature has its text above it; `KERNLINK_UPDATE=1` writes it.
#[test]
fn the_page_of_features_is_made_of_cargo_toml() {
    let manifest = read(&root().join("Cargo.toml"));
    let features =
        manifest.split("\n[features]\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("features");
    let mut lines = features.lines();
    let defaults = lines.next().filter(|line| line.starts_with("default = ")).expect("the default features");
    let mut page = "# Cargo features\n\n| feature | brings | default |\n|---|---|---|\n".to_owned();
    page += "| (always) | Constants, placeholders, identities, what the runtime itself creates. | yes |\n";
    while let (Some(text), Some(line)) = (lines.next(), lines.next()) {
        let text = text.strip_prefix("## ").unwrap_or_else(|| panic!("no text above `{line}`"));
        let name = line.split(" = ").next().expect("a name");
        let default = if defaults.contains(&format!("\"{name}\"")) { "yes" } else { "no" };
        page += &format!("| `{name}` | {text} | {default} |\n");
    }
    let path = root().join("docs/features.md");
    if std::env::var_os("KERNLINK_UPDATE").is_some() {
        std::fs::write(&path, &page).expect("the page is writable");
    }
    assert_eq!(read(&path), page, "KERNLINK_UPDATE=1 cargo test -p kernlink-framework --test it pages");
}
