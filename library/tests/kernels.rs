//! A library of ops and kernels, written as one in C would be: functions with C's calling convention over the host's.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernlink_framework::attr::{AttrMap, AttrValue, FunctionRef};
use kernlink_framework::device::CpuDevice;
use kernlink_framework::dtype::{DataType, TString};
use kernlink_framework::graph::{Graph, NodeBuilder};
use kernlink_framework::proto::{KernelDef, Message as _, NodeDef, attr_to_proto, kernel_def};
use kernlink_framework::registry::Registry;
use kernlink_framework::runtime::run_op;
use kernlink_framework::tensor::Tensor;
use kernlink_framework::{Code, Result};
use kernlink_library::abi::*;
use kernlink_library::host::registration::{Batch, collect};
use kernlink_library::host::*;

/// Runs `body` with a status; what it says is an error of the test.
fn checked<R>(body: impl FnOnce(*mut TF_Status) -> R) -> R {
    // SAFETY: as a library would.
    unsafe {
        let status = TF_NewStatus();
        let result = body(status);
        let message = CStr::from_ptr(TF_Message(status)).to_string_lossy().into_owned();
        assert_eq!((TF_GetCode(status), message), (0, String::new()));
        TF_DeleteStatus(status);
        result
    }
}

/// Declares an op.
fn declare(name: &CStr, attrs: &[&CStr], inputs: &[&CStr], outputs: &[&CStr], shape: Option<ShapeFunction>) -> c_int {
    // SAFETY: as a library would.
    unsafe {
        let op = TF_NewOpDefinitionBuilder(name.as_ptr());
        attrs.iter().for_each(|spec| TF_OpDefinitionBuilderAddAttr(op, spec.as_ptr()));
        inputs.iter().for_each(|spec| TF_OpDefinitionBuilderAddInput(op, spec.as_ptr()));
        outputs.iter().for_each(|spec| TF_OpDefinitionBuilderAddOutput(op, spec.as_ptr()));
        TF_OpDefinitionBuilderSetShapeInferenceFunction(op, shape);
        let status = TF_NewStatus();
        TF_RegisterOpDefinition(op, status);
        let code = TF_GetCode(status);
        TF_DeleteStatus(status);
        code
    }
}

/// Registers a kernel for the CPU.
fn kernel(
    op: &CStr,
    create: Option<CreateFunction>,
    compute: Option<ComputeFunction>,
    delete: Option<DeleteFunction>,
    change: impl FnOnce(*mut TF_KernelBuilder),
) -> c_int {
    // SAFETY: as a library would.
    unsafe {
        let builder = TF_NewKernelBuilder(op.as_ptr(), c"CPU".as_ptr(), create, compute, delete);
        change(builder);
        let status = TF_NewStatus();
        TF_RegisterKernelBuilder(c"kernel".as_ptr(), builder, status);
        let code = TF_GetCode(status);
        TF_DeleteStatus(status);
        code
    }
}

fn empty() -> Arc<Registry> {
    Arc::new(Registry::from_ops([]).unwrap())
}

/// A registry with what `load` registers.
fn loaded(load: impl FnOnce()) -> Arc<Registry> {
    let registry = empty();
    let ((), batch): ((), Batch) = collect(load);
    batch.commit(&registry).unwrap();
    registry
}

fn run(registry: &Arc<Registry>, op: &str, attrs: &[(&str, AttrValue)], inputs: Vec<Tensor>) -> Result<Vec<Tensor>> {
    let attrs = attrs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<AttrMap>();
    run_op(registry, &CpuDevice::new(1).unwrap(), op, attrs, inputs)
}

// Scale: the input times an attr, in place where that can be.

static MADE: AtomicUsize = AtomicUsize::new(0);
static DELETED: AtomicUsize = AtomicUsize::new(0);
static FORWARDED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn scale_create(ctx: *mut TF_OpKernelConstruction) -> *mut c_void {
    MADE.fetch_add(1, Ordering::Relaxed);
    let mut factor = 0.0f32;
    // SAFETY: as a library would.
    checked(|status| unsafe { TF_OpKernelConstruction_GetAttrFloat(ctx, c"factor".as_ptr(), &raw mut factor, status) });
    Box::into_raw(Box::new(factor)).cast()
}

