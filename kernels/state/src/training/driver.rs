//! What all steps of optimisers have in common: finding and locking the variables, checking shapes, the loops.

use kernlink::attr::AttrValue;
use kernlink::dtype::{Complex32, Complex64, DataType, bf16, f16};
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink::{Error, Result, bail};
use kernlink_geometry::training as geometry;

use super::value::{Real, Value};
use crate::state::place::{forward, rows_of_a_thread, update};

/// What becomes of one element of `V` variables in a step; the first of them is the one to be improved.
pub(super) trait Rule<T: Value, const V: usize>: Copy + Send + Sync {
    /// Whether the sparse step refuses rows without elements, as TensorFlow's does.
    const NEEDS_ELEMENTS: bool = false;

    /// Reads the scalars, and computes what all elements have in common.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if a scalar is none.
    fn new(inputs: &Inputs<'_, '_>) -> Result<Self>;

    /// The step of an op for whole variables.
    fn step(&self, state: &mut [T; V], gradient: T);

    /// The step of an op for some rows. TensorFlow's order of operations may be another there.
    #[inline(always)]
    fn sparse_step(&self, state: &mut [T; V], gradient: T) {
        self.step(state, gradient);
    }
}

/// The inputs of a step that are not variables.
pub(super) struct Inputs<'i, 'c> {
    ctx: &'i RawContext<'c>,
    layout: &'i Layout,
}

impl Inputs<'_, '_> {
    /// The scalar input with this name.
    pub(super) fn scalar<T: Value>(&self, name: &str) -> Result<T> {
        let Some(index) = self.ctx.op().inputs.iter().position(|input| input.name == name) else {
            bail!(Internal, "there is no input `{name}`");
        };
        let tensor = self.ctx.input_at(index)?;
        geometry::ensure_scalar(name, tensor)?;
        match tensor.dtype() {
            // The number of steps so far.
            DataType::Int64 => Ok(T::of(tensor.to_scalar::<i64>()? as f64)),
            _ => tensor.to_scalar::<T>(),
        }
    }

    /// Whether the op has an input with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.ctx.op().inputs.iter().any(|input| input.name == name)
    }

    /// The attrs that say how the step is taken.
    pub(super) fn flags(&self) -> Flags {
        self.layout.flags
    }
}

/// The attrs that say how a step is taken.
#[derive(Clone, Copy)]
pub(super) struct Flags {
    pub(super) use_nesterov: bool,
    pub(super) update_slots: bool,
    pub(super) multiply_linear_by_lr: bool,
}

/// Where a node's inputs are.
struct Layout {
    gradient: usize,
    indices: Option<usize>,
    flags: Flags,
}

impl Layout {
    fn new(ctx: &RawConstruction<'_>) -> Result<Layout> {
        let named = |name: &str| ctx.op.inputs.iter().position(|input| input.name == name);
        let Some(gradient) = named("grad").or(named("delta")) else {
            bail!(Internal, "{} has no gradient", ctx.op.name);
        };
        let flag = |name: &str| matches!(ctx.attrs.get(name), Some(AttrValue::Bool(true)));
        let flags = Flags {
            use_nesterov: flag("use_nesterov"),
            update_slots: flag("update_slots"),
            multiply_linear_by_lr: flag("multiply_linear_by_lr"),
        };
        Ok(Layout { gradient, indices: named("indices"), flags })
    }
}

