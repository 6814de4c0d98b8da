//! Runs a program on blocks of elements, whose results stay in the first cache between the steps.

use std::mem::MaybeUninit;
use std::ops::Range;

use kernlink::dtype::DataType;
use kernlink::kernel::{AnyLoop, RawContext};
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Result, ensure};
use kernlink_ops::shapes::Operand;
use smallvec::SmallVec;

use super::program::Program;
use crate::broadcast::Plan;
use crate::driver::{SHORT_RUN, UNIT, repeat, start_of};

/// Bytes of the buffers of a thread, unless there are very many.
const ROOM: usize = 16 << 10;

/// Loops that look at several elements at a time look at so many at most: blocks begin at multiples of it.
const LEAST_BLOCK: usize = 256;

/// Computes the output of a program.
///
/// # Errors
/// Those of the steps, as they would be by themselves.
pub(super) fn compute(program: &Program, ctx: &mut RawContext<'_>) -> Result<()> {
    if let Some(done) = scalars(program, ctx) {
        return done;
    }
    let first = ctx.input_at(0)?.shape().clone();
    let mut same = true;
    for (input, &expected) in program.inputs.iter().enumerate() {
        let tensor = ctx.input_at(input)?;
        let dtype = tensor.dtype();
        ensure!(dtype == expected, InvalidArgument, "input {input} must be {expected}, not {dtype}");
        same &= *tensor.shape() == first;
    }
    let (mut shapes, is_regular) = if same { (Vec::new(), true) } else { program.shapes(ctx)? };
    let shape = shapes.pop().unwrap_or(first);
    let total = shape.num_elements();
    if total == 0 {
        let output = ctx.allocate_output_at(0, shape)?;
        return ctx.set_output_at(0, output);
    }
    let mut layout =
        Layout { program, total, shapes, results: Vec::new(), loads: SmallVec::new(), steps: SmallVec::new() };
    if !is_regular || !layout.fill(ctx, &shape)? {
        let output = program.one_by_one(ctx, layout.results)?;
        return ctx.set_output_at(0, output);
    }
    layout.run(ctx, shape)
}

/// [`compute`] for scalars, without tensors. `None` for other shapes.
fn scalars(program: &Program, ctx: &mut RawContext<'_>) -> Option<Result<()>> {
    let mut inputs: SmallVec<[*const u8; 8]> = SmallVec::new();
    for (input, &dtype) in program.inputs.iter().enumerate() {
        inputs.push(ctx.scalar_bits_at(input, dtype)?.as_ptr().cast());
    }
    let mut results: SmallVec<[[u64; 2]; 8]> = SmallVec::from_elem([0; 2], program.slot_count);
    let mut last = [0; 2];
    for (place, step) in program.steps.iter().enumerate() {
        let mut operands = [std::ptr::null(); 3];
        for (pointer, operand) in operands.iter_mut().zip(&step.operands) {
            *pointer = match *operand {
                Operand::Input(input) => inputs[input],
                Operand::Step(before) => results[program.slots[before]].as_ptr().cast(),
            };
        }
        if let Some(parameter) = &program.parameters[place] {
            operands[step.operands.len()] = parameter.aligned_bytes().ok()?.as_ptr();
        }
        let mut result = [0u64; 2];
        // SAFETY: the pointers are those of single elements of the step's dtypes, none of which is larger than `result`.
        unsafe { step.function.run().run(operands, result.as_mut_ptr().cast(), 1) };
        results[program.slots[place]] = result;
        last = result;
    }
    Some(ctx.set_scalar_at(0, program.output, last))
}

/// What a step takes.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Input(usize),
    Step(usize),
    /// That of a step.
    Parameter(usize),
}

/// What a buffer holds that no step writes.
enum Load {
    /// The only element of a value, repeated.
    Repeated,
    /// The elements of a value that broadcasts.
    Gathered(Plan<2>),
    /// The elements of the input that becomes the output.
    Copied,
}

/// Where a step finds an operand.
#[derive(Clone, Copy)]
enum Source<T> {
    /// In the same place of a tensor.
    Tensor(T),
    /// At the beginning of a buffer.
    Buffer(usize),
}

/// Where a step finds its operands.
type Operands = SmallVec<[Source<Value>; 3]>;

