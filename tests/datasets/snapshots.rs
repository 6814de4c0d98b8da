//! Snapshots of datasets, beside folders that TensorFlow wrote. `snapshots.py` writes the graph and the folders.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kernlink::Code;
use kernlink::prelude::*;

use super::disk::{Pipeline, copy, data_in, files, folder, sorted};
use super::session;

const GRAPH: &[u8] = include_bytes!("data/snapshots/graph.pb");
/// How `SnapshotDataset` compresses; `SnapshotDatasetV2` has two more.
const LEGACY: [&str; 3] = ["none", "gzip", "snappy"];
const COMPRESSIONS: [&str; 5] = ["none", "gzip", "snappy", "zlib", "auto"];
/// The name of the folder that `hash` gives, -7.
const HASH: &str = "18446744073709551609";

/// The name that TensorFlow gives the folder of the dataset `second_hash`.
const SECOND_HASH: &str = "9488514655221018748";
/// The folder of the dataset `first_hash` where its path is one in which nothing can be made, as TensorFlow names it.
#[cfg(target_os = "linux")]
const FIRST_FOLDER: &str = "/proc/none/kernlink/8c896d3f48344ed6/";

fn data(name: &str) -> PathBuf {
    data_in("snapshots").join(name)
}

/// The elements as the graph makes them.
fn elements(session: &Session) -> Vec<Vec<String>> {
    let elements = Pipeline::new(session, "elements", Path::new("")).all();
    assert_eq!(elements.len(), 5);
    elements
}

/// The elements of the two shards, one shard behind the other.
fn by_shard(elements: &[Vec<String>]) -> Vec<Vec<String>> {
    elements.iter().step_by(2).chain(elements.iter().skip(1).step_by(2)).cloned().collect()
}

/// The only folder in a folder.
fn inner(folder: &Path) -> PathBuf {
    let mut folders =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let found = folders.next().unwrap();
    assert_eq!(folders.next(), None);
    found
}

fn pipeline<'s>(session: &'s Session, name: &'s str, path: &Path) -> Pipeline<'s> {
    Pipeline::new(session, name, path)
}

#[test]
fn snapshots_are_those_of_tensorflow() {
    let (session, folder) = (session(GRAPH, 2), folder("second"));
    let expected = elements(&session);
    for compression in COMPRESSIONS {
        let (name, barren) = (format!("second_{compression}"), format!("second_{compression}_empty"));
        // What the other dataset has are no elements, so that these can only be those of the files.
        let is_read = |path: &Path| assert_eq!(pipeline(&session, &barren, path).all(), by_shard(&expected), "{name}");
        is_read(&data(&name));
        let path = folder.join(format!("{name}_whole"));
        let whole = pipeline(&session, &name, &path);
        assert_eq!(whole.all(), expected);
        is_read(&path);
        assert_eq!(whole.all(), by_shard(&expected));

        // In the midst of reading.
        whole.begin().unwrap();
        whole.next().unwrap();
        whole.next().unwrap();
        let state = whole.state();
        assert_eq!(whole.rest().0, by_shard(&expected)[2..]);
        whole.go_back(&state);
        assert_eq!(whole.rest(), (by_shard(&expected)[2..].to_vec(), Code::OutOfRange));

        // In the midst of writing, twice from one state: what was written after it does not count.
        let path = folder.join(format!("{name}_restored"));
        let restored = pipeline(&session, &name, &path);
        restored.begin().unwrap();
        restored.next().unwrap();
        let state = restored.state();
        for _ in 0..2 {
            restored.next().unwrap();
            restored.next().unwrap();
            restored.go_back(&state);
        }
        restored.next().unwrap();
        let state = restored.state();
        restored.next().unwrap();
        restored.go_back(&state);
        assert_eq!(restored.rest().0, expected[2..]);
        is_read(&path);
        // Also after the snapshot was complete.
        restored.go_back(&state);
        let reads = pipeline(&session, &barren, &path);
        assert_eq!(reads.all().len(), 0, "it is not complete any more, and so that which has no elements is written");
    }
}