unsafe extern "C" fn scale_compute(made: *mut c_void, ctx: *mut TF_OpKernelContext) {
    // SAFETY: as a library would.
    unsafe {
        let factor = *made.cast::<f32>();
        let mut input = ptr::null_mut();
        checked(|status| TF_GetInput(ctx, 0, &raw mut input, status));
        let (count, rank) = (TF_TensorElementCount(input) as usize, TF_NumDims(input));
        let dims: Vec<i64> = (0..rank).map(|index| TF_Dim(input, index)).collect();
        let values = std::slice::from_raw_parts(TF_TensorData(input).cast::<f32>(), count).to_vec();
        TF_DeleteTensor(input);
        let mut forwarded = 7;
        let output = checked(|status| {
            TF_ForwardInputOrAllocateOutput(ctx, [0].as_ptr(), 1, 0, dims.as_ptr(), rank, &raw mut forwarded, status)
        });
        assert!(forwarded == 0 || forwarded == -1);
        FORWARDED.fetch_add(usize::from(forwarded == 0), Ordering::Relaxed);
        let data = TF_TensorData(output).cast::<f32>();
        values.iter().enumerate().for_each(|(index, value)| data.add(index).write(value * factor));
        TF_DeleteTensor(output);
    }
}

unsafe extern "C" fn scale_delete(made: *mut c_void) {
    DELETED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: made by `scale_create`.
    drop(unsafe { Box::from_raw(made.cast::<f32>()) });
}

/// The output is as the input, which has at least one dimension.
unsafe extern "C" fn scale_shape(ctx: *mut TF_ShapeInferenceContext, status: *mut TF_Status) {
    // SAFETY: as a library would.
    unsafe {
        let shape = TF_NewShapeHandle();
        TF_ShapeInferenceContextGetInput(ctx, 0, shape, status);
        TF_ShapeInferenceContextWithRankAtLeast(ctx, shape, 1, shape, status);
        if TF_GetCode(status) == 0 {
            TF_ShapeInferenceContextSetOutput(ctx, 0, shape, status);
        }
        TF_DeleteShapeHandle(shape);
    }
}

fn load_scale() {
    assert_eq!(declare(c"Scale", &[c"factor: float = 2.0"], &[c"x: float"], &[c"y: float"], Some(scale_shape)), 0);
    let made = kernel(c"Scale", Some(scale_create), Some(scale_compute), Some(scale_delete), |_| ());
    assert_eq!(made, 0);
}

#[test]
fn kernels_compute_in_place_where_nobody_else_sees_it() {
    let registry = loaded(load_scale);
    for count in [0usize, 1, 3, 4, 5, 100] {
        let x = Tensor::from_vec([count, 1], (0..count).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        let kept = x.clone();
        let before = FORWARDED.load(Ordering::Relaxed);
        let y = run(&registry, "Scale", &[("factor", AttrValue::Float(3.0))], vec![x]).unwrap();
        let expected: Vec<f32> = (0..count).map(|i| 3.0 * i as f32).collect();
        assert_eq!((y[0].as_slice::<f32>().unwrap(), y[0].shape().dims()), (&*expected, &[count, 1][..]));
        assert_eq!(kept.as_slice::<f32>().unwrap().last().copied(), count.checked_sub(1).map(|last| last as f32));
        if count == 100 {
            assert_eq!(FORWARDED.load(Ordering::Relaxed), before);
            drop(kept);
            let again = run(&registry, "Scale", &[], vec![y.into_iter().next().unwrap()]).unwrap();
            assert_eq!(again[0].as_slice::<f32>().unwrap()[99], 594.0);
            assert_eq!(FORWARDED.load(Ordering::Relaxed), before + 1);
        }
    }
    assert!(MADE.load(Ordering::Relaxed) >= 7);
    assert_eq!(MADE.load(Ordering::Relaxed), DELETED.load(Ordering::Relaxed));
}

/// A vector of five; concatenated with itself it is a matrix.
unsafe extern "C" fn source_shape(ctx: *mut TF_ShapeInferenceContext, status: *mut TF_Status) {
    // SAFETY: as a library would.
    unsafe {
        let vector = TF_ShapeInferenceContextVectorFromSize(ctx, 5);
        let (scalar, matrix, part) = (TF_ShapeInferenceContextScalar(ctx), TF_NewShapeHandle(), TF_NewShapeHandle());
        TF_ShapeInferenceContextConcatenateShapes(ctx, vector, vector, matrix, status);
        TF_ShapeInferenceContextSubshape(ctx, matrix, -1, 2, part, status);
        assert_eq!(TF_ShapeInferenceContextNumInputs(ctx), 0);
        assert_eq!([scalar, vector, matrix, part].map(|shape| TF_ShapeInferenceContextRank(ctx, shape)), [0, 1, 2, 1]);
        let dim = TF_NewDimensionHandle();
        assert_eq!((TF_DimensionHandleValueKnown(dim), TF_DimensionHandleValue(dim)), (0, -1));
        TF_ShapeInferenceContextDim(ctx, part, 0, dim);
        assert_eq!((TF_DimensionHandleValueKnown(dim), TF_DimensionHandleValue(dim)), (1, 5));
        TF_ShapeInferenceContextDim(ctx, part, 1, dim);
        assert_eq!(TF_DimensionHandleValueKnown(dim), 0);
        TF_DeleteDimensionHandle(dim);
        let mut dtype = 0;
        TF_ShapeInferenceContext_GetAttrType(ctx, c"T".as_ptr(), &raw mut dtype, status);
        assert_eq!((TF_GetCode(status), dtype), (0, DataType::Int32.number()));
        let other = TF_NewStatus();
        TF_ShapeInferenceContext_GetAttrType(ctx, c"nope".as_ptr(), &raw mut dtype, other);
        assert_eq!(TF_GetCode(other), Code::NotFound as c_int);
        TF_ShapeInferenceContextSetOutput(ctx, 4, scalar, other);
        assert_eq!(TF_GetCode(other), Code::OutOfRange as c_int);
        TF_ShapeInferenceContextGetInput(ctx, 0, scalar, other);
        assert_eq!(TF_GetCode(other), Code::OutOfRange as c_int);
        TF_DeleteStatus(other);
        TF_ShapeInferenceContextSetUnknownShape(ctx, status);
        for (index, shape) in [scalar, vector, matrix].into_iter().enumerate() {
            TF_ShapeInferenceContextSetOutput(ctx, index as c_int, shape, status);
        }
        [scalar, vector, matrix, part].into_iter().for_each(|shape| TF_DeleteShapeHandle(shape));
    }
}

#[test]
fn shape_functions_say_what_they_know() {
    let registry = loaded(|| {
        load_scale();
        let outputs = [c"a: float", c"b: float", c"c: float", c"d: float"];
        assert_eq!(declare(c"Source", &[c"T: type = DT_INT32"], &[], &outputs, Some(source_shape)), 0);
    });
    let mut graph = Graph::new(&registry);
    let source = NodeBuilder::new(&mut graph, registry.op("Source").unwrap().def).build().unwrap();
    let outputs =
        graph.outputs_of(source, 0).into_iter().chain((1..4).flat_map(|index| graph.outputs_of(source, index)));
    let outputs: Vec<_> = outputs.collect();
    let shapes: Vec<String> = outputs.iter().map(|&output| graph.shape(output).to_string()).collect();
    assert_eq!(shapes, ["[]", "[5]", "[5,5]", "<unknown>"]);
    let scale = registry.op("Scale").unwrap().def;
    let mut scaled = |index: usize| {
        let mut node = NodeBuilder::new(&mut graph, scale);
        node.input(outputs[index]);
        node.build().map(|node| graph.outputs_of(node, 0)[0]).map(|output| graph.shape(output).to_string())
    };
    assert_eq!([scaled(2).unwrap(), scaled(3).unwrap()], ["[5,5]", "<unknown>"]);
    let refused = scaled(0).unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("Shape must be at least rank 1 but is rank 0"), "{refused}");
}

