//! The page of a family: a table of contents, and its ops.

use super::super::words::count;
use super::markup::{Html, address};
use super::{Catalogue, Page, devices, devices_text, document, op};

pub(super) fn page(catalogue: &Catalogue, at: usize) -> String {
    let page = &catalogue.pages[at];
    let title = format!("{} – Kernlink ops", page.title());
    // The page has no script, and none that got in would run.
    let policy = "script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'";
    let head = |html: &mut Html| {
        html.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", policy)]);
    };
    document(&title, "page", head, |html| {
        html.element("header", &[("class", "top")], |html| {
            html.element("nav", &[("aria-label", "Way back"), ("class", "way")], |html| {
                html.leaf("a", &[("href", "index.html")], "All ops");
                html.text(" / ");
                html.leaf("span", &[("aria-current", "page")], &page.title());
            });
            html.leaf("h1", &[], &page.title());
            html.element("p", &[("class", "lead")], |html| {
                let kernels = devices_text(&devices(page.ops.iter()));
                html.text(&format!("{}, {kernels}; ", count(page.ops.len(), "op")));
                html.text("crate ");
                html.leaf("code", &[], page.ops.first().map_or("", |op| op.entry.provider.name));
                html.text(".");
            });
        });
        contents(html, page);
        html.element("main", &[("id", "content")], |html| {
            page.ops.iter().for_each(|op| op::section(html, catalogue, at, op));
            neighbours(html, catalogue, at);
        });
    })
}

fn contents(html: &mut Html, page: &Page) {
    html.element("nav", &[("class", "contents"), ("aria-labelledby", "contents")], |html| {
        html.leaf("h2", &[("id", "contents")], "On this page");
        html.element("ul", &[], |html| {
            for op in &page.ops {
                html.element("li", &[], |html| {
                    html.leaf("a", &[("href", &address("", &op.entry.def.name))], &op.entry.def.name);
                });
            }
        });
    });
}

fn neighbours(html: &mut Html, catalogue: &Catalogue, at: usize) {
    html.element("nav", &[("class", "neighbours"), ("aria-label", "Neighbours")], |html| {
        let before = at.checked_sub(1).and_then(|before| catalogue.pages.get(before));
        if let Some(page) = before {
            html.leaf("a", &[("rel", "prev"), ("href", &page.file)], &format!("← {}", page.title()));
        }
        if let Some(page) = catalogue.pages.get(at + 1) {
            html.leaf("a", &[("class", "next"), ("rel", "next"), ("href", &page.file)], &format!("{} →", page.title()));
        }
    });
}
