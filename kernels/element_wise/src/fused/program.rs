//! The steps of a node, with the functions of their kernels.

use kernlink::attr::AttrMap;
use kernlink::dtype::{DataType, Number, bf16, f16};
use kernlink::kernel::{KernelConstruction, RawContext};
use kernlink::registry::NodeQuery;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};
use kernlink_geometry::element_wise::ensure_alike;
use kernlink_ops::FusedElementWise;
use kernlink_ops::shapes::{Operand, element_wise_program};
use smallvec::SmallVec;

use crate::driver::{broadcast_shape, computed};
use crate::function::{AnyLoop, AnySpec, Function, Meet};

/// What a node computes.
pub(super) struct Program {
    pub(super) dtype: DataType,
    pub(super) steps: Vec<Step>,
    /// How many results of steps there are at most at a time that are still needed.
    pub(super) slots: usize,
}

/// One function.
pub(super) struct Step {
    function: &'static Function,
    pub(super) run: AnyLoop,
    /// Picoseconds for one element, or so.
    pub(super) cost: usize,
    pub(super) operands: SmallVec<[Operand; 2]>,
    /// What follows the operands.
    pub(super) parameter: Option<Tensor>,
    /// Where the result is until it is not needed any more.
    pub(super) slot: usize,
    /// The last step that takes the result; the step itself if none does.
    last_use: usize,
}

impl Step {
    /// Whether last bits may depend on how a tensor is cut into rows.
    pub(super) fn sees_neighbours(&self) -> bool {
        self.function.sees_neighbours
    }
}

impl Program {
    pub(super) fn new(ctx: &KernelConstruction<'_, FusedElementWise>) -> Result<Program> {
        let attrs = ctx.attrs();
        let dtype = attrs.T;
        let inputs = ctx.input_len(FusedElementWise::INPUTS);
        let mut of_type = AttrMap::new();
        of_type.insert("T", dtype);
        let mut steps = Vec::with_capacity(attrs.ops.len());
        let read = element_wise_program(inputs, attrs.ops.clone(), &attrs.operands, &attrs.parameters)?;
        for (place, step) in read.into_iter().enumerate() {
            let (node, op) = (ctx.node, step.op.as_str());
            let query = NodeQuery { node, op, attrs: &of_type, device: ctx.device, capabilities: &[] };
            let element_wise = ctx.registry.find_kernel(query)?.element_wise;
            let known = element_wise.and_then(|it| Some((it.function.downcast_ref::<Function>()?, it.parameter)));
            let Some((function, parameter)) = known.filter(|(function, _)| function.spec.is_of(dtype)) else {
                bail!(
                    InvalidArgument,
                    "op {op} of {dtype} cannot be a step: it does not compute each element by itself"
                );
            };
            let parameter = parameter.map(|_| scalar(dtype, step.parameter)).transpose()?;
            let (given, arity) = (step.operands.len(), function.spec.arity() - usize::from(parameter.is_some()));
            ensure!(given == arity, InvalidArgument, "step {place}, {op}, takes {arity} operands, not {given}");
            steps.push(Step {
                function,
                run: function.spec.best(),
                cost: function.spec.cost(),
                operands: step.operands.into(),
                parameter,
                slot: 0,
                last_use: place,
            });
        }
        let slots = assign_slots(&mut steps);
        Ok(Program { dtype, steps, slots })
    }

    /// The shapes of the results, and whether all operands have as many elements as results of steps that take them, or
    /// broadcast.
    ///
    /// # Errors
    /// Those of the steps, as they would be by themselves.
    pub(super) fn shapes(&self, ctx: &RawContext<'_>) -> Result<(Vec<Shape>, bool)> {
        let (mut shapes, mut is_regular) = (Vec::<Shape>::with_capacity(self.steps.len()), true);
        for step in &self.steps {
            let shape = |operand: &Operand| match *operand {
                Operand::Input(input) => Ok(ctx.input_at(input)?.shape()),
                Operand::Step(place) => Ok::<_, kernlink::Error>(&shapes[place]),
            };
            let result = match (&step.operands[..], &step.function.spec, step.function.meet) {
                ([x, y], _, Meet::Alike { loosely }) => {
                    let (x, y) = (shape(x)?, shape(y)?);
                    ensure_alike(x, y, loosely)?;
                    is_regular &= x == y;
                    x.clone()
                }
                ([x, y], AnySpec::Two(spec), Meet::Broadcast) => {
                    let (x, y) = (shape(x)?, shape(y)?);
                    if x == y { x.clone() } else { broadcast_shape([x, y], spec.limit)? }
                }
                ([x, ..], ..) => shape(x)?.clone(),
                ([], ..) => bail!(Internal, "a step has operands"),
            };
            shapes.push(result);
        }
        Ok((shapes, is_regular))
    }