// Attrs: all kinds are read when the kernel is made; what was read is the output.

unsafe extern "C" fn attrs_create(ctx: *mut TF_OpKernelConstruction) -> *mut c_void {
    let mut said = String::new();
    // SAFETY: as a library would.
    unsafe {
        let name = TF_OpKernelConstruction_GetName(ctx);
        said += std::str::from_utf8(std::slice::from_raw_parts(name.data.cast(), name.len)).unwrap();
        for attr in [c"s", c"ls", c"li", c"i", c"lt"] {
            let (mut size, mut total) = (7, 7);
            checked(|status| {
                TF_OpKernelConstruction_GetAttrSize(ctx, attr.as_ptr(), &raw mut size, &raw mut total, status)
            });
            said += &format!(" {size}/{total}");
        }
        let (mut i, mut i32s, mut i64s) = (0i64, [0i32; 4], [0i64; 2]);
        checked(|status| TF_OpKernelConstruction_GetAttrInt64(ctx, c"i".as_ptr(), &raw mut i, status));
        checked(|status| TF_OpKernelConstruction_GetAttrInt32List(ctx, c"li".as_ptr(), i32s.as_mut_ptr(), 4, status));
        checked(|status| TF_OpKernelConstruction_GetAttrInt64List(ctx, c"li".as_ptr(), i64s.as_mut_ptr(), 2, status));
        said += &format!(" {i} {i32s:?} {i64s:?}");
        let (mut float, mut floats, mut flag, mut flags) = (0.0f32, [0.0f32; 2], 7u8, [7u8; 3]);
        checked(|status| TF_OpKernelConstruction_GetAttrFloat(ctx, c"f".as_ptr(), &raw mut float, status));
        checked(|status| TF_OpKernelConstruction_GetAttrFloatList(ctx, c"lf".as_ptr(), floats.as_mut_ptr(), 2, status));
        checked(|status| TF_OpKernelConstruction_GetAttrBool(ctx, c"b".as_ptr(), &raw mut flag, status));
        checked(|status| TF_OpKernelConstruction_GetAttrBoolList(ctx, c"lb".as_ptr(), flags.as_mut_ptr(), 3, status));
        said += &format!(" {float} {floats:?} {flag} {flags:?}");
        let (mut dtype, mut dtypes) = (0, [0; 2]);
        checked(|status| TF_OpKernelConstruction_GetAttrType(ctx, c"t".as_ptr(), &raw mut dtype, status));
        checked(|status| TF_OpKernelConstruction_GetAttrTypeList(ctx, c"lt".as_ptr(), dtypes.as_mut_ptr(), 2, status));
        said += &format!(" {dtype} {dtypes:?}");
        let mut text = [0 as c_char; 3];
        checked(|status| TF_OpKernelConstruction_GetAttrString(ctx, c"s".as_ptr(), text.as_mut_ptr(), 3, status));
        said += &String::from_utf8_lossy(&text.map(|byte| byte as u8));
        let (mut texts, mut lengths, mut storage) = ([ptr::null_mut::<c_char>(); 2], [0usize; 2], [0u8; 8]);
        checked(|status| {
            let storage = storage.as_mut_ptr().cast();
            TF_OpKernelConstruction_GetAttrStringList(
                ctx,
                c"ls".as_ptr(),
                texts.as_mut_ptr(),
                lengths.as_mut_ptr(),
                2,
                storage,
                8,
                status,
            );
        });
        for (text, length) in texts.into_iter().zip(lengths) {
            said += " ";
            said += std::str::from_utf8(std::slice::from_raw_parts(text.cast(), length)).unwrap();
        }
        let mut tensor = ptr::null_mut();
        checked(|status| TF_OpKernelConstruction_GetAttrTensor(ctx, c"v".as_ptr(), &raw mut tensor, status));
        said += &format!(" {}", *TF_TensorData(tensor).cast::<i64>());
        TF_DeleteTensor(tensor);
        let function = checked(|status| TF_OpKernelConstruction_GetAttrFunction(ctx, c"fn".as_ptr(), status));
        said += &format!(" {}", bytes_of("the function", function).unwrap().escape_ascii());
        TF_DeleteBuffer(function);
        let node = checked(|status| TF_OpKernelConstruction_GetNodeDef(ctx, status));
        let def = NodeDef::decode(bytes_of("the node", node).unwrap()).unwrap();
        assert_eq!((&*def.op, def.attr.len()), ("Attrs", 14));
        TF_DeleteBuffer(node);
        assert!(checked(|status| TF_OpKernelConstruction_HasAttr(ctx, c"s".as_ptr(), status)));
        assert!(!checked(|status| TF_OpKernelConstruction_HasAttr(ctx, c"nope".as_ptr(), status)));
        // What is not there, of another kind, too large, or has no place.
        let status = TF_NewStatus();
        let mut narrow = 0i32;
        let mut codes = Vec::new();
        for attr in [c"nope", c"f", c"large"] {
            TF_OpKernelConstruction_GetAttrInt32(ctx, attr.as_ptr(), &raw mut narrow, status);
            codes.push(TF_GetCode(status));
        }
        TF_OpKernelConstruction_GetAttrInt32(ctx, c"i".as_ptr(), ptr::null_mut(), status);
        codes.push(TF_GetCode(status));
        TF_OpKernelConstruction_GetAttrInt32(ctx, ptr::null(), &raw mut narrow, status);
        codes.push(TF_GetCode(status));
        TF_OpKernelConstruction_GetAttrStringList(
            ctx,
            c"ls".as_ptr(),
            texts.as_mut_ptr(),
            lengths.as_mut_ptr(),
            2,
            storage.as_mut_ptr().cast(),
            4,
            status,
        );
        codes.push(TF_GetCode(status));
        assert_eq!(codes, [5, 3, 3, 3, 3, 3]);
        TF_DeleteStatus(status);
    }
    Box::into_raw(Box::new(said)).cast()
}

