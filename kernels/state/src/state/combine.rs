//! How a new value and an old one become the value that a variable keeps.

use kernlink::dtype::{DataType, Element, Number};
use kernlink::kernel::{KernelState, RawConstruction, RawContext};
use kernlink::tensor::Tensor;
use kernlink::{Result, bail, ensure};
use kernlink_kernels_common::element::{bytes_mut, match_objects};
use kernlink_kernels_common::number::Divide;

use super::place::rows_of_a_thread;

/// What becomes of an old value and a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Combine {
    Set,
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// What the name of an op such as `ResourceScatterNdAdd` ends with.
impl KernelState for Combine {
    fn new(ctx: &RawConstruction<'_>) -> Result<Combine> {
        use Combine::*;
        let name = &ctx.op.name;
        let known =
            [("Update", Set), ("Add", Add), ("Sub", Sub), ("Mul", Mul), ("Div", Div), ("Min", Min), ("Max", Max)];
        match known.into_iter().find(|(end, _)| name.ends_with(end)) {
            Some((_, combine)) => Ok(combine),
            None => bail!(Internal, "{name} does not say how it combines values"),
        }
    }
}

/// Evaluates `$body` with `$t` as the type of a dtype that has arithmetic.
macro_rules! match_numbers {
    ($dtype:expr, $t:ident => $body:expr) => {
        match_numbers!(@ $dtype, $t, $body, Complex64 kernlink::dtype::Complex32,
            Complex128 kernlink::dtype::Complex64)
    };
    (ordered $dtype:expr, $t:ident => $body:expr) => {
        match_numbers!(@ $dtype, $t, $body,)
    };
    (@ $dtype:expr, $t:ident, $body:expr, $($name:ident $own:ty),*) => {
        match_numbers!(@@ $dtype, $t, $body, Float f32, Double f64,
            Half kernlink::dtype::f16, Bfloat16 kernlink::dtype::bf16, Int8 i8, Int16 i16,
            Int32 i32, Int64 i64, Uint8 u8, Uint16 u16, Uint32 u32, Uint64 u64 $(, $name $own)*)
    };
    (@@ $dtype:expr, $t:ident, $body:expr, $($name:ident $own:ty),*) => {
        match $dtype {
            $(kernlink::dtype::DataType::$name => { type $t = $own; $body })*
            other => kernlink::bail!(InvalidArgument, "{other} has no such arithmetic"),
        }
    };
}
pub(super) use match_numbers;

/// Rows of a variable, each with the row of the updates that it is combined with.
pub(super) struct Rows<'r> {
    /// For each row of the updates, the row of the variable. Each is below the number of rows.
    pub(super) rows: &'r [usize],
    /// The elements of a row.
    pub(super) size: usize,
    /// Whether the updates are one element that stands for all.
    pub(super) is_scalar: bool,
}

impl Rows<'_> {
    /// Combines rows of `target` with `updates`, in order.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a dtype that cannot be combined so; INTERNAL if the rows do not fit.
    pub(super) fn combine(
        &self,
        ctx: &RawContext<'_>,
        how: Combine,
        target: &mut Tensor,
        updates: &Tensor,
    ) -> Result<()> {
        let dtype = target.dtype();
        ensure!(updates.dtype() == dtype, Internal, "{} cannot be combined with {dtype}", updates.dtype());
        let expected = if self.is_scalar { 1 } else { self.rows.len() * self.size };
        ensure!(updates.num_elements() == expected, Internal, "{} updates, not {expected}", updates.num_elements());
        match (how, dtype) {
            (Combine::Set, _) => return self.set(ctx, target, updates),
            (Combine::Add, DataType::Bool) => return self.each::<bool>(ctx, target, updates, |old, new| old | new),
            (Combine::Sub, DataType::Bool) => return self.each::<bool>(ctx, target, updates, |old, new| old ^ new),
            _ => {}
        }
        match how {
            Combine::Add => match_numbers!(dtype, T => self.each::<T>(ctx, target, updates, Number::wrapping_add)),
            Combine::Sub => match_numbers!(dtype, T => self.each::<T>(ctx, target, updates, Number::wrapping_sub)),
            Combine::Mul => match_numbers!(dtype, T => self.each::<T>(ctx, target, updates, Number::wrapping_mul)),
            Combine::Div => match_numbers!(dtype, T => self.each::<T>(ctx, target, updates, Divide::divide)),
            Combine::Min => {
                match_numbers!(ordered dtype, T => self.each::<T>(ctx, target, updates, |a, b| if b < a { b } else { a }))
            }
            Combine::Max => {
                match_numbers!(ordered dtype, T => self.each::<T>(ctx, target, updates, |a, b| if a < b { b } else { a }))
            }
            Combine::Set => Ok(()),
        }
    }

    fn each<T: Element + Copy>(
        &self,
        ctx: &RawContext<'_>,
        target: &mut Tensor,
        updates: &Tensor,
        f: impl Fn(T, T) -> T + Sync,
    ) -> Result<()> {
        let (size, updates) = (self.size, updates.as_slice::<T>()?);
        self.share(ctx, target.as_mut_slice::<T>()?, size, |index, target| {
            if self.is_scalar {
                target.iter_mut().for_each(|element| *element = f(*element, updates[0]));
            } else {
                let updates = &updates[index * size..][..size];
                target.iter_mut().zip(updates).for_each(|(element, &update)| *element = f(*element, update));
            }
        });
        Ok(())
    }

    fn set(&self, ctx: &RawContext<'_>, target: &mut Tensor, updates: &Tensor) -> Result<()> {
        match_objects!(target.dtype(), T => {
            let (size, updates) = (self.size, updates.as_slice::<T>()?);
            self.share(ctx, target.as_mut_slice::<T>()?, size, |index, target| {
                if self.is_scalar {
                    target.fill(updates[0].clone());
                } else {
                    target.clone_from_slice(&updates[index * size..][..size]);
                }
            });
        }, _ => {
            let (size, updates) = (self.size * target.dtype().size(), updates.bytes()?);
            // SAFETY: only bytes of elements of the same dtype are written.
            let target = unsafe { bytes_mut(target)? };
            self.share(ctx, target, size, |index, target| {
                if self.is_scalar {
                    target.chunks_exact_mut(updates.len()).for_each(|element| element.copy_from_slice(updates));
                } else {
                    target.copy_from_slice(&updates[index * size..][..size]);
                }
            });
        });
        Ok(())
    }

    /// Calls `change` with the number of each update and the row that it is for, `size` items of the target, on several
    /// threads if it is worth it.
    fn share<T: Send>(
        &self,
        ctx: &RawContext<'_>,
        target: &mut [T],
        size: usize,
        change: impl Fn(usize, &mut [T]) + Sync,
    ) {
        if size == 0 {
            return;
        }
        let count = target.len() / size;
        let work = self.rows.len() * (4 + size);
        let share = rows_of_a_thread(ctx, count, work);
        let mut pieces: Vec<_> = target.chunks_mut(share * size).enumerate().collect();
        let cost = work / pieces.len().max(1);
        ctx.parallel_chunks(&mut pieces, 1, cost, |_, pieces| {
            for (piece, target) in pieces {
                let first = *piece * share;
                let own = first..first + target.len() / size;
                for (index, row) in self.rows.iter().enumerate().filter(|(_, row)| own.contains(row)) {
                    change(index, &mut target[(row - first) * size..][..size]);
                }
            }
        });
    }
}
