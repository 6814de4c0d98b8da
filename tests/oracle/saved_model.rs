//! SavedModels and MetaGraphs: what TensorFlow saved is loaded and runs, what is broken is refused.
//!
//! `tests/saved_model/generate.py` made the models.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::random_op::{Choices, generator};
use crate::support::{constant, constants, graph, node, path};
use kernlink::attr::AttrValue;
use kernlink::dtype::{DataType, TString};
use kernlink::formats::{CheckpointReader, CheckpointWriter, LoadOptions, signatures};
use kernlink::golden::compare;
use kernlink::proto::{
    self, AssetFileDef, Message, MetaGraphDef, NodeDef, SaverDef, SignatureDef, TensorInfo,
    meta_graph_def::MetaInfoDef, tensor_info,
};
use kernlink::tensor::Tensor;
use kernlink::{Code, MetaGraph, Result, SavedModel};

const DATA: &str = "tests/saved_model/data";

fn answers() -> BTreeMap<String, Tensor> {
    constants(&path(DATA).join("answers.pb"))
}

/// A folder of one test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("saved_model").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[track_caller]
fn expect<T>(result: Result<T>, code: Code, words: &[&str]) {
    let Err(error) = result else { panic!("no error, but {code} was expected") };
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

#[track_caller]
fn assert_same(name: &str, found: &Tensor, expected: &Tensor) {
    assert_eq!(compare(found, expected, None), Ok(()), "{name}");
}

fn text(tensor: &Tensor) -> String {
    tensor.to_scalar::<TString>().unwrap().to_string_lossy().into_owned()
}

// ---- what TensorFlow saved ----

#[test]
fn a_model_of_tensorflow_2_runs() {
    let answers = answers();
    let model = SavedModel::load(path(DATA).join("tf2")).unwrap();
    assert_eq!(model.tags(), ["serve"]);
    assert_eq!(model.signatures().keys().collect::<Vec<_>>(), ["serving_default", "words"]);
    let runner = model.signature("serving_default").unwrap();
    let x = &answers["tf2/x"];
    for calls in 8..11 {
        let found = runner.run(&[("x", x.clone())]).unwrap();
        assert_same("scaled", &found["scaled"], &answers["tf2/scaled"]);
        assert_same("x", &found["x"], x);
        // The variable keeps what a call does to it.
        assert_same("calls", &found["calls"], &Tensor::scalar(calls as i64));
    }
    assert_eq!(text(&model.signature("words").unwrap().run(&[]).unwrap()["words"]), "one two\n");

    expect(model.signature("word").map(drop), Code::NotFound, &["word", "did you mean words", "serving_default"]);
    expect(runner.run(&[]), Code::InvalidArgument, &["missing", "x", "float", "[?,3]"]);
    expect(runner.run(&[("y", x.clone())]), Code::InvalidArgument, &["y", "x (float [?,3])"]);
    expect(runner.run(&[("x", x.clone()), ("x", x.clone())]), Code::InvalidArgument, &["twice"]);
    expect(runner.run(&[("x", Tensor::scalar(1i32))]), Code::InvalidArgument, &["float", "int32"]);
    // The signature says [?,3]; TensorFlow computes this, too.
    let scaled = &runner.run(&[("x", Tensor::scalar(1.0f32))]).unwrap()["scaled"];
    assert_eq!(scaled.as_slice::<f32>().unwrap(), [1.5, -2.0, 4.0]);
}

fn copied(name: &str) -> PathBuf {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            let (from, to) = (file.path(), to.join(file.file_name()));
            if from.is_dir() {
                copy(&from, &to);
            } else {
                std::fs::copy(from, to).unwrap();
            }
        }
    }
    let to = folder(name);
    copy(&path(DATA).join("tf2"), &to);
    to
}

#[test]
fn variables_do_not_go_missing_in_silence() {
    let model = copied("no_variables");
    std::fs::remove_dir_all(model.join("variables")).unwrap();
    let words = ["Failed to find any matching files for", "variables/variables"];
    expect(SavedModel::load(&model).map(drop), Code::NotFound, &words);
}

