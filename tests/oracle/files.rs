//! Ops that read files, with what TensorFlow made of the same files; tiles, whose gradient no graph of today may ask for.

use std::path::Path;

use crate::support::{constant, graph, node};
use kernlink::attr::AttrValue;
use kernlink::dtype::{DataType, TString};
use kernlink::formats::CheckpointWriter;
use kernlink::graph::Graph;
use kernlink::proto::{GraphDef, NodeDef, VersionDef};
use kernlink::runtime::Session;
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};

/// The outputs of node `op` of a graph that a program of version `producer` made.
fn run(producer: i32, nodes: Vec<NodeDef>, outputs: usize) -> Result<Vec<Tensor>> {
    let versions = Some(VersionDef { producer, min_consumer: 0, bad_consumers: Vec::new() });
    let def = GraphDef { versions, ..graph(nodes) };
    let fetches: Vec<String> = (0..outputs).map(|k| format!("op:{k}")).collect();
    let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
    Session::new(Graph::import(&def, &kernlink::registry()?)?)?.run(&[], &fetches, &[])
}

fn text(path: &Path) -> Tensor {
    Tensor::scalar(TString::from(path.to_str().unwrap()))
}

/// Where the words of one text stand in another.
fn remapping(new: &str, old: &str, [offset, count, size]: [i64; 3]) -> Result<(Vec<i64>, i32)> {
    let folder = tempfile::tempdir().unwrap();
    let paths = [folder.path().join("new"), folder.path().join("old")];
    std::fs::write(&paths[0], new).unwrap();
    std::fs::write(&paths[1], old).unwrap();
    let attrs = [
        ("new_vocab_offset", AttrValue::Int(offset)),
        ("num_new_vocab", AttrValue::Int(count)),
        ("old_vocab_size", AttrValue::Int(size)),
    ];
    let op = node("op", "GenerateVocabRemapping", &["new", "old"], &attrs);
    let outputs = run(2000, vec![constant("new", text(&paths[0])), constant("old", text(&paths[1])), op], 2)?;
    Ok((outputs[0].to_i64_vec()?, outputs[1].to_scalar()?))
}

#[test]
fn words_are_found_in_old_vocabularies() {
    let (new, old) = ("f0\nf1\nf2\nf3\n", "f1\nf0\nf3");
    assert_eq!(remapping(new, old, [1, 3, -1]).unwrap(), (vec![0, -1, 2], 2));
    assert_eq!(remapping(new, old, [0, 4, -1]).unwrap(), (vec![1, 0, -1, 2], 3));
    assert_eq!(remapping(new, old, [0, 2, 1]).unwrap(), (vec![-1, 0], 1));
    assert_eq!(remapping(new, old, [0, 0, -1]).unwrap(), (vec![], 0));
    assert_eq!(remapping("f1\nf0\nf1\n", "f1\r\nf0\r\n", [0, 3, -1]).unwrap(), (vec![0, 1, 0], 3));
    let code = |new, old, numbers| remapping(new, old, numbers).unwrap_err().code();
    assert_eq!(code(new, old, [1, 4, -1]), Code::InvalidArgument);
    assert_eq!(code(new, "f1\nf0\nf1\n", [0, 2, -1]), Code::FailedPrecondition);
    assert_eq!(code(new, "", [0, 2, -1]), Code::OutOfRange);
    assert_eq!(code(new, old, [0, 2, 0]), Code::OutOfRange);
    assert_eq!(code(new, old, [0, 2, 5]), Code::InvalidArgument);
    assert_eq!(code("f1\n\nf0\n", old, [0, 2, -1]), Code::InvalidArgument);
}

/// A matrix of `0, 1, ...` in four rows and three columns, with other rows and columns.
fn remapped(rows: &[i64], columns: &[i64], values: &[f32], width: i64, at_a_time: i64) -> Result<Vec<f32>> {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("model");
    let matrix: Vec<f32> = (0..12).map(|n| n as f32).collect();
    let mut writer = CheckpointWriter::create(&prefix)?;
    writer.add(b"m", &Tensor::from_elements([4, 3], &matrix)?)?;
    writer.finish()?;
    let attrs = [
        ("num_rows", AttrValue::Int(rows.len() as i64)),
        ("num_cols", AttrValue::Int(width)),
        ("max_rows_in_memory", AttrValue::Int(at_a_time)),
    ];
    let nodes = vec![
        constant("path", text(&prefix)),
        constant("name", Tensor::scalar(TString::from("m"))),
        constant("rows", Tensor::vector(rows)?),
        constant("columns", Tensor::vector(columns)?),
        constant("values", Tensor::vector(values)?),
        node("op", "LoadAndRemapMatrix", &["path", "name", "rows", "columns", "values"], &attrs),
    ];
    run(2000, nodes, 1)?[0].as_slice::<f32>().map(<[f32]>::to_vec)
}

