//! Sorted tables of keys and values, the format of LevelDB: blocks of entries with shared prefixes, each with a checksum,
//! an index block, a footer.

use std::borrow::Cow;

use super::checksum;
use super::coding::{put_varint, take, take_u32, take_varint};
use crate::error::{Error, Result};
use crate::tensor::scratch::{self, MakeRoom};

const MAGIC: u64 = 0xdb47_7524_8b80_fb57;
/// Two block handles, padded, and the magic number.
const FOOTER_BYTES: usize = 48;
/// The kind of compression, and the checksum.
const TRAILER_BYTES: usize = 5;

const PLAIN: u8 = 0;
const SNAPPY: u8 = 1;

/// Entries between two restarts, which store their whole key.
const RESTART_INTERVAL: usize = 16;
/// Size at which a block is closed, in bytes.
const BLOCK_BYTES: usize = 256 * 1024;

#[track_caller]
fn corrupt(what: &str) -> Error {
    Error::data_loss(format!("the table is corrupt: {what}"))
}

/// Where a block stands in the file.
#[derive(Clone, Copy)]
struct Handle {
    offset: u64,
    size: u64,
}

impl Handle {
    fn take(source: &mut &[u8]) -> Result<Handle> {
        let mut number = || take_varint(source).ok_or_else(|| corrupt("bad block handle"));
        Ok(Handle { offset: number()?, size: number()? })
    }

    fn put(self, target: &mut Vec<u8>) {
        put_varint(target, self.offset);
        put_varint(target, self.size);
    }
}

/// A table in memory.
pub(super) struct Table<B> {
    file: B,
    /// The last key of each block, in order, or a key between it and the next block's first.
    index: Vec<(Vec<u8>, Handle)>,
}

impl<B: AsRef<[u8]>> Table<B> {
    /// Reads the footer and the index.
    ///
    /// # Errors
    /// DATA_LOSS if the bytes are no table, are truncated or altered.
    pub(super) fn open(file: B) -> Result<Table<B>> {
        let bytes = file.as_ref();
        let Some(footer) = bytes.len().checked_sub(FOOTER_BYTES).map(|start| &bytes[start..]) else {
            return Err(Error::data_loss("file is too short to be an sstable"));
        };
        let (mut handles, magic) = footer.split_at(FOOTER_BYTES - 8);
        if magic != MAGIC.to_le_bytes() {
            return Err(Error::data_loss("not an sstable (bad magic number)"));
        }
        let _metaindex = Handle::take(&mut handles)?;
        let handle = Handle::take(&mut handles)?;
        let mut index = Vec::new();
        for_each_entry(&block(bytes, handle)?, |key, mut value| {
            index.push((key.to_vec(), Handle::take(&mut value)?));
            Ok(())
        })?;
        if !index.is_sorted_by(|(a, _), (b, _)| a < b) {
            return Err(corrupt("the blocks are out of order"));
        }
        Ok(Table { file, index })
    }

