//! Tables filled from the lines of a text file.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::str::FromStr;

use kernlink::dtype::{DataType, TString};
use kernlink::error::{shortened, shortened_bytes};
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, bail, ensure};
use kernlink_kernels_common::tables::Table;

const LINE_NUMBER: i64 = -1;
const WHOLE_LINE: i64 = -2;

/// What of each line is the key and what the value.
pub(super) struct Lines {
    key: i64,
    value: i64,
    /// How many lines are read; −1 for all.
    size: i64,
    delimiter: u8,
    offset: i64,
}

/// The keys or the values read so far.
enum Field {
    Ints32(Vec<i32>),
    Ints64(Vec<i64>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
    Texts(Vec<TString>),
}

fn parse<T: FromStr>(token: &[u8], line: i64, kind: &str) -> Result<T> {
    let text = std::str::from_utf8(token).ok().map(str::trim);
    text.and_then(|text| text.parse().ok()).ok_or_else(|| {
        let token = shortened_bytes(token);
        Error::invalid_argument(format!("Field {token} in line {line} is not a valid {kind}."))
    })
}

/// Appends the next line, with its end; whether there was one. `BufRead::read_until` whose memory may be refused.
fn read_line(file: &mut impl BufRead, line: &mut Vec<u8>, name: &str) -> Result<bool> {
    loop {
        let read = match file.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.map_err(|error| Error::from_io(name, &error))?,
        };
        let end = read.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
        let (taken, is_whole) = (end.unwrap_or(read.len()), end.is_some() || read.is_empty());
        scratch::append(line, &read[..taken])?;
        file.consume(taken);
        if is_whole {
            return Ok(!line.is_empty());
        }
    }
}

impl Field {
    fn new(dtype: DataType) -> Result<Field> {
        Ok(match dtype {
            DataType::Int32 => Field::Ints32(Vec::new()),
            DataType::Int64 => Field::Ints64(Vec::new()),
            DataType::Float => Field::Floats(Vec::new()),
            DataType::Double => Field::Doubles(Vec::new()),
            DataType::String => Field::Texts(Vec::new()),
            other => bail!(InvalidArgument, "Data type {other} not supported."),
        })
    }

    fn push(&mut self, token: &[u8], line: i64, offset: i64) -> Result<()> {
        match self {
            Field::Ints32(values) => {
                scratch::push(values, parse::<i32>(token, line, "int32")?.wrapping_add(offset as i32))
            }
            Field::Ints64(values) => scratch::push(values, parse(token, line, "int64")?),
            Field::Floats(values) => scratch::push(values, parse(token, line, "float")?),
            Field::Doubles(values) => scratch::push(values, parse(token, line, "double")?),
            Field::Texts(values) => scratch::push(values, scratch::copied(token)?.into()),
        }
    }

    fn into_tensor(self) -> Result<Tensor> {
        match self {
            Field::Ints32(values) => Tensor::vector(&values),
            Field::Ints64(values) => Tensor::vector(&values),
            Field::Floats(values) => Tensor::vector(&values),
            Field::Doubles(values) => Tensor::vector(&values),
            Field::Texts(values) => Tensor::vector(&values),
        }
    }
}

impl KernelState for Lines {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let int = |name| ctx.attrs.required::<i64>(name);
        let delimiter: String = ctx.attrs.required("delimiter")?;
        let &[delimiter] = delimiter.as_bytes() else {
            bail!(InvalidArgument, "delimiter should be only 1 char");
        };
        let (key, value) = (int("key_index")?, int("value_index")?);
        Ok(Lines { key, value, size: int("vocab_size")?, delimiter, offset: int("offset")? })
    }
}

/// The name of a file.
fn file_name(name: &TString) -> Result<&str> {
    let name = std::str::from_utf8(name).map_err(|_| {
        Error::invalid_argument(format!("a file name must be UTF-8, and `{}` is not", shortened_bytes(name)))
    })?;
    ensure!(!name.is_empty(), InvalidArgument, "filename cannot be empty.");
    Ok(name)
}

/// The first `size` lines of the file that a scalar names, or all if it is −1, and their numbers.
pub(super) fn lines(name: &Tensor, size: i64, what: &str) -> Result<(Tensor, Tensor)> {
    ensure!(name.rank() == 0, InvalidArgument, "{what} should be a single string, but got {}", name.shape());
    let name = name.to_scalar::<TString>()?;
    let name = file_name(&name)?;
    ensure!(size != 0, OutOfRange, "Finished reading 0 of lines from {}", shortened(name));
    let lines = Lines { key: WHOLE_LINE, value: LINE_NUMBER, size, delimiter: b'\t', offset: 0 };
    lines.read_file(name, DataType::String, DataType::Int64)
}

