//! The driver that all element-wise kernels of plain-byte dtypes share: it finds the shape and the output buffer,
//! splits the work, and calls the kernel's own loop on contiguous pieces.
//!
//! Nothing here is generic over a dtype or a function, so that a kernel costs one small loop in the binary.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

use kernlink::dtype::{DataType, Element as _, Number as _, Pod, bf16, f16};
use kernlink::kernel::RawContext;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Error, Result, bail};

use super::blocks::{Narrow, Stored, by_blocks};
use super::broadcast::{Plan, Sheet};

pub(super) use kernlink::kernel::ElementLoop as Loop;

/// The error of a loop that allows everything.
pub(super) const NO_ERROR: (Code, &str) = (Code::Internal, "the loop allows everything");

/// A loop and what the driver must know of it.
#[derive(Clone, Copy)]
pub(super) struct Spec<const N: usize> {
    /// The loop.
    pub(super) run: Loop<N>,
    /// The same for processors with AVX2 and FMA.
    pub(super) wide: Option<Loop<N>>,
    /// The same for processors with AVX-512.
    pub(super) widest: Option<Loop<N>>,
    /// The dtypes of its inputs.
    pub(super) inputs: [DataType; N],
    /// The dtype of its output.
    pub(super) output: DataType,
    /// Picoseconds for one element, or so.
    pub(super) cost: usize,
    /// What it means that `run` returned false.
    pub(super) error: (Code, &'static str),
    /// How many groups of dimensions the shapes may broadcast along.
    pub(super) limit: usize,
    /// Which of the kernel's inputs is the loop's first.
    pub(super) first: usize,
    /// How elements are stored, if the loops are of wider ones.
    pub(super) stored: Option<Narrow>,
    /// The loop of elements as they are stored, then.
    pub(super) of_stored: Option<Loop<N>>,
}

/// The loop of a [`Spec`] for this processor.
#[derive(Clone, Copy)]
pub(super) struct ChosenLoop<const N: usize> {
    run: Loop<N>,
    stored: Option<Narrow>,
}

impl<const N: usize> ChosenLoop<N> {
    /// Runs the loop on elements as they are stored.
    ///
    /// # Safety
    /// As [`Loop`], with the spec's dtypes.
    #[inline]
    pub(super) unsafe fn call(self, inputs: [*const u8; N], output: *mut u8, length: usize) -> bool {
        // SAFETY: by the caller's promise.
        unsafe {
            match self.stored {
                None => (self.run)(inputs, output, length),
                Some(narrow) => by_blocks(self.run, narrow, inputs, output, length),
            }
        }
    }
}

/// A loop over slices, of which [`Spec::of`] makes one that the driver calls.
pub(super) trait SliceLoop<const N: usize> {
    /// The elements of the inputs.
    type In: Pod;
    /// The elements of the output.
    type Out: Pod;
    /// The loop over wider elements that computes this one, which then has no code of its own.
    const WIDER: Option<Spec<N>> = None;

    /// As [`Loop`]; all slices have the same length.
    fn run(inputs: [&[Self::In]; N], out: &mut [Self::Out]) -> bool;
}

impl<const N: usize> Spec<N> {
    /// A loop over slices that allows everything, of shapes that broadcast in whatever way.
    pub(super) const fn of<L: SliceLoop<N>>() -> Spec<N> {
        if let Some(spec) = L::WIDER {
            return Spec { of_stored: Some(run_wider::<L, N>), ..spec };
        }
        Spec {
            run: run::<L, N>,
            #[cfg(target_arch = "x86_64")]
            wide: match L::In::DTYPE {
                DataType::Float
                | DataType::Double
                | DataType::Half
                | DataType::Bfloat16
                | DataType::Complex64
                | DataType::Complex128
                | DataType::Int32
                | DataType::Int64 => Some(run_wide::<L, N>),
                _ => None,
            },
            #[cfg(not(target_arch = "x86_64"))]
            wide: None,
            widest: None,
            inputs: [L::In::DTYPE; N],
            output: L::Out::DTYPE,
            cost: 500,
            error: NO_ERROR,
            limit: usize::MAX,
            first: 0,
            stored: None,
            of_stored: None,
        }
    }

