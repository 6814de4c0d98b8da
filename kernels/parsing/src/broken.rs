//! Broken messages and files: whatever the bytes, parsers end with a value or an error.

use kernlink::dtype::{DataType, TString};
use kernlink::tensor::Tensor;
use kernlink_framework::error::Code;

use super::compressed::Expander;
use super::json::example;
use super::message::{Sanitizer, Types};
use super::single_sequence::Sequence;
use kernlink_kernels_common::example::wire::{Reader, Value, feature_dtype, list_span, sequence_span};

/// Pseudo-random numbers: the `splitmix64` of Steele, Lea and Flood (2014).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % end as u64) as usize
    }

    /// The bytes with some of them changed, removed, added, or cut off.
    fn mutated(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len() + 1);
            let byte = [0, 0x7F, 0x80, 0xFF, self.below(256) as u8][self.below(5)];
            match self.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, byte),
                2 if at < bytes.len() => _ = bytes.remove(at),
                _ if at < bytes.len() => bytes[at] = byte,
                _ => {}
            }
        }
        bytes
    }
}

/// A SequenceExample, and with it an Example: features of each dtype, packed and not.
const SEQUENCE: &[u8] = b"\x0a\x2f\x0a\x0d\x0a\x01a\x12\x08\x1a\x06\x0a\x04\x01\x80\x01\x05\x0a\x0f\x0a\x01b\x12\x0a\x12\x08\x0a\x06\x00\x00\x80\x3f\x00\x00\
    \x0a\x0d\x0a\x01c\x12\x08\x0a\x06\x0a\x01x\x0a\x01y\x12\x13\x0a\x11\x0a\x01l\x12\x0c\x0a\x04\x1a\x02\x08\x01\x0a\x04\x1a\x02\x08\x02";

fn features_of<T: Value>(bytes: &[u8]) {
    let source = TString::from(bytes);
    let mut feature = Reader::new(&source);
    if feature_dtype(&mut feature).is_ok()
        && let Some(span) = list_span::<T>(&mut feature)
    {
        let mut list = Vec::new();
        _ = T::append(span, &source, &mut list).expect("there is memory for as many bytes");
    }
    let mut reader = Reader::new(&source);
    while let Some(span) = sequence_span::<T>(&mut reader) {
        assert!(span.count <= bytes.len());
        if reader.at_end() {
            break;
        }
    }
}

#[test]
fn examples_end() {
    let mut chance = Chance(1);
    for _ in 0..20_000 {
        let bytes = chance.mutated(SEQUENCE);
        _ = Sequence::parse(&bytes);
        let mut reader = Reader::new(&bytes);
        while !reader.at_end() && reader.skip_field().is_some() {}
        let feature = chance.mutated(b"\x1a\x06\x0a\x04\x01\x80\x01\x05");
        features_of::<i64>(&feature);
        features_of::<f32>(&chance.mutated(b"\x12\x0a\x0a\x08\x00\x00\x80\x3f\x00\x00\x00\x40"));
        features_of::<TString>(&chance.mutated(b"\x0a\x06\x0a\x01x\x0a\x01y"));
    }
}

#[test]
fn compressed_strings_end() {
    let zlib = b"\x78\x9c\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\x00\x3a\x3b\x08\x31";
    let gzip =
        b"\x1f\x8b\x08\x1c\0\0\0\0\0\x03\x01\0xname\0comment\0\x4b\x4c\x4a\x4e\x04\x02\x00\x9a\x3b\x0d\x3f\x06\0\0\0";
    let (mut chance, mut expander) = (Chance(2), Expander::new());
    for _ in 0..5000 {
        _ = expander.unzlib(&chance.mutated(zlib));
        _ = expander.gunzip(&chance.mutated(gzip));
    }
}

#[test]
fn text_ends() {
    let text = br#"{"features":{"feature":{"a":{"int64List":{"value":[1,"2",-3e0]}},"b\u00e9":{"bytesList":{"value":["YQ=="]}}}}}"#;
    let mut chance = Chance(3);
    for _ in 0..20_000 {
        _ = example(&chance.mutated(text));
    }
}

#[test]
fn messages_end() {
    let types = Types::of(&TString::from("local://")).unwrap();
    let tensor = kernlink::proto::tensor_to_proto(&Tensor::zeros(DataType::Float, [2, 3]).unwrap()).unwrap();
    let tensor = kernlink::proto::encoded(&tensor).unwrap();
    let mut chance = Chance(4);
    for name in ["tensorflow.TensorProto", "tensorflow.SequenceExample", "google.protobuf.FileDescriptorSet"] {
        let descriptor = types.lenient_message(name).unwrap();
        let mut sanitizer = Sanitizer::default();
        for _ in 0..2000 {
            for bytes in [&tensor[..], SEQUENCE] {
                _ = sanitizer.binary(&descriptor, &chance.mutated(bytes));
            }
            let text = b"dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [1, 2]";
            _ = sanitizer.text(&descriptor, &chance.mutated(text));
        }
    }
    // A file with a message that holds itself, and one with a name twice.
    let file =
        b"\x0a\x1f\x0a\x01f\x12\x01p\x22\x17\x0a\x01M\x12\x12\x0a\x01x\x18\x01\x20\x01\x28\x0b\x32\x04.p.M:\x01y";
    for _ in 0..5000 {
        let source = [&b"bytes://"[..], &chance.mutated(file)].concat();
        match Types::of(&TString::from(source)) {
            Ok(types) => _ = types.message("p.M"),
            Err(error) => assert_eq!(error.code(), Code::InvalidArgument),
        }
    }
}
