//! DecodeCSV.

use std::borrow::Cow;

use kernlink::dtype::{DataType, Element, TString};
use kernlink::error::{Result, shortened_bytes};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{bail, ensure};
use kernlink_kernels_common::example::wire::part_of;
use kernlink_kernels_common::parsed::{Parsed, parse_number};
use kernlink_macros::register_kernel;
use kernlink_ops::DecodeCSV;

struct DecodeCsvKernel {
    delimiter: u8,
    has_quotes: bool,
    missing: Vec<u8>,
    /// The columns that are wanted, ascending; all if there are none.
    selected: Vec<usize>,
}

/// A column that is being filled.
enum Column<'o> {
    Float(Cells<'o, f32>),
    Double(Cells<'o, f64>),
    Int32(Cells<'o, i32>),
    Int64(Cells<'o, i64>),
    Bytes(Cells<'o, TString>),
}

struct Cells<'o, T> {
    values: &'o mut [T],
    default: Option<T>,
}

impl<'o, T: Element> Cells<'o, T> {
    fn new(output: &'o mut Tensor, default: &Tensor) -> Result<Cells<'o, T>> {
        Ok(Cells { values: output.as_mut_slice()?, default: default.as_slice::<T>()?.first().cloned() })
    }

    /// Sets a cell to the value of its field; `None` if it has none.
    fn set(&mut self, row: usize, value: Option<T>) -> Option<()> {
        self.values[row] = value?;
        Some(())
    }

    fn set_default(&mut self, row: usize) -> Option<()> {
        self.set(row, self.default.clone())
    }
}

impl<'o> Column<'o> {
    fn new(output: &'o mut Tensor, default: &Tensor) -> Result<Column<'o>> {
        Ok(match output.dtype() {
            DataType::Float => Column::Float(Cells::new(output, default)?),
            DataType::Double => Column::Double(Cells::new(output, default)?),
            DataType::Int32 => Column::Int32(Cells::new(output, default)?),
            DataType::Int64 => Column::Int64(Cells::new(output, default)?),
            DataType::String => Column::Bytes(Cells::new(output, default)?),
            dtype => bail!(InvalidArgument, "csv: data type {dtype} not supported"),
        })
    }

    fn set_default(&mut self, row: usize) -> Option<()> {
        match self {
            Column::Float(cells) => cells.set_default(row),
            Column::Double(cells) => cells.set_default(row),
            Column::Int32(cells) => cells.set_default(row),
            Column::Int64(cells) => cells.set_default(row),
            Column::Bytes(cells) => cells.set_default(row),
        }
    }

    /// Sets a cell; `None` if the field is no number.
    fn set(&mut self, row: usize, field: &[u8], record: &TString) -> Option<()> {
        fn number<T: Parsed>(cells: &mut Cells<'_, T>, row: usize, field: &[u8]) -> Option<()> {
            cells.set(row, parse_number(field))
        }
        match self {
            Column::Float(cells) => number(cells, row, field),
            Column::Double(cells) => number(cells, row, field),
            Column::Int32(cells) => number(cells, row, field),
            Column::Int64(cells) => number(cells, row, field),
            Column::Bytes(cells) => cells.set(row, Some(part_of(record, field))),
        }
    }

    fn dtype(&self) -> DataType {
        match self {
            Column::Float(_) => DataType::Float,
            Column::Double(_) => DataType::Double,
            Column::Int32(_) => DataType::Int32,
            Column::Int64(_) => DataType::Int64,
            Column::Bytes(_) => DataType::String,
        }
    }
}

#[register_kernel(device = Cpu)]
impl OpKernel<DecodeCSV> for DecodeCsvKernel {
    fn new(ctx: &KernelConstruction<'_, DecodeCSV>) -> Result<Self> {
        let attrs = ctx.attrs();
        let &[delimiter] = attrs.field_delim.as_bytes() else {
            bail!(InvalidArgument, "field_delim should be only 1 char, not '{}'", attrs.field_delim);
        };
        let selected = &attrs.select_cols;
        ensure!(
            selected.is_empty() || selected.len() == attrs.OUT_TYPE.len(),
            InvalidArgument,
            "select_cols should match output size: there are {} for {} outputs",
            selected.len(),
            attrs.OUT_TYPE.len()
        );
        ensure!(
            selected.is_sorted_by(|first, second| first < second),
            InvalidArgument,
            "select_cols should be strictly increasing indices"
        );
        let indices = selected.iter().map(|&column| usize::try_from(column).ok()).collect::<Option<Vec<_>>>();
        let Some(selected) = indices else {
            bail!(InvalidArgument, "select_cols should be non-negative indices");
        };
        let missing = attrs.na_value.clone().into_bytes();
        Ok(Self { delimiter, has_quotes: attrs.use_quote_delim, missing, selected })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, DecodeCSV>) -> Result<()> {
        type Op = DecodeCSV;
        let records = ctx.input(Op::RECORDS)?;
        let defaults = ctx.input_list(Op::RECORD_DEFAULTS);
        for (column, default) in defaults.iter().enumerate() {
            ensure!(
                default.num_elements() < 2,
                InvalidArgument,
                "There should only be 1 default per field but field {column} has {}",
                default.num_elements()
            );
            ensure!(
                default.rank() <= 1,
                InvalidArgument,
                "Each record default should be at most rank 1, and that of field {column} has shape {}",
                default.shape()
            );
        }
        let mut outputs = defaults
            .iter()
            .map(|default| Tensor::alloc(default.dtype(), records.shape()))
            .collect::<Result<Vec<_>>>()?;
        let mut columns = outputs
            .iter_mut()
            .zip(defaults.iter())
            .map(|(output, default)| Column::new(output, default))
            .collect::<Result<Vec<_>>>()?;
        for (row, record) in records.as_slice::<TString>()?.iter().enumerate() {
            let mut count = 0;
            self.fields(record, |field| {
                if let Some(column) = columns.get_mut(count) {
                    self.put(column, count, row, &field, record)?;
                }
                count += 1;
                Ok(())
            })?;
            ensure!(
                count == columns.len(),
                InvalidArgument,
                "Expect {} fields but have {count} in record {row}",
                columns.len()
            );
        }
        ctx.set_output_list(Op::OUTPUT, outputs)
    }
}

impl DecodeCsvKernel {
    fn put(&self, column: &mut Column<'_>, index: usize, row: usize, field: &[u8], record: &TString) -> Result<()> {
        if field.is_empty() || field == self.missing {
            let set = column.set_default(row);
            ensure!(set.is_some(), InvalidArgument, "Field {index} is required but missing in record {row}!");
        } else {
            let set = column.set(row, field, record);
            ensure!(
                set.is_some(),
                InvalidArgument,
                "Field {index} in record {row} is not a valid {}: {}",
                column.dtype(),
                shortened_bytes(field)
            );
        }
        Ok(())
    }

    /// Visits the fields that are wanted.
    fn fields<'r>(&self, record: &'r [u8], mut visit: impl FnMut(Cow<'r, [u8]>) -> Result<()>) -> Result<()> {
        let (mut at, mut number, mut selected) = (0, 0, 0);
        let is_wanted = |number: usize, selected: usize| {
            self.selected.is_empty() || self.selected.get(selected).is_some_and(|&column| column == number)
        };
        while at < record.len() {
            // Line breaks between fields do not count.
            if matches!(record[at], b'\n' | b'\r') {
                at += 1;
                continue;
            }
            let (field, end) = if self.has_quotes && record[at] == b'"' {
                self.quoted(record, at + 1)?
            } else {
                self.plain(record, at)?
            };
            at = end;
            if is_wanted(number, selected) {
                visit(field)?;
                selected += 1;
                if selected == self.selected.len() {
                    return Ok(());
                }
            }
            number += 1;
        }
        // Behind the last delimiter there is a field, too.
        if record.last() == Some(&self.delimiter) && is_wanted(number, selected) {
            visit(Cow::Borrowed(&[]))?;
        }
        Ok(())
    }

    /// A field without quotes, and where the next one begins.
    fn plain<'r>(&self, record: &'r [u8], start: usize) -> Result<(Cow<'r, [u8]>, usize)> {
        let rest = &record[start..];
        let length = rest.iter().position(|&byte| byte == self.delimiter).unwrap_or(rest.len());
        let field = &rest[..length];
        ensure!(
            !field.iter().any(|&byte| matches!(byte, b'\n' | b'\r') || (byte == b'"' && self.has_quotes)),
            InvalidArgument,
            "Unquoted fields cannot have quotes/CRLFs inside: {}",
            shortened_bytes(field)
        );
        Ok((Cow::Borrowed(field), start + length + 1))
    }

    /// A field whose quote has been passed over, and where the next one begins.
    fn quoted<'r>(&self, record: &'r [u8], start: usize) -> Result<(Cow<'r, [u8]>, usize)> {
        // Bytes before the last quote that stood for itself.
        let mut copied: Option<Vec<u8>> = None;
        let (mut at, mut from) = (start, start);
        // The last byte can only be the closing quote.
        while at + 1 < record.len() && (record[at] != b'"' || record[at + 1] != self.delimiter) {
            if record[at] != b'"' {
                at += 1;
                continue;
            }
            ensure!(
                record[at + 1] == b'"',
                InvalidArgument,
                "Quote inside a string has to be escaped by another quote: {}",
                shortened_bytes(record)
            );
            let copied = copied.get_or_insert_default();
            copied.make_room(at + 1 - from)?;
            copied.extend_from_slice(&record[from..=at]);
            at += 2;
            from = at;
        }
        ensure!(
            record.get(at) == Some(&b'"') && record.get(at + 1).is_none_or(|&byte| byte == self.delimiter),
            InvalidArgument,
            "Quoted field has to end with quote followed by delim or end: {}",
            shortened_bytes(record)
        );
        let tail = &record[from..at];
        let field = match copied {
            None => Cow::Borrowed(tail),
            Some(mut copied) => {
                scratch::append(&mut copied, tail)?;
                Cow::Owned(copied)
            }
        };
        Ok((field, at + 2))
    }
}
