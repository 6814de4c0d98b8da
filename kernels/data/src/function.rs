//! Functions with what they captured, as datasets call them.

use std::sync::{Arc, Weak};

use kernlink::attr::FunctionRef;
use kernlink::error::Code;
use kernlink::kernel::{RawConstruction, RawContext};
use kernlink::step::{Function, FunctionLibrary, HeldFunction};
use kernlink::tensor::Tensor;
use kernlink::{Error, Result, bail, ensure};

use crate::context::Cx;
use crate::dataset::{Dataset, Element, dataset_of, tensors};

/// A function of a node, of which each iterator makes an instance of its own.
pub(crate) struct Captured {
    call: FunctionRef,
    /// The session owns it. To hold it would hold the session, whose resources may hold this.
    library: Weak<dyn FunctionLibrary>,
    device: String,
}

impl Captured {
    /// The function that an attr names.
    ///
    /// # Errors
    /// NOT_FOUND if the graph has none of that name.
    pub(crate) fn new(ctx: &RawConstruction<'_>, attr: &str) -> Result<Arc<Captured>> {
        Captured::of(ctx, ctx.attrs.required(attr)?)
    }

    /// A function of a node.
    ///
    /// # Errors
    /// NOT_FOUND if the graph has none of that name.
    pub(crate) fn of(ctx: &RawConstruction<'_>, call: FunctionRef) -> Result<Arc<Captured>> {
        let captured = Captured { call, library: ctx.library()?, device: ctx.device_name().to_owned() };
        captured.instantiate()?;
        Ok(Arc::new(captured))
    }

    /// An instance with a state of its own.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such function any more; FAILED_PRECONDITION if its session has ended.
    pub(crate) fn instantiate(&self) -> Result<Arc<dyn Function>> {
        self.library()?.instantiate(&self.call, &self.device)
    }

    fn library(&self) -> Result<Arc<dyn FunctionLibrary>> {
        let gone = || {
            Error::failed_precondition(format!(
                "the dataset calls function `{}`, and the session is gone that the function belongs to: keep that \
                 session as long as iterators over its datasets are used",
                self.call.name
            ))
        };
        self.library.upgrade().ok_or_else(gone)
    }

    pub(crate) fn name(&self) -> &str {
        &self.call.name
    }
}

/// A function with the values of what it captured.
pub(crate) struct Closure {
    function: Arc<Captured>,
    captures: Vec<Tensor>,
    /// Has the library keep the function as long as there is a dataset that calls it.
    _held: Option<HeldFunction>,
}

impl Closure {
    /// The function with the values that the list input of this name has.
    pub(crate) fn new(function: &Arc<Captured>, ctx: &RawContext<'_>, captures: &str) -> Result<Closure> {
        Closure::with(function, tensors(ctx, captures)?)
    }

    /// The function with these values.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such function any more; FAILED_PRECONDITION if its session has ended.
    pub(crate) fn with(function: &Arc<Captured>, captures: Vec<Tensor>) -> Result<Closure> {
        let _held = function.library()?.hold(&function.call)?;
        Ok(Closure { function: function.clone(), captures, _held })
    }

    /// What the function makes of arguments.
    pub(crate) async fn call(&self, mut arguments: Vec<Tensor>, cx: &Cx) -> Result<Element> {
        arguments.extend(self.captures.iter().cloned());
        cx.call(&self.function, arguments).await
    }

    /// The dataset that it makes.
    pub(crate) async fn dataset(&self, arguments: Vec<Tensor>, cx: &Cx) -> Result<Arc<dyn Dataset>> {
        let result = self.call(arguments, cx).await?;
        match result.as_slice() {
            [tensor] if tensor.dtype() == kernlink::dtype::DataType::Variant && tensor.rank() == 0 => {
                dataset_of(tensor)
            }
            _ => bail!(
                InvalidArgument,
                "Function must return a single scalar of dtype DT_VARIANT: `{}` does not.",
                self.function.name()
            ),
        }
    }

    /// Whether it is true of an element.
    pub(crate) async fn is_true(&self, arguments: Vec<Tensor>, cx: &Cx) -> Result<bool> {
        let result = self.call(arguments, cx).await?;
        match result.as_slice() {
            [tensor] if tensor.dtype() == kernlink::dtype::DataType::Bool && tensor.num_elements() == 1 => {
                Ok(tensor.as_slice::<bool>()?[0])
            }
            _ => bail!(
                InvalidArgument,
                "`predicate` must return a scalar bool tensor: `{}` does not.",
                self.function.name()
            ),
        }
    }

    /// The integer that it makes of arguments; `what` says what the integer is.
    pub(crate) async fn integer(&self, arguments: Vec<Tensor>, what: &str, cx: &Cx) -> Result<i64> {
        let result = self.call(arguments, cx).await?;
        let integer = match result.as_slice() {
            [tensor] if tensor.dtype() == kernlink::dtype::DataType::Int64 && tensor.num_elements() == 1 => {
                Some(tensor.as_slice::<i64>()?[0])
            }
            _ => None,
        };
        integer.ok_or_else(|| Error::invalid_argument(format!("`{what}` must return a scalar int64.")))
    }
}

/// How a function ends a dataset: it may say OUT_OF_RANGE, unless as many elements must come out as go in.
pub(crate) fn ended(result: Result<Element>, preserves_cardinality: bool) -> Result<Option<Element>> {
    match result {
        Ok(element) => Ok(Some(element)),
        Err(error) if error.code() == Code::OutOfRange => {
            ensure!(
                !preserves_cardinality,
                InvalidArgument,
                "Function invocation produced OutOfRangeError: {}",
                error.message()
            );
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
