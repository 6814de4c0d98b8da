//! Ops and their inputs.

use std::ffi::{CStr, CString};
use std::ptr;
use std::thread;

use kernlink::dtype::DataType;
use kernlink::tensor::Tensor;
use kernlink_capi::eager::*;

use crate::client::*;

#[test]
fn ops_run_at_once() {
    let context = Context::new();
    let (a, b) = (Handle::floats(&[1.0, 2.0]), Handle::floats(&[3.0, 5.0]));
    assert_eq!(values(&context.run("AddV2", &[&a, &b]).unwrap()), [4.0, 7.0]);
    let cast = context.op("Cast").unwrap().of(&[&a]).dtype("DstT", DataType::Int64).run_one().unwrap();
    assert_eq!(cast.as_slice::<i64>().unwrap(), [1, 2]);
    let axis = Handle::new(0i32);
    let parts = context.op("Split").unwrap().of(&[&axis, &a]).int("num_split", 2).run(5).unwrap();
    assert_eq!(parts.len(), 2, "what there is room for becomes what there is");
    assert_eq!(values(&parts[1].tensor()), [2.0]);
    let text = Handle::new(Tensor::vector(&["one", &"t".repeat(50)].map(kernlink::dtype::TString::from)).unwrap());
    let upper = context.run("StringUpper", &[&text]).unwrap();
    assert_eq!(texts(&upper), ["ONE".to_owned(), "T".repeat(50)]);
}

#[test]
fn lists_are_given_whole_or_one_by_one() {
    let context = Context::new();
    let (a, b) = (Handle::floats(&[1.0, 2.0]), Handle::floats(&[3.0, 5.0]));
    assert_eq!(values(&context.op("AddN").unwrap().of_list(&[&a, &b, &a]).run_one().unwrap()), [5.0, 9.0]);
    let concat = context.op("ConcatV2").unwrap().of_list(&[&a, &b]).of(&[&Handle::new(0i32)]).run_one().unwrap();
    assert_eq!(values(&concat), [1.0, 2.0, 3.0, 5.0]);
    let pack = || context.op("Pack").unwrap().of(&[&a, &b]).dtype("T", DataType::Float);
    assert_eq!(values(&pack().int("N", 2).run_one().unwrap()), [1.0, 2.0, 3.0, 5.0]);
    fails(pack().run_one(), NOT_FOUND, "No attr named 'N' in NodeDef:");
    fails(pack().int("N", 3).run_one(), INVALID_ARGUMENT, "expected 3 inputs, got 2");
    fails(pack().int("N", -3).run_one(), INVALID_ARGUMENT, "expected 0 inputs, got 2");
    // One by one before what comes after the list.
    let concat = context.op("ConcatV2").unwrap().of(&[&a, &b, &Handle::new(0i32)]);
    let concat = concat.int("N", 2).dtype("T", DataType::Float).dtype("Tidx", DataType::Int32).run_one().unwrap();
    assert_eq!(values(&concat), [1.0, 2.0, 3.0, 5.0]);
    // Lists of several dtypes.
    let i = Handle::new(7i32);
    let both = context.op("IdentityN").unwrap().of_list(&[&a, &i]).run(2).unwrap();
    assert_eq!(both[1].tensor().as_slice::<i32>().unwrap(), [7]);
    let both = context.op("IdentityN").unwrap().of(&[&a, &i]);
    let both = both.dtypes("T", &[1, 3]).run(2).unwrap();
    assert_eq!(both[1].tensor().as_slice::<i32>().unwrap(), [7]);
    // A list where there is none.
    let add = context.op("AddV2").unwrap();
    fails(add.input_list(&[&a, &b]), INVALID_ARGUMENT, "Invalid input list definition");
    assert_eq!(values(&add.of(&[&a, &b]).run_one().unwrap()), [4.0, 7.0], "nothing was added");
    fails(context.op("AddN").unwrap().of_list(&[]).run_one(), INVALID_ARGUMENT, "N");
    fails(context.op("AddN").unwrap().of_list(&[&a, &i]).run_one(), INVALID_ARGUMENT, "int32");
}

