//! A program registers ops and kernels of its own before it has made anything else, and they run.

mod common;

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use common::{FLOAT, checked, fails, first};
use kernlink_capi::abi::*;
use kernlink_capi::export::*;
use kernlink_capi::graph::*;
use kernlink_capi::session::*;

/// Twice its input, and the step goes on until `OwnRelease` of it has run.
unsafe extern "C" fn twice(_: *mut c_void, ctx: *mut TF_OpKernelContext) {
    // SAFETY: as a kernel in C would.
    unsafe {
        let (mut input, status) = (ptr::null_mut(), TF_NewStatus());
        TF_GetInput(ctx, 0, &raw mut input, status);
        let output = TF_AllocateOutput(ctx, 0, FLOAT, ptr::null(), 0, 4, status);
        TF_TensorData(output).cast::<f32>().write(2.0 * TF_TensorData(input).cast::<f32>().read());
        TF_DeleteTensor(input);
        TF_DeleteTensor(output);
        TF_DeleteStatus(status);
        TF_IncNumDeferredOps(ctx);
        STEP.store(TF_StepId(ctx), Ordering::SeqCst);
    }
}

static STEP: AtomicI64 = AtomicI64::new(0);

/// Ends what the other kernel of the step began.
unsafe extern "C" fn release(_: *mut c_void, ctx: *mut TF_OpKernelContext) {
    // SAFETY: as a kernel in C would.
    unsafe {
        assert_eq!(TF_StepId(ctx), STEP.load(Ordering::SeqCst));
        TF_DecNumDeferredOps(ctx);
    }
}

/// Registers an op and its kernel, as the first calls that the process makes.
fn register(op: &str, inputs: &[&str], outputs: &[&str], compute: ComputeFunction) {
    let text = |text: &str| CString::new(text).unwrap();
    // SAFETY: as a program in C would.
    unsafe {
        let builder = TF_NewOpDefinitionBuilder(text(op).as_ptr());
        inputs.iter().for_each(|spec| TF_OpDefinitionBuilderAddInput(builder, text(spec).as_ptr()));
        outputs.iter().for_each(|spec| TF_OpDefinitionBuilderAddOutput(builder, text(spec).as_ptr()));
        TF_OpDefinitionBuilderSetIsStateful(builder, true);
        checked(|status| TF_RegisterOpDefinition(builder, status)).unwrap();
        let kernel = TF_NewKernelBuilder(text(op).as_ptr(), c"CPU".as_ptr(), None, Some(compute), None);
        checked(|status| TF_RegisterKernelBuilder(text(op).as_ptr(), kernel, status)).unwrap();
        let again = TF_NewOpDefinitionBuilder(text(op).as_ptr());
        fails(checked(|status| TF_RegisterOpDefinition(again, status)), 6, op);
    }
}

/// Runs the graph on 1.5.
fn run(session: *mut TF_Session, x: TF_Output, y: TF_Output, targets: &[*const TF_Operation]) -> f32 {
    // SAFETY: as a program in C would.
    unsafe {
        let input = TF_AllocateTensor(FLOAT, ptr::null(), 0, 4);
        TF_TensorData(input).cast::<f32>().write(1.5);
        let (mut output, count) = (ptr::null_mut(), targets.len() as i32);
        let (options, metadata) = (ptr::null(), ptr::null_mut());
        let run = |status| {
            let outputs = &raw mut output;
            TF_SessionRun(session, options, &x, &input, 1, &y, outputs, 1, targets.as_ptr(), count, metadata, status);
        };
        checked(run).unwrap();
        let value = TF_TensorData(output).cast::<f32>().read();
        TF_DeleteTensor(input);
        TF_DeleteTensor(output);
        value
    }
}

#[test]
fn ops_of_the_program_run_and_a_step_waits_for_what_it_deferred() {
    register("OwnTwice", &["x: float"], &["y: float"], twice);
    register("OwnRelease", &[], &[], release);
    let graph = common::Graph::new();
    let x = graph.placeholder("x", FLOAT, Some(&[]));
    let y = graph.node("OwnTwice", "y", &[first(x)]).unwrap();
    // SAFETY: the description is alive.
    let end = graph.describe("OwnRelease", "end").with(|it| unsafe { TF_AddControlInput(it, y) }).finish().unwrap();
    // SAFETY: as a program in C would.
    unsafe {
        let options = TF_NewSessionOptions();
        let session = checked(|status| TF_NewSession(graph.0, options, status)).unwrap();
        TF_DeleteSessionOptions(options);
        assert_eq!(run(session, first(x), first(y), &[end]), 3.0);
        assert_eq!(run(session, first(x), first(y), &[end]), 3.0, "nothing is left of the step before");
        // Without what ends it, the step goes on: the thread stays until the process ends, and with it what it uses.
        let (sender, ended) = mpsc::channel();
        let (session, x, y) = (session.expose_provenance(), x.expose_provenance(), y.expose_provenance());
        std::mem::forget(graph);
        thread::spawn(move || {
            let first = |oper| first(ptr::with_exposed_provenance_mut(oper));
            run(ptr::with_exposed_provenance_mut(session), first(x), first(y), &[]);
            sender.send(()).unwrap();
        });
        assert_eq!(ended.recv_timeout(Duration::from_millis(300)), Err(RecvTimeoutError::Timeout));
    }
}