#[test]
fn snapshots_of_several_shards_are_read_in_turn() {
    let (session, folder) = (session(GRAPH, 2), folder("turns"));
    let expected = elements(&session);
    let turns = pipeline(&session, "second_turns", &folder);
    assert_eq!(turns.all(), expected);
    assert_eq!(turns.all(), expected);
    turns.begin().unwrap();
    turns.next().unwrap();
    let state = turns.state();
    turns.go_back(&state);
    assert_eq!(turns.rest().0, expected[1..]);
    // A state of another folder.
    let other = pipeline(&session, "second_turns", &folder.join("other"));
    other.begin().unwrap();
    let given = other.try_go_back(&state).unwrap_err();
    assert_eq!(given.code(), Code::DataLoss);
    assert!(given.message().contains("Dataset has changed"), "{given}");
    // What it was read from is gone.
    std::fs::remove_file(folder.join(HASH).join("snapshot.metadata")).unwrap();
    assert_eq!(turns.try_go_back(&state).unwrap_err().code(), Code::DataLoss);
}

#[test]
fn shards_that_begin_after_a_state_have_each_element_once() {
    let (session, folder) = (session(GRAPH, 1), folder("late"));
    let expected = elements(&session);
    for compression in COMPRESSIONS {
        for goes_back in [false, true] {
            let path = folder.join(format!("{compression}-{goes_back}"));
            let name = format!("second_{compression}");
            let written = pipeline(&session, &name, &path);
            written.begin().unwrap();
            written.next().unwrap();
            // The other shard begins now.
            let state = written.state();
            assert_eq!(written.next().unwrap(), expected[1]);
            let met = if goes_back {
                written.go_back(&state);
                1
            } else {
                2
            };
            assert_eq!(written.rest().0, expected[met..]);
            let barren = format!("{name}_empty");
            let read = pipeline(&session, &barren, &path).all();
            assert_eq!(read, by_shard(&expected), "{compression}, {goes_back}");
        }
    }
}

#[test]
fn snapshots_of_the_first_version_are_those_of_tensorflow() {
    let (session, folder) = (session(GRAPH, 2), folder("first"));
    let expected = elements(&session);
    for compression in LEGACY {
        let (name, barren) = (format!("first_{compression}"), format!("first_{compression}_empty"));
        let is_read = |path: &Path| assert_eq!(pipeline(&session, &barren, path).all(), expected, "{name}");
        is_read(&data(&name));
        let path = folder.join(format!("{name}_whole"));
        let whole = pipeline(&session, &name, &path);
        whole.begin().unwrap();
        for _ in 0..5 {
            whole.next().unwrap();
        }
        // It is complete with the last element.
        is_read(&path);
        whole.begin().unwrap();
        whole.next().unwrap();
        let state = whole.state();
        assert_eq!(whole.rest().0, expected[1..]);
        whole.go_back(&state);
        assert_eq!(whole.rest().0, expected[1..]);

        let path = folder.join(format!("{name}_restored"));
        let restored = pipeline(&session, &name, &path);
        restored.begin().unwrap();
        restored.next().unwrap();
        restored.next().unwrap();
        let state = restored.state();
        restored.go_back(&state);
        assert_eq!(restored.rest(), (expected[2..].to_vec(), Code::OutOfRange));
        is_read(&path);
    }
    let missing = pipeline(&session, "first_none_empty", &folder.join("missing"));
    missing.begin().unwrap();
    assert_eq!(missing.next().unwrap_err().code(), Code::NotFound);
}