/// Where all operands are.
struct Layout<'p> {
    program: &'p Program,
    /// Elements of the output.
    total: usize,
    /// The shapes of all results but the last; empty if all are one.
    shapes: Vec<Shape>,
    /// The results of steps that have fewer elements than the output; empty if there are none.
    results: Vec<Option<Tensor>>,
    loads: SmallVec<[(Value, Load); 4]>,
    /// The steps that run block by block, with their operands.
    steps: SmallVec<[(usize, Operands); 8]>,
}

impl Layout<'_> {
    /// Whether the result of a step has as many elements as the output: they then lie in the same order.
    fn is_full(&self, place: usize) -> bool {
        self.shapes.get(place).is_none_or(|shape| shape.num_elements() == self.total)
    }

    /// Computes what is smaller than the output, and finds out where the operands of all other steps are. Returns false if
    /// that is nothing for blocks.
    fn fill(&mut self, ctx: &mut RawContext<'_>, shape: &Shape) -> Result<bool> {
        for (place, step) in self.program.steps.iter().enumerate() {
            if !self.is_full(place) {
                self.results.resize_with(self.program.steps.len(), || None);
                self.results[place] = Some(self.program.alone(place, ctx, &self.results)?);
                continue;
            }
            let mut sources = Operands::new();
            let operands = step.operands.iter().map(|operand| match *operand {
                Operand::Input(input) => Value::Input(input),
                Operand::Step(before) => Value::Step(before),
            });
            for value in operands.chain(self.program.parameters[place].iter().map(|_| Value::Parameter(place))) {
                let Some(source) = self.source(ctx, value, shape, step.function.sees_neighbours())? else {
                    return Ok(false);
                };
                sources.push(source);
            }
            self.steps.push((place, sources));
        }
        Ok(true)
    }

    /// Where a step finds a value; `None` if that is nothing for blocks.
    fn source(
        &mut self,
        ctx: &RawContext<'_>,
        value: Value,
        shape: &Shape,
        sees_neighbours: bool,
    ) -> Result<Option<Source<Value>>> {
        if let Value::Step(before) = value
            && self.is_full(before)
        {
            return Ok(Some(Source::Buffer(self.program.slots[before])));
        }
        let own = self.tensor(ctx, value)?.shape();
        let load = match own.num_elements() {
            count if count == self.total => return Ok(Some(Source::Tensor(value))),
            1 => Load::Repeated,
            _ if sees_neighbours => return Ok(None),
            _ => {
                let plan = Plan::new([shape, own], usize::MAX)?;
                if plan.sheet().is_some_and(|sheet| sheet.length < SHORT_RUN) {
                    return Ok(None);
                }
                Load::Gathered(plan)
            }
        };
        Ok(Some(Source::Buffer(self.buffer(value, load))))
    }

    /// The buffer of a value that no step writes.
    fn buffer(&mut self, value: Value, load: Load) -> usize {
        let known = self.loads.iter().position(|(other, _)| *other == value);
        let index = known.unwrap_or_else(|| {
            self.loads.push((value, load));
            self.loads.len() - 1
        });
        self.program.slot_count + index
    }

    /// The tensor that a value is.
    fn tensor<'c>(&'c self, ctx: &'c RawContext<'_>, value: Value) -> Result<&'c Tensor> {
        let missing = || kernlink::Error::internal("a step comes before what it takes");
        match value {
            Value::Input(input) => ctx.input_at(input),
            Value::Step(place) => self.results.get(place).and_then(Option::as_ref).ok_or_else(missing),
            Value::Parameter(place) => self.program.parameters.get(place).and_then(Option::as_ref).ok_or_else(missing),
        }
    }

    /// The dtype of a value.
    fn dtype(&self, value: Value) -> DataType {
        match value {
            Value::Input(input) => self.program.inputs[input],
            Value::Step(place) => self.program.steps[place].output,
            Value::Parameter(place) => self.program.steps[place].function.inputs()[0],
        }
    }

    /// Computes the output, which has this shape.
    fn run(mut self, ctx: &mut RawContext<'_>, shape: Shape) -> Result<()> {
        // An input of the output's shape that nothing else needs becomes the output.
        let mut held: SmallVec<[Option<Tensor>; 8]> = SmallVec::new();
        held.resize_with(ctx.num_inputs(), || None);
        let mut output = None;
        for (input, held) in held.iter_mut().enumerate() {
            let suits = self.program.inputs.get(input) == Some(&self.program.output);
            if suits && output.is_none() && *ctx.input_at(input)?.shape() == shape {
                let mut tensor = ctx.take_input_at(input)?;
                if tensor.is_unique() {
                    output = Some((input, tensor));
                } else {
                    *held = Some(tensor);
                }
            }
        }
        let (in_place, mut output) = match output {
            Some((input, tensor)) => (Some(input), tensor),
            None => (None, ctx.allocate_output_at(0, shape)?),
        };
        let target = start_of(&mut output)?;
        // The last step cannot write where it reads.
        if let (Some(input), Some((_, last))) = (in_place, self.steps.last()) {
            let taken = Value::Input(input);
            if last.iter().any(|source| matches!(source, Source::Tensor(value) if *value == taken)) {
                let buffer = self.buffer(taken, Load::Copied);
                let sources = self.steps.iter_mut().flat_map(|(_, sources)| sources);
                for source in sources.filter(|source| matches!(source, Source::Tensor(value) if *value == taken)) {
                    *source = Source::Buffer(buffer);
                }
            }
        }

        let start = |value: Value| -> Result<*const u8> {
            let tensor = match value {
                Value::Input(input) if in_place == Some(input) => return Ok(target.cast_const()),
                Value::Input(input) => held.get(input).and_then(Option::as_ref),
                _ => None,
            };
            let tensor = tensor.map_or_else(|| self.tensor(ctx, value), Ok)?;
            Ok(tensor.aligned_bytes()?.as_ptr())
        };
        let mut pieces: SmallVec<[Piece; 8]> = SmallVec::new();
        for (place, sources) in &self.steps {
            let step = &self.program.steps[*place];
            let mut operands = [Source::Buffer(0); 3];
            for (operand, source) in operands.iter_mut().zip(sources) {
                *operand = match *source {
                    Source::Tensor(value) => Source::Tensor(start(value)?),
                    Source::Buffer(buffer) => Source::Buffer(buffer),
                };
            }
            let result = (place + 1 < self.program.steps.len()).then_some(self.program.slots[*place]);
            let mut sizes = [0; 3];
            for (size, dtype) in sizes.iter_mut().zip(step.function.inputs()) {
                *size = dtype.size();
            }
            pieces.push(Piece { run: step.function.run(), operands, sizes, result });
        }
        let mut loads: SmallVec<[(*const u8, usize, &Load); 4]> = SmallVec::new();
        for (value, load) in &self.loads {
            loads.push((start(*value)?, self.dtype(*value).size(), load));
        }
        let (slots, output_size) = (self.program.slot_count, self.program.output.size());
        let (block, stride) = block_of(slots + loads.len(), self.program.largest, self.total);
        let job = Job { pieces: &pieces, loads: &loads, slots, output_size, block, stride, output: target };
        if self.total <= UNIT {
            // SAFETY: the pointers are those of tensors of the program's dtypes that live until the end of this function, and
            // that have the elements that the layout says.
            unsafe { job.compute(0..self.total) };
        } else {
            let (job, total) = (&job, self.total);
            let cost: usize = self.steps.iter().map(|(place, _)| self.program.steps[*place].function.cost()).sum();
            ctx.parallel_for(total.div_ceil(UNIT), (cost * UNIT / 1000).max(1), |units| {
                // SAFETY: as above; the ranges of units do not overlap, so each thread writes elements of its own.
                unsafe { job.compute(units.start * UNIT..(units.end * UNIT).min(total)) };
            });
        }
        ctx.set_output_at(0, output)
    }
}

