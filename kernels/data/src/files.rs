//! The records of files.

use std::path::PathBuf;
use std::sync::Arc;

use kernlink::dtype::{DataType, TString};
use kernlink::formats::matching_files;
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Code, Error, Result, ensure};
use kernlink_kernels_common::files::{path_of, pattern_of};
use kernlink_kernels_common::records::{Bytes, Compression};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, UNKNOWN, scalar, set_dataset, vector};
use crate::saved::Saved;
use crate::window::Elements;

/// What the records of a file are.
enum Kind {
    Lines,
    Records,
    FixedLength { header: u64, record: u64, footer: u64 },
}

/// The records of files, one file after the other.
struct Files {
    head: Head,
    kind: Kind,
    paths: Vec<PathBuf>,
    /// Where reading begins in each, if that is not its beginning.
    starts: Vec<u64>,
    compression: Compression,
}

/// A file that is read.
struct Reading {
    bytes: Bytes,
    /// What was read ahead: a record whose place is that of a footer is none.
    ahead: Vec<u8>,
    /// How many bytes of records there are, if that is known.
    left: Option<u64>,
}

struct FilesIterator {
    dataset: Arc<Files>,
    /// Which file is read, or is next.
    file: usize,
    reading: Option<Reading>,
    /// How many records of it were read.
    records: i64,
    /// Why nothing more is read.
    failed: Option<Error>,
}

impl Dataset for Files {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        UNKNOWN
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        Ok(Box::new(FilesIterator { dataset: self, file: 0, reading: None, records: 0, failed: None }))
    }
}

impl Files {
    fn open(&self, file: usize) -> Result<Reading> {
        let start = self.starts.get(file).copied().unwrap_or(0);
        let bytes = Bytes::open(&self.paths[file], self.compression, start)?;
        let mut left = None;
        if let Kind::FixedLength { header, record, footer } = self.kind
            && let Some(size) = bytes.size()
        {
            // As in TensorFlow, whose length of the body has no sign, a file that is shorter than header and footer may
            // pass for one without records.
            ensure!(
                size.wrapping_sub(header + footer) % record == 0,
                InvalidArgument,
                "Excluding the header ({header} bytes) and footer ({footer} bytes), input file \"{}\" has body \
                     length {} bytes, which is not an exact multiple of the record length ({record} bytes).",
                bytes.name(),
                i128::from(size) - i128::from(header + footer)
            );
            left = Some(size.saturating_sub(header + footer));
        }
        Ok(Reading { bytes, ahead: Vec::new(), left })
    }

    /// Skips what comes before the first record.
    ///
    /// # Errors
    /// INTERNAL, as TensorFlow says then, if the file is shorter than that.
    fn skip_header(&self, reading: &mut Reading) -> Result<()> {
        let Kind::FixedLength { header, footer, .. } = self.kind else { return Ok(()) };
        let mut there = reading.bytes.skip(header)?;
        if reading.left.is_none() {
            there += reading.bytes.read(&mut reading.ahead, footer)?;
        }
        let needed = if reading.left.is_none() { header + footer } else { header };
        ensure!(
            there == needed,
            Internal,
            "input file \"{}\" ends in front of the first record, which begins after {needed} bytes",
            reading.bytes.name()
        );
        Ok(())
    }

    /// The next record of a file.
    fn record(&self, reading: &mut Reading) -> Result<Option<Vec<u8>>> {
        match self.kind {
            Kind::Lines => reading.bytes.line(),
            Kind::Records => reading.bytes.record(),
            Kind::FixedLength { record, footer, .. } => {
                if let Some(left) = &mut reading.left {
                    if *left == 0 {
                        return Ok(None);
                    }
                    *left -= record;
                    let mut bytes = Vec::new();
                    ensure!(
                        reading.bytes.read(&mut bytes, record)? == record,
                        OutOfRange,
                        "{} has become shorter",
                        reading.bytes.name()
                    );
                    return Ok(Some(bytes));
                }
                // Of a compressed file the end is known when it is met: a footer may be there already.
                let wanted = (record + footer).saturating_sub(reading.ahead.len() as u64);
                if reading.bytes.read(&mut reading.ahead, wanted)? < wanted {
                    ensure!(
                        reading.ahead.len() as u64 == footer,
                        DataLoss,
                        "Excluding the header and footer ({footer} bytes), input file \"{}\" has a body whose length is \
                         not an exact multiple of the record length ({record} bytes).",
                        reading.bytes.name()
                    );
                    return Ok(None);
                }
                let rest = scratch::copied(&reading.ahead[record as usize..])?;
                let mut bytes = std::mem::replace(&mut reading.ahead, rest);
                bytes.truncate(record as usize);
                Ok(Some(bytes))
            }
        }
    }
}

