//! The records of files of comma-separated values.

use std::path::PathBuf;
use std::sync::Arc;

use kernlink::dtype::{DataType, TString};
use kernlink::error::shortened_bytes;
use kernlink::kernel::RawContext;
use kernlink::step::BoxFuture;
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::files::path_of;
use kernlink_kernels_common::parsed::{Parsed, parse_number};
use kernlink_kernels_common::records::{Bytes, Compression};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, UNKNOWN, scalar, set_dataset, tensors, vector};
use crate::saved::Saved;

/// How many bytes are read at once.
const CHUNK: u64 = 1 << 16;

struct Csv {
    head: Head,
    paths: Vec<PathBuf>,
    compression: Compression,
    has_header: bool,
    delimiter: u8,
    has_quotes: bool,
    missing: TString,
    selected: Vec<i64>,
    excluded: Vec<i64>,
    defaults: Vec<Tensor>,
}

/// A file, byte by byte.
struct Reading {
    bytes: Bytes,
    buffer: Vec<u8>,
    at: usize,
}

impl Reading {
    /// The next byte, which is not passed over; `None` at the end.
    fn peek(&mut self) -> Result<Option<u8>> {
        if self.at >= self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
            self.bytes.read(&mut self.buffer, CHUNK)?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    /// The next byte; `None` at the end.
    fn next(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }

    /// How many bytes were read.
    fn place(&self) -> u64 {
        self.bytes.place() - (self.buffer.len() - self.at) as u64
    }
}

/// What follows a field.
#[derive(PartialEq, Eq)]
enum Behind {
    Field,
    /// The end of the record.
    Nothing,
}

/// A record as its fields come; the first error of them stays.
struct Record<'c> {
    csv: &'c Csv,
    components: Element,
    wrong: Option<Error>,
}

impl Record<'_> {
    fn fail(&mut self, error: impl FnOnce() -> Error) {
        self.wrong.get_or_insert_with(error);
    }

    fn put(&mut self, field: &[u8]) -> Result<()> {
        let index = self.components.len();
        let csv = self.csv;
        let Some(default) = csv.defaults.get(index) else {
            let expected = csv.defaults.len();
            self.fail(|| Error::invalid_argument(format!("Expect {expected} fields but have more in record")));
            return Ok(());
        };
        fn number<T: Parsed>(field: &[u8]) -> Option<Tensor> {
            parse_number::<T>(field).map(Tensor::scalar)
        }
        let component = if field.is_empty() || field == csv.missing.as_bytes() {
            if default.num_elements() == 1 { Some(default.clone().reshaped([])?) } else { None }
        } else {
            match default.dtype() {
                DataType::Int32 => number::<i32>(field),
                DataType::Int64 => number::<i64>(field),
                DataType::Float => number::<f32>(field),
                DataType::Double => number::<f64>(field),
                _ => Some(Tensor::scalar(TString::from(scratch::copied(field)?))),
            }
        };
        // Those behind keep their places.
        let dtype = default.dtype();
        let component = match component {
            Some(component) => component,
            None => {
                self.fail(|| {
                    let error = if field.is_empty() || field == csv.missing.as_bytes() {
                        format!("Field {index} is required but missing in record!")
                    } else {
                        format!("Field {index} in record is not a valid {dtype}: {}", shortened_bytes(field))
                    };
                    Error::invalid_argument(error)
                });
                Tensor::zeros(dtype, [])?
            }
        };
        scratch::push(&mut self.components, component)
    }
}

impl Csv {
    fn open(&self, file: usize) -> Result<Reading> {
        let bytes = Bytes::open(&self.paths[file], self.compression, 0)?;
        Ok(Reading { bytes, buffer: Vec::new(), at: 0 })
    }

