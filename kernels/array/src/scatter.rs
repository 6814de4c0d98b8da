//! Updates at indices: ScatterNd, ScatterNdNonAliasingAdd, TensorScatterUpdate, -Add, -Sub, -Max, -Min.

use std::marker::PhantomData;

use kernlink::dtype::{DataType, Element, Number, Pod, TString};
use kernlink::ensure;
use kernlink::error::Result;
use kernlink::kernel::{KernelConstruction, KernelContext, OpKernel, RawConstruction, RawContext};
use kernlink::op::Op;
use kernlink::shape::Shape;
use kernlink::tensor::Tensor;
use kernlink::tensor::scratch;
use kernlink_geometry::indices::{ignores_bad_indices, scattered_nd};
use kernlink_geometry::integers::{position, vector};
use kernlink_kernels_common::element::{bytes_mut, match_objects};
use kernlink_kernels_common::rows::row_of;
use kernlink_macros::register_kernel;
use kernlink_ops as ops;
use ops::{ScatterNd, ScatterNdNonAliasingAdd, TensorScatterAdd, TensorScatterMax, TensorScatterMin, TensorScatterSub};

use super::grad::own;

/// Where updates go.
struct Places {
    /// For each update the number of its row; `None` for one that is left out.
    rows: Vec<Option<usize>>,
    /// How many elements a row has.
    row: usize,
}

impl Places {
    /// # Errors
    /// INVALID_ARGUMENT if the shapes do not fit, or for an index out of range unless the policy says to ignore it.
    fn new(indices: &Tensor, updates: &Shape, output: &Shape, lenient: bool) -> Result<Places> {
        let (indexed, row) = scattered_nd(indices.shape(), updates, output)?;
        let (depth, batch) = (indexed.len(), &indices.shape()[..indices.rank() - 1]);
        let mut rows = Vec::new();
        if indices.num_elements() > 0 {
            let values = indices.to_i64_vec()?;
            rows = scratch::room(values.len() / depth)?;
            for (r, index) in values.chunks_exact(depth).enumerate() {
                let place = row_of(index, indexed);
                ensure!(
                    place.is_some() || lenient,
                    InvalidArgument,
                    "indices{} = {index:?} does not index into shape {output}",
                    position(batch, r)
                );
                rows.push(place);
            }
        }
        Ok(Places { rows, row })
    }

    /// Merges each update with the element at its place, in order. Several ops share it.
    #[inline(never)]
    fn merge<M: Merge<T>, T: Element>(&self, output: &mut Tensor, updates: &Tensor) -> Result<()> {
        if self.rows.is_empty() || self.row == 0 {
            return Ok(());
        }
        let (output, updates) = (output.as_mut_slice::<T>()?, updates.as_slice::<T>()?);
        for (place, update) in self.rows.iter().zip(updates.chunks_exact(self.row)) {
            if let Some(place) = place {
                let row = output[place * self.row..][..self.row].iter_mut();
                row.zip(update).try_for_each(|(element, update)| M::merge(element, update))?;
            }
        }
        Ok(())
    }

    /// Replaces the element at each place by its update, in order.
    fn assign(&self, output: &mut Tensor, updates: &Tensor) -> Result<()> {
        if self.rows.is_empty() || self.row == 0 {
            return Ok(());
        }
        let dtype = output.dtype();
        match_objects!(dtype, T => self.merge::<Assign, T>(output, updates), _ => {
            let bytes = self.row * dtype.size();
            let updates = updates.bytes()?;
            // SAFETY: only bytes of elements of the same dtype are written.
            let output = unsafe { bytes_mut(output)? };
            for (place, update) in self.rows.iter().zip(updates.chunks_exact(bytes)) {
                if let Some(place) = place {
                    output[place * bytes..][..bytes].copy_from_slice(update);
                }
            }
            Ok(())
        })
    }
}

/// What becomes of an element that is updated.
trait Merge<T>: Send + Sync + 'static {
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not enough memory.
    fn merge(element: &mut T, update: &T) -> Result<()>;
}

struct Assign;

impl<T: Clone> Merge<T> for Assign {
    fn merge(element: &mut T, update: &T) -> Result<()> {
        element.clone_from(update);
        Ok(())
    }
}

macro_rules! merges {
    ($($name:ident: |$element:ident: $t:ty, $update:ident| $body:expr, [$($bounds:tt)*];)+) => {$(
        struct $name;

        impl<$($bounds)*> Merge<$t> for $name {
            #[inline(always)]
            fn merge($element: &mut $t, $update: &$t) -> Result<()> {
                $body;
                Ok(())
            }
        }
    )+};
}
merges! {
    AddTo: |element: T, update| *element = element.wrapping_add(*update), [T: Number];
    SubFrom: |element: T, update| *element = element.wrapping_sub(*update), [T: Number];
    Greater: |element: T, update| *element = if *update > *element { *update } else { *element }, [T: Pod + PartialOrd];
    Less: |element: T, update| *element = if *update < *element { *update } else { *element }, [T: Pod + PartialOrd];
    Or: |element: bool, update| *element |= *update, [];
}

/// Strings one after another.
struct Join;

impl Merge<TString> for Join {
    fn merge(element: &mut TString, update: &TString) -> Result<()> {
        *element = scratch::joined(&[element, update])?.into();
        Ok(())
    }
}

