//! Functions that come and go.

use std::ffi::{CString, c_char};
use std::thread;

use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::proto::op_def::ArgDef;
use kernlink::proto::{FunctionDef, Message as _, OpDef};
use kernlink::tensor::Tensor;
use kernlink_capi::abi::TF_Function;
use kernlink_capi::eager::*;
use kernlink_capi::function::{TF_DeleteFunction, TF_FunctionImportFunctionDef};

use crate::allocated::allocated;
use crate::client::*;
use crate::def::node_def;

/// `z = op(x, y)`, of floats.
fn function(name: &str, op: &str) -> FunctionDef {
    let arg = |name: &str| ArgDef { name: name.to_owned(), r#type: 1, ..ArgDef::default() };
    let signature = OpDef {
        name: name.to_owned(),
        input_arg: vec![arg("x"), arg("y")],
        output_arg: vec![arg("z")],
        ..OpDef::default()
    };
    let node = node_def("s", op, &["x", "y"], &[("T", AttrValue::Type(DataType::Float))]);
    FunctionDef {
        signature: Some(signature),
        node_def: vec![node],
        ret: [("z".to_owned(), "s:z:0".to_owned())].into(),
        ..FunctionDef::default()
    }
}

impl Context {
    fn add(&self, function: &FunctionDef) -> Result<(), Failure> {
        let bytes = function.encode_to_vec();
        let (data, size) = (bytes.as_ptr().cast::<c_char>(), bytes.len());
        // SAFETY: the context is alive.
        checked(|status| unsafe { TFE_ContextAddFunctionDef(self.0, data, size, status) })
    }

    fn remove(&self, name: &str) -> Result<(), Failure> {
        let name = CString::new(name).unwrap();
        // SAFETY: the context is alive.
        checked(|status| unsafe { TFE_ContextRemoveFunction(self.0, name.as_ptr(), status) })
    }

    fn has(&self, name: &str) -> bool {
        let name = CString::new(name).unwrap();
        // SAFETY: the context is alive.
        unsafe { TFE_ContextHasFunction(self.0, name.as_ptr()) == 1 }
    }
}

fn pair() -> (Handle, Handle) {
    (Handle::floats(&[1.0, 2.0]), Handle::floats(&[3.0, 5.0]))
}

#[test]
fn functions_run_by_their_names() {
    let context = Context::new();
    let (a, b) = pair();
    assert!(!context.has("F"));
    fails(context.op("F"), NOT_FOUND, "'F' is neither a type of a primitive operation nor a name of a function");
    context.add(&function("F", "AddV2")).unwrap();
    assert!(context.has("F"));
    assert_eq!(values(&context.run("F", &[&a, &b]).unwrap()), [4.0, 7.0]);
    let listed = context.op("F").unwrap().of_list(&[&a, &b]);
    assert_eq!(values(&listed.run_one().unwrap()), [4.0, 7.0]);
    fails(context.run("F", &[&a]), INVALID_ARGUMENT, "expected 2 inputs, got 1");
    fails(context.run("F", &[&a, &Handle::new(1i32)]), INVALID_ARGUMENT, "int32");
    fails(context.op("F").unwrap().of(&[&a, &b]).run(0), INVALID_ARGUMENT, "Expecting 1 outputs");
    let op = context.op("F").unwrap();
    // SAFETY: the op is alive.
    let length = checked(|status| unsafe { TFE_OpGetInputLength(op.0, c"x".as_ptr(), status) });
    fails(length, NOT_FOUND, "'F'");
    // A function calls another one, which was there before or comes later.
    context.add(&function("G", "H")).unwrap();
    fails(context.run("G", &[&a, &b]), NOT_FOUND, "H");
    context.add(&function("H", "Mul")).unwrap();
    assert_eq!(values(&context.run("F", &[&a, &b]).unwrap()), [4.0, 7.0]);
}

#[test]
fn functions_are_added_once() {
    let context = Context::new();
    context.add(&function("F", "AddV2")).unwrap();
    context.add(&function("F", "AddV2")).unwrap();
    fails(context.add(&function("F", "Mul")), INVALID_ARGUMENT, "F");
    fails(
        context.add(&function("Neg", "Mul")),
        INVALID_ARGUMENT,
        "Cannot add function 'Neg' because an op with the same name already exists.",
    );
    fails(context.add(&FunctionDef::default()), INVALID_ARGUMENT, "name");
    // SAFETY: the context is alive.
    let add = checked(|status| unsafe { TFE_ContextAddFunctionDef(context.0, c"\xff".as_ptr(), 1, status) });
    fails(add, INVALID_ARGUMENT, "Invalid FunctionDef proto");
}

#[test]
fn a_function_can_be_another_one_after_it_was_removed() {
    let context = Context::new();
    let (a, b) = pair();
    context.add(&function("Other", "Sub")).unwrap();
    context.add(&function("F", "AddV2")).unwrap();
    let op = context.op("F").unwrap().of(&[&a, &b]);
    let call = || {
        let op = context.op("PartitionedCall").unwrap().of_list(&[&a, &b]).function_name("f", "F");
        op.dtypes("Tout", &[1]).run_one()
    };
    assert_eq!(values(&call().unwrap()), [4.0, 7.0]);
    context.remove("F").unwrap();
    assert!(!context.has("F"));
    fails(context.remove("F"), INVALID_ARGUMENT, "Tried to remove non-existent function 'F'.");
    fails(op.run_one(), NOT_FOUND, "Failed to find function 'F'");
    fails(call(), NOT_FOUND, "F");
    context.add(&function("F", "Mul")).unwrap();
    assert_eq!(values(&call().unwrap()), [3.0, 10.0], "not the kernel of the first one");
    assert_eq!(values(&op.run_one().unwrap()), [3.0, 10.0], "the inputs are still there");
    assert_eq!(values(&context.run("Other", &[&a, &b]).unwrap()), [-2.0, -3.0]);
}

/// Adding a function takes no more where there are thousands. What would take more copies them: so it is memory that is counted, which
/// is the same on every machine.
#[test]
fn functions_are_added_at_the_same_cost_however_many_there_are() {
    let context = Context::new();
    let add = |numbers: std::ops::Range<usize>| {
        allocated(|| numbers.for_each(|number| context.add(&function(&format!("F{number}"), "Mul")).unwrap()))
    };
    let parts: Vec<usize> = (0..10).map(|part| add(500 * part..500 * (part + 1))).collect();
    println!("5,000 functions, bytes of 500 each: {parts:?}");
    // Tables that double do so in few of the parts.
    let (first, last) = (parts[..3].iter().min(), parts[7..].iter().min());
    assert!(last < first.map(|first| *first * 2).as_ref(), "{parts:?}");
    assert_eq!(values(&context.run("F4999", &[&pair().0, &pair().1]).unwrap()), [3.0, 10.0]);
}

#[test]
fn state_stays_when_functions_come() {
    let context = Context::new();
    let shape = Handle::new(Tensor::vector(&[4i32]).unwrap());
    let random = |context: &Context| {
        let op = context.op("RandomUniform").unwrap().of(&[&shape]).dtype("dtype", DataType::Float).int("seed", 1);
        values(&op.run_one().unwrap()).to_vec()
    };
    let sequence: Vec<_> = (0..3).map(|_| random(&context)).collect();
    let context = Context::new();
    assert_eq!(random(&context), sequence[0]);
    context.add(&function("F", "AddV2")).unwrap();
    assert_eq!(random(&context), sequence[1]);
    context.remove("F").unwrap();
    assert_eq!(random(&context), sequence[2]);
}

#[test]
fn functions_of_the_c_api_are_added() {
    let context = Context::new();
    let (a, b) = pair();
    let bytes = function("F", "Mul").encode_to_vec();
    // SAFETY: the function is alive, and deleted once.
    unsafe {
        let function: *mut TF_Function =
            checked(|status| TF_FunctionImportFunctionDef(bytes.as_ptr().cast(), bytes.len(), status)).unwrap();
        checked(|status| TFE_ContextAddFunction(context.0, function, status)).unwrap();
        TF_DeleteFunction(function);
    }
    assert_eq!(values(&context.run("F", &[&a, &b]).unwrap()), [3.0, 10.0]);
}

#[test]
fn functions_are_attrs_of_ops() {
    let context = Context::new();
    let (a, b) = pair();
    context.add(&function("Added", "AddV2")).unwrap();
    context.add(&function("Multiplied", "Mul")).unwrap();
    let (added, multiplied) = (context.op("Added").unwrap(), context.op("Multiplied").unwrap());
    let choose = |condition: bool| {
        let op = context.op("If").unwrap().of(&[&Handle::new(condition)]).of_list(&[&a, &b]).dtypes("Tout", &[1]);
        op.function("then_branch", &added).function("else_branch", &multiplied).run_one().unwrap()
    };
    assert_eq!(values(&choose(true)), [4.0, 7.0]);
    assert_eq!(values(&choose(false)), [3.0, 10.0]);
    let branches = [added.0.cast_const(), multiplied.0.cast_const()];
    let case = context.op("Case").unwrap().of(&[&Handle::new(1i32)]).of_list(&[&a, &b]).dtypes("Tout", &[1]);
    // SAFETY: all are alive.
    unsafe { TFE_OpSetAttrFunctionList(case.0, c"branches".as_ptr(), branches.as_ptr(), 2) };
    assert_eq!(values(&case.run_one().unwrap()), [3.0, 10.0]);
}

#[test]
fn functions_come_and_go_while_others_run() {
    let context = Context::new();
    context.add(&function("F", "AddV2")).unwrap();
    thread::scope(|scope| {
        let context = &context;
        for number in 0..3 {
            scope.spawn(move || {
                let name = format!("Own{number}");
                for _ in 0..30 {
                    context.add(&function(&name, "Mul")).unwrap();
                    let (a, b) = pair();
                    assert_eq!(values(&context.run(&name, &[&a, &b]).unwrap()), [3.0, 10.0]);
                    context.remove(&name).unwrap();
                }
            });
        }
        for _ in 0..3 {
            scope.spawn(move || {
                for _ in 0..100 {
                    let (a, b) = pair();
                    assert_eq!(values(&context.run("F", &[&a, &b]).unwrap()), [4.0, 7.0]);
                }
            });
        }
    });
}
