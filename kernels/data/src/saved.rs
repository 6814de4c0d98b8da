//! The state of an iterator, put down by name.

use std::collections::BTreeMap;

use kernlink::tensor::{Tensor, Variant, VariantValue};
use kernlink::{Error, Result};

use crate::dataset::Element;

/// What an iterator keeps: numbers, elements, and the states of the iterators that it is made of.
#[derive(Clone, Default)]
pub(crate) struct Saved {
    numbers: BTreeMap<&'static str, i64>,
    elements: BTreeMap<&'static str, Vec<Element>>,
    results: BTreeMap<&'static str, Vec<Result<Option<Element>>>>,
    parts: BTreeMap<(&'static str, usize), Saved>,
}

fn lacks(what: &str) -> Error {
    Error::not_found(format!("the state that was saved has no {what}: it is that of another dataset"))
}

impl Saved {
    pub(crate) fn set(&mut self, name: &'static str, number: i64) {
        self.numbers.insert(name, number);
    }

    pub(crate) fn get(&self, name: &str) -> Result<i64> {
        self.numbers.get(name).copied().ok_or_else(|| lacks(name))
    }

    pub(crate) fn set_elements(&mut self, name: &'static str, elements: Vec<Element>) {
        self.elements.insert(name, elements);
    }

    pub(crate) fn elements(&self, name: &str) -> Result<&[Element]> {
        self.elements.get(name).map(Vec::as_slice).ok_or_else(|| lacks(name))
    }

    /// The one element of this name.
    pub(crate) fn element(&self, name: &str) -> Result<Element> {
        self.elements(name)?.first().cloned().ok_or_else(|| lacks(name))
    }

    /// Puts down what was made and not given out yet.
    pub(crate) fn set_results(&mut self, name: &'static str, results: Vec<Result<Option<Element>>>) {
        self.results.insert(name, results);
    }

    pub(crate) fn results(&self, name: &str) -> Result<&[Result<Option<Element>>]> {
        self.results.get(name).map(Vec::as_slice).ok_or_else(|| lacks(name))
    }

    /// The state of a part, which is empty.
    pub(crate) fn part(&mut self, name: &'static str, index: usize) -> &mut Saved {
        self.parts.entry((name, index)).or_default()
    }

    /// The state of a part, if it was put down.
    pub(crate) fn saved_part(&self, name: &'static str, index: usize) -> Option<&Saved> {
        self.parts.get(&(name, index))
    }

    pub(crate) fn required_part(&self, name: &'static str, index: usize) -> Result<&Saved> {
        self.saved_part(name, index).ok_or_else(|| lacks(name))
    }
}

/// A state in a variant.
pub(crate) struct SavedIterator(pub(crate) Saved);

impl VariantValue for SavedIterator {
    fn type_name(&self) -> &'static str {
        "tensorflow::IteratorStateVariant"
    }
}

/// The states in a tensor: one.
pub(crate) fn to_tensor(saved: Saved) -> Result<Tensor> {
    Tensor::vector(&[Variant::new(SavedIterator(saved))])
}

/// The state that a tensor holds.
///
/// # Errors
/// INVALID_ARGUMENT if it holds something else.
pub(crate) fn saved_of(tensor: &Tensor) -> Result<&Saved> {
    match tensor.as_slice::<Variant>()? {
        [state] => match state.get::<SavedIterator>() {
            Some(SavedIterator(saved)) => Ok(saved),
            None => Err(Error::invalid_argument("the variant holds no state of an iterator")),
        },
        states => Err(Error::invalid_argument(format!("one state of an iterator is expected, not {}", states.len()))),
    }
}