/// Attr `bad_indices_policy`: whether updates with indices out of range are left out.
fn lenient(ctx: &RawConstruction<'_>) -> Result<bool> {
    let policy: String = ctx.attrs.required("bad_indices_policy")?;
    ignores_bad_indices(&policy)
}

/// ScatterNd with one way to merge.
struct ScatterNdOf<M, T> {
    lenient: bool,
    merge: PhantomData<fn(T) -> M>,
}

impl<M: Merge<T>, T: Element> OpKernel<ops::ScatterNd> for ScatterNdOf<M, T> {
    fn new(ctx: &KernelConstruction<'_, ops::ScatterNd>) -> Result<Self> {
        Ok(Self { lenient: lenient(ctx)?, merge: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, ops::ScatterNd>) -> Result<()> {
        scatter_nd(ctx, self.lenient, T::DTYPE, Places::merge::<M, T>)
    }
}

/// What ScatterNd does for every dtype.
#[inline(never)]
fn scatter_nd(ctx: &mut KernelContext<'_, ops::ScatterNd>, lenient: bool, dtype: DataType, apply: Apply) -> Result<()> {
    let shape = Shape::from_dims(&vector(ctx.input(ops::ScatterNd::SHAPE)?, "shape")?)?;
    let updates = ctx.input(ops::ScatterNd::UPDATES)?;
    let places = Places::new(ctx.input(ops::ScatterNd::INDICES)?, updates.shape(), &shape, lenient)?;
    let mut output = Tensor::zeros(dtype, shape)?;
    apply(&places, &mut output, updates)?;
    ctx.set_output(ops::ScatterNd::OUTPUT, output)
}

#[register_kernel(
    device = Cpu,
    op = ScatterNd,
    host_memory = ["shape"],
    Tindices = [int32, int64],
    T = [realnumbertype, Complex32, Complex64],
)]
type ScatterNumbers<T> = ScatterNdOf<AddTo, T>;

#[register_kernel(device = Cpu, op = ScatterNd, host_memory = ["shape"], Tindices = [int32, int64], T = [bool])]
type ScatterBools = ScatterNdOf<Or, bool>;

#[register_kernel(device = Cpu, op = ScatterNd, host_memory = ["shape"], Tindices = [int32, int64], T = [string])]
type ScatterStrings = ScatterNdOf<Join, TString>;

/// An op with inputs `tensor`, `indices` and `updates` and one way to merge.
struct TensorScatter<M, T> {
    lenient: bool,
    merge: PhantomData<fn(T) -> M>,
}

impl<O: Op, M: Merge<T>, T: Element> OpKernel<O> for TensorScatter<M, T> {
    fn new(ctx: &KernelConstruction<'_, O>) -> Result<Self> {
        Ok(Self { lenient: lenient(ctx)?, merge: PhantomData })
    }

    fn compute(&self, ctx: &mut KernelContext<'_, O>) -> Result<()> {
        update(ctx, self.lenient, Places::merge::<M, T>)
    }
}

/// Changes a tensor at places by updates.
type Apply = fn(&Places, &mut Tensor, &Tensor) -> Result<()>;

/// Updates input 0 at indices 1 with input 2.
#[inline(never)]
fn update(ctx: &mut RawContext<'_>, lenient: bool, apply: Apply) -> Result<()> {
    let updates = ctx.input_at(2)?.clone();
    let places = Places::new(ctx.input_at(1)?, updates.shape(), ctx.input_at(0)?.shape(), lenient)?;
    let mut output = own(ctx, 0)?;
    apply(&places, &mut output, &updates)?;
    ctx.set_output_at(0, output)
}

#[register_kernel(
    device = Cpu,
    Tindices = [int32, int64],
    T = [realnumbertype, bool, complex128, complex64, string],
    state = |ctx| lenient(ctx),
)]
fn tensor_scatter_update(&lenient: &bool, ctx: &mut KernelContext<'_, ops::TensorScatterUpdate>) -> Result<()> {
    update(ctx, lenient, Places::assign)
}

#[register_kernel(
    device = Cpu,
    op = [TensorScatterAdd, ScatterNdNonAliasingAdd],
    Tindices = [int32, int64],
    T = [realnumbertype, Complex32, Complex64],
)]
type TensorScatterAddKernel<T> = TensorScatter<AddTo, T>;

#[register_kernel(device = Cpu, op = ScatterNdNonAliasingAdd, Tindices = [int32, int64], T = [bool])]
type NonAliasingOr = TensorScatter<Or, bool>;

#[register_kernel(
    device = Cpu,
    op = TensorScatterSub,
    Tindices = [int32, int64],
    T = [realnumbertype, Complex32, Complex64],
)]
type TensorScatterSubKernel<T> = TensorScatter<SubFrom, T>;

#[register_kernel(device = Cpu, op = TensorScatterMax, Tindices = [int32, int64], T = [realnumbertype])]
type TensorScatterMaxKernel<T> = TensorScatter<Greater, T>;

#[register_kernel(device = Cpu, op = TensorScatterMin, Tindices = [int32, int64], T = [realnumbertype])]
type TensorScatterMinKernel<T> = TensorScatter<Less, T>;
