//! Datasets that are kept on disk, beside files that TensorFlow wrote, and iterators of several devices. `disk.py` writes the
//! graphs and folders.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kernlink::Code;
use kernlink::prelude::*;
use kernlink::runtime::RunOptions;

use super::session;

const GRAPH: &[u8] = include_bytes!("data/disk/graph.pb");
const VALUES: &[u8] = include_bytes!("data/disk/values.pb");
const COMPRESSIONS: [&str; 3] = ["none", "gzip", "snappy"];

pub(super) fn data_in(family: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/datasets/data").join(family)
}

fn data(name: &str) -> PathBuf {
    data_in("disk").join(name)
}

/// A folder for one test, or the one in which what is written is kept so that TensorFlow may read it.
pub(super) fn folder(test: &str) -> PathBuf {
    let folder = match std::env::var_os("KERNLINK_KEEP") {
        Some(kept) => return kept.into(),
        None => std::env::temp_dir().join(format!("kernlink-disk-{}-{test}", std::process::id())),
    };
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub(super) struct Pipeline<'s> {
    session: &'s Session,
    name: &'s str,
    path: Tensor,
}

impl<'s> Pipeline<'s> {
    pub(super) fn new(session: &'s Session, name: &'s str, path: &Path) -> Pipeline<'s> {
        Pipeline { session, name, path: Tensor::scalar(kernlink::dtype::TString::from(path.to_str().unwrap())) }
    }

    pub(super) fn begin(&self) -> Result<()> {
        self.begin_with(&[])
    }

    /// Begins with more that is fed.
    pub(super) fn begin_with(&self, feeds: &[(&str, Tensor)]) -> Result<()> {
        let begin = format!("{}_begin", self.name);
        let feeds = [feeds, &[("path", self.path.clone())]].concat();
        self.session.run(&feeds, &[], &[&begin]).map(|_| ())
    }

    /// What a node gives that makes no iterator.
    pub(super) fn value(&self, node: &str) -> Tensor {
        self.session.run(&[("path", self.path.clone())], &[node], &[]).unwrap().remove(0)
    }

    pub(super) fn next(&self) -> Result<Vec<String>> {
        let components = if matches!(self.name, "other" | "list") { 1 } else { 5 };
        let names: Vec<String> = (0..components).map(|index| format!("{}_{index}", self.name)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let options = RunOptions::new().timeout(Duration::from_secs(60));
        let element = self.session.run_with(&[("path", self.path.clone())], &names, &[], &options)?;
        Ok(element.iter().map(|component| format!("{component:?}")).collect())
    }

    /// All elements from here on, and how that ends.
    pub(super) fn rest(&self) -> (Vec<Vec<String>>, Code) {
        let mut elements = Vec::new();
        loop {
            match self.next() {
                Ok(element) => elements.push(element),
                Err(error) => return (elements, error.code()),
            }
        }
    }

    pub(super) fn all(&self) -> Vec<Vec<String>> {
        self.begin().unwrap();
        let (elements, end) = self.rest();
        assert_eq!(end, Code::OutOfRange);
        elements
    }

    pub(super) fn state(&self) -> Tensor {
        let state = format!("{}_state", self.name);
        self.session.run(&[("path", self.path.clone())], &[&state], &[]).unwrap().remove(0)
    }

    pub(super) fn go_back(&self, state: &Tensor) {
        self.try_go_back(state).unwrap();
    }

    pub(super) fn try_go_back(&self, state: &Tensor) -> Result<()> {
        let (given, go_back) = (format!("{}_given", self.name), format!("{}_go_back", self.name));
        let feeds = [(given.as_str(), state.clone()), ("path", self.path.clone())];
        self.session.run(&feeds, &[], &[&go_back]).map(|_| ())
    }
}

/// The elements as the graph makes them.
fn expected(session: &Session) -> Vec<Vec<String>> {
    Pipeline::new(session, "cache", Path::new("")).all()
}

pub(super) fn sorted(mut elements: Vec<Vec<String>>) -> Vec<Vec<String>> {
    elements.sort();
    elements
}

#[test]
fn disk_caches_are_those_of_tensorflow() {
    let (session, folder) = (session(GRAPH, 2), folder("cache"));
    let expected = expected(&session);
    assert_eq!(expected.len(), 5);
    assert_eq!(Pipeline::new(&session, "cache", &data("cached")).all(), expected);
    let path = folder.join("cache");
    let cache = Pipeline::new(&session, "cache", &path);
    assert_eq!(cache.all(), expected);
    assert!(path.with_extension("index").exists() && !folder.join("cache_0.lockfile").exists());
    assert_eq!(cache.all(), expected);
    // In the midst of reading.
    cache.begin().unwrap();
    cache.next().unwrap();
    let state = cache.state();
    assert_eq!(cache.rest().0, expected[1..]);
    cache.go_back(&state);
    assert_eq!(cache.rest().0, expected[1..]);
    // The elements of another dataset.
    let other = Pipeline::new(&session, "other", &data("cached"));
    other.begin().unwrap();
    other.next().unwrap();
    let swapped = folder.join("swapped");
    Pipeline::new(&session, "other", &swapped).all();
    let own = Pipeline::new(&session, "cache", &swapped);
    own.begin().unwrap();
    assert_eq!(own.next().unwrap_err().code(), Code::NotFound);
}

