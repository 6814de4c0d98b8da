//! How sessions and their runs behave.

use std::sync::Arc;
use std::time::Duration;

use kernlink::device::Device;
use kernlink::formats::LoadOptions;
use kernlink::optimize::{Optimizer, PASSES};
use kernlink::runtime::{RunOptions, Session, SessionOptions as CoreOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Raise;
use crate::values::{arguments, items, number, texts, threads, wrong_argument};

/// How a session runs.
#[pyclass(module = "kernlink", frozen, eq, get_all)]
#[derive(Clone, PartialEq)]
pub(crate) struct SessionOptions {
    /// The threads of the session; 0 for one per processor.
    threads: usize,
    /// The threads of each pool that a run can choose by `inter_op_pool`.
    inter_op_pools: Vec<usize>,
    /// The device: `cpu`, `gpu` or `gpu:K`; `None` for that which is entered by `kernlink.device`, or the CPU.
    device: Option<String>,
    /// How many CPU devices there are, on the same threads.
    cpu_devices: usize,
    /// Whether nodes run elsewhere if the device that they ask for is not there or has no kernel for them.
    soft_placement: bool,
    /// Whether graph passes leave the graph less to do.
    optimize: bool,
    /// The names of graph passes and rewrites that do not run.
    without_passes: Vec<String>,
    /// Whether rewrites run after which results may differ in the last bits.
    inexact_rewrites: bool,
    /// How deeply calls of functions may be nested; 0 for 1,000.
    call_depth: u32,
    /// After how many seconds a run ends, unless it says so itself.
    timeout: Option<f64>,
}

#[pymethods]
impl SessionOptions {
    #[new]
    #[pyo3(signature = (*, threads=0, inter_op_pools=Vec::new(), device=None, cpu_devices=1, soft_placement=true, optimize=true,
                        without_passes=Vec::new(), inexact_rewrites=false, call_depth=0, timeout=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn new(
        #[pyo3(from_py_with = threads)] threads: usize,
        #[pyo3(from_py_with = pools)] inter_op_pools: Vec<usize>,
        #[pyo3(from_py_with = crate::values::device)] device: Option<String>,
        #[pyo3(from_py_with = cpu_devices)] cpu_devices: usize,
        #[pyo3(from_py_with = soft_placement)] soft_placement: bool,
        #[pyo3(from_py_with = optimize)] optimize: bool,
        #[pyo3(from_py_with = passes)] without_passes: Vec<String>,
        #[pyo3(from_py_with = inexact_rewrites)] inexact_rewrites: bool,
        #[pyo3(from_py_with = call_depth)] call_depth: u32,
        #[pyo3(from_py_with = crate::values::timeout)] timeout: Option<f64>,
    ) -> PyResult<SessionOptions> {
        Optimizer::without(&without_passes).map_err(|error| error.context("without_passes")).or_raise()?;
        if let Some(device) = &device {
            crate::device::check(device).or_raise()?;
        }
        timeout.map(duration).transpose()?;
        Ok(SessionOptions {
            threads,
            inter_op_pools,
            device,
            cpu_devices,
            soft_placement,
            optimize,
            without_passes,
            inexact_rewrites,
            call_depth,
            timeout,
        })
    }

    /// Copies and pickles are made by the same keywords.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        let keywords = PyDict::new(py);
        keywords.set_item("threads", self.threads)?;
        keywords.set_item("inter_op_pools", &self.inter_op_pools)?;
        keywords.set_item("device", &self.device)?;
        keywords.set_item("cpu_devices", self.cpu_devices)?;
        keywords.set_item("soft_placement", self.soft_placement)?;
        keywords.set_item("optimize", self.optimize)?;
        keywords.set_item("without_passes", &self.without_passes)?;
        keywords.set_item("inexact_rewrites", self.inexact_rewrites)?;
        keywords.set_item("call_depth", self.call_depth)?;
        keywords.set_item("timeout", self.timeout)?;
        Ok(((), keywords))
    }

    fn __repr__(&self) -> String {
        let usual = SessionOptions::default();
        let mut parts = Vec::new();
        let mut part = |differs: bool, name: &str, value: &dyn std::fmt::Debug| {
            if differs {
                parts.push(format!("{name}={value:?}"));
            }
        };
        let python = |value: bool| if value { "True" } else { "False" }.to_owned();
        part(self.threads != 0, "threads", &self.threads);
        part(!self.inter_op_pools.is_empty(), "inter_op_pools", &self.inter_op_pools);
        if let Some(device) = &self.device {
            part(true, "device", device);
        }
        part(self.cpu_devices != 1, "cpu_devices", &self.cpu_devices);
        part(!self.without_passes.is_empty(), "without_passes", &self.without_passes);
        part(self.call_depth != 0, "call_depth", &self.call_depth);
        if let Some(timeout) = &self.timeout {
            part(true, "timeout", timeout);
        }
        let flags = [
            ("soft_placement", self.soft_placement, usual.soft_placement),
            ("optimize", self.optimize, usual.optimize),
            ("inexact_rewrites", self.inexact_rewrites, usual.inexact_rewrites),
        ];
        let flags = flags.iter().filter(|(_, value, usual)| value != usual);
        parts.extend(flags.map(|(name, value, _)| format!("{name}={}", python(*value))));
        format!("kernlink.SessionOptions({})", parts.join(", "))
    }
}

