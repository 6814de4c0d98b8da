//! SoftmaxCrossEntropyWithLogits and SparseSoftmaxCrossEntropyWithLogits.

use std::sync::Mutex;

use kernlink::dtype::Pod;
use kernlink::kernel::{KernelContext, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Result, bail};
use kernlink_geometry::loss::{cross_entropy, sparse_cross_entropy};
use kernlink_kernels_common::number::Computed;
use kernlink_macros::register_kernel;
use kernlink_ops::{SoftmaxCrossEntropyWithLogits, SparseSoftmaxCrossEntropyWithLogits};

use super::narrow::widened;
use super::softmax::exp;
use super::vector::widest;

/// Nanoseconds an element takes, or so.
const COST: usize = 2;

/// How a dtype's rows are compared.
trait Entropy: Pod {
    /// The cross entropy of probabilities and logits; `gradient`, which holds the logits, becomes softmax - labels.
    fn dense(gradient: &mut [Self], labels: &[Self]) -> Self;

    /// As [`Entropy::dense`] for one class alone, which is below the number of logits.
    fn sparse(gradient: &mut [Self], label: usize) -> Self;
}

impl Entropy for f32 {
    fn dense(gradient: &mut [f32], labels: &[f32]) -> f32 {
        dense_f32(gradient, labels)
    }

    fn sparse(gradient: &mut [f32], label: usize) -> f32 {
        sparse_f32(gradient, label)
    }
}

/// Replaces logits by their distance from the greatest. Returns the logarithm of the sum of the powers.
fn shift_f64(row: &mut [f64]) -> f64 {
    let largest = row.iter().fold(f64::NEG_INFINITY, |largest, &logit| largest.max(logit));
    row.iter_mut().for_each(|logit| *logit -= largest);
    row.iter().map(|shifted| shifted.exp()).sum::<f64>().ln()
}

impl Entropy for f64 {
    fn dense(gradient: &mut [f64], labels: &[f64]) -> f64 {
        let log = shift_f64(gradient);
        let mut loss = 0.0;
        for (element, &label) in gradient.iter_mut().zip(labels) {
            loss += label * (log - *element);
            *element = (*element - log).exp() - label;
        }
        loss
    }

    fn sparse(gradient: &mut [f64], label: usize) -> f64 {
        let log = shift_f64(gradient);
        let loss = log - gradient[label];
        gradient.iter_mut().for_each(|element| *element = (*element - log).exp());
        gradient[label] -= 1.0;
        loss
    }
}

/// Sums kept side by side, so that they fill vectors.
const LANES: usize = 16;

/// The greatest logit and the sum of the powers of all others' distances from it. NaN if one is.
#[inline(always)]
fn powers(row: &[f32]) -> (f32, f32) {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in row.chunks(LANES) {
        for (lane, &logit) in lanes.iter_mut().zip(chunk) {
            *lane = if logit > *lane { logit } else { *lane };
        }
    }
    let largest = lanes.iter().fold(f32::NEG_INFINITY, |largest, &lane| largest.max(lane));
    let mut sums = [0.0f32; LANES];
    for chunk in row.chunks(LANES) {
        for (sum, &logit) in sums.iter_mut().zip(chunk) {
            *sum += exp(logit - largest);
        }
    }
    (largest, sums.iter().sum())
}

widest! {
    fn dense_f32(row: &mut [f32], labels: &[f32]) -> f32 {
        let (largest, sum) = powers(row);
        let (log, scale) = (sum.ln(), 1.0 / sum);
        let mut losses = [0.0f32; LANES];
        for (row, labels) in row.chunks_mut(LANES).zip(labels.chunks(LANES)) {
            for ((loss, element), &label) in losses.iter_mut().zip(row).zip(labels) {
                let shifted = *element - largest;
                *loss += label * (log - shifted);
                *element = exp(shifted) * scale - label;
            }
        }
        losses.iter().sum()
    }
}

widest! {
    fn sparse_f32(row: &mut [f32], label: usize) -> f32 {
        let (largest, sum) = powers(row);
        let (log, scale) = (sum.ln(), 1.0 / sum);
        let loss = log - (row[label] - largest);
        row.iter_mut().for_each(|element| *element = exp(*element - largest) * scale);
        row[label] -= 1.0;
        loss
    }
}

