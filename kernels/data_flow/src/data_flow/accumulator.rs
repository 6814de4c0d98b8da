//! Accumulators of gradients, dense and sparse.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernlink::dtype::{DataType, Pod, f16};
use kernlink::kernel::{Attrs, KernelConstruction, KernelContext, NamedResource, OpKernel, RawContext};
use kernlink::resource::Resource;
use kernlink::shape::PartialShape;
use kernlink::step::Waiters;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::tensors::{add_to, copy_elements};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// What the attrs of a node say of an accumulator.
#[derive(Clone)]
struct Spec {
    dtype: DataType,
    shape: PartialShape,
    is_mean: bool,
    is_sparse: bool,
}

struct Accumulator {
    spec: Spec,
    state: Mutex<State>,
    changed: Waiters,
}

#[derive(Default)]
struct State {
    global_step: i64,
    count: i32,
    sum: Option<Sum>,
}

/// The sum of the gradients; a sparse one has slices at `indices`, each a sum of so many.
struct Sum {
    values: Tensor,
    indices: Vec<i64>,
    counts: Vec<i32>,
}

/// Divides row `i` of a tensor by `divisors[i]`.
fn divide_rows(values: &mut Tensor, divisors: &[i32]) -> Result<()> {
    fn rows<T: Pod>(values: &mut Tensor, divisors: &[i32], divide: impl Fn(T, i32) -> T) -> Result<()> {
        let elements = values.as_mut_slice::<T>()?;
        let row = elements.len().checked_div(divisors.len()).unwrap_or(0).max(1);
        for (row, &divisor) in elements.chunks_mut(row).zip(divisors) {
            row.iter_mut().for_each(|x| *x = divide(*x, divisor));
        }
        Ok(())
    }
    values.make_unique()?;
    match values.dtype() {
        DataType::Float => rows::<f32>(values, divisors, |x, n| x / n as f32),
        DataType::Double => rows::<f64>(values, divisors, |x, n| x / f64::from(n)),
        DataType::Half => rows::<f16>(values, divisors, |x, n| x / f16::from_f32(n as f32)),
        other => bail!(InvalidArgument, "gradients of {other} have no mean"),
    }
}

impl Accumulator {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a gradient, unless it is of an earlier step. `add` leaves the sum as it is if it fails.
    fn apply(&self, local_step: i64, add: impl FnOnce(&Spec, &mut Option<Sum>) -> Result<()>) -> Result<()> {
        {
            let mut state = self.lock();
            if local_step < state.global_step {
                return Ok(());
            }
            add(&self.spec, &mut state.sum)?;
            state.count += 1;
        }
        self.changed.wake_all();
        Ok(())
    }

    /// The sum or mean of at least `required` gradients, which it forgets.
    async fn take(&self, required: i32) -> Result<Sum> {
        ensure!(required > 0, InvalidArgument, "Argument num_required must be positive, but was {required}");
        let attempt = || {
            let mut state = self.lock();
            if state.count < required {
                return None;
            }
            let sum = state.sum.take()?;
            state.global_step = state.global_step.wrapping_add(1);
            Some((sum, std::mem::take(&mut state.count)))
        };
        let (mut sum, count) = self.changed.until(attempt).await;
        if self.spec.is_mean {
            let divisors = if self.spec.is_sparse { &sum.counts[..] } else { &[count][..] };
            divide_rows(&mut sum.values, divisors)?;
        }
        Ok(sum)
    }
}

impl Resource for Accumulator {
    fn type_name() -> &'static str {
        "tensorflow::ConditionalAccumulatorBase"
    }

    fn debug_string(&self) -> String {
        format!("an accumulator of {} gradients", self.lock().count)
    }
}

struct AccumulatorKernel {
    accumulator: NamedResource<Accumulator>,
    spec: Spec,
}

impl AccumulatorKernel {
    fn run(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        let make = || Ok(Accumulator { spec: self.spec.clone(), state: Mutex::default(), changed: Waiters::new() });
        let accumulator = self.accumulator.get(make)?;
        ensure!(
            accumulator.spec.dtype == self.spec.dtype && accumulator.spec.is_sparse == self.spec.is_sparse,
            InvalidArgument,
            "Shared accumulator '{}' has dtype {}, but requested dtype was {}",
            self.accumulator.name(),
            accumulator.spec.dtype,
            self.spec.dtype
        );
        self.accumulator.set_handle(ctx)
    }
}

#[register_kernel(device = Cpu, dtype = [double, float, half], op = [
    ops::ConditionalAccumulator, ops::ResourceConditionalAccumulator, ops::SparseConditionalAccumulator,
])]
impl OpKernel<O> for AccumulatorKernel {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        let attrs = ctx.attrs();
        let spec = Spec {
            dtype: attrs.dtype,
            shape: attrs.shape.clone(),
            is_mean: attrs.reduction_type == "MEAN",
            is_sparse: ctx.op.name.starts_with("Sparse"),
        };
        Ok(Self { accumulator: NamedResource::new(ctx)?, spec })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        self.run(ctx)
    }
}

