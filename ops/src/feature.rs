//! Which Cargo feature brings which op: for errors that say what is missing.

/// A line for each feature (`name:`), then its ops, indented; also those of features that are not compiled in.
const FAMILIES: &str = include_str!("families.txt");

/// The Cargo feature of Kernlink that brings an op; `None` for ops that are always there and ops that Kernlink lacks.
pub fn feature_of(op: &str) -> Option<&'static str> {
    let mut feature = None;
    for line in FAMILIES.lines() {
        match line.strip_suffix(':') {
            Some(name) => feature = Some(name),
            None if line.split_whitespace().any(|word| word == op) => return feature,
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The families by the folders that their ops are declared in.
    fn linked_families() -> BTreeMap<String, BTreeSet<&'static str>> {
        let mut families: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
        for entry in kernlink::collect::linked_ops() {
            let file = entry.location.file.replace('\\', "/");
            let path = file.rsplit_once("src/").map_or(file.as_str(), |(_, path)| path);
            let folder = path.split_once('/').map_or("", |(folder, _)| folder);
            families.entry(folder.to_owned()).or_default().insert(&*entry.def.name);
        }
        families
    }

    /// `families.txt` as it should be; `KERNLINK_UPDATE=1` writes it, with all features.
    fn text(families: &BTreeMap<String, BTreeSet<&'static str>>) -> String {
        let mut text = String::new();
        for (feature, ops) in families.iter().filter(|(feature, _)| !feature.is_empty()) {
            text += &format!("{feature}:\n");
            let mut line = String::new();
            for op in ops {
                if line.len() + op.len() + 5 > 120 {
                    text += &format!("    {}\n", line.trim_end());
                    line.clear();
                }
                line += &format!("{op} ");
            }
            text += &format!("    {}\n", line.trim_end());
        }
        text
    }

    #[test]
    fn every_op_stands_under_the_feature_of_its_folder() {
        let families = linked_families();
        if std::env::var_os("KERNLINK_UPDATE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/families.txt");
            std::fs::write(path, text(&families)).expect("src/families.txt can be written");
            return;
        }
        for (folder, ops) in &families {
            let feature = (!folder.is_empty()).then_some(folder.as_str());
            for op in ops {
                assert_eq!(
                    feature_of(op),
                    feature,
                    "{op}: KERNLINK_UPDATE=1 cargo test -p kernlink-ops --all-features feature"
                );
            }
        }
    }

    #[test]
    fn what_no_feature_brings_has_none() {
        assert_eq!(feature_of("Const"), None);
        assert_eq!(feature_of("array:"), None);
        assert_eq!(feature_of("NoSuchOp"), None);
    }
}
