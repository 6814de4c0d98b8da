//! Cells of recurrent networks, each a whole step or all steps in one op.

use kernlink::Result;
use kernlink::shape_inference::InferenceContext;
use kernlink_macros::register_op;

/// One step of a recurrent cell with long short-term memory, for a batch.
///
/// With `[i, ci, f, o] = [x, h_prev] w + b`, each of `cell` columns:
/// `i = σ(i + wci cs_prev)`, `f = σ(f + forget_bias + wcf cs_prev)`, `ci = tanh(ci)`, `cs = ci i + cs_prev f`, which is
/// clipped, `o = σ(o + wco cs)`, `co = tanh(cs)`, `h = co o`. Without peepholes the terms with `wci`, `wcf` and `wco` are
/// left out.
#[register_op(
    input("x: T", "`[batch, inputs]`."),
    input("cs_prev: T", "The cell's state before the step, `[batch, cell]`."),
    input("h_prev: T", "Its output before the step, `[batch, cell]`."),
    input("w: T", "The weights, `[inputs + cell, 4 cell]`."),
    input("wci: T", "The peephole weights of the input gate, `[cell]`."),
    input("wcf: T", "Those of the forget gate, `[cell]`."),
    input("wco: T", "Those of the output gate, `[cell]`."),
    input("b: T", "The biases, `[4 cell]`."),
    output("i: T", "The input gate, `[batch, cell]`, as all outputs."),
    output("cs: T", "The state after the step, before the output's tanh."),
    output("f: T", "The forget gate."),
    output("o: T", "The output gate."),
    output("ci: T", "What is offered to the state."),
    output("co: T", "The tanh of the state."),
    output("h: T", "The output."),
    attr("forget_bias: float = 1.0", "What is added to the forget gate before its sigmoid."),
    attr("cell_clip: float = 3.0", "The state is clipped to this on both sides, unless it is 0 or less."),
    attr("use_peephole: bool = false", "Whether the gates see the state."),
    attr("T: {half, float}"),
    shape_fn = |c| cell_shape(c, 7),
)]
pub struct LSTMBlockCell;

/// The first `outputs` outputs are `[batch, cell]`.
fn cell_shape(c: &mut InferenceContext<'_>, outputs: usize) -> Result<()> {
    let x = c.with_rank(c.input(0), 2)?;
    let state = c.with_rank(c.input(1), 2)?;
    let shape = c.matrix(c.dim(x, 0), c.dim(state, 1));
    (0..outputs).for_each(|index| c.set_output(index, shape));
    Ok(())
}

/// The gradient of [`LSTMBlockCell`], as far as it follows element by element: those of `x`, `h_prev`, `w` and `b` are
/// products of `dicfo`.
#[register_op(
    input("x: T", "`[batch, inputs]`."),
    input("cs_prev: T", "The state before the step, `[batch, cell]`."),
    input("h_prev: T", "The output before the step, `[batch, cell]`."),
    input("w: T", "The weights, `[inputs + cell, 4 cell]`."),
    input("wci: T", "The peephole weights of the input gate, `[cell]`."),
    input("wcf: T", "Those of the forget gate, `[cell]`."),
    input("wco: T", "Those of the output gate, `[cell]`."),
    input("b: T", "The biases, `[4 cell]`."),
    input("i: T", "The input gate, `[batch, cell]`."),
    input("cs: T", "The state after the step."),
    input("f: T", "The forget gate."),
    input("o: T", "The output gate."),
    input("ci: T", "What was offered to the state."),
    input("co: T", "The tanh of the state."),
    input("cs_grad: T", "What flows back into `cs`."),
    input("h_grad: T", "What flows back into `h`."),
    output("cs_prev_grad: T", "What flows back into `cs_prev`."),
    output("dicfo: T", "What flows back into the gates before their functions, `[batch, 4 cell]`."),
    output("wci_grad: T", "What flows back into `wci`; zeros without peepholes."),
    output("wcf_grad: T", "The same for `wcf`."),
    output("wco_grad: T", "The same for `wco`."),
    attr("use_peephole: bool", "Whether the gates see the state."),
    attr("T: {half, float}"),
    shape_fn = cell_grad_shape,
)]
pub struct LSTMBlockCellGrad;

