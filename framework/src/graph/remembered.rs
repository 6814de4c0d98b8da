//! What is known of the results of functions, remembered while one graph is inferred: bodies that are called alike are inferred
//! once, so that functions that call one another several times take no more time for each level.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};

use crate::dtype::DataType;
use crate::shape_inference::{LinkedDim, LinkedShape, LinkedShapeAndType};

/// What is known of one output.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Known {
    pub(super) shape: LinkedShape,
    /// What a resource or variant holds.
    pub(super) held: Option<Vec<LinkedShapeAndType>>,
}

/// How many dimensions, shapes counted as one more, are remembered for one graph.
const MAX_DIMS: usize = 1 << 20;

/// Results by the calls that they are of, with the [numbers](Numbers) of their symbols.
#[derive(Default)]
pub(super) struct Remembered {
    results: RefCell<HashMap<Call, Answer>>,
    dims: Cell<usize>,
}

/// All that results depend on where no argument has a value that is asked for.
#[derive(PartialEq, Eq, Hash)]
struct Call {
    function: String,
    depth: u32,
    types: Vec<DataType>,
    arguments: Vec<Known>,
    results: usize,
}

struct Answer {
    results: Vec<Known>,
    /// The arguments whose values were asked for, of which none had one.
    asked: Vec<usize>,
}

/// Of which arguments of a call values were asked for.
#[derive(Default)]
pub(super) struct Asked {
    places: RefCell<BTreeSet<usize>>,
    /// Whether there was one.
    is_any_known: Cell<bool>,
}

impl Asked {
    pub(super) fn note(&self, place: usize, is_known: bool) {
        self.places.borrow_mut().insert(place);
        self.is_any_known.set(self.is_any_known.get() || is_known);
    }
}

/// A call whose results may be remembered.
pub(super) struct Question {
    call: Call,
    numbers: Numbers,
}

impl Question {
    /// A call, so many deep, of a function without attrs, with arguments of these dtypes of which this is known, and so many
    /// results.
    pub(super) fn new(
        function: &str,
        depth: u32,
        types: impl Iterator<Item = DataType>,
        known: &[Known],
        results: usize,
    ) -> Question {
        let mut numbers = Numbers::default();
        let arguments = known.iter().map(|known| renamed(known, &mut |symbol| numbers.of(symbol))).collect();
        let call = Call { function: function.to_owned(), depth, types: types.collect(), arguments, results };
        Question { call, numbers }
    }
}

impl Remembered {
    /// What is known of the results; `has_value` says whether an argument has a value in every run. Symbols that are not the arguments' are new: no two calls need have the same sizes.
    pub(super) fn find(
        &self,
        question: &Question,
        has_value: impl Fn(usize) -> bool,
        next_symbol: &mut u64,
    ) -> Option<Vec<Known>> {
        let remembered = self.results.borrow();
        let Answer { results, asked } = remembered.get(&question.call)?;
        if asked.iter().any(|place| has_value(*place)) {
            return None;
        }
        let mut new: HashMap<u64, u64> = HashMap::new();
        let mut symbol = |number: u64| match usize::try_from(number).ok().and_then(|n| question.numbers.symbols.get(n))
        {
            Some(symbol) => *symbol,
            None => *new.entry(number).or_insert_with(|| {
                *next_symbol += 1;
                *next_symbol - 1
            }),
        };
        Some(results.iter().map(|result| renamed(result, &mut symbol)).collect())
    }

    /// Remembers results, unless they depend on values.
    pub(super) fn keep(&self, Question { call, mut numbers }: Question, asked: Asked, results: &[Known]) {
        if asked.is_any_known.get() {
            return;
        }
        let dims = self.dims.get() + call.arguments.iter().chain(results).map(size).sum::<usize>();
        if dims <= MAX_DIMS {
            self.dims.set(dims);
            let results = results.iter().map(|known| renamed(known, &mut |symbol| numbers.of(symbol))).collect();
            let asked = asked.places.into_inner().into_iter().collect();
            self.results.borrow_mut().insert(call, Answer { results, asked });
        }
    }
}

/// Numbers symbols in the order in which they are met: what is equal but for the symbols is equal then.
#[derive(Default)]
struct Numbers {
    numbers: HashMap<u64, u64>,
    symbols: Vec<u64>,
}

impl Numbers {
    fn of(&mut self, symbol: u64) -> u64 {
        *self.numbers.entry(symbol).or_insert_with(|| {
            self.symbols.push(symbol);
            self.symbols.len() as u64 - 1
        })
    }
}

/// The same with other symbols.
fn renamed(known: &Known, rename: &mut impl FnMut(u64) -> u64) -> Known {
    let mut shape = |shape: &LinkedShape| match shape {
        LinkedShape::Symbol(symbol) => LinkedShape::Symbol(rename(*symbol)),
        LinkedShape::Dims(dims) => {
            let dims = dims.iter().map(|dim| match dim {
                LinkedDim::Known(size) => LinkedDim::Known(*size),
                LinkedDim::Symbol(symbol) => LinkedDim::Symbol(rename(*symbol)),
            });
            LinkedShape::Dims(dims.collect())
        }
    };
    let own = shape(&known.shape);
    let held = known.held.as_ref().map(|held| {
        held.iter().map(|held| LinkedShapeAndType { shape: shape(&held.shape), dtype: held.dtype }).collect()
    });
    Known { shape: own, held }
}

fn size(known: &Known) -> usize {
    let held = known.held.iter().flatten().map(|held| &held.shape);
    let shapes = std::iter::once(&known.shape).chain(held);
    let size = |shape: &LinkedShape| match shape {
        LinkedShape::Symbol(_) => 1,
        LinkedShape::Dims(dims) => 1 + dims.len(),
    };
    shapes.map(size).sum()
}
