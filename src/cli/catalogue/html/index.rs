//! The index: all families and their ops, and a search among them.

use super::super::words::count;
use super::super::wrapper::Wrapper;
use super::markdown;
use super::markup::{Html, address};
use super::{Catalogue, Page, devices, devices_text, document, rewrites};

const SEARCH: &str = include_str!("search.js");

pub(super) fn page(catalogue: &Catalogue) -> String {
    let body = |html: &mut Html| {
        html.element("header", &[("class", "top")], |html| {
            html.leaf("h1", &[], "Ops and kernels");
            let (ops, families) = (count(catalogue.op_count(), "op"), catalogue.pages.len());
            let families = if families == 1 { "1 family".to_owned() } else { format!("{families} families") };
            let summary = format!("{ops} in {families}, {}.", devices_text(&catalogue.devices()));
            html.element("p", &[("class", "lead")], |html| {
                html.text(&summary);
                if !catalogue.rewrites.is_empty() {
                    html.text(" ");
                    html.leaf("a", &[("href", rewrites::FILE)], &count(catalogue.rewrites.len(), "rewrite"));
                    html.text(" of graphs.");
                }
            });
            search(html);
        });
        overview(html, catalogue);
        html.element("main", &[("id", "content")], |html| {
            for pages in catalogue.pages.chunk_by(|a, b| a.family.group() == b.family.group()) {
                html.element("section", &[("class", "group"), ("data-list", "")], |html| {
                    html.leaf("h2", &[], pages[0].family.group());
                    pages.iter().for_each(|page| list(html, page, pages.len()));
                });
            }
        });
        html.raw("script", SEARCH);
    };
    document("Ops and kernels – Kernlink", "index", |_| {}, body)
}

/// The search, which only shows where scripts run.
fn search(html: &mut Html) {
    html.element("form", &[("id", "search"), ("role", "search"), ("hidden", "")], |html| {
        html.leaf("label", &[("for", "query")], "Find ops by name or summary");
        let input = [("id", "query"), ("type", "search"), ("autocomplete", "off"), ("spellcheck", "false")];
        html.void("input", &input);
        html.leaf("output", &[("id", "found"), ("for", "query"), ("aria-live", "polite")], "");
    });
}

/// The families with what they have.
fn overview(html: &mut Html, catalogue: &Catalogue) {
    let all = catalogue.devices();
    html.element("nav", &[("class", "overview"), ("id", "families"), ("aria-labelledby", "overview")], |html| {
        html.leaf("h2", &[("id", "overview")], "Families");
        let scroll = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-labelledby", "overview")];
        html.element("div", &scroll, |html| {
            html.element("table", &[], |html| {
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| {
                        html.leaf("th", &[("scope", "col")], "Family");
                        html.leaf("th", &[("scope", "col"), ("class", "number")], "Ops");
                        for device in all.keys() {
                            html.leaf("th", &[("scope", "col"), ("class", "number")], &format!("{device} kernels"));
                        }
                    });
                });
                html.element("tbody", &[], |html| {
                    for page in &catalogue.pages {
                        let own = devices(page.ops.iter());
                        html.element("tr", &[], |html| {
                            html.element("th", &[("scope", "row")], |html| {
                                html.leaf("a", &[("href", &page.file)], &page.title());
                            });
                            html.leaf("td", &[("class", "number")], &page.ops.len().to_string());
                            for device in all.keys() {
                                let number = own.get(device).copied().unwrap_or_default();
                                html.leaf("td", &[("class", "number")], &number.to_string());
                            }
                        });
                    }
                });
            });
        });
    });
}

/// A family's ops.
fn list(html: &mut Html, page: &Page, families: usize) {
    html.element("section", &[("class", "family"), ("data-list", "")], |html| {
        if families > 1 || page.family.name() != page.family.group() {
            html.element("h3", &[], |html| {
                html.leaf("a", &[("href", &page.file)], &page.family.name());
            });
        }
        html.element("ul", &[("class", "ops")], |html| {
            for op in &page.ops {
                let def = op.entry.def;
                // What else the op is found by: its family, and the name of its wrapper.
                let function = Wrapper::of(op.entry).map(|wrapper| wrapper.function).unwrap_or_default();
                let also = format!("{} {function}", page.title());
                html.element("li", &[("data-op", &also)], |html| {
                    html.leaf("a", &[("href", &address(&page.file, &def.name))], &def.name);
                    html.text(" ");
                    html.element("span", &[], |html| markdown::inline(html, &def.summary, &|_| None));
                });
            }
        });
    });
}
