//! The order of the framework's rooms, as docs/design.md has it: no room uses a later one, and no files use each other in a
//! circle but for those that the page names with a reason.
//!
//! The sources are parsed. A file uses another if a path in it, outside of tests, leads to an item that the other defines,
//! through whatever re-exports and imports. What a file only re-exports (`pub use`) from a module below its own is no use
//! of it. Methods are not followed: they need types.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, UseTree, Visibility};

/// The segments of a path from the crate's root.
type ItemPath = Vec<String>;

/// A name that a `use` brings into a module.
struct Import {
    target: ItemPath,
    /// Whether it is seen outside of its module.
    public: bool,
}

#[derive(Default)]
struct Module {
    file: String,
    /// What is defined here, macros without `#[macro_export]` included.
    items: HashSet<String>,
    imports: HashMap<String, Import>,
    globs: Vec<ItemPath>,
    /// Paths that are written here, outside of imports, from the root or from a name of this module.
    paths: BTreeSet<ItemPath>,
    /// Every identifier outside of imports.
    words: HashSet<String>,
}

/// The modules of the crate by their paths.
struct Sources {
    modules: BTreeMap<ItemPath, Module>,
    /// Where macros with `#[macro_export]` are.
    macros: HashMap<String, String>,
}

fn is_test(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("cfg") && attr.meta.to_token_stream().to_string() == "cfg (test)")
}

fn attrs_of(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

/// The leaves of a `use`: path and name; a glob's name is `*`.
fn leaves(tree: &UseTree, prefix: &mut ItemPath, found: &mut Vec<(ItemPath, String)>) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            leaves(&path.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            found.push((prefix.clone(), prefix.last().cloned().unwrap_or_default()))
        }
        UseTree::Name(name) => found.push(([&prefix[..], &[name.ident.to_string()]].concat(), name.ident.to_string())),
        UseTree::Rename(name) => {
            found.push(([&prefix[..], &[name.ident.to_string()]].concat(), name.rename.to_string()))
        }
        UseTree::Glob(_) => found.push((prefix.clone(), "*".to_owned())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, prefix, found)),
    }
}

/// The paths of two and more segments in the tokens, and all identifiers. Braces of a `use` within a body are followed.
fn scan(tokens: TokenStream, paths: &mut Vec<ItemPath>, words: &mut HashSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut path = ItemPath::new();
    let mut at = 0;
    let colons = |at: usize| {
        let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        colon(at) && colon(at + 1)
    };
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(ident) => {
                words.insert(ident.to_string());
                path.push(ident.to_string());
                at += 1;
                if colons(at) {
                    at += 2;
                    if let Some(TokenTree::Group(group)) = tokens.get(at) {
                        let tree: syn::Result<UseTree> = syn::parse2(group.to_token_stream());
                        let mut found = Vec::new();
                        if let Ok(tree) = tree {
                            leaves(&tree, &mut path.clone(), &mut found);
                        }
                        paths.extend(found.into_iter().map(|(path, _)| path));
                        path.clear();
                        at += 1;
                    } else if !matches!(tokens.get(at), Some(TokenTree::Ident(_))) {
                        // `::<` or `::*`.
                        paths.push(std::mem::take(&mut path));
                    }
                } else {
                    paths.push(std::mem::take(&mut path));
                }
            }
            TokenTree::Group(group) => {
                scan(group.stream(), paths, words);
                at += 1;
            }
            _ => {
                path.clear();
                at += 1;
            }
        }
    }
}

impl Sources {
    fn read(root: &Path) -> Sources {
        let mut sources = Sources { modules: BTreeMap::new(), macros: HashMap::new() };
        sources.read_file(root, &root.join("lib.rs"), Vec::new());
        sources
    }

