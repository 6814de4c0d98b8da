//! Checkpoints: what TensorFlow wrote is read, what is written is read, and what is broken is refused.
//!
//! `tests/checkpoint/generate.py` made the files, and compares in TensorFlow what `what_is_written_is_read` leaves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::random_checkpoint::{self, table};
use crate::support::random_op::{Choices, generator};
use crate::support::{constant, graph, node, path};
use kernlink::attr::AttrValue;
use kernlink::dtype::{DataType, TString};
use kernlink::formats::{
    CheckpointFolder, CheckpointReader, CheckpointWriter, SliceFileWriter, SliceFilesReader, TensorSlice,
    latest_checkpoint, latest_checkpoint_with_note, merge_checkpoints,
};
use kernlink::golden::compare;
use kernlink::graph::Graph;
use kernlink::proto;
use kernlink::runtime::Session;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Error, Result};

const DATA: &str = "tests/checkpoint/data";

/// The tensors that TensorFlow saved.
fn expected() -> BTreeMap<String, Tensor> {
    let graph = proto::read_graph(path(DATA).join("expected.pb")).unwrap();
    let value = |node: &proto::NodeDef| match proto::attr_from_proto(&node.attr["value"]).unwrap() {
        AttrValue::Tensor(tensor) => tensor,
        other => panic!("{other:?}"),
    };
    graph.node.iter().map(|node| (node.name.clone(), value(node))).collect()
}

/// A folder of one test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoint").join(name);
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

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

// ---- what TensorFlow wrote ----

#[test]
fn tensorflows_checkpoints_are_read() {
    let expected = expected();
    for (prefix, shards, without) in [("one", 1, ""), ("two", 2, "large")] {
        let reader = CheckpointReader::open(path(DATA).join(prefix)).unwrap();
        assert_eq!(reader.shards(), shards);
        let found: Vec<(String, DataType, Shape)> =
            reader.tensors().map(|(name, entry)| (name, entry.dtype, entry.shape.clone())).collect();
        let wanted: BTreeMap<_, _> = expected.iter().filter(|(name, _)| *name != without).collect();
        assert_eq!(found.iter().map(|(name, ..)| name).collect::<Vec<_>>(), wanted.keys().copied().collect::<Vec<_>>());
        for (name, dtype, shape) in found {
            let tensor = reader.read(&name).unwrap();
            assert_eq!((tensor.dtype(), tensor.shape()), (dtype, &shape), "{name}");
            assert_same(&name, &tensor, &expected[&name]);
        }
        assert_eq!(reader.entry("parts").unwrap().slices.len(), if shards == 1 { 3 } else { 2 });
    }
}

#[test]
fn parts_are_put_together() {
    let whole = &expected()["parts"];
    let values = whole.as_slice::<f32>().unwrap();
    let first = SliceFilesReader::open(path(DATA).join("first-?????-of-00002").to_str().unwrap()).unwrap();
    let readers = ["one", "two"].map(|prefix| CheckpointReader::open(path(DATA).join(prefix)).unwrap());
    for text in ["-:-", "1,3:2,4", "0,2:-", "4,1:6,1", "0,5:0,7", "2,3:4,3"] {
        let slice = TensorSlice::parse(text).unwrap();
        let shape = slice.shape_in(whole.shape()).unwrap();
        let mut bounds = text.split(':').zip([5, 7]).map(|(range, size)| match range.split_once(',') {
            None => 0..size,
            Some((start, length)) => {
                let start: usize = start.parse().unwrap();
                start..start + length.parse::<usize>().unwrap()
            }
        });
        let (rows, columns) = (bounds.next().unwrap(), bounds.next().unwrap());
        let part: Vec<f32> = rows.flat_map(|row| columns.clone().map(move |column| values[row * 7 + column])).collect();
        let part = Tensor::from_elements(shape, &part).unwrap();
        for reader in &readers {
            assert_same(text, &reader.read_slice("parts", &slice).unwrap(), &part);
        }
        assert_same(text, &first.read_slice("parts", &slice).unwrap(), &part);
    }
    expect(readers[0].read_slice("parts", &TensorSlice::parse("3,3:-").unwrap()), Code::Internal, &["out of bounds"]);
    expect(readers[0].read_slice("parts", &TensorSlice::parse("-").unwrap()), Code::Internal, &["Mismatching ranks"]);
}

