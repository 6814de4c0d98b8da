//! The steps of a node, with the functions of their kernels.

use kernlink::dtype::DataType;
use kernlink::kernel::{AnyLoop, ElementFunction, KernelConstruction, Meet, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};
use kernlink_geometry::chain::{self, Step};
use kernlink_geometry::element_wise::condition;
use kernlink_ops::FusedElementWise;
use kernlink_ops::shapes::Operand;
use smallvec::SmallVec;

use crate::driver::{Loop, NO_ERROR, Spec, UNIT, computed, scalar, start_of};

/// What a node computes.
pub(super) struct Program {
    /// The dtypes of the inputs.
    pub(super) inputs: Vec<DataType>,
    /// The dtype of the output.
    pub(super) output: DataType,
    pub(super) steps: Vec<Step<ElementFunction>>,
    /// For each step, the attr that follows its operands, if there is one.
    pub(super) parameters: Vec<Option<Tensor>>,
    /// For each step, where its result is until it is not needed any more.
    pub(super) slots: Vec<usize>,
    /// How many such places there are.
    pub(super) slot_count: usize,
    /// Bytes of the largest element.
    pub(super) largest: usize,
}

impl Program {
    pub(super) fn new(ctx: &KernelConstruction<'_, FusedElementWise>) -> Result<Program> {
        let attrs = ctx.attrs();
        let (inputs, output) = (attrs.Tin.clone(), attrs.T);
        let steps: Vec<Step<ElementFunction>> = chain::steps(ctx, &inputs, output, attrs.into(), &attrs.names)?;
        let mut parameters = Vec::with_capacity(steps.len());
        for step in &steps {
            let (function, operands) = (&step.function, step.operands.len());
            step.ensure_arity(function.inputs().len() - usize::from(step.parameter.is_some()))?;
            // The loop is told nothing of the dtypes, so what a kernel says of itself must hold.
            step.ensure_dtypes(function.has_dtypes(&step.inputs, step.output))?;
            parameters.push(step.parameter.map(|value| scalar(function.inputs()[operands], value)).transpose()?);
        }
        let (slots, slot_count) = slots(&steps);
        let largest = inputs.iter().copied().chain(steps.iter().map(|step| step.output)).map(DataType::size).max();
        Ok(Program { inputs, output, steps, parameters, slots, slot_count, largest: largest.unwrap_or(1) })
    }

    /// The shapes of the results, and whether all operands have as many elements as results of steps that take them, or
    /// broadcast.
    ///
    /// # Errors
    /// Those of the steps, as they would be by themselves.
    pub(super) fn shapes(&self, ctx: &RawContext<'_>) -> Result<(Vec<Shape>, bool)> {
        chain::shapes(&self.steps, ctx, |step| step.function.limit())
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
        let shapes: SmallVec<[&Shape; 3]> = operands.iter().map(Tensor::shape).collect();
        let checked = step.shape(&shapes, step.function.limit(), ctx);
        drop(shapes);
        checked?;
        match (&mut operands[..], step.meet) {
            ([x, y], Meet::Alike) if x.shape() != y.shape() => *y = y.clone().reshaped(x.shape().clone())?,
            ([of, then, otherwise], Meet::Condition) => {
                let shape = condition(of.shape(), then.shape(), otherwise.shape())?;
                *of = of.clone().reshaped(shape)?;
            }
            _ => {}
        }
        operands.extend(self.parameters[place].clone());
        match *step.function.run() {
            AnyLoop::One(run) => computed(ctx, &spec(&step.function, run), &operands),
            AnyLoop::Two(run) => computed(ctx, &spec(&step.function, run), &operands),
            AnyLoop::Three(run) => computed(ctx, &spec(&step.function, run), &operands),
            _ => flat(&step.function, ctx, &operands[0]),
        }
    }

    /// Computes the output step by step, where some steps may have `results` already.
    ///
    /// # Errors
    /// As the nodes that the steps were.
    pub(super) fn one_by_one(&self, ctx: &mut RawContext<'_>, mut results: Vec<Option<Tensor>>) -> Result<Tensor> {
        results.resize_with(self.steps.len(), || None);
        for place in 0..self.steps.len() {
            if results[place].is_none() {
                results[place] = Some(self.alone(place, ctx, &results)?);
            }
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

/// A function as the driver takes it.
fn spec<const N: usize>(function: &ElementFunction, run: Loop<N>) -> Spec<N> {
    Spec {
        run,
        wide: None,
        widest: None,
        inputs: std::array::from_fn(|place| function.inputs()[place]),
        output: function.output(),
        cost: function.cost(),
        error: NO_ERROR,
        limit: function.limit(),
        first: 0,
        stored: None,
        of_stored: None,
    }
}

/// A function of one argument of a whole tensor, whatever its loop is.
fn flat(function: &ElementFunction, ctx: &RawContext<'_>, operand: &Tensor) -> Result<Tensor> {
    let (from, total) = (function.inputs()[0], operand.num_elements());
    ensure!(operand.dtype() == from, InvalidArgument, "the operand must be {from}, not {}", operand.dtype());
    let mut output = Tensor::alloc(function.output(), operand.shape().clone())?;
    let work = Flat {
        run: function.run(),
        source: operand.aligned_bytes()?.as_ptr(),
        target: start_of(&mut output)?,
        sizes: [from.size(), function.output().size()],
    };
    let work = &work;
    ctx.parallel_for(total.div_ceil(UNIT), (function.cost() * UNIT / 1000).max(1), |units| {
        let (start, end) = (units.start * UNIT, (units.end * UNIT).min(total));
        // SAFETY: the tensors have the dtypes of the loop and `total` elements, and the ranges do not overlap.
        unsafe { work.compute(start, end) };
    });
    Ok(output)
}

/// A loop of one argument over a whole tensor.
struct Flat<'f> {
    run: &'f AnyLoop,
    source: *const u8,
    target: *mut u8,
    sizes: [usize; 2],
}

// SAFETY: the pointers are read and written only through `compute`, whose callers answer for what they point to.
unsafe impl Sync for Flat<'_> {}

impl Flat<'_> {
    /// Computes some elements.
    ///
    /// # Safety
    /// The tensors have them, and nobody else touches those of the target.
    unsafe fn compute(&self, start: usize, end: usize) {
        // SAFETY: by the caller's promise.
        unsafe {
            let source = self.source.add(start * self.sizes[0]);
            self.run.run([source; 3], self.target.add(start * self.sizes[1]), end - start);
        }
    }
}

/// For each step a place for its result, used again once nothing needs that, and how many there are.
fn slots(steps: &[Step<ElementFunction>]) -> (Vec<usize>, usize) {
    let (mut free, mut count, mut slots) = (Vec::new(), 0, Vec::with_capacity(steps.len()));
    for (place, step) in steps.iter().enumerate() {
        slots.push(free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        }));
        let mut ended: SmallVec<[usize; 3]> = SmallVec::new();
        for operand in &step.operands {
            if let Operand::Step(before) = *operand
                && steps[before].last_use == place
                && !ended.contains(&before)
            {
                ended.push(before);
            }
        }
        if step.last_use == place {
            ended.push(place);
        }
        free.extend(ended.into_iter().map(|ended| slots[ended]));
    }
    (slots, count)
}
