//! What a kernel sees when it runs: its inputs, its outputs, the threads.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use super::memory::{MemoryType, NodeMemory, memory_without_plan};
use crate::device::Device;
use crate::dtype::DataType;
use crate::error::{Error, Result};
use crate::op::{InputArg, Op, OpDef, OutputArg, Signature};
use crate::shape::Shape;
use crate::step::Step;
use crate::tensor::Tensor;
use crate::threads::ThreadPool;

/// The least work, in nanoseconds or so, that is worth a thread that is awake.
const WORTH_SPLITTING: usize = 20_000;

/// The least work that is worth waking threads.
const WORTH_WAKING: usize = 60_000;

/// The least work of a part.
const PART: usize = 5_000;

/// The most parts that there are for each thread.
const PARTS_PER_THREAD: usize = 4;

/// One call of a kernel whose op is known at run time only.
pub struct RawContext<'a> {
    node: &'a str,
    op: &'a OpDef,
    pub(super) signature: &'a Signature,
    pub(super) inputs: &'a mut [Option<Tensor>],
    outputs: &'a mut [Option<Tensor>],
    pool: Option<&'a ThreadPool>,
    run: RunInfo<'a>,
    temporary: AtomicUsize,
    persistent: AtomicI64,
}

/// Where in a step a kernel is called.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct RunInfo<'a> {
    /// The step, if the kernel runs in one.
    pub step: Option<&'a Arc<Step>>,
    /// The device, if it is known.
    pub device: Option<&'a dyn Device>,
    /// How deeply the call is nested in calls of functions.
    pub depth: u32,
    /// The frame's number: unique to each execution of a loop, and to each run outside of loops.
    pub frame: u64,
    /// The iteration of the loop.
    pub iteration: u64,
    /// A bit for each of the first 64 outputs: whether it is unused.
    pub unused_outputs: u64,
    /// Whether an input is dead.
    pub is_input_dead: bool,
    /// What the plan knows of the node's memory.
    pub memory: Option<&'a NodeMemory>,
}

