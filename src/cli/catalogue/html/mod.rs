//! The catalogue as web pages: an index, a page for each family of ops, and one for the rewrites of graphs. They need nothing
//! but themselves.

mod family;
mod index;
mod markdown;
mod markup;
mod op;
mod rewrites;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::collect::OpEntry;
use crate::error::Result;
use crate::kernel::{KernelDef, Provider};
use crate::optimize::rewrite::RewriteDef;
use crate::registry::Registry;

use self::markup::{Html, address};
use super::families::{self, Family};
use super::folder;
use super::words::count;

const STYLE: &str = include_str!("style.css");
const STYLE_FILE: &str = "kernlink-ops.css";

/// Writes the pages of the ops and rewrites of the crates that are wanted, and says what was written.
pub(super) fn write(registry: &Registry, wanted: impl Fn(&Provider) -> bool, output: &Path) -> Result<String> {
    let rewrites = super::rewrites::sorted(|rewrite| wanted(rewrite.provider));
    let catalogue = Catalogue::of(registry, |entry| wanted(entry.provider), rewrites);
    let mut files = vec![(STYLE_FILE.to_owned(), STYLE.to_owned()), ("index.html".to_owned(), index::page(&catalogue))];
    for (at, page) in catalogue.pages.iter().enumerate() {
        files.push((page.file.clone(), family::page(&catalogue, at)));
    }
    if !catalogue.rewrites.is_empty() {
        files.push((rewrites::FILE.to_owned(), rewrites::page(&catalogue)));
    }
    folder::write(output, &files)?;
    Ok(format!(
        "{}, {} and {} on {}: {}\n",
        count(catalogue.op_count(), "op"),
        count(catalogue.kernel_count(), "kernel"),
        count(catalogue.rewrites.len(), "rewrite"),
        count(files.len() - 1, "page"),
        output.join("index.html").display()
    ))
}

/// The data that all pages share.
struct Catalogue {
    pages: Vec<Page>,
    /// On which page each op is.
    places: HashMap<String, usize>,
    /// By name.
    rewrites: Vec<&'static RewriteDef>,
}

/// A family's page.
struct Page {
    family: Family,
    file: String,
    ops: Vec<Op>,
}

/// An op with its kernels.
struct Op {
    entry: &'static OpEntry,
    kernels: Vec<&'static KernelDef>,
}

impl Catalogue {
    fn of(registry: &Registry, wanted: impl Fn(&OpEntry) -> bool, rewrites: Vec<&'static RewriteDef>) -> Catalogue {
        let mut kernels: HashMap<&str, Vec<&'static KernelDef>> = HashMap::new();
        for kernel in registry.kernels() {
            kernels.entry(kernel.op).or_default().push(kernel);
        }
        let pages: Vec<Page> = families::sorted(registry.ops().filter(|entry| wanted(entry)))
            .into_iter()
            .map(|(family, file, ops)| {
                let ops = ops
                    .into_iter()
                    .map(|entry| Op { entry, kernels: kernels.remove(&*entry.def.name).unwrap_or_default() });
                Page { family, file, ops: ops.collect() }
            })
            .collect();
        let names = |(at, page): (usize, &Page)| {
            page.ops.iter().map(move |op| (op.entry.def.name.to_string(), at)).collect::<Vec<_>>()
        };
        let places = pages.iter().enumerate().flat_map(names).collect();
        Catalogue { pages, places, rewrites }
    }

    fn op_count(&self) -> usize {
        self.places.len()
    }

    fn kernel_count(&self) -> usize {
        self.devices().values().sum()
    }

    /// How many kernels there are for each device type.
    fn devices(&self) -> BTreeMap<&'static str, usize> {
        devices(self.pages.iter().flat_map(|page| &page.ops))
    }

    /// Where an op is documented, seen from another page or op; none for the op itself.
    fn link(&self, op: &str, from_page: Option<usize>, from_op: &str) -> Option<String> {
        let &place = self.places.get(op).filter(|_| op != from_op)?;
        let file = if Some(place) == from_page { "" } else { &self.pages[place].file };
        Some(address(file, op))
    }
}

impl Page {
    /// `math / matrix`
    fn title(&self) -> String {
        self.family.title()
    }
}

/// How many kernels there are for each device type.
fn devices<'a>(ops: impl Iterator<Item = &'a Op>) -> BTreeMap<&'static str, usize> {
    let mut devices = BTreeMap::new();
    for kernel in ops.flat_map(|op| &op.kernels) {
        *devices.entry(kernel.device.0).or_default() += 1;
    }
    devices
}

/// `5 kernels for CPU, 2 for GPU`
fn devices_text(devices: &BTreeMap<&'static str, usize>) -> String {
    let mut devices = devices.iter();
    let Some((device, &number)) = devices.next() else { return "no kernels".to_owned() };
    let first = format!("{} for {device}", count(number, "kernel"));
    devices.fold(first, |text, (device, number)| format!("{text}, {number} for {device}"))
}

/// A whole page: its head, a link past the navigation, and the foot.
fn document(title: &str, class: &str, head: impl FnOnce(&mut Html), body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::new();
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.void("meta", &[("charset", "utf-8")]);
            html.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            html.void("meta", &[("name", "generator"), ("content", "kernlink ops --format html")]);
            head(html);
            html.leaf("title", &[], title);
            html.void("link", &[("rel", "stylesheet"), ("href", STYLE_FILE)]);
        });
        html.element("body", &[("class", class)], |html| {
            html.leaf("a", &[("class", "skip"), ("href", "#content")], "Skip to the contents");
            body(html);
            html.element("footer", &[], |html| {
                html.element("p", &[], |html| {
                    html.text("Written from the linked registry by ");
                    html.leaf("code", &[], "kernlink ops --format html");
                    html.text(concat!(", Kernlink ", env!("CARGO_PKG_VERSION"), "."));
                });
            });
        });
    });
    html.into_document()
}