    /// As [`Spec::of`], of a loop that takes so many picoseconds for an element, or so: for one that computes much the
    /// widest vectors are worth their code.
    pub(super) const fn of_cost<L: SliceLoop<N>>(cost: usize) -> Spec<N> {
        let spec = Spec { cost, ..Spec::of::<L>() };
        #[cfg(target_arch = "x86_64")]
        if cost >= 1500 && L::WIDER.is_none() && matches!(L::In::DTYPE, DataType::Float | DataType::Double) {
            return Spec { widest: Some(run_widest::<L, N>), ..spec };
        }
        spec
    }

    /// This loop for elements that are stored as `S`, and computed as the wider ones that it is of; so are its results, if
    /// they are of those. It takes as long for an element as it did.
    pub(super) const fn stored_as<S: Stored>(self) -> Spec<N> {
        let (wide, own) = (S::Wide::DTYPE as u8, S::DTYPE);
        assert!(self.inputs[0] as u8 == wide, "the loop is of elements as wide as these become");
        let output = if self.output as u8 == wide { own } else { self.output };
        let stored = Narrow { elements: S::ELEMENTS, output_size: output.size(), narrows: self.output as u8 == wide };
        Spec { inputs: [own; N], output, stored: Some(stored), ..self }
    }

    /// The loop for this processor: a wide one is the same function, and is chosen only where the processor can run it.
    #[inline]
    pub(super) fn best(&self) -> ChosenLoop<N> {
        let widest = self.widest.filter(|_| has_avx512());
        let run = widest.or(self.wide.filter(|_| has_avx2())).unwrap_or(self.run);
        ChosenLoop { run, stored: self.stored }
    }

    /// The loop for this processor as a function that knows all that it needs.
    pub(super) fn plain(&self) -> Loop<N> {
        self.of_stored.unwrap_or_else(|| self.best().run)
    }

    /// Runs the loop on slices.
    ///
    /// # Panics
    /// If these are not the spec's types, or the lengths differ.
    pub(super) fn run_on<T: Pod, O: Pod>(&self, inputs: [&[T]; N], out: &mut [O]) -> bool {
        assert!(self.inputs == [T::DTYPE; N] && self.output == O::DTYPE, "slices are of the loop's types");
        assert!(inputs.iter().all(|input| input.len() == out.len()), "slices have one length");
        let pointers = inputs.map(|input| input.as_ptr().cast());
        // SAFETY: the slices have the loop's types and one length, and what is written exclusively overlaps nothing.
        unsafe { self.best().call(pointers, out.as_mut_ptr().cast(), out.len()) }
    }
}

/// The [`Loop`] of a [`SliceLoop`].
///
/// # Safety
/// As [`Loop`].
#[inline(always)]
unsafe fn run<L: SliceLoop<N>, const N: usize>(inputs: [*const u8; N], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise.
    let (inputs, out) = unsafe {
        (
            inputs.map(|input| std::slice::from_raw_parts(input.cast(), length)),
            std::slice::from_raw_parts_mut(out.cast(), length),
        )
    };
    L::run(inputs, out)
}

/// As [`run`], by the loop over wider elements.
///
/// # Safety
/// As [`Loop`].
unsafe fn run_wider<L: SliceLoop<N>, const N: usize>(inputs: [*const u8; N], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise.
    unsafe {
        match const { L::WIDER } {
            Some(spec) => spec.best().call(inputs, out, length),
            None => run::<L, N>(inputs, out, length),
        }
    }
}

/// As [`run`], for processors with AVX2, FMA and F16C.
///
/// # Safety
/// As [`Loop`], and the processor has them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn run_wide<L: SliceLoop<N>, const N: usize>(inputs: [*const u8; N], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { run::<L, N>(inputs, out, length) }
}

/// As [`run`], for processors with AVX-512.
///
/// # Safety
/// As [`Loop`], and the processor has it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")]
unsafe fn run_widest<L: SliceLoop<N>, const N: usize>(inputs: [*const u8; N], out: *mut u8, length: usize) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { run::<L, N>(inputs, out, length) }
}