/// A step for one dtype.
type Run = fn(&mut RawContext<'_>, &Layout) -> Result<()>;

/// A rule with `V` variables, for all dtypes.
pub(super) trait Family<const V: usize> {
    /// The rule for one of them.
    type Rule<T: Value>: Rule<T, V>;
}

/// As [`Family`], for dtypes other than complex ones.
pub(super) trait RealFamily<const V: usize> {
    /// The rule for one of them.
    type Rule<T: Real>: Rule<T, V>;
}

/// The step of a node, dense or sparse, on variables of either kind.
pub(super) struct Step {
    layout: Layout,
    run: Run,
}

impl Step {
    /// A step by the rule for the node's dtype.
    ///
    /// # Errors
    /// INTERNAL for an op whose inputs are not those of a step, here and below.
    pub(super) fn of<F: Family<V>, const V: usize>(ctx: &RawConstruction<'_>) -> Result<Self> {
        Self::new(ctx, |dtype| match dtype {
            DataType::Float => Some(run::<f32, F::Rule<f32>, V>),
            DataType::Double => Some(run::<f64, F::Rule<f64>, V>),
            DataType::Half => Some(run::<f16, F::Rule<f16>, V>),
            DataType::Bfloat16 => Some(run::<bf16, F::Rule<bf16>, V>),
            DataType::Complex64 => Some(run::<Complex32, F::Rule<Complex32>, V>),
            DataType::Complex128 => Some(run::<Complex64, F::Rule<Complex64>, V>),
            _ => None,
        })
    }

    /// As [`Step::of`], for dtypes other than complex ones.
    pub(super) fn of_reals<F: RealFamily<V>, const V: usize>(ctx: &RawConstruction<'_>) -> Result<Self> {
        Self::new(ctx, |dtype| match dtype {
            DataType::Float => Some(run::<f32, F::Rule<f32>, V>),
            DataType::Double => Some(run::<f64, F::Rule<f64>, V>),
            DataType::Half => Some(run::<f16, F::Rule<f16>, V>),
            DataType::Bfloat16 => Some(run::<bf16, F::Rule<bf16>, V>),
            _ => None,
        })
    }

    fn new(ctx: &RawConstruction<'_>, choose: fn(DataType) -> Option<Run>) -> Result<Self> {
        let layout = Layout::new(ctx)?;
        let dtype = ctx.input_dtype_at(layout.gradient)?;
        let missing = || Error::internal(format!("{} takes no steps in {dtype}", ctx.op.name));
        Ok(Self { run: choose(dtype).ok_or_else(missing)?, layout })
    }

    /// Takes the step.
    pub(super) fn take(&self, ctx: &mut RawContext<'_>) -> Result<()> {
        (self.run)(ctx, &self.layout).map_err(geometry::error_of_step)?;
        forward(ctx)
    }
}

/// Elements of a piece of work.
const PIECE: usize = 8192;

/// Takes a step.
fn run<T: Value, R: Rule<T, V>, const V: usize>(ctx: &mut RawContext<'_>, layout: &Layout) -> Result<()> {
    update(ctx, T::DTYPE, |ctx, variables: [&mut Tensor; V]| {
        let rule = R::new(&Inputs { ctx, layout })?;
        let gradient = ctx.input_at(layout.gradient)?;
        let shape = variables[0].shape();
        for (index, variable) in variables.iter().enumerate() {
            geometry::ensure_shape(ctx, shape, index, variable.shape())?;
        }
        match layout.indices {
            None => {
                geometry::ensure_shape(ctx, shape, layout.gradient, gradient.shape())?;
                let gradient = gradient.as_slice::<T>()?;
                let mut chunks = elements_of::<T, V>(variables)?.map(|elements| elements.chunks_mut(PIECE));
                let pieces = gradient
                    .chunks(PIECE)
                    .map(|gradient| (chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default()), gradient));
                let mut pieces: Vec<_> = scratch::collected(pieces)?;
                ctx.parallel_chunks(&mut pieces, 1, PIECE * T::COST * (V + 2) / 64, |_, pieces| {
                    for (state, gradient) in pieces {
                        steps::<T, R, V, false>(&rule, state, gradient);
                    }
                });
            }
            Some(indices) => {
                let indices = ctx.input_at(indices)?;
                let size = geometry::rows(shape, gradient.shape(), indices.shape(), R::NEEDS_ELEMENTS)?;
                let count = shape[0];
                let rows = rows(indices, count)?;
                if size == 0 || rows.is_empty() {
                    return Ok(());
                }
                let gradient = gradient.as_slice::<T>()?;
                let work = rows.len() * size * T::COST * (V + 2) / 64;
                let share = rows_of_a_thread(ctx, count, work);
                let mut chunks = elements_of::<T, V>(variables)?.map(|elements| elements.chunks_mut(share * size));
                let pieces = (0..count)
                    .step_by(share)
                    .map(|first| (first, chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default())));
                let mut pieces: Vec<_> = scratch::collected(pieces)?;
                let cost = work / pieces.len();
                ctx.parallel_chunks(&mut pieces, 1, cost, |_, pieces| {
                    for (first, state) in pieces {
                        let own = *first..*first + state[0].len() / size;
                        // In order: an index may occur twice.
                        for (row, gradient) in rows.iter().zip(gradient.chunks_exact(size)) {
                            if own.contains(row) {
                                let begin = (row - own.start) * size;
                                let mut state = state.each_mut().map(|elements| &mut elements[begin..][..size]);
                                steps::<T, R, V, true>(&rule, &mut state, gradient);
                            }
                        }
                    }
                });
            }
        }
        Ok(())
    })
}

/// The indices, each below `count`.
fn rows(indices: &Tensor, count: usize) -> Result<Vec<usize>> {
    let values = indices.to_i64_vec()?;
    let row = |(at, &index): (usize, &i64)| match usize::try_from(index) {
        Ok(row) if row < count => Ok(row),
        _ => Err(Error::invalid_argument(format!("Index {index} at offset {at} in indices is out of range"))),
    };
    scratch::collected_ok(values.iter().enumerate().map(row))
}

/// The elements of all variables, to change.
fn elements_of<T: Value, const V: usize>(variables: [&mut Tensor; V]) -> Result<[&mut [T]; V]> {
    let mut elements = [const { None }; V];
    for (elements, variable) in elements.iter_mut().zip(variables) {
        variable.make_unique()?;
        *elements = Some(variable.as_mut_slice::<T>()?);
    }
    Ok(elements.map(|elements| elements.expect("filled above")))
}

/// Steps of all elements of slices that are as long as the gradient.
#[inline(always)]
fn each<T: Value, R: Rule<T, V>, const V: usize, const SPARSE: bool>(
    rule: &R,
    state: &mut [&mut [T]; V],
    gradient: &[T],
) {
    let (rule, count) = (*rule, gradient.len());
    let state = state.each_mut().map(|elements| &mut elements[..count]);
    for i in 0..count {
        let mut values: [T; V] = std::array::from_fn(|v| state[v][i]);
        if SPARSE {
            rule.sparse_step(&mut values, gradient[i]);
        } else {
            rule.step(&mut values, gradient[i]);
        }
        for v in 0..V {
            state[v][i] = values[v];
        }
    }
}

/// As [`each`], with wider instructions where the processor has them.
fn steps<T: Value, R: Rule<T, V>, const V: usize, const SPARSE: bool>(
    rule: &R,
    state: &mut [&mut [T]; V],
    gradient: &[T],
) {
    #[cfg(target_arch = "x86_64")]
    if T::IS_WIDE && is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn wide<T: Value, R: Rule<T, V>, const V: usize, const SPARSE: bool>(
            rule: &R,
            state: &mut [&mut [T]; V],
            gradient: &[T],
        ) {
            each::<T, R, V, SPARSE>(rule, state, gradient);
        }
        // SAFETY: the processor has AVX2.
        return unsafe { wide::<T, R, V, SPARSE>(rule, state, gradient) };
    }
    each::<T, R, V, SPARSE>(rule, state, gradient);
}