fn cell_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    cell_shape(c, 1)?;
    let (batch, cell) = (c.dim(c.output(0), 0), c.dim(c.output(0), 1));
    let gates = c.multiply(cell, 4)?;
    c.set_output(1, c.matrix(batch, gates));
    (2..5).for_each(|index| c.set_output(index, c.vector(cell)));
    Ok(())
}

#[register_op(
    input("seq_len_max: int64", "How many steps are computed, a scalar; those beyond are zero."),
    input("x: T", "`[time, batch, inputs]`."),
    input("cs_prev: T", "The state before the first step, `[batch, cell]`."),
    input("h_prev: T", "The output before the first step, `[batch, cell]`."),
    input("w: T", "The weights, `[inputs + cell, 4 cell]`."),
    input("wci: T", "The peephole weights of the input gate, `[cell]`."),
    input("wcf: T", "Those of the forget gate, `[cell]`."),
    input("wco: T", "Those of the output gate, `[cell]`."),
    input("b: T", "The biases, `[4 cell]`."),
    output("i: T", "The input gates, `[time, batch, cell]`, as all outputs."),
    output("cs: T", "The states, before the output's tanh."),
    output("f: T", "The forget gates."),
    output("o: T", "The output gates."),
    output("ci: T", "What is offered to the states."),
    output("co: T", "The tanh of the states."),
    output("h: T", "The outputs."),
    attr("cell_clip: float = 3.0", "The state is clipped to this on both sides, unless it is 0 or less."),
    attr("use_peephole: bool = false", "Whether the gates see the state."),
    attr("T: {half, float}"),
    shape_fn = layer_shape,
)]
pub enum RecurrentLayers {
    /// The steps of `LSTMBlockCell` over time.
    #[op(attr(
        "forget_bias: float = 1.0",
        "What is added to the forget gate before its sigmoid.",
        before = "cell_clip"
    ))]
    BlockLSTM,
    /// As `BlockLSTM`, without a bias of the forget gate, and with weights in the order of input gate, forget gate, offer
    /// and output gate.
    #[op(attr("cell_clip: float = 0.0", "The state is clipped to this on both sides, unless it is 0 or less."))]
    BlockLSTMV2,
}

fn layer_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let x = c.with_rank(c.input(1), 3)?;
    let biases = c.with_rank(c.input(c.num_inputs() - 1), 1)?;
    let cell = c.divide(c.dim(biases, 0), 4, true)?;
    let shape = c.make_shape([c.dim(x, 0), c.dim(x, 1), cell]);
    (0..7).for_each(|index| c.set_output(index, shape));
    Ok(())
}

#[register_op(
    input("seq_len_max: int64", "How many steps were computed, a scalar."),
    input("x: T", "`[time, batch, inputs]`."),
    input("cs_prev: T", "The state before the first step, `[batch, cell]`."),
    input("h_prev: T", "The output before the first step, `[batch, cell]`."),
    input("w: T", "The weights, `[inputs + cell, 4 cell]`."),
    input("wci: T", "The peephole weights of the input gate, `[cell]`."),
    input("wcf: T", "Those of the forget gate, `[cell]`."),
    input("wco: T", "Those of the output gate, `[cell]`."),
    input("b: T", "The biases, `[4 cell]`."),
    input("i: T", "The input gates, `[time, batch, cell]`."),
    input("cs: T", "The states."),
    input("f: T", "The forget gates."),
    input("o: T", "The output gates."),
    input("ci: T", "What was offered to the states."),
    input("co: T", "The tanh of the states."),
    input("h: T", "The outputs."),
    input("cs_grad: T", "What flows back into `cs`."),
    input("h_grad: T", "What flows back into `h`."),
    output("x_grad: T", "What flows back into `x`; zeros beyond the steps that were computed."),
    output("cs_prev_grad: T", "What flows back into `cs_prev`."),
    output("h_prev_grad: T", "What flows back into `h_prev`."),
    output("w_grad: T", "What flows back into `w`."),
    output("wci_grad: T", "What flows back into `wci`; zeros without peepholes."),
    output("wcf_grad: T", "The same for `wcf`."),
    output("wco_grad: T", "The same for `wco`."),
    output("b_grad: T", "What flows back into `b`."),
    attr("use_peephole: bool", "Whether the gates see the state."),
    attr("T: {half, float}"),
    shape_fn = layer_grad_shape,
)]
pub enum RecurrentLayerGradients {
    /// The gradient of `BlockLSTM`.
    BlockLSTMGrad,
    /// The gradient of `BlockLSTMV2`, by the order of its weights.
    BlockLSTMGradV2,
}