impl<'a> RawContext<'a> {
    /// A run for a node: `inputs` and `outputs` are as many as the signature says, the outputs empty. Work is split
    /// over `pool`, or stays on the calling thread if there is none.
    pub fn new(
        node: &'a str,
        op: &'a OpDef,
        signature: &'a Signature,
        inputs: &'a mut [Option<Tensor>],
        outputs: &'a mut [Option<Tensor>],
        pool: Option<&'a ThreadPool>,
    ) -> RawContext<'a> {
        debug_assert!(inputs.len() == signature.inputs.len() && outputs.len() == signature.outputs.len());
        RawContext::in_run(node, (op, signature), inputs, outputs, pool, RunInfo::default())
    }

    /// [`RawContext::new`] within a step.
    #[inline]
    pub fn in_run(
        node: &'a str,
        (op, signature): (&'a OpDef, &'a Signature),
        inputs: &'a mut [Option<Tensor>],
        outputs: &'a mut [Option<Tensor>],
        pool: Option<&'a ThreadPool>,
        run: RunInfo<'a>,
    ) -> RawContext<'a> {
        RawContext {
            node,
            op,
            signature,
            inputs,
            outputs,
            pool,
            run,
            temporary: AtomicUsize::new(0),
            persistent: AtomicI64::new(0),
        }
    }

    /// Where in the step the kernel is called.
    pub fn run(&self) -> &RunInfo<'a> {
        &self.run
    }

    /// The node's name.
    pub fn node(&self) -> &str {
        self.node
    }

    /// The op's declaration.
    pub fn op(&self) -> &OpDef {
        self.op
    }

    /// The node's inputs and outputs.
    pub fn signature(&self) -> &Signature {
        self.signature
    }

    /// The number of inputs.
    #[inline]
    pub fn num_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The number of outputs.
    pub fn num_outputs(&self) -> usize {
        self.signature.outputs.len()
    }

    /// Input `index`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such input; INTERNAL if it was taken or forwarded already, or is dead.
    #[track_caller]
    #[inline]
    pub fn input_at(&self, index: usize) -> Result<&Tensor> {
        match self.inputs.get(index) {
            Some(Some(tensor)) => Ok(tensor),
            _ => Err(self.missing(index)),
        }
    }

    /// Why an input is not there.
    #[cold]
    #[track_caller]
    fn missing(&self, index: usize) -> Error {
        match self.inputs.get(index) {
            None => self.signature.no_input(self.op, index),
            // Of a node with dead inputs it is not known which they are: the kernel may have taken others.
            Some(_) if self.run.is_input_dead => Error::internal(format!(
                "{} is dead, or was taken already: a kernel that takes dead inputs asks `is_input_dead` first",
                self.signature.input_called(self.op, index)
            )),
            Some(_) => Error::internal(format!("{} was taken already", self.signature.input_called(self.op, index))),
        }
    }

    /// All inputs, as they stand.
    pub(crate) fn inputs(&self) -> &[Option<Tensor>] {
        self.inputs
    }

    /// All outputs, as far as they are set.
    pub(crate) fn outputs(&self) -> &[Option<Tensor>] {
        self.outputs
    }

    /// Sets the inputs and clears the outputs, so that the kernel can be called again.
    pub(crate) fn begin_again(&mut self, inputs: &[Option<Tensor>]) {
        self.inputs.clone_from_slice(inputs);
        self.outputs.fill(None);
    }

    /// Takes input `index` out of the run, so that the kernel owns it; it can be changed if
    /// [`Tensor::is_unique`].
    ///
    /// # Errors
    /// As [`RawContext::input_at`].
    #[inline]
    #[track_caller]
    pub fn take_input_at(&mut self, index: usize) -> Result<Tensor> {
        self.input_at(index)?;
        self.inputs[index].take().ok_or_else(|| Error::internal("checked above"))
    }

    /// The dtype of output `index`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output.
    #[inline]
    #[track_caller]
    pub fn output_dtype_at(&self, index: usize) -> Result<DataType> {
        let slot = self.signature.outputs.get(index);
        slot.map(|slot| slot.dtype).ok_or_else(|| self.signature.no_output(self.op, index))
    }

    /// A tensor for output `index`, to be filled and given to [`RawContext::set_output_at`].
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output or the shape has too many elements; RESOURCE_EXHAUSTED if there is
    /// not enough memory; INTERNAL if the output is set already.
    #[inline]
    #[track_caller]
    pub fn allocate_output_at(&self, index: usize, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        shape.check()?;
        let dtype = self.output_dtype_at(index)?;
        if self.outputs.get(index).is_some_and(Option::is_some) {
            let output = self.signature.output_called(self.op, index);
            return Err(Error::internal(format!("{output} is allocated though it is set")));
        }
        Tensor::alloc(dtype, shape)
    }

    /// Sets output `index`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such output; INTERNAL if it is set already or its dtype is another.
    #[inline]
    #[track_caller]
    pub fn set_output_at(&mut self, index: usize, tensor: Tensor) -> Result<()> {
        match (self.outputs.get_mut(index), self.signature.outputs.get(index)) {
            (Some(output @ None), Some(slot)) if slot.dtype == tensor.dtype() => {
                Tensor::put(output, Some(tensor));
                Ok(())
            }
            _ => Err(self.refused(index, &tensor)),
        }
    }

    /// The bytes of input `index`, in the host's order, if it is a scalar of this dtype, which is plain bytes.
    #[inline(always)]
    pub fn scalar_bits_at(&self, index: usize, dtype: DataType) -> Option<&[u64; 2]> {
        let tensor = self.inputs.get(index)?.as_ref()?;
        if tensor.dtype() != dtype || tensor.rank() > 0 { None } else { tensor.inline_bits() }
    }

    /// Sets output `index` to [`Tensor::scalar_from_bits`].
    ///
    /// # Errors
    /// As [`Tensor::scalar_from_bits`] and [`RawContext::set_output_at`].
    #[inline]
    #[track_caller]
    pub fn set_scalar_at(&mut self, index: usize, dtype: DataType, bits: [u64; 2]) -> Result<()> {
        match (self.outputs.get_mut(index), self.signature.outputs.get(index)) {
            (Some(output @ None), Some(slot)) if slot.dtype == dtype && dtype.is_pod() => {
                Tensor::put_scalar(output, dtype, bits);
                Ok(())
            }
            _ => self.set_output_at(index, Tensor::scalar_from_bits(dtype, bits)?),
        }
    }

    /// Why an output cannot be set.
    #[cold]
    #[track_caller]
    fn refused(&self, index: usize, tensor: &Tensor) -> Error {
        match self.output_dtype_at(index) {
            Err(error) => error,
            Ok(expected) if tensor.dtype() != expected => {
                let output = self.signature.output_called(self.op, index);
                Error::internal(format!("{output} must be {expected}, not {}", tensor.dtype()))
            }
            Ok(_) => Error::internal(format!("{} is set twice", self.signature.output_called(self.op, index))),
        }
    }

    /// Input `input` itself if output `output` can take its place: same dtype and memory, as many elements as `shape`
    /// has, no other owner, and not reserved for another output (see [`NodeMemory`]). The tensor comes with `shape` and
    /// with the input's elements, which the kernel may change.
    pub fn forward_input_at(&mut self, input: usize, output: usize, shape: &Shape) -> Option<Tensor> {
        let expected = self.signature.outputs.get(output)?.dtype;
        if let Some(memory) = self.run.memory
            && !(memory.may_forward(input, Some(output))
                && self.input_memory_type(input) == self.output_memory_type(output))
        {
            return None;
        }
        self.forward_input_as(input, expected, shape)
    }

    /// The first of the inputs that output `output` can take the place of, else a tensor of that shape with arbitrary
    /// values; see [`RawContext::forward_input_at`].
    ///
    /// # Errors
    /// As [`RawContext::allocate_output_at`].
    #[track_caller]
    pub fn forward_input_or_allocate_output_at(
        &mut self,
        candidates: &[usize],
        output: usize,
        shape: &Shape,
    ) -> Result<Tensor> {
        match candidates.iter().find_map(|&input| self.forward_input_at(input, output, shape)) {
            Some(tensor) => Ok(tensor),
            None => self.allocate_output_at(output, shape.clone()),
        }
    }

    /// The first of the inputs that can serve as a tensor for the kernel's own use: of this dtype, with as many elements,
    /// without another owner, and not reserved for an output; else a tensor with arbitrary values.
    ///
    /// # Errors
    /// As [`RawContext::allocate_temp`].
    #[track_caller]
    pub fn forward_input_or_allocate_temp_at(
        &mut self,
        candidates: &[usize],
        dtype: DataType,
        shape: &Shape,
    ) -> Result<Tensor> {
        for &input in candidates {
            let is_kept = self.run.memory.is_some_and(|memory| !memory.may_forward(input, None));
            if !is_kept && let Some(tensor) = self.forward_input_as(input, dtype, shape) {
                return Ok(tensor);
            }
        }
        self.allocate_temp(dtype, shape.clone())
    }

    fn forward_input_as(&mut self, input: usize, expected: DataType, shape: &Shape) -> Option<Tensor> {
        let tensor = self.inputs.get_mut(input)?.as_mut()?;
        if tensor.dtype() != expected || tensor.num_elements() != shape.num_elements() || !tensor.is_unique() {
            return None;
        }
        let tensor = self.inputs[input].take()?;
        tensor.reshaped(shape.clone()).ok()
    }

    /// Whether an input is reserved for output `index`, so that only it can be forwarded from that input.
    pub fn output_expects_forwarding(&self, index: usize) -> bool {
        self.run.memory.is_some_and(|memory| memory.keeps_for(index))
    }

    /// Where input `index` lives.
    pub fn input_memory_type(&self, index: usize) -> MemoryType {
        let dtype = self.signature.inputs.get(index).map_or(DataType::Float, |slot| slot.dtype);
        self.run.memory.map_or_else(|| memory_without_plan(dtype), |memory| memory.input(index, dtype))
    }

    /// Where output `index` lives.
    pub fn output_memory_type(&self, index: usize) -> MemoryType {
        let dtype = self.signature.outputs.get(index).map_or(DataType::Float, |slot| slot.dtype);
        self.run.memory.map_or_else(|| memory_without_plan(dtype), |memory| memory.output(index, dtype))
    }

    /// The positions of the inputs that belong to the argument of this name.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the op has no such argument.
    #[track_caller]
    pub fn input_range_of(&self, name: &str) -> Result<Range<usize>> {
        let range = self.op.input_index(name).and_then(|index| self.signature.input_ranges.get(index)).cloned();
        range.ok_or_else(|| Error::invalid_argument(format!("Unknown input name: {name}")))
    }

    /// The positions of the outputs that belong to the argument of this name.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the op has no such argument.
    #[track_caller]
    pub fn output_range_of(&self, name: &str) -> Result<Range<usize>> {
        let range = self.op.output_index(name).and_then(|index| self.signature.output_ranges.get(index)).cloned();
        range.ok_or_else(|| Error::invalid_argument(format!("Unknown output name: {name}")))
    }

    /// The input of this name.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the op has no such input, or it is a list; as [`RawContext::input_at`].
    #[track_caller]
    pub fn input_named(&self, name: &str) -> Result<&Tensor> {
        let range = self.input_range_of(name)?;
        if range.len() != 1 {
            let message = format!("input `{name}` is a list of {} tensors where one is expected", range.len());
            return Err(Error::invalid_argument(message));
        }
        self.input_at(range.start)
    }

    /// The dtype of input `index`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there is no such input.
    #[track_caller]
    pub fn input_dtype_at(&self, index: usize) -> Result<DataType> {
        let slot = self.signature.inputs.get(index);
        slot.map(|slot| slot.dtype).ok_or_else(|| self.signature.no_input(self.op, index))
    }

    /// Records memory that the kernel allocated for this call, in addition to tensors of
    /// [`RawContext::allocate_temp`], which are recorded already.
    pub fn record_temp_memory_allocation(&self, bytes: usize) {
        self.temporary.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Records memory that outlives the call, such as a variable's or a table's: allocated, or freed if it is negative.
    pub fn record_persistent_memory_allocation(&self, bytes: i64) {
        self.persistent.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The temporary bytes that were recorded.
    pub fn temp_memory_allocated(&self) -> usize {
        self.temporary.load(Ordering::Relaxed)
    }

    /// The persistent bytes that were recorded.
    pub fn persistent_memory_allocated(&self) -> i64 {
        self.persistent.load(Ordering::Relaxed)
    }

    /// Whether an input is dead; then some inputs are missing. Only kernels that
    /// [take dead inputs](super::OpKernel::takes_dead_inputs) run so. Outputs that they do not set are dead.
    pub fn is_input_dead(&self) -> bool {
        self.run.is_input_dead
    }

    /// The number of threads that [`RawContext::parallel_for`] may use.
    pub fn threads(&self) -> usize {
        self.pool.map_or(1, ThreadPool::threads)
    }

    /// Runs `work` on ranges that together cover `0..total`, on several threads if `total * cost` (in nanoseconds or
    /// so) is worth it. The ranges are equal but for one item.
    ///
    /// The calling thread runs nothing else until all are done, so that it may hold locks.
    pub fn parallel_for(&self, total: usize, cost: usize, work: impl Fn(Range<usize>) + Sync) {
        self.parallel_ranges(total, 1, cost, &work);
    }

    /// Splits `items` into pieces of a multiple of `unit` items (the last may be shorter) and runs `work` on each with
    /// the index of its first item, on several threads if it is worth it. `cost` is that of one item.
    pub fn parallel_chunks<T: Send>(
        &self,
        items: &mut [T],
        unit: usize,
        cost: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        /// The items, of which each part takes others.
        struct Items<T>(*mut T);
        // SAFETY: threads take distinct items, which can be sent to them.
        unsafe impl<T: Send> Sync for Items<T> {}
        impl<T> Items<T> {
            /// # Safety
            /// The range is within the items, and nobody else uses what is in it.
            #[expect(clippy::mut_from_ref, reason = "the caller's promise")]
            unsafe fn slice(&self, range: Range<usize>) -> &mut [T] {
                // SAFETY: by the caller's promise.
                unsafe { std::slice::from_raw_parts_mut(self.0.add(range.start), range.len()) }
            }
        }

        let length = items.len();
        let items = Items(items.as_mut_ptr());
        self.parallel_ranges(length, unit.max(1), cost, &|range| {
            // SAFETY: the ranges are parts of the items that do not overlap.
            work(range.start, unsafe { items.slice(range) });
        });
    }

    /// Runs `work` on ranges that together cover `0..length`, do not overlap, and begin at multiples of `unit`; `cost` is that of
    /// one item. Apart from the functions above, because these are compiled for every kernel, and what this does once; it is
    /// for kernels that split what they know no type of.
    #[inline(never)]
    pub fn parallel_ranges(&self, length: usize, unit: usize, cost: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
        let units = length.div_ceil(unit);
        let Some(Split { pool, parts, is_long }) = self.split(units, cost.saturating_mul(unit)) else {
            return work(0..length);
        };
        let bound = |part: usize| (part * units / parts * unit).min(length);
        pool.for_each(parts, is_long, |part| work(bound(part)..bound(part + 1)));
    }

    /// The pool, if work is to be split over it.
    pub fn pool(&self) -> Option<&ThreadPool> {
        self.pool
    }

    /// How work is split, if it is.
    fn split(&self, total: usize, cost: usize) -> Option<Split<'a>> {
        let work = total.saturating_mul(cost.max(1));
        let pool = self.pool.filter(|_| work >= WORTH_SPLITTING)?;
        let (threads, is_long) = (pool.threads(), work >= WORTH_WAKING);
        // More parts than threads: one that comes late, or is held up, does fewer.
        let mut parts = (work / PART).min(PARTS_PER_THREAD * threads).min(total);
        if parts > threads {
            parts -= parts % threads;
        }
        if parts < 2 {
            return None;
        }
        // Loops one after the other may be worth waking threads that each of them is not.
        let is_long = is_long || (!pool.are_awake() && pool.has_missed(work, WORTH_WAKING));
        (is_long || pool.are_awake()).then_some(Split { pool, parts, is_long })
    }
}

