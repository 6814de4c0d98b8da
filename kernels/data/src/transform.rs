//! Datasets that are made of one other.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;

use kernlink::kernel::RawContext;
use kernlink::step::BoxFuture;
use kernlink::tensor::scratch;
use kernlink::{Error, Result, ensure};

use crate::context::Cx;
use crate::dataset::{Dataset, DatasetIterator, Element, Head, Spec, input_dataset, set_dataset};
use crate::random::Seeds;
use crate::saved::Saved;

/// What a dataset makes of another.
pub(crate) trait Transform: Send + Sync + Sized + 'static {
    /// What an iterator keeps beside the iterator over the input.
    type State: Send + 'static;

    /// Whether the input's iterator is made when its first element is asked for, not with the one over this.
    const BEGINS_LATER: bool = false;

    /// Whether an error that comes with the input's end comes with the end of this, too, and so again and again. TensorFlow's iterators
    /// that ask for the input's end in a variable of their own do not pass it on. To others such an error is nothing but the end
    /// ([`Input::next_or_end`]), or an error and then the end ([`Input::next_then_end`]).
    fn passes_end(&self) -> bool {
        true
    }

    /// The state at the beginning.
    fn begin(&self, cx: &Cx) -> Result<Self::State>;

    /// The next element.
    fn next<'a>(
        &'a self,
        state: &'a mut Self::State,
        input: &'a mut Input,
        cx: &'a Cx,
    ) -> impl Future<Output = Result<Option<Element>>> + Send + 'a;

    /// How many elements there are, by those of the input.
    fn cardinality(&self, input: i64) -> i64;

    /// Puts the state down.
    fn save<'a>(
        &'a self,
        state: &'a mut Self::State,
        saved: &'a mut Saved,
    ) -> impl Future<Output = Result<()>> + Send + 'a {
        let _ = (state, saved);
        std::future::ready(Ok(()))
    }

    /// Takes the state up.
    fn restore<'a>(
        &'a self,
        state: &'a mut Self::State,
        input: &'a mut Input,
        saved: &'a Saved,
        cx: &'a Cx,
    ) -> impl Future<Output = Result<()>> + Send + 'a {
        let _ = (state, input, saved, cx);
        std::future::ready(Ok(()))
    }

    /// The place in the input, which has so many elements, of the element in some place, if each is that of the input or is
    /// made of it alone.
    fn place(&self, index: i64, inputs: i64) -> Option<i64> {
        let _ = (index, inputs);
        None
    }

    /// What is made of the input's element in [`Transform::place`] for the element in place `index`.
    fn made<'a>(
        &'a self,
        element: Element,
        index: i64,
        cx: &'a Cx,
    ) -> impl Future<Output = Result<Element>> + Send + 'a {
        let _ = (index, cx);
        std::future::ready(Ok(element))
    }

    /// The places in the input, which has so many elements, of those that the element in some place is made of, if it is made of
    /// several.
    fn places(&self, index: i64, inputs: i64) -> Option<Range<i64>> {
        let _ = (index, inputs);
        None
    }

    /// What is made of the input's elements in [`Transform::places`].
    fn made_of(&self, elements: &[Element]) -> Result<Element> {
        let _ = elements;
        Err(Error::internal("the elements are made of one each"))
    }

    /// Whether elements can be had in any order if those of the input can.
    fn has_random_access(&self) -> bool {
        self.place(0, 1).is_some() || self.places(0, 1).is_some()
    }

    /// The element in some place, if elements are not only made in order.
    fn get<'a>(
        &'a self,
        input: &'a Arc<dyn Dataset>,
        index: i64,
        cx: &'a Cx,
    ) -> Option<BoxFuture<'a, Result<Element>>> {
        let inputs = input.cardinality();
        if let Some(places) = self.places(index, inputs) {
            // Either all can be had or none.
            drop(input.get(places.start, cx)?);
            return Some(Box::pin(async move {
                let mut elements = Vec::new();
                for place in places {
                    cx.check()?;
                    let element = input.get(place, cx);
                    let element = element.ok_or_else(|| Error::unimplemented("the input has no random access"))?;
                    scratch::push(&mut elements, element.await?)?;
                }
                self.made_of(&elements)
            }));
        }
        let place = self.place(index, inputs)?;
        let element = input.get(place, cx)?;
        Some(Box::pin(async move {
            // Only an assertion says that there are more elements than there are.
            ensure!(
                inputs < 0 || place < inputs,
                FailedPrecondition,
                "Input dataset was expected to contain an element {place} but contained only {inputs}."
            );
            self.made(element.await?, index, cx).await
        }))
    }

    /// What gives the iterators their seeds.
    fn seeds(&self) -> Option<&Seeds> {
        None
    }

    /// Options that the dataset sets.
    fn options(&self) -> Option<&[u8]> {
        None
    }
}

/// An iterator over the input, as long as it has elements.
pub(crate) struct Input {
    dataset: Arc<dyn Dataset>,
    iterator: Option<Box<dyn DatasetIterator>>,
    /// Whether the iterator is made when the first element is asked for: it is when an iterator is made that random ones take
    /// their seeds.
    is_to_begin: bool,
}

impl Input {
    pub(crate) fn new(dataset: &Arc<dyn Dataset>, cx: &Cx) -> Result<Input> {
        let iterator = Some(dataset.clone().iterator(cx)?);
        Ok(Input { dataset: dataset.clone(), iterator, is_to_begin: false })
    }

    /// One that begins when the first element is asked for.
    pub(crate) fn later(dataset: &Arc<dyn Dataset>) -> Input {
        Input { dataset: dataset.clone(), iterator: None, is_to_begin: true }
    }

