//! The probability of labels, whatever their places in time, and its gradient: sums over all paths, which the algorithm of
//! forward and backward variables shares (Graves, section 7.3). All numbers are logarithms.

use kernlink::Result;
use kernlink::tensor::scratch;
use kernlink_kernels_common::fast;
use kernlink_kernels_common::hash::Map;
use kernlink_kernels_common::number::Float;

use super::Logit;
use crate::vector::widest;

/// The labels of a sequence with a blank before, between and after them.
pub(super) struct Path<'a> {
    labels: &'a [i32],
    /// Of each label which of the distinct ones it is.
    slots: Vec<usize>,
    /// The distinct labels' classes, and last the blank's.
    classes: Vec<usize>,
    /// Whether a class that is repeated without a blank between is one label.
    merges: bool,
}

impl<'a> Path<'a> {
    /// Of labels that are classes other than the blank.
    pub(super) fn new(labels: &'a [i32], blank: usize, merges: bool) -> Result<Self> {
        let (mut slots, mut classes) = (scratch::room(labels.len())?, scratch::room(labels.len() + 1)?);
        let mut known = Map::default();
        scratch::MakeRoom::make_room(&mut known, labels.len())?;
        for &label in labels {
            let slot = *known.entry(label).or_insert(classes.len());
            if slot == classes.len() {
                classes.push(label as usize);
            }
            slots.push(slot);
        }
        classes.push(blank);
        Ok(Self { labels, slots, classes, merges })
    }

    /// Its places, each a blank or a label.
    fn len(&self) -> usize {
        2 * self.labels.len() + 1
    }

    fn is_label(place: usize) -> bool {
        place % 2 == 1
    }

    fn slot(&self, place: usize) -> usize {
        if Self::is_label(place) { self.slots[place / 2] } else { self.classes.len() - 1 }
    }

    /// Zero where a path may stay at a place, or nothing.
    fn staying<T: Logit>(&self) -> Result<Vec<T>> {
        let may = |place: usize| self.merges || !Self::is_label(place);
        scratch::collected((0..self.len()).map(|place| if may(place) { zero() } else { nothing() }))
    }

    /// Zero where a path may come to a place from the last but one, leaving out a blank, or nothing.
    fn skipping<T: Logit>(&self) -> Result<Vec<T>> {
        let may = |place: usize| {
            let label = place / 2;
            Self::is_label(place) && label > 0 && !(self.merges && self.labels[label] == self.labels[label - 1])
        };
        scratch::collected((0..self.len()).map(|place| if may(place) { zero() } else { nothing() }))
    }
}

/// The logarithm of no probability.
fn nothing<T: Logit>() -> T {
    <T as Float>::neg_infinity()
}

fn zero<T: Logit>() -> T {
    <T as kernlink::dtype::Number>::ZERO
}

widest! {
    /// What leads to each place: staying, coming from the place before, and from the one before that. `from` begins two places
    /// earlier.
    fn advance<T: Logit>(from: &[T], staying: &[T], skipping: &[T], emitted: &[T], target: &mut [T]) {
        let count = target.len();
        let (first, second, third) = (&from[2..][..count], &from[1..][..count], &from[..count]);
        let (staying, skipping, emitted) = (&staying[..count], &skipping[..count], &emitted[..count]);
        for place in 0..count {
            let sum = log_sum(first[place] + staying[place], second[place], third[place] + skipping[place]);
            target[place] = sum + emitted[place];
        }
    }
}

widest! {
    /// What each place leads to. `to` and `skipping` end two places later.
    fn retreat<T: Logit>(to: &[T], staying: &[T], skipping: &[T], target: &mut [T]) {
        let count = target.len();
        let (first, second, third) = (&to[..count], &to[1..][..count], &to[2..][..count]);
        let (staying, skipping) = (&staying[..count], &skipping[2..][..count]);
        for place in 0..count {
            target[place] = log_sum(first[place] + staying[place], second[place], third[place] + skipping[place]);
        }
    }
}