/// Work that is done in parts.
struct Split<'a> {
    pool: &'a ThreadPool,
    parts: usize,
    /// Whether it is worth waking threads.
    is_long: bool,
}

/// One run of a kernel of op `O`. Dereferences to [`RawContext`] for access by index.
// The example needs ops: the crate `kernlink` compiles it.
#[cfg_attr(not(doctest), doc = "", doc = include_str!("../../doc/kernel_context.md"))]
#[repr(transparent)]
pub struct KernelContext<'a, O> {
    pub(super) raw: RawContext<'a>,
    op: PhantomData<fn() -> O>,
}

impl<'a, O: Op> KernelContext<'a, O> {
    pub(super) fn from_raw<'b>(raw: &'b mut RawContext<'a>) -> &'b mut KernelContext<'a, O> {
        // SAFETY: `KernelContext` is a transparent wrapper of `RawContext`; its other field has no size.
        unsafe { &mut *std::ptr::from_mut(raw).cast::<KernelContext<'a, O>>() }
    }

    pub(super) fn from_raw_ref<'b>(raw: &'b RawContext<'a>) -> &'b KernelContext<'a, O> {
        // SAFETY: as in `from_raw`.
        unsafe { &*std::ptr::from_ref(raw).cast::<KernelContext<'a, O>>() }
    }

