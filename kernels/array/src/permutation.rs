//! InvertPermutation.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering};

use kernlink::dtype::Number;
use kernlink::error::{Error, Result};
use kernlink::kernel::KernelContext;
use kernlink::tensor::scratch;
use kernlink::{bail, ensure};
use kernlink_macros::register_kernel;
use kernlink_ops as ops;

/// An integer that several threads may write to one place.
trait Shared: Number + Into<i64> {
    type Slot: Sync;
    /// The elements, for all threads.
    fn slots(elements: &mut [Self]) -> Result<&[Self::Slot]>;
    fn put(slot: &Self::Slot, value: usize);
}

macro_rules! shared {
    ($($t:ty: $atomic:ty),+) => {$(
        impl Shared for $t {
            type Slot = $atomic;
            fn slots(elements: &mut [$t]) -> Result<&[$atomic]> {
                // SAFETY: an atomic integer has the size and the values of its integer, and nobody else can reach the elements
                // meanwhile.
                let (before, slots, after) = unsafe { elements.align_to_mut::<$atomic>() };
                ensure!(before.is_empty() && after.is_empty(), Internal, "a tensor that is not aligned");
                Ok(slots)
            }
            #[inline(always)]
            fn put(slot: &$atomic, value: usize) {
                slot.store(value as $t, Ordering::Relaxed);
            }
        }
    )+};
}
shared!(i32: AtomicI32, i64: AtomicI64);

#[register_kernel(device = Cpu, T = [i32, i64])]
#[register_kernel(device = Default, T = [i32, i64], host_memory = ["x", "y"])]
fn invert_permutation<T: Shared>(ctx: &mut KernelContext<'_, ops::InvertPermutation>) -> Result<()> {
    let input = ctx.input(ops::InvertPermutation::X)?;
    ensure!(input.rank() == 1, InvalidArgument, "invert_permutation expects a 1D vector.");
    let count = input.num_elements();
    ensure!(
        count <= i32::MAX as usize,
        InvalidArgument,
        "permutation of nonnegative int32s must have <= int32 max elements"
    );
    let mut output = ctx.allocate_output(ops::InvertPermutation::Y, [count])?;
    let (places, inverse) = (input.as_slice::<T>()?, output.as_mut_slice::<T>()?);
    let unset = T::from_i64(-1);
    ctx.parallel_chunks(inverse, 1024, 1, |_, piece| piece.fill(unset));
    let (slots, is_outside) = (T::slots(inverse)?, AtomicBool::new(false));
    ctx.parallel_for(count, 1, |range| {
        for (i, &place) in (range.start..).zip(&places[range]) {
            match usize::try_from(place.into()).ok().and_then(|place| slots.get(place)) {
                Some(slot) => T::put(slot, i),
                None => is_outside.store(true, Ordering::Relaxed),
            }
        }
    });
    // There are as many places as elements: if one is there twice, another is not.
    if is_outside.into_inner() || inverse.contains(&unset) {
        return Err(fault(places)?);
    }
    ctx.set_output(ops::InvertPermutation::Y, output)
}

/// What is wrong with places that are no permutation: the first of them that is.
#[cold]
fn fault<T: Shared>(places: &[T]) -> Result<Error> {
    let count = places.len();
    let mut is_taken = scratch::zeros::<bool>(count)?;
    for &place in places {
        let place = place.into();
        match usize::try_from(place).ok().and_then(|place| is_taken.get_mut(place)) {
            Some(false) => is_taken[place as usize] = true,
            Some(true) => return Ok(Error::invalid_argument(format!("{place} is duplicated in the input."))),
            None => return Ok(Error::invalid_argument(format!("{place} is not between 0 and {count}"))),
        }
    }
    bail!(Internal, "a permutation whose inverse has gaps")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fault_is_named() {
        let message = |places: &[i64]| fault(places).unwrap().to_string();
        assert!(message(&[1, 1, 7]).contains("1 is duplicated"));
        assert!(message(&[2, 0, -1, 0]).contains("-1 is not between 0 and 4"));
        assert!(message(&[0, 3, 1]).contains("3 is not between 0 and 3"));
    }
}