fn accumulator(ctx: &RawContext<'_>, dtype: Option<DataType>, is_sparse: Option<bool>) -> Result<Arc<Accumulator>> {
    let found = ctx.resource_at::<Accumulator>(0)?;
    let fits = dtype.is_none_or(|dtype| dtype == found.spec.dtype)
        && is_sparse.is_none_or(|is_sparse| is_sparse == found.spec.is_sparse);
    ensure!(
        fits,
        InvalidArgument,
        "the accumulator is {} {}, which the op is not made for",
        if found.spec.is_sparse { "sparse, of" } else { "of" },
        found.spec.dtype
    );
    Ok(found)
}

fn scalar<T: Pod>(ctx: &RawContext<'_>, input: usize, name: &str) -> Result<T> {
    let tensor = ctx.input_at(input)?;
    ensure!(
        tensor.rank() == 0,
        InvalidArgument,
        "Argument {name} must be scalar, but had bad shape {}",
        tensor.shape()
    );
    tensor.to_scalar::<T>()
}

#[register_kernel(device = Cpu, op = [ops::AccumulatorApplyGradient, ops::ResourceAccumulatorApplyGradient])]
fn apply(ctx: &mut RawContext<'_>) -> Result<()> {
    let gradient = ctx.input_at(2)?.clone();
    let accumulator = accumulator(ctx, Some(gradient.dtype()), Some(false))?;
    let local_step = scalar::<i64>(ctx, 1, "local_step")?;
    accumulator.apply(local_step, |spec, sum| {
        ensure!(
            spec.shape.accepts(gradient.shape()),
            InvalidArgument,
            "Shape mismatch: expected {}, got {}",
            spec.shape,
            gradient.shape()
        );
        match sum {
            Some(sum) => add_to(&mut sum.values, &gradient)?,
            None => *sum = Some(Sum { values: gradient, indices: Vec::new(), counts: Vec::new() }),
        }
        Ok(())
    })
}

fn apply_sparse(ctx: &mut RawContext<'_>, has_known_shape: bool) -> Result<()> {
    let (indices, values) = (ctx.input_at(2)?, ctx.input_at(3)?);
    let accumulator = accumulator(ctx, Some(values.dtype()), Some(true))?;
    let local_step = scalar::<i64>(ctx, 1, "local_step")?;
    ensure!(
        indices.rank() == 1,
        InvalidArgument,
        "Input indices should be vector but received shape: {}",
        indices.shape()
    );
    ensure!(values.rank() > 0, InvalidArgument, "Values cannot be 0-dimensional.");
    ensure!(
        values.shape()[0] == indices.num_elements(),
        InvalidArgument,
        "Expected {} non-empty input values, got {}",
        indices.num_elements(),
        values.shape()[0]
    );
    let indices = indices.as_slice::<i64>()?;
    let shape = if has_known_shape { Some(ctx.input_at(4)?.to_i64_vec()?) } else { None };
    accumulator.apply(local_step, |spec, sum| {
        ensure_sparse(spec, shape.as_deref(), indices, values)?;
        *sum = Some(match sum {
            None => Sum {
                values: values.clone(),
                indices: scratch::copied(indices)?,
                counts: scratch::filled(1, indices.len())?,
            },
            Some(sum) => add_sparse(sum, indices, values)?,
        });
        Ok(())
    })
}

fn ensure_sparse(spec: &Spec, shape: Option<&[i64]>, indices: &[i64], values: &Tensor) -> Result<()> {
    let dims = spec.shape.dims().unwrap_or_default();
    if let Some(shape) = shape {
        ensure!(
            dims.len() <= shape.len(),
            InvalidArgument,
            "Shape mismatch: expected shape rank at least {}, got {}",
            dims.len(),
            shape.len()
        );
        for (axis, (dim, &size)) in dims.iter().zip(shape).enumerate() {
            ensure!(
                dim.is_none_or(|dim| dim as i64 == size),
                InvalidArgument,
                "Shape mismatch: expected shape dim {axis} to be {}, got {size}",
                dim.unwrap_or_default()
            );
        }
    }
    if let Some(Some(rows)) = dims.first() {
        for (slice, &index) in indices.iter().enumerate() {
            ensure!(
                index < *rows as i64,
                InvalidArgument,
                "Shape mismatch: index of slice {slice} exceeded limits of shape; index is {index} exceeded {rows}"
            );
        }
    }
    ensure!(
        dims.len() <= values.rank(),
        InvalidArgument,
        "Shape mismatch: expected values rank at least {}, got {}",
        dims.len(),
        values.rank()
    );
    for (axis, (dim, &size)) in dims.iter().zip(values.shape().iter()).enumerate().skip(1) {
        ensure!(
            dim.is_none_or(|dim| dim == size),
            InvalidArgument,
            "Shape mismatch: expected values dim {axis} to be {}, got {size}",
            dim.unwrap_or_default()
        );
    }
    Ok(())
}

