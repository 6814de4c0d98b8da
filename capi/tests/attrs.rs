//! Attrs of all kinds, set and read by the C API. Codes, values and the texts that are whole are what TensorFlow
//! 2.21 answers; what it takes as it comes, as dtypes that are none, lists of another kind and negative counts, is an error.

mod common;

use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt::Debug;
use std::ptr;

use common::*;
use kernlink::attr::AttrValue;
use kernlink::dtype::TString;
use kernlink::proto::{Message, TensorShapeProto, attr_to_proto, shape_to_proto};
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink_capi::abi::*;
use kernlink_capi::graph::*;
use kernlink_library::host::{CTensor, TF_DeleteBuffer, TF_DeleteTensor, bytes_of};

const STRING: c_int = 0;
const INT: c_int = 1;
const FLOATS: c_int = 2;
const BOOL: c_int = 3;
const TYPE: c_int = 4;
const SHAPE: c_int = 5;
const TENSOR: c_int = 6;
const FUNC: c_int = 8;

/// An operation with what is described, its attrs beyond the op's: operations keep them.
fn with(graph: &Graph, describe: impl FnOnce(*mut TF_OperationDescription)) -> *mut TF_Operation {
    attempt(graph, describe).unwrap()
}

fn attempt(graph: &Graph, describe: impl FnOnce(*mut TF_OperationDescription)) -> Result<*mut TF_Operation, Failure> {
    graph.describe("NoOp", "n").with(describe).finish()
}

