//! The files of saved datasets.
//!
//! A folder holds `snapshot.metadata`, which names a run, and for each run a folder with one folder `NNNNNNNN.shard` for each
//! shard. In that the elements stand in the files `00000000.snapshot`, `00000001.snapshot`, ... In format 2 each component is a
//! TFRecord that holds a `TensorProto`; in formats 1 and 0 each element is a `SnapshotRecord` behind its length, or with
//! SNAPPY in format 1, the shapes of its components and then their bytes.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use kernlink::dtype::{DataType, TString};
use kernlink::proto::{TensorProto, TensorShapeProto, encoded, shape_from_proto, tensor_from_proto};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Code, Error, Result, bail, ensure};
use kernlink_kernels_common::files::path_of;
use kernlink_kernels_common::records::{self, Bytes};
use kernlink_kernels_common::snappy::{self, Blocks};
use prost::Message;

use crate::dataset::{Element, Spec};

/// The format of `SaveDataset` and `SnapshotDatasetV2`.
pub(crate) const VERSION: i64 = 2;

/// What a folder says of its elements: TensorFlow's `SnapshotMetadataRecord`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metadata {
    #[prost(string, tag = "1")]
    pub(crate) graph_hash: String,
    #[prost(string, tag = "2")]
    pub(crate) run_id: String,
    /// In microseconds since 1970.
    #[prost(int64, tag = "3")]
    pub(crate) creation_timestamp: i64,
    #[prost(int64, tag = "4")]
    pub(crate) version: i64,
    #[prost(int32, repeated, tag = "5")]
    pub(crate) dtype: Vec<i32>,
    #[prost(int64, tag = "6")]
    pub(crate) num_elements: i64,
    #[prost(bool, tag = "1000")]
    pub(crate) finalized: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SnapshotRecord {
    #[prost(message, repeated, tag = "1")]
    pub(crate) tensor: Vec<TensorProto>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorMetadata {
    #[prost(message, optional, tag = "2")]
    pub(crate) tensor_shape: Option<TensorShapeProto>,
    #[prost(int64, tag = "3")]
    pub(crate) tensor_size_bytes: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SnapshotTensorMetadata {
    #[prost(message, repeated, tag = "1")]
    pub(crate) tensor_metadata: Vec<TensorMetadata>,
}

/// How the files of a snapshot are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zlib,
    Snappy,
}

impl Compression {
    /// What TensorFlow calls `name`.
    pub(crate) fn named(name: &str) -> Result<Compression> {
        match name {
            "" | "NONE" => Ok(Compression::None),
            "GZIP" => Ok(Compression::Gzip),
            "ZLIB" => Ok(Compression::Zlib),
            "SNAPPY" => Ok(Compression::Snappy),
            _ => bail!(
                InvalidArgument,
                "compression `{name}` is none of datasets: use \"\", \"GZIP\", \"ZLIB\" or \"SNAPPY\""
            ),
        }
    }
}

pub(crate) fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    move |error| Error::from_io(path.display(), &error)
}

/// Refuses pipes and devices before they are opened: they might be waited for for ever, or not end.
pub(crate) fn ensure_file(path: &Path) -> Result<()> {
    let is_file = fs::metadata(path).map_err(failed(path))?.is_file();
    ensure!(is_file, FailedPrecondition, "{} is not a file", path.display());
    Ok(())
}

/// A folder behind a prefix of its name; one that begins at the root, too.
///
/// # Errors
/// As [`path_of`].
pub(crate) fn behind(prefix: &str, folder: &Path) -> Result<PathBuf> {
    if prefix.is_empty() {
        return Ok(folder.to_owned());
    }
    Ok(path_of(&TString::from(prefix))?.join(folder.strip_prefix("/").unwrap_or(folder)))
}

/// What says which run is in a folder.
const METADATA: &str = "snapshot.metadata";

/// The time in microseconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as i64)
}

/// A number that nobody else has.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// The folder of a shard; a negative number is one with many digits, as in TensorFlow.
pub(crate) fn shard_folder(run: &Path, shard: i64) -> PathBuf {
    run.join(format!("{:08}.shard", shard as u64))
}