fn layer_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    // Each input after the first has a gradient of its shape.
    for (output, rank) in [3, 2, 2, 2, 1, 1, 1, 1].into_iter().enumerate() {
        c.set_output(output, c.with_rank(c.input(output + 1), rank)?);
    }
    Ok(())
}

/// One step of a gated recurrent unit, for a batch.
///
/// `[r, u] = σ([x, h_prev] w_ru + b_ru)`, `c = tanh([x, h_prev r] w_c + b_c)`, `h = u h_prev + (1 - u) c`.
#[register_op(
    attr("T: {float}"),
    input("x: T", "`[batch, inputs]`."),
    input("h_prev: T", "The output before the step, `[batch, cell]`."),
    input("w_ru: T", "The weights of the gates, `[inputs + cell, 2 cell]`."),
    input("w_c: T", "The weights of what is offered, `[inputs + cell, cell]`."),
    input("b_ru: T", "The biases of the gates, `[2 cell]`."),
    input("b_c: T", "The biases of what is offered, `[cell]`."),
    output("r: T", "The reset gate, `[batch, cell]`, as all outputs."),
    output("u: T", "The update gate."),
    output("c: T", "What is offered."),
    output("h: T", "The output."),
    shape_fn = |c| cell_shape(c, 4),
)]
pub struct GRUBlockCell;

/// The gradient of [`GRUBlockCell`]: those of weights and biases are products of `d_c_bar` and `d_r_bar_u_bar`.
#[register_op(
    attr("T: {float}"),
    input("x: T", "`[batch, inputs]`."),
    input("h_prev: T", "The output before the step, `[batch, cell]`."),
    input("w_ru: T", "The weights of the gates, `[inputs + cell, 2 cell]`."),
    input("w_c: T", "The weights of what is offered, `[inputs + cell, cell]`."),
    input("b_ru: T", "The biases of the gates, `[2 cell]`."),
    input("b_c: T", "The biases of what is offered, `[cell]`."),
    input("r: T", "The reset gate, `[batch, cell]`."),
    input("u: T", "The update gate."),
    input("c: T", "What was offered."),
    input("d_h: T", "What flows back into `h`."),
    output("d_x: T", "What flows back into `x`."),
    output("d_h_prev: T", "What flows back into `h_prev`."),
    output("d_c_bar: T", "What flows back into what is offered, before its tanh, `[batch, cell]`."),
    output("d_r_bar_u_bar: T", "What flows back into the gates, before their sigmoid, `[batch, 2 cell]`."),
    shape_fn = gru_grad_shape,
)]
pub struct GRUBlockCellGrad;

fn gru_grad_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let x = c.with_rank(c.input(0), 2)?;
    let state = c.with_rank(c.input(1), 2)?;
    let weights = c.with_rank(c.input(2), 2)?;
    let batch = c.dim(x, 0);
    let shape = c.matrix(batch, c.dim(state, 1));
    c.set_output(0, x);
    c.set_output(1, shape);
    c.set_output(2, shape);
    c.set_output(3, c.matrix(batch, c.dim(weights, 1)));
    Ok(())
}
