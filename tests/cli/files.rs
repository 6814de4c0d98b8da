//! The files that the command is given, and what it says of those that it cannot read.

use kernlink::proto::Message as _;

use crate::command::{bad, folder, good, holds, kernlink, sum};
use crate::support::path;

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
}

#[test]
fn models_are_named_as_they_are_to_be_given() {
    let model = saved("tf2");
    let file = format!("{model}/saved_model.pb");
    bad(&["run", &file], 2, &["no GraphDef", "give its folder", &model]);
    bad(&["inspect", &file], 2, &["give its folder", &model]);
    let x = "x=[[1, 2, 3]]";
    let words = ["add --signature NAME: serving_default, words"];
    bad(&["run", &model, "--input", x, "--output", "scaled"], 2, &words);
    // The only signature of a model needs no name.
    let to = folder("only");
    for part in ["assets/vocabulary.txt", "variables/variables.index", "variables/variables.data-00000-of-00001"] {
        std::fs::create_dir_all(to.join(part).parent().unwrap()).unwrap();
        std::fs::copy(format!("{model}/{part}"), to.join(part)).unwrap();
    }
    let mut def = kernlink::proto::read_saved_model(&file).unwrap();
    let signatures = &mut def.meta_graphs[0].signature_def;
    let only = signatures.remove("serving_default").unwrap();
    signatures.remove("words");
    signatures.insert("scale".to_owned(), only);
    std::fs::write(to.join("saved_model.pb"), def.encode_to_vec()).unwrap();
    holds(&good(&["run", to.to_str().expect("UTF-8"), "--input", x]), &["scaled: float [1,3]"]);
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