#[test]
fn snapshots_of_the_first_version_are_pieces() {
    let (session, folder) = (session(GRAPH, 2), folder("pieces"));
    let expected = elements(&session);
    let many: Vec<_> = (0..6).flat_map(|_| expected.clone()).collect();
    let path = folder.join("first_pieces");
    let pieces = pipeline(&session, "first_pieces", &path);
    assert_eq!(pieces.all(), many);
    assert_eq!(pieces.all(), many);
    let (mut own, mut given) = (Vec::new(), Vec::new());
    files(&path.join("custom-n/custom"), &mut own);
    files(&data("first_pieces").join("custom-n/custom"), &mut given);
    assert_eq!(own.len(), given.len());
    for own in own {
        let given = data("first_pieces/custom-n/custom").join(own.file_name().unwrap());
        assert_eq!(std::fs::read(&own).unwrap(), std::fs::read(given).unwrap(), "{}", own.display());
    }
    let shuffled = pipeline(&session, "first_shuffled", &path);
    let first = shuffled.all();
    assert_ne!(first, many);
    assert_eq!(sorted(first.clone()), sorted(many));
    assert_eq!(shuffled.all(), first);
    // Three files at a time.
    let path = folder.join("first_none_threads");
    let threads = pipeline(&session, "first_threads", &path);
    assert_eq!(threads.all(), expected);
    assert_eq!(sorted(threads.all()), sorted(expected.clone()));
    let mut found = Vec::new();
    files(&path.join("custom-n/custom"), &mut found);
    assert_eq!(found.len(), 3);
    // As in TensorFlow, who is told to write adds to what is there.
    let path = folder.join("twice");
    let writes = pipeline(&session, "first_writes", &path);
    assert_eq!((writes.all(), writes.all()), (expected.clone(), expected.clone()));
    let twice = [&expected[..], &expected[..]].concat();
    assert_eq!(pipeline(&session, "first_none_empty", &path).all(), twice);
}

#[test]
fn snapshots_that_are_being_written_are_passed() {
    let (first, second) = (session(GRAPH, 1), session(GRAPH, 1));
    let folder = folder("pending");
    let expected = elements(&first);
    let path = folder.join("first");
    let begun = pipeline(&first, "first_none", &path);
    begun.begin().unwrap();
    begun.next().unwrap();
    let other = pipeline(&second, "first_none", &path);
    assert_eq!(other.all(), expected);
    other.begin().unwrap();
    other.next().unwrap();
    let state = other.state();
    other.go_back(&state);
    assert_eq!(other.rest().0, expected[1..]);
    assert!(!std::fs::read(path.join("custom-n/snapshot.metadata")).unwrap().ends_with(&[1]), "nobody has finished it");
    // After a second another may take over.
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(pipeline(&second, "first_expires", &path).all(), expected);
    assert!(std::fs::read(path.join("custom-n/snapshot.metadata")).unwrap().ends_with(&[1]), "it is finished");
    assert_eq!(pipeline(&second, "first_passes", &folder.join("none")).all(), expected);
    assert!(!folder.join("none/custom-n").exists());
    // In the second version nobody waits for another.
    let path = folder.join("second");
    let begun = pipeline(&first, "second_none", &path);
    begun.begin().unwrap();
    begun.next().unwrap();
    assert_eq!(pipeline(&second, "second_none", &path).all(), expected);
    assert_eq!(pipeline(&second, "second_none_empty", &path).all(), by_shard(&expected));
    begun.rest();
    assert_eq!(pipeline(&second, "second_none_empty", &path).all(), by_shard(&expected));
}

#[test]
fn snapshots_have_as_many_writers_as_there_are() {
    let folder = folder("concurrent");
    let expected = elements(&session(GRAPH, 1));
    for name in ["second_gzip", "first_writes", "first_none"] {
        let path = folder.join(name);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let session = session(GRAPH, 1);
                    let writes = pipeline(&session, name, &path);
                    for _ in 0..5 {
                        let found = sorted(writes.all());
                        // Who reads what several have written to one run finds all of it.
                        assert!(found.len().is_multiple_of(5) && found.len() >= 5, "{name}: {}", found.len());
                    }
                });
            }
        });
        let session = session(GRAPH, 1);
        let reader = if name == "second_gzip" { "second_gzip_empty" } else { "first_none_empty" };
        let mut found = sorted(pipeline(&session, reader, &path).all());
        assert_eq!(found.len() % 5, 0, "{name}");
        found.dedup();
        assert_eq!(found, sorted(expected.clone()), "{name}");
        let mut all = Vec::new();
        files(&path, &mut all);
        assert!(
            all.iter().all(|path| !path.file_name().unwrap().to_str().unwrap().contains("tmp")),
            "what was written aside is gone"
        );
    }
}