    /// The position of an input among the node's inputs.
    pub fn input_position(&self, input: InputArg<O>) -> usize {
        self.raw.signature.input_ranges[input.index()].start
    }

    /// The position of an output among the node's outputs.
    pub fn output_position(&self, output: OutputArg<O>) -> usize {
        self.raw.signature.output_ranges[output.index()].start
    }

    /// An input.
    ///
    /// # Errors
    /// INTERNAL if it was forwarded already.
    #[track_caller]
    #[inline]
    pub fn input(&self, input: InputArg<O>) -> Result<&Tensor> {
        self.raw.input_at(self.input_position(input))
    }

    /// Takes an input out of the run; see [`RawContext::take_input_at`].
    ///
    /// # Errors
    /// INTERNAL if it was taken already.
    #[track_caller]
    pub fn take_input(&mut self, input: InputArg<O>) -> Result<Tensor> {
        self.raw.take_input_at(self.input_position(input))
    }

    /// The dtype of an output.
    ///
    /// # Errors
    /// As [`RawContext::output_dtype_at`].
    #[track_caller]
    pub fn output_dtype(&self, output: OutputArg<O>) -> Result<DataType> {
        self.raw.output_dtype_at(self.output_position(output))
    }

    /// A tensor for an output, to be filled and given to [`KernelContext::set_output`].
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the shape has too many elements; RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn allocate_output(&self, output: OutputArg<O>, shape: impl Into<Shape>) -> Result<Tensor> {
        self.raw.allocate_output_at(self.output_position(output), shape)
    }

