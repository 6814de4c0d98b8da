//! InTopK and InTopKV2.

use kernlink::dtype::DataType;
use kernlink::kernel::{Attrs, KernelContext, RawContext};
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::{InTopK, InTopKV2};

/// Output 0: whether the predictions of input 0 for the targets of input 1 are among the `k` greatest.
fn in_top_k(ctx: &mut RawContext<'_>, k: i64) -> Result<()> {
    let (predictions, targets) = (ctx.input_at(0)?, ctx.input_at(1)?);
    let shape = predictions.shape();
    ensure!(shape.rank() == 2, InvalidArgument, "predictions must be 2-dimensional, not {shape}");
    ensure!(targets.rank() == 1, InvalidArgument, "targets must be 1-dimensional, not {}", targets.shape());
    ensure!(
        targets.num_elements() == shape[0],
        InvalidArgument,
        "there must be as many targets as rows of predictions, {}, not {}",
        shape[0],
        targets.num_elements()
    );
    let classes = shape[1];
    let (predictions, targets) = (predictions.as_slice::<f32>()?, targets.to_i64_vec()?);
    let mut output = ctx.allocate_output_at(0, [targets.len()])?;
    ctx.parallel_chunks(output.as_mut_slice::<bool>()?, 1, classes, |first, piece| {
        for (index, found) in piece.iter_mut().enumerate() {
            let row = &predictions[(first + index) * classes..][..classes];
            let target = usize::try_from(targets[first + index]).ok().and_then(|target| row.get(target));
            *found = target.is_some_and(|&target| is_among(row, target, k));
        }
    });
    ctx.set_output_at(0, output)
}

/// Whether less than `k` predictions are greater. Nothing can be said if some are not finite; what comes after more
/// than `k` greater ones is not looked at.
fn is_among(row: &[f32], target: f32, k: i64) -> bool {
    if !target.is_finite() {
        return false;
    }
    let mut greater = 0;
    for &prediction in row {
        if !prediction.is_finite() {
            return false;
        }
        if prediction > target {
            greater += 1;
            if greater > k {
                break;
            }
        }
    }
    greater < k
}

#[register_kernel(device = Cpu, host_memory = ["predictions", "targets", "precision"], T = [int32, int64])]
fn in_top_k_kernel(attrs: &Attrs<InTopK>, ctx: &mut KernelContext<'_, InTopK>) -> Result<()> {
    in_top_k(ctx, attrs.k)
}

#[register_kernel(device = Cpu, host_memory = ["predictions", "targets", "k", "precision"], T = [int32, int64])]
fn in_top_kv2(ctx: &mut KernelContext<'_, InTopKV2>) -> Result<()> {
    let k = ctx.input(InTopKV2::K)?;
    ensure!(k.rank() == 0, InvalidArgument, "k must be a scalar, not of shape {}", k.shape());
    let k = match k.dtype() {
        DataType::Int32 => k.as_slice::<i32>()?[0].into(),
        _ => k.as_slice::<i64>()?[0],
    };
    in_top_k(ctx, k)
}