/// How many elements a block has, and how many bytes a buffer, of which there are `count` for elements of `size` bytes.
fn block_of(count: usize, size: usize, total: usize) -> (usize, usize) {
    let stride = |block: usize| (block * size).next_multiple_of(LINE);
    let blocks = [UNIT.min(total), UNIT / 2, LEAST_BLOCK];
    let block = blocks.into_iter().find(|&block| count * stride(block) <= ROOM).unwrap_or(LEAST_BLOCK);
    (block, stride(block))
}

/// One step, with where its operands are.
struct Piece<'p> {
    run: &'p AnyLoop,
    operands: [Source<*const u8>; 3],
    /// Bytes of the operands' elements.
    sizes: [usize; 3],
    /// The buffer of the result; that of the last step is the output.
    result: Option<usize>,
}

/// One run of a program over whole tensors.
struct Job<'j> {
    pieces: &'j [Piece<'j>],
    /// Values with the bytes of their elements.
    loads: &'j [(*const u8, usize, &'j Load)],
    /// How many buffers come before those of `loads`.
    slots: usize,
    /// Bytes of an element of the output.
    output_size: usize,
    /// Elements of a block.
    block: usize,
    /// Bytes of a buffer.
    stride: usize,
    output: *mut u8,
}

// SAFETY: the pointers are read and written only through `compute`, whose callers answer for what they point to.
unsafe impl Sync for Job<'_> {}

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Room for buffers.
#[repr(align(64))]
struct Room<const BYTES: usize>(MaybeUninit<[u8; BYTES]>);