#[test]
fn the_first_format_is_read() {
    let expected = expected();
    let reader = SliceFilesReader::open(path(DATA).join("first-?????-of-00002").to_str().unwrap()).unwrap();
    let tensors: Vec<_> = reader.tensors().map(|(name, ..)| name).collect();
    assert!(tensors.len() >= 22, "{tensors:?}");
    for name in tensors {
        assert_same(&name, &reader.read(&name).unwrap(), &expected[&name]);
    }
    expect(reader.read("dtype/none"), Code::NotFound, &["dtype/none"]);
    // One file alone has a part only.
    let reader = SliceFilesReader::open(path(DATA).join("first-00000-of-00002").to_str().unwrap()).unwrap();
    expect(reader.read("parts"), Code::InvalidArgument, &["parts", "sufficient slices"]);
    expect(SliceFilesReader::open("nowhere/x-*").map(drop), Code::NotFound, &["nowhere/x-*"]);
    let index = path(DATA).join("one.index");
    expect(SliceFilesReader::open(index.to_str().unwrap()).map(drop), Code::NotFound, &["another format"]);
    let data = path(DATA).join("one.data-00000-of-00001");
    expect(SliceFilesReader::open(data.to_str().unwrap()).map(drop), Code::DataLoss, &["magic"]);
}

/// A checkpoint with a tensor of a megabyte whose elements stand at a multiple of 16 bytes.
#[cfg(any(unix, windows))]
fn large(name: &str) -> (PathBuf, Tensor) {
    let prefix = folder(name).join("model");
    let values: Vec<f32> = (0..1 << 18).map(|value| value as f32).collect();
    let tensor = Tensor::vector(&values).unwrap();
    let mut writer = CheckpointWriter::create(&prefix).unwrap();
    writer.add("large", &tensor).unwrap();
    writer.finish().unwrap();
    (prefix, tensor)
}

/// Large tensors are the file's own bytes, which nobody may change.
#[test]
#[cfg(all(any(unix, windows), target_endian = "little"))]
fn large_tensors_are_mapped() {
    let (prefix, expected) = large("mapped");
    let reader = CheckpointReader::open(&prefix).unwrap();
    let mut first = reader.read("large").unwrap();
    let second = reader.read("large").unwrap();
    let address = |tensor: &Tensor| tensor.bytes().unwrap().as_ptr();
    assert_eq!(address(&first), address(&second));
    #[cfg(target_os = "linux")]
    {
        let mapped = |path: &str| {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            maps.lines().filter(|line| line.ends_with(path)).any(|line| {
                let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
                let bound = |text: &str| usize::from_str_radix(text, 16).unwrap();
                (bound(start)..bound(end)).contains(&address(&first).addr())
            })
        };
        let data = std::fs::canonicalize(prefix.with_extension("data-00000-of-00001")).unwrap();
        assert!(mapped(data.to_str().unwrap()), "the elements are in no mapping of {}", data.display());
    }
    drop((reader, second));
    assert!(!first.is_unique() && first.as_mut_slice::<f32>().is_err());
    assert_eq!(first.bytes().unwrap(), expected.bytes().unwrap());
}

/// Small tensors are copied.
#[test]
fn small_tensors_are_copied() {
    let reader = CheckpointReader::open(path(DATA).join("one")).unwrap();
    let small =
        expected().into_iter().find(|(_, tensor)| tensor.dtype() == DataType::Float && tensor.num_bytes() < 1024);
    let (name, _) = small.unwrap();
    let (mut first, second) = (reader.read(&name).unwrap(), reader.read(&name).unwrap());
    assert_ne!(first.bytes().unwrap().as_ptr(), second.bytes().unwrap().as_ptr());
    assert!(first.as_mut_slice::<f32>().is_ok());
}

// ---- what is written ----

/// Writes all tensors, one of them in parts.
fn write(prefix: &Path, tensors: &BTreeMap<String, Tensor>) {
    let mut writer = CheckpointWriter::create(prefix).unwrap();
    for (name, tensor) in tensors {
        if name != "parts" {
            writer.add(name, tensor).unwrap();
            continue;
        }
        for (text, rows) in [("0,2:-", 0..2), ("2,3:-", 2..5)] {
            let part = tensor.slice_rows(rows.start, rows.end).unwrap();
            writer.add_slice(name, tensor.shape(), &TensorSlice::parse(text).unwrap(), &part).unwrap();
        }
    }
    writer.finish().unwrap();
}

#[test]
fn what_is_written_is_read() {
    let (folder, expected) = (folder("written"), expected());
    let prefix = folder.join("model");
    write(&prefix, &expected);
    println!("to compare in TensorFlow: python tests/checkpoint/generate.py {}", prefix.display());
    assert_eq!(names(&folder), ["model.data-00000-of-00001", "model.index"]);
    let reader = CheckpointReader::open(&prefix).unwrap();
    assert_eq!(reader.tensors().count(), expected.len());
    for (name, tensor) in &expected {
        assert_same(name, &reader.read(name).unwrap(), tensor);
    }
}

