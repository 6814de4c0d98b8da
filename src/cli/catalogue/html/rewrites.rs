//! The page of the rewrites of graphs, and the list of those that concern an op.

use crate::optimize::rewrite::RewriteDef;

use super::super::families::short;
use super::super::rewrites::{flags, made, pattern, taken};
use super::super::words::count;
use super::markdown;
use super::markup::{Html, address};
use super::{Catalogue, document};

pub(super) const FILE: &str = "rewrites.html";

pub(super) fn page(catalogue: &Catalogue) -> String {
    let policy = "script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'";
    let head = |html: &mut Html| {
        html.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", policy)]);
    };
    document("Rewrites – Kernlink ops", "page", head, |html| {
        html.element("header", &[("class", "top")], |html| {
            html.element("nav", &[("aria-label", "Way back"), ("class", "way")], |html| {
                html.leaf("a", &[("href", "index.html")], "All ops");
                html.text(" / ");
                html.leaf("span", &[("aria-current", "page")], "Rewrites");
            });
            html.leaf("h1", &[], "Rewrites");
            let number = count(catalogue.rewrites.len(), "rewrite");
            html.element("p", &[("class", "lead")], |html| {
                html.text(&format!("{number} of graphs: what a session puts in the place of a few nodes. "));
                html.leaf("code", &[], "KERNLINK_WITHOUT=NAME");
                html.text(" switches one off.");
            });
        });
        html.element("nav", &[("class", "contents"), ("aria-labelledby", "contents")], |html| {
            html.leaf("h2", &[("id", "contents")], "On this page");
            html.element("ul", &[], |html| {
                for rewrite in &catalogue.rewrites {
                    html.element("li", &[], |html| {
                        html.leaf("a", &[("href", &address("", &id(rewrite.name)))], rewrite.name);
                    });
                }
            });
        });
        html.element("main", &[("id", "content")], |html| {
            catalogue.rewrites.iter().for_each(|rewrite| section(html, catalogue, rewrite));
        });
    })
}

/// The id of a rewrite's section, which is none of the page's own.
fn id(name: &str) -> String {
    format!("rewrite-{name}")
}

fn section(html: &mut Html, catalogue: &Catalogue, rewrite: &RewriteDef) {
    let id = id(rewrite.name);
    html.element("section", &[("class", "op rewrite"), ("id", &id), ("data-rewrite", rewrite.name)], |html| {
        html.element("h2", &[], |html| {
            html.leaf("a", &[("href", &address("", &id))], rewrite.name);
        });
        html.element("ul", &[("class", "flags"), ("aria-label", "Flags")], |html| {
            flags(rewrite).iter().for_each(|flag| _ = html.leaf("li", &[], flag));
        });
        html.element("p", &[("class", "summary")], |html| {
            markdown::inline(html, rewrite.summary, &|name| catalogue.link(name, None, ""));
        });
        html.element("pre", &[("class", "signature"), ("tabindex", "0")], |html| {
            html.leaf("code", &[], &pattern(&rewrite.pattern));
        });
        for (title, ops) in [("Takes ", taken(rewrite)), ("Makes ", made(rewrite))] {
            if ops.is_empty() {
                continue;
            }
            html.element("p", &[], |html| {
                html.text(title);
                for (at, op) in ops.into_iter().enumerate() {
                    html.text(if at > 0 { ", " } else { "" });
                    match catalogue.link(op, None, "") {
                        Some(link) => html.leaf("a", &[("href", &link)], op),
                        None => html.leaf("code", &[], op),
                    };
                }
                html.text(".");
            });
        }
        html.element("p", &[("class", "source")], |html| {
            html.text(&format!("Benefit {}. Declared at ", rewrite.benefit));
            html.leaf("code", &[], &short(rewrite.location));
            html.text(", crate ");
            html.leaf("code", &[], rewrite.provider.name);
            html.text(".");
        });
    });
}

/// The rewrites that take nodes of an op or make some.
pub(super) fn of_op(html: &mut Html, catalogue: &Catalogue, op: &str) {
    let of = |ops: fn(&RewriteDef) -> std::collections::BTreeSet<&'static str>| -> Vec<&'static str> {
        let rewrites = catalogue.rewrites.iter().filter(|rewrite| ops(rewrite).contains(op));
        rewrites.map(|rewrite| rewrite.name).collect()
    };
    let lists = [("Taken by ", of(taken)), ("Made by ", of(made))];
    if lists.iter().all(|(_, names)| names.is_empty()) {
        return;
    }
    html.leaf("h3", &[], "Rewrites");
    for (title, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        html.element("p", &[("class", "rewrites")], |html| {
            html.text(title);
            for (at, name) in names.iter().enumerate() {
                html.text(if at > 0 { ", " } else { "" });
                html.leaf("a", &[("href", &address(FILE, &id(name)))], name);
            }
            html.text(".");
        });
    }
}
