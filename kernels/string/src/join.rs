//! StringJoin, ReduceJoin, UnsortedSegmentJoin, StringFormat.

use kernlink::dtype::TString;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_kernels_common::summarize::{Style, summarize};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::bytes::bytes_of;
use super::map::fill;

/// The bytes of several strings, with what stands between them.
fn length<'a>(parts: impl Iterator<Item = &'a TString>, separator: &[u8]) -> usize {
    parts.fold(0, |length: usize, part| length.saturating_add(part.len() + separator.len()))
}

/// Several strings as one.
fn joined<'a>(parts: impl Iterator<Item = &'a TString> + Clone, separator: &[u8]) -> Result<TString> {
    let mut text = scratch::room(length(parts.clone(), separator))?;
    for (index, part) in parts.enumerate() {
        if index > 0 {
            text.extend_from_slice(separator);
        }
        text.extend_from_slice(part);
    }
    Ok(text.into())
}

#[register_kernel(device = Cpu, state = |ctx| bytes_of(ctx, "separator"))]
fn string_join(separator: &TString, ctx: &mut KernelContext<'_, ops::StringJoin>) -> Result<()> {
    let mut shape = Shape::scalar();
    let mut inputs = Vec::with_capacity(ctx.num_inputs());
    for input in ctx.input_list(ops::StringJoin::INPUTS).iter() {
        if input.rank() > 0 {
            ensure!(
                shape.rank() == 0 || shape == *input.shape(),
                InvalidArgument,
                "Input shapes do not match: {shape} vs. {}",
                input.shape()
            );
            shape = input.shape().clone();
        }
        inputs.push((input.as_slice::<TString>()?, usize::from(input.rank() > 0)));
    }
    let mut output = ctx.allocate_output(ops::StringJoin::OUTPUT, shape)?;
    let cost = 50 + 20 * inputs.len();
    fill(ctx, output.as_mut_slice::<TString>()?, cost, |index| {
        joined(inputs.iter().map(|&(input, step)| &input[index * step]), separator)
    })?;
    ctx.set_output(ops::StringJoin::OUTPUT, output)
}

/// Sizes and strides of some dimensions, the first of which is walked slowest.
#[derive(Default)]
struct Walk(Vec<(usize, usize)>);

impl Walk {
    fn count(&self) -> usize {
        self.0.iter().map(|&(size, _)| size).product()
    }

    /// Where element `index` of the walk stands.
    fn at(&self, mut index: usize) -> usize {
        let mut at = 0;
        for &(size, stride) in self.0.iter().rev() {
            at += index % size * stride;
            index /= size;
        }
        at
    }
}

/// Whether ReduceJoin keeps dimensions, and what it puts between strings.
struct Reduction {
    keep_dims: bool,
    separator: TString,
}

