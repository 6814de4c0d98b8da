//! `kernlink ops --format pb`, and `--check` against the list of an older release.

use kernlink::proto::attr_value::Value;
use kernlink::proto::{Message as _, OpList};

use crate::command::{folder, kernlink};

const RELEASE: &[u8] = include_bytes!("../release/ops-0.1.0.pb");

#[track_caller]
fn check(name: &str, bytes: &[u8], code: i32, words: &[&str]) {
    let path = folder("promises").join(name);
    std::fs::write(&path, bytes).unwrap();
    let output = kernlink(&["ops", "--check", path.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(code), "{text}");
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

#[test]
fn the_last_release_is_kept() {
    let count = OpList::decode(RELEASE).unwrap().op.len();
    check("kept.pb", RELEASE, 0, &[&format!("{count} ops compared, 0 promises broken")]);
}

#[test]
fn every_broken_promise_is_listed() {
    let mut list = OpList::decode(RELEASE).unwrap();
    let count = list.op.len();
    let position = |list: &OpList, name: &str| list.op.iter().position(|op| op.name == name).unwrap();
    let gone = position(&list, "Abs");
    list.op[gone].name = "NoMoreAbs".into();
    let dtypes = position(&list, "Neg");
    list.op[dtypes].attr[0].allowed_values = None;
    let matmul = position(&list, "MatMul");
    let transpose = list.op[matmul].attr.iter_mut().find(|attr| attr.name == "transpose_a").unwrap();
    transpose.default_value.as_mut().unwrap().value = Some(Value::B(true));
    let summary = format!("{count} ops compared, 3 promises broken, ");
    let words = [
        "op NoMoreAbs removed",
        "op Neg: attr `T` has a stricter set of allowed values: from no restriction to {",
        "op MatMul: attr `transpose_a` has changed its default value: from true to false",
        &summary,
    ];
    check("broken.pb", &list.encode_to_vec(), 1, &words);
}

#[test]
fn mistakes_are_explained() {
    check("graph.pb", b"no list", 2, &["graph.pb: this is no OpList"]);
    let output = kernlink(&["ops", "--check", "nowhere.pb"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read nowhere.pb"));
    let mut list = OpList::decode(RELEASE).unwrap();
    list.op[0].input_arg[0].type_attr = "Nothing".into();
    let name = list.op[0].name.clone();
    check("invalid.pb", &list.encode_to_vec(), 2, &[&format!("op {name}: ")]);
    assert_eq!(kernlink(&["ops", "MatMul", "--check", "nowhere.pb"]).status.code(), Some(2));
}

#[test]
fn the_list_is_tensorflows() {
    let output = kernlink(&["ops", "--format", "pb"]);
    assert!(output.status.success());
    let list = OpList::decode(&output.stdout[..]).unwrap();
    let names: Vec<_> = list.op.iter().map(|op| op.name.as_str()).collect();
    assert!(names.is_sorted() && names.contains(&"MatMul"));
    assert_eq!(list.op.len(), kernlink::registry().unwrap().ops().count());
    let one = OpList::decode(&kernlink(&["ops", "MatMul", "--format", "pb"]).stdout[..]).unwrap();
    assert_eq!(one.op, [list.op.into_iter().find(|op| op.name == "MatMul").unwrap()]);
}