/// Bytes of the buffer into which elements that do not lie in a row are gathered.
const BUFFER: usize = 2048;
/// Elements in a unit of work.
pub(super) const UNIT: usize = 1024;
/// Rows below this length are not computed one by one.
pub(super) const SHORT_RUN: usize = 48;

/// Runs a loop over the inputs of a kernel, broadcast, followed by `others`, and sets output 0.
///
/// # Errors
/// INVALID_ARGUMENT if the shapes do not fit or the loop does not allow a value.
#[inline]
pub(super) fn element_wise<const N: usize>(ctx: &mut RawContext<'_>, spec: &Spec<N>, others: &[Tensor]) -> Result<()> {
    if others.is_empty()
        && let Some(done) = scalars(ctx, spec)
    {
        return done;
    }
    let output = computed(ctx, spec, others)?;
    ctx.set_output_at(0, output)
}

/// What [`element_wise`] sets output 0 to, for whatever shapes.
///
/// # Errors
/// As [`element_wise`].
#[inline(never)]
pub(super) fn computed<const N: usize>(ctx: &mut RawContext<'_>, spec: &Spec<N>, others: &[Tensor]) -> Result<Tensor> {
    let (base, given) = (spec.first, N - others.len());
    let mut shapes = [const { None }; N];
    for (i, slot) in shapes.iter_mut().enumerate() {
        let tensor = if i < given { ctx.input_at(base + i)? } else { &others[i - given] };
        if tensor.dtype() != spec.inputs[i] {
            bail!(InvalidArgument, "input {i} must be {}, not {}", spec.inputs[i], tensor.dtype());
        }
        *slot = Some(tensor.shape());
    }
    let shapes: [&Shape; N] = shapes.map(|shape| shape.expect("filled above"));
    let (pattern, full) = Pattern::new(shapes, spec.limit)?;
    let shape = pattern.shape(shapes[full]);

    // An input of the output's shape that nothing else needs becomes the output.
    let mut candidates = [false; N];
    for i in 0..given {
        candidates[i] = spec.inputs[i] == spec.output && shapes[i] == shape;
    }
    let total = shape.num_elements();
    let mut held = [const { None }; N];
    let mut output = None;
    for i in 0..given {
        if candidates[i] {
            let mut tensor = ctx.take_input_at(base + i)?;
            if tensor.is_unique() {
                output = Some((tensor, i));
                break;
            }
            held[i] = Some(tensor);
        }
    }
    let (mut output, in_place) = match output {
        Some((tensor, i)) => (tensor, i),
        None => {
            let shape = match &pattern {
                Pattern::Rows(plan) => plan.shape().clone(),
                Pattern::Flat(_) => match &held[full] {
                    Some(tensor) => Tensor::shape(tensor).clone(),
                    None if full < given => ctx.input_at(base + full)?.shape().clone(),
                    None => others[full - given].shape().clone(),
                },
            };
            let output = match ctx.output_dtype_at(0)? == spec.output {
                true => ctx.allocate_output_at(0, shape)?,
                // What a step gives whose result is not the output.
                false => Tensor::alloc(spec.output, shape)?,
            };
            (output, N)
        }
    };

    let target = start_of(&mut output)?;
    let mut job =
        Job { run: spec.best(), inputs: [std::ptr::null(); N], sizes: [0; N], output: target, output_size: 0 };
    job.output_size = spec.output.size();
    for i in 0..N {
        job.sizes[i] = spec.inputs[i].size();
        job.inputs[i] = match &held[i] {
            _ if i == in_place => target,
            Some(tensor) => tensor.aligned_bytes()?.as_ptr(),
            None if i < given => ctx.input_at(base + i)?.aligned_bytes()?.as_ptr(),
            None => others[i - given].aligned_bytes()?.as_ptr(),
        };
    }
    if total <= UNIT {
        // SAFETY: the pointers are those of tensors of the spec's dtypes that live until the end of this function;
        // the pattern was made from their shapes and the output has its shape.
        if !unsafe { job.compute(&pattern, 0, total) } {
            return Err(Error::new(spec.error.0, spec.error.1));
        }
    } else {
        let valid = AtomicBool::new(true);
        let (job, pattern) = (&job, &pattern);
        ctx.parallel_for(total.div_ceil(UNIT), (spec.cost * UNIT / 1000).max(1), |units| {
            let (start, end) = (units.start * UNIT, (units.end * UNIT).min(total));
            // SAFETY: as above; the ranges of units do not overlap, so each thread writes elements of its own.
            if !unsafe { job.compute(pattern, start, end) } {
                valid.store(false, Ordering::Relaxed);
            }
        });
        if !valid.into_inner() {
            return Err(Error::new(spec.error.0, spec.error.1));
        }
    }
    Ok(output)
}

