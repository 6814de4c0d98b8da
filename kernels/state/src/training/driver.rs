//! What all steps of optimisers have in common: finding and locking the variables, checking shapes, the loops.

use std::marker::PhantomData;

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
pub(super) trait Rule<T: Value, const V: usize>: Copy + Send + Sync + 'static {
    /// Whether the sparse step refuses rows without elements, as TensorFlow's does.
    const NEEDS_ELEMENTS: bool = false;

    /// Whether [`Rule::sparse_step`] is another than [`Rule::step`].
    const HAS_SPARSE_STEP: bool = false;

    /// Whether there are scalars for which [`Rule::common_step`] is a faster way.
    const HAS_COMMON_STEP: bool = false;

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

    /// Whether [`Rule::common_step`] does for the scalars.
    fn is_common(&self) -> bool {
        false
    }

    /// [`Rule::step`] for the scalars that are common, without branches that keep it from being done for several elements at
    /// a time.
    #[inline(always)]
    fn common_step(&self, state: &mut [T; V], gradient: T) {
        self.step(state, gradient);
    }
}

/// [`Rule::step`], [`Rule::sparse_step`] or [`Rule::common_step`].
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
const COMMON: u8 = 2;

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

/// Makes the rule of a step for one dtype.
type Make<const V: usize> = fn(&Inputs<'_, '_>) -> Result<Box<dyn Steps<V>>>;

/// A step for one dtype: what the driver must know of it, which is not generic over dtypes and rules itself.
struct Spec<const V: usize> {
    dtype: DataType,
    make: Make<V>,
    /// The elements of the gradient.
    gradient: fn(&Tensor) -> Result<&[u8]>,
    /// [`Value::COST`].
    cost: usize,
    /// [`Rule::NEEDS_ELEMENTS`].
    needs_elements: bool,
}

impl<const V: usize> Spec<V> {
    fn of<T: Value, R: Rule<T, V>>() -> Spec<V> {
        Spec {
            dtype: T::DTYPE,
            make: |inputs| Ok(Box::new(Typed::<T, R>(R::new(inputs)?, PhantomData))),
            gradient: |tensor| Ok(bytemuck::cast_slice(tensor.as_slice::<T>()?)),
            cost: T::COST,
            needs_elements: R::NEEDS_ELEMENTS,
        }
    }
}

/// A rule, and the numbers that it computes with.
struct Typed<T, R>(R, PhantomData<fn() -> T>);

/// A rule without its types.
trait Steps<const V: usize>: Send + Sync {
    /// The steps of all elements of slices that have as many as the gradient, as bytes.
    fn steps(&self, is_sparse: bool, state: &mut [&mut [u8]; V], gradient: &[u8]);
}

impl<T: Value, R: Rule<T, V>, const V: usize> Steps<V> for Typed<T, R> {
    fn steps(&self, is_sparse: bool, state: &mut [&mut [u8]; V], gradient: &[u8]) {
        let mut state = state.each_mut().map(|elements| bytemuck::cast_slice_mut::<u8, T>(elements));
        let gradient = bytemuck::cast_slice(gradient);
        if R::HAS_SPARSE_STEP && is_sparse {
            steps::<T, R, V, SPARSE>(&self.0, &mut state, gradient);
        } else if R::HAS_COMMON_STEP && self.0.is_common() {
            steps::<T, R, V, COMMON>(&self.0, &mut state, gradient);
        } else {
            steps::<T, R, V, DENSE>(&self.0, &mut state, gradient);
        }
    }
}

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