impl Default for SessionOptions {
    fn default() -> SessionOptions {
        SessionOptions {
            threads: 0,
            inter_op_pools: Vec::new(),
            device: None,
            cpu_devices: 1,
            soft_placement: true,
            optimize: true,
            without_passes: Vec::new(),
            inexact_rewrites: false,
            call_depth: 0,
            timeout: None,
        }
    }
}

/// What a session is made with.
pub(crate) struct Prepared {
    options: CoreOptions,
    devices: Vec<Arc<dyn Device>>,
}

impl SessionOptions {
    /// What a call says: `options`, and by themselves threads and the device, which go before those.
    pub(crate) fn of(options: Option<Bound<'_, SessionOptions>>, threads: usize, device: Option<String>) -> Self {
        let mut found = options.map(|options| options.get().clone()).unwrap_or_default();
        if threads != 0 {
            found.threads = threads;
        }
        let entered = Some(crate::device::requested()).filter(|device| !device.is_empty());
        found.device = device.or(found.device).or(entered);
        found
    }

    /// The seconds after which runs end.
    pub(crate) fn timeout(&self) -> Option<f64> {
        self.timeout
    }

    /// Makes threads and opens devices.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for unknown devices, and for more threads than there can be; FAILED_PRECONDITION for a GPU in a build without.
    pub(crate) fn prepare(&self) -> kernlink::Result<Prepared> {
        let mut options = CoreOptions::new()
            .threads(self.threads)
            .cpu_devices(self.cpu_devices)
            .strict_placement(!self.soft_placement)
            .inexact_rewrites(self.inexact_rewrites)
            .call_depth(self.call_depth);
        options.without_passes.extend(self.without_passes.iter().cloned());
        if !self.optimize {
            options.without_passes.extend(PASSES.iter().map(|pass| pass.name().to_owned()));
        }
        for (number, threads) in self.inter_op_pools.iter().enumerate() {
            let pool = kernlink::device::thread_pool(&format!("inter-op-{number}"), *threads)?;
            options = options.inter_op_pool(pool);
        }
        let devices = match &self.device {
            None => Vec::new(),
            Some(name) => match crate::device::check(name)? {
                kernlink::tools::DeviceName::Cpu => Vec::new(),
                kernlink::tools::DeviceName::Gpu(_) => kernlink::tools::devices(name, self.threads)?,
            },
        };
        Ok(Prepared { options, devices })
    }
}

impl Prepared {
    pub(crate) fn session(self, graph: kernlink::graph::Graph) -> kernlink::Result<Session> {
        match self.devices.is_empty() {
            true => Session::with_options(graph, &self.options),
            false => Ok(Session::on_devices(graph, self.devices, &self.options)),
        }
    }

    pub(crate) fn load_options(self) -> LoadOptions {
        let mut options = LoadOptions::new().session(self.options);
        options.devices = self.devices;
        options
    }
}

arguments! {
    soft_placement: bool = "soft_placement", "a bool";
    optimize: bool = "optimize", "a bool";
    inexact_rewrites: bool = "inexact_rewrites", "a bool";
}

/// The options of a session.
pub(crate) fn options<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, SessionOptions>>> {
    value.extract().map_err(|_| wrong_argument(value, "options", "kernlink.SessionOptions"))
}

fn pools(value: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let wrong = |_| wrong_argument(value, "inter_op_pools", "a list of numbers of threads");
    items(value).map_err(wrong)?.iter().map(|threads| number(threads, "each of inter_op_pools", 0)).collect()
}

fn cpu_devices(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    number(value, "cpu_devices", 1)
}

fn passes(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    texts(value, "without_passes")
}

fn call_depth(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    number(value, "call_depth", 0)
}

/// A number of seconds.
fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("a timeout is a number of seconds, not {seconds}")))
}

/// How one run behaves.
pub(crate) fn run_options(timeout: Option<f64>, inter_op_pool: i32) -> PyResult<RunOptions> {
    let mut options = RunOptions::new().inter_op_pool(inter_op_pool);
    options.timeout = timeout.map(duration).transpose()?;
    Ok(options)
}