#[test]
fn the_first_format_is_written() {
    let (folder, expected) = (folder("first"), expected());
    let mut names = Vec::new();
    let file = folder.join("model.ckpt");
    let mut writer = SliceFileWriter::new(&file);
    for (name, tensor) in &expected {
        match writer.add_slice(name, tensor.shape(), &TensorSlice::full(tensor.rank()), tensor) {
            Ok(()) => names.push(name),
            Err(error) => assert!(matches!(error.code(), Code::Unimplemented | Code::InvalidArgument), "{error}"),
        }
    }
    writer.finish().unwrap();
    assert!(names.len() >= 24, "{names:?}");
    let reader = SliceFilesReader::open(file.to_str().unwrap()).unwrap();
    for name in names {
        assert_same(name, &reader.read(name).unwrap(), &expected[name]);
    }
}

#[test]
fn a_writer_that_does_not_finish_leaves_everything_as_it_was() {
    let folder = folder("unfinished");
    let prefix = folder.join("model");
    let (old, new) = (Tensor::scalar(1.0f32), Tensor::scalar(2.0f32));
    let one = |tensor: &Tensor| BTreeMap::from([("x".to_owned(), tensor.clone())]);
    write(&prefix, &one(&old));
    let mut writer = CheckpointWriter::create(&prefix).unwrap();
    writer.add("x", &new).unwrap();
    expect(writer.add("x", &new), Code::InvalidArgument, &["duplicate", "x"]);
    expect(writer.add("", &new), Code::InvalidArgument, &["name"]);
    let handle = Tensor::zeros(DataType::Resource, [1]).unwrap();
    expect(writer.add("h", &handle), Code::Unimplemented, &["h", "resource"]);
    drop(writer);
    assert_eq!(names(&folder), ["model.data-00000-of-00001", "model.index"]);
    assert_same("x", &CheckpointReader::open(&prefix).unwrap().read("x").unwrap(), &old);
    write(&prefix, &one(&new));
    assert_same("x", &CheckpointReader::open(&prefix).unwrap().read("x").unwrap(), &new);
    expect(CheckpointWriter::create(folder.join("a/b/model")).map(drop), Code::NotFound, &["a/b"]);
    // A folder that was made for what is given up goes, and no other.
    drop(CheckpointWriter::create(folder.join("given_up/model")).unwrap());
    assert!(!folder.join("given_up").exists());
    CheckpointWriter::create(folder.join("kept/model")).unwrap().finish().unwrap();
    drop(CheckpointWriter::create(folder.join("kept/other")).unwrap());
    assert!(folder.join("kept/model.index").exists());
}

#[test]
fn checkpoints_are_merged() {
    let (folder, expected) = (folder("merged"), expected());
    let prefixes: Vec<PathBuf> = (0..3).map(|i| folder.join(format!("part-{i}/x"))).collect();
    let whole = &expected["parts"];
    for (i, prefix) in prefixes.iter().enumerate() {
        let mut writer = CheckpointWriter::create(prefix).unwrap();
        for (name, tensor) in expected.iter().filter(|(name, _)| *name != "parts").skip(i).step_by(3) {
            writer.add(name, tensor).unwrap();
        }
        let rows = [0..1, 1..4, 4..5][i].clone();
        let slice = TensorSlice::new(&[Some((rows.start as i64, rows.len() as i64)), None]).unwrap();
        writer.add_slice("parts", whole.shape(), &slice, &whole.slice_rows(rows.start, rows.end).unwrap()).unwrap();
        writer.finish().unwrap();
    }
    let target = folder.join("all");
    let missing = [prefixes.clone(), vec![folder.join("none")]].concat();
    expect(merge_checkpoints(&missing, &target, false), Code::InvalidArgument, &["none"]);
    merge_checkpoints(&missing, &target, true).unwrap();
    let check = |prefix: &Path, shards: usize| {
        let reader = CheckpointReader::open(prefix).unwrap();
        assert_eq!((reader.shards(), reader.tensors().count()), (shards, expected.len()));
        for (name, tensor) in &expected {
            assert_same(name, &reader.read(name).unwrap(), tensor);
        }
    };
    check(&target, 3);
    assert!(prefixes.iter().all(|prefix| names(prefix.parent().unwrap()).is_empty()));
    // Onto itself, which gives its files other numbers; and again with another.
    merge_checkpoints(&[&target], &target, false).unwrap();
    check(&target, 3);
    let more = folder.join("more");
    write(&more, &BTreeMap::from([("zzz".to_owned(), Tensor::scalar(1i64))]));
    expect(merge_checkpoints(&[&target, &target], &more, false), Code::InvalidArgument, &["Duplicate"]);
    merge_checkpoints(&[&more, &target], &target, false).unwrap();
    assert_same("zzz", &CheckpointReader::open(&target).unwrap().read("zzz").unwrap(), &Tensor::scalar(1i64));
    expect(merge_checkpoints(&[] as &[PathBuf], &target, false), Code::InvalidArgument, &["none existed"]);
}

