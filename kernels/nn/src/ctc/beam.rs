//! CTCBeamSearchDecoder.
//!
//! The beginnings of results form a tree, of which a number of the most probable leaves are kept after each step. What a leaf
//! has come to is the sum of paths that end with a blank and of those that end with its label.

use kernlink::error::Error;
use kernlink::kernel::{KernelContext, KernelState, RawConstruction};
use kernlink::tensor::scratch::{self, MakeRoom};
use kernlink::{Result, ensure};
use kernlink_kernels_common::hash::Map;
use kernlink_kernels_common::number::Float;
use kernlink_macros::register_kernel;
use kernlink_ops::CTCBeamSearchDecoder;

use super::Logit;
use super::decoded::{Sequences, set_decoded};
use super::top_n::TopN;

type Op = CTCBeamSearchDecoder;

/// The attrs.
struct Search {
    width: usize,
    paths: usize,
    merges: bool,
}

impl KernelState for Search {
    fn new(ctx: &RawConstruction<'_>) -> Result<Self> {
        let count = |name: &str| {
            let count: i64 = ctx.attrs.required(name)?;
            let fits = i32::try_from(count).ok().and_then(|count| usize::try_from(count).ok());
            fits.ok_or_else(|| {
                Error::invalid_argument(format!("attr {name} has value {count}, out of range for an int32"))
            })
        };
        Ok(Self {
            width: count("beam_width")?,
            paths: count("top_paths")?,
            merges: ctx.attrs.required("merge_repeated")?,
        })
    }
}

/// Logarithms of the probabilities that a beginning has come to.
#[derive(Clone, Copy)]
struct Probability<T> {
    total: T,
    /// That of paths that end with a blank.
    blank: T,
    /// That of paths that end with the label.
    label: T,
}

impl<T: Logit> Probability<T> {
    fn none() -> Self {
        let none = <T as Float>::neg_infinity();
        Self { total: none, blank: none, label: none }
    }
}

/// A beginning: that of another, and a label.
struct Entry<T> {
    /// The root, the beginning without labels, has none.
    parent: Option<usize>,
    label: i32,
    /// Before the step.
    old: Probability<T>,
    /// After it; none if the beginning is not kept.
    new: Probability<T>,
}

impl<T: Logit> Entry<T> {
    fn is_active(&self) -> bool {
        self.new.total != <T as Float>::neg_infinity()
    }
}

/// The beginnings of one sequence.
struct Beam<T> {
    entries: Vec<Entry<T>>,
    children: Map<(usize, i32), usize>,
    leaves: TopN<usize>,
    width: usize,
}

/// Compares entries by what they have come to.
fn by_total<T: Logit>(entries: &[Entry<T>]) -> impl Fn(usize, usize) -> bool {
    |a, b| entries[a].new.total > entries[b].new.total
}

impl<T: Logit> Beam<T> {
    fn new(width: usize) -> Result<Self> {
        let sure = Probability { total: zero(), blank: zero(), ..Probability::none() };
        let root = Entry { parent: None, label: -1, old: Probability::none(), new: sure };
        let mut beam = Beam { entries: Vec::new(), children: Map::default(), leaves: TopN::new(width), width };
        scratch::push(&mut beam.entries, root)?;
        beam.keep(0)?;
        Ok(beam)
    }

    fn keep(&mut self, entry: usize) -> Result<()> {
        self.leaves.push(entry, by_total(&self.entries))
    }

    fn bottom(&mut self) -> Option<usize> {
        self.leaves.bottom(by_total(&self.entries))
    }

    /// Whether what has come to so much would be kept.
    fn is_candidate(&mut self, total: T) -> bool {
        total > <T as Float>::neg_infinity()
            && (self.leaves.len() < self.width
                || self.bottom().is_some_and(|bottom| total > self.entries[bottom].new.total))
    }