#[cfg(unix)]
#[test]
fn pipes_are_no_part_of_a_model() {
    for file in ["saved_model.pb", "assets/vocabulary.txt", "variables/variables.data-00000-of-00001"] {
        let model = copied("pipes");
        std::fs::remove_file(model.join(file)).unwrap();
        let made = std::process::Command::new("mkfifo").arg(model.join(file)).status();
        assert!(made.unwrap().success());
        expect(SavedModel::load(&model).map(drop), Code::InvalidArgument, &["no regular file"]);
    }
}

/// Keras 3 has the saver restore and save other variables than the functions take, and two layers have one name.
#[test]
fn a_model_of_keras_3_runs_and_goes_on_training() {
    let answers = answers();
    let x = &answers["keras/x"];
    let model = SavedModel::load(path(DATA).join("keras")).unwrap();
    let close = |name: &str, found: &Tensor| {
        assert_eq!(compare(found, &answers[name], Some((1e-5, 1e-6))), Ok(()), "{name}");
    };
    let predict = |model: &SavedModel| model.signature("serving_default").unwrap().run(&[("x", x.clone())]).unwrap();
    let found = predict(&model);
    close("keras/y", &found["y"]);
    // The generator trained once; this one the saver restores itself.
    assert_same("calls", &found["calls"], &Tensor::scalar(6i64));
    let train = model.signature("train").unwrap();
    let mut losses = Vec::new();
    for step in 2..5i64 {
        let found = train.run(&[("x", x.clone())]).unwrap();
        losses.push(found["loss"].to_scalar::<f32>().unwrap());
        assert_same("steps", &found["steps"], &Tensor::scalar(step));
    }
    close("keras/losses", &Tensor::vector(&losses).unwrap());
    close("keras/trained", &predict(&model)["y"]);

    // What was learnt is saved, and replaces what another session has.
    let saved = folder("keras").join("trained");
    model.save(&saved).unwrap();
    let again = SavedModel::load(path(DATA).join("keras")).unwrap();
    close("keras/y", &predict(&again)["y"]);
    again.restore(&saved).unwrap();
    assert_same("y", &predict(&again)["y"], &predict(&model)["y"]);
    let loss = |model: &SavedModel| model.signature("train").unwrap().run(&[("x", x.clone())]).unwrap()["loss"].clone();
    assert_same("loss", &loss(&again), &loss(&model));
}

/// The model of Keras 3, changed, and its checkpoint, restored.
fn keras_with(change: impl FnOnce(&mut MetaGraphDef)) -> Result<kernlink::formats::MetaGraph> {
    let mut def = proto::read_saved_model(path(DATA).join("keras/saved_model.pb"))?.meta_graphs.remove(0);
    change(&mut def);
    let model = kernlink::formats::MetaGraph::import(def, &kernlink::registry()?, &LoadOptions::new())?;
    model.restore(path(DATA).join("keras/variables/variables"))?;
    Ok(model)
}

