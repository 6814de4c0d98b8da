//! Checkpoints of random content with valid checksums, for a test and a fuzz target.

use kernlink::dtype::DataType;
use kernlink::error::{Code, Error};
use kernlink::formats::{CheckpointReader, SliceFilesReader, TensorSlice};
use kernlink::proto::{
    BundleEntryProto, BundleHeaderProto, Message, SavedSlice, SavedSliceMeta, SavedTensorSliceMeta, SavedTensorSlices,
    TensorProto, TensorShapeProto, TensorSliceProto, VersionDef, tensor_shape_proto, tensor_slice_proto,
};

use super::random_op::Choices;

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 })
    })
}

fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a block with its trailer; returns its handle.
fn block(file: &mut Vec<u8>, entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let start = file.len();
    for (key, value) in entries {
        varint(file, 0);
        varint(file, key.len() as u64);
        varint(file, value.len() as u64);
        file.extend(key);
        file.extend(value);
    }
    file.extend(0u32.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    let mut handle = Vec::new();
    varint(&mut handle, start as u64);
    varint(&mut handle, (file.len() - start) as u64);
    file.push(0);
    let crc = masked(&file[start..]);
    file.extend(crc.to_le_bytes());
    handle
}

/// A table of one block.
pub(crate) fn table(entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    let data = block(&mut file, entries);
    let mut footer = block(&mut file, &[]);
    let last = entries.last().map(|(key, _)| key.clone()).unwrap_or_default();
    footer.extend(block(&mut file, &[(last, data)]));
    footer.resize(40, 0);
    file.extend(footer);
    file.extend(0xdb47_7524_8b80_fb57u64.to_le_bytes());
    file
}

/// A size or place, mostly small, sometimes absurd.
fn number(choices: &mut Choices) -> i64 {
    match choices.below(12) {
        0 => -1,
        1 => i64::MAX,
        2 => i64::MIN,
        3 => 1 << choices.below(63),
        _ => choices.below(9) as i64,
    }
}

fn shape(choices: &mut Choices) -> TensorShapeProto {
    let dim = (0..choices.below(4)).map(|_| tensor_shape_proto::Dim { size: number(choices), name: String::new() });
    TensorShapeProto { dim: dim.collect(), unknown_rank: choices.one_in(30) }
}

fn slice(choices: &mut Choices) -> TensorSliceProto {
    let extents = 0..choices.below(4);
    let extent = extents.map(|_| {
        let length = tensor_slice_proto::extent::HasLength::Length(number(choices));
        tensor_slice_proto::Extent { start: number(choices), has_length: (!choices.one_in(3)).then_some(length) }
    });
    TensorSliceProto { extent: extent.collect() }
}

fn dtype(choices: &mut Choices) -> i32 {
    match choices.below(4) {
        0 => choices.below(200) as i32 - 10,
        1 => DataType::String.number(),
        _ => [DataType::Float, DataType::Int8, DataType::Bool, DataType::Complex128][choices.below(4)].number(),
    }
}

fn versions(choices: &mut Choices) -> VersionDef {
    VersionDef {
        producer: choices.below(3) as i32,
        min_consumer: choices.below(3) as i32,
        bad_consumers: (0..choices.below(2)).map(|_| choices.below(3) as i32).collect(),
    }
}

/// An index that says anything of data that are anything.
pub(crate) fn bundle(choices: &mut Choices) -> (Vec<u8>, Vec<Vec<u8>>) {
    let data: Vec<u8> = (0..choices.below(64)).map(|_| choices.below(256) as u8).collect();
    let header = BundleHeaderProto {
        num_shards: if choices.one_in(10) { number(choices) as i32 } else { 1 },
        endianness: i32::from(choices.one_in(20)),
        version: choices.one_in(2).then(|| versions(choices)),
    };
    let mut entries = vec![(Vec::new(), header.encode_to_vec())];
    for name in 0..1 + choices.below(3) {
        let (offset, size) = (choices.below(data.len() + 1), choices.below(data.len() + 1));
        let seen = data.get(offset..(offset + size).min(data.len())).unwrap_or_default();
        let mut entry = BundleEntryProto {
            dtype: dtype(choices),
            shape: Some(shape(choices)),
            shard_id: if choices.one_in(10) { number(choices) as i32 } else { 0 },
            offset: offset as i64,
            size: seen.len() as i64,
            crc32c: masked(seen),
            slices: Vec::new(),
        };
        if choices.one_in(3) {
            entry.slices = (0..1 + choices.below(3)).map(|_| slice(choices)).collect();
        }
        if choices.one_in(3) {
            // Elements that are there: the sizes that most readers get to see.
            entry.dtype = DataType::Int8.number();
            entry.shape = Some(TensorShapeProto {
                dim: vec![tensor_shape_proto::Dim { size: seen.len() as i64, name: String::new() }],
                unknown_rank: false,
            });
        }
        if choices.one_in(6) {
            (entry.offset, entry.size) = (number(choices), number(choices));
        }
        entries.push((format!("t{name}").into_bytes(), entry.encode_to_vec()));
    }
    (table(&entries), vec![data])
}

/// A file of the first format that says anything.
pub(crate) fn first_format(choices: &mut Choices) -> Vec<u8> {
    let mut metas = Vec::new();
    let mut entries = Vec::new();
    for name in 0..1 + choices.below(3) {
        let name = format!("t{name}");
        let mut meta = SavedSliceMeta {
            name: name.clone(),
            shape: Some(shape(choices)),
            r#type: dtype(choices),
            slice: (0..1 + choices.below(2)).map(|_| slice(choices)).collect(),
        };
        let mut data = TensorProto {
            float_val: vec![1.0; choices.below(4)],
            int_val: vec![-1; choices.below(4)],
            tensor_content: vec![1; if choices.one_in(4) { choices.below(20) } else { 0 }].into(),
            ..TensorProto::default()
        };
        let whole = choices.one_in(2);
        if whole {
            // A vector in one piece, with about as many values as elements.
            meta.r#type = DataType::Int8.number();
            let dim = tensor_shape_proto::Dim { size: choices.below(4) as i64, name: String::new() };
            meta.shape = Some(TensorShapeProto { dim: vec![dim], unknown_rank: false });
            meta.slice = vec![TensorSliceProto { extent: vec![tensor_slice_proto::Extent::default()] }];
            data.tensor_content = Vec::new().into();
        }
        let first = meta.slice.first().cloned();
        metas.push(meta);
        // The key of a whole tensor of rank 0 or 1, or any other.
        let mut key = vec![0];
        key.extend(name.bytes());
        key.extend([0, 1]);
        key.extend(if !whole && choices.one_in(2) { vec![0] } else { vec![1, 1, 0x80, 0x7f] });
        let saved = SavedSlice { name, slice: first, data: Some(data) };
        entries.push((key, SavedTensorSlices { meta: None, data: Some(saved) }.encode_to_vec()));
    }
    let meta = SavedTensorSliceMeta { tensor: metas, versions: choices.one_in(2).then(|| versions(choices)) };
    let list = SavedTensorSlices { meta: Some(meta), data: None };
    entries.insert(0, (Vec::new(), list.encode_to_vec()));
    table(&entries)
}

/// Reads all that a checkpoint has, whole and in part; returns how many tensors could be read.
///
/// # Errors
/// What must not happen: an INTERNAL error other than those that TensorFlow gives.
pub(crate) fn read_bundle(index: &[u8], data: Vec<Vec<u8>>) -> Result<usize, String> {
    let Ok(reader) = CheckpointReader::from_bytes(index, data) else { return Ok(0) };
    let mut read = 0;
    for (name, entry) in reader.tensors() {
        read += usize::from(checked(reader.read(&name))?);
        let half: Vec<_> = entry.shape.iter().map(|&dim| Some((0, (dim / 2).max(1) as i64))).collect();
        if let Ok(part) = TensorSlice::new(&half) {
            checked(reader.read_slice(&name, &part))?;
        }
    }
    Ok(read)
}

/// Reads all that a file of the first format has.
///
/// # Errors
/// As [`read_bundle`].
pub(crate) fn read_first_format(file: Vec<u8>) -> Result<usize, String> {
    let Ok(reader) = SliceFilesReader::from_bytes(file) else { return Ok(0) };
    let names: Vec<String> = reader.tensors().map(|(name, ..)| name).collect();
    names.iter().try_fold(0, |read, name| Ok(read + usize::from(checked(reader.read(name))?)))
}

fn checked<T>(result: Result<T, Error>) -> Result<bool, String> {
    match result {
        Ok(_) => Ok(true),
        Err(error) if error.code() == Code::Internal => {
            let known = ["Mismatching ranks", "out of bounds"].iter().any(|text| error.message().contains(text));
            if known { Ok(false) } else { Err(error.to_string()) }
        }
        Err(_) => Ok(false),
    }
}