widest! {
    /// The powers of e, as far below the logarithm of their sum, which is handed back.
    fn shares<T: Logit>(logarithms: &mut [T]) -> T {
        let mut greatest = <T as Float>::neg_infinity();
        for &x in logarithms.iter() {
            greatest = if x > greatest || x.is_nan() { x } else { greatest };
        }
        if greatest == <T as Float>::neg_infinity() {
            logarithms.fill(<T as kernlink::dtype::Number>::ZERO);
            return greatest;
        }
        let mut sum = <T as kernlink::dtype::Number>::ZERO;
        for x in logarithms.iter_mut() {
            *x = fast::exp(*x - greatest);
            sum += *x;
        }
        logarithms.iter_mut().for_each(|x| *x = *x / sum);
        greatest + <T as Float>::ln(sum)
    }
}

/// The logarithm of the sum of what three numbers are the logarithms of.
#[inline(always)]
fn log_sum<T: Logit>(a: T, b: T, c: T) -> T {
    let great = if a > b { a } else { b };
    let great = if c > great { c } else { great };
    // Nothing minus nothing is no number.
    let base = if great > <T as Float>::neg_infinity() { great } else { zero() };
    let sum = fast::exp(a - base) + fast::exp(b - base) + fast::exp(c - base);
    base + fast::ln(sum)
}

/// A sequence's softmaxes, which become the gradient: rows of `classes` elements, a step at a time.
pub(super) trait Steps<T> {
    /// How many there are.
    fn len(&self) -> usize;
    /// Those of a step.
    fn step(&mut self, step: usize) -> &mut [T];
}

/// The loss of a sequence of at least one step; its softmaxes become the gradient.
pub(super) fn loss<T: Logit>(path: &Path<'_>, steps: &mut impl Steps<T>) -> Result<T> {
    let (count, places, slots) = (steps.len(), path.len(), path.classes.len());
    let (staying, mut skipping) = (path.staying::<T>()?, path.skipping::<T>()?);
    // The logarithms of the classes on the path, step by step, and of the places of one step.
    let mut logarithms: Vec<T> = scratch::room(count.saturating_mul(slots))?;
    for step in 0..count {
        let softmax = steps.step(step);
        logarithms.extend(path.classes.iter().map(|&class| <T as Float>::ln(softmax[class])));
    }
    let mut emitted = scratch::filled(nothing::<T>(), places + 2)?;
    let emit = |step: usize, emitted: &mut [T]| {
        let logarithms = &logarithms[step * slots..][..slots];
        for (place, emitted) in emitted.iter_mut().enumerate().take(places) {
            *emitted = logarithms[path.slot(place)];
        }
    };

    // Forward: two places of nothing before each step's.
    let width = places + 2;
    let mut forward = scratch::filled(nothing::<T>(), count.saturating_mul(width))?;
    emit(0, &mut emitted);
    let start = places.min(2);
    forward[2..2 + start].copy_from_slice(&emitted[..start]);
    for step in 1..count {
        emit(step, &mut emitted);
        let (before, now) = forward.split_at_mut(step * width);
        let before = &before[(step - 1) * width..];
        let range = reachable(step, count, places);
        let (first, length) = (range.start, range.len());
        advance(
            &before[first..],
            &staying[first..],
            &skipping[first..],
            &emitted[first..],
            &mut now[2 + first..][..length],
        );
    }

    // Backward: two places of nothing after each step's.
    scratch::append(&mut skipping, &[nothing::<T>(); 2])?;
    let mut backward = scratch::filled(nothing::<T>(), width)?;
    let mut next = scratch::filled(nothing::<T>(), width)?;
    backward[places.saturating_sub(2)..places].fill(zero());
    let mut shared = scratch::filled(zero::<T>(), places)?;
    let mut total = nothing();
    for step in (0..count).rev() {
        if step + 1 < count {
            emit(step + 1, &mut emitted);
            for ((next, backward), emitted) in next.iter_mut().zip(&backward).zip(&emitted).take(places) {
                *next = *backward + *emitted;
            }
            backward[..places].fill(nothing());
            let range = reachable(step, count, places);
            let (first, length) = (range.start, range.len());
            retreat(&next[first..], &staying[first..], &skipping[first..], &mut backward[first..][..length]);
        }
        let forward = &forward[step * width + 2..][..places];
        for ((shared, forward), backward) in shared.iter_mut().zip(forward).zip(&backward) {
            *shared = *forward + *backward;
        }
        total = shares(&mut shared);
        let gradient = steps.step(step);
        for (place, &share) in shared.iter().enumerate() {
            let class = path.classes[path.slot(place)];
            gradient[class] -= share;
        }
    }
    if total.is_nan() {
        (0..count).for_each(|step| steps.step(step).fill(total));
    }
    Ok(-total)
}

