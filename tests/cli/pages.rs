//! The catalogue as HTML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::command::{bad, folder, good, holds};
use crate::html;

fn files(folder: &Path) -> BTreeMap<String, (String, std::time::SystemTime)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let file = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), (text, entry.metadata().unwrap().modified().unwrap()))
    };
    entries.map(file).collect()
}

fn empty_folder(name: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::remove_dir_all(&folder).unwrap();
    folder
}

fn write_pages(folder: &Path) -> String {
    good(&["ops", "--format", "html", "--output", folder.to_str().unwrap()])
}

#[test]
fn every_op_and_kernel_is_on_one_page() {
    let folder = empty_folder("catalogue");
    let said = write_pages(&folder);
    let registry = kernlink::registry().unwrap();
    let numbers = [format!("{} ops", registry.ops().count()), format!("{} kernels", registry.kernels().count())];
    holds(&said, &[&numbers[0], &numbers[1], "index.html"]);
    let pages: BTreeMap<String, html::Page> = files(&folder)
        .into_iter()
        .filter(|(name, _)| name.ends_with(".html"))
        .map(|(name, (text, _))| {
            let page = html::parse(&text).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            (name, page)
        })
        .collect();
    let index = &pages["index.html"];
    let listed = index.elements.iter().filter(|element| element.attributes.contains_key("data-op")).count();
    assert_eq!(listed, registry.ops().count());
    let linked: Vec<&str> = index.attribute("href").collect();
    for op in registry.ops() {
        let name = &*op.def.name;
        let [(file, page)] = pages.iter().filter(|(_, page)| page.ops.contains_key(name)).collect::<Vec<_>>()[..]
        else {
            panic!("{name} is not on one page");
        };
        assert!(linked.contains(&&*format!("{file}#{name}")), "{name} is not in the index");
        let parts = op.location.file.trim_start_matches("ops/src/").trim_end_matches(".rs").replace('/', "-");
        assert_eq!(*file, format!("{parts}.html"), "{name}");
        let (text, kernels) = (&page.ops[name], registry.kernels_of(name));
        let of_op = page.elements.iter().filter(|element| element.op.as_deref() == Some(name));
        let rows = of_op.filter_map(|element| element.attributes.get("data-kernels"));
        assert_eq!(rows.map(|row| row.parse::<usize>().unwrap()).sum::<usize>(), kernels.len(), "{name}");
        holds(text, &[&op.location.to_string(), op.provider.name]);
        for kernel in kernels {
            holds(text, &[kernel.device.0, &kernel.priority.to_string(), &kernel.location.to_string()]);
            holds(text, kernel.host_memory);
            for constraint in kernel.constraints {
                let values = constraint.to_string();
                let values = values.split_once(" in [").unwrap().1.trim_end_matches(']');
                values.split(", ").for_each(|value| holds(text, &[constraint.attr, value]));
            }
        }
        for part in op.def.attrs.iter().map(|attr| &attr.name).chain(op.def.inputs.iter().map(|arg| &arg.name)) {
            holds(text, &[part]);
        }
    }
    let sum = pages.values().map(|page| page.ops.len()).sum::<usize>();
    assert_eq!(sum, registry.ops().count());
    for (name, page) in &pages {
        links_resolve(name, page, &pages, &folder);
        assert_eq!(page.count("h1"), 1, "{name}");
        assert_eq!(page.count("main"), 1, "{name}");
        assert_eq!(page.count("script"), usize::from(name == "index.html"), "{name}");
        assert!(page.attribute("src").next().is_none(), "{name} loads something");
        let cells = page.elements.iter().filter(|element| element.tag == "th");
        cells.for_each(|cell| assert!(cell.attributes.contains_key("scope"), "{name}"));
    }
    holds(&pages["nn-activation.html"].ops["LogSoftmax"], &["log_softmax(scope, logits: Output)"]);
    assert!(pages["nn-activation.html"].attribute("href").any(|href| href == "#Softmax"), "ops link to each other");
}

