//! Reading checkpoints: an index of entries, and data files in which the tensors stand one behind the other.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bytes::Bytes;
use prost::Message;

use super::names::{data_name, index_name};
use crate::dtype::{DataType, TString};
use crate::error::{Code, Error, Result};
use crate::formats::checksum;
use crate::formats::coding::{take_u32, take_varint};
use crate::formats::slice::{TensorSlice, slice_key, slice_key_of};
use crate::formats::table::Table;
use crate::proto::{
    self, BundleEntryProto, BundleHeaderProto, VersionDef, bundle_header_proto::Endianness, shape_from_proto,
};
use crate::shape::Shape;
use crate::tensor::{FileBytes, Tensor, Variant, scratch};

/// The version of the format that is read and written.
pub(super) const VERSION: i32 = 1;

/// What a checkpoint says of a tensor.
#[derive(Clone, Debug)]
pub struct CheckpointEntry {
    /// The dtype.
    pub dtype: DataType,
    /// The shape, of the whole tensor if it is saved in parts.
    pub shape: Shape,
    /// The data file that holds it, counted from 0; of a tensor in parts, 0.
    pub shard: usize,
    /// The parts in which it is saved; none if it is saved whole.
    pub slices: Vec<TensorSlice>,
    offset: u64,
    size: u64,
    crc: u32,
}

/// Reads a checkpoint of TensorFlow's second format: `PREFIX.index` and `PREFIX.data-00000-of-0000N`.
///
/// The index is read and checked at once; data files are opened when a tensor in them is wanted. Large tensors are
/// mapped, not copied: a data file must not be changed in place while tensors from it live.
pub struct CheckpointReader {
    prefix: PathBuf,
    shards: usize,
    entries: BTreeMap<Vec<u8>, CheckpointEntry>,
    files: Mutex<HashMap<usize, FileBytes>>,
}

/// Checks which versions a checkpoint was made by and for.
pub(super) fn check_versions(versions: Option<&VersionDef>) -> Result<()> {
    let Some(versions) = versions else { return Ok(()) };
    if versions.min_consumer > VERSION {
        return Err(Error::invalid_argument(format!(
            "Checkpoint min consumer version {} above current version {VERSION}: it was written by a newer program",
            versions.min_consumer
        )));
    }
    if versions.bad_consumers.contains(&VERSION) {
        return Err(Error::invalid_argument(format!("Checkpoint disallows consumer version {VERSION}")));
    }
    Ok(())
}

/// The entries of an index, by key.
type Entries = Vec<(Vec<u8>, BundleEntryProto)>;

/// The entries of an index, with its header.
pub(super) fn read_index(index: &[u8]) -> Result<(BundleHeaderProto, Entries)> {
    let mut header = None;
    let mut entries = Vec::new();
    Table::open(index)?.for_each(|key, value| {
        let unreadable = |_| Error::data_loss(format!("Entry for key {} not parseable.", key.escape_ascii()));
        if key.is_empty() {
            header = Some(BundleHeaderProto::decode(value).map_err(unreadable)?);
        } else {
            entries.push((key.to_vec(), BundleEntryProto::decode(value).map_err(unreadable)?));
        }
        Ok(())
    })?;
    let header = header.ok_or_else(|| Error::data_loss("the index has no header entry"))?;
    check_versions(header.version.as_ref())?;
    Ok((header, entries))
}

