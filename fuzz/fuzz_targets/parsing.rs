//! Bytes as each message and text that ops parse: Examples, SequenceExamples, tensors, values in variants, messages of other types,
//! CSV, JSON, compressed strings.
#![no_main]

mod kind;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::dtype::{DataType, TString};
use kernlink::runtime::{EagerContext, NodeKernel};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use libfuzzer_sys::fuzz_target;

/// What is parsed. Of messages of other types half of the bytes say the types, or the message is one of TensorFlow's.
const KINDS: [&str; 9] =
    ["examples", "sequences", "tensor", "compressed", "json", "csv", "known_message", "message", "variant"];
const TYPES: [DataType; 3] = [DataType::Float, DataType::Int64, DataType::String];

fn strings(values: &[&[u8]]) -> Tensor {
    let values: Vec<TString> = values.iter().map(|&value| TString::from(value)).collect();
    Tensor::vector(&values).expect("a short vector")
}

/// The outputs; none if the op fails.
fn run(eager: &EagerContext, op: &str, attrs: Vec<(&str, AttrValue)>, inputs: Vec<Tensor>) -> Vec<Tensor> {
    let mut map = AttrMap::new();
    attrs.into_iter().for_each(|(name, value)| _ = map.insert(name, value));
    let kernel = NodeKernel::new(eager, "fuzzed", op, map).expect("the attrs fit the op");
    let outputs = kernel.compute(&mut inputs.into_iter().map(Some).collect::<Vec<_>>());
    outputs.map_or_else(|_| Vec::new(), |outputs| outputs.into_iter().flatten().collect())
}

/// Examples: a dense feature, one of any length, a sparse and a ragged one, of each dtype in turn.
fn examples(eager: &EagerContext, choice: usize, bytes: &[u8]) {
    let at = |index: usize| TYPES[(choice + index) % 3];
    let shapes = [PartialShape::from_known([Some(1 + choice % 2)]), PartialShape::from_known([None, Some(2)])];
    let filler = |dtype: DataType| Tensor::zeros(dtype, [1]).expect("a tensor");
    let defaults = || vec![Tensor::zeros(at(0), [0]).expect("a tensor"), filler(at(1))];
    let serialized = strings(&[bytes, &bytes[..bytes.len() / 2]]);
    let batch = [serialized, strings(&[]), strings(&[b"s"]), strings(&[b"a", b"b"]), strings(&[b"r"])];
    let attrs = || {
        vec![
            ("Tdense", AttrValue::ListType(vec![at(0), at(1)])),
            ("num_sparse", 1i64.into()),
            ("sparse_types", AttrValue::ListType(vec![at(2)])),
            ("ragged_value_types", AttrValue::ListType(vec![at(1)])),
            ("ragged_split_types", AttrValue::ListType(vec![DataType::Int32])),
            ("dense_shapes", AttrValue::ListShape(shapes.to_vec())),
        ]
    };
    run(eager, "ParseExampleV2", attrs(), batch.iter().cloned().chain(defaults()).collect());
    let mut single = batch.to_vec();
    single[0] = Tensor::scalar(TString::from(bytes));
    run(eager, "ParseExampleV2", attrs(), single.into_iter().chain(defaults()).collect());
}

fn sequences(eager: &EagerContext, choice: usize, bytes: &[u8]) {
    let at = |index: usize| TYPES[(choice + index) % 3];
    let types = |index: usize| AttrValue::ListType(vec![at(index)]);
    let shape = || AttrValue::ListShape(vec![PartialShape::from_known([Some(1 + choice % 2)])]);
    let keys = [&b"s"[..], b"a", b"r", b"s", b"a", b"r"].map(|key| strings(&[key]));
    let attrs = vec![
        ("Ncontext_sparse", 1i64.into()),
        ("Tcontext_dense", types(0)),
        ("context_sparse_types", types(1)),
        ("context_ragged_value_types", types(2)),
        ("context_ragged_split_types", AttrValue::ListType(vec![DataType::Int64])),
        ("context_dense_shapes", shape()),
        ("Nfeature_list_sparse", 1i64.into()),
        ("Nfeature_list_dense", 1i64.into()),
        ("feature_list_dense_types", types(1)),
        ("feature_list_sparse_types", types(2)),
        ("feature_list_ragged_value_types", types(0)),
        ("feature_list_ragged_split_types", AttrValue::ListType(vec![DataType::Int64])),
        ("feature_list_dense_shapes", shape()),
    ];
    let may_miss = Tensor::vector(&[choice.is_multiple_of(2)]).expect("a tensor");
    let default = Tensor::zeros(at(0), [1 + choice % 2]).expect("a tensor");
    let mut inputs = vec![strings(&[bytes, &bytes[..bytes.len() / 2]]), strings(&[])];
    inputs.extend(keys);
    inputs.extend([may_miss, default.clone()]);
    run(eager, "ParseSequenceExampleV2", attrs, inputs);
    let attrs = vec![
        ("Ncontext_sparse", 1i64.into()),
        ("Ncontext_dense", 1i64.into()),
        ("Nfeature_list_sparse", 1i64.into()),
        ("Nfeature_list_dense", 1i64.into()),
        ("context_sparse_types", types(1)),
        ("Tcontext_dense", types(0)),
        ("feature_list_dense_types", types(1)),
        ("context_dense_shapes", shape()),
        ("feature_list_sparse_types", types(2)),
        ("feature_list_dense_shapes", shape()),
    ];
    let key = |key: &[u8]| Tensor::scalar(TString::from(key));
    let keys = [key(b"s"), key(b"a"), key(b"s"), key(b"a")];
    let mut inputs = vec![key(bytes), strings(&[b"a"])];
    inputs.extend(keys);
    inputs.extend([default, key(b"name")]);
    run(eager, "ParseSingleSequenceExample", attrs, inputs);
}