fn metadata(oper: *mut TF_Operation, name: &str) -> Result<(u8, i64, c_int, i64), Failure> {
    let name = CString::new(name).unwrap();
    // SAFETY: the operation is alive.
    let found = checked(|status| unsafe { TF_OperationGetAttrMetadata(oper, name.as_ptr(), status) });
    found.map(|found| (found.is_list, found.list_size, found.r#type, found.total_size))
}

type Getter<T> = unsafe extern "C" fn(*mut TF_Operation, *const c_char, *mut T, *mut TF_Status);
type ListGetter<T> = unsafe extern "C" fn(*mut TF_Operation, *const c_char, *mut T, c_int, *mut TF_Status);

fn get<T>(getter: Getter<T>, oper: *mut TF_Operation, name: &str, mut value: T) -> Result<T, Failure> {
    let name = CString::new(name).unwrap();
    // SAFETY: the operation is alive.
    checked(|status| unsafe { getter(oper, name.as_ptr(), &mut value, status) }).map(|()| value)
}

/// What is in the array after a list's getter has been told of `room` of its places.
fn list<T: Clone, const N: usize>(
    getter: ListGetter<T>,
    oper: *mut TF_Operation,
    name: &str,
    room: c_int,
    mut values: [T; N],
) -> Result<[T; N], Failure> {
    assert!(room <= N as c_int);
    let name = CString::new(name).unwrap();
    // SAFETY: the operation is alive, and there is so much room.
    checked(|status| unsafe { getter(oper, name.as_ptr(), values.as_mut_ptr(), room, status) }).map(|()| values)
}

#[test]
fn values_come_back() {
    let graph = Graph::new();
    // SAFETY: the description is alive.
    let n = with(&graph, |it| unsafe {
        TF_SetAttrInt(it, c"int".as_ptr(), -5);
        TF_SetAttrFloat(it, c"float".as_ptr(), 2.5);
        TF_SetAttrBool(it, c"yes".as_ptr(), 7);
        TF_SetAttrBool(it, c"no".as_ptr(), 0);
        TF_SetAttrType(it, c"type".as_ptr(), 9);
        TF_SetAttrFuncName(it, c"func".as_ptr(), c"callee and more".as_ptr(), 6);
        TF_SetAttrInt(it, c"int".as_ptr(), -5);
    });
    assert_eq!(get(TF_OperationGetAttrInt, n, "int", 0), Ok(-5));
    assert_eq!(get(TF_OperationGetAttrFloat, n, "float", 0.0), Ok(2.5));
    assert_eq!(get(TF_OperationGetAttrBool, n, "yes", 9), Ok(1));
    assert_eq!(get(TF_OperationGetAttrBool, n, "no", 9), Ok(0));
    assert_eq!(get(TF_OperationGetAttrType, n, "type", 0), Ok(9));
    for (name, kind) in [("int", INT), ("float", FLOATS), ("yes", BOOL), ("type", TYPE), ("func", FUNC)] {
        assert_eq!(metadata(n, name), Ok((0, -1, kind, -1)), "{name}");
    }
    // SAFETY: the operation is alive.
    let func = buffer(|to, status| unsafe { TF_OperationGetAttrValueProto(n, c"func".as_ptr(), to, status) }).unwrap();
    assert_eq!(func, b"\x52\x08\x0a\x06callee");
}

#[test]
fn lists_come_back_as_far_as_there_is_room() {
    let graph = Graph::new();
    let (ints, floats, bools, types) = ([1i64, 2, 3, 4], [0.5f32, 1.5], [0u8, 2], [FLOAT, INT32]);
    // SAFETY: the description is alive, and the arrays have as many elements.
    let n = with(&graph, |it| unsafe {
        TF_SetAttrIntList(it, c"ints".as_ptr(), ints.as_ptr(), 4);
        TF_SetAttrFloatList(it, c"floats".as_ptr(), floats.as_ptr(), 2);
        TF_SetAttrBoolList(it, c"bools".as_ptr(), bools.as_ptr(), 2);
        TF_SetAttrTypeList(it, c"types".as_ptr(), types.as_ptr(), 2);
        TF_SetAttrIntList(it, c"empty".as_ptr(), ptr::null(), 0);
    });
    assert_eq!(list(TF_OperationGetAttrIntList, n, "ints", 6, [-7; 6]), Ok([1, 2, 3, 4, -7, -7]));
    assert_eq!(list(TF_OperationGetAttrIntList, n, "ints", 2, [-7; 6]), Ok([1, 2, -7, -7, -7, -7]));
    assert_eq!(list(TF_OperationGetAttrIntList, n, "ints", 0, [-7; 1]), Ok([-7]));
    assert_eq!(list(TF_OperationGetAttrFloatList, n, "floats", 3, [-7.0; 3]), Ok([0.5, 1.5, -7.0]));
    assert_eq!(list(TF_OperationGetAttrBoolList, n, "bools", 3, [9; 3]), Ok([0, 1, 9]));
    assert_eq!(list(TF_OperationGetAttrTypeList, n, "types", 3, [0; 3]), Ok([FLOAT, INT32, 0]));
    for (name, size, kind) in [("ints", 4, INT), ("floats", 2, FLOATS), ("bools", 2, BOOL), ("types", 2, TYPE)] {
        assert_eq!(metadata(n, name), Ok((1, size, kind, -1)), "{name}");
    }
    // TensorFlow leaves the kind of a list without elements as the memory was.
    let (is_list, size, _, total) = metadata(n, "empty").unwrap();
    assert_eq!((is_list, size, total), (1, 0, -1));
    assert_eq!(list(TF_OperationGetAttrIntList, n, "empty", 1, [-7]), Ok([-7]));
    fails(list(TF_OperationGetAttrIntList, n, "ints", -1, [0; 1]), INVALID_ARGUMENT, "negative");
    // SAFETY: null is an error where there is room.
    let null = checked(|status| unsafe { TF_OperationGetAttrIntList(n, c"ints".as_ptr(), ptr::null_mut(), 4, status) });
    fails(null, INVALID_ARGUMENT, "null");
}

#[test]
fn strings_are_copied_as_far_as_there_is_room() {
    let graph = Graph::new();
    let values = [c"one".as_ptr().cast::<c_void>(), ptr::null(), c"three".as_ptr().cast()];
    // SAFETY: the description is alive, and the texts have as many bytes.
    let n = with(&graph, |it| unsafe {
        TF_SetAttrString(it, c"s".as_ptr(), b"S\0ME and more".as_ptr().cast(), 4);
        TF_SetAttrString(it, c"none".as_ptr(), ptr::null(), 0);
        TF_SetAttrStringList(it, c"list".as_ptr(), values.as_ptr(), [3usize, 0, 5].as_ptr(), 3);
    });
    assert_eq!(metadata(n, "s"), Ok((0, -1, STRING, 4)));
    assert_eq!(metadata(n, "none"), Ok((0, -1, STRING, 0)));
    assert_eq!(metadata(n, "list"), Ok((1, 3, STRING, 8)));
    for (room, expected) in [(8, b"S\0ME----"), (4, b"S\0ME----"), (2, b"S\0------"), (0, b"--------")] {
        let mut bytes = *b"--------";
        let to = bytes.as_mut_ptr().cast();
        // SAFETY: the operation is alive, and there is so much room.
        checked(|status| unsafe { TF_OperationGetAttrString(n, c"s".as_ptr(), to, room, status) }).unwrap();
        assert_eq!(&bytes, expected);
    }
    let read = |name: &std::ffi::CStr, count: c_int, room: usize| {
        let (mut values, mut lengths, mut storage) = ([ptr::null_mut::<c_void>(); 3], [99usize; 3], [b'-'; 16]);
        let (to, of) = (values.as_mut_ptr(), lengths.as_mut_ptr());
        let place = storage.as_mut_ptr().cast();
        // SAFETY: the operation is alive, and there is so much room.
        checked(|status| unsafe {
            TF_OperationGetAttrStringList(n, name.as_ptr(), to, of, count, place, room, status);
        })?;
        let base = storage.as_ptr().addr();
        let offsets = values.map(|value| if value.is_null() { -1 } else { (value.addr() - base) as i64 });
        Ok((offsets, lengths, storage))
    };
    let whole = ([0, 3, 3], [3, 0, 5], *b"onethree--------");
    assert_eq!(read(c"list", 3, 16), Ok(whole));
    assert_eq!(read(c"list", 3, 8), Ok(whole));
    assert_eq!(read(c"list", 2, 3), Ok(([0, 3, -1], [3, 0, 99], *b"one-------------")));
    let short = "Not enough storage to hold the requested list of strings".to_owned();
    assert_eq!(read(c"list", 3, 7), Err((INVALID_ARGUMENT, short)));
    fails(read(c"list", -1, 8), INVALID_ARGUMENT, "negative");
    fails(read(c"s", 3, 8), INVALID_ARGUMENT, "Value for 's' is not a list.");
    fails(read(c"nope", 3, 8), INVALID_ARGUMENT, "Operation 'n' has no attr named 'nope'.");
}

#[test]
fn shapes_come_back() {
    let graph = Graph::new();
    let (matrix, vector) = ([-1i64, 3], [1i64, -1]);
    let (dims, ranks) = ([vector.as_ptr(), ptr::null(), ptr::null()], [2, -1, 0]);
    // SAFETY: the description is alive, and the arrays have as many elements.
    let n = with(&graph, |it| unsafe {
        TF_SetAttrShape(it, c"matrix".as_ptr(), matrix.as_ptr(), 2);
        TF_SetAttrShape(it, c"scalar".as_ptr(), ptr::null(), 0);
        TF_SetAttrShape(it, c"any".as_ptr(), ptr::null(), -1);
        TF_SetAttrShapeList(it, c"list".as_ptr(), dims.as_ptr(), ranks.as_ptr(), 3);
    });
    assert_eq!(metadata(n, "matrix"), Ok((0, -1, SHAPE, 2)));
    assert_eq!(metadata(n, "scalar"), Ok((0, -1, SHAPE, 0)));
    assert_eq!(metadata(n, "any"), Ok((0, -1, SHAPE, -1)));
    assert_eq!(metadata(n, "list"), Ok((1, 3, SHAPE, 2)));
    for room in [2, 3] {
        assert_eq!(list(TF_OperationGetAttrShape, n, "matrix", room, [-7; 3]), Ok([-1, 3, -7]));
        assert_eq!(list(TF_OperationGetAttrShape, n, "any", room, [-7; 3]), Ok([-7; 3]));
        assert_eq!(list(TF_OperationGetAttrShape, n, "scalar", room, [-7; 3]), Ok([-7; 3]));
    }
    let read = |count: c_int, room: c_int| {
        let (mut dims, mut ranks, mut storage) = ([ptr::null_mut::<i64>(); 3], [-7; 3], [-7i64; 8]);
        let (to, of, place) = (dims.as_mut_ptr(), ranks.as_mut_ptr(), storage.as_mut_ptr());
        // SAFETY: the operation is alive, and there is so much room.
        checked(|status| unsafe {
            TF_OperationGetAttrShapeList(n, c"list".as_ptr(), to, of, count, place, room, status);
        })?;
        assert_eq!(dims[0].addr(), storage.as_ptr().addr());
        Ok((ranks, storage))
    };
    for room in [8, 2] {
        assert_eq!(read(3, room), Ok(([2, -1, 0], [1, -1, -7, -7, -7, -7, -7, -7])));
    }
    fails(read(3, 1), INVALID_ARGUMENT, "Not enough storage to hold the requested list of shapes");
    fails(read(-1, 8), INVALID_ARGUMENT, "negative");
    fails(read(3, -1), INVALID_ARGUMENT, "negative");
}

#[test]
fn shapes_come_back_as_messages() {
    let graph = Graph::new();
    let shapes = [PartialShape::from_dims(&[-1, 3]).unwrap(), PartialShape::unknown()];
    let messages = [0, 1].map(|i| shape_to_proto(&shapes[i]).encode_to_vec());
    let (pointers, lengths) =
        ([0, 1].map(|i| messages[i].as_ptr().cast::<c_void>()), [0, 1].map(|i| messages[i].len()));
    // SAFETY: the description is alive, and the arrays have as many elements.
    let n = with(&graph, |it| unsafe {
        let set = |name: *const c_char, message: &[u8]| {
            checked(|status| {
                TF_SetAttrTensorShapeProto(it, name, message.as_ptr().cast(), message.len(), status);
            })
        };
        set(c"shape".as_ptr(), &messages[0]).unwrap();
        fails(set(c"shape".as_ptr(), b"\xff\xff"), INVALID_ARGUMENT, "Unparseable TensorShapeProto");
        let set = |count| {
            checked(|status| {
                let name = c"list".as_ptr();
                TF_SetAttrTensorShapeProtoList(it, name, pointers.as_ptr(), lengths.as_ptr(), count, status);
            })
        };
        set(2).unwrap();
        fails(set(-1), INVALID_ARGUMENT, "negative");
    });
    let decode = |bytes: &[u8]| TensorShapeProto::decode(bytes).unwrap();
    // SAFETY: the operation is alive, and what is got is deleted once.
    unsafe {
        let get = |name: *const c_char| {
            buffer(|to, status| TF_OperationGetAttrTensorShapeProto(n, name, to, status)).map(|bytes| decode(&bytes))
        };
        assert_eq!(get(c"shape".as_ptr()), Ok(shape_to_proto(&shapes[0])));
        assert!(get(c"nope".as_ptr()).is_err());
        let buffers = list(TF_OperationGetAttrTensorShapeProtoList, n, "list", 3, [ptr::null_mut(); 3]).unwrap();
        assert!(buffers[2].is_null());
        for (&buffer, shape) in buffers.iter().zip(&shapes) {
            assert_eq!(decode(bytes_of("a shape", buffer).unwrap()), shape_to_proto(shape));
            TF_DeleteBuffer(buffer);
        }
    }
}

#[test]
fn tensors_come_back_as_copies() {
    let graph = Graph::new();
    let strings: Vec<TString> = vec!["short".into(), "longer than what a string keeps within itself".into()];
    let make = || [Tensor::vector(&[1i64, 2, 3]).unwrap(), Tensor::from_vec([2], strings.clone()).unwrap()];
    let tensors = make();
    let same = |tensor: *mut TF_Tensor, expected: &Tensor| {
        // SAFETY: the tensor is alive, and deleted once.
        let found = unsafe { CTensor::from_c(tensor) }.unwrap().to_tensor().unwrap();
        assert_eq!((found.dtype(), found.shape()), (expected.dtype(), expected.shape()));
        match expected.as_slice::<i64>() {
            Ok(elements) => assert_eq!(found.as_slice::<i64>().unwrap(), elements),
            Err(_) => assert_eq!(found.as_slice::<TString>().unwrap(), expected.as_slice::<TString>().unwrap()),
        }
        drop(found);
        // SAFETY: as above.
        unsafe { TF_DeleteTensor(tensor) };
    };
    // SAFETY: all pointers are alive, and each tensor is deleted once.
    unsafe {
        let given = make().map(|tensor| CTensor::new(tensor).unwrap().into_c());
        let n = with(&graph, |it| {
            checked(|status| TF_SetAttrTensor(it, c"one".as_ptr(), given[0], status)).unwrap();
            checked(|status| TF_SetAttrTensorList(it, c"two".as_ptr(), given.as_ptr(), 2, status)).unwrap();
            let null = checked(|status| TF_SetAttrTensor(it, c"one".as_ptr(), ptr::null_mut(), status));
            fails(null, INVALID_ARGUMENT, "");
            let nulls = [given[0], ptr::null_mut()];
            let nulls = checked(|status| TF_SetAttrTensorList(it, c"two".as_ptr(), nulls.as_ptr(), 2, status));
            fails(nulls, INVALID_ARGUMENT, "");
        });
        // What the caller does to its tensors concerns no attr.
        kernlink_library::host::TF_TensorData(given[0]).cast::<i64>().write(99);
        given.iter().for_each(|&tensor| TF_DeleteTensor(tensor));
        assert_eq!(metadata(n, "one"), Ok((0, -1, TENSOR, -1)));
        assert_eq!(metadata(n, "two"), Ok((1, 2, TENSOR, -1)));
        let one = get(TF_OperationGetAttrTensor, n, "one", ptr::null_mut()).unwrap();
        kernlink_library::host::TF_TensorData(one).cast::<i64>().write(77);
        TF_DeleteTensor(one);
        same(get(TF_OperationGetAttrTensor, n, "one", ptr::null_mut()).unwrap(), &tensors[0]);
        let [first, second, none] = list(TF_OperationGetAttrTensorList, n, "two", 3, [ptr::null_mut(); 3]).unwrap();
        same(first, &tensors[0]);
        same(second, &tensors[1]);
        assert!(none.is_null());
        let [first, none] = list(TF_OperationGetAttrTensorList, n, "two", 1, [ptr::null_mut(); 2]).unwrap();
        same(first, &tensors[0]);
        assert!(none.is_null());
        let negative = list(TF_OperationGetAttrTensorList, n, "two", -1, [ptr::null_mut(); 2]);
        fails(negative, INVALID_ARGUMENT, "negative");
    }
}

#[test]
fn values_come_back_as_messages() {
    let graph = Graph::new();
    let values: [AttrValue; 4] =
        [7i64.into(), vec![1.5f32, 2.5].into(), Tensor::scalar(3i32).into(), PartialShape::unknown().into()];
    let names = ["int", "floats", "tensor", "shape"];
    let encode = |value: &AttrValue| attr_to_proto(value).unwrap().encode_to_vec();
    // SAFETY: all pointers are alive.
    unsafe {
        let set = |it, name: &str, message: &[u8]| {
            let (name, length) = (CString::new(name).unwrap(), message.len());
            checked(|status| TF_SetAttrValueProto(it, name.as_ptr(), message.as_ptr().cast(), length, status))
        };
        let n = with(&graph, |it| {
            for (name, value) in names.iter().zip(&values) {
                fails(set(it, name, b"\xff\xff"), INVALID_ARGUMENT, "Unparseable AttrValue proto");
                set(it, name, &encode(value)).unwrap();
            }
        });
        for (name, value) in names.iter().zip(&values) {
            let name = CString::new(*name).unwrap();
            let found = buffer(|to, status| TF_OperationGetAttrValueProto(n, name.as_ptr(), to, status));
            assert_eq!(found.as_ref(), Ok(&encode(value)));
        }
        assert_eq!(get(TF_OperationGetAttrInt, n, "int", 0), Ok(7));
        let none = buffer(|to, status| TF_OperationGetAttrValueProto(n, c"nope".as_ptr(), to, status));
        assert_eq!(none, Err((INVALID_ARGUMENT, "Operation 'n' has no attr named 'nope'.".to_owned())));
    }
}

#[test]
fn attrs_that_are_absent_or_of_another_kind_are_told() {
    #[track_caller]
    fn both<T: Debug>(found: [Result<T, Failure>; 3], kind: &str) {
        let [of_type, of_list, absent] = found;
        let wrong = |found| format!("AttrValue had value with type '{found}' when '{kind}' expected");
        assert_eq!(of_type.unwrap_err(), (INVALID_ARGUMENT, wrong("type")));
        assert_eq!(of_list.unwrap_err(), (INVALID_ARGUMENT, wrong("list(type)")));
        // Getters of single values have a code of their own for this.
        fails(absent, NOT_FOUND, "No attr named 'nope' in NodeDef:\n\t [[{{node n}}]]");
    }
    let graph = Graph::new();
    // SAFETY: the description is alive.
    let n = with(&graph, |it| unsafe {
        TF_SetAttrType(it, c"type".as_ptr(), FLOAT);
        TF_SetAttrTypeList(it, c"list".as_ptr(), &FLOAT, 1);
        TF_SetAttrInt(it, c"int".as_ptr(), 1);
    });
    let names = ["type", "list", "nope"];
    both(names.map(|name| get(TF_OperationGetAttrInt, n, name, 0)), "int");
    both(names.map(|name| get(TF_OperationGetAttrFloat, n, name, 0.0)), "float");
    both(names.map(|name| get(TF_OperationGetAttrBool, n, name, 0)), "bool");
    both(names.map(|name| get(TF_OperationGetAttrTensor, n, name, ptr::null_mut())), "tensor");
    both(names.map(|name| list(TF_OperationGetAttrShape, n, name, 1, [0; 1])), "shape");
    let wrong = get(TF_OperationGetAttrType, n, "int", 0);
    fails(wrong, INVALID_ARGUMENT, "AttrValue had value with type 'int' when 'type' expected");
    let absent = "Operation 'n' has no attr named 'nope'.".to_owned();
    assert_eq!(metadata(n, "nope"), Err((INVALID_ARGUMENT, absent.clone())));
    assert_eq!(list(TF_OperationGetAttrIntList, n, "nope", 1, [0]), Err((INVALID_ARGUMENT, absent)));
    let single = "Value for 'type' is not a list.".to_owned();
    assert_eq!(list(TF_OperationGetAttrIntList, n, "type", 1, [0]), Err((INVALID_ARGUMENT, single)));
    fails(list(TF_OperationGetAttrIntList, n, "list", 1, [0]), INVALID_ARGUMENT, "'list'");
    fails(list(TF_OperationGetAttrTensorList, n, "list", 1, [ptr::null_mut()]), INVALID_ARGUMENT, "'list'");
    // SAFETY: null is an error.
    unsafe {
        let mut value = 5;
        let null = checked(|status| TF_OperationGetAttrInt(n, ptr::null(), &mut value, status));
        fails(null, INVALID_ARGUMENT, "null");
        let null = checked(|status| TF_OperationGetAttrInt(ptr::null_mut(), c"int".as_ptr(), &mut value, status));
        fails(null, INVALID_ARGUMENT, "null");
        assert_eq!(value, 5);
    }
}

const OVER: &str = "has 2147483647 dimensions which is over the limit of 254";

#[test]
fn values_that_are_none_are_told_at_the_end() {
    let graph = Graph::new();
    // SAFETY: the description is alive; null and counts below zero are errors.
    unsafe {
        let name = c"a".as_ptr();
        // Of a rank above the limit no size is read: here are none.
        let (dims, many) = ([2i64, 3], [2, c_int::MAX]);
        let lists = [dims.as_ptr(), dims.as_ptr()];
        let told: [(&dyn Fn(*mut TF_OperationDescription), &str); 12] = [
            (&|it| TF_SetAttrShape(it, name, dims.as_ptr(), c_int::MAX), OVER),
            (&|it| TF_SetAttrShape(it, name, dims.as_ptr(), 255), "has 255 dimensions which is over the limit of 254"),
            (&|it| TF_SetAttrShapeList(it, name, lists.as_ptr(), many.as_ptr(), 2), OVER),
            (&|it| TF_SetAttrType(it, name, 9999), "9999"),
            (&|it| TF_SetAttrTypeList(it, name, [FLOAT, -1].as_ptr(), 2), "-1"),
            (&|it| TF_SetAttrIntList(it, name, ptr::null(), 2), "null"),
            (&|it| TF_SetAttrFloatList(it, name, ptr::null(), -2), "negative"),
            (&|it| TF_SetAttrString(it, name, ptr::null(), 2), "null"),
            (&|it| TF_SetAttrStringList(it, name, &ptr::null(), &2, 1), "null"),
            (&|it| TF_SetAttrFuncName(it, name, c"\xff".as_ptr(), 1), "UTF-8"),
            (&|it| TF_SetAttrShape(it, name, ptr::null(), 2), "null"),
            (&|it| TF_SetAttrShapeList(it, name, &ptr::null(), &2, 1), "null"),
        ];
        for (describe, part) in told {
            let refused = attempt(&graph, describe);
            fails(refused.clone(), INVALID_ARGUMENT, "attr 'a'");
            fails(refused, INVALID_ARGUMENT, part);
        }
        assert!(TF_GraphOperationByName(graph.0, c"n".as_ptr()).is_null());
    }
}

#[test]
fn defaults_of_the_op_are_attrs() {
    let graph = Graph::new();
    let x = graph.placeholder("x", FLOAT, Some(&[1, 5, 5, 2]));
    let relu = graph.node("Relu", "relu", &[first(x)]).unwrap();
    let pool = graph.describe("MaxPool", "pool").input(first(relu));
    // SAFETY: the description and the operation are alive, and there is room for the names.
    unsafe {
        let pool = pool.with(|it| {
            TF_SetAttrIntList(it, c"ksize".as_ptr(), [1, 2, 2, 1].as_ptr(), 4);
            TF_SetAttrIntList(it, c"strides".as_ptr(), [1, 1, 1, 1].as_ptr(), 4);
            TF_SetAttrString(it, c"padding".as_ptr(), c"SAME".as_ptr().cast(), 4);
        });
        let pool = pool.finish().unwrap();
        assert_eq!(metadata(pool, "data_format"), Ok((0, -1, STRING, 4)));
        assert_eq!(get(TF_OperationGetAttrType, pool, "T", 0), Ok(FLOAT));
        assert_eq!(get(TF_OperationGetAttrType, relu, "T", 0), Ok(FLOAT));
        // A list without elements is of the kind that the op says.
        assert_eq!(metadata(pool, "explicit_paddings"), Ok((1, 0, INT, -1)));
        let mut names: Vec<String> = (0..TF_OperationGetNumAttrs(pool)).map(|i| attr_name(pool, i).unwrap()).collect();
        names.sort();
        assert_eq!(names, ["T", "data_format", "explicit_paddings", "ksize", "padding", "strides"]);
        for index in [-1, 6] {
            assert_eq!(TF_OperationGetAttrNameLength(pool, index), -1);
            assert_eq!(attr_name(pool, index).unwrap_err().0, 11);
        }
        fails(checked(|status| TF_OperationGetAttrName(pool, 0, ptr::null_mut(), status)), INVALID_ARGUMENT, "null");
        assert_eq!(TF_OperationGetNumAttrs(ptr::null_mut()), 0);
    }
}

fn attr_name(oper: *mut TF_Operation, index: c_int) -> Result<String, Failure> {
    let mut name = [0u8; 32];
    // SAFETY: the operation is alive, and there is room for its names.
    let length = unsafe {
        checked(|status| TF_OperationGetAttrName(oper, index, name.as_mut_ptr().cast(), status))?;
        TF_OperationGetAttrNameLength(oper, index) as usize
    };
    Ok(String::from_utf8(name[..length].to_vec()).unwrap())
}