impl CheckpointEntry {
    fn from_proto(proto: &BundleEntryProto, shards: usize) -> Result<CheckpointEntry> {
        let dtype = DataType::from_number(proto.dtype)
            .ok_or_else(|| Error::data_loss(format!("it has the unknown dtype {}", proto.dtype)))?;
        let shape = proto.shape.clone().unwrap_or_default();
        let shape = shape_from_proto(&shape).ok().and_then(|shape| shape.to_shape());
        let shape = shape.ok_or_else(|| Error::data_loss("Invalid tensor shape"))?;
        let slices = proto.slices.iter().map(TensorSlice::from_proto).collect::<Result<Vec<_>>>();
        let slices = slices.map_err(|error| Error::data_loss(error.message()))?;
        for slice in &slices {
            slice.shape_in(&shape).map_err(|error| Error::data_loss(error.message()))?;
        }
        let (Ok(shard), Ok(offset), Ok(size)) =
            (usize::try_from(proto.shard_id), u64::try_from(proto.offset), u64::try_from(proto.size))
        else {
            return Err(Error::data_loss("its place in the data files is negative"));
        };
        if shard >= shards && slices.is_empty() {
            return Err(Error::data_loss(format!("it is in data file {shard}, but there are {shards}")));
        }
        Ok(CheckpointEntry { dtype, shape, shard, slices, offset, size, crc: checksum::unmask(proto.crc32c) })
    }
}

impl CheckpointReader {
    /// Whether there is a checkpoint of this format with this prefix: an index.
    pub fn exists(prefix: impl AsRef<Path>) -> bool {
        index_name(prefix.as_ref()).is_file()
    }

    /// Opens a checkpoint and reads its index.
    ///
    /// # Errors
    /// NOT_FOUND if there is no index; DATA_LOSS if it is truncated or altered; INVALID_ARGUMENT if it is of a newer
    /// version; UNIMPLEMENTED if a big-endian machine wrote it.
    pub fn open(prefix: impl AsRef<Path>) -> Result<CheckpointReader> {
        let prefix = prefix.as_ref();
        let index = index_name(prefix);
        let bytes = FileBytes::open(&index)?;
        CheckpointReader::new(prefix.to_owned(), &bytes, HashMap::new())
            .map_err(|error| error.context(format!("Unable to read file ({})", index.display())))
    }

    /// A checkpoint whose files are in memory: the index, and the data files in order.
    ///
    /// # Errors
    /// As [`CheckpointReader::open`].
    pub fn from_bytes(index: &[u8], data: Vec<Vec<u8>>) -> Result<CheckpointReader> {
        let files = data.into_iter().map(FileBytes::from).enumerate().collect();
        CheckpointReader::new(PathBuf::from("<memory>"), index, files)
    }

    fn new(prefix: PathBuf, index: &[u8], files: HashMap<usize, FileBytes>) -> Result<CheckpointReader> {
        let (header, protos) = read_index(index)?;
        if header.endianness() == Endianness::Big {
            return Err(Error::unimplemented("the checkpoint was written on a big-endian machine"));
        }
        let shards = usize::try_from(header.num_shards)
            .map_err(|_| Error::data_loss(format!("the index says that there are {} data files", header.num_shards)))?;
        let entries = protos.into_iter().map(|(key, entry)| {
            let entry = CheckpointEntry::from_proto(&entry, shards)
                .map_err(|error| error.context(format!("tensor `{}`", key.escape_ascii())))?;
            Ok((key, entry))
        });
        Ok(CheckpointReader { prefix, shards, entries: entries.collect::<Result<_>>()?, files: Mutex::new(files) })
    }

    /// The number of data files.
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// The tensors, by name. The parts of tensors are not among them.
    pub fn tensors(&self) -> impl Iterator<Item = (String, &CheckpointEntry)> {
        let sliced = self.entries.iter().filter(|(_, entry)| !entry.slices.is_empty());
        let parts: HashSet<Vec<u8>> =
            sliced.flat_map(|(key, entry)| entry.slices.iter().map(|slice| slice_key_of(key, slice))).collect();
        let whole = self.entries.iter().filter(move |(key, _)| !parts.contains(*key));
        whole.map(|(key, entry)| (String::from_utf8_lossy(key).into_owned(), entry))
    }

