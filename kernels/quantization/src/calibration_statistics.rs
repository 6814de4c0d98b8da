//! CalibrationStatisticsSaver.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use kernlink::dtype::{DataType, TString};
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{Error, Result, ensure};
use kernlink_kernels_common::files::path_of;
use kernlink_kernels_common::wire::Message;
use kernlink_macros::register_kernel;
use kernlink_ops::CalibrationStatisticsSaver;

/// The parts that a histogram may have. TensorFlow has no limit: two batches whose ranges are unlike enough take all memory.
const MOST_PARTS: f32 = (1 << 24) as f32;

/// What is known of some values.
enum Statistics {
    /// The least and the greatest.
    Range([f32; 2]),
    /// The sums of the least and of the greatest of each batch.
    Average {
        sums: [f32; 2],
        batches: i32,
    },
    Histogram(Histogram),
}

/// How many values lie where. A value that was counted in a part which covers several counts for each by its share.
#[derive(Default)]
struct Histogram {
    start: f32,
    width: f32,
    counts: Vec<f32>,
}

/// The part in which a value lies.
fn place(value: f32, start: f32, width: f32) -> f32 {
    ((value - start) / width).floor()
}

/// How many values lie between `from` and `to`, of parts that begin at `start`; those before it count for the first.
fn values_between(counts: &[i64], width: f32, start: f32, [from, to]: [f32; 2]) -> Result<f32> {
    let mut sum = 0.0;
    let mut from = from.max(start);
    while from < to {
        // What is below the first part was raised to it above.
        let Some(&count) = counts.get(place(from, start, width) as usize) else { break };
        sum += count as f32 * ((to - from).min(width) / width);
        let next = from + width;
        ensure!(
            next > from,
            InvalidArgument,
            "a histogram's parts, {width} wide, are too narrow for numbers like {from}"
        );
        from = next;
    }
    Ok(sum)
}

impl Histogram {
    fn collect(&mut self, least: f32, greatest: f32, counts: &[i64]) -> Result<()> {
        if counts.is_empty() {
            return Ok(());
        }
        let width = f64::from(((greatest - least) / counts.len() as f32).log2().ceil()).exp2() as f32;
        let start = (least / width).floor() * width;
        let end = (greatest / width).ceil() * width;
        ensure!(
            width.is_normal() && start.is_finite() && end.is_finite(),
            InvalidArgument,
            "a histogram of values from {least} to {greatest} has no parts"
        );
        if self.counts.is_empty() {
            (self.start, self.width) = (start, width);
        }
        // Parts before the first, and after the last.
        let before = (-place(start, self.start, self.width)).max(0.0);
        let after = place(end, self.start - self.width * before, self.width);
        ensure!(
            before + self.counts.len() as f32 <= MOST_PARTS && after < MOST_PARTS,
            ResourceExhausted,
            "a histogram of values from {least} to {greatest} has too many parts that are {} wide",
            self.width
        );
        if before > 0.0 {
            let mut counts = scratch::zeros(before as usize)?;
            scratch::append(&mut counts, &self.counts)?;
            self.counts = counts;
            self.start -= self.width * before;
        }
        let first = place(start, self.start, self.width).max(0.0) as usize;
        let last = after.max(0.0) as usize;
        if last >= self.counts.len() {
            scratch::resize(&mut self.counts, last + 1, 0.0)?;
        }
        for (index, slot) in self.counts.iter_mut().enumerate().take(last + 1).skip(first) {
            let from = self.start + index as f32 * self.width;
            *slot += values_between(counts, width, start, [from, from + self.width])?;
        }
        Ok(())
    }
}

impl Statistics {
    /// Of no values. What is no method is the first.
    fn new(method: i32) -> Statistics {
        match method {
            2 => Statistics::Average { sums: [0.0; 2], batches: 0 },
            3..=6 => Statistics::Histogram(Histogram::default()),
            _ => Statistics::Range([f32::MAX, f32::MIN]),
        }
    }

    fn collect(&mut self, least: f32, greatest: f32, counts: &[i64]) -> Result<()> {
        match self {
            Statistics::Range([low, high]) => {
                // NaN changes nothing.
                *low = if least < *low { least } else { *low };
                *high = if *high < greatest { greatest } else { *high };
            }
            Statistics::Average { sums, batches } => {
                *sums = [sums[0] + least, sums[1] + greatest];
                *batches = batches.wrapping_add(1);
            }
            Statistics::Histogram(histogram) => histogram.collect(least, greatest, counts)?,
        }
        Ok(())
    }

