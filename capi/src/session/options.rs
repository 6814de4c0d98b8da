//! `TF_SessionOptions`: where and how sessions run.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kernlink::device::{CpuDevice, MAX_THREADS, thread_pool};
use kernlink::runtime::{RunOptions, SessionOptions};
use kernlink::threads::ThreadPool;
use kernlink::{Error, Result};
use kernlink_library::host::{guarded, report};
use prost::Message;

use super::messages::ConfigProto;
use crate::abi::{TF_SessionOptions, TF_Status};
use crate::pointer::{borrow_mut, bytes, free, into_c, opaque};

opaque! {
    TF_SessionOptions => Options, "session options";
}

/// What is behind a `TF_SessionOptions`.
#[derive(Clone, Default)]
pub(crate) struct Options {
    target: String,
    config: ConfigProto,
}

impl Options {
    /// Refuses targets: sessions run in this process.
    ///
    /// # Errors
    /// NOT_FOUND for a target.
    pub(super) fn check_target(&self) -> Result<()> {
        if self.target.is_empty() {
            return Ok(());
        }
        Err(Error::not_found(format!(
            "No session factory registered for the given session options: {{target: \"{}\"}} Registered factories are \
             {{DIRECT_SESSION}}.",
            self.target.escape_debug()
        )))
    }

    /// How a session runs.
    ///
    /// # Errors
    /// NOT_FOUND for a target; INVALID_ARGUMENT for more than [`MAX_THREADS`] threads.
    pub(super) fn session(&self) -> Result<SessionOptions> {
        self.check_target()?;
        let config = &self.config;
        let mut options =
            SessionOptions::new().strict_placement(!config.allow_soft_placement).cpu_devices(config.cpu_devices());
        options = match usize::try_from(config.intra_op_parallelism_threads) {
            Ok(threads) if threads > 0 => options.threads(threads),
            _ if config.use_per_session_threads => options,
            _ => options.pool(common_pool()?),
        };
        for pool in &config.session_inter_op_thread_pool {
            options = options.inter_op_pool(pool_of(pool.num_threads)?);
        }
        if config.session_inter_op_thread_pool.is_empty() && config.inter_op_parallelism_threads > 1 {
            options = options.inter_op_pool(pool_of(config.inter_op_parallelism_threads)?);
        }
        Ok(options)
    }

    /// How runs behave that say nothing else.
    pub(super) fn run(&self) -> RunOptions {
        let config = &self.config;
        let mut options = RunOptions::new();
        options.timeout = timeout(config.operation_timeout_in_ms);
        // One thread is the one that calls.
        let is_on_caller = config.inter_op_parallelism_threads < 0 || config.inter_op_parallelism_threads == 1;
        match is_on_caller && config.session_inter_op_thread_pool.is_empty() {
            true => options.inter_op_pool(-1),
            false => options,
        }
    }

    /// Whether sessions tell where nodes are placed.
    pub(super) fn logs_placement(&self) -> bool {
        self.config.log_device_placement
    }
}

impl ConfigProto {
    /// Reads a serialized message.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for bytes that are none.
    pub(crate) fn parse(bytes: &[u8]) -> Result<ConfigProto> {
        ConfigProto::decode(bytes).map_err(|_| Error::invalid_argument("Unparseable ConfigProto"))
    }

    /// How many CPU devices it asks for; 0 if it does not say.
    pub(crate) fn cpu_devices(&self) -> usize {
        let cpus = self.device_count.get("CPU").copied().unwrap_or_default();
        usize::try_from(cpus).unwrap_or_default()
    }

    /// The first CPU device, with the threads that it asks for.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for more than [`MAX_THREADS`] threads.
    pub(crate) fn cpu_device(&self) -> Result<CpuDevice> {
        match usize::try_from(self.intra_op_parallelism_threads) {
            Ok(threads) if threads > 0 => CpuDevice::new(threads),
            _ if self.use_per_session_threads => CpuDevice::new(0),
            _ => Ok(CpuDevice::on_pool(common_pool()?)),
        }
    }
}

/// A timeout; none if it is not positive.
pub(super) fn timeout(milliseconds: i64) -> Option<Duration> {
    u64::try_from(milliseconds).ok().filter(|&milliseconds| milliseconds > 0).map(Duration::from_millis)
}

/// The threads of all sessions that do not ask for others.
fn common_pool() -> Result<Arc<ThreadPool>> {
    static POOL: OnceLock<Result<Arc<ThreadPool>>> = OnceLock::new();
    POOL.get_or_init(|| pool_of(0)).clone()
}

/// A pool; of one thread per processor unless the number is positive.
fn pool_of(threads: i32) -> Result<Arc<ThreadPool>> {
    let threads = usize::try_from(threads).ok().filter(|&threads| threads > 0);
    let per_processor = || std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    thread_pool("kernlink", threads.unwrap_or_else(per_processor))
}

/// Options: this process, one thread per processor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_NewSessionOptions() -> *mut TF_SessionOptions {
    guarded(ptr::null_mut(), || into_c(Options::default()))
}

/// Names the process that runs sessions. Only the empty name, this process, makes sessions; null is the empty name. A name that is
/// no UTF-8 is kept with what is none replaced, so that it makes no sessions either.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_SetTarget(options: *mut TF_SessionOptions, target: *const c_char) {
    guarded((), || {
        // SAFETY: as said in `pointer`.
        if let Ok(options) = unsafe { borrow_mut(options) } {
            options.target = if target.is_null() {
                String::new()
            } else {
                // SAFETY: a text of the caller's.
                unsafe { CStr::from_ptr(target) }.to_string_lossy().into_owned()
            };
        }
    });
}

/// Sets what a serialized ConfigProto says of devices, threads, placement and timeouts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_SetConfig(
    options: *mut TF_SessionOptions,
    proto: *const c_void,
    length: usize,
    status: *mut TF_Status,
) {
    let set = || {
        // SAFETY: as said in `pointer`.
        let (options, proto) = unsafe { (borrow_mut(options)?, bytes("the config", proto.cast(), length)?) };
        options.config = ConfigProto::parse(proto)?;
        Ok(())
    };
    // SAFETY: as said in `pointer`.
    unsafe { report(status, (), set) };
}

/// Frees options. Sessions that were made with them keep theirs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_DeleteSessionOptions(options: *mut TF_SessionOptions) {
    // SAFETY: as said in `pointer`.
    unsafe { free(options) };
}
