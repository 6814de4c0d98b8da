//! What a run's cases were, how far they got, and whether values that are hostile were among them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use kernlink::attr::AttrValue;
use kernlink::dtype::{DataType, bf16, f16};
use kernlink::tensor::Tensor;

use crate::support::random_op::{Case, Outcome};

/// From here on a number is called large.
const LARGE: f64 = (1u64 << 20) as f64;

/// An op that never ran to the end in so many tries is named.
const MANY: usize = 16;

/// What makes a case hostile, each with a letter for the log.
const MARKS: [(char, &str); 8] = [
    ('n', "NaN or infinity"),
    ('m', "a negative integer"),
    ('v', "a large value"),
    ('e', "an empty tensor"),
    ('d', "a large dimension"),
    ('r', "rank 5 or more"),
    ('a', "an extreme attr"),
    ('t', "dtypes beyond float and int32"),
];

/// The letters of what makes the case hostile.
pub(crate) fn marks(case: &Case) -> String {
    let has = |letter: char| match letter {
        'n' => case.inputs.iter().any(|input| numbers(input).iter().any(|number| !number.is_finite())),
        'm' => case.inputs.iter().any(|input| input.dtype().is_integer() && numbers(input).iter().any(|&x| x < 0.0)),
        'v' => case.inputs.iter().any(|input| numbers(input).iter().any(|x| x.is_finite() && x.abs() >= LARGE)),
        'e' => case.inputs.iter().any(|input| input.num_elements() == 0),
        'd' => case.inputs.iter().any(|input| input.shape().iter().any(|&dim| dim as f64 >= LARGE)),
        'r' => case.inputs.iter().any(|input| input.rank() >= 5),
        'a' => case.attrs.iter().any(|(_, value)| is_extreme(value)),
        _ => case.inputs.iter().any(|input| !matches!(input.dtype(), DataType::Float | DataType::Int32)),
    };
    MARKS.iter().map(|&(letter, _)| letter).filter(|&letter| has(letter)).collect()
}

/// The elements of a tensor of numbers, as far as float64 holds them.
fn numbers(tensor: &Tensor) -> Vec<f64> {
    macro_rules! read {
        ($($dtype:ident $t:ty),*) => {
            match tensor.dtype() {
                $(DataType::$dtype => tensor.as_slice::<$t>().map(|x| x.iter().map(|&x| f64::from(x)).collect()),)*
                DataType::Int64 => tensor.as_slice::<i64>().map(|x| x.iter().map(|&x| x as f64).collect()),
                DataType::Uint64 => tensor.as_slice::<u64>().map(|x| x.iter().map(|&x| x as f64).collect()),
                _ => Ok(Vec::new()),
            }
        };
    }
    let numbers = read!(
        Float f32, Double f64, Half f16, Bfloat16 bf16, Int8 i8, Int16 i16, Int32 i32, Uint8 u8, Uint16 u16, Uint32 u32
    );
    numbers.unwrap_or_default()
}

fn is_extreme(value: &AttrValue) -> bool {
    let int = |&int: &i64| !(-1..LARGE as i64).contains(&int);
    let float = |float: &f32| !float.is_finite() || f64::from(float.abs()) >= LARGE;
    match value {
        AttrValue::Int(value) => int(value),
        AttrValue::ListInt(values) => values.iter().any(int),
        AttrValue::Float(value) => float(value),
        AttrValue::ListFloat(values) => values.iter().any(float),
        AttrValue::Shape(shape) => {
            shape.dims().is_some_and(|dims| dims.iter().flatten().any(|&dim| dim as f64 >= LARGE))
        }
        _ => false,
    }
}

/// What became of one case, as the child writes it down.
pub(crate) struct Record<'a> {
    pub(crate) seed: u64,
    /// The op, or what else the case was, in parentheses.
    pub(crate) what: &'a str,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
    pub(crate) marks: &'a str,
}

impl fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { seed, what, outcome, took, marks } = self;
        writeln!(f, "{seed} {what} {outcome:?} {} {marks}", took.as_millis())
    }
}

/// Cases by how far they got.
#[derive(Clone, Copy, Default)]
struct Counts {
    all: usize,
    in_kernel: usize,
    ran: usize,
}

impl Counts {
    fn add(&mut self, outcome: &str) {
        let is = |other: Outcome| usize::from(format!("{other:?}") == outcome);
        self.all += 1;
        self.ran += is(Outcome::Ran);
        self.in_kernel += is(Outcome::Failed);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize| 100 * part / self.all.max(1);
        let Counts { all, in_kernel, ran } = *self;
        write!(f, "{all}, {ran} ({} %) ran, {in_kernel} ({} %) failed in a kernel", share(ran), share(in_kernel))
    }
}

/// The sums of a run.
#[derive(Default)]
pub(crate) struct Tally {
    /// Of single ops, and by name of other things.
    by_op: BTreeMap<String, Counts>,
    kinds: BTreeMap<String, Counts>,
    marks: [Counts; MARKS.len()],
    /// Milliseconds and seed of the slowest cases.
    slowest: Vec<(u64, u64)>,
}

impl Tally {
    /// Reads what children wrote down.
    pub(crate) fn new(log: &str) -> Tally {
        let mut tally = Tally::default();
        for line in log.lines() {
            let mut parts = line.split(' ');
            let mut part = || parts.next().unwrap_or_default();
            let (seed, what, outcome, took, marks) = (part(), part(), part(), part(), part());
            let kind = if what.starts_with('(') { what } else { "(single op)" };
            tally.kinds.entry(kind.to_owned()).or_default().add(outcome);
            tally.slowest.push((took.parse().unwrap_or(0), seed.parse().unwrap_or(0)));
            if kind != what {
                tally.by_op.entry(what.to_owned()).or_default().add(outcome);
            }
            for (counts, (letter, _)) in tally.marks.iter_mut().zip(MARKS) {
                if marks.contains(letter) {
                    counts.add(outcome);
                }
            }
        }
        tally.slowest.sort_unstable();
        tally.slowest.reverse();
        tally.slowest.truncate(5);
        tally
    }

    /// How many cases ran to their end.
    pub(crate) fn ran(&self) -> usize {
        self.kinds.values().map(|counts| counts.ran).sum()
    }

    /// What makes no case hostile that ran to its end.
    pub(crate) fn never_seen(&self) -> Vec<&'static str> {
        self.marks.iter().zip(MARKS).filter(|(counts, _)| counts.ran == 0).map(|(_, (_, name))| name).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, counts) in &self.kinds {
            writeln!(f, "{kind}: {counts}")?;
        }
        for (counts, (_, name)) in self.marks.iter().zip(MARKS) {
            writeln!(f, "single ops with {name}: {counts}")?;
        }
        let poor: Vec<_> = self.by_op.iter().filter(|(_, counts)| counts.ran == 0).collect();
        let often = poor.iter().filter(|(_, counts)| counts.all >= MANY);
        let often: Vec<String> = often
            .map(|(op, counts)| format!("{op} ({} tries, {} in a kernel)", counts.all, counts.in_kernel))
            .collect();
        writeln!(f, "{} ops, {} of which never ran to the end", self.by_op.len(), poor.len())?;
        writeln!(f, "of these, tried {MANY} times or more: {}", often.join(", "))?;
        let slowest: Vec<String> = self.slowest.iter().map(|(took, seed)| format!("case {seed} ({took} ms)")).collect();
        write!(f, "slowest: {}", slowest.join(", "))
    }
}