    /// Goes on by a step, given its logits.
    fn step(&mut self, logits: &[T]) -> Result<()> {
        let Some((&blank, labels)) = logits.split_last() else { return Ok(()) };
        let greatest = logits.iter().fold(logits[0], |greatest, &x| if x > greatest { x } else { greatest });
        let mut sum = zero::<T>();
        for &logit in logits {
            sum += <T as Float>::exp(logit - greatest);
        }
        let offset = greatest + <T as Float>::ln(sum);

        let branches = self.leaves.extract(by_total(&self.entries));
        for &branch in &branches {
            self.entries[branch].old = self.entries[branch].new;
        }
        for &branch in &branches {
            let Entry { parent, label, old, mut new } = self.entries[branch];
            if let Some(parent) = parent {
                let before = &self.entries[parent];
                if before.is_active() {
                    let previous = if label == before.label { before.old.blank } else { before.old.total };
                    new.label = new.label.log_sum_exp(previous);
                }
                new.label += labels[label as usize] - offset;
            }
            new.blank = old.total + blank - offset;
            new.total = new.blank.log_sum_exp(new.label);
            self.entries[branch].new = new;
            self.keep(branch)?;
        }
        for &branch in &branches {
            let Entry { label, old, .. } = self.entries[branch];
            if !self.is_candidate(old.total) {
                continue;
            }
            for (class, &logit) in (0..).zip(labels) {
                let known = self.children.get(&(branch, class)).copied();
                if known.is_some_and(|child| self.entries[child].is_active()) {
                    continue;
                }
                let previous = if class == label { old.blank } else { old.total };
                let label = logit - offset + previous;
                if !self.is_candidate(label) {
                    // If it was dropped in this step, it is not gone on from either.
                    if let Some(child) = known {
                        self.entries[child].old = Probability::none();
                    }
                    continue;
                }
                let new = Probability { total: label, label, ..Probability::none() };
                if self.leaves.len() == self.width
                    && let Some(bottom) = self.bottom()
                {
                    self.entries[bottom].new = Probability::none();
                }
                let child = match known {
                    Some(child) => {
                        self.entries[child].new = new;
                        child
                    }
                    None => {
                        let child = self.entries.len();
                        self.children.make_room(1)?;
                        self.children.insert((branch, class), child);
                        let old = Probability::none();
                        scratch::push(&mut self.entries, Entry { parent: Some(branch), label: class, old, new })?;
                        child
                    }
                };
                self.keep(child)?;
            }
        }
        Ok(())
    }

    /// The labels of the best results and what they have come to, the best first.
    fn results(&self, paths: usize, merges: bool) -> Result<Vec<(Vec<i32>, T)>> {
        ensure!(paths <= self.width, InvalidArgument, "top_paths {paths} exceeds beam_width {}", self.width);
        ensure!(
            paths <= self.leaves.len(),
            InvalidArgument,
            "top_paths asks for {paths} results, but a sequence has only {}: it is short",
            self.leaves.len()
        );
        let mut best = TopN::new(paths);
        for &leaf in self.leaves.items() {
            best.push(leaf, by_total(&self.entries))?;
        }
        let best = best.extract(by_total(&self.entries));
        scratch::collected_ok(best.iter().map(|&leaf| Ok((self.labels(leaf, merges)?, self.entries[leaf].new.total))))
    }

    fn labels(&self, leaf: usize, merges: bool) -> Result<Vec<i32>> {
        let mut labels = Vec::new();
        let (mut at, mut after) = (&self.entries[leaf], -1);
        while let Some(parent) = at.parent {
            if !merges || at.label != after {
                scratch::push(&mut labels, at.label)?;
            }
            after = at.label;
            at = &self.entries[parent];
        }
        labels.reverse();
        Ok(labels)
    }
}

fn zero<T: Logit>() -> T {
    <T as kernlink::dtype::Number>::ZERO
}

#[register_kernel(device = Cpu, T = [f32, f64])]
fn ctc_beam_search_decoder<T: Logit>(search: &Search, ctx: &mut KernelContext<'_, Op>) -> Result<()> {
    let sequences = Sequences::<T>::new(ctx)?;
    let &Search { width, paths, merges } = search;
    let batch = sequences.batch;
    let mut decoded = scratch::filled(Vec::new(), batch)?;
    let cost = sequences.time.saturating_mul(sequences.classes).saturating_mul(width.min(1 << 20));
    ctx.try_parallel_chunks(&mut decoded, 1, cost.saturating_mul(10), |first, decoded| {
        for (sequence, target) in (first..).zip(decoded) {
            let mut beam = Beam::new(width)?;
            for logits in sequences.steps(sequence) {
                beam.step(logits)?;
            }
            *target = beam.results(paths, merges)?;
        }
        Ok(())
    })?;
    let mut probabilities = ctx.allocate_output_at(3 * paths, [batch, paths])?;
    let results = decoded.iter().flatten().map(|(_, probability)| *probability);
    for (target, probability) in probabilities.as_mut_slice::<T>()?.iter_mut().zip(results) {
        *target = probability;
    }
    for path in 0..paths {
        set_decoded(ctx, (path, paths), decoded.iter().map(|results| &results[path].0[..]))?;
    }
    ctx.set_output_at(3 * paths, probabilities)
}