/// Runs a reader from an element on.
fn read_from(session: &Session, name: &str, path: &Path, start: i64) -> Result<Vec<Vec<String>>> {
    let reader = pipeline(session, name, path);
    reader.begin_with(&[("start", Tensor::scalar(start))])?;
    match reader.rest() {
        (elements, Code::OutOfRange) => Ok(elements),
        (_, code) => Err(kernlink::Error::new(code, "reading")),
    }
}

#[test]
fn snapshots_of_all_formats_are_read() {
    let session = session(GRAPH, 1);
    let expected = elements(&session);
    for (version, compressions) in [(0, &LEGACY[..]), (1, &LEGACY[..]), (2, &COMPRESSIONS[..4])] {
        for compression in compressions {
            let name = format!("reader{version}_{compression}");
            let second = |shard: &str| inner(&data(&format!("second_{compression}")).join(HASH)).join(shard);
            let shard =
                if version == 2 { second("00000000.shard") } else { data(&format!("shard{version}_{compression}")) };
            let whole: Vec<_> =
                if version == 2 { expected.iter().step_by(2).cloned().collect() } else { expected.clone() };
            assert_eq!(read_from(&session, &name, &shard, 0).unwrap(), whole, "{name}");
            assert_eq!(read_from(&session, &name, &shard, 2).unwrap(), whole[2..], "{name}");
            assert_eq!(read_from(&session, &name, &shard, 9).unwrap_err().code(), Code::Internal, "{name}");
            let reader = pipeline(&session, &name, &shard);
            reader.begin().unwrap();
            reader.next().unwrap();
            let state = reader.state();
            assert_eq!(reader.rest().0, whole[1..]);
            reader.go_back(&state);
            assert_eq!(reader.rest().0, whole[1..]);
            if version == 2 {
                let chunk = format!("chunk_{compression}");
                assert_eq!(pipeline(&session, &chunk, &shard.join("00000000.snapshot")).all(), whole);
            }
            let missing = pipeline(&session, &name, &shard.join("missing"));
            missing.begin().unwrap();
            assert_eq!(missing.next().unwrap_err().code(), Code::NotFound);
        }
    }
}

#[test]
fn snapshots_are_made_of_datasets() {
    let session = session(GRAPH, 1);
    let expected = elements(&session);
    let nested = pipeline(&session, "nested", Path::new(""));
    assert_eq!(nested.all(), [&expected[..2], &expected].concat());
    nested.begin().unwrap();
    (0..3).for_each(|_| _ = nested.next().unwrap());
    let state = nested.state();
    nested.go_back(&state);
    assert_eq!(nested.rest().0, expected[1..]);
}

#[test]
fn snapshots_are_in_folders_named_by_hashes() {
    let (session, folder) = (session(GRAPH, 1), folder("hashes"));
    let expected = elements(&session);
    let path = folder.join("second_hash");
    assert_eq!(pipeline(&session, "second_hash", &path).all(), expected);
    assert_eq!(inner(&path).file_name().unwrap(), SECOND_HASH);
    // That of the first version is of the path, too.
    let path = folder.join("first_hash");
    let first = pipeline(&session, "first_hash", &path);
    assert_eq!(first.all(), expected);
    assert_eq!(first.all(), expected);
    inner(&inner(&path));
    #[cfg(target_os = "linux")]
    {
        let first = pipeline(&session, "first_hash", Path::new("/proc/none/kernlink"));
        first.begin().unwrap();
        let error = first.next().unwrap_err();
        assert!(error.code() == Code::NotFound && error.message().contains(FIRST_FOLDER), "{error}");
    }
}

