//! What TensorFlow compresses by Snappy as it writes it: blocks, each behind its length.

use std::io::{self, Read, Write};

use kernlink::tensor::scratch;
use kernlink::{Code, Error, Result, ensure};

/// How many bytes are compressed at a time: as many as TensorFlow reads at a time.
const BLOCK: usize = 256 << 10;

/// What is decompressed by Snappy: blocks, each behind its length in four bytes, the most significant first.
pub struct Blocks<R> {
    reader: R,
    block: Vec<u8>,
    at: usize,
}

impl<R: Read> Blocks<R> {
    /// Those that a reader gives.
    pub fn new(reader: R) -> Blocks<R> {
        Blocks { reader, block: Vec::new(), at: 0 }
    }

    /// Decompresses the next block, if there is one.
    fn next(&mut self) -> io::Result<bool> {
        let damaged = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let mut length = [0; 4];
        let mut first = 0;
        while first < length.len() {
            match self.reader.read(&mut length[first..]) {
                // As in TensorFlow, of which a length that was cut is the end, too.
                Ok(0) => return Ok(false),
                Ok(count) => first += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let length = u32::from_be_bytes(length);
        let mut compressed = Vec::new();
        (&mut self.reader).take(length.into()).read_to_end(&mut compressed)?;
        if compressed.len() as u64 != u64::from(length) {
            return Err(damaged("a block was cut"));
        }
        self.block = decompress(&compressed).map_err(|error| match error.code() {
            Code::ResourceExhausted => io::Error::new(io::ErrorKind::OutOfMemory, error),
            _ => damaged(error.message()),
        })?;
        self.at = 0;
        Ok(true)
    }
}

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            if !self.next()? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.block.len() - self.at);
        buffer[..count].copy_from_slice(&self.block[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// How many bytes of `block` Snappy makes of `bytes`. A function of its own, as the encoder's table of 32 KiB cannot be refused.
#[inline(never)]
fn encode(bytes: &[u8], block: &mut [u8]) -> Result<usize> {
    let failed = |error: snap::Error| Error::internal(format!("Failed to compress using snappy: {error}"));
    snap::raw::Encoder::new().compress(bytes, block).map_err(failed)
}

/// `bytes`, compressed by Snappy.
///
/// # Errors
/// RESOURCE_EXHAUSTED if they are too many for Snappy, or there is no memory for them.
pub fn compress(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut block = scratch::zeros(snap::raw::max_compress_len(bytes.len()))?;
    ensure!(
        bytes.is_empty() || !block.is_empty(),
        ResourceExhausted,
        "{} bytes at once are too many for snappy",
        bytes.len()
    );
    let length = encode(bytes, &mut block)?;
    scratch::copied(&block[..length])
}

/// What `bytes` are made of, by Snappy.
///
/// # Errors
/// DATA_LOSS if they are not made by it; RESOURCE_EXHAUSTED if there is not enough memory.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>> {
    let damaged = |error: snap::Error| Error::new(Code::DataLoss, error.to_string());
    let size = snap::raw::decompress_len(bytes).map_err(damaged)?;
    // What no block of so many bytes can hold is not asked memory for: three of them make 64 at most.
    ensure!(
        size <= bytes.len().saturating_mul(22).saturating_add(64),
        DataLoss,
        "a block says that it holds more than it can"
    );
    let mut whole = scratch::zeros(size)?;
    snap::raw::Decoder::new().decompress(bytes, &mut whole).map_err(damaged)?;
    Ok(whole)
}

/// Writes what [`Blocks`] reads.
pub struct BlockWriter<W> {
    writer: W,
    block: Vec<u8>,
}

impl<W: Write> BlockWriter<W> {
    /// Writes by way of a writer.
    pub fn new(writer: W) -> BlockWriter<W> {
        BlockWriter { writer, block: Vec::new() }
    }

    /// What it writes to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Writes what is left, and gives back what it wrote to.
    ///
    /// # Errors
    /// What it was written to says.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_block()?;
        Ok(self.writer)
    }

    fn end_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let compressed = compress(&self.block).map_err(io::Error::other)?;
        self.writer.write_all(&(compressed.len() as u32).to_be_bytes())?;
        self.writer.write_all(&compressed)?;
        self.block.clear();
        Ok(())
    }
}

impl<W: Write> Write for BlockWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..count]);
        if self.block.len() == BLOCK {
            self.end_block()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end_block()?;
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let bytes: Vec<u8> = (0..600_000u32).map(|n| (n.wrapping_mul(n) / 1000) as u8).collect();
        let mut file = Vec::new();
        let mut writer = BlockWriter::new(&mut file);
        writer.write_all(&bytes).unwrap();
        writer.flush().unwrap();
        let read = |file: &[u8]| {
            let mut bytes = Vec::new();
            Blocks::new(file).read_to_end(&mut bytes).map(|_| bytes)
        };
        assert_eq!(read(&file).unwrap(), bytes);
        assert_eq!(read(&[]).unwrap(), b"");
        assert_eq!(read(&file[..3]).unwrap(), b"");
        assert_eq!(read(&file[..file.len() - 1]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read(b"\0\0\0\x05\xff\xff\xff\xff\x0f").unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
