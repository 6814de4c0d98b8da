//! The environment of a call of a kernel: step, resources, references.

use std::sync::Arc;

use super::Runner;
use super::context::{KernelContext, RawContext};
use crate::device::Device;
use crate::dtype::{DataType, TString};
use crate::error::{Error, Result};
use crate::op::{InputArg, Op, OutputArg};
use crate::resource::{Resource, ResourceManager};
use crate::shape::Shape;
use crate::step::{Background, Cancellation, CollectiveExecutor, DeferredOp, Function, SessionContext, Step};
use crate::tensor::{ResourceHandle, Tensor, TensorRef};

impl RawContext<'_> {
    /// The step that the kernel runs in.
    ///
    /// # Errors
    /// FAILED_PRECONDITION if it runs in none, as a value that is computed when a graph is built.
    #[track_caller]
    pub fn step(&self) -> Result<&Arc<Step>> {
        self.run().step.ok_or_else(|| Error::failed_precondition("the kernel needs a step and runs without one"))
    }

    /// The session's state, shared among its runs.
    ///
    /// # Errors
    /// As [`RawContext::step`].
    #[track_caller]
    pub fn session(&self) -> Result<&Arc<SessionContext>> {
        Ok(self.step()?.session())
    }

    /// The session's resources.
    ///
    /// # Errors
    /// As [`RawContext::step`].
    #[track_caller]
    pub fn resources(&self) -> Result<&ResourceManager> {
        Ok(self.step()?.resources())
    }

    /// The step's cancellation.
    ///
    /// # Errors
    /// As [`RawContext::step`].
    #[track_caller]
    pub fn cancellation(&self) -> Result<&Cancellation> {
        Ok(self.step()?.cancellation())
    }

    /// The full name of the device; empty if the kernel runs without one.
    pub fn device_name(&self) -> &str {
        self.run().device.map_or("", Device::name)
    }

    /// The handle that input `index` holds.
    ///
    /// # Errors
    /// As [`RawContext::input_at`]; INVALID_ARGUMENT if the input is no scalar of dtype `resource`.
    #[track_caller]
    pub fn handle_at(&self, index: usize) -> Result<&ResourceHandle> {
        match self.input_at(index)?.as_slice::<ResourceHandle>()? {
            [handle] => Ok(handle),
            handles => Err(Error::invalid_argument(format!("one resource handle is expected, not {}", handles.len()))),
        }
    }

    /// The resource that input `index` names: by a handle, or by a vector of two strings (a reference to it, with
    /// TensorFlow 1), which are the container and the name.
    ///
    /// # Errors
    /// As [`RawContext::handle_at`] and [`ResourceManager::lookup_handle`]; INVALID_ARGUMENT if there are not two strings.
    #[track_caller]
    pub fn resource_at<T: Resource>(&self, index: usize) -> Result<Arc<T>> {
        match self.input_at(index)?.dtype() {
            DataType::String => self.resource_by_strings(index),
            _ => self.resources()?.lookup_handle(self.handle_at(index)?),
        }
    }

    #[track_caller]
    fn resource_by_strings<T: Resource>(&self, index: usize) -> Result<Arc<T>> {
        let input = self.input_at(index)?;
        let names = match input.reference() {
            Some(_) => self.referred_at(index)?,
            None => input.clone(),
        };
        let [container, name] = names.as_slice::<TString>()? else {
            let message = format!("Resource handle must have 2 elements, but had shape: {}", names.shape());
            return Err(Error::invalid_argument(message));
        };
        self.resources()?.lookup(&container.to_string_lossy(), &name.to_string_lossy())
    }

    /// The variable that input `index`, of type `Ref(T)`, refers to. [`TensorRef::value`] locks its value, to be read or
    /// changed.
    ///
    /// # Errors
    /// As [`RawContext::input_at`]; INTERNAL if the input is no reference.
    #[track_caller]
    pub fn reference_at(&self, index: usize) -> Result<&TensorRef> {
        let tensor = self.input_at(index)?;
        let no_reference = || format!("{} is no reference", self.signature.input_called(self.op(), index));
        tensor.reference().ok_or_else(|| Error::internal(no_reference()))
    }

    /// The value behind input `index`, of type `Ref(T)`, as it is: what changes the variable later leaves it as it was, and
    /// copies the elements if it still is there. To read it for a moment, lock it: `ctx.reference_at(index)?.value()?`.
    ///
    /// # Errors
    /// As [`RawContext::reference_at`]; FAILED_PRECONDITION if the variable was not initialised; INVALID_ARGUMENT if this thread
    /// [holds it](TensorRef::value).
    #[track_caller]
    pub fn referred_at(&self, index: usize) -> Result<Tensor> {
        let reference = self.reference_at(index)?;
        reference.lock()?.clone().ok_or_else(|| reference.uninitialized())
    }

    /// Sets output `index`, of type `Ref(T)`.
    ///
    /// # Errors
    /// As [`RawContext::set_output_at`].
    #[track_caller]
    pub fn set_output_reference_at(&mut self, index: usize, reference: TensorRef) -> Result<()> {
        self.set_output_at(index, Tensor::from_reference(reference))
    }

    /// Forwards reference input `input` to output `output`. It is no input then.
    ///
    /// # Errors
    /// As [`RawContext::reference_at`] and [`RawContext::set_output_at`].
    #[track_caller]
    pub fn forward_reference_at(&mut self, input: usize, output: usize) -> Result<()> {
        self.reference_at(input)?;
        let reference = self.take_input_at(input)?;
        self.set_output_at(output, reference)
    }

    /// Whether output `index` is used.
    pub fn is_output_required_at(&self, index: usize) -> bool {
        index >= 64 || self.run().unused_outputs & (1 << index) == 0
    }

    /// A tensor for the kernel's own use.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the shape has too many elements; RESOURCE_EXHAUSTED if there is not enough memory.
    #[track_caller]
    pub fn allocate_temp(&self, dtype: DataType, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        shape.check()?;
        let tensor = Tensor::alloc(dtype, shape)?;
        self.record_temp_memory_allocation(tensor.num_bytes());
        Ok(tensor)
    }

    /// The executor of collective ops.
    ///
    /// # Errors
    /// As [`RawContext::step`]; FAILED_PRECONDITION if the session was given none.
    #[track_caller]
    pub fn collectives(&self) -> Result<&Arc<dyn CollectiveExecutor>> {
        let found = self.session()?.collectives();
        found.ok_or_else(|| {
            Error::failed_precondition("the kernel needs a collective executor and the session has none")
        })
    }

    /// Keeps the step from ending until the guard is dropped: for work that goes on after the kernel has set its outputs.
    ///
    /// # Errors
    /// As [`RawContext::step`].
    #[track_caller]
    pub fn defer(&self) -> Result<DeferredOp> {
        Ok(self.step()?.defer())
    }

    /// Runs work on the threads that nodes run on.
    ///
    /// # Errors
    /// As [`RawContext::step`].
    #[track_caller]
    pub fn runner(&self) -> Result<Runner> {
        Ok(Runner::new(self.step()?, self.run().device))
    }

    /// Calls functions and runs futures beside this run, which may end meanwhile: for resources that work ahead.
    ///
    /// # Errors
    /// As [`RawContext::step`].
    #[track_caller]
    pub fn background(&self) -> Result<Background> {
        let step = self.step()?;
        Ok(Background::new(step, Runner::pool(step, self.run().device)))
    }

    /// Calls a function in this step.
    ///
    /// # Errors
    /// As [`RawContext::step`] and [`Function::call`].
    pub async fn call(&self, function: &Arc<dyn Function>, arguments: Vec<Tensor>) -> Result<Vec<Tensor>> {
        function.clone().call(self.step()?, self.run().depth + 1, arguments).await
    }
}