#[test]
fn what_is_wrong_with_an_op_is_said_when_it_runs() {
    let context = Context::new();
    let (a, i) = (Handle::floats(&[1.0, 2.0]), Handle::new(1i32));
    fails(
        context.op("NoSuchOp"),
        NOT_FOUND,
        "'NoSuchOp' is neither a type of a primitive operation nor a name of a function",
    );
    fails(context.run("AddV2", &[&a]), INVALID_ARGUMENT, "expected 2 inputs, got 1");
    fails(context.run("AddV2", &[&a, &a, &a]), INVALID_ARGUMENT, "expected 2 inputs, got 3");
    fails(context.run("AddV2", &[&a, &i]), INVALID_ARGUMENT, "int32");
    fails(context.run("Cast", &[&a]), NOT_FOUND, "No attr named 'DstT' in NodeDef:\n\t [[{{node Cast}}]]");
    fails(context.run("MatMul", &[&a, &a]), INVALID_ARGUMENT, "[[{{node MatMul}}]]");
    let bad = context.op("Cast").unwrap().of(&[&a]);
    // SAFETY: the op is alive; there is no dtype 77.
    unsafe { TFE_OpSetAttrType(bad.0, c"DstT".as_ptr(), 77) };
    fails(bad.run_one(), INVALID_ARGUMENT, "77");
    fails(context.op("Cast").unwrap().of(&[&a]).int("DstT", 1).run_one(), INVALID_ARGUMENT, "DstT");
    fails(context.op("AddV2").unwrap().of(&[&a, &a]).dtype("T", DataType::Int32).run_one(), INVALID_ARGUMENT, "T");
    // Another attr than the op's is nothing.
    assert_eq!(values(&context.op("Neg").unwrap().of(&[&a]).int("nope", 2).run_one().unwrap()), [-1.0, -2.0]);
    // No room: the op has not run, and still can.
    let add = context.op("AddV2").unwrap().of(&[&a, &a]);
    fails(add.run(0), INVALID_ARGUMENT, "Expecting 1 outputs, but *num_retvals is 0");
    assert_eq!(values(&add.run_one().unwrap()), [2.0, 4.0]);
}

#[test]
fn an_op_gives_its_inputs_away_and_runs_again_with_others() {
    let context = Context::new();
    let (a, b) = (Handle::floats(&[1.0, 2.0]), Handle::floats(&[3.0, 5.0]));
    let op = context.op("Cast").unwrap().of(&[&a]).dtype("DstT", DataType::Int32);
    // SAFETY: the op is alive.
    let count = || unsafe { checked(|status| TFE_OpGetFlatInputCount(op.0, status)).unwrap() };
    assert_eq!(count(), 1);
    assert_eq!(op.run_one().unwrap().as_slice::<i32>().unwrap(), [1, 2]);
    assert_eq!(count(), 0);
    fails(op.run_one(), INVALID_ARGUMENT, "expected 1 inputs, got 0");
    op.input(&b).unwrap();
    assert_eq!(op.run_one().unwrap().as_slice::<i32>().unwrap(), [3, 5]);
    let add = context.op("AddN").unwrap().of_list(&[&a, &b]);
    assert_eq!(values(&add.run_one().unwrap()), [4.0, 7.0]);
    assert_eq!(values(&add.of_list(&[&b]).run_one().unwrap()), [3.0, 5.0], "the list's length is another one");
}

#[test]
fn inputs_can_be_looked_at_and_live_as_long_as_the_op() {
    let context = Context::new();
    let (a, b) = (Handle::floats(&[1.0, 2.0]), Handle::floats(&[3.0, 5.0]));
    let op = context.op("AddN").unwrap().of_list(&[&a, &b]);
    // SAFETY: the op is alive.
    let input = |index| unsafe { checked(|status| TFE_OpGetFlatInput(op.0, index, status)) };
    assert_eq!((input(0).unwrap(), input(1).unwrap()), (a.0, b.0));
    fails(input(2), INVALID_ARGUMENT, "2");
    fails(input(-1), INVALID_ARGUMENT, "-1");
    drop((a, b));
    // SAFETY: the op keeps its inputs.
    assert_eq!(unsafe { TFE_TensorHandleDataType(input(1).unwrap()) }, DataType::Float.number());
    assert_eq!(values(&op.run_one().unwrap()), [4.0, 7.0]);
}

#[test]
fn a_context_lives_as_long_as_its_ops() {
    let (op, result) = {
        let context = Context::new();
        let a = Handle::floats(&[1.0, 2.0]);
        let result = context.op("Neg").unwrap().of(&[&a]).run(1).unwrap().remove(0);
        let op = context.op("Neg").unwrap();
        // SAFETY: the op is alive.
        let of_op = unsafe { checked(|status| TFE_OpGetContext(op.0, status)).unwrap() };
        assert_eq!(of_op, context.0);
        (op, result)
    };
    assert_eq!(values(&op.of(&[&result]).run_one().unwrap()), [1.0, 2.0]);
    assert_eq!(result.device(), "/job:localhost/replica:0/task:0/device:CPU:0");
}

