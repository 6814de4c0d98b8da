//! Families: groups of ops by the source file that declares them. So there is no list to maintain, and third parties' ops
//! have a family too.

use std::collections::BTreeMap;

use crate::collect::OpEntry;
use crate::kernel::Location;
use crate::sort::CompactSort as _;

/// The crate whose families go by the names of its modules alone.
const OWN: &str = "kernlink-ops";

/// The ops of one source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Family {
    /// The crate, unless it is Kernlink's own.
    krate: Option<String>,
    /// The modules, outermost first.
    modules: Vec<String>,
}

impl Family {
    pub(super) fn of(entry: &OpEntry) -> Family {
        Family::at(entry.provider.name, entry.location.file)
    }

    fn at(krate: &str, file: &str) -> Family {
        let file = file.replace('\\', "/");
        let file = file.strip_suffix(".rs").unwrap_or(&file);
        let parts: Vec<&str> = file.split('/').filter(|part| !part.is_empty()).collect();
        let inside = match parts.iter().rposition(|part| *part == "src") {
            Some(src) => &parts[src + 1..],
            None => &parts[parts.len().saturating_sub(1)..],
        };
        let modules: Vec<String> = match inside.split_last() {
            Some((&("lib" | "main" | "mod"), modules)) => modules,
            _ => inside,
        }
        .iter()
        .map(|module| module.to_string())
        .collect();
        let own = krate == OWN && !modules.is_empty();
        Family { krate: (!own).then(|| krate.to_owned()), modules }
    }

    /// The crate and modules: `math`, `matrix`.
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.krate.iter().chain(&self.modules).map(String::as_str)
    }

    /// `math / matrix`
    pub(super) fn title(&self) -> String {
        self.parts().collect::<Vec<_>>().join(" / ")
    }

    /// `math/matrix`
    pub(super) fn path(&self) -> String {
        self.parts().collect::<Vec<_>>().join("/")
    }

    /// What families are grouped by: the crate, or the outermost module of Kernlink's own.
    pub(super) fn group(&self) -> &str {
        self.parts().next().unwrap_or_default()
    }

    /// The name within the group; the group's own if the family is all of it.
    pub(super) fn name(&self) -> String {
        let name = self.parts().skip(1).collect::<Vec<_>>().join(" / ");
        if name.is_empty() { self.group().to_owned() } else { name }
    }

    /// Of what file names may be made on any system.
    fn slug(&self) -> String {
        let mut slug = String::new();
        for c in self.path().chars() {
            match c {
                c if c.is_ascii_alphanumeric() || c == '_' => slug.push(c.to_ascii_lowercase()),
                _ if slug.is_empty() || slug.ends_with('-') => {}
                _ => slug.push('-'),
            }
        }
        let slug = slug.trim_end_matches('-');
        if slug.is_empty() { "family" } else { slug }.to_owned()
    }
}

/// All families in order, each with its file's name and its ops.
pub(super) fn sorted(
    entries: impl IntoIterator<Item = &'static OpEntry>,
) -> Vec<(Family, String, Vec<&'static OpEntry>)> {
    let mut families: BTreeMap<Family, Vec<&'static OpEntry>> = BTreeMap::new();
    for entry in entries {
        families.entry(Family::of(entry)).or_default().push(entry);
    }
    let mut families: Vec<_> = families.into_iter().collect();
    families.compact_sort_by_key(|(family, _)| (family.krate.is_some(), family.clone()));
    let mut taken = ["index.html", "rewrites.html"].map(str::to_owned).to_vec();
    let families = families.into_iter().map(|(family, mut ops)| {
        ops.compact_sort_by_key(|entry| &*entry.def.name);
        let slug = family.slug();
        let names = (1..).map(|n| if n == 1 { format!("{slug}.html") } else { format!("{slug}-{n}.html") });
        let file = names.into_iter().find(|name| !taken.contains(name)).unwrap_or_default();
        taken.push(file.clone());
        (family, file, ops)
    });
    families.collect()
}

/// A source's place from its crate on, without the folders of the machine that built it.
pub(super) fn short(location: Location) -> String {
    let file = location.file.replace('\\', "/");
    let absolute = file.starts_with('/') || file.get(1..2) == Some(":");
    if !absolute {
        return location.to_string().replace('\\', "/");
    }
    let parts: Vec<&str> = file.split('/').collect();
    let from = parts.iter().rposition(|part| *part == "src").unwrap_or(parts.len() - 1).saturating_sub(1);
    let file = parts[from..].join("/");
    let file = file.trim_start_matches('/');
    if location.line == 0 { file.to_owned() } else { format!("{file}:{}", location.line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_the_family() {
        for (krate, file, title, group, name, slug) in [
            ("kernlink-ops", "ops/src/math/matrix.rs", "math / matrix", "math", "matrix", "math-matrix"),
            ("kernlink-ops", r"ops\src\math\mod.rs", "math", "math", "math", "math"),
            ("kernlink-ops", "ops/src/lib.rs", "kernlink-ops", "kernlink-ops", "kernlink-ops", "kernlink-ops"),
            ("my-ops", "src/lib.rs", "my-ops", "my-ops", "my-ops", "my-ops"),
            (
                "my-ops",
                "/home/me/src/my-ops-1.0/src/nn/pool.rs",
                "my-ops / nn / pool",
                "my-ops",
                "nn / pool",
                "my-ops-nn-pool",
            ),
            ("t", "/home/me/t/tests/Ops.rs", "t / Ops", "t", "Ops", "t-ops"),
            ("../<b>", "src/..rs", "../<b> / .", "../<b>", ".", "b"),
        ] {
            let family = Family::at(krate, file);
            assert_eq!(
                (&*family.title(), family.group(), &*family.name(), &*family.slug()),
                (title, group, name, slug),
                "{krate} {file}"
            );
        }
    }

    #[test]
    fn places_begin_at_the_crate() {
        let at = |file| short(Location { file, line: 7 });
        assert_eq!(at("ops/src/flow.rs"), "ops/src/flow.rs:7");
        assert_eq!(at("/home/me/.cargo/registry/src/x/ops-1.0/src/nn/pool.rs"), "ops-1.0/src/nn/pool.rs:7");
        assert_eq!(at(r"C:\me\ops\src\lib.rs"), "ops/src/lib.rs:7");
        assert_eq!(at("/a.rs"), "a.rs:7");
    }
}