/// Changes and cuts each byte of the files below a folder, and asks for all elements; nothing may panic or take long.
fn damage(session: &Session, name: &str, given: &Path, path: &Path, is_file: &dyn Fn(&Path) -> PathBuf) {
    let _ = std::fs::remove_dir_all(path);
    copy(given, path);
    let mut found = Vec::new();
    files(path, &mut found);
    for file in &found {
        let whole = std::fs::read(file).unwrap();
        let reader = pipeline(session, name, &is_file(file));
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x81;
            for bytes in [&changed[..], &whole[..at]] {
                std::fs::write(file, bytes).unwrap();
                if reader.begin().is_ok() {
                    assert!(reader.rest().0.len() <= 5, "{name}");
                }
            }
        }
        std::fs::write(file, &whole).unwrap();
    }
    let _ = std::fs::remove_dir_all(path);
}

#[test]
fn snapshots_that_are_damaged_are_errors() {
    let session = session(GRAPH, 1);
    let folder = std::env::temp_dir().join(format!("kernlink-snapshots-{}-damaged", std::process::id()));
    let whole = |_: &Path| folder.clone();
    for compression in ["gzip", "snappy", "zlib"] {
        damage(
            &session,
            &format!("second_{compression}_empty"),
            &data(&format!("second_{compression}")),
            &folder,
            &whole,
        );
    }
    for compression in LEGACY {
        let (name, given) = (format!("first_{compression}_empty"), data(&format!("first_{compression}")));
        damage(&session, &name, &given, &folder, &whole);
        for version in [0, 1] {
            let shard = format!("shard{version}_{compression}");
            damage(&session, &format!("reader{version}_{compression}"), &data(&shard), &folder, &whole);
        }
    }
    let chunk = inner(&data("second_zlib").join(HASH)).join("00000001.shard");
    damage(&session, "chunk_zlib", &chunk, &folder, &|file| file.to_owned());
}

#[test]
#[cfg(unix)]
fn snapshots_of_devices_and_strange_folders_are_errors() {
    use std::os::unix::fs::symlink;
    let (session, folder) = (session(GRAPH, 1), folder("strange"));
    let put = |target: &Path, place: &str| {
        let _ = std::fs::remove_dir_all(folder.join("x"));
        let place = folder.join("x").join(place);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(target, place).unwrap();
    };
    let pipe = folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let path = folder.join("x");
    let fails = |name: &str, code: Code| {
        let reader = pipeline(&session, name, &path);
        let error = reader.begin().and_then(|()| reader.next()).unwrap_err();
        assert_eq!(error.code(), code, "{name}: {error}");
    };
    for target in [Path::new("/dev/zero"), &pipe] {
        put(target, &format!("{HASH}/snapshot.metadata"));
        fails("second_none", Code::FailedPrecondition);
        put(target, "custom-n/snapshot.metadata");
        fails("first_none", Code::FailedPrecondition);
        put(target, "00000000.snapshot");
        for reader in
            ["reader0_none", "reader0_snappy", "reader1_snappy", "reader1_gzip", "reader2_none", "reader2_snappy"]
        {
            fails(reader, Code::FailedPrecondition);
        }
        put(target, "ERROR");
        fails("list", Code::FailedPrecondition);
    }
    // Where a folder is to be made is a file.
    std::fs::write(folder.join("file"), "").unwrap();
    for name in ["second_none", "first_none"] {
        let path = folder.join("file");
        let writes = pipeline(&session, name, &path);
        let error = writes.begin().and_then(|()| writes.next()).unwrap_err();
        assert!(matches!(error.code(), Code::FailedPrecondition | Code::AlreadyExists), "{name}: {error}");
    }
    // A run whose name leads elsewhere.
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join(HASH)).unwrap();
    let run = b"../../../../tmp";
    let metadata = [&[0x12, run.len() as u8], &run[..], &[0x20, 2, 0xc0, 0x3e, 1]].concat();
    std::fs::write(path.join(HASH).join("snapshot.metadata"), metadata).unwrap();
    fails("second_none", Code::DataLoss);
    // A format that nobody knows.
    std::fs::write(path.join(HASH).join("snapshot.metadata"), [0x12, 1, b'1', 0x20, 7, 0xc0, 0x3e, 1]).unwrap();
    fails("second_none", Code::InvalidArgument);
    // Metadata that say nothing: another run is begun.
    std::fs::write(path.join(HASH).join("snapshot.metadata"), []).unwrap();
    assert_eq!(pipeline(&session, "second_none", &path).all().len(), 5);
}