#[test]
fn object_graphs_that_do_not_fit_are_refused() {
    let x = &answers()["keras/x"];
    let predict = |model: &kernlink::formats::MetaGraph| {
        model.signature("serving_default").unwrap().run(&[("x", x.clone())]).map(drop)
    };
    predict(&keras_with(|_| ()).unwrap()).unwrap();
    for number in [-1, 1 << 20] {
        let child =
            |def: &mut MetaGraphDef| def.object_graph_def.as_mut().unwrap().nodes[0].children[0].node_id = number;
        expect(keras_with(child), Code::InvalidArgument, &["restoring", "object graph", &number.to_string()]);
        let bound = |def: &mut MetaGraphDef| {
            let functions = def.object_graph_def.as_mut().unwrap().concrete_functions.iter_mut();
            functions.for_each(|(_, function)| function.bound_inputs.iter_mut().for_each(|input| *input = number));
        };
        expect(keras_with(bound), Code::InvalidArgument, &["function `", &number.to_string()]);
    }
    // Without the objects there is what there was before them.
    let none = keras_with(|def| def.object_graph_def = None).unwrap();
    expect(predict(&none), Code::FailedPrecondition, &["dense/"]);
    let none = keras_with(|def| def.object_graph_def.as_mut().unwrap().nodes[0].children.clear()).unwrap();
    expect(predict(&none), Code::FailedPrecondition, &["dense/"]);

    // A checkpoint without objects must not leave old values beside new ones.
    let model = keras_with(|_| ()).unwrap();
    let prefix = folder("objectless").join("checkpoint");
    let reader = CheckpointReader::open(path(DATA).join("keras/variables/variables")).unwrap();
    let mut writer = CheckpointWriter::create(&prefix).unwrap();
    for (name, _) in reader.tensors().filter(|(name, _)| name != "_CHECKPOINTABLE_OBJECT_GRAPH") {
        writer.add(&name, &reader.read(&name).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    expect(model.restore(&prefix), Code::NotFound, &["restoring", "_CHECKPOINTABLE_OBJECT_GRAPH"]);

    for seed in 1..30 {
        let mut draw = generator(seed);
        let mut choices = Choices(&mut draw);
        let change = |def: &mut MetaGraphDef| {
            let mut bytes = def.object_graph_def.as_ref().unwrap().encode_to_vec();
            for _ in 0..1 + choices.below(4) {
                let position = (choices.below(1 << 15) << 8 | choices.below(1 << 8)) % bytes.len();
                bytes[position] = choices.below(256) as u8;
            }
            def.object_graph_def = proto::SavedObjectGraph::decode(&bytes[..]).ok();
        };
        // That nothing panics or stays is the point.
        let _ = keras_with(change).map(|model| predict(&model));
    }
}

#[cfg(feature = "text-format")]
#[test]
fn a_model_of_tensorflow_1_runs() {
    let answers = answers();
    for tag in ["serve", "train"] {
        let model = SavedModel::load_with(path(DATA).join("tf1"), &LoadOptions::new().tags(&[tag])).unwrap();
        let found = model.signature("predict").unwrap().run(&[("x", answers["tf1/x"].clone())]).unwrap();
        assert_same("y", &found["y"], &answers["tf1/y"]);
        assert_eq!(text(&found["text"]), "a\nb\n");
    }
    let load = |tags: &[&str]| SavedModel::load_with(path(DATA).join("tf1"), &LoadOptions::new().tags(tags)).map(drop);
    expect(load(&["gpu"]), Code::NotFound, &["{ gpu }", "{ serve }", "{ train }"]);
    expect(load(&["serve", "train"]), Code::NotFound, &["{ serve, train }"]);
}

#[test]
fn a_graph_goes_on_training_and_saves_what_it_learnt() {
    let answers = answers();
    let folder = folder("trained");
    let model = MetaGraph::read(path(DATA).join("meta/model.meta")).unwrap();
    let x = &answers["meta/x"];
    let loss = |model: &MetaGraph| model.session().run(&[("x", x.clone())], &["loss"], &[]);
    expect(loss(&model), Code::FailedPrecondition, &["w"]);
    expect(model.restore(path(DATA).join("meta/none")), Code::NotFound, &["none"]);
    model.restore(path(DATA).join("meta/model")).unwrap();
    for expected in answers["meta/losses"].as_slice::<f32>().unwrap() {
        let found = loss(&model).unwrap()[0].to_scalar::<f32>().unwrap();
        assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{found} {expected}");
        model.session().run(&[("x", x.clone())], &[], &["train"]).unwrap();
    }
    let saved = folder.join("trained");
    model.save(&saved).unwrap();
    let w = CheckpointReader::open(&saved).unwrap().read("w").unwrap();
    assert_eq!(compare(&w, &answers["meta/w"], Some((1e-5, 1e-6))), Ok(()));
    let again = MetaGraph::read(path(DATA).join("meta/model.meta")).unwrap();
    again.restore(&saved).unwrap();
    assert_same("loss", &loss(&again).unwrap()[0], &loss(&model).unwrap()[0]);

    // A checkpoint that does not fit.
    let other = |name: &str, tensors: &[(&str, Tensor)]| {
        let prefix = folder.join(name);
        let mut writer = CheckpointWriter::create(&prefix).unwrap();
        tensors.iter().for_each(|(name, tensor)| writer.add(name, tensor).unwrap());
        writer.finish().unwrap();
        again.restore(prefix)
    };
    let step = || ("global_step", Tensor::scalar(1i64));
    expect(other("lacks", &[step()]), Code::NotFound, &["w"]);
    let double = ("w", Tensor::zeros(DataType::Double, [2, 1]).unwrap());
    expect(other("dtype", &[step(), double]), Code::InvalidArgument, &["w", "double", "float"]);
    let wide = ("w", Tensor::zeros(DataType::Float, [3, 1]).unwrap());
    expect(other("shape", &[step(), wide]), Code::InvalidArgument, &["[3,1]", "[2,1]"]);
}

// ---- models made here ----

fn info(name: &str, dtype: DataType) -> TensorInfo {
    let encoding = Some(tensor_info::Encoding::Name(name.to_owned()));
    TensorInfo { encoding, dtype: dtype.number(), tensor_shape: Some(proto::TensorShapeProto::default()) }
}

fn string_const(name: &str, value: &str) -> NodeDef {
    constant(name, Tensor::from(value))
}

/// A model whose restore op reads a checkpoint, and whose initialiser copies an asset to `target`.
fn model(target: &Path, asset: &str) -> MetaGraphDef {
    let dtypes = ("dtypes", AttrValue::ListType(vec![DataType::Float]));
    let scalar = |name: &str, value: &str| constant(name, Tensor::vector(&[TString::from(value)]).unwrap());
    let nodes = [
        string_const("filename", "/nowhere/else"),
        scalar("names", "x"),
        scalar("slices", ""),
        node("restored", "RestoreV2", &["filename", "names", "slices"], &[dtypes]),
        node("restore_all", "NoOp", &["^restored"], &[]),
        string_const("asset", "/nowhere/else"),
        string_const("target", target.to_str().unwrap()),
        node("contents", "ReadFile", &["asset"], &[]),
        node("copy", "WriteFile", &["target", "contents"], &[]),
        node("init", "NoOp", &["^copy"], &[]),
        node("answer", "Identity", &["in"], &[("T", DataType::Float.into())]),
        node("in", "Placeholder", &[], &[("dtype", DataType::Float.into())]),
    ];
    let float = |name: &str| info(name, DataType::Float);
    let mut signature = SignatureDef::default();
    signature.inputs.insert("x".to_owned(), float("in:0"));
    signature.outputs.insert("y".to_owned(), float("answer:0"));
    signature.outputs.insert("same".to_owned(), float("in:0"));
    let default = proto::tensor_to_proto(&Tensor::scalar(2.5f32)).unwrap();
    signature.defaults.insert("x".to_owned(), default);
    let mut init = SignatureDef::default();
    init.outputs.insert("__saved_model_init_op".to_owned(), info("init", DataType::Float));
    MetaGraphDef {
        meta_info_def: Some(MetaInfoDef { tags: vec!["serve".to_owned()], ..MetaInfoDef::default() }),
        graph_def: Some(graph(nodes)),
        saver_def: Some(SaverDef {
            filename_tensor_name: "filename:0".to_owned(),
            restore_op_name: "restore_all".to_owned(),
            ..SaverDef::default()
        }),
        signature_def: [("f".to_owned(), signature), ("__saved_model_init_op".to_owned(), init)].into(),
        asset_file_def: vec![AssetFileDef {
            tensor_info: Some(info("asset:0", DataType::String)),
            filename: asset.to_owned(),
        }],
        ..MetaGraphDef::default()
    }
}

/// Writes a model with one variable and the asset `words.txt`.
fn write(folder: &Path, def: &MetaGraphDef) {
    let saved = proto::SavedModel { saved_model_schema_version: 1, meta_graphs: vec![def.clone()] };
    std::fs::write(folder.join("saved_model.pb"), saved.encode_to_vec()).unwrap();
    std::fs::create_dir_all(folder.join("assets")).unwrap();
    std::fs::write(folder.join("assets/words.txt"), "words").unwrap();
    let mut writer = CheckpointWriter::create(folder.join("variables/variables")).unwrap();
    writer.add("x", &Tensor::scalar(1.0f32)).unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_model_is_restored_and_initialised_with_its_own_files() {
    let folder = folder("made");
    let copy = folder.join("copied.txt");
    write(&folder, &model(&copy, "words.txt"));
    let loaded = SavedModel::load(&folder).unwrap();
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), "words");
    let runner = loaded.signature("f").unwrap();
    let found = runner.run(&[("x", Tensor::scalar(7.0f32))]).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["same", "y"]);
    assert!(found.values().all(|tensor| tensor.to_scalar::<f32>().unwrap() == 7.0));
    assert_eq!(runner.run(&[]).unwrap()["y"].to_scalar::<f32>().unwrap(), 2.5);
}

