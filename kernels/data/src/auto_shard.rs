//! A worker's share of a dataset, by a policy.

use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use crate::dataset::{Spec, input_dataset, scalar, to_tensor, with_inputs};
use crate::order::Shard;
use crate::transform::set_transformed;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Off,
    /// By files if the dataset opens some, or else by elements.
    Auto,
    File,
    Data,
    /// Where `shard` was called with a hint. It is refused there, so that no dataset has one.
    Hint,
}

struct AutoShard {
    spec: Spec,
    policy: i64,
}

impl KernelState for AutoShard {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        Ok(Self { spec: Spec::of(ctx)?, policy: ctx.attrs.required("auto_shard_policy")? })
    }
}

#[register_kernel(device = Cpu, cheap, op = [ops::AutoShardDataset, ops::ExperimentalAutoShardDataset])]
fn auto_shard(state: &AutoShard, ctx: &mut RawContext<'_>) -> Result<()> {
    let (workers, index): (i64, i64) = (scalar(ctx, "num_workers")?, scalar(ctx, "index")?);
    ensure!(workers > 0, InvalidArgument, "num_workers must be greater than zero.");
    ensure!((0..workers).contains(&index), InvalidArgument, "index must be between 0 and {}", workers - 1);
    let policy = match state.policy {
        -1 => Policy::Off,
        0 => Policy::Auto,
        1 => Policy::File,
        2 => Policy::Data,
        3 => Policy::Hint,
        other => bail!(InvalidArgument, "auto_shard_policy is invalid: it is −1 to 3, not {other}"),
    };
    let dataset = input_dataset(ctx, 0)?;
    if workers == 1 || matches!(policy, Policy::Off | Policy::Hint) {
        return ctx.set_output_at(0, to_tensor(dataset));
    }
    // TensorFlow deals out the names of files that a function opens, which takes another graph. Whether one opens files, its
    // graph says; a dataset has it no more.
    let may_open_files = with_inputs(&dataset).iter().any(|dataset| dataset.is_of_datasets());
    if policy != Policy::Data && may_open_files {
        bail!(
            Unimplemented,
            "a dataset that `flat_map` or `interleave` makes is not dealt out by files: let auto_shard_policy be 2 (DATA), or \
             deal out the names of the files by `shard` before they are opened"
        );
    }
    ensure!(
        policy != Policy::File,
        NotFound,
        "Did not find a shardable source: no function of the dataset opens files by names from another dataset. Let \
         auto_shard_policy be 2 (DATA) or 0 (AUTO)"
    );
    set_transformed(ctx, &state.spec, Shard { count: workers, index, needs_all: true })
}