/// The names of what is in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn ragged_and_sparse_tensors_are_kept_as_tensorflow_keeps_them() {
    let (session, folder) = (session(VALUES, 2), folder("values"));
    let expected = Pipeline::new(&session, "elements", Path::new("")).all();
    assert_eq!(expected.len(), 4);
    // What TensorFlow has written, and what is written here and read again.
    let cache = Pipeline::new(&session, "cache", &data("values_cached"));
    assert_eq!(cache.all(), expected);
    let own = Pipeline::new(&session, "cache", &folder.join("values_cache"));
    assert_eq!((own.all(), own.all()), (expected.clone(), expected.clone()));
    let bytes = |path: &Path| std::fs::read(path.with_extension("data-00000-of-00001")).unwrap();
    assert!(bytes(&data("values_cached")) == bytes(&folder.join("values_cache")), "the data are TensorFlow's");
    assert_eq!(Pipeline::new(&session, "load", &data("values_saved")).all(), expected);
    for compression in ["none", "gzip", "snappy", "auto"] {
        let name = format!("snapshot_{compression}");
        let given = folder.join(format!("values_given_{compression}"));
        copy(&data(&format!("values_{name}")), &given);
        assert_eq!(Pipeline::new(&session, &name, &given).all(), expected, "{name}");
        assert_eq!(names(&given), names(&data(&format!("values_{name}"))), "{name}: it was read, not written again");
        let written = folder.join(format!("values_{name}"));
        let own = Pipeline::new(&session, &name, &written);
        assert_eq!((own.all(), own.all()), (expected.clone(), expected.clone()), "{name}");
    }
}

#[test]
fn altered_variants_are_errors() {
    let (session, folder) = (session(VALUES, 1), folder("altered"));
    let file = |path: &Path| path.with_extension("data-00000-of-00001");
    let path = folder.join("altered");
    std::fs::copy(data("values_cached").with_extension("index"), path.with_extension("index")).unwrap();
    let whole = std::fs::read(file(&data("values_cached"))).unwrap();
    let cache = Pipeline::new(&session, "cache", &path);
    for at in (1..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        std::fs::write(file(&path), &bytes).unwrap();
        cache.begin().unwrap();
        assert_eq!(cache.rest().1, Code::DataLoss, "byte {at}");
        std::fs::write(file(&path), &whole[..at]).unwrap();
        cache.begin().unwrap();
        assert_eq!(cache.rest().1, Code::Internal, "cut at {at}");
    }
}

#[test]
fn disk_caches_are_written_in_parts_where_states_are_saved() {
    let (session, folder) = (session(GRAPH, 2), folder("parts"));
    let expected = expected(&session);
    let path = folder.join("cache_in_parts");
    let cache = Pipeline::new(&session, "cache", &path);
    cache.begin().unwrap();
    cache.next().unwrap();
    cache.next().unwrap();
    let state = cache.state();
    assert!(folder.join("cache_in_parts_0.index").exists() && folder.join("cache_in_parts_0.lockfile").exists());
    cache.next().unwrap();
    // What was written after the state goes with the iterator that wrote it.
    cache.go_back(&state);
    assert_eq!(cache.rest().0, expected[2..]);
    assert!(!folder.join("cache_in_parts_0.lockfile").exists() && !folder.join("cache_in_parts_1.lockfile").exists());
    assert_eq!(cache.all(), expected);
}

#[test]
fn disk_caches_have_one_writer() {
    let (first, second, folder) = (session(GRAPH, 1), session(GRAPH, 1), folder("writers"));
    let path = folder.join("shared");
    let (one, other) = (Pipeline::new(&first, "cache", &path), Pipeline::new(&second, "cache", &path));
    one.begin().unwrap();
    one.next().unwrap();
    other.begin().unwrap();
    let error = other.next().unwrap_err();
    assert_eq!(error.code(), Code::AlreadyExists);
    assert!(error.message().contains("Created at"), "{error}");
    // Who gives up leaves nothing.
    one.begin().unwrap();
    assert_eq!(other.rest().0.len(), 5);
    let missing = folder.join("missing/cache");
    let lost = Pipeline::new(&first, "cache", &missing);
    lost.begin().unwrap();
    assert_eq!(lost.next().unwrap_err().code(), Code::NotFound);
}