#[test]
fn matrices_of_checkpoints_get_other_rows_and_columns() {
    for at_a_time in [-1, 1, 2] {
        let remapped =
            |rows: &[i64], columns: &[i64], values: &[f32], width| remapped(rows, columns, values, width, at_a_time);
        assert_eq!(remapped(&[2, 0], &[], &[], 3).unwrap(), [6.0, 7.0, 8.0, 0.0, 1.0, 2.0]);
        assert_eq!(remapped(&[2, -1], &[1, -1], &[9.0, 8.0, 7.0], 2).unwrap(), [7.0, 9.0, 8.0, 7.0]);
        assert_eq!(remapped(&[3, 1], &[2, 0, 1], &[], 3).unwrap(), [11.0, 9.0, 10.0, 5.0, 3.0, 4.0]);
        assert_eq!(remapped(&[-1, -1], &[-1], &[1.0, 2.0], 1).unwrap(), [1.0, 2.0]);
        let code = |rows: &[i64], columns: &[i64], values: &[f32], width| {
            remapped(rows, columns, values, width).unwrap_err().code()
        };
        assert_eq!(code(&[2, 2], &[], &[], 3), Code::Unimplemented);
        assert_eq!(code(&[5], &[], &[], 3), Code::Internal);
        assert_eq!(code(&[0], &[], &[], 2), Code::InvalidArgument);
        assert_eq!(code(&[0], &[], &[1.0], 3), Code::InvalidArgument);
        assert_eq!(code(&[-1], &[], &[1.0], 3), Code::InvalidArgument);
    }
}

#[test]
fn files_are_tensors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers");
    let bytes: Vec<u8> = (0..1 << 20).map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(&path, &bytes).unwrap();
    let read = |dtype: DataType, sizes: &[i64]| {
        let shape = PartialShape::from_dims(sizes)?;
        let attrs = [
            ("dtype", AttrValue::Type(dtype)),
            ("shape", AttrValue::Shape(shape)),
            ("memory_region_name", AttrValue::from(path.to_str().unwrap())),
        ];
        run(2000, vec![node("op", "ImmutableConst", &[], &attrs)], 1).map(|mut outputs| outputs.remove(0))
    };
    for (dtype, sizes) in [(DataType::Uint8, &[3, 5][..]), (DataType::Int32, &[512, 512]), (DataType::Float, &[])] {
        let tensor = read(dtype, sizes).unwrap();
        assert_eq!(tensor.bytes().unwrap(), &bytes[..tensor.num_bytes()]);
        assert_eq!(tensor.shape().to_i64()[..], *sizes);
    }
    assert_eq!(read(DataType::Int32, &[512, 513]).unwrap_err().code(), Code::Internal);
    assert_eq!(read(DataType::String, &[1]).unwrap_err().code(), Code::Unimplemented);
    assert_eq!(read(DataType::Variant, &[1]).unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn what_flows_to_tiles_is_added() {
    let flow: Vec<f32> = (0..24).map(|n| n as f32).collect();
    let of = |multiples: &[i32]| {
        let nodes = vec![
            constant("x", Tensor::from_elements([4, 6], &flow)?),
            constant("multiples", Tensor::vector(multiples)?),
            node("op", "TileGrad", &["x", "multiples"], &[("T", AttrValue::Type(DataType::Float))]),
        ];
        run(2, nodes, 1).map(|mut outputs| outputs.remove(0))
    };
    let sums = of(&[2, 3]).unwrap();
    let expected: Vec<f32> = (0..4)
        .map(|n| {
            let (row, column) = (n / 2, n % 2);
            let tile = |r: usize, c: usize| flow[(row + 2 * r) * 6 + column + 2 * c];
            (0..2).flat_map(|r| (0..3).map(move |c| (r, c))).map(|(r, c)| tile(r, c)).sum()
        })
        .collect();
    assert_eq!((&sums.shape()[..], sums.as_slice::<f32>().unwrap()), (&[2, 2][..], &expected[..]));
    assert_eq!(of(&[3, 3]).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(of(&[0, 3]).unwrap_err().code(), Code::InvalidArgument);
}