impl FilesIterator {
    fn next_record(&mut self, cx: &Cx) -> Result<Option<Vec<u8>>> {
        while self.file < self.dataset.paths.len() {
            cx.check()?;
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
            let mut reading = match self.reading.take() {
                Some(reading) => reading,
                // As with TensorFlow a file that cannot be opened is not passed over: the next call tries again. That a
                // directory is no file, TensorFlow meets when it reads.
                None => match self.dataset.open(self.file) {
                    Ok(mut reading) => match self.dataset.skip_header(&mut reading) {
                        Ok(()) => reading,
                        Err(error) => {
                            self.next_file();
                            return Err(error);
                        }
                    },
                    Err(error) => {
                        if matches!(self.dataset.kind, Kind::Records) && error.code() == Code::FailedPrecondition {
                            self.next_file();
                        }
                        return Err(error);
                    }
                },
            };
            match self.dataset.record(&mut reading) {
                Ok(Some(record)) => {
                    self.reading = Some(reading);
                    self.records += 1;
                    return Ok(Some(record));
                }
                Ok(None) => self.next_file(),
                // As with TensorFlow, nothing follows a line that cannot be read, but the next file a record.
                Err(error) if matches!(self.dataset.kind, Kind::Lines) => {
                    self.failed = Some(error.clone());
                    return Err(error);
                }
                Err(error) => {
                    self.next_file();
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    fn next_file(&mut self) {
        self.file += 1;
        self.records = 0;
        self.reading = None;
    }
}

impl DatasetIterator for FilesIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        let record = self.next_record(cx);
        let element = record.map(|record| record.map(|record| vec![Tensor::scalar(TString::from(record))]));
        Box::pin(std::future::ready(element))
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        saved.set("file", self.file as i64);
        saved.set("records", self.records);
        Box::pin(std::future::ready(Ok(())))
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.file = saved.get("file")? as usize;
            for _ in 0..saved.get("records")? {
                self.next_record(cx)?;
            }
            Ok(())
        })
    }
}

/// What datasets of strings give.
fn strings() -> Spec {
    Spec::new(vec![DataType::String], vec![Shape::scalar().into()])
}

/// Sets the output to the records of the files that the inputs name.
fn set_files(ctx: &mut RawContext<'_>, kind: Kind) -> Result<()> {
    let has = |name: &str| ctx.op().input_index(name).is_some();
    let buffer: i64 = scalar(ctx, "buffer_size")?;
    // Datasets of TFRecords leave the size open with -1.
    let least = if matches!(kind, Kind::Records) { -1 } else { 0 };
    ensure!(buffer >= least, InvalidArgument, "`buffer_size` must be >= 0 (0 == no buffering)");
    let compression = match has("compression_type") {
        true => {
            let name: TString = scalar(ctx, "compression_type")?;
            if matches!(kind, Kind::Records) { Compression::of_records(&name) } else { Compression::named(&name)? }
        }
        false => Compression::None,
    };
    let names: Vec<TString> = vector(ctx, "filenames")?;
    let starts: Vec<i64> = if has("byte_offsets") { vector(ctx, "byte_offsets")? } else { Vec::new() };
    ensure!(
        starts.is_empty() || starts.len() == names.len(),
        InvalidArgument,
        "`byte_offsets` must have as many elements as `filenames`, or none: {} are not {}",
        starts.len(),
        names.len()
    );
    ensure!(starts.iter().all(|start| *start >= 0), InvalidArgument, "`byte_offsets` must be >= 0");
    let starts = starts.into_iter().map(|start| start as u64).collect();
    let paths = scratch::collected_ok(names.iter().map(path_of))?;
    set_dataset(ctx, Files { head: Head::source(&strings()), kind, paths, starts, compression })
}

#[register_kernel(device = Cpu, cheap, op = [ops::TextLineDataset])]
fn text_lines(ctx: &mut RawContext<'_>) -> Result<()> {
    set_files(ctx, Kind::Lines)
}

#[register_kernel(device = Cpu, cheap, op = [ops::TFRecordDataset, ops::TFRecordDatasetV2])]
fn records(ctx: &mut RawContext<'_>) -> Result<()> {
    set_files(ctx, Kind::Records)
}

#[register_kernel(device = Cpu, cheap, op = [ops::FixedLengthRecordDataset, ops::FixedLengthRecordDatasetV2])]
fn fixed_length_records(ctx: &mut RawContext<'_>) -> Result<()> {
    let bytes = |name: &str| -> Result<u64> {
        let count: i64 = scalar(ctx, name)?;
        // More than this no file has, and sums stay in range.
        u64::try_from(count)
            .ok()
            .filter(|count| *count < 1 << 60)
            .ok_or_else(|| Error::invalid_argument(format!("`{name}` must be >= 0 and less than 2^60, but is {count}")))
    };
    let (header, record, footer) = (bytes("header_bytes")?, bytes("record_bytes")?, bytes("footer_bytes")?);
    ensure!(record > 0, InvalidArgument, "`record_bytes` must be > 0");
    set_files(ctx, Kind::FixedLength { header, record, footer })
}

#[register_kernel(device = Cpu, op = [ops::MatchingFilesDataset, ops::ExperimentalMatchingFilesDataset])]
fn matching(ctx: &mut RawContext<'_>) -> Result<()> {
    let mut names = Vec::new();
    for pattern in vector::<TString>(ctx, "patterns")? {
        let Some(pattern) = pattern_of(&pattern)? else { continue };
        for name in matching_files(&pattern)? {
            scratch::push(&mut names, vec![Tensor::scalar(TString::from(name))])?;
        }
    }
    if names.is_empty() {
        return set_dataset(ctx, Unmatched { head: Head::source(&strings()) });
    }
    set_dataset(ctx, Elements::new(&strings(), names))
}

/// The names of no files: whoever asks for the first is told so.
struct Unmatched {
    head: Head,
}

struct UnmatchedIterator;

impl Dataset for Unmatched {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        UNKNOWN
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        Ok(Box::new(UnmatchedIterator))
    }
}

impl DatasetIterator for UnmatchedIterator {
    fn next<'a>(&'a mut self, _: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        let error = Error::not_found("no file matches any of the patterns");
        Box::pin(std::future::ready(Err(error)))
    }

    fn save<'a>(&'a mut self, _: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn restore<'a>(&'a mut self, _: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