#[test]
fn disk_folders_are_those_of_tensorflow() {
    let (session, folder) = (session(GRAPH, 2), folder("saved"));
    let expected = sorted(expected(&session));
    for compression in COMPRESSIONS {
        let load = format!("load_{compression}");
        let count = format!("count_{compression}");
        let is_same = |path: &Path| {
            let load = Pipeline::new(&session, &load, path);
            assert_eq!(sorted(load.all()), expected, "{compression}");
            let counted = session.run(&[("path", load.path.clone())], &[&count], &[]).unwrap();
            assert_eq!(counted[0].to_scalar::<i64>().unwrap(), 5);
            load.begin().unwrap();
            load.next().unwrap();
            let state = load.state();
            let rest = load.rest().0;
            assert_eq!(rest.len(), 4);
            load.go_back(&state);
            assert_eq!(load.rest().0, rest);
        };
        is_same(&data(&format!("saved_{compression}")));
        let path = folder.join(format!("save_{compression}"));
        let feed = Tensor::scalar(kernlink::dtype::TString::from(path.to_str().unwrap()));
        session.run(&[("path", feed)], &[], &[&format!("save_{compression}")]).unwrap();
        is_same(&path);
        let through = format!("through_{compression}");
        let path = folder.join(format!("whole_{compression}"));
        assert_eq!(Pipeline::new(&session, &through, &path).all().len(), 5);
        is_same(&path);
        // With a state saved and taken up in the midst, the file that ended goes on.
        let path = folder.join(format!("through_{compression}"));
        let through = Pipeline::new(&session, &through, &path);
        through.begin().unwrap();
        through.next().unwrap();
        let state = through.state();
        through.go_back(&state);
        assert_eq!(through.rest().0.len(), 4);
        is_same(&path);
    }
    let missing = Pipeline::new(&session, "load_none", &folder);
    assert_eq!(missing.begin().unwrap_err().code(), Code::NotFound);
}

/// All files below a folder.
pub(super) fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

pub(super) fn copy(from: &Path, to: &Path) {
    let mut found = Vec::new();
    files(from, &mut found);
    for path in found {
        let target = to.join(path.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&path, &target).unwrap();
    }
}

#[test]
fn disk_files_that_are_damaged_are_errors() {
    let session = session(GRAPH, 1);
    let folder = std::env::temp_dir().join(format!("kernlink-disk-{}-damaged", std::process::id()));
    for compression in COMPRESSIONS {
        let _ = std::fs::remove_dir_all(&folder);
        copy(&data(&format!("saved_{compression}")), &folder);
        let mut found = Vec::new();
        files(&folder, &mut found);
        let load = format!("load_{compression}");
        let load = Pipeline::new(&session, &load, &folder);
        for path in found.iter().filter(|path| !path.ends_with("dataset_spec.pb")) {
            let whole = std::fs::read(path).unwrap();
            for at in 0..whole.len() {
                let mut changed = whole.clone();
                changed[at] ^= 0x81;
                for bytes in [&changed[..], &whole[..at]] {
                    std::fs::write(path, bytes).unwrap();
                    if load.begin().is_ok() {
                        assert!(load.rest().0.len() <= 5);
                    }
                }
            }
            std::fs::write(path, &whole).unwrap();
        }
        assert_eq!(load.all().len(), 5);
    }
}

#[test]
fn disk_devices_get_elements_in_turn() {
    for threads in [1, 2] {
        for name in ["one", "none"] {
            let session = session(GRAPH, threads);
            let init = || session.run(&[], &[&format!("{name}_init")], &[]).unwrap()[0].to_scalar::<i64>().unwrap();
            let next = |device: i32, incarnation: i64| -> Result<i64> {
                let (shard, number) = (format!("{name}_shard"), format!("{name}_incarnation"));
                let feeds = [(shard.as_str(), Tensor::scalar(device)), (number.as_str(), Tensor::scalar(incarnation))];
                let options = RunOptions::new().timeout(Duration::from_secs(60));
                session.run_with(&feeds, &[&format!("{name}_next")], &[], &options)?[0].to_scalar()
            };
            assert_eq!(next(0, 1).unwrap_err().code(), Code::FailedPrecondition);
            assert_eq!(init(), 1);
            // The second device is served first, though its element is the second.
            std::thread::scope(|scope| {
                let waits = scope.spawn(|| next(1, 1));
                if name == "none" {
                    // Nothing is made until the first device asks.
                    std::thread::sleep(Duration::from_millis(20));
                }
                assert_eq!(next(0, 1).unwrap(), 0);
                assert_eq!(waits.join().unwrap().unwrap(), 1);
            });
            assert_eq!(next(2, 1).unwrap_err().code(), Code::InvalidArgument);
            assert_eq!(next(-1, 1).unwrap_err().code(), Code::InvalidArgument);
            for value in 2..5 {
                assert_eq!(next(value as i32 % 2, 1).unwrap(), value);
            }
            for device in [1, 0, 0, 1] {
                assert_eq!(next(device, 1).unwrap_err().code(), Code::OutOfRange);
            }
            assert_eq!(init(), 2);
            assert_eq!(next(0, 1).unwrap_err().code(), Code::InvalidArgument);
            // Who waits is told that another dataset was set.
            std::thread::scope(|scope| {
                let waits = scope.spawn(|| [next(1, 2), next(1, 2), next(1, 2)]);
                std::thread::sleep(Duration::from_millis(50));
                assert_eq!(init(), 3);
                assert_eq!(waits.join().unwrap()[2].as_ref().unwrap_err().code(), Code::InvalidArgument);
            });
            assert_eq!(next(0, 3).unwrap(), 0);
        }
    }
}
