//! Files that are read record by record: lines, records of one length, TFRecords; plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use kernlink::formats::masked_crc32c;
use kernlink::tensor::scratch;
use kernlink::{Error, Result, bail, ensure};

use crate::snappy::Blocks;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// It is not.
    None,
    /// By zlib.
    Zlib,
    /// By gzip.
    Gzip,
    /// By Snappy, in [blocks](crate::snappy).
    Snappy,
}

impl Compression {
    /// What TensorFlow understands by `name` where TFRecords are read and written: any that it does not know stands for not at all.
    pub fn of_records(name: &[u8]) -> Compression {
        match name {
            b"SNAPPY" => Compression::Snappy,
            _ => Compression::named(name).unwrap_or(Compression::None),
        }
    }

    /// What TensorFlow calls `name`: `""`, `"ZLIB"` or `"GZIP"`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for another name.
    pub fn named(name: &[u8]) -> Result<Compression> {
        match name {
            b"" => Ok(Compression::None),
            b"ZLIB" => Ok(Compression::Zlib),
            b"GZIP" => Ok(Compression::Gzip),
            _ => bail!(InvalidArgument, "Unsupported compression_type: {}", name.escape_ascii()),
        }
    }
}

/// The bytes of a file, decompressed, from its beginning to its end.
pub struct Bytes {
    reader: BufReader<Box<dyn Read + Send>>,
    name: String,
    /// How many were read.
    place: u64,
    /// How many there are, of a file that is not compressed.
    size: Option<u64>,
}