    /// Sets an output.
    ///
    /// # Errors
    /// INTERNAL if it is set already or its dtype is another.
    #[track_caller]
    pub fn set_output(&mut self, output: OutputArg<O>, tensor: Tensor) -> Result<()> {
        self.raw.set_output_at(self.output_position(output), tensor)
    }

    /// An input itself, if an output of this shape can take its place; see [`RawContext::forward_input_at`].
    pub fn forward_input(&mut self, input: InputArg<O>, output: OutputArg<O>, shape: &Shape) -> Option<Tensor> {
        let (input, output) = (self.input_position(input), self.output_position(output));
        self.raw.forward_input_at(input, output, shape)
    }

    /// The input itself if the output can take its place, else a tensor of the input's shape with arbitrary values.
    /// Either is to be filled and given to [`KernelContext::set_output`].
    ///
    /// # Errors
    /// As [`KernelContext::input`] and [`KernelContext::allocate_output`].
    #[track_caller]
    pub fn forward_input_or_allocate_output(&mut self, input: InputArg<O>, output: OutputArg<O>) -> Result<Tensor> {
        let shape = self.input(input)?.shape().clone();
        match self.forward_input(input, output, &shape) {
            Some(tensor) => Ok(tensor),
            None => self.allocate_output(output, shape),
        }
    }
}