#[test]
fn parts_that_overlap_are_no_whole() {
    let folder = folder("overlapping");
    let shape = Shape::from([6, 2]);
    let prefixes = ["0,3:-", "2,3:-"].map(|slice| {
        let prefix = folder.join(format!("from-{}", &slice[..1]));
        let mut writer = CheckpointWriter::create(&prefix).unwrap();
        let part = Tensor::zeros(DataType::Float, [3, 2]).unwrap();
        writer.add_slice("parts", &shape, &TensorSlice::parse(slice).unwrap(), &part).unwrap();
        writer.finish().unwrap();
        prefix
    });
    let target = folder.join("all");
    merge_checkpoints(&prefixes, &target, false).unwrap();
    let reader = CheckpointReader::open(&target).unwrap();
    // As many rows as the whole has, and not its last one.
    expect(reader.read("parts"), Code::DataLoss, &["2,3:-", "overlaps another"]);
    assert!(reader.read_slice("parts", &TensorSlice::parse("2,3:-").unwrap()).is_ok());
}

#[test]
fn a_folder_keeps_the_last_checkpoints() {
    let folder = folder("kept");
    assert_eq!(latest_checkpoint(&folder).unwrap(), None);
    let kept = CheckpointFolder::new(&folder, "model").keep(2);
    for step in [1, 5, 9] {
        let prefix = kept
            .save(step, |prefix| {
                let mut writer = CheckpointWriter::create(prefix)?;
                writer.add("step", &Tensor::scalar(step as i64))?;
                writer.finish()
            })
            .unwrap();
        assert_eq!(latest_checkpoint(&folder).unwrap(), Some(prefix));
    }
    let files = ["model-5.data-00000-of-00001", "model-5.index", "model-9.data-00000-of-00001", "model-9.index"];
    assert_eq!(names(&folder), [&["checkpoint"], &files[..]].concat());
    assert_eq!(kept.checkpoints().unwrap(), [folder.join("model-5"), folder.join("model-9")]);
    let failed = kept.save(10, |_| Err(Error::cancelled("stop")));
    expect(failed, Code::Cancelled, &["stop"]);
    assert_eq!(latest_checkpoint(&folder).unwrap(), Some(folder.join("model-9")));
    // Lists lead into their folder and nowhere else, and say so.
    std::fs::write(folder.join("checkpoint"), "model_checkpoint_path: \"sub/model-5\"\n").unwrap();
    assert_eq!(latest_checkpoint_with_note(&folder).unwrap(), Some((folder.join("sub/model-5"), None)));
    std::fs::write(folder.join("checkpoint"), "model_checkpoint_path: \"/etc/../model-5\"\n").unwrap();
    let (prefix, note) = latest_checkpoint_with_note(&folder).unwrap().unwrap();
    assert_eq!(prefix, folder.join("model-5"));
    assert!(note.unwrap().contains("`/etc/../model-5`, which lies elsewhere"));
    std::fs::write(folder.join("checkpoint"), "model_checkpoint_path: \"/etc/model-6\"\n").unwrap();
    expect(latest_checkpoint(&folder), Code::NotFound, &["`/etc/model-6`", "there is no"]);
    std::fs::write(folder.join("checkpoint"), "").unwrap();
    expect(latest_checkpoint(&folder), Code::DataLoss, &["names no latest checkpoint"]);
    std::fs::write(folder.join("checkpoint"), "model_checkpoint_path: \"..\"\n").unwrap();
    expect(latest_checkpoint(&folder), Code::DataLoss, &[".."]);
}

// ---- what is broken ----

/// Reads everything; the first error.
fn read_all(index: &[u8], data: &[u8]) -> Result<BTreeMap<String, Tensor>> {
    let reader = CheckpointReader::from_bytes(index, vec![data.to_vec()])?;
    reader.tensors().map(|(name, _)| Ok((name.clone(), reader.read(&name)?))).collect()
}

fn files(prefix: &str) -> (Vec<u8>, Vec<u8>) {
    let read = |suffix: &str| std::fs::read(path(DATA).join(format!("{prefix}{suffix}"))).unwrap();
    (read(".index"), read(".data-00000-of-00001"))
}

