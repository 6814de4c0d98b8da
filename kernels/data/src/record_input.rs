//! `RecordInput`: records of files in random order.
//!
//! TensorFlow's threads add records to a buffer while others are taken from it, so that its order depends on how fast they
//! are. Here records are added when one is asked for and there are not enough, by turns. The orders are equal as long as the
//! buffer holds more than twice the records of all files, and files are read one by one.

use std::sync::{Mutex, PoisonError};

use kernlink::dtype::TString;
use kernlink::formats::matching_files;
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::files::{path_of, pattern_of};
use kernlink_kernels_common::hash64::hash64;
use kernlink_kernels_common::mersenne::Mersenne;
use kernlink_kernels_common::records::{Bytes, Compression};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// How many records a shard reads before it adds them.
const AT_A_TIME: usize = 16;

/// Gives records, one after the other.
struct Yielder {
    patterns: String,
    seed: u64,
    shift_ratio: f32,
    buffer_size: usize,
    parallelism: usize,
    compression: Compression,
    epoch: u64,
    random: Mersenne,
    buffer: Vec<Vec<u8>>,
    /// Those that have files left, or records that were not added.
    shards: Vec<Shard>,
    /// How many records were added in this epoch.
    added: usize,
    /// What ended it.
    error: Option<Error>,
}

/// Files that are read one after the other.
struct Shard {
    /// Those that are left, the next one last.
    files: Vec<String>,
    reading: Option<Bytes>,
    read: Vec<Vec<u8>>,
}

impl Shard {
    /// Reads until there are enough records to be added, or no more.
    fn read(&mut self, compression: Compression) -> Result<()> {
        while self.read.len() < AT_A_TIME {
            let reading = match &mut self.reading {
                Some(reading) => reading,
                None => {
                    let Some(file) = self.files.pop() else { return Ok(()) };
                    let opened = path_of(&TString::from(&*file)).and_then(|path| Bytes::open(&path, compression, 0));
                    let Ok(bytes) = opened else { bail!(InvalidArgument, "Can't open {file}") };
                    self.reading.insert(bytes)
                }
            };
            match reading.record()? {
                Some(record) => self.read.push(record),
                None => self.reading = None,
            }
        }
        Ok(())
    }
}

impl Yielder {
    /// The files of an epoch, in its order.
    fn files(&self) -> Result<Vec<String>> {
        let mut files = Vec::new();
        for pattern in self.patterns.split(',') {
            if let Some(pattern) = pattern_of(&TString::from(pattern))? {
                files.extend(matching_files(&pattern)?);
            }
        }
        ensure!(!files.is_empty(), NotFound, "Found no files at {}", self.patterns);
        Mersenne::new(hash64(&self.epoch.to_le_bytes(), self.seed)).shuffle(&mut files);
        if (0.0..1.0).contains(&self.shift_ratio) {
            let count = files.len();
            files.rotate_left(((self.shift_ratio * count as f32) as usize).min(count));
        }
        Ok(files)
    }

    fn begin_epoch(&mut self) -> Result<()> {
        self.epoch += 1;
        self.added = 0;
        let files = self.files()?;
        let count = self.parallelism.min(files.len());
        self.shards.clear();
        for first in 0..count {
            let own = files.iter().skip(first).step_by(self.parallelism).rev().cloned();
            self.shards.push(Shard { files: own.collect(), reading: None, read: Vec::new() });
        }
        Ok(())
    }