    fn read_file(&mut self, root: &Path, file: &Path, path: ItemPath) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = file.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
            Some("lib" | "mod") => file.parent().expect("a folder").to_owned(),
            _ => file.with_extension(""),
        };
        self.read_items(root, &name, &folder, path, parsed.items);
    }

    fn read_items(&mut self, root: &Path, file: &str, folder: &Path, path: ItemPath, items: Vec<Item>) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        let (mut imports, mut paths) = (Vec::new(), Vec::new());
        for item in items {
            if is_test(attrs_of(&item)) {
                continue;
            }
            if let Some(name) = name_of(&item) {
                module.items.insert(name.to_string());
            }
            match item {
                Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    let child = [&path[..], std::slice::from_ref(&name)].concat();
                    match inner.content {
                        Some((_, items)) => self.read_items(root, file, &folder.join(&name), child, items),
                        None => {
                            let files = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
                            let found: Option<&PathBuf> = files.iter().find(|file| file.exists());
                            self.read_file(root, found.unwrap_or_else(|| panic!("{file}: no file of {name}")), child);
                        }
                    }
                }
                Item::Use(item) => {
                    let mut found = Vec::new();
                    leaves(&item.tree, &mut Vec::new(), &mut found);
                    let public = !matches!(item.vis, Visibility::Inherited);
                    imports.extend(found.into_iter().map(|(path, name)| (path, name, public)));
                }
                item => {
                    if let Item::Macro(item) = &item
                        && item.attrs.iter().any(|attr| attr.path().is_ident("macro_export"))
                        && let Some(name) = &item.ident
                    {
                        self.macros.insert(name.to_string(), file.to_owned());
                    }
                    scan(item.to_token_stream(), &mut paths, &mut module.words);
                }
            }
        }
        for (target, name, public) in imports {
            match (absolute(&path, &target), name.as_str()) {
                (Some(target), "*") => module.globs.push(target),
                (Some(target), _) => _ = module.imports.insert(name, Import { target, public }),
                // From another crate, or from a module of this one's: the second is told when all are known.
                (None, "*") => {}
                (None, _) => _ = module.imports.insert(name, Import { target: [&path[..], &target].concat(), public }),
            }
        }
        module.paths = paths.into_iter().collect();
        self.modules.insert(path, module);
    }

    /// The file that defines what a path from the root leads to; none for modules themselves and other crates' items.
    fn resolve(&self, path: &[String], depth: usize) -> Option<&str> {
        let mut at = ItemPath::new();
        for (index, segment) in path.iter().enumerate() {
            let child = [&at[..], std::slice::from_ref(segment)].concat();
            if self.modules.contains_key(&child) {
                at = child;
                continue;
            }
            let module = self.modules.get(&at)?;
            if module.items.contains(segment) {
                return Some(&module.file);
            }
            if depth == 0 {
                return None;
            }
            if let Some(import) = module.imports.get(segment) {
                let target = [&import.target[..], &path[index + 1..]].concat();
                return if target[..] == *path { None } else { self.resolve(&target, depth - 1) };
            }
            let rest = &path[index..];
            let through = |glob: &ItemPath| self.resolve(&[&glob[..], rest].concat(), depth - 1);
            if let Some(found) = module.globs.iter().find_map(through) {
                return Some(found);
            }
            return self.macros.get(segment).filter(|_| at.is_empty()).map(String::as_str);
        }
        None
    }

    /// Which file uses which, with a path that shows it.
    fn uses(&self) -> BTreeMap<(&str, &str), String> {
        let mut uses = BTreeMap::new();
        for (path, module) in &self.modules {
            let mut note = |target: &[String]| {
                if let Some(file) = self.resolve(target, 20)
                    && file != module.file
                {
                    uses.entry((module.file.as_str(), file)).or_insert_with(|| target.join("::"));
                }
            };
            for (name, import) in &module.imports {
                // A re-export of what is below is no use, unless the name is used here, too.
                if !(import.public && import.target.starts_with(path)) || module.words.contains(name) {
                    note(&import.target);
                }
            }
            for written in &module.paths {
                match absolute(path, written) {
                    Some(target) => note(&target),
                    None => match module.imports.get(&written[0]) {
                        Some(import) => note(&[&import.target[..], &written[1..]].concat()),
                        None => note(&[&path[..], written].concat()),
                    },
                }
            }
        }
        uses
    }
}

/// A path that begins at the crate, this module or one above, from the root.
fn absolute(module: &[String], path: &[String]) -> Option<ItemPath> {
    let supers = path.iter().take_while(|segment| *segment == "super").count();
    match path.first()?.as_str() {
        "crate" | "kernlink" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => Some([module.get(..module.len().checked_sub(supers)?)?, &path[supers..]].concat()),
        _ => None,
    }
}

/// The groups of files in which each uses each other, directly or not.
fn circles(uses: &BTreeMap<(&str, &str), String>) -> BTreeSet<BTreeSet<String>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    uses.keys().for_each(|(from, to)| next.entry(from).or_default().push(to));
    let reach = |from: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            for to in next.get(at).into_iter().flatten() {
                if seen.insert(*to) {
                    open.push(to);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|&file| (file, reach(file))).collect();
    let circle = |file: &str, all: &BTreeSet<&str>| {
        let back = |other: &&&str| reached.get(**other).is_some_and(|others| others.contains(file));
        all.iter().filter(back).map(|&other| other.to_owned()).collect::<BTreeSet<String>>()
    };
    reached.iter().map(|(file, all)| circle(file, all)).filter(|circle| circle.len() > 1).collect()
}

