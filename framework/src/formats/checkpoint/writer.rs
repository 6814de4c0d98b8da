//! Writing checkpoints.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::install::install;
use super::names::{NewFile, NewFolder, data_name, make_folder_of, remove_left_overs};
use super::reader::VERSION;
use crate::bail;
use crate::dtype::{DataType, TString};
use crate::error::{Error, Result};
use crate::formats::checksum;
use crate::formats::coding::put_varint;
use crate::formats::slice::{TensorSlice, slice_key};
use crate::proto::{self, BundleEntryProto, BundleHeaderProto, VersionDef, shape_to_proto};
use crate::shape::Shape;
use crate::tensor::scratch::{self, MakeRoom};
use crate::tensor::{Tensor, Variant};

/// Writes a checkpoint of TensorFlow's second format.
///
/// The files have their names only when [`CheckpointWriter::finish`] has written all of them, and the disk has them: until
/// then an older checkpoint of the same prefix stays as it is. A process that is killed at any moment leaves that one or
/// the new one; what it leaves besides goes when the next checkpoint is saved in the same folder. Readers that opened the
/// older one and read on meanwhile may find its data gone.
pub struct CheckpointWriter {
    prefix: PathBuf,
    data: NewFile,
    entries: BTreeMap<Vec<u8>, BundleEntryProto>,
    offset: u64,
    /// Behind the file in it, which is removed first.
    _folder: NewFolder,
}

impl CheckpointWriter {
    /// Begins a checkpoint. Its folder is made if there is none, but not the one in which that stands; one that was made goes
    /// again if the checkpoint is given up.
    ///
    /// # Errors
    /// [`Error::from_io`]'s if the folder or file cannot be made.
    pub fn create(prefix: impl AsRef<Path>) -> Result<CheckpointWriter> {
        let prefix = prefix.as_ref().to_owned();
        let folder = make_folder_of(&prefix)?;
        remove_left_overs(&prefix);
        let data = NewFile::create(data_name(&prefix, 0, 1))?;
        Ok(CheckpointWriter { prefix, data, entries: BTreeMap::new(), offset: 0, _folder: folder })
    }

    /// Adds a tensor.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for an empty name and one that was added before; UNIMPLEMENTED for resources, and variants that no
    /// message can hold;
    /// [`Error::from_io`]'s if the file cannot be written.
    pub fn add(&mut self, name: impl AsRef<[u8]>, tensor: &Tensor) -> Result<()> {
        self.add_as(scratch::copied(name.as_ref())?, tensor)
    }

    /// Adds a part of a tensor of shape `shape`.
    ///
    /// # Errors
    /// As [`CheckpointWriter::add`]; INVALID_ARGUMENT also if the part has another shape than `slice` says, or parts of
    /// one tensor disagree on its shape or dtype; INTERNAL, as TensorFlow has it, if it does not lie in the tensor.
    pub fn add_slice(
        &mut self,
        name: impl AsRef<[u8]>,
        shape: &Shape,
        slice: &TensorSlice,
        part: &Tensor,
    ) -> Result<()> {
        let name = name.as_ref();
        if slice.shape_in(shape)? != *part.shape() {
            bail!(
                InvalidArgument,
                "tensor `{}`: the part {slice} of shape {shape} cannot be of shape {}",
                name.escape_ascii(),
                part.shape()
            );
        }
        if slice.covers(shape) {
            return self.add(name, part);
        }
        let whole = BundleEntryProto {
            dtype: part.dtype().number(),
            shape: Some(shape_to_proto(&shape.into())),
            ..BundleEntryProto::default()
        };
        let entry = self.entries.entry(scratch::copied(name)?).or_insert_with(|| whole.clone());
        if entry.dtype != whole.dtype || entry.shape != whole.shape || entry.size != 0 {
            let name = name.escape_ascii();
            bail!(
                InvalidArgument,
                "tensor `{name}` is saved twice, as a whole or in parts of different dtypes or shapes"
            );
        }
        entry.slices.push(slice.to_proto());
        self.add_as(slice_key(name, slice)?, part)
    }