    /// Adds records until the buffer is full, or there are no more.
    fn fill(&mut self, go_on: &impl Fn() -> Result<()>) -> Result<()> {
        let mut turn = 0;
        while !self.shards.is_empty() && self.buffer.len() < self.buffer_size {
            go_on()?;
            turn %= self.shards.len();
            let shard = &mut self.shards[turn];
            shard.read(self.compression)?;
            let is_over = shard.read.len() < AT_A_TIME;
            while self.buffer.len() < self.buffer_size
                && let Some(record) = shard.read.pop()
            {
                // Its place is a random one, whose record goes to the end.
                let place = (self.random.number() % (self.buffer.len() as u64 + 1)) as usize;
                scratch::push(&mut self.buffer, record)?;
                let last = self.buffer.len() - 1;
                self.buffer.swap(place, last);
                self.added += 1;
            }
            if is_over && shard.read.is_empty() {
                self.shards.remove(turn);
            } else {
                turn += 1;
            }
        }
        if self.shards.is_empty() {
            ensure!(self.added > 0, InvalidArgument, "the files at {} hold no records", self.patterns);
            self.buffer_size = self.buffer_size.min(self.added);
        }
        Ok(())
    }

    /// The next record.
    fn next(&mut self, go_on: &impl Fn() -> Result<()>) -> Result<Vec<u8>> {
        if self.buffer.is_empty() && self.shards.is_empty() {
            self.begin_epoch()?;
        }
        if !self.shards.is_empty() && self.buffer.len() < (self.buffer_size / 2).max(1) {
            self.fill(go_on)?;
        }
        self.buffer.pop().ok_or_else(|| Error::internal("an epoch has records"))
    }
}

struct RecordInputKernel {
    yielder: Mutex<Yielder>,
    batch_size: usize,
}

impl KernelState for RecordInputKernel {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let number = |name: &str| ctx.attrs.required::<i64>(name);
        let parallelism = number("file_parallelism")?;
        ensure!(parallelism >= 0, InvalidArgument, "file_parallelism should >= 0, got {parallelism}");
        ensure!(
            parallelism > 0,
            InvalidArgument,
            "file_parallelism is 0, so that no file is read: it must be positive"
        );
        let batch_size = number("batch_size")?;
        ensure!(batch_size >= 0, InvalidArgument, "batch_size must be non-negative but got {batch_size}");
        let buffer_size = number("file_buffer_size")?;
        ensure!(
            buffer_size != 0,
            InvalidArgument,
            "file_buffer_size is 0, so that no record is kept: it must be positive"
        );
        let seed = number("file_random_seed")? as u64;
        let yielder = Yielder {
            patterns: ctx.attrs.required("file_pattern")?,
            seed,
            shift_ratio: ctx.attrs.required("file_shuffle_shift_ratio")?,
            // As in TensorFlow, a negative number is any.
            buffer_size: usize::try_from(buffer_size).unwrap_or(usize::MAX),
            parallelism: usize::try_from(parallelism).unwrap_or(usize::MAX),
            compression: Compression::of_records(ctx.attrs.required::<String>("compression_type")?.as_bytes()),
            epoch: 0,
            random: Mersenne::new(seed),
            buffer: Vec::new(),
            shards: Vec::new(),
            added: 0,
            error: None,
        };
        Ok(Self { yielder: Mutex::new(yielder), batch_size: usize::try_from(batch_size).unwrap_or(usize::MAX) })
    }
}

#[register_kernel(device = Cpu, op = ops::RecordInput)]
fn record_input(kernel: &RecordInputKernel, ctx: &mut RawContext<'_>) -> Result<()> {
    let step = ctx.step()?;
    let mut yielder = kernel.yielder.lock().unwrap_or_else(PoisonError::into_inner);
    let mut records = scratch::room::<TString>(kernel.batch_size)?;
    for _ in 0..kernel.batch_size {
        if let Some(error) = &yielder.error {
            return Err(error.clone());
        }
        match yielder.next(&|| step.check()) {
            Ok(record) => records.push(record.into()),
            // The run's own end is not that of the records.
            Err(error) if step.check().is_err() => return Err(error),
            Err(error) => {
                yielder.error = Some(error.clone());
                return Err(error);
            }
        }
    }
    drop(yielder);
    ctx.set_output_at(0, Tensor::vector(&records)?)
}
