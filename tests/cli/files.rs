//! The files that the command is given, and what it says of those that it cannot read.

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::proto::Message as _;
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;

use crate::command::{bad, folder, good, holds, kernlink, save, sum};
use crate::support::{constant, graph, node, path};

fn saved(name: &str) -> String {
    path("tests/saved_model/data").join(name).to_str().expect("UTF-8").to_owned()
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_before_they_are_opened() {
    let to = folder("pipes");
    let model = sum("pipes.pb");
    let checkpoint = to.join("checkpoint");
    for name in ["x.npy", "x.json", "x.txt", "checkpoint"] {
        let file = to.join(name);
        for is_pipe in [true, false] {
            let _ = std::fs::remove_file(&file);
            if is_pipe {
                assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
            } else {
                std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
            }
            let file = file.to_str().expect("UTF-8");
            let input = format!("scope/x=@{file}");
            let words = ["INVALID_ARGUMENT", file, "it is no regular file"];
            if name == "checkpoint" {
                bad(&["checkpoint", to.to_str().expect("UTF-8")], 2, &words);
                bad(&["ops", "--check", file], 2, &words);
            } else {
                bad(&["run", &model, "--input", &input, "--output", "scope/y"], 2, &words);
            }
        }
    }
    std::fs::remove_file(checkpoint).unwrap();
    let out = to.join("out.pb");
    let _ = std::fs::remove_file(&out);
    assert!(std::process::Command::new("mkfifo").arg(&out).status().unwrap().success());
    bad(&["optimize", &model, "-o", out.to_str().unwrap()], 2, &["INVALID_ARGUMENT", "out.pb: it is a pipe"]);
    let saved = to.join("scope_y.npy");
    let _ = std::fs::remove_file(&saved);
    std::fs::rename(&out, &saved).unwrap();
    let run = ["run", &model, "--input", "scope/x=[[1, 2]]", "--save", to.to_str().unwrap()];
    bad(&run, 2, &["--save: cannot write", "scope_y.npy: it is a pipe"]);
    std::fs::remove_file(saved).unwrap();
    bad(&["run", &model, "--input", "scope/x=[[1, 2]]", "--save", "/dev/null"], 2, &["--save: /dev/null is no folder"]);
}

#[test]
fn the_list_of_a_folder_leads_to_its_checkpoints() {
    let to = folder("lists");
    let at = to.to_str().expect("UTF-8");
    std::fs::create_dir_all(to.join("sub")).unwrap();
    for file in ["model.index", "model.data-00000-of-00001"] {
        std::fs::copy(saved(&format!("meta/{file}")), to.join("sub").join(file)).unwrap();
        let other = format!("other{}", file.trim_start_matches("model"));
        std::fs::copy(saved(&format!("meta/{file}")), to.join(other)).unwrap();
    }
    let list = |text: &str| std::fs::write(to.join("checkpoint"), text).unwrap();
    let own = to.join("sub/model");
    for text in [
        "model_checkpoint_path: \"sub/model\"".to_owned(),
        "# the latest\nall_model_checkpoint_paths: 'a' model_checkpoint_path: 'sub' '/model'\n".to_owned(),
        format!("model_checkpoint_path: \"{}\"", own.display()),
    ] {
        list(&text);
        let output = kernlink(&["checkpoint", at]);
        assert!(output.status.success() && output.stderr.is_empty(), "{text}: {output:?}");
    }
    // A list that names another folder is not followed there, and whoever reads it is told.
    for name in ["/elsewhere/other", "../lists/other"] {
        list(&format!("model_checkpoint_path: \"{name}\"\n"));
        let output = kernlink(&["checkpoint", at]);
        let note = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{note}");
        holds(&note, &[name, "lies elsewhere", "taking", to.join("other").to_str().expect("UTF-8")]);
    }
    list("model_checkpoint_path: \"../sub/model\"\n");
    bad(&["checkpoint", at], 2, &["NOT_FOUND", "`../sub/model`, which lies elsewhere", "there is no"]);
    for (text, why) in [
        ("", "names no latest checkpoint"),
        ("garbage", "line 1: expected `:` after the field `garbage`"),
        (
            "model_checkpoint_path: \"a\"\nmodel_checkpoint_path: \"b\"",
            "line 2: model_checkpoint_path stands there twice",
        ),
        ("model_checkpoint_path: \"..\"", "`..` names no checkpoint"),
    ] {
        list(text);
        bad(&["checkpoint", at], 2, &["DATA_LOSS", to.join("checkpoint").to_str().expect("UTF-8"), why]);
    }
}

#[test]
fn texts_are_read_as_others_write_them() {
    let to = folder("texts");
    let model = sum("texts.pb");
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(to.join(name), bytes).unwrap();
        format!("scope/x=@{}", to.join(name).display())
    };
    let utf_16 = [&b"\xff\xfe"[..], b"[\0[\x001\0"].concat();
    let run = |input: &str| ["run".to_owned(), model.clone(), "--input".to_owned(), input.to_owned()];
    let fails = |input: &str, words: &[&str]| bad(&run(input).each_ref().map(String::as_str), 2, words);
    let runs = |input: &str| good(&run(input).each_ref().map(String::as_str));
    holds(&runs("scope/x=[[NaN, -Infinity]]"), &["[[NaN -inf]]"]);
    holds(&runs(&file("words.json", b"[[NaN, Infinity]]")), &["[[NaN inf]]"]);
    holds(&runs(&file("mark.json", b"\xef\xbb\xbf[[1, 2]]")), &["[[2.0 4.0]]"]);
    holds(&runs(&file("mark.txt", b"\xef\xbb\xbf1 2\n3 4\n")), &["[[2.0 4.0], [4.0 6.0]]"]);
    for name in ["wide.json", "wide.txt"] {
        fails(&file(name, &utf_16), &["INVALID_ARGUMENT", name, "UTF-16: save it as UTF-8"]);
    }
    fails(&file("broken.json", b"[\xff]"), &["INVALID_ARGUMENT", "broken.json", "not UTF-8"]);
    holds(&runs(&file("saved.txt", b"# x, y\n1,2\n3, 4\n")), &["[[2.0 4.0], [4.0 6.0]]"]);
    for (name, text, words) in [
        ("gap.txt", "1 2\n1,,3", "line 2: no value stands where value 2 is expected"),
        ("empty.txt", "", "there are no values in the file"),
        ("ragged.txt", "1,2\n\n3", "line 3 has 1 values, where line 1 has 2"),
        ("word.txt", "1 2\n3 four", "line 2, value 2: `\"four\"` is no float"),
        ("large.txt", "1e300 2", "line 1, value 1: `1e+300` is no float; the dtype has no number so large"),
        ("large.json", "[[1, 1e300]]", "`1e+300` is no float; the dtype has no number so large"),
    ] {
        fails(&file(name, text.as_bytes()), &["INVALID_ARGUMENT", name, words]);
    }
    let other_shape = kernlink(&run("scope/x=[1, 2]").each_ref().map(String::as_str));
    holds(&String::from_utf8_lossy(&other_shape.stdout), &["[2.0 4.0]"]);
    let note = "--input scope/x: shape [2] where the model says [?,2]; the run is tried with it";
    holds(&String::from_utf8_lossy(&other_shape.stderr), &[note]);
    let row = kernlink(&run(&file("row.txt", b"1 2")).each_ref().map(String::as_str));
    holds(&String::from_utf8_lossy(&row.stderr), &[note, "a single line in a .txt is a vector"]);
    fails(&file("nan.json", b"[[1,\n nan]]"), &["nan.json: line 2, column 2: `nan` is no JSON: write `NaN`"]);
    fails("scope/x=[\"a\"]", &["`\"a\"` is no float: it is a string, and a number is expected"]);
    fails("scope/x=[[-1e39, 0]]", &["INVALID_ARGUMENT", "--input scope/x", "-1e+39", "no number so large"]);
}