    /// The fields of the next record that are wanted; `None` at the end of the file.
    fn record(&self, reading: &mut Reading, is_header: bool) -> Result<Option<Element>> {
        if reading.peek()?.is_none() {
            return Ok(None);
        }
        let all = self.selected.is_empty() && self.excluded.is_empty();
        let mut record = Record { csv: self, components: Vec::new(), wrong: None };
        let (mut number, mut selected, mut excluded) = (0i64, 0, 0);
        loop {
            let is_excluded = self.excluded.get(excluded) == Some(&number);
            let is_selected = self.selected.get(selected) == Some(&number);
            let is_wanted = !is_header && (all || is_selected || (!self.excluded.is_empty() && !is_excluded));
            let behind = match reading.peek()? {
                Some(b'"') if self.has_quotes => self.quoted(reading, &mut record, is_wanted)?,
                _ => self.plain(reading, &mut record, is_wanted)?,
            };
            if behind == Behind::Nothing {
                break;
            }
            number += 1;
            selected += usize::from(is_wanted);
            excluded += usize::from(is_excluded);
        }
        match record.wrong {
            Some(error) => Err(error),
            None => Ok(Some(record.components)),
        }
    }

    /// Passes over the second half of a line's end.
    fn skip_newline(reading: &mut Reading) -> Result<()> {
        if reading.peek()? == Some(b'\n') {
            reading.at += 1;
        }
        Ok(())
    }

    fn plain(&self, reading: &mut Reading, record: &mut Record<'_>, is_wanted: bool) -> Result<Behind> {
        let mut field = Vec::new();
        let behind = loop {
            match reading.next()? {
                // It may be the end of a line, too.
                Some(byte) if byte == self.delimiter => break Behind::Field,
                None | Some(b'\n') => break Behind::Nothing,
                Some(b'\r') => {
                    Csv::skip_newline(reading)?;
                    break Behind::Nothing;
                }
                Some(byte) => {
                    if byte == b'"' && self.has_quotes {
                        record.fail(|| Error::invalid_argument("Unquoted fields cannot have quotes inside"));
                    }
                    if is_wanted {
                        scratch::push(&mut field, byte)?;
                    }
                }
            }
        };
        if is_wanted {
            record.put(&field)?;
        }
        Ok(behind)
    }

    fn quoted(&self, reading: &mut Reading, record: &mut Record<'_>, mut is_wanted: bool) -> Result<Behind> {
        reading.at += 1;
        let mut field = Vec::new();
        let behind = loop {
            match reading.next()? {
                None => {
                    bail!(InvalidArgument, "Reached end of file without closing quoted field in record")
                }
                Some(b'"') => match reading.next()? {
                    None => break Behind::Nothing,
                    Some(byte) if byte == self.delimiter => break Behind::Field,
                    Some(b'\n') => break Behind::Nothing,
                    Some(b'\r') => {
                        Csv::skip_newline(reading)?;
                        break Behind::Nothing;
                    }
                    Some(b'"') => {
                        if is_wanted {
                            scratch::push(&mut field, b'"')?;
                        }
                    }
                    Some(_) => {
                        is_wanted = false;
                        record.fail(|| {
                            Error::invalid_argument("Quote inside a string has to be escaped by another quote")
                        });
                    }
                },
                Some(byte) => {
                    if is_wanted {
                        scratch::push(&mut field, byte)?;
                    }
                }
            }
        };
        if is_wanted {
            record.put(&field)?;
        }
        Ok(behind)
    }
}

struct CsvIterator {
    dataset: Arc<Csv>,
    /// Which file is read, or is next.
    file: usize,
    reading: Option<Reading>,
}

impl Dataset for Csv {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        UNKNOWN
    }

    fn iterator(self: Arc<Self>, _: &Cx) -> Result<Box<dyn DatasetIterator>> {
        Ok(Box::new(CsvIterator { dataset: self, file: 0, reading: None }))
    }
}

impl CsvIterator {
    fn next_record(&mut self, cx: &Cx) -> Result<Option<Element>> {
        let csv = &self.dataset;
        while self.file < csv.paths.len() {
            cx.check()?;
            let reading = match &mut self.reading {
                Some(reading) => reading,
                none => {
                    let mut reading = match csv.open(self.file) {
                        Ok(reading) => reading,
                        Err(error) => {
                            // Asked again for it, nobody would come to the next.
                            self.file += 1;
                            return Err(error);
                        }
                    };
                    let header = if csv.has_header { csv.record(&mut reading, true) } else { Ok(Some(Vec::new())) };
                    let reading = none.insert(reading);
                    if !matches!(header, Ok(Some(_))) {
                        return Err(Error::invalid_argument("Can't read header of file"));
                    }
                    reading
                }
            };
            if let Some(components) = csv.record(reading, false)? {
                ensure!(
                    components.len() == csv.defaults.len(),
                    InvalidArgument,
                    "Expect {} fields but have {} in record",
                    csv.defaults.len(),
                    components.len()
                );
                return Ok(Some(components));
            }
            self.reading = None;
            self.file += 1;
        }
        Ok(None)
    }
}

