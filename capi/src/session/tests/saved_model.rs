//! SavedModels that TensorFlow wrote (`tests/saved_model/generate.py`).

use std::path::PathBuf;

use kernlink::dtype::TString;
use kernlink::proto::{Message, MetaGraphDef, tensor_info};
use kernlink_library::host::{TF_DeleteBuffer, TF_NewBuffer, TF_NewBufferFromString};

use super::*;

/// A model's folder.
fn folder(model: &str) -> std::ffi::CString {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/saved_model/data").join(model);
    std::ffi::CString::new(data.to_str().unwrap()).unwrap()
}

/// What TensorFlow answered.
fn answer(name: &str) -> Tensor {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/saved_model/data/answers.pb");
    let graph = proto::read_graph(file).unwrap();
    let node = graph.node.iter().find(|node| node.name == name).unwrap();
    match proto::attr_from_proto(&node.attr["value"]).unwrap() {
        AttrValue::Tensor(tensor) => tensor,
        other => panic!("{other:?}"),
    }
}

fn load(folder: &CStr, tags: &[&CStr], buffer: *mut TF_Buffer) -> Result<Client, Failure> {
    load_into(share_with_c(CGraph::new().unwrap()), folder, tags, ptr::null(), buffer)
}

fn load_into(
    graph: *mut TF_Graph,
    folder: &CStr,
    tags: &[&CStr],
    options: *const TF_Buffer,
    buffer: *mut TF_Buffer,
) -> Result<Client, Failure> {
    let tags = texts(tags);
    let loaded = with_options(&[], c"", |session| {
        // SAFETY: all live until the call ends.
        checked(|status| unsafe {
            let (tags, count) = (tags.as_ptr(), tags.len() as c_int);
            TF_LoadSessionFromSavedModel(session, options, folder.as_ptr(), tags, count, graph, buffer, status)
        })
    });
    if loaded.is_err() {
        // SAFETY: nobody else has it.
        unsafe { TF_DeleteGraph(graph) };
    }
    Ok(Client { graph, session: loaded? })
}

fn name(info: &proto::TensorInfo) -> &str {
    match &info.encoding {
        Some(tensor_info::Encoding::Name(name)) => name,
        other => panic!("{other:?}"),
    }
}

#[test]
fn models_of_tensorflow_1_and_2_answer() {
    for (model, signature, expected) in [("tf1", "predict", "y"), ("tf2", "serving_default", "scaled")] {
        // SAFETY: the buffer is empty, and taken once.
        let buffer = unsafe { TF_NewBuffer() };
        let client = load(&folder(model), &[c"serve"], buffer).unwrap();
        let def = MetaGraphDef::decode(&*taken(buffer)).unwrap();
        assert_eq!(def.meta_info_def.unwrap().tags, ["serve"]);
        let signature = &def.signature_def[signature];
        let (input, output) = (name(&signature.inputs["x"]), name(&signature.outputs[expected]));
        let answered = answer(&format!("{model}/{expected}"));
        let x = answer(&format!("{model}/x"));
        for _ in 0..2 {
            let y = client.run(&[(input, x.clone())], &[output], &[]).unwrap();
            assert_floats(&y[0], answered.as_slice().unwrap());
        }
        // The graph grows as any other.
        client.grow(&[float("negative", "Neg", &[output])]);
        let y = client.run(&[(input, x)], &["negative"], &[]).unwrap();
        let negative: Vec<f32> = answered.as_slice::<f32>().unwrap().iter().map(|y| -y).collect();
        assert_floats(&y[0], &negative);
    }
}

#[test]
fn a_model_of_keras_goes_on_training_while_its_graph_grows() {
    // SAFETY: the buffer is empty, and taken once.
    let buffer = unsafe { TF_NewBuffer() };
    let client = load(&folder("keras"), &[c"serve"], buffer).unwrap();
    let def = MetaGraphDef::decode(&*taken(buffer)).unwrap();
    let x = answer("keras/x");
    let feed = |signature: &str| name(&def.signature_def[signature].inputs["x"]).to_owned();
    let run =
        |signature: &str, fetch: &str| client.run(&[(&feed(signature), x.clone())], &[fetch], &[]).unwrap().remove(0);
    let (y, loss) = (&def.signature_def["serving_default"].outputs["y"], &def.signature_def["train"].outputs["loss"]);
    let close = |found: &[f32], expected: &str| {
        let expected = answer(expected);
        let expected = expected.as_slice::<f32>().unwrap();
        assert_eq!(found.len(), expected.len());
        let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
        assert!(found.iter().zip(expected).all(is_close), "{found:?} {expected:?}");
    };
    close(run("serving_default", name(y)).as_slice().unwrap(), "keras/y");
    let mut losses = vec![run("train", name(loss)).to_scalar::<f32>().unwrap()];
    for step in ["second", "third"] {
        client.grow(&[float(step, "Neg", &[name(loss)])]);
        losses.push(-run("train", step).to_scalar::<f32>().unwrap());
    }
    close(&losses, "keras/losses");
    close(run("serving_default", name(y)).as_slice().unwrap(), "keras/trained");
}

#[test]
fn assets_are_where_the_model_is() {
    let client = load(&folder("tf1"), &[c"train"], ptr::null_mut()).unwrap();
    let text = client.run(&[], &["text"], &[]).unwrap();
    assert_eq!(text[0].to_scalar::<TString>().unwrap().as_bytes(), b"a\nb\n");
}

#[test]
fn what_cannot_be_loaded_is_refused() {
    let nowhere = load(c"/nonexistent", &[c"serve"], ptr::null_mut()).map(drop).unwrap_err();
    assert_eq!(nowhere.0, NOT_FOUND);
    let text = "Could not find SavedModel .pb or .pbtxt at supplied export directory path: /nonexistent";
    assert!(nowhere.1.starts_with(text), "{}", nowhere.1);
    let tags = load(&folder("tf1"), &[c"zzz"], ptr::null_mut()).map(drop).unwrap_err();
    assert_eq!(tags.0, NOT_FOUND);
    assert!(tags.1.starts_with("Could not find meta graph def matching supplied tags: { zzz }"), "{}", tags.1);
    // A graph with something in it stays as it is.
    let client = Client::new(&[placeholder("p", &[])]);
    // SAFETY: the graph is alive; another holder of it is made, which the call may free.
    let graph = share_with_c(unsafe { crate::pointer::shared(client.graph) }.unwrap());
    let refused = load_into(graph, &folder("tf1"), &[c"serve"], ptr::null(), ptr::null_mut()).map(drop);
    expect(refused, INVALID_ARGUMENT, "Graph is non-empty.");
    assert_eq!(client.graph().read().graph.nodes().len(), 1);
    // SAFETY: the buffer is freed once.
    unsafe {
        let malformed = TF_NewBufferFromString(b"\xff\xff".as_ptr().cast(), 2);
        let graph = || share_with_c(CGraph::new().unwrap());
        let options = load_into(graph(), &folder("tf1"), &[c"serve"], malformed, ptr::null_mut());
        expect(options.map(drop), INVALID_ARGUMENT, "Unparseable RunOptions proto");
        let full = load(&folder("tf1"), &[c"serve"], malformed);
        expect(full.map(drop), INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
        TF_DeleteBuffer(malformed);
    }
}
