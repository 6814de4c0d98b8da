//! A library of ops, offered to Kernlink's own functions: what it declares, computes and says.

extern crate kernlink_framework as kernlink;

mod common;
mod ops;

use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kernlink::attr::AttrValue;
use kernlink::collect::linked_ops;
use kernlink::device::CpuDevice;
use kernlink::dtype::{DataType, NUMBER_TYPES, TString};
use kernlink::graph::{Graph, NodeBuilder, Output};
use kernlink::registry::Registry;
use kernlink::runtime::Session;
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Error, Result};
use kernlink_library::guest::{HostKind, offer_by};

use common::lookup;

kernlink::provider!();

fn registry() -> &'static Arc<Registry> {
    &common::load(&KERNLINK_PROVIDER, HostKind::Kernlink).0
}

fn run(op: &str, attrs: &[(&str, AttrValue)], inputs: Vec<Tensor>) -> Result<Vec<Tensor>> {
    common::run(registry(), &CpuDevice::new(2).unwrap(), op, attrs, inputs)
}

fn texts(texts: &[&str]) -> Tensor {
    Tensor::vector(&texts.iter().map(|text| TString::from(*text)).collect::<Vec<_>>()).unwrap()
}

#[test]
fn ops_are_declared_as_they_are_linked() {
    let declared: Vec<_> = registry().ops().map(|entry| entry.def.name.to_string()).collect();
    let refused = ["CallFunction", "MakeVariant", "ReadReference"];
    let mut linked: Vec<_> = linked_ops().map(|entry| entry.def.name.to_string()).collect();
    linked.retain(|name| !refused.contains(&&**name));
    linked.sort();
    assert_eq!(declared, linked);
    for entry in linked_ops().filter(|entry| !refused.contains(&&*entry.def.name)) {
        // Documentation does not cross, and handles are strings.
        let expected = entry.def.to_string().replace(": resource", ": string");
        assert_eq!(registry().op(&entry.def.name).unwrap().def.to_string(), expected);
    }
}

