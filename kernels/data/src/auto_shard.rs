//! A worker's share of a dataset, by a policy.

use std::sync::Arc;

use kernlink::error::Code;
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::{Error, Result, bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;
use prost::Message;

use crate::brought::{Place, without_retvals};
use crate::dataset::{Dataset, input_dataset, scalar, to_tensor};
use crate::nodes::Nodes;
use crate::shard_graph::Sharding;
use crate::whole::options_of;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Off,
    /// By files if the dataset opens some, or else by elements.
    Auto,
    File,
    Data,
    /// Where `shard` was called with a hint.
    Hint,
}

struct AutoShard {
    policy: i64,
    replicas: i64,
    place: Place,
}

impl KernelState for AutoShard {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let replicas = match ctx.attrs.get("num_replicas") {
            Some(_) => ctx.attrs.required("num_replicas")?,
            None => 0,
        };
        Ok(Self { policy: ctx.attrs.required("auto_shard_policy")?, replicas, place: Place::of(ctx)? })
    }
}

/// The parts of TensorFlow's `tensorflow.data.Options` that say how a dataset is dealt out.
#[derive(Clone, PartialEq, Message)]
struct Options {
    #[prost(message, optional, tag = "2")]
    distribute_options: Option<DistributeOptions>,
}

#[derive(Clone, PartialEq, Message)]
struct DistributeOptions {
    #[prost(int32, tag = "1")]
    auto_shard_policy: i32,
}

/// The policy that options ask for; `None` if that is any.
fn policy_of(options: &[u8]) -> Result<Option<i64>> {
    let options =
        Options::decode(options).map_err(|_| Error::invalid_argument("Could not parse the dataset's options"))?;
    let policy = options.distribute_options.unwrap_or_default().auto_shard_policy;
    Ok((policy != 0).then_some(policy.into()))
}

/// The nodes of a worker's share of a dataset.
fn share(dataset: &Arc<dyn Dataset>, policy: Policy, (workers, index): (i64, i64), replicas: i64) -> Result<Nodes> {
    let mut share = Sharding::new(Nodes::as_known(dataset)?, workers, index)?;
    match policy {
        Policy::Off => {}
        Policy::File => share.by_files()?,
        Policy::Data => share.by_elements(replicas)?,
        Policy::Hint => share.by_hint()?,
        Policy::Auto => match share.by_files() {
            // As with TensorFlow, what was changed until then stays.
            Err(error) if error.code() == Code::NotFound => share.by_elements(replicas)?,
            result => result?,
        },
    }
    Ok(share.into_nodes())
}

#[register_kernel(device = Cpu, op = [ops::AutoShardDataset, ops::ExperimentalAutoShardDataset])]
async fn auto_shard(state: &AutoShard, ctx: &mut RawContext<'_>) -> Result<()> {
    let (workers, index): (i64, i64) = (scalar(ctx, "num_workers")?, scalar(ctx, "index")?);
    ensure!(workers > 0, InvalidArgument, "num_workers must be greater than zero.");
    ensure!((0..workers).contains(&index), InvalidArgument, "index must be between 0 and {}", workers - 1);
    let dataset = input_dataset(ctx, 0)?;
    let policy = match policy_of(&options_of(&dataset)?)?.unwrap_or(state.policy) {
        -1 => Policy::Off,
        0 => Policy::Auto,
        1 => Policy::File,
        2 => Policy::Data,
        3 => Policy::Hint,
        _ => bail!(InvalidArgument, "auto_shard_policy is invalid."),
    };
    ensure!(state.replicas >= 0, InvalidArgument, "num_replicas should be >= 0");
    if policy == Policy::Off || (policy == Policy::File && workers == 1) {
        return ctx.set_output_at(0, to_tensor(dataset));
    }
    let (graph, feeds) = share(&dataset, policy, (workers, index), state.replicas)?.to_def_and_feeds()?;
    let output = graph.node.last().and_then(|retval| retval.input.first()).cloned().unwrap_or_default();
    let share = state.place.dataset(ctx, without_retvals(graph), &output, feeds).await?;
    ctx.set_output_at(0, share)
}