/// The text of docs/design.md between comments with a name.
fn block<'a>(page: &'a str, name: &str) -> &'a str {
    let (opening, closing) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let found = page.split_once(&opening).and_then(|(_, rest)| rest.split_once(&closing));
    found.unwrap_or_else(|| panic!("docs/design.md has no block {opening}... {closing}")).0
}

/// What stands between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn design() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/design.md")).expect("the page is there")
}

fn sources() -> Sources {
    Sources::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[test]
fn no_room_uses_a_later_one() {
    let page = design();
    let mut rows: HashMap<&str, usize> = HashMap::new();
    for (row, line) in block(&page, "rooms").lines().skip(2).enumerate() {
        let cell = line.split('|').nth(1).expect("a cell");
        quoted(cell).for_each(|room| assert!(rows.insert(room, row).is_none(), "{room} has two rows"));
    }
    let told: Vec<&str> =
        block(&page, "rooms").lines().skip(2).flat_map(|line| quoted(line.split('|').nth(1).unwrap_or(""))).collect();
    let lib = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).expect("the file is there");
    let lib: Vec<&str> = lib.lines().filter_map(|line| line.strip_prefix("//! | [")?.split('|').next()).collect();
    assert_eq!(
        lib.iter().flat_map(|cell| quoted(cell)).collect::<Vec<_>>(),
        told,
        "the tables of lib.rs and docs/design.md"
    );
    let sources = sources();
    let rooms: BTreeSet<&str> = sources.modules.keys().filter(|path| path.len() == 1).map(|path| &*path[0]).collect();
    let rooms: BTreeSet<&str> = rooms.into_iter().filter(|room| *room != "__private").collect();
    assert_eq!(
        rows.keys().copied().collect::<BTreeSet<_>>(),
        rooms,
        "the rooms of docs/design.md and of framework/src"
    );
    let room = |file: &str| file.split(['/', '.']).next().and_then(|room| rows.get(room).copied());
    let uses = sources.uses();
    let wrong = uses.iter().filter(|((from, to), _)| matches!((room(from), room(to)), (Some(a), Some(b)) if a < b));
    let wrong: Vec<String> = wrong.map(|((from, to), path)| format!("{from} uses {path} of {to}")).collect();
    assert!(wrong.is_empty(), "rooms that use later ones:\n{}", wrong.join("\n"));
}

#[test]
fn no_files_use_each_other_but_those_that_the_design_names() {
    let page = design();
    let items = block(&page, "circles").lines().filter_map(|line| line.strip_prefix("- "));
    let named: Vec<Vec<&str>> = items
        .map(|item| {
            let (files, reason) = item.split_once(": ").expect("a reason");
            assert!(!reason.trim().is_empty(), "{files} has no reason");
            quoted(files).collect()
        })
        .collect();
    let sources = sources();
    let uses = sources.uses();
    let circles = circles(&uses);
    // A folder stands for all of its files.
    let is_named = |file: &str, names: &[&str]| {
        names.iter().any(|name| if name.ends_with('/') { file.starts_with(name) } else { file == *name })
    };
    let covers = |names: &[&str], circle: &BTreeSet<String>| circle.iter().all(|file| is_named(file, names));
    let show = |circle: &BTreeSet<String>| {
        let inner = uses.iter().filter(|((from, to), _)| circle.contains(*from) && circle.contains(*to));
        let inner: Vec<String> = inner.map(|((from, to), path)| format!("    {from} -> {to}: {path}\n")).collect();
        format!("- {}\n{}", circle.iter().cloned().collect::<Vec<_>>().join(", "), inner.concat())
    };
    let new = circles.iter().filter(|circle| !named.iter().any(|names| covers(names, circle)));
    let new: String = new.map(show).collect();
    assert!(new.is_empty(), "files that use each other, and that docs/design.md does not name:\n{new}");
    for names in named {
        let Some(circle) = circles.iter().find(|circle| covers(&names, circle)) else {
            panic!("docs/design.md names files that do not use each other: {names:?}");
        };
        for name in names {
            assert!(circle.iter().any(|file| is_named(file, &[name])), "docs/design.md: {name} is in no circle");
        }
    }
}

#[test]
fn circles_are_found() {
    let uses = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "e")];
    let uses = uses.map(|pair| (pair, String::new())).into_iter().collect();
    assert_eq!(circles(&uses), [["a", "b", "c"].map(str::to_owned).into_iter().collect()].into_iter().collect());
}