unsafe extern "C" fn attrs_compute(made: *mut c_void, ctx: *mut TF_OpKernelContext) {
    // SAFETY: as a library would.
    unsafe {
        let said = &*made.cast::<String>();
        let output = checked(|status| TF_AllocateOutput(ctx, 0, DataType::String.number(), ptr::null(), 0, 24, status));
        TF_StringCopy(TF_TensorData(output).cast(), said.as_ptr().cast(), said.len());
        TF_DeleteTensor(output);
    }
}

unsafe extern "C" fn attrs_delete(made: *mut c_void) {
    // SAFETY: made by `attrs_create`.
    drop(unsafe { Box::from_raw(made.cast::<String>()) });
}

#[test]
fn attrs_of_all_kinds_are_read() {
    let registry = loaded(|| {
        let attrs = [
            c"s: string",
            c"ls: list(string)",
            c"i: int",
            c"li: list(int)",
            c"f: float",
            c"lf: list(float)",
            c"b: bool",
            c"lb: list(bool)",
            c"t: type",
            c"lt: list(type)",
            c"v: tensor",
            c"fn: func",
            c"large: int = 5000000000",
            c"sh: shape = {}",
        ];
        assert_eq!(declare(c"Attrs", &attrs, &[], &[c"said: string"], None), 0);
        assert_eq!(kernel(c"Attrs", Some(attrs_create), Some(attrs_compute), Some(attrs_delete), |_| ()), 0);
    });
    let function = FunctionRef { name: "called".into(), ..FunctionRef::default() };
    let attrs: [(&str, AttrValue); 12] = [
        ("s", "text".into()),
        ("ls", vec!["ab".to_owned(), "cde".to_owned()].into()),
        ("i", AttrValue::Int(-1 << 40)),
        ("li", vec![1i64, -2, 3].into()),
        ("f", AttrValue::Float(0.5)),
        ("lf", vec![1.5f32, 2.5].into()),
        ("b", AttrValue::Bool(true)),
        ("lb", vec![true, false, true].into()),
        ("t", DataType::Half.into()),
        ("lt", vec![DataType::Float, DataType::String].into()),
        ("v", Tensor::scalar(77i64).into()),
        ("fn", AttrValue::Func(function)),
    ];
    let said = run(&registry, "Attrs", &attrs, Vec::new()).unwrap();
    let said = said[0].to_scalar::<TString>().unwrap().to_string_lossy().into_owned();
    let expected = "Attrs -1/4 2/5 3/-1 -1/-1 2/-1 -1099511627776 [1, -2, 3, 0] [1, -2] 0.5 [1.5, 2.5] 1 [1, 0, 1] 19 [1, 7]tex ab cde 77 \\n\\x06called";
    assert_eq!(said, expected);
}

