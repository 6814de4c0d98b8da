//! ComputeAccidentalHits.

use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink_kernels_common::hash::Map;
use kernlink_macros::register_kernel;
use kernlink_ops::ComputeAccidentalHits;

type Op = ComputeAccidentalHits;

#[register_kernel(device = Cpu)]
fn compute_accidental_hits(attrs: &Attrs<Op>, ctx: &mut KernelContext<'_, Op>) -> Result<()> {
    let (classes, candidates) = (ctx.input(Op::TRUE_CLASSES)?, ctx.input(Op::SAMPLED_CANDIDATES)?);
    let columns = attrs.num_true;
    ensure!(
        classes.rank() == 2 && classes.shape()[1] as i64 == columns,
        InvalidArgument,
        "true_classes must be a matrix with num_true = {columns} columns, not of shape {}",
        classes.shape()
    );
    ensure!(
        candidates.rank() == 1,
        InvalidArgument,
        "sampled_candidates must be a vector, such as a sampler gives, not of shape {}",
        candidates.shape()
    );
    let candidates = candidates.as_slice::<i64>()?;
    let mut places = Map::default();
    places.make_room(candidates.len())?;
    // Of a candidate that is there twice the last place counts.
    places.extend((0i64..).zip(candidates).map(|(place, &candidate)| (candidate, place)));
    let (mut rows, mut ids) = (Vec::new(), Vec::new());
    if columns > 0 {
        for (row, classes) in (0i32..).zip(classes.as_slice::<i64>()?.chunks_exact(columns as usize)) {
            for place in classes.iter().filter_map(|class| places.get(class)) {
                scratch::push(&mut rows, row)?;
                scratch::push(&mut ids, *place)?;
            }
        }
    }
    ctx.set_output(Op::WEIGHTS, Tensor::vector(&scratch::filled(f32::MIN, rows.len())?)?)?;
    ctx.set_output(Op::INDICES, Tensor::vector(&rows)?)?;
    ctx.set_output(Op::IDS, Tensor::vector(&ids)?)
}
