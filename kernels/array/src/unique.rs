//! What occurs in a tensor: Unique, UniqueWithCounts, UniqueV2, UniqueWithCountsV2, ListDiff.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use bytemuck::AnyBitPattern;
use kernlink::dtype::{DataType, TString};
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::tensor::scratch::{self, MakeRoom};

use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{bail, ensure};
use kernlink_geometry::integers::{axis as resolve_axis, vector};
use kernlink_kernels_common::hash::{Map, Set};
use kernlink_kernels_common::rows::take_rows;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::shapes::tensor_of;

/// Gives every element of any dtype a word, so that elements are equal if their words are. No NaN equals another.
#[derive(Default)]
struct Words<'a> {
    strings: Map<&'a [u8], u64>,
    nans: u64,
}

impl<'a> Words<'a> {
    fn of(&mut self, tensor: &'a Tensor) -> Result<Vec<u64>> {
        let float = match tensor.dtype() {
            DataType::String => {
                let strings = tensor.as_slice::<TString>()?.iter();
                return scratch::collected_ok(strings.map(|string| {
                    let next = self.strings.len() as u64;
                    self.strings.make_room(1)?;
                    Ok(*self.strings.entry(string.as_bytes()).or_insert(next))
                }));
            }
            // TensorFlow takes the two zeros of 16-bit floats for different, those of wider ones for equal.
            DataType::Half => Some((0x7c00, 0x8000)),
            DataType::Bfloat16 => Some((0x7f80, 0x8000)),
            DataType::Float => Some((0x7f80_0000, 1 << 31)),
            DataType::Double => Some((0x7ff0_0000_0000_0000, 1 << 63)),
            _ => None,
        };
        let bytes = tensor.bytes()?;
        match tensor.dtype().size() {
            1 => self.plain::<u8>(bytes, float),
            2 => self.plain::<u16>(bytes, float),
            4 => self.plain::<u32>(bytes, float),
            8 => self.plain::<u64>(bytes, float),
            _ => bail!(InvalidArgument, "elements of {} cannot be told apart", tensor.dtype()),
        }
    }

    /// `float` is, for floats, the bits of the exponent and the sign.
    fn plain<W: AnyBitPattern + Into<u64>>(&mut self, bytes: &[u8], float: Option<(u64, u64)>) -> Result<Vec<u64>> {
        let words = bytes.chunks_exact(size_of::<W>()).map(|word| bytemuck::pod_read_unaligned::<W>(word).into());
        let Some((exponent, sign)) = float else { return scratch::collected(words) };
        scratch::collected(words.map(|word: u64| match word & !sign {
            0 if size_of::<W>() > 2 => 0,
            // What all NaNs become is a number's word for none of the floats, whatever their size.
            magnitude if magnitude > exponent => {
                self.nans += 1;
                0xfff8_0000_0000_0000 | self.nans
            }
            _ => word,
        }))
    }
}

/// The number that each item gets if equal ones share theirs and new ones count up, and where each number first occurs.
fn number<K: Hash + Eq>(items: impl ExactSizeIterator<Item = K>) -> Result<(Vec<i64>, Vec<usize>)> {
    let mut known: Map<K, i64> = Map::default();
    let (mut numbers, mut first) = (scratch::room(items.len())?, Vec::new());
    for (place, item) in items.enumerate() {
        let next = first.len() as i64;
        known.make_room(1)?;
        numbers.push(match known.entry(item) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                scratch::push(&mut first, place)?;
                *entry.insert(next)
            }
        });
    }
    Ok((numbers, first))
}