/// Makes the gradients, which hold the logits, and the losses: `row(number, gradient)` does one.
fn each_row<T: Computed<Wide: Entropy>>(
    ctx: &RawContext<'_>,
    gradient: &mut Tensor,
    loss: &mut Tensor,
    row: impl Fn(usize, &mut [T::Wide]) -> T::Wide + Sync,
) -> Result<()> {
    let classes = gradient.shape()[1];
    let losses = loss.as_mut_slice::<T>()?;
    if classes == 0 {
        losses.fill(T::ZERO);
        return Ok(());
    }
    let losses = Mutex::new(losses);
    ctx.try_parallel_chunks(gradient.as_mut_slice::<T>()?, classes, COST, |first, piece| {
        let first = first / classes;
        let loss = |(index, piece)| T::on_wide(piece, |piece| row(first + index, piece)).map(T::narrow);
        let some: Vec<T> = scratch::collected_ok(piece.chunks_exact_mut(classes).enumerate().map(loss))?;
        let mut losses = losses.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        losses[first..first + some.len()].copy_from_slice(&some);
        Ok(())
    })
}

/// Copies a tensor of at most two dimensions into a matrix, broadcast.
fn spread<T: Pod>(source: &Tensor, target: &mut [T], columns: usize) -> Result<()> {
    let elements = source.as_slice::<T>()?;
    let size = |from_end: usize| source.rank().checked_sub(from_end).map_or(1, |axis| source.shape()[axis]);
    let (rows, width) = (size(2), size(1));
    for (index, row) in target.chunks_exact_mut(columns.max(1)).enumerate() {
        let start = if rows == 1 { 0 } else { index * width };
        match width {
            1 => row.fill(elements[start]),
            _ => row.copy_from_slice(&elements[start..start + width]),
        }
    }
    Ok(())
}

#[register_kernel(device = Cpu, op = SoftmaxCrossEntropyWithLogits, T = [f16, bf16, f32, f64])]
fn softmax_cross_entropy<T: Computed<Wide: Entropy>>(ctx: &mut KernelContext<'_, O>) -> Result<()> {
    let (logits, labels) = (ctx.input(O::FEATURES)?, ctx.input(O::LABELS)?.clone());
    let sizes @ [rows, classes] = cross_entropy(logits.shape(), labels.shape())?;
    let shape = Shape::from(sizes);
    let mut loss = ctx.allocate_output(O::LOSS, [rows])?;
    let logits = logits.clone();
    let same = *logits.shape() == shape;
    let mut gradient = ctx.allocate_output(O::BACKPROP, shape.clone())?;
    if same {
        gradient.as_mut_slice::<T>()?.copy_from_slice(logits.as_slice::<T>()?);
    } else if gradient.num_elements() > 0 {
        spread(&logits, gradient.as_mut_slice::<T>()?, classes)?;
    }
    let labels = if *labels.shape() == shape || shape.num_elements() == 0 {
        labels
    } else {
        let mut all = Tensor::alloc(T::DTYPE, shape)?;
        spread(&labels, all.as_mut_slice::<T>()?, classes)?;
        all
    };
    let labels = widened::<T>(Some(ctx), &labels)?;
    let labels = labels.as_slice::<T::Wide>()?;
    each_row::<T>(ctx, &mut gradient, &mut loss, |row, piece| {
        T::Wide::dense(piece, &labels[row * classes..][..classes])
    })?;
    ctx.set_output(O::LOSS, loss)?;
    ctx.set_output(O::BACKPROP, gradient)
}

#[register_kernel(device = Cpu, T = [f16, bf16, f32, f64], Tlabels = [int32, int64])]
fn sparse_softmax_cross_entropy<T: Computed<Wide: Entropy>>(
    ctx: &mut KernelContext<'_, SparseSoftmaxCrossEntropyWithLogits>,
) -> Result<()> {
    type Op = SparseSoftmaxCrossEntropyWithLogits;
    let (logits, labels) = (ctx.input(Op::FEATURES)?, ctx.input(Op::LABELS)?);
    let shape = logits.shape().clone();
    let [_, classes] = sparse_cross_entropy(&shape, labels.shape())?;
    let labels = labels.to_i64_vec()?;
    if let Some(label) = labels.iter().find(|&&label| usize::try_from(label).map_or(true, |label| label >= classes)) {
        bail!(InvalidArgument, "label {label} is outside the valid range of [0, {classes})");
    }
    let mut loss = ctx.allocate_output(Op::LOSS, [shape[0]])?;
    let mut gradient = match ctx.forward_input(Op::FEATURES, Op::BACKPROP, &shape) {
        Some(logits) => logits,
        None => {
            let mut copy = ctx.allocate_output(Op::BACKPROP, shape)?;
            copy.as_mut_slice::<T>()?.copy_from_slice(ctx.input(Op::FEATURES)?.as_slice::<T>()?);
            copy
        }
    };
    each_row::<T>(ctx, &mut gradient, &mut loss, |row, piece| T::Wide::sparse(piece, labels[row] as usize))?;
    ctx.set_output(Op::LOSS, loss)?;
    ctx.set_output(Op::BACKPROP, gradient)
}
