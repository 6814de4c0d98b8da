//! Files as memory: large ones are mapped, and tensors share them.

use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use kernlink_spec::Kind;

use super::late::Late;
#[cfg(any(unix, windows))]
use super::mapping::Mapping;
use super::mapping::{is_mapped, release_pages};
use super::{HostBuffer, Storage, Tensor, scratch};
use crate::bail;
use crate::dtype::DataType;
use crate::error::{Code, Error, Result};
use crate::shape::Shape;

/// Files and tensors below this size are copied: that costs less than their pages.
const MAPPED_FROM: usize = 64 * 1024;

/// The contents of a file, shared by its clones and by the tensors in it.
///
/// A large file is mapped, not copied: whoever changes it in place changes the bytes, and whoever cuts it short makes the
/// system end a process that reads them. Writing a new file and renaming it, as Kernlink does, is safe.
#[derive(Clone)]
pub struct FileBytes(Contents);

#[derive(Clone)]
enum Contents {
    Mapped(Arc<HostBuffer>, usize),
    Read(Arc<Vec<u8>>),
}

impl FileBytes {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::from_io`]'s if it cannot be read; INVALID_ARGUMENT if it is a pipe or a device; RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn open(path: impl AsRef<Path>) -> Result<FileBytes> {
        let path = path.as_ref();
        let (file, size) = open(path)?;
        if usize::try_from(size).is_ok_and(|size| size >= MAPPED_FROM)
            && let Some(mapped) = map(&file)
        {
            return Ok(mapped);
        }
        read(path, file, size).map(FileBytes::from)
    }

    /// The bytes of a file, in memory of their own: what happens to the file afterwards does not matter.
    ///
    /// # Errors
    /// As [`FileBytes::open`].
    pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>> {
        let path = path.as_ref();
        let (file, size) = open(path)?;
        read(path, file, size)
    }
}

fn cannot_read(path: &Path) -> impl Fn(std::io::Error) -> Error + use<'_> {
    move |error| Error::from_io(format_args!("cannot read {}", path.display()), &error)
}

/// A file and its size.
fn open(path: &Path) -> Result<(File, u64)> {
    if path.as_os_str().is_empty() {
        return Err(Error::not_found("cannot read a file: its name is empty"));
    }
    let about = std::fs::metadata(path).map_err(cannot_read(path))?;
    // Opening a pipe waits for somebody to write to it, and opening a device may do anything.
    if !about.is_file() && !about.is_dir() {
        bail!(InvalidArgument, "cannot read {}: it is no regular file", path.display());
    }
    let file = File::open(path).map_err(cannot_read(path))?;
    let size = file.metadata().map_err(cannot_read(path))?.len();
    Ok((file, size))
}

/// The bytes of a file that had this size, and may meanwhile have another.
fn read(path: &Path, mut file: File, size: u64) -> Result<Vec<u8>> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let mut bytes = scratch::room(size).map_err(|_| {
        Error::format(
            Code::ResourceExhausted,
            format_args!("out of memory when reading {} ({size} bytes)", path.display()),
        )
    })?;
    file.read_to_end(&mut bytes).map_err(cannot_read(path))?;
    Ok(bytes)
}

/// The file's contents, if the system can map them.
#[cfg(any(unix, windows))]
fn map(file: &File) -> Option<FileBytes> {
    // SAFETY: the mapping is only read, and as plain bytes, of which every value is valid. That nobody else may change
    // the file in place is said where files are opened.
    let mapping = unsafe { Mapping::map(file) }.ok()?;
    let length = mapping.len();
    Some(FileBytes(Contents::Mapped(Arc::new(HostBuffer::mapped(mapping)), length)))
}

#[cfg(not(any(unix, windows)))]
fn map(_: &File) -> Option<FileBytes> {
    None
}

impl Tensor {
    /// A tensor whose elements are `content`, in little-endian order, which stays where it is; `None` where it must be
    /// copied: it is no large part of a mapped file, its size does not fit, or not all bytes are elements.
    pub(crate) fn in_file(dtype: DataType, shape: &Shape, content: &Bytes) -> Option<Tensor> {
        // Not every byte is one of these.
        let restricted = matches!(dtype.kind(), Kind::Bool | Kind::SmallInteger) || dtype == DataType::Float4E2m1fn;
        let suitable = dtype.is_pod() && !restricted && cfg!(target_endian = "little");
        let fits = shape.num_elements().checked_mul(dtype.size()) == Some(content.len());
        if !suitable || !fits || content.len() < MAPPED_FROM || !is_mapped(content) {
            return None;
        }
        let storage = if content.as_ptr().addr().is_multiple_of(dtype.size().min(16)) {
            let pointer = std::ptr::NonNull::from(&content[..]).cast();
            // SAFETY: the content is initialised, and stays where it is as long as a clone of it lives; it is only read.
            let buffer = unsafe { HostBuffer::owned_by(pointer, content.len(), Box::new(content.clone()), false) };
            Storage::Host { buffer: Arc::new(buffer), offset: 0 }
        } else {
            Storage::Late(Arc::new(Late::new(content.clone())))
        };
        Some(Tensor { shape: shape.clone(), dtype, storage })
    }

    /// A tensor whose elements are the first bytes of a file. Those of a large file stay there.
    ///
    /// # Errors
    /// OUT_OF_RANGE if the file is too short; as [`Tensor::from_bytes`].
    #[track_caller]
    pub fn from_file(dtype: DataType, shape: &Shape, file: &FileBytes) -> Result<Tensor> {
        let size = shape.num_elements().saturating_mul(dtype.size());
        if size > file.len() {
            let (has, takes) = (file.len(), size);
            let message = format!("a {dtype} tensor of shape {shape} takes {takes} bytes, the file has {has}");
            return Err(Error::out_of_range(message));
        }
        let content = Bytes::from_owner(file.clone()).slice(..size);
        match Tensor::in_file(dtype, shape, &content) {
            Some(tensor) => Ok(tensor),
            None => Tensor::from_bytes(dtype, shape.clone(), &content),
        }
    }

    /// What `read` makes of the elements, such as a constant that a kernel packs, if they will not be read soon again: of
    /// those in a file, neither a copy nor pages stay in memory.
    pub fn read_once<R>(&self, read: impl FnOnce(&Tensor) -> R) -> R {
        let made = read(&self.for_once());
        self.release_pages();
        made
    }

    /// The same elements for somebody who reads them once: if they are in a file and must be copied for that, the copy goes
    /// with this tensor and its clones.
    pub(crate) fn for_once(&self) -> Tensor {
        if let Storage::Late(late) = &self.storage
            && let Some(another) = late.another()
        {
            let storage = Storage::Late(Arc::new(another));
            return Tensor { shape: self.shape.clone(), dtype: self.dtype, storage };
        }
        self.clone()
    }

    /// Notes that the elements will not be read soon: if they are in a file, they need not stay in memory.
    pub(crate) fn release_pages(&self) {
        if let Storage::Host { .. } = &self.storage
            && self.num_bytes() >= MAPPED_FROM
            && let Ok(bytes) = self.bytes()
        {
            release_pages(bytes);
        }
    }
}

impl From<Vec<u8>> for FileBytes {
    /// Bytes that stand for a file.
    fn from(bytes: Vec<u8>) -> FileBytes {
        FileBytes(Contents::Read(Arc::new(bytes)))
    }
}

impl Deref for FileBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Contents::Read(bytes) => bytes,
            // SAFETY: the buffer is a mapping of `length` bytes, which lives as long as `self` and is only read.
            Contents::Mapped(buffer, length) => unsafe { std::slice::from_raw_parts(buffer.as_ptr(), *length) },
        }
    }
}

impl AsRef<[u8]> for FileBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of the numbers from 0 on, after some bytes.
    fn file(name: &str, skipped: usize) -> Bytes {
        let path = std::env::temp_dir().join(format!("kernlink-late-{name}-{}", std::process::id()));
        let numbers = std::iter::repeat_n(0xff, skipped).chain((0..50_000u32).flat_map(u32::to_le_bytes));
        std::fs::write(&path, numbers.collect::<Vec<_>>()).unwrap();
        let file = Bytes::from_owner(FileBytes::open(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
        file.slice(skipped..)
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn elements_stay_in_the_file_until_they_are_read() {
        let shape = Shape::from([50_000]);
        for skipped in [0, 4, 1, 7] {
            let content = file("stay", skipped);
            let mut tensor = Tensor::in_file(DataType::Uint32, &shape, &content).unwrap();
            let is_late = !skipped.is_multiple_of(4);
            assert_eq!(matches!(tensor.storage, Storage::Late(_)), is_late, "{skipped}");
            assert_eq!(tensor.bytes().unwrap().as_ptr(), content.as_ptr());
            assert!(tensor.for_once().aligned_bytes().unwrap().as_ptr().cast::<u32>().is_aligned());
            let once = tensor.for_once();
            assert_eq!(once.as_slice::<u32>().unwrap()[49_999], 49_999);
            if let Storage::Late(late) = &tensor.storage {
                assert!(late.another().is_some());
            }
            assert_eq!(tensor.read_once(|once| once.as_slice::<u32>().unwrap()[7]), 7);
            let rows = tensor.slice_rows(10_000, 40_000).unwrap();
            assert_eq!(rows.as_slice::<u32>().unwrap()[..2], [10_000, 10_001]);
            let bits = tensor.clone().bitcast(DataType::Uint8, [200_000]).unwrap();
            assert_eq!(bits.as_slice::<u8>().unwrap()[..8], [0, 0, 0, 0, 1, 0, 0, 0]);
            assert_eq!(tensor.clone().as_slice::<u32>().unwrap()[1..3], [1, 2]);
            assert!(!tensor.is_unique() && tensor.as_mut_slice::<u32>().is_err() && tensor.bytes_mut().is_err());
            tensor.make_unique().unwrap();
            tensor.as_mut_slice::<u32>().unwrap()[0] = 5;
            assert_eq!(once.as_slice::<u32>().unwrap()[0], 0);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn what_is_no_part_of_a_file_is_copied() {
        let content = file("no", 0);
        let shape = Shape::from([50_000]);
        let is_in_file = |dtype, content: &Bytes| Tensor::in_file(dtype, &shape, content).is_some();
        assert!(is_in_file(DataType::Float, &content));
        assert!(!is_in_file(DataType::Double, &content));
        assert!(!is_in_file(DataType::Bool, &content.slice(..50_000)));
        assert!(!is_in_file(DataType::Float, &Bytes::copy_from_slice(&content)));
        assert!(!is_mapped(&[0; 100]));
    }

    #[test]
    fn an_empty_name_is_told() {
        for error in [FileBytes::open("").err().unwrap(), FileBytes::read("").unwrap_err()] {
            assert_eq!((error.code(), error.message()), (Code::NotFound, "cannot read a file: its name is empty"));
        }
    }

    #[test]
    fn a_file_that_was_read_may_be_cut_short() {
        let path = std::env::temp_dir().join(format!("kernlink-file-read-{}", std::process::id()));
        std::fs::write(&path, vec![7; 200_000]).unwrap();
        let bytes = FileBytes::read(&path).unwrap();
        File::create(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(bytes, vec![7; 200_000]);
    }
}