#[test]
fn ops_tell_their_names_and_lengths() {
    let context = Context::new();
    let a = Handle::floats(&[1.0, 2.0]);
    let op = context.op("AddV2").unwrap();
    // SAFETY: the op is alive.
    let name = unsafe { CStr::from_ptr(checked(|status| TFE_OpGetName(op.0, status)).unwrap()) };
    assert_eq!(name, c"AddV2");
    // SAFETY: the op is alive.
    let input = |op: &Op, name: &CStr| checked(|status| unsafe { TFE_OpGetInputLength(op.0, name.as_ptr(), status) });
    // SAFETY: the op is alive.
    let output = |op: &Op, name: &CStr| checked(|status| unsafe { TFE_OpGetOutputLength(op.0, name.as_ptr(), status) });
    assert_eq!((input(&op, c"x"), output(&op, c"z")), (Ok(1), Ok(1)));
    fails(input(&op, c"nope"), INVALID_ARGUMENT, "Input 'nope' not found");
    fails(output(&op, c"nope"), INVALID_ARGUMENT, "Output 'nope' not found");
    let split = context.op("Split").unwrap();
    fails(output(&split, c"output"), NOT_FOUND, "No attr named 'num_split' in NodeDef:");
    assert_eq!(output(&split.int("num_split", 3), c"output"), Ok(3));
    let add = context.op("AddN").unwrap();
    fails(input(&add, c"inputs"), NOT_FOUND, "No attr named 'N' in NodeDef:");
    assert_eq!(input(&add.of_list(&[&a, &a]), c"inputs"), Ok(2));
    let same = context.op("IdentityN").unwrap().of_list(&[&a, &Handle::new(1i32), &a]);
    assert_eq!((input(&same, c"input"), output(&same, c"output")), (Ok(3), Ok(3)));
}

#[test]
fn variables_are_handles_too() {
    let context = Context::new();
    let a = Handle::floats(&[1.0, 2.0]);
    let variable = context.op("VarHandleOp").unwrap().dtype("dtype", DataType::Float).shape("shape", &[2]);
    let variable = variable.string("shared_name", "v").run(1).unwrap().remove(0);
    // SAFETY: the handle is alive.
    assert_eq!(unsafe { TFE_TensorHandleDataType(variable.0) }, DataType::Resource.number());
    let read = || context.op("ReadVariableOp").unwrap().of(&[&variable]).dtype("dtype", DataType::Float).run_one();
    fails(read(), FAILED_PRECONDITION, "v");
    let assign = |op: &str, value: &Handle| {
        let op = context.op(op).unwrap().of(&[&variable, value]).dtype("dtype", DataType::Float);
        assert!(op.run(0).unwrap().is_empty());
    };
    assign("AssignVariableOp", &a);
    assert_eq!(values(&read().unwrap()), [1.0, 2.0]);
    let before = context.op("ReadVariableOp").unwrap().of(&[&variable]).dtype("dtype", DataType::Float).run(1).unwrap();
    assign("AssignAddVariableOp", &a);
    assert_eq!(values(&read().unwrap()), [2.0, 4.0]);
    assert_eq!(values(&before[0].tensor()), [1.0, 2.0], "what was read stays");
    assert_eq!(values(&a.tensor()), [1.0, 2.0]);
}

#[test]
fn lists_in_variants_go_from_op_to_op() {
    let context = Context::new();
    let a = Handle::floats(&[1.0, 2.0]);
    let (shape, length) = (Handle::new(Tensor::vector(&[2i32]).unwrap()), Handle::new(2i32));
    let reserve = context.op("TensorListReserve").unwrap().of(&[&shape, &length]);
    let list = reserve.dtype("element_dtype", DataType::Float).run(1).unwrap().remove(0);
    // SAFETY: the handle is alive.
    assert_eq!(unsafe { TFE_TensorHandleDataType(list.0) }, DataType::Variant.number());
    let set = |list: &Handle, index: i32| {
        let set = context.op("TensorListSetItem").unwrap().of(&[list, &Handle::new(index), &a]);
        set.dtype("element_dtype", DataType::Float).run(1).unwrap().remove(0)
    };
    let filled = set(&set(&list, 0), 1);
    let stack = context.op("TensorListStack").unwrap().of(&[&filled, &shape]);
    let stacked = stack.dtype("element_dtype", DataType::Float).run_one().unwrap();
    assert_eq!(stacked.shape().dims(), [2, 2]);
    assert_eq!(values(&stacked), [1.0, 2.0, 1.0, 2.0]);
}