    /// The contents of a block, after checking them.
    fn block(&self, handle: Handle) -> Result<Cow<'_, [u8]>> {
        block(self.file.as_ref(), handle)
    }

    /// Calls `visit` with every key and value, in order.
    ///
    /// # Errors
    /// DATA_LOSS if a block is truncated or altered, and whatever `visit` returns.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let mut last: Option<Vec<u8>> = None;
        for (_, handle) in &self.index {
            for_each_entry(&self.block(*handle)?, |key, value| {
                if last.as_deref().is_some_and(|last| last >= key) {
                    return Err(corrupt("the keys are out of order"));
                }
                last = Some(key.to_vec());
                visit(key, value)
            })?;
        }
        Ok(())
    }

    /// The value of a key.
    ///
    /// # Errors
    /// DATA_LOSS if the block in which it should be is truncated or altered.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let position = self.index.partition_point(|(last, _)| last.as_slice() < key);
        let Some((_, handle)) = self.index.get(position) else { return Ok(None) };
        let mut found = None;
        for_each_entry(&self.block(*handle)?, |entry, value| {
            if entry == key {
                found = Some(value.to_vec());
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// The contents of a block, after checking them.
fn block(file: &[u8], handle: Handle) -> Result<Cow<'_, [u8]>> {
    let range = || {
        let start = usize::try_from(handle.offset).ok()?;
        let end = start.checked_add(usize::try_from(handle.size).ok()?)?;
        file.get(start..end.checked_add(TRAILER_BYTES)?)
    };
    let whole = range().ok_or_else(|| Error::data_loss("truncated block read"))?;
    let (checked, mut crc) = whole.split_at(whole.len() - 4);
    if take_u32(&mut crc).map(checksum::unmask) != Some(crc32c::crc32c(checked)) {
        return Err(Error::data_loss("block checksum mismatch"));
    }
    let (kind, contents) = checked.split_last().ok_or_else(|| corrupt("an empty block"))?;
    match *kind {
        PLAIN => Ok(Cow::Borrowed(contents)),
        SNAPPY => {
            let broken = |_| Error::data_loss("corrupted compressed block contents");
            // Three bytes make at most 64.
            let most = contents.len().saturating_mul(22).saturating_add(64);
            if snap::raw::decompress_len(contents).map_err(broken)? > most {
                return Err(Error::data_loss("corrupted compressed block contents"));
            }
            Ok(Cow::Owned(snap::raw::Decoder::new().decompress_vec(contents).map_err(broken)?))
        }
        _ => Err(Error::data_loss("bad block type")),
    }
}

/// Calls `visit` with every key and value of a block.
fn for_each_entry(block: &[u8], mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
    let entries = || {
        let (restarts, count) = block.split_last_chunk()?;
        let bytes = usize::try_from(u32::from_le_bytes(*count)).ok()?.checked_mul(4)?;
        restarts.get(..restarts.len().checked_sub(bytes)?)
    };
    let mut entries = entries().ok_or_else(|| corrupt("bad block contents"))?;
    let mut key = Vec::new();
    while !entries.is_empty() {
        let mut entry = || {
            let shared = usize::try_from(take_varint(&mut entries)?).ok().filter(|&shared| shared <= key.len())?;
            let (own, length) = (take_varint(&mut entries)?, take_varint(&mut entries)?);
            key.truncate(shared);
            key.extend_from_slice(take(&mut entries, own)?);
            take(&mut entries, length)
        };
        let value = entry().ok_or_else(|| corrupt("bad entry in block"))?;
        visit(&key, value)?;
    }
    Ok(())
}

/// Makes a table of keys that come in order.
pub(super) struct TableBuilder {
    file: Vec<u8>,
    block: Block,
    index: Block,
}

impl TableBuilder {
    pub(super) fn new() -> TableBuilder {
        TableBuilder { file: Vec::new(), block: Block::default(), index: Block::default() }
    }

    /// Adds an entry, whose key must come after those before it.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        debug_assert!(self.block.count == 0 || self.block.last.as_slice() < key);
        self.block.add(key, value)?;
        if self.block.bytes.len() >= BLOCK_BYTES {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        if self.block.count == 0 {
            return Ok(());
        }
        let block = std::mem::take(&mut self.block);
        let last = scratch::copied(&block.last)?;
        let handle = self.write(block)?;
        let mut value = Vec::new();
        handle.put(&mut value);
        // Every key is whole in an index.
        self.index.begin_run();
        self.index.add(&last, &value)
    }

    fn write(&mut self, block: Block) -> Result<Handle> {
        let offset = self.file.len();
        let block = block.finish()?;
        self.file.make_room(block.len() + TRAILER_BYTES)?;
        self.file.extend_from_slice(&block);
        let size = self.file.len() - offset;
        self.file.push(PLAIN);
        let crc = checksum::masked(&self.file[offset..]);
        self.file.extend(crc.to_le_bytes());
        Ok(Handle { offset: offset as u64, size: size as u64 })
    }

    /// The table.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    pub(super) fn finish(mut self) -> Result<Vec<u8>> {
        self.end_block()?;
        let metaindex = self.write(Block::default())?;
        let index = std::mem::take(&mut self.index);
        let index = self.write(index)?;
        let mut footer = Vec::with_capacity(FOOTER_BYTES);
        metaindex.put(&mut footer);
        index.put(&mut footer);
        footer.resize(FOOTER_BYTES - 8, 0);
        footer.extend(MAGIC.to_le_bytes());
        scratch::append(&mut self.file, &footer)?;
        Ok(self.file)
    }
}

/// A block that grows.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    restarts: Vec<u32>,
    /// Entries since the last restart.
    run: usize,
    count: usize,
    last: Vec<u8>,
}

