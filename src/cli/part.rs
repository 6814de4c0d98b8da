//! Runs of some outputs of a signature.

use crate::error::Result;
use crate::graph::Output;
use crate::runtime::{Callable, RunMetadata, RunOptions, Session};
use crate::tensor::Tensor;

use crate::cli::job::How;

/// Values for inputs, and what of the graph is computed from them.
pub(crate) struct Part {
    /// None where all outputs are inputs themselves.
    callable: Option<Callable>,
    feeds: Vec<Tensor>,
    sources: Vec<Source>,
}

/// Where the value of an output comes from.
enum Source {
    Fetch(usize),
    Feed(usize),
}

impl Part {
    /// Prepares a run that gives `feeds` values and computes what is wanted. An input may be wanted, too.
    pub(crate) fn new(
        session: &Session,
        feeds: &[Output],
        values: Vec<Tensor>,
        wanted: &[Output],
        how: How,
    ) -> Result<Part> {
        let mut fetches: Vec<Output> = Vec::new();
        let source = |output: &Output| match feeds.iter().position(|feed| feed == output) {
            Some(feed) => Source::Feed(feed),
            None => Source::Fetch(fetches.iter().position(|fetch| fetch == output).unwrap_or_else(|| {
                fetches.push(*output);
                fetches.len() - 1
            })),
        };
        let sources = wanted.iter().map(source).collect();
        let names = |outputs: &[Output]| -> Vec<String> {
            outputs.iter().map(|&output| session.graph().output_name(output)).collect()
        };
        let (feeds, fetches) = (names(feeds), names(&fetches));
        let [feeds, fetches] = [&feeds, &fetches].map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
        let callable = (!fetches.is_empty()).then(|| how.callable(session, &feeds, &fetches, &[])).transpose()?;
        Ok(Part { callable, feeds: values, sources })
    }

    /// What is wanted, in its order.
    pub(crate) fn run(&self, options: &RunOptions, metadata: &mut RunMetadata) -> Result<Vec<Tensor>> {
        let fetched = match &self.callable {
            Some(callable) => callable.run_with_metadata(&self.feeds, options, metadata)?,
            None => Vec::new(),
        };
        let value = |source: &Source| match source {
            Source::Fetch(index) => fetched[*index].clone(),
            Source::Feed(index) => self.feeds[*index].clone(),
        };
        Ok(self.sources.iter().map(value).collect())
    }
}
