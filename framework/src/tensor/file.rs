//! Files as memory: large ones are mapped, and tensors share them.

use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use kernlink_spec::Kind;

#[cfg(any(unix, windows))]
use super::mapping::Mapping;
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

    /// A tensor whose elements are the bytes of `range`, in little-endian order, shared where that is possible and worth
    /// it; `None` where they must be copied.
    pub(crate) fn shared_tensor(&self, dtype: DataType, shape: &Shape, range: Range<usize>) -> Option<Tensor> {
        let Contents::Mapped(buffer, length) = &self.0 else { return None };
        // Not every byte is one of these.
        let restricted = matches!(dtype.kind(), Kind::Bool | Kind::SmallInteger) || dtype == DataType::Float4E2m1fn;
        let fits = range.end <= *length
            && range.start <= range.end
            && shape.num_elements().checked_mul(dtype.size()) == Some(range.end - range.start);
        let suitable = dtype.is_pod() && !restricted && cfg!(target_endian = "little");
        if !suitable || !fits || range.len() < MAPPED_FROM || !range.start.is_multiple_of(dtype.size().min(16)) {
            return None;
        }
        let storage = Storage::Host { buffer: buffer.clone(), offset: range.start };
        Some(Tensor { shape: shape.clone(), dtype, storage })
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

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn tensors_share_a_large_file_and_cannot_change_it() {
        let path = std::env::temp_dir().join(format!("kernlink-file-{}", std::process::id()));
        let numbers: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
        std::fs::write(&path, &numbers).unwrap();
        let file = FileBytes::open(&path).unwrap();
        assert_eq!(file[..], numbers[..]);
        let shape = Shape::from([20_000]);
        let mut tensor = file.shared_tensor(DataType::Uint32, &shape, 8..80_008).unwrap();
        drop(file);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(tensor.as_slice::<u32>().unwrap()[..3], [2, 3, 4]);
        assert!(!tensor.is_unique());
        assert!(tensor.as_mut_slice::<u32>().is_err() && tensor.bytes_mut().is_err());
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

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn what_does_not_fit_is_not_shared() {
        let path = std::env::temp_dir().join(format!("kernlink-file-odd-{}", std::process::id()));
        std::fs::write(&path, vec![1; 200_000]).unwrap();
        let file = FileBytes::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let tensor = |dtype, count: usize, range| file.shared_tensor(dtype, &Shape::from([count]), range);
        assert!(tensor(DataType::Float, 20_000, 4..80_004).is_some());
        assert!(tensor(DataType::Float, 20_000, 2..80_002).is_none());
        assert!(tensor(DataType::Float, 20_001, 4..80_004).is_none());
        assert!(tensor(DataType::Float, 10, 4..44).is_none());
        assert!(tensor(DataType::Bool, 100_000, 0..100_000).is_none());
        assert!(tensor(DataType::Uint8, 100_000, 150_000..250_000).is_none());
    }
}