/// A file of a shard.
pub(crate) fn snapshot_file(shard: &Path, file: i64) -> PathBuf {
    shard.join(format!("{file:08}.snapshot"))
}

/// The number that a name in the folder of a snapshot begins with, if it ends like this.
pub(crate) fn number_of(path: &Path, extension: &str) -> Option<u64> {
    let is_such = path.extension().is_some_and(|found| found == extension);
    path.file_stem().filter(|_| is_such)?.to_str()?.parse().ok()
}

/// What a folder holds; nothing if there is none.
pub(crate) fn entries(folder: &Path) -> Result<impl Iterator<Item = Result<PathBuf>> + '_> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(folder)(error)),
    };
    Ok(entries.into_iter().flatten().map(move |entry| entry.map(|entry| entry.path()).map_err(failed(folder))))
}

impl Metadata {
    /// That of a run that began now, in the format of this version.
    pub(crate) fn new(run: String, version: i64, dtypes: &[DataType]) -> Metadata {
        let dtype = dtypes.iter().map(|dtype| dtype.number()).collect();
        Metadata { run_id: run, creation_timestamp: now(), version, dtype, ..Metadata::default() }
    }

    /// Reads what a folder says.
    ///
    /// # Errors
    /// NOT_FOUND if it says nothing; DATA_LOSS if that is damaged.
    pub(crate) fn read(folder: &Path) -> Result<Metadata> {
        let found = Metadata::find(folder)?;
        found.ok_or_else(|| {
            let folder = folder.display();
            Error::not_found(format!("Could not find metadata file [{folder}]: no dataset is saved there, or not yet"))
        })
    }

    /// Reads what a folder says, if it says anything.
    ///
    /// # Errors
    /// DATA_LOSS if that is damaged.
    pub(crate) fn find(folder: &Path) -> Result<Option<Metadata>> {
        let path = folder.join(METADATA);
        match ensure_file(&path) {
            Err(error) if error.code() == Code::NotFound => return Ok(None),
            result => result?,
        }
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(failed(&path))?;
        // It has a few bytes for each component.
        file.take(16 << 20).read_to_end(&mut bytes).map_err(failed(&path))?;
        let metadata = Metadata::decode(&bytes[..]);
        let damaged = |_| Error::data_loss(format!("{} is damaged: it is no metadata of a snapshot", path.display()));
        metadata.map(Some).map_err(damaged)
    }

    /// Writes it to a folder, all at once.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).map_err(failed(folder))?;
        // Others may write theirs at the same time.
        let temporary = folder.join(format!("{METADATA}-tmp-{}", random()));
        let written = fs::write(&temporary, encoded(self)?);
        let renamed = written.and_then(|()| fs::rename(&temporary, folder.join(METADATA)));
        renamed.map_err(|error| {
            let _ = fs::remove_file(&temporary);
            failed(&temporary)(error)
        })
    }

    /// Says in a folder that a run is not complete any more, if it is the one that is.
    pub(crate) fn reopen(folder: &Path, run: &str) -> Result<()> {
        match Metadata::find(folder)? {
            Some(metadata) if metadata.finalized && metadata.run_id == run => {
                Metadata { finalized: false, ..metadata }.write(folder)
            }
            _ => Ok(()),
        }
    }

    /// The folder of the run.
    ///
    /// # Errors
    /// DATA_LOSS if its name is none that a run has: it could lead elsewhere.
    pub(crate) fn run_folder(&self, folder: &Path) -> Result<PathBuf> {
        let run = &self.run_id;
        ensure!(
            !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            DataLoss,
            "the metadata of the snapshot in {} is damaged: it names no run",
            folder.display()
        );
        Ok(folder.join(run))
    }

    /// The folders of the shards, in the order of their names.
    pub(crate) fn shards(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let run = self.run_folder(folder)?;
        let entries = match fs::read_dir(&run) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(&run)(error)),
        };
        let mut shards = Vec::new();
        for entry in entries {
            let path = entry.map_err(failed(&run))?.path();
            if path.extension().is_some_and(|extension| extension == "shard") {
                scratch::push(&mut shards, path)?;
            }
        }
        shards.sort();
        Ok(shards)
    }
}