#[test]
fn one_context_serves_many_threads() {
    let context = Context::new();
    let variable = context.op("VarHandleOp").unwrap().dtype("dtype", DataType::Float).shape("shape", &[]);
    let variable = variable.string("shared_name", "sum").run(1).unwrap().remove(0);
    let update = |op: &str, value: f32| {
        let op = context.op(op).unwrap().of(&[&variable, &Handle::new(value)]).dtype("dtype", DataType::Float);
        op.run(0).unwrap();
    };
    update("AssignVariableOp", 0.0);
    thread::scope(|scope| {
        for number in 0..8 {
            let (context, update) = (&context, &update);
            scope.spawn(move || {
                for turn in 0..100 {
                    let (a, b) = (Handle::floats(&[number as f32; 3]), Handle::floats(&[turn as f32; 3]));
                    let sum = context.op("AddV2").unwrap().of(&[&a, &b]).run(1).unwrap().remove(0);
                    drop((a, b));
                    let total = context.run("Sum", &[&sum, &Handle::new(0i32)]).unwrap();
                    assert_eq!(total.to_scalar::<f32>().unwrap(), 3.0 * (number + turn) as f32);
                    update("AssignAddVariableOp", 1.0);
                    let name = CString::new(format!("NoSuchOp{number}")).unwrap();
                    // SAFETY: the context is alive.
                    fails(
                        checked(|status| unsafe { TFE_NewOp(context.0, name.as_ptr(), status) }),
                        NOT_FOUND,
                        "NoSuchOp",
                    );
                }
            });
        }
    });
    let sum = context.op("ReadVariableOp").unwrap().of(&[&variable]).dtype("dtype", DataType::Float).run_one().unwrap();
    assert_eq!(sum.to_scalar::<f32>().unwrap(), 800.0);
}

#[test]
fn devices_are_asked_for_by_name() {
    let context = Context::with(&Config::two_devices());
    let a = Handle::floats(&[1.0, 2.0]);
    let neg = || context.op("Neg").unwrap().of(&[&a]);
    let asked = |op: &Op| {
        // SAFETY: the op is alive.
        unsafe { CStr::from_ptr(checked(|status| TFE_OpGetDevice(op.0, status)).unwrap()) }.to_str().unwrap().to_owned()
    };
    assert_eq!(asked(&neg()), "");
    for (name, known, device) in [
        ("/device:CPU:0", "/device:CPU:0", 0),
        ("/cpu:1", "/device:CPU:1", 1),
        ("/job:localhost/replica:0/task:0/device:CPU:1", "/job:localhost/replica:0/task:0/device:CPU:1", 1),
        ("", "", 0),
    ] {
        let op = neg().device(name).unwrap();
        assert_eq!(asked(&op), known);
        let result = op.run(1).unwrap().remove(0);
        assert_eq!(result.device(), format!("/job:localhost/replica:0/task:0/device:CPU:{device}"));
        assert_eq!(values(&result.tensor()), [-1.0, -2.0]);
    }
    for malformed in ["garbage", "CPU:0"] {
        fails(neg().device(malformed), INVALID_ARGUMENT, &format!("Malformed device specification '{malformed}'"));
    }
    for absent in ["/device:GPU:3", "/job:worker/device:CPU:0"] {
        let op = neg().device(absent).unwrap();
        fails(op.run_one(), INVALID_ARGUMENT, &format!("Could not satisfy device specification '{absent}'"));
        assert_eq!(values(&op.device("").unwrap().run_one().unwrap()), [-1.0, -2.0]);
    }
    let soft = Context::with(&Config::soft());
    let op = soft.op("Neg").unwrap().of(&[&a]).device("/device:GPU:3").unwrap();
    assert_eq!(values(&op.run_one().unwrap()), [-1.0, -2.0]);
}

#[test]
fn results_need_no_room_if_there_are_none() {
    let context = Context::new();
    let op = context.op("NoOp").unwrap();
    let mut count = 0;
    // SAFETY: the op is alive, and has no results.
    checked(|status| unsafe { TFE_Execute(op.0, ptr::null_mut(), &raw mut count, status) }).unwrap();
    assert_eq!(count, 0);
}
