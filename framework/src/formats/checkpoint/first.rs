//! TensorFlow's first checkpoint format: one table a file, which holds a list of the tensors and, for each part of one, a
//! message with its values.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use kernlink_spec::Kind;
use prost::Message;

use super::glob::matching_files;
use super::names::{NewFile, remove_left_overs};
use super::reader::{VERSION, check_versions, copy_overlap};
use crate::bail;
use crate::dtype::DataType;
use crate::error::{Code, Error, Result};
use crate::formats::slice::{TensorSlice, slice_key};
use crate::formats::table::{Table, TableBuilder};
use crate::proto::{
    SavedSlice, SavedSliceMeta, SavedTensorSliceMeta, SavedTensorSlices, TensorProto, VersionDef, encoded,
    number_of_values, put_values, shape_from_proto, shape_to_proto, tensor_from_proto,
};
use crate::shape::Shape;
use crate::tensor::scratch::MakeRoom as _;
use crate::tensor::{FileBytes, Tensor, scratch};

/// The largest message that is written, as in TensorFlow.
const MAX_MESSAGE: usize = 1 << 31;

/// A tensor in files of the first format.
struct Entry {
    dtype: DataType,
    shape: Shape,
    /// The parts in which it is saved, with the file that holds each.
    slices: Vec<(TensorSlice, usize)>,
}

/// Reads files of TensorFlow's first checkpoint format, which together hold one checkpoint.
pub struct SliceFilesReader {
    pattern: String,
    files: Vec<Table<FileBytes>>,
    tensors: BTreeMap<Vec<u8>, Entry>,
}

impl SliceFilesReader {
    /// Opens the files that a pattern such as `model.ckpt-?????-of-00002` stands for, and reads what is in them.
    ///
    /// # Errors
    /// NOT_FOUND if there are none, or one is of another format; DATA_LOSS if one is truncated or altered; INTERNAL, as
    /// TensorFlow has it, if parts of one tensor overlap or disagree; INVALID_ARGUMENT if one is of a newer version.
    pub fn open(pattern: &str) -> Result<SliceFilesReader> {
        let paths = matching_files(pattern)?;
        if paths.is_empty() {
            return Err(Error::not_found(format!(
                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {pattern}"
            )));
        }
        let mut reader = SliceFilesReader { pattern: pattern.to_owned(), files: Vec::new(), tensors: BTreeMap::new() };
        for path in paths {
            let bytes = FileBytes::open(&path)?;
            reader.add(bytes).map_err(|error| error.context(format!("Unable to open table file {path}")))?;
        }
        Ok(reader)
    }

    /// A checkpoint of one file, which is in memory.
    ///
    /// # Errors
    /// As [`SliceFilesReader::open`].
    pub fn from_bytes(file: Vec<u8>) -> Result<SliceFilesReader> {
        let mut reader =
            SliceFilesReader { pattern: "<memory>".to_owned(), files: Vec::new(), tensors: BTreeMap::new() };
        reader.add(file.into())?;
        Ok(reader)
    }

    fn add(&mut self, bytes: FileBytes) -> Result<()> {
        let table = Table::open(bytes)?;
        let file = self.files.len();
        let list = table.get(b"")?.and_then(|value| SavedTensorSlices::decode(value.as_slice()).ok());
        let list = list.and_then(|list| list.meta).ok_or_else(|| {
            Error::not_found(
                "Failed to find the saved tensor slices at the beginning of the checkpoint file: it is of another format",
            )
        })?;
        check_versions(list.versions.as_ref())?;
        for meta in &list.tensor {
            self.add_tensor(meta, file).map_err(|error| error.context(format!("tensor `{}`", meta.name)))?;
        }
        self.files.push(table);
        Ok(())
    }