    fn add_as(&mut self, key: Vec<u8>, tensor: &Tensor) -> Result<()> {
        if key.is_empty() {
            return Err(Error::invalid_argument("a tensor in a checkpoint needs a name"));
        }
        if self.entries.contains_key(&key) {
            bail!(InvalidArgument, "Adding duplicate key: {}", key.escape_ascii());
        }
        let (size, crc) = match tensor.dtype() {
            DataType::String => self.write_strings(tensor.as_slice()?)?,
            DataType::Variant => self.write_variants(tensor.as_slice()?)?,
            DataType::Resource => {
                bail!(
                    Unimplemented,
                    "tensor `{}` is a resource, which cannot be written to a checkpoint",
                    key.escape_ascii()
                );
            }
            _ => {
                let content = proto::content_of(tensor)?;
                self.data.write(&content)?;
                (content.len() as u64, crc32c::crc32c(&content))
            }
        };
        let entry = BundleEntryProto {
            dtype: tensor.dtype().number(),
            shape: Some(shape_to_proto(&tensor.shape().into())),
            shard_id: 0,
            offset: self.offset as i64,
            size: size as i64,
            crc32c: checksum::mask(crc),
            slices: Vec::new(),
        };
        self.offset += size;
        self.entries.insert(key, entry);
        Ok(())
    }

    /// Writes the lengths, their checksum and the bytes; returns how many bytes that are, and their checksum.
    fn write_strings(&mut self, strings: &[TString]) -> Result<(u64, u32)> {
        let mut head = scratch::room(strings.len().saturating_add(4))?;
        let mut crc = 0;
        for text in strings {
            // The longest number, and the checksum behind the last.
            head.make_room(10 + 4)?;
            put_varint(&mut head, text.len() as u64);
            crc = match u32::try_from(text.len()) {
                Ok(short) => crc32c::crc32c_append(crc, &short.to_le_bytes()),
                Err(_) => crc32c::crc32c_append(crc, &(text.len() as u64).to_le_bytes()),
            };
        }
        let stored = checksum::mask(crc).to_le_bytes();
        crc = crc32c::crc32c_append(crc, &stored);
        head.extend(stored);
        self.data.write(&head)?;
        let mut size = head.len() as u64;
        for text in strings {
            self.data.write(text)?;
            crc = crc32c::crc32c_append(crc, text);
            size += text.len() as u64;
        }
        Ok((size, crc))
    }

    /// Writes each variant's length, message and the checksum of all up to there; returns how many bytes that are, and their checksum.
    fn write_variants(&mut self, variants: &[Variant]) -> Result<(u64, u32)> {
        let (mut size, mut crc) = (0, 0);
        for variant in variants {
            let message = proto::variant_to_bytes(variant)?;
            // The longest number.
            let mut head = scratch::room(10)?;
            put_varint(&mut head, message.len() as u64);
            crc = crc32c::crc32c_append(crc, &(message.len() as u64).to_le_bytes());
            crc = crc32c::crc32c_append(crc, &message);
            let stored = checksum::mask(crc).to_le_bytes();
            crc = crc32c::crc32c_append(crc, &stored);
            for part in [&head[..], &message, &stored] {
                self.data.write(part)?;
                size += part.len() as u64;
            }
        }
        Ok((size, crc))
    }

    /// Writes the index and gives the files their names.
    ///
    /// # Errors
    /// [`Error::from_io`]'s if a file cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.data.close()?;
        let header = BundleHeaderProto {
            num_shards: 0,
            endianness: proto::bundle_header_proto::Endianness::Little as i32,
            version: Some(VersionDef { producer: VERSION, ..VersionDef::default() }),
        };
        install(&self.prefix, &[self.data.temporary().to_owned()], header, &self.entries)
    }
}
