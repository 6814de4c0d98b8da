//! The files of saved datasets.
//!
//! A folder holds `snapshot.metadata`, which names a run, and for each run a folder with one folder `NNNNNNNN.shard` for each
//! shard. In that the elements stand in the files `00000000.snapshot`, `00000001.snapshot`, ... In format 2 each component is a
//! TFRecord that holds a `TensorProto`; in formats 1 and 0 each element is a `SnapshotRecord` behind its length, or with
//! SNAPPY in format 1, the shapes of its components and then their bytes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use flate2::write::{GzEncoder, ZlibEncoder};
use kernlink::dtype::{DataType, TString};
use kernlink::formats::masked_crc32c;
use kernlink::proto::{TensorProto, TensorShapeProto, encoded, shape_from_proto, tensor_from_proto, tensor_to_proto};
use kernlink::shape::Shape;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::records::{self, Bytes};
use kernlink_kernels_common::snappy::{BlockWriter, Blocks};
use prost::Message;

use crate::dataset::{Element, Spec};

/// The format that is written.
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
struct SnapshotRecord {
    #[prost(message, repeated, tag = "1")]
    tensor: Vec<TensorProto>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorMetadata {
    #[prost(message, optional, tag = "2")]
    tensor_shape: Option<TensorShapeProto>,
    #[prost(int64, tag = "3")]
    tensor_size_bytes: i64,
}

#[derive(Clone, PartialEq, Message)]
struct SnapshotTensorMetadata {
    #[prost(message, repeated, tag = "1")]
    tensor_metadata: Vec<TensorMetadata>,
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

fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    move |error| Error::from_io(path.display(), &error)
}

/// The folder of a run.
pub(crate) fn run_folder(folder: &Path, run: u64) -> PathBuf {
    folder.join(run.to_string())
}

/// The folder of a shard; a negative number is one with many digits, as in TensorFlow.
pub(crate) fn shard_folder(run: &Path, shard: i64) -> PathBuf {
    run.join(format!("{:08}.shard", shard as u64))
}

/// A file of a shard.
pub(crate) fn snapshot_file(shard: &Path, file: i64) -> PathBuf {
    shard.join(format!("{file:08}.snapshot"))
}

impl Metadata {
    /// That of a run that began now.
    pub(crate) fn new(run: u64, dtypes: &[DataType]) -> Metadata {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as i64);
        Metadata {
            run_id: run.to_string(),
            creation_timestamp: now,
            version: VERSION,
            dtype: dtypes.iter().map(|dtype| dtype.number()).collect(),
            ..Metadata::default()
        }
    }

    /// Reads what a folder says.
    ///
    /// # Errors
    /// NOT_FOUND if it says nothing; DATA_LOSS if that is damaged.
    pub(crate) fn read(folder: &Path) -> Result<Metadata> {
        let path = folder.join("snapshot.metadata");
        let mut bytes = Vec::new();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
                NotFound,
                "Could not find metadata file [{}]: no dataset is saved there, or not yet",
                folder.display()
            ),
            Err(error) => return Err(failed(&path)(error)),
        };
        // It has a few bytes for each component.
        file.take(16 << 20).read_to_end(&mut bytes).map_err(failed(&path))?;
        let metadata = Metadata::decode(&bytes[..]).ok().filter(|metadata| {
            // The name of a folder, which is in no other.
            !metadata.run_id.is_empty() && metadata.run_id.bytes().all(|byte| byte.is_ascii_digit())
        });
        metadata
            .ok_or_else(|| Error::data_loss(format!("{} is damaged: it is no metadata of a snapshot", path.display())))
    }

    /// Writes it to a folder, all at once.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let temporary = folder.join(format!("snapshot.metadata-tmp-{}", self.run_id));
        fs::write(&temporary, encoded(self)?).map_err(failed(&temporary))?;
        fs::rename(&temporary, folder.join("snapshot.metadata")).map_err(failed(&temporary))
    }

    /// The folders of the shards, in the order of their names.
    pub(crate) fn shards(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let run = folder.join(&self.run_id);
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

/// A file that elements are written to, in format 2.
pub(crate) struct ElementWriter {
    path: PathBuf,
    out: Out,
}

enum Out {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zlib(ZlibEncoder<BufWriter<File>>),
    Snappy(BlockWriter<BufWriter<File>>),
}

impl ElementWriter {
    /// Makes a file and the folder that it is in, or goes on where one ends.
    pub(crate) fn create(path: PathBuf, compression: Compression) -> Result<ElementWriter> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed(folder))?;
        }
        let file = BufWriter::new(OpenOptions::new().append(true).create(true).open(&path).map_err(failed(&path))?);
        let level = flate2::Compression::default();
        let out = match compression {
            Compression::None => Out::Plain(file),
            Compression::Gzip => Out::Gzip(GzEncoder::new(file, level)),
            Compression::Zlib => Out::Zlib(ZlibEncoder::new(file, level)),
            Compression::Snappy => Out::Snappy(BlockWriter::new(file)),
        };
        Ok(ElementWriter { path, out })
    }

    /// Writes an element.
    ///
    /// # Errors
    /// UNIMPLEMENTED for variants; [`Error::from_io`]'s if the file cannot be written.
    pub(crate) fn write(&mut self, element: &Element) -> Result<()> {
        for component in element {
            let record = encoded(&tensor_to_proto(component)?)?;
            let length = (record.len() as u64).to_le_bytes();
            let parts =
                [&length[..], &masked_crc32c(&length).to_le_bytes(), &record, &masked_crc32c(&record).to_le_bytes()];
            let out: &mut dyn Write = match &mut self.out {
                Out::Plain(out) => out,
                Out::Gzip(out) => out,
                Out::Zlib(out) => out,
                Out::Snappy(out) => out,
            };
            parts.iter().try_for_each(|part| out.write_all(part)).map_err(failed(&self.path))?;
        }
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(self) -> Result<()> {
        let ended = match self.out {
            Out::Plain(mut out) => out.flush(),
            Out::Gzip(out) => out.finish().and_then(|mut out| out.flush()),
            Out::Zlib(out) => out.finish().and_then(|mut out| out.flush()),
            Out::Snappy(mut out) => out.flush(),
        };
        ended.map_err(failed(&self.path))
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
            (Compression::Zlib, _) => Some(records::Compression::Zlib),
            (Compression::Snappy, _) => None,
        };
        let bytes = match plain {
            Some(compression) => Bytes::open(path, compression, 0)?,
            None => {
                let file = File::open(path).map_err(failed(path))?;
                ensure!(
                    file.metadata().map_err(failed(path))?.is_file(),
                    FailedPrecondition,
                    "{} is not a file",
                    path.display()
                );
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
        let size = snap::raw::decompress_len(&bytes).ok().filter(|size| *size <= bytes.len().saturating_mul(64));
        let expected =
            shapes.iter().try_fold(0usize, |sum, part| sum.checked_add(usize::try_from(part.tensor_size_bytes).ok()?));
        ensure!(
            size.is_some() && size == expected && shapes.len() == spec.dtypes.len(),
            DataLoss,
            "{}: the sizes of an element's components are not those of its bytes",
            self.bytes.name()
        );
        let whole = snap::raw::Decoder::new().decompress_vec(&bytes);
        let whole = whole.map_err(|_| self.damaged("Failed to perform snappy decompression."))?;
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
