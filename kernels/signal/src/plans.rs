//! How transforms of a length are computed: planned once, and kept for all nodes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kernlink::dtype::Pod;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

/// A float that transforms compute with.
pub(crate) trait Real: FftNum + Pod + bytemuck::Pod {
    /// 1 / count
    fn reciprocal(count: usize) -> Self;

    /// The plans of this dtype.
    fn plans() -> &'static Plans<Self>;
}

macro_rules! real {
    ($($t:ty),*) => {$(
        impl Real for $t {
            fn reciprocal(count: usize) -> Self {
                (1.0 / count as f64) as $t
            }

            fn plans() -> &'static Plans<Self> {
                static PLANS: Plans<$t> = Plans(Mutex::new(Kept::new()));
                &PLANS
            }
        }
    )*};
}

real!(f32, f64);

/// Plans by their lengths.
pub(crate) struct Plans<T>(Mutex<Kept<T>>);

struct Kept<T> {
    complex: BTreeMap<(usize, bool), Arc<dyn Fft<T>>>,
    forward: BTreeMap<usize, Arc<dyn RealToComplex<T>>>,
    inverse: BTreeMap<usize, Arc<dyn ComplexToReal<T>>>,
    /// The sum of all lengths, which says how much memory the plans hold: a few numbers for each element.
    elements: usize,
}

/// Above this many elements all plans are forgotten, so that a program that transforms ever new lengths does not grow.
const MOST_ELEMENTS: usize = 1 << 22;

impl<T> Kept<T> {
    const fn new() -> Self {
        Kept { complex: BTreeMap::new(), forward: BTreeMap::new(), inverse: BTreeMap::new(), elements: 0 }
    }

    /// Makes room for a plan of a length.
    fn note(&mut self, length: usize) {
        if self.elements.saturating_add(length) > MOST_ELEMENTS {
            *self = Kept::new();
        }
        self.elements += length;
    }
}

impl<T: Real> Plans<T> {
    /// What the plans are found in: `find` looks for one, and `make` plans it while nobody waits.
    fn find<P: Clone>(
        &self,
        length: usize,
        find: impl Fn(&mut Kept<T>) -> Option<P>,
        make: impl FnOnce() -> P,
        keep: impl FnOnce(&mut Kept<T>, P),
    ) -> P {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&mut kept()) {
            return found;
        }
        let made = make();
        let mut kept = kept();
        kept.note(length);
        keep(&mut kept, made.clone());
        made
    }

    /// The plan of a transform of complex numbers. The length is not 0.
    pub(crate) fn complex(&self, length: usize, inverse: bool) -> Arc<dyn Fft<T>> {
        let direction = if inverse { FftDirection::Inverse } else { FftDirection::Forward };
        self.find(
            length,
            |kept| kept.complex.get(&(length, inverse)).cloned(),
            || FftPlanner::new().plan_fft(length, direction),
            |kept, plan| drop(kept.complex.insert((length, inverse), plan)),
        )
    }

    /// The plan of a transform of real numbers. The length is not 0.
    pub(crate) fn forward(&self, length: usize) -> Arc<dyn RealToComplex<T>> {
        self.find(
            length,
            |kept| kept.forward.get(&length).cloned(),
            || RealFftPlanner::new().plan_fft_forward(length),
            |kept, plan| drop(kept.forward.insert(length, plan)),
        )
    }

    /// The plan of a transform to real numbers. The length is not 0.
    pub(crate) fn inverse(&self, length: usize) -> Arc<dyn ComplexToReal<T>> {
        self.find(
            length,
            |kept| kept.inverse.get(&length).cloned(),
            || RealFftPlanner::new().plan_fft_inverse(length),
            |kept, plan| drop(kept.inverse.insert(length, plan)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_kept_until_there_are_too_many() {
        let plans = Plans::<f64>(Mutex::new(Kept::new()));
        let first = plans.complex(8, false);
        assert!(Arc::ptr_eq(&first, &plans.complex(8, false)));
        assert!(!Arc::ptr_eq(&first, &plans.complex(8, true)));
        assert_eq!((plans.forward(6).len(), plans.inverse(6).complex_len()), (6, 4));
        plans.complex(MOST_ELEMENTS - 1, false);
        assert!(!Arc::ptr_eq(&first, &plans.complex(8, false)));
    }
}