#[test]
fn strings_are_bytes_and_lines_of_files() {
    let string = AttrValue::Type(DataType::String);
    let float = AttrValue::Type(DataType::Float);
    let model = save(
        "strings.pb",
        &graph([
            node("x", "Placeholder", &[], &[("dtype", string)]),
            node("length", "StringLength", &["x"], &[]),
            node("number", "Placeholder", &[], &[("dtype", float.clone())]),
            node("same", "Identity", &["number"], &[("T", float)]),
        ]),
    );
    let to = folder("strings");
    std::fs::write(to.join("photo.jpg"), b"\xff\xd8\0\0").unwrap();
    std::fs::write(to.join("values.json"), "[1]\n").unwrap();
    std::fs::write(to.join("words.txt"), "one\ntwo and\r\n\n").unwrap();
    let at = |file: &str| to.join(file).to_str().expect("UTF-8").to_owned();
    let (photo, json, words) = (at("photo.jpg"), at("values.json"), at("words.txt"));
    let runs = |source: &str, what: &str| {
        let text = good(&["run", &model, "--input", &format!("x={source}"), "--output", "length"]);
        holds(&text, &[&format!("length: int32 {what}\n")]);
    };
    runs(&format!("@{photo}"), "[]\n  4");
    runs(&format!("@bytes:{json}"), "[]\n  4");
    let loud = at("VALUES.JSON");
    std::fs::write(&loud, "\"ten bytes!\"\n").unwrap();
    runs(&format!("@{loud}"), "[]\n  10");
    runs(&format!("[@{photo}, @{words}]"), "[2]\n  [4 14]");
    runs(&format!("@lines:{words}"), "[3]\n  [3 7 0]");
    runs(r#"[{"b64": "/9gAAAA="}, "ab"]"#, "[2]\n  [5 2]");
    let fails = |input: &str, words: &[&str]| bad(&["run", &model, "--input", input], 2, words);
    fails(r#"x={"b64": "/9g"}"#, &["INVALID_ARGUMENT", "`/9g` is no base64"]);
    fails(&format!("number=@lines:{words}"), &["lines of files are strings, and the input is float"]);
    fails(&format!("number=@{photo}"), &["must end in .npy, .txt or .json, or the file must be a NumPy array"]);
    let array = to.join("array");
    kernlink::npy::write(&array, &Tensor::scalar(1.5f32)).unwrap();
    let number = ["--input", &format!("number=@{}", at("array")), "--output", "same"];
    holds(&good(&[&["run", &model][..], &number].concat()), &["same: float []\n  1.5"]);
    #[cfg(target_os = "linux")]
    {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kernlink"));
        command.args(["run", &model, "--input", "number=@/dev/stdin", "--output", "same"]);
        let output = command.stdin(std::fs::File::open(&array).unwrap()).output().unwrap();
        holds(&String::from_utf8_lossy(&output.stdout), &["same: float []\n  1.5"]);
    }
    fails("x=@nowhere.jpg", &["NOT_FOUND", "nowhere.jpg"]);
    fails("=1", &["--input `=1`: expected NAME=SRC"]);
    for nameless in ["x=@", "x=@bytes:", "x=@lines:", "x=[@]", "number=@"] {
        fails(nameless, &["NOT_FOUND", "its name is empty"]);
    }
    // A list is of one kind; what is advised is read as what it is meant to be.
    fails(&format!(r#"x=[@{photo}, "a"]"#), &["a list is all of files", "or all JSON", "b64"]);
    fails("x=[one, 'two']", &[r#"; write '["one", "two"]'"#]);
}

#[test]
fn who_gives_a_file_for_a_vector_of_strings_is_told_how() {
    let shape = |dims: &[i64]| AttrValue::Shape(PartialShape::from_dims(dims).unwrap());
    let to = folder("strings");
    std::fs::write(to.join("a.txt"), "a").unwrap();
    for (dims, source, is_told) in
        [(&[-1][..], "@", true), (&[-1], "@bytes:", true), (&[2], "@lines:", false), (&[-1, -1], "@", false)]
    {
        let attrs = [("dtype", AttrValue::Type(DataType::String)), ("shape", shape(dims))];
        let def = graph([node("x", "Placeholder", &[], &attrs), node("y", "StringLength", &["x"], &[])]);
        let input = format!("x={source}{}", to.join("a.txt").display());
        let output = kernlink(&["run", &save("vector.pb", &def), "--input", &input]);
        let note = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && note.contains("where the model says"), "{note}");
        assert_eq!(note.contains("for a vector write `[@photo.jpg]`"), is_told, "{note}");
    }
}

#[test]
fn arrays_of_narrow_floats_are_read_as_the_input_says() {
    let bfloat16 = AttrValue::Type(DataType::Bfloat16);
    let model = save(
        "bfloat16.pb",
        &graph([
            node("x", "Placeholder", &[], &[("dtype", bfloat16.clone())]),
            node("y", "Neg", &["x"], &[("T", bfloat16)]),
        ]),
    );
    let (to, file) = (folder("bfloat16"), folder("bfloat16").join("x.npy"));
    // np.save("x.npy", np.array([1.5, -2], ml_dtypes.bfloat16))
    let head = format!("{:117}\n", "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }");
    let array = [b"\x93NUMPY\x01\0\x76\0", head.as_bytes(), &[0xc0, 0x3f, 0, 0xc0]].concat();
    std::fs::write(&file, array).unwrap();
    let input = format!("x=@{}", file.display());
    let text = good(&["run", &model, "--input", &input, "--save", to.to_str().unwrap()]);
    holds(&text, &["y: bfloat16 [2]\n  [-1.5 2.0]"]);
    let again = format!("x=@{}", to.join("y.npy").display());
    holds(&good(&["run", &model, "--input", &again]), &["y: bfloat16 [2]\n  [1.5 -2.0]"]);
}

#[test]
fn names_of_files_say_that_they_are_text() {
    let def = graph([constant("a", Tensor::scalar(1.0f32))]);
    let text = save("text.pbtxt", &def);
    for name in ["TEXT.PBTXT", ".pbtxt"] {
        let file = folder("names-of-files").join(name);
        std::fs::copy(&text, &file).unwrap();
        holds(&good(&["run", file.to_str().unwrap()]), &["a: float []\n  1.0\n"]);
    }
}

#[test]
fn models_are_named_as_they_are_to_be_given() {
    let model = saved("tf2");
    let file = format!("{model}/saved_model.pb");
    bad(&["run", &file], 2, &["no GraphDef", "give its folder", &model]);
    bad(&["inspect", &file], 2, &["give its folder", &model]);
    let x = "x=[[1, 2, 3]]";
    let words = ["gives no `scald`", "did you mean scaled?", "no node `scald`", "--signature words: words"];
    bad(&["run", &model, "--input", x, "--output", "scald"], 2, &words);
    // The only signature of a model needs no name.
    let to = folder("only");
    for part in ["assets/vocabulary.txt", "variables/variables.index", "variables/variables.data-00000-of-00001"] {
        std::fs::create_dir_all(to.join(part).parent().unwrap()).unwrap();
        std::fs::copy(format!("{model}/{part}"), to.join(part)).unwrap();
    }
    let mut def = kernlink::proto::read_saved_model(&file).unwrap();
    let signatures = &mut def.meta_graphs[0].signature_def;
    let mut only = signatures.remove("serving_default").unwrap();
    let calls = only.outputs.remove("calls").unwrap();
    only.outputs.insert("ca\nlls".to_owned(), calls);
    signatures.remove("words");
    signatures.insert("scale".to_owned(), only);
    std::fs::write(to.join("saved_model.pb"), def.encode_to_vec()).unwrap();
    holds(&good(&["run", to.to_str().expect("UTF-8"), "--input", x]), &["scaled: float [1,3]", "ca\\nlls: int64 []\n"]);
    holds(&good(&["inspect", to.to_str().expect("UTF-8")]), &["output ca\\nlls: int64 []"]);
    bad(
        &["run", &model, "--signature", "serving_defualt"],
        2,
        &["it has: serving_default, words; did you mean serving_"],
    );
}

#[test]
fn errors_are_bounded() {
    let long = "x".repeat(50_000);
    let (tf2, sum) = (saved("tf2"), sum("bounded.pb"));
    let feed = format!("{long}=1");
    let value = format!("scope/x={long}");
    let text = format!("scope/x=\"{long}\"");
    let colon = format!("{long}:y");
    for args in [
        &["run", &*sum, "--input", &feed][..],
        &["run", &sum, "--input", &long],
        &["run", &sum, "--input", &value],
        &["run", &sum, "--input", &text],
        &["run", &sum, "--output", &long],
        &["run", &sum, "--output", &colon],
        &["run", &sum, "--target", &long],
        &["run", &tf2, "--signature", &long],
        &["run", &tf2, "--input", &feed],
        &["ops", &long],
    ] {
        let output = kernlink(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.len() < 2000, "{} bytes: {error:.500}", error.len());
        holds(&error, &[" bytes)"]);
    }
}