/// [`element_wise`] for scalars, which graphs are full of: counters, learning rates, sizes. `None` for other shapes.
#[inline]
fn scalars<const N: usize>(ctx: &mut RawContext<'_>, spec: &Spec<N>) -> Option<Result<()>> {
    let mut inputs = [std::ptr::null(); N];
    for (i, input) in inputs.iter_mut().enumerate() {
        *input = ctx.scalar_bits_at(spec.first + i, spec.inputs[i])?.as_ptr().cast();
    }
    let mut bits = [0u64; 2];
    let chosen = ChosenLoop { run: spec.run, stored: spec.stored };
    // SAFETY: the pointers are those of tensors with one element of the spec's dtypes; no element is larger than `bits`.
    if !unsafe { chosen.call(inputs, bits.as_mut_ptr().cast(), 1) } {
        return Some(Err(Error::new(spec.error.0, spec.error.1)));
    }
    Some(ctx.set_scalar_at(0, spec.output, bits))
}

/// The first byte of a tensor, to write elements of its dtype to.
pub(super) fn start_of(tensor: &mut Tensor) -> Result<*mut u8> {
    Ok(match tensor.dtype() {
        DataType::Bool => tensor.as_mut_slice::<bool>()?.as_mut_ptr().cast(),
        _ => tensor.bytes_mut()?.as_mut_ptr(),
    })
}

/// A number as a scalar of a dtype of floats.
#[cfg(any(feature = "math", feature = "nn"))]
pub(super) fn scalar(dtype: DataType, value: f32) -> Result<Tensor> {
    let value = f64::from(value);
    Ok(match dtype {
        DataType::Float => Tensor::scalar(f32::from_f64(value)),
        DataType::Double => Tensor::scalar(value),
        DataType::Half => Tensor::scalar(f16::from_f64(value)),
        DataType::Bfloat16 => Tensor::scalar(bf16::from_f64(value)),
        _ => bail!(InvalidArgument, "no function of {dtype} has an attr for an argument"),
    })
}

/// Whether the processor has AVX2, FMA and F16C.
#[inline]
fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether the processor has AVX-512 as `run_widest` wants it, FMA and F16C.
#[inline]
fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && has_avx2();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// How the operands meet.
enum Pattern<const N: usize> {
    /// Each has all the output's elements (1) or a single one (0).
    Flat([usize; N]),
    /// Anything else.
    Rows(Plan<N>),
}

impl<const N: usize> Pattern<N> {
    /// The pattern and, if it is flat, an operand with the output's shape.
    fn new(shapes: [&Shape; N], limit: usize) -> Result<(Pattern<N>, usize)> {
        let mut full = 0;
        for i in 1..N {
            let (best, other) = (shapes[full], shapes[i]);
            if other.rank() > best.rank() || other.rank() == best.rank() && best.num_elements() == 1 {
                full = i;
            }
        }
        let mut steps = [1; N];
        for i in 0..N {
            if shapes[i] != shapes[full] {
                if shapes[i].num_elements() != 1 {
                    return Ok((Pattern::Rows(Plan::new(shapes, limit)?), 0));
                }
                steps[i] = 0;
            }
        }
        Ok((Pattern::Flat(steps), full))
    }

    /// The output's shape, if `full` is that of the operand which has it in a flat pattern.
    fn shape<'s>(&'s self, full: &'s Shape) -> &'s Shape {
        match self {
            Pattern::Flat(_) => full,
            Pattern::Rows(plan) => plan.shape(),
        }
    }
}

/// One run of a loop over whole tensors.
struct Job<const N: usize> {
    run: ChosenLoop<N>,
    inputs: [*const u8; N],
    sizes: [usize; N],
    output: *mut u8,
    output_size: usize,
}