impl Bytes {
    /// Opens a file. `start` says where in it reading begins, in bytes as they lie in the file.
    ///
    /// # Errors
    /// [`Error::from_io`]'s if it cannot be opened.
    pub fn open(path: &Path, compression: Compression, start: u64) -> Result<Bytes> {
        let name = path.display().to_string();
        let failed = |error: io::Error| Error::from_io(&name, &error);
        // What is no file, such as a pipe, might be waited for for ever, also when it is opened.
        ensure!(std::fs::metadata(path).map_err(failed)?.is_file(), FailedPrecondition, "{name} is not a file");
        let mut file = File::open(path).map_err(failed)?;
        if start > 0 {
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
        }
        let size = file.metadata().map_err(failed)?.len();
        let reader: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(file),
            Compression::Zlib => Box::new(ZlibDecoder::new(BufReader::new(file))),
            Compression::Gzip => Box::new(MultiGzDecoder::new(BufReader::new(file))),
            Compression::Snappy => Box::new(Blocks::new(BufReader::new(file))),
        };
        let size = (compression == Compression::None).then_some(size);
        Ok(Bytes { reader: BufReader::new(reader), name, place: start, size })
    }

    /// The bytes that a reader gives, which decodes those of a file of this name.
    pub fn decoded(reader: Box<dyn Read + Send>, name: String) -> Bytes {
        Bytes { reader: BufReader::new(reader), name, place: 0, size: None }
    }

    /// How many bytes were read, with those before the start.
    pub fn place(&self) -> u64 {
        self.place
    }

    /// The file's name, for errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes there are, if the file is not compressed.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// What is there to be read; `None` at the end. As in TensorFlow, compressed bytes that were cut end where they were.
    fn available(&mut self) -> Result<Option<&[u8]>> {
        loop {
            match self.reader.fill_buf() {
                // The buffer is asked for once more, as it would be lent for too long else.
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                // What the decoders say of bytes that are not theirs.
                Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                    bail!(DataLoss, "{}: the compressed bytes are damaged: {error}", self.name)
                }
                Err(error) => return Err(Error::from_io(&self.name, &error)),
            }
        }
        Ok(Some(self.reader.buffer()).filter(|available| !available.is_empty()))
    }

    /// Reads up to `count` bytes more into `buffer`, and returns how many there were.
    ///
    /// # Errors
    /// DATA_LOSS if compressed bytes are damaged; RESOURCE_EXHAUSTED if there is not enough memory.
    pub fn read(&mut self, buffer: &mut Vec<u8>, count: u64) -> Result<u64> {
        let mut left = count;
        while left > 0 {
            let Some(available) = self.available()? else { break };
            let taken = usize::try_from(left).unwrap_or(usize::MAX).min(available.len());
            scratch::append(buffer, &available[..taken])?;
            self.reader.consume(taken);
            self.place += taken as u64;
            left -= taken as u64;
        }
        Ok(count - left)
    }

    /// Skips up to `count` bytes, and returns how many there were.
    ///
    /// # Errors
    /// DATA_LOSS if compressed bytes are damaged.
    pub fn skip(&mut self, count: u64) -> Result<u64> {
        let mut left = count;
        while left > 0 {
            let Some(available) = self.available()? else { break };
            let taken = left.min(available.len() as u64);
            self.reader.consume(taken as usize);
            self.place += taken;
            left -= taken;
        }
        Ok(count - left)
    }

    /// The next line without its end, and without any `\r`; `None` at the end of the file.
    ///
    /// # Errors
    /// As [`Bytes::read`].
    pub fn line(&mut self) -> Result<Option<Vec<u8>>> {
        let (mut line, has_end) = self.up_to_newline()?;
        // As in TensorFlow's datasets, wherever it stands.
        line.retain(|byte| *byte != b'\r');
        Ok((has_end || !line.is_empty()).then_some(line))
    }

    /// The next line without its end, which may be `\r\n`; another `\r` stays. `None` at the end of the file.
    ///
    /// # Errors
    /// As [`Bytes::read`].
    pub fn text_line(&mut self) -> Result<Option<Vec<u8>>> {
        let (mut line, has_end) = self.up_to_newline()?;
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok((has_end || !line.is_empty()).then_some(line))
    }

    /// The bytes up to the next end of a line, which is passed over, or up to the end of the file; and whether it was the
    /// former.
    fn up_to_newline(&mut self) -> Result<(Vec<u8>, bool)> {
        let (mut line, mut has_end) = (Vec::new(), false);
        while let Some(available) = self.available()? {
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            scratch::append(&mut line, &available[..taken])?;
            let used = taken + usize::from(end.is_some());
            self.reader.consume(used);
            self.place += used as u64;
            if end.is_some() {
                has_end = true;
                break;
            }
        }
        Ok((line, has_end))
    }

    /// The next record of a TFRecord file: a length and its checksum, bytes and their checksum. `None` at the end of the file,
    /// also if it is amid the length.
    ///
    /// # Errors
    /// DATA_LOSS if a record ends early, or a checksum is wrong.
    pub fn record(&mut self) -> Result<Option<Vec<u8>>> {
        let start = self.place;
        // As in TensorFlow, a head that was cut is the end.
        let Some(length) = self.array::<8>()? else { return Ok(None) };
        let Some(checksum) = self.array()? else { return Ok(None) };
        self.check(&length, checksum, start)?;
        let length = u64::from_le_bytes(length);
        // No more is asked for at once than what costs little if the file does not hold it.
        let mut record = scratch::room(length.min(1 << 16) as usize)?;
        if self.read(&mut record, length)? < length {
            return Err(self.truncated(start));
        }
        let Some(checksum) = self.array()? else { return Err(self.truncated(start)) };
        self.check(&record, checksum, start)?;
        Ok(Some(record))
    }

    /// So many bytes, if they are there.
    fn array<const N: usize>(&mut self) -> Result<Option<[u8; N]>> {
        let (mut bytes, mut filled) = ([0; N], 0);
        while filled < N {
            let Some(available) = self.available()? else { return Ok(None) };
            let taken = available.len().min(N - filled);
            bytes[filled..filled + taken].copy_from_slice(&available[..taken]);
            self.reader.consume(taken);
            (self.place, filled) = (self.place + taken as u64, filled + taken);
        }
        Ok(Some(bytes))
    }

    fn truncated(&self, at: u64) -> Error {
        Error::data_loss(format!("truncated record at {at} in {}", self.name))
    }

    /// Refuses bytes whose checksum is another.
    fn check(&self, bytes: &[u8], checksum: [u8; 4], at: u64) -> Result<()> {
        ensure!(
            checksum == masked_crc32c(bytes).to_le_bytes(),
            DataLoss,
            "corrupted record at {at} in {}: a checksum is wrong",
            self.name
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn file(name: &str, bytes: &[u8]) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("kernlink-records-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn all(bytes: &mut Bytes, next: impl Fn(&mut Bytes) -> Result<Option<Vec<u8>>>) -> (Vec<Vec<u8>>, Option<Error>) {
        let mut found = Vec::new();
        loop {
            match next(bytes) {
                Ok(Some(record)) => found.push(record),
                Ok(None) => return (found, None),
                Err(error) => return (found, Some(error)),
            }
        }
    }

    fn tf_record(bytes: &[u8]) -> Vec<u8> {
        let length = (bytes.len() as u64).to_le_bytes();
        let checksums = [masked_crc32c(&length).to_le_bytes(), masked_crc32c(bytes).to_le_bytes()];
        [&length[..], &checksums[0], bytes, &checksums[1]].concat()
    }

    #[test]
    fn lines_end_as_in_tensorflow() {
        let path = file("lines", b"a\r\nb\rc\n\n\0d");
        let lines = all(&mut Bytes::open(&path, Compression::None, 0).unwrap(), Bytes::line).0;
        assert_eq!(lines, [&b"a"[..], b"bc", b"", b"\0d"]);
        let path = file("text_lines", b"a\r\nb\rc\r\r\n\nd\r");
        let lines = all(&mut Bytes::open(&path, Compression::None, 0).unwrap(), Bytes::text_line).0;
        assert_eq!(lines, [&b"a"[..], b"b\rc\r", b"", b"d"]);
        // What is left of the last line is nothing.
        let path = file("last", b"a\n\r");
        assert_eq!(all(&mut Bytes::open(&path, Compression::None, 0).unwrap(), Bytes::line).0, [b"a"]);
        assert!(all(&mut Bytes::open(&file("no_lines", b""), Compression::None, 0).unwrap(), Bytes::line).0.is_empty());
    }

    #[test]
    fn a_record_that_was_cut_is_the_end_or_an_error() {
        let whole = [tf_record(b"one"), tf_record(b"three")].concat();
        for end in 0..=whole.len() {
            let path = file("cut", &whole[..end]);
            let (found, error) = all(&mut Bytes::open(&path, Compression::None, 0).unwrap(), Bytes::record);
            let (first, second) = (tf_record(b"one").len(), whole.len());
            assert_eq!(found.len(), usize::from(end >= first) + usize::from(end >= second), "{end}");
            // A head that was cut is the end of the file.
            let into = if end < first { end } else { end - first };
            let is_amid = into >= 12 && end != first && end != second;
            assert_eq!(error.map(|error| error.code()), is_amid.then_some(kernlink::Code::DataLoss), "{end}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            let (_, error) =
                all(&mut Bytes::open(&file("changed", &changed), Compression::None, 0).unwrap(), Bytes::record);
            assert_eq!(error.unwrap().code(), kernlink::Code::DataLoss, "{at}");
        }
    }

    #[test]
    fn compressed_bytes_that_were_cut_end_there() {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&b"line\n".repeat(1000)).unwrap();
        let packed = encoder.finish().unwrap();
        for end in 0..packed.len() {
            let path = file("packed", &packed[..end]);
            let (found, error) = all(&mut Bytes::open(&path, Compression::Gzip, 0).unwrap(), Bytes::line);
            assert!(error.is_none() && found.len() <= 1001, "{end}: {error:?}");
        }
        let other = all(&mut Bytes::open(&file("plain", b"plain text"), Compression::Zlib, 0).unwrap(), Bytes::line);
        assert_eq!(other.1.unwrap().code(), kernlink::Code::DataLoss);
    }
}
