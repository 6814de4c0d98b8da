use super::*;
use crate::{parse_arg, parse_attr};

fn op(name: &str, attrs: &[&str], inputs: &[&str], outputs: &[&str]) -> Result<CheckedOp, Vec<OpError>> {
    check_op(&OpSpec {
        name: name.to_owned(),
        attrs: attrs.iter().map(|spec| parse_attr(spec).unwrap()).collect(),
        broken_attrs: vec!["broken".to_owned()],
        inputs: inputs.iter().map(|spec| parse_arg(spec).unwrap()).collect(),
        outputs: outputs.iter().map(|spec| parse_arg(spec).unwrap()).collect(),
    })
}

#[track_caller]
fn fails(attrs: &[&str], inputs: &[&str], outputs: &[&str], place: Place, message: &str, piece: &str) {
    let errors = op("Op", attrs, inputs, outputs).unwrap_err();
    let spec = match place {
        Place::Name => "Op",
        Place::Attr(i) => attrs[i],
        Place::Input(i) => inputs[i],
        Place::Output(i) => outputs[i],
    };
    let [OpError { place: at, error }] = &errors[..] else { panic!("{errors:#?}") };
    assert_eq!(*at, place);
    assert!(error.message.contains(message), "{}", error.render(spec));
    assert_eq!(&spec[error.span.clone()], piece, "{}", error.render(spec));
}

#[test]
fn resolves_words() {
    let checked = op(
        "Op",
        &["T: type", "N: int", "L: list(type) >= 0"],
        &["a: T", "b: N * T", "c: Ref(L)", "d: N * int32"],
        &["e: resource"],
    )
    .unwrap();
    assert_eq!(checked.inputs[0].ty, ArgType::Attr("T".into()));
    assert_eq!(checked.inputs[1].number_attr.as_deref(), Some("N"));
    assert_eq!(checked.inputs[2].ty, ArgType::ListAttr("L".into()));
    assert!(checked.inputs[2].is_ref && checked.inputs[2].is_list() && checked.inputs[3].is_list());
    assert!(matches!(checked.inputs[3].ty, ArgType::Fixed(dtype) if dtype.name == "int32"));
    assert!(checked.uses_resource);
    assert!(checked.is_inferred("T") && checked.is_inferred("N") && !checked.is_inferred("e"));
}

#[test]
fn a_dtype_word_wins_and_a_type_that_may_be_resource_is_not_stateful() {
    let checked = op("Op", &["T: {resource, float}"], &["x: T"], &[]).unwrap();
    assert!(!checked.uses_resource);
}

#[test]
fn minimums_are_implied() {
    let minimum = |attr: &str, arg: &str| op("Op", &[attr, "U: type"], &[arg], &[]).unwrap().attrs[0].minimum;
    assert_eq!(minimum("N: int", "x: N * U"), Some(1));
    assert_eq!(minimum("N: int >= 0", "x: N * U"), Some(0));
    assert_eq!(minimum("N: int >= 3", "x: N * U"), Some(3));
    assert_eq!(minimum("N: int", "x: U"), None);
    assert_eq!(minimum("L: list(type)", "x: L"), Some(1));
    assert_eq!(minimum("L: list(type) >= 2", "x: L"), Some(2));
    assert_eq!(minimum("L: list(type)", "x: U"), None);
    assert_eq!(op("Op", &["N: int"], &[], &["y: N * float"]).unwrap().attrs[0].minimum, Some(1));
    let message = "which its use in an input or output implies";
    fails(&["N: int = 0"], &["x: N * float"], &[], Place::Attr(0), message, "0");
    fails(&["L: list(type) = []"], &["x: L"], &[], Place::Attr(0), message, "[]");
    assert!(op("Op", &["N: int >= 0 = 0"], &["x: N * float"], &[]).is_ok());
}

#[test]
fn op_names() {
    for (name, message) in [
        ("mat_mul", "did you use CamelCase? For example `MatMul`"),
        ("", "expected CamelCase"),
        ("2D", "expected CamelCase"),
    ] {
        let errors = op(name, &[], &[], &[]).unwrap_err();
        assert_eq!(errors[0].place, Place::Name);
        assert!(errors[0].error.message.contains(message), "{}", errors[0].error);
    }
    for name in ["MatMul", "Ns>Op", "_a"] {
        assert!(op(name, &[], &[], &[]).is_ok());
    }
}

#[test]
fn names_are_unique() {
    fails(&["a: int", "a: int"], &[], &[], Place::Attr(1), "duplicate name: an attr is called `a`", "a");
    fails(&["a: int"], &["a: float"], &[], Place::Input(0), "duplicate name: an attr", "a");
    fails(&[], &["x: float"], &["x: float"], Place::Output(0), "duplicate name: an input", "x");
    fails(&[], &[], &["x: float", "x: float"], Place::Output(1), "duplicate name: an output", "x");
    fails(&["float: int"], &[], &[], Place::Attr(0), "that matches a data type", "float");
    fails(&["float32: int"], &[], &[], Place::Attr(0), "that matches a data type", "float32");
    fails(&["int8_ref: int"], &[], &[], Place::Attr(0), "that matches a data type", "int8_ref");
}

#[test]
fn references() {
    let message = "reference to unknown attr `S`: declare it with `attr(\"S: type\")`";
    fails(&["T: type"], &["x: S"], &[], Place::Input(0), message, "S");
    let message = "reference to unknown attr `f64`: specs have TensorFlow's names, did you mean `double`?";
    fails(&[], &["x: f64"], &[], Place::Input(0), message, "f64");
    let message = "reference to unknown attr `Tin`: did you mean `Tim`?";
    fails(&["Tim: type"], &["x: Tin"], &[], Place::Input(0), message, "Tin");
    fails(&[], &["x: Wherever"], &[], Place::Input(0), "declare it with `attr(\"Wherever: type\")`", "Wherever");
    fails(&[], &["x: flaot"], &[], Place::Input(0), "did you mean `float`?", "flaot");
    fails(&[], &["x: Count * float"], &[], Place::Input(0), "declare it with `attr(\"Count: int\")`", "Count");
    fails(&["N: float"], &["x: N"], &[], Place::Input(0), "with type float that isn't type or list(type)", "N");
    fails(&["N: type"], &["x: N * float"], &[], Place::Input(0), "has type type, expected int", "N");
    fails(&["N: list(int)"], &[], &["x: N * float"], Place::Output(0), "for output `x` has type list(int)", "N");
    fails(&["N: int >= -1"], &["x: N * float"], &[], Place::Input(0), "must have minimum >= 0, not -1", "N");
    fails(&["N: int", "L: list(type)"], &["x: N * L"], &[], Place::Input(0), "remove `N *`", "N * L");
    fails(&[], &["x: float_ref"], &[], Place::Input(0), "Use `Ref(float)` instead", "float_ref");
}

#[test]
fn references_to_attrs_that_did_not_parse_are_no_errors() {
    assert!(op("Op", &[], &["x: broken", "y: broken * float"], &[]).is_ok());
}

#[test]
fn all_errors_are_reported() {
    let errors = op("op", &["float: int"], &["x: S", "x: U"], &["y: M * float"]).unwrap_err();
    assert_eq!(errors.len(), 6, "{errors:#?}");
}