impl Lines {
    /// Checks that what stands at `index` can be of this dtype.
    fn ensure_fits(index: i64, dtype: DataType, what: &str) -> Result<()> {
        ensure!(
            index != LINE_NUMBER || dtype == DataType::Int64,
            InvalidArgument,
            "{what} index for line number requires table {what} dtype of int64, got {dtype}"
        );
        ensure!(
            index != WHOLE_LINE || dtype.is_integer() || dtype == DataType::String,
            InvalidArgument,
            "{what} index for whole line requires string or integer table {what}, got {dtype}"
        );
        Ok(())
    }

    /// Fills the table of input 0 from the file that input 1 names.
    pub(super) fn fill(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let table = ctx.resource_at::<Table>(0)?;
        let name = ctx.input_at(1)?;
        ensure!(
            name.num_elements() == 1,
            InvalidArgument,
            "filename should be a single string, but got {}",
            name.shape()
        );
        let name = name.to_scalar::<TString>()?;
        let name = file_name(&name)?;
        Lines::ensure_fits(self.key, table.key_dtype, "key")?;
        Lines::ensure_fits(self.value, table.value_dtype, "value")?;
        if table.is_filled() {
            // Nodes that share a table by its name may all want to fill it.
            return Ok(());
        }
        let (keys, values) = self.read_file(name, table.key_dtype, table.value_dtype)?;
        match table.initialize(&keys, &values) {
            Err(error) if table.is_filled() => drop(error),
            result => result.map_err(|error| error.context(shortened(name)))?,
        }
        Ok(())
    }

    fn read_file(&self, name: &str, key: DataType, value: DataType) -> Result<(Tensor, Tensor)> {
        let cannot_read = |error| Error::from_io(format!("cannot read {}", shortened(name)), &error);
        let about = std::fs::metadata(name).map_err(cannot_read)?;
        // Read and not mapped: the graph itself may write this file meanwhile.
        ensure!(about.is_file() || about.is_dir(), InvalidArgument, "cannot read {name}: it is no regular file");
        let file = BufReader::new(File::open(name).map_err(cannot_read)?);
        self.read(file, name, key, value)
    }

    fn read(&self, mut file: impl BufRead, name: &str, key: DataType, value: DataType) -> Result<(Tensor, Tensor)> {
        let (mut keys, mut values) = (Field::new(key)?, Field::new(value)?);
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            if !read_line(&mut file, &mut line, name)? {
                break;
            }
            let has_end = line.pop_if(|byte| *byte == b'\n').is_some();
            _ = line.pop_if(|byte| *byte == b'\r');
            if line.is_empty() && !has_end {
                break;
            }
            if self.size != -1 && number >= self.size {
                return Ok((keys.into_tensor()?, values.into_tensor()?));
            }
            let place = number + 1;
            ensure!(!line.is_empty(), InvalidArgument, "Invalid content in {name}: empty line found at line {place}.");
            let taken = self.take(&line, self.key, number, &mut keys);
            let taken = taken.and_then(|()| self.take(&line, self.value, number, &mut values));
            taken.map_err(|error| error.context(name))?;
            number += 1;
        }
        ensure!(
            self.size == -1 || number == self.size,
            InvalidArgument,
            "Invalid vocab_size in {name}: expected {} but got {number}",
            self.size
        );
        ensure!(number > 0, OutOfRange, "{name} has no lines");
        Ok((keys.into_tensor()?, values.into_tensor()?))
    }

    /// Adds what stands at `index` of a line, of which `number` are before it.
    fn take(&self, line: &[u8], index: i64, number: i64, field: &mut Field) -> Result<()> {
        let place = number + 1;
        match (index, field) {
            (LINE_NUMBER, Field::Ints64(values)) => scratch::push(values, number.wrapping_add(self.offset)),
            (WHOLE_LINE, field) => field.push(line, place, self.offset),
            (column, field) => {
                let mut columns = line.split(|&byte| byte == self.delimiter);
                match usize::try_from(column).ok().and_then(|column| columns.nth(column)) {
                    Some(token) => field.push(token, place, self.offset),
                    None => bail!(
                        InvalidArgument,
                        "Invalid number of columns in line {place} ({}) : expected at least {} got {}",
                        shortened_bytes(line),
                        column + 1,
                        line.split(|&byte| byte == self.delimiter).count()
                    ),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_carriage_return_belongs_to_the_end_of_a_line() {
        let lines = Lines { key: WHOLE_LINE, value: LINE_NUMBER, size: -1, delimiter: b'\t', offset: 0 };
        let words = |text: &[u8]| {
            let (keys, _) = lines.read(text, "words", DataType::String, DataType::Int64)?;
            keys.as_slice::<TString>()
                .map(|words| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>())
        };
        assert_eq!(words(b"x\ry\r\r\nz\n\r\r\n").unwrap(), [&b"x\ry\r"[..], b"z", b"\r"]);
        assert_eq!(words(b"a\n\r").unwrap(), [b"a"]);
        assert_eq!(words(b"a\r").unwrap(), [b"a"]);
        assert!(words(b"\r\na\n").unwrap_err().message().contains("empty line found at line 1"));
    }
}