/// The places that a path can be at after a step, and from which it can come to the end.
fn reachable(step: usize, count: usize, places: usize) -> std::ops::Range<usize> {
    places.saturating_sub(2 * (count - step))..places.min(2 * (step + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rows(Vec<Vec<f64>>);
    impl Steps<f64> for Rows {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn step(&mut self, step: usize) -> &mut [f64] {
            &mut self.0[step]
        }
    }

    fn softmax(logits: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let rows = logits.iter().map(|row| {
            let sum: f64 = row.iter().map(|x| x.exp()).sum();
            row.iter().map(|x| x.exp() / sum).collect()
        });
        rows.collect()
    }

    /// The sum over all sequences of classes that stand for the labels.
    fn by_definition(softmaxes: &[Vec<f64>], labels: &[i32], merges: bool) -> f64 {
        let (steps, classes) = (softmaxes.len(), softmaxes[0].len());
        let mut total = 0.0;
        for code in 0..classes.pow(steps as u32) {
            let chosen: Vec<usize> = (0..steps).map(|step| code / classes.pow(step as u32) % classes).collect();
            let mut found = Vec::new();
            for (step, &class) in chosen.iter().enumerate() {
                let repeats = merges && step > 0 && chosen[step - 1] == class;
                if class != classes - 1 && !repeats {
                    found.push(class as i32);
                }
            }
            if found == labels {
                total += chosen.iter().zip(softmaxes).map(|(&class, softmax)| softmax[class]).product::<f64>();
            }
        }
        -total.ln()
    }

    #[test]
    fn losses_and_gradients_are_those_of_all_paths() {
        let logits: Vec<Vec<f64>> =
            (0..5).map(|t| (0..4).map(|c| f64::from((t * 7 + c * 5) % 11) / 4.0 - 1.0).collect()).collect();
        for labels in [&[0][..], &[1, 2], &[2, 2], &[0, 1, 0], &[1, 1, 1], &[], &[0, 1, 2, 0, 1]] {
            for merges in [true, false] {
                let of = |logits: &[Vec<f64>]| by_definition(&softmax(logits), labels, merges);
                let path = Path::new(labels, 3, merges).unwrap();
                let mut rows = Rows(softmax(&logits));
                let found = loss(&path, &mut rows).unwrap();
                let expected = of(&logits);
                assert!((found - expected).abs() < 1e-9, "{labels:?} {merges}: {found} {expected}");
                for (step, class) in (0..5).flat_map(|step| (0..4).map(move |class| (step, class))) {
                    let moved = |by: f64| {
                        let mut logits = logits.clone();
                        logits[step][class] += by;
                        of(&logits)
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    let found = rows.0[step][class];
                    assert!((found - slope).abs() < 1e-6, "{labels:?} {merges} {step} {class}: {found} {slope}");
                }
            }
        }
    }

    #[test]
    fn without_a_path_the_loss_is_infinite() {
        let labels = [0, 0, 0];
        let mut rows = Rows(softmax(&vec![vec![0.0; 2]; 4]));
        assert_eq!(loss(&Path::new(&labels, 1, true).unwrap(), &mut rows).unwrap(), f64::INFINITY);
        assert_eq!(rows.0, vec![vec![0.5; 2]; 4]);
    }
}
