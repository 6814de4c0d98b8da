//! Contexts: devices, policies, caches, statistics, steps.

use std::ffi::CStr;
use std::ptr;
use std::thread;

use kernlink::dtype::DataType;
use kernlink::tensor::Tensor;
use kernlink_capi::abi::TF_Buffer;
use kernlink_capi::absent::TFE_ContextSetServerDef;
use kernlink_capi::eager::*;
use kernlink_capi::session::{
    TF_DeleteDeviceList, TF_DeviceListCount, TF_DeviceListIncarnation, TF_DeviceListMemoryBytes, TF_DeviceListName,
    TF_DeviceListType,
};
use kernlink_library::host::{TF_DeleteBuffer, TF_NewBuffer, bytes_of};

use crate::client::*;

#[test]
fn devices_are_listed() {
    let context = Context::with(&Config::two_devices());
    // SAFETY: the context is alive, and so is the list.
    unsafe {
        let list = checked(|status| TFE_ContextListDevices(context.0, status)).unwrap();
        assert_eq!(TF_DeviceListCount(list), 2);
        let name = checked(|status| TF_DeviceListName(list, 1, status)).unwrap();
        assert_eq!(CStr::from_ptr(name), c"/job:localhost/replica:0/task:0/device:CPU:1");
        let kind = checked(|status| TF_DeviceListType(list, 0, status)).unwrap();
        assert_eq!(CStr::from_ptr(kind), c"CPU");
        assert_eq!(checked(|status| TF_DeviceListMemoryBytes(list, 0, status)), Ok(268_435_456));
        assert!(checked(|status| TF_DeviceListIncarnation(list, 0, status)).unwrap() != 0);
        fails(checked(|status| TF_DeviceListName(list, 2, status)), INVALID_ARGUMENT, "index out of bounds");
        TF_DeleteDeviceList(list);
    }
}

#[test]
fn options_are_checked() {
    // SAFETY: the options are alive, and freed once.
    unsafe {
        let options = TFE_NewContextOptions();
        let set = |bytes: &[u8]| {
            checked(|status| TFE_ContextOptionsSetConfig(options, bytes.as_ptr().cast(), bytes.len(), status))
        };
        fails(set(b"\xff\xff"), INVALID_ARGUMENT, "Unparseable ConfigProto");
        // A thousand CPU devices are more than a context has.
        set(b"\x0a\x08\x0a\x03CPU\x10\xe8\x07").unwrap();
        fails(checked(|status| TFE_NewContext(options, status)), INVALID_ARGUMENT, "1000 CPU devices");
        // So are a million threads.
        set(b"\x10\xc0\x84\x3d").unwrap();
        fails(checked(|status| TFE_NewContext(options, status)), INVALID_ARGUMENT, "1000000 threads");
        set(b"\x10\x01").unwrap();
        TFE_ContextOptionsSetAsync(options, 1);
        TFE_ContextOptionsSetDevicePlacementPolicy(options, 0);
        let context = Context(checked(|status| TFE_NewContext(options, status)).unwrap());
        TFE_DeleteContextOptions(options);
        assert_eq!(TFE_ContextGetDevicePlacementPolicy(context.0), 0);
        // An asynchronous context may tell an error when the op is run.
        let a = Handle::floats(&[1.0]);
        assert_eq!(values(&context.run("Neg", &[&a]).unwrap()), [-1.0]);
        fails(context.run("MatMul", &[&a, &a]), INVALID_ARGUMENT, "MatMul");
    }
}

#[test]
fn each_thread_has_a_policy() {
    let (context, other) = (Context::new(), Context::new());
    // SAFETY: the contexts are alive.
    let (set, get) = unsafe {
        (
            |context: &Context, policy| TFE_ContextSetThreadLocalDevicePlacementPolicy(context.0, policy),
            |context: &Context| TFE_ContextGetDevicePlacementPolicy(context.0),
        )
    };
    assert_eq!(get(&context), 2, "silent");
    set(&context, 3);
    assert_eq!((get(&context), get(&other)), (3, 2));
    thread::scope(|scope| scope.spawn(|| assert_eq!(get(&context), 2)).join().unwrap());
    assert_eq!(get(&context), 3);
}