/// All four ops: those with an axis have it as input 1, those with counts give them as output 2.
#[register_kernel(
    device = Cpu,
    op = [ops::Unique, ops::UniqueWithCounts, ops::UniqueV2, ops::UniqueWithCountsV2],
    out_idx = [int32, int64],
    T = [realnumbertype, bool, string],
)]
fn unique(ctx: &mut RawContext<'_>) -> Result<()> {
    let input = ctx.input_at(0)?;
    ensure!(
        input.num_elements() <= i32::MAX as usize,
        InvalidArgument,
        "unique does not support input tensors larger than {} elements",
        i32::MAX
    );
    let axes = if ctx.num_inputs() > 1 { vector(ctx.input_at(1)?, "axis")? } else { Vec::new() };
    let axis = match axes[..] {
        [] => {
            ensure!(input.rank() == 1, InvalidArgument, "unique expects a 1D vector.");
            0
        }
        [axis] => resolve_axis(axis, input.rank(), "axis")?,
        _ => bail!(InvalidArgument, "axis does not support input tensors larger than 1 elements"),
    };
    let count = input.shape()[axis];
    let outer: usize = input.shape()[..axis].iter().product();
    let inner: usize = input.shape()[axis + 1..].iter().product();
    let words = Words::default().of(input)?;
    let (numbers, first) = if outer == 1 && inner == 1 {
        number(words.iter())?
    } else {
        let size = outer * inner;
        let mut slices = scratch::room(words.len())?;
        // There may be more slices without elements than can be counted.
        let copied = if words.is_empty() { 0 } else { count };
        for slice in 0..copied {
            (0..outer).for_each(|o| slices.extend_from_slice(&words[(o * count + slice) * inner..][..inner]));
        }
        number((0..count).map(|slice| &slices[slice * size..][..size]))?
    };

    let mut shape = input.shape().clone();
    shape.dims_mut()[axis] = first.len();
    let mut y = ctx.allocate_output_at(0, shape)?;
    take_rows(ctx, &mut y, input, inner, &|row| Some(row / first.len() * count + first[row % first.len()]))?;
    if ctx.num_outputs() > 2 {
        let mut counts = scratch::zeros(first.len())?;
        numbers.iter().for_each(|&number| counts[number as usize] += 1);
        let counts = tensor_of(&counts, ctx.output_dtype_at(2)?, Shape::from([counts.len()]))?;
        ctx.set_output_at(2, counts)?;
    }
    let idx = tensor_of(&numbers, ctx.output_dtype_at(1)?, Shape::from([count]))?;
    ctx.set_output_at(0, y)?;
    ctx.set_output_at(1, idx)
}

#[register_kernel(device = Cpu, out_idx = [int32, int64], T = [realnumbertype, string])]
fn list_diff(ctx: &mut KernelContext<'_, ops::ListDiff>) -> Result<()> {
    let (x, y) = (ctx.input(ops::ListDiff::X)?, ctx.input(ops::ListDiff::Y)?);
    for (tensor, name) in [(x, "x"), (y, "y")] {
        ensure!(tensor.rank() == 1, InvalidArgument, "{name} should be a 1D vector, not of shape {}", tensor.shape());
    }
    ensure!(x.num_elements() < i32::MAX as usize, InvalidArgument, "x too large for int32 indexing");
    let mut words = Words::default();
    let mut without: Set<u64> = Set::default();
    for word in words.of(y)? {
        without.make_room(1)?;
        without.insert(word);
    }
    let left = words.of(x)?.into_iter().enumerate().filter(|(_, word)| !without.contains(word));
    let left: Vec<i64> = scratch::collected(left.map(|(index, _)| index as i64))?;
    let mut out = ctx.allocate_output(ops::ListDiff::OUT, [left.len()])?;
    take_rows(ctx, &mut out, x, 1, &|row| Some(left[row] as usize))?;
    let idx = tensor_of(&left, ctx.output_dtype_at(1)?, Shape::from([left.len()]))?;
    ctx.set_output(ops::ListDiff::OUT, out)?;
    ctx.set_output(ops::ListDiff::IDX, idx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_elements_apart() {
        let floats = Tensor::vector(&[0.0f64, -0.0, 1.0, f64::NAN, f64::NAN, f64::INFINITY, -1.0]).unwrap();
        let words = Words::default().of(&floats).unwrap();
        assert_eq!(number(words.iter()).unwrap(), (vec![0, 0, 1, 2, 3, 4, 5], vec![0, 2, 3, 4, 5, 6]));
        let strings = Tensor::vector(&[TString::from("a"), TString::from(""), TString::from("a")]).unwrap();
        assert_eq!(Words::default().of(&strings).unwrap(), [0, 1, 0]);
    }
}
