//! What a cell with long short-term memory computes of one entry of a batch, element by element.

use kernlink::Result;
use kernlink::kernel::{KernelState, RawConstruction};
use kernlink_kernels_common::fast;

use super::Cell;
use crate::vector::widest;

/// The attrs of a cell.
pub(super) struct Lstm {
    forget_bias: f32,
    cell_clip: f32,
    pub(super) has_peepholes: bool,
    /// Whether the forget gate's weights come before those of the offer.
    forgets_first: bool,
}

impl KernelState for Lstm {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        // The second version has no bias of the forget gate, and gradients have no use for it nor for the limit.
        let number = |name: &str| ctx.attrs.get(name).map_or(Ok(0.0), |_| ctx.attrs.required::<f32>(name));
        Ok(Self {
            forget_bias: number("forget_bias")?,
            cell_clip: number("cell_clip")?,
            has_peepholes: ctx.attrs.required("use_peephole")?,
            forgets_first: ctx.op.name.ends_with("V2"),
        })
    }
}

/// The parts of what holds four gates.
pub(super) struct Gates<S> {
    pub(super) input: S,
    pub(super) offer: S,
    pub(super) forget: S,
    pub(super) output: S,
}

impl Lstm {
    /// Of four equal parts, which gate is which.
    fn gates<S>(&self, [input, second, third, output]: [S; 4]) -> Gates<S> {
        let (offer, forget) = if self.forgets_first { (third, second) } else { (second, third) };
        Gates { input, offer, forget, output }
    }

    /// The parts of four gates of `cell` elements each.
    pub(super) fn parts<'a, T>(&self, gates: &'a [T], cell: usize) -> Gates<&'a [T]> {
        self.gates([0, 1, 2, 3].map(|part| &gates[part * cell..][..cell]))
    }

    fn parts_mut<'a, T>(&self, gates: &'a mut [T], cell: usize) -> Gates<&'a mut [T]> {
        let mut parts = gates.chunks_exact_mut(cell);
        self.gates([(); 4].map(|()| parts.next().unwrap_or_default()))
    }
}

/// What a step reads of one entry.
pub(super) struct Before<'a, T> {
    /// The sums of the gates' products.
    pub(super) sums: &'a [T],
    pub(super) biases: &'a [T],
    pub(super) state: &'a [T],
    /// Of the gates of input, forgetting and output.
    pub(super) peepholes: [&'a [T]; 3],
}

/// What a step writes, in the order of the op's outputs: `i`, `cs`, `f`, `o`, `ci`, `co`, `h`.
pub(super) type Written<'a, T> = [&'a mut [T]; 7];

/// The number as its dtype keeps it.
#[inline(always)]
fn kept<T: Cell>(number: f32) -> f32 {
    T::narrow(number).widen()
}

widest! {
    /// The step of one entry.
    pub(super) fn forward<T: Cell>(lstm: &Lstm, before: &Before<'_, T>, written: &mut Written<'_, T>) {
        let cell = written[0].len();
        let (sums, biases) = (lstm.parts(before.sums, cell), lstm.parts(before.biases, cell));
        let state = &before.state[..cell];
        let has_peepholes = lstm.has_peepholes;
        let [wci, wcf, wco] = before.peepholes.map(|weights| &weights[..cell]);
        let [i, cs, f, o, ci, co, h] = written;
        let [i, cs, f, o, ci, co, h] = [i, cs, f, o, ci, co, h].map(|part| &mut part[..cell]);
        let (bias, limit) = (kept::<T>(lstm.forget_bias), kept::<T>(lstm.cell_clip));
        for k in 0..cell {
            let previous = state[k].widen();
            let sum = |sums: &[T], biases: &[T]| kept::<T>(sums[k].widen() + biases[k].widen());
            let seen = |weights: &[T], state: f32| if has_peepholes { weights[k].widen() * state } else { 0.0 };
            let input = kept::<T>(fast::sigmoid(sum(sums.input, biases.input) + seen(wci, previous)));
            let offer = kept::<T>(fast::tanh(sum(sums.offer, biases.offer)));
            let forget = kept::<T>(fast::sigmoid(sum(sums.forget, biases.forget) + bias + seen(wcf, previous)));
            let mut next = kept::<T>(input * offer + forget * previous);
            if limit > 0.0 {
                next = if next < -limit { -limit } else { next };
                next = if next > limit { limit } else { next };
            }
            let squashed = kept::<T>(fast::tanh(next));
            let output = kept::<T>(fast::sigmoid(sum(sums.output, biases.output) + seen(wco, next)));
            i[k] = T::narrow(input);
            cs[k] = T::narrow(next);
            f[k] = T::narrow(forget);
            o[k] = T::narrow(output);
            ci[k] = T::narrow(offer);
            co[k] = T::narrow(squashed);
            h[k] = T::narrow(output * squashed);
        }
    }
}

/// What the way back through a step reads of one entry.
pub(super) struct After<'a, T> {
    /// The state before the step.
    pub(super) state: &'a [T],
    /// `i`, `cs`, `f`, `o`, `ci`, `co` of the step.
    pub(super) step: [&'a [T]; 6],
    /// What flows back into the state after it, beside what is in `state_flow`.
    pub(super) state_grad: &'a [T],
    /// What flows back into the output, from outside and from the step that follows.
    pub(super) output_grads: [&'a [T]; 2],
    pub(super) peepholes: [&'a [T]; 3],
}

widest! {
    /// The way back through the step of one entry: what flows back into the gates before their functions, and into the state
    /// before the step, in place of what flows into the one after it.
    pub(super) fn backward<T: Cell>(lstm: &Lstm, after: &After<'_, T>, gates: &mut [T], state_flow: &mut [T]) {
        let cell = state_flow.len();
        let has_peepholes = lstm.has_peepholes;
        let state = &after.state[..cell];
        let [wci, wcf, wco] = after.peepholes.map(|weights| &weights[..cell]);
        let [i, _, f, o, ci, co] = after.step.map(|part| &part[..cell]);
        let (state_grad, [first, second]) = (&after.state_grad[..cell], after.output_grads.map(|grad| &grad[..cell]));
        let flow = lstm.parts_mut(gates, cell);
        let parts = [flow.input, flow.offer, flow.forget, flow.output].map(|part| &mut part[..cell]);
        let [to_input, to_offer, to_forget, to_output] = parts;
        for k in 0..cell {
            let at = |part: &[T]| part[k].widen();
            let (input, forget, output, offer, squashed) = (at(i), at(f), at(o), at(ci), at(co));
            let back = at(first) + at(second);
            let of_output = kept::<T>(output * (1.0 - output) * back * squashed);
            let mut of_state = (1.0 - squashed * squashed) * back * output + (state_flow[k].widen() + at(state_grad));
            if has_peepholes {
                of_state += of_output * at(wco);
            }
            let of_offer = kept::<T>((1.0 - offer * offer) * of_state * input);
            let of_forget = kept::<T>(forget * (1.0 - forget) * of_state * at(state));
            let of_input = kept::<T>(input * (1.0 - input) * of_state * offer);
            let mut before = of_state * forget;
            if has_peepholes {
                before += of_input * at(wci) + of_forget * at(wcf);
            }
            to_input[k] = T::narrow(of_input);
            to_offer[k] = T::narrow(of_offer);
            to_forget[k] = T::narrow(of_forget);
            to_output[k] = T::narrow(of_output);
            state_flow[k] = T::narrow(before);
        }
    }
}