    /// What is said of a tensor.
    ///
    /// # Errors
    /// NOT_FOUND if there is none of this name.
    pub fn entry(&self, name: impl AsRef<[u8]>) -> Result<&CheckpointEntry> {
        let name = name.as_ref();
        self.entries.get(name).filter(|_| !name.is_empty()).ok_or_else(|| {
            let (name, prefix) = (name.escape_ascii(), self.prefix.display());
            Error::format(Code::NotFound, format_args!("Key {name} not found in checkpoint {prefix}"))
        })
    }

    /// A tensor. Its checksum is compared.
    ///
    /// # Errors
    /// NOT_FOUND if there is none of this name or its data file is missing; OUT_OF_RANGE if that file is truncated;
    /// DATA_LOSS if the data are altered; INVALID_ARGUMENT if parts of it are missing or messages malformed; UNIMPLEMENTED for
    /// resources;
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn read(&self, name: impl AsRef<[u8]>) -> Result<Tensor> {
        let name = name.as_ref();
        let entry = self.entry(name)?;
        let tensor = if entry.slices.is_empty() {
            self.value(entry)
        } else {
            self.assemble(name, entry, &TensorSlice::full(entry.shape.rank()))
        };
        tensor.map_err(|error| self.name_tensor(name, error))
    }

    /// A part of a tensor, whether it was saved whole or in these or other parts.
    ///
    /// # Errors
    /// As [`CheckpointReader::read`]; INTERNAL, as TensorFlow has it, if the part does not lie in the tensor.
    pub fn read_slice(&self, name: impl AsRef<[u8]>, slice: &TensorSlice) -> Result<Tensor> {
        let name = name.as_ref();
        let entry = self.entry(name)?;
        self.assemble(name, entry, slice).map_err(|error| self.name_tensor(name, error))
    }

    fn name_tensor(&self, name: &[u8], error: Error) -> Error {
        error.context(format_args!("tensor `{}` in checkpoint {}", name.escape_ascii(), self.prefix.display()))
    }

    fn file(&self, shard: usize) -> Result<FileBytes> {
        let mut files = self.files.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(file) = files.get(&shard) {
            return Ok(file.clone());
        }
        let file = FileBytes::open(data_name(&self.prefix, shard, self.shards))?;
        files.insert(shard, file.clone());
        Ok(file)
    }

    /// Where the value of an entry is, which is as large as it must be.
    fn place(&self, entry: &CheckpointEntry) -> Result<(FileBytes, Range<usize>)> {
        if entry.dtype == DataType::Resource {
            return Err(Error::unimplemented("resources cannot be read from checkpoints"));
        }
        let CheckpointEntry { dtype, ref shape, .. } = *entry;
        let count = shape.num_elements();
        let fits = match dtype {
            DataType::String => entry.size >= count as u64,
            // A length and a checksum each, at least.
            DataType::Variant => entry.size / 5 >= count as u64,
            _ => count.checked_mul(dtype.size()).is_some_and(|bytes| bytes as u64 == entry.size),
        };
        if !fits {
            let message = format!("Invalid size in bundle entry: {} bytes for {dtype} {shape}", entry.size);
            return Err(Error::data_loss(message));
        }
        let file = self.file(entry.shard)?;
        let range = || {
            let start = usize::try_from(entry.offset).ok()?;
            let end = start.checked_add(usize::try_from(entry.size).ok()?)?;
            (end <= file.len()).then_some(start..end)
        };
        let Some(range) = range() else {
            return Err(Error::out_of_range(format!(
                "Read less bytes than requested: data file {} is truncated: it has {} bytes, and the tensor ends at {}",
                entry.shard,
                file.len(),
                u128::from(entry.offset) + u128::from(entry.size)
            )));
        };
        Ok((file, range))
    }