impl Block {
    /// Begins a restart: the next entry stores its whole key.
    fn begin_run(&mut self) {
        self.run = RESTART_INTERVAL;
    }

    fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let mut shared = 0;
        // Beside the key and the value three numbers.
        self.bytes.make_room(key.len().saturating_add(value.len()).saturating_add(30))?;
        if self.count == 0 || self.run >= RESTART_INTERVAL {
            scratch::push(&mut self.restarts, self.bytes.len() as u32)?;
            self.run = 0;
        } else {
            shared = self.last.iter().zip(key).take_while(|(a, b)| a == b).count();
        }
        for number in [shared, key.len() - shared, value.len()] {
            put_varint(&mut self.bytes, number as u64);
        }
        self.bytes.extend_from_slice(&key[shared..]);
        self.bytes.extend_from_slice(value);
        self.last = scratch::copied(key)?;
        self.run += 1;
        self.count += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>> {
        if self.restarts.is_empty() {
            self.restarts.push(0);
        }
        self.bytes.make_room(4 * self.restarts.len() + 4)?;
        for restart in &self.restarts {
            self.bytes.extend(restart.to_le_bytes());
        }
        self.bytes.extend((self.restarts.len() as u32).to_le_bytes());
        Ok(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    /// Keys and values.
    type Entries = Vec<(Vec<u8>, Vec<u8>)>;

    /// A table of many entries, in more than one block.
    fn sample(count: usize, size: usize) -> (Vec<u8>, Entries) {
        let entries: Entries = (0..count)
            .map(|i| (if i == 0 { Vec::new() } else { format!("layer/{i:05}").into_bytes() }, vec![i as u8; size]))
            .collect();
        let mut builder = TableBuilder::new();
        entries.iter().for_each(|(key, value)| builder.add(key, value).unwrap());
        (builder.finish().unwrap(), entries)
    }

    fn contents(file: &[u8]) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut found = Vec::new();
        Table::open(file)?.for_each(|key, value| {
            found.push((key.to_vec(), value.to_vec()));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn what_is_written_is_read() {
        for (count, size) in [(0, 0), (1, 0), (17, 3), (1000, 700), (3, 300_000)] {
            let (file, entries) = sample(count, size);
            assert_eq!(contents(&file).unwrap(), entries);
            let table = Table::open(&file).unwrap();
            for (key, value) in &entries {
                assert_eq!(table.get(key).unwrap().as_ref(), Some(value));
            }
            assert_eq!(table.get(b"layer").unwrap(), None);
            assert_eq!(table.get(b"zzz").unwrap(), None);
        }
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_noticed() {
        let (file, entries) = sample(40, 5);
        for length in 0..file.len() {
            assert_eq!(contents(&file[..length]).unwrap_err().code(), Code::DataLoss, "{length}");
        }
        for position in 0..file.len() {
            let mut altered = file.clone();
            altered[position] ^= 1 << (position % 8);
            // Not read at all: the (empty) metadata block, its handle, and the padding of the footer.
            match contents(&altered) {
                Ok(found) => assert_eq!(found, entries, "byte {position}"),
                Err(error) => assert_eq!(error.code(), Code::DataLoss, "byte {position}"),
            }
        }
    }

    #[test]
    fn compressed_blocks_are_read() {
        let (file, entries) = sample(40, 100);
        let table = Table::open(&file).unwrap();
        let (last, handle) = table.index[0].clone();
        let block = snap::raw::Encoder::new().compress_vec(&table.block(handle).unwrap()).unwrap();
        let mut packed = block.clone();
        packed.push(SNAPPY);
        packed.extend(checksum::masked(&packed).to_le_bytes());
        let mut builder = TableBuilder { file: packed, block: Block::default(), index: Block::default() };
        let mut value = Vec::new();
        Handle { offset: 0, size: block.len() as u64 }.put(&mut value);
        builder.index.add(&last, &value).unwrap();
        assert_eq!(contents(&builder.finish().unwrap()).unwrap(), entries);
    }
}
