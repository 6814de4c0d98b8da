//! Bytes as a file that a dataset reads: records, lines, fields, in each compression; a snapshot's; and as an element that is
//! kept compressed. The last byte chooses the attrs, so that a whole file is a good start.
#![no_main]

mod kind;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::{DataType, TString};
use kernlink::runtime::{EagerContext, NodeKernel};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use libfuzzer_sys::{Corpus, fuzz_target};

const KINDS: [&str; 5] = ["tfrecord", "lines", "csv", "snapshot", "compressed"];
const COMPRESSIONS: [&str; 4] = ["", "GZIP", "ZLIB", "SNAPPY"];
/// More than any file of a few thousand bytes should have to be asked for.
const MOST_ELEMENTS: usize = 100;

fn run(eager: &EagerContext, op: &str, attrs: &[(&str, AttrValue)], inputs: Vec<Tensor>) -> Option<Vec<Tensor>> {
    let mut map = AttrMap::new();
    attrs.iter().for_each(|(name, value)| _ = map.insert(*name, value.clone()));
    let kernel = NodeKernel::new(eager, "fuzzed", op, map).expect("the attrs fit the op");
    let outputs = kernel.compute(&mut inputs.into_iter().map(Some).collect::<Vec<_>>()).ok()?;
    Some(outputs.into_iter().flatten().collect())
}

fn spec(dtypes: &[DataType]) -> Vec<(&'static str, AttrValue)> {
    let shapes = vec![PartialShape::unknown(); dtypes.len()];
    vec![("output_types", AttrValue::ListType(dtypes.to_vec())), ("output_shapes", AttrValue::ListShape(shapes))]
}

/// Goes through a dataset.
fn elements(eager: &EagerContext, dtypes: &[DataType], dataset: Option<Vec<Tensor>>) {
    let Some(dataset) = dataset else { return };
    let iterator = run(eager, "AnonymousIteratorV3", &spec(dtypes), vec![]).expect("an iterator");
    if run(eager, "MakeIterator", &[], vec![dataset[0].clone(), iterator[0].clone()]).is_none() {
        return;
    }
    for _ in 0..MOST_ELEMENTS {
        if run(eager, "IteratorGetNext", &spec(dtypes), iterator.clone()).is_none() {
            break;
        }
    }
}

fn text(value: &str) -> Tensor {
    Tensor::scalar(TString::from(value))
}

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let registry = kernlink::registry().expect("the registry is complete");
    let eager = EagerContext::new(&registry).expect("a context");
    let Some((&choice, file)) = bytes.split_last() else { return Corpus::Reject };
    let choice = usize::from(choice);
    let (kind, choice) = match kind::kind(&KINDS) {
        Some(kind) => (kind, choice),
        None => (choice % KINDS.len(), choice / KINDS.len()),
    };
    let folder = std::env::temp_dir().join(format!("kernlink-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("file");
    std::fs::write(&path, file).expect("a file");
    let path = text(path.to_str().expect("a name in UTF-8"));
    let compression = COMPRESSIONS[choice % 4];
    let of_lines = text(["", "GZIP", "ZLIB"][choice % 3]);
    let buffer = Tensor::scalar([0i64, 1, 7, 1 << 20][choice / 4 % 4]);
    let bytes_at = Tensor::scalar;
    match KINDS[kind] {
        "tfrecord" => {
            let attrs = [("metadata", "".into())];
            let dataset = run(&eager, "TFRecordDataset", &attrs, vec![path, text(compression), buffer]);
            elements(&eager, &[DataType::String], dataset);
        }
        "lines" if choice & 16 == 0 => {
            let dataset = run(&eager, "TextLineDataset", &[], vec![path, of_lines, buffer]);
            elements(&eager, &[DataType::String], dataset);
        }
        "lines" => {
            let sizes = [choice % 3, 1 + choice % 5, choice % 2].map(|size| bytes_at(size as i64));
            let inputs = [vec![path], sizes.to_vec(), vec![buffer, of_lines]].concat();
            elements(&eager, &[DataType::String], run(&eager, "FixedLengthRecordDatasetV2", &[], inputs));
        }
        "csv" => {
            let dtypes = [DataType::Float, DataType::Int64, DataType::String];
            let inputs = vec![
                path,
                of_lines,
                Tensor::scalar(1i64 << (choice / 4 % 8)),
                Tensor::scalar(choice & 32 == 0),
                text(","),
                Tensor::scalar(choice & 64 == 0),
                text("NA"),
                Tensor::zeros(DataType::Int64, [0]).expect("a tensor"),
                Tensor::scalar(1.0f32),
                Tensor::zeros(DataType::Int64, [0]).expect("a tensor"),
                text("x"),
            ];
            elements(&eager, &dtypes, run(&eager, "CSVDataset", &spec(&dtypes), inputs));
        }
        "snapshot" => {
            let dtypes = [DataType::Int64, DataType::String];
            let mut attrs = spec(&dtypes);
            attrs.push(("compression", compression.into()));
            elements(&eager, &dtypes, run(&eager, "SnapshotChunkDataset", &attrs, vec![path]));
            // A folder of one file, which is named as the first of a shard in each format.
            let shard = folder.join("shard");
            std::fs::create_dir_all(&shard).expect("a folder");
            std::fs::write(shard.join("00000000.snapshot"), file).expect("a file");
            attrs.push(("version", ((choice / 4 % 3) as i64).into()));
            let inputs = vec![text(shard.to_str().expect("a name in UTF-8")), Tensor::scalar((choice / 16 % 2) as i64)];
            elements(&eager, &dtypes, run(&eager, "SnapshotDatasetReader", &attrs, inputs));
        }
        "compressed" => {
            let dtypes = [DataType::Int64, DataType::String];
            let message = Tensor::scalar(TString::from(file));
            _ = run(&eager, "ParseTensor", &[("out_type", DataType::Variant.into())], vec![message.clone()])
                .and_then(|element| run(&eager, "UncompressElement", &spec(&dtypes), element));
            let attrs = [("compression_type", AttrValue::from(["GZIP", "ZLIB"][choice % 2]))];
            _ = run(&eager, "DecodeCompressed", &attrs, vec![message]);
        }
        other => unreachable!("{other} is no kind"),
    }
    Corpus::Keep
});