// SAFETY: the pointers are read and written only through `compute`, whose callers answer for what they point to.
unsafe impl<const N: usize> Sync for Job<N> {}

#[repr(align(64))]
struct Buffer(MaybeUninit<[u8; BUFFER]>);

impl<const N: usize> Job<N> {
    /// Computes output elements `start..end`.
    ///
    /// # Safety
    /// The inputs and the output point to tensors that suit the loop and the pattern; an input may be the output
    /// itself if it has the output's shape. No other thread touches these output elements meanwhile.
    unsafe fn compute(&self, pattern: &Pattern<N>, start: usize, end: usize) -> bool {
        match pattern {
            Pattern::Flat(steps) => {
                let first = steps.map(|step| step * start);
                // SAFETY: by the caller's promise; with these steps the operands have these elements.
                unsafe { self.row(start, first, steps, end - start) }
            }
            Pattern::Rows(plan) => match plan.sheet() {
                // SAFETY: by the caller's promise.
                Some(sheet) if sheet.length < SHORT_RUN => unsafe { self.sheets(plan, &sheet, start, end) },
                _ => {
                    let (steps, mut valid) = (plan.run_steps(), true);
                    plan.runs(start..end, &mut |at, first, length| {
                        // SAFETY: by the caller's promise; the plan yields elements of the operands.
                        valid &= unsafe { self.row(at, first, &steps, length) };
                    });
                    valid
                }
            },
        }
    }

    /// Elements that fit a buffer.
    fn block(&self) -> usize {
        BUFFER / self.sizes.iter().fold(1, |most, &size| most.max(size))
    }

    /// Computes `length` output elements from `at` on; `first` holds the operands' first elements.
    ///
    /// # Safety
    /// As [`Job::compute`], and the operands have these elements.
    #[inline]
    unsafe fn row(&self, at: usize, first: [usize; N], steps: &[usize; N], length: usize) -> bool {
        // SAFETY: `at` and `first` are inside the tensors by the caller's promise.
        let (output, mut inputs) = unsafe {
            let inputs: [*const u8; N] = std::array::from_fn(|i| self.inputs[i].add(first[i] * self.sizes[i]));
            (self.output.add(at * self.output_size), inputs)
        };
        let direct: [bool; N] =
            std::array::from_fn(|i| (steps[i] == 1 || length == 1) && !std::ptr::eq(self.inputs[i], self.output));
        if direct == [true; N] {
            // SAFETY: every input lies in a row of `length` elements and is not the output.
            return unsafe { self.run.call(inputs, output, length) };
        }
        let mut buffers = [const { Buffer(MaybeUninit::uninit()) }; N];
        let block = self.block();
        for i in 0..N {
            if steps[i] == 0 && !direct[i] {
                let buffer = buffers[i].0.as_mut_ptr().cast();
                // SAFETY: a buffer holds `block` elements, and the operand has the one that is repeated.
                unsafe { repeat(inputs[i], 1, 0, self.sizes[i], buffer, length.min(block)) };
                inputs[i] = buffer;
            }
        }
        let (mut done, mut valid) = (0, true);
        while done < length {
            let count = block.min(length - done);
            let pieces: [*const u8; N] = std::array::from_fn(|i| {
                let size = self.sizes[i];
                if steps[i] == 0 {
                    return inputs[i];
                }
                // SAFETY: `done` is below `length`.
                let source = unsafe { inputs[i].add(done * size) };
                if direct[i] {
                    return source;
                }
                let buffer: *mut u8 = buffers[i].0.as_mut_ptr().cast();
                // SAFETY: `count` elements are left in the operand and fit the buffer.
                unsafe { copy(source, buffer, count * size) };
                buffer
            });
            // SAFETY: every piece has `count` elements, none of which is in the output.
            valid &= unsafe { self.run.call(pieces, output.add(done * self.output_size), count) };
            done += count;
        }
        valid
    }