// Failures.

unsafe extern "C" fn fail_create(ctx: *mut TF_OpKernelConstruction) -> *mut c_void {
    // SAFETY: as a library would.
    unsafe {
        let mut when = 0i32;
        checked(|status| TF_OpKernelConstruction_GetAttrInt32(ctx, c"when".as_ptr(), &raw mut when, status));
        if when == 0 {
            let status = TF_NewStatus();
            TF_SetStatus(status, 9, c"not made".as_ptr());
            TF_OpKernelConstruction_Failure(ctx, status);
            TF_DeleteStatus(status);
        }
        when as usize as *mut c_void
    }
}

unsafe extern "C" fn fail_compute(made: *mut c_void, ctx: *mut TF_OpKernelContext) {
    // SAFETY: as a library would.
    unsafe {
        let status = TF_NewStatus();
        match made.addr() {
            1 => TF_SetStatus(status, 8, c"not computed".as_ptr()),
            2 => {
                let mut input = ptr::null_mut();
                TF_GetInput(ctx, 3, &raw mut input, status);
                assert!(input.is_null());
            }
            3 => drop(TF_AllocateOutput(ctx, 0, DataType::Int8.number(), ptr::null(), 0, 1, status)),
            4 => drop(TF_AllocateOutput(ctx, 0, DataType::Float.number(), [-4].as_ptr(), 1, 1, status)),
            5 => drop(TF_GetStream(ctx, status)),
            _ => {}
        }
        TF_OpKernelContext_Failure(ctx, status);
        TF_DeleteStatus(status);
    }
}

#[test]
fn errors_arrive_as_the_library_said_them() {
    let registry = loaded(|| {
        assert_eq!(declare(c"Fail", &[c"when: int"], &[c"x: float"], &[c"y: float"], None), 0);
        assert_eq!(kernel(c"Fail", Some(fail_create), Some(fail_compute), None, |_| ()), 0);
    });
    let cases = [
        (0, Code::FailedPrecondition, "not made"),
        (1, Code::ResourceExhausted, "not computed"),
        (2, Code::OutOfRange, "input index out of range"),
        (3, Code::InvalidArgument, "must be float, not int8"),
        (4, Code::InvalidArgument, "cannot be -4"),
        (5, Code::Unimplemented, "TF_GetStream"),
        (6, Code::Internal, "did not set"),
    ];
    for (when, code, words) in cases {
        let attrs = [("when", AttrValue::Int(when))];
        let error = run(&registry, "Fail", &attrs, vec![Tensor::scalar(1.0f32)]).unwrap_err();
        assert_eq!((error.code(), error.message().contains(words)), (code, true), "{when}: {error}");
    }
}

// A kernel that calls back from a thread of its own.

struct Sent(*mut TF_OpKernelContext, *mut TF_AsyncOpKernelDoneCallback);

// SAFETY: asynchronous kernels may use both on any thread.
unsafe impl Send for Sent {}