#[test]
fn every_truncation_is_noticed() {
    let (index, data) = files("one");
    let count = read_all(&index, &data).unwrap().len();
    for length in 0..index.len() {
        expect(read_all(&index[..length], &data), Code::DataLoss, &[]);
    }
    let reader = |length: usize| CheckpointReader::from_bytes(&index, vec![data[..length].to_vec()]).unwrap();
    for length in (0..data.len()).step_by(701).chain([data.len() - 1]) {
        expect(read_all(&index, &data[..length]), Code::OutOfRange, &["tensor `", "truncated"]);
    }
    // What stands before the cut can be read.
    let half = reader(data.len() / 2);
    let readable = half.tensors().filter(|(name, _)| half.read(name).is_ok()).count();
    assert!((1..count).contains(&readable), "{readable} of {count}");
}

#[test]
fn every_flipped_bit_is_noticed() {
    let (index, data) = files("one");
    let whole = read_all(&index, &data).unwrap();
    let unharmed = |found: &BTreeMap<String, Tensor>| {
        found.len() == whole.len() && whole.iter().all(|(name, tensor)| compare(&found[name], tensor, None).is_ok())
    };
    let mut noticed = 0;
    for position in 0..index.len() {
        let mut altered = index.clone();
        altered[position] ^= 1 << (position % 8);
        match read_all(&altered, &data) {
            Ok(found) => assert!(unharmed(&found), "byte {position} of the index"),
            Err(error) => {
                assert_eq!(error.code(), Code::DataLoss, "byte {position}: {error}");
                noticed += 1;
            }
        }
    }
    // The rest are the empty block of meta-data and the padding, which nobody reads.
    assert!(index.len() - noticed < 60, "{noticed} of {}", index.len());
    let expect_lost = |position: usize| {
        let mut altered = data.clone();
        altered[position] ^= 1 << (position % 8);
        expect(read_all(&index, &altered), Code::DataLoss, &["tensor `"]);
    };
    (0..data.len()).step_by(data.len() / 60).for_each(expect_lost);
    // Strings and small tensors are where the formats have corners.
    let large = CheckpointReader::open(path(DATA).join("one")).unwrap();
    assert_eq!(large.entry("large").unwrap().shape.num_elements(), 17_000);
    (data.len() - 150..data.len()).for_each(expect_lost);
}

#[test]
fn what_is_missing_is_named() {
    let folder = folder("missing");
    let prefix = folder.join("two");
    expect(CheckpointReader::open(&prefix).map(drop), Code::NotFound, &["two.index"]);
    std::fs::copy(path(DATA).join("two.index"), folder.join("two.index")).unwrap();
    let reader = CheckpointReader::open(&prefix).unwrap();
    expect(reader.read("dtype/int8"), Code::NotFound, &["two.data-0000", "-of-00002", "dtype/int8"]);
    expect(reader.read("dtype/none"), Code::NotFound, &["dtype/none", "two"]);
    expect(reader.read(""), Code::NotFound, &[]);
}

#[test]
fn headers_are_believed_only_as_far_as_they_go() {
    let index = |header: proto::BundleHeaderProto| {
        use proto::Message;
        CheckpointReader::from_bytes(&table(&[(Vec::new(), header.encode_to_vec())]), Vec::new()).map(drop)
    };
    let version = |min_consumer| Some(proto::VersionDef { producer: 9, min_consumer, ..Default::default() });
    index(proto::BundleHeaderProto { num_shards: 1, version: version(1), ..Default::default() }).unwrap();
    let newer = proto::BundleHeaderProto { num_shards: 1, version: version(2), ..Default::default() };
    expect(index(newer), Code::InvalidArgument, &["newer"]);
    let big = proto::BundleHeaderProto { num_shards: 1, endianness: 1, ..Default::default() };
    expect(index(big), Code::Unimplemented, &["big-endian"]);
    let negative = proto::BundleHeaderProto { num_shards: -1, ..Default::default() };
    expect(index(negative), Code::DataLoss, &["-1"]);
    expect(CheckpointReader::from_bytes(&table(&[]), Vec::new()).map(drop), Code::DataLoss, &["header"]);
}