impl<'a, O> Deref for KernelContext<'a, O> {
    type Target = RawContext<'a>;
    fn deref(&self) -> &RawContext<'a> {
        &self.raw
    }
}

impl<O> DerefMut for KernelContext<'_, O> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use crate::op::OpDefBuilder;

    #[test]
    fn an_input_that_is_not_there_says_why() {
        let op = OpDefBuilder::new("Mix").attr("N: int").input("x: float").input("more: N * float").output("y: float");
        let op = op.build().unwrap();
        let attrs = [("N".to_owned(), crate::attr::AttrValue::Int(2))].into_iter().collect();
        let signature = Signature::new(&op, &attrs).unwrap();
        let with_context = |run: RunInfo<'_>, ask: &dyn Fn(&mut RawContext<'_>) -> Error| {
            let (mut inputs, mut outputs) = ([None, None, None], [None]);
            ask(&mut RawContext::in_run("n", (&op, &signature), &mut inputs, &mut outputs, None, run))
        };
        let missing = |run, index| with_context(run, &|context| context.input_at(index).unwrap_err());
        let dead = RunInfo { is_input_dead: true, ..RunInfo::default() };
        assert!(missing(dead, 0).message().starts_with("input `x` (0) is dead"));
        assert_eq!(missing(RunInfo::default(), 0).message(), "input `x` (0) was taken already");
        assert_eq!(missing(RunInfo::default(), 2).message(), "input `more`[1] (2) was taken already");
        let none = missing(dead, 3);
        assert_eq!(none.message(), "there is no input 3: op Mix has 3 (`x`, `more`)");
        assert_eq!(none.code(), Code::InvalidArgument);
        let wrong = |context: &mut RawContext<'_>| context.set_output_at(0, Tensor::scalar(1i32)).unwrap_err();
        assert_eq!(with_context(dead, &wrong).message(), "output `y` (0) must be float, not int32");
        let twice = |context: &mut RawContext<'_>| {
            context.set_output_at(0, Tensor::scalar(1.0f32)).unwrap();
            context.set_output_at(0, Tensor::scalar(1.0f32)).unwrap_err()
        };
        assert_eq!(with_context(dead, &twice).message(), "output `y` (0) is set twice");
    }
}
