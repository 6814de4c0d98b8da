//! Functions of a graph's library, built from closures.

use super::callee::Function;
use super::values::{NOWHERE, Values};
use super::{Graph, Output, TensorSpec};
use crate::attr::{AttrMap, AttrValue, FunctionRef};
use crate::error::{Error, Result, shortened};

/// Builds a function from a closure over a graph. Outputs of the graph that the closure uses become further arguments,
/// which [`Function::captures`] lists and calls hand over.
///
/// Stateful nodes of the body run in every call. Their order is that of their edges: where one must run before another,
/// say so with `control_input`.
pub struct FunctionBuilder<A> {
    name: String,
    arguments: Vec<TensorSpec>,
    values: A,
    attrs: AttrMap,
}

impl<const N: usize> FunctionBuilder<[Output; N]> {
    /// A function of these arguments.
    pub fn new(name: &str, arguments: [impl Into<TensorSpec>; N]) -> FunctionBuilder<[Output; N]> {
        let arguments = arguments.into_iter().map(Into::into).collect();
        FunctionBuilder { name: name.to_owned(), arguments, values: [NOWHERE; N], attrs: AttrMap::new() }
    }
}

impl FunctionBuilder<Vec<Output>> {
    /// A function of arguments whose number is not known when the program is compiled.
    pub fn with_arguments(name: &str, arguments: Vec<TensorSpec>) -> FunctionBuilder<Vec<Output>> {
        let values = vec![NOWHERE; arguments.len()];
        FunctionBuilder { name: name.to_owned(), arguments, values, attrs: AttrMap::new() }
    }
}

impl<A: Values> FunctionBuilder<A> {
    /// Gives the function an attr, such as `_noinline`.
    #[must_use]
    pub fn attr(mut self, name: &str, value: impl Into<AttrValue>) -> Self {
        self.attrs.insert(name, value);
        self
    }

    /// Adds the function to the graph's library. `body` gets the arguments, adds nodes and returns the results.
    ///
    /// # Errors
    /// Those of `body`; ALREADY_EXISTS if a function or op has this name; INVALID_ARGUMENT if a result does not exist, or
    /// the body takes a reference from outside.
    pub fn build<V: Values>(
        self,
        graph: &mut Graph,
        body: impl FnOnce(&mut Graph, A) -> Result<V>,
    ) -> Result<Function> {
        let FunctionBuilder { name, arguments, values, attrs } = self;
        let within = |error: Error| error.context(format!("in function `{}`", shortened(&name)));
        let built = graph.all_or_nothing(|graph| {
            let (trace, _) = graph.trace(arguments, |graph, outputs| body(graph, values.with_outputs(outputs)))?;
            graph.define(&name, &trace, trace.captures(), &attrs)
        });
        built.map_err(within)
    }
}

impl Graph {
    /// A function of the library, such as one that came with an imported graph.
    ///
    /// # Errors
    /// NOT_FOUND, with the nearest names; INVALID_ARGUMENT if its dtypes depend on attrs: calls of it need the attrs too.
    pub fn function(&self, name: &str) -> Result<Function> {
        let call = FunctionRef { name: name.to_owned(), ..FunctionRef::default() };
        let (arguments, results) = self.function_dtypes(&call)?;
        Ok(Function::declare(name, arguments, results, self.is_stateful_function(name)))
    }

    /// `base`, or `base_1`, `base_2`, ..., with a number that no function and no op has; characters that names of functions lack
    /// are replaced.
    pub fn free_function_name(&self, base: &str) -> String {
        let base: String = base.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let is_free = |name: &str| !self.has_function(name) && self.registry.find_op(name).is_none();
        if is_free(&base) {
            return base;
        }
        let numbered = |number: u64| format!("{base}_{number}");
        // Numbers are taken one after the other, so that doubling and halving finds one that is free in few steps.
        let (mut taken, mut free) = (0, 1);
        while !is_free(&numbered(free)) {
            (taken, free) = (free, free.saturating_mul(2));
        }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2;
            match is_free(&numbered(middle)) {
                true => free = middle,
                false => taken = middle,
            }
        }
        numbered(free)
    }
}