#[test]
fn every_rewrite_is_on_a_page_with_links_to_its_ops_and_back() {
    let folder = empty_folder("catalogue-rewrites");
    let said = write_pages(&folder);
    let all = kernlink::optimize::rewrite::rewrites();
    holds(&said, &[&format!("{} rewrites", all.len())]);
    let text = std::fs::read_to_string(folder.join("rewrites.html")).unwrap();
    let page = html::parse(&text).unwrap();
    let listed: Vec<&str> = page.attribute("data-rewrite").collect();
    let mut names: Vec<&str> = all.iter().map(|rewrite| rewrite.name).collect();
    names.sort_unstable();
    assert_eq!(listed, names, "all, by name");
    let links: Vec<&str> = page.attribute("href").collect();
    for rewrite in all {
        holds(&text, &[rewrite.provider.name, &format!("Benefit {}.", rewrite.benefit)]);
        let ops = rewrite.pattern.nodes.iter().flat_map(|node| node.ops).copied();
        for op in ops.chain(rewrite.creates.iter().map(|created| created.op)) {
            let link = links.iter().find(|link| link.ends_with(&format!(".html#{}", op.name)));
            let Some((file, _)) = link.and_then(|link| link.split_once('#')) else {
                panic!("{} has no link to {}", rewrite.name, op.name);
            };
            let back = format!("href=\"rewrites.html#rewrite-{}\"", rewrite.name);
            holds(&std::fs::read_to_string(folder.join(file)).unwrap(), &[&back]);
        }
    }
    let flags = |name: &str| {
        let section = text.split("data-rewrite=").find(|part| part.starts_with(&format!("\"{name}\""))).unwrap();
        section.split("class=\"summary\"").next().unwrap().to_owned()
    };
    holds(&flags("fuse-sigmoid"), &["<li>sessions only</li>"]);
    holds(&flags("merge-scales"), &["<li>portable</li>", "<li>inexact: only when asked for</li>"]);
    holds(&std::fs::read_to_string(folder.join("index.html")).unwrap(), &["href=\"rewrites.html\""]);
    // In the terminal, too.
    let op = good(&["ops", "Transpose"]);
    let (taken, made) = op.split_once("rewrites that make it:").unwrap();
    holds(taken.split_once("rewrites that take it:").unwrap().1, &["merge-transposes", "drop-transpose"]);
    holds(made, &["merge-transposes"]);
}

fn links_resolve(name: &str, page: &html::Page, pages: &BTreeMap<String, html::Page>, folder: &Path) {
    let ids: Vec<&str> = page.attribute("id").collect();
    let once: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), once.len(), "{name} has ids twice");
    for labelled in page.attribute("aria-labelledby").chain(page.attribute("for")) {
        assert!(ids.contains(&labelled), "{name}: no {labelled}");
    }
    for href in page.attribute("href") {
        let (file, id) = href.split_once('#').unwrap_or((href, ""));
        let target = if file.is_empty() { name } else { file };
        assert!(folder.join(target).is_file(), "{name} links to {href}");
        let id = id.replace("%3E", ">");
        assert!(id.is_empty() || pages[target].attribute("id").any(|own| own == id), "{name} links to {href}");
    }
}

#[test]
fn pages_are_written_again_and_nothing_else() {
    let folder = empty_folder("catalogue-again");
    write_pages(&folder);
    let first = files(&folder);
    write_pages(&folder);
    assert_eq!(files(&folder), first, "a second run changes nothing, times included");

    // An earlier run knew one family more, and a person has put notes there.
    let list = std::fs::read_to_string(folder.join(".kernlink-ops")).unwrap();
    std::fs::write(folder.join(".kernlink-ops"), list + "gone.html\n").unwrap();
    std::fs::write(folder.join("gone.html"), "old").unwrap();
    std::fs::write(folder.join("notes.html"), "mine").unwrap();
    std::fs::write(folder.join("index.html"), "changed").unwrap();
    write_pages(&folder);
    let mut again = files(&folder);
    assert_eq!(again.remove("notes.html").unwrap().0, "mine");
    let contents = |files: &BTreeMap<String, (String, _)>| -> Vec<(String, String)> {
        files.iter().map(|(name, (text, _))| (name.clone(), text.clone())).collect()
    };
    assert_eq!(contents(&again), contents(&first), "what is no longer needed is gone, what was changed is mended");
}

#[test]
fn no_file_of_somebody_else_is_overwritten() {
    let folder = empty_folder("catalogue-foreign");
    let output = folder.to_str().unwrap().to_owned();
    let args = ["ops", "--format", "html", "--output", &output];
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("index.html"), "mine").unwrap();
    bad(&args, 2, &["ALREADY_EXISTS", "index.html", "--output"]);
    assert_eq!(files(&folder).len(), 1, "nothing is written");
    let head = std::fs::read_to_string({
        let other = empty_folder("catalogue-foreign-list");
        write_pages(&other);
        other.join(".kernlink-ops")
    });
    let head = head.unwrap().lines().next().unwrap().to_owned();
    for list in ["mine".to_owned(), format!("{head}\n../index.html\n"), format!("{head}\nindex.html/../../x.html\n")] {
        std::fs::write(folder.join(".kernlink-ops"), list).unwrap();
        bad(&args, 2, &["ALREADY_EXISTS", ".kernlink-ops"]);
    }
    assert_eq!(files(&folder).len(), 2, "nothing is written");
    bad(&["ops", "--format", "html", "--output", env!("CARGO_BIN_EXE_kernlink")], 2, &["cannot make the folder"]);
    bad(&["ops", "MatMul", "--format", "html"], 2, &["leave `MatMul` out"]);
    bad(&["ops", "--output", &output], 2, &["--format html"]);
}