unsafe extern "C" fn later_compute(
    _: *mut c_void,
    ctx: *mut TF_OpKernelContext,
    done: *mut TF_AsyncOpKernelDoneCallback,
) {
    let sent = Sent(ctx, done);
    std::thread::spawn(move || {
        let Sent(ctx, done) = { sent };
        std::thread::sleep(std::time::Duration::from_millis(5));
        // SAFETY: as a library would.
        unsafe {
            let mut input = ptr::null_mut();
            checked(|status| TF_GetInput(ctx, 1, &raw mut input, status));
            checked(|status| TF_SetOutput(ctx, 0, input, status));
            TF_DeleteTensor(input);
            let again = checked(|status| TF_GetMutableOutput(ctx, 0, status));
            assert_eq!(TF_TensorType(again), TF_ExpectedOutputDataType(ctx, 0));
            TF_DeleteTensor(again);
            let mut range = TF_InputRange_Args {
                struct_size: size_of::<TF_InputRange_Args>(),
                private: ptr::null_mut(),
                start: -1,
                stop: -1,
                status: ptr::null_mut(),
            };
            TF_InputRange(ctx, c"xs".as_ptr(), &raw mut range);
            assert_eq!((range.start, range.stop, TF_NumInputs(ctx), TF_NumOutputs(ctx)), (0, 3, 3, 1));
            TF_RunAsyncOpKernelDoneCallback(done);
        }
    });
}

#[test]
fn kernels_call_back_from_other_threads() {
    let registry = loaded(|| {
        assert_eq!(declare(c"Later", &[c"N: int", c"T: type"], &[c"xs: N * T"], &[c"y: T"], None), 0);
        // SAFETY: as a library would.
        unsafe {
            let builder = TF_NewAsyncKernelBuilder(c"Later".as_ptr(), c"CPU".as_ptr(), None, Some(later_compute), None);
            checked(|status| TF_KernelBuilder_TypeConstraint(builder, c"T".as_ptr(), 7, status));
            checked(|status| TF_RegisterKernelBuilder(c"Later".as_ptr(), builder, status));
        }
    });
    let texts = ["a", "b is too long to be kept within the string itself", "c"];
    let inputs = texts.map(|text| Tensor::from_vec([1], vec![TString::from(text)]).unwrap()).to_vec();
    let attrs = [("N", AttrValue::Int(3)), ("T", DataType::String.into())];
    let y = run(&registry, "Later", &attrs, inputs).unwrap();
    assert_eq!(y[0].as_slice::<TString>().unwrap(), [TString::from(texts[1])]);
    let attrs = [("N", AttrValue::Int(3)), ("T", DataType::Int32.into())];
    let refused = run(&registry, "Later", &attrs, vec![Tensor::scalar(1i32); 3]).unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
}

// Outputs that are written after they were set.

/// Sets an output to what the library allocated, and writes it afterwards.
unsafe fn set_and_write(ctx: *mut TF_OpKernelContext, index: c_int, tensor: *mut TF_Tensor) {
    // SAFETY: as a library would.
    unsafe {
        checked(|status| TF_SetOutput(ctx, index, tensor, status));
        let data = TF_TensorData(tensor).cast::<f32>();
        (0..TF_TensorElementCount(tensor)).for_each(|i| data.add(i as usize).write((index + 1) as f32));
        TF_DeleteTensor(tensor);
    }
}

unsafe extern "C" fn late_compute(_: *mut c_void, ctx: *mut TF_OpKernelContext) {
    // SAFETY: as a library would.
    unsafe {
        let mut sizes = ptr::null_mut();
        checked(|status| TF_GetInput(ctx, 0, &raw mut sizes, status));
        let count = *TF_TensorData(sizes).cast::<i64>();
        TF_DeleteTensor(sizes);
        let bytes = 4 * count as usize;
        set_and_write(ctx, 0, TF_AllocateTensor(1, &raw const count, 1, bytes));
        let temp = checked(|status| TF_AllocateTemp(ctx, 1, &raw const count, 1, ptr::null_mut(), status));
        set_and_write(ctx, 1, temp);
        // Not aligned: copied.
        let mut unaligned = vec![0u8; bytes + 65];
        let offset = 1 + unaligned.as_ptr().align_offset(64);
        let data = unaligned.as_mut_ptr().add(offset).cast();
        set_and_write(ctx, 2, TF_NewTensor(1, &raw const count, 1, data, bytes, None, ptr::null_mut()));
        let output = checked(|status| TF_AllocateOutput(ctx, 3, 1, &raw const count, 1, bytes, status));
        let same = checked(|status| TF_GetMutableOutput(ctx, 3, status));
        assert_eq!(TF_TensorData(same), TF_TensorData(output));
        TF_DeleteTensor(same);
        set_and_write(ctx, 3, output);
    }
}

