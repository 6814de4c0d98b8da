//! All that is known of one op.

use crate::op::{ArgDef, AttrDef, OpDef};

use super::super::families::short;
use super::super::rows::{self, Row};
use super::super::words::{self, count};
use super::super::wrapper::Wrapper;
use super::markdown::{self, Links};
use super::markup::{Html, address};
use super::{Catalogue, Op, rewrites};

pub(super) fn section(html: &mut Html, catalogue: &Catalogue, page: usize, op: &Op) {
    let (entry, def) = (op.entry, op.entry.def);
    let links: Links<'_> = &|name| catalogue.link(name, Some(page), &def.name);
    html.element("section", &[("class", "op"), ("id", &def.name)], |html| {
        html.element("h2", &[], |html| {
            html.leaf("a", &[("href", &address("", &def.name))], &def.name);
        });
        flags(html, op);
        if !def.summary.is_empty() {
            html.element("p", &[("class", "summary")], |html| markdown::inline(html, &def.summary, links));
        }
        if let Some(deprecation) = &def.deprecation {
            html.element("p", &[("class", "warning")], |html| {
                html.leaf("strong", &[], &format!("Deprecated since GraphDef version {}.", deprecation.version));
                html.text(" ");
                markdown::inline(html, &deprecation.explanation, links);
            });
        }
        code(html, "signature", &words::signature(def));
        if !def.description.is_empty() {
            html.element("div", &[("class", "description")], |html| {
                markdown::blocks(html, &def.description, links);
            });
        }
        arguments(html, def, "Inputs", &def.inputs, words::input, links);
        arguments(html, def, "Outputs", &def.outputs, words::output, links);
        attrs(html, def, links);
        if let Some(wrapper) = Wrapper::of(entry) {
            html.leaf("h3", &[], "In Rust");
            code(html, "wrapper", &wrapper.text());
        }
        kernels(html, op);
        rewrites::of_op(html, catalogue, &def.name);
        html.element("p", &[("class", "source")], |html| {
            html.text("Declared at ");
            html.leaf("code", &[], &short(entry.location));
            html.text(", crate ");
            html.leaf("code", &[], entry.provider.name);
            if let Some(feature) = words::feature(entry) {
                html.text(", feature ");
                html.leaf("code", &[], feature);
            }
            html.text(".");
        });
    });
}

fn flags(html: &mut Html, op: &Op) {
    let flags = words::flags(op.entry);
    if !flags.is_empty() {
        html.element("ul", &[("class", "flags"), ("aria-label", "Flags")], |html| {
            flags.iter().for_each(|flag| {
                html.leaf("li", &[], flag);
            });
        });
    }
}

fn code(html: &mut Html, class: &str, text: &str) {
    html.element("pre", &[("class", class), ("tabindex", "0")], |html| {
        html.leaf("code", &[], text);
    });
}

/// A table that scrolls by itself where the screen is narrow.
fn table(html: &mut Html, class: &str, label: &str, columns: &[&str], body: impl FnOnce(&mut Html)) {
    let class = format!("scroll {class}");
    let scroll = [("class", &*class), ("tabindex", "0"), ("role", "region"), ("aria-label", label)];
    html.element("div", &scroll, |html| {
        html.element("table", &[], |html| {
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    columns.iter().for_each(|column| {
                        html.leaf("th", &[("scope", "col")], column);
                    });
                });
            });
            html.element("tbody", &[], body);
        });
    });
}

fn row_head(html: &mut Html, name: &str) {
    html.element("th", &[("scope", "row")], |html| {
        html.leaf("code", &[], name);
    });
}