#[test]
fn what_a_model_lacks_is_named() {
    let folder = folder("lacks");
    let target = folder.join("copied.txt");
    let load = |def: &MetaGraphDef| {
        write(&folder, def);
        SavedModel::load(&folder).map(drop)
    };
    let good = model(&target, "words.txt");
    load(&good).unwrap();
    expect(load(&model(&target, "none.txt")), Code::NotFound, &["none.txt", "initialising"]);
    for asset in ["../words.txt", "/etc/hostname", "a/../../x", ""] {
        let _ = std::fs::remove_file(&target);
        expect(load(&model(&target, asset)), Code::InvalidArgument, &["asset", asset]);
        assert!(!target.exists());
    }
    let mut def = good.clone();
    def.saver_def = None;
    expect(load(&def), Code::FailedPrecondition, &["no saver"]);
    let mut def = good.clone();
    def.graph_def = None;
    expect(load(&def), Code::InvalidArgument, &["no graph"]);
    let mut def = good.clone();
    def.signature_def.get_mut("f").unwrap().inputs.insert("z".to_owned(), TensorInfo::default());
    load(&def).unwrap();
    let unusable = SavedModel::load(&folder).unwrap();
    expect(unusable.signature("f").map(drop), Code::InvalidArgument, &["signature `f`", "input `z`"]);
    let mut def = good.clone();
    def.signature_def.get_mut("f").unwrap().outputs.insert("z".to_owned(), info("inn:0", DataType::Float));
    load(&def).unwrap();
    expect(SavedModel::load(&folder).unwrap().signature("f").map(drop), Code::NotFound, &["output `z`", "inn"]);
    load(&good).unwrap();
    std::fs::remove_file(folder.join("variables/variables.data-00000-of-00001")).unwrap();
    expect(SavedModel::load(&folder).map(drop), Code::NotFound, &["variables.data-00000-of-00001", "restored"]);
    std::fs::remove_file(folder.join("variables/variables.index")).unwrap();
    expect(SavedModel::load(&folder).map(drop), Code::NotFound, &["Failed to find any matching files"]);
    std::fs::remove_file(folder.join("saved_model.pb")).unwrap();
    expect(SavedModel::load(&folder).map(drop), Code::NotFound, &["saved_model", "lacks"]);
}

#[test]
fn truncated_and_altered_models_are_refused_or_load() {
    let bytes = std::fs::read(path(DATA).join("tf2/saved_model.pb")).unwrap();
    let registry = kernlink::registry().unwrap();
    let read = |bytes: &[u8]| -> Result<()> {
        let def = proto::saved_model_from_bytes(bytes.to_vec())?;
        for meta in def.meta_graphs {
            signatures(&meta)?;
            kernlink::formats::MetaGraph::import(meta, &registry, &LoadOptions::new())?;
        }
        Ok(())
    };
    read(&bytes).unwrap();
    let mut refused = 0;
    for length in (0..bytes.len()).step_by(211) {
        refused += usize::from(read(&bytes[..length]).is_err());
    }
    assert!(refused > 50, "{refused}");
    for seed in 1..80 {
        let mut draw = generator(seed);
        let mut choices = Choices(&mut draw);
        let mut altered = bytes.clone();
        for _ in 0..1 + choices.below(4) {
            let position = (choices.below(1 << 15) << 8 | choices.below(1 << 8)) % altered.len();
            altered[position] = choices.below(256) as u8;
        }
        // That nothing panics is the point.
        let _ = read(&altered);
    }
}