#[test]
fn outputs_are_what_their_memory_holds_in_the_end() {
    let registry = loaded(|| {
        let outputs = [c"a: float", c"b: float", c"c: float", c"d: float"];
        assert_eq!(declare(c"Late", &[], &[c"count: int64"], &outputs, None), 0);
        assert_eq!(kernel(c"Late", None, Some(late_compute), None, |_| ()), 0);
    });
    for count in [0usize, 1, 4, 5, 100] {
        let outputs = run(&registry, "Late", &[], vec![Tensor::scalar(count as i64)]).unwrap();
        for (index, output) in outputs.iter().enumerate() {
            assert_eq!(output.as_slice::<f32>().unwrap(), vec![(index + 1) as f32; count], "{index}");
        }
    }
}

/// The first input is the output.
unsafe extern "C" fn first_compute(_: *mut c_void, ctx: *mut TF_OpKernelContext) {
    let mut input = ptr::null_mut();
    // SAFETY: as a library would.
    unsafe {
        checked(|status| TF_GetInput(ctx, 0, &raw mut input, status));
        checked(|status| TF_SetOutput(ctx, 0, input, status));
        TF_DeleteTensor(input);
    }
}

#[test]
fn handles_of_small_tensors_share_their_elements() {
    // SAFETY: as a library would.
    unsafe {
        let tensor = TF_AllocateTensor(1, ptr::null(), 0, 4);
        let other = CTensor::from_c(tensor).unwrap().share().into_c();
        assert_eq!(TF_TensorData(tensor), TF_TensorData(other));
        assert!(TF_TensorMaybeMove(tensor).is_null());
        TF_DeleteTensor(other);
        let moved = TF_TensorMaybeMove(tensor);
        assert_eq!(moved, tensor);
        TF_DeleteTensor(moved);
    }
}

#[test]
fn constraints_come_in_any_order_and_from_a_kernel_def() {
    let declare_pair = || {
        let attrs = [c"T: type", c"U: type"];
        assert_eq!(declare(c"Pair", &attrs, &[c"x: T", c"u: U"], &[c"y: T"], None), 0);
    };
    let runs = |registry: &Arc<Registry>, dtypes: [DataType; 2]| {
        let attrs = [("T", dtypes[0].into()), ("U", dtypes[1].into())];
        let inputs = dtypes.map(|dtype| Tensor::zeros(dtype, [2]).unwrap()).to_vec();
        run(registry, "Pair", &attrs, inputs).map_err(|error| error.code())
    };
    let (float, int, double) = (DataType::Float, DataType::Int32, DataType::Double);
    let registry = loaded(|| {
        declare_pair();
        // SAFETY: as a library would.
        let change = |builder| unsafe {
            for (attr, dtype) in [(c"T", float), (c"U", int), (c"T", float)] {
                checked(|status| TF_KernelBuilder_TypeConstraint(builder, attr.as_ptr(), dtype.number(), status));
            }
        };
        assert_eq!(kernel(c"Pair", None, Some(first_compute), None, change), 0);
    });
    assert!(runs(&registry, [float, int]).is_ok());
    assert_eq!(runs(&registry, [int, int]).unwrap_err(), Code::NotFound);
    assert_eq!(runs(&registry, [float, float]).unwrap_err(), Code::NotFound);
    // All constraints on an attr must hold: these leave nothing.
    let registry = loaded(|| {
        declare_pair();
        // SAFETY: as a library would.
        let change = |builder| unsafe {
            for dtype in [float, double] {
                checked(|status| TF_KernelBuilder_TypeConstraint(builder, c"T".as_ptr(), dtype.number(), status));
            }
        };
        assert_eq!(kernel(c"Pair", None, Some(first_compute), None, change), 0);
    });
    assert!(registry.kernels_of("Pair").is_empty());

    let def = KernelDef {
        op: "Pair".into(),
        device_type: "CPU".into(),
        constraint: vec![kernel_def::AttrConstraint {
            name: "T".into(),
            allowed_values: Some(attr_to_proto(&vec![float].into()).unwrap()),
        }],
        priority: 3,
        ..KernelDef::default()
    };
    let def = CString::new(def.encode_to_vec()).unwrap();
    for (def, priority) in [(ptr::null(), 0), (def.as_ptr(), 3)] {
        let registry = loaded(|| {
            declare_pair();
            // SAFETY: as a library would.
            unsafe {
                let (op, device) = (c"Pair".as_ptr(), c"CPU".as_ptr());
                let builder = TF_NewKernelBuilder(op, device, None, Some(first_compute), None);
                checked(|status| TF_RegisterKernelBuilderWithKernelDef(def, c"k".as_ptr(), builder, status));
            }
        });
        assert_eq!(registry.kernels_of("Pair")[0].priority, priority);
        assert!(runs(&registry, [float, int]).is_ok());
        assert_eq!(registry.kernels_of("Pair")[0].constraints.is_empty(), def.is_null());
    }
}

