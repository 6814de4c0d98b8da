//! What a kernel makes of an operand that no graph says to be constant, and that all the same is in one run what it was in
//! the one before, as the value of a variable is that nobody assigns.

use std::sync::{Mutex, PoisonError};

use kernlink::Result;
use kernlink::dtype::DataType;
use kernlink::shape::Shape;
use kernlink::tensor::{ContentStamp, Tensor};

/// In how many runs one after the other an operand must have been the same before what is made of it is remembered: the first
/// time so many, later twice as many each time it turned out to be another after all.
const RUNS: u32 = 2;

/// The most that it is asked for.
const MOST_RUNS: u32 = 1 << 16;

/// What was made of an operand, for as long as that stays the same.
///
/// The operand itself is not kept: a variable changes in place all the same, and one that does so at each step is never
/// remembered.
pub struct Remembered<M = Tensor> {
    memory: Mutex<Memory<M>>,
}

/// What an operand is known by.
#[derive(Clone, PartialEq)]
struct Operand {
    content: ContentStamp,
    dtype: DataType,
    shape: Shape,
}

struct Memory<M> {
    /// The operand of which something is kept, and what was made of it.
    kept: Option<(Operand, M)>,
    /// The operand of the last run, in how many runs it was that, and in how many it must have been.
    last: Option<Operand>,
    seen: u32,
    wanted: u32,
}

impl<M> Default for Remembered<M> {
    fn default() -> Remembered<M> {
        Remembered { memory: Mutex::new(Memory { kept: None, last: None, seen: 0, wanted: RUNS }) }
    }
}

impl<M: Clone> Memory<M> {
    /// What was made of an operand, if it is the one that is kept, or else whether that is to be kept.
    fn look(&mut self, operand: &Operand) -> (Option<M>, bool) {
        if let Some((kept, made)) = &self.kept {
            if kept == operand {
                return (Some(made.clone()), false);
            }
            self.kept = None;
            self.wanted = (2 * self.wanted).min(MOST_RUNS);
            self.seen = 0;
        }
        self.seen = if self.last.as_ref() == Some(operand) { self.seen.saturating_add(1) } else { 1 };
        self.last = Some(operand.clone());
        (None, self.seen >= self.wanted)
    }
}

impl<M: Clone> Remembered<M> {
    /// What `make` makes of `operand`, now or in an earlier run. `make` must give the same for the same operand.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get(&self, operand: &Tensor, make: impl Fn() -> Result<M>) -> Result<M> {
        self.find(operand, &make)?.map_or_else(&make, Ok)
    }

    /// [`Remembered::get`] of an operand that is remembered, or is from now on; `None` if it is not, and nothing is made.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn find(&self, operand: &Tensor, make: impl FnOnce() -> Result<M>) -> Result<Option<M>> {
        // A tensor that stores its elements itself is small.
        let Some(content) = operand.content_stamp() else { return Ok(None) };
        let operand = Operand { content, dtype: operand.dtype(), shape: operand.shape().clone() };
        let lock = || self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let (made, is_kept) = lock().look(&operand);
        if made.is_some() || !is_kept {
            return Ok(made);
        }
        let made = make()?;
        let old = lock().kept.replace((operand, made.clone()));
        drop(old);
        Ok(Some(made))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_stays_the_same_is_made_twice() -> Result<()> {
        let (remembered, made) = (Remembered::default(), Cell::new(0));
        let negated = |operand: &Tensor| {
            remembered.get(operand, || {
                made.set(made.get() + 1);
                let negated: Vec<f32> = operand.as_slice::<f32>()?.iter().map(|value| -value).collect();
                Tensor::vector(&negated)
            })
        };
        let mut value = Tensor::vector(&[1.0f32; 100])?;
        for _ in 0..10 {
            assert_eq!(negated(&value)?.as_slice::<f32>()?[0], -1.0);
        }
        assert_eq!(made.get(), RUNS);
        assert!(value.is_unique(), "it can change where it is");
        value.as_mut_slice::<f32>()?[0] = 2.0;
        assert_eq!(negated(&value)?.as_slice::<f32>()?[0], -2.0);
        // Nothing is kept of a variable that changes at each step.
        made.set(0);
        for step in 0..200 {
            value.as_mut_slice::<f32>()?[0] = step as f32;
            assert_eq!(negated(&value)?.as_slice::<f32>()?[0], -(step as f32));
            assert!(remembered.memory.lock().unwrap().kept.is_none());
        }
        assert_eq!(made.get(), 200);
        // Another tensor is another operand, wherever it is; a part of it, too.
        for value in [Tensor::vector(&[3.0f32; 100])?, Tensor::vector(&[4.0f32; 100])?] {
            assert_eq!(negated(&value)?.as_slice::<f32>()?[0], -value.as_slice::<f32>()?[0]);
        }
        Ok(())
    }

    #[test]
    fn nothing_is_made_of_what_is_not_remembered() -> Result<()> {
        let remembered = Remembered::default();
        let value = Tensor::vector(&[1.0f32; 64])?;
        let found: Result<Vec<Option<usize>>> = (0..4).map(|run| remembered.find(&value, || Ok(run))).collect();
        assert_eq!(found?, [None, Some(1), Some(1), Some(1)]);
        Ok(())
    }

    #[test]
    fn another_shape_is_another_operand() -> Result<()> {
        let remembered = Remembered::default();
        let value = Tensor::vector(&[1.0f32; 64])?;
        let rows = |value: &Tensor| {
            let made: Tensor = remembered.get(value, || Tensor::vector(&[value.shape()[0] as i64; 3]))?;
            made.to_i64_vec()
        };
        for _ in 0..4 {
            assert_eq!(rows(&value)?, [64; 3]);
        }
        assert_eq!(rows(&value.clone().reshaped([8, 8])?)?, [8; 3]);
        Ok(())
    }
}