    fn add_tensor(&mut self, meta: &SavedSliceMeta, file: usize) -> Result<()> {
        let unknown = || Error::data_loss(format!("it has the unknown dtype {}", meta.r#type));
        let dtype = DataType::from_number(meta.r#type).ok_or_else(unknown)?;
        let shape = shape_from_proto(&meta.shape.clone().unwrap_or_default()).ok().and_then(|shape| shape.to_shape());
        let shape = shape.ok_or_else(|| Error::data_loss("Invalid tensor shape"))?;
        let entry = self.tensors.entry(meta.name.as_bytes().to_vec());
        let entry = entry.or_insert_with(|| Entry { dtype, shape: shape.clone(), slices: Vec::new() });
        if entry.dtype != dtype || entry.shape != shape {
            return Err(Error::internal("Incompatible tensor shapes or types detected"));
        }
        for slice in &meta.slice {
            let slice = TensorSlice::from_proto(slice)?;
            slice.shape_in(&shape)?;
            if let Some((other, _)) = entry.slices.iter().find(|(other, _)| slice.overlap(other, &shape).is_some()) {
                let message = format!("Overlapping slices: existing slice = {other}, new slice = {slice}");
                return Err(Error::internal(message));
            }
            entry.slices.push((slice, file));
        }
        Ok(())
    }

    /// The tensors' names, dtypes and shapes.
    pub fn tensors(&self) -> impl Iterator<Item = (String, DataType, &Shape)> {
        self.tensors.iter().map(|(name, entry)| (String::from_utf8_lossy(name).into_owned(), entry.dtype, &entry.shape))
    }

    fn entry(&self, name: &[u8]) -> Result<&Entry> {
        self.tensors.get(name).ok_or_else(|| {
            let name = name.escape_ascii();
            Error::format(
                Code::NotFound,
                format_args!("Tensor name \"{name}\" not found in checkpoint files {}", self.pattern),
            )
        })
    }

    /// The dtype and shape of a tensor.
    ///
    /// # Errors
    /// NOT_FOUND if there is none of this name.
    pub fn dtype_and_shape(&self, name: impl AsRef<[u8]>) -> Result<(DataType, &Shape)> {
        self.entry(name.as_ref()).map(|entry| (entry.dtype, &entry.shape))
    }

    /// A tensor.
    ///
    /// # Errors
    /// As [`SliceFilesReader::read_slice`].
    pub fn read(&self, name: impl AsRef<[u8]>) -> Result<Tensor> {
        let name = name.as_ref();
        let rank = self.entry(name)?.shape.rank();
        self.read_slice(name, &TensorSlice::full(rank))
    }

    /// A part of a tensor.
    ///
    /// # Errors
    /// NOT_FOUND if there is none of this name; DATA_LOSS if its values are missing or altered; INVALID_ARGUMENT if parts
    /// of it are missing; INTERNAL, as TensorFlow has it, if the part does not lie in the tensor; RESOURCE_EXHAUSTED if
    /// there is not enough memory.
    pub fn read_slice(&self, name: impl AsRef<[u8]>, wanted: &TensorSlice) -> Result<Tensor> {
        let name = name.as_ref();
        let entry = self.entry(name)?;
        self.assemble(name, entry, wanted)
            .map_err(|error| error.context(format_args!("tensor `{}`", name.escape_ascii())))
    }

    fn assemble(&self, name: &[u8], entry: &Entry, wanted: &TensorSlice) -> Result<Tensor> {
        let part = wanted.shape_in(&entry.shape)?;
        let same = |slice: &TensorSlice| slice == wanted || (slice.covers(&entry.shape) && part == entry.shape);
        if let Some((slice, file)) = entry.slices.iter().find(|(slice, _)| same(slice)) {
            return self.value(name, entry, slice, *file);
        }
        let overlaps =
            entry.slices.iter().filter_map(|(slice, file)| Some((slice, *file, slice.overlap(wanted, &entry.shape)?)));
        let overlaps: Vec<_> = overlaps.collect();
        let found =
            overlaps.iter().try_fold(0usize, |sum, (_, _, overlap)| sum.checked_add(overlap.size.num_elements()));
        if found != Some(part.num_elements()) {
            let message = format!("Does not have sufficient slices to restore in slice_spec: {wanted}");
            return Err(Error::invalid_argument(message));
        }
        // A few bytes can name parts of any size: memory is asked for those that are there.
        let values = overlaps.iter().map(|&(slice, file, _)| self.value(name, entry, slice, file));
        let values = values.collect::<Result<Vec<_>>>()?;
        let mut tensor = Tensor::zeros(entry.dtype, part)?;
        for (value, (_, _, overlap)) in values.iter().zip(&overlaps) {
            copy_overlap(value, &mut tensor, overlap)?;
        }
        Ok(tensor)
    }

    /// The values of a part, from the file that holds it.
    fn value(&self, name: &[u8], entry: &Entry, slice: &TensorSlice, file: usize) -> Result<Tensor> {
        let record = self.files[file].get(&slice_key(name, slice)?)?;
        let missing = || Error::data_loss(format!("the values of its part {slice} are missing"));
        let record = SavedTensorSlices::decode(record.ok_or_else(missing)?.as_slice()).map_err(|_| missing())?;
        let mut values = record.data.and_then(|data| data.data).ok_or_else(missing)?;
        let shape = slice.shape_in(&entry.shape)?;
        if values_held(&values, entry.dtype) != Some(shape.num_elements()) {
            return Err(Error::data_loss(format!("its part {slice} has too few or too many values")));
        }
        values.dtype = entry.dtype.number();
        values.tensor_shape = Some(shape_to_proto(&shape.into()));
        tensor_from_proto(&values)
    }
}

/// How many elements a message holds, if it can hold elements of this dtype.
fn values_held(values: &TensorProto, dtype: DataType) -> Option<usize> {
    if !values.tensor_content.is_empty() {
        return Some(values.tensor_content.len().checked_div(dtype.size()).unwrap_or(0));
    }
    match dtype.kind() {
        Kind::SmallFloat | Kind::SmallInteger => None,
        Kind::Object if dtype != DataType::String => None,
        _ => Some(number_of_values(dtype, values)),
    }
}

/// Writes a file of TensorFlow's first checkpoint format. The file has its name only once it is whole.
pub struct SliceFileWriter {
    path: PathBuf,
    list: Vec<SavedSliceMeta>,
    /// Where each tensor stands in the list.
    positions: HashMap<String, usize>,
    values: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl SliceFileWriter {
    /// Begins a file.
    pub fn new(path: impl AsRef<Path>) -> SliceFileWriter {
        SliceFileWriter {
            path: path.as_ref().to_owned(),
            list: Vec::new(),
            positions: HashMap::new(),
            values: BTreeMap::new(),
        }
    }

    /// Adds a part of a tensor of shape `shape`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the part has another shape than `slice` says, was added before, is too large for the format, or
    /// is uint32 or uint64; UNIMPLEMENTED for the other dtypes that the format lacks; INTERNAL, as TensorFlow has it, if
    /// parts of one tensor disagree on its shape or dtype, or the part does not lie in it.
    pub fn add_slice(&mut self, name: &str, shape: &Shape, slice: &TensorSlice, part: &Tensor) -> Result<()> {
        if slice.shape_in(shape)? != *part.shape() {
            bail!(
                InvalidArgument,
                "tensor `{name}`: the part {slice} of shape {shape} cannot be of shape {}",
                part.shape()
            );
        }
        let values = values_of(part)?;
        let (proto, dtype) = (Some(shape_to_proto(&shape.into())), part.dtype().number());
        let position = match self.positions.get(name) {
            Some(&position) => position,
            None => {
                let (key, name) = (scratch::copied_text(name)?, scratch::copied_text(name)?);
                self.positions.make_room(1)?;
                let meta = SavedSliceMeta { name, shape: proto.clone(), r#type: dtype, slice: Vec::new() };
                scratch::push(&mut self.list, meta)?;
                self.positions.insert(key, self.list.len() - 1);
                self.list.len() - 1
            }
        };
        let meta = &mut self.list[position];
        if meta.shape != proto || meta.r#type != dtype {
            bail!(Internal, "Mismatching shapes or types: tensor `{name}` was added before");
        }
        let saved = SavedSlice { name: scratch::copied_text(name)?, slice: Some(slice.to_proto()), data: Some(values) };
        let record = SavedTensorSlices { meta: None, data: Some(saved) };
        if record.encoded_len() > MAX_MESSAGE {
            bail!(InvalidArgument, "Tensor slice is too large to serialize: tensor `{name}`");
        }
        if self.values.insert(slice_key(name.as_bytes(), slice)?, encoded(&record)?).is_some() {
            bail!(InvalidArgument, "Adding duplicate key: {name}");
        }
        meta.slice.push(slice.to_proto());
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`Error::from_io`]'s if it cannot be written.
    pub fn finish(self) -> Result<()> {
        let versions = Some(VersionDef { producer: VERSION, ..VersionDef::default() });
        let list = SavedTensorSlices { meta: Some(SavedTensorSliceMeta { tensor: self.list, versions }), data: None };
        let mut table = TableBuilder::new();
        table.add(b"", &encoded(&list)?)?;
        for (key, value) in &self.values {
            table.add(key, value)?;
        }
        remove_left_overs(&self.path);
        let mut file = NewFile::create(self.path)?;
        file.write(&table.finish()?)?;
        file.rename()
    }
}

/// The elements as a message's fields for their dtype; the dtype and shape stand elsewhere.
fn values_of(tensor: &Tensor) -> Result<TensorProto> {
    let mut proto = TensorProto::default();
    match tensor.dtype() {
        dtype @ (DataType::Uint32 | DataType::Uint64) => {
            let message = format!("Tensor slice serialization not implemented for dtype {}", dtype.number());
            return Err(Error::invalid_argument(message));
        }
        DataType::Float
        | DataType::Double
        | DataType::Int64
        | DataType::Bool
        | DataType::Half
        | DataType::Int32
        | DataType::Int16
        | DataType::Int8
        | DataType::Uint16
        | DataType::Uint8
        | DataType::Qint8
        | DataType::Quint8
        | DataType::Qint32
        | DataType::Complex64
        | DataType::Complex128
        | DataType::String => put_values(tensor, tensor.num_elements(), &mut proto)?,
        other => return Err(Error::unimplemented(format!("Saving data type {other} not yet supported"))),
    }
    Ok(proto)
}
