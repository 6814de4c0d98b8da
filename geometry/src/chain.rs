//! Programs of functions of each element, as kernels read them from their nodes: which step is what, and how shapes meet.

use std::any::Any;

use kernlink::dtype::DataType;
use kernlink::ensure;
use kernlink::error::{Error, Result};
use kernlink::kernel::{Meet, RawConstruction, RawContext};
use kernlink::shape::Shape;
use kernlink_ops::shapes::{Operand, ProgramAttrs, element_wise_program};
use smallvec::SmallVec;

use crate::element_wise::{is_regular, result_shape};

/// One function; `F` is what kernels of the device say of themselves.
pub struct Step<F> {
    /// The function.
    pub function: F,
    /// What it takes, but for the parameter.
    pub operands: SmallVec<[Operand; 3]>,
    /// The dtypes of these.
    pub inputs: SmallVec<[DataType; 3]>,
    /// The dtype of its result.
    pub output: DataType,
    /// The attr that is one more argument, if there is one.
    pub parameter: Option<f32>,
    /// How shapes meet.
    pub meet: Meet,
    /// The last step that takes the result; the step itself if none does.
    pub last_use: usize,
    op: String,
    /// The node that it was; empty if that is not known.
    node: String,
}

/// The steps of a node with inputs and an output of these dtypes.
///
/// # Errors
/// Those of [`element_wise_program`]; NOT_FOUND if the device has no kernel of a step; INVALID_ARGUMENT for a step that does not
/// compute each element by itself, or what does not go together.
pub fn steps<F: Any>(
    ctx: &RawConstruction<'_>,
    inputs: &[DataType],
    output: DataType,
    attrs: ProgramAttrs<'_>,
    names: &[String],
) -> Result<Vec<Step<F>>> {
    let read = element_wise_program(inputs.len(), attrs)?;
    let mut steps: Vec<Step<F>> = Vec::with_capacity(read.len());
    for (place, step) in read.iter().enumerate() {
        let op = &step.op;
        let dtypes = step.operand_dtypes(inputs, &read);
        let (element_wise, function) = ctx.element_wise(op, &dtypes, step.dtype)?;
        let meet = element_wise.meet;
        let function = function.downcast::<F>().map_err(|_| {
            Error::internal(format!("the kernel of op {op} says of itself what is not for {}", ctx.device))
        })?;
        let shape = |of: Option<usize>| {
            of.map_or_else(|| "that of all operands".to_owned(), |of| format!("that of operand {of}"))
        };
        let (said, own) = (step.shape_of, meet.shape_of());
        ensure!(
            said == own,
            InvalidArgument,
            "step {place}, {op}, has {} for its shape, but attr `shapes` says {}",
            shape(own),
            shape(said)
        );
        for operand in &step.operands {
            if let Operand::Step(before) = *operand {
                steps[before].last_use = place;
            }
        }
        steps.push(Step {
            function: *function,
            operands: step.operands.iter().copied().collect(),
            inputs: dtypes.into(),
            output: step.dtype,
            parameter: element_wise.parameter.map(|_| step.parameter),
            meet,
            last_use: place,
            op: op.clone(),
            node: names.get(place).cloned().unwrap_or_default(),
        });
    }
    if let Some(last) = steps.last().map(|last| last.output) {
        ensure!(last == output, InvalidArgument, "the output is {output}, but the last step gives {last}");
    }
    Ok(steps)
}

impl<F> Step<F> {
    /// Fails unless the function takes so many operands.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if it takes others.
    pub fn ensure_arity(&self, arity: usize) -> Result<()> {
        let given = self.operands.len();
        ensure!(given == arity, InvalidArgument, "a step, {}, takes {arity} operands, not {given}", self.op);
        Ok(())
    }

    /// Fails unless the function has the dtypes of the step's operands and result.
    ///
    /// # Errors
    /// INTERNAL if it has others: the kernel says of itself what is not so.
    pub fn ensure_dtypes(&self, has_them: bool) -> Result<()> {
        ensure!(
            has_them,
            Internal,
            "the kernel of op {} gives a function of other elements than those of {:?} with a result of {}",
            self.op,
            self.inputs,
            self.output
        );
        Ok(())
    }

    /// The shape of the result, of which no more than `limit` groups of dimensions may broadcast, and whether operands of these
    /// shapes broadcast to it as they are.
    ///
    /// # Errors
    /// Those of [`result_shape`], as errors of the node that the step was.
    pub fn shape(&self, operands: &[&Shape], limit: usize, ctx: &RawContext<'_>) -> Result<(Shape, bool)> {
        match result_shape(self.meet, operands, limit) {
            Ok(shape) => Ok((shape, is_regular(self.meet, operands))),
            Err(error) if self.node.is_empty() => Err(error),
            Err(error) => {
                let device = ctx.run().device.map_or("", |device| device.name());
                Err(error.at_node(&self.node, &self.op, device))
            }
        }
    }
}

/// The shapes of all results, and whether operands broadcast to these as they are; `limit` says along how many groups of
/// dimensions those of a step may.
///
/// # Errors
/// As [`Step::shape`].
pub fn shapes<F>(
    steps: &[Step<F>],
    ctx: &RawContext<'_>,
    limit: impl Fn(&Step<F>) -> usize,
) -> Result<(Vec<Shape>, bool)> {
    let (mut shapes, mut all_regular) = (Vec::<Shape>::with_capacity(steps.len()), true);
    for step in steps {
        let mut operands: SmallVec<[&Shape; 3]> = SmallVec::new();
        for operand in &step.operands {
            operands.push(match *operand {
                Operand::Input(input) => ctx.input_at(input)?.shape(),
                Operand::Step(place) => &shapes[place],
            });
        }
        let (shape, is_regular) = step.shape(&operands, limit(step), ctx)?;
        drop(operands);
        all_regular &= is_regular;
        shapes.push(shape);
    }
    Ok((shapes, all_regular))
}
