//! Writes the files of saved datasets, in the formats that [`snapshot_files`](crate::snapshot_files) describes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::{GzEncoder, ZlibEncoder};
use kernlink::dtype::{DataType, TString};
use kernlink::formats::masked_crc32c;
use kernlink::proto::{TensorProto, encoded, shape_to_proto, tensor_to_proto};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result};
use kernlink_kernels_common::snappy::{self, BlockWriter};

use crate::dataset::Element;
use crate::snapshot_files::{
    Compression, SnapshotRecord, SnapshotTensorMetadata, TensorMetadata, VERSION, ensure_file, failed, snapshot_file,
};

/// The formats that are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// 1: elements behind their lengths.
    Framed,
    /// 2: TFRecords of tensors.
    Records,
}

impl Format {
    pub(crate) fn version(self) -> i64 {
        match self {
            Format::Framed => 1,
            Format::Records => VERSION,
        }
    }
}

enum Out {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zlib(ZlibEncoder<BufWriter<File>>),
    Snappy(BlockWriter<BufWriter<File>>),
}

impl Out {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Out::Plain(out) => out,
            Out::Gzip(out) => out,
            Out::Zlib(out) => out,
            Out::Snappy(out) => out,
        }
    }

    /// What writes to the file.
    fn file(&mut self) -> &mut BufWriter<File> {
        match self {
            Out::Plain(out) => out,
            Out::Gzip(out) => out.get_mut(),
            Out::Zlib(out) => out.get_mut(),
            Out::Snappy(out) => out.get_mut(),
        }
    }
}

/// The message that holds a tensor, as TensorFlow writes it: of strings, too, all is content, the lengths of all and then the
/// bytes.
fn to_proto(tensor: &Tensor) -> Result<TensorProto> {
    if tensor.dtype() != DataType::String {
        return tensor_to_proto(tensor);
    }
    let strings = tensor.as_slice::<TString>()?;
    let mut content = Vec::new();
    for string in strings {
        let (mut length, mut room) = ([0; 10], 0);
        let mut rest = string.len();
        while rest >= 0x80 {
            (length[room], room, rest) = (rest as u8 | 0x80, room + 1, rest >> 7);
        }
        length[room] = rest as u8;
        scratch::append(&mut content, &length[..=room])?;
    }
    for string in strings {
        scratch::append(&mut content, string.as_bytes())?;
    }
    Ok(TensorProto {
        dtype: DataType::String.number(),
        tensor_shape: Some(shape_to_proto(&tensor.shape().into())),
        tensor_content: content.into(),
        ..TensorProto::default()
    })
}

/// A file that elements are written to.
pub(crate) struct ElementWriter {
    path: PathBuf,
    out: Out,
    format: Format,
    /// Whether each element is compressed by itself.
    is_snappy: bool,
}

impl ElementWriter {
    /// Makes a file and the folder that it is in, or goes on where one ends.
    pub(crate) fn append(path: PathBuf, compression: Compression, format: Format) -> Result<ElementWriter> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed(folder))?;
        }
        if path.exists() {
            ensure_file(&path)?;
        }
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(failed(&path))?;
        Ok(ElementWriter::new(path, file, compression, format))
    }

    /// Makes the first file of a folder, from number `next` on, that nobody has made; `next` is its successor afterwards.
    pub(crate) fn create(
        folder: &Path,
        next: &mut i64,
        compression: Compression,
        format: Format,
    ) -> Result<ElementWriter> {
        loop {
            let path = snapshot_file(folder, *next);
            *next = next.checked_add(1).ok_or_else(|| Error::resource_exhausted("a snapshot has too many files"))?;
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(ElementWriter::new(path, file, compression, format)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path)(error)),
            }
        }
    }

    fn new(path: PathBuf, file: File, compression: Compression, format: Format) -> ElementWriter {
        let file = BufWriter::new(file);
        let level = flate2::Compression::default();
        let is_snappy = compression == Compression::Snappy && format == Format::Framed;
        let out = match compression {
            _ if is_snappy => Out::Plain(file),
            Compression::None => Out::Plain(file),
            Compression::Gzip => Out::Gzip(GzEncoder::new(file, level)),
            Compression::Zlib => Out::Zlib(ZlibEncoder::new(file, level)),
            Compression::Snappy => Out::Snappy(BlockWriter::new(file)),
        };
        ElementWriter { path, out, format, is_snappy }
    }

    /// Writes an element.
    ///
    /// # Errors
    /// UNIMPLEMENTED for variants that no message can hold; [`Error::from_io`]'s if the file cannot be written.
    pub(crate) fn write(&mut self, element: &Element) -> Result<()> {
        match self.format {
            Format::Records => element.iter().try_for_each(|component| self.record(&encoded(&to_proto(component)?)?)),
            Format::Framed if self.is_snappy => self.compressed(element),
            Format::Framed => {
                let tensor = scratch::collected_ok(element.iter().map(to_proto))?;
                self.framed(&encoded(&SnapshotRecord { tensor })?)
            }
        }
    }

    fn all(&mut self, parts: &[&[u8]]) -> Result<()> {
        let out = self.out.writer();
        parts.iter().try_for_each(|part| out.write_all(part)).map_err(failed(&self.path))
    }

    /// A TFRecord.
    fn record(&mut self, record: &[u8]) -> Result<()> {
        let length = (record.len() as u64).to_le_bytes();
        let (head, tail) = (masked_crc32c(&length).to_le_bytes(), masked_crc32c(record).to_le_bytes());
        self.all(&[&length, &head, record, &tail])
    }

    /// Bytes behind their length.
    fn framed(&mut self, record: &[u8]) -> Result<()> {
        self.all(&[&(record.len() as u64).to_le_bytes(), record])
    }

    /// The shapes and sizes of components, and then their bytes.
    fn compressed(&mut self, element: &Element) -> Result<()> {
        let (mut bytes, mut tensor_metadata) = (Vec::new(), scratch::room(element.len())?);
        for component in element {
            let start = bytes.len();
            if component.dtype().is_pod() {
                scratch::append(&mut bytes, component.bytes()?)?;
            } else {
                scratch::append(&mut bytes, &encoded(&to_proto(component)?)?)?;
            }
            tensor_metadata.push(TensorMetadata {
                tensor_shape: Some(shape_to_proto(&component.shape().into())),
                tensor_size_bytes: (bytes.len() - start) as i64,
            });
        }
        self.framed(&encoded(&SnapshotTensorMetadata { tensor_metadata })?)?;
        self.framed(&snappy::compress(&bytes)?)
    }

    /// How many bytes the file has, as far as they are compressed.
    pub(crate) fn size(&mut self) -> Result<u64> {
        let file = self.out.file();
        let size = file.flush().and_then(|()| file.get_ref().metadata()).map(|about| about.len());
        size.map_err(failed(&self.path))
    }

    /// Writes what is left, and returns how many bytes the file has.
    pub(crate) fn finish(self) -> Result<u64> {
        let ended = match self.out {
            Out::Plain(out) => Ok(out),
            Out::Gzip(out) => out.finish(),
            Out::Zlib(out) => out.finish(),
            Out::Snappy(out) => out.finish(),
        };
        let size = ended.and_then(|mut out| out.flush().and_then(|()| out.get_ref().metadata()));
        size.map(|about| about.len()).map_err(failed(&self.path))
    }
}