/// Variants, by each op that reads what is in them, before others ask for it and after.
fn variants(eager: &EagerContext, choice: usize, variants: Tensor) {
    let dtype = [DataType::Float, DataType::Int64, DataType::String, DataType::Int32, DataType::Variant][choice % 5];
    // Elements of lists and optionals may be variants, those of ragged and sparse tensors not.
    let number = if dtype == DataType::Variant { DataType::Double } else { dtype };
    let read = |op, attrs, rest: &[Tensor]| run(eager, op, attrs, [&[variants.clone()], rest].concat());
    let shape = Tensor::scalar(-1i32);
    let element = || ("element_dtype", dtype.into());
    let both = || {
        read("ZerosLike", vec![("T", DataType::Variant.into())], &[]);
        run(eager, "AddN", vec![("T", DataType::Variant.into()), ("N", 2i64.into())], vec![variants.clone(); 2]);
        read("SerializeTensor", vec![("T", DataType::Variant.into())], &[]);
    };
    both();
    let rank = (choice / 5 % 3) as i64;
    let ragged = vec![
        ("input_ragged_rank", (rank - 1).into()),
        ("output_ragged_rank", (rank + variants.rank() as i64 - 1).max(0).into()),
        ("Tvalues", number.into()),
        ("Tsplits", if choice < 128 { DataType::Int64 } else { DataType::Int32 }.into()),
    ];
    read("RaggedTensorFromVariant", ragged, &[]);
    read("OptionalHasValue", vec![], &[]);
    let got = vec![
        ("output_types", AttrValue::ListType(vec![dtype])),
        ("output_shapes", AttrValue::ListShape(vec![PartialShape::from_known([None])])),
    ];
    read("OptionalGetValue", got, &[]);
    read("TensorListLength", vec![], &[]);
    read("TensorListStack", vec![element()], std::slice::from_ref(&shape));
    read(
        "TensorListConcatV2",
        vec![element(), ("shape_type", DataType::Int32.into())],
        &[shape.clone(), Tensor::zeros(DataType::Int64, [0]).expect("a tensor")],
    );
    read("TensorListGetItem", vec![element()], &[Tensor::scalar(rank as i32), shape]);
    for pushed in read("TensorListPushBack", vec![element()], &[Tensor::zeros(dtype, [2]).expect("a tensor")]) {
        run(eager, "SerializeTensor", vec![("T", DataType::Variant.into())], vec![pushed]);
    }
    read("DeserializeSparse", vec![("Tserialized", DataType::Variant.into()), ("dtype", number.into())], &[]);
    both();
}

fuzz_target!(|bytes: &[u8]| {
    let registry = kernlink::registry().expect("the registry is complete");
    let mut eager = EagerContext::new(&registry).expect("a context");
    let Some((&choice, bytes)) = bytes.split_last() else { return };
    let choice = usize::from(choice);
    let (kind, choice) = match kind::kind(&KINDS) {
        Some(kind) => (kind, choice),
        None => (choice % KINDS.len(), choice / KINDS.len()),
    };
    let text = Tensor::scalar(TString::from(bytes));
    match KINDS[kind] {
        "examples" => examples(&eager, choice, bytes),
        "sequences" => sequences(&eager, choice, bytes),
        "tensor" => _ = kernlink::ops::parse_tensor(&mut eager, text, TYPES[choice % 3]).build(),
        "compressed" => {
            let kind = ["ZLIB", "GZIP"][choice % 2];
            _ = kernlink::ops::decode_compressed(&mut eager, text).compression_type(kind).build();
        }
        "json" => _ = kernlink::ops::decode_json_example(&mut eager, text).build(),
        "variant" => {
            if let Ok(parsed) = kernlink::ops::parse_tensor(&mut eager, text, DataType::Variant).build() {
                variants(&eager, choice, parsed);
            }
        }
        "csv" => {
            let defaults = [Tensor::scalar(1.0f32), Tensor::scalar(2i64), Tensor::scalar(TString::from("x"))];
            let attrs = vec![
                ("OUT_TYPE", AttrValue::ListType(TYPES.to_vec())),
                ("use_quote_delim", choice.is_multiple_of(2).into()),
            ];
            _ = run(&eager, "DecodeCSV", attrs, std::iter::once(text).chain(defaults).collect());
        }
        _ => {
            let is_known = KINDS[kind] == "known_message";
            let (source, message) = bytes.split_at(if is_known { 0 } else { bytes.len() / 2 });
            let source = [&b"bytes://"[..], source].concat();
            let source = if is_known { TString::from("local://") } else { TString::from(source) };
            let mut map = AttrMap::new();
            let attrs: [(&str, AttrValue); 6] = [
                ("message_type", "tensorflow.TensorProto".into()),
                (
                    "field_names",
                    AttrValue::ListString(["dtype", "tensor_shape", "float_val"].map(TString::from).to_vec()),
                ),
                ("output_types", AttrValue::ListType(vec![DataType::Int32, DataType::String, DataType::Double])),
                ("descriptor_source", AttrValue::String(source)),
                ("message_format", if choice & 1 == 0 { "binary" } else { "text" }.into()),
                ("sanitize", (choice & 2 == 0).into()),
            ];
            attrs.into_iter().for_each(|(name, value)| _ = map.insert(name, value));
            if let Ok(kernel) = NodeKernel::new(&eager, "fuzzed", "DecodeProtoV2", map) {
                _ = kernel.compute(&mut [Some(strings(&[message]))]);
            }
        }
    }
});