fn arguments(
    html: &mut Html,
    op: &OpDef,
    title: &str,
    args: &[ArgDef],
    words: impl Fn(&OpDef, usize) -> String,
    links: Links<'_>,
) {
    if args.is_empty() {
        return;
    }
    html.leaf("h3", &[], title);
    table(html, "arguments", &format!("{title} of {}", op.name), &["Name", "Type", "What it is"], |html| {
        for (index, arg) in args.iter().enumerate() {
            html.element("tr", &[], |html| {
                row_head(html, &arg.name);
                html.element("td", &[], |html| {
                    html.leaf("code", &[], &words::arg_type(arg));
                });
                html.element("td", &[], |html| {
                    if !arg.description.is_empty() {
                        html.element("div", &[("class", "description")], |html| {
                            markdown::cell(html, &arg.description, links);
                        });
                    }
                    let words = words(op, index);
                    html.element("div", &[("class", "dtypes")], |html| {
                        markdown::inline(html, &capital(&words), &|_| None);
                        html.text(".");
                    });
                });
            });
        }
    });
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn attrs(html: &mut Html, op: &OpDef, links: Links<'_>) {
    if op.attrs.is_empty() {
        return;
    }
    html.leaf("h3", &[], "Attrs");
    let columns = ["Name", "Type", "Default", "What it is"];
    table(html, "attrs", &format!("Attrs of {}", op.name), &columns, |html| {
        for attr in op.attrs.iter() {
            html.element("tr", &[], |html| {
                row_head(html, &attr.name);
                html.element("td", &[], |html| {
                    html.leaf("code", &[], &attr.ty.to_string());
                });
                html.element("td", &[], |html| default(html, op, attr));
                html.element("td", &[], |html| {
                    if !attr.description.is_empty() {
                        html.element("div", &[("class", "description")], |html| {
                            markdown::cell(html, &attr.description, links);
                        });
                    }
                    constraint(html, attr);
                });
            });
        }
    });
}

fn default(html: &mut Html, op: &OpDef, attr: &AttrDef) {
    match words::default(attr) {
        Some(value) => {
            html.leaf("code", &[], &value);
        }
        None if op.is_inferred(&attr.name) => {
            html.leaf("span", &[("class", "quiet")], "from the inputs");
        }
        None => {
            html.leaf("span", &[("class", "quiet")], "required");
        }
    }
}

fn constraint(html: &mut Html, attr: &AttrDef) {
    let allowed = words::allowed(attr);
    if !allowed.is_empty() {
        html.element("div", &[("class", "dtypes")], |html| {
            html.text(if attr.ty.list { "Each one of " } else { "One of " });
            values(html, &allowed);
            html.text(".");
        });
    }
    if let Some(minimum) = words::minimum(attr) {
        html.leaf("div", &[("class", "dtypes")], &format!("{}.", capital(&minimum)));
    }
}

/// Values, each as code.
fn values(html: &mut Html, values: &[String]) {
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            html.text(", ");
        }
        html.leaf("code", &[], value);
    }
}

fn kernels(html: &mut Html, op: &Op) {
    html.element("h3", &[], |html| {
        html.text("Kernels");
        if !op.kernels.is_empty() {
            html.leaf("small", &[], &format!(" {}", op.kernels.len()));
        }
    });
    if op.kernels.is_empty() {
        html.leaf("p", &[("class", "quiet")], "None is linked.");
        return;
    }
    let rows = rows::of(&op.kernels);
    let any = |of: fn(&Row) -> bool| rows.iter().any(of);
    let label = any(|row| !row.kernel.label.is_empty());
    let host = any(|row| !row.kernel.host_memory.is_empty());
    let requires = any(|row| !row.kernel.requires.is_empty());
    let system = any(|row| row.kernel.system);
    let mut columns = vec!["Device", "For", "Priority"];
    let optional = [(label, "Label"), (host, "In host memory"), (requires, "Requires"), (system, "System")];
    columns.extend(optional.iter().filter(|column| column.0).map(|column| column.1));
    columns.push("Rust type and source");
    table(html, "kernels", &format!("Kernels of {}", op.entry.def.name), &columns, |html| {
        for row in &rows {
            let kernel = row.kernel;
            html.element("tr", &[("data-kernels", &row.count.to_string())], |html| {
                html.leaf("th", &[("scope", "row")], kernel.device.0);
                html.element("td", &[], |html| constraints(html, row));
                html.leaf("td", &[], &kernel.priority.to_string());
                if label {
                    html.element("td", &[], |html| {
                        if !kernel.label.is_empty() {
                            html.leaf("code", &[], kernel.label);
                        }
                    });
                }
                if host {
                    let names: Vec<String> = kernel.host_memory.iter().map(|name| name.to_string()).collect();
                    html.element("td", &[], |html| values(html, &names));
                }
                if requires {
                    let names: Vec<String> = kernel.requires.iter().map(|name| name.to_string()).collect();
                    html.element("td", &[], |html| values(html, &names));
                }
                if system {
                    html.leaf("td", &[], if kernel.system { "yes" } else { "" });
                }
                html.element("td", &[], |html| {
                    html.leaf("code", &[], &row.type_name());
                    html.element("div", &[("class", "place")], |html| {
                        html.text(&short(kernel.location));
                        if !kernel.provider.name.starts_with("kernlink-kernels") {
                            html.text(&format!(" ({})", kernel.provider.name));
                        }
                    });
                });
            });
        }
    });
    for (attr, dtypes) in rows::without_kernel(op.entry.def, &op.kernels) {
        html.element("p", &[("class", "quiet")], |html| {
            html.text("No kernel for ");
            html.leaf("code", &[], &attr);
            html.text(" = ");
            values(html, &dtypes.iter().map(|dtype| dtype.to_string()).collect::<Vec<_>>());
            html.text(".");
        });
    }
}

fn constraints(html: &mut Html, row: &Row) {
    if row.constraints.is_empty() {
        html.leaf("span", &[("class", "quiet")], "all");
    }
    for (attr, of) in &row.constraints {
        html.element("div", &[], |html| {
            html.leaf("code", &[], attr);
            html.text(": ");
            values(html, &of.shown());
        });
    }
    if row.count > 1 {
        html.leaf("div", &[("class", "quiet")], &count(row.count, "kernel"));
    }
}