/// A file that elements are read from.
pub(crate) struct ElementReader {
    bytes: Bytes,
    version: i64,
    compression: Compression,
}

/// Refuses formats that are not known.
pub(crate) fn ensure_version(version: i64) -> Result<()> {
    ensure!((0..=2).contains(&version), InvalidArgument, "Snapshot reader version: {version} is not supported.");
    Ok(())
}

impl ElementReader {
    /// Opens a file.
    ///
    /// # Errors
    /// NOT_FOUND if there is none.
    pub(crate) fn open(path: &Path, compression: Compression, version: i64) -> Result<ElementReader> {
        ensure_version(version)?;
        let plain = match (compression, version) {
            (Compression::None, _) | (Compression::Snappy, 1) => Some(records::Compression::None),
            (Compression::Gzip, _) => Some(records::Compression::Gzip),
            (Compression::Zlib, VERSION) => Some(records::Compression::Zlib),
            // Of the older formats TensorFlow has no such files, and reads them as they are.
            (Compression::Zlib, _) => Some(records::Compression::None),
            (Compression::Snappy, _) => None,
        };
        let bytes = match plain {
            Some(compression) => Bytes::open(path, compression, 0)?,
            None => {
                ensure_file(path)?;
                let file = File::open(path).map_err(failed(path))?;
                Bytes::decoded(Box::new(Blocks::new(BufReader::new(file))), path.display().to_string())
            }
        };
        Ok(ElementReader { bytes, version, compression })
    }

    /// The next element, which has as many components as `spec` says and is as it says; `None` at the end.
    ///
    /// # Errors
    /// DATA_LOSS if the file is damaged or ends amid an element; INVALID_ARGUMENT if the element is another than `spec` says.
    pub(crate) fn next(&mut self, spec: &Spec) -> Result<Option<Element>> {
        let element = match self.version {
            2 => self.records(spec)?,
            1 if self.compression == Compression::Snappy => self.compressed(spec)?,
            _ => self.framed()?.map(|record| self.element(&record)).transpose()?,
        };
        let Some(element) = element else { return Ok(None) };
        ensure!(
            element.len() == spec.dtypes.len(),
            InvalidArgument,
            "{}: an element has {} components, and {} are expected: another dataset was saved there",
            self.bytes.name(),
            element.len(),
            spec.dtypes.len()
        );
        for (index, component) in element.iter().enumerate() {
            ensure!(
                spec.dtypes[index] == component.dtype()
                    && spec.shapes.get(index).is_none_or(|shape| shape.is_compatible(&component.shape().into())),
                InvalidArgument,
                "{}: component {index} of an element is a {} of shape {}, and another is expected: another dataset was \
                 saved there",
                self.bytes.name(),
                component.dtype(),
                component.shape()
            );
        }
        Ok(Some(element))
    }

    fn damaged(&self, what: &str) -> Error {
        Error::data_loss(format!("{}: {what}", self.bytes.name()))
    }

    fn records(&mut self, spec: &Spec) -> Result<Option<Element>> {
        let mut element = Vec::new();
        for index in 0..spec.dtypes.len() {
            match self.bytes.record()? {
                Some(record) => {
                    let proto = TensorProto::decode(&record[..]);
                    let proto = proto.map_err(|_| self.damaged("Unable to parse tensor from stored proto."))?;
                    scratch::push(&mut element, self.tensor(&proto, record.len())?)?;
                }
                None if index == 0 => return Ok(None),
                None => return Err(self.damaged("the file ends amid an element")),
            }
        }
        Ok(Some(element))
    }

    /// Bytes behind their length.
    fn framed(&mut self) -> Result<Option<Vec<u8>>> {
        let mut length = Vec::new();
        match self.bytes.read(&mut length, 8)? {
            0 => return Ok(None),
            8 => {}
            _ => return Err(self.damaged("the length of a record was cut")),
        }
        let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
        let mut record = Vec::new();
        ensure!(self.bytes.read(&mut record, length)? == length, DataLoss, "{}: a record was cut", self.bytes.name());
        Ok(Some(record))
    }