impl<O: Op> KernelContext<'_, O> {
    /// The handle that an input holds; see [`RawContext::handle_at`].
    ///
    /// # Errors
    /// As [`RawContext::handle_at`].
    #[track_caller]
    pub fn handle(&self, input: InputArg<O>) -> Result<&ResourceHandle> {
        self.handle_at(self.input_position(input))
    }

    /// The resource that an input names; see [`RawContext::resource_at`].
    ///
    /// # Errors
    /// As [`RawContext::resource_at`].
    #[track_caller]
    pub fn resource<T: Resource>(&self, input: InputArg<O>) -> Result<Arc<T>> {
        self.resource_at(self.input_position(input))
    }

    /// What an input of type `Ref(T)` refers to; see [`RawContext::reference_at`].
    ///
    /// # Errors
    /// As [`RawContext::reference_at`].
    #[track_caller]
    pub fn reference(&self, input: InputArg<O>) -> Result<&TensorRef> {
        self.reference_at(self.input_position(input))
    }

    /// The value behind an input of type `Ref(T)`; see [`RawContext::referred_at`].
    ///
    /// # Errors
    /// As [`RawContext::referred_at`].
    #[track_caller]
    pub fn referred(&self, input: InputArg<O>) -> Result<Tensor> {
        self.referred_at(self.input_position(input))
    }

    /// Sets an output of type `Ref(T)`.
    ///
    /// # Errors
    /// As [`RawContext::set_output_at`].
    #[track_caller]
    pub fn set_output_reference(&mut self, output: OutputArg<O>, reference: TensorRef) -> Result<()> {
        let output = self.output_position(output);
        self.set_output_reference_at(output, reference)
    }

    /// Forwards a reference; see [`RawContext::forward_reference_at`].
    ///
    /// # Errors
    /// As [`RawContext::forward_reference_at`].
    #[track_caller]
    pub fn forward_reference(&mut self, input: InputArg<O>, output: OutputArg<O>) -> Result<()> {
        let (input, output) = (self.input_position(input), self.output_position(output));
        self.forward_reference_at(input, output)
    }

    /// Whether an output is used.
    pub fn is_output_required(&self, output: OutputArg<O>) -> bool {
        self.is_output_required_at(self.output_position(output))
    }
}