    /// Reads the value of an entry.
    fn value(&self, entry: &CheckpointEntry) -> Result<Tensor> {
        let CheckpointEntry { dtype, ref shape, .. } = *entry;
        let (file, range) = self.place(entry)?;
        let bytes = &file[range.clone()];
        if dtype == DataType::String {
            return strings(shape, bytes, entry.crc);
        }
        if dtype == DataType::Variant {
            return variants(shape, bytes, entry.crc);
        }
        check(crc32c::crc32c(bytes), entry)?;
        proto::from_content(dtype, shape.clone(), &Bytes::from_owner(file.clone()).slice(range))
    }

    /// A part of a tensor, from the parts in which it is saved.
    fn assemble(&self, name: &[u8], entry: &CheckpointEntry, wanted: &TensorSlice) -> Result<Tensor> {
        let part = wanted.shape_in(&entry.shape)?;
        let whole = [TensorSlice::full(entry.shape.rank())];
        let saved = if entry.slices.is_empty() { &whole } else { entry.slices.as_slice() };
        let stored = |slice: &TensorSlice| -> Result<&CheckpointEntry> {
            if entry.slices.is_empty() {
                return Ok(entry);
            }
            // A part that covers the whole tensor is stored under the tensor's own name.
            let key = if slice.is_full() { scratch::copied(name)? } else { slice_key(name, slice)? };
            let own = self.entries.get(&key);
            let own = own.ok_or_else(|| Error::not_found(format!("its part {slice} is not in the checkpoint")))?;
            if own.dtype != entry.dtype || own.shape != slice.shape_in(&entry.shape)? {
                return Err(Error::data_loss(format!("its part {slice} has another dtype or shape than it")));
            }
            Ok(own)
        };
        if let Some(same) =
            saved.iter().find(|&slice| slice == wanted || (slice.covers(&entry.shape) && part == entry.shape))
        {
            return self.value(stored(same)?);
        }
        let overlaps: Vec<_> =
            saved.iter().filter_map(|slice| Some((slice, slice.overlap(wanted, &entry.shape)?))).collect();
        let found = overlaps.iter().try_fold(0usize, |sum, (_, overlap)| sum.checked_add(overlap.size.num_elements()));
        if found != Some(part.num_elements()) {
            return Err(Error::invalid_argument(format!(
                "Does not have sufficient slices for partitioned tensor {} to restore in slice_spec: {wanted}",
                name.escape_ascii()
            )));
        }
        // A few bytes can name parts of any size: memory is asked for those that are there.
        for (slice, _) in &overlaps {
            self.place(stored(slice)?)?;
        }
        let mut tensor = Tensor::zeros(entry.dtype, part.clone())?;
        // As many elements as are wanted are all of them if none is there twice.
        let mut are_there = scratch::filled(false, part.num_elements())?;
        for (slice, overlap) in overlaps {
            let source = self.value(stored(slice)?)?;
            let mut is_second = false;
            overlap.for_each_run(source.shape(), &part, |_, to, count| {
                is_second |= are_there[to..to + count].contains(&true);
                are_there[to..to + count].fill(true);
            });
            if is_second {
                return Err(Error::data_loss(format!("its part {slice} overlaps another one that is saved")));
            }
            copy_overlap(&source, &mut tensor, &overlap)?;
        }
        Ok(tensor)
    }
}

/// Copies the overlap of a saved part and the wanted part.
pub(super) fn copy_overlap(
    source: &Tensor,
    target: &mut Tensor,
    overlap: &crate::formats::slice::Overlap,
) -> Result<()> {
    let (from, to) = (source.shape().clone(), target.shape().clone());
    fn copy<T: Clone>(source: &[T], target: &mut [T], width: usize) -> impl FnMut(usize, usize, usize) {
        move |from, to, count| {
            target[to * width..(to + count) * width].clone_from_slice(&source[from * width..(from + count) * width]);
        }
    }
    match source.dtype() {
        DataType::String => {
            let target = target.as_mut_slice::<TString>()?;
            overlap.for_each_run(&from, &to, copy(source.as_slice::<TString>()?, target, 1));
        }
        DataType::Variant => {
            let target = target.as_mut_slice::<Variant>()?;
            overlap.for_each_run(&from, &to, copy(source.as_slice::<Variant>()?, target, 1));
        }
        DataType::Bool => {
            overlap.for_each_run(&from, &to, copy(source.as_slice::<bool>()?, target.as_mut_slice::<bool>()?, 1));
        }
        dtype => overlap.for_each_run(&from, &to, copy(source.bytes()?, target.bytes_mut()?, dtype.size())),
    }
    Ok(())
}