    /// As `compute` for a plan with short rows: the loop is called for many of them at once. Of the rows that begin
    /// and end inside `start..end` or lie across `start`, all elements are computed.
    ///
    /// # Safety
    /// As [`Job::compute`].
    unsafe fn sheets(&self, plan: &Plan<N>, sheet: &Sheet<N>, start: usize, end: usize) -> bool {
        let (length, total) = (sheet.length, plan.shape().num_elements());
        if total == 0 {
            return true;
        }
        let (mut row, last) = (start / length, if end == total { total / length } else { end / length });
        let most = (self.block() / length).min(sheet.rows);
        let mut buffers = [const { Buffer(MaybeUninit::uninit()) }; N];
        let pointers: [*mut u8; N] = buffers.each_mut().map(|buffer| buffer.0.as_mut_ptr().cast());
        // Which element the rows in a buffer begin with, if they are all the same row.
        let mut kept = [usize::MAX; N];
        let mut valid = true;
        while row < last {
            let within = row % sheet.rows;
            let count = most.min(sheet.rows - within).min(last - row);
            let begin = plan.sheet_start(row / sheet.rows);
            let pieces: [*const u8; N] = std::array::from_fn(|i| {
                let (size, step, row_step, target) = (self.sizes[i], sheet.steps[i], sheet.row_steps[i], pointers[i]);
                let first = begin[i] + within * row_step;
                // SAFETY: the plan yields elements of the operand; a buffer holds `most` rows.
                unsafe {
                    let source = self.inputs[i].add(first * size);
                    match (step, row_step) {
                        (1, _) if row_step == length => {
                            if !std::ptr::eq(self.inputs[i], self.output) {
                                return source;
                            }
                            std::ptr::copy_nonoverlapping(source, target, count * length * size);
                        }
                        (_, 0) if kept[i] == first => {}
                        (1, 0) => (0..most).for_each(|r| copy(source, target.add(r * length * size), length * size)),
                        (_, 0) => repeat(source, 1, 0, size, target, most * length),
                        (1, _) => (0..count).for_each(|r| {
                            copy(source.add(r * row_step * size), target.add(r * length * size), length * size);
                        }),
                        _ => repeat(source, count, row_step, size, target, length),
                    }
                    if row_step == 0 {
                        kept[i] = first;
                    }
                }
                target.cast_const()
            });
            // SAFETY: each piece holds `count` rows and none is in the output, which has these rows.
            valid &= unsafe { self.run.call(pieces, self.output.add(row * length * self.output_size), count * length) };
            row += count;
        }
        valid
    }
}

/// Copies bytes; small copies without a call.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`].
#[inline]
unsafe fn copy(source: *const u8, target: *mut u8, bytes: usize) {
    // SAFETY: by the caller's promise; unaligned access asks for no alignment.
    unsafe {
        match bytes {
            4 => target.cast::<u32>().write_unaligned(source.cast::<u32>().read_unaligned()),
            8 => target.cast::<u64>().write_unaligned(source.cast::<u64>().read_unaligned()),
            _ => std::ptr::copy_nonoverlapping(source, target, bytes),
        }
    }
}

/// Writes each of `count` elements, `step` elements apart from `source` on, `times` times.
///
/// # Safety
/// The elements have `size` bytes each; `target` points to room for `count * times` of them, which does not overlap
/// the source.
pub(super) unsafe fn repeat(source: *const u8, count: usize, step: usize, size: usize, target: *mut u8, times: usize) {
    /// As `repeat`, for elements of type `T`.
    unsafe fn fill<T: Copy>(source: *const u8, count: usize, step: usize, target: *mut u8, times: usize) {
        for i in 0..count {
            // SAFETY: by the caller's promise; unaligned access asks for no alignment.
            unsafe {
                let value = source.cast::<T>().add(i * step).read_unaligned();
                let target = target.cast::<T>().add(i * times);
                for k in 0..times {
                    target.add(k).write_unaligned(value);
                }
            }
        }
    }
    // SAFETY: by the caller's promise.
    unsafe {
        match size {
            1 => fill::<u8>(source, count, step, target, times),
            2 => fill::<u16>(source, count, step, target, times),
            4 => fill::<u32>(source, count, step, target, times),
            8 => fill::<u64>(source, count, step, target, times),
            _ => fill::<u128>(source, count, step, target, times),
        }
    }
}
