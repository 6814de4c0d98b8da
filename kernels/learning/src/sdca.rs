//! SdcaOptimizer, SdcaOptimizerV2, SdcaShrinkL1, SdcaFprint.

use kernlink::dtype::TString;
use kernlink::error::Result;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction, RawContext};
use kernlink::tensor::{Tensor, scratch};
use kernlink::{bail, ensure};
use kernlink_geometry::random::philox::entropy;
use kernlink_kernels_common::farmhash::fingerprint128;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

use super::draw::Draw;
use super::examples::Examples;
use super::loss::{Case, Loss};
use super::weights::{Model, Regularization};

/// What the attrs say.
struct Options {
    loss: Loss,
    is_adaptive: bool,
    parts: i64,
    regularization: Regularization,
}

impl KernelState for Options {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let attrs = ctx.attrs;
        let groups: [i64; 2] = [attrs.required("num_sparse_features")?, attrs.required("num_dense_features")?];
        ensure!(groups != [0, 0], InvalidArgument, "Requires at least one feature to train.");
        let name: String = attrs.required("loss_type")?;
        Ok(Options {
            loss: Loss::from_name(&name)?,
            // The first version misspells it.
            is_adaptive: attrs.required("adaptive").or_else(|_| attrs.required("adaptative"))?,
            parts: attrs.required("num_loss_partitions")?,
            regularization: Regularization::new(attrs.required("l1")?, attrs.required("l2")?),
        })
    }
}

#[register_kernel(device = Cpu, op = [ops::SdcaOptimizer, ops::SdcaOptimizerV2])]
fn sdca_optimizer(options: &Options, ctx: &mut RawContext<'_>) -> Result<()> {
    let mut model = Model::new(ctx, options.regularization, options.parts)?;
    let examples = Examples::new(ctx, &model)?;
    let state = ctx.input_named("example_state_data")?;
    ensure!(state.rank() == 2, InvalidArgument, "example_state_data must be rank 2 but is rank {}", state.rank());
    ensure!(
        state.shape()[..] == [examples.len(), 4],
        InvalidArgument,
        "Expected shape [{},4] for example_state_data, got {}",
        examples.len(),
        state.shape()
    );
    let mut state = Tensor::from_elements(state.shape(), state.as_slice::<f32>()?)?;
    let rows = state.as_mut_slice::<f32>()?.as_chunks_mut::<4>().0;
    let mut random = Draw::new(entropy() as i64);
    let order = match options.is_adaptive {
        true => adaptive_order(options, &model, &examples, rows, &mut random)?,
        false => shuffled(examples.len(), &mut random)?,
    };
    for n in order {
        let row = &mut rows[n];
        let dual = f64::from(row[0]);
        let case = Case { label: options.loss.label(examples.labels[n])?, weight: f64::from(examples.weights[n]) };
        let example = examples.example(n);
        let predictions = model.predict(example)?;
        let norm = examples.norms[n] / options.regularization.l2 * options.parts as f64;
        let new = options.loss.updated_dual(case, dual, predictions.now, norm);
        model.add(example, (new - dual) * case.weight / options.regularization.l2)?;
        let losses = [options.loss.primal(case, predictions.before), options.loss.dual(case, dual)];
        *row = [new as f32, losses[0] as f32, losses[1] as f32, examples.weights[n]];
    }
    let deltas = model.into_deltas()?;
    for (output, delta) in (1..).zip(deltas) {
        ctx.set_output_at(output, delta)?;
    }
    ctx.set_output_at(0, state)
}

/// The numbers of all examples in a random order.
fn shuffled(count: usize, random: &mut Draw) -> Result<Vec<usize>> {
    let mut order: Vec<usize> = scratch::collected(0..count)?;
    for left in (2..=count).rev() {
        order.swap(left - 1, random.below(left as u64) as usize);
    }
    Ok(order)
}