    /// A `CalibrationStatistics`; `None` of no values.
    fn message(&self) -> Result<Option<Message>> {
        let mut inner = Message::default();
        let field = match self {
            Statistics::Range([f32::MAX, _]) | Statistics::Average { batches: 0, .. } => return Ok(None),
            Statistics::Range(ends) => {
                floats(&mut inner, *ends)?;
                1
            }
            Statistics::Average { sums, batches } => {
                floats(&mut inner, *sums)?;
                // A negative one has ten bytes, as those of protocol buffers.
                inner.integer(3, i64::from(*batches) as u64)?;
                2
            }
            Statistics::Histogram(Histogram { counts, .. }) if counts.is_empty() => return Ok(None),
            Statistics::Histogram(Histogram { start, width, counts }) => {
                floats(&mut inner, [*width, *start])?;
                let used = counts.iter().rposition(|&count| count != 0.0).map_or(0, |last| last + 1);
                inner.floats(3, &counts[..used])?;
                3
            }
        };
        let mut statistics = Message::default();
        statistics.bytes(field, &inner.finish())?;
        Ok(Some(statistics))
    }
}

/// Appends fields 1 and 2, where they are not 0; −0 is not.
fn floats(message: &mut Message, values: [f32; 2]) -> Result<()> {
    for (field, value) in (1..).zip(values) {
        if value.to_bits() != 0 {
            message.float(field, value)?;
        }
    }
    Ok(())
}

struct SaverKernel {
    values: Vec<(TString, i32)>,
    file: File,
    statistics: Mutex<BTreeMap<TString, Statistics>>,
}

#[register_kernel(device = Cpu)]
impl OpKernel<CalibrationStatisticsSaver> for SaverKernel {
    fn new(ctx: &KernelConstruction<'_, CalibrationStatisticsSaver>) -> Result<Self> {
        let attrs = ctx.attrs();
        ensure!(
            attrs.ids.len() == attrs.calibration_methods.len(),
            Aborted,
            "The `ids` and `calibration_methods` must have the same size."
        );
        ensure!(
            Some(attrs.Tin.len()) == attrs.ids.len().checked_mul(3),
            Aborted,
            "The number of inputs must be  three times the size of the `ids` list."
        );
        for dtypes in attrs.Tin.chunks(3) {
            let wanted = [("min", DataType::Float), ("max", DataType::Float), ("histogram", DataType::Int64)];
            for (dtype, (name, wanted)) in dtypes.iter().zip(wanted) {
                ensure!(*dtype == wanted, Aborted, "The input `{name}` must have {wanted} type.");
            }
        }
        let values = attrs.ids.iter().zip(&attrs.calibration_methods).map(|(id, &method)| {
            let method = i32::try_from(method).map_err(|_| {
                let text = format!("Attr calibration_methods has value {method} out of range for an int32");
                Error::invalid_argument(text)
            })?;
            Ok((TString::from(id.as_str()), method))
        });
        let values = scratch::collected_ok(values)?;
        let path = path_of(&TString::from(attrs.output_file_path.as_str()))?;
        let file = File::create(&path).map_err(|error| Error::from_io(path.display(), &error))?;
        Ok(Self { values, file, statistics: Mutex::default() })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, CalibrationStatisticsSaver>) -> Result<()> {
        // Counts are whole even if a run panicked.
        let mut all = self.statistics.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, (id, method)) in self.values.iter().enumerate() {
            let end = |input: usize, name: &str| -> Result<f32> {
                let tensor: &Tensor = ctx.input_at(3 * index + input)?;
                ensure!(tensor.num_elements() == 1, InvalidArgument, "{name} must be a scalar, not {}", tensor.shape());
                Ok(tensor.as_slice::<f32>()?[0])
            };
            let (least, greatest) = (end(0, "min")?, end(1, "max")?);
            let counts = ctx.input_at(3 * index + 2)?.as_slice::<i64>()?;
            all.entry(id.clone()).or_insert_with(|| Statistics::new(*method)).collect(least, greatest, counts)?;
        }
        Ok(())
    }
}

impl SaverKernel {
    fn save(&mut self) -> Result<()> {
        let mut map = Message::default();
        for (id, statistics) in self.statistics.get_mut().unwrap_or_else(PoisonError::into_inner) {
            let Some(statistics) = statistics.message()? else { continue };
            let mut entry = Message::default();
            entry.bytes(1, id)?;
            entry.bytes(2, &statistics.finish())?;
            map.bytes(1, &entry.finish())?;
        }
        self.file.write_all(&map.finish()).map_err(|error| Error::from_io("calibration statistics", &error))
    }
}

/// TensorFlow writes the file then, too: there is nobody to whom an error could be told.
impl Drop for SaverKernel {
    fn drop(&mut self) {
        _ = self.save();
    }
}