/// A file of a few bytes may speak of exabytes: what is not there is found out before there is memory for all.
#[test]
fn memory_is_asked_only_for_what_is_there() {
    use proto::{Message, SavedSliceMeta, SavedTensorSliceMeta, TensorShapeProto, TensorSliceProto};
    use proto::{tensor_shape_proto::Dim, tensor_slice_proto::Extent, tensor_slice_proto::extent::HasLength};
    let dim = |size| Dim { size, name: String::new() };
    let shape = Some(TensorShapeProto { dim: vec![dim(1 << 60)], unknown_rank: false });
    let half = |start| {
        let extent = Extent { start, has_length: Some(HasLength::Length(1 << 59)) };
        TensorSliceProto { extent: vec![extent] }
    };
    let halves = vec![half(0), half(1 << 59)];
    let dtype = DataType::Int8.number();
    let header = proto::BundleHeaderProto { num_shards: 1, ..Default::default() };
    let whole = proto::BundleEntryProto { dtype, shape: shape.clone(), size: 9, ..Default::default() };
    let parts = proto::BundleEntryProto { slices: halves.clone(), ..whole.clone() };
    let entries = [("", header.encode_to_vec()), ("parts", parts.encode_to_vec()), ("whole", whole.encode_to_vec())];
    let entries = entries.map(|(key, value)| (key.as_bytes().to_vec(), value));
    let reader = CheckpointReader::from_bytes(&table(&entries), vec![vec![1; 9]]).unwrap();
    expect(reader.read("parts"), Code::NotFound, &["parts", "is not in the checkpoint"]);
    let middle = TensorSlice::new(&[Some((1, 1 << 59))]).unwrap();
    expect(reader.read_slice("whole", &middle), Code::DataLoss, &["whole", "Invalid size", "9 bytes"]);
    let tensor = SavedSliceMeta { name: "t".to_owned(), shape, r#type: dtype, slice: halves };
    let meta = SavedTensorSliceMeta { tensor: vec![tensor], versions: None };
    let list = proto::SavedTensorSlices { meta: Some(meta), data: None };
    let first = SliceFilesReader::from_bytes(table(&[(Vec::new(), list.encode_to_vec())])).unwrap();
    expect(first.read("t"), Code::DataLoss, &["t", "are missing"]);
}

#[test]
fn sealed_nonsense_is_refused() {
    let (mut bundles, mut first) = (0, 0);
    for seed in 1..3000 {
        let mut draw = generator(seed);
        let mut choices = Choices(&mut draw);
        let (index, data) = random_checkpoint::bundle(&mut choices);
        bundles += random_checkpoint::read_bundle(&index, data).unwrap_or_else(|fault| panic!("{seed}: {fault}"));
        let file = random_checkpoint::first_format(&mut choices);
        first += random_checkpoint::read_first_format(file).unwrap_or_else(|fault| panic!("{seed}: {fault}"));
    }
    // The cases reach the readers' ends.
    assert!(bundles > 250 && first > 250, "{bundles} and {first} tensors were read");
}

// ---- the ops ----

fn text(name: &str, value: &str) -> proto::NodeDef {
    constant(name, Tensor::from(value))
}

fn texts(name: &str, values: &[&str]) -> proto::NodeDef {
    let values: Vec<TString> = values.iter().map(|&value| TString::from(value)).collect();
    constant(name, Tensor::vector(&values).unwrap())
}

fn types(dtypes: &[DataType]) -> AttrValue {
    AttrValue::ListType(dtypes.to_vec())
}

/// Runs a node with constant inputs, fetching its outputs or, if it has none, as a target.
fn run(op: &str, inputs: Vec<proto::NodeDef>, attrs: &[(&str, AttrValue)], outputs: usize) -> Result<Vec<Tensor>> {
    let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let nodes = inputs.into_iter().chain([node("op", op, &names, attrs)]);
    let session = Session::new(Graph::import(&graph(nodes), &kernlink::registry()?)?)?;
    let fetches: Vec<String> = (0..outputs).map(|index| format!("op:{index}")).collect();
    let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
    session.run(&[], &fetches, if outputs == 0 { &["op"] } else { &[] })
}

fn save(prefix: &Path, names: &[&str], slices: &[&str], tensors: &[Tensor]) -> Result<()> {
    let mut inputs = vec![text("prefix", prefix.to_str().unwrap()), texts("names", names), texts("slices", slices)];
    inputs.extend(tensors.iter().enumerate().map(|(i, tensor)| constant(&format!("t{i}"), tensor.clone())));
    let dtypes: Vec<DataType> = tensors.iter().map(Tensor::dtype).collect();
    run("SaveV2", inputs, &[("dtypes", types(&dtypes))], 0).map(drop)
}

fn restore(prefix: &Path, names: &[&str], slices: &[&str], dtypes: &[DataType]) -> Result<Vec<Tensor>> {
    let inputs = vec![text("prefix", prefix.to_str().unwrap()), texts("names", names), texts("slices", slices)];
    run("RestoreV2", inputs, &[("dtypes", types(dtypes))], dtypes.len())
}

fn matrix() -> Tensor {
    Tensor::from_elements([3, 4], &(0..12).map(|i| i as f32).collect::<Vec<_>>()).unwrap()
}

#[test]
fn graphs_save_and_restore() {
    let folder = folder("ops");
    let (prefix, a) = (folder.join("a"), matrix());
    let words = Tensor::vector(&["x", "yy"].map(TString::from)).unwrap();
    save(&prefix, &["a", "s"], &["", ""], &[a.clone(), words.clone()]).unwrap();
    let both = restore(&prefix, &["s", "a"], &["", ""], &[DataType::String, DataType::Float]).unwrap();
    assert_same("s", &both[0], &words);
    assert_same("a", &both[1], &a);
    let part = restore(&prefix, &["a"], &["3 4 1,2:-"], &[DataType::Float]).unwrap();
    assert_same("part", &part[0], &a.slice_rows(1, 3).unwrap());
    // The codes are those of TensorFlow 2.21.
    let float = [DataType::Float];
    let get = |name: &str, slice: &str| restore(&prefix, &[name], &[slice], &float);
    expect(restore(&prefix, &["a"], &[""], &[DataType::Int32]), Code::InvalidArgument, &["a", "int32", "float"]);
    expect(get("b", ""), Code::NotFound, &["b"]);
    expect(restore(&folder.join("none"), &["a"], &[""], &float), Code::NotFound, &["none"]);
    expect(get("a", "3 5 1,2:-"), Code::InvalidArgument, &["[3,5]", "[3,4]"]);
    expect(get("a", "3 4"), Code::InvalidArgument, &["4"]);
    expect(restore(&prefix, &["a"], &[""], &[DataType::Float; 2]), Code::InvalidArgument, &["1", "2"]);
    expect(save(&prefix, &["a", "a"], &["", ""], &[a.clone(), a.clone()]), Code::InvalidArgument, &["duplicate"]);
    expect(save(&prefix, &["a"], &["3 5 -:-"], std::slice::from_ref(&a)), Code::InvalidArgument, &["3 5 -:-"]);
    expect(save(&folder.join("x/y/z"), &["a"], &[""], std::slice::from_ref(&a)), Code::NotFound, &["x/y"]);
    assert_same("a", &get("a", "").unwrap()[0], &a);

    // A checkpoint without its data, then with truncated and altered ones.
    let data = folder.join("a.data-00000-of-00001");
    let bytes = std::fs::read(&data).unwrap();
    std::fs::write(&data, &bytes[..10]).unwrap();
    expect(get("a", ""), Code::OutOfRange, &["tensor `a`"]);
    let mut altered = bytes.clone();
    altered[3] ^= 1;
    std::fs::write(&data, altered).unwrap();
    expect(get("a", ""), Code::DataLoss, &["tensor `a`", "Checksum"]);
    std::fs::remove_file(&data).unwrap();
    expect(get("a", ""), Code::NotFound, &["a.data-00000-of-00001"]);
}

#[test]
fn graphs_save_and_restore_parts_and_shards() {
    let folder = folder("shards");
    let a = matrix();
    let shards: Vec<PathBuf> = (0..2).map(|i| folder.join(format!("tmp/part-{i}"))).collect();
    save(&shards[0], &["a"], &["3 4 0,1:-"], &[a.slice_rows(0, 1).unwrap()]).unwrap();
    save(&shards[1], &["a"], &["3 4 1,2:-"], &[a.slice_rows(1, 3).unwrap()]).unwrap();
    expect(restore(&shards[0], &["a"], &[""], &[DataType::Float]), Code::InvalidArgument, &["a", "slices"]);
    let target = folder.join("model");
    let prefixes: Vec<&str> = shards.iter().map(|shard| shard.to_str().unwrap()).collect();
    let merge = || {
        let inputs = vec![texts("prefixes", &prefixes), text("target", target.to_str().unwrap())];
        run("MergeV2Checkpoints", inputs, &[], 0)
    };
    merge().unwrap();
    assert_eq!(names(&folder), ["model.data-00000-of-00002", "model.data-00001-of-00002", "model.index"]);
    assert_same("a", &restore(&target, &["a"], &[""], &[DataType::Float]).unwrap()[0], &a);
    expect(merge(), Code::InvalidArgument, &["part-0"]);
}

#[test]
fn graphs_save_and_restore_in_the_first_format() {
    let folder = folder("first-ops");
    let a = matrix();
    let file = |name: &str| text("file", folder.join(name).to_str().unwrap());
    let float = ("dt", AttrValue::Type(DataType::Float));
    for (name, slice, rows) in [("v-1", "3 4 0,1:-", 0..1), ("v-2", "3 4 1,2:-", 1..3)] {
        let part = constant("data", a.slice_rows(rows.start, rows.end).unwrap());
        let inputs = vec![file(name), texts("names", &["a"]), texts("slices", &[slice]), part];
        run("SaveSlices", inputs, &[("T", types(&[DataType::Float]))], 0).unwrap();
    }
    let whole = run("Restore", vec![file("v-?"), text("name", "a")], std::slice::from_ref(&float), 1).unwrap();
    assert_same("a", &whole[0], &a);
    let inputs = vec![file("v-?"), text("name", "a"), text("slice", "3 4 0,2:-")];
    assert_same(
        "a",
        &run("RestoreSlice", inputs, std::slice::from_ref(&float), 1).unwrap()[0],
        &a.slice_rows(0, 2).unwrap(),
    );
    // RestoreV2 takes it too.
    assert_same("a", &restore(&folder.join("v-?"), &["a"], &[""], &[DataType::Float]).unwrap()[0], &a);
    let get = |pattern: &str, name: &str, dtype| {
        run("Restore", vec![file(pattern), text("name", name)], &[("dt", AttrValue::Type(dtype))], 1)
    };
    expect(get("v-1", "a", DataType::Float), Code::InvalidArgument, &["a", "slices"]);
    expect(get("v-?", "b", DataType::Float), Code::NotFound, &["b"]);
    expect(get("v-?", "a", DataType::Int32), Code::InvalidArgument, &["int32", "float"]);
    expect(get("w-?", "a", DataType::Float), Code::NotFound, &["w-?"]);
    let inputs = vec![file("v"), texts("names", &["a", "b"]), constant("a", a.clone()), constant("b", a.clone())];
    run("Save", inputs, &[("T", types(&[DataType::Float; 2]))], 0).unwrap();
    assert_same("b", &get("v", "b", DataType::Float).unwrap()[0], &a);
    let bfloat = Tensor::zeros(DataType::Bfloat16, [2]).unwrap();
    let inputs = vec![file("w"), texts("names", &["a"]), constant("a", bfloat)];
    expect(run("Save", inputs, &[("T", types(&[DataType::Bfloat16]))], 0), Code::Unimplemented, &["bfloat16"]);
    assert!(!folder.join("w").exists());
}

#[test]
fn graphs_read_write_and_find_files() {
    let folder = folder("files");
    let name = |name: &str| text("name", folder.join(name).to_str().unwrap());
    let write = |file: &str| run("WriteFile", vec![name(file), text("contents", "hello")], &[], 0);
    write("deep/er/a.txt").unwrap();
    write("deep/er/b.txt").unwrap();
    let read = run("ReadFile", vec![name("deep/er/a.txt")], &[], 1).unwrap();
    assert_eq!(read[0].to_scalar::<TString>().unwrap(), TString::from("hello"));
    expect(run("ReadFile", vec![name("none")], &[], 1), Code::NotFound, &["none"]);
    expect(run("ReadFile", vec![name("deep")], &[], 1), Code::FailedPrecondition, &["deep"]);
    expect(write("deep").map(drop), Code::FailedPrecondition, &["deep"]);
    expect(run("ReadFile", vec![text("name", "gs://bucket/x")], &[], 1), Code::Unimplemented, &["gs"]);
    let found = run("MatchingFiles", vec![name("d*/er/?.txt")], &[], 1).unwrap();
    let found: Vec<String> =
        found[0].as_slice::<TString>().unwrap().iter().map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(found, ["deep/er/a.txt", "deep/er/b.txt"].map(|file| folder.join(file).to_str().unwrap().to_owned()));
    assert_eq!(run("MatchingFiles", vec![name("x*/y")], &[], 1).unwrap()[0].num_elements(), 0);
}

/// TensorFlow answers the same.
#[test]
fn names_that_no_system_takes_are_refused() {
    let long = "a".repeat(1 << 20);
    let name = || text("name", &long);
    expect(run("ReadFile", vec![name()], &[], 1), Code::InvalidArgument, &["File name too long", "1048576 bytes"]);
    let written = run("WriteFile", vec![name(), text("contents", "x")], &[], 0);
    expect(written.map(drop), Code::InvalidArgument, &["File name too long"]);
    assert_eq!(run("MatchingFiles", vec![name()], &[], 1).unwrap()[0].num_elements(), 0);
    let restored = run("Restore", vec![name(), text("tensor", "x")], &[("dt", AttrValue::Type(DataType::Float))], 1);
    expect(restored, Code::NotFound, &["Failed to find any matching files"]);
    let restored = restore(Path::new(&long), &["a"], &[""], &[DataType::Float]);
    assert_eq!(restored.unwrap_err().code(), Code::NotFound);
}

#[test]
fn importing_a_graph_reads_no_file() {
    let file = folder("unread").join("size");
    std::fs::write(&file, "[2]").unwrap();
    let read = node("read", "ReadFile", &["name"], &[]);
    let def = graph([text("name", file.to_str().unwrap()), read]);
    let graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    std::fs::write(&file, "[3]").unwrap();
    let answer = Session::new(graph).unwrap().run(&[], &["read"], &[]).unwrap();
    assert_eq!(answer[0].to_scalar::<TString>().unwrap(), TString::from("[3]"));
}
