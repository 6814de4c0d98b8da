//! `TF_SessionRun`, and how a run is told to behave.

use std::borrow::Cow;
use std::ffi::c_int;
use std::ptr;
use std::time::SystemTime;

use kernlink::runtime::{RunMetadata, RunOptions};
use kernlink::tensor::Tensor;
use kernlink::{Error, Result};
use kernlink_library::host::{CTensor, bytes_of, fill, report};
use prost::Message;
use smallvec::SmallVec;

use super::messages::RunOptionsProto;
use super::options::timeout;
use super::prepared::Asked;
use super::state::CSession;
use super::trace::metadata_of;
use crate::abi::{TF_Buffer, TF_Operation, TF_Output, TF_Session, TF_Status, TF_Tensor};
use crate::pointer::{borrow, slice, slice_mut};

/// The tensors that are fed.
///
/// # Safety
/// The pointers are null or tensors of this API that nothing changes meanwhile.
///
/// # Errors
/// INVALID_ARGUMENT for null; as [`CTensor::to_tensor`].
pub(super) unsafe fn tensors(values: &[*mut TF_Tensor]) -> Result<SmallVec<[Tensor; 4]>> {
    // SAFETY: as the caller says.
    values.iter().map(|&value| unsafe { CTensor::from_c(value) }?.to_tensor()).collect()
}

/// Has C's places filled with what is fetched: all of them, or none, which are null then.
///
/// # Safety
/// Pointers are as said in [`pointer`](crate::pointer).
pub(super) unsafe fn hand_over(
    places: *mut *mut TF_Tensor,
    count: c_int,
    status: *mut TF_Status,
    fetch: impl FnOnce() -> Result<Vec<Tensor>>,
) {
    let hand_over = || {
        // SAFETY: as the caller says.
        let places = unsafe { slice_mut("output values", places, count) }?;
        places.fill(ptr::null_mut());
        let fetched: SmallVec<[CTensor; 4]> = fetch()?.into_iter().map(CTensor::new).collect::<Result<_>>()?;
        places.iter_mut().zip(fetched).for_each(|(place, tensor)| *place = tensor.into_c());
        Ok(())
    };
    // SAFETY: as the caller says.
    unsafe { report(status, (), hand_over) };
}

/// How a run behaves.
///
/// # Safety
/// As [`bytes_of`].
///
/// # Errors
/// INVALID_ARGUMENT if it is no RunOptions.
pub(super) unsafe fn parse_options(options: *const TF_Buffer) -> Result<RunOptionsProto> {
    // SAFETY: as the caller says.
    let bytes = unsafe { bytes_of("the run options", options) }?;
    RunOptionsProto::decode(bytes).map_err(|_| Error::invalid_argument("Unparseable RunOptions proto"))
}

/// How a run of a session behaves.
///
/// # Safety
/// As [`bytes_of`].
///
/// # Errors
/// As [`parse_options`].
unsafe fn run_options<'s>(session: &'s CSession, options: *const TF_Buffer) -> Result<Cow<'s, RunOptions>> {
    if options.is_null() {
        return Ok(Cow::Borrowed(&session.run_options));
    }
    // SAFETY: as the caller says.
    let proto = unsafe { parse_options(options) }?;
    let mut options = session.run_options.clone().trace(proto.trace_level > 0);
    options.timeout = timeout(proto.timeout_in_ms).or(options.timeout);
    if proto.inter_op_thread_pool != 0 {
        options.inter_op_pool = proto.inter_op_thread_pool;
    }
    Ok(Cow::Owned(options))
}

/// What C passes for a run, beside what it asks.
pub(super) struct Given<'c> {
    pub(super) options: *const TF_Buffer,
    pub(super) values: &'c [*mut TF_Tensor],
    pub(super) metadata: *mut TF_Buffer,
}

impl CSession {
    /// Runs what is asked for.
    ///
    /// # Safety
    /// Pointers are as said in [`pointer`](crate::pointer).
    ///
    /// # Errors
    /// INVALID_ARGUMENT for metadata that is not empty, options that are none, and feeds of the wrong dtype; CANCELLED if the
    /// session is closed; as [`CSession::prepared`] and [`Callable::run_with`](kernlink::runtime::Callable::run_with).
    pub(super) unsafe fn run(&self, asked: &Asked<'_>, given: &Given<'_>) -> Result<Vec<Tensor>> {
        // SAFETY: as the caller says.
        if unsafe { given.metadata.as_ref() }.is_some_and(|metadata| !metadata.data.is_null()) {
            return Err(Error::invalid_argument("Passing non-empty run_metadata is invalid."));
        }
        // SAFETY: as the caller says.
        let options = unsafe { run_options(self, given.options) }?;
        self.check_open()?;
        // SAFETY: as the caller says.
        let (prepared, feeds) = unsafe { (self.prepared(asked)?, tensors(given.values)?) };
        if let Some((feed, given)) = prepared.feeds.iter().zip(&feeds).find(|(feed, given)| given.dtype() != feed.dtype)
        {
            let (place, dtype, given) = (feed.place, feed.dtype, given.dtype());
            return Err(Error::invalid_argument(format!("Expects arg[{place}] to be {dtype} but {given} is provided")));
        }
        if given.metadata.is_null() {
            return prepared.callable.run_with(&feeds, &options);
        }
        let (begin, mut metadata) = (SystemTime::now(), RunMetadata::default());
        let fetched = prepared.callable.run_with_metadata(&feeds, &options, &mut metadata)?;
        let traced = options.trace.then_some(&metadata.step_stats[..]);
        // SAFETY: as the caller says.
        unsafe { fill(given.metadata, metadata_of(begin, traced, Some(self.last_session().graph()))) }?;
        Ok(fetched)
    }
}

/// Runs a graph: `inputs` take the place of the outputs that they name, `outputs` are computed and the caller's to delete, and the
/// targets run besides. If it fails, all output values are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TF_SessionRun(
    session: *mut TF_Session,
    run_options: *const TF_Buffer,
    inputs: *const TF_Output,
    input_values: *const *mut TF_Tensor,
    ninputs: c_int,
    outputs: *const TF_Output,
    output_values: *mut *mut TF_Tensor,
    noutputs: c_int,
    target_opers: *const *const TF_Operation,
    ntargets: c_int,
    run_metadata: *mut TF_Buffer,
    status: *mut TF_Status,
) {
    // SAFETY: as said in `pointer`.
    let run = || unsafe {
        let session = borrow(session)?;
        let asked = Asked::of((inputs, ninputs), (outputs, noutputs), (target_opers, ntargets))?;
        let values = slice("input values", input_values, ninputs)?;
        session.run(&asked, &Given { options: run_options, values, metadata: run_metadata })
    };
    // SAFETY: as said in `pointer`.
    unsafe { hand_over(output_values, noutputs, status, run) };
}
