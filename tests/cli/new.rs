//! `kernlink new`: the crate that it writes, and what it refuses.

use kernlink::proto::read_graph;

use crate::command::{bad, folder, good, holds};
use crate::new_crate::NewCrate;
use crate::support::path;

#[test]
fn the_crate_builds_passes_its_test_and_has_a_command_with_its_op() {
    let new = NewCrate::write("my-ops", &[]);
    new.check_format();
    // The versions are those of the checkout, of which Cargo leaves out what the crate does not need.
    let lock = |file: std::path::PathBuf| std::fs::read_to_string(file).unwrap();
    assert_eq!(lock(new.folder.join("Cargo.lock")), lock(path("Cargo.lock")));
    // As it is written Cargo takes it, and it depends on the checkout.
    holds(&new.cargo(&["tree", "--depth", "1"]), &["my-ops v0.1.0", "kernlink v", env!("CARGO_MANIFEST_DIR")]);
    let new = new.for_a_quick_build();
    holds(&new.cargo(&["test"]), &["test zero_out_keeps_one_element ... ok"]);
    let own = new.cargo(&["run", "--", "ops", "--own"]);
    holds(&own, &["ZeroOut Keeps the element at `preserve_index` and sets every other one to zero.\n1 op\n"]);
    holds(&new.cargo(&["run", "--", "kernels", "--own"]), &["ZeroOut", "3 kernels"]);
    holds(&new.cargo(&["run", "--", "ops"]), &[" ops, 1 of them not Kernlink's (--own)"]);
    let about = ["preserve_index: int >= 0 = 0\n      Which element to keep", "declared at src/zero_out.rs:", "my-ops"];
    holds(&new.cargo(&["run", "--", "ops", "ZeroOut"]), &about);
    new.cargo(&["run", "--example", "own"]);
    assert_eq!(read_graph(new.folder.join("own.pb")).unwrap().node[1].op, "ZeroOut");
    let run = new.cargo(&["run", "--", "run", "own.pb", "--input", "x=[1, 2, 3]"]);
    holds(&run, &["y: float [3]\n  [0.0 2.0 0.0]\n"]);
    let bench = new.cargo(&["run", "--", "bench", "own.pb", "--runs", "1"]);
    holds(&bench, &["input x is not given: random numbers from 0 to 1, float [3]\n", "ZeroOut"]);
}

#[test]
fn names_and_places_are_checked_before_anything_is_written() {
    let to = folder("new");
    let _ = std::fs::remove_dir_all(&to);
    std::fs::create_dir_all(to.join("full")).unwrap();
    std::fs::write(to.join("full/file"), "").unwrap();
    let at = |name: &str| to.join(name).to_str().expect("UTF-8").to_owned();
    bad(&["new", &at("full")], 2, &["ALREADY_EXISTS", "is not empty"]);
    bad(&["new", &at("full/file")], 2, &["ALREADY_EXISTS", "is no folder"]);
    bad(&["new", &at("MyOps")], 2, &["`MyOps` is no name for a crate", "add --name my-ops"]);
    bad(&["new", &at("x"), "--name", "fn"], 2, &["a word of Rust's own"]);
    bad(&["new", &at("x"), "--kernlink", &at("full")], 2, &["NOT_FOUND", "--kernlink: cannot read", "Cargo.toml"]);
    let framework = path("framework");
    bad(&["new", &at("x"), "--kernlink", framework.to_str().unwrap()], 2, &["give the root of a checkout"]);
    bad(&["new"], 2, &["<DIR>"]);
    assert!(!to.join("MyOps").exists() && !to.join("x").exists());
}

#[test]
fn the_crate_is_named_as_asked_and_depends_on_what_is_published() {
    let to = folder("new-named").join("folder");
    let _ = std::fs::remove_dir_all(&to);
    std::fs::create_dir_all(&to).unwrap();
    // An empty folder that is there already is taken, and the crate stands by itself inside a workspace.
    std::fs::write(to.with_file_name("Cargo.toml"), "[workspace]\n").unwrap();
    let text = good(&["new", to.to_str().unwrap(), "--name", "sound-ops"]);
    holds(&text, &["crate sound-ops is in", "cargo run -- run own.pb", "inside the workspace of"]);
    holds(&text, &["depends on the published crate", "kernlink = { path = \"CHECKOUT\" }", "takes minutes"]);
    assert!(!to.join("Cargo.lock").exists());
    let read = |file: &str| std::fs::read_to_string(to.join(file)).unwrap();
    let manifest = read("Cargo.toml");
    let version = format!("kernlink = \"{}\"\n", env!("CARGO_PKG_VERSION"));
    holds(&manifest, &["name = \"sound-ops\"\n", &version, "\n[workspace]\n"]);
    holds(&read("src/main.rs"), &["use sound_ops as _;"]);
    holds(&read("README.md"), &["# sound-ops\n"]);
    for file in ["Cargo.toml", "README.md", "src/lib.rs", "tests/ops.rs", "examples/own.rs"] {
        let text = read(file);
        assert!(!text.contains("my") && !text.contains('@') && !text.contains("gpu"), "{file}: {text}");
    }
    assert!(!to.join("src/gpu.rs").exists() && !text.contains("gpu"), "{text}");
    // What is printed is what the crate's own README has.
    let with_gpu = to.with_file_name("with-gpu");
    let _ = std::fs::remove_dir_all(&with_gpu);
    let text = good(&["new", with_gpu.to_str().unwrap(), "--gpu"]);
    let readme = std::fs::read_to_string(with_gpu.join("README.md")).unwrap();
    let printed = || text.lines().filter_map(|line| line.strip_prefix("  cargo "));
    assert_eq!(printed().filter(|command| command.contains("--features gpu")).count(), 2, "{text}");
    printed().for_each(|command| assert!(readme.contains(&format!("\ncargo {command}")), "{command}: {readme}"));
}
