//! Pages of ops that a careless or hostile crate might bring.

use crate::collect::OpEntry;
use crate::dtype::DataType;
use crate::kernel::{AttrConstraint, ConstraintValues, DeviceType, KernelDef, Location, Provider};
use crate::op::{AllowedValues, ArgDef, ArgType, AttrBase, AttrDef, AttrDefault, AttrType, Deprecation, OpDef, Str};
use crate::registry::Registry;

use super::*;

#[path = "../../../../tests/support/html.rs"]
mod html;

const HOSTILE: &str = "</p></code></table></section><script>alert(1)</script><img src=x onerror='alert(2)'>\" \
                       onload=\"alert(3)\" & &amp; ]]> <!-- [x](javascript:alert(4)) [`y`](data:text/html,z)\u{0}\u{202e}";

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn entry(def: OpDef, provider: &'static Provider, file: &'static str) -> &'static OpEntry {
    leak(OpEntry {
        def: leak(def),
        shape_fn: None,
        system: true,
        selected: true,
        provider,
        location: Location { file, line: 1 },
        writable: Default::default(),
    })
}

fn provider(name: &'static str) -> &'static Provider {
    let location = Location { file: "src/lib.rs", line: 1 };
    leak(Provider::new(name, location))
}

/// An op with the same text wherever it may have one.
fn op(name: &'static str, text: &'static str) -> OpDef {
    let str = |text: &'static str| Str::Borrowed(text);
    let (ty, number_attr) = (ArgType::Attr(str("T")), None);
    let arg = |name| ArgDef {
        name: str(name),
        description: str(text),
        ty: ty.clone(),
        number_attr: number_attr.clone(),
        is_ref: false,
    };
    let string = AttrDef {
        name: str("mode"),
        ty: AttrType { base: AttrBase::String, list: false },
        default: Some(AttrDefault::String(text.as_bytes().into())),
        description: str(text),
        minimum: None,
        allowed: Some(AllowedValues::Strings(vec![str(text)].into())),
    };
    let dtypes = AllowedValues::Types(vec![DataType::Float, DataType::Int32].into());
    let dtype = AttrDef {
        name: str("T"),
        ty: AttrType { base: AttrBase::Type, list: false },
        default: None,
        allowed: Some(dtypes),
        ..string.clone()
    };
    OpDef {
        name: str(name),
        summary: str(text),
        description: str(text),
        inputs: vec![arg("x")].into(),
        outputs: vec![arg("y")].into(),
        attrs: vec![string, dtype].into(),
        deprecation: Some(Deprecation { version: 3, explanation: str(text) }),
        is_stateful: true,
        ..OpDef::EMPTY
    }
}

fn kernel(
    op: &'static str,
    constraints: &'static [AttrConstraint],
    type_name: &'static str,
    text: &'static str,
) -> &'static KernelDef {
    leak(KernelDef {
        op,
        device: DeviceType(text),
        constraints,
        host_memory: vec![text].leak(),
        requires: vec![text].leak(),
        label: text,
        priority: 7,
        system: true,
        selected: true,
        type_name,
        provider: provider(text),
        location: Location { file: text, line: 2 },
        element_wise: None,
        shader: None,
        waits: false,
        create: crate::kernel::CreateKernel::Function(|_| Err(crate::Error::internal("never made"))),
        created: Default::default(),
    })
}

fn pages(registry: &Registry) -> Vec<(String, html::Page)> {
    let catalogue = Catalogue::of(registry, |_| true, Vec::new());
    let mut pages = vec![("index.html".to_owned(), index::page(&catalogue))];
    pages
        .extend(catalogue.pages.iter().enumerate().map(|(at, page)| (page.file.clone(), family::page(&catalogue, at))));
    let parse = |(name, text): (String, String)| {
        let page = html::parse(&text).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        (name, page)
    };
    pages.into_iter().map(parse).collect()
}

