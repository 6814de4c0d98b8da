//! Recurrent layers, and the loss of labels without places in time.

use kernlink::Result;
use kernlink::gradient::{GradientScope, NoGradient, Value};
use kernlink_macros::{not_differentiable, register_gradient};

use crate::*;

not_differentiable!(CTCBeamSearchDecoder, CTCGreedyDecoder);

/// The gradient as the op has it, for each sequence as often as flows back into its loss.
#[register_gradient(op = CTCLoss)]
fn ctc_loss_gradient(
    g: &mut GradientScope<'_>,
    gradient: Value,
    d_loss: Value,
) -> Result<(Value, NoGradient, NoGradient, NoGradient)> {
    let message = "The second derivative of CTCLoss is not known: its gradient is computed together with the loss, \
                   and not by ops.";
    let once = prevent_gradient(g, gradient).message(message).build()?;
    let factors = expand_dims(g, d_loss, -1).build()?;
    Ok((mul(g, once, factors).build()?, NoGradient, NoGradient, NoGradient))
}

/// Of the weights of a layer, the nine inputs' gradients.
type OfLayer = (NoGradient, Value, Value, Value, Value, Value, Value, Value, Value);

/// What flows back into states and outputs, zeros where nothing does.
fn flows(g: &mut GradientScope<'_>, like: Value, [state, output]: [Option<Value>; 2]) -> Result<(Value, Value)> {
    let zeros = if state.is_some() && output.is_some() { None } else { Some(zeros_like(g, like).build()?) };
    Ok((state.or(zeros).unwrap_or(like), output.or(zeros).unwrap_or(like)))
}

/// Declares the gradient of a layer, by the op that computes it.
macro_rules! layers {
    ($($op:ident $name:ident $by:ident;)*) => {$(
        #[register_gradient(op = $op)]
        fn $name(
            g: &mut GradientScope<'_>,
            use_peephole: bool,
            seq_len_max: Value,
            x: Value,
            cs_prev: Value,
            h_prev: Value,
            w: Value,
            wci: Value,
            wcf: Value,
            wco: Value,
            b: Value,
            i: Value,
            cs: Value,
            f: Value,
            o: Value,
            ci: Value,
            co: Value,
            h: Value,
            d_cs: Option<Value>,
            d_h: Option<Value>,
        ) -> Result<OfLayer> {
            let (d_cs, d_h) = flows(g, h, [d_cs, d_h])?;
            let flow = $by(
                g, seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, d_cs, d_h, use_peephole,
            );
            let flow = flow.build()?;
            let states = (flow.x_grad, flow.cs_prev_grad, flow.h_prev_grad);
            let peepholes = (flow.wci_grad, flow.wcf_grad, flow.wco_grad);
            Ok((
                NoGradient, states.0, states.1, states.2, flow.w_grad, peepholes.0, peepholes.1, peepholes.2, flow.b_grad,
            ))
        }
    )*

        /// How many gradients the macro registers.
        pub(super) const BY_MACROS: usize = [$(stringify!($op)),*].len();
    };
}

layers! {
    BlockLSTM block_lstm_gradient block_lstm_grad;
    BlockLSTMV2 block_lstm_v2_gradient block_lstm_grad_v2;
}
