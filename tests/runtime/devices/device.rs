//! A device whose memory the host cannot read (every bit is inverted), and whose read-backs complete on another thread.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use kernlink::device::{BoxFuture, Device, DeviceType};
use kernlink::kernel::GPU;
use kernlink::prelude::*;
use kernlink::tensor::DeviceMemory;

struct Memory {
    device: String,
    /// Every bit is inverted.
    bytes: Vec<u8>,
}

impl DeviceMemory for Memory {
    fn device(&self) -> &str {
        &self.device
    }
    fn num_bytes(&self) -> usize {
        self.bytes.len()
    }
}

pub(crate) struct TestDevice {
    name: String,
    capabilities: &'static [&'static str],
    /// The numbers of uploads and read-backs.
    counts: Mutex<(usize, usize)>,
    pub(crate) most_bytes: AtomicUsize,
}

impl TestDevice {
    pub(crate) fn new(number: usize, capabilities: &'static [&'static str]) -> Arc<TestDevice> {
        Arc::new(TestDevice {
            name: format!("/device:GPU:{number}"),
            capabilities,
            counts: Mutex::default(),
            most_bytes: AtomicUsize::new(usize::MAX),
        })
    }

    /// The numbers of uploads and read-backs since the last call.
    pub(crate) fn moved(&self) -> (usize, usize) {
        std::mem::take(&mut self.counts.lock().unwrap())
    }

    pub(crate) fn tensor(&self, dtype: DataType, shape: &kernlink::shape::Shape, bytes: &[u8]) -> Tensor {
        let bytes = bytes.iter().map(|byte| !byte).collect();
        Tensor::from_device(dtype, shape.clone(), Arc::new(Memory { device: self.name.clone(), bytes }))
    }

    pub(crate) fn bytes(&self, tensor: &Tensor) -> Result<Vec<u8>> {
        let memory = tensor.device_memory().and_then(|memory| memory.downcast_ref::<Memory>());
        match memory.filter(|memory| memory.device == self.name) {
            Some(memory) => Ok(memory.bytes.iter().map(|byte| !byte).collect()),
            None => Err(Error::internal(format!("not in the memory of {}: {tensor}", self.name))),
        }
    }
}

impl Device for TestDevice {
    fn name(&self) -> &str {
        &self.name
    }
    fn device_type(&self) -> DeviceType {
        GPU
    }
    fn has_own_memory(&self) -> bool {
        true
    }
    fn holds(&self, dtype: DataType) -> bool {
        matches!(dtype, DataType::Float | DataType::Int32 | DataType::Int64 | DataType::Bool)
    }
    fn capabilities(&self) -> &[&'static str] {
        self.capabilities
    }
    fn to_device(&self, tensor: &Tensor) -> Result<Tensor> {
        ensure!(tensor.device_memory().is_none(), Internal, "not on the host: {tensor}");
        ensure!(self.holds(tensor.dtype()), Unimplemented, "{} is not held", tensor.dtype());
        ensure!(
            tensor.num_bytes() <= self.most_bytes.load(Ordering::SeqCst),
            ResourceExhausted,
            "{} is out of memory",
            self.name
        );
        self.counts.lock().unwrap().0 += 1;
        Ok(self.tensor(tensor.dtype(), tensor.shape(), tensor.bytes()?))
    }
    fn to_host(&self, tensor: &Tensor) -> BoxFuture<'static, Result<Tensor>> {
        let read =
            self.bytes(tensor).and_then(|bytes| Tensor::from_bytes(tensor.dtype(), tensor.shape().clone(), &bytes));
        self.counts.lock().unwrap().1 += 1;
        let state = Arc::new(Mutex::new((None, None::<Waker>)));
        let shared = state.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(1));
            let mut state = shared.lock().unwrap();
            state.0 = Some(read);
            state.1.take().into_iter().for_each(Waker::wake);
        });
        Box::pin(poll_fn(move |context| {
            let mut state = state.lock().unwrap();
            match state.0.take() {
                Some(tensor) => Poll::Ready(tensor),
                None => {
                    state.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        }))
    }
}