#[test]
fn snapshots_of_several_processes_are_listed_as_they_come() {
    let (session, folder) = (session(GRAPH, 2), folder("list"));
    let chunks = folder.join("chunks");
    let list = pipeline(&session, "list", &folder);
    let name = |chunk: &str| {
        vec![format!("{:?}", Tensor::scalar(kernlink::dtype::TString::from(chunks.join(chunk).to_str().unwrap())))]
    };
    let names = |chunks: &[&str]| chunks.iter().map(|chunk| name(chunk)).collect::<Vec<_>>();
    let count = || list.value("list_count").to_scalar::<i64>().unwrap();
    let put = |chunk: &str| std::fs::write(chunks.join(chunk), "").unwrap();
    // Nothing is there yet.
    list.begin().unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| list.next().unwrap());
        std::thread::sleep(Duration::from_millis(30));
        std::fs::create_dir(&chunks).unwrap();
        std::fs::write(folder.join("chunks/chunk_1_0_5__x.tmp"), "").unwrap();
        std::fs::rename(folder.join("chunks/chunk_1_0_5__x.tmp"), chunks.join("chunk_1_0_5")).unwrap();
        assert_eq!(waits.join().unwrap(), name("chunk_1_0_5"));
    });
    assert_eq!(count(), -2);
    for chunk in ["chunk_0_0_7", "chunk_0_10_3", "chunk_0_2_3", "chunk_10_1_3", "x.tmp", "other", "another"] {
        put(chunk);
    }
    assert_eq!(list.next().unwrap(), name("chunk_0_0_7"));
    let state = list.state();
    put("chunk_0_1_9");
    std::fs::write(folder.join("DONE"), "").unwrap();
    // It has looked before.
    let late = ["chunk_10_1_3", "chunk_0_2_3", "chunk_0_10_3", "another", "other", "chunk_0_1_9"];
    assert_eq!(list.rest(), (names(&late), Code::OutOfRange));
    let rest = ["chunk_0_1_9", "chunk_10_1_3", "chunk_0_2_3", "chunk_0_10_3", "another", "other"];
    list.go_back(&state);
    assert_eq!(list.rest(), (names(&rest), Code::OutOfRange));
    assert_eq!(list.all(), [names(&["chunk_0_0_7", "chunk_1_0_5"]), names(&rest)].concat());
    assert_eq!(count(), 8);
    for (text, code) in [
        ("code: 3 message: \"no good\"", Code::InvalidArgument),
        ("code: 99", Code::Unknown),
        ("code: OUT_OF_RANGE", Code::Internal),
        ("message: \"x\"", Code::Internal),
        ("garbage{", Code::Internal),
        ("", Code::Internal),
    ] {
        std::fs::write(folder.join("ERROR"), text).unwrap();
        list.begin().unwrap();
        let error = list.next().unwrap_err();
        assert_eq!(error.code(), code, "{text}: {error}");
        assert!(code != Code::InvalidArgument || error.message().contains("no good"), "{error}");
    }
    let none = pipeline(&session, "list", Path::new(""));
    assert_eq!(none.begin().unwrap_err().code(), Code::InvalidArgument);
}
