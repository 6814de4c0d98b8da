//! The kernel of a node that a runtime of another kind schedules: attrs, inputs and threads to call on are that runtime's.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use super::{Computed, EagerContext, Prepared};
use crate::attr::AttrMap;
use crate::device::Device;
use crate::error::Result;
use crate::op::Signature;
use crate::step::lock;
use crate::tensor::Tensor;

/// A kernel that was made for a node. Calls of it share the resources of the [`EagerContext`] that it was made in, and split
/// their work over the threads of that context's first device.
pub struct NodeKernel {
    node: String,
    prepared: Prepared,
    context: EagerContext,
}

impl NodeKernel {
    /// Finds the kernel of the node in the context's registry, and makes it. Attrs that have a default may be missing.
    ///
    /// # Errors
    /// NOT_FOUND if the op or its kernel is missing; INVALID_ARGUMENT if attrs do not suit the op; those of the kernel's
    /// constructor.
    #[track_caller]
    pub fn new(context: &EagerContext, node: &str, op: &str, attrs: AttrMap) -> Result<NodeKernel> {
        let shared = &context.shared;
        let (entry, device) = (shared.registry.op(op)?, context.first_device());
        let functions = context.functions();
        let prepared = Prepared::for_node(node, &shared.registry, device, entry, attrs, &shared.session, &functions);
        let prepared = prepared.map_err(|error| error.at_node(node, op, device.name()))?;
        Ok(NodeKernel { node: node.to_owned(), prepared, context: context.clone() })
    }

    /// The node's inputs and outputs.
    pub fn signature(&self) -> &Signature {
        &self.prepared.signature
    }

    /// Whether the kernel may wait: [`NodeKernel::start`] holds no thread meanwhile.
    pub fn is_async(&self) -> bool {
        self.prepared.is_async()
    }

    /// Runs the kernel on inputs of the signature's dtypes, which are taken. Every output is there.
    ///
    /// # Errors
    /// What the kernel meets; INTERNAL if it panics, or leaves an output out.
    pub fn compute(&self, inputs: &mut [Option<Tensor>]) -> Result<Computed> {
        self.prepared.run(Some(&self.node), self.context.first_device(), inputs, self.context.surroundings())
    }

    /// Begins what [`NodeKernel::compute`] does, and tells the outcome to `done`, once: before this returns, or later on another
    /// thread. `done` must not panic.
    pub fn start(self: &Arc<Self>, inputs: Computed, done: impl FnOnce(Result<Computed>) + Send + 'static) {
        let kernel = self.clone();
        let future = async move {
            let shared = &kernel.context.shared;
            let device = kernel.context.first_device();
            done(kernel.prepared.run_async(&kernel.node, device, inputs, &shared.session).await);
        };
        let task = Task {
            future: Mutex::new(Some(Box::pin(future))),
            wakes: AtomicUsize::new(0),
            context: self.context.clone(),
        };
        Arc::new(task).run();
    }
}

impl EagerContext {
    fn first_device(&self) -> &dyn Device {
        // Contexts have at least one.
        &*self.shared.devices[0]
    }
}

/// A kernel at work, which goes on wherever it is woken.
struct Task {
    /// `None` once it has ended.
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    /// How often it was woken since it last began to be polled; not 0 as long as somebody polls it.
    wakes: AtomicUsize,
    context: EagerContext,
}

impl Task {
    /// Polls until it has ended or waits. Woken meanwhile, it is polled again by whoever polls it.
    fn run(self: Arc<Self>) {
        if self.wakes.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        let waker = Waker::from(self.clone());
        loop {
            let seen = self.wakes.load(Ordering::Acquire);
            let mut future = lock(&self.future);
            let polled = match future.as_mut() {
                Some(future) => future.as_mut().poll(&mut Context::from_waker(&waker)),
                None => return,
            };
            if polled.is_ready() {
                *future = None;
                return;
            }
            drop(future);
            if self.wakes.compare_exchange(seen, 0, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return;
            }
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        // Who wakes may hold locks that the kernel takes.
        match self.context.first_device().pool().cloned() {
            Some(pool) => pool.spawn(0, move || self.run()),
            None => self.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::Error;
    use crate::device::CpuDevice;
    use crate::dtype::DataType;
    use crate::kernel::{CPU, DynKernel, KernelDefBuilder, RawContext};
    use crate::op::OpDefBuilder;
    use crate::registry::Registry;
    use crate::step::{BoxFuture, Waiters};

    /// Waits until the test opens it, then hands its input on.
    struct Gate(Arc<(Mutex<bool>, Waiters)>);

    impl DynKernel for Gate {
        fn compute(&self, _: &mut RawContext<'_>) -> Result<()> {
            Err(Error::internal("it waits"))
        }

        fn is_async(&self) -> bool {
            true
        }

        fn compute_async<'a>(&'a self, ctx: &'a mut RawContext<'_>) -> BoxFuture<'a, Result<()>> {
            Box::pin(async move {
                self.0.1.until(|| (*lock(&self.0.0)).then_some(())).await;
                let input = ctx.take_input_at(0)?;
                if input.to_scalar::<f32>()? < 0.0 {
                    panic!("below zero");
                }
                ctx.set_output_at(0, input)
            })
        }

        fn is_expensive(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_kernel_that_waits_ends_on_another_thread() {
        let gate = Arc::new((Mutex::new(false), Waiters::new()));
        let registry =
            Registry::from_ops([OpDefBuilder::new("Gate").input("x: float").output("y: float").build().unwrap()]);
        let registry = Arc::new(registry.unwrap());
        let shared = gate.clone();
        let kernel = KernelDefBuilder::new("Gate", CPU).create_with(move |_| Ok(Box::new(Gate(shared.clone()))));
        registry.register_kernel(kernel).unwrap();
        for threads in [1, 3] {
            *lock(&gate.0) = false;
            let device: Arc<dyn Device> = Arc::new(CpuDevice::new(threads).unwrap());
            let context = EagerContext::on(&registry, [device]).unwrap();
            let kernel = Arc::new(NodeKernel::new(&context, "node", "Gate", AttrMap::new()).unwrap());
            assert!(kernel.is_async() && kernel.signature().outputs[0].dtype == DataType::Float);
            let (sender, ended) = mpsc::channel();
            for value in [1.0f32, -1.0, 3.0] {
                let sender = sender.clone();
                let inputs = [Some(Tensor::scalar(value))].into_iter().collect();
                kernel.start(inputs, move |outcome| sender.send(outcome).unwrap());
            }
            assert!(ended.try_recv().is_err());
            *lock(&gate.0) = true;
            gate.1.wake_all();
            let mut outcomes: Vec<Result<f32>> = (0..3)
                .map(|_| ended.recv().unwrap().and_then(|outputs| outputs[0].as_ref().unwrap().to_scalar()))
                .collect();
            outcomes.sort_by_key(|outcome| outcome.as_ref().map_or(0, |value| *value as i64));
            let error = outcomes[0].as_ref().unwrap_err();
            assert!(error.message().contains("below zero"), "{error}");
            assert_eq!(outcomes[1..].iter().map(|outcome| *outcome.as_ref().unwrap()).collect::<Vec<_>>(), [1.0, 3.0]);
        }
        assert_eq!(
            NodeKernel::new(&EagerContext::new(&registry).unwrap(), "n", "None", AttrMap::new()).err().unwrap().code(),
            crate::Code::NotFound
        );
    }
}