    fn element(&self, record: &[u8]) -> Result<Element> {
        let record_of = SnapshotRecord::decode(record).map_err(|_| self.damaged("a record is no element"))?;
        record_of.tensor.iter().map(|proto| self.tensor(proto, record.len())).collect()
    }

    fn compressed(&mut self, spec: &Spec) -> Result<Option<Element>> {
        let Some(shapes) = self.framed()? else { return Ok(None) };
        let Some(bytes) = self.framed()? else { return Err(self.damaged("the file ends amid an element")) };
        let shapes = SnapshotTensorMetadata::decode(&shapes[..]);
        let shapes = shapes.map_err(|_| self.damaged("Could not parse SnapshotTensorMetadata"))?.tensor_metadata;
        let size = snap::raw::decompress_len(&bytes).ok();
        let expected =
            shapes.iter().try_fold(0usize, |sum, part| sum.checked_add(usize::try_from(part.tensor_size_bytes).ok()?));
        ensure!(
            size.is_some() && size == expected && shapes.len() == spec.dtypes.len(),
            DataLoss,
            "{}: the sizes of an element's components are not those of its bytes",
            self.bytes.name()
        );
        let whole = snappy::decompress(&bytes).map_err(|error| match error.code() {
            Code::ResourceExhausted => error,
            _ => self.damaged("Failed to perform snappy decompression."),
        })?;
        let mut rest = &whole[..];
        let mut element = Vec::new();
        for (part, dtype) in shapes.iter().zip(&spec.dtypes) {
            let (own, others) = rest.split_at(part.tensor_size_bytes as usize);
            rest = others;
            let tensor = if dtype.is_pod() {
                let shape = shape_from_proto(&part.tensor_shape.clone().unwrap_or_default())?.to_shape();
                let shape = shape.ok_or_else(|| self.damaged("a shape is not known"))?;
                Tensor::from_bytes(*dtype, shape, own).map_err(|error| self.damaged(error.message()))?
            } else {
                let proto = TensorProto::decode(own).map_err(|_| self.damaged("Could not parse TensorProto"))?;
                self.tensor(&proto, own.len())?
            };
            scratch::push(&mut element, tensor)?;
        }
        Ok(Some(element))
    }

    /// The tensor in a message of so many bytes.
    fn tensor(&self, proto: &TensorProto, size: usize) -> Result<Tensor> {
        let shape = match &proto.tensor_shape {
            None => Some(Shape::scalar()),
            Some(shape) => shape_from_proto(shape).ok().and_then(|shape| shape.to_shape()),
        };
        let shape = shape.ok_or_else(|| self.damaged("a tensor's shape is not known"))?;
        // Whoever wrote it wrote each element, so that a few bytes are no large tensor.
        ensure!(shape.num_elements() <= size, DataLoss, "{}: a tensor has no values", self.bytes.name());
        let tensor = match proto.dtype == DataType::String.number() && !proto.tensor_content.is_empty() {
            true => strings(shape, &proto.tensor_content),
            false => tensor_from_proto(proto),
        };
        tensor.map_err(|error| self.damaged(&format!("Unable to parse tensor from stored proto: {}", error.message())))
    }
}

/// Strings as TensorFlow puts them into a tensor's content: the lengths of all, then the bytes.
fn strings(shape: Shape, content: &[u8]) -> Result<Tensor> {
    let cut = || Error::data_loss("the strings were cut");
    let mut rest = content;
    let mut lengths = scratch::room(shape.num_elements())?;
    for _ in 0..shape.num_elements() {
        lengths.push(prost::encoding::decode_varint(&mut rest).map_err(|_| cut())?);
    }
    let mut tensor = Tensor::zeros(DataType::String, shape)?;
    for (element, length) in tensor.as_mut_slice::<TString>()?.iter_mut().zip(lengths) {
        let (own, others) =
            usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length)).ok_or_else(cut)?;
        *element = TString::from(own);
        rest = others;
    }
    Ok(tensor)
}
