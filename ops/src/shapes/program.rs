//! Programs of element-wise steps: what `_FusedElementWise` computes.

use kernlink::dtype::DataType;
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
    /// What it takes, one to three.
    pub operands: Vec<Operand>,
    /// The dtype of its result.
    pub dtype: DataType,
    /// Which operand has the shape of the result, unless they broadcast.
    pub shape_of: Option<usize>,
    /// The value of the attr that is an argument of its function, if there is one.
    pub parameter: f32,
}

impl Step {
    /// The dtypes of what it takes, where these are of the inputs and of the steps.
    pub fn operand_dtypes(&self, inputs: &[DataType], steps: &[Step]) -> Vec<DataType> {
        let dtype = |operand: &Operand| match *operand {
            Operand::Input(input) => inputs[input],
            Operand::Step(place) => steps[place].dtype,
        };
        self.operands.iter().map(dtype).collect()
    }
}

/// The attrs that say a program.
#[derive(Clone, Copy)]
pub struct ProgramAttrs<'a> {
    /// Attr `ops`.
    pub ops: &'a [String],
    /// Attr `types`.
    pub types: &'a [DataType],
    /// Attr `operands`.
    pub operands: &'a [i64],
    /// Attr `shapes`.
    pub shapes: &'a [i64],
    /// Attr `parameters`.
    pub parameters: &'a [f32],
}

/// The steps that the attrs of a `_FusedElementWise` with so many inputs say; the last gives the output.
///
/// # Errors
/// INVALID_ARGUMENT if the attrs do not go together or name what is not there, and for too many steps.
pub fn element_wise_program(inputs: usize, attrs: ProgramAttrs<'_>) -> Result<Vec<Step>> {
    let count = attrs.ops.len();
    ensure!(
        (1..=MOST_STEPS).contains(&count),
        InvalidArgument,
        "a program has from 1 to {MOST_STEPS} steps, and not {count}"
    );
    let lengths = [attrs.types.len(), attrs.operands.len(), attrs.shapes.len(), attrs.parameters.len()];
    ensure!(
        lengths == [count, 3 * count, count, count],
        InvalidArgument,
        "{count} steps have one dtype, three operands, one shape and one parameter each, but there are {lengths:?}"
    );
    let operand = |place: usize, number: i64| match usize::try_from(number) {
        Ok(number) if number < inputs => Ok(Operand::Input(number)),
        Ok(number) if number - inputs < place => Ok(Operand::Step(number - inputs)),
        _ => bail!(InvalidArgument, "step {place} cannot take operand {number} of {inputs} inputs"),
    };
    let step = |place: usize| {
        let numbers = &attrs.operands[3 * place..][..3];
        let taken = 3 - numbers[1..].iter().rev().take_while(|&&number| number == -1).count();
        let operands = numbers[..taken].iter().map(|&number| operand(place, number)).collect::<Result<Vec<_>>>()?;
        let shape_of = match attrs.shapes[place] {
            -1 => None,
            shape => match usize::try_from(shape) {
                Ok(shape) if shape < taken => Some(shape),
                _ => bail!(InvalidArgument, "step {place} has the shape of operand {shape} of {taken}"),
            },
        };
        let (op, dtype, parameter) = (attrs.ops[place].clone(), attrs.types[place], attrs.parameters[place]);
        Ok(Step { op, operands, dtype, shape_of, parameter })
    };
    let steps: Vec<Step> = (0..count).map(step).collect::<Result<_>>()?;
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
    let (ops, types) = (c.attr::<Vec<String>>("ops")?, c.attr::<Vec<DataType>>("types")?);
    let (operands, shape_attr) = (c.attr::<Vec<i64>>("operands")?, c.attr::<Vec<i64>>("shapes")?);
    let parameters = c.attr::<Vec<f32>>("parameters")?;
    let attrs =
        ProgramAttrs { ops: &ops, types: &types, operands: &operands, shapes: &shape_attr, parameters: &parameters };
    let steps = element_wise_program(c.num_inputs(), attrs)?;
    let mut shapes: Vec<ShapeHandle> = Vec::with_capacity(steps.len());
    for step in &steps {
        let shape = |operand: &Operand| match *operand {
            Operand::Input(input) => c.input(input),
            Operand::Step(place) => shapes[place],
        };
        let shape = match (step.shape_of, &step.operands[..]) {
            (Some(place), operands) => shape(&operands[place]),
            (None, [first, others @ ..]) => {
                let mut all = shape(first);
                for other in others {
                    all = broadcast_binary_op_output_shape(c, all, shape(other), true)?;
                }
                all
            }
            (None, []) => c.unknown_shape(),
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

    fn program_of(ops: &[&str], inputs: usize, operands: &[i64], shapes: &[i64]) -> Result<Vec<Step>> {
        let ops: Vec<String> = ops.iter().map(|&op| op.to_owned()).collect();
        let (types, parameters) = (vec![DataType::Float; ops.len()], vec![0.0; ops.len()]);
        element_wise_program(
            inputs,
            ProgramAttrs { ops: &ops, types: &types, operands, shapes, parameters: &parameters },
        )
    }

    fn program(inputs: usize, operands: &[i64]) -> Result<Vec<Step>> {
        program_of(&["Mul", "Tanh"], inputs, operands, &[-1, 0])
    }

    #[test]
    fn operands_are_inputs_and_earlier_steps() {
        let steps = program(2, &[1, 0, -1, 2, -1, -1]).unwrap();
        assert_eq!(steps[0].operands, [Operand::Input(1), Operand::Input(0)]);
        assert_eq!(steps[1].operands, [Operand::Step(0)]);
        assert_eq!(steps.iter().map(|step| step.shape_of).collect::<Vec<_>>(), [None, Some(0)]);
        assert_eq!(program(2, &[1, 0, 0, 2, 0, 1]).unwrap()[1].operands.len(), 3);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        for operands in [
            &[1, 0, -1, 3, -1, -1][..],
            &[2, 0, -1, 2, -1, -1],
            &[-1, 0, -1, 2, -1, -1],
            &[1, 0, -1, i64::MAX, -1, -1],
            &[1, -2, -1, 2, -1, -1],
            &[1, -1, 0, 2, -1, -1],
            &[1],
            &[1, 0, -1, 0, -1, -1],
        ] {
            assert_eq!(program(2, operands).unwrap_err().code(), kernlink::Code::InvalidArgument, "{operands:?}");
        }
        for shapes in [&[-1][..], &[-1, 1], &[2, 0], &[-2, 0]] {
            assert!(program_of(&["Mul", "Tanh"], 2, &[1, 0, -1, 2, -1, -1], shapes).is_err(), "{shapes:?}");
        }
        assert!(program_of(&[], 2, &[], &[]).is_err());
        assert!(program_of(&["Neg"; 257], 1, &[0; 771], &[0; 257]).is_err());
    }
}