    /// The next element of the input.
    pub(crate) async fn next(&mut self, cx: &Cx) -> Result<Option<Element>> {
        if self.is_to_begin {
            self.restart(cx)?;
        }
        let Some(iterator) = &mut self.iterator else { return Ok(None) };
        let element = iterator.next(cx).await?;
        if element.is_none() {
            self.iterator = None;
        }
        Ok(element)
    }

    /// The next element; an error that comes with the end is nothing but the end.
    pub(crate) async fn next_or_end(&mut self, cx: &Cx) -> Result<Option<Element>> {
        match self.next(cx).await {
            Err(error) if error.is_at_end() => {
                self.end();
                Ok(None)
            }
            next => next,
        }
    }

    /// The next element; an error that comes with the end comes once, before it.
    pub(crate) async fn next_then_end(&mut self, cx: &Cx) -> Result<Option<Element>> {
        match self.next(cx).await {
            Err(error) if error.is_at_end() => {
                self.end();
                Err(error.before_end())
            }
            next => next,
        }
    }

    /// Passes over at most so many elements, as far as they need not be made for it; returns over how many.
    pub(crate) fn pass(&mut self, count: i64, cx: &Cx) -> Result<i64> {
        if self.is_to_begin {
            self.restart(cx)?;
        }
        Ok(self.iterator.as_mut().map_or(0, |iterator| iterator.pass(count)))
    }

    /// Whether there are no more elements, as far as was asked.
    pub(crate) fn is_over(&self) -> bool {
        self.iterator.is_none() && !self.is_to_begin
    }

    /// Asks for no more elements.
    pub(crate) fn end(&mut self) {
        self.iterator = None;
        self.is_to_begin = false;
    }

    /// Begins again.
    pub(crate) fn restart(&mut self, cx: &Cx) -> Result<()> {
        self.iterator = Some(self.dataset.clone().iterator(cx)?);
        self.is_to_begin = false;
        Ok(())
    }

    /// The iterator, for somebody who saves it, too: it is none of this any more.
    pub(crate) fn take(&mut self) -> Option<Box<dyn DatasetIterator>> {
        self.iterator.take()
    }

    pub(crate) async fn save(&mut self, saved: &mut Saved) -> Result<()> {
        saved.set("is_to_begin", i64::from(self.is_to_begin));
        match &mut self.iterator {
            Some(iterator) => iterator.save(saved.part("input", 0)).await,
            None => Ok(()),
        }
    }

    pub(crate) async fn restore(&mut self, saved: &Saved, cx: &Cx) -> Result<()> {
        self.is_to_begin = saved.get("is_to_begin")? != 0;
        self.iterator = match saved.saved_part("input", 0) {
            Some(saved) => {
                let mut iterator = self.dataset.clone().iterator(cx)?;
                iterator.restore(saved, cx).await?;
                Some(iterator)
            }
            None => None,
        };
        Ok(())
    }
}

/// A dataset that is made of one other.
pub(crate) struct Transformed<T: Transform> {
    head: Head,
    input: Arc<dyn Dataset>,
    transform: T,
}

impl<T: Transform> Transformed<T> {
    pub(crate) fn new(spec: &Spec, input: Arc<dyn Dataset>, transform: T) -> Result<Transformed<T>> {
        Ok(Transformed { head: Head::above(spec, [&input])?, input, transform })
    }
}

impl<T: Transform> Dataset for Transformed<T> {
    fn head(&self) -> &Head {
        &self.head
    }

    fn counted(&self) -> i64 {
        self.transform.cardinality(self.input.cardinality())
    }

    fn iterator(self: Arc<Self>, cx: &Cx) -> Result<Box<dyn DatasetIterator>> {
        let state = self.transform.begin(cx)?;
        let input = if T::BEGINS_LATER { Input::later(&self.input) } else { Input::new(&self.input, cx)? };
        Ok(Box::new(TransformedIterator { dataset: self, state, input }))
    }

    fn inputs(&self) -> Vec<Arc<dyn Dataset>> {
        vec![self.input.clone()]
    }

    fn seeds(&self) -> Option<&Seeds> {
        self.transform.seeds()
    }

    fn options(&self) -> Option<&[u8]> {
        self.transform.options()
    }

    fn has_random_access(&self) -> bool {
        self.transform.has_random_access()
    }

    fn get<'a>(&'a self, index: i64, cx: &'a Cx) -> Option<BoxFuture<'a, Result<Element>>> {
        self.transform.get(&self.input, index, cx)
    }
}

struct TransformedIterator<T: Transform> {
    dataset: Arc<Transformed<T>>,
    state: T::State,
    input: Input,
}

impl<T: Transform> DatasetIterator for TransformedIterator<T> {
    fn next<'a>(&'a mut self, cx: &'a Cx) -> BoxFuture<'a, Result<Option<Element>>> {
        Box::pin(async move {
            let transform = &self.dataset.transform;
            let element = transform.next(&mut self.state, &mut self.input, cx).await;
            if transform.passes_end() { element } else { element.map_err(Error::before_end) }
        })
    }

    fn save<'a>(&'a mut self, saved: &'a mut Saved) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            // First what is under way: it may use the input.
            self.dataset.transform.save(&mut self.state, saved).await?;
            self.input.save(saved).await
        })
    }

    fn restore<'a>(&'a mut self, saved: &'a Saved, cx: &'a Cx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.input.restore(saved, cx).await?;
            self.dataset.transform.restore(&mut self.state, &mut self.input, saved, cx).await
        })
    }
}

/// Sets the output to what is made of the dataset that is input 0.
pub(crate) fn set_transformed(ctx: &mut RawContext<'_>, spec: &Spec, transform: impl Transform) -> Result<()> {
    let input = input_dataset(ctx, 0)?;
    set_dataset(ctx, Transformed::new(spec, input, transform)?)
}