impl Job<'_> {
    /// Computes these elements of the output.
    ///
    /// # Safety
    /// The pointers are those of tensors that have the elements which the layout says. No other thread touches these
    /// elements of the output meanwhile.
    unsafe fn compute(&self, elements: Range<usize>) {
        let bytes = (self.slots + self.loads.len()) * self.stride;
        let mut few = Room::<ROOM>(MaybeUninit::uninit());
        let mut many: Vec<Room<LINE>> = Vec::new();
        let room: *mut u8 = if bytes <= ROOM {
            few.0.as_mut_ptr().cast()
        } else {
            many.reserve_exact(bytes.div_ceil(LINE));
            many.as_mut_ptr().cast()
        };
        // SAFETY: the room has all buffers.
        let buffer = |index: usize| unsafe { room.add(index * self.stride) };
        for (index, (start, size, load)) in self.loads.iter().enumerate() {
            if let Load::Repeated = load {
                let times = self.block.min(elements.len());
                // SAFETY: the value has an element, and the buffer room for a block of them.
                unsafe { repeat(*start, 1, 0, *size, buffer(self.slots + index), times) };
            }
        }
        let mut at = elements.start;
        while at < elements.end {
            let count = self.block.min(elements.end - at);
            for (index, (start, size, load)) in self.loads.iter().enumerate() {
                // SAFETY: by the caller's promise the value has these elements, and the buffer has room for them.
                unsafe { load.fill(*start, *size, at, count, buffer(self.slots + index)) };
            }
            for piece in self.pieces {
                let operands = std::array::from_fn(|place| match piece.operands[place] {
                    // SAFETY: by the caller's promise the tensor has these elements.
                    Source::Tensor(start) => unsafe { start.add(at * piece.sizes[place]) },
                    Source::Buffer(index) => buffer(index).cast_const(),
                });
                // SAFETY: so has the output.
                let result = piece.result.map_or_else(|| unsafe { self.output.add(at * self.output_size) }, buffer);
                // SAFETY: the operands have `count` elements, which were written before. None is where the result is: a
                // buffer is given to a result once nothing needs what was in it, and the last step takes no tensor that is
                // the output. Functions that do not allow some elements are no steps.
                unsafe { piece.run.run(operands, result, count) };
            }
            at += count;
        }
    }
}

impl Load {
    /// Puts the elements of a value, of `size` bytes, that go with `count` elements of the output into a buffer.
    ///
    /// # Safety
    /// The value has them, and the buffer room for them.
    unsafe fn fill(&self, start: *const u8, size: usize, at: usize, count: usize, buffer: *mut u8) {
        match self {
            Load::Repeated => {}
            // SAFETY: by the caller's promise.
            Load::Copied => unsafe {
                std::ptr::copy_nonoverlapping(start.add(at * size), buffer, count * size);
            },
            Load::Gathered(plan) => {
                let [_, step] = plan.run_steps();
                plan.runs(at..at + count, &mut |run, [_, first], length| {
                    // SAFETY: the plan yields elements of the value; the run begins at or after `at`.
                    unsafe {
                        let (source, target) = (start.add(first * size), buffer.add((run - at) * size));
                        match step {
                            0 => repeat(source, 1, 0, size, target, length),
                            _ => std::ptr::copy_nonoverlapping(source, target, length * size),
                        }
                    }
                });
            }
        }
    }
}