/// As many examples as there are, drawn with chances that grow with how far from right each is: AdaSDCA (D. Csiba and others,
/// 2015). Each time that one is taken its chance is divided by 10; those never taken fill what is left, the likeliest first.
fn adaptive_order(
    options: &Options,
    model: &Model<'_>,
    examples: &Examples<'_>,
    state: &[[f32; 4]],
    random: &mut Draw,
) -> Result<Vec<usize>> {
    let count = examples.len();
    let smoothness = options.regularization.l2 * options.loss.smoothness();
    let chance = |n: usize| -> Result<f32> {
        let label = options.loss.label(examples.labels[n])?;
        let prediction = model.predict(examples.example(n))?.now;
        let residue = f64::from(state[n][0]) + options.loss.slope(label, prediction);
        Ok((f64::from(examples.weights[n]) * (examples.norms[n] + smoothness).sqrt() * residue.abs()) as f32)
    };
    let chances: Vec<f32> = scratch::collected_ok((0..count).map(chance))?;
    let mut total = 0.0;
    let sums: Vec<f64> = scratch::collected(chances.iter().map(|&chance| {
        total += f64::from(chance.max(0.0));
        total
    }))?;
    let mut taken = scratch::zeros::<i32>(count)?;
    let mut order = scratch::room(count)?;
    let mut vain = 0;
    while order.len() < count && vain < count && total > 0.0 {
        let drawn = f64::from(random.float()) * total;
        let n = sums.partition_point(|&sum| sum <= drawn).min(count - 1);
        if f64::from(random.float()) > 0.1f64.powi(taken[n]) {
            vain += 1;
            continue;
        }
        taken[n] += 1;
        order.push(n);
    }
    let mut others: Vec<usize> = scratch::collected((0..count).filter(|&n| taken[n] == 0))?;
    others.sort_unstable_by(|&a, &b| chances[b].total_cmp(&chances[a]).then(a.cmp(&b)));
    others.truncate(count - order.len());
    scratch::append(&mut order, &others)?;
    Ok(order)
}

#[register_kernel(
    device = Cpu,
    state = |ctx| Ok(Regularization::new(ctx.attrs().l1, ctx.attrs().l2)),
)]
fn shrink_l1(regularization: &Regularization, ctx: &mut KernelContext<'_, ops::SdcaShrinkL1>) -> Result<()> {
    for input in ctx.input_range(ops::SdcaShrinkL1::WEIGHTS) {
        let reference = ctx.reference_at(input)?;
        let mut place = reference.lock()?;
        let Some(mut weights) = place.take() else {
            bail!(FailedPrecondition, "Attempting to use uninitialized value, the weights in input {input}");
        };
        let shrunk = weights.make_unique().and_then(|()| weights.as_mut_slice::<f32>()).map(|weights| {
            weights.iter_mut().for_each(|weight| *weight = regularization.shrink32(*weight));
        });
        // The weights stay if there is no memory to change them.
        place.replace(weights)?;
        shrunk?;
    }
    Ok(())
}

#[register_kernel(device = Cpu)]
fn fingerprint(ctx: &mut KernelContext<'_, ops::SdcaFprint>) -> Result<()> {
    let input = ctx.input(ops::SdcaFprint::INPUT)?;
    ensure!(input.rank() == 1, InvalidArgument, "Input must be a vector, got shape {}", input.shape());
    let texts = input.as_slice::<TString>()?;
    let mut output = ctx.allocate_output(ops::SdcaFprint::OUTPUT, [texts.len(), 2])?;
    for (slot, text) in output.as_mut_slice::<i64>()?.as_chunks_mut::<2>().0.iter_mut().zip(texts) {
        let [low, high] = fingerprint128(text);
        // 0 and 1 are left to those who need numbers that no text has.
        *slot = [if low >= 2 { low } else { low.wrapping_sub(2) } as i64, high as i64];
    }
    ctx.set_output(ops::SdcaFprint::OUTPUT, output)
}