#[register_kernel(
    device = Cpu,
    state = |ctx| Ok(Reduction { keep_dims: ctx.attrs().keep_dims, separator: bytes_of(ctx, "separator")? })
)]
fn reduce_join(attrs: &Reduction, ctx: &mut KernelContext<'_, ops::ReduceJoin>) -> Result<()> {
    let input = ctx.input(ops::ReduceJoin::INPUTS)?;
    let (shape, rank) = (input.shape(), input.rank() as i64);
    let strides = shape.strides();
    let mut reduced = vec![false; input.rank()];
    // The first dimension that is named is walked fastest.
    let mut inner = Walk::default();
    for axis in ctx.input(ops::ReduceJoin::REDUCTION_INDICES)?.to_i64_vec()?.into_iter().rev() {
        ensure!(
            (-rank..rank).contains(&axis),
            OutOfRange,
            "Invalid reduction dimension {axis} for input with {rank} dimension(s)"
        );
        let place = axis.rem_euclid(rank) as usize;
        ensure!(!std::mem::replace(&mut reduced[place], true), InvalidArgument, "Duplicate reduction dimension {axis}");
        inner.0.push((shape[place], strides[place]));
    }
    let (mut outer, mut result) = (Walk::default(), Shape::scalar());
    for axis in 0..shape.rank() {
        if !reduced[axis] {
            outer.0.push((shape[axis], strides[axis]));
            result.push(shape[axis]);
        } else if attrs.keep_dims {
            result.push(1);
        }
    }
    let strings = input.as_slice::<TString>()?;
    let count = inner.count();
    let mut output = ctx.allocate_output(ops::ReduceJoin::OUTPUT, result)?;
    fill(ctx, output.as_mut_slice::<TString>()?, 50 + 20 * count, |index| {
        let start = outer.at(index);
        joined((0..count).map(|index| &strings[start + inner.at(index)]), &attrs.separator)
    })?;
    ctx.set_output(ops::ReduceJoin::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    op = ops::UnsortedSegmentJoin,
    Tindices = [int32, int64],
    Tnumsegments = [int32, int64],
    state = |ctx| bytes_of(ctx, "separator"),
)]
fn unsorted_segment_join(separator: &TString, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let input = ctx.input(O::INPUTS)?;
    let segments = ctx.input(O::SEGMENT_IDS)?;
    let count = ctx.input(O::NUM_SEGMENTS)?.to_i64_vec()?;
    let [count] = count[..] else { bail!(InvalidArgument, "Number of segments must be a scalar.") };
    let Ok(count) = usize::try_from(count) else {
        bail!(InvalidArgument, "Number of segments must not be negative, got {count}");
    };
    let (shape, rank) = (input.shape(), segments.rank());
    ensure!(rank != 0, InvalidArgument, "Segment_id cannot have rank 0");
    ensure!(
        rank <= input.rank(),
        OutOfRange,
        "Invalid segment_id rank {rank} for input with {} dimension(s)",
        input.rank()
    );
    if let Some(axis) = (0..rank).find(|&axis| segments.shape()[axis] != shape[axis]) {
        bail!(
            InvalidArgument,
            "Segment dimension is {} while input dimension is {} in rank {axis}",
            segments.shape()[axis],
            shape[axis]
        );
    }
    let ids = segments.to_i64_vec()?;
    ensure!(
        ids.iter().all(|&id| usize::try_from(id).is_ok_and(|id| id < count)),
        InvalidArgument,
        "segment_ids are not allowed to exceed num_segments or to have negative values."
    );
    let mut result = Shape::from([count]);
    shape[rank..].iter().for_each(|&size| result.push(size));
    result.check()?;
    let inner: usize = shape[rank..].iter().product();
    let strings = input.as_slice::<TString>()?;
    let mut output = ctx.allocate_output(O::OUTPUT, result)?;
    // The rows of each segment, one segment after another, each in the rows' order.
    let mut rows: Vec<usize> = scratch::collected(0..ids.len())?;
    rows.sort_unstable_by_key(|&row| (ids[row], row));
    let out = output.as_mut_slice::<TString>()?;
    for group in rows.chunk_by(|&a, &b| ids[a] == ids[b]) {
        let segment = ids[group[0]] as usize;
        for (place, slot) in out[segment * inner..(segment + 1) * inner].iter_mut().enumerate() {
            let parts = group.iter().map(|&row| &strings[row * inner + place]);
            let mut text = scratch::room(length(parts.clone(), separator))?;
            for part in parts {
                // As in TensorFlow, no separator follows as long as there is only nothing.
                if !text.is_empty() {
                    text.extend_from_slice(separator);
                }
                text.extend_from_slice(part);
            }
            *slot = text.into();
        }
    }
    ctx.set_output(O::OUTPUT, output)
}

/// A template's parts between placeholders. An empty placeholder stands between any two bytes.
fn split(template: &[u8], placeholder: &[u8]) -> Result<Vec<Vec<u8>>> {
    let (mut parts, mut rest) = (Vec::new(), template);
    while placeholder.is_empty() && rest.len() > 1 {
        scratch::push(&mut parts, scratch::copied(&rest[..1])?)?;
        rest = &rest[1..];
    }
    while let Some(at) = rest.windows(placeholder.len().max(1)).position(|bytes| bytes == placeholder) {
        scratch::push(&mut parts, scratch::copied(&rest[..at])?)?;
        rest = &rest[at + placeholder.len()..];
    }
    scratch::push(&mut parts, scratch::copied(rest)?)?;
    Ok(parts)
}

struct FormatKernel {
    parts: Vec<Vec<u8>>,
    summarize: i64,
}

#[register_kernel(device = Cpu)]
impl OpKernel<ops::StringFormat> for FormatKernel {
    fn new(ctx: &KernelConstruction<'_, ops::StringFormat>) -> Result<Self> {
        let attrs = ctx.attrs();
        let parts = split(&bytes_of(ctx, "template")?, &bytes_of(ctx, "placeholder")?)?;
        let inputs = ctx.input_len(ops::StringFormat::INPUTS);
        ensure!(
            inputs == parts.len() - 1,
            InvalidArgument,
            "num placeholders in template and num inputs must match: {} vs. {inputs}",
            parts.len() - 1
        );
        Ok(Self { parts, summarize: attrs.summarize })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::StringFormat>) -> Result<()> {
        let mut text = scratch::copied(&self.parts[0])?;
        for (input, part) in ctx.input_list(ops::StringFormat::INPUTS).iter().zip(&self.parts[1..]) {
            scratch::append(&mut text, &summarize(input, self.summarize, Style::Edges)?)?;
            scratch::append(&mut text, part)?;
        }
        ctx.set_output(ops::StringFormat::OUTPUT, Tensor::scalar(TString::from(text)))
    }
}