#[test]
fn what_is_not_offered_is_named() {
    let (_, said) = common::load(&KERNLINK_PROVIDER, HostKind::Kernlink);
    let lines: Vec<_> = said.lines().collect();
    let expected = [
        "kernlink: library kernlink-library: kernels not offered: DoubleLater: \
         a library brings kernels for a GPU as shaders alone, `#[register_kernel(wgsl = \"file.wgsl\")]`",
        "kernlink: library kernlink-library: ops not offered: CallFunction: `f` is a function, which a library cannot call",
        "kernlink: library kernlink-library: ops not offered: MakeVariant: `list` is a variant, whose value no other program knows",
        "kernlink: library kernlink-library: ops not offered: ReadReference: `variable` is a reference, which a library cannot hold",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_host_that_lacks_functions_is_told_which() {
    let without = |name: &std::ffi::CStr| match name.to_bytes() {
        b"TF_GetInput" | b"TF_SetOutput" => ptr::null(),
        _ => lookup(name),
    };
    // SAFETY: the functions are those of the list.
    let refused = unsafe { offer_by(&KERNLINK_PROVIDER, HostKind::Kernlink, without) };
    assert_eq!(refused.unwrap_err(), "the host lacks TF_GetInput, TF_SetOutput");
}

#[test]
fn kernels_read_attrs_of_every_kind() {
    let value = Tensor::from_elements([1, 1], &[1.5f32]).unwrap();
    let shapes = vec![PartialShape::from_dims(&[2, -1]).unwrap(), PartialShape::unknown()];
    let attrs = [
        ("value", value.into()),
        ("text", AttrValue::String(TString::from(&b"\xff\0"[..]))),
        ("shapes", AttrValue::from(shapes)),
        ("flags", AttrValue::from(vec![true, false])),
        ("dtypes", AttrValue::from(vec![DataType::Double, DataType::Float])),
    ];
    let said = run("EveryAttr", &attrs, vec![]).unwrap()[0].to_scalar::<TString>().unwrap();
    assert_eq!(
        said.to_string_lossy(),
        "count=7; counts=[1, -2]; dtype=DT_INT32; dtypes=[DT_DOUBLE, DT_FLOAT]; factor=0.25; factors=[0.5]; flag=true; \
         flags=[true, false]; mode=\"exact\"; shape=<unknown>; shapes=[[2,?], <unknown>]; text=\"\\xff\\x00\"; \
         texts=[\"a\", \"b\"]; value=Tensor<float [1,1] [[1.5]]>"
    );
    assert_eq!(run("EveryAttr", &[], vec![]).unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn elements_of_every_dtype_and_number_go_in_and_out() {
    for &dtype in NUMBER_TYPES.iter().chain([&DataType::Bool]) {
        for shape in [vec![], vec![0, 3], vec![2], vec![3, 40]] {
            let count: usize = shape.iter().product();
            let bytes: Vec<u8> = (0..count * dtype.size()).map(|at| (at % 2) as u8).collect();
            let x = Tensor::from_bytes(dtype, shape, &bytes).unwrap();
            let copy = run("CopyOf", &[("T", dtype.into())], vec![x.clone()]).unwrap().remove(0);
            assert_eq!((copy.dtype(), copy.shape(), copy.bytes().unwrap()), (dtype, x.shape(), &*bytes));
        }
    }
    assert_eq!(
        run("CopyOf", &[("T", DataType::String.into())], vec![texts(&["a"])]).unwrap_err().code(),
        Code::NotFound
    );
}

#[test]
fn lists_and_strings_go_in_and_out() {
    let long = "b".repeat(100);
    let inputs = vec![texts(&["a", &long]), texts(&["", "d"])];
    let attrs = [("N", 2i64.into()), ("separator", "\0-".into())];
    let joined = run("JoinTexts", &attrs, inputs).unwrap().remove(0);
    assert_eq!(joined.as_slice::<TString>().unwrap(), [TString::from("a\0-"), format!("{long}\0-d").into()]);

    let values = vec![Tensor::vector(&[1.0f32; 9]).unwrap(), Tensor::scalar(true), texts(&["x"]), Tensor::scalar(5i32)];
    let dtypes: Vec<DataType> = values.iter().map(Tensor::dtype).collect();
    let same = run("PassAll", &[("T", dtypes.into())], values.clone()).unwrap();
    assert_eq!(
        same.iter().map(Tensor::to_string).collect::<Vec<_>>(),
        values.iter().map(Tensor::to_string).collect::<Vec<_>>()
    );

    let x = Tensor::vector(&(0..12).map(|x| x as f32).collect::<Vec<_>>()).unwrap();
    let pieces = run("Cut", &[("parts", 2i64.into())], vec![x]).unwrap();
    assert_eq!(pieces[1].as_slice::<f32>().unwrap(), [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);

    let terms: Vec<Tensor> =
        [[1i32, 2], [10, 20], [100, 200]].iter().map(|term| Tensor::vector(term).unwrap()).collect();
    let summed = run("SumOf", &[("N", 3i64.into()), ("T", DataType::Int32.into())], terms).unwrap();
    assert_eq!(
        (summed[0].as_slice::<i32>().unwrap(), summed[1].as_slice::<i32>().unwrap()),
        (&[111, 222][..], &[3; 3][..])
    );
}

#[test]
fn the_kernel_is_the_one_that_the_registry_would_choose() {
    let which = |dtype: DataType, mode: &str, more: Option<&str>| {
        let mut attrs = vec![("T", dtype.into()), ("mode", mode.into())];
        attrs.extend(more.map(|label| ("_kernel", label.into())));
        let said = run("WhichKernel", &attrs, vec![Tensor::zeros(dtype, [1]).unwrap()])?.remove(0);
        said.to_scalar::<TString>().map(|text| text.to_string_lossy().into_owned())
    };
    assert_eq!(which(DataType::Float, "", None).unwrap(), "any");
    assert_eq!(which(DataType::Int32, "", None).unwrap(), "urgent");
    assert_eq!(which(DataType::Int64, "slow", None).unwrap(), "slow");
    assert_eq!(which(DataType::Int64, "quick", None).unwrap(), "quick");
    assert_eq!(which(DataType::Float, "", Some("special")).unwrap(), "labelled");
    let none = which(DataType::Int64, "other", None).unwrap_err();
    assert_eq!(none.code(), Code::NotFound);
    assert!(none.message().contains("mode is \"other\""), "{none}");
}

#[test]
fn errors_and_panics_arrive_with_code_and_message() {
    let fail = |how: &str, code: Code| -> Error {
        run("Fail", &[("how", how.into()), ("code", (code as i64).into())], vec![]).unwrap_err()
    };
    for code in Code::ALL {
        let error = fail("ask", code);
        assert_eq!((error.code(), error.message()), (code, "so it is asked: 100%s"));
    }
    let unmade = fail("in new", Code::AlreadyExists);
    assert_eq!((unmade.code(), unmade.message()), (Code::AlreadyExists, "the kernel cannot be made"));
    for (how, text) in [
        ("panic", "a panic in compute"),
        ("panic in new", "a panic in new"),
        ("without output", "the kernel did not set output `nothing` (0)"),
    ] {
        let error = fail(how, Code::NotFound);
        assert_eq!(error.code(), Code::Internal);
        assert!(error.message().contains(text), "{error}");
    }
}

#[test]
fn kernels_that_wait_hold_no_thread() {
    let double = |x: f32, milliseconds: i64| {
        let attrs = [("milliseconds", milliseconds.into())];
        run("DoubleLater", &attrs, vec![Tensor::scalar(x)])?[0].to_scalar::<f32>()
    };
    assert_eq!((double(4.0, 0).unwrap(), double(5.0, 10).unwrap()), (8.0, 10.0));
    let late = double(-1.0, 10).unwrap_err();
    assert_eq!((late.code(), late.message()), (Code::OutOfRange, "it is too late for numbers below zero"));
    // One thread waits for 50 of them at once.
    let mut graph = Graph::new(registry());
    for index in 0..50 {
        let x = node(&mut graph, "Source", &[], &[]).unwrap()[0];
        node(&mut graph, "DoubleLater", &[x], &[("milliseconds", 200i64.into()), ("name", format!("y{index}").into())])
            .unwrap();
    }
    let feeds: Vec<(String, Tensor)> =
        (0..50).map(|index| (source_name(index), Tensor::scalar(index as f32))).collect();
    let feeds: Vec<(&str, Tensor)> = feeds.iter().map(|(name, value)| (&**name, value.clone())).collect();
    let fetches: Vec<String> = (0..50).map(|index| format!("y{index}")).collect();
    let session = Session::new(graph).unwrap();
    let start = Instant::now();
    let doubled = session.run(&feeds, &fetches.iter().map(String::as_str).collect::<Vec<_>>(), &[]).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(doubled[49].to_scalar::<f32>().unwrap(), 98.0);
}

fn source_name(index: usize) -> String {
    if index == 0 { "Source".to_owned() } else { format!("Source_{index}") }
}

/// Adds a node; an attr `name` is its name.
fn node(graph: &mut Graph, op: &str, inputs: &[Output], attrs: &[(&str, AttrValue)]) -> Result<Vec<Output>> {
    let def = registry().op(op)?.def;
    let mut node = NodeBuilder::new(graph, def);
    if def.inputs.first().is_some_and(|input| input.is_list()) {
        node.input_list(inputs.iter().copied());
    } else {
        for input in inputs {
            node.input(*input);
        }
    }
    for (name, value) in attrs {
        match value {
            AttrValue::String(text) if *name == "name" => node.name(&text.to_string_lossy()),
            value => node.attr(name, value.clone()),
        };
    }
    Ok(node.build_outputs()?.into_vec())
}

#[test]
fn shape_functions_say_what_is_known() {
    let shapes = |op: &str, inputs: &[&str], attrs: &[(&str, AttrValue)]| -> Result<Vec<String>> {
        let mut graph = Graph::new(registry());
        let mut sources = Vec::new();
        for dims in inputs {
            let source = node(&mut graph, "Source", &[], &[])?[0];
            if !dims.is_empty() {
                let dims: Vec<i64> = dims.split(' ').map(|dim| dim.parse().unwrap_or(-1)).collect();
                graph.set_shape(source, &PartialShape::from_dims(&dims)?)?;
            }
            sources.push(source);
        }
        let outputs = node(&mut graph, op, &sources, attrs)?;
        Ok(outputs.iter().map(|&output| graph.shape(output).to_string()).collect())
    };
    assert_eq!(shapes("RowSums", &["4 ?", "3"], &[]).unwrap(), ["[4]", "[4,1,3]"]);
    assert_eq!(shapes("RowSums", &["? 3", "?"], &[]).unwrap(), ["[?]", "[?,1,?]"]);
    assert_eq!(shapes("RowSums", &["", ""], &[]).unwrap(), ["[?]", "[?,1,?]"]);
    let differ = shapes("RowSums", &["2 4", "3"], &[]).unwrap_err();
    assert_eq!(differ.code(), Code::InvalidArgument);
    assert!(differ.message().contains("must be equal"), "{differ}");
    // The number of terms follows from that of the inputs.
    assert_eq!(shapes("SumOf", &["? 3", "2 ?"], &[]).unwrap(), ["[2,3]", "[2]"]);
    assert_eq!(shapes("PassAll", &["? 3", ""], &[]).unwrap(), ["[?,3]", "<unknown>"]);
    // No input tells how many there are.
    assert_eq!(shapes("Cut", &["8"], &[("parts", 2i64.into())]).unwrap(), ["<unknown>", "<unknown>"]);
    assert_eq!(shapes("DoubleLater", &["? 3"], &[]).unwrap(), ["[?,3]"]);
    assert_eq!(shapes("AskForAttr", &["7"], &[("size", 3i64.into())]).unwrap(), ["<unknown>"]);
}

#[test]
fn resources_stay_in_the_library() {
    let handle = |name: &str| run("TotalHandle", &[("shared_name", name.into())], vec![]).unwrap().remove(0);
    let add = |handle: &Tensor, amount: i64| {
        run("AddToTotal", &[], vec![handle.clone(), Tensor::scalar(amount)]).unwrap()[0].to_scalar::<i64>().unwrap()
    };
    let (first, second) = (handle("first"), handle("second"));
    assert_eq!((first.dtype(), first.rank()), (DataType::String, 0));
    assert_eq!([add(&first, 5), add(&second, 1), add(&handle("first"), 2)], [5, 1, 7]);
    for wrong in [Tensor::from("no handle"), Tensor::zeros(DataType::String, [2]).unwrap()] {
        let refused = run("AddToTotal", &[], vec![wrong, Tensor::scalar(3i64)]).unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    }
}