impl DatasetIterator for CsvIterator {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(std::future::ready(self.next_record(cx)))
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        saved.set("file", self.file as i64);
        saved.set("place", self.reading.as_ref().map_or(-1, |reading| reading.place() as i64));
        Box::pin(std::future::ready(Ok(())))
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, _: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.file = saved.get("file")? as usize;
            self.reading = None;
            let place = saved.get("place")?;
            if place >= 0 && self.file < self.dataset.paths.len() {
                let mut reading = self.dataset.open(self.file)?;
                reading.bytes.skip(place as u64)?;
                self.reading = Some(reading);
            }
            Ok(())
        })
    }
}

/// Indices of columns, which ascend.
fn columns(ctx: &RawContext<'_>, name: &str) -> Result<Vec<i64>> {
    let tensor = ctx.input_named(name)?;
    ensure!(tensor.rank() == 1, InvalidArgument, "`{name}` must be a vector.");
    scratch::copied(tensor.as_slice::<i64>()?)
}

fn ensure_ascending(columns: &[i64], name: &str) -> Result<()> {
    ensure!(
        columns.is_sorted_by(|first, second| first < second),
        InvalidArgument,
        "{name} should be strictly increasing indices"
    );
    ensure!(columns.first().is_none_or(|&first| first >= 0), InvalidArgument, "{name} should be non-negative indices");
    Ok(())
}

#[register_kernel(device = Cpu, cheap, op = [ops::CSVDataset, ops::CSVDatasetV2, ops::ExperimentalCSVDataset])]
fn csv(spec: &Spec, ctx: &mut RawContext<'_>) -> Result<()> {
    let names: Vec<TString> = vector(ctx, "filenames")?;
    let compression: TString = scalar(ctx, "compression_type")?;
    let defaults = tensors(ctx, "record_defaults")?;
    for (index, default) in defaults.iter().enumerate() {
        ensure!(default.rank() <= 1, InvalidArgument, "Each record default should be at most rank 1");
        ensure!(
            default.num_elements() < 2,
            InvalidArgument,
            "There should only be 1 default per field but field {index} has {}",
            default.num_elements()
        );
    }
    let selected = columns(ctx, "select_cols")?;
    let excluded = match ctx.op().input_index("exclude_cols") {
        Some(_) => columns(ctx, "exclude_cols")?,
        None => Vec::new(),
    };
    let buffer: i64 = scalar(ctx, "buffer_size")?;
    ensure!(buffer > 0, InvalidArgument, "buffer_size should be positive");
    let delimiter: TString = scalar(ctx, "field_delim")?;
    let &[delimiter] = delimiter.as_bytes() else {
        bail!(InvalidArgument, "field_delim should be only 1 char");
    };
    let (has_header, has_quotes) = (scalar(ctx, "header")?, scalar(ctx, "use_quote_delim")?);
    let missing = scalar(ctx, "na_value")?;
    let compression = Compression::named(&compression)?;
    ensure!(
        selected.is_empty() || selected.len() == spec.dtypes.len(),
        InvalidArgument,
        "select_cols should match output size"
    );
    ensure_ascending(&selected, "select_cols")?;
    ensure!(
        selected.is_empty() || excluded.is_empty(),
        InvalidArgument,
        "Either select_cols or exclude_cols should be empty"
    );
    ensure_ascending(&excluded, "exclude_cols")?;
    let paths = scratch::collected_ok(names.iter().map(path_of))?;
    let head = Head::source(spec);
    let (delimiter, missing) = (delimiter, missing);
    set_dataset(
        ctx,
        Csv { head, paths, compression, has_header, delimiter, has_quotes, missing, selected, excluded, defaults },
    )
}
