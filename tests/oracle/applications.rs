//! Applications as people export them: SavedModels whose signatures answer as TensorFlow's do, call after call.
//!
//! `tests/applications/generate.py` made them, and says how `answers.pb` names the calls.

use std::collections::BTreeMap;

use crate::support::{constants, path};
use kernlink::SavedModel;
use kernlink::golden::compare;
use kernlink::tensor::Tensor;

const DATA: &str = "tests/applications/data";

/// What one call of a signature is given, and what TensorFlow answers.
#[derive(Default)]
struct Call {
    inputs: Vec<(String, Tensor)>,
    outputs: Vec<(String, Tensor)>,
    tolerance: Option<(f64, f64)>,
}

/// The calls of each application, in order, by their number and signature.
fn calls() -> BTreeMap<String, BTreeMap<(usize, String), Call>> {
    let mut applications: BTreeMap<String, BTreeMap<(usize, String), Call>> = BTreeMap::new();
    for (name, value) in constants(&path(DATA).join("answers.pb")) {
        let parts: Vec<&str> = name.split('/').collect();
        let [application, number, signature, ref rest @ ..] = parts[..] else { panic!("{name}") };
        let key = (number.parse().unwrap(), signature.to_owned());
        let call = applications.entry(application.to_owned()).or_default().entry(key).or_default();
        match *rest {
            ["in", input] => call.inputs.push((input.to_owned(), value)),
            ["out", output] => call.outputs.push((output.to_owned(), value)),
            ["tolerance"] => {
                let values = value.as_slice::<f32>().unwrap();
                call.tolerance = Some((values[0].into(), values[1].into()));
            }
            _ => panic!("{name}"),
        }
    }
    applications
}

#[test]
fn applications_answer_as_in_tensorflow() {
    let mut failures = Vec::new();
    for (name, calls) in calls() {
        let model = match SavedModel::load(path(DATA).join(&name)) {
            Ok(model) => model,
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        for ((number, signature), call) in calls {
            assert!(!call.outputs.is_empty(), "{name}/{number} expects nothing");
            let inputs: Vec<(&str, Tensor)> =
                call.inputs.iter().map(|(name, value)| (&**name, value.clone())).collect();
            let found = match model.signature(&signature).and_then(|signature| signature.run(&inputs)) {
                Ok(found) => found,
                Err(error) => {
                    failures.push(format!("{name}, call {number} of {signature}: {error}"));
                    break;
                }
            };
            for (output, expected) in call.outputs {
                if let Err(difference) = compare(&found[&*output], &expected, call.tolerance) {
                    failures.push(format!("{name}, call {number} of {signature}, `{output}`: {difference}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