/// Takes the step of a node.
type Run = Box<dyn Fn(&mut RawContext<'_>, &Layout) -> Result<()> + Send + Sync>;

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
            DataType::Float => Some(Spec::<V>::of::<f32, F::Rule<f32>>()),
            DataType::Double => Some(Spec::<V>::of::<f64, F::Rule<f64>>()),
            DataType::Half => Some(Spec::<V>::of::<f16, F::Rule<f16>>()),
            DataType::Bfloat16 => Some(Spec::<V>::of::<bf16, F::Rule<bf16>>()),
            DataType::Complex64 => Some(Spec::<V>::of::<Complex32, F::Rule<Complex32>>()),
            DataType::Complex128 => Some(Spec::<V>::of::<Complex64, F::Rule<Complex64>>()),
            _ => None,
        })
    }

    /// As [`Step::of`], for dtypes other than complex ones.
    pub(super) fn of_reals<F: RealFamily<V>, const V: usize>(ctx: &RawConstruction<'_>) -> Result<Self> {
        Self::new(ctx, |dtype| match dtype {
            DataType::Float => Some(Spec::<V>::of::<f32, F::Rule<f32>>()),
            DataType::Double => Some(Spec::<V>::of::<f64, F::Rule<f64>>()),
            DataType::Half => Some(Spec::<V>::of::<f16, F::Rule<f16>>()),
            DataType::Bfloat16 => Some(Spec::<V>::of::<bf16, F::Rule<bf16>>()),
            _ => None,
        })
    }

    fn new<const V: usize>(ctx: &RawConstruction<'_>, choose: fn(DataType) -> Option<Spec<V>>) -> Result<Self> {
        let layout = Layout::new(ctx)?;
        let dtype = ctx.input_dtype_at(layout.gradient)?;
        let missing = || Error::internal(format!("{} takes no steps in {dtype}", ctx.op.name));
        let spec = choose(dtype).ok_or_else(missing)?;
        Ok(Self { run: Box::new(move |ctx, layout| take(ctx, layout, &spec)), layout })
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
fn take<const V: usize>(ctx: &mut RawContext<'_>, layout: &Layout, spec: &Spec<V>) -> Result<()> {
    update(ctx, spec.dtype, |ctx, variables: [&mut Tensor; V]| {
        let rule = &*(spec.make)(&Inputs { ctx, layout })?;
        let gradient = ctx.input_at(layout.gradient)?;
        let shape = variables[0].shape();
        for (index, variable) in variables.iter().enumerate() {
            geometry::ensure_shape(ctx, shape, index, variable.shape())?;
        }
        let bytes = spec.dtype.size();
        match layout.indices {
            None => {
                geometry::ensure_shape(ctx, shape, layout.gradient, gradient.shape())?;
                let gradient = (spec.gradient)(gradient)?;
                let mut chunks = elements_of(variables)?.map(|elements| elements.chunks_mut(PIECE * bytes));
                let pieces = gradient
                    .chunks(PIECE * bytes)
                    .map(|gradient| (chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default()), gradient));
                let mut pieces: Vec<_> = scratch::collected(pieces)?;
                ctx.parallel_chunks(&mut pieces, 1, PIECE * spec.cost * (V + 2) / 64, |_, pieces| {
                    for (state, gradient) in pieces {
                        rule.steps(false, state, gradient);
                    }
                });
            }
            Some(indices) => {
                let indices = ctx.input_at(indices)?;
                let size = geometry::rows(shape, gradient.shape(), indices.shape(), spec.needs_elements)?;
                let count = shape[0];
                let rows = rows(indices, count)?;
                if size == 0 || rows.is_empty() {
                    return Ok(());
                }
                let gradient = (spec.gradient)(gradient)?;
                let work = rows.len() * size * spec.cost * (V + 2) / 64;
                let share = rows_of_a_thread(ctx, count, work);
                let row_bytes = size * bytes;
                let mut chunks = elements_of(variables)?.map(|elements| elements.chunks_mut(share * row_bytes));
                let pieces = (0..count)
                    .step_by(share)
                    .map(|first| (first, chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default())));
                let mut pieces: Vec<_> = scratch::collected(pieces)?;
                let cost = work / pieces.len();
                ctx.parallel_chunks(&mut pieces, 1, cost, |_, pieces| {
                    for (first, state) in pieces {
                        let own = *first..*first + state[0].len() / row_bytes;
                        // In order: an index may occur twice.
                        for (row, gradient) in rows.iter().zip(gradient.chunks_exact(row_bytes)) {
                            if own.contains(row) {
                                let begin = (row - own.start) * row_bytes;
                                let mut state = state.each_mut().map(|elements| &mut elements[begin..][..row_bytes]);
                                rule.steps(true, &mut state, gradient);
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

/// The elements of all variables as bytes, to change.
fn elements_of<const V: usize>(variables: [&mut Tensor; V]) -> Result<[&mut [u8]; V]> {
    let mut elements = [const { None }; V];
    for (elements, variable) in elements.iter_mut().zip(variables) {
        variable.make_unique()?;
        *elements = Some(variable.bytes_mut()?);
    }
    Ok(elements.map(|elements| elements.expect("filled above")))
}

/// Steps of all elements of slices that are as long as the gradient.
#[inline(always)]
fn each<T: Value, R: Rule<T, V>, const V: usize, const WAY: u8>(rule: &R, state: &mut [&mut [T]; V], gradient: &[T]) {
    let (rule, count) = (*rule, gradient.len());
    let state = state.each_mut().map(|elements| &mut elements[..count]);
    for i in 0..count {
        let mut values: [T; V] = std::array::from_fn(|v| state[v][i]);
        match WAY {
            SPARSE => rule.sparse_step(&mut values, gradient[i]),
            COMMON => rule.common_step(&mut values, gradient[i]),
            _ => rule.step(&mut values, gradient[i]),
        }
        for v in 0..V {
            state[v][i] = values[v];
        }
    }
}

/// As [`each`], with wider instructions where the processor has them.
fn steps<T: Value, R: Rule<T, V>, const V: usize, const WAY: u8>(rule: &R, state: &mut [&mut [T]; V], gradient: &[T]) {
    #[cfg(target_arch = "x86_64")]
    if T::IS_WIDE && is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn wide<T: Value, R: Rule<T, V>, const V: usize, const WAY: u8>(
            rule: &R,
            state: &mut [&mut [T]; V],
            gradient: &[T],
        ) {
            each::<T, R, V, WAY>(rule, state, gradient);
        }
        // SAFETY: the processor has AVX2.
        return unsafe { wide::<T, R, V, WAY>(rule, state, gradient) };
    }
    each::<T, R, V, WAY>(rule, state, gradient);
}