#[test]
fn hostile_texts_stay_text() {
    let names = ["Evil", "Ns>Evil", "_Evil"];
    let ops = names.map(|name| entry(op(name, HOSTILE), provider(HOSTILE), HOSTILE));
    let constraints = [AttrConstraint { attr: "mode", values: ConstraintValues::Strings(vec![HOSTILE].leak()) }];
    let kernels = names.map(|name| kernel(name, leak(constraints), HOSTILE, HOSTILE));
    let pages = pages(&Registry::new(ops, kernels).unwrap());
    assert_eq!(pages.len(), 2);
    for (name, page) in &pages {
        assert_eq!(page.count("script"), usize::from(name == "index.html"), "{name}");
        assert_eq!(page.count("img"), 0);
        let hrefs: Vec<&str> = page.attribute("href").collect();
        assert!(hrefs.iter().all(|href| !href.contains(':')), "{hrefs:?}");
    }
    let page = &pages[1].1;
    let in_op = page.elements.iter().filter(|element| element.op.as_deref() == Some("_Evil"));
    assert!(in_op.count() > 40, "no text ends the op that it describes");
    assert_eq!(page.ops.len(), 3);
    assert!(page.ops["Ns>Evil"].matches("<script>alert(1)</script>").count() > 8, "what was written is to be read");
    assert!(page.attribute("href").any(|href| href == "#Ns%3EEvil"));
    let file = &pages[1].0;
    assert!(file.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)), "{file}");
}

#[test]
fn families_with_names_alike_have_pages_of_their_own() {
    let at = |name, krate, file| entry(op(name, "Text."), provider(krate), file);
    let ops = [at("A", "my-ops", "src/a.rs"), at("B", "my_ops", "src/b.rs"), at("C", "my", "src/ops/a.rs")];
    let more = [
        at("D", "my-ops", "src/A.rs"),
        at("E", "index", "src/lib.rs"),
        at("G", "rewrites", "src/lib.rs"),
        at("F", "日本", "src/lib.rs"),
    ];
    let files: Vec<String> =
        pages(&Registry::new(ops.into_iter().chain(more), []).unwrap()).into_iter().map(|(file, _)| file).collect();
    let expected = [
        "index.html",
        "index-2.html",
        "rewrites-2.html",
        "my-ops-a.html",
        "my-ops-a-2.html",
        "my-ops-a-3.html",
        "my_ops-b.html",
        "family.html",
    ];
    assert_eq!(files.len(), expected.len(), "{files:?}");
    expected.iter().for_each(|file| assert!(files.iter().any(|found| found == file), "{file} in {files:?}"));
}

#[test]
fn kernels_of_one_registration_share_a_row() {
    let types = |attr, types: Vec<DataType>| AttrConstraint { attr, values: ConstraintValues::Types(types.leak()) };
    let mut kernels = Vec::new();
    for (ty, index, name) in [
        (DataType::Float, DataType::Int32, "Kernel<f32, i32>"),
        (DataType::Float, DataType::Int64, "Kernel<f32, i64>"),
        (DataType::Half, DataType::Int32, "Kernel<f16, i32>"),
        (DataType::Half, DataType::Int64, "Kernel<f16, i64>"),
        (DataType::Bool, DataType::Int64, "Kernel<bool, i64>"),
    ] {
        let constraints = vec![types("T", vec![ty]), types("Tidx", vec![index])].leak();
        kernels.push(kernel("Op", constraints, name, "CPU"));
    }
    kernels.push(kernel("Op", &[], "Other", "CPU"));
    let shown = |row: &super::super::rows::Row| {
        let values = row.constraints.iter().map(|(attr, values)| format!("{attr}: {}", values.shown().join(" ")));
        format!("{} {} {}", row.count, row.type_name(), values.collect::<Vec<_>>().join("; "))
    };
    let rows = |kernels: &[&'static KernelDef]| super::super::rows::of(kernels).iter().map(shown).collect::<Vec<_>>();
    assert_eq!(rows(&kernels[..4]), ["4 Kernel<_, _> T: half float; Tidx: int32 int64"]);
    assert_eq!(
        rows(&kernels),
        ["2 Kernel<_, i32> T: half float; Tidx: int32", "3 Kernel<_, i64> T: half float bool; Tidx: int64", "1 Other "]
    );
}