fn check(actual: u32, entry: &CheckpointEntry) -> Result<()> {
    if actual == entry.crc {
        return Ok(());
    }
    Err(Error::data_loss(format!(
        "Checksum does not match: stored {:08x} vs. calculated on the restored bytes {actual:08x} (data file {}, {} bytes \
         from {})",
        entry.crc, entry.shard, entry.size, entry.offset
    )))
}

/// Strings: their lengths as varints, a checksum of the lengths, and the bytes of all.
fn strings(shape: &Shape, bytes: &[u8], expected: u32) -> Result<Tensor> {
    let count = shape.num_elements();
    let truncated = || Error::data_loss("the strings are truncated");
    let mut source = bytes;
    let mut lengths = scratch::room(count.min(bytes.len()))?;
    let mut crc = 0;
    for _ in 0..count {
        let length = take_varint(&mut source).ok_or_else(truncated)?;
        crc = match u32::try_from(length) {
            Ok(short) => crc32c::crc32c_append(crc, &short.to_le_bytes()),
            Err(_) => crc32c::crc32c_append(crc, &length.to_le_bytes()),
        };
        lengths.push(length);
    }
    let stored = take_u32(&mut source).ok_or_else(truncated)?;
    if checksum::unmask(stored) != crc {
        return Err(Error::data_loss("The length checksum does not match: the lengths of the strings are altered"));
    }
    crc = crc32c::crc32c_append(crc, &stored.to_le_bytes());
    if crc32c::crc32c_append(crc, source) != expected {
        return Err(Error::data_loss("Checksum does not match: the strings are altered"));
    }
    let mut tensor = Tensor::zeros(DataType::String, shape.clone())?;
    let mut payload = Bytes::from(scratch::copied(source)?);
    for (element, length) in tensor.as_mut_slice::<TString>()?.iter_mut().zip(lengths) {
        let length = usize::try_from(length).ok().filter(|&length| length <= payload.len());
        *element = TString::from(payload.split_to(length.ok_or_else(truncated)?));
    }
    Ok(tensor)
}

/// Variants: of each the length of its message as a varint, the message, and a checksum of all up to there.
fn variants(shape: &Shape, mut bytes: &[u8], expected: u32) -> Result<Tensor> {
    let truncated = || Error::data_loss("the variants are truncated");
    let mut tensor = Tensor::zeros(DataType::Variant, shape.clone())?;
    let mut crc = 0;
    for (index, element) in tensor.as_mut_slice::<Variant>()?.iter_mut().enumerate() {
        let length = take_varint(&mut bytes).ok_or_else(truncated)?;
        let message =
            usize::try_from(length).ok().and_then(|length| bytes.split_off(..length)).ok_or_else(truncated)?;
        let stored = take_u32(&mut bytes).ok_or_else(truncated)?;
        crc = crc32c::crc32c_append(crc, &length.to_le_bytes());
        crc = crc32c::crc32c_append(crc, message);
        if checksum::unmask(stored) != crc {
            return Err(Error::data_loss(format!("The checksum after Variant {index} does not match: it is altered")));
        }
        crc = crc32c::crc32c_append(crc, &stored.to_le_bytes());
        *element = proto::variant_from_bytes(scratch::copied(message)?.into(), 0)?;
    }
    if crc != expected || !bytes.is_empty() {
        return Err(Error::data_loss("Checksum does not match: the variants are altered"));
    }
    Ok(tensor)
}