    /// Computes one step as the node that it was did.
    ///
    /// # Errors
    /// As that.
    pub(super) fn alone(&self, place: usize, ctx: &mut RawContext<'_>, results: &[Option<Tensor>]) -> Result<Tensor> {
        let step = &self.steps[place];
        let mut operands: SmallVec<[Tensor; 3]> = SmallVec::new();
        for operand in &step.operands {
            operands.push(match *operand {
                Operand::Input(input) => ctx.input_at(input)?.clone(),
                Operand::Step(before) => match results.get(before) {
                    Some(Some(result)) => result.clone(),
                    _ => bail!(Internal, "step {place} comes before step {before}, which it takes"),
                },
            });
        }
        if let ([x, y], Meet::Alike { loosely }) = (&mut operands[..], step.function.meet) {
            ensure_alike(x.shape(), y.shape(), loosely)?;
            if x.shape() != y.shape() {
                *y = y.clone().reshaped(x.shape().clone())?;
            }
        }
        operands.extend(step.parameter.clone());
        match &step.function.spec {
            AnySpec::One(spec) => computed(ctx, spec, &operands),
            AnySpec::Two(spec) => computed(ctx, spec, &operands),
            AnySpec::Three(spec) => computed(ctx, spec, &operands),
        }
    }

    /// Computes the output step by step.
    ///
    /// # Errors
    /// As the nodes that the steps were.
    pub(super) fn one_by_one(&self, ctx: &mut RawContext<'_>) -> Result<Tensor> {
        let mut results: Vec<Option<Tensor>> = vec![None; self.steps.len()];
        for place in 0..self.steps.len() {
            results[place] = Some(self.alone(place, ctx, &results)?);
            for operand in &self.steps[place].operands {
                if let Operand::Step(before) = *operand
                    && self.steps[before].last_use == place
                {
                    results[before] = None;
                }
            }
        }
        match results.pop() {
            Some(Some(result)) => Ok(result),
            _ => bail!(Internal, "a program has steps"),
        }
    }
}

/// Gives the results places that are used again once nothing needs them. Returns how many there are.
fn assign_slots(steps: &mut [Step]) -> usize {
    for place in 0..steps.len() {
        for operand in steps[place].operands.clone() {
            if let Operand::Step(before) = operand {
                steps[before].last_use = place;
            }
        }
    }
    let (mut free, mut count) = (Vec::new(), 0);
    for place in 0..steps.len() {
        steps[place].slot = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        let mut ended: SmallVec<[usize; 3]> = SmallVec::new();
        for operand in &steps[place].operands {
            if let Operand::Step(before) = *operand
                && steps[before].last_use == place
                && !ended.contains(&before)
            {
                ended.push(before);
            }
        }
        if steps[place].last_use == place {
            ended.push(place);
        }
        free.extend(ended.into_iter().map(|ended| steps[ended].slot));
    }
    count
}

/// A number as a scalar of a dtype of floats.
fn scalar(dtype: DataType, value: f32) -> Result<Tensor> {
    let value = f64::from(value);
    Ok(match dtype {
        DataType::Float => Tensor::scalar(f32::from_f64(value)),
        DataType::Double => Tensor::scalar(value),
        DataType::Half => Tensor::scalar(f16::from_f64(value)),
        DataType::Bfloat16 => Tensor::scalar(bf16::from_f64(value)),
        _ => bail!(InvalidArgument, "no function of {dtype} has an attr for an argument"),
    })
}

#[cfg(test)]
mod tests {
    use kernlink::collect::linked_kernels;
    use kernlink_ops::shapes::Step;

    use super::*;

    #[test]
    fn shapes_of_steps_are_inferred_as_their_kernels_have_them() {
        let mut count = 0;
        for kernel in linked_kernels() {
            let function = kernel.element_wise.and_then(|it| it.function.downcast_ref::<Function>());
            let Some(function) = function else { continue };
            let takes =
                function.spec.arity() - usize::from(kernel.element_wise.is_some_and(|it| it.parameter.is_some()));
            let operands = (0..takes).map(Operand::Input).collect();
            let step = Step { op: kernel.op.to_owned(), operands, parameter: 0.0 };
            let is_alike = takes == 1 || matches!(function.meet, Meet::Alike { .. });
            assert_eq!(step.keeps_shape(), is_alike, "{}", kernel.op);
            count += 1;
        }
        assert!(count > 100, "{count}");
    }
}