/// The sum of slices in ascending order and others.
fn add_sparse(sum: &Sum, indices: &[i64], values: &Tensor) -> Result<Sum> {
    ensure!(
        sum.values.shape()[1..] == values.shape()[1..],
        InvalidArgument,
        "Shape mismatch: expected values of shape {} but for the first dimension, got {}",
        sum.values.shape(),
        values.shape()
    );
    // Which of the two the next slice comes from; from both if they have the same index.
    let takes = |i: usize, j: usize| match (sum.indices.get(i), indices.get(j)) {
        (None, None) => None,
        (own, other) => Some((
            own.is_some() && other.is_none_or(|other| own <= Some(other)),
            other.is_some() && own.is_none_or(|own| other <= Some(own)),
        )),
    };
    let (mut i, mut j, mut slices) = (0, 0, 0);
    while let Some((takes_own, takes_other)) = takes(i, j) {
        (i, j, slices) = (i + usize::from(takes_own), j + usize::from(takes_other), slices + 1);
    }
    let (mut merged, mut counts) = (scratch::room(slices)?, scratch::room(slices)?);
    let mut shape = values.shape().clone();
    shape.dims_mut()[0] = slices;
    let mut joined = Tensor::alloc(values.dtype(), shape)?;
    (i, j) = (0, 0);
    let mut at = 0;
    while let Some((takes_own, takes_other)) = takes(i, j) {
        let mut part = if takes_own { sum.values.slice_rows(i, i + 1)? } else { values.slice_rows(j, j + 1)? };
        let mut count = 0;
        if takes_own {
            merged.push(sum.indices[i]);
            count += sum.counts[i];
            i += 1;
        }
        if takes_other {
            if takes_own {
                add_to(&mut part, &values.slice_rows(j, j + 1)?)?;
            } else {
                merged.push(indices[j]);
            }
            count += 1;
            j += 1;
        }
        counts.push(count);
        copy_elements(&mut joined, at, &part)?;
        at += part.num_elements();
    }
    Ok(Sum { values: joined, indices: merged, counts })
}

#[register_kernel(device = Cpu, op = ops::SparseAccumulatorApplyGradient)]
fn sparse_accumulator_apply_gradient(attrs: &Attrs<O>, ctx: &mut KernelContext<'_, O>) -> Result<()> {
    apply_sparse(ctx, attrs.has_known_shape)
}

#[register_kernel(device = Cpu, op = [ops::AccumulatorNumAccumulated, ops::ResourceAccumulatorNumAccumulated])]
fn count(ctx: &mut RawContext<'_>) -> Result<()> {
    let count = accumulator(ctx, None, None)?.lock().count;
    ctx.set_output_at(0, Tensor::from(count))
}

#[register_kernel(device = Cpu, op = [ops::AccumulatorSetGlobalStep, ops::ResourceAccumulatorSetGlobalStep])]
fn set_global_step(ctx: &mut RawContext<'_>) -> Result<()> {
    let accumulator = accumulator(ctx, None, None)?;
    accumulator.lock().global_step = scalar::<i64>(ctx, 1, "new_global_step")?;
    Ok(())
}

#[register_kernel(device = Cpu, op = [ops::AccumulatorTakeGradient, ops::ResourceAccumulatorTakeGradient])]
async fn take(ctx: &mut RawContext<'_>) -> Result<()> {
    let accumulator = accumulator(ctx, Some(ctx.output_dtype_at(0)?), Some(false))?;
    let required = scalar::<i32>(ctx, 1, "num_required")?;
    let sum = accumulator.take(required).await?;
    ctx.set_output_at(0, sum.values)
}

#[register_kernel(device = Cpu, op = ops::SparseAccumulatorTakeGradient)]
async fn take_sparse(ctx: &mut RawContext<'_>) -> Result<()> {
    let accumulator = accumulator(ctx, Some(ctx.output_dtype_at(1)?), Some(true))?;
    let required = scalar::<i32>(ctx, 1, "num_required")?;
    let sum = accumulator.take(required).await?;
    let rows = accumulator.spec.shape.dims().and_then(|dims| dims.first().copied().flatten());
    let mut shape = sum.values.shape().to_i64();
    shape[0] = rows.map_or(-1, |rows| rows as i64);
    ctx.set_output_at(0, Tensor::vector(&sum.indices)?)?;
    ctx.set_output_at(1, sum.values)?;
    ctx.set_output_at(2, Tensor::vector(&shape)?)
}