#[test]
fn what_is_not_whole_leaves_nothing_behind() {
    let registry = loaded(load_scale);
    let refused = |load: &dyn Fn()| {
        let ((), batch) = collect(load);
        batch.commit(&registry).err().map(|error| (error.code(), error.message().to_owned()))
    };
    let other = || assert_eq!(declare(c"Other", &[], &[c"x: float"], &[c"y: float"], None), 0);
    let (code, message) = refused(&|| {
        other();
        assert_eq!(declare(c"Wrong", &[c"T: nonsense"], &[], &[], None), Code::InvalidArgument as c_int);
    })
    .unwrap();
    assert!(code == Code::InvalidArgument && message.contains("nonsense"), "{message}");
    let (code, message) = refused(&|| {
        other();
        load_scale();
    })
    .unwrap();
    assert!(code == Code::AlreadyExists && message.contains("Scale"), "{message}");
    let (code, _) = refused(&|| {
        other();
        assert_eq!(kernel(c"Other", None, None, None, |_| ()), Code::InvalidArgument as c_int);
    })
    .unwrap();
    assert_eq!(code, Code::InvalidArgument);
    let (code, message) = refused(&|| {
        other();
        // SAFETY: as a library would.
        let unknown = |builder| unsafe {
            let status = TF_NewStatus();
            TF_KernelBuilder_TypeConstraint(builder, c"T".as_ptr(), 77, status);
            assert_eq!(TF_GetCode(status), Code::Unimplemented as c_int);
            TF_DeleteStatus(status);
        };
        assert_eq!(kernel(c"Other", None, Some(scale_compute), None, unknown), Code::Unimplemented as c_int);
    })
    .unwrap();
    assert_eq!((code, &*message), (Code::Unimplemented, "Unexpected type 77"));
    assert!(registry.find_op("Other").is_none() && registry.ops().count() == 1);
    assert_eq!(refused(&other), None);
    assert!(registry.find_op("Other").is_some());
    // Outside of a load, and without a registry that was named.
    assert_eq!(declare(c"Alone", &[], &[], &[], None), Code::FailedPrecondition as c_int);
}

#[test]
fn kernels_wait_for_their_op_and_leave_with_their_library() {
    let registry = empty();
    let ((), batch) = collect(|| assert_eq!(kernel(c"Scale", None, Some(first_compute), None, |_| ()), 0));
    let early = batch.commit(&registry).unwrap();
    assert!(early.unused[0].contains("there is no such op so far"), "{:?}", early.unused);
    let ((), batch) = collect(|| {
        assert_eq!(declare(c"Scale", &[c"factor: float = 2.0"], &[c"x: float"], &[c"y: float"], Some(scale_shape)), 0);
        // SAFETY: as a library would.
        let builder =
            unsafe { TF_NewKernelBuilder(c"Scale".as_ptr(), c"XYZ".as_ptr(), None, Some(first_compute), None) };
        // SAFETY: as a library would.
        checked(|status| unsafe { TF_RegisterKernelBuilder(c"Scale".as_ptr(), builder, status) });
    });
    let late = batch.commit(&registry).unwrap();
    assert!(late.unused[0].contains("Scale on XYZ: there is no such device"), "{:?}", late.unused);
    let x = Tensor::vector(&[1.0f32]).unwrap();
    let y = run(&registry, "Scale", &[], vec![x.clone()]).unwrap();
    assert_eq!(y[0].as_slice::<f32>().unwrap(), [1.0]);
    // Another's kernel holds the op.
    let refused = late.withdraw(Some(&registry)).unwrap_err();
    assert!(refused.message().contains("another's kernel"), "{refused}");
    early.withdraw(Some(&registry)).unwrap();
    assert_eq!(run(&registry, "Scale", &[], vec![x]).unwrap_err().code(), Code::NotFound);
    late.withdraw(Some(&registry)).unwrap();
    assert!(registry.find_op("Scale").is_none());
}

#[test]
fn priority_label_and_host_memory_are_those_of_the_registry() {
    let registry = loaded(|| {
        load_scale();
        // SAFETY: as a library would.
        let change = |builder| unsafe {
            TF_KernelBuilder_Priority(builder, 4);
            TF_KernelBuilder_Label(builder, c"fast".as_ptr());
            TF_KernelBuilder_HostMemory(builder, c"x".as_ptr());
        };
        assert_eq!(kernel(c"Scale", None, Some(scale_compute), None, change), 0);
    });
    let kernels = registry.kernels_of("Scale");
    let of = |label: &str| kernels.iter().find(|kernel| kernel.label == label).unwrap();
    assert_eq!((of("fast").priority, of("fast").host_memory), (4, &["x"][..]));
    assert_eq!((of("").priority, of("").host_memory.len(), kernels.len()), (0, 0, 2));
}

#[test]
fn every_function_of_the_list_is_there_once() {
    let mut names: Vec<&str> = table().into_iter().map(|(name, _)| name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), names.contains(&"TF_RegisterKernelBuilder")), (count, true));
}
