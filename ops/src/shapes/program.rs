//! Programs of element-wise steps: what `_FusedElementWise` computes.

use kernlink::shape_inference::{InferenceContext, ShapeHandle};
use kernlink::{Result, bail, ensure};

use super::broadcast_binary_op_output_shape;

/// A program has so many steps at most.
const MOST_STEPS: usize = 256;

/// What a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// An input of the node.
    Input(usize),
    /// The result of an earlier step.
    Step(usize),
}

/// One of the nodes that became one.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its op.
    pub op: String,
    /// What it takes, one or two.
    pub operands: Vec<Operand>,
    /// The value of the attr that is an argument of its function, if there is one.
    pub parameter: f32,
}

impl Step {
    /// Whether the result has the shape of the first operand: gradients do not broadcast.
    pub fn keeps_shape(&self) -> bool {
        self.operands.len() == 1 || self.op.ends_with("Grad")
    }
}

/// The steps that the attrs of a `_FusedElementWise` with so many inputs say; the last gives the output.
///
/// # Errors
/// INVALID_ARGUMENT if the attrs do not go together or name what is not there, and for too many steps.
pub fn element_wise_program(
    inputs: usize,
    ops: Vec<String>,
    operands: &[i64],
    parameters: &[f32],
) -> Result<Vec<Step>> {
    let count = ops.len();
    ensure!(
        (1..=MOST_STEPS).contains(&count),
        InvalidArgument,
        "a program has from 1 to {MOST_STEPS} steps, and not {count}"
    );
    ensure!(
        operands.len() == 2 * count && parameters.len() == count,
        InvalidArgument,
        "{count} steps have two operands and one parameter each, but there are {} and {}",
        operands.len(),
        parameters.len()
    );
    let operand = |place: usize, number: i64| match usize::try_from(number) {
        Ok(number) if number < inputs => Ok(Operand::Input(number)),
        Ok(number) if number - inputs < place => Ok(Operand::Step(number - inputs)),
        _ => bail!(InvalidArgument, "step {place} cannot take operand {number} of {inputs} inputs"),
    };
    let steps = ops.into_iter().zip(operands.chunks_exact(2)).zip(parameters).enumerate();
    let steps = steps.map(|(place, ((op, numbers), &parameter))| {
        let numbers = if numbers[1] == -1 { &numbers[..1] } else { numbers };
        let operands = numbers.iter().map(|&number| operand(place, number)).collect::<Result<_>>()?;
        Ok(Step { op, operands, parameter })
    });
    let steps: Vec<Step> = steps.collect::<Result<_>>()?;
    let mut is_used = vec![false; count - 1];
    let taken = steps.iter().flat_map(|step| &step.operands);
    for operand in taken {
        if let Operand::Step(place) = *operand {
            is_used[place] = true;
        }
    }
    match is_used.iter().position(|is_used| !is_used) {
        Some(place) => bail!(InvalidArgument, "nothing takes the result of step {place}"),
        None => Ok(steps),
    }
}

/// Output 0 has the shape of the last step's result.
///
/// # Errors
/// As [`element_wise_program`]; INVALID_ARGUMENT if operands do not broadcast.
pub fn fused_element_wise_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let (operands, parameters) = (c.attr::<Vec<i64>>("operands")?, c.attr::<Vec<f32>>("parameters")?);
    let steps = element_wise_program(c.num_inputs(), c.attr("ops")?, &operands, &parameters)?;
    let mut shapes: Vec<ShapeHandle> = Vec::with_capacity(steps.len());
    for step in &steps {
        let shape = |operand: &Operand| match *operand {
            Operand::Input(input) => c.input(input),
            Operand::Step(place) => shapes[place],
        };
        let shape = match &step.operands[..] {
            [first, second] if !step.keeps_shape() => {
                broadcast_binary_op_output_shape(c, shape(first), shape(second), true)?
            }
            operands => operands.first().map_or_else(|| c.unknown_shape(), shape),
        };
        shapes.push(shape);
    }
    if let Some(&last) = shapes.last() {
        c.set_output(0, last);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(inputs: usize, operands: &[i64]) -> Result<Vec<Step>> {
        let ops = ["Mul", "Tanh"].map(str::to_owned).to_vec();
        element_wise_program(inputs, ops, operands, &[0.0; 2])
    }

    #[test]
    fn operands_are_inputs_and_earlier_steps() {
        let steps = program(2, &[1, 0, 2, -1]).unwrap();
        assert_eq!(steps[0].operands, [Operand::Input(1), Operand::Input(0)]);
        assert_eq!(steps[1].operands, [Operand::Step(0)]);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        for operands in [
            &[1, 0, 3, -1][..],
            &[2, 0, 2, -1],
            &[-1, 0, 2, -1],
            &[1, 0, i64::MAX, -1],
            &[1, -2, 2, -1],
            &[1],
            &[1, 0, 0, -1],
        ] {
            assert_eq!(program(2, operands).unwrap_err().code(), kernlink::Code::InvalidArgument, "{operands:?}");
        }
        assert!(element_wise_program(2, Vec::new(), &[], &[]).is_err());
        assert!(element_wise_program(1, vec!["Neg".to_owned(); 257], &[0; 514], &[0.0; 257]).is_err());
    }
}
