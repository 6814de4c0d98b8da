//! StringNGrams.

use kernlink::dtype::TString;
use kernlink::error::{Error, Result};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::Shape;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::arena::Arena;
use super::bytes::bytes_of;
use super::map::integers;

/// Bytes of all runs together from which on it is asked for beforehand whether there is memory for them.
const MANY: usize = 1 << 28;

struct NGramsKernel {
    separator: TString,
    left: TString,
    right: TString,
    widths: Vec<usize>,
    /// How far runs reach over the ends; `None` for as far as they can.
    padding: Option<usize>,
    negative_padding: i64,
    keep_short: bool,
}

/// The runs of one width in one row.
struct Runs {
    width: usize,
    padding: usize,
    count: usize,
}

impl NGramsKernel {
    fn runs(&self, row: usize, width: usize) -> Result<Runs> {
        let padding = self.padding.map_or(width - 1, |padding| padding.min(width - 1));
        // TensorFlow counts in 32 bits.
        let most = (i32::MAX as usize - 1).saturating_sub(row) / 2;
        ensure!(
            padding < most,
            InvalidArgument,
            "pad width {padding} is too large for a row of {row} strings: it must be less than {most}"
        );
        Ok(Runs { width, padding, count: (row + 2 * padding + 1).saturating_sub(width) })
    }

    /// The runs of a row, one entry a width; one run of all there is if the row is too short for others.
    fn all_runs(&self, row: usize) -> Result<Vec<Runs>> {
        let runs: Vec<Runs> = self.widths.iter().map(|&width| self.runs(row, width)).collect::<Result<_>>()?;
        if !self.keep_short || row == 0 || runs.iter().any(|runs| runs.count > 0) {
            return Ok(runs);
        }
        let Some(padding) = self.padding else {
            bail!(
                InvalidArgument,
                "Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are not provided, \
                 got {}",
                self.negative_padding
            );
        };
        Ok(vec![Runs { count: 1, ..self.runs(row, row.saturating_add(padding.saturating_mul(2)))? }])
    }

    /// An upper bound of the bytes of these runs.
    fn bytes(&self, runs: &Runs, row: &[TString]) -> Option<usize> {
        let longest = row.iter().map(|text| text.len()).max().unwrap_or(0).max(self.left.len()).max(self.right.len());
        longest.checked_add(self.separator.len())?.checked_mul(runs.width)?.checked_mul(runs.count)
    }

    /// Appends run `index` to `text`.
    fn write(&self, runs: &Runs, index: usize, row: &[TString], text: &mut Vec<u8>) -> Result<()> {
        let left = runs.padding.saturating_sub(index);
        let right = runs.padding.saturating_sub(runs.count - (index + 1));
        // Both ends of a short row may leave no place for it.
        let tokens = runs.width.saturating_sub(left + right);
        let first = if left > 0 { 0 } else { index - runs.padding };
        let mut begun = false;
        let mut add = |part: &[u8]| {
            if std::mem::replace(&mut begun, true) {
                scratch::append(text, &self.separator)?;
            }
            scratch::append(text, part)
        };
        (0..left).try_for_each(|_| add(&self.left))?;
        row.iter().skip(first).take(tokens).try_for_each(|token| add(token))?;
        (0..right).try_for_each(|_| add(&self.right))
    }
}

/// Checks that the splits begin at 0, never fall and end at the number of strings.
fn check_splits(splits: &[i64], strings: usize) -> Result<()> {
    let strings = strings as i64;
    if let Some(&first) = splits.first() {
        ensure!(first == 0, InvalidArgument, "First split value must be 0, got {first}");
    }
    for pair in splits.windows(2) {
        ensure!(
            pair[1] >= pair[0] && pair[1] <= strings,
            InvalidArgument,
            "Invalid split value {}, must be in [{}, {strings}]",
            pair[1],
            pair[0]
        );
    }
    if let Some(&last) = splits.last() {
        ensure!(last == strings, InvalidArgument, "Last split value must be data size. Expected {strings}, got {last}");
    }
    Ok(())
}

#[register_kernel(device = Cpu, Tsplits = [int32, int64])]
impl OpKernel<ops::StringNGrams> for NGramsKernel {
    fn new(ctx: &KernelConstruction<'_, ops::StringNGrams>) -> Result<Self> {
        let attrs = ctx.attrs();
        let small = |value: i64, name: &str| {
            i32::try_from(value).map_err(|_| {
                Error::invalid_argument(format!("Attr {name} has value {value} out of range for an int32"))
            })
        };
        let mut widths = Vec::new();
        for &width in &attrs.ngram_widths {
            small(width, "ngram_widths")?;
            // What is wrong with a width is an error of the run, as in TensorFlow.
            widths.push(usize::try_from(width).unwrap_or(0));
        }
        small(attrs.pad_width, "pad_width")?;
        Ok(Self {
            separator: bytes_of(ctx, "separator")?,
            left: bytes_of(ctx, "left_pad")?,
            right: bytes_of(ctx, "right_pad")?,
            widths,
            padding: usize::try_from(attrs.pad_width).ok(),
            negative_padding: attrs.pad_width,
            keep_short: attrs.preserve_short_sequences,
        })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::StringNGrams>) -> Result<()> {
        ensure!(
            self.widths.iter().all(|&width| width > 0),
            InvalidArgument,
            "ngram_widths must contain positive values"
        );
        let data = ctx.input(ops::StringNGrams::DATA)?.as_slice::<TString>()?;
        let splits = ctx.input(ops::StringNGrams::DATA_SPLITS)?;
        let dtype = splits.dtype();
        let shape = splits.shape().clone();
        let splits = splits.to_i64_vec()?;
        check_splits(&splits, data.len())?;
        let mut ends = scratch::room(splits.len())?;
        let mut total = 0usize;
        ends.extend(splits.first().map(|_| 0));
        let rows = || splits.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]);
        let mut bytes = Some(0usize);
        // Without any string there is nothing to pad either.
        let nothing = data.is_empty();
        for row in rows() {
            for runs in if nothing { Vec::new() } else { self.all_runs(row.len())? } {
                total = total.saturating_add(runs.count);
                bytes = bytes.and_then(|bytes| bytes.checked_add(self.bytes(&runs, row)?));
            }
            ends.push(i64::try_from(total).unwrap_or(i64::MAX));
        }
        if ends.is_empty() {
            // Without rows TensorFlow gives as many empty strings as there are strings.
            total = data.len();
        }
        let mut output = ctx.allocate_output(ops::StringNGrams::NGRAMS, Shape::from([total]))?;
        let fits = |bytes: usize| bytes < MANY || Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        ensure!(bytes.is_some_and(fits), ResourceExhausted, "out of memory: {total} ngrams");
        let out = output.as_mut_slice::<TString>()?;
        let mut arena = Arena::default();
        if !nothing {
            for row in rows() {
                for runs in self.all_runs(row.len())? {
                    let write = |index| arena.push(out, |text| self.write(&runs, index, row, text));
                    (0..runs.count).try_for_each(write)?;
                }
            }
        }
        arena.finish(out);
        ctx.set_output(ops::StringNGrams::NGRAMS, output)?;
        ctx.set_output(ops::StringNGrams::NGRAMS_SPLITS, integers(&ends, dtype)?.reshaped(shape)?)
    }
}