#[test]
fn random_numbers_begin_anew_without_caches() {
    let context = Context::new();
    let shape = Handle::new(Tensor::vector(&[4i32]).unwrap());
    let random = || {
        let op = context.op("RandomUniform").unwrap().of(&[&shape]).dtype("dtype", DataType::Float).int("seed", 1);
        values(&op.run_one().unwrap()).to_vec()
    };
    let (first, second) = (random(), random());
    assert_ne!(first, second);
    // SAFETY: the context is alive.
    unsafe { TFE_ContextClearCaches(context.0) };
    assert_eq!(random(), first);
}

/// The bytes of statistics.
fn exported(context: &Context) -> Vec<u8> {
    // SAFETY: the context and the buffer are alive.
    unsafe {
        let buffer = TF_NewBuffer();
        checked(|status| TFE_ContextExportRunMetadata(context.0, buffer, status)).unwrap();
        let bytes = bytes_of("the metadata", buffer).unwrap().to_vec();
        fails(
            checked(|status| TFE_ContextExportRunMetadata(context.0, buffer, status)),
            INVALID_ARGUMENT,
            "Passing non-empty run_metadata is invalid.",
        );
        TF_DeleteBuffer(buffer);
        bytes
    }
}

#[test]
fn statistics_are_collected_on_demand() {
    let context = Context::new();
    let a = Handle::floats(&[1.0]);
    let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    context.run("Neg", &[&a]).unwrap();
    assert!(!has(&exported(&context), "Neg"));
    // SAFETY: the context is alive.
    unsafe { TFE_ContextEnableRunMetadata(context.0) };
    context.run("Neg", &[&a]).unwrap();
    let first = exported(&context);
    assert!(has(&first, "Neg") && has(&first, "/job:localhost/replica:0/task:0/device:CPU:0"));
    context.run("Abs", &[&a]).unwrap();
    let second = exported(&context);
    assert!(has(&second, "Abs") && !has(&second, "Neg"));
    // SAFETY: the context is alive.
    unsafe { TFE_ContextDisableRunMetadata(context.0) };
    context.run("Abs", &[&a]).unwrap();
    assert!(!has(&exported(&context), "Abs"));
    // SAFETY: the context is alive.
    let none =
        checked(|status| unsafe { TFE_ContextExportRunMetadata(context.0, ptr::null_mut::<TF_Buffer>(), status) });
    fails(none, INVALID_ARGUMENT, "null");
}

#[test]
fn what_goes_with_a_step_lives_as_long() {
    let context = Context::new();
    let array = |op: &str| {
        let op = context.op(op).unwrap().of(&[&Handle::new(1i32)]).dtype("dtype", DataType::Float);
        op.run(2).unwrap().remove(0)
    };
    // The second version names the array, and later ones own it.
    let size = |array: &Handle| context.run("TensorArraySizeV2", &[array, &Handle::new(0.0f32)]);
    assert!(size(&array("TensorArrayV2")).is_err(), "each op is a step of its own");
    // SAFETY: the context is alive.
    let begin = || unsafe { TFE_ContextStartStep(context.0) };
    // SAFETY: the context is alive.
    let end = || unsafe { TFE_ContextEndStep(context.0) };
    end();
    begin();
    begin();
    let kept = array("TensorArrayV2");
    assert_eq!(size(&kept).unwrap().to_scalar::<i32>().unwrap(), 1);
    end();
    assert!(size(&kept).is_ok(), "one step has not ended");
    end();
    fails(size(&kept), NOT_FOUND, "");
    begin();
    fails(size(&kept), NOT_FOUND, "");
    assert!(size(&array("TensorArrayV2")).is_ok());
    end();
    let owned = array("TensorArrayV3");
    assert!(context.run("TensorArraySizeV3", &[&owned, &Handle::new(0.0f32)]).is_ok());
}

#[test]
fn servers_are_not_there() {
    let context = Context::new();
    // SAFETY: the context is alive.
    let set = checked(|status| unsafe { TFE_ContextSetServerDef(context.0, 0, ptr::null(), 0, status) });
    fails(set, UNIMPLEMENTED, "TFE_ContextSetServerDef");
}
