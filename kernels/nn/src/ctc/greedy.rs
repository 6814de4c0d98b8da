//! CTCGreedyDecoder.

use kernlink::dtype::Number;
use kernlink::kernel::{Attrs, KernelContext};
use kernlink::tensor::scratch;
use kernlink::{Result, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops::CTCGreedyDecoder;

use super::Logit;
use super::decoded::{Sequences, set_decoded};

type Op = CTCGreedyDecoder;

#[register_kernel(device = Cpu, T = [f32, f64])]
fn ctc_greedy_decoder<T: Logit>(attrs: &Attrs<Op>, ctx: &mut KernelContext<'_, Op>) -> Result<()> {
    let sequences = Sequences::<T>::new(ctx)?;
    let (batch, classes) = (sequences.batch, sequences.classes);
    let given = i32::try_from(attrs.blank_index).map_err(|_| {
        kernlink::Error::invalid_argument(format!("blank_index {} exceeds what an int32 holds", attrs.blank_index))
    })?;
    let blank = i64::from(given) + if given < 0 { classes as i64 } else { 0 };
    ensure!(
        (0..classes as i64).contains(&blank),
        InvalidArgument,
        "blank_index must be from {} to {}, not {given}",
        -(classes as i64),
        classes - 1
    );
    // The labels of a sequence, and the sum of its best logits.
    let mut decoded = scratch::filled((Vec::new(), <T as Number>::ZERO), batch)?;
    let cost = sequences.time.saturating_mul(classes);
    ctx.try_parallel_chunks(&mut decoded, 1, cost, |first, decoded| {
        for (sequence, (labels, sum)) in (first..).zip(decoded) {
            let mut before = None;
            for logits in sequences.steps(sequence) {
                let mut best = 0;
                for (class, logit) in logits.iter().enumerate() {
                    best = if *logit > logits[best] { class } else { best };
                }
                *sum += -logits[best];
                if best as i64 != blank && !(attrs.merge_repeated && before == Some(best)) {
                    scratch::push(labels, best as i32)?;
                }
                before = Some(best);
            }
        }
        Ok(())
    })?;
    let mut sums = ctx.allocate_output(Op::LOG_PROBABILITY, [batch, 1])?;
    for (target, (_, sum)) in sums.as_mut_slice::<T>()?.iter_mut().zip(&decoded) {
        *target = *sum;
    }
    set_decoded(ctx, (0, 1), decoded.iter().map(|(labels, _)| &labels[..]))?;
    ctx.set_output(Op::LOG_PROBABILITY, sums)
}
